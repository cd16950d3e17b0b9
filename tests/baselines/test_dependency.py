"""Options of the measures, and the matrix of all dependences."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso import InvalidInputError
from hsiclasso.baselines import dependency
from hsiclasso.baselines.base import Job
from hsiclasso.baselines.dependency import MeasureOptions, dependency_matrix
from hsiclasso.baselines.mrmr import MRMR
from hsiclasso.data import as_source

MEASURES = ("mi", "parzen", "f", "correlation", "hsic", "nhsic", "nocco")


class Table:
    """Dependences that are looked up; notes what it is asked for."""

    task = "regression"

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


def test_matrix_is_exactly_symmetric(rng):
    X = rng.standard_normal((50, 20))
    job = Job(as_source(X), X[:, 0], 1, np.ones(20, dtype=bool), MRMR.traits, lambda *_: None)
    matrix = dependency_matrix(MeasureOptions().relate(job, 1), lambda *_: None)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-13)
    np.testing.assert_array_equal(matrix, matrix.T)


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_has_a_home(measure, rng):
    X = rng.standard_normal((40, 9))
    y = X[:, 2] + 0.1 * rng.standard_normal(40)
    told = []
    job = Job(
        as_source(X), y, 1, np.ones(9, dtype=bool), MRMR.traits, lambda *words: told.append(words)
    )
    related = MeasureOptions(measure).relate(job, 1)
    every = np.arange(9)
    whole = related.block(every, every)
    assert related.task == "regression"
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
    for stage, done, total in told:
        assert isinstance(stage, str)
        assert 0 <= done <= total


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"measure": "mutual"}, "measure='mutual' is unknown: choose 'mi', 'parzen'"),
            ({"measure": ["mi"]}, "is unknown"),
            ({"bins": "deciles"}, "bins='deciles' is unknown: choose 'peng', 'quantile'"),
            ({"bins": "quantile", "n_bins": 1}, "n_bins=1 must be a whole number >= 2"),
            ({"bins": "quantile", "n_bins": 2.0}, "n_bins=2.0 must be a whole number"),
            ({"bins": "quantile", "n_bins": 201}, "n_bins=201, .* at most 200"),
            ({"threshold": 0.0}, "threshold=0.0, but it must be a number > 0"),
            ({"threshold": -1.0}, "threshold=-1.0"),
            ({"threshold": np.nan}, "threshold=nan"),
            ({"threshold": np.inf}, "threshold=inf"),
            ({"threshold": "one"}, "threshold='one'"),
            ({"threshold": 1j}, "threshold=1j"),
            ({"measure": "hsic", "width": 0.0}, "x_width=0.0"),
            ({"measure": "parzen", "width": "median"}, "x_width='median'"),
            ({"task": "guess"}, "task='guess' is unknown"),
            ({"y_transform": "log"}, "y_transform='log' is unknown"),
            ({"multioutput": "sum"}, "multioutput='sum' is unknown"),
            ({"measure": "hsic", "y_kernel": "cosine"}, "y_kernel='cosine'"),
        ],
        ids=str,
    )
    def test_values(self, options, message):
        with pytest.raises(InvalidInputError, match=message):
            MeasureOptions(**options)

    @pytest.mark.parametrize(
        "options",
        [
            pytest.param({"threshold": None}, id="threshold"),
            pytest.param({"bins": "quantile", "n_bins": None}, id="n_bins"),
        ],
    )
    def test_nothing_is_no_number(self, options):
        with pytest.raises(InvalidInputError, match="must be a"):
            MeasureOptions(**options)

    @pytest.mark.parametrize(
        ("given", "useful"),
        [
            ({"bins": "quantile"}, ("mi",)),
            ({"bins": "levels"}, ("mi",)),
            ({"threshold": 0.5}, ("mi",)),
            ({"n_bins": 7}, ()),
            ({"width": 2.0}, ("parzen", "hsic", "nhsic", "nocco")),
            ({"y_width": 2.0}, ("parzen", "hsic", "nhsic", "nocco")),
            ({"y_kernel": "gaussian"}, ("parzen", "hsic", "nhsic", "nocco")),
            ({"task": "regression", "y_transform": "rank"}, MEASURES),
        ],
        ids=str,
    )
    @pytest.mark.parametrize("measure", MEASURES)
    def test_options_without_meaning_are_refused(self, measure, given, useful):
        if measure in useful:
            MeasureOptions(measure, **given)
            return
        name = {"width": "x_width"}.get(next(iter(given)), next(iter(given)))
        with pytest.raises(InvalidInputError, match=f"{name}=.* has no meaning with measure="):
            MeasureOptions(measure, **given)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"bins": "quantile", "threshold": 2.0}, "threshold=2.0 .* bins='quantile'"),
            ({"bins": "levels", "threshold": 2.0}, "threshold=2.0 .* bins='levels'"),
            ({"bins": "levels", "n_bins": 9}, "n_bins=9 .* bins='levels'"),
        ],
    )
    def test_options_of_other_bins(self, options, message):
        with pytest.raises(InvalidInputError, match=message):
            MeasureOptions(**options)

    @pytest.mark.parametrize("options", [{"n_bins": np.int64(5)}, {"threshold": 1}], ids=str)
    def test_defaults_of_another_type(self, options):
        bins = "quantile" if "threshold" in options else "peng"
        MeasureOptions(bins=bins, **options)

    def test_how_the_target_is_understood(self):
        options = MeasureOptions(
            "hsic", task="regression", y_kernel="laplace", y_width=2.0, multioutput="average"
        )
        target = options.target
        assert (target.task, target.kernel, target.width) == ("regression", "laplace", 2.0)
        assert (target.transform, target.multioutput) == (None, "average")
        assert MeasureOptions().target.width == 1.0
        assert MeasureOptions(y_transform="rank").target.transform == "rank"
