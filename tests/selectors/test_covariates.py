"""Covariates: what they explain is removed before features are selected."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from hsiclasso import (
    Classes,
    Covariates,
    Delta,
    Gaussian,
    HSICLasso,
    HSICLassoCV,
    InvalidInputError,
    Laplace,
    NOCCOLasso,
    Objects,
    Real,
)
from tests import oracles
from tests.selectors.dense import MEASURES, assert_differs, assert_same, assert_solves, selector_of
from tests.selectors.tables import SITES, N

SUBTRACT = Covariates(method="subtract")


def functions(site=None, age=None, weights=None):
    parts = []
    if site is not None:
        parts.append(oracles.covariate_functions(site, labels=True))
    if age is not None:
        parts.append(oracles.covariate_functions(age, weights))
    return np.concatenate(parts)


# ------------------------------------------------------------------------------------ projection

TABLES = {
    "number": lambda site, age: (age, functions(age=age)),
    "list": lambda site, age: (age.tolist(), functions(age=age)),
    "series": lambda site, age: (pd.Series(age, name="age"), functions(age=age)),
    "flags": lambda site, age: (age > 50, functions(site=age > 50)),
    "codes are numbers": lambda site, age: (site[:, None], functions(age=site)),
    "array of text": lambda site, age: (SITES[site], functions(site=site)),
    "objects that are text": lambda site, age: (
        SITES[site].astype(object), functions(site=site),
    ),
    "list of text": lambda site, age: (SITES[site].tolist(), functions(site=site)),
    "objects that are numbers": lambda site, age: (age.astype(object), functions(age=age)),
    "polars text": lambda site, age: (pl.Series("site", SITES[site]), functions(site=site)),
    "frame": lambda site, age: (
        pd.DataFrame({"site": pd.Categorical(SITES[site]), "age": age}), functions(site, age),
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


@pytest.mark.parametrize("name", TABLES)
def test_projection_solves_the_dense_problem(name, X, y, site, age):
    table, removed = TABLES[name](site, age)
    for measure in MEASURES:
        selector = selector_of(measure).fit(X, y, covariates=table)
        assert_solves(selector, X.T, y, functions=removed)
        assert_differs(selector, selector_of(measure).fit(X, y))
    rank = np.linalg.matrix_rank(np.vstack([np.ones(N), removed]), tol=1e-6)
    assert selector.result_.method.n_removed == rank - 1


@pytest.mark.parametrize("measure", MEASURES)
def test_columns_of_the_table(measure, X, y, site, age):
    frame = pd.DataFrame(X).rename(columns=lambda j: f"x{j}")
    frame.insert(2, "age", age)
    frame["site"] = pd.Categorical(SITES[site])
    selector = selector_of(measure, covariates=["site", "age"]).fit(frame, y)
    beside = selector_of(measure).fit(X, y, covariates=frame[["age", "site"]])
    rest = [0, 1, 3, 4, 5, 6, 7]
    np.testing.assert_allclose(selector.coef_[rest], beside.coef_, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(selector.relevance_[rest], beside.relevance_, rtol=1e-7)
    assert selector.coef_[[2, 8]].tolist() == selector.relevance_[[2, 8]].tolist() == [0, 0]
    for method in (selector.result_.method, beside.result_.method):
        assert set(method.covariates) == {"age", "site"}
        assert method.n_removed > 5
    by_index = selector_of(measure, covariates=Covariates([2, -1])).fit(frame, y)
    assert_same(by_index, selector, rtol=1e-12)


def test_columns_and_a_table_of_their_own(X, y, site, age):
    table, labels = np.column_stack([X, age]), pd.Series(SITES[site], name="s")
    both = HSICLasso(3, covariates=["x7"]).fit(table, y, covariates=labels)
    beside = HSICLasso(3).fit(X, y, covariates=pd.DataFrame({"a": age, "s": SITES[site]}))
    np.testing.assert_allclose(both.coef_[:7], beside.coef_, rtol=1e-9, atol=1e-14)
    assert both.result_.method.covariates == ("x7", "s")


@pytest.mark.parametrize("method", ["project", "subtract"])
def test_covariates_are_never_selected(method, X, y):
    """Not even if they are as relevant as can be."""
    selector = HSICLasso(covariates=Covariates(["x6", "x0"], method), alpha=0.0, n_neighbors=9)
    selector.fit(X, y)
    assert {0, 6}.isdisjoint(selector.selected_)
    assert selector.coef_[[0, 6]].tolist() == [0, 0]
    assert selector.transform(X).shape == (N, selector.selected_.size)
    parsed = json.loads(selector.result_.to_json())
    assert parsed["method"]["covariates"] == ["x0", "x6"]
    near = {other.name for f in selector.result_.features for other in f.neighbours}
    assert near.isdisjoint({"x0", "x6"})


def test_a_plain_fit_has_no_covariates(X, y):
    for selector in (HSICLasso(2), HSICLasso(2, covariates=[])):
        method = selector.fit(X, y).result_.method
        assert (method.covariates, method.n_removed) == ((), 0)


@pytest.mark.parametrize("measure", MEASURES)
def test_with_missing_values_and_weights(measure, holed, y, site, age, rng):
    weights = rng.uniform(0.3, 2, N)
    given = pd.DataFrame({"site": SITES[site], "age": age})
    selector = selector_of(measure, missing="ignore").fit(
        holed, y, sample_weight=weights, covariates=given
    )
    removed = functions(site, age, weights)
    assert_solves(selector, holed.T, y, weights=weights, functions=removed)


def strings(y):
    return [f"{value:+.0f}" for value in y]


def alike(a, b):
    return float(a[0] == b[0]) + float(a == b)


TARGETS = {
    "classes": (Classes(), lambda y: y > 0.5, lambda y: oracles.delta_gram(y > 0.5)),
    "outputs": (
        Real(transform=None),
        lambda y: np.c_[y, np.sin(3 * y)],
        lambda y: oracles.kernel_gram(np.array([y, np.sin(3 * y)]), Gaussian()),
    ),
    "survival": (
        "survival",
        lambda y: (np.exp(y / 2), np.arange(N) % 3 > 0),
        lambda y: oracles.log_rank_matrix(
            oracles.gaussian_gram(np.exp(y / 2)), np.exp(y / 2), np.arange(N) % 3 > 0
        ),
    ),
    "affinity": (
        "affinity",
        lambda y: oracles.gaussian_gram(y, 0.5),
        lambda y: oracles.gaussian_gram(y, 0.5),
    ),
    "sparse affinity": (
        "affinity",
        lambda y: sparse.csr_array(oracles.gaussian_gram(y, 0.5)),
        lambda y: oracles.gaussian_gram(y, 0.5),
    ),
    "strings": (
        Objects(alike),
        strings,
        lambda y: np.array([[alike(a, b) for b in strings(y)] for a in strings(y)]),
    ),
    "laplace": (Real("laplace", None), lambda y: y, lambda y: oracles.kernel_gram(y, Laplace())),
}  # fmt: skip


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", TARGETS)
def test_targets_of_every_kind(name, measure, X, y, age):
    target, make, gram = TARGETS[name]
    removed = functions(age=age)
    selector = selector_of(measure, target=target).fit(X, make(y), covariates=age)
    assert_solves(selector, X.T, gram(y), functions=removed)
    subtracted = selector_of(measure, target=target, covariates=SUBTRACT)
    subtracted.fit(X, make(y), covariates=age)
    assert_solves(subtracted, X.T, gram(y), subtracted=oracles.gaussian_gram(age))


# --------------------------------------------------------------------- what it is good for


@pytest.mark.parametrize("measure", MEASURES)
class TestConfounders:
    def test_a_batch_that_shifts_features_and_target(self, measure):
        rng = np.random.default_rng(0)
        batch, X = rng.integers(0, 3, 200), rng.standard_normal((200, 30))
        X[:, 10:] += 2.0 * batch[:, None] * rng.choice([-1, 1], 20)
        y = np.sin(2 * X[:, 3]) + X[:, 6] + 2.5 * batch + 0.1 * rng.standard_normal(200)
        plain = HSICLasso(2, measure=measure).fit(X, y)
        adjusted = HSICLasso(2, measure=measure).fit(X, y, covariates=SITES[batch])
        assert set(adjusted.selected_) == {3, 6}
        assert set(plain.selected_) != {3, 6}
        assert plain.relevance_[10:].min() > adjusted.relevance_[10:].max()

    def test_a_continuous_one(self, measure):
        rng = np.random.default_rng(1)
        age, X = rng.standard_normal(200), rng.standard_normal((200, 20))
        X[:, 8:] += 1.5 * np.sin(2 * age)[:, None]
        y = X[:, 3] + 3 * np.sin(2 * age)
        plain = HSICLasso(1, measure=measure).fit(X, y)
        adjusted = HSICLasso(1, measure=measure).fit(X, y, covariates=age)
        assert adjusted.selected_.tolist() == [3]
        assert plain.selected_.tolist() != [3]

    @pytest.mark.parametrize("kernel", ["gaussian", "delta", "linear", "laplace"])
    def test_functions_of_a_label_have_no_relevance(self, measure, kernel, X, y, site):
        table = X.copy()
        table[:, 5] = np.array([3.0, -1.0, 7.0])[site]
        selector = selector_of(measure, kernel={5: kernel})
        selector.fit(table, y, covariates=pd.Series(SITES[site]))
        assert abs(selector.relevance_[5]) < 1e-9 * selector.relevance_.max()
        assert selector.coef_[5] == 0


def test_weights_stay_finite_where_covariates_explain_a_feature(X, y, site):
    """The diagonal of G is 0 there: any relevance but 0 would be multiplied without end."""
    table = np.column_stack([X, 1.0 * (site == 1), 1.0 * (site == 2)])
    selector = HSICLasso(measure="nhsic", alpha=0.0)
    selector.fit(table, y, covariates=pd.Series(SITES[site]))
    assert selector.coef_[7:].tolist() == [0, 0]
    assert selector.coef_.max() < 2


# ---------------------------------------------------------------------------------- subtraction


def covariate_gram(numbers=None, labels=None):
    """One Gaussian kernel on all numbers together, plus one delta kernel on the labels."""
    gram = np.zeros((N, N))
    if numbers is not None:
        gram = gram + oracles.kernel_gram(numbers, Gaussian())
    if labels is not None:
        gram = gram + oracles.kernel_gram(labels, Delta())
    return gram


SUBTRACTED = {
    "numbers": lambda site, age: (np.c_[age, age[::-1]], {"numbers": np.array([age, age[::-1]])}),
    "labels": lambda site, age: (pd.Series(SITES[site]), {"labels": site}),
    "mixed": lambda site, age: (
        pd.DataFrame({"site": SITES[site], "age": age, "old": age > 60}),
        {"numbers": age, "labels": np.array([site, age > 60])},
    ),
}


@pytest.mark.parametrize("measure", MEASURES)
class TestSubtraction:
    @pytest.mark.parametrize("name", SUBTRACTED)
    def test_solves_the_dense_problem(self, name, measure, X, y, site, age):
        given, parts = SUBTRACTED[name](site, age)
        selector = selector_of(measure, covariates=SUBTRACT).fit(X, y, covariates=given)
        assert_solves(selector, X.T, y, subtracted=covariate_gram(**parts))
        assert selector.result_.method.n_removed == 0
        assert_differs(selector, selector_of(measure).fit(X, y))
        assert_differs(selector, selector_of(measure).fit(X, y, covariates=given))

    def test_a_column_of_a_table_with_missing_values(self, measure, holed, y, age):
        table = np.column_stack([holed, age])
        selector = selector_of(
            measure, covariates=Covariates(["x7"], "subtract"), missing="ignore"
        ).fit(table, y)
        gram = covariate_gram(age)
        assert_solves(selector, holed.T, y, subtracted=gram, features=np.arange(7))
        assert selector.result_.method.covariates == ("x7",)

    def test_a_target_that_it_takes_away(self, measure, X, age):
        with pytest.raises(InvalidInputError, match="Nothing of the target is left"):
            selector_of(measure, covariates=SUBTRACT).fit(X, age, covariates=age)


def test_subtraction_as_in_pyhsiclasso():
    """Its numbers for regression(5, B=0, covars=C), version 1.4.2, in single precision."""
    rng = np.random.default_rng(0)
    X, C = rng.standard_normal((60, 20)), rng.standard_normal((60, 1))
    y = X[:, 0] * np.exp(X[:, 1]) + X[:, 2] + C[:, 0]
    X[:, 5] += C[:, 0]
    selector = HSICLasso(5, measure="nhsic", covariates=SUBTRACT).fit(X, y, covariates=C)
    assert selector.selected_.tolist() == [0, 2, 10, 6, 1]
    weights = [0.2555088, 0.1473199, 0.0225529, 0.0111155, 0.0045866]
    np.testing.assert_allclose(selector.coef_[selector.selected_], weights, atol=2e-6)
    relevance = [0.3026937, 0.0684477, 0.1981601, 0.0261577, 0.0060596, 0.0353655]
    np.testing.assert_allclose(selector.relevance_[:6], relevance, atol=1e-6)


# ---------------------------------------------------------------------------- odd and bad input


@pytest.mark.parametrize("given", [np.ones(N), ["all"] * N, np.full((N, 2), 3.0)], ids=range(3))
def test_constant_covariates_change_nothing(given, X, y, age, rng):
    for weights in (None, rng.uniform(0.2, 2, N)):
        for options in ({}, {"measure": "nocco"}, {"covariates": SUBTRACT}):
            plain = HSICLasso(3, **(options | {"covariates": None}))
            plain.fit(X, y, sample_weight=weights)
            selector = HSICLasso(3, **options).fit(X, y, sample_weight=weights, covariates=given)
            assert_same(selector, plain)
            assert selector.result_.method.n_removed == 0
    beside = HSICLasso(3).fit(X, y, covariates=np.c_[np.ones(N), age])
    assert_same(beside, HSICLasso(3).fit(X, y, covariates=age))


def test_covariates_of_dropped_samples_do_not_matter(X, y, age):
    given, values = age.copy(), y.copy()
    given[3], values[3] = np.nan, np.nan
    dropped = HSICLasso(3, target=Real(missing="drop")).fit(X, values, covariates=given)
    by_hand = HSICLasso(3).fit(np.delete(X, 3, 0), np.delete(y, 3), covariates=np.delete(age, 3))
    assert_same(dropped, by_hand, rtol=1e-9)


def test_a_target_that_covariates_explain(X, site):
    message = "Nothing of the target is left.*covariates explain"
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(2).fit(X, SITES[site], covariates=pd.Series(SITES[site]))


BAD = {
    "too many labels": (
        [f"p{i % 40}" for i in range(N)],
        r"covariates explain 39 directions of 48 samples.*fewer covariates, merge rare",
    ),
    "too many numbers": (
        np.random.default_rng(0).standard_normal((N, 12)), r"covariates explain \d+ directions",
    ),
    "missing": (
        np.r_[np.nan, np.arange(N - 1)], "covariate 'x0' has missing or infinite values, first in"
    ),
    "infinite": (np.r_[np.arange(N - 1), np.inf], "missing or infinite values, first in row 47"),
    "missing text": (
        pd.Series(["a", None] * 24, name="site"), "covariate 'site' has missing .* in row 1: fill",
    ),
    "missing category": (
        pd.DataFrame({"s": pd.Categorical(["a", None] * 24)}), "covariate 's' has missing",
    ),
    "too short": (np.arange(N - 1), "covariates has 47 rows and X has 48 samples: pass one row"),
    "too long": (pd.DataFrame({"a": range(51)}), "covariates has 51 rows and X has 48 samples"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("method", ["project", "subtract"])
def test_bad_tables_of_covariates(method, kind, X, y):
    given, message = BAD[kind]
    selector = HSICLasso(2, covariates=Covariates(method=method))
    if method == "subtract" and kind.startswith("too many"):  # there are no functions to remove
        assert selector.fit(X, y, covariates=given).selected_.size == 2
        return
    with pytest.raises(InvalidInputError, match=message):
        selector.fit(X, y, covariates=given)


BAD_OPTIONS = [
    ({"covariates": "x1"}, r"covariates='x1' must be a list of columns: \['x1'\]"),
    ({"covariates": 1}, r"covariates=1 must be a list of columns: \[1\]"),
    ({"covariates": ["sex"]}, "covariates has 'sex', but there is no such column: check the"),
    ({"covariates": ["x11"]}, "did you mean 'x1'"),
    ({"covariates": [9]}, "covariates has index 9, but there are 7 columns: 0 to 6"),
    ({"covariates": [1.5]}, "covariates has 1.5, but columns are given by name or by index"),
    ({"covariates": np.ones((N, 2))}, r"a list of columns of X; .* fit\(X, y, covariates="),
    ({"covariates": Covariates(method="regress")}, "method='regress' is unknown: choose 'project'"),
    ({"covariates": SUBTRACT}, "method='subtract' has no meaning without covariates: name columns"),
    ({"covariates": ["x1"], "keep": ["x1"]}, "keep has 'x1', which is a covariate or part of"),
    ({"covariates": Covariates(range(7), "subtract")}, "All columns are covariates: leave at lea"),
    ({"covariates": ["x1"], "joint": {"ab": [0, 1]}}, "'x1' is a covariate and part of a joint"),
    (
        {"covariates": ["x1"], "n_features_to_select": 7},
        "n_features_to_select=7 is greater than the number of features=6: ask for at most 6",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS, ids=range(len(BAD_OPTIONS)))
def test_bad_options(options, message, X, y):
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(**options).fit(X, y)


def test_missing_values_in_a_column(holed, y):
    message = "covariate 'x2' has missing or infinite values, first in row .*: fill them in, or"
    with pytest.raises(InvalidInputError, match=message):
        NOCCOLasso(2, covariates=["x2"], missing="ignore").fit(holed, y)


def test_cross_validation_with_covariates(X, y, age):
    table = np.column_stack([X, age])
    search = HSICLassoCV(HSICLasso(covariates=["x7"]), cv=3).fit(table, y)
    assert 7 not in search.selected_
    assert max(search.scores_.sizes) <= 7
    assert search.selector_.result_.method.covariates == ("x7",)
    # values of one's own, which are there in every fold
    search = HSICLassoCV(HSICLasso(covariates=SUBTRACT), cv=3, sizes=[2])
    search.fit(X, y, covariates=age)
    direct = HSICLasso(2, covariates=SUBTRACT).fit(X, y, covariates=age)
    assert search.selected_.tolist() == direct.selected_.tolist()
