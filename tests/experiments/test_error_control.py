"""Designs with known causes, how discoveries are counted, and the page of the study."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments import error_control
from experiments.designs import DESIGNS, counted
from experiments.error_control import OUT, PAGE, STUDY, lines_of
from experiments.tidy import Task, TidyFile


@pytest.mark.parametrize("name", DESIGNS)
def test_designs_say_which_features_carry_a_cause(name):
    draw = DESIGNS[name](60, 100, np.random.default_rng(0))
    assert draw.X.shape == (60, 100)
    assert draw.y.shape == (60,)
    assert draw.origin.shape == (100,)
    assert ("null" in name) == bool((draw.origin < 0).all())
    again = DESIGNS[name](60, 100, np.random.default_rng(0))
    np.testing.assert_array_equal(draw.X, again.X)


def test_copies_and_false_clusters_are_counted():
    origin = np.array([0, 0, 1, -1, -1])
    found = counted(origin, [[0], [1], [2, 3], [4]])
    assert (found.distinct, found.copies, found.false) == (2, 1, 1)
    assert found.fdp == 0.5
    assert counted(origin, []).fdp == 0.0


def test_a_task_counts_what_is_found(tmp_path):
    rows = STUDY.perform(Task(STUDY.name, "Data1", "HSIC Lasso", 200, 500, 0), tmp_path)
    values = {row.metric: row.value for row in rows}
    assert set(values) == {"distinct", "copies", "false", "fdp"}
    assert values["distinct"] >= 2
    assert rows[0].seed >= error_control.FIRST_SEED


def test_the_page_is_the_one_of_the_results():
    file = TidyFile(Path(OUT) / "error_control.csv.gz")
    table = "\n".join(lines_of(file.frame(STUDY.name))).strip()
    assert table in PAGE.read_text(encoding="utf-8")
