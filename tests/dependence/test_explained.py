"""Features and targets of which the covariates leave nothing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hsiclasso.dependence import Affinity, Values, make_measure, make_target
from hsiclasso.embedding import Delta, Gaussian, Laplace, Polynomial, Samples
from tests.dependence.compare import MEASURES, WEIGHTS, find, make_features, redundancy

N = 60
#: What rounding may leave of a feature, relative to the others.
NOTHING = 1e-9
KERNELS = [Gaussian(), Gaussian("median"), Gaussian((0.5, 2.0)), Laplace(), Delta(),
           Delta(by_count=False), Polynomial(2)]  # fmt: skip
STORED = {
    "dense": np.array,
    "sparse": sparse.csc_array,
    "int8": lambda X: X.astype(np.int8),
    "missing": lambda X: np.where(np.arange(len(X))[:, None] % 7 == 3, np.nan, X),
}


def three_groups(rng, weights):
    """A table whose first two columns the groups explain, and samples without the groups."""
    group = np.r_[[0, 1, 2], rng.integers(0, 3, N - 3)]
    others = [np.round(3 * rng.standard_normal(N)), rng.poisson(1.0, N)]
    X = np.column_stack([group, group == 1, *others]).astype(float)
    return X, group, Samples(N, WEIGHTS[weights](rng, N), np.eye(3)[:, group])


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("storage", STORED)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_relevance_is_zero(kernel, measure, storage, weights, rng):
    X, _, samples = three_groups(rng, weights)
    features = make_features(STORED[storage](X), kernel, samples)
    relevance = np.abs(find(features, rng.standard_normal(N), measure).relevance)
    assert (relevance[:2] <= features.tol * relevance.max()).all()
    assert (relevance[2:] > 10 * features.tol * relevance.max()).all()


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("storage", STORED)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", [k for k in KERNELS if not isinstance(k, Laplace)], ids=str)
def test_factors_are_empty(kernel, measure, storage, weights, rng):
    X, _, samples = three_groups(rng, weights)
    features = make_features(STORED[storage](X), kernel, samples)
    made = features.matrices(np.arange(4), make_measure(measure).epsilon)
    assert [len(matrix.rows) > 0 for matrix in made] == [False, False, True, True]
    scan = find(features, rng.standard_normal(N), measure)
    assert not redundancy(features, scan, measure)[:2].any()


@pytest.mark.parametrize("measure", ["hsic", "nocco"])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_redundancy_under_a_laplace_kernel_is_zero(measure, weights, rng):
    X, _, samples = three_groups(rng, weights)
    features = make_features(X, Laplace(), samples)
    G = redundancy(features, find(features, rng.standard_normal(N), measure), measure)
    assert (np.abs(G[:2]) <= NOTHING * G.max()).all()


def test_normalised_redundancy_under_a_laplace_kernel_is_zero(rng):
    X, _, samples = three_groups(rng, "whole weights")
    features = make_features(X, Laplace(), samples)
    G = redundancy(features, find(features, rng.standard_normal(N), "nhsic"), "nhsic")
    assert (np.abs(G[:2]) <= NOTHING * G.max()).all()


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("measure", MEASURES)
def test_error_bound_stays_below_the_tolerance(measure, storage, rng):
    X, _, samples = three_groups(rng, "plain")
    # no whole numbers, which would be counted
    features = make_features(STORED[storage](0.3 * X), Gaussian(), samples)
    assert find(features, rng.standard_normal(N), measure).error <= features.tol


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_kernel_may_not_see_a_column(measure, weights, rng):
    """Squares of two values of equal weight are equal up to rounding."""
    X = np.column_stack([np.tile([0.1, 0.3], N // 2), rng.standard_normal(N)])
    w = WEIGHTS[weights](rng, N)
    samples = Samples(N, None if w is None else np.repeat(w[::2], 2))
    features = make_features(X, Polynomial(2, 0.0), samples)
    scan = find(features, rng.standard_normal(N), measure)
    assert abs(scan.relevance[0]) <= features.tol * scan.relevance[1]
    G = redundancy(features, scan, measure)
    assert G[0, 0] <= features.tol * G[1, 1]


@pytest.mark.parametrize("measure", MEASURES)
def test_the_pass_and_the_factors_agree_on_what_is_left(measure, rng):
    """A relevance without a norm would be a direction in which the problem has no bound."""
    outlier = np.eye(N)[0]
    X = (1e6 * outlier + rng.standard_normal(N))[:, None]
    features = make_features(X, Gaussian(), Samples(N, None, outlier[None]))
    scan = find(features, rng.standard_normal(N), measure)
    assert (scan.relevance[0] > 0) == (redundancy(features, scan, measure)[0, 0] > 0)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_target_is_empty(kernel, measure, weights, rng):
    X, group, samples = three_groups(rng, weights)
    values = Values(group[None].astype(float), kernel)
    size = samples.total**2
    assert abs(make_target(values, make_measure(measure), samples).norm2) <= 1e-12 * size
    relevance = find(make_features(X, Gaussian(), samples), values, measure).relevance
    assert (np.abs(relevance) <= 1e-12 * size).all()


@pytest.mark.parametrize("n_features", [1, 1000])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_an_affinity_is_empty(form, n_features, rng):
    _, group, samples = three_groups(rng, "plain")
    same = form((group[:, None] == group) * 1.0)
    target = make_target(Affinity(same), make_measure("hsic"), samples, n_features=n_features)
    assert abs(target.norm2) <= NOTHING * same.sum()


@pytest.mark.parametrize("n_features", [1, 1000])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize("measure", ["nhsic", "nocco"])
def test_an_affinity_is_empty_to_other_measures(measure, form, n_features, rng):
    _, group, samples = three_groups(rng, "plain")
    same = form((group[:, None] == group) * 1.0)
    target = make_target(Affinity(same), make_measure(measure), samples, n_features=n_features)
    assert abs(target.norm2) <= NOTHING
