"""The learnt kernel against dense Gram matrices, and in the hands of kernel methods."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR

from hsiclasso import (
    Delta,
    FewerFeaturesWarning,
    Gaussian,
    HSICLasso,
    InvalidInputError,
    Laplace,
    Linear,
    NOCCOLasso,
    Polynomial,
    SelectedKernel,
    make_data1,
)
from tests import oracles
from tests.selectors.dense import MEASURES, PLAIN_DELTA, selector_of


@pytest.fixture(scope="module")
def data():
    return make_data1(60, 8, random_state=0)[:2]


@pytest.fixture(scope="module")
def rounded(data):
    """A table with few distinct values, for the delta kernel."""
    return np.round(data[0]), data[1]


def gram(x, kernel):
    if kernel == "delta":
        return oracles.delta_gram(x)
    width = kernel
    if kernel == "median":
        width = oracles.median_nonzero_distance(oracles.standardise(x))
    return oracles.gaussian_gram(x, width)


KERNELS = {
    1.0: {},
    0.5: {"x_width": 0.5},
    "median": {"x_width": "median"},
    "delta": {"x_kernel": "delta"},
}


@pytest.mark.parametrize("kernel", KERNELS)
class TestAgainstDenseMatrices:
    def expected(self, selector, X, kernel, *, normalised=False):
        total = 0
        for k in selector.selected_:
            K = gram(X[:, k], kernel)
            norm = np.linalg.norm(oracles.centre(K)) if normalised else 1.0
            total = total + selector.coef_[k] / norm * K
        return total

    @pytest.mark.parametrize("measure", ["hsic", "nhsic"])
    def test_weighted_sum_of_gram_matrices(self, kernel, measure, rounded):
        X, y = rounded
        selector = HSICLasso(5, measure=measure, tol=1e-10, **KERNELS[kernel]).fit(X, y)
        expected = self.expected(selector, X, kernel, normalised=measure == "nhsic")
        found = selector.selected_kernel_(X)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10 * expected.max())

    def test_weights_of_nocco_as_they_are(self, kernel, rounded):
        X, y = rounded
        selector = NOCCOLasso(5, **KERNELS[kernel]).fit(X, y)
        found = selector.selected_kernel_(X)
        np.testing.assert_allclose(found, self.expected(selector, X, kernel), rtol=1e-8)

    def test_it_fits_the_target_as_the_certificate_says(self, kernel, rounded):
        """The centred kernel is what the lasso fitted: its residual is the objective's."""
        X, y = rounded
        options = {"tol": 1e-10, **KERNELS[kernel]}
        selector = HSICLasso(alpha=0.0, **options).fit(X, y)
        fitted = oracles.centre(selector.selected_kernel_(X))
        target = oracles.centre(oracles.gaussian_gram(y))
        # at the end of the path the residual is at right angles to the fit
        right_angle = np.sum(fitted * (target - fitted))
        assert abs(right_angle) < 1e-7 * np.sum(target**2)

    def test_between_two_tables(self, kernel, rounded):
        X, y = rounded
        learnt = HSICLasso(4, **KERNELS[kernel]).fit(X, y).selected_kernel_
        whole = learnt(X)
        np.testing.assert_array_equal(learnt(X[:20], X[20:]), whole[:20, 20:])
        np.testing.assert_array_equal(learnt(X, X), whole)
        np.testing.assert_array_equal(learnt(X.copy(), X.copy()), whole)
        np.testing.assert_array_equal(learnt.transform(X[:9]), whole[:9])
        np.testing.assert_allclose(whole, whole.T)
        assert np.linalg.eigvalsh(whole).min() > -1e-10 * np.linalg.norm(whole)

    def test_pickling(self, kernel, rounded):
        X, y = rounded
        learnt = HSICLasso(4, **KERNELS[kernel]).fit(X, y).selected_kernel_
        again = pickle.loads(pickle.dumps(learnt))
        assert isinstance(again, SelectedKernel)
        np.testing.assert_array_equal(again.transform(X), learnt.transform(X))


def test_values_not_seen_before_are_like_nothing(rounded):
    X, y = rounded
    learnt = HSICLasso(3, x_kernel="delta").fit(X, y).selected_kernel_
    new = np.vstack([X[:2], np.full((1, 8), 0.25), np.full((1, 8), 1e9)])
    assert (learnt.transform(new)[2:] == 0).all()
    assert (learnt(new)[2:, 2:] == 0).all()
    assert (learnt.transform(new)[:2].max(axis=1) > 0).all()
    partly = X[:1].copy()
    partly[0, learnt.columns[0]] = 0.25
    assert (learnt.transform(partly[[0, 0, 0]])[0] <= learnt.transform(X[:3])[0]).all()


