"""The learnt kernel against dense Gram matrices, and in the hands of kernel methods."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR

from hsiclasso import (
    AlphaRatio,
    Delta,
    FewerFeaturesWarning,
    Gaussian,
    HSICLasso,
    InvalidInputError,
    Laplace,
    Linear,
    Polynomial,
    Real,
    SelectedKernel,
    make_data1,
)
from tests import oracles
from tests.selectors.dense import MEASURES, selector_of
from tests.selectors.tables import PLAIN_DELTA, N, holes, same_thing_many_times


@pytest.fixture(scope="module")
def rounded(X):
    """A table with few distinct values, for the delta kernel."""
    return np.round(X)


def dense_kernel(selector, columns, kernels, weights=None, functions=None):
    """The sum of a_k K_k over features, by the first column of each; 0 where one is missing.

    A normalised measure divides K by the norm of A, and missing values multiply it as they do A.
    """
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
        normalised = selector.measure == "nhsic"
        norm = np.linalg.norm(oracles.projected(K, w[seen], some)) if normalised else 1.0
        whole = np.zeros((seen.size, seen.size))
        whole[np.ix_(seen, seen)] = K / (share if selector.measure == "hsic" else 1.0) / norm
        total = total + selector.coef_[first] * whole
    return total


def assert_close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max())


EVERY_KERNEL = [
    Gaussian(0.5), Gaussian("median"), Gaussian((0.5, "median", 2.0)), Laplace(), Laplace("median"),
    Linear(), Polynomial(3, 0.5), Delta(), PLAIN_DELTA,
]  # fmt: skip


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=repr)
class TestEveryKernel:
    def fit(self, kernel, measure, X, y, **given):
        return selector_of(measure, 4, kernel=kernel, missing="ignore").fit(X, y, **given)

    def expected(self, selector, X, kernel, weights=None):
        return dense_kernel(selector, dict(enumerate(X.T)), [kernel] * 7, weights)

    def test_weighted_sum_of_gram_matrices(self, kernel, measure, rounded, y):
        selector = self.fit(kernel, measure, rounded, y)
        learnt, X = selector.selected_kernel_, rounded
        whole = learnt(X)
        assert_close(whole, self.expected(selector, X, kernel))
        np.testing.assert_allclose(whole, whole.T)
        assert np.linalg.eigvalsh(whole).min() > -1e-10 * np.linalg.norm(whole)
        # between tables, and with the samples it was learnt on; single samples are tables too
        np.testing.assert_allclose(learnt(X[:20], X[20:]), whole[:20, 20:], rtol=1e-12)
        for n in (1, 9):
            np.testing.assert_allclose(learnt.transform(X[:n]), whole[:n], rtol=1e-12)
        again = pickle.loads(pickle.dumps(learnt))
        assert isinstance(again, SelectedKernel)
        np.testing.assert_array_equal(again(X, X), whole)

    def test_weights_and_missing_values(self, kernel, measure, rounded, y, rng):
        weights, X = rng.uniform(0.2, 3, N), holes(rounded)
        selector = self.fit(kernel, measure, X, y, sample_weight=weights)
        learnt = selector.selected_kernel_
        assert_close(learnt(X), self.expected(selector, X, kernel, weights))
        assert_close(learnt(X[:7], X), learnt(X)[:7])
        assert_close(learnt.transform(X[:7]), learnt(X)[:7])

    def test_repeated_samples(self, kernel, measure, rounded, y, rng):
        times = rng.integers(1, 4, N)
        weighted = self.fit(kernel, measure, rounded, y, sample_weight=times)
        again = self.fit(kernel, measure, np.repeat(rounded, times, 0), np.repeat(y, times))
        assert_close(weighted.selected_kernel_(rounded), again.selected_kernel_(rounded))


@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(), Delta()], ids=repr)
def test_it_fits_the_target_as_the_certificate_says(kernel, rounded, y):
    """The centred kernel is what the lasso fitted: its residual is the objective's."""
    selector = selector_of(size=None, alpha=0.0, kernel=kernel).fit(rounded, y)
    fitted = oracles.centre(selector.selected_kernel_(rounded))
    target = oracles.centre(oracles.gaussian_gram(y))
    # at the end of the path the residual is at right angles to the fit
    assert abs(np.sum(fitted * (target - fitted))) < 1e-7 * np.sum(target**2)


