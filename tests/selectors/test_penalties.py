"""What a user may say about features: keep, exclude, weights, groups, ridge and signs."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls
from sklearn.linear_model import Lasso

from hsiclasso import ConstantFeatureWarning, HSICLasso, InvalidInputError, NOCCOLasso, make_data1
from hsiclasso.solvers import ExplicitProblem, Penalty, Stop, solve_path
from tests import oracles
from tests.solvers.conic import conic_solution

D = 12
NAMES = [f"gene{j}" for j in range(D)]
PATHWAYS = np.array(["growth", "repair", "signal", "growth"] * 3)


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
    np.zeros(D), np.where(np.arange(D) == 7, 4, np.arange(D) // 3), np.sqrt([3, 3, 3, 3, 0])
)
PENALTIES = {
    "keep": ({"keep": [1, 4]}, Penalty.lasso(ones(x1=0, x4=0))),
    "exclude": ({"exclude": [5]}, Penalty.lasso(ones(x5=np.inf))),
    "weights": ({"penalty_weights": ones(x5=2, x8=0.5)}, Penalty.lasso(ones(x5=2, x8=0.5))),
    "groups": ({"groups": np.arange(D) // 3}, Penalty.group(np.arange(D) // 3)),
    "sparse groups": (
        {"groups": PATHWAYS, "l1_ratio": 0.3, "penalty_weights": ones(x5=2), "exclude": [3]},
        Penalty.group(PATHWAYS, l1_ratio=0.3, weights=ones(x5=2, x3=np.inf)),
    ),
    "group weights": (
        {"groups": PATHWAYS, "group_weights": {"repair": 0.5}},
        Penalty.group(PATHWAYS, group_weights=np.array([np.sqrt(6), 0.5, np.sqrt(3)])),
    ),
    "keep in groups": ({"groups": np.arange(D) // 3, "keep": [7]}, FREE_OF_ITS_GROUP),
    "signed": ({"positive": False}, Penalty.lasso(D, signed=True)),
    "ridge": ({"ridge": 0.02}, Penalty.lasso(D)),
}


@pytest.mark.parametrize("kind", PENALTIES)
def test_every_penalty_on_dense_matrices_by_a_conic_solver(kind, data, dense):
    options, penalty = PENALTIES[kind]
    alpha = 0.1 * dense.linear.max()
    found = HSICLasso(alpha=alpha, tol=1e-10, **options).fit(*data)
    ridge = options.get("ridge", 0.0) * dense.target_norm2
    ridged = ExplicitProblem(dense.gram + ridge * np.eye(D), dense.linear, dense.target_norm2)
    expected = conic_solution(ridged, penalty, alpha)
    np.testing.assert_allclose(found.coef_, expected, atol=1e-4 * expected.max())
    assert found.result_.certificate.duality_gap < 1e-10
    plain = HSICLasso(alpha=alpha, tol=1e-10).fit(*data)
    assert np.abs(found.coef_ - plain.coef_).max() > 1e-3 * plain.coef_.max() or kind == "signed"


def test_solving_divides_no_infinity_by_another(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HSICLasso(alpha=0.0, exclude=[4]).fit(*data)


class TestKeepAndExclude:
    @pytest.mark.parametrize("column", ["gene4", 4, 4 - D, np.int64(4), np.int8(4 - D)], ids=repr)
    def test_columns_by_name_and_by_index(self, column, data, frame):
        expected = HSICLasso(5, keep=[4]).fit(*data)
        assert 4 in expected.selected_
        kept = HSICLasso(5, keep=[column]).fit(frame, data[1])
        np.testing.assert_allclose(kept.coef_, expected.coef_, rtol=1e-10)
        assert kept.selected_.tolist() == expected.selected_.tolist()
        excluded = HSICLasso(5, exclude=(column,)).fit(frame, data[1])
        assert 4 not in excluded.selected_

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
        assert origins(selector) == {
            int(k): "kept" if k == useless else "path" for k in selector.selected_
        }

    def test_a_kept_column_that_does_not_vary(self, data):
        X = np.column_stack([data[0], np.ones(80)])
        for width in (1.0, "median"):
            with pytest.warns(ConstantFeatureWarning):
                selector = HSICLasso(3, keep=[D], x_width=width, measure="nhsic").fit(X, data[1])
            assert selector.selected_[-1] == D
            assert selector.coef_[D] == 0
            assert np.isfinite(selector.selected_kernel_(X)).all()

    def test_an_excluded_column_might_as_well_not_be_there(self, data):
        X, y = data
        best = HSICLasso(1).fit(X, y).selected_[0]
        left = np.delete(np.arange(D), best)
        without = HSICLasso(4).fit(X[:, left], y)
        excluded = HSICLasso(4, exclude=[best]).fit(X, y)
        assert excluded.selected_.tolist() == left[without.selected_].tolist()
        np.testing.assert_allclose(excluded.coef_[left], without.coef_, rtol=1e-9)

    def test_excluded_to_the_end_is_least_squares_on_the_rest(self, data):
        design, target = oracles.explicit_problem(*data)
        found = HSICLasso(alpha=0.0, exclude=[5, 8], tol=1e-10).fit(*data).coef_
        left = np.delete(np.arange(D), [5, 8])
        expected = nnls(design[:, left], target)[0]
        np.testing.assert_allclose(found[left], expected, atol=1e-7 * expected.max())

    def test_the_path_to_a_number_starts_from_what_is_kept(self, data, dense):
        for n in range(2, 8):
            found = HSICLasso(n, keep=[1, 4], tol=1e-10).fit(*data)
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

    def test_nothing_but_what_is_kept(self, data):
        others = [j for j in range(D) if j not in (0, 7)]
        selector = HSICLasso(2, keep=[0, 7], exclude=others).fit(*data)
        assert set(selector.selected_) == {0, 7}
        assert selector.path_.alpha == 0

    @pytest.mark.filterwarnings("ignore::hsiclasso.FewerFeaturesWarning")
    def test_the_default_number_makes_room_for_all_that_is_kept(self, data):
        assert HSICLasso(keep=range(11)).fit(*data).selected_.size == 11
        assert HSICLasso(exclude=range(4)).fit(*data).selected_.size == D - 4

    def test_weights_are_zero_outside_the_selection_where_a_constant_is_kept(self, data):
        X = np.column_stack([data[0], np.ones(80)])
        with pytest.warns(ConstantFeatureWarning):
            selector = HSICLasso(1, keep=[D]).fit(X, data[1])
        assert selector.selected_.tolist() == [D]
        assert not selector.coef_.any()


class TestPenaltyWeights:
    def test_a_mapping_leaves_the_others_at_one(self, data, frame):
        weights = {"gene5": 2.0, 8: 0.5, "gene0": np.inf}
        by_name = HSICLasso(5, penalty_weights=weights).fit(frame, data[1])
        in_full = HSICLasso(5, penalty_weights=ones(x5=2, x8=0.5, x0=np.inf)).fit(frame, data[1])
        np.testing.assert_array_equal(by_name.coef_, in_full.coef_)

    def test_infinity_excludes_and_zero_keeps_unpenalised(self, data):
        X, y = data
        by_weight = HSICLasso(5, penalty_weights={5: np.inf, 1: 0}).fit(X, y)
        by_list = HSICLasso(5, keep=[1], exclude=[5]).fit(X, y)
        assert by_weight.selected_.tolist() == by_list.selected_.tolist()
        np.testing.assert_array_equal(by_weight.coef_, by_list.coef_)
        assert origins(by_weight) == origins(by_list)

    def test_weights_and_their_multiple_differ_by_the_penalty(self, data):
        weights = np.random.default_rng(0).uniform(0.5, 2, D)
        one = HSICLasso(5, penalty_weights=weights).fit(*data)
        ten = HSICLasso(5, penalty_weights=(10 * weights).tolist()).fit(*data)
        np.testing.assert_allclose(ten.coef_, one.coef_, rtol=1e-8)
        assert ten.path_.alpha == pytest.approx(one.path_.alpha / 10)

    def test_the_given_weights_are_not_written_to(self, data):
        weights = np.ones(D)
        HSICLasso(3, keep=[0], exclude=[5], penalty_weights=weights).fit(*data)
        assert (weights == 1).all()

    def test_the_number_asked_for_is_reached_where_an_unpenalised_feature_ends_at_zero(self, data):
        # column 4 begins with a positive weight and loses it on the way
        assert HSICLasso(6, keep=[4]).fit(*data).coef_[4] == 0
        assert HSICLasso(6, penalty_weights={4: 0}).fit(*data).selected_.size == 6


def as_dict(labels):
    return dict(zip(NAMES, labels, strict=True))


GROUPS = {
    "array of text": PATHWAYS,
    "list": PATHWAYS.tolist(),
    "array of whole numbers": np.unique(PATHWAYS, return_inverse=True)[1],
    "array of numbers": np.unique(PATHWAYS, return_inverse=True)[1] / 2,
    "mapping": as_dict(PATHWAYS),
    "mapping by index": dict(enumerate(PATHWAYS)),
    "mapping from the end": {j - D: PATHWAYS[j] for j in reversed(range(D))},
    "series by name": pd.Series(as_dict(PATHWAYS)).sort_values(),
    "series by position": pd.Series(PATHWAYS),
    "categories": pd.Series(PATHWAYS, dtype="category"),
    "polars series": pl.Series(PATHWAYS.tolist()),
}


class TestGroups:
    @pytest.mark.parametrize("kind", GROUPS)
    def test_every_way_to_say_them_is_the_same(self, kind, data, frame):
        selector = HSICLasso(groups=GROUPS[kind], n_groups_to_select=2).fit(frame, data[1])
        plain = HSICLasso(groups=PATHWAYS, n_groups_to_select=2).fit(*data)
        assert set(selector.selected_) == set(plain.selected_)
        np.testing.assert_allclose(selector.coef_, plain.coef_, atol=1e-9)

    def test_columns_that_are_not_mentioned_are_their_own_groups(self, data, frame):
        some = {"gene3": "pair", "gene5": "pair"}
        labels = np.array([some.get(name, name) for name in NAMES])
        for groups in (some, pd.Series(some)):
            partial = HSICLasso(groups=groups, n_groups_to_select=4).fit(frame, data[1])
            full = HSICLasso(groups=labels, n_groups_to_select=4).fit(frame, data[1])
            assert partial.result_.groups == full.result_.groups
            np.testing.assert_array_equal(partial.coef_, full.coef_)

    @pytest.mark.parametrize("count", [1, 2, 3, 4])
    @pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
    @pytest.mark.parametrize("estimator", [HSICLasso, NOCCOLasso])
    def test_exactly_as_many_as_asked_for(self, count, l1_ratio, estimator, data):
        labels = np.arange(D) // 3
        options = {"groups": labels, "n_groups_to_select": count, "l1_ratio": l1_ratio}
        selector = estimator(**options).fit(*data)
        assert np.unique(labels[selector.selected_]).size == count
        assert len(selector.result_.groups) == count
        assert selector.result_.status == "N_GROUPS"
        assert selector.result_.n_requested is None

    def test_the_table_of_groups(self, data, frame):
        options = {"groups": PATHWAYS, "n_groups_to_select": 2, "l1_ratio": 0.2}
        selector = HSICLasso(**options).fit(frame, data[1])
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

    def test_the_table_of_groups_as_a_frame(self, data):
        result = HSICLasso(groups=PATHWAYS, n_groups_to_select=2).fit(*data).result_
        table = result.groups_to_frame()
        assert table.columns.tolist() == ["label", "norm", "size", "features"]
        assert table["label"].tolist() == [group.label for group in result.groups]
        assert table["features"].tolist() == ["; ".join(g.features) for g in result.groups]
        assert result.to_frame()["group"].isin(table["label"]).all()
        assert result.to_dict()["groups"][0]["label"] == table["label"][0]

    def test_without_groups_the_table_is_empty(self, data):
        result = HSICLasso(2).fit(*data).result_
        assert result.groups == ()
        assert result.groups_to_frame().shape == (0, 4)
        assert result.features[0].group is None

    @pytest.mark.parametrize("l1_ratio", [0.0, 0.4])
    @given(seed=st.integers(0, 1000))
    def test_neither_names_nor_order_of_columns_matter(self, l1_ratio, seed):
        rng = np.random.default_rng(seed)
        X, y, _ = make_data1(40, D, random_state=0)
        labels, order = rng.integers(0, 4, D), rng.permutation(D)
        renamed = np.array(["q", "a", "zz", "m"])[labels]
        options = {"alpha_ratio": 0.4, "l1_ratio": l1_ratio}
        base = HSICLasso(groups=labels, **options).fit(X, y)
        moved = HSICLasso(groups=renamed[order], **options).fit(
            pd.DataFrame(X[:, order], columns=rng.permutation(NAMES)), y
        )
        np.testing.assert_allclose(moved.coef_, base.coef_[order], atol=1e-8)

    def test_groups_of_one_are_the_plain_lasso(self, data):
        for stop in ({"alpha_ratio": 0.2}, {"n_features_to_select": 5}, {"n_groups_to_select": 5}):
            plain = {"n_features_to_select": 5} if "n_groups_to_select" in stop else stop
            one = HSICLasso(groups=range(D), **stop).fit(*data)
            lasso = HSICLasso(**plain).fit(*data)
            assert set(one.selected_) == set(lasso.selected_)
        at_penalty = [HSICLasso(alpha_ratio=0.2, groups=g).fit(*data) for g in (None, range(D))]
        np.testing.assert_allclose(at_penalty[0].coef_, at_penalty[1].coef_, atol=1e-8)

    def test_only_the_l1_part_is_the_plain_lasso(self, data):
        lasso = HSICLasso(alpha_ratio=0.2).fit(*data)
        grouped = HSICLasso(alpha_ratio=0.2, groups=PATHWAYS, l1_ratio=1.0).fit(*data)
        np.testing.assert_allclose(grouped.coef_, lasso.coef_, atol=1e-9)
        assert grouped.result_.solver == "homotopy"

    def test_the_l1_part_selects_within_groups(self, data):
        whole = HSICLasso(groups=PATHWAYS, alpha_ratio=0.3).fit(*data)
        within = HSICLasso(groups=PATHWAYS, alpha_ratio=0.3, l1_ratio=0.7).fit(*data)
        assert whole.result_.penalty == "group lasso"
        assert within.result_.penalty == "sparse group lasso"
        each = [s.selected_.size / len(s.result_.groups) for s in (whole, within)]
        assert each[1] < each[0]

    def test_a_heavier_group_comes_later(self, data):
        first = HSICLasso(groups=PATHWAYS, n_groups_to_select=1).fit(*data).result_.groups[0].label
        options = {"groups": PATHWAYS, "group_weights": {first: 100.0}}
        other = HSICLasso(**options, n_groups_to_select=2).fit(*data)
        assert first not in [group.label for group in other.result_.groups]

    def test_labels_of_group_weights_may_be_numbers(self, data):
        labels = np.arange(D) // 3
        heavy = HSICLasso(groups=labels, group_weights={1: 9.0}, alpha_ratio=0.3).fit(*data)
        named = HSICLasso(groups=labels, group_weights={"1": 9.0}, alpha_ratio=0.3).fit(*data)
        np.testing.assert_array_equal(heavy.coef_, named.coef_)

    def test_a_group_without_weight_is_there_from_the_start(self, data):
        options = {"groups": PATHWAYS, "group_weights": {"repair": 0.0}, "alpha_ratio": 1.0}
        selector = HSICLasso(**options).fit(*data)
        assert [group.label for group in selector.result_.groups] == ["repair"]

    def test_what_is_excluded_stays_out_of_its_group(self, data):
        selector = HSICLasso(groups=PATHWAYS, exclude=[5, 3], n_groups_to_select=3).fit(*data)
        assert not {3, 5} & set(selector.selected_)

    def test_what_is_kept_belongs_to_its_group_in_the_table(self, data):
        selector = HSICLasso(groups=PATHWAYS, keep=[5], alpha_ratio=0.5).fit(*data)
        assert origins(selector)[5] == "kept"
        table = {group.label: group for group in selector.result_.groups}
        assert "x5" in table[PATHWAYS[5]].features

    def test_what_is_kept_is_not_counted_among_the_groups(self, data):
        labels = np.arange(D) // 3
        for k in range(D):
            selector = HSICLasso(groups=labels, keep=[k], n_groups_to_select=2).fit(*data)
            on_path = selector.selected_[selector.selected_ != k]
            assert np.unique(labels[on_path]).size == 2
            assert k in selector.selected_

    def test_exactly_as_many_groups_with_only_the_l1_part(self, data):
        options = {"groups": np.arange(D) // 3, "l1_ratio": 1.0, "n_groups_to_select": 2}
        assert len(HSICLasso(**options).fit(*data).result_.groups) == 2

    def test_an_infinite_weight_of_a_group(self, data):
        options = {"groups": PATHWAYS, "group_weights": {"repair": np.inf}}
        with pytest.raises(InvalidInputError, match="exclude its features"):
            HSICLasso(**options, n_groups_to_select=2).fit(*data)

    def test_a_label_that_is_also_the_name_of_a_column(self, data):
        selector = HSICLasso(groups={"x5": "x3", "x8": "x3"}, alpha=0.0).fit(*data)
        sizes = {group.label: group.size for group in selector.result_.groups}
        assert sizes["x3"] == 2

    def test_weights_are_zero_outside_the_selection(self, data):
        selector = HSICLasso(4, groups=np.arange(D) // 3).fit(*data)
        assert set(np.flatnonzero(selector.coef_)) == set(selector.selected_)

    def test_penalty_weights_matter_with_groups(self, data):
        base = HSICLasso(groups=PATHWAYS, alpha_ratio=0.3).fit(*data)
        options = {"groups": PATHWAYS, "penalty_weights": {5: 0.0}}
        other = HSICLasso(**options, alpha_ratio=0.3).fit(*data)
        assert np.abs(base.coef_ - other.coef_).max() > 1e-3 * base.coef_.max()
        with pytest.raises(InvalidInputError, match="l1_ratio=0 leaves none"):
            HSICLasso(groups=PATHWAYS, penalty_weights={8: 100.0}).fit(*data)

    def test_missing_labels_by_position(self, data, frame):
        groups = pd.Series([*PATHWAYS[1:], None], dtype="string")
        with pytest.raises(InvalidInputError, match="missing"):
            HSICLasso(groups=groups, n_groups_to_select=1).fit(frame, data[1])

    @pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
    def test_missing_labels_by_name_are_not_mentioned(self, missing, data, frame):
        named = as_dict([*PATHWAYS[1:], missing])
        fewer = dict(list(named.items())[:-1])
        for groups in (named, pd.Series(named, dtype=object)):
            one, other = (HSICLasso(groups=g, alpha_ratio=0.1) for g in (groups, fewer))
            one, other = one.fit(frame, data[1]), other.fit(frame, data[1])
            assert one.result_.groups == other.result_.groups


class TestRidge:
    def test_duplicates_share_weight(self, data):
        X, y = data
        best = HSICLasso(1).fit(X, y).selected_[0]
        twice = np.column_stack([X, X[:, best]])
        for solver in ("homotopy", "cd", "dal"):
            net = HSICLasso(alpha_ratio=0.2, ridge=0.01, solver=solver).fit(twice, y)
            assert net.coef_[best] > 0
            assert net.coef_[best] == pytest.approx(net.coef_[D], rel=1e-6)
            assert "with ridge" in net.result_.penalty
        assert HSICLasso(alpha_ratio=0.2).fit(twice, y).coef_[D] == 0

    def test_the_penalty_at_which_the_first_feature_enters_stays(self, data):
        for ridge in (0.0, 0.1, 10.0):
            path = HSICLasso(1, ridge=ridge).fit(*data).path_
            assert path.alphas[0] == pytest.approx(HSICLasso(1).fit(*data).relevance_.max())

    def test_more_ridge_gives_smaller_weights(self, data):
        norms = [
            np.linalg.norm(HSICLasso(alpha_ratio=0.1, ridge=ridge).fit(*data).coef_)
            for ridge in (0.0, 0.01, 0.1, 1.0)
        ]
        assert norms == sorted(norms, reverse=True)
        assert norms[-1] < 0.9 * norms[0]


class TestSigns:
    def test_scikit_learn_agrees_on_the_explicit_problem(self, rng):
        X, y = rng.standard_normal((40, 9)), rng.standard_normal(40)
        X[:, 5] = X[:, 3] + X[:, 4]
        X = np.column_stack([X, np.hypot(X[:, 0], X[:, 1])])
        design, target = oracles.explicit_problem(X, y)
        found = HSICLasso(positive=False, alpha_ratio=0.02, tol=1e-10).fit(X, y)
        model = Lasso(
            found.path_.alpha / len(target), fit_intercept=False, tol=1e-14, max_iter=100_000
        )
        expected = model.fit(design, target).coef_
        np.testing.assert_allclose(found.coef_, expected, atol=1e-7 * np.abs(expected).max())
        assert (expected < 0).any()
        assert found.result_.penalty == "signed lasso"

    def test_the_heaviest_come_first_whatever_their_sign(self, rng):
        X, y = rng.standard_normal((40, 9)), rng.standard_normal(40)
        selector = HSICLasso(positive=False, alpha_ratio=0.001).fit(X, y)
        assert (selector.coef_ < 0).any()
        assert (np.diff(np.abs(selector.coef_[selector.selected_])) <= 0).all()
        assert set(selector.selected_) == set(np.flatnonzero(selector.coef_))


BAD = {
    "unknown name": ({"keep": ["gene44"]}, "keep has 'gene44'.* did you mean 'gene4'"),
    "unlike any name": ({"exclude": ["TP53"]}, "exclude has 'TP53'.* check the spelling"),
    "index too large": ({"keep": [D]}, "keep has index 12, but there are 12 columns: 0 to 11"),
    "index too small": ({"exclude": [-D - 1]}, "exclude has index -13"),
    "bool": ({"keep": [True]}, "keep has True, but columns are given by name or by index"),
    "numpy bool": ({"keep": np.array([True, False])}, "by name or by index"),
    "float": ({"keep": [1.0]}, r"keep has 1\.0"),
    "plain text": ({"keep": "gene1"}, r"keep='gene1' must be a list of columns: \['gene1'\]"),
    "both": ({"keep": ["gene1", 2], "exclude": [1]}, "'gene1' is both in keep and in exclude"),
    "all excluded": ({"exclude": range(D)}, "All features are excluded"),
    "all of infinite weight": ({"penalty_weights": np.full(D, np.inf)}, "All features are"),
    "fewer than kept": (
        {"keep": [0, 1, 2], "n_features_to_select": 2}, "3 features are to be kept: ask for at lea"
    ),
    "more than are left": (
        {"exclude": [0, 1, 2], "n_features_to_select": 10}, "3 of 12 .*ask for at most 9"
    ),
    "weights too short": ({"penalty_weights": np.ones(11)}, r"shape \(11,\), but .* 12 features"),
    "weights with two axes": ({"penalty_weights": np.ones((D, 1))}, r"shape \(12, 1\)"),
    "negative weight": ({"penalty_weights": ones(x7=-1)}, r"of 'gene7' is -1\.0"),
    "nan weight": ({"penalty_weights": {"gene7": np.nan}}, "of 'gene7' is nan"),
    "weight of no column": ({"penalty_weights": {"gen7": 1}}, "penalty_weights has 'gen7'"),
    "groups too short": ({"groups": np.ones(11)}, r"groups has shape \(11,\)"),
    "label None": ({"groups": [*PATHWAYS[1:], None]}, r"groups\[11\] is missing"),
    "label nan": ({"groups": ones(x3=np.nan)}, r"groups\[3\] is missing"),
    "group of no column": ({"groups": {"gene44": "a"}}, "groups has 'gene44'.* did you mean"),
    "series of no column": ({"groups": pd.Series({"gene44": "a"})}, "groups has 'gene44'"),
    "unknown group": (
        {"groups": PATHWAYS, "group_weights": {"sginal": 1.0}}, "did you mean 'signal'"
    ),
    "negative group weight": (
        {"groups": PATHWAYS, "group_weights": {"signal": -1.0}}, "finite number >= 0"
    ),
    "l1_ratio": ({"groups": PATHWAYS, "l1_ratio": 1.5}, r"l1_ratio=1\.5"),
    "l1_ratio without groups": ({"l1_ratio": 0.5}, r"l1_ratio=0\.5 is for groups of features"),
    "group_weights without groups": ({"group_weights": {"a": 1}}, "is for groups of features"),
    "n_groups without groups": ({"n_groups_to_select": 2}, "n_groups_to_select=2 needs groups"),
    "more groups than there are": (
        {"groups": PATHWAYS, "n_groups_to_select": 4}, "there are 3 groups: ask for at most 3"
    ),
    "signed groups": ({"groups": PATHWAYS, "positive": False}, "positive=False is for the lasso"),
    "signed and kept": ({"positive": False, "keep": [1]}, "needs a penalty on every feature"),
    "signed without weight": ({"positive": False, "penalty_weights": {1: 0}}, "weights of 0"),
    "signed without penalty": ({"positive": False, "alpha": 0}, "alpha=0 with positive=False"),
    "signed at share 0": ({"positive": False, "alpha_ratio": 0}, "give an alpha > 0"),
    "negative ridge": ({"ridge": -0.1}, r"ridge=-0\.1, but the ridge part must be"),
    "nan ridge": ({"ridge": np.nan}, "ridge=nan"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_what_cannot_be_meant_is_explained(kind, data, frame):
    options, message = BAD[kind]
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(**options).fit(frame, data[1])
