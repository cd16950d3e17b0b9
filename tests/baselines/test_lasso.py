"""The lasso with as many features as wanted, against scikit-learn and the optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, MultiTaskLasso, lars_path

from hsiclasso.baselines import lasso
from hsiclasso.baselines.lasso import LassoPath
from hsiclasso.errors import ConstantFeatureWarning, FewerFeaturesWarning, InvalidInputError
from tests.baselines.oracle_lasso import lower_bound
from tests.oracles import lasso_objective, standardised


def wide(seed=0, n=40, d=100, q=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 10, d) + rng.standard_normal(d)
    weights = np.zeros((d, q or 1))
    weights[:6] = rng.standard_normal((6, q or 1)) * [[3], [2], [2], [1], [1], [0.5]]
    Y = 5 + standardised(X) @ weights + 0.3 * rng.standard_normal((n, q or 1))
    return X, Y if q else Y[:, 0]


def check_optimal(X, Y, coef, alpha, tol):
    """Subgradient of 1/(2n) |Y - XB|^2 + alpha sum |B_j| at rows B_j of coef.T."""
    Z = standardised(X)
    slope = Z.T @ (Y - Y.mean(axis=0) - Z @ coef.T) / len(Z)
    sizes = np.linalg.norm(coef, axis=0)
    used = sizes > 0
    assert np.linalg.norm(slope[~used], axis=1).max(initial=0) <= alpha + tol
    signs = (coef[:, used] / sizes[used]).T
    np.testing.assert_allclose(slope[used], alpha * signs, atol=tol)


@pytest.mark.parametrize(
    ("m", "shape"), [(1, (40, 100)), (20, (40, 100)), (35, (40, 100)), (5, (120, 40))]
)
def test_optimal_with_as_many_features_as_wanted(m, shape):
    X, y = wide(1, *shape)
    selector = LassoPath(m).fit(X, y)
    assert np.count_nonzero(selector.coef_) == m
    check_optimal(X, y[:, None], selector.coef_[None], selector.alpha_, 1e-7)
    if selector.alpha_ > 1e-3:
        model = Lasso(alpha=selector.alpha_, tol=1e-14, max_iter=10**6).fit(standardised(X), y)
        np.testing.assert_allclose(selector.coef_, model.coef_, atol=1e-5)
    np.testing.assert_array_equal(selector.scores_, np.abs(selector.coef_))
    assert selector.selected_.tolist() == np.argsort(-selector.scores_)[:m].tolist()
    assert selector.selected_.size == m


@pytest.mark.parametrize(
    ("options", "exact"), [({"alpha": 0.05}, True), ({"alpha": 1.0}, False), ({}, False)], ids=str
)
def test_no_coefficients_have_a_smaller_objective(monkeypatch, exact, options):
    """The objective of the paper, whose penalty is n times ours, beside what bounds it."""
    if not exact:
        monkeypatch.setattr(lasso, "_OPTIMAL", -1.0)
    X, y = wide(17)
    selector = LassoPath(tol=1e-12, **options).fit(X, y)
    problem, penalty = (standardised(X), y - y.mean()), len(y) * selector.alpha_
    least = lower_bound(*problem, selector.coef_, penalty)
    value = lasso_objective(*problem, selector.coef_, penalty)
    assert abs(value - least) < 1e-6 * least


def test_the_place_on_the_path_is_just_before_another_feature_enters():
    X, y = wide(2)
    alphas, active, _ = lars_path(standardised(X), y - y.mean(), method="lasso", max_iter=6)
    for m in range(1, 6):
        selector = LassoPath(m).fit(X, y)
        assert sorted(selector.selected_) == sorted(active[:m])
        assert selector.alpha_ == pytest.approx(alphas[m], rel=1e-6)
        assert selector.n_iter_ == m


@pytest.mark.parametrize("seed", [9, 15])  # two in which rounding leaves a coefficient of 1e-18
def test_features_that_leave_the_path_are_waited_for(monkeypatch, seed):
    """The first segment with so many features counts, also if a feature leaves at its end."""
    monkeypatch.delattr(lasso._Problem, "solve")  # the exact path serves
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 5)) @ rng.standard_normal((5, 25))
    X += 0.3 * rng.standard_normal((60, 25))
    y = X @ rng.standard_normal(25) + rng.standard_normal(60)
    alphas, _, coefs = lars_path(standardised(X), y - y.mean(), method="lasso")
    places = np.linspace(0, alphas.size - 1, 40 * alphas.size)
    grid = np.interp(places, np.arange(alphas.size), alphas)
    active = [np.array([np.interp(p, np.arange(alphas.size), c) for c in coefs]) for p in places]
    counts = np.array([np.count_nonzero(np.abs(c) > 1e-12) for c in active])
    assert (np.diff(counts) < 0).any()
    left_at_the_end = 0
    for m in range(1, 26):
        selector = LassoPath(m).fit(X, y)
        first = int(np.argmax(counts >= m))
        assert grid[first] >= selector.alpha_
        for k in range(first, int(np.argmax(grid < selector.alpha_))):
            assert np.flatnonzero(np.abs(active[k]) > 1e-12).tolist() == sorted(selector.selected_)
        check_optimal(X, y[:, None], selector.coef_[None], selector.alpha_, 1e-7)
        left_at_the_end += not np.isclose(alphas, selector.alpha_, rtol=1e-6).any()
    assert left_at_the_end > 0


@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
def test_a_penalty_is_that_of_scikit_learn(share):
    X, y = wide(3)
    Z = standardised(X)
    alpha = share * np.abs(Z.T @ (y - y.mean())).max() / len(y)
    selector = LassoPath(alpha=alpha).fit(X, y)
    model = Lasso(alpha=alpha, tol=1e-14, max_iter=10**6).fit(Z, y)
    np.testing.assert_allclose(selector.coef_, model.coef_, atol=1e-6)
    assert selector.alpha_ == pytest.approx(alpha, rel=1e-9)
    assert selector.selected_.size == np.count_nonzero(model.coef_)
    capped = LassoPath(2, alpha=alpha).fit(X, y)
    assert capped.selected_.size <= 2
    assert capped.alpha_ >= alpha
    assert LassoPath(alpha=1.001 * alpha / share).fit(X, y).selected_.size == 0


@pytest.mark.parametrize("m", [1, 4, 12])
def test_several_outputs_share_their_features(m):
    X, Y = wide(4, q=3)
    Y = Y * [1, 100, 0.01]
    selector = LassoPath(m, tol=1e-12).fit(X, Y)
    assert selector.coef_.shape == (3, 100)
    assert np.count_nonzero(selector.coef_.any(axis=0)) == m
    target = standardised(Y)
    check_optimal(X, target, selector.coef_, selector.alpha_, 1e-6)
    model = MultiTaskLasso(alpha=selector.alpha_, tol=1e-12, max_iter=10**6)
    model.fit(standardised(X), target)
    np.testing.assert_allclose(selector.coef_, model.coef_, atol=1e-5)
    np.testing.assert_allclose(selector.scores_, np.linalg.norm(selector.coef_, axis=0))


def test_a_penalty_of_several_outputs():
    X, Y = wide(5, q=2)
    selector = LassoPath(alpha=0.3, tol=1e-12).fit(X, Y)
    model = MultiTaskLasso(alpha=0.3, tol=1e-12, max_iter=10**6)
    model.fit(standardised(X), standardised(Y))
    np.testing.assert_allclose(selector.coef_, model.coef_, atol=1e-5)
    assert selector.alpha_ == pytest.approx(0.3)


def test_two_classes_are_minus_one_and_one():
    X, y = wide(6)
    labels = np.where(y > np.median(y), "b", "a")
    selector = LassoPath(5).fit(X, labels)
    numbers = LassoPath(5, target="real").fit(X, np.where(labels == "b", 1, -1))
    np.testing.assert_allclose(selector.coef_, numbers.coef_)
    assert selector.result_.target == "classes"


def test_more_classes_are_an_output_each():
    X, y = wide(7)
    codes = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    selector = LassoPath(5, tol=1e-12).fit(X, np.array(["x", "y", "z"])[codes])
    indicators = np.eye(3)[codes]
    assert selector.coef_.shape == (3, 100)
    check_optimal(X, indicators, selector.coef_, selector.alpha_, 1e-6)


def test_labels_are_an_output_each():
    X, Y = wide(8, q=2)
    labels = (np.median(Y, axis=0) < Y).astype(int)
    selector = LassoPath(5, tol=1e-12).fit(X, np.column_stack([labels, np.ones(40, int)]))
    assert selector.result_.target == "labels"
    check_optimal(X, 2.0 * labels - 1, selector.coef_, selector.alpha_, 1e-6)


def test_coordinate_descent_takes_over_where_the_exact_path_fails(monkeypatch):
    X, y = wide(9)
    exact = LassoPath(6).fit(X, y)
    monkeypatch.setattr(lasso, "_OPTIMAL", -1.0)
    other = LassoPath(6, tol=1e-14).fit(X, y)
    assert np.count_nonzero(other.coef_) == 6
    assert other.alpha_ > exact.alpha_  # somewhere on the segment at whose end the other is
    assert sorted(other.selected_) == sorted(exact.selected_)
    check_optimal(X, y[:, None], other.coef_[None], other.alpha_, 1e-6)


@pytest.mark.parametrize("exact", [True, False])
def test_equal_columns(monkeypatch, exact):
    """Copies, mirrored or not, of few values: ties that the exact path may not survive."""
    if not exact:
        monkeypatch.setattr(lasso, "_OPTIMAL", -1.0)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (80, 40)).astype(float)
    X = np.hstack([X, X[:, :10], 2 - X[:, 10:20]])
    y = X[:, :3].sum(axis=1) + X[:, 12] + 0.1 * rng.standard_normal(80)
    selector = LassoPath(8).fit(X, y)
    assert selector.selected_.size == 8
    check_optimal(X, y[:, None], selector.coef_[None], selector.alpha_, 1e-4)
    model = Lasso(alpha=selector.alpha_, tol=1e-12).fit(standardised(X), y)
    np.testing.assert_allclose(
        standardised(X) @ selector.coef_, standardised(X) @ model.coef_, atol=1e-3
    )


def test_more_features_than_the_rank_are_filled_in():
    X, y = wide(10, n=8, d=30)
    with pytest.warns(FewerFeaturesWarning, match="Lasso chose 7 features where 12 were asked"):
        selector = LassoPath(12).fit(X, y)
    origins = [feature.origin for feature in selector.result_.features]
    assert origins == ["method"] * 7 + ["filled"] * 5
    covariance = np.abs(standardised(X).T @ (y - y.mean()))
    rest = np.setdiff1d(np.arange(30), selector.selected_[:7])
    assert selector.selected_[7:].tolist() == rest[np.argsort(-covariance[rest])][:5].tolist()


def test_constant_columns_are_left_out():
    X, y = wide(11)
    X[:, 0] = 3.0
    with pytest.warns(ConstantFeatureWarning):
        selector = LassoPath(5).fit(X, y)
    assert 0 not in selector.selected_
    with pytest.warns(ConstantFeatureWarning):
        assert LassoPath(2).fit(np.ones((40, 3)), y).selected_.size == 0


def test_columns_that_say_nothing_of_the_target_are_filled_in():
    X = np.array([[1.0, 1], [-1, 1], [1, -1], [-1, -1]])
    y = np.array([1.5, 0.0, 0.0, 1.5])
    with pytest.warns(FewerFeaturesWarning, match="chose 0 features"):
        selector = LassoPath(1).fit(X, y)
    assert selector.coef_.tolist() == [0, 0]


@settings(max_examples=15)
@given(st.integers(0, 1000), st.sampled_from([None, 2]))
def test_what_does_not_matter(seed, q):
    X, y = wide(seed, 30, 20, q)
    rng = np.random.default_rng(seed)
    plain = LassoPath(4, tol=1e-12).fit(X, y)
    scales = rng.choice([-1e-3, 0.5, 1e6], 20)
    scaled = LassoPath(4, tol=1e-12).fit(X * scales - 3 * scales, 7 - 1e3 * y)
    assert scaled.selected_.tolist() == plain.selected_.tolist()
    rows, columns = rng.permutation(30), rng.permutation(20)
    moved = LassoPath(4, tol=1e-12).fit(X[rows][:, columns], y[rows])
    assert columns[moved.selected_].tolist() == plain.selected_.tolist()
    np.testing.assert_allclose(moved.scores_, plain.scores_[columns], atol=1e-5)


@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_a_loose_tolerance_counts_no_feature_twice(tol):
    X, Y = wide(16, q=2)
    selector = LassoPath(alpha=0.002, tol=tol).fit(X, Y)
    assert selector.selected_.size == np.count_nonzero(selector.coef_.any(axis=0))
    assert f"{selector.selected_.size} coefficients" in selector.result_.message
    assert np.unique(selector.selected_).size == selector.selected_.size > 5


def test_many_steps_are_gone_on_with(monkeypatch):
    monkeypatch.setattr(lasso, "_SPARE_STEPS", -34)
    monkeypatch.delattr(lasso._Problem, "solve")  # the exact path serves
    X, y = wide(12, 60, 30)
    selector = LassoPath(30).fit(X, y)
    assert np.count_nonzero(selector.coef_) == 30
    assert selector.n_iter_ >= 30
    check_optimal(X, y[:, None], selector.coef_[None], selector.alpha_, 1e-9)


@pytest.mark.filterwarnings("ignore::hsiclasso.errors.FewerFeaturesWarning")
def test_says_when_it_does_not_converge():
    X, Y = wide(13, q=2)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 sweeps"):
        LassoPath(10, max_iter=1).fit(X, Y)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 sweeps"):
        LassoPath(10, max_iter=1).fit(X, Y[:, 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0}, "alpha=0 must be a finite number > 0"),
        ({"alpha": "1"}, "alpha='1'"),
        ({"tol": -1.0}, "tol=-1.0"),
        ({"tol": None}, "tol=None"),
        ({"max_iter": 0}, "max_iter=0 must be a whole number >= 1"),
        ({"target": "structured"}, "target='structured' is unknown"),
        ({"n_features_to_select": 0}, "n_features_to_select=0"),
    ],
)
def test_options_that_have_no_meaning(options, message):
    X, y = wide()
    with pytest.raises(InvalidInputError, match=message):
        LassoPath(**options).fit(X, y)


def test_targets_that_are_no_values():
    X, y = wide()
    with pytest.raises(InvalidInputError, match="kind 'survival', but Lasso serves only"):
        LassoPath(target="survival").fit(X, np.column_stack([np.abs(y), y > 0]))
    assert not LassoPath.traits.structured
