"""Compiled loops of the dependence station against NumPy twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hsiclasso.dependence._loops import relevance_from_moments, shrunk_energy
from hsiclasso.dependence._stored_loops import relate_stored, sum_stored_levels
from hsiclasso.embedding import BINS_PER_UNIT, Gaussian, Samples, bases
from tests import oracles
from tests.dependence.compare import COVARIATES, MEASURES, WEIGHTS, make_samples

EPSILON = 1e-3


def test_shrunk_energy(rng):
    phi, cross = rng.standard_normal((7, 30)), rng.standard_normal((7, 4))
    signs, gram = np.array([1.0, -1.0, 1.0, -1.0]), phi @ phi.T
    expected = signs @ np.diag(cross.T @ np.linalg.solve(gram + 0.3 * np.eye(7), cross))
    assert shrunk_energy(gram.copy(), cross.copy(), signs, 0.3) == pytest.approx(expected)


@pytest.mark.parametrize("measure", MEASURES)
@given(
    n_features=st.integers(1, 9), n_target=st.integers(0, 6), n_removed=st.integers(0, 3),
    seed=st.integers(0, 1000),
)  # fmt: skip
def test_relevance_from_moments(measure, n_features, n_target, n_removed, seed):
    rng, n = np.random.default_rng(seed), 30
    removed = np.linalg.qr(rng.standard_normal((n, n_removed)))[0].T
    off = np.eye(n) - removed.T @ removed
    phi, rows = rng.standard_normal((n_features, n)), rng.standard_normal((n_target, n)) @ off
    signs = rng.choice([-1.0, 1.0], n_target)
    ridge = 0.7 if measure == "nocco" else 0.0
    cross = phi @ np.concatenate([rows, removed]).T
    found, mass = relevance_from_moments(phi @ phi.T, cross, signs, ridge, measure == "nhsic")
    K, T = off @ phi.T @ phi @ off, (rows.T * signs) @ rows
    A = oracles.nocco_matrix(K, ridge / n) if ridge else K
    A = A / np.linalg.norm(A) if measure == "nhsic" else A
    scale = np.linalg.norm(A) * np.linalg.norm(T)
    assert abs(found - np.sum(A * T)) <= 1e-10 * scale
    assert mass == pytest.approx(np.sum((phi @ removed.T) ** 2))


@pytest.mark.parametrize("measure", MEASURES)
def test_rounding_is_not_normalised(measure, rng):
    """A feature that lies in what is removed has no relevance."""
    removed = np.linalg.qr(rng.standard_normal((30, 3)))[0].T
    rows, _ = Samples(30).project(rng.standard_normal((4, 30)))
    rows -= rows @ removed.T @ removed
    phi = rng.standard_normal((2, 3)) @ removed
    cross = phi @ np.concatenate([rows, removed]).T
    ridge = 0.7 if measure == "nocco" else 0.0
    found, mass = relevance_from_moments(phi @ phi.T, cross, np.ones(4), ridge, measure == "nhsic")
    assert abs(found) <= 1e-20
    assert mass == pytest.approx(np.sum(phi * phi))


def stored_table(rng, n):
    """Columns with few and many zeros, and two that are constant."""
    X = np.column_stack([rng.standard_normal(n) * (rng.random(n) < p) for p in (0.2, 0.7, 1.0)])
    X[:4, 0] = [1.0, 0.0, -0.5, 2.0]
    return np.column_stack([X, np.zeros(n), np.full(n, 3.0)])


def stored_relevance(X, samples, rows, signs, width, measure):
    """Results for all sparse columns, as `RelateStored` asks for them."""
    every = np.concatenate([rows, samples.removed]) * samples.root
    made, stored, k = bases(), sparse.csc_array(X), X.shape[1]
    counts = np.zeros(k, dtype=np.int64)
    relevance, left, trace, norm = np.zeros((4, k))
    ridge = EPSILON * samples.total if measure == "nocco" else 0.0
    relate_stored(
        stored.indptr.astype(np.int64), stored.indices, stored.data, np.arange(k),
        np.square(samples.root), samples.total, np.ascontiguousarray(every.T),
        every.sum(axis=1), signs, width, float(BINS_PER_UNIT), made.residual, 1e-13,
        made.scale, made.decay, made.up, made.back, ridge, measure == "nhsic",
        counts, relevance, left, trace, norm,
    )  # fmt: skip
    return counts, relevance, left, trace, norm


@pytest.mark.parametrize("covariates", COVARIATES)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("measure", MEASURES)
@given(n=st.integers(10, 60), width=st.sampled_from([0.5, 1.0, 2.0]), seed=st.integers(0, 100))
def test_relate_stored(measure, weights, covariates, n, width, seed):
    rng = np.random.default_rng(seed)
    samples, X = make_samples(rng, n, weights, covariates), stored_table(rng, n)
    rows, _ = samples.project(rng.standard_normal((4, n)))
    signs = np.array([1.0, -1.0, 1.0, 1.0])
    T = (rows.T * signs) @ rows
    counts, found, left, trace, norm = stored_relevance(X, samples, rows, signs, width, measure)
    assert not counts[3:].any()  # constant columns are left to others
    for j in np.flatnonzero(counts):
        K = oracles.kernel_gram(X[:, j], Gaussian(width), samples.weights)
        B = oracles.projected(K, samples.weights, samples.covariates)
        assert left[j] <= 1e-13 * samples.total
        rounding = 1e-12 * samples.total
        assert trace[j] == pytest.approx(np.trace(B), abs=rounding)
        assert norm[j] == pytest.approx(np.linalg.norm(B), abs=rounding)
        A = oracles.projected_measure(K, measure, samples.weights, samples.covariates, EPSILON)
        # what an error of K becomes: magnified by the ridge, or divided by the norm
        scale = {"hsic": 1.0, "nhsic": np.linalg.norm(B) / 2, "nocco": EPSILON * samples.total}
        assert abs(found[j] - np.sum(A * T)) <= rounding / scale[measure] * np.linalg.norm(T)


@given(
    n=st.integers(3, 60), v=st.integers(1, 9), share=st.sampled_from([0.0, 0.3, 1.0]),
    seed=st.integers(0, 100),
)  # fmt: skip
def test_sum_stored_levels(n, v, share, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 5, (n, 5)) * (rng.random((n, 5)) < share)
    X = X + np.array([0.0, 2.0, -9.0, 0.5, 0.0])  # the fourth has no whole numbers
    X[:2, 4] = [-4.0, 12.0]  # 17 levels
    stored, rows = sparse.csc_array(X), rng.standard_normal((n, v))
    lowest, sums = np.full(5, 99.0), np.zeros((5, 16, v))
    sum_stored_levels(
        stored.indptr.astype(np.int64), stored.indices, stored.data, np.arange(5), rows,
        rows.sum(axis=0), lowest, sums,
    )  # fmt: skip
    assert np.isnan(lowest).tolist() == [False, False, False, True, True]
    for j in range(3):
        assert lowest[j] == min(X[:, j].min(), 0)
        for level in range(16):
            expected = rows[X[:, j] == lowest[j] + level].sum(axis=0)
            np.testing.assert_allclose(sums[j, level], expected, atol=1e-12)
