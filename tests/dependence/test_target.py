"""The matrices of targets of every kind against dense formulas."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from scipy import sparse

from hsiclasso.dependence import (
    Affinity,
    Censored,
    Diffusion,
    Graph,
    Pairwise,
    RegularisedLaplacian,
    Values,
    make_measure,
    make_target,
    scan_relevance,
    subtract,
)
from hsiclasso.dependence import target as target_module
from hsiclasso.embedding import Delta, Embedding, Gaussian, Laplace, Linear, Samples, factor_columns
from hsiclasso.errors import InvalidInputError
from tests import oracles
from tests.dependence.compare import (
    COVARIATES,
    KERNELS,
    MEASURES,
    VECTOR_KERNELS,
    WEIGHTS,
    assert_relevance,
    dense_features,
    make_features,
    make_samples,
)

N = 40
weighting = pytest.mark.parametrize("weights", WEIGHTS)
covarying = pytest.mark.parametrize("covariates", COVARIATES)
measuring = pytest.mark.parametrize("measure", MEASURES)


def matrix_of(target, samples):
    """T itself, from the rows of a target or from its products."""
    if target.product is None:
        rows = target.rows.unsplit()
        signs = np.roll(target.signs, -target.rows.offset.size)
        return (rows.T * signs) @ rows
    off = samples.remove(np.eye(samples.n))
    return target.product(off) @ off.T


def dense(K, measure, samples):
    return oracles.projected_measure(K, measure, samples.weights, samples.covariates)


def check(data, K, measure, samples, *, tol=1e-6, n_features=0):
    """Compare a target with the measure's matrix of a Gram matrix, and relate features to it."""
    made = make_measure(measure)
    target = make_target(data, made, samples, tol=tol, n_features=n_features)
    T = dense(K, measure, samples)
    assert_matrix(target, T, samples, tol)
    X = np.random.default_rng(9).standard_normal((samples.n, 3))
    X[:, 2] = np.round(X[:, 2])
    X[:, 1] = np.where(X[:, 1] > 1, np.nan, X[:, 1])
    kernels = (Gaussian(), Gaussian("median"), Laplace())
    A = dense_features(X.T, kernels, measure, samples)
    for table in (X, sparse.csc_array(X)):
        scan = scan_relevance(make_features(table, kernels, samples, tol=tol), target, made)
        assert_relevance(scan.relevance, A, T, tol)
    codes = np.round(2 * np.nan_to_num(X)).astype(np.int8)
    scan = scan_relevance(make_features(codes, None, samples, tol=tol), target, made)
    assert_relevance(scan.relevance, dense_features(codes.T, Gaussian(), measure, samples), T, tol)
    return target


def assert_matrix(target, T, samples, tol):
    size = np.linalg.norm(T)
    assert np.linalg.norm(matrix_of(target, samples) - T) <= tol * size
    np.testing.assert_allclose(target.norm2, size**2, rtol=2 * tol)


@covarying
@weighting
@measuring
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_values(kernel, measure, weights, covariates, rng):
    samples = make_samples(rng, N, weights, covariates)
    y = np.round(rng.standard_normal(N), 1)
    check(
        Values(y[None], kernel), oracles.kernel_gram(y, kernel, samples.weights), measure, samples
    )


@pytest.mark.parametrize("tol", [1e-6, 1e-10])
@measuring
@pytest.mark.parametrize("kernel", VECTOR_KERNELS, ids=str)
def test_several_outputs_together(kernel, measure, tol, rng):
    samples = make_samples(rng, N, "real weights", "covariates")
    y = np.array([rng.standard_normal(N), rng.integers(0, 3, N), rng.exponential(size=N)])
    y = np.round(y)
    K = oracles.kernel_gram(y, kernel, samples.weights)
    check(Values(y, kernel), K, measure, samples, tol=tol)


