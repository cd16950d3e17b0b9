"""The target's matrix, distances between samples, and HSIC of subsets, against plain sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hsiclasso import Auto, InvalidInputError
from hsiclasso.baselines._joint_loops import add_distances, project_pairs, sum_over_candidates
from hsiclasso.baselines.joint import SubsetHSIC, squared_distances, target_matrix
from hsiclasso.targets import Similarity, as_target
from tests import oracles
from tests.baselines import oracle_joint as oracle
from tests.columns import KINDS, make

ESTIMATORS = ["biased", "unbiased"]


def matrix_of(y, n, estimator="biased", target="auto"):
    return target_matrix(as_target(target).prepare(y, n).data, n, estimator)


@pytest.fixture(name="X")
def table(rng):
    return rng.standard_normal((25, 4))


@pytest.fixture(name="K")
def gram(X):
    return oracles.joint_gram(X, 1.3)


class TestTargetMatrix:
    @pytest.mark.parametrize("name", oracle.TARGETS)
    def test_inner_product_is_hsic(self, name, X, K):
        options, target, gram = oracle.TARGETS[name]
        for estimator in ESTIMATORS:
            C = matrix_of(target(X), len(X), estimator, **options)
            expected = oracle.HSIC[estimator](K, gram(X))
            assert np.sum(K * C) == pytest.approx(expected, rel=1e-7, abs=1e-9 * np.abs(C).sum())
            np.testing.assert_allclose(C, C.T, atol=1e-12 * np.abs(C).max())

    @pytest.mark.parametrize("estimator", ESTIMATORS)
    def test_sparse_affinity(self, estimator, X, K):
        S = np.where(oracles.joint_gram(X[:, :1], 1.0) > 0.6, 1.0, 0.0)
        C = matrix_of(sparse.csr_array(S), len(X), estimator, target="affinity")
        assert np.sum(K * C) == pytest.approx(oracle.HSIC[estimator](K, S), rel=1e-10)

    def test_large_sparse_graph(self, monkeypatch, X):
        """Its matrix is made of products with the Laplacian."""
        links = sparse.csr_array((oracles.joint_gram(X[:, :1], 1.0) > 0.6).astype(float))
        dense = matrix_of(links, len(X), target="graph")
        monkeypatch.setattr("hsiclasso.baselines.kernel.DENSE", 10)
        large = matrix_of(links, len(X), target="graph")
        np.testing.assert_allclose(large, dense, atol=1e-13 * np.abs(dense).max())

    def test_far_values_of_a_heavy_tailed_target(self, rng):
        X, y = rng.standard_normal((300, 1)), rng.standard_normal(300)
        y[:9] = np.geomspace(1e2, 1e10, 9)
        for estimator in ESTIMATORS:
            C = matrix_of(y, 300, estimator, target="real")
            K, L = oracles.joint_gram(X, 1.0), oracles.gaussian_gram(y)
            assert np.sum(K * C) == pytest.approx(
                oracle.HSIC[estimator](K, L), rel=1e-6, abs=1e-9 * np.abs(C).sum()
            )

    def test_u_centring_forgets_additive_terms(self, rng):
        """Centred or not, a matrix has the same unbiased C: a_i + a_l off the diagonal is lost."""
        n = 12
        L = rng.standard_normal((n, n))
        L = L + L.T
        a = rng.standard_normal(n)
        H = np.eye(n) - 1 / n
        plain = oracle.u_centred(L)
        np.testing.assert_allclose(oracle.u_centred(L + a[:, None] + a), plain, atol=1e-13)
        np.testing.assert_allclose(oracle.u_centred(H @ L @ H), plain, atol=1e-13)
        np.testing.assert_allclose(oracle.u_centred(L + np.diag(a)), plain, atol=1e-13)

    def test_unbiased_is_the_u_centred_matrix(self, rng):
        n = 15
        L = rng.standard_normal((n, n))
        L = L + L.T
        C = target_matrix(Similarity(L), n, "unbiased")
        np.testing.assert_allclose(C, oracle.u_centred(L) / (n * (n - 3)), atol=1e-15)
        # rows sum to zero off the diagonal, and the statistic is linear in K
        np.testing.assert_allclose(C.sum(axis=0), 0, atol=1e-15)
        assert (np.diag(C) == 0).all()

    def test_biased_is_the_centred_matrix(self, rng):
        n = 15
        L = rng.standard_normal((n, n))
        L = L + L.T
        C = target_matrix(Similarity(L), n)
        np.testing.assert_allclose(C, oracles.centre(L) / (n - 1) ** 2, atol=1e-15)

    def test_many_samples_by_blocks_of_products(self, rng):
        n = 600
        y = rng.standard_normal(n)
        C = matrix_of(y, n, target=Auto("laplace"))
        z = oracles.standardise(y)
        L = np.exp(-np.abs(z[:, None] - z))
        np.testing.assert_allclose(C, oracles.centre(L) / (n - 1) ** 2, atol=1e-17 * n)

    def test_refusals(self, rng):
        with pytest.raises(InvalidInputError, match="n_samples=3, but the unbiased"):
            target_matrix(Similarity(np.eye(3)), 3, "unbiased")
        with pytest.raises(InvalidInputError, match="Nothing of the target is left after centring"):
            target_matrix(Similarity(np.ones((5, 5))), 5)

    @pytest.mark.parametrize("n", [4, 5])
    def test_few_samples(self, n, rng):
        y = rng.standard_normal(n)
        C = matrix_of(y, n, "unbiased", target="real")
        K = oracles.joint_gram(rng.standard_normal((n, 2)), 1.0)
        expected = oracles.unbiased_hsic(K, oracles.gaussian_gram(y))
        assert np.sum(K * C) == pytest.approx(expected, rel=1e-7, abs=1e-12)


def test_unbiased_has_mean_zero_under_independence_and_biased_has_not():
    """The name of the estimator: means over independent draws, in standard errors."""
    n, n_draws = 20, 400
    rng = np.random.default_rng(0)
    values = {estimator: [] for estimator in ESTIMATORS}
    for _ in range(n_draws):
        columns, y = rng.standard_normal((2, n)), rng.standard_normal(n)
        for estimator in ESTIMATORS:
            hsic = SubsetHSIC(columns, matrix_of(y, n, estimator), 1.0, True, 1)
            values[estimator].append(hsic.of(hsic.distances(np.arange(2)), 2))
    errors = {name: np.std(found) / np.sqrt(n_draws) for name, found in values.items()}
    assert abs(np.mean(values["unbiased"])) < 3 * errors["unbiased"]
    assert np.mean(values["biased"]) > 30 * errors["biased"]


kinds = st.lists(st.sampled_from(sorted(set(KINDS) - {"huge", "denormal"})), min_size=1, max_size=4)


def drawn(names, n, seed):
    """Standardised columns (k, n) of several kinds."""
    made = [make(kind, n, seed + place) for place, kind in enumerate(names)]
    return np.ascontiguousarray(oracles.standardised(np.array(made).T).T)


def pair_distances(columns):
    return np.sum((columns[:, :, None] - columns[:, None, :]) ** 2, axis=0)


class TestLoops:
    @given(kinds, st.integers(5, 40), st.integers(0, 1000))
    def test_distances(self, names, n, seed):
        columns = drawn(names, n, seed)
        start = np.random.default_rng(seed).random((n, n))
        out = start.copy()
        middle = n // 2
        add_distances(columns, 0, middle, out)
        add_distances(columns, middle, n, out)
        below = np.tri(n, k=-1, dtype=bool)
        expected = start + pair_distances(columns)
        np.testing.assert_allclose(out[below], expected[below], rtol=1e-13)
        np.testing.assert_array_equal(out[~below], start[~below])

    @given(kinds, st.integers(5, 40), st.integers(0, 1000), st.sampled_from([0.01, 0.5, 40.0]))
    def test_candidates(self, names, n, seed, gamma):
        columns = drawn(names, n, seed)
        rng = np.random.default_rng(seed)
        C = rng.standard_normal((n, n))
        own = np.array([pair_distances(column[None]) for column in columns])
        whole = own.sum(axis=0)
        below = np.tri(n, k=-1, dtype=bool)
        none = np.zeros((n, n))
        pairs = [(1.0, whole), (-1.0, whole), (0.0, whole), (1.0, none)]
        # more cannot be taken away than there is: no kernel exceeds 1
        pairs.append((-1.0, none))
        for sign, start in pairs:
            out = np.full(len(columns), np.nan)
            sum_over_candidates(columns, C, start, sign, gamma, out)
            kernels = np.exp(-gamma * np.maximum(start + sign * own, 0))
            expected = np.sum((C * kernels)[:, below], axis=1)
            size = np.sum(np.abs(C * kernels)[:, below], axis=1)
            assert (np.abs(out - expected) <= 1e-12 * size + 1e-290).all()

    @given(kinds, st.integers(5, 40), st.integers(0, 1000), st.sampled_from([0.01, 0.5, 40.0]))
    def test_projection(self, names, n, seed, gamma):
        Z = drawn(names, n, seed)
        C = np.random.default_rng(seed).standard_normal((n, n))
        C = C + C.T
        A = C * np.exp(-gamma * pair_distances(Z))
        np.fill_diagonal(A, 0)
        pull = np.full_like(Z, np.nan)
        total = project_pairs(Z, C, gamma, pull)
        assert total == pytest.approx(A.sum() / 2, rel=1e-11, abs=1e-12 * np.abs(A).sum())
        expected = Z @ (np.diag(A.sum(axis=1)) - A)
        scale = np.abs(A).sum() * np.ptp(Z)
        np.testing.assert_allclose(pull, expected, atol=1e-12 * scale)

    def test_what_lies_above_the_diagonal_is_not_read(self, rng):
        columns = rng.standard_normal((3, 10))
        C, D = rng.standard_normal((10, 10)), rng.random((10, 10))
        found = []
        for fill in (0.0, np.nan):
            above = np.triu(np.full((10, 10), fill), k=0)
            out, pull = np.empty(3), np.empty((3, 10))
            lower_c, lower_d = np.tril(C, -1) + above, np.tril(D, -1) + above
            sum_over_candidates(columns, lower_c, lower_d, 1.0, 0.5, out)
            total = project_pairs(columns, lower_c, 0.5, pull)
            found.append([*out, total, *pull.ravel()])
        assert np.isfinite(found).all()
        np.testing.assert_array_equal(found[0], found[1])


class TestSubsets:
    @pytest.fixture
    def parts(self, rng):
        X = rng.standard_normal((30, 20))
        L = oracles.gaussian_gram(X[:, 0] * X[:, 1])
        return X, L, np.ascontiguousarray(oracles.standardised(X).T)

    @pytest.mark.parametrize(
        ("estimator", "retune", "n_threads"),
        [("biased", True, 1), ("biased", False, 7), ("unbiased", True, 2)],
    )
    def test_candidates_and_wholes(self, estimator, retune, n_threads, parts):
        X, L, columns = parts
        options = {"estimator": estimator, "retune": retune, "width": 1.7}
        C = target_matrix(Similarity(L), len(X), estimator)
        hsic = SubsetHSIC(columns, C, 1.7, retune, n_threads)
        inside, outside = np.array([4, 7, 1]), np.array([0, 2, 3, *range(8, 20)])
        distances = hsic.distances(inside)
        assert hsic.of(distances, 3) == pytest.approx(oracle.subset_hsic(X, L, inside, **options))
        more = hsic.whole(hsic.pair_sums(distances, 4, outside, 1))
        expected = [oracle.subset_hsic(X, L, [*inside, j], **options) for j in outside]
        np.testing.assert_allclose(more, expected, rtol=1e-9)
        less = hsic.whole(hsic.pair_sums(distances, 2, inside, -1))
        expected = [oracle.subset_hsic(X, L, set(inside) - {j}, **options) for j in inside]
        np.testing.assert_allclose(less, expected, rtol=1e-9)

    def test_adding_a_feature(self, parts):
        X, L, columns = parts
        hsic = SubsetHSIC(columns, target_matrix(Similarity(L), len(X)), 1.0, True, 1)
        distances = hsic.distances(np.array([3, 5]))
        hsic.add(distances, 9)
        np.testing.assert_allclose(distances, hsic.distances(np.array([3, 5, 9])), rtol=1e-13)

    def test_no_candidates(self, parts):
        X, L, columns = parts
        hsic = SubsetHSIC(columns, target_matrix(Similarity(L), len(X)), 1.0, True, 2)
        assert hsic.pair_sums(hsic.distances(np.array([1])), 2, np.zeros(0, int), 1).size == 0

    def test_many_rows_on_threads(self, rng):
        columns = rng.standard_normal((3, 700))
        found = squared_distances(columns, 2)
        np.testing.assert_allclose(found, np.tril(pair_distances(columns), -1), rtol=1e-12)
