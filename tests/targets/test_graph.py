"""Graph kernels against matrix functions of the dense Laplacian."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import HSIC, NOCCO, Samples
from hsiclasso.targets import Diffusion, Graph, Links, RegularisedLaplacian, graph
from hsiclasso.targets.graph import GraphOperator, check_adjacency, graph_gram
from hsiclasso.targets.matrix import OperatorTarget
from tests import oracles
from tests.targets.compare import SPACES, N, check, every_measure, every_space

KERNELS = [Diffusion(), Diffusion(0.01), Diffusion(30.0), RegularisedLaplacian(),
           RegularisedLaplacian(0.01), RegularisedLaplacian(50.0)]  # fmt: skip


def random_graph(rng, n=25, share=0.15):
    """Weighted graph in which some nodes have no edge."""
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < share), 1)
    upper[0, 1] = 0.5
    upper[[3, n - 1]] = 0
    upper[:, [3, n - 1]] = 0
    return upper + upper.T


def dense_kernel(adjacency, kernel):
    L = oracles.normalised_laplacian(adjacency)
    if isinstance(kernel, Diffusion):
        return scipy.linalg.expm(-kernel.beta * L)
    return scipy.linalg.inv(np.eye(len(L)) + kernel.beta * L)


def operator_of(adjacency, kernel):
    return GraphOperator(sparse.csr_array(adjacency), kernel)


def norm2_by_products(adjacency, kernel, monkeypatch):
    """Squared norm of the centred matrix, as for a graph that is too large to be dense."""
    monkeypatch.setattr(graph, "DENSE", 0)
    adjacency = sparse.csr_array(adjacency)
    samples = Samples(adjacency.shape[0])
    return Links(adjacency, kernel).matrix(HSIC(), samples, error=1e-6, n_features=1).norm2


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_gram_is_the_matrix_function(kernel, rng):
    A = random_graph(rng)
    expected = dense_kernel(A, kernel)
    K = graph_gram(A, kernel)
    np.testing.assert_allclose(K, expected, atol=1e-13)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() > -1e-14
    np.testing.assert_allclose(graph_gram(sparse.csr_array(A), kernel), K, atol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_operator_is_the_gram_matrix(kernel, rng, monkeypatch):
    A = random_graph(rng, n=150, share=0.03)
    K = graph_gram(A, kernel)
    V = rng.standard_normal((150, 4))
    centred = np.linalg.norm(oracles.centre(K)) ** 2
    operator = operator_of(A, kernel)
    np.testing.assert_allclose(operator.product(V), K @ V, atol=1e-12)
    assert norm2_by_products(A, kernel, monkeypatch) == pytest.approx(centred, rel=1e-11)


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(5, 40), share=st.sampled_from([0.05, 0.5, 1]))
def test_any_graph(seed, n, share):
    A = random_graph(np.random.default_rng(seed), n, share)
    for kernel in (Diffusion(2.0), RegularisedLaplacian(3.0)):
        expected = dense_kernel(A, kernel)
        np.testing.assert_allclose(graph_gram(A, kernel), expected, atol=1e-13)
        operator = operator_of(A, kernel)
        np.testing.assert_allclose(operator.product(np.eye(n)), expected, atol=1e-12)


@pytest.mark.parametrize("beta", [1e-6, 1e-3, 0.3, 1.0, 7.0, 100.0, 1e4, 1e6])
@pytest.mark.parametrize("kind", [Diffusion, RegularisedLaplacian])
def test_series_is_the_response(kind, beta):
    kernel = kind(beta)
    x = np.linspace(0, 2, 501)
    series = np.polynomial.chebyshev.chebval(x - 1, kernel.series())
    # a sum of many alternating terms is rounded, beside being cut
    np.testing.assert_allclose(series, kernel.response(x), atol=1e-14 * (4 + beta**0.5))
    bound = 10 + 8 * beta**0.5 if kind is Diffusion else 24 * (1 + beta) ** 0.5
    assert len(kernel.series()) <= bound + 1


def test_nodes_without_edges_are_like_themselves_only(rng):
    A = random_graph(rng)
    for kernel in KERNELS:
        K = graph_gram(A, kernel)
        np.testing.assert_allclose(K[3], np.eye(25)[3], atol=1e-14)
        operator = operator_of(A, kernel)
        np.testing.assert_allclose(operator.product(np.eye(25)[:, [3]])[:, 0], K[3], atol=1e-13)


def test_components_do_not_mix():
    pair = np.array([[0.0, 1.0], [1.0, 0.0]])
    K = graph_gram(scipy.linalg.block_diag(pair, pair), Diffusion())
    np.testing.assert_allclose(K[:2, 2:], 0, atol=1e-15)
    # a pair has eigenvalues 0 and 2
    np.testing.assert_allclose(K[0, :2], [(1 + np.exp(-2)) / 2, (1 - np.exp(-2)) / 2])


def test_the_scale_of_weights_does_not_matter(rng):
    A = random_graph(rng)
    np.testing.assert_allclose(
        graph_gram(1e6 * A, Diffusion()), graph_gram(A, Diffusion()), atol=1e-13
    )


def ring(n):
    forward = sparse.csr_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    return check_adjacency(forward + forward.T, n)


@pytest.mark.parametrize("kernel", [Diffusion(3.0), RegularisedLaplacian(5.0)], ids=str)
def test_a_large_ring_has_known_eigenvalues(kernel):
    n = 30_000
    eigenvalue = 1 - np.cos(2 * np.pi * 7 / n * 1000)
    wave = np.cos(2 * np.pi * 7000 / n * np.arange(n))[:, None]
    product = GraphOperator(ring(n), kernel).product(wave)
    np.testing.assert_allclose(product, kernel.response(eigenvalue) * wave, atol=1e-11)


def test_norm_of_a_ring_of_many_blocks(monkeypatch):
    n, kernel = 300, Diffusion(2.0)
    eigenvalues = 1 - np.cos(2 * np.pi * np.arange(1, n) / n)  # without the constant
    expected = np.sum(kernel.response(eigenvalues) ** 2)
    assert norm2_by_products(ring(n), kernel, monkeypatch) == pytest.approx(expected, rel=1e-12)


def test_products_leave_their_argument(rng):
    A = random_graph(rng)
    V = rng.standard_normal((25, 2))
    for kernel in KERNELS:
        operator = operator_of(A, kernel)
        before = V.copy()
        first = operator.product(V)
        np.testing.assert_array_equal(V, before)
        np.testing.assert_array_equal(first, operator.product(V))


def test_64_bit_indices(rng):
    A = sparse.csr_array(random_graph(rng))
    wide = A.copy()
    wide.indices, wide.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    for kernel in KERNELS:
        expected = graph_gram(A, kernel)
        np.testing.assert_allclose(
            GraphOperator(wide, kernel).product(np.eye(25)), expected, atol=1e-12
        )


@pytest.mark.parametrize("container", [np.array, sparse.csr_matrix, sparse.coo_array, list])
def test_adjacency_is_made_plain(container, rng):
    A = random_graph(rng)
    with_loops = A + np.diag(np.arange(25.0))
    given_ = container(with_loops)
    made = check_adjacency(given_, 25)
    if sparse.issparse(given_):
        assert isinstance(made, sparse.csr_array)
        assert made.nnz == np.count_nonzero(A)
        assert given_.diagonal()[-1] == 24
        made = made.toarray()
    np.testing.assert_array_equal(made, A)
    assert made.dtype == np.float64
    assert with_loops[24, 24] == 24


def test_duplicate_edges_add_up():
    doubled = sparse.coo_array(([1.0, 2.0, 3.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    np.testing.assert_array_equal(check_adjacency(doubled, 2).toarray(), [[0, 3], [3, 0]])
    assert doubled.nnz == 3
    rows = sparse.csr_array(([1.0, 2.0, 3.0], [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    np.testing.assert_array_equal(check_adjacency(rows, 2).toarray(), [[0, 3], [3, 0]])
    assert rows.nnz == 3


@pytest.mark.parametrize("make", [np.array, sparse.csr_array])
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], r"adjacency has shape \(2, 3\).*\(2, 2\)"),
        ([[0.0, 1.0], [2.0, 0.0]], r"adjacency\[0, 1\]=1 but .*=2.*pass \(A \+ A\.T\) / 2"),
        ([[0.0, np.nan], [np.nan, 0.0]], "adjacency contains nan.*finite"),
        ([[0.0, -1.0], [-1.0, 0.0]], "adjacency contains -1.*negative"),
        ([[3.0, 0.0], [0.0, 1.0]], "no edge between two of the 2 samples"),
        ([[0j, 1j], [1j, 0j]], "adjacency cannot be read as a matrix of real numbers"),
    ],
)
def test_adjacency_that_is_none(make, matrix, message):
    with pytest.raises(InvalidInputError, match=message):
        check_adjacency(make(matrix), 2)


def test_rounding_of_the_symmetry_is_averaged(rng):
    A = random_graph(rng)
    noisy = A * (1 + 1e-10 * rng.standard_normal(A.shape))
    for made in (
        check_adjacency(noisy, 25),
        check_adjacency(sparse.csr_array(noisy), 25).toarray(),
    ):
        np.testing.assert_array_equal(made, made.T)
        np.testing.assert_allclose(made, A, rtol=1e-8)


@pytest.mark.parametrize("beta", [0.0, -1.0, np.nan, np.inf, 1e7, "1", None, True])
@pytest.mark.parametrize("kind", [Diffusion, RegularisedLaplacian])
def test_beta_is_positive_and_not_huge(kind, beta):
    message = r"beta=.*above 0 and up to 1e\+06: 1.0 is the default, a larger one"
    with pytest.raises(InvalidInputError, match=message):
        Graph(kernel=kind(beta)).prepare(np.eye(3), 3)


def test_large_sparse_graphs_get_no_dense_matrix(monkeypatch, rng):
    monkeypatch.setattr(graph, "_DENSE_NODES", 20)
    A = random_graph(rng)
    with pytest.raises(InvalidInputError, match=r"25 nodes.*use GraphOperator"):
        graph_gram(sparse.csr_array(A), Diffusion())
    assert graph_gram(A, Diffusion()).shape == (25, 25)


# ------------------------------------------------------------------------------------ the target


def link(rng):
    upper = np.triu(rng.random((N, N)) < 0.1, 1) * rng.random((N, N))
    upper[0, 1] = 0.5
    return upper + upper.T


two_kernels = pytest.mark.parametrize(
    "kernel", [Diffusion(2.0), RegularisedLaplacian(3.0)], ids=str
)


@every_space
@every_measure
@two_kernels
def test_the_matrix_of_a_measure(kernel, measure, space, rng):
    samples, adjacency = SPACES[space](rng), link(rng)
    K = dense_kernel(adjacency, kernel)
    for form in (np.array, sparse.csr_array):
        data = Graph(kernel).prepare(form(adjacency), N).data
        for n_features in (0, 10_000):
            check(data, K, measure, samples, n_features=n_features)


@every_space
@pytest.mark.parametrize("measure", ["hsic", "nhsic"])
@two_kernels
def test_large_graphs_are_known_by_products(kernel, measure, space, rng, monkeypatch):
    monkeypatch.setattr(graph, "DENSE", N - 1)
    samples, adjacency = SPACES[space](rng), link(rng)
    data = Links(sparse.csr_array(adjacency), kernel)
    target = check(data, dense_kernel(adjacency, kernel), measure, samples)
    assert isinstance(target, OperatorTarget)


def test_nocco_needs_eigenvalues(rng, monkeypatch):
    monkeypatch.setattr(graph, "DENSE", N - 1)
    data = Links(sparse.csr_array(link(rng)), Diffusion())
    with pytest.raises(
        InvalidInputError, match=f"a graph of {N} samples is too large for that: us"
    ):
        data.matrix(NOCCO(), Samples(N), error=1e-6, n_features=1)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_kernels_by_name_and_links_between_used_samples(form, rng):
    adjacency, use = link(rng), np.arange(N) < 30
    prepared = Graph("regularised_laplacian").prepare(form(adjacency), N, use)
    assert prepared.data.kernel == RegularisedLaplacian()
    assert prepared.data.adjacency.shape == (30, 30)
    np.testing.assert_array_equal(prepared.rows, use)
    assert Graph().prepare(form(adjacency), N).data.kernel == Diffusion()


def test_unknown_kernels():
    message = "kernel of the graph='heat' is unknown: choose 'diffusion' or 'regularised_laplacian'"
    with pytest.raises(InvalidInputError, match=message):
        Graph("heat").prepare(np.eye(3), 3)


@pytest.mark.parametrize("y", [np.arange(3.0), None, "abc"])
def test_what_is_no_matrix(y):
    with pytest.raises(InvalidInputError, match=r"adjacency has shape|cannot be read|y is None"):
        Graph().prepare(y, 3)
