"""Choosing the number of features by cross-validation, without a look at what is left out."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder
from sklearn.svm import SVC, SVR
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from hsiclasso import (
    Classes,
    ElasticNet,
    GroupLasso,
    HSICLasso,
    HSICLassoCV,
    InvalidInputError,
    Lasso,
    NOCCOLasso,
    Objects,
    Real,
    as_source,
    make_data1,
)
from hsiclasso.selectors.cv import SizeScores
from tests.selectors.tables import take_rows


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        HSICLassoCV(sizes=[1, 2], cv=2),
        HSICLassoCV(
            NOCCOLasso(target=Real()), LinearRegression(), sizes=[1], rule="one_se",
            cv=KFold(2, shuffle=True, random_state=0),
        ),
    ]
)  # fmt: skip
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


def few(model, X, y):
    """A score that prefers few features."""
    return -X.shape[1]


class TestScores:
    @pytest.mark.parametrize(
        "selector",
        [
            HSICLasso(), NOCCOLasso(), HSICLasso(keep=[3]), HSICLasso(solver="cd"),
            HSICLasso(penalty=ElasticNet(0.8)), HSICLasso(penalty=Lasso(positive=False)),
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

    def test_of_any_estimator(self, data, classes):
        model = KNeighborsRegressor(3)
        search = HSICLassoCV(HSICLasso(), model, sizes=[1, 4], cv=KFold(3)).fit(*data)
        expected = refitted(HSICLasso(), model, *data, [1, 4], KFold(3))
        np.testing.assert_allclose(search.scores_.scores, expected)
        assert isinstance(search.estimator_, KNeighborsRegressor)
        assert not hasattr(model, "n_features_in_")
        # the estimator tells whether folds are stratified
        X, y = classes[0], (classes[1] == "far").astype(int)
        search = HSICLassoCV(estimator=LogisticRegression(), sizes=[2], cv=3).fit(X, y)
        expected = refitted(HSICLasso(), LogisticRegression(), X, y, [2], StratifiedKFold(3))
        np.testing.assert_array_equal(search.scores_.scores, expected)

    def test_scoring_by_name_and_by_a_function(self, data):
        search = HSICLassoCV(sizes=[1, 3], cv=3, scoring="neg_mean_absolute_error").fit(*data)
        assert (search.scores_.scores < 0).all()
        assert search.score(*data) < 0
        search = HSICLassoCV(sizes=[1, 3], cv=3, scoring=few).fit(*data)
        assert search.scores_.mean.tolist() == [-1, -3]
        assert (search.n_features_, search.score(*data)) == (1, -1)

    def test_groups_of_samples_stay_together(self, data):
        X, y = data
        groups, seen = np.arange(90) // 15, []

        class Watched(LinearRegression):
            def score(self, X, y):
                seen.append(set(np.searchsorted(order, X[:, 0]) // 15))
                return super().score(X, y)

        X = X.copy()
        X[:, 0] = order = np.sort(X[:, 0])
        options = {"sizes": [1], "cv": GroupKFold(3)}
        HSICLassoCV(HSICLasso(keep=[0]), Watched(), **options).fit(X, y, groups=groups)
        assert sorted(len(group) for group in seen) == [2, 2, 2]
        assert set.union(*seen) == set(range(6))

    def test_folds_of_other_forms(self, data):
        folds = [(np.arange(60), np.arange(60, 90)), (np.arange(30, 90), np.arange(30))]
        assert HSICLassoCV(sizes=[1, 2], cv=folds).fit(*data).scores_.scores.shape == (2, 2)
        options = {"cv": LeaveOneOut(), "scoring": "neg_mean_absolute_error"}
        search = HSICLassoCV(sizes=[1], **options).fit(data[0][:12], data[1][:12])
        assert search.scores_.scores.shape == (1, 12)

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

    @pytest.mark.parametrize("convert", [np.asarray, pd.DataFrame, pl.DataFrame], ids=str)
    @pytest.mark.parametrize("solver", ["homotopy", "cd"])
    def test_every_fit_sees_its_rows_alone(self, solver, convert, data):
        calls = []

        class Recorder(HSICLasso):
            def fit(self, X, y=None, sample_weight=None, covariates=None):
                calls.append((X, y, sample_weight, covariates))
                return super().fit(X, y, sample_weight=sample_weight, covariates=covariates)

        X, y = data
        weights, age = np.arange(90) % 3 + 1.0, np.sin(np.arange(90.0))[:, None]
        search = HSICLassoCV(Recorder(solver=solver), sizes=[1, 2], cv=KFold(3))
        search.fit(X, y, sample_weight=weights.tolist(), covariates=convert(age))
        rows = [train for train, _ in KFold(3).split(X)]
        rows = [*np.repeat(rows, 1 if solver == "homotopy" else 3, axis=0), np.arange(90)]
        for (table, target, weight, covariates), train in zip(calls, rows, strict=True):
            np.testing.assert_array_equal(table, X[train])
            np.testing.assert_array_equal(target, y[train])
            np.testing.assert_array_equal(weight, weights[train])
            np.testing.assert_array_equal(np.asarray(covariates), age[train])
            assert type(covariates) is type(convert(age))
        direct = HSICLasso(search.n_features_, solver=solver)
        direct.fit(X, y, sample_weight=weights, covariates=age)
        np.testing.assert_array_equal(search.selected_, direct.selected_)
        plain = HSICLassoCV(sizes=[1, 2], cv=3)
        assert (
            plain.fit(X, y, sample_weight=None).scores_.scores == plain.fit(X, y).scores_.scores
        ).all()


class TestChoice:
    def test_the_best_mean_and_the_smallest_of_equals(self):
        scores = SizeScores((1, 2, 4), np.array([[0.1, 0.3], [0.6, 0.6], [0.5, 0.7]]))
        assert scores.best("best") == 2
        assert SizeScores((1, 2), np.zeros((2, 3))).best("best") == 1

    def test_within_one_standard_error_of_the_best(self):
        scores = SizeScores((1, 2, 4), np.array([[0.1, 0.1], [0.55, 0.55], [0.5, 0.7]]))
        assert scores.best("best") == 4
        assert scores.best("one_se") == 2

    @given(st.integers(0, 10_000), st.integers(1, 5))
    def test_means_and_standard_errors(self, seed, n_folds):
        values = np.random.default_rng(seed).standard_normal((4, n_folds))
        scores = SizeScores((1, 2, 3, 5), values)
        assert scores.best("one_se") <= scores.best("best")
        np.testing.assert_allclose(scores.mean, [np.mean(row) for row in values])
        if n_folds == 1:  # has no standard error
            assert scores.standard_error.tolist() == [0] * 4
        else:
            squares = [np.sum((row - row.mean()) ** 2) for row in values]
            expected = np.sqrt(np.array(squares) / (n_folds - 1) / n_folds)
            np.testing.assert_allclose(scores.standard_error, expected)
        table = pd.DataFrame(scores.to_rows())
        assert table["n_features"].tolist() == [1, 2, 3, 5]
        np.testing.assert_array_equal(table["mean_score"], scores.mean)
        np.testing.assert_array_equal(table["standard_error"], scores.standard_error)

    def test_scores_that_are_no_numbers(self):
        scores = SizeScores((1, 2), np.array([[np.nan, np.nan], [0.5, 0.6]]))
        assert scores.best("best") == 2
        with pytest.raises(InvalidInputError, match="Every score is NaN: check the scoring"):
            SizeScores((1, 2), np.full((2, 3), np.nan)).best("best")

    def test_the_rule_reaches_the_search(self, data):
        def a_little_better(model, X, y):
            return 1e-3 * X.shape[1] + y.mean()

        options = {"sizes": [1, 2, 4], "cv": 3, "scoring": a_little_better}
        assert HSICLassoCV(rule="best", **options).fit(*data).n_features_ == 4
        assert HSICLassoCV(rule="one_se", **options).fit(*data).n_features_ == 1

    def test_sizes(self, data):
        X, y = data
        assert HSICLassoCV(sizes=np.array([4, 1, 4]), cv=2).fit(X, y).scores_.sizes == (1, 4)
        # default sizes go as far as there are features that are neither kept nor excluded
        assert HSICLassoCV(cv=2).fit(X, y).scores_.sizes == (1, 2, 3, 5, 8, 12)
        excluding = HSICLassoCV(HSICLasso(exclude=range(6)), cv=2).fit(X, y)
        assert excluding.scores_.sizes == (1, 2, 3, 5)
        search = HSICLassoCV(HSICLasso(keep=[0, 1]), sizes=[2, 3], cv=2, scoring=few)
        assert search.fit(X, y).n_features_ == 2
        with pytest.raises(InvalidInputError, match="between 2 and n_features=12"):
            search.set_params(sizes=[1, 2, 3]).fit(X, y)
        joint = HSICLasso(joint={"a": [0, 1], "b": [2, 3, 4]})
        search = HSICLassoCV(joint, sizes=[1, 2, 5], cv=3).fit(X, y)
        assert search.transform(X).shape[1] == search.selected_.size
        with pytest.raises(InvalidInputError, match="between 1 and n_features=9"):
            search.set_params(sizes=[10]).fit(X, y)

    @pytest.mark.filterwarnings("ignore::hsiclasso.FewerFeaturesWarning")
    def test_sizes_beyond_the_end_of_the_path(self, rng):
        x = rng.standard_normal(60)
        X = np.column_stack([x, 2 * x, -x])
        search = HSICLassoCV(sizes=[1, 2, 3], cv=2, scoring=lambda model, X, y: X.shape[1])
        assert search.fit(X, x).scores_.mean.tolist() == [1, 2, 3]


class TestFitted:
    def test_selector_and_estimator_are_fitted_to_all_samples(self, data):
        X, y = data
        search = HSICLassoCV(sizes=[1, 2, 4], cv=3).fit(X, y)
        alone = HSICLasso(search.n_features_).fit(X, y)
        assert search.selected_.tolist() == alone.selected_.tolist()
        np.testing.assert_array_equal(search.selector_.coef_, alone.coef_)
        assert search.get_support(indices=True).tolist() == sorted(alone.selected_)
        np.testing.assert_array_equal(search.transform(X), alone.transform(X))
        model = make_pipeline(StandardScaler(), SVR()).fit(search.transform(X), y)
        np.testing.assert_allclose(search.predict(X), model.predict(search.transform(X)))
        np.testing.assert_allclose(search.predict(X[:1]), search.predict(X)[:1])
        assert search.score(X, y) == pytest.approx(model.score(search.transform(X), y))

    def test_groups_of_features(self, data):
        selector = HSICLasso(penalty=GroupLasso(np.arange(12) // 2, l1_ratio=0.5))
        search = HSICLassoCV(selector, sizes=[1, 3], cv=2).fit(*data)
        assert search.selected_.size == search.n_features_
        assert search.selector_.result_.groups

    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
    def test_frames(self, make, data):
        X, y = data
        names = [f"gene{j}" for j in range(12)]
        frame = make(dict(zip(names, X.T, strict=True)))
        search = HSICLassoCV(sizes=[1, 3], cv=3).fit(frame, y)
        plain = HSICLassoCV(sizes=[1, 3], cv=3).fit(X, y)
        np.testing.assert_allclose(search.scores_.scores, plain.scores_.scores, rtol=1e-9)
        np.testing.assert_allclose(search.predict(frame), plain.predict(X))
        assert search.feature_names_in_.tolist() == names
        expected = [names[j] for j in sorted(plain.selected_)]
        assert search.get_feature_names_out().tolist() == expected
        with pytest.raises(ValueError, match="feature names should match"):
            search.predict(frame[names[::-1]])

    def test_lists_and_series(self, data):
        X, y = data
        plain = HSICLassoCV(sizes=[1, 2], cv=2).fit(X, y)
        for other in (y.tolist(), pd.Series(y, index=np.arange(90)[::-1])):
            search = HSICLassoCV(sizes=[1, 2], cv=2).fit(X.tolist(), other)
            np.testing.assert_array_equal(search.scores_.scores, plain.scores_.scores)

    @pytest.mark.parametrize("convert", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
    def test_sparse_tables(self, convert, rng):
        X = rng.poisson(0.5, (60, 8)).astype(float)
        y = X[:, 3] + X[:, 5] + 0.1 * rng.standard_normal(60)
        search = HSICLassoCV(sizes=[1, 2], cv=3).fit(convert(X), y)
        plain = HSICLassoCV(sizes=[1, 2], cv=3).fit(X, y)
        assert set(search.selected_) == {3, 5}
        np.testing.assert_allclose(search.scores_.scores, plain.scores_.scores)
        np.testing.assert_allclose(search.predict(convert(X)), plain.predict(X))

    def test_clone_and_pickle(self, data):
        search = HSICLassoCV(HSICLasso(gram_error=1e-5, target=Real()), sizes=[1, 2], cv=2)
        search.set_params(selector__target__transform="rank").fit(*data)
        again = pickle.loads(pickle.dumps(search))
        np.testing.assert_array_equal(again.predict(data[0]), search.predict(data[0]))
        params = clone(search).get_params()
        assert params["selector__gram_error"] == 1e-5
        assert params["selector__target__transform"] == "rank"
        assert search.selector_.target.transform == "rank"
        assert type(search).__name__ in search._repr_html_()

    def test_tags(self):
        tags = get_tags(HSICLassoCV())
        assert tags.target_tags.required
        assert tags.input_tags.sparse
        assert not tags.input_tags.allow_nan
        assert get_tags(HSICLassoCV(HSICLasso(missing="ignore"))).input_tags.allow_nan

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
    @pytest.mark.parametrize("sizes", [[], [0, 1], [1, 13], [1.5], [True], ["a", 1], 3], ids=str)
    def test_sizes(self, sizes, data):
        with pytest.raises(InvalidInputError, match=r"sizes=.* between 1 and n_features=12"):
            HSICLassoCV(sizes=sizes).fit(*data)

    def test_what_is_given(self, data):
        X, y = data
        with pytest.raises(InvalidInputError, match="rule='all' is unknown: choose 'best' or"):
            HSICLassoCV(rule="all").fit(X, y)
        with pytest.raises(InvalidInputError, match="y has 9 values and X has 90 samples"):
            HSICLassoCV().fit(X, y[:9])

    def test_tables_to_predict_from(self, data):
        X, y = data
        search = HSICLassoCV(sizes=[1], cv=2).fit(X, y)
        with pytest.raises(ValueError, match="features"):
            search.predict(np.column_stack([X, X]))
        with pytest.raises(InvalidInputError, match="NaN in column 'x0'"):
            search.predict(np.full((3, 12), np.nan))

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_a_fold_in_which_no_feature_varies(self, rng):
        X = np.zeros((30, 2))
        X[:10] = rng.standard_normal((10, 2))
        with pytest.raises(InvalidInputError, match="training part of a fold: take fewer folds"):
            HSICLassoCV(sizes=[1], cv=KFold(3)).fit(X, rng.standard_normal(30))


# ---------------------------------------------------------------------------- targets of every form


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


def alike(a, b):
    return float(a[0] == b[0]) + float(a == b)


TARGETS = {
    "frame of outputs": ("auto", lambda X: pd.DataFrame(X[:, :2] ** 2)),
    "labels": ("auto", lambda X: (X[:, :3] > 0).astype(int)),
    "sparse labels": ("auto", lambda X: sparse.csr_array((X[:, :3] > 0).astype(int))),
    "several classes": ("auto", lambda X: np.c_[grades(X).astype(str), X[:, 1] > 0]),
    "counts": ("counts", lambda X: np.round(np.exp(X[:, 0]))),
    "ordinal": ("ordinal", lambda X: grades(X).cat.codes),
    "ordered category": ("auto", grades),
    "structured": (
        "auto",
        lambda X: np.array(
            list(zip(*times(X)[::-1], strict=True)), dtype=[("event", bool), ("time", float)]
        ),
    ),
    "two columns": ("survival", lambda X: np.c_[times(X)]),
    "tuple": ("survival", times),
    "frame, event first": (
        "survival",
        lambda X: pd.DataFrame({"event": 1.0 * times(X)[1], "time": 1.0 * (times(X)[0] > 1)}),
    ),
    "strings": (Objects(alike), lambda X: list(grades(X).astype(str))),
}


@pytest.mark.parametrize("name", TARGETS)
def test_every_fold_has_the_kind_of_the_whole(name, data):
    """Each fold selects as a selector does that is given the rows of its training part."""
    target, make = TARGETS[name]
    X = data[0]
    y, found = make(X), []

    class Watched(HSICLasso):
        def fit(self, X, y=None, **params):
            super().fit(X, y, **params)
            found.append((self.result_.method.target, self.coef_))
            return self

    search = HSICLassoCV(Watched(target=target), Size(), sizes=[2], cv=KFold(3)).fit(X, y)
    whole = HSICLasso(2, target=target).fit(X, y)
    assert search.selected_.tolist() == whole.selected_.tolist()
    kind = whole.result_.method.target
    for (fold, coef), (train, _) in zip(found, KFold(3).split(X), strict=False):
        expected = HSICLasso(2, target=target if kind == "objects" else kind)
        np.testing.assert_allclose(coef, expected.fit(X[train], take_rows(y, train)).coef_)
        assert fold == kind


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_classes_that_are_rare_in_a_fold_stay_classes(data):
    y = np.repeat(np.arange(10), 3)  # three of each, but two of each in a fold
    search = HSICLassoCV(sizes=[1], cv=3).fit(data[0][:30], y)
    assert search.selector_.target.name == "classes"


REFUSED = {
    "matrix": ("affinity", lambda X: X @ X.T, "takes a matrix between all samples, which has no"),
    "graph": ("graph", lambda X: np.ones((90, 90)), "choose the number of features by alpha='bic'"),
    "outputs": ("auto", lambda X: X[:, :2], "y is a real target of another form: pass an estim"),
    "labels": ("auto", lambda X: X[:, :2] > 0, "y is a target of labels"),
    "sparse labels": ("auto", lambda X: sparse.csr_array(X[:, :2] > 0), "y is a target of labels"),
    "survival": ("survival", lambda X: np.c_[times(X)], "y is times and events"),
    "ragged": (
        Objects(lambda a, b: float(len(a) == len(b))), lambda X: [[1] * (i % 3) for i in range(90)],
        "y is objects compared by a function",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_targets_without_folds_or_without_an_estimator(kind, data):
    target, make, message = REFUSED[kind]
    with pytest.raises(InvalidInputError, match=message):
        HSICLassoCV(HSICLasso(target=target), cv=3).fit(data[0], make(data[0]))


def categorical(X):
    """Names of the columns of labels, of pandas and of polars."""
    return [name for name in X.columns if str(X[name].dtype).lower().startswith(("categ", "enum"))]


class TestLabels:
    """Tables with text: each part of a table would number its labels anew."""

    @pytest.fixture
    def frame(self, data):
        X, _ = data
        return pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "grade": grades(X).astype(str)})

    def model(self):
        encode = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
            remainder="passthrough",
        )
        return make_pipeline(encode, LinearRegression())

    @pytest.mark.parametrize("dtype", [str, "category"])
    def test_predictions_do_not_depend_on_the_other_rows(self, dtype, frame):
        frame = frame.astype({"grade": dtype})
        y = np.where(frame["grade"] == "mid", 5.0, frame["x"])
        search = HSICLassoCV(estimator=self.model(), sizes=[1, 2], cv=3).fit(frame, y)
        assert 2 in search.selected_
        whole = search.predict(frame)
        parts = [search.predict(frame.iloc[i : i + 1])[0] for i in range(12)]
        np.testing.assert_allclose(parts, whole[:12])
        assert search.scores_.mean.max() > 0.8

    @pytest.mark.parametrize("dtype", [str, "category"])
    def test_the_default_estimator_encodes_them(self, dtype, frame):
        frame = frame.astype({"grade": dtype})
        y = np.where(frame["grade"] == "mid", 5.0, frame["x"])
        search = HSICLassoCV(sizes=[1, 2], cv=KFold(3)).fit(frame, y)
        assert set(search.selected_) == {0, 2}
        assert search.scores_.mean.max() > 0.8
        # other rows have other labels, in another order, and some that were never seen
        whole = search.predict(frame)
        np.testing.assert_allclose(search.predict(frame.iloc[::-2]), whole[::-2])
        other = frame.astype({"grade": str}).iloc[:5].assign(grade="unseen")
        assert np.isfinite(search.predict(other)).all()
        # by hand: a column for each label
        codes = np.equal.outer(frame["grade"].astype(str).to_numpy(), ["high", "low", "mid"])
        columns = np.c_[frame["x"], codes]
        scores = cross_val_score(make_pipeline(StandardScaler(), SVR()), columns, y, cv=KFold(3))
        np.testing.assert_allclose(search.scores_.scores[1], scores)

    @pytest.mark.parametrize("convert", [lambda f: f, pl.from_pandas], ids=["pandas", "polars"])
    @pytest.mark.parametrize(
        "estimator",
        [
            None, DummyRegressor(),
            HistGradientBoostingRegressor(categorical_features="from_dtype"),
            make_pipeline(
                make_column_transformer(
                    (OneHotEncoder(handle_unknown="ignore", sparse_output=False), categorical),
                    remainder="passthrough",
                ),
                RandomForestRegressor(5, random_state=0),
            ),
            GridSearchCV(make_pipeline(TargetEncoder(), Ridge()), {"ridge__alpha": [1.0, 2.0]}),
        ],
        ids=["usual", "dummy", "boosting", "forest", "grid"],
    )  # fmt: skip
    def test_estimators_that_take_labels(self, convert, estimator, data, frame):
        frame = frame.astype({"grade": "category"})
        given = convert(frame)
        search = HSICLassoCV(estimator=estimator, sizes=[1, 3], cv=KFold(3)).fit(given, data[1])
        assert search.predict(given).shape == (90,)
        assert np.isfinite(search.scores_.scores).all()
        assert np.isfinite(search.score(given, data[1]))

    @pytest.mark.parametrize("kind", [str, "category"])
    def test_covariates_of_labels(self, kind, data, frame):
        frame = frame.astype({"grade": kind})
        selector = HSICLasso(covariates=["grade"])
        search = HSICLassoCV(selector, sizes=[1, 2], cv=KFold(3)).fit(frame, data[1])
        assert 2 not in search.selected_
        outside = HSICLassoCV(sizes=[1], cv=KFold(3))
        outside.fit(data[0], data[1], covariates=frame[["grade"]])
        assert outside.selector_.result_.method.covariates == ("grade",)


class TestOtherTables:
    """Sources and files are cut into folds as arrays are."""

    def test_a_source_and_a_file(self, data, tmp_path):
        X, y = data
        expected = HSICLassoCV(sizes=[1, 3], cv=KFold(3)).fit(X, y)
        frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(12)]).assign(y=y)
        frame.to_csv(tmp_path / "t.csv", index=False)
        for table, target in ((as_source(X), y), (tmp_path / "t.csv", "y")):
            search = HSICLassoCV(sizes=[1, 3], cv=KFold(3)).fit(table, target)
            np.testing.assert_allclose(search.scores_.scores, expected.scores_.scores, rtol=1e-6)
            assert search.selected_.tolist() == expected.selected_.tolist()
            np.testing.assert_allclose(search.predict(as_source(X)), expected.predict(X), rtol=1e-6)
        assert search.feature_names_in_.tolist() == [f"g{j}" for j in range(12)]
        with pytest.raises(InvalidInputError, match="X has 5 features, but HSICLassoCV is expect"):
            search.predict(as_source(X[:, :5]))

    def test_missing_numbers_are_filled_for_the_default_estimator(self, data):
        X, y = data[0].copy(), data[1]
        X[::4, :3] = np.nan
        search = HSICLassoCV(HSICLasso(missing="ignore"), sizes=[2, 4], cv=3).fit(X, y)
        assert np.isfinite(search.predict(X)).all()

    @pytest.mark.parametrize("kind", ["real", "classes", "own"])
    def test_samples_without_a_target_are_in_no_fold(self, kind, data):
        X, y = data
        gone = np.arange(90) % 6 == 2
        if kind == "classes":
            values = np.where(np.abs(X[:, 2]) > 0.7, "far", "near").astype(object)
            target, cv = Classes(missing="drop"), StratifiedKFold(3)
        else:
            values, target, cv = y.astype(object), Real(missing="drop"), KFold(3)
        values = np.where(gone, None, values)
        model = LinearRegression() if kind == "own" else None
        if kind == "own":
            values = values.astype(float)
        search = HSICLassoCV(HSICLasso(target=target), model, sizes=[1, 3], cv=cv).fit(X, values)
        rest = values[~gone] if kind == "classes" else values[~gone].astype(float)
        plain = HSICLasso(target=target.set_params(missing="error"))
        expected = HSICLassoCV(plain, model, sizes=[1, 3], cv=cv).fit(X[~gone], rest)
        np.testing.assert_allclose(search.scores_.scores, expected.scores_.scores)
        np.testing.assert_array_equal(search.predict(X), expected.predict(X))

    def test_ordered_labels_of_a_file(self, data, tmp_path):
        pytest.importorskip("pyarrow")
        frame = pd.DataFrame(data[0], columns=list("abcdefghijkl")).assign(grade=grades(data[0]))
        frame.to_parquet(tmp_path / "t.parquet")
        search = HSICLassoCV(sizes=[1, 2], cv=KFold(3)).fit(tmp_path / "t.parquet", "grade")
        assert search.selector_.result_.method.target == "ordinal"
        assert 2 in search.selected_


def test_progress_and_what_the_result_tells(data):
    told = []
    search = HSICLassoCV(sizes=[1, 2], cv=3)
    search.fit(*data, progress=lambda *done: told.append(done))
    assert told == [("folds", 1, 3), ("folds", 2, 3), ("folds", 3, 3)]
    result = search.selector_.result_
    assert result.validation is search.scores_
    assert search.scores_.chosen == search.n_features_
    assert search.scores_.message.startswith(
        f"Cross-validation in 3 folds chose {search.n_features_}"
    )
    told = result.to_dict()["validation"]
    assert told["sizes"] == [1, 2]
    np.testing.assert_array_equal(told["scores"], search.scores_.scores)
    assert HSICLasso(1).fit(*data).result_.validation is None
    assert SizeScores((1,), np.array([[np.nan, 1.0]])).to_dict()["scores"] == [[None, 1.0]]


def test_errors_of_a_part_say_so(data):
    """Its rows and numbers are not those of the table that the user knows."""
    X, _ = data
    y, rows = np.arange(90) // 45, np.arange(90)
    message = r"In the training part of a fold, 40 of 90 samples: y has only one"
    with pytest.raises(InvalidInputError, match=message):
        HSICLassoCV(sizes=[1], cv=[(rows[:40], rows[40:])]).fit(X, y)
