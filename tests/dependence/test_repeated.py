"""A whole-number weight is as good as repeating the sample."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hsiclasso.dependence import Censored, Values
from hsiclasso.embedding import Delta, Gaussian, Laplace, Samples
from tests.dependence.compare import (
    COVARIATES,
    KERNELS,
    MEASURES,
    VECTOR_KERNELS,
    find,
    make_features,
    redundancy,
)

N, TOL = 30, 1e-10
JOINT = {1: ("pair", np.array([1, 3]))}


def table(rng):
    X = np.column_stack(
        [
            rng.standard_normal(N),
            rng.binomial(2, 0.4, N),
            rng.exponential(size=N) * (rng.random(N) < 0.6),
            rng.integers(0, 4, N),
        ]
    )
    return X, X[:, 0] + rng.standard_normal(N)


def both_ways(X, y, weights, covariates=None, **options):
    """Results with weights, and with repeated rows; `y` makes a target for some samples."""
    again = np.repeat(np.arange(len(weights)), weights)
    some = None if covariates is None else covariates[:, again]
    for rows, samples in (
        (slice(None), Samples(len(weights), weights.astype(float), covariates)),
        (again, Samples(again.size, None, some)),
    ):
        yield results(X[rows], y(rows), samples, **options)


def results(X, y, samples, kernel, measure, joint=None):
    features = make_features(X, kernel, samples, tol=TOL, joint=joint or {})
    kept = np.setdiff1d(np.arange(X.shape[1]), features.absorbed)
    scan = find(features, y, measure)
    return scan.relevance, redundancy(features, scan, measure, kept), scan.target_norm2


def assert_same(one, other):
    """Both lie within the tolerance of the same numbers."""
    (b, G, t), (b_again, G_again, t_again) = one, other
    size = np.sqrt(np.diag(G).max())
    np.testing.assert_allclose(b, b_again, rtol=0, atol=4 * TOL * size * np.sqrt(t))
    np.testing.assert_allclose(G, G_again, rtol=0, atol=8 * TOL * size**2)
    np.testing.assert_allclose(t, t_again, rtol=4 * TOL)


@pytest.mark.parametrize("covariates", COVARIATES)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_features(kernel, measure, covariates, rng):
    X, y = table(rng)
    weights, C = rng.integers(1, 5, N), COVARIATES[covariates](rng, N)
    holes = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    small = np.round(X).astype(np.int8)
    for stored in (X, holes, sparse.csr_array(X), small):
        assert_same(
            *both_ways(stored, lambda rows: y[rows], weights, C, kernel=kernel, measure=measure)
        )


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", VECTOR_KERNELS, ids=str)
def test_vectors(kernel, measure, rng):
    X, y = table(rng)
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    for stored in (X, holes):
        assert_same(
            *both_ways(
                stored, lambda rows: y[rows], rng.integers(1, 5, N),
                kernel=kernel, measure=measure, joint=JOINT,
            )
        )  # fmt: skip


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", VECTOR_KERNELS, ids=str)
@pytest.mark.parametrize("averaged", [False, True])
def test_targets_of_several_outputs(kernel, measure, averaged, rng):
    X, _ = table(rng)
    outputs = np.array([rng.integers(0, 3, N), rng.integers(0, 5, N) + 0.0])
    assert_same(
        *both_ways(
            X, lambda rows: Values(outputs[:, rows], kernel, averaged),
            rng.integers(1, 5, N), kernel=Gaussian(), measure=measure,
        )
    )  # fmt: skip


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", [Gaussian(), Gaussian("median"), Laplace(), Delta()], ids=str)
def test_censored_times(kernel, measure, rng):
    X, _ = table(rng)
    time, event = np.round(rng.exponential(size=N), 1), rng.random(N) < 0.6
    assert_same(
        *both_ways(
            X, lambda rows: Censored(time[rows], event[rows], kernel), rng.integers(1, 5, N),
            kernel=Gaussian(), measure=measure,
        )
    )  # fmt: skip
