"""Where a path ends: numbers, penalties, information criteria, fillings, and every solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram

from hsiclasso import (
    AlphaRatio,
    ConstantFeatureWarning,
    ElasticNet,
    FewerFeaturesWarning,
    GroupLasso,
    HSICLasso,
    InvalidInputError,
    Lasso,
    make_data1,
    make_data2,
)
from hsiclasso.selectors import search
from hsiclasso.solvers import solve
from tests import oracles
from tests.selectors.dense import MEASURES, assert_same, selector_of
from tests.selectors.tables import same_thing_many_times

D = 12
PAIRS = np.arange(D) // 2


@pytest.fixture(scope="module")
def data():
    """A target that depends on three of twelve features, enough for a criterion to see it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, D))
    return X, X[:, 0] + X[:, 3] + 0.8 * X[:, 6] + 0.3 * rng.standard_normal(100)


@pytest.fixture(scope="module")
def dense(data):
    """The explicit problem of the data, with n^2 rows, for every measure."""
    return {measure: oracles.explicit_problem(*data, measure) for measure in MEASURES}


class TestNumbersAndPenalties:
    def test_default_number_of_features(self, data):
        X, y = data
        assert HSICLasso().fit(X, y).selected_.size == 10
        assert HSICLasso().fit(X[:, :3], y).selected_.size == 3

    def test_a_penalty_stops_the_path(self, data):
        top = HSICLasso(1).fit(*data).relevance_.max()
        selector = HSICLasso(alpha=0.3 * top).fit(*data)
        assert selector.path_.alpha == pytest.approx(0.3 * top)
        assert selector.result_.status == "ALPHA"
        assert selector.result_.solution.n_requested is None
        assert 0 < selector.selected_.size < D

    def test_no_penalty_goes_to_the_end(self, data):
        for alpha in (0, 0.0, np.float32(0), AlphaRatio(0.0)):
            selector = HSICLasso(alpha=alpha).fit(*data)
            assert selector.result_.status == "PATH_END"
            assert selector.path_.alpha == 0
            assert selector.result_.certificate.duality_gap < 1e-10

    @pytest.mark.parametrize(
        "penalty",
        ["lasso", "elastic_net", GroupLasso(PAIRS), Lasso(positive=False)],
        ids=["lasso", "net", "groups", "signed"],
    )
    def test_a_share_of_the_largest_penalty(self, penalty, data):
        options = {"penalty": penalty}
        nothing = HSICLasso(alpha=AlphaRatio(1.0), **options).fit(*data)
        assert nothing.selected_.size == 0
        for share in (0.05, 0.99):
            by_share = HSICLasso(alpha=AlphaRatio(share), **options).fit(*data)
            by_penalty = HSICLasso(alpha=share * nothing.path_.alpha, **options).fit(*data)
            assert by_share.path_.alpha == pytest.approx(share * nothing.path_.alpha)
            np.testing.assert_allclose(by_share.coef_, by_penalty.coef_, rtol=1e-9, atol=1e-12)
            assert by_share.selected_.size > 0
            assert by_share.result_.status == "ALPHA"

    def test_the_largest_penalty(self, data):
        top = HSICLasso(alpha=AlphaRatio(1.0)).fit(*data)
        assert top.path_.alpha == pytest.approx(top.relevance_.max())
        # where something is kept: above it only that has weight, below it something else has
        top, below = (HSICLasso(alpha=AlphaRatio(r), keep=[0, 3]).fit(*data) for r in (1.0, 0.999))
        assert set(top.selected_) == {0, 3}
        assert set(below.selected_) > {0, 3}

    def test_whichever_comes_first(self, data):
        assert HSICLasso(2, alpha=AlphaRatio(0.01)).fit(*data).selected_.size == 2
        high = HSICLasso(9, alpha=AlphaRatio(0.9)).fit(*data)
        assert high.selected_.size < 9
        assert high.path_.alpha == pytest.approx(0.9 * high.relevance_.max())
        # where the number is reached just before the penalty is
        second = HSICLasso(3).fit(*data).path_.alphas[1]
        for solver in ("homotopy", "cd", "dal"):
            both = HSICLasso(2, alpha=0.999 * second, solver=solver).fit(*data)
            assert both.selected_.size == 2
        for share, n_groups in ((0.01, 2), (0.99, 1)):
            penalty = GroupLasso(PAIRS, n_groups=2)
            selector = HSICLasso(alpha=AlphaRatio(share), penalty=penalty).fit(*data)
            assert len(selector.result_.groups) == n_groups


