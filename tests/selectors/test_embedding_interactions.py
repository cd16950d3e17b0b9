"""Pairs in EmbeddingLasso: against dense matrices, predictions, surfaces, options."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from hsiclasso import (
    EmbeddingLasso,
    FeatureFunction,
    Gaussian,
    GroupLasso,
    Interactions,
    InvalidInputError,
    Lasso,
    PairFunction,
)
from hsiclasso.selectors.additive import rank_functions
from hsiclasso.targets.embedded import LINEAR
from tests import oracles


def make_product(n=150, d=6, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, 1] * X[:, 4] + noise * rng.standard_normal(n)


def make_three_terms(n=150, d=8, seed=0):
    """A sine, a line and a product."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    noise = 0.2 * rng.standard_normal(n)
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + X[:, 2] * X[:, 4] + noise


def members_of(selector):
    """Weights by the columns of each feature."""
    return {frozenset(f.columns): f.weight for f in selector.result_.features}


def pairs_of(selector):
    return [f.members for f in selector.result_.features if f.members]


def test_the_path_is_that_of_all_pairs_as_features():
    X, y = make_three_terms(80, 5)
    pairs = list(itertools.combinations(range(5), 2))
    options = {"alpha": 0.15, "epsilon": 0.02, "gram_error": 1e-9, "max_redundancy": 1.0}
    selector = EmbeddingLasso(interactions=pairs, **options).fit(X, y)
    F = oracles.embedded_rows(y, LINEAR)
    rows = [oracles.function_rows(x, 0.02) for x in X.T]
    rows += [
        oracles.rows_of(
            oracles.interaction_matrix(
                [X[:, i], X[:, j]], [Gaussian()] * 2, "nocco", epsilon=0.02
            )
        )
        for i, j in pairs
    ]  # fmt: skip
    sizes = oracles.block_descent(rows, F, 0.15)
    assert np.count_nonzero(sizes[5:]) > 0
    np.testing.assert_allclose(selector.path_.coefficients(), sizes, atol=1e-5)
    relevance = {f.index: f.relevance for f in selector.result_.features}
    expected = {k: np.sum((rows[k] @ F.T) ** 2) for k in relevance}
    assert relevance == pytest.approx(expected, rel=1e-6)
    assert selector.result_.certificate.duality_gap <= 1e-8
    scanned = EmbeddingLasso(interactions="all", **options).fit(X, y)
    assert members_of(scanned) == pytest.approx(members_of(selector), abs=1e-8)
    assert scanned.result_.interactions.complete


def test_a_product_is_predicted_only_with_its_pair():
    X, y = make_product(400)
    alone = EmbeddingLasso(2).fit(X[:300], y[:300])
    pair = EmbeddingLasso(1, interactions="all").fit(X[:300], y[:300])
    assert pair.result_.names == ("x1 & x4",)
    assert pair.score(X[300:], y[300:]) > 0.8
    assert alone.score(X[300:], y[300:]) < 0.15
    assert pair.selected_.tolist() == [1, 4]
    assert pair.transform(X).shape == (400, 2)


def test_classes_of_xor():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    y = np.where(X[:, 0] * X[:, 3] > 0, "same", "other")
    selector = EmbeddingLasso(1, interactions="all").fit(X[:200], y[:200])
    assert selector.score(X[200:], y[200:]) > 0.85
    assert selector.predict_proba(X[200:]).shape == (100, 2)
    (surface,) = selector.functions_
    assert surface.outputs == ("other", "same")
    np.testing.assert_allclose(surface.values[0], -surface.values[1], atol=1e-9)


