"""Sample weights: a whole number is as good as repeating a sample, and 0 leaves it out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline

from hsiclasso import (
    Delta,
    Gaussian,
    HSICLasso,
    HSICLassoCV,
    InvalidInputError,
    Laplace,
    Linear,
    NOCCOLasso,
    Polynomial,
)
from tests import oracles
from tests.selectors.dense import (
    MEASURES,
    PLAIN_DELTA,
    assert_differs,
    assert_same,
    assert_solves,
    feature_matrices,
    selector_of,
    target_matrix,
)

N = 40
LETTERS = np.array(["b", "c", "a"])


@pytest.fixture(scope="module", name="X")
def make_table():
    return np.round(np.random.default_rng(2).standard_normal((N, 6)), 1)


@pytest.fixture(scope="module", name="times")
def make_weights():
    """Whole numbers from 0 to 3."""
    return np.random.default_rng(3).integers(0, 4, N)


def real(X):
    return X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2


def repeated(values, times):
    """Samples as often as they count."""
    index = np.repeat(np.arange(N), times)
    if isinstance(values, tuple):
        return tuple(part[index] for part in values)
    if isinstance(values, list):
        return [values[i] for i in index]
    if isinstance(values, pd.DataFrame | pd.Series):
        return values.iloc[index]
    return values[index.tolist()] if isinstance(values, pl.DataFrame) else values[index]


def codes(X):
    return np.digitize(real(X), [0.0, 0.8])


#: Options and targets.
TARGETS = {
    "real": ({}, real),
    "narrow": ({"y_width": 0.3}, real),
    "median": ({"y_width": "median"}, real),
    "linear": ({"y_kernel": "linear"}, real),
    "laplace": ({"y_kernel": "laplace"}, real),
    "classes": ({}, lambda X: LETTERS[codes(X)]),
    "plain delta": ({"y_kernel": "plain_delta"}, codes),
    "outputs": ({}, lambda X: np.c_[real(X), X[:, 4]]),
    "outputs, median": ({"y_width": "median"}, lambda X: np.c_[real(X), X[:, 4]]),
    "outputs averaged": ({"multioutput": "average"}, lambda X: np.c_[real(X), X[:, 4]]),
    "labels": ({}, lambda X: np.c_[real(X) > 0, X[:, 4] > 0.2]),
    "labels together": ({"multioutput": "joint"}, lambda X: np.c_[real(X) > 0, X[:, 4] > 0.2]),
    "counts": ({"task": "counts"}, lambda X: np.round(3 + 2 * np.abs(real(X)))),
    "survival": (
        {"task": "survival"}, lambda X: (np.round(np.exp(real(X)), 1), np.arange(N) % 3 > 0),
    ),
    "strings": (
        {"y_kernel": lambda a, b: float(sum(x == y for x, y in zip(a, b, strict=True)))},
        lambda X: [LETTERS[c] + LETTERS[i % 3] for i, c in enumerate(codes(X))],
    ),
}  # fmt: skip


def mixed(X, library=pd.DataFrame):
    columns = {
        "x": X[:, 0], "y": X[:, 1], "flag": X[:, 2] > 0, "word": LETTERS[codes(X)],
        "call": np.digitize(X[:, 3], [-0.5, 0.5]).astype(np.int8),
    }  # fmt: skip
    return library(columns)


def holed(X):
    gone = np.random.default_rng(1).random(X.shape) < 0.2
    return np.where(gone, np.nan, X)


#: Options and tables.
TABLES = {
    "array": ({}, np.asarray),
    "fortran": ({}, np.asfortranarray),
    "laplace": ({"x_kernel": "laplace"}, np.asarray),
    "median": ({"x_width": "median"}, np.asarray),
    "laplace, median": ({"x_kernel": "laplace", "x_width": "median"}, np.asarray),
    "widths": ({"x_width": (0.5, 2.0)}, np.asarray),
    "polynomial": ({"x_kernel": "polynomial"}, np.asarray),
    "delta": ({"x_kernel": "delta"}, np.round),
    "int8": ({}, lambda X: np.round(X).astype(np.int8)),
    "int8, delta": ({"x_kernel": "delta"}, lambda X: np.round(X).astype(np.int8)),
    "flags": ({}, lambda X: X > 0),
    "pandas": ({}, mixed),
    "polars": ({}, lambda X: mixed(X, pl.DataFrame)),
    "sparse": ({}, lambda X: sparse.csr_array(np.maximum(np.round(X), 0))),
    "sparse, delta": (
        {"x_kernel": "plain_delta"}, lambda X: sparse.csc_array(np.maximum(np.round(X), 0)),
    ),
    "joint": ({"joint": {"v": [1, 2]}}, np.asarray),
    "joint, median": ({"joint": {"v": [1, 2]}, "x_width": "median"}, np.asarray),
    "missing": ({"missing": "ignore", "min_observed": 3}, holed),
    "missing, laplace": (
        {"missing": "ignore", "min_observed": 3, "x_kernel": "laplace"}, holed,
    ),
    "covariates": ({"covariates": ["x5", "x4"]}, np.asarray),
    "label as covariate": ({"covariates": ["word"]}, mixed),
    "covariates, subtract": ({"covariates": ["x5"], "covariate_method": "subtract"}, np.asarray),
    "everything": (
        {
            "covariates": ["x5"], "missing": "ignore", "min_observed": 3,
            "joint": {"v": [1, 2]}, "x_kernel": {"x0": "laplace", "x3": "delta"},
        },
        lambda X: np.column_stack([holed(X)[:, :5], X[:, 5]]),
    ),
}  # fmt: skip


def fit(measure, options, table, y, **given):
    return selector_of(measure, **options).fit(table, y, **given)


@pytest.mark.parametrize("measure", MEASURES)
class TestWholeWeights:
    @pytest.mark.parametrize("target", TARGETS)
    def test_of_targets(self, target, measure, X, times):
        options, make = TARGETS[target]
        weighted = fit(measure, options, X, make(X), sample_weight=times)
        again = fit(measure, options, repeated(X, times), repeated(make(X), times))
        assert_same(weighted, again)
        assert weighted.result_.n_samples == np.count_nonzero(times)
        assert weighted.result_.n_dropped == np.count_nonzero(times == 0)

    @pytest.mark.parametrize("table", TABLES)
    def test_of_tables(self, table, measure, X, times):
        options, make = TABLES[table]
        y = real(X)
        weighted = fit(measure, options, make(X), y, sample_weight=times)
        again = fit(measure, options, repeated(make(X), times), repeated(y, times))
        assert_same(weighted, again)

    @pytest.mark.parametrize("method", ["project", "subtract"])
    def test_of_covariates_beside_the_table(self, method, measure, X, times):
        y, table = real(X), pd.DataFrame({"age": X[:, 5], "site": LETTERS[codes(X[::-1])]})
        options = {"covariate_method": method}
        weighted = fit(measure, options, X[:, :5], y, sample_weight=times, covariates=table)
        again = fit(
            measure, options, repeated(X[:, :5], times), repeated(y, times),
            covariates=repeated(table, times),
        )  # fmt: skip
        assert_same(weighted, again)
        assert weighted.result_.n_removed == again.result_.n_removed

    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    def test_of_affinities(self, convert, measure, X, times):
        S = np.exp(-np.abs(real(X)[:, None] - real(X)))
        options = {"y_kernel": "precomputed"}
        weighted = fit(measure, options, X, convert(S), sample_weight=times)
        index = np.repeat(np.arange(N), times)
        again = fit(measure, options, X[index], convert(S[np.ix_(index, index)]))
        assert_same(weighted, again)


@pytest.mark.parametrize("criterion", ["aic", "bic"])
def test_criteria_count_repeated_samples(criterion, X, times):
    weighted = HSICLasso(criterion=criterion).fit(X, real(X), sample_weight=times)
    again = HSICLasso(criterion=criterion).fit(repeated(X, times), repeated(real(X), times))
    assert_same(weighted, again)


@pytest.mark.parametrize("measure", MEASURES)
class TestRealWeights:
    @pytest.mark.parametrize(
        "kernel", [Gaussian(), Laplace(), Linear(), Polynomial(), Delta(), PLAIN_DELTA], ids=str
    )
    def test_solves_the_dense_problem(self, kernel, measure, X, rng):
        weights, table, y = rng.uniform(0.1, 3, N), np.round(2 * X), real(X)
        selector = fit(measure, {"x_kernel": kernel}, table, y, sample_weight=weights)
        A = feature_matrices(table.T, kernel, measure, weights)
        gram = oracles.kernel_gram(y, Gaussian(), weights)
        assert_solves(selector, A, target_matrix(gram, measure, weights))

    def test_survival_solves_the_dense_problem(self, measure, X, rng):
        weights, (time, event) = rng.uniform(0.1, 3, N), TARGETS["survival"][1](X)
        options = {"task": "survival"}
        selector = fit(measure, options, X, (time, event), sample_weight=weights)
        gram = oracles.kernel_gram(time, Gaussian(), weights)
        M = oracles.log_rank_matrix(gram, time, event, weights)
        # M is weighed already, and centred
        root = np.sqrt(weights)
        T = target_matrix(M / root / root[:, None], measure, weights)
        assert_solves(selector, feature_matrices(X.T, measure=measure, weights=weights), T)

    def test_changes_the_answer(self, measure, X, rng):
        weighted = fit(measure, {}, X, real(X), sample_weight=rng.uniform(0.1, 3, N))
        assert_differs(weighted, fit(measure, {}, X, real(X)))

    def test_weights_of_one_are_no_weights(self, measure, X):
        plain = fit(measure, {}, X, real(X))
        for weights in (np.ones(N), np.ones(N, dtype=int), [1] * N, 1.0, np.ones(N, dtype=bool)):
            assert_same(fit(measure, {}, X, real(X), sample_weight=weights), plain, rtol=1e-12)

    def test_weights_of_zero_leave_samples_out(self, measure, X):
        some = np.arange(N) % 4 > 0
        weighted = fit(measure, {}, X, real(X), sample_weight=some)
        assert_same(weighted, fit(measure, {}, X[some], real(X)[some]), rtol=1e-12)
        assert (weighted.result_.n_samples, weighted.result_.n_dropped) == (30, 10)
        spoilt = X.copy()
        spoilt[~some] = np.nan  # not even looked at
        assert_same(fit(measure, {}, spoilt, real(X), sample_weight=some), weighted, rtol=1e-12)

    def test_the_scale_of_weights(self, measure, X, rng):
        """Relevance grows with the square of the weights for HSIC, and not for the others."""
        weights = rng.uniform(0.1, 3, N)
        one = fit(measure, {}, X, real(X), sample_weight=weights)
        other = fit(measure, {}, X, real(X), sample_weight=7 * weights)
        assert one.selected_.tolist() == other.selected_.tolist()
        np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6, atol=1e-12)
        scale = 49 if measure == "hsic" else 1
        np.testing.assert_allclose(scale * one.relevance_, other.relevance_, rtol=1e-6)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(N - 1), r"sample_weight has shape \(39,\), but X has 40 samples: pass one weight"),
        (np.ones((N, 1)), r"sample_weight has shape \(40, 1\)"),
        (-np.ones(N), "sample_weight must hold finite weights >= 0 that are not all zero"),
        (np.zeros(N), "2 counts a sample twice, 0 leaves it out"),
        (np.full(N, np.nan), "sample_weight must hold finite"),
        (np.r_[np.inf, np.ones(N - 1)], "sample_weight must hold finite"),
        (np.r_[1.0, 2.0, np.zeros(N - 2)], "n_samples=2 with a target and a positive weight"),
    ],
    ids=["short", "table", "negative", "zero", "nan", "infinite", "two samples"],
)
@pytest.mark.parametrize("estimator", [HSICLasso, NOCCOLasso])
def test_bad_weights(estimator, weights, message, X):
    with pytest.raises(InvalidInputError, match=message):
        estimator(2).fit(X, real(X), sample_weight=weights)


def test_weights_that_are_text(X):
    with pytest.raises(InvalidInputError, match="sample_weight"):
        HSICLasso(2).fit(X, real(X), sample_weight=["many"] * N)


def test_nothing_of_the_target_left(X):
    some = (real(X) < 0) | (np.arange(N) < 3)
    y = np.where(some, 1.0, real(X))
    with pytest.raises(InvalidInputError, match="y has only one"):
        HSICLasso(2).fit(X, y, sample_weight=some)


# ----------------------------------------------------------------------------- metadata routing


class Spy(RegressorMixin, BaseEstimator):
    """Predicts the mean, and remembers nothing."""

    def fit(self, X, y):
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


@pytest.fixture
def weights(rng):
    return rng.integers(1, 4, N).astype(float)


@pytest.fixture
def age(rng):
    return rng.standard_normal((N, 1))


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
class TestRouting:
    def requesting(self, **options):
        return HSICLasso(2, **options).set_fit_request(sample_weight=True, covariates=True)

    def test_pipeline(self, X, weights, age):
        pipeline = make_pipeline(self.requesting(), LinearRegression())
        pipeline[1].set_fit_request(sample_weight=False)
        pipeline.fit(X, real(X), sample_weight=weights, covariates=age)
        direct = HSICLasso(2).fit(X, real(X), sample_weight=weights, covariates=age)
        assert_same(pipeline[0], direct, rtol=1e-12)
        assert pipeline[0].result_.covariates == direct.result_.covariates

    def test_fit_transform(self, X, weights):
        selector = self.requesting()
        found = selector.fit_transform(X, real(X), sample_weight=weights)
        expected = HSICLasso(2).fit(X, real(X), sample_weight=weights)
        assert_same(selector, expected, rtol=1e-12)
        np.testing.assert_array_equal(found, X[:, np.sort(expected.selected_)])

    def test_cross_validate(self, X, weights, age):
        pipeline = make_pipeline(self.requesting(), Spy())
        scoring = get_scorer("r2").set_score_request(sample_weight=False)
        found = cross_validate(
            pipeline, X, real(X), cv=KFold(2), scoring=scoring, return_estimator=True,
            params={"sample_weight": weights, "covariates": age},
        )  # fmt: skip
        for fitted, (train, _) in zip(found["estimator"], KFold(2).split(X), strict=True):
            direct = HSICLasso(2).fit(
                X[train], real(X)[train], sample_weight=weights[train], covariates=age[train]
            )
            assert_same(fitted[0], direct, rtol=1e-12)

    def test_grid_search(self, X, weights, age):
        pipeline = make_pipeline(self.requesting(), Spy())
        scoring = get_scorer("r2").set_score_request(sample_weight=False)
        grid = {"hsiclasso__n_features_to_select": [1, 2]}
        search = GridSearchCV(pipeline, grid, cv=2, scoring=scoring, error_score="raise")
        search.fit(X, real(X), sample_weight=weights, covariates=age)
        size = search.best_params_["hsiclasso__n_features_to_select"]
        direct = HSICLasso(size).fit(X, real(X), sample_weight=weights, covariates=age)
        assert_same(search.best_estimator_[0], direct, rtol=1e-12)

    def test_what_is_not_requested_is_not_passed_in_silence(self, X, weights):
        pipeline = make_pipeline(HSICLasso(2), Spy())
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            pipeline.fit(X, real(X), sample_weight=weights)
        pipeline = make_pipeline(HSICLasso(2).set_fit_request(sample_weight=False), Spy())
        with pytest.raises(TypeError, match="sample_weight"):
            pipeline.fit(X, real(X), sample_weight=weights)


def test_pipeline_without_routing(X, weights, age):
    pipeline = make_pipeline(HSICLasso(2), Spy())
    pipeline.fit(X, real(X), hsiclasso__sample_weight=weights, hsiclasso__covariates=age)
    direct = HSICLasso(2).fit(X, real(X), sample_weight=weights, covariates=age)
    assert_same(pipeline[0], direct, rtol=1e-12)


class Recorder(HSICLasso):
    """Notes what it is fitted with."""

    calls = []  # noqa: RUF012

    def fit(self, X, y=None, sample_weight=None, covariates=None):
        self.calls.append((X, sample_weight, covariates))
        return super().fit(X, y, sample_weight=sample_weight, covariates=covariates)


@pytest.mark.parametrize(
    "convert", [np.asarray, pd.DataFrame, pl.DataFrame], ids=["array", "pandas", "polars"]
)
def test_cross_validation_cuts_weights_and_covariates(convert, X, weights, age):
    Recorder.calls.clear()
    search = HSICLassoCV(Recorder(), sizes=[1, 2], cv=KFold(4))
    search.fit(X, real(X), sample_weight=weights, covariates=convert(age))
    *folds, whole = Recorder.calls
    assert len(folds) == 4
    for (table, some, covariates), (train, _) in zip(folds, KFold(4).split(X), strict=True):
        np.testing.assert_array_equal(table, X[train])
        np.testing.assert_array_equal(some, weights[train])
        np.testing.assert_array_equal(np.asarray(covariates), age[train])
        assert type(covariates) is type(convert(age))
    np.testing.assert_array_equal(whole[1], weights)
    np.testing.assert_array_equal(np.asarray(whole[2]), age)
    size = search.n_features_
    direct = HSICLasso(size).fit(X, real(X), sample_weight=weights, covariates=age)
    np.testing.assert_array_equal(search.selected_, direct.selected_)
    assert len(search.selector_.result_.covariates) == 1


def test_cross_validation_takes_lists(X, weights):
    search = HSICLassoCV(sizes=[1, 2], cv=3).fit(X, real(X), sample_weight=weights.tolist())
    arrays = HSICLassoCV(sizes=[1, 2], cv=3).fit(X, real(X), sample_weight=weights)
    np.testing.assert_array_equal(search.scores_.scores, arrays.scores_.scores)
    plain = HSICLassoCV(sizes=[1, 2], cv=3).fit(X, real(X), sample_weight=None)
    np.testing.assert_array_equal(
        plain.scores_.scores, HSICLassoCV(sizes=[1, 2], cv=3).fit(X, real(X)).scores_.scores
    )


def test_weights_change_the_features_of_the_folds(X):
    weights = np.where(X[:, 5] > 0, 10.0, 0.1)
    y = np.where(X[:, 5] > 0, X[:, 4], X[:, 0])
    model = LinearRegression()
    plain = HSICLassoCV(estimator=model, sizes=[1], cv=3).fit(X, y)
    weighted = HSICLassoCV(estimator=model, sizes=[1], cv=3).fit(X, y, sample_weight=weights)
    assert weighted.selected_.tolist() == [4]
    assert not np.allclose(weighted.scores_.scores, plain.scores_.scores)
