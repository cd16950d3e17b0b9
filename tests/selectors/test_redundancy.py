"""Features that are left out because they are too similar, and the clusters of a result."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

from hsiclasso import (
    NOCCO,
    ElasticNet,
    EmbeddingLasso,
    FewerFeaturesWarning,
    GroupLasso,
    HSICLasso,
    InvalidInputError,
    Lasso,
    NOCCOLasso,
    make_copies,
)
from hsiclasso.data import as_dataset
from hsiclasso.selectors.describe import _clusters
from hsiclasso.selectors.pipeline import select
from hsiclasso.selectors.search import Solved
from hsiclasso.solvers.path import Closed
from tests import oracles
from tests.selectors.dense import MEASURES, feature_matrices, selector_of

FAMILIES = [HSICLasso, NOCCOLasso, EmbeddingLasso]


@pytest.fixture(scope="module")
def copies():
    """Four causal columns, three near copies of each, and noise."""
    return make_copies(120, 40, n_copies=3, random_state=0)


@pytest.fixture(scope="module")
def few():
    """Columns in pairs of different similarity, few enough for dense matrices."""
    rng = np.random.default_rng(1)
    first = rng.standard_normal((60, 5))
    second = first + rng.standard_normal((60, 5)) * [0.1, 0.3, 0.5, 0.8, 2.0]
    X = np.column_stack([first, second])
    return X, first @ [1.0, 1.0, 0.8, 0.6, 0.4] + 0.3 * rng.standard_normal(60)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("cap", [0.3, 0.6, 0.9])
def test_similarity_is_that_of_the_dense_matrices(measure, cap, few):
    X, y = few
    S = oracles.similarity(feature_matrices(X.T, measure=measure))
    selector = selector_of(measure, None, alpha=0.0, max_redundancy=cap).fit(X, y)
    path = selector.path_
    for one in path.closed:
        assert one.similarity == pytest.approx(S[one.feature, one.representative], abs=1e-8)
        assert one.similarity > cap
    ever = path.entered
    assert (S[np.ix_(ever, ever)] - np.eye(ever.size) <= cap + 1e-9).all()
    left_out = [one.feature for one in path.closed]
    rest = selector_of(measure, None, alpha=0.0, exclude=left_out).fit(X, y)
    np.testing.assert_allclose(selector.coef_, rest.coef_, atol=1e-7 * rest.coef_.max())
    assert selector.result_.certificate.duality_gap < 1e-10
    order = [k for point in rest.path_.breakpoints for k in point.joined]
    assert oracles.too_similar(order, S, cap) is None


@pytest.mark.parametrize("family", FAMILIES)
def test_only_one_of_each(family, copies):
    X, y, origin = copies
    capped = family(8, max_redundancy=0.4).fit(X, y)
    found = origin[capped.selected_]
    assert np.unique(found[found >= 0]).size == (found >= 0).sum()
    plain = family(8, max_redundancy=1.0).fit(X, y)
    assert plain.path_.closed == ()
    assert {cluster.members for cluster in plain.result_.clusters} == {()}
    found = origin[plain.selected_]
    assert np.unique(found[found >= 0]).size < (found >= 0).sum()
    assert plain.selected_.tolist() != capped.selected_.tolist()


@pytest.mark.parametrize("family", FAMILIES)
def test_auto_is_a_fixed_number(family, copies):
    X, y, _ = copies
    auto, given = family(6).fit(X, y), family(6, max_redundancy=0.6).fit(X, y)
    assert auto.result_ == given.result_
    assert auto.path_.closed == given.path_.closed


def test_penalties_that_leave_nothing_out_by_themselves(copies):
    X, y, _ = copies
    groups = GroupLasso(np.arange(40) // 2, n_groups=3)
    assert HSICLasso(penalty=groups).fit(X, y).path_.closed == ()
    assert HSICLasso(penalty=groups, max_redundancy=1.0).fit(X, y).path_.closed == ()
    assert EmbeddingLasso(penalty=groups).fit(X, y).path_.closed == ()
    for family in (HSICLasso, EmbeddingLasso):
        with pytest.raises(InvalidInputError, match=r"max_redundancy=0\.6, but GroupLasso selects"):
            family(penalty=groups, max_redundancy=0.6).fit(X, y)
    net = HSICLasso(12, penalty=ElasticNet(0.8)).fit(X, y)
    assert net.path_.closed == ()
    capped = HSICLasso(12, penalty=ElasticNet(0.8), max_redundancy=0.5).fit(X, y)
    assert capped.path_.closed
    assert capped.result_.certificate.duality_gap < 1e-10
    signed = HSICLasso(8, penalty=Lasso(positive=False), max_redundancy=0.5).fit(X, y)
    assert signed.path_.closed


@pytest.mark.parametrize("solver", ["homotopy", "cd", "dal"])
def test_solvers_agree(solver, copies):
    X, y, _ = copies
    one = HSICLasso(6, max_redundancy=0.5).fit(X, y)
    other = HSICLasso(6, max_redundancy=0.5, solver=solver).fit(X, y)
    assert sorted(one.selected_) == sorted(other.selected_)
    same = HSICLasso(alpha=one.path_.alpha, max_redundancy=0.5, solver=solver).fit(X, y)
    np.testing.assert_allclose(same.coef_, one.coef_, atol=1e-5 * one.coef_.max())


@pytest.mark.parametrize("bad", [0, -0.1, 1.1, np.nan, "low", None, True])
def test_values_that_are_no_similarity(bad, copies):
    X, y, _ = copies
    for family in FAMILIES:
        with pytest.raises(InvalidInputError, match=r"max_redundancy=.* lies above 0 and is at"):
            family(3, max_redundancy=bad).fit(X, y)


def test_kept_excluded_and_joint_features(copies):
    X, y, origin = copies
    first, second = np.flatnonzero(origin == 0)[:2].tolist()
    kept = HSICLasso(5, keep=[first, second], max_redundancy=0.4).fit(X, y)
    assert {first, second} <= set(kept.selected_.tolist())
    assert all(one.feature not in (first, second) for one in kept.path_.closed)
    others = np.setdiff1d(np.flatnonzero(origin == 0), [first, second])
    assert not set(kept.selected_.tolist()) & set(others.tolist())
    plain = HSICLasso(4, max_redundancy=0.4).fit(X, y)
    gone = int(plain.selected_[0])
    without = HSICLasso(4, exclude=[gone], max_redundancy=0.4).fit(X, y)
    assert all(one.representative != gone for one in without.path_.closed)
    pair = {"both": [first, second]}
    joint = HSICLasso(5, joint=pair, max_redundancy=0.4, n_neighbors=1).fit(X, y)
    S = [one.similarity for one in joint.path_.closed]
    assert min(S) > 0.4
    members = [m.name for cluster in joint.result_.clusters for m in cluster.members]
    assert len(set(members)) == len(members)


class TestClusters:
    def test_what_the_path_left_out(self, copies):
        X, y, origin = copies
        result = HSICLasso(4, max_redundancy=0.4).fit(X, y).result_
        assert [cluster.representative for cluster in result.clusters] == list(result.names)
        assert [cluster.index for cluster in result.clusters] == [f.index for f in result.features]
        listed = [m.index for cluster in result.clusters for m in cluster.members]
        closed = {one.feature: one for one in result.path.closed}
        assert sorted(listed) == sorted(closed)
        assert listed
        for cluster in result.clusters:
            values = [member.similarity for member in cluster.members]
            assert values == sorted(values, reverse=True)
            for member in cluster.members:
                assert origin[member.index] == origin[cluster.index]
                assert closed[member.index].representative == cluster.index
                assert member.name == f"x{member.index}"
        assert f"{len(listed)} features were left out" in result.message
        parsed = json.loads(result.to_json())["clusters"]
        assert [m["index"] for cluster in parsed for m in cluster["members"]] == listed

    @pytest.mark.parametrize("family", FAMILIES)
    def test_all_of_them_with_the_pass_that_finds_neighbours(self, family, copies):
        X, y, _ = copies
        selector = family(4, max_redundancy=0.4, n_neighbors=1).fit(X, y)
        result, S = selector.result_, self.similarity(selector, X, y)
        chosen = [feature.index for feature in result.features]
        expected = {k: [] for k in chosen}
        for k in np.setdiff1d(np.arange(40), chosen):
            best = chosen[int(np.argmax(S[k, chosen]))]
            if S[k, best] > 0.4:
                expected[best].append(int(k))
        found = {c.index: sorted(m.index for m in c.members) for c in result.clusters}
        assert found == expected
        assert sum(map(len, found.values())) >= len(result.path.closed)
        assert all(len(feature.neighbours) == 1 for feature in result.features)

    @staticmethod
    def similarity(selector, X, y):
        """Similarities of dense matrices of the selector's measure."""
        epsilon = getattr(selector, "epsilon_", 1e-3)
        measure = "hsic" if selector.measure == "hsic" else "nocco"
        grams = [oracles.centre(oracles.gaussian_gram(x)) for x in X.T]
        matrices = [oracles.measure_matrix(K, measure, epsilon) for K in grams]
        return oracles.similarity(np.array(matrices))

    def test_the_first_that_joins_may_leave_later(self, few):
        """Those that it closed then belong to the most similar of the selected ones, or to none."""
        X, y = few
        made = select(HSICLasso(3, max_redundancy=1.0), as_dataset(X, y).source, y)
        S = oracles.similarity(feature_matrices(X.T))
        # as if 3 had joined, closed 8, 5 and 0, and left
        closed = tuple(Closed(k, 3, float(S[k, 3])) for k in (8, 5, 0))
        path = replace(made.path, closed=closed)
        solved = Solved(path, np.array([1, 5]), np.ones(10), np.zeros(0, dtype=np.int64))
        first, second = _clusters(made.problem, solved, [[], []], cap=float(S[0, 5]) - 1e-6)
        assert (first.index, first.members) == (1, ())  # 8 is like neither
        assert [(m.index, m.name) for m in second.members] == [(0, "x0")]  # 5 itself is selected
        assert second.members[0].similarity == pytest.approx(S[0, 5], abs=1e-5)