class TestSurfaces:
    def test_a_surface_is_what_the_pair_adds_to_the_prediction(self):
        X, y = make_three_terms()
        selector = EmbeddingLasso(3, interactions="all").fit(X, y)
        kinds = {f.name: type(f) for f in selector.functions_}
        assert kinds["x2 & x4"] is PairFunction
        assert kinds["x0"] is FeatureFunction
        surface = next(f for f in selector.functions_ if f.name == "x2 & x4")
        assert surface.members == ("x2", "x4")
        assert surface.values.shape == (1, *(grid.size for grid in surface.grids))
        first, second = surface.grids
        assert (first[0], second[-1]) == pytest.approx((X[:, 2].min(), X[:, 4].max()))
        # what changes if only these two columns change
        table = np.tile(X[:1], (2, 1))
        table[:, [2, 4]] = [[first[3], second[20]], [first[25], second[9]]]
        others = [f for f in selector.functions_ if f is not surface]
        moved = np.diff(selector.predict(table))[0]
        assert {f.name for f in others} == {"x0", "x1"}
        assert moved == pytest.approx(surface.values[0, 25, 9] - surface.values[0, 3, 20])
        np.testing.assert_allclose(
            surface.values[0, 25, 9], first[25] * second[9], atol=0.6, rtol=0.3
        )

    def test_data_of_a_surface(self):
        X, y = make_product(120)
        selector = EmbeddingLasso(1, interactions="all").fit(X, y)
        (surface,) = selector.functions_
        plain = json.loads(json.dumps(surface.to_dict()))
        assert set(plain) == {
            "name", "index", "share", "members", "grids", "values", "outputs", "spread",
        }  # fmt: skip
        assert np.shape(plain["values"]) == (1, 31, 31)
        assert "functions" in selector.result_.to_dict()
        np.testing.assert_allclose(surface.samples[0], X[:, 1])
        np.testing.assert_allclose(surface.samples[1], X[:, 4])
        assert surface.index == 6
        assert surface.share == 1.0

    def test_labels_on_a_side(self):
        X, y = make_product(120)
        kind = np.where(X[:, 1] > 0, "good", "bad")
        rng = np.random.default_rng(1)
        table = pd.DataFrame({"kind": kind, "z": X[:, 4], "steps": rng.integers(0, 3, 120)})
        y = np.where(X[:, 1] > 0, 1, -1) * X[:, 4] + 0.1 * y
        selector = EmbeddingLasso(1, interactions="all").fit(table, y)
        (surface,) = selector.functions_
        assert surface.name == "kind & z"
        assert surface.grids[0].tolist() == ["bad", "good"]
        assert set(surface.samples[0]) == {"bad", "good"}
        assert surface.values.shape == (1, 2, 31)
        slopes = surface.values[0, :, -1] - surface.values[0, :, 0]
        assert slopes[0] < 0 < slopes[1]
        steps = EmbeddingLasso(1, interactions=[("steps", "kind")]).fit(table, y * table["steps"])
        pair = [f for f in steps.functions_ if isinstance(f, PairFunction)]
        assert all(f.grids[1].tolist() == [0, 1, 2] for f in pair)

    def test_what_has_no_surface(self):
        X, y = make_product(120)
        listed = [(0, 2, 4), ("both", 4)]
        table = pd.DataFrame(X).rename(columns="x{}".format)
        selector = EmbeddingLasso(
            3, interactions=listed, joint={"both": ["x1", "x5"]}, keep=["both"]
        )
        selector.fit(table, y)
        several = {f.name: f for f in selector.functions_ if "&" in f.name or f.name == "both"}
        assert {"both", "both & x4"} <= set(several)
        assert all(isinstance(f, FeatureFunction) for f in several.values())
        assert all(f.grid.size == 0 for f in several.values())
        assert selector.score(table, y) > 0.5


class TestInvariances:
    def test_order_of_features_and_samples(self):
        X, y = make_three_terms()
        rng = np.random.default_rng(1)
        rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
        table = pd.DataFrame(X).rename(columns="x{}".format)
        one = EmbeddingLasso(4, interactions="all").fit(table, y)
        other = EmbeddingLasso(4, interactions="all").fit(table.iloc[rows, columns], y[rows])
        assert members_of(other) == pytest.approx(members_of(one), abs=1e-7)
        np.testing.assert_allclose(
            other.predict(table.iloc[:, columns]), one.predict(table), atol=1e-5
        )

    def test_weights_are_repeated_rows(self):
        X, y = make_three_terms(120, 6)
        weights = np.random.default_rng(0).integers(0, 3, len(y))
        repeated = np.repeat(np.arange(len(y)), weights)
        here = EmbeddingLasso(4, interactions="all").fit(X, y, sample_weight=weights.astype(float))
        there = EmbeddingLasso(4, interactions="all").fit(X[repeated], y[repeated])
        assert members_of(here) == pytest.approx(members_of(there), rel=1e-6)
        np.testing.assert_allclose(here.predict(X), there.predict(X), rtol=1e-5, atol=1e-5)

    def test_threads(self):
        X, y = make_three_terms()
        one, two = (EmbeddingLasso(4, interactions="all", n_jobs=k).fit(X, y) for k in (1, 2))
        assert members_of(one) == members_of(two)