def criterion_values(design, target, weights, n_samples, price):
    """n log(share of the target that is left) + price for every feature, in plain NumPy."""
    left = np.sum((target[:, None] - design @ weights) ** 2, axis=0) / np.sum(target**2)
    return n_samples * np.log(left) + price * np.count_nonzero(weights, axis=0)


PRICES = {"aic": lambda n: 2.0, "bic": np.log}


@pytest.mark.parametrize("criterion", ["aic", "bic"])
class TestInformationCriterion:
    @pytest.mark.parametrize("measure", MEASURES)
    def test_the_least_along_the_dense_path(self, criterion, measure, data, dense):
        X, y = data
        design, target = dense[measure]
        alphas, _, path = lars_path_gram(
            design.T @ target, design.T @ design, n_samples=1, positive=True, method="lasso"
        )
        values = criterion_values(design, target, path, len(y), PRICES[criterion](len(y)))
        best = int(np.argmin(values))
        found = selector_of(measure, None, alpha=criterion).fit(X, y)
        assert set(found.selected_) == set(np.flatnonzero(path[:, best]))
        assert found.path_.alpha == pytest.approx(alphas[best], rel=1e-6)
        np.testing.assert_allclose(found.coef_, path[:, best], atol=1e-6)
        assert found.result_.solution.n_requested is None

    @pytest.mark.parametrize(
        "penalty",
        [GroupLasso(PAIRS), GroupLasso(PAIRS, l1_ratio=0.5), ElasticNet(0.5)],
        ids=["groups", "sparse groups", "net"],
    )
    def test_the_least_on_a_grid(self, criterion, penalty, data, dense):
        X, y = data
        found = selector_of(size=None, alpha=criterion, penalty=penalty).fit(X, y)
        shares = search._CRITERION_GRID[:25]  # below them the values only rise
        grid = [
            selector_of(size=None, alpha=AlphaRatio(share), penalty=penalty).fit(X, y)
            for share in shares
        ]
        weights = np.array([selector.coef_ for selector in grid]).T
        values = criterion_values(*dense["hsic"], weights, len(y), PRICES[criterion](len(y)))
        best = grid[int(np.argmin(values))]
        assert found.path_.alpha == pytest.approx(best.path_.alpha)
        assert set(found.selected_) == set(best.selected_)

    @pytest.mark.parametrize("solver", ["homotopy", "cd"])
    def test_limits(self, criterion, solver, data, monkeypatch):
        options = {"alpha": criterion, "solver": solver}
        free = HSICLasso(**options).fit(*data)
        assert_same(HSICLasso(D, **options).fit(*data), free)
        assert free.selected_.size > 1
        assert HSICLasso(1, **options).fit(*data).selected_.size <= 1
        monkeypatch.setattr(search, "_CRITERION_FEATURES", 1)
        assert HSICLasso(**options).fit(*data).selected_.size <= 1

    def test_odd_targets(self, criterion, data, rng):
        noise = rng.standard_normal((100, 5)), rng.standard_normal(100)
        assert HSICLasso(alpha=criterion).fit(*noise).selected_.size <= 1
        twins = same_thing_many_times()
        assert HSICLasso(alpha=criterion).fit(*twins).selected_[0] == 0
        # nothing is filled in, and what is kept is selected
        assert HSICLasso(4, alpha=criterion).fit(*twins).selected_.tolist() == [0]
        assert {1, 3} <= set(HSICLasso(alpha=criterion, keep=[1, 3]).fit(*data).selected_)


