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
from sklearn.utils import get_tags

from hsiclasso import (
    ConstantFeatureWarning,
    Delta,
    FewerFeaturesWarning,
    FewObservedWarning,
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

N = 60
LETTERS = np.array(["b", "c", "a"])


@pytest.fixture(scope="module", name="X")
def make_table():
    return np.round(np.random.default_rng(11).standard_normal((N, 6)), 1)


@pytest.fixture(scope="module", name="holed")
def make_holed(X):
    """Up to a third of a column missing; the last column is complete."""
    rng = np.random.default_rng(1)
    gone = rng.random(X.shape) < [0.05, 0.1, 0.2, 0.3, 0.33, 0.0]
    return np.where(gone, np.nan, X)


@pytest.fixture(scope="module", name="y")
def make_target(X):
    return X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2


def target(y, measure="hsic", weights=None):
    return target_matrix(oracles.kernel_gram(y, Gaussian(), weights), measure, weights)


KERNELS = {
    "gaussian": Gaussian(), "narrow": Gaussian(0.4), "median": Gaussian("median"),
    "widths": Gaussian((0.5, 2.0)), "laplace": Laplace(), "linear": Linear(),
    "polynomial": Polynomial(), "delta": Delta(), "plain delta": PLAIN_DELTA,
}  # fmt: skip


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", KERNELS)
class TestKernels:
    def test_solves_the_dense_problem(self, name, measure, holed, y):
        options = {"x_kernel": KERNELS[name], "missing": "ignore"}
        selector = selector_of(measure, **options).fit(holed, y)
        A = feature_matrices(holed.T, KERNELS[name], measure)
        assert_solves(selector, A, target(y, measure))
        assert selector.n_observed_.tolist() == (~np.isnan(holed)).sum(axis=0).tolist()

    def test_nothing_missing_is_nothing_new(self, name, measure, X, y):
        options = {"x_kernel": KERNELS[name]}
        ignoring = selector_of(measure, missing="ignore", **options).fit(X, y)
        assert_same(ignoring, selector_of(measure, **options).fit(X, y), rtol=1e-10)
        assert ignoring.n_observed_.tolist() == [N] * 6


@pytest.mark.parametrize("measure", MEASURES)
def test_sparse_tables(measure, y, rng):
    table = rng.poisson(0.7, (N, 6)).astype(float)
    table[:, 0] += np.maximum(np.round(y), 0)
    table[rng.random(table.shape) < 0.15] = np.nan
    for convert in (sparse.csr_matrix, sparse.csc_array):
        selector = selector_of(measure, missing="ignore").fit(convert(table), y)
        assert_solves(selector, feature_matrices(table.T, measure=measure), target(y, measure))
        assert selector.n_observed_.tolist() == (~np.isnan(table)).sum(axis=0).tolist()


def with_labels(holed, library):
    """A frame of numbers, nullable integers, flags, categories and text with holes."""
    codes = np.digitize(holed, [-0.5, 0.5]).astype(float)
    codes[np.isnan(holed)] = np.nan
    flag = np.where(np.isnan(holed[:, 2]), np.nan, holed[:, 2] > 0)
    whole = np.where(np.isnan(holed[:, 1]), np.nan, np.round(holed[:, 1]))
    numbers = [holed[:, 0], whole, flag, codes[:, 3], codes[:, 4], holed[:, 5]]

    def listed(column, make):
        return [None if np.isnan(value) else make(value) for value in column]

    words = [listed(codes[:, k], lambda code: str(LETTERS[int(code)])) for k in (3, 4)]
    columns = {
        "x": listed(holed[:, 0], float), "count": listed(whole, int), "flag": listed(flag, bool),
        "kind": words[0], "word": words[1], "full": holed[:, 5],
    }  # fmt: skip
    if library == "polars":
        return pl.DataFrame(columns).with_columns(pl.col("kind").cast(pl.Categorical)), numbers
    types = {"x": float, "count": "Int64", "flag": "boolean", "kind": "category"}
    return pd.DataFrame(columns).astype(types), numbers


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_mixed_types(library, measure, holed, y):
    frame, numbers = with_labels(holed, library)
    kernels = [Gaussian(), Gaussian(), PLAIN_DELTA, PLAIN_DELTA, PLAIN_DELTA, Gaussian()]
    selector = selector_of(measure, missing="ignore").fit(frame, y)
    assert_solves(selector, feature_matrices(numbers, kernels, measure), target(y, measure))
    observed = (~np.isnan(numbers)).sum(axis=1)
    assert selector.n_observed_.tolist() == observed.tolist()
    for feature in selector.result_.features:
        assert feature.n_observed == observed[feature.index]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_missing_labels_in_a_frame_are_refused_by_default(library, holed, y):
    frame, _ = with_labels(holed, library)
    for name in ("x", "count", "flag", "kind", "word"):
        some = frame[[name, "full"]] if library == "pandas" else frame.select(name, "full")
        message = f"NaN in column '{name}'.*impute or drop.*missing='ignore'"
        with pytest.raises(InvalidInputError, match=message):
            HSICLasso(1).fit(some, y)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_vector_with_a_missing_entry_is_missing(measure, holed, y):
    selector = selector_of(measure, missing="ignore", joint={"v": [3, 1]}).fit(holed, y)
    columns = [holed[:, 0], holed[:, [3, 1]].T, holed[:, 2], holed[:, 4], holed[:, 5]]
    A = feature_matrices(columns, measure=measure)
    assert_solves(selector, A, target(y, measure), features=[0, 3, 2, 4, 5])
    both = int((~np.isnan(holed[:, [1, 3]])).all(axis=1).sum())
    assert selector.n_observed_[3] == both
    (joint,) = [feature for feature in selector.result_.features if feature.name == "v"]
    assert joint.n_observed == both


@pytest.mark.parametrize("task", ["classes", "survival", "affinity"])
@pytest.mark.parametrize("measure", MEASURES)
def test_targets_of_other_forms(task, measure, holed, y):
    A = feature_matrices(holed.T, measure=measure)
    if task == "classes":
        target, gram = np.where(y > 0.5, "high", "low"), oracles.delta_gram(y > 0.5)
        options = {}
    elif task == "survival":
        time, event = np.exp(y), np.arange(N) % 4 > 0
        target, options = (time, event), {"task": "survival"}
        gram = oracles.log_rank_matrix(oracles.gaussian_gram(time), time, event)
    else:
        gram = oracles.gaussian_gram(y) + oracles.gaussian_gram(y, 0.1)
        target, options = gram, {"y_kernel": "precomputed"}
    selector = selector_of(measure, missing="ignore", **options).fit(holed, target)
    assert_solves(selector, A, target_matrix(gram, measure))


@pytest.mark.parametrize("measure", MEASURES)
def test_weighted_samples(measure, holed, y, rng):
    weights = rng.uniform(0.2, 3, N)
    selector = selector_of(measure, missing="ignore").fit(holed, y, sample_weight=weights)
    A = feature_matrices(holed.T, measure=measure, weights=weights)
    assert_solves(selector, A, target(y, measure, weights))


def test_changes_the_answer(X, holed, y):
    assert_differs(HSICLasso(3).fit(X, y), HSICLasso(3, missing="ignore").fit(holed, y))


def test_a_dependence_is_found_through_gaps(rng):
    X = rng.standard_normal((200, 30))
    y = np.sin(3 * X[:, 7]) + 0.1 * rng.standard_normal(200)
    X[rng.random(200) < 0.4, 7] = np.nan
    ignoring = HSICLasso(1, missing="ignore").fit(X, y)
    assert ignoring.selected_.tolist() == [7]
    assert ignoring.n_observed_[7] < 0.7 * 200


def test_incomplete_features_are_not_preferred(rng):
    X, y = rng.integers(0, 3, (200, 200)).astype(float), rng.standard_normal(200)
    X[(rng.random(X.shape) < 0.5) & (np.arange(200) < 100)] = np.nan
    for measure in MEASURES:
        options = {"missing": "ignore", "min_observed": 0.3}
        selected = selector_of(measure, 20, tol=1e-6, **options).fit(X, y).selected_
        assert 3 <= np.sum(selected < 100) <= 17  # binomial: beyond with probability 0.0026


def test_relevance_counts_by_what_is_observed(rng):
    X = rng.standard_normal((150, 3))
    y = X[:, 0] ** 2 + X[:, 1]
    for measure in MEASURES:
        full = selector_of(measure, 1, tol=1e-6).fit(X, y).relevance_
        found = []
        for seed in range(25):
            gone = np.random.default_rng(seed).random(X.shape) < 0.3
            table = np.where(gone, np.nan, X)
            found.append(selector_of(measure, 1, tol=1e-6, missing="ignore").fit(table, y))
        mean = np.mean([selector.relevance_ for selector in found], axis=0)
        assert (mean[:2] > 0.65 * full[:2]).all()
        assert (mean[:2] < 0.95 * full[:2]).all()


# ------------------------------------------------------------------------------ seldom observed


def seldom(X, n_observed):
    table = X.copy()
    table[n_observed:, 1] = np.nan
    return table


@pytest.mark.parametrize(
    ("min_observed", "least"),
    [(0.5, 30), (0.51, 31), (0.1, 6), (1.0, 60), (25, 25), (1, 3), (0.01, 3), (np.int64(40), 40)],
)
def test_fewest_samples_of_a_feature(min_observed, least, X, y):
    options = {"missing": "ignore", "min_observed": min_observed}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        enough = HSICLasso(2, **options).fit(seldom(X, least), y)
    assert enough.relevance_[1] > 0
    assert enough.result_.few_observed == ()
    message = rf"1 of 6 columns are observed on fewer than {least} samples \(min_observed\).*: x1"
    with pytest.warns(FewObservedWarning, match=message):
        few = HSICLasso(2, **options).fit(seldom(X, least - 1), y)
    assert few.relevance_[1] == few.coef_[1] == 0
    assert few.result_.few_observed == ("x1",)
    assert few.result_.constant == ()
    assert few.n_observed_[1] == least - 1
    assert json.loads(few.result_.to_json())["few_observed"] == ["x1"]
    rest = HSICLasso(2).fit(X[:, [0, 2, 3, 4, 5]], y)
    np.testing.assert_allclose(few.coef_[[0, 2, 3, 4, 5]], rest.coef_, rtol=1e-8)


def test_seldom_observed_features_of_other_kinds(X, y):
    frame = pd.DataFrame(X).rename(columns=str)
    frame["kind"] = pd.Categorical(["a", "b", *[None] * (N - 2)])
    frame["both"] = np.where(np.arange(N) % 2, X[:, 0], np.nan)
    joint = {"v": ["both", "5"]}
    with pytest.warns(FewObservedWarning, match="2 of 8 columns .*fewer than 40.*: kind, v"):
        selector = HSICLasso(2, missing="ignore", min_observed=40, joint=joint).fit(frame, y)
    assert selector.result_.few_observed == ("kind", "v")


def test_features_that_are_nowhere_observed(X, y):
    table = X.copy()
    table[:, :5] = np.nan
    with (
        pytest.warns(FewObservedWarning, match="5 of 6 columns"),
        pytest.warns(FewerFeaturesWarning),
    ):
        selector = HSICLasso(2, missing="ignore").fit(table, y)
    assert selector.selected_.tolist() == [5]
    assert selector.n_observed_.tolist() == [0] * 5 + [N]


def test_constant_where_observed(X, y):
    table = X.copy()
    table[:, 2] = np.where(np.arange(N) % 3, 1.0, np.nan)
    with pytest.warns(ConstantFeatureWarning, match="x2"):
        selector = HSICLasso(2, missing="ignore").fit(table, y)
    assert selector.result_.constant == ("x2",)


BAD_OPTIONS = [
    ({"missing": "drop"}, "missing='drop' is unknown: choose 'error' or 'ignore'"),
    ({"min_observed": 0}, "min_observed=0, but it must be a share of the samples between 0 and 1"),
    ({"min_observed": -0.5}, "min_observed=-0.5"),
    ({"min_observed": np.nan}, "min_observed=nan"),
    ({"min_observed": "half"}, "min_observed='half'"),
    ({"min_observed": True}, "min_observed=True"),
    ({"min_observed": 1.5}, "min_observed=1.5 is no share of the samples: pass a number between"),
    ({"min_observed": 61}, "min_observed=61, but there are 60 samples: ask for fewer"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS, ids=str)
def test_bad_options(options, message, X, y):
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(2, **({"missing": "ignore"} | options)).fit(X, y)


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
@pytest.mark.parametrize("estimator", [HSICLasso, NOCCOLasso])
def test_nan_is_refused_by_default(estimator, container, X, y):
    table = X.copy()
    table[[7, 9], 2] = np.nan
    message = "Input X contains NaN or inf: the first is NaN in column 'x2'.*missing='ignore'"
    with pytest.raises(InvalidInputError, match=message):
        estimator(2).fit(CONTAINERS[container](table), y)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("missing", ["error", "ignore"])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_always_refused(value, missing, container, X, y):
    table = X.copy()
    table[5, 2] = value
    with pytest.raises(InvalidInputError, match="infinity in column 'x2'"):
        HSICLasso(2, missing=missing).fit(CONTAINERS[container](table), y)


def test_infinity_beside_nan_is_refused(holed, y):
    table = holed.copy()
    table[5, 2] = np.inf
    with pytest.raises(InvalidInputError, match="may be missing, but not infinite"):
        HSICLasso(2, missing="ignore").fit(table, y)


def test_values_of_dropped_samples_do_not_matter(X, y):
    table, target = X.copy(), y.copy()
    table[4, 2], target[4] = np.nan, np.nan
    dropped = HSICLasso(2, missing_target="drop").fit(table, target)
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


def test_tags():
    assert get_tags(HSICLasso(missing="ignore")).input_tags.allow_nan
    assert not get_tags(HSICLasso()).input_tags.allow_nan


def test_models_that_accept_missing_values(holed, y):
    model = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5)
    pipeline = make_pipeline(HSICLasso(3, missing="ignore"), model).fit(holed, y)
    assert np.isfinite(pipeline.predict(holed)).all()
    search = HSICLassoCV(HSICLasso(missing="ignore"), model, sizes=[1, 3], cv=2).fit(holed, y)
    assert np.isfinite(search.predict(holed)).all()
