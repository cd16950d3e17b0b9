"""Covariates: what they explain is removed before features are selected."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from hsiclasso import (
    Delta,
    Gaussian,
    HSICLasso,
    HSICLassoCV,
    InvalidInputError,
    Laplace,
    NOCCOLasso,
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

N = 50
SITES = np.array(["oslo", "bern", "rome"])


@pytest.fixture(scope="module", name="X")
def make_table():
    return np.random.default_rng(4).standard_normal((N, 6))


@pytest.fixture(scope="module", name="site")
def make_site():
    return np.random.default_rng(8).integers(0, 3, N)


@pytest.fixture(scope="module", name="age")
def make_age():
    return np.random.default_rng(9).uniform(20, 80, N)


@pytest.fixture(scope="module", name="y")
def make_target(X, site, age):
    return X[:, 0] + X[:, 1] ** 2 + 0.5 * X[:, 2] + 0.8 * site + 0.02 * age


def functions(site=None, age=None, weights=None):
    parts = []
    if site is not None:
        parts.append(oracles.covariate_functions(site, labels=True))
    if age is not None:
        parts.append(oracles.covariate_functions(age, weights))
    return np.concatenate(parts)


def target(y, measure, removed=None, weights=None):
    gram = oracles.kernel_gram(y, Gaussian(), weights)
    return target_matrix(gram, measure, weights, removed)


# ------------------------------------------------------------------------------------ projection

TABLES = {
    "number": lambda site, age: (age, functions(age=age)),
    "one column": lambda site, age: (age[:, None], functions(age=age)),
    "list": lambda site, age: (age.tolist(), functions(age=age)),
    "series": lambda site, age: (pd.Series(age, name="age"), functions(age=age)),
    "flags": lambda site, age: (age > 50, functions(site=age > 50)),
    "codes are numbers": lambda site, age: (site, functions(age=site)),
    "text": lambda site, age: (pd.Series(SITES[site], name="site"), functions(site=site)),
    "category": lambda site, age: (
        pd.Series(SITES[site], dtype="category", name="site"), functions(site=site),
    ),
    "polars text": lambda site, age: (pl.Series("site", SITES[site]), functions(site=site)),
    "array": lambda site, age: (
        np.c_[age, site], np.concatenate([functions(age=age), functions(age=site)]),
    ),
    "frame": lambda site, age: (
        pd.DataFrame({"site": SITES[site], "age": age}), functions(site, age),
    ),
    "polars frame": lambda site, age: (
        pl.DataFrame({"site": SITES[site], "age": age}), functions(site, age),
    ),
    "sparse": lambda site, age: (
        sparse.csr_array(np.c_[age, site]),
        np.concatenate([functions(age=age), functions(age=site)]),
    ),
    "the same twice": lambda site, age: (np.c_[age, age], functions(age=age)),
}  # fmt: skip


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", TABLES)
def test_projection_solves_the_dense_problem(name, measure, X, y, site, age):
    table, removed = TABLES[name](site, age)
    selector = selector_of(measure).fit(X, y, covariates=table)
    A = feature_matrices(X.T, measure=measure, functions=removed)
    assert_solves(selector, A, target(y, measure, removed))
    assert_differs(selector, selector_of(measure).fit(X, y))
    rank = np.linalg.matrix_rank(np.vstack([np.ones(N), removed]), tol=1e-6)
    assert selector.result_.n_removed == rank - 1


@pytest.mark.parametrize("convert", [np.asarray, list], ids=["array", "list"])
def test_text_in_arrays(convert, X, y, site):
    by_series = HSICLasso(3).fit(X, y, covariates=pd.Series(SITES[site]))
    by_array = HSICLasso(3).fit(X, y, covariates=convert(SITES[site]))
    assert_same(by_array, by_series)


@pytest.mark.parametrize("measure", MEASURES)
def test_columns_of_the_table(measure, X, y, site, age):
    frame = pd.DataFrame(X).rename(columns=lambda j: f"x{j}")
    frame.insert(2, "age", age)
    frame["site"] = pd.Categorical(SITES[site])
    selector = selector_of(measure, covariates=["site", "age"]).fit(frame, y)
    beside = selector_of(measure).fit(X, y, covariates=frame[["age", "site"]])
    rest = [0, 1, 3, 4, 5, 6]
    np.testing.assert_allclose(selector.coef_[rest], beside.coef_, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(selector.relevance_[rest], beside.relevance_, rtol=1e-7)
    assert selector.coef_[[2, 7]].tolist() == [0, 0]
    assert set(selector.result_.covariates) == {"age", "site"} == set(beside.result_.covariates)
    assert selector.result_.n_removed == beside.result_.n_removed > 5
    by_index = selector_of(measure, covariates=[2, -1]).fit(frame, y)
    assert_same(by_index, selector, rtol=1e-12)


def test_columns_and_a_table_of_their_own(X, y, site, age):
    table = np.column_stack([X, age])
    both = HSICLasso(3, covariates=["x6"]).fit(
        table, y, covariates=pd.Series(SITES[site], name="s")
    )
    beside = HSICLasso(3).fit(X, y, covariates=pd.DataFrame({"a": age, "s": SITES[site]}))
    np.testing.assert_allclose(both.coef_[:6], beside.coef_, rtol=1e-9, atol=1e-14)
    assert both.result_.covariates == ("x6", "s")


def test_covariates_are_never_selected(X, y, age):
    """Not even if there is nothing else to select, or they are as relevant as can be."""
    table = np.column_stack([X, age])
    for method in ("project", "subtract"):
        selector = HSICLasso(covariates=["x6", "x0"], covariate_method=method, alpha=0.0)
        selector.fit(table, y)
        assert {0, 6}.isdisjoint(selector.selected_)
        assert selector.coef_[[0, 6]].tolist() == [0, 0]
        assert not selector.get_support()[[0, 6]].any()
        assert selector.transform(table).shape == (N, selector.selected_.size)
        parsed = json.loads(selector.result_.to_json())
        assert parsed["covariates"] == ["x0", "x6"]


def test_covariates_are_no_neighbours(X, y):
    result = HSICLasso(2, covariates=["x4"]).fit(X, y).result_
    assert all(other.name != "x4" for feature in result.features for other in feature.neighbours)


def test_the_result_of_a_plain_fit_has_no_covariates(X, y):
    result = HSICLasso(2).fit(X, y).result_
    assert (result.covariates, result.n_removed) == ((), 0)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    "kernel", [Gaussian(0.5), Laplace(), Delta(), PLAIN_DELTA], ids=lambda kernel: repr(kernel)
)
def test_kernels_of_features(kernel, measure, X, y, site, age):
    table, removed = np.round(2 * X), functions(site, age)
    given = pd.DataFrame({"site": SITES[site], "age": age})
    selector = selector_of(measure, x_kernel=kernel).fit(table, y, covariates=given)
    A = feature_matrices(table.T, kernel, measure, functions=removed)
    assert_solves(selector, A, target(y, measure, removed))


@pytest.mark.parametrize("measure", MEASURES)
def test_tables_of_other_kinds(measure, X, y, age):
    removed = functions(age=age)
    counts = np.maximum(np.round(X), 0)
    for table in (counts.astype(np.int8), sparse.csr_array(counts)):
        selector = selector_of(measure).fit(table, y, covariates=age)
        A = feature_matrices(counts.T, measure=measure, functions=removed)
        assert_solves(selector, A, target(y, measure, removed))


@pytest.mark.parametrize("measure", MEASURES)
def test_with_missing_values_and_weights(measure, X, y, site, age, rng):
    weights, table = rng.uniform(0.3, 2, N), np.where(rng.random(X.shape) < 0.2, np.nan, X)
    given = pd.DataFrame({"site": SITES[site], "age": age})
    selector = selector_of(measure, missing="ignore").fit(
        table, y, sample_weight=weights, covariates=given
    )
    removed = functions(site, age, weights)
    A = feature_matrices(table.T, measure=measure, weights=weights, functions=removed)
    assert_solves(selector, A, target(y, measure, removed, weights))


TARGETS = {
    "classes": ({}, lambda y: y > np.median(y), lambda y: oracles.delta_gram(y > np.median(y))),
    "outputs": (
        {},
        lambda y: np.c_[y, np.sin(3 * y)],
        lambda y: oracles.kernel_gram(np.array([y, np.sin(3 * y)]), Gaussian()),
    ),
    "survival": (
        {"task": "survival"},
        lambda y: (np.exp(y / 2), np.arange(N) % 3 > 0),
        lambda y: oracles.log_rank_matrix(
            oracles.gaussian_gram(np.exp(y / 2)), np.exp(y / 2), np.arange(N) % 3 > 0
        ),
    ),
    "affinity": (
        {"y_kernel": "precomputed"},
        lambda y: oracles.gaussian_gram(y, 0.5),
        lambda y: oracles.gaussian_gram(y, 0.5),
    ),
    "sparse affinity": (
        {"y_kernel": "precomputed"},
        lambda y: sparse.csr_array(oracles.gaussian_gram(y, 0.5)),
        lambda y: oracles.gaussian_gram(y, 0.5),
    ),
    "strings": (
        {"y_kernel": lambda a, b: float(a[0] == b[0]) + float(a == b)},
        lambda y: [f"{value:+.0f}" for value in y],
        lambda y: np.equal.outer(y < -0.5, y < -0.5) + 1.0 * np.equal.outer(np.rint(y), np.rint(y)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", TARGETS)
class TestTargets:
    def test_projection(self, name, measure, X, y, age):
        options, make, gram = TARGETS[name]
        removed = functions(age=age)
        selector = selector_of(measure, **options).fit(X, make(y), covariates=age)
        A = feature_matrices(X.T, measure=measure, functions=removed)
        assert_solves(selector, A, target_matrix(gram(y), measure, None, removed))

    def test_subtraction(self, name, measure, X, y, age):
        options, make, gram = TARGETS[name]
        options = options | {"covariate_method": "subtract"}
        selector = selector_of(measure, **options).fit(X, make(y), covariates=age)
        T, C = (target_matrix(K, measure) for K in (gram(y), oracles.gaussian_gram(age)))
        assert_solves(selector, feature_matrices(X.T, measure=measure), oracles.without(T, C))


# --------------------------------------------------------------------- what it is good for


@pytest.fixture(scope="module")
def batches():
    """A batch that shifts many features and the target; two features carry the signal."""
    rng = np.random.default_rng(0)
    batch = rng.integers(0, 3, 200)
    X = rng.standard_normal((200, 30))
    X[:, 10:] += 2.0 * batch[:, None] * rng.choice([-1, 1], 20)
    y = np.sin(2 * X[:, 3]) + X[:, 6] + 2.5 * batch + 0.1 * rng.standard_normal(200)
    return X, y, batch


@pytest.mark.parametrize("measure", MEASURES)
class TestBatchEffect:
    def test_true_features_win_only_with_the_covariate(self, measure, batches):
        X, y, batch = batches
        given = pd.Series(np.array(["a", "b", "c"])[batch])
        plain = selector_of(measure, 2, tol=1e-6).fit(X, y)
        adjusted = selector_of(measure, 2, tol=1e-6).fit(X, y, covariates=given)
        assert set(adjusted.selected_) == {3, 6}
        assert set(plain.selected_) != {3, 6}
        assert plain.relevance_[10:].min() > adjusted.relevance_[10:].max()

    def test_a_continuous_confounder(self, measure):
        rng = np.random.default_rng(1)
        age = rng.standard_normal(200)
        X = rng.standard_normal((200, 20))
        X[:, 8:] += 1.5 * np.sin(2 * age)[:, None]
        y = X[:, 3] + 3 * np.sin(2 * age)
        plain = selector_of(measure, 1, tol=1e-6).fit(X, y)
        adjusted = selector_of(measure, 1, tol=1e-6).fit(X, y, covariates=age)
        assert adjusted.selected_.tolist() == [3]
        assert plain.selected_.tolist() != [3]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", ["gaussian", "delta", "linear", "laplace"])
def test_functions_of_a_label_have_no_relevance(kernel, measure, X, y, site):
    table = X.copy()
    table[:, 5] = np.array([3.0, -1.0, 7.0])[site]
    selector = selector_of(measure, 3, x_kernel={5: kernel})
    selector.fit(table, y, covariates=pd.Series(SITES[site]))
    assert abs(selector.relevance_[5]) < 1e-9 * selector.relevance_.max()
    assert selector.coef_[5] == 0


def test_weights_stay_finite_where_covariates_explain_a_feature(X, y, site):
    """The diagonal of G is 0 there: any relevance but 0 would be multiplied without end."""
    table = np.column_stack([X, 1.0 * (site == 1), 1.0 * (site == 2)])
    selector = HSICLasso(measure="nhsic", alpha=0.0)
    selector.fit(table, y, covariates=pd.Series(SITES[site]))
    assert selector.coef_[6:].tolist() == [0, 0]
    assert selector.coef_.max() < 2


def test_a_label_as_column_has_no_relevance(X, y, site):
    frame = pd.DataFrame(X).rename(columns=str).assign(site=SITES[site])
    for selector in (HSICLasso(2, covariates=["site"]), NOCCOLasso(2, covariates=["site"])):
        assert selector.fit(frame, y).relevance_[6] < 1e-9 * selector.relevance_.max()


# ---------------------------------------------------------------------------------- subtraction


@pytest.mark.parametrize("measure", MEASURES)
class TestSubtraction:
    def covariate_matrix(self, measure, numbers=None, labels=None):
        """One Gaussian kernel on all numbers together, plus one delta kernel on the labels."""
        gram = np.zeros((N, N))
        if numbers is not None:
            gram = gram + oracles.kernel_gram(numbers, Gaussian())
        if labels is not None:
            gram = gram + oracles.kernel_gram(labels, Delta())
        return target_matrix(gram, measure)

    def check(self, measure, X, y, given, C):
        selector = selector_of(measure, covariate_method="subtract").fit(X, y, covariates=given)
        T = oracles.without(target(y, measure), C)
        assert_solves(selector, feature_matrices(X.T, measure=measure), T)
        assert selector.result_.n_removed == 0
        assert_differs(selector, selector_of(measure).fit(X, y))
        assert_differs(selector, selector_of(measure).fit(X, y, covariates=given))

    def test_a_number(self, measure, X, y, age):
        self.check(measure, X, y, age, self.covariate_matrix(measure, age))

    def test_numbers(self, measure, X, y, age):
        given = np.c_[age, X[:, 5]]
        self.check(measure, X, y, given, self.covariate_matrix(measure, given.T))

    def test_labels(self, measure, X, y, site):
        given = pd.Series(SITES[site])
        self.check(measure, X, y, given, self.covariate_matrix(measure, labels=site))

    def test_mixed_types(self, measure, X, y, site, age):
        given = pd.DataFrame({"site": SITES[site], "age": age, "old": age > 60})
        labels = np.array([site, age > 60])
        self.check(measure, X, y, given, self.covariate_matrix(measure, age, labels))

    def test_a_column_of_the_table(self, measure, X, y, age):
        table = np.column_stack([X, age])
        selector = selector_of(measure, covariate_method="subtract", covariates=["x6"])
        beside = selector_of(measure, covariate_method="subtract").fit(X, y, covariates=age)
        np.testing.assert_allclose(selector.fit(table, y).coef_[:6], beside.coef_, rtol=1e-9)
        assert selector.result_.covariates == ("x6",)

    def test_missing_values(self, measure, X, y, age, rng):
        table = np.where(rng.random(X.shape) < 0.2, np.nan, X)
        selector = selector_of(measure, covariate_method="subtract", missing="ignore")
        selector.fit(table, y, covariates=age)
        T = oracles.without(target(y, measure), self.covariate_matrix(measure, age))
        assert_solves(selector, feature_matrices(table.T, measure=measure), T)


def test_subtraction_as_in_pyhsiclasso():
    """Its numbers for regression(5, B=0, covars=C), version 1.4.2, in single precision."""
    rng = np.random.default_rng(0)
    X, C = rng.standard_normal((60, 20)), rng.standard_normal((60, 1))
    y = X[:, 0] * np.exp(X[:, 1]) + X[:, 2] + C[:, 0]
    X[:, 5] += C[:, 0]
    selector = HSICLasso(5, measure="nhsic", covariate_method="subtract").fit(X, y, covariates=C)
    assert selector.selected_.tolist() == [0, 2, 10, 6, 1]
    weights = [0.2555088, 0.1473199, 0.0225529, 0.0111155, 0.0045866]
    np.testing.assert_allclose(selector.coef_[selector.selected_], weights, atol=2e-6)
    relevance = [0.3026937, 0.0684477, 0.1981601, 0.0261577, 0.0060596, 0.0353655]
    np.testing.assert_allclose(selector.relevance_[:6], relevance, atol=1e-6)


# ---------------------------------------------------------------------------- odd and bad input


@pytest.mark.parametrize("measure", MEASURES)
def test_constant_covariates_change_nothing(measure, X, y, age):
    plain = selector_of(measure).fit(X, y)
    for given in (np.ones(N), pd.Series(["all"] * N), np.full((N, 2), 3.0)):
        selector = selector_of(measure).fit(X, y, covariates=given)
        assert_same(selector, plain)
        assert selector.result_.n_removed == 0
    beside = selector_of(measure).fit(X, y, covariates=np.c_[np.ones(N), age])
    assert_same(beside, selector_of(measure).fit(X, y, covariates=age))


@pytest.mark.parametrize("given", [np.ones(N), pd.Series(["all"] * N)], ids=["number", "text"])
def test_constant_covariates_change_nothing_by_subtraction(given, X, y, rng):
    for weights in (None, rng.uniform(0.2, 2, N)):
        plain = HSICLasso(3).fit(X, y, sample_weight=weights)
        selector = HSICLasso(3, covariate_method="subtract")
        assert_same(selector.fit(X, y, sample_weight=weights, covariates=given), plain)


def test_no_covariates_at_all(X, y):
    plain = HSICLasso(3).fit(X, y)
    assert_same(HSICLasso(3, covariates=[]).fit(X, y), plain)


def test_covariates_of_dropped_samples_do_not_matter(X, y, age):
    given, values = age.copy(), y.copy()
    given[3], values[3] = np.nan, np.nan
    dropped = HSICLasso(3, missing_target="drop").fit(X, values, covariates=given)
    by_hand = HSICLasso(3).fit(np.delete(X, 3, 0), np.delete(y, 3), covariates=np.delete(age, 3))
    assert_same(dropped, by_hand, rtol=1e-9)


def test_a_target_that_covariates_explain(X, site):
    with pytest.raises(
        InvalidInputError, match=r"Nothing of the target is left.*covariates explain"
    ):
        HSICLasso(2).fit(X, SITES[site], covariates=pd.Series(SITES[site]))


@pytest.mark.parametrize("measure", MEASURES)
def test_a_target_that_subtraction_takes_away(measure, X, age):
    with pytest.raises(InvalidInputError, match="Nothing of the target is left"):
        selector_of(measure, 2, covariate_method="subtract").fit(X, age, covariates=age)


def many(n_labels):
    return pd.Series([f"p{i % n_labels}" for i in range(N)])


BAD = {
    "too many labels": (
        many(40), r"covariates explain 39 directions of 50 samples.*fewer covariates, merge rare",
    ),
    "a label each": (many(N), "which leaves too little to select by"),
    "too many numbers": (
        np.random.default_rng(0).standard_normal((N, 12)), r"covariates explain \d+ directions",
    ),
    "missing": (
        np.r_[np.nan, np.arange(N - 1)], "covariate 'x0' has missing or infinite values, first in"
    ),
    "infinite": (np.r_[np.arange(N - 1), np.inf], "missing or infinite values, first in row 49"),
    "missing text": (
        pd.Series(["a", None] * 25, name="site"), "covariate 'site' has missing .* in row 1: fill",
    ),
    "missing category": (
        pd.DataFrame({"s": pd.Categorical(["a", None] * 25)}), "covariate 's' has missing",
    ),
    "too short": (np.arange(N - 1), "covariates has 49 rows and X has 50 samples: pass one row"),
    "too long": (pd.DataFrame({"a": range(51)}), "covariates has 51 rows and X has 50 samples"),
}  # fmt: skip


#: Kernels of many labels or numbers have no functions to remove.
ONLY_PROJECTED = {"too many labels", "a label each", "too many numbers"}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("method", ["project", "subtract"])
def test_bad_tables_of_covariates(method, kind, X, y):
    given, message = BAD[kind]
    selector = HSICLasso(2, covariate_method=method)
    if method == "subtract" and kind in ONLY_PROJECTED:
        assert selector.fit(X, y, covariates=given).selected_.size == 2
        return
    with pytest.raises(InvalidInputError, match=message):
        selector.fit(X, y, covariates=given)


BAD_OPTIONS = [
    ({"covariates": "x1"}, r"covariates='x1' must be a list of columns: \['x1'\]"),
    ({"covariates": ["sex"]}, "covariates has 'sex', but there is no such column: check the"),
    ({"covariates": ["x11"]}, "did you mean 'x1'"),
    ({"covariates": [9]}, "covariates has index 9, but there are 6 columns: 0 to 5"),
    ({"covariates": [1.5]}, "covariates has 1.5, but columns are given by name or by index"),
    ({"covariates": np.ones((N, 2))}, r"a list of columns of X; .* fit\(X, y, covariates="),
    ({"covariate_method": "regress"}, "covariate_method='regress' is unknown: choose 'project'"),
    ({"covariates": ["x1"], "keep": ["x1"]}, "keep has 'x1', which is a covariate or part of"),
    ({"covariates": range(6), "covariate_method": "subtract"}, "All features are excluded"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS, ids=range(len(BAD_OPTIONS)))
def test_bad_options(options, message, X, y):
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(2, **options).fit(X, y)


def test_missing_values_in_a_column(X, y):
    table = X.copy()
    table[7, 2] = np.nan
    message = "covariate 'x2' has missing or infinite values, first in row 7: fill them in, or drop"
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(2, covariates=["x2"], missing="ignore").fit(table, y)


def test_cross_validation_with_columns_as_covariates(X, y, age):
    table = np.column_stack([X, age])
    search = HSICLassoCV(HSICLasso(covariates=["x6"]), cv=3).fit(table, y)
    assert 6 not in search.selected_
    assert max(search.scores_.sizes) <= 6
    assert search.selector_.result_.covariates == ("x6",)
