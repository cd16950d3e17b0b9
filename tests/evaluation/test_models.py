"""What all kernel models have in common: scikit-learn's checks, parameters, tables."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, cross_val_score
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

import hsiclasso.evaluation
from hsiclasso.errors import InvalidInputError
from hsiclasso.evaluation import (
    KernelLogisticRegression,
    KernelLogisticRegressionCV,
    KernelRidgeRegression,
    KernelRidgeRegressionCV,
)
from tests.evaluation import oracle_evaluation as oracle
from tests.evaluation.conftest import gram_of, make_classes

GIVEN = [KernelLogisticRegression(tol=1e-8), KernelRidgeRegression()]
SEARCHED = [KernelLogisticRegressionCV(), KernelRidgeRegressionCV()]


def not_for_matrices(estimator):
    """Return checks that pass a table where a kernel matrix is needed."""
    if estimator.kernel != "precomputed":
        return {}
    return {
        "check_estimators_dtypes": "a kernel matrix rounded to integers is none",
        "check_decision_proba_consistency": "passes a table for the matrix",
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        KernelLogisticRegression(kernel="precomputed"),
        KernelLogisticRegressionCV(alphas=[1e-3, 1.0], width_factors=[1.0, 2.0]),
        KernelRidgeRegression(),
        KernelRidgeRegression(kernel="linear", standardise=False, fit_intercept=False),
        KernelRidgeRegressionCV(kernel="precomputed"),
    ],
    ids=str,
)
def test_scikit_learn_checks(estimator):
    check_estimator(estimator, expected_failed_checks=not_for_matrices(estimator))


@pytest.fixture(params=GIVEN, ids=["logistic", "ridge"])
def model(request):
    return clone(request.param)


@pytest.fixture
def data(model, classes, real):
    return classes if is_classifier(model) else real


def values(model, X):
    """What a model says of samples, in numbers."""
    return model.predict_proba(X) if is_classifier(model) else model.predict(X)


@pytest.fixture
def other(data):
    """Other samples like those of the fit."""
    X = data[0]
    return X[::-1] + 0.1 * X.std(axis=0) * np.random.default_rng(1).standard_normal(X.shape)


def test_order_of_samples_does_not_matter(model, data, other, rng):
    X, y = data
    before = values(model.fit(X, y), other)
    coefficients, order = model.dual_coef_, rng.permutation(len(X))
    model.fit(X[order], y[order])
    np.testing.assert_allclose(values(model, other), before, rtol=1e-7, atol=1e-6)
    atol = 1e-6 * np.abs(coefficients).max()
    np.testing.assert_allclose(model.dual_coef_, coefficients[order], atol=atol)


def test_order_scale_and_origin_of_features_do_not_matter(model, data, other):
    X, y = data
    before = values(model.fit(X, y), other)

    def change(table):
        return table[:, [2, 0, 1]] * [1e-3, -5, 1e4] + [1, 2, -3]

    np.testing.assert_allclose(
        values(model.fit(change(X), y), change(other)), before, rtol=1e-7, atol=1e-6
    )
    raw = clone(model).set_params(standardise=False).fit(X, y)
    assert np.abs(values(raw, other) - before).max() > 0.1


def test_every_sample_twice_changes_nothing(model, data, other):
    """The loss is a mean over samples; the median distance would be that of other pairs."""
    X, y = data
    before = values(model.fit(X, y), other)
    model.set_params(width=model.width_).fit(np.tile(X, (2, 1)), np.tile(y, 2))
    np.testing.assert_allclose(values(model, other), before, rtol=1e-7, atol=1e-6)


def test_median_width(model, data, other):
    X, y = data
    median = oracle.median_distance(oracle.standardised(X, X)[0])
    before = values(model.fit(X, y), other)
    assert model.width_ == pytest.approx(median)
    same = values(clone(model).set_params(width=median).fit(X, y), other)
    np.testing.assert_allclose(same, before, rtol=1e-6, atol=1e-6)
    wider = values(clone(model).set_params(width=3 * median).fit(X, y), other)
    assert np.abs(wider - before).max() > 0.01


def test_precomputed_kernel(model, data, other):
    X, y = data
    before = values(model.fit(X, y), other)
    width = model.width_
    assert not get_tags(model).input_tags.pairwise
    matrix = clone(model).set_params(kernel="precomputed").fit(gram_of(X, X, width), y)
    assert matrix.width_ is None
    assert matrix.n_features_in_ == len(X)
    assert get_tags(matrix).input_tags.pairwise
    np.testing.assert_allclose(
        values(matrix, gram_of(X, other, width)), before, rtol=1e-7, atol=1e-6
    )


def test_scikit_learn_takes_rows_and_columns_of_a_precomputed_kernel(classes):
    X, codes = classes
    plain = KernelLogisticRegression(width=0.5, standardise=False)
    direct = cross_val_score(plain, X / 50, codes, cv=3)
    matrix = oracle.gaussian(X / 50, X / 50, 0.5)
    folded = cross_val_score(KernelLogisticRegression(kernel="precomputed"), matrix, codes, cv=3)
    assert folded.tolist() == direct.tolist()


def test_names_of_features(model, data):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    named = clone(model).fit(frame, pd.Series(y))
    assert named.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(values(named, frame), values(model.fit(X, y), X))
    with pytest.raises(ValueError, match="feature names"):
        named.predict(frame[["b", "a", "c"]])


def test_fitted_models_can_be_stored_and_leave_arrays_alone(model, data):
    X, y = (part.copy() for part in data)
    for kernel in ("linear", "gaussian"):
        model.set_params(kernel=kernel, standardise=False).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict(X).tolist() == model.predict(X).tolist()
    assert clone(model).get_params() == model.get_params()
    np.testing.assert_array_equal(X, data[0])
    np.testing.assert_array_equal(y, data[1])


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
        ({"kernel": None}, "choose 'gaussian', 'linear' or 'precomputed'"),
        ({"kernel": "linear", "width": 1.0}, r"width=1\.0, but kernel='linear' has no width"),
        ({"kernel": "precomputed", "width": 2}, "kernel='precomputed' has no width"),
        ({"standardise": 1}, "standardise=1 must be True or False"),
        ({"fit_intercept": "yes"}, "fit_intercept='yes' must be True or False"),
        ({"tol": 0}, "tol=0 must be a finite number > 0"),
        ({"max_iter": 0}, "max_iter=0 must be a whole number >= 1"),
        ({"max_iter": 2.5}, r"max_iter=2\.5 must be a whole number >= 1"),
        ({"max_iter": True}, "max_iter=True must be a whole number >= 1"),
    ],
)
def test_parameters_that_are_refused(parameters, words):
    """Before the data is looked at."""
    for kind in GIVEN:
        if set(parameters) <= set(kind.get_params()):
            with pytest.raises(InvalidInputError, match=words):
                clone(kind).set_params(**parameters).fit("no table", None)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"alphas": []}, r"alphas=\[\] must be a list of one or more finite numbers > 0"),
        ({"alphas": [1.0, -1.0]}, r"alphas=\[1.0, -1.0\] must be a list"),
        ({"alphas": 0.1}, r"alphas=0\.1 must be a list"),
        ({"alphas": "auto"}, r"alphas='auto' must be a list"),
        ({"widths": [0.0]}, r"widths=\[0\.0\] must be a list"),
        ({"width_factors": ["median"]}, r"width_factors=\['median'\] must be a list"),
        ({"widths": [1.0], "width_factors": [1.0]}, "both set the widths: give one of them"),
        ({"kernel": "linear", "widths": [1.0]}, r"widths=\[1\.0\], but kernel='linear' has no"),
        ({"kernel": "precomputed", "width_factors": [1]}, r"width_factors=\[1\], but kernel="),
        ({"cv": 1}, "cv=1 must be a whole number >= 2"),
        ({"cv": True}, "cv=True must be a whole number >= 2"),
        ({"cv": "three"}, "cv='three' must be a whole number >= 2, a splitter, or a list"),
        ({"cv": None}, "cv=None must be a whole number >= 2, a splitter, or a list"),
        ({"cv": KFold(3), "random_state": 0}, r"random_state=0 shuffles .* leave it out"),
        ({"random_state": "x"}, "random_state='x' is no source of randomness"),
        ({"random_state": -1}, "random_state=-1 is no source of randomness"),
        ({"scoring": "f1"}, "choose 'accuracy' or 'log_likelihood'"),
    ],
)
def test_parameters_of_searches_that_are_refused(parameters, words):
    for kind in SEARCHED:
        if set(parameters) <= set(kind.get_params()):
            with pytest.raises(InvalidInputError, match=words):
                clone(kind).set_params(**parameters).fit("no table", None)


def test_matrices_that_are_no_kernel_are_refused(model, data):
    X, y = data
    model.set_params(kernel="precomputed")
    with pytest.raises(InvalidInputError, match="pass the square matrix"):
        model.fit(X, y)
    with pytest.raises(InvalidInputError, match="not symmetric"):
        model.fit(np.triu(np.ones((len(y), len(y)))), y)
    with pytest.raises(InvalidInputError, match="positive semi-definite"):
        model.fit(1 - 3 * np.eye(len(y)), y)


def test_one_class_is_refused():
    X, codes = make_classes()
    for model in (KernelLogisticRegression(), KernelLogisticRegressionCV()):
        with pytest.raises(InvalidInputError, match="y has one class, 7, but"):
            model.fit(X, np.full_like(codes, 7))


def test_public_names_are_documented():
    for name in hsiclasso.evaluation.__all__:
        text = getattr(hsiclasso.evaluation, name).__doc__
        assert len(text) > 40
        assert "%(" not in text
