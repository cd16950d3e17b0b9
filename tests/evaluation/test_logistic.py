"""Kernel logistic regression: optimal, equal to other libraries' where they have it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from hsiclasso.evaluation import KernelLogisticRegression
from tests.evaluation import oracle_evaluation as oracle
from tests.evaluation.conftest import gram_of, make_classes


@pytest.mark.parametrize(
    ("n_classes", "alpha", "fit_intercept"), [(2, 1e-6, True), (3, 1e-3, False), (5, 1.0, True)]
)
def test_gradient_of_the_objective_is_zero(n_classes, alpha, fit_intercept):
    X, codes = make_classes(n_classes)
    model = KernelLogisticRegression(alpha=alpha, width=1.5, fit_intercept=fit_intercept, tol=1e-7)
    model.fit(X, codes)
    K = gram_of(X, X, 1.5)
    B, b = model.dual_coef_, model.intercept_
    G, g = oracle.logistic_gradient(K, codes, B, b, alpha)
    size = alpha * np.sqrt(np.trace(B.T @ K @ B))
    assert np.sqrt(np.trace(G.T @ K @ G)) <= 1e-6 * size
    if fit_intercept:
        np.testing.assert_allclose(g, 0, atol=1e-6 * size)
    else:
        assert model.intercept_.tolist() == [0.0] * n_classes


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_no_step_lowers_the_objective(classes, fit_intercept, rng):
    X, codes = classes
    model = KernelLogisticRegression(alpha=0.01, width=1.0, fit_intercept=fit_intercept, tol=1e-8)
    model.fit(X, codes)
    K = gram_of(X, X, 1.0)
    best = oracle.logistic_objective(K, codes, model.dual_coef_, model.intercept_, 0.01)
    for scale in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            B = model.dual_coef_ + scale * rng.standard_normal(model.dual_coef_.shape)
            b = model.intercept_ + fit_intercept * scale * rng.standard_normal(3)
            assert oracle.logistic_objective(K, codes, B, b, 0.01) > best


@pytest.mark.parametrize(("n_classes", "fit_intercept"), [(2, True), (3, False)])
def test_agrees_with_a_generic_optimiser(n_classes, fit_intercept):
    X, codes = make_classes(n_classes, n=20)
    K = gram_of(X, X, 1.0)
    F = oracle.logistic_by_minimize(K, codes, 0.1, fit_intercept)
    model = KernelLogisticRegression(alpha=0.1, width=1.0, fit_intercept=fit_intercept, tol=1e-8)
    found = model.fit(X, codes).predict_proba(X)
    np.testing.assert_allclose(found, oracle.probabilities(F), atol=1e-5)


@pytest.mark.parametrize(
    ("n_classes", "standardise", "fit_intercept"),
    [(2, True, True), (2, False, False), (3, True, False), (5, False, True)],
)
def test_linear_kernel_is_scikit_learn_s_regression(n_classes, standardise, fit_intercept):
    X, codes = make_classes(n_classes)
    other, _ = make_classes(n_classes, seed=1)
    A, B = oracle.standardised(X, other) if standardise else (X / 50, other / 50)
    alpha = 0.02
    model = KernelLogisticRegression(
        alpha=alpha, kernel="linear", standardise=standardise, fit_intercept=fit_intercept, tol=1e-9
    ).fit(X if standardise else A, codes)
    # two classes: both functions are penalised, each half the difference that scikit-learn has
    C = (2 if n_classes == 2 else 1) / (len(X) * alpha)
    peer = LogisticRegression(C=C, fit_intercept=fit_intercept, tol=1e-10, max_iter=10**5)
    peer.set_params(solver="newton-cg").fit(A, codes)
    table = other if standardise else B
    np.testing.assert_allclose(model.predict_proba(table), peer.predict_proba(B), atol=1e-6)
    np.testing.assert_allclose(
        model.decision_function(table), peer.decision_function(B), rtol=1e-5, atol=1e-5
    )
    assert model.predict(table).tolist() == peer.predict(B).tolist()


@pytest.mark.parametrize("n_classes", [2, 4])
def test_predictions_are_sums_of_kernels(n_classes):
    X, codes = make_classes(n_classes)
    other, _ = make_classes(n_classes, seed=1)
    model = KernelLogisticRegression(width=0.8).fit(X, codes)
    F = gram_of(X, other, 0.8) @ model.dual_coef_ + model.intercept_
    P = oracle.probabilities(F)
    np.testing.assert_allclose(model.predict_proba(other), P, atol=1e-10)
    np.testing.assert_allclose(model.predict_log_proba(other), np.log(P), atol=1e-8)
    assert model.predict(other).tolist() == P.argmax(axis=1).tolist()
    expected = F if n_classes > 2 else F[:, 1] - F[:, 0]
    np.testing.assert_allclose(model.decision_function(other), expected, atol=1e-8)
    np.testing.assert_allclose(model.dual_coef_.sum(axis=1), 0, atol=1e-8)
    assert model.intercept_.sum() == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize(
    "labels", [np.array([7, -2, 3]), np.array(["setosa", "virginica", "versicolor"])]
)
def test_order_and_names_of_classes_do_not_matter(classes, labels):
    X, codes = classes
    other = make_classes(seed=1)[0]
    numbered = KernelLogisticRegression(tol=1e-8).fit(X, codes)
    named = KernelLogisticRegression(tol=1e-8).fit(X, labels[codes])
    order = np.argsort(labels)
    assert named.classes_.tolist() == labels[order].tolist()
    assert named.predict(other).tolist() == labels[numbered.predict(other)].tolist()
    np.testing.assert_allclose(
        named.predict_proba(other), numbered.predict_proba(other)[:, order], atol=1e-6
    )


def test_tolerance_and_steps(classes):
    X, codes = classes
    rough, fine = (KernelLogisticRegression(tol=tol).fit(X, codes) for tol in (0.1, 1e-9))
    assert fine.gradient_norm_ < 1e-6 * rough.gradient_norm_
    assert 1 <= rough.n_iter_ < fine.n_iter_
    with pytest.warns(
        ConvergenceWarning, match="after 1 Newton steps, more than tol=1e-09 allows"
    ) as caught:
        KernelLogisticRegression(tol=1e-9, max_iter=1).fit(X, codes)
    assert caught[0].filename == __file__


def test_a_table_without_variation_gives_frequencies():
    y = np.array(["a", "b", "b", "b"])
    model = KernelLogisticRegression().fit(np.full((4, 2), 0.1), y)
    np.testing.assert_allclose(model.predict_proba([[0.1, 0.1]]), [[0.25, 0.75]])
    even = KernelLogisticRegression(kernel="linear", fit_intercept=False).fit(np.ones((4, 2)), y)
    np.testing.assert_allclose(even.predict_proba([[1, 1]]), [[0.5, 0.5]])


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_any_scale_of_a_linear_kernel(scale, classes):
    X, codes = classes
    plain = KernelLogisticRegression(kernel="linear", standardise=False, tol=1e-8).fit(X, codes)
    scaled = KernelLogisticRegression(
        alpha=1e-3 * scale**2, kernel="linear", standardise=False, tol=1e-8
    ).fit(scale * X, codes)
    np.testing.assert_allclose(scaled.predict_proba(scale * X), plain.predict_proba(X), atol=1e-5)


def test_on_real_data(load_real):
    data = load_real("TOX_171")
    X, (_, codes) = data["X"][:, :30], np.unique(data["y"], return_inverse=True)
    for alpha in (1e-7, 1e-4, 1e-1):
        model = KernelLogisticRegression(alpha=alpha, tol=1e-6).fit(X, codes)
        A, _ = oracle.standardised(X.astype(float), X)
        K = np.exp(-0.5 * ((A[:, None] - A) ** 2).sum(axis=2) / model.width_**2)
        B = model.dual_coef_
        G, _ = oracle.logistic_gradient(K, codes, B, model.intercept_, alpha)
        assert np.trace(G.T @ K @ G) <= (1e-5 * alpha) ** 2 * np.trace(B.T @ K @ B)
