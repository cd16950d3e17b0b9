"""Quadratic programs on the simplex: optimality, agreement with clarabel, degenerate matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import LinAlgError

from hsiclasso.baselines import simplex
from hsiclasso.baselines.quadratic import DenseQuadratic, LowRankQuadratic
from hsiclasso.baselines.simplex import minimise_on_simplex
from hsiclasso.solvers import ExplicitProblem, nonnegative_lasso_path
from tests import oracles
from tests.baselines import oracle_quadratic as oracle


def positive_matrix(rng, d, rank, *, signed=False):
    """A matrix of some rank, with non-negative entries unless they are to be signed."""
    F = rng.standard_normal((d, rank)) if signed else rng.random((d, rank)) ** 3
    return F @ F.T


@st.composite
def problems(draw, least=1, most=40, scales=(1e-12, 1.0, 1e9)):
    """Q and q of any rank and size, with equal features among them or not."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d = draw(st.integers(least, most))
    Q = positive_matrix(rng, d, draw(st.integers(1, 2 * d)), signed=draw(st.booleans()))
    q = draw(st.sampled_from([0.0, 0.03, 1.0, 30.0])) * rng.random(d)
    if draw(st.booleans()):
        Q += draw(st.sampled_from([1e-6, 0.1, 10.0])) * np.eye(d)
    if draw(st.booleans()):  # some features twice
        again = rng.integers(0, d, d)
        Q, q = Q[np.ix_(again, again)], q[again]
    return draw(st.sampled_from(scales)) * Q, q


def solve(Q, q):
    return minimise_on_simplex(DenseQuadratic(Q, q))


@given(problems())
def test_the_conditions_hold(problem):
    Q, q = problem
    solution = solve(Q, q)
    theta, scale = solution.weights, max(Q.max(), q.max())
    assert (theta >= 0).all()
    assert theta.sum() == pytest.approx(1, abs=1e-12)
    violation = oracle.simplex_violation(Q, q, theta) / scale
    assert violation < 1e-10
    assert solution.certificate.kkt_residual == pytest.approx(violation, abs=1e-13)
    assert solution.certificate.duality_gap <= solution.certificate.kkt_residual


@given(problems(most=5, scales=(1.0,)))
def test_all_supports_enumerated(problem):
    Q, q = problem
    expected = oracle.simplex_by_enumeration(Q, q)
    found = solve(Q, q).weights
    lowest, scale = oracles.quadratic_objective(Q, q, expected), max(Q.max(), q.max())
    assert oracles.quadratic_objective(Q, q, found) == pytest.approx(lowest, abs=1e-9 * scale)


@pytest.mark.parametrize("d", [1, 3, 5])
def test_weights_of_all_supports_enumerated(d, rng):
    for _ in range(20):
        Q = positive_matrix(rng, d, d, signed=True) + 0.1 * np.eye(d)
        q = rng.standard_normal(d)
        expected = oracle.simplex_by_enumeration(Q, q)
        np.testing.assert_allclose(solve(Q, q).weights, expected, atol=1e-10)


@pytest.mark.parametrize(("rank", "gamma"), [(40, 0.0), (40, 0.9), (400, 0.3)])
def test_clarabel(rank, gamma, rng):
    d = 150
    Q = (1 - gamma) * (positive_matrix(rng, d, rank) / rank + 0.05 * np.eye(d))
    q = gamma * rng.random(d)
    found = solve(Q, q).weights
    np.testing.assert_allclose(found, oracle.simplex_by_clarabel(Q, q), atol=1e-6)


def test_objective_no_larger_than_clarabel_s_where_there_are_many_minima(rng):
    F, q = rng.random((80, 6)), rng.random(80)
    found = minimise_on_simplex(LowRankQuadratic(F, q)).weights
    peer = np.maximum(oracle.simplex_by_clarabel(F @ F.T, q), 0)
    lowest = oracles.quadratic_objective(F @ F.T, q, peer / peer.sum())
    assert oracles.quadratic_objective(F @ F.T, q, found) <= lowest + 1e-10
    # a minimum on a face of the simplex needs no more features than the rank and one
    assert np.count_nonzero(found) <= 7