def test_all_that_is_similar_is_left_out_of_spectra():
    """Neighbouring wavelengths are nearly the same: few are on the path, and it says so."""
    rng = np.random.default_rng(0)
    curves = np.cumsum(rng.standard_normal((60, 80)), axis=1)
    y = curves[:, 40] + 0.1 * rng.standard_normal(60)
    with pytest.warns(FewerFeaturesWarning, match="features were left out, too similar"):
        selector = HSICLasso(10, max_redundancy=0.6).fit(curves, y)
    on_path = [f for f in selector.result_.features if f.origin == "path"]
    assert len(on_path) < 10
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        short = HSICLasso(10, max_redundancy=0.6, fill=False).fit(curves, y)
    assert short.selected_.tolist() == [f.index for f in on_path]


def test_the_similarity_is_in_the_terms_of_the_measure(few):
    """The larger epsilon is, the more similar two near columns are."""
    X, y = few
    kept = {"keep": list(range(5)), "alpha": 0.0, "max_redundancy": 0.01}
    found = {}
    for epsilon in (1e-4, 1e-1):
        path = HSICLasso(measure=NOCCO(epsilon), **kept).fit(X, y).path_
        found[epsilon] = {one.feature: one.similarity for one in path.closed}
    both = found[1e-4].keys() & found[1e-1].keys()
    assert both
    assert all(found[1e-4][k] < found[1e-1][k] for k in both)
