"""The studies of tests: cells are counted as they should be, and finished ones are kept."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from experiments import null_p_values, target_scores


def rows_of(file):
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_cell_counts_small_p_values(monkeypatch):
    monkeypatch.setattr(null_p_values, "FEATURES", 30)
    monkeypatch.setattr(null_p_values, "ORDERS", 50)
    rows = null_p_values.run_cell("log-normal", "class of 5%", 200, 30_000, seed=1)
    again = null_p_values.run_cell("log-normal", "class of 5%", 200, 30_000, seed=1)
    assert rows == again
    assert rows != null_p_values.run_cell("log-normal", "class of 5%", 200, 30_000, seed=2)
    ratio = {(row[3], row[4]): float(row[5]) for row in rows}
    assert 0.3 < ratio["ours", 1e-3] < 3
    assert ratio["gamma", 1e-4] > ratio["ours", 1e-4]


def test_rows_are_those_of_centred_matrices(rng):
    columns = np.concatenate([rng.normal(size=(2, 40)), np.ones((1, 40))])
    rows = null_p_values.rows_of(columns, null_p_values.Gaussian())
    assert len(rows) == 2  # the constant is left out
    np.testing.assert_allclose(rows.sum(axis=2), 0, atol=1e-12)


def test_finished_cells_are_not_repeated(monkeypatch, tmp_path):
    cells = []

    def cell(x, y, n, n_tests, seed):
        cells.append((x, y, n))
        return [[x, y, n, "ours", 1e-3, 1.0, 0.1, n_tests]]

    monkeypatch.setattr(null_p_values, "run_cell", cell)
    out = tmp_path / "null.csv"
    assert null_p_values.main(["--out", str(out)]) == 0
    every = len(null_p_values.CELLS)
    assert len(cells) == len(set(cells)) == every == len(rows_of(out))
    lines = out.read_text().splitlines(keepends=True)
    out.write_text("".join(lines[:-3]))
    cells.clear()
    null_p_values.main(["--out", str(out)])
    assert len(cells) == 3
    assert len(rows_of(out)) == every


def test_power_rises_with_the_shape(tmp_path, monkeypatch):
    monkeypatch.setattr(target_scores, "SHAPES", {"line": lambda x: 2 * x})
    monkeypatch.setattr(target_scores, "NOISE", {"normal": target_scores.NOISE["normal"]})
    target_scores.main(["--out", str(tmp_path / "power.csv"), "--draws", "3"])
    (row,) = rows_of(tmp_path / "power.csv")
    assert [float(row[name]) for name in target_scores.TRANSFORMS] == pytest.approx([1, 1, 1])


def test_committed_results_are_those_of_the_study():
    rows = rows_of(null_p_values.OUT)
    cells = {(row["x"], row["y"], int(row["n"])) for row in rows}
    assert cells <= set(null_p_values.CELLS)  # cells are appended as they are done
    assert len(rows) == 2 * 4 * len(cells)
    assert len(rows_of(target_scores.OUT)) == 15