def test_dense_solutions(rng):
    """The support is most of 400 features: the working set has to double many times."""
    Q = 0.01 * positive_matrix(rng, 400, 400) / 400 + np.diag(1 + rng.random(400))
    solution = solve(Q, np.zeros(400))
    assert np.count_nonzero(solution.weights) > 350
    assert oracle.simplex_violation(Q, np.zeros(400), solution.weights) < 1e-14
    assert solution.n_factors < 40


def test_weights_of_a_diagonal_matrix():
    """theta_k is proportional to 1 / Q_kk."""
    diagonal = np.arange(1.0, 51.0)
    expected = (1 / diagonal) / (1 / diagonal).sum()
    np.testing.assert_allclose(solve(np.diag(diagonal), np.zeros(50)).weights, expected, rtol=1e-12)


@given(problems(least=2, scales=(1.0,)))
def test_the_point_of_the_lasso_path_whose_weights_sum_to_one(problem):
    """For the relevance q + c, which changes nothing on the simplex."""
    Q, q = np.abs(problem[0]), problem[1]
    Q = Q + max(0.0, 1e-3 * Q.max() - np.linalg.eigvalsh(Q)[0]) * np.eye(q.size)
    lift = 2 * Q.max() + q.max()
    path = nonnegative_lasso_path(ExplicitProblem(Q, q + lift, 1.0))
    sums = np.array([point.weights.sum() for point in path.breakpoints])
    after = int(np.argmax(sums >= 1))
    before, share = after - 1, (1 - sums[after - 1]) / (sums[after] - sums[after - 1])
    weights = (1 - share) * path.coefficients(before) + share * path.coefficients(after)
    np.testing.assert_allclose(solve(Q, q).weights, weights, atol=1e-9)


class TestInvariances:
    @given(problems(least=2), st.randoms(use_true_random=False))
    def test_permuted(self, problem, random):
        Q, q = problem
        Q = Q + 0.1 * Q.max() * np.eye(q.size)  # one minimum only
        order = np.array(random.sample(range(q.size), q.size))
        base, moved = solve(Q, q).weights, solve(Q[np.ix_(order, order)], q[order]).weights
        np.testing.assert_allclose(moved, base[order], atol=1e-9)

    def test_constants_in_either_term_change_nothing(self, rng):
        Q = positive_matrix(rng, 30, 30) + 0.1 * np.eye(30)
        q = rng.random(30)
        base = solve(Q, q).weights
        np.testing.assert_allclose(solve(Q, q - 7).weights, base, atol=1e-10)
        np.testing.assert_allclose(solve(Q + 3, q).weights, base, atol=1e-10)

    def test_scaled(self, rng):
        Q = positive_matrix(rng, 30, 30) + 0.1 * np.eye(30)
        q = rng.random(30)
        base = solve(Q, q).weights
        for scale in (1e-150, 1e-20, 1e20, 1e150):
            np.testing.assert_allclose(solve(scale * Q, scale * q).weights, base, atol=1e-12)

    def test_equal_features_share(self, rng):
        Q = positive_matrix(rng, 12, 12)
        q = rng.random(12)
        base = solve(Q, q).weights
        best = int(np.argmax(base))
        twice = np.append(np.arange(12), best)
        both = solve(Q[np.ix_(twice, twice)], q[twice]).weights
        np.testing.assert_allclose(both[[best, 12]], base[best] / 2, rtol=1e-6)
        others = np.setdiff1d(np.arange(12), best)
        np.testing.assert_allclose(both[others], base[others], atol=1e-9)


