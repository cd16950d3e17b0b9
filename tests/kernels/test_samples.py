"""Weights, and what is removed, against the dense projector."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.kernels import Samples
from tests import oracles


@st.composite
def spaces(draw):
    """Samples with or without weights and covariates, some of which depend on each other."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, c = draw(st.integers(6, 40)), draw(st.integers(0, 4))
    weights = rng.uniform(0.01, 3, n) if draw(st.booleans()) else None
    functions = rng.standard_normal((c, n))
    if c > 1 and draw(st.booleans()):
        functions[-1] = 2 * functions[0] - 3  # depends on another and the constant
    return Samples(n, weights, functions if c else None)


def dense_projector(samples):
    weights = np.ones(samples.n) if samples.weights is None else samples.weights
    return oracles.projector(weights, samples.covariates)


@given(spaces())
def test_the_projector_is_the_dense_one(samples):
    Q = samples.removed
    P = np.eye(samples.n) - Q.T @ Q
    np.testing.assert_allclose(P, dense_projector(samples), atol=1e-10)
    np.testing.assert_allclose(P @ P, P, atol=1e-12)  # it is idempotent
    np.testing.assert_allclose(Q @ Q.T, np.eye(len(Q)), atol=1e-12)
    np.testing.assert_allclose(Q[0], samples.root / np.sqrt(samples.total), rtol=1e-14)


@given(spaces(), st.integers(1, 5))
def test_project_weighs_and_removes(samples, r):
    rows = np.random.default_rng(0).standard_normal((r, samples.n))
    expected = (rows * samples.root) @ dense_projector(samples)
    given_ = rows.copy()
    projected = samples.project(given_)
    assert projected is given_  # in place
    np.testing.assert_allclose(projected, expected, atol=1e-10)
    np.testing.assert_allclose(samples.remove(projected.copy()), projected, atol=1e-12)
    np.testing.assert_allclose(projected @ samples.root, 0, atol=1e-10)


@given(spaces(), st.integers(0, 100))
def test_only_some_samples(samples, seed):
    """Samples without weight are as good as absent ones."""
    seen = np.random.default_rng(seed).random(samples.n) < 0.7
    seen[:5] = True
    some = samples.only(seen)
    weights = np.ones(samples.n) if samples.weights is None else samples.weights
    np.testing.assert_array_equal(some.shares[0], np.where(seen, weights, 0.0))
    assert some.total == pytest.approx(weights[seen].sum())
    covariates = None if samples.covariates is None else samples.covariates[:, seen]
    small = Samples(int(seen.sum()), weights[seen], covariates)
    P = np.eye(samples.n) - some.removed.T @ some.removed
    np.testing.assert_allclose(P[np.ix_(seen, seen)], dense_projector(small), atol=1e-9)
    rows = np.random.default_rng(1).standard_normal((2, samples.n))
    assert not some.project(rows)[:, ~seen].any()


def test_dependent_covariates_count_once(rng):
    a, b = rng.standard_normal((2, 30))
    one = Samples(30, None, np.array([a, b]))
    for others in ([a, b, a], [a, b, a + b], [a, b, 2 * a - b + 3], [a, b, np.full(30, 7.0)]):
        many = Samples(30, None, np.array(others))
        assert len(many.removed) == 3
        P, again = (np.eye(30) - s.removed.T @ s.removed for s in (one, many))
        np.testing.assert_allclose(P, again, atol=1e-10)


def test_constant_covariates_are_the_constant():
    for functions in (np.full((2, 9), 5.0), np.zeros((1, 9)), np.zeros((0, 9))):
        assert len(Samples(9, None, functions).removed) == 1


def test_dummies_of_all_groups_depend_on_the_constant(rng):
    group = np.r_[np.arange(4), rng.integers(0, 4, 26)]
    assert len(Samples(30, rng.random(30), np.eye(4)[:, group]).removed) == 4


@pytest.mark.parametrize("unit", [1e-9, 1e-5, 1e5, 1e9])
def test_units_of_covariates_do_not_matter(unit, rng):
    functions = rng.standard_normal((2, 30))
    spaces = (Samples(30, None, f) for f in (functions, functions * np.array([[1.0], [unit]])))
    P, again = (np.eye(30) - samples.removed.T @ samples.removed for samples in spaces)
    np.testing.assert_allclose(P, again, atol=1e-10)


def test_as_many_covariates_as_samples_leave_nothing(rng):
    samples = Samples(6, rng.random(6) + 0.1, rng.standard_normal((9, 6)))
    assert len(samples.removed) == 6
    np.testing.assert_allclose(samples.project(rng.standard_normal((2, 6))), 0, atol=1e-12)


def test_plain():
    assert Samples(3).plain
    assert not Samples(3, np.ones(3)).plain
    assert not Samples(3, None, np.ones((1, 3))).plain
    assert Samples(3).total == 3
    assert (Samples(3).root == 1).all()
    assert Samples(3).shares.tolist() == [[1, 1, 1]]
    assert Samples(2, np.array([4.0, 9.0])).root.tolist() == [2, 3]
