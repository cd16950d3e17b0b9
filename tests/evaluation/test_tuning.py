"""The search over widths and penalties against explicit loops."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold

from hsiclasso.errors import InvalidInputError
from hsiclasso.evaluation import (
    GridScores,
    KernelLogisticRegression,
    KernelLogisticRegressionCV,
    KernelRidgeRegression,
    KernelRidgeRegressionCV,
)
from tests.evaluation import oracle_evaluation as oracle

ALPHAS = (1e-4, 1e-2, 1.0)


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=70)
    X = np.eye(3)[codes] * 1.5 + rng.standard_normal((70, 3))
    return X * [1, 10, 100], np.array(["a", "b", "c"])[codes]


@pytest.fixture(scope="module")
def real():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 2)) * [1, 20]
    return X, np.sin(2 * X[:, 0]) + X[:, 1] / 20 + 0.2 * rng.standard_normal(60)


def widths_of(X, standardise, factors=(0.25, 0.5, 1.0, 2.0, 4.0)):
    A = oracle.standardised(X, X)[0] if standardise else X
    return oracle.median_distance(A) * np.array(factors)


@pytest.mark.parametrize(("standardise", "fit_intercept"), [(True, True), (False, False)])
def test_scores_of_classes_are_those_of_a_loop(classes, standardise, fit_intercept):
    X, y = classes
    options = {"standardise": standardise, "fit_intercept": fit_intercept, "tol": 1e-7}
    search = KernelLogisticRegressionCV(alphas=ALPHAS, random_state=3, **options).fit(X, y)
    widths = widths_of(X, standardise)
    np.testing.assert_allclose(search.scores_.widths, widths)
    assert search.scores_.alphas == ALPHAS
    assert search.scores_.scores.shape == (5, 3, 3)
    folds = StratifiedKFold(3, shuffle=True, random_state=3).split(X, y)
    for fold, (train, test) in enumerate(folds):
        for i, width in enumerate(widths):
            for j, alpha in enumerate(ALPHAS):
                model = KernelLogisticRegression(width=width, alpha=alpha, **options)
                model.fit(X[train], y[train])
                accuracy = model.score(X[test], y[test])
                assert search.scores_.scores[i, j, fold] == pytest.approx(accuracy)
                loss = log_loss(y[test], model.predict_proba(X[test]))
                assert search.scores_.ties[i, j, fold] == pytest.approx(-loss, rel=1e-4)


def test_scores_of_a_real_target_are_those_of_a_loop(real):
    X, y = real
    search = KernelRidgeRegressionCV(alphas=ALPHAS, cv=4, random_state=3).fit(X, y)
    widths = widths_of(X, True)
    for fold, (train, test) in enumerate(KFold(4, shuffle=True, random_state=3).split(X)):
        for i, width in enumerate(widths):
            for j, alpha in enumerate(ALPHAS):
                model = KernelRidgeRegression(width=width, alpha=alpha).fit(X[train], y[train])
                error = mean_squared_error(y[test], model.predict(X[test]))
                assert search.scores_.scores[i, j, fold] == pytest.approx(-error)
    i, j = np.unravel_index(search.scores_.mean.argmax(), (5, 3))
    assert (search.best_width_, search.best_alpha_) == (search.scores_.widths[i], ALPHAS[j])
    assert search.best_score_ == search.scores_.mean.max()


@pytest.mark.parametrize("scoring", ["accuracy", "log_likelihood"])
def test_agrees_with_scikit_learn_s_search(classes, scoring):
    X, y = classes
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    widths = widths_of(X, True)
    peer = GridSearchCV(
        KernelLogisticRegression(tol=1e-7),
        {"width": widths.tolist(), "alpha": list(ALPHAS)},
        cv=folds,
        scoring={"accuracy": "accuracy", "log_likelihood": "neg_log_loss"}[scoring],
    ).fit(X, y)
    search = KernelLogisticRegressionCV(
        alphas=ALPHAS, widths=widths, random_state=0, scoring=scoring, tol=1e-7
    ).fit(X, y)
    assert search.best_score_ == pytest.approx(peer.best_score_, rel=1e-5)
    if scoring == "log_likelihood":  # no ties
        assert search.best_width_ == pytest.approx(peer.best_params_["width"])
        assert search.best_alpha_ == pytest.approx(peer.best_params_["alpha"])


def test_the_chosen_model_is_fitted_to_all_samples(classes, real):
    for search, plain, (X, y) in (
        (KernelLogisticRegressionCV(random_state=0), KernelLogisticRegression(), classes),
        (KernelRidgeRegressionCV(random_state=0), KernelRidgeRegression(), real),
    ):
        search.fit(X, y)
        alone = plain.set_params(width=search.best_width_, alpha=search.best_alpha_).fit(X, y)
        assert search.width_ == search.best_width_
        np.testing.assert_allclose(search.dual_coef_, alone.dual_coef_)
        np.testing.assert_allclose(search.intercept_, alone.intercept_)
        assert search.predict(X).tolist() == alone.predict(X).tolist()
        assert search.score(X, y) == alone.score(X, y)


def test_what_is_to_be_largest_matters(classes):
    X, y = classes
    chosen = []
    for scoring in ("accuracy", "log_likelihood"):
        search = KernelLogisticRegressionCV(scoring=scoring, random_state=1).fit(X, y)
        assert search.best_score_ == search.scores_.mean.max()
        chosen.append((search.best_width_, search.best_alpha_))
    assert chosen[0] != chosen[1]


def scores(values, ties=None):
    values = np.array(values, dtype=float)[:, :, None]
    ties = np.zeros_like(values) if ties is None else np.array(ties, dtype=float)[:, :, None]
    widths, alphas = values.shape[:2]
    return GridScores(tuple(range(1, widths + 1)), tuple(range(1, alphas + 1)), values, ties)


def test_between_equals():
    assert scores([[1, 2], [3, 0]]).best == (1, 0)
    # the second score decides, then the larger penalty, then the larger width
    assert scores([[3, 3], [3, 0]], [[0, 1], [2, 9]]).best == (1, 0)
    assert scores([[3, 3], [3, 0]]).best == (0, 1)
    assert scores([[3, 3], [3, 3]]).best == (1, 1)
    # means of the same numbers in another order
    folds = np.array([[[0.1, 0.2, 0.3]], [[0.3, 0.2, 0.1]]])
    assert folds[0].mean() > folds[1].mean()
    ties = np.array([[[0.0] * 3], [[1.0] * 3]])
    assert GridScores((1.0, 2.0), (1.0,), folds, ties).best == (1, 0)


def test_scores_as_records():
    table = scores([[1, 2], [4, 3]])
    assert table.chosen == (2, 1, 4.0)
    assert table.to_rows() == [
        {"width": 1, "alpha": 1, "mean_score": 1.0},
        {"width": 1, "alpha": 2, "mean_score": 2.0},
        {"width": 2, "alpha": 1, "mean_score": 4.0},
        {"width": 2, "alpha": 2, "mean_score": 3.0},
    ]


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_kernels_without_width(classes, real, kernel):
    for search, plain, (X, y), splitter in (
        (KernelLogisticRegressionCV(), KernelLogisticRegression(), classes, StratifiedKFold),
        (KernelRidgeRegressionCV(), KernelRidgeRegression(), real, KFold),
    ):
        table = X @ X.T / np.square(X).mean() if kernel == "precomputed" else X
        search.set_params(kernel=kernel, random_state=2, alphas=ALPHAS).fit(table, y)
        assert search.best_width_ is None
        assert search.scores_.widths == (None,)
        scoring = None if splitter is StratifiedKFold else "neg_mean_squared_error"
        peer = GridSearchCV(
            plain.set_params(kernel=kernel), {"alpha": list(ALPHAS)}, scoring=scoring,
            cv=splitter(3, shuffle=True, random_state=2),
        ).fit(table, y)  # fmt: skip
        np.testing.assert_allclose(search.scores_.mean[0], peer.cv_results_["mean_test_score"])
        assert search.predict(table).shape == y.shape


def test_widths_in_medians_or_as_numbers(real):
    X, y = real
    median = widths_of(X, True, [1.0])[0]
    plain = KernelRidgeRegressionCV(random_state=0, alphas=ALPHAS)
    factors = clone(plain).set_params(width_factors=[2, 0.5]).fit(X, y)
    numbers = clone(plain).set_params(widths=[2 * median, 0.5 * median]).fit(X, y)
    np.testing.assert_allclose(factors.scores_.widths, [0.5 * median, 2 * median])
    np.testing.assert_allclose(factors.scores_.widths, numbers.scores_.widths)
    np.testing.assert_allclose(factors.scores_.scores, numbers.scores_.scores)


def test_samples_are_shuffled_by_the_random_state(classes):
    X, y = classes
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]

    def table(random_state):
        search = KernelLogisticRegressionCV(random_state=random_state, alphas=ALPHAS)
        return search.fit(X, y).scores_.scores.tolist()

    assert table(0) == table(0) == table(np.random.RandomState(0))
    assert table(0) != table(1)
    assert table(np.random.default_rng(5)) == table(np.random.default_rng(5))
    assert table(np.random.default_rng(5)) != table(np.random.default_rng(6))
    # a generator moves on
    generator = np.random.default_rng(5)
    assert table(generator) != table(generator)


def test_folds_may_be_given(classes, real):
    X, y = classes
    given = list(StratifiedKFold(4).split(X, y))
    first = KernelLogisticRegressionCV(cv=given, alphas=ALPHAS).fit(X, y)
    second = KernelLogisticRegressionCV(cv=StratifiedKFold(4), alphas=ALPHAS).fit(X, y)
    assert first.scores_.scores.shape[2] == 4
    np.testing.assert_array_equal(first.scores_.scores, second.scores_.scores)
    X, y = real
    groups = np.arange(60) // 10
    folds = GroupKFold(3).split(X, y, groups)  # an iterator
    assert KernelRidgeRegressionCV(cv=folds).fit(X, y).scores_.scores.shape == (5, 8, 3)


def test_a_class_that_a_fold_does_not_know(classes):
    """It is never predicted there, and has the least probability that counts."""
    X, y = classes
    known = np.flatnonzero(y != "c")
    train, test = known[::2], np.append(known[1::2], np.flatnonzero(y == "c")[:5])
    search = KernelLogisticRegressionCV(cv=[(train, test)], alphas=ALPHAS).fit(X, y)
    for i, width in enumerate(search.scores_.widths):
        for j, alpha in enumerate(ALPHAS):
            model = KernelLogisticRegression(width=width, alpha=alpha).fit(X[train], y[train])
            assert search.scores_.scores[i, j, 0] == model.score(X[test], y[test])
            P = np.column_stack([model.predict_proba(X[test]), np.zeros(test.size)])
            chosen = P[np.arange(test.size), np.searchsorted(["a", "b", "c"], y[test])]
            expected = np.log(np.maximum(chosen, np.finfo(float).eps)).mean()
            assert search.scores_.ties[i, j, 0] == pytest.approx(expected, rel=1e-3)
    assert search.predict_proba(X).shape == (70, 3)


def test_a_fold_with_one_class_is_refused(classes):
    X, y = classes
    train, test = np.flatnonzero(y == "b"), np.flatnonzero(y != "b")
    with pytest.raises(InvalidInputError, match=r"training part of a fold has the classes \['b'\]"):
        KernelLogisticRegressionCV(cv=[(train, test)]).fit(X, y)


def test_models_that_do_not_converge_are_counted(classes):
    search = KernelLogisticRegressionCV(alphas=[1e-6], max_iter=1, tol=1e-8, random_state=0)
    with (
        pytest.warns(ConvergenceWarning, match="after 1 Newton steps"),
        pytest.warns(
            ConvergenceWarning, match="15 of 15 models of the search did not converge"
        ) as caught,
    ):
        search.fit(*classes)
    assert {warning.filename for warning in caught} == {__file__}


def test_several_real_targets(real):
    X, y = real
    both = np.column_stack([y, y[::-1]])
    search = KernelRidgeRegressionCV(alphas=ALPHAS, random_state=0).fit(X, both)
    assert search.predict(X).shape == (60, 2)
    single = [
        KernelRidgeRegressionCV(alphas=ALPHAS, random_state=0).fit(X, target).scores_.mean
        for target in both.T
    ]
    np.testing.assert_allclose(search.scores_.mean, np.mean(single, axis=0))


def test_too_few_samples_of_every_class_for_the_folds(classes):
    X, y = classes
    few = np.concatenate([np.flatnonzero(y == label)[:2] for label in "abc"])
    with pytest.raises(ValueError, match="n_splits=3"):
        KernelLogisticRegressionCV().fit(X[few], y[few])