class TestOptions:
    @pytest.mark.parametrize("hierarchy", ["weak", "strong"])
    def test_hierarchy_holds_in_what_is_left(self, hierarchy):
        X, y = make_three_terms()
        y = y + X[:, 2]
        option = Interactions(hierarchy=hierarchy)
        judge = all if hierarchy == "strong" else any
        for size in (3, 5):
            selector = EmbeddingLasso(size, interactions=option).fit(X, y)
            names = set(selector.result_.names)
            assert len(names) == size
            assert all(judge(one in names for one in some) for some in pairs_of(selector))
        assert ("x2", "x4") in pairs_of(selector)

    def test_pairs_of_selected_features(self):
        X, y = make_three_terms()
        y = y + X[:, 2] + X[:, 4]
        selector = EmbeddingLasso(5, interactions="selected").fit(X, y)
        assert ("x2", "x4") in pairs_of(selector)
        assert selector.result_.interactions.n_offered == 10

    def test_most_interactions(self):
        X, y = make_three_terms()
        y = y + X[:, 5] * X[:, 6]
        free = EmbeddingLasso(5, interactions="all").fit(X, y)
        few = EmbeddingLasso(5, interactions="all", n_interactions=1).fit(X, y)
        assert len(pairs_of(free)) > 1
        assert len(pairs_of(few)) == 1
        assert len(few.result_.features) == 5
        assert few.result_.certificate.duality_gap <= 1e-8

    def test_keep_exclude_and_weights(self):
        X, y = make_product()
        kept = EmbeddingLasso(2, interactions="all", keep=[0]).fit(X, y)
        assert set(kept.result_.names) == {"x0", "x1 & x4"}
        gone = EmbeddingLasso(3, interactions="all", exclude=[1]).fit(X, y)
        assert not any("x1" in f.columns for f in gone.result_.features)
        dear = EmbeddingLasso(2, interactions="all", penalty=Lasso({1: 100.0})).fit(X, y)
        assert "x1 & x4" not in dear.result_.names

    def test_missing_values(self):
        X, y = make_product(300)
        X[::7, 1] = np.nan
        X[3::9, 4] = np.nan
        selector = EmbeddingLasso(1, interactions="all", missing="ignore").fit(X, y)
        feature = selector.result_.features[0]
        seen = ~np.isnan(X[:, [1, 4]]).any(axis=1)
        assert feature.name == "x1 & x4"
        assert feature.n_observed == seen.sum()
        predicted = selector.predict(X)
        assert np.unique(predicted[~seen]).size == 1  # nothing is added to the mean
        assert np.corrcoef(predicted[seen], y[seen])[0, 1] > 0.9
        assert selector.functions_[0].samples[0].size == seen.sum()
        # means of functions are those of the samples that have them
        mean = np.mean(predicted[seen]) - predicted[~seen][0]
        assert mean == pytest.approx(0, abs=1e-6)

    def test_covariates_are_projected_out(self):
        X, y = make_three_terms()
        y = y + 2 * X[:, 7]
        selector = EmbeddingLasso(3, interactions="all", covariates=[7]).fit(X, y)
        assert {"x0", "x1", "x2 & x4"} == set(selector.result_.names)
        assert len(selector.functions_) == 3

    def test_parameters_are_those_of_scikit_learn(self):
        selector = EmbeddingLasso(2, interactions=Interactions(among=5), n_interactions=1)
        copy = clone(selector).set_params(interactions__among=4, n_interactions=2)
        assert (copy.interactions.among, copy.n_interactions) == (4, 2)
        assert selector.interactions.among == 5
        X, y = make_product()
        found = copy.set_params(interactions__by="spread").fit(X, y)
        assert "x1 & x4" in found.result_.names

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"interactions": "pairs"}, "choose 'all' or 'selected'"),
            ({"interactions": "all", "n_interactions": 16}, "at most 15"),
            ({"interactions": "all", "penalty": GroupLasso(list("aabbcc"))}, "group lasso"),
        ],
    )
    def test_bad_input(self, options, words):
        X, y = make_product()
        with pytest.raises(InvalidInputError, match=words):
            EmbeddingLasso(2, **options).fit(X, y)


def test_main_effects_alone_bring_no_pair():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 15))
    y = X[:, 0] + np.cos(2 * X[:, 1]) + 0.1 * rng.standard_normal(150)
    selector = EmbeddingLasso(2, interactions="all").fit(X, y)
    assert set(selector.result_.names) == {"x0", "x1"}


def test_needed_features_are_dropped_last():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    F = oracles.embedded_rows(X[:, 2] + 0.1 * X[:, 3], 0.6)

    class Rows:
        def __init__(self, x):
            self.rows = oracles.function_rows(x, 0.02)

    factors = [Rows(x) for x in X.T]
    nothing = np.zeros(0, dtype=int)

    def needed(left):
        return {1} if 2 in left else set()

    free = rank_functions(np.arange(4), factors, F, nothing, 2)
    assert set(free.features) == {2, 3}
    found = rank_functions(np.arange(4), factors, F, nothing, 2, needed)
    assert 1 in found.features or 2 not in found.features
    every = rank_functions(np.arange(4), factors, F, nothing, 4, needed).features.tolist()
    assert every.index(1) < every.index(2)