@given(seed=st.integers(0, 1000), make=st.sampled_from([make_data1, make_data2]))
def test_the_dearer_criterion_never_selects_more(seed, make):
    X, y, _ = make(60, 10, random_state=seed)
    found = [HSICLasso(alpha=criterion).fit(X, y).result_ for criterion in ("aic", "bic")]
    assert len(found[1].features) <= len(found[0].features)


@pytest.mark.parametrize("criterion", ["aic", "bic"])
def test_the_message_names_the_criterion(criterion, data):
    """The user asked for no penalty."""
    message = HSICLasso(alpha=criterion).fit(*data).result_.message
    assert f": {criterion.upper()} is least there." in message
    assert "asked" not in message


class TestFilling:
    def test_relevance_and_distance_make_up_the_number(self):
        with pytest.warns(FewerFeaturesWarning, match="The last 3 have weight 0"):
            selector = HSICLasso(4).fit(*same_thing_many_times())
        result = selector.result_
        assert selector.selected_.tolist() == [0, 1, 2, 3]
        assert np.flatnonzero(selector.coef_).tolist() == [0]
        assert [f.origin for f in result.features] == ["path", "filled", "filled", "filled"]
        assert [f.weight for f in result.features[1:]] == [0, 0, 0]
        assert (result.n_on_path, result.solution.n_requested) == (1, 4)
        assert (result.status, result.method.penalty) == ("PATH_END", "lasso")
        assert "4 features selected at penalty 0: the path ended" in result.message
        assert "no further feature can lower the objective" in result.message

    def test_fewer_features_than_can_be_filled_in(self, rng):
        X = np.column_stack([rng.standard_normal(60), np.ones(60), np.ones(60)])
        for penalty in ("lasso", Lasso(positive=False)):  # free signs are never filled up
            with (
                pytest.warns(ConstantFeatureWarning),
                pytest.warns(FewerFeaturesWarning, match="1 feature selected of 3 asked for"),
            ):
                selector = HSICLasso(3, penalty=penalty).fit(X, X[:, 0])
            assert selector.selected_.tolist() == [0]

    def test_not_where_it_is_not_needed(self, data):
        assert {f.origin for f in HSICLasso(5).fit(*data).result_.features} == {"path"}
        twins = same_thing_many_times()
        assert HSICLasso(alpha=0.0).fit(*twins).selected_.tolist() == [0]
        for stop in (1e-3, AlphaRatio(0.01)):  # a penalty ends the path
            selector = HSICLasso(4, alpha=stop).fit(*twins)
            assert selector.selected_.tolist() == [0]
            assert selector.result_.status == "ALPHA"
            assert "1 feature selected of 4 asked for" in selector.result_.message

    def test_neither_excluded_nor_kept_are_filled_in(self):
        with pytest.warns(FewerFeaturesWarning, match="The last 2 have weight 0"):
            selector = HSICLasso(3, keep=[3], exclude=[1]).fit(*same_thing_many_times())
        assert {f.index: f.origin for f in selector.result_.features} == {
            3: "kept", 0: "filled", 2: "filled",
        }  # fmt: skip
        with pytest.warns(FewerFeaturesWarning, match="The last one has weight 0"):
            HSICLasso(2).fit(*same_thing_many_times())

    def test_groups_are_filled_up_too(self):
        # the target is a column: beside it no other can have weight, at any penalty
        X = np.random.default_rng(0).standard_normal((60, 4))
        with pytest.warns(FewerFeaturesWarning):
            selector = HSICLasso(4, penalty=GroupLasso(range(4))).fit(X, X[:, 2])
        assert sorted(selector.selected_) == [0, 1, 2, 3]
        assert [f.index for f in selector.result_.features if f.origin == "path"] == [2]
        assert len(selector.result_.groups) == 4
        # and no copy joins by rounding
        with pytest.warns(FewerFeaturesWarning):
            selector = HSICLasso(4, penalty=GroupLasso(range(4))).fit(*same_thing_many_times())
        for feature in selector.result_.features:
            assert feature.weight > 1e-10 or feature.origin == "filled"


