"""The paper's numbers, and the verdict on ours."""

from __future__ import annotations

import math

import pytest

from experiments.catalogue import CATALOGUE
from experiments.contenders import CONTENDERS
from experiments.printed import (
    FIGURE5_RED,
    METHODS,
    SETS,
    TABLE3,
    TABLE4,
    Printed,
    deviation,
    verdict,
)


def test_the_tables_have_all_cells_but_three_of_fvm():
    all_cells = {(name, method) for name in SETS for method in METHODS}
    left_open = {(name, "FVM") for name in ("pixraw10P", "orlraws10P", "CLL_SUB_111")}
    assert set(TABLE3) == set(TABLE4) == all_cells - left_open


@pytest.mark.parametrize(
    ("table", "method", "mean", "sd"),
    [
        # sums over the sets of the printed columns
        (TABLE3, "HSIC Lasso", 5.270, 0.460),
        (TABLE3, "NOCCO Lasso", 5.280, 0.447),
        (TABLE3, "SpAM", 4.190, 0.683),
        (TABLE3, "FVM", 2.436, 0.268),
        (TABLE3, "mRMR", 4.540, 0.698),
        (TABLE3, "QPFS", 5.032, 0.560),
        (TABLE3, "cKTA", 4.874, 0.869),
        (TABLE3, "FHSIC", 4.836, 0.673),
        (TABLE4, "HSIC Lasso", 1.426, 0.152),
        (TABLE4, "NOCCO Lasso", 1.425, 0.154),
        (TABLE4, "SpAM", 1.987, 0.316),
        (TABLE4, "FVM", 0.875, 0.099),
        (TABLE4, "mRMR", 1.701, 0.306),
        (TABLE4, "QPFS", 1.596, 0.226),
        (TABLE4, "cKTA", 1.431, 0.215),
        (TABLE4, "FHSIC", 1.956, 0.356),
    ],
)
def test_columns_have_the_sums_of_the_paper(table, method, mean, sd):
    cells = [cell for (_, name), cell in table.items() if name == method]
    assert sum(cell.mean for cell in cells) == pytest.approx(mean)
    assert sum(cell.sd for cell in cells) == pytest.approx(sd)


def test_single_cells_are_where_they_belong():
    assert TABLE3["warpAR10P", "HSIC Lasso"] == Printed(0.848, 0.111)
    assert TABLE3["TOX_171", "cKTA"] == Printed(0.804, 0.110)
    assert TABLE4["pixraw10P", "SpAM"] == Printed(0.388, 0.105)
    assert TABLE4["CLL_SUB_111", "FHSIC"] == Printed(0.352, 0.061)
    assert FIGURE5_RED == {"HSIC Lasso": 0.44, "NOCCO Lasso": 0.45, "mRMR": 0.42, "Lasso": 0.43}


def test_names_are_those_of_the_catalogue_and_of_the_contenders():
    assert all(CATALOGUE[name].title == title for name, title in SETS.items())
    assert tuple(name for name, each in CONTENDERS.items() if each.printed) == METHODS
    assert set(FIGURE5_RED) <= set(CONTENDERS)


def test_a_stand_in_has_no_printed_number():
    assert "MLL_leukemia" not in SETS
    assert math.isnan(deviation(0.9, TABLE3.get(("MLL_leukemia", "HSIC Lasso"))))


@pytest.mark.parametrize(
    ("mean", "expected"),
    [
        (0.84, "within (+0.4)"),
        (0.80, "within (+0.0)"),
        (0.90, "within (+1.0)"),
        (0.70, "within (-1.0)"),
        (0.94, "above by 1.4"),
        (0.902, "above by 1.02"),
        (0.57, "below by 2.3"),
    ],
)
def test_the_verdict_counts_in_printed_deviations(mean, expected):
    assert verdict(deviation(mean, Printed(0.8, 0.1))) == expected


def test_the_verdict_on_what_is_not_printed():
    assert verdict(deviation(0.9, None)) == "not printed"