@pytest.mark.parametrize("weights", ["plain", "real weights"])
@measuring
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_several_outputs_averaged(kernel, measure, weights, rng):
    samples = make_samples(rng, N, weights, "covariates")
    y = np.round(np.array([rng.standard_normal(N), 3 * rng.random(N), rng.exponential(size=N)]))
    K = np.mean([oracles.kernel_gram(row, kernel, samples.weights) for row in y], axis=0)
    check(Values(y, kernel, averaged=True), K, measure, samples)


@measuring
def test_an_output_that_is_constant_adds_nothing(measure, rng):
    y = np.array([rng.standard_normal(N), np.full(N, 3.0)])
    K = 0.5 * oracles.kernel_gram(y[0], Gaussian())
    check(Values(y, Gaussian(), averaged=True), K, measure, Samples(N))


@covarying
@weighting
@measuring
@pytest.mark.parametrize(
    "kernel", [Gaussian(), Gaussian("median"), Laplace(), Delta(), Linear()], ids=str
)
def test_censored(kernel, measure, weights, covariates, rng):
    samples = make_samples(rng, N, weights, covariates)
    time, event = np.round(rng.exponential(size=N), 1), rng.random(N) < 0.6
    w = np.ones(N) if samples.weights is None else samples.weights
    L = oracles.kernel_gram(time, kernel, w)
    M = oracles.log_rank_matrix(L, time, event, w)
    # M holds the roots of weights already: what `dense` puts there is taken out before
    K = M / np.sqrt(np.outer(w, w))
    check(Censored(time, event, kernel), K, measure, samples)


def affinity(rng, definite):
    vectors = rng.standard_normal((6, N))
    signs = np.ones(6) if definite else np.array([1, -1, 1, 1, -1, 1])
    return (vectors.T * signs) @ vectors + 0.2 * np.eye(N)


@covarying
@weighting
@measuring
@pytest.mark.parametrize("n_features", [0, 10_000])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_definite_affinities(form, n_features, measure, weights, covariates, rng):
    samples, L = make_samples(rng, N, weights, covariates), affinity(rng, definite=True)
    target = check(Affinity(form(L)), L, measure, samples, n_features=n_features)
    assert (target.signs == 1).all()


@covarying
@weighting
@pytest.mark.parametrize("measure", ["hsic", "nhsic"])
@pytest.mark.parametrize("n_features", [0, 10_000])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_indefinite_affinities(form, n_features, measure, weights, covariates, rng):
    samples, L = make_samples(rng, N, weights, covariates), affinity(rng, definite=False)
    target = check(Affinity(form(L)), L, measure, samples, n_features=n_features)
    factored = n_features > 0 and form is np.array
    assert (target.product is None) == factored
    assert set(target.signs) == ({-1.0, 1.0} if factored else set())


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_nocco_needs_a_definite_affinity(form, rng):
    L = affinity(rng, definite=False)
    with pytest.raises(InvalidInputError, match="negative eigenvalues"):
        make_target(Affinity(form(L)), make_measure("nocco"), Samples(N))


def link(rng):
    upper = np.triu(rng.random((N, N)) < 0.1, 1) * rng.random((N, N))
    upper[0, 1] = 0.5
    return upper + upper.T


def graph_kernel(adjacency, kernel):
    L = oracles.normalised_laplacian(adjacency)
    if isinstance(kernel, Diffusion):
        return scipy.linalg.expm(-kernel.beta * L)
    return np.linalg.inv(np.eye(N) + kernel.beta * L)


@covarying
@weighting
@measuring
@pytest.mark.parametrize("kernel", [Diffusion(2.0), RegularisedLaplacian(3.0)], ids=str)
def test_graphs(kernel, measure, weights, covariates, rng):
    samples, adjacency = make_samples(rng, N, weights, covariates), link(rng)
    K = graph_kernel(adjacency, kernel)
    for form in (np.array, sparse.csr_array):
        for n_features in (0, 10_000):
            check(Graph(form(adjacency), kernel), K, measure, samples, n_features=n_features)