def test_only_the_selected_columns_matter(data):
    X, y = data
    selector = HSICLasso(3).fit(X, y)
    other = X.copy()
    other[:, np.setdiff1d(np.arange(8), selector.selected_)] = 7.0
    learnt = selector.selected_kernel_
    np.testing.assert_array_equal(learnt(other), learnt(X))
    assert learnt.columns.tolist() == selector.selected_.tolist()
    assert (learnt.n_features, learnt.n_samples) == (8, 60)


@pytest.mark.parametrize("convert", [pd.DataFrame, sparse.csr_matrix, np.ndarray.tolist])
def test_tables_of_every_kind(convert, data):
    X, y = data
    learnt = HSICLasso(3).fit(X, y).selected_kernel_
    np.testing.assert_array_equal(learnt.transform(convert(X)), learnt.transform(X))


def test_columns_without_weight_add_nothing(data):
    X = np.repeat(data[0][:, :1], 3, axis=1)
    with pytest.warns(FewerFeaturesWarning):
        selector = HSICLasso(3).fit(X, X[:, 0])
    assert selector.selected_kernel_.weights[1:].tolist() == [0, 0]
    np.testing.assert_allclose(
        selector.selected_kernel_(X), selector.coef_[0] * oracles.gaussian_gram(X[:, 0])
    )


def test_nothing_selected_is_a_kernel_of_zeros(data):
    learnt = HSICLasso(alpha_ratio=1.0).fit(*data).selected_kernel_
    assert (learnt(data[0]) == 0).all()


class TestKernelMethods:
    def test_support_vector_machines(self):
        X, y, _ = make_data1(150, 20, random_state=0)
        learnt = HSICLasso(4).fit(X[:100], y[:100]).selected_kernel_
        model = SVR(kernel=learnt, C=100).fit(X[:100], y[:100])
        plain = SVR(C=100).fit(X[:100], y[:100])
        assert model.score(X[100:], y[100:]) > plain.score(X[100:], y[100:])

    def test_classes(self, data):
        X, _ = data
        y = np.where(np.abs(X[:, 2]) > 0.7, "far", "near")
        learnt = HSICLasso(2).fit(X, y).selected_kernel_
        assert SVC(kernel=learnt, C=100).fit(X[:40], y[:40]).score(X[40:], y[40:]) > 0.8

    def test_a_matrix_computed_before(self, data):
        X, y = data
        learnt = HSICLasso(3).fit(X[:40], y[:40]).selected_kernel_
        ridge = KernelRidge(kernel="precomputed", alpha=0.1)
        ridge.fit(learnt.transform(X[:40]), y[:40])
        called = KernelRidge(kernel="precomputed", alpha=0.1).fit(learnt(X[:40]), y[:40])
        expected = called.predict(learnt(X[40:], X[:40]))
        np.testing.assert_allclose(ridge.predict(learnt.transform(X[40:])), expected)
        assert np.corrcoef(expected, y[40:])[0, 1] > 0.5

    def test_a_pipeline_with_its_own_selection(self, data):
        X, y = data
        selector = HSICLasso(3)
        values = make_pipeline(selector, SVR()).fit(X, y).predict(X)
        assert values.shape == y.shape
        assert selector.selected_kernel_.columns.size == 3


@pytest.mark.parametrize("width", [3, 9])
def test_tables_of_another_width_are_refused(width, data):
    learnt = HSICLasso(3).fit(*data).selected_kernel_
    table = np.ones((5, width))
    for call in (learnt, learnt.transform, lambda X: learnt(data[0], X)):
        with pytest.raises(InvalidInputError, match=f"{width} columns, .*learnt on 8: pass all"):
            call(table)


@pytest.mark.parametrize("n", [1, 2])
def test_single_samples(n, data):
    X, y = data
    learnt = HSICLasso(3).fit(X, y).selected_kernel_
    np.testing.assert_array_equal(learnt.transform(X[:n]), learnt.transform(X)[:n])
    np.testing.assert_array_equal(learnt(X[:n], X), learnt(X)[:n])


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_unit_of_a_column_does_not_matter(scale, data):
    X, y = data
    plain, scaled = (HSICLasso(3).fit(factor * X, y) for factor in (1.0, scale))
    assert plain.selected_.tolist() == scaled.selected_.tolist()
    found, expected = scaled.selected_kernel_(scale * X), plain.selected_kernel_(X)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


# --------------------------------------------------------- kernels and columns of every kind

EVERY_KERNEL = [
    Gaussian(0.5), Gaussian("median"), Gaussian((0.5, "median", 2.0)), Laplace(), Laplace("median"),
    Linear(), Polynomial(), Polynomial(3, 0.0), Delta(), PLAIN_DELTA,
]  # fmt: skip


