"""What a user may say about features: keep, exclude, weights, groups, elastic net and signs."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls
from sklearn import linear_model

from hsiclasso import (
    AlphaRatio,
    ConstantFeatureWarning,
    ElasticNet,
    Gaussian,
    GroupLasso,
    HSICLasso,
    InvalidInputError,
    Lasso,
    NOCCOLasso,
    Real,
    make_data1,
)
from hsiclasso.solvers import ExplicitProblem, Penalty, Stop, solve_path
from tests import oracles
from tests.selectors.dense import MEASURES, assert_same, selector_of
from tests.solvers.conic import conic_solution

D = 12
NAMES = [f"gene{j}" for j in range(D)]
#: Groups with shuffled labels: sorting them apart from their columns would be noticed.
PATHWAYS = np.array(["growth", "repair", "signal", "growth"] * 3)
TRIPLES = np.arange(D) // 3


@pytest.fixture(scope="module")
def data():
    return make_data1(80, D, random_state=0)[:2]


@pytest.fixture(scope="module")
def frame(data):
    return pd.DataFrame(data[0], columns=NAMES)


@pytest.fixture(scope="module")
def dense(data):
    """The problem of the data with its n x n matrices."""
    design, target = oracles.explicit_problem(*data)
    return ExplicitProblem(design.T @ design, design.T @ target, float(target @ target))


def ones(**changed):
    weights = np.ones(D)
    for name, value in changed.items():
        weights[int(name[1:])] = value
    return weights


def origins(selector):
    return {feature.index: feature.origin for feature in selector.result_.features}


FREE_OF_ITS_GROUP = Penalty(  # column 7 leaves the third group of three
    np.zeros(D), np.where(np.arange(D) == 7, 4, TRIPLES), np.sqrt([3, 3, 3, 3, 0])
)
PENALTIES = {
    "keep": ({"keep": [1, 4]}, Penalty.lasso(ones(x1=0, x4=0))),
    "exclude": ({"exclude": [5]}, Penalty.lasso(ones(x5=np.inf))),
    "weights": ({"penalty": Lasso(ones(x5=2, x8=0.5))}, Penalty.lasso(ones(x5=2, x8=0.5))),
    "groups": ({"penalty": GroupLasso(TRIPLES)}, Penalty.group(TRIPLES)),
    "sparse groups": (
        {"penalty": GroupLasso(PATHWAYS, l1_ratio=0.3, weights=ones(x5=2)), "exclude": [3]},
        Penalty.group(PATHWAYS, l1_ratio=0.3, weights=ones(x5=2, x3=np.inf)),
    ),
    "group weights": (
        {"penalty": GroupLasso(PATHWAYS, group_weights={"repair": 0.5})},
        Penalty.group(PATHWAYS, group_weights=np.array([np.sqrt(6), 0.5, np.sqrt(3)])),
    ),
    "keep in groups": ({"penalty": GroupLasso(TRIPLES), "keep": [7]}, FREE_OF_ITS_GROUP),
    "signed": ({"penalty": Lasso(positive=False)}, Penalty.lasso(D, signed=True)),
}


@pytest.mark.parametrize("kind", PENALTIES)
def test_every_penalty_on_dense_matrices_by_a_conic_solver(kind, data, dense):
    options, penalty = PENALTIES[kind]
    alpha = 0.1 * dense.linear.max()
    found = selector_of(size=None, alpha=alpha, **options).fit(*data)
    expected = conic_solution(dense, penalty, alpha)
    np.testing.assert_allclose(found.coef_, expected, atol=1e-4 * expected.max())
    assert found.result_.certificate.duality_gap < 1e-10
    plain = selector_of(size=None, alpha=alpha).fit(*data)
    assert np.abs(found.coef_ - plain.coef_).max() > 1e-3 * plain.coef_.max() or kind == "signed"


def test_solving_divides_no_infinity_by_another(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HSICLasso(alpha=0.0, exclude=[4]).fit(*data)


class TestKeepAndExclude:
    @pytest.mark.parametrize("column", ["gene4", 4, 4 - D, np.int8(4 - D)], ids=repr)
    def test_columns_by_name_and_by_index(self, column, data, frame):
        expected = HSICLasso(5, keep=[4]).fit(*data)
        assert 4 in expected.selected_
        assert_same(HSICLasso(5, keep=[column]).fit(frame, data[1]), expected, rtol=1e-10)
        assert 4 not in HSICLasso(5, exclude=(column,)).fit(frame, data[1]).selected_

    def test_columns_of_an_array_have_names_too(self, data):
        selector = HSICLasso(4, keep=["x1"], exclude=["x5", 5, -7]).fit(*data)
        assert 1 in selector.selected_
        assert 5 not in selector.selected_

    def test_a_kept_column_without_use_has_weight_zero(self, data):
        end = nnls(*oracles.explicit_problem(*data))[0]
        useless = int(np.flatnonzero(end == 0)[0])
        selector = HSICLasso(alpha=0.0, keep=[useless]).fit(*data)
        assert selector.coef_[useless] == 0
        assert selector.selected_[-1] == useless
        assert origins(selector)[useless] == "kept"

    def test_a_kept_column_that_does_not_vary(self, data):
        X = np.column_stack([data[0], np.ones(80)])
        for width, size in ((1.0, 3), ("median", 1)):
            with pytest.warns(ConstantFeatureWarning):
                selector = HSICLasso(
                    size, keep=[D], kernel=Gaussian(width), measure="nhsic"
                ).fit(X, data[1])  # fmt: skip
            assert selector.selected_[-1] == D
            assert selector.coef_[D] == 0
            assert set(np.flatnonzero(selector.coef_)) == set(selector.selected_[:-1])
            assert np.isfinite(selector.selected_kernel_(X)).all()

    def test_an_excluded_column_might_as_well_not_be_there(self, data):
        X, y = data
        best = HSICLasso(1).fit(X, y).selected_[0]
        left = np.delete(np.arange(D), best)
        for penalty in ("lasso", "elastic_net"):
            without = HSICLasso(4, penalty=penalty).fit(X[:, left], y)
            excluded = HSICLasso(4, penalty=penalty, exclude=[best]).fit(X, y)
            assert excluded.selected_.tolist() == left[without.selected_].tolist()
            np.testing.assert_allclose(excluded.coef_[left], without.coef_, rtol=1e-8)

    def test_the_path_to_a_number_starts_from_what_is_kept(self, data, dense):
        for n in range(2, 8):
            found = selector_of(size=n, keep=[1, 4]).fit(*data)
            path = solve_path(dense, Penalty.lasso(ones(x1=0, x4=0)), Stop(max_features=n))
            np.testing.assert_allclose(found.coef_, path.coefficients(), atol=1e-9)
            assert found.selected_.size == n
            assert {1, 4} <= set(found.selected_)

    @given(
        roles=st.lists(st.sampled_from(["", "", "keep", "exclude"]), min_size=D, max_size=D),
        share=st.floats(0, 1),
    )
    @pytest.mark.filterwarnings("ignore::hsiclasso.FewerFeaturesWarning")
    def test_kept_are_always_selected_and_excluded_never(self, roles, share):
        X, y, _ = make_data1(40, D, random_state=1)
        keep, exclude = ([j for j in range(D) if roles[j] == role] for role in ("keep", "exclude"))
        if len(exclude) == D:
            return
        least = max(len(keep), 1)
        wanted = least + int(share * (D - len(exclude) - least))
        selector = HSICLasso(wanted, keep=keep, exclude=exclude).fit(X, y)
        assert selector.selected_.size == wanted
        assert set(keep) <= set(selector.selected_)
        assert not set(exclude) & set(selector.selected_)
        assert (np.diff(selector.coef_[selector.selected_]) <= 0).all()
        assert all((origins(selector)[int(k)] == "kept") == (k in keep) for k in selector.selected_)

    @pytest.mark.filterwarnings("ignore::hsiclasso.FewerFeaturesWarning")
    def test_numbers_make_room_for_what_is_kept(self, data):
        others = [j for j in range(D) if j not in (0, 7)]
        only = HSICLasso(2, keep=[0, 7], exclude=others).fit(*data)
        assert set(only.selected_) == {0, 7}
        assert only.path_.alpha == 0
        assert HSICLasso(keep=range(11)).fit(*data).selected_.size == 11
        assert HSICLasso(exclude=range(4)).fit(*data).selected_.size == D - 4


class TestWeights:
    def test_a_mapping_leaves_the_others_at_one(self, data, frame):
        by_name = Lasso({"gene5": 2.0, 8: 0.5, "gene0": np.inf})
        in_full = Lasso(ones(x5=2, x8=0.5, x0=np.inf))
        one, other = (HSICLasso(5, penalty=p).fit(frame, data[1]) for p in (by_name, in_full))
        np.testing.assert_array_equal(one.coef_, other.coef_)

    def test_infinity_excludes_and_zero_keeps_unpenalised(self, data):
        by_weight = HSICLasso(5, penalty=Lasso({5: np.inf, 1: 0})).fit(*data)
        by_list = HSICLasso(5, keep=[1], exclude=[5]).fit(*data)
        assert_same(by_weight, by_list, rtol=1e-15)
        assert origins(by_weight) == origins(by_list)

    def test_weights_and_their_multiple_differ_by_the_penalty(self, data):
        weights = np.random.default_rng(0).uniform(0.5, 2, D)
        one = HSICLasso(5, penalty=Lasso(weights)).fit(*data)
        ten = HSICLasso(5, penalty=Lasso((10 * weights).tolist())).fit(*data)
        np.testing.assert_allclose(ten.coef_, one.coef_, rtol=1e-8)
        assert ten.path_.alpha == pytest.approx(one.path_.alpha / 10)

    def test_the_given_weights_are_not_written_to(self, data):
        weights = np.ones(D)
        HSICLasso(3, keep=[0], exclude=[5], penalty=Lasso(weights)).fit(*data)
        assert (weights == 1).all()

    def test_the_number_asked_for_is_reached_where_an_unpenalised_feature_ends_at_zero(self, data):
        # column 4 begins with a positive weight and loses it on the way
        raw = {"target": Real(transform=None)}
        assert HSICLasso(6, keep=[4], **raw).fit(*data).coef_[4] == 0
        assert HSICLasso(6, penalty=Lasso({4: 0}), **raw).fit(*data).selected_.size == 6


def grouped(labels, **options):
    stop = {
        name: options.pop(name) for name in ("alpha", "n_features_to_select") if name in options
    }
    return HSICLasso(penalty=GroupLasso(labels, **options), **stop)


def as_dict(labels):
    return dict(zip(NAMES, labels, strict=True))


GROUPS = {
    "list": PATHWAYS.tolist(),
    "array of numbers": np.unique(PATHWAYS, return_inverse=True)[1] / 2,
    "mapping": as_dict(PATHWAYS),
    "mapping from the end": {j - D: PATHWAYS[j] for j in reversed(range(D))},
    "series by name": pd.Series(as_dict(PATHWAYS)).sort_values(),
    "categories by position": pd.Series(PATHWAYS, dtype="category"),
    "polars series": pl.Series(PATHWAYS.tolist()),
}


class TestGroups:
    @pytest.mark.parametrize("kind", GROUPS)
    def test_every_way_to_say_them_is_the_same(self, kind, data, frame):
        selector = grouped(GROUPS[kind], n_groups=2).fit(frame, data[1])
        plain = grouped(PATHWAYS, n_groups=2).fit(*data)
        np.testing.assert_allclose(selector.coef_, plain.coef_, atol=1e-9)

    def test_columns_that_are_not_mentioned_are_their_own_groups(self, data, frame):
        some = {"gene3": "pair", "gene5": "pair"}
        labels = np.array([some.get(name, name) for name in NAMES])
        full = grouped(labels, n_groups=4).fit(frame, data[1])
        for groups in (some, pd.Series(some), {**some, "gene7": None}, {**some, "gene7": pd.NA}):
            partial = grouped(groups, n_groups=4).fit(frame, data[1])
            assert partial.result_.groups == full.result_.groups
            np.testing.assert_array_equal(partial.coef_, full.coef_)
        # a label that is also the name of a column that is not mentioned
        twin = HSICLasso(alpha=0.0, penalty=GroupLasso({"x5": "x3", "x8": "x3"})).fit(*data)
        assert {group.label: group.size for group in twin.result_.groups}["x3"] == 2

    @pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
    @pytest.mark.parametrize("measure", ["hsic", "nocco"])
    def test_exactly_as_many_as_asked_for(self, l1_ratio, measure, data):
        for count in (1, 2, 4):
            selector = grouped(TRIPLES, n_groups=count, l1_ratio=l1_ratio)
            selector.set_params(measure=measure).fit(*data)
            assert np.unique(TRIPLES[selector.selected_]).size == count
            assert len(selector.result_.groups) == count
            assert selector.result_.status == "N_GROUPS"
            assert selector.result_.solution.n_requested is None

    def test_the_table_of_groups(self, data, frame):
        selector = grouped(PATHWAYS, n_groups=2, l1_ratio=0.2).fit(frame, data[1])
        result = selector.result_
        norms = [group.norm for group in result.groups]
        assert norms == sorted(norms, reverse=True)
        for group in result.groups:
            members = np.flatnonzero(group.label == PATHWAYS)
            assert group.size == members.size
            assert group.norm == pytest.approx(np.linalg.norm(selector.coef_[members]))
            chosen = [k for k in selector.selected_ if k in members]
            assert group.features == tuple(NAMES[k] for k in chosen)
        assert [f.group for f in result.features] == PATHWAYS[selector.selected_].tolist()

    @pytest.mark.parametrize("l1_ratio", [0.0, 0.4])
    @given(seed=st.integers(0, 1000))
    def test_neither_names_nor_order_of_columns_matter(self, l1_ratio, seed):
        rng = np.random.default_rng(seed)
        X, y, _ = make_data1(40, D, random_state=0)
        labels, order = rng.integers(0, 4, D), rng.permutation(D)
        renamed = np.array(["q", "a", "zz", "m"])[labels]
        base = grouped(labels, alpha=AlphaRatio(0.4), l1_ratio=l1_ratio).fit(X, y)
        moved = grouped(renamed[order], alpha=AlphaRatio(0.4), l1_ratio=l1_ratio).fit(
            pd.DataFrame(X[:, order], columns=rng.permutation(NAMES)), y
        )
        np.testing.assert_allclose(moved.coef_, base.coef_[order], atol=1e-8)

    def test_groups_of_one_and_only_the_l1_part_are_the_plain_lasso(self, data):
        lasso = HSICLasso(alpha=AlphaRatio(0.2)).fit(*data)
        one = grouped(range(D), alpha=AlphaRatio(0.2)).fit(*data)
        np.testing.assert_allclose(one.coef_, lasso.coef_, atol=1e-8)
        only = grouped(PATHWAYS, alpha=AlphaRatio(0.2), l1_ratio=1.0).fit(*data)
        np.testing.assert_allclose(only.coef_, lasso.coef_, atol=1e-9)
        assert only.result_.method.solver == "homotopy"
        five = HSICLasso(5).fit(*data)
        for stop in ({"n_features_to_select": 5}, {"n_groups": 5}):
            assert set(grouped(range(D), **stop).fit(*data).selected_) == set(five.selected_)

    def test_the_l1_part_selects_within_groups(self, data):
        whole, within = (
            grouped(PATHWAYS, alpha=AlphaRatio(0.3), l1_ratio=r).fit(*data) for r in (0.0, 0.7)
        )
        assert whole.result_.method.penalty == "group lasso"
        assert within.result_.method.penalty == "sparse group lasso"
        each = [s.selected_.size / len(s.result_.groups) for s in (whole, within)]
        assert each[1] < each[0]

    def test_weights_of_groups(self, data):
        first = grouped(PATHWAYS, n_groups=1).fit(*data).result_.groups[0].label
        heavy = grouped(PATHWAYS, n_groups=2, group_weights={first: 100.0}).fit(*data)
        assert first not in [group.label for group in heavy.result_.groups]
        free = grouped(PATHWAYS, alpha=AlphaRatio(1.0), group_weights={"repair": 0.0}).fit(*data)
        assert [group.label for group in free.result_.groups] == ["repair"]
        by_number, by_text = (
            grouped(TRIPLES, alpha=AlphaRatio(0.3), group_weights={label: 9.0}).fit(*data)
            for label in (1, "1")
        )
        np.testing.assert_array_equal(by_number.coef_, by_text.coef_)

    def test_keep_and_exclude_within_groups(self, data):
        out = grouped(PATHWAYS, n_groups=3).set_params(exclude=[5, 3]).fit(*data)
        assert not {3, 5} & set(out.selected_)
        kept = grouped(PATHWAYS, alpha=AlphaRatio(0.5)).set_params(keep=[5]).fit(*data)
        assert origins(kept)[5] == "kept"
        table = {group.label: group for group in kept.result_.groups}
        assert "x5" in table[PATHWAYS[5]].features

    def test_what_is_kept_is_not_counted_among_the_groups(self, data):
        for k in range(0, D, 2):
            selector = grouped(TRIPLES, n_groups=2).set_params(keep=[k]).fit(*data)
            on_path = selector.selected_[selector.selected_ != k]
            assert np.unique(TRIPLES[on_path]).size == 2
            assert k in selector.selected_

    def test_weights_are_zero_outside_the_selection(self, data):
        selector = grouped(TRIPLES, n_features_to_select=4).fit(*data)
        assert set(np.flatnonzero(selector.coef_)) == set(selector.selected_)

    def test_a_weight_of_zero_matters_with_groups(self, data):
        base = grouped(PATHWAYS, alpha=AlphaRatio(0.3)).fit(*data)
        other = grouped(PATHWAYS, alpha=AlphaRatio(0.3), weights={5: 0.0}).fit(*data)
        assert np.abs(base.coef_ - other.coef_).max() > 1e-3 * base.coef_.max()


class TestElasticNet:
    @pytest.mark.parametrize("measure", MEASURES)
    @pytest.mark.parametrize("l1_ratio", [0.2, 0.8])
    def test_scikit_learn_agrees_on_the_explicit_problem(self, measure, l1_ratio, data):
        """Its ridge part is ours divided by the scale s, the norm of the best feature's matrix."""
        design, target = oracles.explicit_problem(*data, measure)
        best = design[:, np.argmax(design.T @ target)]
        scale = np.linalg.norm(best) / np.linalg.norm(target)
        found = selector_of(
            measure, None, alpha=AlphaRatio(0.1), penalty=ElasticNet(l1_ratio)
        ).fit(*data)  # fmt: skip
        alpha, rows = found.path_.alpha, len(target)
        l1, ridge = alpha * l1_ratio / rows, alpha * (1 - l1_ratio) * scale / rows
        model = linear_model.ElasticNet(
            l1 + ridge, l1_ratio=l1 / (l1 + ridge), fit_intercept=False, positive=True,
            tol=1e-12, max_iter=100_000,
        )  # fmt: skip
        expected = model.fit(design, target).coef_
        np.testing.assert_allclose(found.coef_, expected, atol=1e-6 * expected.max())
        assert found.result_.method.penalty == "elastic net"
        assert scale == pytest.approx(1) or measure != "nhsic"

    def test_factors_of_features(self, data, dense):
        weights = ones(x5=2, x8=0.5, x0=np.inf, x1=0)
        alpha, top = (
            0.1 * dense.linear.max(),
            int(np.argmax(np.where(weights < 9, dense.linear, 0))),
        )
        scale = np.sqrt(dense.gram[top, top] / dense.target_norm2)
        found = selector_of(size=None, alpha=alpha, penalty=ElasticNet(0.5, weights)).fit(*data)
        finite = np.where(np.isfinite(weights), weights, 0)
        ridged = replace(dense, gram=dense.gram + np.diag(alpha * 0.5 * scale * finite))
        expected = conic_solution(ridged, Penalty.lasso(0.5 * weights), alpha)
        np.testing.assert_allclose(found.coef_, expected, atol=1e-4 * expected.max())

    def test_all_l1_is_the_lasso(self, data):
        net = HSICLasso(5, penalty=ElasticNet(1.0)).fit(*data)
        assert_same(net, HSICLasso(5).fit(*data), rtol=1e-12)
        assert net.result_.method.penalty == "lasso"

    @pytest.mark.parametrize("solver", ["auto", "dal"])
    def test_duplicates_share_weight(self, solver, data):
        X, y = data
        best = HSICLasso(1).fit(X, y).selected_[0]
        twice = np.column_stack([X, X[:, best]])
        net = HSICLasso(alpha=AlphaRatio(0.2), penalty="elastic_net", solver=solver).fit(twice, y)
        assert net.coef_[best] > 0
        assert net.coef_[best] == pytest.approx(net.coef_[D], rel=1e-6)
        assert HSICLasso(alpha=AlphaRatio(0.2)).fit(twice, y).coef_[D] == 0

    def test_the_penalty_at_which_the_first_feature_enters(self, data):
        top = HSICLasso(1).fit(*data).relevance_.max()
        for ratio in (0.1, 0.5):
            path = HSICLasso(1, penalty=ElasticNet(ratio)).fit(*data).path_
            assert path.alphas[0] == pytest.approx(top / ratio)


