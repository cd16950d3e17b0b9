"""Interactions as features: what is offered, what the path takes, what the result says."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from hsiclasso import (
    ElasticNet,
    Gaussian,
    GroupLasso,
    HSICLasso,
    Interactions,
    Lasso,
    NOCCOLasso,
    Resources,
)
from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors import offering
from tests import oracles
from tests.selectors.dense import MEASURES, feature_matrices, selector_of, target_matrix


def make_xor(n=120, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sign(X[:, 1] * X[:, 5]) + 0.3 * rng.standard_normal(n)


def make_three_terms(n=200, d=12, seed=0):
    """A sine, a line and a product."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    noise = 0.2 * rng.standard_normal(n)
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + X[:, 2] * X[:, 4] + noise


@pytest.mark.parametrize("measure", MEASURES)
def test_a_pair_that_matters_only_jointly_comes_first(measure):
    X, y = make_xor()
    found = HSICLasso(2, measure=measure, interactions="all", fill=False).fit(X, y)
    first = found.result_.features[0]
    assert first.members == first.columns == ("x1", "x5")
    assert first.name == "x1 & x5"
    assert found.selected_[:2].tolist() == [1, 5]
    assert found.result_.certificate.kkt_residual < 1e-8


@pytest.mark.parametrize("weight", [1.0, 0.4, 1.5])
@pytest.mark.parametrize("measure", MEASURES)
def test_the_solution_is_that_of_the_dense_problem_with_all_pairs(measure, weight):
    X, y = make_three_terms(60, 5)
    pairs = list(itertools.combinations(range(5), 2))
    offered = Interactions(pairs, weight=weight)
    selector = selector_of(measure, 4, interactions=offered, fill=False).fit(X, y)
    products = [
        oracles.interaction_matrix([X[:, i], X[:, j]], [Gaussian()] * 2, measure) for i, j in pairs
    ]
    matrices = np.concatenate([feature_matrices(X.T, measure=measure), products])
    penalties = np.repeat([1.0, weight], [5, len(pairs)])
    design = matrices.reshape(len(matrices), -1).T / penalties
    found, weights, alpha = oracles.dense_path(design, target_matrix(y, measure).ravel(), 4)
    features = {f.index: f.weight * penalties[f.index] for f in selector.result_.features}
    assert features == pytest.approx(dict(zip(found.tolist(), weights, strict=True)), rel=1e-6)
    assert selector.result_.solution.alpha == pytest.approx(alpha, rel=1e-8)
    assert selector.result_.certificate.kkt_residual < 1e-8


def test_all_pairs_and_a_list_of_all_pairs_agree():
    X, y = make_three_terms()
    listed = list(itertools.combinations(range(X.shape[1]), 2))
    one, other = (HSICLasso(4, interactions=what).fit(X, y) for what in ("all", listed))
    assert one.result_.names == other.result_.names
    weights = [[f.weight for f in fit.result_.features] for fit in (one, other)]
    np.testing.assert_allclose(*weights, rtol=1e-8)
    assert one.result_.interactions.n_scanned == len(listed)
    assert one.result_.interactions.complete
    assert other.result_.interactions.rank is None
    assert {"x1", "x2 & x4"} <= set(one.result_.names)


@pytest.mark.parametrize(("seed", "weight"), [(2, 0.2), (4, 0.1)])
def test_a_scan_that_is_complete_missed_no_pair(seed, weight, monkeypatch):
    monkeypatch.setattr(offering, "_OFFERED", 2)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 12))
    products = [b * X[:, i] * X[:, j] for b, i, j in ((1, 2, 4), (0.7, 5, 6), (0.5, 7, 8))]
    y = 2 * X[:, 1] + sum(products) + 0.2 * rng.standard_normal(200)
    listed = list(itertools.combinations(range(12), 2))
    for size in (4, 5):
        one, other = (
            HSICLasso(size, interactions=Interactions(what, weight=weight)).fit(X, y).result_
            for what in ("all", listed)
        )
        assert one.interactions.complete
        assert one.names == other.names


def test_main_effects_alone_bring_no_pair():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 20))
    y = X[:, 0] + np.cos(2 * X[:, 1]) + 0.1 * rng.standard_normal(200)
    found = HSICLasso(2, interactions="all").fit(X, y).result_
    assert set(found.names) == {"x0", "x1"}


def test_pairs_of_the_selected_features_only():
    X, y = make_three_terms()
    y = y + X[:, 2] + X[:, 4]
    selector = HSICLasso(5, interactions="selected").fit(X, y)
    alone = set(HSICLasso(5).fit(X, y).result_.names)
    members = [set(f.members) for f in selector.result_.features if f.members]
    assert members
    assert all(some <= alone for some in members)
    assert selector.result_.interactions.n_offered == 10


