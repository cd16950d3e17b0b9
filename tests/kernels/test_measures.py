"""Dependence measures: names, rules, and what they do to a Gram matrix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import HSIC, NHSIC, NOCCO, Gaussian, Samples, as_measure
from hsiclasso.kernels.factor import factor_columns
from hsiclasso.kernels.measures import MEASURES
from tests import oracles

every_measure = pytest.mark.parametrize("measure", [make() for make in MEASURES.values()], ids=str)


@every_measure
def test_names(measure):
    assert as_measure(measure.name) == measure
    assert as_measure(measure) is measure
    assert measure.title.endswith("Lasso")
    assert measure.needs_gram == (measure.name != "hsic")


def test_unknown_measures():
    message = (
        r"measure='hsics' is unknown \(did you mean 'hsic'\?\): choose 'hsic', 'nhsic' or 'noc"
    )
    with pytest.raises(InvalidInputError, match=message):
        as_measure("hsics")


@pytest.mark.parametrize("epsilon", [0, -1e-3, 1e-17, 5e-8, np.nan, np.inf, "small", None, True])
def test_epsilon_is_positive(epsilon):
    with pytest.raises(InvalidInputError, match=r"epsilon=.*positive finite .*1e-3 is the paper's"):
        NOCCO(epsilon).check()


@every_measure
@pytest.mark.parametrize("observed", [1.0, 0.6])
def test_the_matrix_of_a_measure(measure, observed, rng):
    column, seen = rng.exponential(size=30), np.arange(30) < 30 * observed
    samples = Samples(30) if seen.all() else Samples(30).only(seen)
    z = np.where(seen, column, 1.0)[None]
    Gaussian().scale(z, samples.shares)
    (factor,) = factor_columns(z, Gaussian(), samples, measure, 1e-10)
    A = measure.finish(replace(factor, observed=observed))
    column[~seen] = np.nan
    expected = oracles.feature_matrix(column, Gaussian(), measure.name)
    np.testing.assert_allclose(A.rows.T @ A.rows, expected, atol=1e-9)
    if observed == 1.0:
        similar = measure.similarity()
        (factor,) = factor_columns(z, Gaussian(), samples, similar, 1e-10)
        assert similar.finish(factor).norm == pytest.approx(1)


@every_measure
@given(
    eigenvalues=st.lists(st.floats(0, 100), min_size=1, max_size=9),
    others=st.lists(st.floats(0, 100), min_size=9, max_size=9),
)
def test_bounds(measure, eigenvalues, others):
    """An error grows by the Lipschitz constant at most; trace and rank bound the norm below."""
    a, b, total = np.array(eigenvalues), np.array(others[: len(eigenvalues)]), 40.0
    change = np.linalg.norm(measure.shrink(a, total) - measure.shrink(b, total))
    assert change <= measure.lipschitz(total) * np.linalg.norm(a - b) * (1 + 1e-9) + 1e-12
    least = measure.least_norm(a.sum(), np.array(len(a)), total)
    assert least <= np.linalg.norm(measure.shrink(a, total)) * (1 + 1e-9) + 1e-12
    assert 0 < measure.usual_share(1e-6) < 1e-6


def test_shrinking():
    np.testing.assert_allclose(NOCCO(0.1).shrink(np.array([0.0, 10, 30]), 100), [0, 0.5, 0.75])
    assert NOCCO(0.5).regularisation == 0.5
    for measure in (HSIC(), NHSIC()):
        assert measure.shrink(np.array([3.0]), 9).tolist() == [3.0]
    assert HSIC().restoration(0.5) == 2.0
    assert NHSIC().restoration(0.5) == NOCCO().restoration(0.5) == 1.0
