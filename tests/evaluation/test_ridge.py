"""Kernel ridge regression against linear algebra and scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from hsiclasso.errors import InvalidInputError
from hsiclasso.evaluation import KernelRidgeRegression, KernelRidgeRegressionCV
from hsiclasso.evaluation.learners import ridge_path
from hsiclasso.evaluation.spectrum import decompose
from tests.evaluation import oracle_evaluation as oracle


def not_for_matrices(estimator):
    """Return checks that hand a precomputed kernel what is none."""
    if estimator.kernel != "precomputed":
        return {}
    return {"check_estimators_dtypes": "a kernel matrix rounded to integers is none"}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        KernelRidgeRegression(),
        KernelRidgeRegression(fit_intercept=False, standardise=False, width=2.0),
        KernelRidgeRegression(kernel="linear"),
        KernelRidgeRegression(kernel="precomputed"),
        KernelRidgeRegressionCV(),
        KernelRidgeRegressionCV(kernel="precomputed"),
    ],
    expected_failed_checks=not_for_matrices,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def make(n=50, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) * [1, 30, 0.2] + [0, 1, 2]
    y = 10 + np.sin(X[:, 0]) + (X[:, 1] / 30) ** 2 + 0.1 * rng.standard_normal(n)
    return X, y


@pytest.fixture(scope="module")
def data():
    return make()


def gram_of(X, other, width):
    A, B = oracle.standardised(X, other)
    return oracle.gaussian(B, A, width)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [1e-6, 1e-2, 10.0])
@pytest.mark.parametrize("width", [0.7, 2.0])
def test_solves_the_normal_equations(data, fit_intercept, alpha, width):
    X, y = data
    model = KernelRidgeRegression(alpha=alpha, width=width, fit_intercept=fit_intercept).fit(X, y)
    beta, b = oracle.ridge(gram_of(X, X, width), y, alpha, fit_intercept)
    np.testing.assert_allclose(model.dual_coef_, beta, rtol=1e-6, atol=1e-6 * np.abs(beta).max())
    assert isinstance(model.intercept_, float)
    assert model.intercept_ == pytest.approx(b, rel=1e-6, abs=1e-9)
    other, _ = make(seed=1)
    np.testing.assert_allclose(model.predict(other), gram_of(X, other, width) @ beta + b, rtol=1e-7)


def test_without_intercept_it_is_scikit_learn_s(data):
    X, y = data
    A, B = oracle.standardised(X, make(seed=1)[0])
    model = KernelRidgeRegression(alpha=0.01, width=1.5, fit_intercept=False).fit(X, y)
    peer = KernelRidge(alpha=50 * 0.01, kernel="rbf", gamma=1 / (2 * 1.5**2)).fit(A, y)
    np.testing.assert_allclose(model.predict(make(seed=1)[0]), peer.predict(B))
    np.testing.assert_allclose(model.dual_coef_, peer.dual_coef_, rtol=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_linear_kernel_is_scikit_learn_s_regression(data, fit_intercept):
    X, y = data
    A, B = oracle.standardised(X, make(seed=1)[0])
    model = KernelRidgeRegression(alpha=0.01, kernel="linear", fit_intercept=fit_intercept)
    peer = Ridge(alpha=50 * 0.01, fit_intercept=fit_intercept).fit(A, y)
    np.testing.assert_allclose(model.fit(X, y).predict(make(seed=1)[0]), peer.predict(B))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_one_decomposition_serves_all_penalties(data, fit_intercept):
    X, y = data
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


def test_several_targets_are_fitted_each_on_its_own(data):
    X, y = data
    both = KernelRidgeRegression().fit(X, np.column_stack([y, -3 * y**2]))
    assert both.dual_coef_.shape == (50, 2)
    assert both.intercept_.shape == (2,)
    for column, target in enumerate([y, -3 * y**2]):
        alone = KernelRidgeRegression().fit(X, target)
        np.testing.assert_allclose(both.predict(X)[:, column], alone.predict(X))
    assert get_tags(both).target_tags.multi_output


def test_shift_and_scale_of_the_target(data):
    X, y = data
    plain = KernelRidgeRegression().fit(X, y).predict(X)
    np.testing.assert_allclose(
        KernelRidgeRegression().fit(X, 1e3 - 7 * y).predict(X), 1e3 - 7 * plain
    )
    with_zero = KernelRidgeRegression(fit_intercept=False)
    moved = with_zero.fit(X, 1e3 + y).predict(X) - 1e3
    assert np.abs(moved - with_zero.fit(X, y).predict(X)).max() > 0.1


def test_a_constant_target_is_predicted(data):
    model = KernelRidgeRegression().fit(data[0], np.full(50, 3.5))
    np.testing.assert_allclose(model.predict(make(seed=1)[0]), 3.5)


def test_order_of_samples_and_precomputed_kernels(data, rng):
    X, y = data
    other, _ = make(seed=1)
    model = KernelRidgeRegression().fit(X, y)
    order = rng.permutation(50)
    np.testing.assert_allclose(
        KernelRidgeRegression().fit(X[order], y[order]).predict(other), model.predict(other)
    )
    matrix = KernelRidgeRegression(kernel="precomputed").fit(gram_of(X, X, model.width_), y)
    np.testing.assert_allclose(
        matrix.predict(gram_of(X, other, model.width_)), model.predict(other)
    )
    assert get_tags(matrix).input_tags.pairwise


def test_names_of_features(data):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = KernelRidgeRegression().fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(model.predict(frame), KernelRidgeRegression().fit(X, y).predict(X))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"alpha": -1}, "alpha=-1 must be a finite number > 0"),
        ({"width": 0}, "width=0 must be a finite number > 0"),
        ({"kernel": "precomputed", "width": 2}, "kernel='precomputed' has no width"),
        ({"kernel": None}, "choose 'gaussian', 'linear' or 'precomputed'"),
        ({"fit_intercept": None}, "fit_intercept=None must be True or False"),
    ],
)
def test_parameters_without_meaning_are_refused(data, parameters, words):
    with pytest.raises(InvalidInputError, match=words):
        KernelRidgeRegression(**parameters).fit(*data)
