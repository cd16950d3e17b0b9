"""Options of the measures, and the matrix of all dependences."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso import Auto, Gaussian, InvalidInputError
from hsiclasso.baselines import dependency
from hsiclasso.baselines.dependency import MeasureOptions, dependency_matrix
from hsiclasso.baselines.mrmr import MRMR
from tests.baselines.conftest import all_pairs, relate

MEASURES = ("mi", "parzen", "f", "correlation", "hsic", "nhsic", "nocco")


class Table:
    """Dependences that are looked up; notes what it is asked for."""

    def __init__(self, matrix):
        self.matrix = matrix
        self.relevance = np.zeros(len(matrix))
        self.asked = []

    def block(self, rows, cols):
        self.asked.append((rows, cols))
        return self.matrix[np.ix_(rows, cols)]


@pytest.mark.parametrize("d", [1, 4, 5, 8, 9])
def test_matrix_of_all(d, monkeypatch, rng):
    monkeypatch.setattr(dependency, "_STEP", 4)
    matrix = rng.uniform(size=(d, d))
    table, told = Table(matrix + matrix.T), []
    found = dependency_matrix(table, lambda *words: told.append(words))
    np.testing.assert_array_equal(found, table.matrix)
    steps = -(-d // 4)
    assert told == [("redundancy", min(d, 4 * (k + 1)), d) for k in range(steps)]
    # what lies above the blocks of the diagonal is not asked for again
    assert sum(rows.size * cols.size for rows, cols in table.asked) == sum(
        (d - start) * min(4, d - start) for start in range(0, d, 4)
    )


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure(measure, rng):
    X = rng.standard_normal((40, 9))
    y = X[:, 2] + 0.1 * rng.standard_normal(40)
    told = []
    related = relate(X, y, measure, report=lambda *words: told.append(words))
    whole = all_pairs(related)
    assert related.relevance.shape == (9,)
    assert related.relevance.dtype == np.float64
    assert np.argmax(related.relevance) == 2
    assert (related.relevance >= 0).all()
    assert (whole >= 0).all()
    np.testing.assert_allclose(whole, whole.T, rtol=1e-9, atol=1e-12)
    rows, cols = np.array([7, 0, 3]), np.array([3])
    np.testing.assert_allclose(
        related.block(rows, cols), whole[np.ix_(rows, cols)], rtol=1e-9, atol=1e-12
    )
    matrix = dependency_matrix(related, lambda *_: None)
    np.testing.assert_allclose(matrix, whole, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(matrix, matrix.T)
    for stage, done, total in told:
        assert isinstance(stage, str)
        assert 0 <= done <= total


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "mutual"}, "measure='mutual' is unknown: choose 'mi', 'parzen'"),
        ({"measure": ["mi"]}, "is unknown"),
        ({"bins": "deciles"}, "bins='deciles' is unknown: choose 'peng', 'quantile'"),
        ({"bins": "quantile", "n_bins": 1}, "n_bins=1 must be a whole number >= 2"),
        ({"bins": "quantile", "n_bins": 2.0}, "n_bins=2.0 must be a whole number"),
        ({"bins": "quantile", "n_bins": 201}, "n_bins=201, .* at most 200"),
        ({"bins": "quantile", "n_bins": None}, "must be a"),
        ({"threshold": 0.0}, "threshold=0.0 must be a finite number > 0"),
        ({"threshold": -1.0}, "threshold=-1.0"),
        ({"threshold": np.nan}, "threshold=nan"),
        ({"threshold": np.inf}, "threshold=inf"),
        ({"threshold": "one"}, "threshold='one'"),
        ({"threshold": 1j}, "threshold=1j"),
        ({"threshold": None}, "must be a"),
        ({"measure": "hsic", "kernel": Gaussian(0.0)}, "width=0.0"),
        (
            {"measure": "parzen", "kernel": "laplace"},
            "window of columns is a Gaussian kernel of one",
        ),
        ({"measure": "parzen", "kernel": {"number": "gaussian"}}, "window of columns is a"),
        ({"measure": "parzen", "kernel": Gaussian((0.1, 0.2))}, "window of columns is a"),
        ({"measure": "hsic", "kernel": "cosine"}, "kernel='cosine' is unknown"),
        ({"target": "guess"}, "target='guess' is unknown"),
        ({"target": Auto(transform="log")}, "transform='log' is unknown"),
        ({"target": Auto(outputs="sum")}, "outputs='sum' is unknown"),
        ({"measure": "hsic", "target": Auto("cosine")}, "kernel of the target='cosine'"),
        ({"bins": "quantile", "threshold": 2.0}, "threshold=2.0 .* bins='quantile'"),
        ({"bins": "levels", "threshold": 2.0}, "threshold=2.0 .* bins='levels'"),
        ({"bins": "levels", "n_bins": 9}, "n_bins=9 .* bins='levels'"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
    ids=str,
)
def test_values_that_are_refused(options, message):
    """Before the data is looked at."""
    with pytest.raises(InvalidInputError, match=message):
        MRMR(**options).fit("no table", None)


def checked(method):
    method._check()
    return method._checked_target()


@pytest.mark.parametrize(
    ("given", "useful"),
    [
        ({"bins": "quantile"}, ("mi",)),
        ({"bins": "levels"}, ("mi",)),
        ({"threshold": 0.5}, ("mi",)),
        ({"n_bins": 7}, ()),
        ({"kernel": Gaussian(2.0)}, ("parzen", "hsic", "nhsic", "nocco")),
        ({"target": Auto(Gaussian(2.0))}, ("parzen", "hsic", "nhsic", "nocco")),
        ({"target": Auto("gaussian")}, ("parzen", "hsic", "nhsic", "nocco")),
        ({"target": Auto(transform="rank")}, MEASURES),
    ],
    ids=str,
)
def test_options_without_meaning_are_refused(given, useful):
    for measure in MEASURES:
        method = MRMR(measure=measure, **given)
        if measure in useful:
            checked(method)
            continue
        name = next(iter(given)).replace("target", "the target's kernel")
        with pytest.raises(InvalidInputError, match=f"{name}=.* has no meaning with measure="):
            checked(method)


def test_defaults_of_another_type():
    MeasureOptions(n_bins=np.int64(5))
    MeasureOptions(bins="quantile", threshold=1)