@pytest.mark.parametrize("measure", MEASURES)
class TestOtherFeatures:
    @pytest.mark.parametrize(
        "kernel", [Gaussian("median"), Gaussian((0.5, 2.0)), Polynomial(), Delta()], ids=repr
    )
    def test_joint(self, kernel, measure, rounded, y):
        joint = {"v": [5, 1], "w": [2, 0, 6]}
        selector = selector_of(measure, 3, joint=joint, kernel=kernel).fit(rounded, y)
        columns = {5: rounded[:, [5, 1]].T, 2: rounded[:, [2, 0, 6]].T}
        columns |= {j: rounded[:, j] for j in (3, 4)}
        learnt = selector.selected_kernel_
        assert_close(learnt(rounded), dense_kernel(selector, columns, [kernel] * 7))
        assert sorted(learnt.columns) == sorted(selector.selected_)
        assert learnt.weights.size == len(selector.result_.features)

    def test_what_covariates_explain_is_in_the_norm_only(self, measure, rounded, y, age):
        selector = selector_of(measure, 4).fit(rounded, y, covariates=age)
        functions, columns = oracles.covariate_functions(age), dict(enumerate(rounded.T))
        expected = dense_kernel(selector, columns, [Gaussian()] * 7, None, functions)
        assert_close(selector.selected_kernel_(rounded), expected)


def test_values_not_seen_before_are_like_nothing(rounded, y):
    learnt = HSICLasso(3, kernel="delta").fit(rounded, y).selected_kernel_
    new = np.vstack([rounded[:2], np.full((1, 7), 0.25), np.full((1, 7), 1e9)])
    assert (learnt.transform(new)[2:] == 0).all()
    assert (learnt(new)[2:, 2:] == 0).all()
    assert (learnt.transform(new)[:2].max(axis=1) > 0).all()
    partly = rounded[:1].copy()
    partly[0, learnt.columns[0]] = 0.25
    assert (learnt.transform(partly)[0] <= learnt.transform(rounded[:1])[0]).all()


def test_only_the_selected_columns_matter(X, y):
    selector = HSICLasso(3).fit(X, y)
    learnt, other = selector.selected_kernel_, X.copy()
    other[:, np.setdiff1d(np.arange(7), selector.selected_)] = 7.0
    np.testing.assert_array_equal(learnt(other), learnt(X))
    assert learnt.columns.tolist() == selector.selected_.tolist()
    assert (learnt.n_features, learnt.n_samples) == (7, N)
    for convert in (pd.DataFrame, sparse.csr_matrix, np.ndarray.tolist):
        np.testing.assert_array_equal(learnt.transform(convert(X)), learnt.transform(X))


def test_columns_without_weight_add_nothing(X, y):
    table, target = same_thing_many_times()
    with pytest.warns(FewerFeaturesWarning):
        selector = HSICLasso(3).fit(table, target)
    learnt = selector.selected_kernel_
    assert learnt.weights[1:].tolist() == [0, 0]
    np.testing.assert_allclose(learnt(table), selector.coef_[0] * oracles.gaussian_gram(target))
    nothing = HSICLasso(alpha=AlphaRatio(1.0)).fit(X, y).selected_kernel_
    assert (nothing(X) == 0).all()
    assert nothing.columns.size == nothing.weights.size == 0


