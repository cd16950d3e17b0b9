"""The comparison with pyHSICLasso, with `hsiclasso.compat` in the place of both."""

from __future__ import annotations

import pytest

from experiments import moving
from hsiclasso.compat import HSICLasso

pytest.importorskip("pandas")


def test_equal_models_agree():
    rows = moving.on_made_tables(HSICLasso)
    assert len(rows) == 16
    assert all(row[4:] == ["yes", "0e+00", "0e+00"] for row in rows)


def test_other_models_do_not():
    X, y = moving.two_outputs(moving.np.random.default_rng(0))
    models = [moving.run(HSICLasso(), (X, column), "regression", 2) for column in y.T]
    assert moving.compared(*models)[1] == "no"


def test_units_matter_in_compat_only(tmp_path):
    rows = moving.outputs_in_units(HSICLasso, tmp_path)
    assert len({row[2] for row in rows}) == len(rows) == 3
    assert len({row[3] for row in rows}) == 1
    assert rows[0][2] == rows[0][3]


def test_names_of_labels_do_not_matter(tmp_path):
    rows = moving.outputs_with_labels(HSICLasso, tmp_path)
    assert len({row[1] for row in rows}) == 1


def test_files_are_compared(data_folder):
    rows = moving.on_files(HSICLasso, data_folder)
    assert {row[4] for row in rows} == {"yes"}
