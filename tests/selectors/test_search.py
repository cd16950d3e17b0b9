"""Where a path ends: numbers, penalties, information criteria, fillings, and every solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import lars_path_gram

from hsiclasso import (
    ConstantFeatureWarning,
    FewerFeaturesWarning,
    HSICLasso,
    InvalidInputError,
    NOCCOLasso,
    make_data1,
    make_data2,
)
from hsiclasso.selectors import search
from hsiclasso.solvers import solve
from tests import oracles

D = 12
ESTIMATORS = [HSICLasso(), HSICLasso(measure="nhsic"), NOCCOLasso()]


@pytest.fixture(scope="module")
def data():
    """A target that depends on three of twelve features, enough for a criterion to see it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, D))
    return X, X[:, 0] + X[:, 3] + 0.8 * X[:, 6] + 0.3 * rng.standard_normal(100)


@pytest.fixture(scope="module")
def dense(data):
    """The explicit problem of the data, with n^2 rows, for every measure."""
    return {name: oracles.explicit_problem(*data, name) for name in ("hsic", "nhsic", "nocco")}


def same_thing_many_times():
    """One feature, four times: the path ends with one of them."""
    x = np.random.default_rng(0).standard_normal(60)
    return np.column_stack([x, 2 * x, -x, x + 1]), x


