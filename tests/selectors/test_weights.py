"""Sample weights: a whole number is as good as repeating a sample, and 0 leaves it out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression

from hsiclasso import (
    Covariates,
    Delta,
    Gaussian,
    HSICLasso,
    HSICLassoCV,
    Ignore,
    InvalidInputError,
    Labels,
    Laplace,
    Linear,
    NOCCOLasso,
    Objects,
    Polynomial,
    Real,
)
from tests import oracles
from tests.selectors.dense import MEASURES, assert_differs, assert_same, assert_solves, selector_of
from tests.selectors.tables import LETTERS, PLAIN_DELTA, N, holes, mixed, take_rows


@pytest.fixture(scope="module")
def times():
    """How often samples count: 0 to 3 times."""
    return np.random.default_rng(3).integers(0, 4, N)


@pytest.fixture
def weights(rng):
    return rng.uniform(0.1, 3, N)


def repeated(values, times):
    """Samples as often as they count."""
    return take_rows(values, np.repeat(np.arange(N), times))


def codes(y):
    return np.digitize(y, [0.0, 0.8])


def agreement(a, b):
    return float(sum(x == y for x, y in zip(a, b, strict=True)))


#: Kinds of target, and values made of a real one.
TARGETS = {
    "real": ("real", lambda y: y),
    "median": (Real(Gaussian("median")), lambda y: y),
    "widths": (Real(Gaussian((0.3, 2.0))), lambda y: y),
    "linear": (Real("linear"), lambda y: y),
    "laplace": (Real("laplace"), lambda y: y),
    "classes": ("classes", lambda y: LETTERS[codes(y)]),
    "outputs, median": (Real(Gaussian("median")), lambda y: np.c_[y, y[::-1]]),
    "outputs averaged": (Real(outputs="average"), lambda y: np.c_[y, y[::-1]]),
    "labels": ("labels", lambda y: np.c_[y > 0, y[::-1] > 0.2]),
    "labels together": (Labels(outputs="joint"), lambda y: np.c_[y > 0, y[::-1] > 0.2]),
    "counts": ("counts", lambda y: np.round(3 + 2 * np.abs(y))),
    "survival": ("survival", lambda y: (np.round(np.exp(y), 1), np.arange(N) % 3 > 0)),
    "strings": (
        Objects(agreement), lambda y: [LETTERS[c] + LETTERS[i % 3] for i, c in enumerate(codes(y))],
    ),
}  # fmt: skip

#: Options and tables.
TABLES = {
    "array": ({}, np.asfortranarray),
    "laplace, median": ({"kernel": Laplace("median")}, np.asarray),
    "widths": ({"kernel": Gaussian((0.5, "median"))}, np.asarray),
    "polynomial": ({"kernel": "polynomial"}, np.asarray),
    "int8": ({}, lambda X: np.round(X).astype(np.int8)),
    "int8, delta": ({"kernel": "delta"}, lambda X: np.round(X).astype(np.int8)),
    "flags": ({}, lambda X: X > 0),
    "pandas": ({}, lambda X: mixed(X)[0]),
    "polars": ({}, lambda X: mixed(X, "polars")[0]),
    "sparse": ({}, lambda X: sparse.csr_array(np.maximum(np.round(X), 0))),
    "sparse, delta": (
        {"kernel": "plain_delta"}, lambda X: sparse.csc_array(np.maximum(np.round(X), 0)),
    ),
    "joint, median": ({"joint": {"v": [1, 2]}, "kernel": Gaussian("median")}, np.asarray),
    "missing": ({"missing": Ignore(3)}, holes),
    "missing, laplace": ({"missing": Ignore(3), "kernel": "laplace"}, holes),
    "covariates": ({"covariates": ["x5", "x4"]}, np.asarray),
    "label as covariate": ({"covariates": ["word"]}, lambda X: mixed(X)[0]),
    "covariates, subtract": ({"covariates": Covariates(["x5"], "subtract")}, np.asarray),
    "everything": (
        {
            "covariates": ["x5"], "missing": Ignore(3), "joint": {"v": [1, 2]},
            "kernel": {"x0": "laplace", "x3": "delta"},
        },
        lambda X: np.column_stack([np.round(holes(X)[:, :5], 1), X[:, 5:]]),
    ),
}  # fmt: skip


class TestWholeWeights:
    @pytest.mark.parametrize("name", TARGETS)
    def test_of_targets(self, name, X, y, times):
        target, make = TARGETS[name]
        for measure in MEASURES:
            weighted = selector_of(measure, target=target).fit(X, make(y), sample_weight=times)
            again = selector_of(measure, target=target)
            assert_same(weighted, again.fit(repeated(X, times), repeated(make(y), times)))
        assert weighted.result_.data.n_samples == np.count_nonzero(times)
        assert weighted.result_.data.n_dropped == np.count_nonzero(times == 0)
        assert weighted.result_.method.weighted
        assert not again.result_.method.weighted

    @pytest.mark.parametrize("name", TABLES)
    def test_of_tables(self, name, X, y, times):
        options, make = TABLES[name]
        for measure in MEASURES:
            weighted = selector_of(measure, **options).fit(make(X), y, sample_weight=times)
            again = selector_of(measure, **options)
            assert_same(weighted, again.fit(repeated(make(X), times), repeated(y, times)))

    @pytest.mark.parametrize("method", ["project", "subtract"])
    def test_of_covariates_beside_the_table(self, method, X, y, times, age):
        table = pd.DataFrame({"age": age, "site": LETTERS[codes(y[::-1])]})
        for measure in MEASURES:
            selector = selector_of(measure, covariates=Covariates(method=method))
            weighted = selector.fit(X, y, sample_weight=times, covariates=table)
            again = selector_of(measure, covariates=Covariates(method=method)).fit(
                repeated(X, times), repeated(y, times), covariates=repeated(table, times)
            )
            assert_same(weighted, again)
            assert weighted.result_.method.n_removed == again.result_.method.n_removed

    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    def test_of_affinities(self, convert, X, y, times):
        S, index = np.exp(-np.abs(y[:, None] - y)), np.repeat(np.arange(N), times)
        for measure in MEASURES:
            selector = selector_of(measure, target="affinity")
            weighted = selector.fit(X, convert(S), sample_weight=times)
            again = selector_of(measure, target="affinity")
            assert_same(weighted, again.fit(X[index], convert(S[np.ix_(index, index)])))

    def test_of_criteria(self, X, y, times):
        for criterion in ("aic", "bic"):
            weighted = HSICLasso(alpha=criterion).fit(X, y, sample_weight=times)
            again = HSICLasso(alpha=criterion).fit(repeated(X, times), repeated(y, times))
            assert_same(weighted, again)


@pytest.mark.parametrize("measure", MEASURES)
class TestRealWeights:
    @pytest.mark.parametrize(
        "kernel", [Gaussian(), Laplace(), Linear(), Polynomial(), Delta(), PLAIN_DELTA], ids=str
    )
    def test_solves_the_dense_problem(self, kernel, measure, X, y, weights):
        table = np.round(2 * X)
        selector = selector_of(measure, kernel=kernel).fit(table, y, sample_weight=weights)
        assert_solves(selector, table.T, y, kernel, weights=weights)

    def test_survival_solves_the_dense_problem(self, measure, X, y, weights):
        time, event = TARGETS["survival"][1](y)
        selector = selector_of(measure, target="survival")
        selector.fit(X, (time, event), sample_weight=weights)
        gram = oracles.kernel_gram(time, Gaussian(), weights)
        M = oracles.log_rank_matrix(gram, time, event, weights)
        # M is weighed already, and centred
        root = np.sqrt(weights)
        assert_solves(selector, X.T, M / root / root[:, None], weights=weights)

    def test_weights_of_one_are_no_weights(self, measure, X, y, weights):
        plain = selector_of(measure).fit(X, y)
        for ones in (np.ones(N, dtype=int), [1] * N, 1.0, np.ones(N, dtype=bool)):
            found = selector_of(measure).fit(X, y, sample_weight=ones)
            assert_same(found, plain, rtol=1e-12)
            assert not found.result_.method.weighted
        assert_differs(selector_of(measure).fit(X, y, sample_weight=weights), plain)

    def test_weights_of_zero_leave_samples_out(self, measure, X, y):
        some = np.arange(N) % 4 > 0
        weighted = selector_of(measure).fit(X, y, sample_weight=some)
        assert_same(weighted, selector_of(measure).fit(X[some], y[some]), rtol=1e-12)
        assert (weighted.result_.data.n_samples, weighted.result_.data.n_dropped) == (36, 12)
        spoilt = X.copy()
        spoilt[~some] = np.nan  # not even looked at
        assert_same(selector_of(measure).fit(spoilt, y, sample_weight=some), weighted, rtol=1e-12)

    def test_the_scale_of_weights(self, measure, X, y, weights):
        """Relevance grows with the square of the weights for HSIC, and not for the others."""
        one = selector_of(measure).fit(X, y, sample_weight=weights)
        other = selector_of(measure).fit(X, y, sample_weight=7 * weights)
        assert one.selected_.tolist() == other.selected_.tolist()
        np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6, atol=1e-12)
        scale = 49 if measure == "hsic" else 1
        np.testing.assert_allclose(scale * one.relevance_, other.relevance_, rtol=1e-6)


BAD = {
    "short": (
        np.ones(N - 1), r"sample_weight has shape \(47,\), but X has 48 samples: pass one weight",
    ),
    "table": (np.ones((N, 1)), r"sample_weight has shape \(48, 1\)"),
    "negative": (-np.ones(N), "sample_weight must hold finite weights >= 0 that are not all zero"),
    "zero": (np.zeros(N), "2 counts a sample twice, 0 leaves it out"),
    "nan": (np.full(N, np.nan), "sample_weight must hold finite"),
    "infinite": (np.r_[np.inf, np.ones(N - 1)], "sample_weight must hold finite"),
    "two samples": (
        np.r_[1.0, 2.0, np.zeros(N - 2)], "n_samples=2 with a target and a positive weight",
    ),
    "text": (["many"] * N, r"sample_weight holds values that are not numbers \(a list\): pass"),
    "one value": (np.arange(N) < 3, "y has only one"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_bad_weights(kind, X, y):
    weights, message = BAD[kind]
    target = np.where(np.arange(N) < 3, 1.0, y) if kind == "one value" else y
    with pytest.raises(InvalidInputError, match=message):
        NOCCOLasso(2).fit(X, target, sample_weight=weights)


def test_weights_change_the_features_of_the_folds(X):
    weights = np.where(X[:, 5] > 0, 10.0, 0.1)
    y = np.where(X[:, 5] > 0, X[:, 4], X[:, 0])
    model = LinearRegression()
    plain = HSICLassoCV(estimator=model, sizes=[1], cv=3).fit(X, y)
    weighted = HSICLassoCV(estimator=model, sizes=[1], cv=3).fit(X, y, sample_weight=weights)
    assert weighted.selected_.tolist() == [4]
    assert not np.allclose(weighted.scores_.scores, plain.scores_.scores)