class TestSigns:
    def test_scikit_learn_agrees_on_the_explicit_problem(self, rng):
        X, y = rng.standard_normal((40, 9)), rng.standard_normal(40)
        X[:, 5] = X[:, 3] + X[:, 4]
        X = np.column_stack([X, np.hypot(X[:, 0], X[:, 1])])
        design, target = oracles.explicit_problem(X, y)
        signed = Lasso(positive=False)
        found = selector_of(size=None, penalty=signed, alpha=AlphaRatio(0.02)).fit(X, y)
        model = linear_model.Lasso(
            found.path_.alpha / len(target), fit_intercept=False, tol=1e-14, max_iter=100_000
        )
        expected = model.fit(design, target).coef_
        np.testing.assert_allclose(found.coef_, expected, atol=1e-7 * np.abs(expected).max())
        assert (expected < 0).any()
        assert found.result_.method.penalty == "signed lasso"
        # the heaviest come first whatever their sign, and shares count by size
        assert (np.diff(np.abs(found.coef_[found.selected_])) <= 0).all()
        assert set(found.selected_) == set(np.flatnonzero(found.coef_))
        assert sum(f.share for f in found.result_.features) == pytest.approx(1)


BAD = {
    "unknown name": ({"keep": ["gene44"]}, "keep has 'gene44'.* did you mean 'gene4'"),
    "unlike any name": ({"exclude": ["TP53"]}, "exclude has 'TP53'.* check the spelling"),
    "index too large": ({"keep": [D]}, "keep has index 12, but there are 12 columns: 0 to 11"),
    "index too small": ({"exclude": [-D - 1]}, "exclude has index -13"),
    "bool": ({"keep": [True]}, "keep has True, but columns are given by name or by index"),
    "numpy bool": ({"keep": np.array([True, False])}, "by name or by index"),
    "float": ({"keep": [1.0]}, r"keep has 1\.0"),
    "plain text": ({"keep": "gene1"}, r"keep='gene1' must be a list of columns: \['gene1'\]"),
    "plain number": ({"exclude": 1}, r"exclude=1 must be a list of columns: \[1\]"),
    "both": ({"keep": ["gene1", 2], "exclude": [1]}, "'gene1' is both in keep and in exclude"),
    "all excluded": ({"exclude": range(D)}, "All features are excluded: leave at least one"),
    "all of infinite weight": ({"penalty": Lasso(np.full(D, np.inf))}, "All features are"),
    "fewer than kept": (
        {"keep": [0, 1, 2], "n_features_to_select": 2}, "3 features are to be kept: ask for at lea"
    ),
    "more than are left": (
        {"exclude": [0, 1, 2], "n_features_to_select": 10}, "3 of 12 .*ask for at most 9"
    ),
    "weights too short": ({"penalty": Lasso(np.ones(11))}, r"shape \(11,\), but .* 12 columns"),
    "weights with two axes": ({"penalty": Lasso(np.ones((D, 1)))}, r"shape \(12, 1\)"),
    "negative weight": ({"penalty": Lasso(ones(x7=-1))}, r"of 'gene7' is -1\.0.* must be >= 0"),
    "nan weight": ({"penalty": ElasticNet(weights={"gene7": np.nan})}, "of 'gene7' is nan"),
    "weights of text": ({"penalty": Lasso(["a"] * D)}, "weights of the penalty must be numbers"),
    "weight of text": ({"penalty": Lasso({1: "a"})}, "weights of the penalty must be numbers"),
    "weight of no column": ({"penalty": Lasso({"gen7": 1})}, "weights has 'gen7'.*did you mean"),
    "no flag": ({"penalty": Lasso(positive="yes")}, "positive='yes' must be True or False"),
    "no groups": ({"penalty": GroupLasso(None)}, "groups=None, but a group lasso needs the group"),
    "groups too short": ({"penalty": GroupLasso(np.ones(11))}, r"groups has shape \(11,\)"),
    "label None": ({"penalty": GroupLasso([*PATHWAYS[1:], None])}, r"groups\[11\] is missing"),
    "label nan": ({"penalty": GroupLasso(ones(x3=np.nan))}, r"groups\[3\] is missing"),
    "label NA": (
        {"penalty": GroupLasso(pd.Series([*PATHWAYS[1:], None], dtype="string"))}, "is missing"
    ),
    "group of no column": ({"penalty": GroupLasso({"gene44": "a"})}, "'gene44'.* did you mean"),
    "series of no column": ({"penalty": GroupLasso(pd.Series({"gen": "a"}))}, "groups has 'gen'"),
    "unknown group": (
        {"penalty": GroupLasso(PATHWAYS, group_weights={"sginal": 1.0})}, "did you mean 'signal'"
    ),
    "negative group weight": (
        {"penalty": GroupLasso(PATHWAYS, group_weights={"signal": -1.0})}, "finite number >= 0"
    ),
    "infinite group weight": (
        {"penalty": GroupLasso(PATHWAYS, group_weights={"signal": np.inf})}, "exclude its features"
    ),
    "group weight of text": (
        {"penalty": GroupLasso(PATHWAYS, group_weights={"signal": "a"})}, "finite number >= 0"
    ),
    "list of group weights": (
        {"penalty": GroupLasso(PATHWAYS, group_weights=[1, 2])}, "by label: pass a mapping"
    ),
    "weights without l1": (
        {"penalty": GroupLasso(PATHWAYS, weights={8: 100.0})}, "l1_ratio=0 there is no l1 part"
    ),
    "l1_ratio of groups": ({"penalty": GroupLasso(PATHWAYS, 1.5)}, r"l1_ratio=1\.5, but .* 0 \(gr"),
    "l1_ratio": ({"penalty": ElasticNet(0)}, "l1_ratio=0, but .* above 0 and is at most 1, such"),
    "l1_ratio of text": ({"penalty": ElasticNet("half")}, "l1_ratio='half'"),
    "n_groups": ({"penalty": GroupLasso(PATHWAYS, n_groups=0)}, "n_groups=0 must be a whole"),
    "half a group": ({"penalty": GroupLasso(PATHWAYS, n_groups=1.5)}, "n_groups=1.5"),
    "more groups than there are": (
        {"penalty": GroupLasso(PATHWAYS, n_groups=4)}, "there are 3 groups: ask for at most 3"
    ),
    "signed and kept": (
        {"penalty": Lasso(positive=False), "keep": [1]}, "needs a penalty on every feature"
    ),
    "signed without weight": ({"penalty": Lasso({1: 0}, positive=False)}, "weights of 0"),
    "signed without penalty": (
        {"penalty": Lasso(positive=False), "alpha": 0}, "alpha=0 with positive=False"
    ),
    "signed at share 0": (
        {"penalty": Lasso(positive=False), "alpha": AlphaRatio(0)}, "give an alpha > 0"
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_what_cannot_be_meant_is_explained(kind, data, frame):
    options, message = BAD[kind]
    with pytest.raises(InvalidInputError, match=message):
        NOCCOLasso(**options).fit(frame, data[1])