class TestSelectedOfSize:
    @pytest.mark.parametrize("make", [make_data1, make_data2])
    @pytest.mark.parametrize("keep", [None, [0, 7, 11]], ids=str)
    @pytest.mark.parametrize("measure", ["hsic", "nocco"])
    def test_a_fresh_fit_selects_the_same(self, make, keep, measure):
        X, y, _ = make(60, 30, random_state=1)
        options = {"keep": keep, "measure": measure}
        selector = HSICLasso(10, **options).fit(X, y)
        for size in range(max(1, len(keep or [])), 11):
            fresh = HSICLasso(size, **options).fit(X, y)
            assert selector.selected_of_size(size).tolist() == fresh.selected_.tolist()

    def test_ties_are_passed_over(self):
        X, y = make_data1(60, 10, random_state=0)[:2]
        X = np.hstack([X, X])
        selector = HSICLasso(6).fit(X, y)
        for size in range(1, 7):
            fresh = HSICLasso(size).fit(X, y).selected_
            assert selector.selected_of_size(size).tolist() == fresh.tolist()

    def test_what_is_kept_stays_where_two_others_join_at_once(self, rng):
        """Swapping the halves of the samples swaps the first two columns."""
        a, b, c, noise = rng.standard_normal((4, 30))
        X = np.column_stack([np.r_[a, b], np.r_[b, a], np.r_[c, c]])
        y = X[:, 0] + X[:, 1] + np.r_[noise, noise]
        selector = HSICLasso(3, keep=[2]).fit(X, y)
        assert any(set(point.joined) == {0, 1} for point in selector.path_.breakpoints)
        found, fresh = selector.selected_of_size(2), HSICLasso(2, keep=[2]).fit(X, y).selected_
        assert found.tolist() == fresh.tolist()
        assert 2 in found

    @pytest.mark.filterwarnings("ignore::hsiclasso.FewerFeaturesWarning")
    def test_of_a_selection_that_was_filled_up(self):
        selector = HSICLasso(4).fit(*same_thing_many_times())
        for size in (1, 2, 3):
            fresh = HSICLasso(size).fit(*same_thing_many_times()).selected_
            assert selector.selected_of_size(size).tolist() == fresh.tolist()

    @pytest.mark.parametrize("size", [0, 6, -1, 2.5, None, True])
    def test_sizes_that_were_not_fitted(self, size, data):
        with pytest.raises(InvalidInputError, match=f"size={size}"):
            HSICLasso(5).fit(*data).selected_of_size(size)

    def test_sizes_that_cannot_be_had(self, data):
        with pytest.raises(InvalidInputError, match="2 are always kept: ask for 2 to 5, or fit"):
            HSICLasso(5, keep=[0, 3]).fit(*data).selected_of_size(1)
        selector = HSICLasso(5, solver="cd").fit(*data)
        assert selector.selected_of_size(5).tolist() == selector.selected_.tolist()
        with pytest.raises(InvalidInputError, match="solver='cd' follows no exact path: fit again"):
            selector.selected_of_size(3)


