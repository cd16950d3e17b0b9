"""HSIC of linear combinations: values, gradients, and stationary points under the penalty."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import check_grad, minimize

from hsiclasso.baselines.joint import target_matrix
from hsiclasso.baselines.projection import (
    ProjectedHSIC,
    _project_l1,
    maximise,
    stationarity,
)
from hsiclasso.targets import Similarity
from tests import oracles
from tests.baselines import oracle_joint as oracle

LIMITS = {"max_iter": 500, "tol": 1e-8}


def problem(seed=0, n=40, d=6, width=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 10, d)
    Z = oracles.standardised(X)
    L = oracles.gaussian_gram(Z[:, 0] + 0.5 * np.sin(2 * Z[:, -1]) + 0.1 * rng.standard_normal(n))
    columns = np.ascontiguousarray(Z.T)
    return X, L, ProjectedHSIC(columns, target_matrix(Similarity(L), n), width)


def start(q, d, seed=0):
    return 0.3 * np.random.default_rng(seed).standard_normal((q, d))


class TestValueAndGradient:
    @pytest.mark.parametrize(("q", "width"), [(1, 0.5), (2, 3.0), (6, 1.0)])
    def test_plain_formulas(self, q, width):
        X, L, hsic = problem(width=width)
        W = start(q, 6)
        value, gradient = hsic(W)
        assert -value == pytest.approx(oracles.hsfs_objective(W, X, L, 0.0, width), rel=1e-10)
        expected = -oracle.hsfs_gradient(W, X, L, width)
        np.testing.assert_allclose(gradient, expected, rtol=1e-8, atol=1e-12)

    @given(st.integers(0, 1000), st.integers(1, 4), st.sampled_from([0.01, 0.3, 3.0]))
    def test_finite_differences(self, seed, q, size):
        _, _, hsic = problem(seed, n=15, d=3)
        W = size * start(q, 3, seed)

        def value(flat):
            return hsic(flat.reshape(q, 3))[0]

        def gradient(flat):
            return hsic(flat.reshape(q, 3))[1].ravel()

        error = check_grad(value, gradient, W.ravel(), epsilon=1e-6 * size)
        assert error < 1e-5 * np.linalg.norm(gradient(W.ravel())) + 1e-8 / size

    def test_zero_is_stationary_and_worth_nothing(self):
        _, _, hsic = problem()
        value, gradient = hsic(np.zeros((2, 6)))
        assert value == pytest.approx(0, abs=1e-15)
        assert not gradient.any()


class TestStationarity:
    @given(st.integers(0, 10_000), st.integers(1, 5), st.floats(0.1, 5))
    def test_projection_on_the_l1_ball(self, seed, q, radius):
        v = np.random.default_rng(seed).standard_normal((q, 3))
        found = _project_l1(v, radius)
        for column, projected in zip(v.T, found.T, strict=True):
            assert np.abs(projected).sum() <= radius * (1 + 1e-12)
            if np.abs(column).sum() <= radius:
                np.testing.assert_array_equal(projected, column)
                continue
            assert np.abs(projected).sum() == pytest.approx(radius)
            # no point of the ball is on the other side: vertices are enough
            left = column - projected
            assert radius * np.abs(left).max() <= left @ projected + 1e-12

    def test_of_zero(self):
        gradient = np.array([[0.3, 1.0], [-0.3, 0.5]])
        assert stationarity(np.zeros((2, 2)), gradient, 1.5) == 0.0
        assert stationarity(np.zeros((2, 2)), gradient, 1.0) == pytest.approx(0.5)

    @pytest.mark.parametrize(
        ("gradient", "stationary"),
        [
            ([[0.4, 0.3], [0.6, -0.7], [0.0, 0.0]], True),
            ([[0.4, 0.3], [0.6, -0.3], [0.0, 0.2]], True),
            ([[0.4, 0.3], [0.5, -0.7], [0.0, 0.0]], False),  # pull of 0.9, not 1
            ([[1.1, 0.3], [-0.1, -0.7], [0.0, 0.0]], False),  # an entry of the wrong sign
            ([[0.4, 0.3], [0.6, -0.7], [0.1, 0.0]], False),  # a smaller entry is pulled
            ([[0.4, 0.3], [0.6, -0.7], [0.0, 0.1]], False),  # more than the penalty at 0
        ],
    )
    def test_conditions(self, gradient, stationary):
        W = np.array([[2.0, 0.0], [2.0, 0.0], [-1.0, 0.0]])
        G = np.array(gradient)
        found = stationarity(W, G, 1.0)
        violation = oracle.subgradient_violation(W, -G, 1.0)
        assert (found < 1e-12) == (violation < 1e-12) == stationary

    @given(st.integers(0, 10_000))
    def test_has_no_units(self, seed):
        rng = np.random.default_rng(seed)
        W, G = rng.standard_normal((2, 3, 4))
        assert stationarity(5 * W, G / 5, 0.2) == pytest.approx(stationarity(W, G, 1.0))


class TestMaximise:
    @pytest.mark.parametrize(("q", "share"), [(1, 0.3), (2, 0.1), (6, 0.02)])
    def test_conditions_of_the_problem_as_it_is_written(self, q, share):
        X, L, hsic = problem()
        alpha = share * 0.05
        solution = maximise(hsic, 3 * start(q, 6), alpha, **LIMITS)
        assert solution.n_active > 0
        value = oracles.hsfs_objective(solution.weights, X, L, alpha)
        assert solution.objective == pytest.approx(value, rel=1e-10)
        slope = oracle.hsfs_gradient(solution.weights, X, L)
        assert oracle.subgradient_violation(solution.weights, slope, alpha) < 1e-4 * alpha
        assert solution.stationarity < 1e-5

    def test_no_small_step_is_better(self):
        X, L, hsic = problem(1)
        alpha = 0.01
        solution = maximise(hsic, start(2, 6), alpha, **LIMITS)
        assert 0 < solution.n_active < 6
        rng = np.random.default_rng(0)
        for size in (1e-4, 1e-3, 1e-2):
            for _ in range(20):
                other = solution.weights + size * rng.standard_normal((2, 6))
                assert oracles.hsfs_objective(other, X, L, alpha) >= solution.objective - 1e-9

    def test_releases_columns_that_are_held_at_zero(self):
        """A column of zeros has no direction; those that would help must be found again."""
        _, _, hsic = problem()
        W = np.zeros((2, 6))
        W[:, -1] = 0.3, -0.2
        solution = maximise(hsic, W, 0.001, **LIMITS)
        assert solution.sizes[0] > 0.1
        assert solution.stationarity < 1e-5

    def test_the_split_form_alone_is_stuck(self):
        """Without the release a column with a wrong direction would stay at zero."""
        _, _, hsic = problem()
        alpha = 0.001
        W = np.zeros((1, 6))
        W[0, -1] = 0.3
        _, gradient = hsic(W)
        wrong = -np.sign(gradient[0])
        wrong[-1] = 1.0

        def objective(point):
            t, u = point[:6], point[6:]
            value, rise = hsic((t * u)[None])
            return alpha * t.sum() - value, np.append(alpha - rise[0] * u, -rise[0] * t)

        bounds = [(0, None)] * 6 + [(-1, 1)] * 6
        stuck = minimize(objective, np.append(W[0], wrong), jac=True, bounds=bounds)
        W = (stuck.x[:6] * stuck.x[6:])[None]
        assert stationarity(W, hsic(W)[1], alpha) > 1
        solution = maximise(hsic, W, alpha, **LIMITS)
        assert solution.objective < stuck.fun - 1e-4

    def test_zero_stays_zero(self):
        _, _, hsic = problem()
        solution = maximise(hsic, np.zeros((2, 6)), 0.1, **LIMITS)
        assert not solution.weights.any()
        assert (solution.n_active, solution.n_iter) == (0, 0)
        assert solution.objective == pytest.approx(0, abs=1e-15)
        assert solution.stationarity == 0

    def test_a_large_penalty_leads_to_zero(self):
        _, _, hsic = problem()
        solution = maximise(hsic, start(2, 6), 1.0, **LIMITS)
        assert not solution.weights.any()

    @pytest.mark.parametrize("max_iter", [1, 3, 10])
    def test_iterations_are_limited(self, max_iter):
        _, _, hsic = problem()
        W = start(2, 6)
        solution = maximise(hsic, W, 1e-3, max_iter=max_iter, tol=1e-8)
        assert solution.n_iter <= max_iter
        assert solution.stationarity > 1e-5
        before = 1e-3 * np.abs(W).max(axis=0).sum() - hsic(W)[0]
        assert solution.objective < before

    def test_tolerance(self):
        _, _, hsic = problem()
        loose, tight = (
            maximise(hsic, start(2, 6), 1e-3, max_iter=1000, tol=tol) for tol in (1e-2, 1e-8)
        )
        assert loose.n_iter < tight.n_iter
        assert loose.stationarity > tight.stationarity

    def test_one_component_and_two_features_by_brute_force(self):
        """The least value over a grid of W (1, 2) is that of the best start."""
        alpha = 0.01
        X, L, hsic = problem(2, n=25, d=2)
        axis = np.linspace(-2, 2, 81)
        grid = [alpha * (abs(a) + abs(b)) - hsic(np.array([[a, b]]))[0] for a in axis for b in axis]
        best = min(
            (maximise(hsic, start(1, 2, seed), alpha, **LIMITS) for seed in range(10)),
            key=lambda solution: solution.objective,
        )
        assert best.objective <= min(grid) + 1e-12
        # and no finer grid around it has less
        nearby = np.linspace(-0.05, 0.05, 11)
        around = [
            oracles.hsfs_objective(best.weights + np.array([[a, b]]), X, L, alpha)
            for a in nearby
            for b in nearby
        ]
        assert min(around) >= best.objective - 1e-12
        assert best.objective >= min(grid) - 1e-3