@pytest.mark.parametrize("width", [3, 9])
def test_tables_of_another_width_are_refused(width, X, y):
    learnt = HSICLasso(3).fit(X, y).selected_kernel_
    for call in (learnt, learnt.transform, lambda table: learnt(X, table)):
        with pytest.raises(InvalidInputError, match=f"{width} columns, .*learnt on 7: pass all"):
            call(np.ones((5, width)))


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_unit_of_a_column_does_not_matter(scale, X, y):
    plain, scaled = (HSICLasso(3).fit(factor * X, y) for factor in (1.0, scale))
    assert plain.selected_.tolist() == scaled.selected_.tolist()
    found, expected = scaled.selected_kernel_(scale * X), plain.selected_kernel_(X)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_samples_that_were_dropped_are_not_remembered(X, y):
    target = y.copy()
    target[:5] = np.nan
    learnt = HSICLasso(3, target=Real(missing="drop")).fit(X, target).selected_kernel_
    by_hand = HSICLasso(3).fit(X[5:], y[5:]).selected_kernel_
    assert (learnt.n_samples, learnt.transform(X).shape) == (N - 5, (N, N - 5))
    assert_close(learnt.transform(X), by_hand.transform(X))
    weighted = HSICLasso(3).fit(X, y, sample_weight=np.arange(N) >= 5).selected_kernel_
    assert_close(weighted.transform(X), by_hand.transform(X))


class TestKernelMethods:
    def test_support_vector_machines(self):
        X, y, _ = make_data1(150, 20, random_state=0)
        learnt = HSICLasso(4).fit(X[:100], y[:100]).selected_kernel_
        model = SVR(kernel=learnt, C=100).fit(X[:100], y[:100])
        plain = SVR(C=100).fit(X[:100], y[:100])
        assert model.score(X[100:], y[100:]) > plain.score(X[100:], y[100:])
        classes = np.where(np.abs(X[:, 2]) > 0.7, "far", "near")
        learnt = HSICLasso(2).fit(X[:100], classes[:100]).selected_kernel_
        model = SVC(kernel=learnt, C=100).fit(X[:100], classes[:100])
        assert model.score(X[100:], classes[100:]) > 0.8

    def test_a_matrix_computed_before(self, X, y):
        learnt = HSICLasso(3).fit(X[:40], y[:40]).selected_kernel_
        ridge = KernelRidge(kernel="precomputed", alpha=0.1)
        found = ridge.fit(learnt.transform(X[:40]), y[:40]).predict(learnt.transform(X[40:]))
        expected = ridge.fit(learnt(X[:40]), y[:40]).predict(learnt(X[40:], X[:40]))
        np.testing.assert_allclose(found, expected)


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
        again = pickle.loads(pickle.dumps(selector.selected_kernel_))
        np.testing.assert_array_equal(again(frame), selector.selected_kernel_(frame))

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

    def test_labels_that_are_new_or_missing(self, library, codes, fitted):
        selector, frame, x = fitted
        new = labelled(np.full(60, 3), x, library)
        only_x = dense_kernel(selector, {1: x}, [None, Gaussian()])
        assert_close(selector.selected_kernel_.transform(new), only_x)
        assert_close(selector.selected_kernel_(new), only_x)
        if library == "pandas":
            gone = frame.assign(kind=frame["kind"].where([False] * 60))
        else:
            gone = frame.with_columns(kind=pl.lit(None, dtype=pl.Categorical))
        columns, kernels = {1: x, 2: codes[::-1]}, [None, Gaussian(), PLAIN_DELTA]
        expected = dense_kernel(selector, columns, kernels)
        assert_close(selector.selected_kernel_.transform(gone), expected)

    def test_codes_instead_of_labels_are_refused(self, library, codes, fitted):
        selector, _, x = fitted
        with pytest.raises(InvalidInputError, match=r"'x0' held labels .*: pass a frame with"):
            selector.selected_kernel_(np.column_stack([codes, x, codes[::-1]]))