@pytest.mark.parametrize("hierarchy", ["weak", "strong"])
@pytest.mark.parametrize("seed", range(3))
def test_hierarchy_holds_in_the_solution(hierarchy, seed):
    X, y = make_three_terms(seed=seed)
    y = y + 0.7 * X[:, 2]
    selector = HSICLasso(6, interactions=Interactions(hierarchy=hierarchy), fill=False).fit(X, y)
    names = set(selector.result_.names)
    judge = all if hierarchy == "strong" else any
    pairs = [f.members for f in selector.result_.features if f.members]
    assert all(judge(member in names for member in some) for some in pairs)
    assert hierarchy == "strong" or ("x2", "x4") in pairs


def test_most_interactions():
    X, y = make_three_terms()
    y = y + X[:, 5] * X[:, 6]
    free = HSICLasso(5, interactions="all").fit(X, y).result_
    few = HSICLasso(5, interactions="all", n_interactions=1).fit(X, y).result_
    assert sum(bool(f.members) for f in free.features) > 1
    assert sum(bool(f.members) for f in few.features) == 1
    assert len(few.features) == 5
    assert few.certificate.kkt_residual < 1e-8


@pytest.mark.parametrize(
    "interactions",
    [
        Interactions(among=["x1", "x5", "x2"]),
        Interactions(among={"a": ["x0", "x1", "x5"], "b": ["x2", "x3"]}),
        [("x5", "x1"), (1, 5), ("x0", "x2", "x3")],
    ],
)
def test_pairs_among_some_features(interactions):
    X, y = make_xor()
    table = pd.DataFrame(X).rename(columns="x{}".format)
    selector = HSICLasso(1, interactions=interactions).fit(table, y)
    assert selector.result_.names == ("x1 & x5",)
    assert selector.get_feature_names_out().tolist() == ["x1", "x5"]
    assert selector.transform(table).shape == (len(y), 2)


def test_pairs_of_features_that_change_the_spread():
    X = np.random.default_rng(0).standard_normal((200, 30))
    y = X[:, 1] * X[:, 5]
    option = Interactions(among=4, by="spread")
    result = HSICLasso(1, interactions=option).fit(X, y).result_
    assert result.names == ("x1 & x5",)
    assert result.interactions.n_scanned == 6


def test_triples_are_offered_if_they_are_listed():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6))
    y = np.sign(X[:, 0] * X[:, 2] * X[:, 5])
    selector = HSICLasso(1, interactions=[(0, 2, 5), (0, 2), (1, 3)], target="real").fit(X, y)
    assert selector.result_.features[0].members == ("x0", "x2", "x5")


def test_excluded_features_are_in_no_pair_and_kept_ones_may_be():
    X, y = make_xor()
    gone = HSICLasso(3, interactions="all", exclude=["x1"]).fit(X, y).result_
    assert not any("x1" in f.columns for f in gone.features)
    kept = HSICLasso(2, interactions="all", keep=["x0"]).fit(X, y).result_
    assert set(kept.names) == {"x0", "x1 & x5"}


def test_penalty_weights_and_elastic_net():
    X, y = make_xor()
    dear = {"x1": 1e6}
    selector = HSICLasso(2, interactions="all", penalty=Lasso(weights=dear)).fit(X, y)
    assert "x1 & x5" not in selector.result_.names
    net = HSICLasso(2, interactions="all", penalty=ElasticNet(0.9)).fit(X, y)
    assert net.result_.names[0] == "x1 & x5"


def test_the_learnt_kernel_includes_pairs():
    X, y = make_xor(150)
    kernel = HSICLasso(1, interactions="all").fit(X[:100], y[:100]).selected_kernel_
    assert kernel.columns.tolist() == [1, 5]
    both = kernel(X[:100])
    expected = oracles.interaction_matrix(X[:100, [1, 5]].T, [Gaussian()] * 2, "hsic")
    centred = oracles.centre(both / kernel.weights[0])
    np.testing.assert_allclose(centred, expected, atol=1e-6)
    assert kernel.transform(X[100:]).shape == (50, 100)


def test_smaller_selections_of_the_same_path():
    X, y = make_three_terms()
    selector = HSICLasso(5, interactions="all").fit(X, y)
    for size in (1, 2, 3, 4):
        direct = HSICLasso(size, interactions="all").fit(X, y)
        assert selector.selected_of_size(size).tolist() == direct.selected_.tolist()
    limited = HSICLasso(5, interactions="all", n_interactions=1).fit(X, y)
    with pytest.raises(InvalidInputError, match="fit again with"):
        limited.selected_of_size(2)


def test_order_of_samples_and_features_does_not_matter():
    X, y = make_three_terms()
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
    table = pd.DataFrame(X).rename(columns="x{}".format)
    one = HSICLasso(5, interactions="all").fit(table, y).result_
    other = HSICLasso(5, interactions="all").fit(table.iloc[rows, columns], y[rows]).result_
    members = [{frozenset(f.columns): f.weight for f in r.features} for r in (one, other)]
    assert members[0] == pytest.approx(members[1], rel=1e-6)