@covarying
@weighting
@pytest.mark.parametrize("measure", ["hsic", "nhsic"])
@pytest.mark.parametrize("kernel", [Diffusion(2.0), RegularisedLaplacian(3.0)], ids=str)
def test_large_graphs_are_known_by_products(kernel, measure, weights, covariates, rng, monkeypatch):
    monkeypatch.setattr(target_module, "DENSE", N - 1)
    samples, adjacency = make_samples(rng, N, weights, covariates), link(rng)
    data = Graph(sparse.csr_array(adjacency), kernel)
    target = check(data, graph_kernel(adjacency, kernel), measure, samples)
    assert target.product is not None


def test_nocco_needs_eigenvalues(rng, monkeypatch):
    monkeypatch.setattr(target_module, "DENSE", N - 1)
    adjacency, nocco = sparse.csr_array(link(rng)), make_measure("nocco")
    with pytest.raises(InvalidInputError, match=f"a graph of {N} samples is too large"):
        make_target(Graph(adjacency, Diffusion()), nocco, Samples(N))
    with pytest.raises(InvalidInputError, match=f"a sparse affinity of {N} samples is too large"):
        make_target(Affinity(adjacency), nocco, Samples(N))


def test_a_laplace_target_has_products(rng):
    y = rng.standard_normal((2, N))
    for measure in ("hsic", "nhsic"):
        target = make_target(Values(y, Laplace(), averaged=True), make_measure(measure), Samples(N))
        assert len(target.laplace) == 2


@covarying
@weighting
@measuring
def test_pairwise(measure, weights, covariates, rng):
    samples, items = make_samples(rng, N, weights, covariates), rng.standard_normal((N, 2))
    K = np.exp(-0.5 * np.sum((items[:, None] - items) ** 2, axis=2))
    data = Pairwise(list(items), lambda a, b: float(np.exp(-0.5 * np.sum((a - b) ** 2))))
    check(data, K, measure, samples)


@covarying
@weighting
@pytest.mark.parametrize("measure", ["hsic", "nhsic"])
def test_indefinite_functions_of_pairs(measure, weights, covariates, rng):
    samples, items = make_samples(rng, N, weights, covariates), rng.standard_normal(N)
    K = -(np.abs(items[:, None] - items) ** 1.5) + np.cos(3 * (items[:, None] + items))
    data = Pairwise(range(N), lambda i, j: K[i, j])
    target = check(data, K, measure, samples)
    assert set(target.signs) == {-1.0, 1.0}


def test_nocco_needs_a_definite_function(rng):
    x = rng.standard_normal(N)
    data = Pairwise(x, lambda a, b: abs(a - b))
    with pytest.raises(InvalidInputError, match="negative eigenvalues"):
        make_target(data, make_measure("nocco"), Samples(N))


@measuring
def test_a_large_constant_in_a_function_does_not_matter(measure, rng):
    """Centring removes it, but not from the trace that accuracy is measured by."""
    x = rng.standard_normal(N)
    K = np.exp(-0.5 * (x[:, None] - x) ** 2)
    data = Pairwise(range(N), lambda i, j: 1e4 + K[i, j])
    target = make_target(data, make_measure(measure), Samples(N))
    assert_matrix(target, dense(K, measure, Samples(N)), Samples(N), 1e-6)


def targets(rng):
    """One of each way to hold a target."""
    L = affinity(rng, definite=False)
    heavy = np.exp(1.5 * rng.standard_normal(N))
    return {
        "factor": (Values(rng.standard_normal((1, N)), Gaussian()), 0),
        "heavy tail": (Values(heavy[None], Gaussian()), 0),
        "signed": (Affinity(L), 10_000),
        "product": (Affinity(L), 0),
        "laplace": (Values(rng.standard_normal((2, N)), Laplace(), averaged=True), 0),
    }


