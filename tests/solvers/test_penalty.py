"""Penalties: proximal map, dual norm and Jacobian against their definitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.solvers._loops import descend
from hsiclasso.solvers.coordinate import coordinate_descent
from hsiclasso.solvers.dal import _prox_jacobian
from hsiclasso.solvers.penalty import Penalty
from hsiclasso.solvers.quadratic import SmallProblem, finish


def units(seed, *, signed=False):
    """A penalty on adjacent units of all kinds: single, grouped, free, excluded."""
    rng = np.random.default_rng(seed)
    groups = np.sort(rng.integers(0, 5, 12))
    groups = np.unique(groups, return_inverse=True)[1]
    weights = rng.choice([0.0, 0.3, 1.0, np.inf], 12, p=[0.3, 0.3, 0.3, 0.1])
    group_weights = rng.choice([0.0, 0.5, 1.5], groups.max() + 1)
    if signed:
        weights, group_weights = np.full(12, 0.7), np.zeros(12)
        groups = np.arange(12)
    return Penalty(weights, groups, group_weights, signed).take(np.arange(12)), rng


cases = st.builds(units, st.integers(0, 10_000), signed=st.booleans())


@given(cases, st.floats(0.01, 3))
def test_prox_is_the_minimiser(case, amount):
    penalty, rng = case
    z = 2 * rng.standard_normal(12)
    found = penalty.prox(z, amount)

    def cost(x):
        return 0.5 * np.sum((x - z) ** 2) + amount * penalty.value(x)

    for _ in range(50):
        other = found + 10.0 ** rng.uniform(-6, 0) * rng.standard_normal(12)
        if not penalty.signed:
            other = np.maximum(other, 0)
        other[np.isinf(penalty.weights)] = 0
        assert cost(found) <= cost(other) + 1e-12


@given(cases)
def test_critical_is_the_root_of_the_excess(case):
    penalty, rng = case
    c = 2 * rng.standard_normal(12)
    critical = penalty.critical(c)
    for u, alpha in enumerate(critical):
        if np.isinf(alpha):
            assert penalty.excess(c, 1e6)[u] > 0  # no penalty holds it back
        else:
            assert penalty.excess(c, alpha * (1 + 1e-9) + 1e-12)[u] <= 1e-9
            if alpha > 0:
                assert penalty.excess(c, alpha * (1 - 1e-6))[u] > 0


@given(cases, st.floats(0.1, 1))
def test_jacobian_is_the_derivative_of_the_prox(case, amount):
    penalty, rng = case
    z = 3 * rng.standard_normal(12)
    jacobian = _prox_jacobian(penalty, z, amount)
    step = 1e-6
    for k in range(12):
        moved = np.eye(12)[k] * step
        slope = (penalty.prox(z + moved, amount) - penalty.prox(z - moved, amount)) / (2 * step)
        np.testing.assert_allclose(jacobian[:, k], slope, atol=1e-5)
    np.testing.assert_allclose(jacobian, jacobian.T, atol=1e-12)


def small_problem(seed, *, signed=False, alpha=0.5):
    penalty, rng = units(seed, signed=signed)
    A = rng.standard_normal((20, 12))
    t = 3 * rng.standard_normal(20)
    return SmallProblem(A.T @ A, A.T @ t, float(t @ t), penalty, alpha)


def plain_descent(problem, a, epochs):
    """The compiled descent in NumPy, through the proximal map of each unit."""
    a, penalty = a.copy(), problem.penalty
    for _ in range(epochs):
        for start, size in zip(penalty.starts, penalty.sizes, strict=True):
            members = slice(start, start + size)
            top = np.linalg.eigvalsh(problem.gram[members, members])[-1]
            for _ in range(1 if size == 1 else 5):
                z = a + problem.correlation(a) / top
                a[members] = penalty.prox(z, problem.alpha / top)[members]
    return a


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("signed", [False, True])
def test_descent(seed, signed):
    problem = small_problem(seed, signed=signed)
    penalty, a = problem.penalty, np.zeros(12)
    curvature = np.array(
        [
            np.linalg.eigvalsh(problem.gram[s : s + m, s : s + m])[-1]
            for s, m in zip(penalty.starts, penalty.sizes, strict=True)
        ]
    )
    c = problem.correlation(a)
    descend(
        problem.gram, curvature, problem.alpha * penalty.weights, penalty.starts,
        problem.alpha * penalty.unit_weights, signed, a, c, 3,
    )  # fmt: skip
    np.testing.assert_allclose(a, plain_descent(problem, np.zeros(12), 3), atol=1e-10)
    np.testing.assert_allclose(c, problem.correlation(a), atol=1e-9)


@given(st.integers(0, 10_000), st.booleans())
def test_finish_minimises_over_the_support(seed, signed):
    problem = small_problem(seed, signed=signed)
    rough = plain_descent(problem, np.zeros(12), 5)
    a = finish(problem, rough)
    assert problem.objective(a) <= problem.objective(rough) + 1e-12 * problem.target_norm2
    assert set(np.flatnonzero(a)) <= set(np.flatnonzero(rough))
    assert (np.sign(a) * np.sign(rough) >= 0).all()
    # moving any member of the support does not help
    for k in np.flatnonzero(a):
        for step in (1e-4, -1e-4):
            other = a.copy()
            other[k] *= 1 + step
            assert problem.objective(a) <= problem.objective(other) + 1e-12 * problem.target_norm2


@pytest.mark.parametrize("scale", [1e-14, 1.0, 1e14])
@pytest.mark.parametrize("signed", [False, True])
def test_finish_is_exact_at_every_scale(scale, signed):
    """Where the objective no longer changes, the gradient must still fall to rounding."""
    problem = small_problem(1, signed=signed)
    best = coordinate_descent(problem, np.zeros(12), 1e-12)
    best = finish(problem, best)
    large = replace(
        problem, linear=scale * problem.linear, alpha=scale * problem.alpha,
        target_norm2=scale**2 * problem.target_norm2,
    )  # fmt: skip
    near = scale * best * (1 + 1e-9 * np.cos(np.arange(12)))
    np.testing.assert_allclose(finish(large, near), scale * best, rtol=1e-13)


@given(st.integers(0, 10_000), st.booleans())
def test_gap_bounds_the_distance_from_the_optimum(seed, signed):
    problem = small_problem(seed, signed=signed)
    rough = plain_descent(problem, np.zeros(12), 2)
    best = coordinate_descent(problem, rough, 1e-12)
    above = problem.objective(rough) - problem.objective(best)
    if not signed and problem.penalty.free.any():
        return  # the bound for features without penalty needs a non-negative G
    assert above <= problem.gap(rough) * 0.5 * problem.target_norm2 + 1e-9


@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([1e-6, 1e6]))
def test_gap_is_relative_to_the_target(seed, signed, scale):
    """A target of another size, with weights and a penalty of that size, has the same gap."""
    problem = small_problem(seed, signed=signed)
    a = plain_descent(problem, np.zeros(12), 2)
    large = replace(
        problem, linear=scale * problem.linear, alpha=scale * problem.alpha,
        target_norm2=scale**2 * problem.target_norm2,
    )  # fmt: skip
    assert large.gap(scale * a) == pytest.approx(problem.gap(a), rel=1e-9, abs=1e-12)
    # from the largest penalty on, zero weights are optimal
    if not problem.penalty.free.any():
        top = float(problem.penalty.critical(problem.linear).max())
        assert replace(problem, alpha=1.1 * top).gap(np.zeros(12)) <= 1e-12
