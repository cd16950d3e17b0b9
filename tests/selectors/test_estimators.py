"""The estimators as scikit-learn users meet them."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.linear_model import lars_path_gram
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from hsiclasso import HSICLasso, NOCCOLasso, make_data1, make_data2
from tests import oracles

ESTIMATORS = [HSICLasso(), HSICLasso(measure="nhsic"), NOCCOLasso()]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        *ESTIMATORS, HSICLasso(alpha=0.1), NOCCOLasso(2, x_kernel="delta"),
        HSICLasso(missing="ignore"), HSICLasso(x_kernel="laplace"),
        HSICLasso(measure="nhsic", x_kernel={"number": "polynomial"}),
    ]
)  # fmt: skip
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data1():
    return make_data1(150, 40, random_state=1)


def measure_of(estimator):
    return getattr(estimator, "measure", "nocco")


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=measure_of)
@pytest.mark.parametrize("make", [make_data1, make_data2])
def test_same_features_in_the_same_order_as_the_dense_problem(estimator, make):
    X, y, _ = make(100, 60, random_state=3)
    selector = clone(estimator).set_params(n_features_to_select=25).fit(X, y)
    design, target = oracles.explicit_problem(X, y, measure_of(estimator))
    active, weights, alpha = oracles.dense_path(design, target, 25)
    assert selector.selected_.tolist() == active[np.argsort(-weights)].tolist()
    np.testing.assert_allclose(
        selector.coef_[active], weights, rtol=1e-3, atol=1e-5 * weights.max()
    )
    assert selector.path_.alpha == pytest.approx(alpha, rel=1e-4)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=measure_of)
def test_solution_is_optimal_for_the_paper_s_objective(estimator):
    """No feasible step from the solution lowers the objective written with n x n matrices."""
    X, y, _ = make_data1(60, 12, random_state=0)
    measure = measure_of(estimator)
    selector = clone(estimator).set_params(n_features_to_select=4, tol=1e-10).fit(X, y)
    A = np.array([oracles.measure_matrix(oracles.gaussian_gram(x), measure) for x in X.T])
    T = oracles.measure_matrix(oracles.gaussian_gram(y), measure)
    alpha, rng = selector.path_.alpha, np.random.default_rng(0)
    best = oracles.objective(A, T, selector.coef_, alpha)
    for scale in (1e-3, 1e-1, 1.0):
        for _ in range(30):
            step = scale * rng.standard_normal(12) * selector.coef_.max()
            other = np.maximum(selector.coef_ + step, 0)
            assert oracles.objective(A, T, other, alpha) >= best - 1e-9 * abs(best)
    smooth = best - alpha * selector.coef_.sum()
    assert smooth == pytest.approx(oracles.expanded_objective(A, T, selector.coef_), rel=1e-9)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=measure_of)
def test_path_on_the_explicit_problem_with_n_squared_rows(estimator):
    """Section 2.4: the same lasso with vectorised matrices, solved by SciPy and scikit-learn."""
    X, y, _ = make_data1(40, 15, random_state=5)
    design, target = oracles.explicit_problem(X, y, measure_of(estimator))
    tight = clone(estimator).set_params(tol=1e-10)

    end = clone(tight).set_params(alpha=0.0).fit(X, y).coef_
    np.testing.assert_allclose(end, nnls(design, target)[0], rtol=1e-6, atol=1e-8 * end.max())

    alphas, _, path = lars_path_gram(
        design.T @ target, design.T @ design, n_samples=1, positive=True, method="lasso"
    )
    for alpha, expected in zip(alphas[1:-1], path.T[1:-1], strict=True):
        found = clone(tight).set_params(alpha=alpha).fit(X, y).coef_
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7 * expected.max())


def test_finds_the_causal_features():
    X, y, causal = make_data1(500, 256, random_state=0)
    assert set(HSICLasso(4).fit(X, y).selected_) == set(causal)
    assert set(NOCCOLasso(4).fit(X, y).selected_) == set(causal)


def test_a_rank_transformed_target_finds_the_third_feature_of_data2():
    X, y, causal = make_data2(300, 500, random_state=0)
    selector = HSICLasso(3, y_transform="rank").fit(X, y)
    assert set(selector.selected_) == set(causal)


def test_fitted_attributes(data1):
    X, y, _ = data1
    selector = HSICLasso(5).fit(X, y)
    assert selector.coef_.shape == selector.relevance_.shape == (40,)
    assert (np.flatnonzero(selector.coef_) == np.sort(selector.selected_)).all()
    assert (np.diff(selector.coef_[selector.selected_]) <= 0).all()
    assert selector.n_features_in_ == 40
    assert not hasattr(selector, "feature_names_in_")
    assert selector.get_support(indices=True).tolist() == sorted(selector.selected_)
    assert selector.result_.certificate.duality_gap < 1e-12
    assert selector.result_.certificate.kkt_residual < 1e-12


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, np.uint8, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_any_kind(dtype, order, data1):
    X, y, _ = data1
    base = np.clip(np.round(3 * X + 12), 0, 255)
    X = np.array(base > 12 if dtype is bool else base, dtype=dtype, order=order)
    before = X.copy()
    kernel = "plain_delta" if dtype is bool else "gaussian"
    expected = HSICLasso(5, x_kernel=kernel).fit(X.astype(float), y).coef_
    np.testing.assert_allclose(HSICLasso(5).fit(X, y).coef_, expected, rtol=1e-5)
    np.testing.assert_array_equal(X, before)


def test_strided_and_read_only_arrays(data1):
    X, y, _ = data1
    wide = np.repeat(X, 2, axis=1)
    wide.flags.writeable = False
    np.testing.assert_allclose(
        HSICLasso(5).fit(wide[:, ::2], y).coef_, HSICLasso(5).fit(X, y).coef_, rtol=1e-10
    )


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames(make, data1):
    X, y, _ = data1
    names = [f"gene{j}" for j in range(40)]
    selector = HSICLasso(5).fit(make(dict(zip(names, X.T, strict=True))), y)
    plain = HSICLasso(5).fit(X, y)
    np.testing.assert_allclose(selector.coef_, plain.coef_, rtol=1e-10)
    assert selector.feature_names_in_.tolist() == names
    assert selector.result_.names == tuple(names[j] for j in plain.selected_)
    assert set(selector.get_feature_names_out()) == set(selector.result_.names)


def test_mixed_frame(data1):
    X, y, _ = data1
    frame = pd.DataFrame(X[:, :6]).rename(columns=str)
    frame["flag"] = X[:, 6] > 0
    frame["count"] = np.arange(150, dtype=np.int8) % 7
    frame["nullable"] = pd.array(np.arange(150) % 5, dtype="Int64")
    frame["object"] = pd.Series(list(X[:, 7]), dtype=object)
    selector = HSICLasso(4).fit(frame, y)
    plain = HSICLasso(4).fit(frame.to_numpy(dtype=float), y)
    np.testing.assert_allclose(selector.coef_, plain.coef_, rtol=1e-10)


@pytest.mark.parametrize("convert", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse(convert, rng):
    X = rng.poisson(0.3, (80, 30)).astype(float)
    y = X[:, 3] + X[:, 8] + 0.1 * rng.standard_normal(80)
    selector = HSICLasso(2, tol=1e-12).fit(convert(X), y)
    dense = HSICLasso(2, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(selector.coef_, dense.coef_, rtol=1e-10)
    assert selector.transform(convert(X)).shape == (80, 2)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output(library, data1):
    X, y, _ = data1
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(40)])
    out = HSICLasso(3).set_output(transform=library).fit(frame, y).transform(frame)
    assert type(out).__module__.split(".")[0] == library
    assert out.shape == (150, 3)


def test_pipeline_grid_search_clone_and_pickle(data1):
    X, y, _ = data1
    pipeline = make_pipeline(HSICLasso(n_neighbors=0), SVR())
    search = GridSearchCV(pipeline, {"hsiclasso__n_features_to_select": [2, 4]}, cv=2).fit(X, y)
    fitted = search.best_estimator_[0]
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.coef_, fitted.coef_)
    assert clone(fitted).get_params() == fitted.get_params()
    np.testing.assert_array_equal(clone(fitted).fit(X, y).coef_, fitted.coef_)


def test_tags():
    for estimator in ESTIMATORS:
        tags = get_tags(estimator)
        assert tags.target_tags.required
        assert tags.input_tags.sparse
        assert not tags.input_tags.allow_nan


def test_transform_preserves_dtype(data1):
    X, y, _ = data1
    X = X.astype(np.float32)
    assert HSICLasso(3).fit_transform(X, y).dtype == np.float32


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=measure_of)
class TestInvariances:
    """What must not change the answer, and what must change it in a known way."""

    def fit(self, estimator, X, y, **options):
        return clone(estimator).set_params(n_features_to_select=6, **options).fit(X, y)

    def test_features_permuted(self, estimator, data1, rng):
        X, y, _ = data1
        order = rng.permutation(40)
        base, moved = self.fit(estimator, X, y), self.fit(estimator, X[:, order], y)
        np.testing.assert_allclose(moved.coef_, base.coef_[order], rtol=1e-8)

    def test_samples_permuted(self, estimator, data1, rng):
        X, y, _ = data1
        order = rng.permutation(150)
        base, moved = self.fit(estimator, X, y), self.fit(estimator, X[order], y[order])
        np.testing.assert_allclose(moved.coef_, base.coef_, rtol=1e-8)

    def test_columns_shifted_and_scaled(self, estimator, data1, rng):
        X, y, _ = data1
        moved = self.fit(estimator, X * rng.uniform(-9, 9, 40) + rng.standard_normal(40), 5 - 3 * y)
        base = self.fit(estimator, X, y)
        assert moved.selected_.tolist() == base.selected_.tolist()
        np.testing.assert_allclose(moved.coef_, base.coef_, rtol=1e-4)

    def test_column_duplicated(self, estimator, data1):
        X, y, _ = data1
        base = self.fit(estimator, X, y)
        best = base.selected_[0]
        twice = self.fit(estimator, np.column_stack([X, X[:, best]]), y)
        np.testing.assert_allclose(twice.coef_[:40], base.coef_, rtol=1e-8)
        assert twice.coef_[40] == 0
        assert twice.result_.features[0].neighbours[0].index == 40
        assert twice.result_.features[0].neighbours[0].similarity == pytest.approx(1)

    def test_every_column_duplicated(self, estimator, data1):
        X, y, _ = data1
        base = self.fit(estimator, X, y)
        twice = self.fit(estimator, np.hstack([X, X]), y)
        np.testing.assert_allclose(twice.coef_[:40], base.coef_, rtol=1e-8)

    def test_threads(self, estimator, data1):
        X, y, _ = data1
        one, two = self.fit(estimator, X, y, n_jobs=1), self.fit(estimator, X, y, n_jobs=2)
        np.testing.assert_array_equal(one.coef_, two.coef_)

    def test_tolerance(self, estimator, data1):
        X, y, _ = data1
        base, tight = self.fit(estimator, X, y), self.fit(estimator, X, y, tol=1e-10)
        assert base.selected_.tolist() == tight.selected_.tolist()
        np.testing.assert_allclose(base.coef_, tight.coef_, rtol=1e-3)
        assert tight.result_.embedding_error <= 1e-10

    @pytest.mark.parametrize("embedding", ["table", "cholesky"])
    def test_embedding(self, estimator, embedding, data1):
        X, y, _ = data1
        base, other = self.fit(estimator, X, y), self.fit(estimator, X, y, embedding=embedding)
        assert base.selected_.tolist() == other.selected_.tolist()
        np.testing.assert_allclose(base.coef_, other.coef_, rtol=1e-3)


@pytest.mark.parametrize(
    "options",
    [
        {"x_width": 0.3}, {"x_width": "median"}, {"y_width": 0.3}, {"y_width": "median"},
        {"y_transform": "rank"}, {"x_kernel": "delta"}, {"y_kernel": "delta"},
    ],
    ids=str,
)  # fmt: skip
def test_every_option_changes_the_answer(options, rng):
    X, y, _ = make_data1(120, 20, random_state=2)
    X, y = np.round(X, 1), np.round(y)
    base = HSICLasso(5, task="regression").fit(X, y)
    other = HSICLasso(5, task="regression", **options).fit(X, y)
    assert np.abs(base.coef_ - other.coef_).max() > 1e-3 * base.coef_.max()


def test_epsilon_changes_the_answer(data1):
    X, y, _ = data1
    small, large = (NOCCOLasso(5, epsilon=e).fit(X, y).coef_ for e in (1e-4, 1e-1))
    assert np.abs(small - large).max() > 1e-3 * small.max()


def test_no_warning_on_clean_data(data1):
    X, y, _ = data1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HSICLasso(3).fit(X, y)
