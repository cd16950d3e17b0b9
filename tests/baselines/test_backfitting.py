"""Backfitting at one penalty, against a dense oracle and against the conditions that it claims."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.baselines import backfitting
from hsiclasso.baselines.backfitting import AdditiveFit, Backfitting, Screen, rms
from hsiclasso.baselines.smoothers import SmootherBank, kernel_smoother, spline_smoother
from hsiclasso.data import as_source
from tests import oracles
from tests.baselines import oracle_spam

SMOOTHERS = {
    "kernel": (kernel_smoother, oracle_spam.kernel_smoother),
    "spline": (spline_smoother, oracle_spam.spline_smoother),
}


def make(X, y, smoothing, *, tol=1e-11, max_iter=5000):
    target = y - y.mean()
    bank = SmootherBank(as_source(X), smoothing)
    screen = Screen(bank, np.ptp(X, axis=0) > 0, target)
    return Backfitting(bank, screen, target, tol=tol, max_iter=max_iter), screen


def dense(fit, shape):
    functions = np.zeros(shape)
    for k, function in fit.functions.items():
        functions[k] = function
    return functions


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 5))
    X[:, 3] = 0.8 * X[:, 0] + 0.6 * X[:, 3]
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.5 * X[:, 2] + 0.3 * rng.standard_normal(60)


@pytest.mark.parametrize("kind", SMOOTHERS)
@pytest.mark.parametrize("share", [1.1, 0.9, 0.3])
def test_a_single_function_is_one_step(data, kind, share):
    X, y = data
    smoothing, oracle = SMOOTHERS[kind]
    for x in X.T:
        solver, screen = make(x[:, None], y, smoothing)
        alpha = share * screen.strengths.max()
        wanted = oracles.backfitting_step(oracle(x), y - y.mean(), alpha)
        np.testing.assert_allclose(dense(solver.solve(alpha), (1, 60))[0], wanted, atol=1e-9)
        assert wanted.any() == (share < 1)


@pytest.mark.parametrize("kind", SMOOTHERS)
@pytest.mark.parametrize("share", [0.5, 0.2, 0.05])
def test_functions_are_those_of_the_dense_oracle(data, kind, share):
    X, y = data
    smoothing, oracle = SMOOTHERS[kind]
    solver, screen = make(X, y, smoothing)
    alpha = share * screen.strengths.max()
    fit = solver.solve(alpha)
    matrices = [oracle(x) for x in X.T]
    wanted = oracle_spam.backfit(matrices, y, alpha)
    functions = dense(fit, (5, 60))
    np.testing.assert_allclose(functions, wanted, atol=1e-7)
    assert sorted(fit.functions) == np.flatnonzero(wanted.any(axis=1)).tolist()
    np.testing.assert_allclose(fit.residual, y - y.mean() - wanted.sum(axis=0), atol=1e-7)
    traces = np.array([np.trace(matrices[k]) for k in fit.functions])
    sizes = np.array([rms(f) for f in fit.functions.values()])
    assert fit.degrees == pytest.approx(traces.sum(), abs=1e-6)
    assert fit.effective == pytest.approx(np.sum(traces * sizes / (sizes + alpha)), abs=1e-6)
    np.testing.assert_allclose(fit.sizes(5), np.sqrt(np.mean(wanted**2, axis=1)), atol=1e-7)


def test_an_extrapolation_that_leads_astray_is_undone(data, monkeypatch):
    X, y = data
    smoothing, oracle = SMOOTHERS["kernel"]
    solver, screen = make(X, y, smoothing)
    astray = []

    def extrapolated(history):
        astray.append(len(history))
        return -9 * history[-1]

    monkeypatch.setattr(backfitting, "_extrapolated", extrapolated)
    alpha = 0.05 * screen.strengths.max()
    wanted = oracle_spam.backfit([oracle(x) for x in X.T], y, alpha)
    np.testing.assert_allclose(dense(solver.solve(alpha), (5, 60)), wanted, atol=1e-7)
    assert astray


@pytest.mark.parametrize("kind", SMOOTHERS)
def test_the_start_does_not_matter(data, kind):
    X, y = data
    solver, screen = make(X, y, SMOOTHERS[kind][0])
    largest = screen.strengths.max()
    cold = solver.solve(0.2 * largest)
    warm = solver.solve(0.2 * largest, solver.solve(0.05 * largest))
    np.testing.assert_allclose(dense(warm, (5, 60)), dense(cold, (5, 60)), atol=1e-8)


@pytest.mark.parametrize("kind", SMOOTHERS)
def test_all_features_satisfy_the_equations_though_few_are_looked_at(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 40))
    y = 2 * np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.2 * rng.standard_normal(80)
    smoothing, oracle = SMOOTHERS[kind]
    solver, screen = make(X, y, smoothing)
    matrices = [oracle(x) for x in X.T]
    largest, fit, before = screen.strengths.max(), None, screen.n_looks
    for share in (0.8, 0.6, 0.5, 0.45):
        fit = solver.solve(share * largest, fit)
        functions = dense(fit, (40, 80))
        assert oracle_spam.violation(matrices, y, functions, share * largest) < 1e-8
    assert before == 40
    assert screen.n_looks - before < 0.5 * 4 * 40


@given(st.integers(0, 10_000))
def test_no_feature_above_a_level_is_missed(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 12))
    X[:, 5] = 1.0
    smoothing = [
        kernel_smoother,
        partial(kernel_smoother, bandwidth=2.0),
        partial(spline_smoother, n_knots=3),
    ][seed % 3]
    residual = rng.standard_normal(30)
    bank = SmootherBank(as_source(X), smoothing)
    screen = Screen(bank, np.ptp(X, axis=0) > 0, residual)
    functions = {k: rng.standard_normal(30) for k in (3, 8)}
    for _ in range(8):
        residual = rng.uniform(-0.2, 1.1) * residual + rng.uniform(0, 0.2) * rng.standard_normal(30)
        for k in functions:
            residual += rng.uniform(-0.3, 0.3) * functions[k]
        level = rng.uniform(0, 1) * rms(residual)
        strengths = [0 if k == 5 else rms(smoothing(X[:, k])(residual)) for k in range(12)]
        above = np.setdiff1d(np.flatnonzero(np.array(strengths) > level), list(functions))
        assert screen.above(level, residual, functions).tolist() == above.tolist()
    np.testing.assert_allclose(screen.all_strengths(residual), strengths, rtol=1e-10)


def test_a_residual_that_moves_along_functions_calls_for_no_second_look():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 20))
    residual, function = rng.standard_normal((2, 50))
    bank = SmootherBank(as_source(X), spline_smoother)
    screen = Screen(bank, np.full(20, True), residual)
    assert screen.n_looks == 20
    functions = {4: function}
    screen.above(0.0, residual, functions)
    assert screen.n_looks == 39
    other = 0.8 * residual - 0.5 * function
    strengths = np.array([rms(spline_smoother(x)(other)) for x in X.T])
    strengths[4] = 0
    level = 0.5 * np.sum(np.sort(strengths)[-4:-2])
    assert (
        screen.above(level, other, functions).tolist() == np.flatnonzero(strengths > level).tolist()
    )
    assert screen.n_looks == 39 + 3


def alike():
    """Two features between which a function drifts slowly from the worse to the better one."""
    rng = np.random.default_rng(1)
    y = np.repeat([0.0, 1.0], 20)
    return np.column_stack([y + 0.1 * rng.standard_normal(40) for _ in range(2)]), y


def test_functions_that_drift_from_one_feature_to_another_are_found_soon(monkeypatch):
    X, y = alike()
    solver, screen = make(X, y, kernel_smoother, tol=1e-7, max_iter=300)
    alpha = 0.9 * screen.strengths.max()
    worse, better = np.argsort(screen.strengths)
    whole = solver.solve(alpha).functions[better]
    start = AdditiveFit(alpha, y, {int(worse): 0.9 * whole, int(better): 0.1 * whole})
    fit = solver.solve(alpha, start)
    assert fit.converged
    assert fit.n_iter < 50
    matrices = [oracle_spam.kernel_smoother(x) for x in X.T]
    assert oracle_spam.violation(matrices, y, dense(fit, (2, 40)), alpha) < 1e-6
    monkeypatch.setattr(backfitting, "_MEMORY", 10**6)
    plain = solver.solve(alpha, start)
    assert not plain.converged
    assert plain.n_iter == 300


@pytest.mark.parametrize("kind", SMOOTHERS)
def test_extrapolation_saves_cycles(monkeypatch, kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 12))
    X += 0.3 * rng.standard_normal((60, 12))
    y = np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.standard_normal(60)
    solver, screen = make(X, y, SMOOTHERS[kind][0], tol=1e-8)
    alpha = 0.02 * screen.strengths.max()
    fit = solver.solve(alpha)
    monkeypatch.setattr(backfitting, "_MEMORY", 10**6)
    plain = solver.solve(alpha)
    assert fit.n_active > 5
    assert fit.converged
    assert plain.converged
    assert fit.n_iter < 0.5 * plain.n_iter
    np.testing.assert_allclose(fit.residual, plain.residual, atol=1e-4)


def test_nothing_is_used_at_the_largest_penalty(data):
    X, y = data
    solver, screen = make(X, y, kernel_smoother)
    assert solver.solve(float(screen.strengths.max())).n_active == 0
    assert solver.solve(0.999 * screen.strengths.max()).n_active == 1


def test_equal_features_share_or_leave_out(data):
    """Copies are no trouble: of splines the first has all, as the others add nothing."""
    X, y = data
    X = np.hstack([X, X])
    solver, screen = make(X, y, spline_smoother, tol=1e-8)
    alpha = 0.3 * screen.strengths.max()
    fit = solver.solve(alpha)
    assert fit.converged
    single = make(X[:, :5], y, spline_smoother, tol=1e-8)[0].solve(alpha)
    np.testing.assert_allclose(fit.residual, single.residual, atol=1e-6)
    assert fit.n_active == single.n_active
