"""The path of multinomial logistic regression: optimal for every penalty, however it is reached."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.evaluation.softmax import softmax_path
from hsiclasso.evaluation.spectrum import decompose
from tests.evaluation import oracle_evaluation as oracle

ALPHAS = 10.0 ** np.arange(-7, 2)


def problem(seed=0, n=40, n_classes=4, width=1.0):
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(n_classes), rng.integers(n_classes, size=n - n_classes))
    A = rng.standard_normal((n, 3)) + 0.5 * np.eye(max(3, n_classes))[codes, :3]
    return oracle.gaussian(A, A, width), codes


def relative_gradients(K, codes, alphas, path, fit_intercept):
    """Norm of the gradient in the kernel's space over that of the penalty, and that of b."""
    dual, intercepts = decompose(K, fit_intercept).expand(path)
    for alpha, B, b in zip(alphas, dual.transpose(0, 2, 1), intercepts, strict=True):
        G, g = oracle.logistic_gradient(K, codes, B, b, alpha)
        size = alpha * np.sqrt(np.trace(B.T @ K @ B))
        yield np.sqrt(max(0.0, np.trace(G.T @ K @ G))) / size, np.abs(g).max() / size


@pytest.mark.parametrize(
    ("n_classes", "width", "fit_intercept"), [(2, 0.3, True), (3, 5.0, False), (6, 1.0, True)]
)
def test_every_solution_is_optimal(n_classes, width, fit_intercept):
    K, codes = problem(n_classes=n_classes, width=width)
    tol = 1e-6
    path = softmax_path(decompose(K, fit_intercept), codes, ALPHAS, tol=tol)
    assert path.solved.all()
    assert path.n_unsolved == 0
    for kernel, intercept in relative_gradients(K, codes, ALPHAS, path, fit_intercept):
        # the kernel matrix of the oracle has the eigenvalues that were cut as rounding
        assert kernel <= 3 * tol
        assert not fit_intercept or intercept <= 3 * tol


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(6, 30),
    n_classes=st.integers(2, 5),
    width=st.floats(0.3, 5),
    power=st.floats(-6, 2),
    fit_intercept=st.booleans(),
)
def test_any_problem_is_solved(seed, n, n_classes, width, power, fit_intercept):
    K, codes = problem(seed, n, n_classes, width)
    alphas = np.array([10.0**power])
    path = softmax_path(decompose(K, fit_intercept), codes, alphas, tol=1e-5)
    assert path.solved.all()
    for kernel, _ in relative_gradients(K, codes, alphas, path, fit_intercept):
        assert kernel <= 3e-5


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_from_the_solutions_before_as_from_nothing(fit_intercept):
    K, codes = problem()
    spectrum = decompose(K, fit_intercept)
    warm = softmax_path(spectrum, codes, ALPHAS, tol=1e-9)
    cold = [softmax_path(spectrum, codes, ALPHAS[[k]], tol=1e-9) for k in range(ALPHAS.size)]
    for k, alone in enumerate(cold):
        size = np.linalg.norm(alone.weights)
        assert np.linalg.norm(warm.weights[k] - alone.weights[0]) <= 2e-9 * size
        np.testing.assert_allclose(warm.offsets[k], alone.offsets[0], atol=1e-6)
    assert warm.n_iter.sum() < 0.75 * sum(int(alone.n_iter[0]) for alone in cold)


def test_penalties_in_any_order_and_twice():
    K, codes = problem()
    spectrum = decompose(K, True)
    straight = softmax_path(spectrum, codes, ALPHAS)
    order = np.array([3, 0, 5, 1, 2, 8, 4, 7, 6])
    shuffled = softmax_path(spectrum, codes, ALPHAS[order])
    np.testing.assert_array_equal(shuffled.weights, straight.weights[order])
    np.testing.assert_array_equal(shuffled.n_iter, straight.n_iter[order])
    doubled = softmax_path(spectrum, codes, np.array([0.1, 0.1, 0.01, 0.01]), tol=1e-8)
    np.testing.assert_allclose(doubled.weights[0], doubled.weights[1])
    np.testing.assert_allclose(doubled.weights[2], doubled.weights[3], atol=1e-7)


def test_less_penalty_fits_better():
    K, codes = problem()
    path = softmax_path(decompose(K, True), codes, ALPHAS)
    dual, intercepts = decompose(K, True).expand(path)
    losses = [
        oracle.logistic_objective(K, codes, B.T, b, 0.0)
        for B, b in zip(dual, intercepts, strict=True)
    ]
    assert (np.diff(losses) > 0).all()
    assert (np.diff(np.square(path.weights).sum(axis=(1, 2))) < 0).all()