class TestDegenerate:
    def test_no_curvature_gives_the_best_vertex(self):
        weights = solve(np.zeros((4, 4)), np.array([0.1, 0.5, 0.4999, 0.0])).weights
        assert weights.tolist() == [0, 1, 0, 0]

    def test_nothing_at_all(self):
        solution = solve(np.zeros((3, 3)), np.zeros(3))
        np.testing.assert_allclose(solution.weights, 1 / 3)
        assert solution.certificate.kkt_residual == 0

    def test_a_single_feature(self):
        assert solve(np.array([[2.0]]), np.array([0.3])).weights.tolist() == [1.0]

    def test_a_feature_that_costs_nothing_takes_all(self):
        assert solve(np.diag([1.0, 0.0, 2.0]), np.zeros(3)).weights == pytest.approx([0, 1, 0])

    @pytest.mark.parametrize("lack", [1e-10, 1e-7, 1e-5])
    def test_not_quite_semi_definite(self, lack, rng):
        """An eigenvalue that was underestimated does no harm: the conditions hold all the same."""
        F = rng.random((60, 10))
        Q, q = F @ F.T - lack * np.eye(60), rng.random(60)
        solution = solve(Q, q)
        assert oracle.simplex_violation(Q, q, solution.weights) < 1e-10
        assert solution.certificate.kkt_residual < 1e-10

    def test_far_from_semi_definite(self):
        """It is said, and does not take forever."""
        with pytest.raises(LinAlgError):
            solve(1000 * (np.ones((5, 5)) - np.eye(5)), np.ones(5))


class TestPivoting:
    def test_one_by_one(self, rng, monkeypatch):
        """The careful way alone finds the same minimum."""
        Q = positive_matrix(rng, 60, 60, signed=True) / 60 + 0.01 * np.eye(60)
        q = 0.2 * rng.standard_normal(60)
        quick = solve(Q, q)
        monkeypatch.setattr(simplex, "_PATIENCE", 0)
        careful = solve(Q, q)
        assert careful.n_factors > quick.n_factors
        np.testing.assert_allclose(careful.weights, quick.weights, atol=1e-11)

    def test_pivots_of_many_may_fail(self, rng, monkeypatch):
        """On matrices of low rank with signs they go round in circles."""
        calls = []
        careful = simplex._Small._one_by_one

        def counted(self, weights):
            calls.append(weights.size)
            return careful(self, weights)

        monkeypatch.setattr(simplex._Small, "_one_by_one", counted)
        F, q = rng.standard_normal((300, 15)), 0.1 * rng.standard_normal(300)
        solution = minimise_on_simplex(LowRankQuadratic(F, q))
        assert calls
        assert oracle.simplex_violation(F @ F.T, q, solution.weights) < 1e-11

    def test_report(self, rng):
        sizes = []
        Q = positive_matrix(rng, 200, 200) / 200 + np.eye(200)
        solution = minimise_on_simplex(DenseQuadratic(Q, np.zeros(200)), report=sizes.append)
        assert sizes[0] == 32
        assert sizes[-1] == np.count_nonzero(solution.weights)

    def test_without_a_matrix(self, rng):
        """Only blocks between working features are asked for, never one between all."""
        F, q = rng.random((2000, 5)), rng.random(2000)
        largest = []

        class Watched(LowRankQuadratic):
            def block(self, rows, cols):
                largest.append(max(rows.size, cols.size))
                return super().block(rows, cols)

        minimise_on_simplex(Watched(F, q))
        assert max(largest) <= 128


def test_real_data(load_real):
    """Mutual information between 160 pixels, against clarabel."""
    X = load_real("warpAR10P")["X"][:, ::15].astype(float)
    correlation = np.corrcoef(X, rowvar=False)
    D = -0.5 * np.log(1 - np.minimum(correlation**2, 0.99))
    Q = oracle.shifted(D) + 1e-6 * np.eye(len(D))
    for gamma in (0.0, 0.5, 0.8):
        q = gamma * D[:, 0]
        found = solve((1 - gamma) * Q, q)
        peer = oracle.simplex_by_clarabel((1 - gamma) * Q, q)
        np.testing.assert_allclose(found.weights, peer, atol=1e-6)
        assert found.certificate.kkt_residual < 1e-13