class TestSolvers:
    @pytest.mark.parametrize("options", [{}, {"keep": [2]}, {"measure": "nocco"}], ids=str)
    def test_all_select_the_same(self, options):
        X, y, _ = make_data1(100, 40, random_state=2)
        found = [
            HSICLasso(7, solver=solver, **options).fit(X, y) for solver in ("homotopy", "cd", "dal")
        ]
        for fitted, solver in zip(found, ("homotopy", "cd", "dal"), strict=True):
            assert fitted.result_.method.solver == solver
            assert fitted.result_.certificate.duality_gap < 1e-10
            assert set(fitted.selected_) == set(found[0].selected_)

    def test_all_find_the_same_weights_at_a_penalty(self, data):
        for penalty, solvers in [
            ("lasso", ("homotopy", "cd", "dal")), ("elastic_net", ("cd", "dal")),
            (GroupLasso(PAIRS), ("cd", "dal")), (Lasso(positive=False), ("cd", "dal")),
        ]:  # fmt: skip
            first, *others = (
                HSICLasso(alpha=AlphaRatio(0.1), solver=solver, penalty=penalty).fit(*data).coef_
                for solver in solvers
            )
            for other in others:
                np.testing.assert_allclose(other, first, atol=1e-7)

    @pytest.mark.parametrize("solver", ["cd", "dal"])
    def test_odd_problems(self, solver, data, rng):
        selector = HSICLasso(2, keep=[1, 2], solver=solver).fit(*data)
        assert set(np.flatnonzero(selector.coef_)) <= {1, 2}
        x = rng.standard_normal(30)
        selector = HSICLasso(1, solver=solver).fit(np.column_stack([x] * 6), x)
        assert selector.coef_.max() > 1e-6  # not a rounding error

    @pytest.mark.parametrize(
        ("options", "chosen"),
        [
            ({}, "homotopy"), ({"keep": [1]}, "homotopy"), ({"penalty": "elastic_net"}, "cd"),
            ({"penalty": GroupLasso(range(D))}, "cd"), ({"penalty": Lasso(positive=False)}, "cd"),
        ],
        ids=range(5),
    )  # fmt: skip
    def test_what_auto_chooses(self, options, chosen, data):
        assert HSICLasso(2, **options).fit(*data).result_.method.solver == chosen

    @pytest.mark.parametrize(
        ("penalty", "name"),
        [
            (GroupLasso(range(D)), "group lasso"), (Lasso(positive=False), "signed lasso"),
            (ElasticNet(), "elastic net"),
        ],
        ids=["groups", "signed", "net"],
    )  # fmt: skip
    def test_a_pair_that_does_not_exist_explains_itself(self, penalty, name, data):
        message = f"solver='homotopy' cannot solve the {name}: choose 'cd', 'dal' or 'auto'"
        with pytest.raises(InvalidInputError, match=message):
            HSICLasso(2, solver="homotopy", penalty=penalty).fit(*data)

    @pytest.mark.parametrize("solver", ["cd", "dal"])
    def test_a_solver_that_stops_early_says_how_far_it_came(self, solver, data, monkeypatch):
        exact = solve._INNER[solver]
        monkeypatch.setitem(solve._INNER, solver, lambda *problem: 0.9 * exact(*problem))
        with pytest.warns(ConvergenceWarning, match="duality gap reached is") as caught:
            selector = HSICLasso(alpha=AlphaRatio(0.2), solver=solver).fit(*data)
        assert selector.result_.status == "STALLED"
        gap = selector.result_.certificate.duality_gap
        assert gap > 1e-10
        assert f"{gap:.1e}" in str(caught[0].message)


BAD = [
    (-1.0, r"alpha=-1.0, but the penalty must be a finite number >= 0, 'aic', 'bic' or an object"),
    (np.nan, "alpha=nan"),
    (np.inf, "alpha=inf"),
    (True, "alpha=True"),
    ("mdl", r"alpha='mdl'.*AlphaRatio\(0.1\)"),
    (AlphaRatio, "alpha=<class"),
    (AlphaRatio(-0.1), r"ratio=-0\.1, but a share of the largest penalty lies between 0 and 1"),
    (AlphaRatio(1.1), r"ratio=1\.1"),
    (AlphaRatio(np.nan), "ratio=nan"),
    (AlphaRatio("half"), "ratio='half'"),
]


@pytest.mark.parametrize(("alpha", "message"), BAD, ids=range(len(BAD)))
def test_stops_that_cannot_be_meant_are_explained(alpha, message, data):
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(alpha=alpha).fit(*data)
