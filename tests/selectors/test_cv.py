"""Choosing the number of features by cross-validation, without a look at what is left out."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from hsiclasso import HSICLasso, HSICLassoCV, InvalidInputError, NOCCOLasso, make_data1
from hsiclasso.selectors.cv import SizeScores


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([HSICLassoCV(sizes=[1, 2], cv=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return make_data1(90, 12, random_state=0)[:2]


@pytest.fixture(scope="module")
def classes(data):
    return data[0], np.where(np.abs(data[0][:, 2]) > 0.7, "far", "near")


def refitted(selector, model, X, y, sizes, cv):
    """Scores by a fit of the selector for every size and fold."""
    scores = []
    for size in sizes:
        pipeline = make_pipeline(clone(selector).set_params(n_features_to_select=size), model)
        scores.append(cross_val_score(pipeline, X, y, cv=cv))
    return np.array(scores)


class TestScores:
    @pytest.mark.parametrize(
        "selector",
        [
            HSICLasso(), NOCCOLasso(), HSICLasso(measure="nhsic"), HSICLasso(keep=[3]),
            HSICLasso(ridge=0.01), HSICLasso(solver="cd"), HSICLasso(positive=False),
        ],
        ids=str,
    )  # fmt: skip
    def test_one_path_for_all_sizes_scores_as_refits_do(self, selector, data):
        sizes, cv = [1, 2, 5], KFold(3, shuffle=True, random_state=0)
        search = HSICLassoCV(selector, sizes=sizes, cv=cv).fit(*data)
        model = make_pipeline(StandardScaler(), SVR())
        np.testing.assert_allclose(
            search.scores_.scores, refitted(selector, model, *data, sizes, cv), rtol=1e-9
        )

    def test_of_classes(self, classes):
        sizes, cv = (1, 3), StratifiedKFold(3)
        search = HSICLassoCV(sizes=sizes, cv=3).fit(*classes)
        model = make_pipeline(StandardScaler(), SVC())
        np.testing.assert_array_equal(
            search.scores_.scores, refitted(HSICLasso(), model, *classes, sizes, cv)
        )
        assert search.n_features_ == 1
        assert set(search.predict(classes[0])) <= {"far", "near"}
        assert search.score(*classes) > 0.9

    def test_of_any_estimator(self, data):
        sizes, cv = [1, 4], KFold(3)
        model = KNeighborsRegressor(3)
        search = HSICLassoCV(HSICLasso(), model, sizes=sizes, cv=cv).fit(*data)
        expected = refitted(HSICLasso(), model, *data, sizes, cv)
        np.testing.assert_allclose(search.scores_.scores, expected)
        assert isinstance(search.estimator_, KNeighborsRegressor)
        assert not hasattr(model, "n_features_in_")

    def test_an_estimator_tells_whether_folds_are_stratified(self, classes):
        X, y = classes
        y = (y == "far").astype(int)
        search = HSICLassoCV(estimator=LogisticRegression(), sizes=[2], cv=3).fit(X, y)
        expected = refitted(HSICLasso(), LogisticRegression(), X, y, [2], StratifiedKFold(3))
        np.testing.assert_array_equal(search.scores_.scores, expected)

    @pytest.mark.parametrize("scoring", ["neg_mean_absolute_error", "r2"])
    def test_scoring_by_name(self, scoring, data):
        search = HSICLassoCV(sizes=[1, 3], cv=3, scoring=scoring).fit(*data)
        assert (search.scores_.scores < 0).all() == scoring.startswith("neg")
        assert (search.score(*data) < 0) == scoring.startswith("neg")

    def test_scoring_by_a_function(self, data):
        def few(model, X, y):
            return -X.shape[1]

        search = HSICLassoCV(sizes=[1, 3], cv=3, scoring=few).fit(*data)
        assert search.scores_.mean.tolist() == [-1, -3]
        assert search.n_features_ == 1
        assert search.score(*data) == -1

    def test_groups_of_samples_stay_together(self, data):
        X, y = data
        groups, seen = np.arange(90) // 15, []

        class Watched(LinearRegression):
            def score(self, X, y):
                seen.append(set(np.searchsorted(order, X[:, 0]) // 15))
                return super().score(X, y)

        X = X.copy()
        X[:, 0] = order = np.sort(X[:, 0])
        selector = HSICLasso(keep=[0])
        options = {"sizes": [1], "cv": GroupKFold(3)}
        HSICLassoCV(selector, Watched(), **options).fit(X, y, groups=groups)
        assert sorted(len(group) for group in seen) == [2, 2, 2]
        assert set.union(*seen) == set(range(6))

    def test_folds_given_as_a_list(self, data):
        folds = [(np.arange(60), np.arange(60, 90)), (np.arange(30, 90), np.arange(30))]
        search = HSICLassoCV(sizes=[1, 2], cv=folds).fit(*data)
        assert search.scores_.scores.shape == (2, 2)

    def test_more_workers_give_the_same(self, data):
        one = HSICLassoCV(sizes=[1, 3], cv=3).fit(*data)
        with joblib.parallel_config(backend="threading"):
            two = HSICLassoCV(sizes=[1, 3], cv=3, n_jobs=2).fit(*data)
        np.testing.assert_array_equal(one.scores_.scores, two.scores_.scores)
        assert one.selected_.tolist() == two.selected_.tolist()


class TestNoLeak:
    def test_a_target_of_noise_cannot_be_predicted(self, rng):
        X, y = rng.standard_normal((60, 300)), np.repeat([0, 1], 30)
        cv = StratifiedKFold(5, shuffle=True, random_state=0)
        search = HSICLassoCV(sizes=[5, 10], cv=cv).fit(X, y)
        assert search.scores_.mean.max() < 0.65
        # had the features been selected before the split, noise would look like knowledge
        leaked = HSICLasso(10).fit_transform(X, y)
        assert cross_val_score(SVC(), leaked, y, cv=cv).mean() > 0.75

    @pytest.mark.parametrize("solver", ["homotopy", "cd"])
    def test_every_fit_sees_the_training_rows_alone(self, solver, data):
        watched = []

        class Watched(HSICLasso):
            def fit(self, X, y=None):
                watched.append((X[:, -1].astype(int).tolist(), list(y)))
                return super().fit(X, y)

        rows = np.arange(90)
        X, y = np.column_stack([data[0], rows]), data[1]
        cv = KFold(3, shuffle=True, random_state=0)
        HSICLassoCV(Watched(solver=solver), sizes=[1, 2], cv=cv).fit(X, y)
        folds = [train.tolist() for train, _ in cv.split(X)]
        n_fits = 1 if solver == "homotopy" else 3
        expected = [fold for fold in folds for _ in range(n_fits)] + [rows.tolist()]
        assert [seen for seen, _ in watched] == expected
        assert all(target == y[seen].tolist() for seen, target in watched)


class TestChoice:
    def test_the_best_mean_and_the_smallest_of_equals(self):
        scores = SizeScores((1, 2, 4), np.array([[0.1, 0.3], [0.6, 0.6], [0.5, 0.7]]))
        assert scores.best("best") == 2
        assert SizeScores((1, 2), np.zeros((2, 3))).best("best") == 1

    def test_mean_and_standard_error(self, rng):
        values = rng.standard_normal((3, 5))
        scores = SizeScores((1, 2, 4), values)
        np.testing.assert_allclose(scores.mean, [np.mean(row) for row in values])
        deviations = np.array([np.sqrt(np.sum((row - row.mean()) ** 2) / 4) for row in values])
        np.testing.assert_allclose(scores.standard_error, deviations / np.sqrt(5))

    def test_a_single_fold_has_no_standard_error(self):
        scores = SizeScores((1, 2), np.array([[0.1], [0.2]]))
        assert scores.standard_error.tolist() == [0, 0]
        assert scores.best("one_se") == 2

    def test_within_one_standard_error_of_the_best(self):
        values = np.array([[0.1, 0.1], [0.55, 0.55], [0.5, 0.7]])
        scores = SizeScores((1, 2, 4), values)
        assert scores.best("best") == 4
        assert scores.best("one_se") == 2

    def test_it_is_never_more_than_the_best(self, rng):
        for _ in range(100):
            scores = SizeScores((1, 2, 3, 5), rng.standard_normal((4, 3)))
            assert scores.best("one_se") <= scores.best("best")

    def test_rows(self, rng):
        scores = SizeScores((1, 4), rng.standard_normal((2, 3)))
        rows = scores.to_rows()
        assert [row["n_features"] for row in rows] == [1, 4]
        table = pd.DataFrame(rows)
        np.testing.assert_array_equal(table["mean_score"], scores.mean)
        np.testing.assert_array_equal(table["standard_error"], scores.standard_error)

    def test_the_rule_reaches_the_search(self, data):
        def a_little_better(model, X, y):
            return 1e-3 * X.shape[1] + y.mean()

        options = {"sizes": [1, 2, 4], "cv": 3, "scoring": a_little_better}
        assert HSICLassoCV(rule="best", **options).fit(*data).n_features_ == 4
        assert HSICLassoCV(rule="one_se", **options).fit(*data).n_features_ == 1

    def test_sizes_are_sorted_and_used_once(self, data):
        search = HSICLassoCV(sizes=np.array([4, 1, 4]), cv=2).fit(*data)
        assert search.scores_.sizes == (1, 4)

    def test_default_sizes_go_as_far_as_there_are_features(self, data):
        X, y = data
        assert HSICLassoCV(cv=2).fit(X[:, :4], y).scores_.sizes == (1, 2, 3)
        assert HSICLassoCV(cv=2).fit(X, y).scores_.sizes == (1, 2, 3, 5, 8, 12)

    def test_a_score_that_is_not_a_number_is_no_good_score(self):
        scores = SizeScores((1, 2), np.array([[np.nan, np.nan], [0.5, 0.6]]))
        assert scores.best("best") == 2


class TestFitted:
    def test_the_selector_is_fitted_to_all_samples(self, data):
        search = HSICLassoCV(sizes=[1, 2, 4], cv=3).fit(*data)
        alone = HSICLasso(search.n_features_).fit(*data)
        assert search.selected_.tolist() == alone.selected_.tolist()
        np.testing.assert_array_equal(search.selector_.coef_, alone.coef_)
        assert search.get_support(indices=True).tolist() == sorted(alone.selected_)
        np.testing.assert_array_equal(search.transform(data[0]), alone.transform(data[0]))

    def test_predictions_are_those_of_the_estimator_on_the_selected(self, data):
        X, y = data
        search = HSICLassoCV(sizes=[2, 4], cv=3).fit(X, y)
        model = make_pipeline(StandardScaler(), SVR()).fit(search.transform(X), y)
        np.testing.assert_allclose(search.predict(X), model.predict(search.transform(X)))
        assert search.score(X, y) == pytest.approx(model.score(search.transform(X), y))

    def test_other_selectors(self, data):
        search = HSICLassoCV(NOCCOLasso(epsilon=0.01), sizes=[1, 2], cv=2).fit(*data)
        assert isinstance(search.selector_, NOCCOLasso)
        assert search.selector_.epsilon == 0.01

    def test_groups_of_features(self, data):
        selector = HSICLasso(groups=np.arange(12) // 2, l1_ratio=0.5)
        search = HSICLassoCV(selector, sizes=[1, 3], cv=2).fit(*data)
        assert search.selected_.size == search.n_features_
        assert search.selector_.result_.groups

    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
    def test_frames(self, make, data):
        X, y = data
        names = [f"gene{j}" for j in range(12)]
        frame = make(dict(zip(names, X.T, strict=True)))
        options = {"sizes": [1, 3], "cv": 3}
        search = HSICLassoCV(**options).fit(frame, y)
        plain = HSICLassoCV(**options).fit(X, y)
        np.testing.assert_allclose(search.scores_.scores, plain.scores_.scores, rtol=1e-9)
        np.testing.assert_allclose(search.predict(frame), plain.predict(X))
        assert search.feature_names_in_.tolist() == names
        expected = [names[j] for j in sorted(plain.selected_)]
        assert search.get_feature_names_out().tolist() == expected

    def test_targets_of_other_kinds(self, data):
        X, y = data
        plain = HSICLassoCV(sizes=[1, 2], cv=2).fit(X, y)
        for other in (y.tolist(), pd.Series(y, index=np.arange(90)[::-1])):
            search = HSICLassoCV(sizes=[1, 2], cv=2).fit(X.tolist(), other)
            np.testing.assert_array_equal(search.scores_.scores, plain.scores_.scores)

    @pytest.mark.parametrize("convert", [sparse.csr_matrix, sparse.csc_array])
    @pytest.mark.parametrize(
        "model",
        [
            None,
            make_pipeline(StandardScaler(), SVR()),
        ],
        ids=["default", "centred"],
    )
    def test_sparse_tables(self, convert, model, rng):
        X = rng.poisson(0.5, (60, 8)).astype(float)
        y = X[:, 3] + X[:, 5] + 0.1 * rng.standard_normal(60)
        search = HSICLassoCV(estimator=model, sizes=[1, 2], cv=3).fit(convert(X), y)
        plain = HSICLassoCV(estimator=model, sizes=[1, 2], cv=3).fit(X, y)
        assert set(search.selected_) == {3, 5}
        np.testing.assert_allclose(search.scores_.scores, plain.scores_.scores)
        np.testing.assert_allclose(search.predict(convert(X)), plain.predict(X))

    def test_clone_and_pickle(self, data):
        search = HSICLassoCV(HSICLasso(tol=1e-5), sizes=[1, 2], cv=2).fit(*data)
        again = pickle.loads(pickle.dumps(search))
        np.testing.assert_array_equal(again.predict(data[0]), search.predict(data[0]))
        assert clone(search).get_params()["selector__tol"] == 1e-5

    def test_tags(self):
        tags = get_tags(HSICLassoCV())
        assert tags.target_tags.required
        assert tags.input_tags.sparse

    def test_before_the_fit(self, data):
        search = HSICLassoCV()
        for call in (search.predict, search.transform, lambda X: search.score(X, data[1])):
            with pytest.raises(NotFittedError):
                call(data[0])

    def test_an_estimator_that_does_not_predict(self):
        assert hasattr(HSICLassoCV(), "predict")
        assert hasattr(HSICLassoCV(estimator=DummyRegressor()), "score")
        assert not hasattr(HSICLassoCV(estimator=StandardScaler()), "predict")
        assert not hasattr(HSICLassoCV(estimator=StandardScaler()), "score")


class TestErrors:
    @pytest.mark.parametrize("sizes", [[], [0, 1], [1, 13], [1.5], ["a"], np.array([0.5])], ids=str)
    def test_sizes(self, sizes, data):
        with pytest.raises(InvalidInputError, match="between 1 and n_features=12"):
            HSICLassoCV(sizes=sizes).fit(*data)

    def test_rule(self, data):
        with pytest.raises(InvalidInputError, match="rule='all' is unknown: choose 'best' or"):
            HSICLassoCV(rule="all").fit(*data)

    def test_target(self, data):
        with pytest.raises(InvalidInputError, match="y has 9 values and X has 90 samples"):
            HSICLassoCV().fit(data[0], data[1][:9])

    @pytest.mark.parametrize("sizes", [3, ["a", 1]], ids=str)
    def test_sizes_that_cannot_be_sorted(self, sizes, data):
        with pytest.raises(InvalidInputError, match="sizes="):
            HSICLassoCV(sizes=sizes).fit(*data)


class TestOddTables:
    """Uses that ought to work, and do not yet."""

    def test_a_single_sample(self, data):
        X, y = data
        search = HSICLassoCV(sizes=[1, 2], cv=2).fit(X, y)
        np.testing.assert_allclose(search.predict(X[:1]), search.predict(X)[:1])

    def test_leaving_one_out(self, data):
        X, y = data[0][:12], data[1][:12]
        options = {"cv": LeaveOneOut(), "scoring": "neg_mean_absolute_error"}
        assert HSICLassoCV(sizes=[1], **options).fit(X, y).scores_.scores.shape == (1, 12)

    def test_a_table_of_another_width(self, data):
        X, y = data
        search = HSICLassoCV(sizes=[1], cv=2).fit(X, y)
        with pytest.raises(ValueError, match="features"):
            search.predict(np.column_stack([X, X]))

    def test_columns_in_another_order(self, data):
        frame = pd.DataFrame(data[0], columns=[f"gene{j}" for j in range(12)])
        search = HSICLassoCV(sizes=[1], cv=2).fit(frame, data[1])
        with pytest.raises(ValueError, match="feature names should match"):
            search.predict(frame.iloc[:, ::-1])

    def test_sparse_coordinates(self, data):
        HSICLassoCV(sizes=[1], cv=2).fit(sparse.coo_matrix(data[0]), data[1])

    def test_sizes_leave_room_for_what_is_kept(self, data):
        def few(model, X, y):
            return -X.shape[1]

        search = HSICLassoCV(HSICLasso(keep=[0, 1]), sizes=[2, 3], cv=2, scoring=few)
        assert search.fit(*data).n_features_ == 2
        with pytest.raises(InvalidInputError, match="between 2 and n_features=12"):
            search.set_params(sizes=[1, 2, 3]).fit(*data)

    def test_default_sizes_without_what_is_excluded(self, data):
        search = HSICLassoCV(HSICLasso(exclude=range(6)), cv=2).fit(*data)
        assert search.scores_.sizes == (1, 2, 3, 5)

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_every_fold_has_the_task_of_the_whole(self, data):
        tasks = []

        class Watched(HSICLasso):
            def fit(self, X, y=None):
                super().fit(X, y)
                tasks.append(self.result_.task)
                return self

        y = np.repeat(np.arange(10), 3)  # three of each, but two of each in a fold
        HSICLassoCV(Watched(), sizes=[1], cv=3).fit(data[0][:30], y)
        assert set(tasks) == {"classification"}

    @pytest.mark.filterwarnings("ignore::hsiclasso.FewerFeaturesWarning")
    def test_sizes_beyond_the_end_of_the_path(self, rng):
        x = rng.standard_normal(60)
        X = np.column_stack([x, 2 * x, -x])
        search = HSICLassoCV(sizes=[1, 2, 3], cv=2, scoring=lambda model, X, y: X.shape[1])
        assert search.fit(X, x).scores_.mean.tolist() == [1, 2, 3]

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_a_fold_in_which_no_feature_varies(self, rng):
        X = np.zeros((30, 2))
        X[:10] = rng.standard_normal((10, 2))
        with pytest.raises(InvalidInputError, match="training part of a fold"):
            HSICLassoCV(sizes=[1], cv=KFold(3)).fit(X, rng.standard_normal(30))


class Size(RegressorMixin, BaseEstimator):
    """An estimator of any target whose score is the number of features it has seen."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.zeros(X.shape[0])

    def score(self, X, y):
        return -self.n_features_in_