def dense_kernel(selector, columns, kernels, weights=None, functions=None):
    """The sum of a_k K_k over features, by the first column of each; 0 where one is missing.

    A normalised measure divides K by the norm of A, and missing values multiply it as they do A.
    """
    measure = getattr(selector, "measure", "nocco")
    total = 0
    for first, values in columns.items():
        values, kernel = np.atleast_2d(values), kernels[first]
        seen = ~np.isnan(values).any(axis=0)
        w = np.ones(seen.size) if weights is None else weights
        share = w[seen].sum() / w.sum()
        K = oracles.kernel_gram(values[:, seen], kernel, w[seen])
        if getattr(kernel, "by_count", False):
            K = K * share  # 1/n_x, were no value missing
        some = None if functions is None else functions[:, seen]
        norm = np.linalg.norm(oracles.projected(K, w[seen], some)) if measure == "nhsic" else 1.0
        whole = np.zeros((seen.size, seen.size))
        whole[np.ix_(seen, seen)] = K / (share if measure == "hsic" else 1.0) / norm
        total = total + selector.coef_[first] * whole
    return total


def assert_close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=repr)
class TestEveryKernel:
    def fit(self, kernel, measure, X, y, **given):
        options = {"x_kernel": kernel, "missing": "ignore"}
        return selector_of(measure, 4, **options).fit(X, y, **given)

    def expected(self, selector, X, kernel, weights=None):
        return dense_kernel(selector, dict(enumerate(X.T)), [kernel] * 8, weights)

    def test_plain(self, kernel, measure, rounded):
        X, y = rounded
        selector = self.fit(kernel, measure, X, y)
        assert_close(selector.selected_kernel_(X), self.expected(selector, X, kernel))
        assert_close(selector.selected_kernel_.transform(X), selector.selected_kernel_(X))

    def test_weights(self, kernel, measure, rounded, rng):
        X, y = rounded
        weights = rng.uniform(0.2, 3, 60)
        selector = self.fit(kernel, measure, X, y, sample_weight=weights)
        assert_close(selector.selected_kernel_(X), self.expected(selector, X, kernel, weights))

    def test_missing_values(self, kernel, measure, rounded, rng):
        X, y = rounded
        X = np.where(rng.random(X.shape) < 0.15, np.nan, X)
        selector = self.fit(kernel, measure, X, y)
        learnt = selector.selected_kernel_
        assert_close(learnt(X), self.expected(selector, X, kernel))
        assert_close(learnt(X[:7], X), learnt(X)[:7])
        assert_close(learnt.transform(X[:7]), learnt(X)[:7])

    def test_repeated_samples(self, kernel, measure, rounded, rng):
        X, y = rounded
        times = rng.integers(1, 4, 60)
        weighted = self.fit(kernel, measure, X, y, sample_weight=times).selected_kernel_
        again = self.fit(kernel, measure, np.repeat(X, times, 0), np.repeat(y, times))
        assert_close(weighted(X), again.selected_kernel_(X))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    "kernel", [Gaussian(), Gaussian("median"), Linear(), Polynomial(), PLAIN_DELTA], ids=repr
)
def test_joint_features(kernel, measure, rounded):
    X, y = rounded
    joint = {"v": [5, 1], "w": [2, 0, 7]}
    selector = selector_of(measure, 4, joint=joint, x_kernel=kernel).fit(X, y)
    columns = {5: X[:, [5, 1]].T, 2: X[:, [2, 0, 7]].T, 3: X[:, 3], 4: X[:, 4], 6: X[:, 6]}
    learnt = selector.selected_kernel_
    assert_close(learnt(X), dense_kernel(selector, columns, [kernel] * 8))
    assert sorted(learnt.columns) == sorted(selector.selected_)
    assert learnt.weights.size == len(selector.result_.features)


@pytest.mark.parametrize("measure", MEASURES)
def test_what_covariates_explain_is_in_the_norm_only(measure, rounded, rng):
    X, y = rounded
    age = rng.standard_normal(60)
    selector = selector_of(measure, 4).fit(X, y, covariates=age)
    functions = oracles.covariate_functions(age)
    expected = dense_kernel(selector, dict(enumerate(X.T)), [Gaussian()] * 8, None, functions)
    assert_close(selector.selected_kernel_(X), expected)


def labelled(codes, x, library="pandas"):
    columns = {
        "kind": np.array(["b", "d", "c", "a"])[codes], "x": x,
        "word": np.array(["y", "z", "x", "w"])[codes[::-1]],
    }  # fmt: skip
    if library == "polars":
        return pl.DataFrame(columns).with_columns(pl.col("kind").cast(pl.Categorical))
    return pd.DataFrame(columns).astype({"kind": "category"})


