"""The learnt kernel against dense Gram matrices, and in the hands of kernel methods."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR

from hsiclasso import (
    FewerFeaturesWarning,
    HSICLasso,
    InvalidInputError,
    NOCCOLasso,
    SelectedKernel,
    make_data1,
)
from tests import oracles


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
    assert (learnt.n_features, learnt.samples.shape) == (8, (60, 3))


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