@covarying
@weighting
@pytest.mark.parametrize("measure", ["hsic", "nhsic"])
@pytest.mark.parametrize("kind", ["factor", "heavy tail", "signed", "product", "laplace"])
def test_subtract(kind, measure, weights, covariates, rng):
    samples = make_samples(rng, N, weights, covariates)
    data, n_features = targets(rng)[kind]
    made = make_measure(measure)
    target = make_target(data, made, samples, n_features=n_features)
    T = matrix_of(target, samples)
    for known in rng.standard_normal((2, 1, N)):  # once and once more
        (factor,) = factor_columns(known.copy(), Embedding(), samples)
        factor = made.finish(factor)
        target = subtract(target, factor)
        T = oracles.without(T, factor.rows.T @ factor.rows)
        np.testing.assert_allclose(matrix_of(target, samples), T, atol=1e-12 * np.abs(T).max() * N)
        np.testing.assert_allclose(target.norm2, np.sum(T * T), rtol=1e-9)
    X, kernels = rng.standard_normal((N, 4)), (Gaussian(), Laplace())
    scan = scan_relevance(make_features(X, kernels, samples), target, made)
    A = dense_features(X.T, kernels, measure, samples)
    assert_relevance(scan.relevance, A, T, 1e-6)
    codes = rng.integers(0, 3, (N, 4), dtype=np.int8)
    scan = scan_relevance(make_features(codes, None, samples), target, made)
    assert_relevance(scan.relevance, dense_features(codes.T, Gaussian(), measure, samples), T, 1e-6)


def test_subtracting_a_target_from_itself_leaves_nothing(rng):
    y = rng.standard_normal((1, N))
    target = make_target(Values(y, Gaussian()), make_measure("hsic"), Samples(N))
    (factor,) = factor_columns(y.copy(), Embedding(tol=1e-10))
    left = subtract(target, factor)
    assert 0 <= left.norm2 <= 1e-9 * target.norm2


def test_subtracting_nothing_changes_nothing(rng):
    target = make_target(
        Values(rng.standard_normal((1, N)), Gaussian()), make_measure("hsic"), Samples(N)
    )
    (constant,) = factor_columns(np.ones((1, N)), Embedding())
    assert subtract(target, constant).norm2 == target.norm2


@pytest.mark.parametrize("measure", MEASURES)
def test_a_heavy_tail_is_split(measure, rng):
    """The rows of its far values are related on the tail alone; weights leave them whole."""
    y = np.exp(1.5 * rng.standard_normal(400))
    made = make_measure(measure)
    target = make_target(Values(y[None], Gaussian()), made, Samples(400))
    assert target.rows.offset.size > 0
    assert_matrix(
        target, dense(oracles.gaussian_gram(y), measure, Samples(400)), Samples(400), 1e-6
    )
    weighted = make_target(Values(y[None], Gaussian()), made, Samples(400, np.ones(400)))
    assert weighted.rows.offset.size == 0


@pytest.mark.parametrize("kernel", [Delta(), Laplace()], ids=str)
def test_kernels_of_full_rank_are_refused_for_many_values(kernel):
    time = np.arange(4001.0)
    with pytest.raises(InvalidInputError, match=r"y has 4001 distinct values.*Gaussian kernel"):
        make_target(Censored(time, time > 0, kernel), make_measure("hsic"), Samples(4001))


def falling(rng, *last, n=120):
    """A matrix with eigenvalues that fall far below its norm, down to those given."""
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
    eigenvalues = n * np.exp(-np.arange(n) / 5)
    eigenvalues[n - len(last) :] = last
    matrix = (basis * eigenvalues) @ basis.T
    return (matrix + matrix.T) / 2


def test_nocco_keeps_small_eigenvalues(rng):
    """They are small beside the norm, but not beside epsilon n."""
    matrix = falling(rng)
    target = make_target(Affinity(matrix), make_measure("nocco"), Samples(120))
    rows, expected = target.rows.unsplit(), oracles.measure_matrix(matrix, "nocco")
    error = np.linalg.norm((rows.T * target.signs) @ rows - expected)
    assert error <= 1e-6 * np.linalg.norm(expected)


def test_nocco_overlooks_negative_eigenvalues_that_are_rounding(rng):
    measure, samples = make_measure("nocco"), Samples(120)
    target = make_target(Affinity(falling(rng, -1e-7, -1e-6)), measure, samples)
    assert (target.signs > 0).all()
    with pytest.raises(InvalidInputError, match="NOCCO needs a positive semi-definite target"):
        make_target(Affinity(falling(rng, -1e-3)), measure, samples)
