"""Kernel ridge regression against linear algebra and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.utils import get_tags

from hsiclasso.evaluation import KernelRidgeRegression
from hsiclasso.evaluation.ridge import ridge_path
from hsiclasso.evaluation.spectrum import decompose
from tests.evaluation import oracle_evaluation as oracle
from tests.evaluation.conftest import gram_of, make_real


@given(power=st.floats(-6, 1), width=st.floats(0.5, 3), fit_intercept=st.booleans())
def test_solves_the_normal_equations(power, width, fit_intercept):
    (X, y), (other, _), alpha = make_real(30), make_real(20, seed=1), 10.0**power
    model = KernelRidgeRegression(alpha=alpha, width=width, fit_intercept=fit_intercept).fit(X, y)
    beta, b = oracle.ridge(gram_of(X, X, width), y, alpha, fit_intercept)
    np.testing.assert_allclose(model.dual_coef_, beta, rtol=1e-6, atol=1e-6 * np.abs(beta).max())
    assert isinstance(model.intercept_, float)
    assert model.intercept_ == pytest.approx(b, rel=1e-6, abs=1e-9)
    np.testing.assert_allclose(model.predict(other), gram_of(X, other, width) @ beta + b, rtol=1e-7)


@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_agrees_with_scikit_learn(real, kernel, fit_intercept):
    X, y = real
    A, B = oracle.standardised(X, make_real(seed=1)[0])
    model = KernelRidgeRegression(alpha=0.01, kernel=kernel, fit_intercept=fit_intercept)
    if kernel == "linear":
        peer = Ridge(alpha=50 * 0.01, fit_intercept=fit_intercept).fit(A, y)
    elif not fit_intercept:
        model.set_params(width=1.5)
        peer = KernelRidge(alpha=50 * 0.01, kernel="rbf", gamma=1 / (2 * 1.5**2)).fit(A, y)
    else:
        pytest.skip("scikit-learn has no kernel ridge regression with an intercept")
    np.testing.assert_allclose(model.fit(X, y).predict(make_real(seed=1)[0]), peer.predict(B))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_one_decomposition_serves_all_penalties(real, fit_intercept):
    X, y = real
    K = gram_of(X, X, 1.0)
    spectrum = decompose(K, fit_intercept)
    alphas = np.array([1.0, 1e-4, 1e-2])
    targets = np.column_stack([y, y**2])
    dual, intercepts = spectrum.expand(ridge_path(spectrum, targets, alphas))
    assert dual.shape == (3, 2, 50)
    for k, alpha in enumerate(alphas):
        for column in range(2):
            beta, b = oracle.ridge(K, targets[:, column], alpha, fit_intercept)
            np.testing.assert_allclose(
                K @ dual[k, column] + intercepts[k, column], K @ beta + b, rtol=1e-8
            )


def test_several_targets_are_fitted_each_on_its_own(real):
    X, y = real
    both = KernelRidgeRegression().fit(X, np.column_stack([y, -3 * y**2]))
    assert both.dual_coef_.shape == (50, 2)
    assert both.intercept_.shape == (2,)
    for column, target in enumerate([y, -3 * y**2]):
        alone = KernelRidgeRegression().fit(X, target)
        np.testing.assert_allclose(both.predict(X)[:, column], alone.predict(X))
    assert get_tags(both).target_tags.multi_output


def test_shift_and_scale_of_the_target(real):
    X, y = real
    plain = KernelRidgeRegression().fit(X, y).predict(X)
    np.testing.assert_allclose(
        KernelRidgeRegression().fit(X, 1e3 - 7 * y).predict(X), 1e3 - 7 * plain
    )
    with_zero = KernelRidgeRegression(fit_intercept=False)
    moved = with_zero.fit(X, 1e3 + y).predict(X) - 1e3
    assert np.abs(moved - with_zero.fit(X, y).predict(X)).max() > 0.1
    constant = KernelRidgeRegression().fit(X, np.full(50, 3.5))
    np.testing.assert_allclose(constant.predict(make_real(seed=1)[0]), 3.5)