@pytest.mark.parametrize("library", ["pandas", "polars"])
class TestLabels:
    @pytest.fixture
    def codes(self, rng):
        return rng.integers(0, 3, 60)

    @pytest.fixture
    def fitted(self, library, codes, rng):
        x = rng.standard_normal(60)
        y = 2.0 * (codes == 1) + x + 2.0 * (codes[::-1] == 2)
        frame = labelled(codes, x, library)
        return HSICLasso(3).fit(frame, y), frame, x

    def test_against_dense_matrices(self, library, codes, fitted):
        selector, frame, x = fitted
        columns, kernels = {0: codes, 1: x, 2: codes[::-1]}, [PLAIN_DELTA, Gaussian(), PLAIN_DELTA]
        assert_close(selector.selected_kernel_(frame), dense_kernel(selector, columns, kernels))

    def test_tables_with_fewer_labels(self, library, codes, fitted):
        """The codes of text start anew in every table."""
        selector, frame, _ = fitted
        whole = selector.selected_kernel_(frame)
        for label in (1, 2):
            rows = np.flatnonzero(codes == label)
            part = frame.iloc[rows] if library == "pandas" else frame[rows.tolist()]
            assert_close(selector.selected_kernel_.transform(part), whole[rows])
            assert_close(selector.selected_kernel_(part, frame), whole[rows])
            assert_close(selector.selected_kernel_(part), whole[np.ix_(rows, rows)])

    def test_tables_of_another_library_and_other_codes(self, library, codes, fitted):
        selector, frame, x = fitted
        other = labelled(codes, x, "polars" if library == "pandas" else "pandas")
        assert_close(selector.selected_kernel_(other), selector.selected_kernel_(frame))
        if library == "pandas":
            recoded = frame.assign(
                kind=frame["kind"].cat.set_categories(["zz", "d", "c", "b"]),
                word=frame["word"].astype("category"),
            )
            assert_close(selector.selected_kernel_(recoded), selector.selected_kernel_(frame))

    def test_labels_not_seen_before_are_like_nothing(self, library, codes, fitted):
        selector, _, x = fitted
        new = labelled(np.full(60, 3), x, library)
        only_x = dense_kernel(selector, {1: x}, [None, Gaussian()])
        assert_close(selector.selected_kernel_.transform(new), only_x)
        assert_close(selector.selected_kernel_(new), only_x)

    def test_missing_labels(self, library, codes, fitted):
        selector, frame, x = fitted
        if library == "pandas":
            gone = frame.assign(kind=frame["kind"].where([False] * 60))
        else:
            gone = frame.with_columns(kind=pl.lit(None, dtype=pl.Categorical))
        columns, kernels = {1: x, 2: codes[::-1]}, [None, Gaussian(), PLAIN_DELTA]
        expected = dense_kernel(selector, columns, kernels)
        assert_close(selector.selected_kernel_.transform(gone), expected)

    def test_pickling(self, library, codes, fitted):
        selector, frame, _ = fitted
        again = pickle.loads(pickle.dumps(selector.selected_kernel_))
        np.testing.assert_array_equal(again(frame), selector.selected_kernel_(frame))

    def test_codes_instead_of_labels_are_refused(self, library, codes, fitted):
        selector, _, x = fitted
        with pytest.raises(InvalidInputError, match=r"label|categor|text"):
            selector.selected_kernel_(np.column_stack([codes, x, codes[::-1]]))


def test_samples_that_were_dropped_are_not_remembered(data):
    X, y = data
    target = y.copy()
    target[:5] = np.nan
    learnt = HSICLasso(3, missing_target="drop").fit(X, target).selected_kernel_
    by_hand = HSICLasso(3).fit(X[5:], y[5:]).selected_kernel_
    assert (learnt.n_samples, learnt.transform(X).shape) == (55, (60, 55))
    assert_close(learnt.transform(X), by_hand.transform(X))
    weighted = HSICLasso(3).fit(X, y, sample_weight=np.arange(60) >= 5).selected_kernel_
    assert_close(weighted.transform(X), by_hand.transform(X))


def test_classes_of_a_mixed_frame(rng):
    codes = rng.integers(0, 3, 90)
    frame = labelled(codes, rng.standard_normal(90))
    y = np.where((codes == 1) ^ (frame["x"].to_numpy() > 0), "in", "out")
    learnt = HSICLasso(2).fit(frame[:60], y[:60]).selected_kernel_
    model = SVC(kernel="precomputed", C=100).fit(learnt.transform(frame[:60]), y[:60])
    assert model.predict(learnt.transform(frame[60:])).shape == (30,)