class TestShareOfTheLargestPenalty:
    @pytest.mark.parametrize("options", [{}, {"groups": np.arange(D) // 3}, {"positive": False}])
    @pytest.mark.parametrize("share", [0.05, 0.5, 0.99])
    def test_it_is_that_share(self, share, options, data):
        by_share = HSICLasso(alpha_ratio=share, **options).fit(*data)
        nothing = HSICLasso(alpha_ratio=1.0, **options).fit(*data)
        alpha = share * nothing.path_.alpha
        by_penalty = HSICLasso(alpha=alpha, **options).fit(*data)
        assert by_share.path_.alpha == pytest.approx(alpha)
        np.testing.assert_allclose(by_share.coef_, by_penalty.coef_, rtol=1e-9, atol=1e-12)
        assert nothing.selected_.size == 0
        assert by_share.selected_.size > 0
        assert by_share.result_.status == "ALPHA"

    def test_the_largest_of_the_lasso_is_the_largest_relevance(self, data):
        selector = HSICLasso(alpha_ratio=1.0).fit(*data)
        assert selector.path_.alpha == pytest.approx(selector.relevance_.max())

    def test_the_largest_where_something_is_kept(self, data):
        """Above it only what is kept has weight; below it something else has."""
        options = {"keep": [0, 3]}
        top = HSICLasso(alpha_ratio=1.0, **options).fit(*data)
        below = HSICLasso(alpha_ratio=0.999, **options).fit(*data)
        assert set(top.selected_) == {0, 3}
        assert set(below.selected_) > {0, 3}

    def test_a_share_of_zero_goes_to_the_end(self, data):
        end = HSICLasso(alpha_ratio=0.0).fit(*data)
        assert end.result_.status == "PATH_END"
        np.testing.assert_array_equal(end.coef_, HSICLasso(alpha=0.0).fit(*data).coef_)

    def test_whichever_comes_first(self, data):
        few = HSICLasso(2, alpha_ratio=0.01).fit(*data)
        assert few.selected_.size == 2
        high = HSICLasso(9, alpha_ratio=0.9).fit(*data)
        assert high.selected_.size < 9
        assert high.path_.alpha == pytest.approx(0.9 * high.relevance_.max())
        # where the number is reached just before the penalty is
        second = HSICLasso(3).fit(*data).path_.alphas[1]
        for solver in ("homotopy", "cd", "dal"):
            both = HSICLasso(2, alpha=0.999 * second, solver=solver).fit(*data)
            assert both.selected_.size == 2
        groups = {"groups": np.arange(D) // 3, "n_groups_to_select": 2}
        assert len(HSICLasso(**groups, alpha_ratio=0.01).fit(*data).result_.groups) == 2
        assert len(HSICLasso(**groups, alpha_ratio=0.99).fit(*data).result_.groups) == 1


def criterion_values(design, target, weights, n_samples, price):
    """n log(share of the target that is left) + price for every feature, in plain NumPy."""
    left = np.sum((target[:, None] - design @ weights) ** 2, axis=0) / np.sum(target**2)
    return n_samples * np.log(left) + price * np.count_nonzero(weights, axis=0)


PRICES = {"aic": lambda n: 2.0, "bic": np.log}


@pytest.mark.parametrize("criterion", ["aic", "bic"])
class TestInformationCriterion:
    @pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
    @pytest.mark.parametrize("ridge", [0.0, 0.5])
    def test_the_least_along_the_dense_path(self, criterion, estimator, ridge, data, dense):
        X, y = data
        design, target = dense[getattr(estimator, "measure", "nocco")]
        gram = design.T @ design + ridge * (target @ target) * np.eye(D)
        alphas, _, path = lars_path_gram(
            design.T @ target, gram, n_samples=1, positive=True, method="lasso"
        )
        values = criterion_values(design, target, path, len(y), PRICES[criterion](len(y)))
        best = int(np.argmin(values))
        found = clone(estimator).set_params(criterion=criterion, ridge=ridge, tol=1e-10).fit(X, y)
        assert set(found.selected_) == set(np.flatnonzero(path[:, best]))
        assert found.path_.alpha == pytest.approx(alphas[best], rel=1e-6)
        np.testing.assert_allclose(found.coef_, path[:, best], atol=1e-6)

    @pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
    def test_the_least_on_a_grid_with_groups(self, criterion, l1_ratio, data, dense):
        X, y = data
        options = {"groups": np.arange(D) // 2, "l1_ratio": l1_ratio, "tol": 1e-10}
        found = HSICLasso(criterion=criterion, **options).fit(X, y)
        shares = search._CRITERION_GRID[:25]  # below them the values only rise
        grid = [HSICLasso(alpha_ratio=share, **options).fit(X, y) for share in shares]
        weights = np.array([selector.coef_ for selector in grid]).T
        values = criterion_values(*dense["hsic"], weights, len(y), PRICES[criterion](len(y)))
        best = grid[int(np.argmin(values))]
        assert found.path_.alpha == pytest.approx(best.path_.alpha)
        assert set(found.selected_) == set(best.selected_)
        assert found.result_.solver == "cd"

    def test_what_is_kept_is_selected(self, criterion, data):
        selector = HSICLasso(criterion=criterion, keep=[0, 3]).fit(*data)
        assert {0, 3} <= set(selector.selected_)

    @pytest.mark.parametrize("solver", ["homotopy", "cd"])
    def test_the_number_is_a_limit(self, criterion, solver, data):
        options = {"criterion": criterion, "solver": solver}
        free = HSICLasso(**options).fit(*data)
        loose = HSICLasso(D, **options).fit(*data)
        assert loose.selected_.tolist() == free.selected_.tolist()
        assert free.selected_.size > 1
        assert HSICLasso(1, **options).fit(*data).selected_.size <= 1

    @pytest.mark.parametrize(
        "solver",
        [
            "homotopy",
            "cd",
        ],
    )
    def test_the_limit_where_no_number_is_given(self, criterion, solver, data, monkeypatch):
        monkeypatch.setattr(search, "_CRITERION_FEATURES", 1)
        selector = HSICLasso(criterion=criterion, solver=solver).fit(*data)
        assert selector.selected_.size <= 1

    def test_of_a_target_that_depends_on_nothing(self, criterion, rng):
        X, y = rng.standard_normal((100, 5)), rng.standard_normal(100)
        assert HSICLasso(criterion=criterion).fit(X, y).selected_.size <= 1

    def test_a_perfect_fit(self, criterion):
        X, y = same_thing_many_times()
        assert HSICLasso(criterion=criterion).fit(X, y).selected_[0] == 0

    def test_nothing_is_filled_in(self, criterion):
        X, y = same_thing_many_times()
        assert HSICLasso(4, criterion=criterion).fit(X, y).selected_.tolist() == [0]


@given(seed=st.integers(0, 1000), make=st.sampled_from([make_data1, make_data2]))
def test_the_dearer_criterion_never_selects_more(seed, make):
    X, y, _ = make(100, 10, random_state=seed)
    aic, bic = (HSICLasso(criterion=c).fit(X, y).selected_.size for c in ("aic", "bic"))
    assert bic <= aic


class TestFilling:
    def test_an_elastic_net_makes_up_the_number(self):
        X, y = same_thing_many_times()
        with pytest.warns(FewerFeaturesWarning, match="The last 3 have weight 0"):
            selector = HSICLasso(4).fit(X, y)
        assert selector.selected_.size == 4
        assert np.count_nonzero(selector.coef_) == 1
        features = selector.result_.features
        assert [f.origin for f in features] == ["path", "filled", "filled", "filled"]
        assert [f.weight for f in features[1:]] == [0, 0, 0]
        assert selector.result_.n_on_path == 1
        assert "4 features selected at penalty 0: the path ended" in selector.result_.message

    def test_a_fuller_path_is_not_filled(self, data):
        selector = HSICLasso(5).fit(*data)
        assert {f.origin for f in selector.result_.features} == {"path"}

    def test_not_where_a_penalty_ends_the_path(self):
        X, y = same_thing_many_times()
        for stop in ({"alpha": 1e-3}, {"alpha_ratio": 0.01}):
            selector = HSICLasso(4, **stop).fit(X, y)
            assert selector.selected_.tolist() == [0]
            assert selector.result_.status == "ALPHA"
            assert "1 feature selected of 4 asked for" in selector.result_.message

    def test_not_where_no_number_is_asked_for(self):
        X, y = same_thing_many_times()
        assert HSICLasso(alpha=0.0).fit(X, y).selected_.tolist() == [0]

    def test_not_where_signs_are_free(self, rng):
        X = np.column_stack([rng.standard_normal(40), np.ones((40, 2))])
        with (
            pytest.warns(ConstantFeatureWarning),
            pytest.warns(FewerFeaturesWarning, match="1 feature selected of 3 asked for"),
        ):
            selector = HSICLasso(3, positive=False).fit(X, X[:, 0])
        assert selector.selected_.tolist() == [0]

    def test_neither_excluded_nor_kept_are_filled_in(self):
        X, y = same_thing_many_times()
        with pytest.warns(FewerFeaturesWarning):
            selector = HSICLasso(3, keep=[3], exclude=[1]).fit(X, y)
        assert {f.index: f.origin for f in selector.result_.features} == {
            3: "kept", 0: "filled", 2: "filled",
        }  # fmt: skip

    def test_groups_are_filled_up_too(self):
        # the target is a column: beside it no other can have weight, at any penalty
        X = np.random.default_rng(0).standard_normal((60, 4))
        with pytest.warns(FewerFeaturesWarning):
            selector = HSICLasso(4, groups=range(4)).fit(X, X[:, 2])
        assert sorted(selector.selected_) == [0, 1, 2, 3]
        assert [f.index for f in selector.result_.features if f.origin == "path"] == [2]
        assert len(selector.result_.groups) == 4

    @pytest.mark.parametrize("solver", ["auto", "cd"])  # "dal" shares the weight among copies
    def test_no_copy_joins_by_rounding(self, solver):
        X, y = same_thing_many_times()
        with pytest.warns(FewerFeaturesWarning):
            selector = HSICLasso(4, groups=range(4), solver=solver).fit(X, y)
        assert sorted(selector.selected_) == [0, 1, 2, 3]
        assert len(selector.result_.groups) == 4
        for feature in selector.result_.features:
            assert feature.weight > 1e-10 or feature.origin == "filled"


@pytest.mark.parametrize("make", [make_data1, make_data2])
@pytest.mark.parametrize("keep", [None, [2], [0, 7, 11]], ids=str)
class TestSelectedOfSize:
    def test_a_fresh_fit_selects_the_same(self, make, keep):
        for seed in range(2):
            X, y, _ = make(60, 40, random_state=seed)
            selector = HSICLasso(15, keep=keep, n_neighbors=0).fit(X, y)
            for size in range(max(1, len(keep or [])), 16):
                fresh = HSICLasso(size, keep=keep, n_neighbors=0).fit(X, y)
                assert selector.selected_of_size(size).tolist() == fresh.selected_.tolist()

    def test_of_other_measures_and_penalties(self, make, keep):
        X, y, _ = make(60, 20, random_state=5)
        for estimator in (NOCCOLasso(10, keep=keep), HSICLasso(10, keep=keep, ridge=0.05)):
            selector = estimator.fit(X, y)
            sizes = range(max(1, len(keep or [])), 11)
            found = {size: selector.selected_of_size(size).tolist() for size in sizes}
            for size, columns in found.items():
                estimator.set_params(n_features_to_select=size).fit(X, y)
                assert columns == estimator.selected_.tolist()


class TestSelectedOfSizeElsewhere:
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

    @pytest.mark.parametrize("size", [0, 6, -1])
    def test_sizes_that_were_not_fitted(self, size, data):
        with pytest.raises(InvalidInputError, match=f"size={size}"):
            HSICLasso(5).fit(*data).selected_of_size(size)

    def test_a_path_that_is_not_exact(self, data):
        selector = HSICLasso(5, solver="cd").fit(*data)
        assert selector.selected_of_size(5).tolist() == selector.selected_.tolist()
        with pytest.raises(InvalidInputError, match="solver='cd' follows no exact path"):
            selector.selected_of_size(3)

    def test_before_the_fit(self):
        with pytest.raises(NotFittedError):
            HSICLasso(3).selected_of_size(2)

    @pytest.mark.filterwarnings("ignore::hsiclasso.FewerFeaturesWarning")
    def test_of_a_selection_that_was_filled_up(self):
        X, y = same_thing_many_times()
        selector = HSICLasso(4).fit(X, y)
        for size in (1, 2, 3):
            fresh = HSICLasso(size).fit(X, y).selected_
            assert selector.selected_of_size(size).tolist() == fresh.tolist()

    def test_fewer_than_are_kept(self, data):
        selector = HSICLasso(5, keep=[0, 3]).fit(*data)
        with pytest.raises(InvalidInputError, match="2 are always kept"):
            selector.selected_of_size(1)

    def test_a_size_that_is_no_whole_number(self, data):
        with pytest.raises(InvalidInputError, match=r"size=2\.5"):
            HSICLasso(5).fit(*data).selected_of_size(2.5)


class TestSolvers:
    @pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
    @pytest.mark.parametrize("options", [{}, {"keep": [2]}, {"ridge": 0.01}], ids=str)
    def test_all_select_the_same(self, estimator, options):
        X, y, _ = make_data1(100, 40, random_state=2)
        found = {}
        for solver in ("homotopy", "cd", "dal"):
            fitted = clone(estimator).set_params(solver=solver, n_features_to_select=7, **options)
            fitted.fit(X, y)
            assert fitted.result_.solver == solver
            assert fitted.result_.certificate.duality_gap < 1e-10
            found[solver] = set(fitted.selected_)
        assert found["homotopy"] == found["cd"] == found["dal"]

    @pytest.mark.parametrize("solver", ["cd", "dal"])
    def test_all_that_is_selected_is_what_is_kept(self, solver, data):
        selector = HSICLasso(2, keep=[1, 2], solver=solver).fit(*data)
        assert set(np.flatnonzero(selector.coef_)) <= {1, 2}

    @pytest.mark.parametrize("solver", ["cd", "dal"])
    def test_duplicates_leave_weights_that_are_not_rounding_errors(self, solver, rng):
        x = rng.standard_normal(30)
        selector = HSICLasso(1, solver=solver).fit(np.column_stack([x] * 6), x)
        assert selector.coef_.max() > 1e-6

    def test_all_find_the_same_weights_at_a_penalty(self, data):
        weights = [
            HSICLasso(alpha_ratio=0.1, solver=solver).fit(*data).coef_
            for solver in ("homotopy", "cd", "dal")
        ]
        np.testing.assert_allclose(weights[1], weights[0], atol=1e-7)
        np.testing.assert_allclose(weights[2], weights[0], atol=1e-7)

    @pytest.mark.parametrize(
        ("options", "chosen"),
        [
            ({}, "homotopy"), ({"ridge": 0.1}, "homotopy"), ({"keep": [1]}, "homotopy"),
            ({"groups": range(D)}, "cd"), ({"positive": False}, "cd"),
        ],
        ids=str,
    )  # fmt: skip
    def test_what_auto_chooses(self, options, chosen, data):
        assert HSICLasso(2, **options).fit(*data).result_.solver == chosen

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"solver": "sgd"}, "solver='sgd' is unknown: choose 'auto' or one of"),
            (
                {"solver": "homotopy", "groups": range(D)},
                "solver='homotopy' serves .* not the group lasso: take one of .*'cd'",
            ),
            ({"solver": "homotopy", "positive": False}, "not the signed lasso"),
        ],
        ids=["unknown", "groups", "signed"],
    )
    def test_a_pair_that_does_not_exist_explains_itself(self, options, message, data):
        with pytest.raises(InvalidInputError, match=message):
            HSICLasso(2, **options).fit(*data)

    @pytest.mark.parametrize("solver", ["cd", "dal"])
    def test_a_solver_that_stops_early_says_how_far_it_came(self, solver, data, monkeypatch):
        exact = solve._INNER[solver]
        monkeypatch.setitem(solve._INNER, solver, lambda *problem: 0.9 * exact(*problem))
        with pytest.warns(ConvergenceWarning, match="duality gap reached is") as caught:
            selector = HSICLasso(alpha_ratio=0.2, solver=solver).fit(*data)
        assert selector.result_.status == "STALLED"
        gap = selector.result_.certificate.duality_gap
        assert gap > 1e-10
        assert f"{gap:.1e}" in str(caught[0].message)


BAD = [
    ({"alpha": 1.0, "alpha_ratio": 0.1}, "both set the penalty: give one of them"),
    ({"alpha_ratio": -0.1}, r"alpha_ratio=-0\.1, but a share of the largest penalty"),
    ({"alpha_ratio": 1.1}, r"alpha_ratio=1\.1"),
    ({"alpha_ratio": np.nan}, "alpha_ratio=nan"),
    ({"criterion": "mdl"}, "criterion='mdl' is unknown: choose None or one of"),
    ({"criterion": "bic", "alpha": 1.0}, "chooses the penalty: leave out alpha"),
    ({"criterion": "aic", "alpha_ratio": 0.5}, "chooses the penalty: leave out alpha"),
    ({"n_groups_to_select": 0, "groups": range(D)}, "n_groups_to_select=0"),
    ({"n_groups_to_select": 1.5, "groups": range(D)}, "must be a whole number >= 1"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=str)
def test_stops_that_cannot_be_meant_are_explained(options, message, data):
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(**options).fit(*data)