def grades(X):
    return pd.Series(
        np.array(["low", "mid", "high"])[np.digitize(X[:, 2], [-0.5, 0.6])],
        dtype=pd.CategoricalDtype(["low", "mid", "high"], ordered=True),
    )


def times(X):
    """Times and events: times depend on the first column, events on none."""
    return np.exp(X[:, 0]), np.arange(len(X)) % 3 > 0


def rows_of(y, rows):
    if isinstance(y, tuple):
        return tuple(part[rows] for part in y)
    if isinstance(y, list):
        return [y[i] for i in rows]
    return y.iloc[rows] if hasattr(y, "iloc") else y[rows]


TARGETS = {
    "outputs": ({}, lambda X: X[:, :2] ** 2),
    "frame of outputs": ({}, lambda X: pd.DataFrame(X[:, :2] ** 2)),
    "labels": ({}, lambda X: (X[:, :3] > 0).astype(int)),
    "classes": ({}, lambda X: grades(X).astype(str)),
    "several classes": ({}, lambda X: np.c_[grades(X).astype(str), X[:, 1] > 0]),
    "counts": ({"task": "counts"}, lambda X: np.round(np.exp(X[:, 0]))),
    "ordinal": ({"task": "ordinal"}, lambda X: grades(X).cat.codes),
    "structured": (
        {},
        lambda X: np.array(
            list(zip(*times(X), strict=True)), dtype=[("time", float), ("event", bool)]
        ),
    ),
    "structured, event first": (
        {},
        lambda X: np.array(
            list(zip(*times(X)[::-1], strict=True)), dtype=[("event", bool), ("time", float)]
        ),
    ),
    "two columns": ({"task": "survival"}, lambda X: np.c_[times(X)]),
    "strings": (
        {"y_kernel": lambda a, b: float(a[0] == b[0]) + float(a == b)},
        lambda X: list(grades(X).astype(str)),
    ),
    "ordered category": ({}, grades),
    "frame, event first": (
        {"task": "survival"}, lambda X: pd.DataFrame({"event": times(X)[1], "time": times(X)[0]}),
    ),
    "frame of numbers, event first": (
        {"task": "survival"},
        lambda X: pd.DataFrame({"event": 1.0 * times(X)[1], "time": 1.0 * (times(X)[0] > 1)}),
    ),
    "tuple": ({"task": "survival"}, times),
    "sparse labels": ({}, lambda X: sparse.csr_array((X[:, :3] > 0).astype(int))),
}  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
def test_targets_of_every_form(target, data):
    """Each fold selects as a selector does that is given the rows of its training part."""
    options, make = TARGETS[target]
    X = data[0]
    y = make(X)
    found = []

    class Watched(HSICLasso):
        def fit(self, X, y=None, **params):
            super().fit(X, y, **params)
            found.append((self.result_.task, self.coef_))
            return self

    search = HSICLassoCV(Watched(**options), Size(), sizes=[2], cv=KFold(3)).fit(X, y)
    whole = HSICLasso(2, **options).fit(X, y)
    assert search.selected_.tolist() == whole.selected_.tolist()
    for (task, coef), (train, _) in zip(found, KFold(3).split(X), strict=False):
        part = rows_of(y, train)
        expected = HSICLasso(2, **options).set_params(task=whole.result_.task)
        if whole.result_.task == "structured":
            expected.set_params(task="auto")
        np.testing.assert_allclose(coef, expected.fit(X[train], part).coef_, rtol=1e-9)
        assert task == whole.result_.task