def test_of_similar_pairs_one_is_selected_and_has_neighbours():
    X, y = make_xor()
    X = np.column_stack([X, X[:, 1] + 0.01 * np.random.default_rng(0).standard_normal(len(y))])
    result = HSICLasso(2, interactions="all", n_neighbors=2, fill=False).fit(X, y).result_
    first = result.features[0]
    assert len(first.members) == 2
    assert len(first.neighbours) == 2
    assert result.clusters[0].representative == first.name
    assert not {"x1 & x5", "x5 & x8"} <= set(result.names)


def test_result_as_data():
    X, y = make_xor()
    result = HSICLasso(2, interactions="all").fit(X, y).result_
    plain = result.to_dict()
    assert plain["features"][0]["columns"] == ("x1", "x5")
    assert plain["interactions"]["complete"] is True
    assert result.to_frame()["columns"][0] == "x1; x5"
    assert "28 pairs were scanned" in repr(result)
    assert "x1 &amp; x5" in result._repr_html_()


def test_parameters_behave_as_those_of_scikit_learn():
    selector = HSICLasso(2, interactions=Interactions(among=5), n_interactions=1)
    copy = clone(selector).set_params(interactions__among=6)
    assert copy.interactions.among == 6
    assert selector.interactions.among == 5
    assert NOCCOLasso(interactions="all").interactions == "all"


def test_interactions_of_a_file_are_found_chunk_by_chunk(tmp_path):
    X, y = make_xor(100, 30)
    file = tmp_path / "table.npy"
    np.save(file, X)
    resources = Resources(memory_limit="200MB")
    read = HSICLasso(3, interactions="all", resources=resources).fit(file, y).result_
    direct = HSICLasso(3, interactions="all").fit(X, y).result_
    assert [f.index for f in read.features] == [f.index for f in direct.features]
    weights = [[f.weight for f in result.features] for result in (read, direct)]
    np.testing.assert_allclose(*weights, rtol=1e-12)


def test_interrupted_scans_continue(tmp_path):
    X, y = make_xor(100, 12)
    kept = Resources(checkpoint=tmp_path / "kept")
    first, second = (HSICLasso(2, interactions="all", resources=kept).fit(X, y) for _ in "ab")
    direct = HSICLasso(2, interactions="all").fit(X, y)
    for one in (first, second):
        assert one.result_.names == direct.result_.names
        weights = [[f.weight for f in fit.result_.features] for fit in (one, direct)]
        np.testing.assert_allclose(*weights, rtol=1e-12)
    assert any(
        "pairs" in name for name in (tmp_path / "kept" / "made_for.json").read_text().split()
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"interactions": "pairs"}, "choose 'all' or 'selected'"),
        ({"interactions": 3}, "list of tuples"),
        ({"interactions": []}, "list of tuples"),
        ({"interactions": [("x0",)]}, "at least two"),
        ({"interactions": ["x0"]}, "tuple of columns"),
        ({"interactions": [("x0", "x9")]}, "no such column"),
        ({"interactions": [("x0", "x0")]}, "twice"),
        ({"interactions": [("x0", "x1")], "exclude": ["x0"]}, "excluded"),
        ({"interactions": "all", "n_interactions": 29}, "at most 28"),
        ({"interactions": [(0, 1)], "n_interactions": 2}, "at most 1"),
        ({"n_interactions": 2}, "without interactions"),
        ({"interactions": "all", "n_interactions": 0}, "n_interactions=0"),
        ({"interactions": Interactions(hierarchy="both")}, "hierarchy='both'"),
        ({"interactions": Interactions(weight=0)}, "weight=0"),
        ({"interactions": Interactions(weight="little")}, "weight='little'"),
        ({"interactions": Interactions(by="spread")}, "among=1000"),
        ({"interactions": Interactions(among=9)}, "there are 8 features"),
        ({"interactions": Interactions(among=1)}, "among=1"),
        ({"interactions": Interactions(among="x1")}, "one text"),
        ({"interactions": Interactions("selected", among=3)}, "only pairs='all' scans"),
        ({"interactions": Interactions(among=["x1"])}, "fewer than two"),
        (
            {"interactions": Interactions(among=3, by="spread"), "target": "classes"},
            "no numbers whose spread",
        ),
        ({"interactions": "all", "penalty": GroupLasso(list("aabbccdd"))}, "group lasso"),
        ({"interactions": "all", "penalty": Lasso(positive=False), "alpha": 1.0}, "signed lasso"),
    ],
)
def test_bad_input_is_named(options, words):
    X, y = make_xor()
    table = pd.DataFrame(X).rename(columns="x{}".format)
    y = y > 0 if options.get("target") == "classes" else y
    with pytest.raises(InvalidInputError, match=words):
        HSICLasso(2, **options).fit(table, y)