def test_classes_are_treated_alike():
    K, codes = problem()
    path = softmax_path(decompose(K, True), codes, ALPHAS, tol=1e-9)
    scale = np.abs(path.weights).max(axis=(1, 2))
    np.testing.assert_allclose(path.weights.sum(axis=1) / scale[:, None], 0, atol=1e-9)
    np.testing.assert_allclose(path.offsets.sum(axis=1), 0, atol=1e-9)
    turned = softmax_path(decompose(K, True), 3 - codes, ALPHAS, tol=1e-9)
    np.testing.assert_allclose(turned.weights[:, ::-1], path.weights, atol=1e-7 * scale.max())


def test_gradient_norm_is_reported():
    K, codes = problem()
    for tol in (1e-2, 1e-5):
        path = softmax_path(decompose(K, False), codes, ALPHAS, tol=tol)
        dual, _ = decompose(K, False).expand(path)
        for alpha, B, norm in zip(ALPHAS, dual, path.gradient_norms, strict=True):
            G, _ = oracle.logistic_gradient(K, codes, B.T, np.zeros(4), alpha)
            assert norm == pytest.approx(np.sqrt(np.trace(G.T @ K @ G)), rel=1e-3, abs=1e-13)


def test_gradient_norm_bounds_the_distance_to_the_optimum():
    """Strong convexity: |W - W*| <= |g| / alpha."""
    K, codes = problem()
    spectrum = decompose(K, False)
    exact = softmax_path(spectrum, codes, ALPHAS, tol=1e-10)
    for tol in (0.3, 1e-2, 1e-4):
        path = softmax_path(spectrum, codes, ALPHAS, tol=tol)
        distance = np.sqrt(np.square(path.weights - exact.weights).sum(axis=(1, 2)))
        assert (distance <= 1.01 * path.gradient_norms / ALPHAS).all()
        assert (distance > 0).any()


def test_too_few_steps_are_reported():
    K, codes = problem()
    path = softmax_path(decompose(K, True), codes, np.array([1e-6]), max_iter=2)
    assert path.n_unsolved == 1
    assert path.n_iter.tolist() == [2]


def test_no_step_leads_up():
    """From nothing to a small penalty, where a whole Newton step goes too far."""
    K, codes = problem(5, n_classes=3)
    spectrum, alpha = decompose(K, True), np.array([1e-8])
    objectives = []
    for max_iter in range(1, 18):
        dual, intercepts = spectrum.expand(softmax_path(spectrum, codes, alpha, max_iter=max_iter))
        objectives.append(oracle.logistic_objective(K, codes, dual[0].T, intercepts[0], alpha[0]))
    assert (np.diff(objectives) < 0).all()


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_the_scale_of_the_kernel_goes_with_the_penalty(scale):
    K, codes = problem()
    plain = softmax_path(decompose(K, True), codes, ALPHAS, tol=1e-8)
    scaled = softmax_path(decompose(scale * K, True), codes, scale * ALPHAS, tol=1e-8)
    assert scaled.solved.all()
    np.testing.assert_allclose(
        scaled.weights * np.sqrt(scale), plain.weights, atol=1e-5 * np.abs(plain.weights).max()
    )


def test_rounding_ends_what_no_tolerance_can():
    """At a penalty so small that the classes are fitted to the last bit."""
    K, codes = problem(width=0.3)
    path = softmax_path(decompose(K, True), codes, np.array([1e-13]), tol=1e-10)
    assert path.gradient_norms[0] < 1e-13
    dual, intercepts = decompose(K, True).expand(path)
    assert ((K @ dual[0].T + intercepts[0]).argmax(axis=1) == codes).all()


def test_without_features_there_are_frequencies():
    codes = np.array([0, 0, 0, 1, 1, 2])
    path = softmax_path(decompose(np.ones((6, 6)), True), codes, np.array([1.0, 0.1]))
    assert path.weights.shape == (2, 3, 0)
    np.testing.assert_allclose(
        np.exp(path.offsets[0]) / np.exp(path.offsets[0]).sum(), [1 / 2, 1 / 3, 1 / 6]
    )
    assert path.solved.all()
    assert path.n_iter.tolist() == [0, 0]
    nothing = softmax_path(decompose(np.zeros((6, 6)), False), codes, np.array([1.0]))
    assert not nothing.offsets.any()
    assert nothing.solved.all()
