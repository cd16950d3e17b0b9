"""Kernel logistic regression: optimal, equal to other libraries' where they have it."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from hsiclasso.errors import InvalidInputError
from hsiclasso.evaluation import KernelLogisticRegression, KernelLogisticRegressionCV
from tests.evaluation import oracle_evaluation as oracle


def not_for_matrices(estimator):
    """Return checks that hand a precomputed kernel what is none."""
    if estimator.kernel != "precomputed":
        return {}
    return {
        "check_estimators_dtypes": "a kernel matrix rounded to integers is none",
        "check_decision_proba_consistency": "passes a table for the matrix",
    }


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        KernelLogisticRegression(),
        KernelLogisticRegression(fit_intercept=False, standardise=False, width=2.0),
        KernelLogisticRegression(kernel="linear"),
        KernelLogisticRegression(kernel="precomputed"),
        KernelLogisticRegressionCV(),
        KernelLogisticRegressionCV(kernel="precomputed", scoring="log_likelihood"),
    ],
    expected_failed_checks=not_for_matrices,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def make(n_classes=3, n=60, d=3, seed=0):
    """Classes that overlap, of different sizes, in features of different scales."""
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.integers(n_classes + 1, size=n), n_classes - 1)
    codes[:n_classes] = np.arange(n_classes)
    centres = rng.standard_normal((n_classes, d))
    X = centres[codes] + rng.standard_normal((n, d))
    return X * np.logspace(-1, 2, d) + 5, codes


def gram_of(X, other, width):
    A, B = oracle.standardised(X, other)
    return oracle.gaussian(B, A, width)


@pytest.fixture(scope="module")
def data():
    return make()


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 1.0])
def test_gradient_of_the_objective_is_zero(fit_intercept, n_classes, alpha):
    X, codes = make(n_classes)
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
def test_no_step_lowers_the_objective(data, fit_intercept, rng):
    X, codes = data
    model = KernelLogisticRegression(alpha=0.01, width=1.0, fit_intercept=fit_intercept, tol=1e-8)
    model.fit(X, codes)
    K = gram_of(X, X, 1.0)
    best = oracle.logistic_objective(K, codes, model.dual_coef_, model.intercept_, 0.01)
    for scale in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            B = model.dual_coef_ + scale * rng.standard_normal(model.dual_coef_.shape)
            b = model.intercept_ + fit_intercept * scale * rng.standard_normal(3)
            assert oracle.logistic_objective(K, codes, B, b, 0.01) > best


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("n_classes", "alpha"), [(2, 0.1), (3, 1e-2), (4, 1e-3)])
def test_agrees_with_a_generic_optimiser(fit_intercept, n_classes, alpha):
    X, codes = make(n_classes, n=25)
    K = gram_of(X, X, 1.0)
    F = oracle.logistic_by_minimize(K, codes, alpha, fit_intercept)
    model = KernelLogisticRegression(alpha=alpha, width=1.0, fit_intercept=fit_intercept, tol=1e-8)
    found = model.fit(X, codes).predict_proba(X)
    np.testing.assert_allclose(found, oracle.probabilities(F), atol=1e-5)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardise", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_linear_kernel_is_scikit_learn_s_regression(fit_intercept, standardise, n_classes):
    X, codes = make(n_classes)
    other, _ = make(n_classes, seed=1)
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
    X, codes = make(n_classes)
    other, _ = make(n_classes, seed=1)
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


def test_classes_may_be_words(data):
    X, codes = data
    words = np.array(["setosa", "virginica", "versicolor"])
    named = KernelLogisticRegression().fit(X, words[codes])
    numbered = KernelLogisticRegression().fit(X, codes)
    assert named.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert named.predict(X).tolist() == words[numbered.predict(X)].tolist()
    np.testing.assert_allclose(
        named.predict_proba(X)[:, [0, 2, 1]], numbered.predict_proba(X), atol=1e-4
    )


@pytest.fixture(scope="module")
def reference(data):
    X, codes = data
    model = KernelLogisticRegression(tol=1e-8).fit(X, codes)
    return model, model.predict_proba(make(seed=1)[0])


def test_order_of_samples_does_not_matter(data, reference, rng):
    X, codes = data
    order = rng.permutation(len(X))
    model = KernelLogisticRegression(tol=1e-8).fit(X[order], codes[order])
    np.testing.assert_allclose(model.predict_proba(make(seed=1)[0]), reference[1], atol=1e-6)
    np.testing.assert_allclose(model.dual_coef_, reference[0].dual_coef_[order], atol=1e-4)


def test_order_and_names_of_classes_do_not_matter(data, reference):
    X, codes = data
    labels = np.array([7, -2, 3])  # in order: class 1, class 2, class 0
    model = KernelLogisticRegression(tol=1e-8).fit(X, labels[codes])
    probabilities = model.predict_proba(make(seed=1)[0])
    np.testing.assert_allclose(probabilities, reference[1][:, [1, 2, 0]], atol=1e-6)


def test_order_scale_and_origin_of_features_do_not_matter(data, reference):
    X, codes = data
    other = make(seed=1)[0]

    def change(table):
        return table[:, [2, 0, 1]] * [1e-3, -5, 1e4] + [1, 2, -3]

    model = KernelLogisticRegression(tol=1e-8).fit(change(X), codes)
    np.testing.assert_allclose(model.predict_proba(change(other)), reference[1], atol=1e-6)
    raw = KernelLogisticRegression(tol=1e-8, standardise=False).fit(X, codes)
    assert np.abs(raw.predict_proba(other) - reference[1]).max() > 0.1


def test_every_sample_twice_changes_nothing(data, reference):
    """The loss is a mean over samples; the median distance is of other pairs."""
    X, codes = data
    model = KernelLogisticRegression(tol=1e-8, width=reference[0].width_)
    model.fit(np.tile(X, (2, 1)), np.tile(codes, 2))
    np.testing.assert_allclose(model.predict_proba(make(seed=1)[0]), reference[1], atol=1e-6)


def test_precomputed_kernel(data, reference):
    X, codes = data
    other = make(seed=1)[0]
    model = KernelLogisticRegression(kernel="precomputed", tol=1e-8)
    width = reference[0].width_
    model.fit(gram_of(X, X, width), codes)
    assert model.width_ is None
    assert model.n_features_in_ == len(X)
    np.testing.assert_allclose(
        model.predict_proba(gram_of(X, other, width)), reference[1], atol=1e-6
    )
    assert get_tags(model).input_tags.pairwise
    assert not get_tags(KernelLogisticRegression()).input_tags.pairwise
    # scikit-learn then takes rows and columns for a fold
    direct = cross_val_score(
        KernelLogisticRegression(width=0.5, standardise=False), X / 50, codes, cv=3
    )
    matrix = oracle.gaussian(X / 50, X / 50, 0.5)
    folded = cross_val_score(KernelLogisticRegression(kernel="precomputed"), matrix, codes, cv=3)
    assert folded.tolist() == direct.tolist()


def test_median_width(data):
    X, codes = data
    A, _ = oracle.standardised(X, X)
    median = oracle.median_distance(A)
    automatic = KernelLogisticRegression().fit(X, codes)
    assert automatic.width_ == pytest.approx(median)
    given = KernelLogisticRegression(width=median).fit(X, codes)
    np.testing.assert_allclose(given.dual_coef_, automatic.dual_coef_, rtol=1e-6, atol=1e-6)
    other = KernelLogisticRegression(width=3 * median).fit(X, codes)
    assert np.abs(other.predict_proba(X) - given.predict_proba(X)).max() > 0.01


def test_tolerance_and_steps(data):
    X, codes = data
    rough, fine = (KernelLogisticRegression(tol=tol).fit(X, codes) for tol in (0.1, 1e-9))
    assert fine.gradient_norm_ < 1e-6 * rough.gradient_norm_
    assert 1 <= rough.n_iter_ < fine.n_iter_
    with pytest.warns(ConvergenceWarning, match="after 1 Newton steps, more than tol=1e-09 allows"):
        KernelLogisticRegression(tol=1e-9, max_iter=1).fit(X, codes)


def test_a_table_without_variation_gives_frequencies():
    y = np.array(["a", "b", "b", "b"])
    model = KernelLogisticRegression().fit(np.full((4, 2), 0.1), y)
    np.testing.assert_allclose(model.predict_proba([[0.1, 0.1]]), [[0.25, 0.75]])
    even = KernelLogisticRegression(kernel="linear", fit_intercept=False).fit(np.ones((4, 2)), y)
    np.testing.assert_allclose(even.predict_proba([[1, 1]]), [[0.5, 0.5]])


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e6, 1e100])
def test_any_scale_of_a_linear_kernel(scale):
    X, codes = make()
    plain = KernelLogisticRegression(kernel="linear", standardise=False, tol=1e-8).fit(X, codes)
    scaled = KernelLogisticRegression(
        alpha=1e-3 * scale**2, kernel="linear", standardise=False, tol=1e-8
    ).fit(scale * X, codes)
    np.testing.assert_allclose(scaled.predict_proba(scale * X), plain.predict_proba(X), atol=1e-5)


def test_names_of_features(data):
    X, codes = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = KernelLogisticRegression().fit(frame, pd.Series(codes))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(
        model.predict_proba(frame), KernelLogisticRegression().fit(X, codes).predict_proba(X)
    )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c"]])


def test_fitted_models_can_be_stored(data, reference):
    X, _ = data
    copy = pickle.loads(pickle.dumps(reference[0]))
    assert copy.predict(X).tolist() == reference[0].predict(X).tolist()
    assert clone(reference[0]).get_params() == reference[0].get_params()


def test_the_caller_s_arrays_are_left_alone(data):
    X, codes = (part.copy() for part in data)
    for kernel in ("gaussian", "linear"):
        KernelLogisticRegression(kernel=kernel, standardise=False).fit(X, codes).predict(X)
    np.testing.assert_array_equal(X, data[0])
    np.testing.assert_array_equal(codes, data[1])


def test_one_class_is_refused(data):
    X, codes = data
    for model in (KernelLogisticRegression(), KernelLogisticRegressionCV()):
        with pytest.raises(InvalidInputError, match="y holds one class, 7, but"):
            model.fit(X, np.full_like(codes, 7))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"alpha": 0.0}, r"alpha=0\.0 must be a finite number > 0"),
        ({"alpha": "auto"}, r"alpha='auto' must be a finite number > 0"),
        ({"alpha": np.inf}, r"alpha=inf must be a finite number > 0"),
        ({"width": -1.0}, r"width=-1\.0 must be a finite number > 0"),
        ({"width": "mean"}, r"width='mean' must be a finite number > 0, or 'median'"),
        ({"width": None}, r"width=None must be a finite number > 0"),
        ({"kernel": "rbf"}, "choose 'gaussian', 'linear' or 'precomputed'"),
        ({"kernel": "linear", "width": 1.0}, r"width=1\.0, but kernel='linear' has no width"),
        ({"standardise": 1}, "standardise=1 must be True or False"),
        ({"fit_intercept": "yes"}, "fit_intercept='yes' must be True or False"),
        ({"tol": 0}, "tol=0 must be a finite number > 0"),
        ({"max_iter": 0}, "max_iter=0 must be a whole number >= 1"),
        ({"max_iter": 2.5}, r"max_iter=2\.5 must be a whole number >= 1"),
        ({"max_iter": True}, "max_iter=True must be a whole number >= 1"),
    ],
)
def test_parameters_without_meaning_are_refused(data, parameters, words):
    with pytest.raises(InvalidInputError, match=words):
        KernelLogisticRegression(**parameters).fit(*data)


def test_matrices_that_are_no_kernel_are_refused(data):
    codes = data[1]
    model = KernelLogisticRegression(kernel="precomputed")
    with pytest.raises(InvalidInputError, match="pass the square matrix"):
        model.fit(data[0], codes)
    with pytest.raises(InvalidInputError, match="not symmetric"):
        model.fit(np.triu(np.ones((60, 60))), codes)
    with pytest.raises(InvalidInputError, match="positive semi-definite"):
        model.fit(1 - 3 * np.eye(60), codes)


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
