"""Missing values: each feature is judged on the samples on which it is observed."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from hsiclasso import (
    ConstantFeatureWarning,
    Delta,
    FewerFeaturesWarning,
    FewObservedWarning,
    Gaussian,
    HSICLasso,
    HSICLassoCV,
    Ignore,
    InvalidInputError,
    Laplace,
    Linear,
    NOCCOLasso,
    Polynomial,
    Real,
)
from tests import oracles
from tests.selectors.dense import MEASURES, assert_differs, assert_same, assert_solves, selector_of
from tests.selectors.tables import AUTO, PLAIN_DELTA, N, mixed_with_holes

KERNELS = [
    Gaussian(), Gaussian("median"), Gaussian((0.5, 2.0)), Laplace(), Linear(), Polynomial(),
    Delta(), PLAIN_DELTA,
]  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_kernels_solve_the_dense_problem(kernel, X, holed, y):
    table = np.round(2 * holed)
    for measure in MEASURES:
        selector = selector_of(measure, kernel=kernel, missing="ignore").fit(table, y)
        assert_solves(selector, table.T, y, kernel)
        full = np.round(2 * X)
        ignoring = selector_of(measure, kernel=kernel, missing="ignore").fit(full, y)
        assert_same(ignoring, selector_of(measure, kernel=kernel).fit(full, y), rtol=1e-10)
    assert selector.n_observed_.tolist() == (~np.isnan(table)).sum(axis=0).tolist()
    assert ignoring.n_observed_.tolist() == [N] * 7


@pytest.mark.parametrize("measure", MEASURES)
class TestTables:
    def test_sparse(self, measure, y, rng):
        table = rng.poisson(0.7, (N, 6)).astype(float)
        table[:, 0] += np.maximum(np.round(y), 0)
        table[rng.random(table.shape) < 0.15] = np.nan
        for convert in (sparse.csr_matrix, sparse.csc_array):
            selector = selector_of(measure, missing="ignore").fit(convert(table), y)
            assert_solves(selector, table.T, y)
            assert selector.n_observed_.tolist() == (~np.isnan(table)).sum(axis=0).tolist()

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_frames_of_mixed_types(self, library, measure, holed, y):
        frame, numbers = mixed_with_holes(holed, library)
        selector = selector_of(measure, missing=Ignore()).fit(frame, y)
        assert_solves(selector, numbers, y, AUTO)
        observed = (~np.isnan(numbers)).sum(axis=1)
        assert selector.n_observed_.tolist() == observed.tolist()
        for feature in selector.result_.features:
            assert feature.n_observed == observed[feature.index]

    def test_a_vector_with_a_missing_entry_is_missing(self, measure, holed, y):
        selector = selector_of(measure, 5, missing="ignore", joint={"v": [3, 1]}).fit(holed, y)
        columns = [holed[:, 0], holed[:, [3, 1]].T, *holed[:, [2, 4, 5, 6]].T]
        assert_solves(selector, columns, y, features=[0, 3, 2, 4, 5, 6])
        both = int((~np.isnan(holed[:, [1, 3]])).all(axis=1).sum())
        assert selector.n_observed_[[1, 3]].tolist() == [both, both]
        (joint,) = [feature for feature in selector.result_.features if feature.name == "v"]
        assert joint.n_observed == both

    def test_weighted_samples(self, measure, holed, y, rng):
        weights = rng.uniform(0.2, 3, N)
        selector = selector_of(measure, missing="ignore").fit(holed, y, sample_weight=weights)
        assert_solves(selector, holed.T, y, weights=weights)

    def test_targets_of_other_forms(self, measure, holed, y):
        time, event = np.exp(y), np.arange(N) % 4 > 0
        affinity = oracles.gaussian_gram(y) + oracles.gaussian_gram(y, 0.1)
        hazards = oracles.log_rank_matrix(oracles.gaussian_gram(time), time, event)
        for target, values, gram in [
            ("classes", np.where(y > 0.5, "high", "low"), oracles.delta_gram(y > 0.5)),
            ("survival", (time, event), hazards),
            ("affinity", affinity, affinity),
        ]:
            selector = selector_of(measure, missing="ignore", target=target).fit(holed, values)
            assert_solves(selector, holed.T, gram)


def test_changes_the_answer(X, holed, y):
    assert_differs(HSICLasso(3).fit(X, y), HSICLasso(3, missing="ignore").fit(holed, y))


class TestMeaning:
    def test_a_dependence_is_found_through_gaps(self, rng):
        X = rng.standard_normal((200, 30))
        y = np.sin(3 * X[:, 7]) + 0.1 * rng.standard_normal(200)
        X[rng.random(200) < 0.4, 7] = np.nan
        ignoring = HSICLasso(1, missing="ignore").fit(X, y)
        assert ignoring.selected_.tolist() == [7]
        assert ignoring.n_observed_[7] < 0.7 * 200

    @pytest.mark.parametrize("measure", MEASURES)
    def test_incomplete_features_are_not_preferred(self, measure, rng):
        X, y = rng.integers(0, 3, (200, 200)).astype(float), rng.standard_normal(200)
        X[(rng.random(X.shape) < 0.5) & (np.arange(200) < 100)] = np.nan
        selector = HSICLasso(20, measure=measure, missing=Ignore(0.3)).fit(X, y)
        # binomial: beyond with probability 0.0026
        assert 3 <= np.sum(selector.selected_ < 100) <= 17

    @pytest.mark.parametrize("measure", MEASURES)
    def test_relevance_counts_by_what_is_observed(self, measure, rng):
        X = rng.standard_normal((100, 3))
        y = X[:, 0] ** 2 + X[:, 1]
        full = HSICLasso(1, measure=measure).fit(X, y).relevance_
        found = []
        for seed in range(20):
            gone = np.random.default_rng(seed).random(X.shape) < 0.3
            selector = HSICLasso(1, measure=measure, missing="ignore")
            found.append(selector.fit(np.where(gone, np.nan, X), y).relevance_)
        mean = np.mean(found, axis=0)
        assert (mean[:2] > 0.65 * full[:2]).all()
        assert (mean[:2] < 0.95 * full[:2]).all()


# ------------------------------------------------------------------------------ seldom observed


@pytest.mark.parametrize(
    ("min_observed", "least"),
    [(0.5, 24), (0.51, 25), (1.0, 48), (25, 25), (1, 3), (0.01, 3), (np.int64(40), 40)],
)
def test_fewest_samples_of_a_feature(min_observed, least, X, y):
    def seldom(n_observed):
        table = X.copy()
        table[n_observed:, 1] = np.nan
        return table

    options = {"missing": Ignore(min_observed)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        enough = HSICLasso(2, **options).fit(seldom(least), y)
    assert enough.relevance_[1] > 0
    assert enough.result_.data.few_observed == ()
    message = rf"1 of 7 columns are observed on fewer than {least} samples \(min_observed\).*: x1"
    with pytest.warns(FewObservedWarning, match=message):
        few = HSICLasso(2, **options).fit(seldom(least - 1), y)
    assert few.relevance_[1] == few.coef_[1] == 0
    assert few.result_.data.few_observed == ("x1",)
    assert few.result_.data.constant == ()
    assert few.n_observed_[1] == least - 1
    assert json.loads(few.result_.to_json())["data"]["few_observed"] == ["x1"]
    rest = [0, 2, 3, 4, 5, 6]
    np.testing.assert_allclose(few.coef_[rest], HSICLasso(2).fit(X[:, rest], y).coef_, rtol=1e-8)


def test_seldom_observed_features_of_other_kinds(X, y):
    frame = pd.DataFrame(X).rename(columns=str)
    frame["kind"] = pd.Categorical(["a", "b", *[None] * (N - 2)])
    frame["half"] = np.where(np.arange(N) % 2, X[:, 0], np.nan)
    with pytest.warns(FewObservedWarning, match="2 of 9 columns .*fewer than 40.*: v, kind"):
        selector = HSICLasso(2, missing=Ignore(40), joint={"v": ["5", "half"]}).fit(frame, y)
    assert selector.result_.data.few_observed == ("v", "kind")


def test_features_that_are_nowhere_observed_or_constant(X, y):
    table = X.copy()
    table[:, :5] = np.nan
    table[::3, 5] = np.nan
    table[np.isfinite(table[:, 5]), 5] = 1.0
    with (
        pytest.warns(FewObservedWarning, match="5 of 7 columns"),
        pytest.warns(ConstantFeatureWarning, match="x5"),
        pytest.warns(FewerFeaturesWarning),
    ):
        selector = HSICLasso(2, missing="ignore").fit(table, y)
    assert selector.selected_.tolist() == [6]
    assert selector.n_observed_.tolist() == [0] * 5 + [32, N]
    assert selector.result_.data.constant == ("x5",)


BAD = [
    ("drop", r"missing='drop' is unknown: choose 'error' or 'ignore', or pass an object such as"),
    (None, "missing=None is unknown"),
    (Ignore(0), "min_observed=0, but it must be a share of the samples between 0 and 1, or"),
    (Ignore(-0.5), "min_observed=-0.5"),
    (Ignore(np.nan), "min_observed=nan"),
    (Ignore("half"), "min_observed='half'"),
    (Ignore(True), "min_observed=True"),
    (Ignore(1.5), "min_observed=1.5"),
    (Ignore(61), "min_observed=61, but there are 48 samples: ask for fewer"),
]


@pytest.mark.parametrize(("missing", "message"), BAD, ids=range(len(BAD)))
def test_bad_options(missing, message, X, y):
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(2, missing=missing).fit(X, y)


# --------------------------------------------------------------------------- NaN and infinity

CONTAINERS = {
    "array": np.asarray,
    "fortran": np.asfortranarray,
    "frame": lambda X: pd.DataFrame(X).rename(columns=lambda j: f"x{j}"),
    "polars": lambda X: pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])]),
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_what_is_refused(container, X, holed, y):
    convert, table = CONTAINERS[container], X.copy()
    table[[7, 9], 2] = np.nan
    for estimator in (HSICLasso(2), NOCCOLasso(2), HSICLasso(2, joint={"v": [2, 3]})):
        message = "Input X contains NaN or inf: the first is NaN in column 'x2'.*missing='ignore'"
        with pytest.raises(InvalidInputError, match=message):
            estimator.fit(convert(table), y)
    for base, value in ((X, np.inf), (holed, -np.inf)):
        table = base.copy()
        table[5, 2] = value
        with pytest.raises(InvalidInputError, match=r"infinity in column 'x2'.*but not infin"):
            HSICLasso(2, missing="ignore").fit(convert(table), y)
    with pytest.raises(InvalidInputError, match="NaN in column 'x0'"):
        HSICLasso(2).fit(convert(table), y)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_missing_labels_in_a_frame_are_refused_by_default(library, holed, y):
    frame, _ = mixed_with_holes(holed, library)
    for name in ("x", "count", "flag", "kind", "word"):
        some = frame[[name, "full"]] if library == "pandas" else frame.select(name, "full")
        message = f"NaN in column '{name}'.*impute or drop.*missing='ignore'"
        with pytest.raises(InvalidInputError, match=message):
            HSICLasso(1).fit(some, y)


def test_values_of_samples_that_are_not_used_do_not_matter(X, y):
    table, target = X.copy(), y.copy()
    table[4, 2], target[4] = np.nan, np.nan
    dropped = HSICLasso(2, target=Real(missing="drop")).fit(table, target)
    assert_same(dropped, HSICLasso(2).fit(np.delete(X, 4, 0), np.delete(y, 4)), rtol=1e-10)
    weights = np.where(np.arange(N) == 4, 0.0, 1.0)
    assert_same(HSICLasso(2).fit(table, y, sample_weight=weights), dropped, rtol=1e-10)


# -------------------------------------------------------------------------------- afterwards


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_transform_leaves_missing_values(convert, holed, y):
    selector = HSICLasso(3, missing="ignore").fit(convert(holed), y)
    found = selector.transform(convert(holed))
    found = found.toarray() if sparse.issparse(found) else np.asarray(found)
    np.testing.assert_array_equal(found, holed[:, np.sort(selector.selected_)])


def test_models_that_accept_missing_values(holed, y):
    model = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=5)
    with threadpool_limits(1, user_api="openmp"):  # threads of several processes would compete
        pipeline = make_pipeline(HSICLasso(3, missing="ignore"), model).fit(holed, y)
        assert np.isfinite(pipeline.predict(holed)).all()
        search = HSICLassoCV(HSICLasso(missing="ignore"), model, sizes=[1, 3], cv=2).fit(holed, y)
        assert np.isfinite(search.predict(holed)).all()