REFUSED = {
    "matrix": (
        HSICLasso(y_kernel="precomputed"), lambda X: X @ X.T, "takes a matrix between all samples",
    ),
    "graph": (HSICLasso(y_kernel="diffusion"), lambda X: np.ones((90, 90)), "which has no folds"),
    "drop": (HSICLasso(missing_target="drop"), lambda X: X[:, 0], "cannot be scored: drop them"),
    "outputs": (HSICLasso(), lambda X: X[:, :2], r"regression with 2 dimension\(s\): pass an"),
    "labels": (HSICLasso(), lambda X: X[:, :2] > 0, "the target is multilabel"),
    "survival": (HSICLasso(task="survival"), lambda X: np.c_[times(X)], "the target is survival"),
    "strings": (
        HSICLasso(y_kernel=lambda a, b: float(a == b)), lambda X: X[:, 0], "target is structured",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_targets_without_folds_or_without_an_estimator(kind, data):
    selector, make, message = REFUSED[kind]
    with pytest.raises(InvalidInputError, match=message):
        HSICLassoCV(selector, cv=3).fit(data[0], make(data[0]))


class TestLabels:
    """Tables with text: each part of a table would number its labels anew."""

    def frame(self, data, library=pd.DataFrame):
        X, _ = data
        return library({"x": X[:, 0], "y": X[:, 1], "grade": grades(X).astype(str).to_numpy()})

    def model(self):
        encode = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
            remainder="passthrough",
        )
        return make_pipeline(encode, LinearRegression())

    def test_the_default_estimator_is_for_numbers(self, data):
        with pytest.raises(InvalidInputError, match=r"column 'grade' holds labels: pass an est"):
            HSICLassoCV(cv=3).fit(self.frame(data), data[1])

    def test_predictions_do_not_depend_on_the_other_rows(self, data):
        frame = self.frame(data)
        y = np.where(frame["grade"] == "mid", 5.0, frame["x"])
        search = HSICLassoCV(estimator=self.model(), sizes=[1, 2], cv=3).fit(frame, y)
        assert 2 in search.selected_
        whole = search.predict(frame)
        parts = [search.predict(frame.iloc[i : i + 1])[0] for i in range(12)]
        np.testing.assert_allclose(parts, whole[:12])
        assert search.scores_.mean.max() > 0.8

    def test_category_columns(self, data):
        frame = self.frame(data).astype({"grade": "category"})
        y = np.where(frame["grade"] == "mid", 5.0, frame["x"])
        search = HSICLassoCV(estimator=self.model(), sizes=[2], cv=3).fit(frame, y)
        assert search.score(frame, y) > 0.8


def test_joint_features_count_once(data):
    X, y = data
    selector = HSICLasso(joint={"a": [0, 1], "b": [2, 3, 4]})
    search = HSICLassoCV(selector, sizes=[1, 2, 5], cv=3).fit(X, y)
    assert search.transform(X).shape[1] == search.selected_.size
    with pytest.raises(InvalidInputError, match="between 1 and n_features=9"):
        HSICLassoCV(selector, sizes=[10], cv=3).fit(X, y)


def test_tags_of_a_selector_that_ignores_missing_values():
    assert get_tags(HSICLassoCV(HSICLasso(missing="ignore"))).input_tags.allow_nan
