"""What is printed and saved."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from hsiclasso.compat import HSICLasso
from tests import oracles
from tests.compat import dense


def rows_of(file):
    with open(file, newline="") as stream:
        return list(csv.reader(stream))


def test_dump(fitted, capsys):
    assert fitted.dump() is None
    title, head, *rows = capsys.readouterr().out.splitlines()
    assert title.strip("= ") == "HSICLasso : Result"
    assert [cell.strip() for cell in head.split("|")[1:4]] == ["Order", "Feature", "Score"]
    scores = fitted.get_index_score() / fitted.get_index_score()[0]
    for place, row in enumerate(rows):
        order, name, score, near = (cell.strip() for cell in row.split("|")[1:5])
        assert (order, name) == (str(place + 1), fitted.get_features()[place])
        assert score == f"{scores[place]:.3f}"
        assert near.count("(") == 5
        assert [text.split()[0] for text in near.split(",")] == fitted.get_features_neighbors(place)
    assert len(rows) == 4


def test_dump_of_few_features(table, capsys):
    """There are fewer than five others to print."""
    X, y = table
    model = HSICLasso()
    model.input(X[:, :3], y)
    model.regression(1, B=0)
    model.dump()
    assert capsys.readouterr().out.splitlines()[2].count("(") == 2


def test_save_param(fitted, tmp_path):
    file = tmp_path / "param.csv"
    fitted.save_param(str(file))
    head, *rows = rows_of(file)
    assert head[:4] == ["Feature", "Score", "Neighbor 1", " Neighbor 1 score"]
    assert len(head) == 2 + 2 * 6
    assert [row[0] for row in rows] == fitted.get_features()
    assert float(rows[0][1]) == 1
    for place, row in enumerate(rows):
        assert row[2::2] == fitted.get_features_neighbors(place, 6)
        values = [float(cell) for cell in row[3::2]]
        np.testing.assert_allclose(values, fitted.get_index_neighbors_score(place, 6))


def test_save_score(fitted, table, tmp_path):
    file = tmp_path / "scores.csv"
    fitted.save_score(str(file))
    head, *rows = rows_of(file)
    assert head == ["Feature", "Score", "Pearson Corr"]
    X, y = table
    expected = np.zeros(15)
    weights = fitted.get_index_score()
    for place, weight in enumerate(weights / weights[0]):
        expected[fitted.A_neighbors[place]] += weight * fitted.A_neighbors_score[place]
    found = {name: (float(score), float(r)) for name, score, r in rows}
    assert len(found) == np.count_nonzero(expected)
    assert (np.diff([score for score, _ in found.values()]) <= 0).all()
    for name, (score, r) in found.items():
        k = fitted.featname.index(name)
        assert score == pytest.approx(expected[k])
        assert r == pytest.approx(np.corrcoef(X[:, k], y)[0, 1])


def test_scores_for_classes_of_text(table, tmp_path):
    """Text has no correlation with numbers."""
    X, y = table
    model = HSICLasso()
    model.input(X, np.where(y > 0, "yes", "no"), featname=["a, b", *map(str, range(14))])
    model.classification(2, B=0)
    model.save_score(str(tmp_path / "scores.csv"))
    assert {row[2] for row in rows_of(tmp_path / "scores.csv")[1:]} == {"nan"}


def test_save_hsic_matrix(table, tmp_path):
    X, y = table
    X = np.column_stack([X, np.ones(60)])
    model = HSICLasso()
    model.input(X, y)
    assert model.save_HSICmatrix(str(tmp_path / "matrix.csv")) is True
    saved = np.loadtxt(tmp_path / "matrix.csv", delimiter=",")
    np.testing.assert_allclose(saved, oracles.similarity(dense.feature_matrices(X)), atol=2e-6)


def test_names_of_files(fitted, tmp_path, monkeypatch):
    """The names of pyHSICLasso, in the current folder."""
    monkeypatch.chdir(tmp_path)
    fitted.save_param()
    fitted.save_score()
    fitted.save_HSICmatrix()
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "HSICmatrix.csv", "aggregated_score.csv", "param.csv",
    ]  # fmt: skip
