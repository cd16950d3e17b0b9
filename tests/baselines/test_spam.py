"""Sparse additive models as a selector."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from hsiclasso import make_data1
from hsiclasso.baselines.spam import SpAM
from hsiclasso.errors import ConstantFeatureWarning, FewerFeaturesWarning, InvalidInputError
from tests import oracles
from tests.baselines import oracle_spam

ORACLES = {"kernel": oracle_spam.kernel_smoother, "spline": oracle_spam.spline_smoother}


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 5))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.5 * X[:, 2] + 0.3 * rng.standard_normal(60)


@pytest.fixture(scope="module")
def data1():
    return make_data1(120, 30, random_state=1)


def functions_of(selector, d):
    """Functions of all features, if the selector took all that the model uses."""
    functions = np.zeros((d, selector.functions_.shape[1]))
    functions[selector.selected_[: len(selector.functions_)]] = selector.functions_
    return functions


@pytest.mark.parametrize(
    ("smoother", "share"), [("kernel", 0.3), ("kernel", 0.1), ("spline", 0.7), ("spline", 0.1)]
)
def test_functions_at_a_penalty_are_those_of_the_dense_oracle(small, smoother, share):
    X, y = small
    largest = SpAM(1, smoother=smoother).fit(X, y).alpha_max_
    selector = SpAM(smoother=smoother, alpha=share * largest, tol=1e-11).fit(X, y)
    matrices = [ORACLES[smoother](x) for x in X.T]
    wanted = oracle_spam.backfit(matrices, y, share * largest)
    np.testing.assert_allclose(functions_of(selector, 5), wanted, atol=1e-6)
    sizes = np.sqrt(np.mean(wanted**2, axis=1))
    np.testing.assert_allclose(selector.scores_, sizes, atol=1e-7)
    assert selector.selected_.tolist() == np.argsort(-sizes)[: np.count_nonzero(sizes)].tolist()
    assert selector.alpha_ == share * largest
    smoothed = [S @ (y - y.mean()) for S in matrices]
    assert largest == pytest.approx(max(np.sqrt(np.mean(p**2)) for p in smoothed), rel=1e-8)


@pytest.mark.parametrize("smoother", ORACLES)
def test_the_equations_hold_for_all_features(data1, smoother):
    X, y, _ = data1
    selector = SpAM(6, smoother=smoother, tol=1e-10).fit(X, y)
    matrices = [ORACLES[smoother](x) for x in X.T]
    functions = functions_of(selector, X.shape[1])
    assert oracle_spam.violation(matrices, y, functions, selector.alpha_) < 1e-7
    assert np.count_nonzero(functions.any(axis=1)) == 6
    np.testing.assert_allclose(functions.mean(axis=1), 0, atol=1e-12)


def spline_bases(X):
    """Orthonormal bases (n, q) of the splines of each column."""
    pairs = [np.linalg.eigh(oracle_spam.spline_smoother(x)) for x in X.T]
    return [vectors[:, values > 0.5] for values, vectors in pairs]


@pytest.mark.parametrize("share", [0.6, 0.25])
def test_no_functions_have_a_smaller_objective(share, rng):
    X, y, _ = make_data1(80, 12, random_state=2)
    alpha = share * SpAM(1, smoother="spline").fit(X, y).alpha_max_
    functions = functions_of(SpAM(smoother="spline", alpha=alpha, tol=1e-11).fit(X, y), 12)
    assert 0 < np.count_nonzero(functions.any(axis=1)) < 12
    target, penalty = y - y.mean(), 2 * 80 * alpha  # the paper's squares are not over 2n
    least = oracles.spam_objective(target, functions, penalty)
    for scale in (0.9, 0.999, 1.001, 1.1):
        assert oracles.spam_objective(target, scale * functions, penalty) > least
    for scale in (1e-3, 1e-1):
        for k, Q in enumerate(spline_bases(X)):
            other = functions.copy()
            other[k] += scale * Q @ rng.standard_normal(Q.shape[1])
            assert oracles.spam_objective(target, other, penalty) > least


@pytest.mark.parametrize("share", [0.6, 0.25])
def test_splines_solve_the_group_lasso(share):
    X, y, _ = make_data1(80, 12, random_state=2)
    largest = SpAM(1, smoother="spline").fit(X, y).alpha_max_
    alpha = share * largest
    selector = SpAM(smoother="spline", alpha=alpha, tol=1e-11).fit(X, y)
    functions = functions_of(selector, 12)
    bases = spline_bases(X)
    wanted = oracle_spam.group_lasso(bases, y, alpha)
    target, penalty = y - y.mean(), 2 * 80 * alpha  # the paper's squares are not over 2n
    best = oracles.spam_objective(target, wanted, penalty)
    assert oracles.spam_objective(target, functions, penalty) <= best * (1 + 1e-9)
    np.testing.assert_allclose(functions, wanted, atol=1e-4)
    residual = y - y.mean() - functions.sum(axis=0)
    for Q, f in zip(bases, functions, strict=True):
        slope, size = Q @ (Q.T @ residual) / np.sqrt(80), np.linalg.norm(f)
        if size == 0:
            assert np.linalg.norm(slope) <= alpha * (1 + 1e-8)
        else:
            np.testing.assert_allclose(slope, alpha * f / size, atol=1e-8)


@pytest.mark.parametrize(("smoother", "seed"), [("kernel", 0), ("spline", 1)])
def test_finds_the_features_of_the_additive_design(smoother, seed):
    X, y, causal = make_data1(300, 256, random_state=seed)
    selector = SpAM(4, smoother=smoother).fit(X, y)
    assert sorted(selector.selected_) == sorted(causal)
    assert sorted(SpAM(10, smoother=smoother).fit(X, y).selected_[:4]) == sorted(causal)


def test_a_product_of_features_is_not_found():
    X = np.random.default_rng(0).standard_normal((200, 20))
    y = 3 * X[:, 0] * X[:, 1] + X[:, 2]
    selector = SpAM(1).fit(X, y)
    assert selector.selected_.tolist() == [2]
    assert selector.scores_[[0, 1]].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("smoother", "m"), [("kernel", 1), ("kernel", 7), ("spline", 3), ("spline", 30)]
)
def test_as_many_features_as_wanted(data1, smoother, m):
    X, y, _ = data1
    selector = SpAM(m, smoother=smoother).fit(X, y)
    assert selector.selected_.size == m
    assert np.count_nonzero(selector.scores_) == m == selector.path_.n_active[-1]
    assert {feature.origin for feature in selector.result_.features} == {"method"}
    scores = selector.scores_[selector.selected_]
    assert (np.diff(scores) <= 0).all()
    assert sorted(selector.ranking_) == list(range(1, 31))
    assert selector.ranking_[selector.selected_].tolist() == list(range(1, m + 1))


@pytest.mark.parametrize("smoother", ORACLES)
def test_features_without_a_function_are_ranked_by_what_smoothing_leaves(data1, smoother):
    X, y, _ = data1
    selector = SpAM(3, smoother=smoother).fit(X, y)
    residual = y - y.mean() - selector.functions_.sum(axis=0)
    left = [np.linalg.norm(ORACLES[smoother](x) @ residual) for x in X.T]
    rest = np.setdiff1d(np.arange(30), selector.selected_)
    wanted = rest[np.argsort(-np.array(left)[rest])]
    assert np.argsort(selector.ranking_)[3:].tolist() == wanted.tolist()


@pytest.mark.parametrize("smoother", ORACLES)
def test_the_path(data1, smoother):
    X, y, _ = data1
    selector = SpAM(8, smoother=smoother, tol=1e-8).fit(X, y)
    path = selector.path_
    assert path.alphas[0] == selector.alpha_max_
    assert path.n_active[0] == 0
    assert path.alphas[-1] == selector.alpha_
    assert (np.diff(path.alphas) < 0).all()
    assert (np.diff(path.residual_variances) <= 1e-8).all()
    assert (path.n_active[:-1] < 8).all()
    np.testing.assert_array_equal((path.norms > 0).sum(axis=1), path.n_active)
    np.testing.assert_allclose(path.norms[-1], selector.scores_[path.features])
    assert path.residual_variances[0] == pytest.approx(np.var(y))
    assert selector.n_iter_ == path.n_iter.max()
    entered = [np.flatnonzero(path.norms[:, j])[0] for j in range(path.features.size)]
    assert entered == sorted(entered)
    ratios = path.alphas[1:6] / path.alphas[:5]
    np.testing.assert_allclose(ratios, 1e-3 ** (1 / 99), rtol=1e-10)


@pytest.mark.parametrize("smoother", ORACLES)
def test_cp_is_the_formula_and_its_least_value_is_chosen(data1, smoother):
    X, y, causal = data1
    selector = SpAM(smoother=smoother, criterion="cp", n_alphas=40).fit(X, y)
    path, n = selector.path_, 120
    matrices = [ORACLES[smoother](x) for x in X.T]
    traces = [np.trace(S) for S in matrices]
    chosen = int(np.argmin(path.cp))
    assert selector.alpha_ == path.alphas[chosen]
    functions = functions_of(selector, 30)
    wanted = oracle_spam.cp(y, functions, traces, path.noise_variance)
    assert path.cp[chosen] == pytest.approx(wanted, rel=1e-6)
    assert selector.selected_.size == path.n_active[chosen]
    assert np.isin(causal, selector.selected_).all()
    last = np.zeros(30)
    last[path.features] = path.norms[-1]
    effective = np.sum(traces * last / (last + path.alphas[-1]))
    assert effective <= n / 2
    noise = path.residual_variances[-1] * n / (n - 1 - effective)
    assert path.noise_variance == pytest.approx(noise, rel=1e-6)
    assert path.degrees[-1] == pytest.approx(np.sum(np.array(traces)[last > 0]), rel=1e-6)


def test_cp_chooses_among_models_that_are_small_enough(data1):
    X, y, _ = data1
    free = SpAM(criterion="cp").fit(X, y)
    assert free.selected_.size > 3
    capped = SpAM(3, criterion="cp").fit(X, y)
    assert capped.selected_.size <= 3
    allowed = capped.path_.n_active <= 3
    assert capped.alpha_ == capped.path_.alphas[np.argmin(np.where(allowed, free.path_.cp, np.inf))]


def test_cp_finds_nothing_in_noise():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 20)), rng.standard_normal(100)
    selector = SpAM(criterion="cp").fit(X, y)
    assert selector.selected_.size == 0
    assert selector.functions_.shape == (0, 100)
    assert selector.result_.features == ()


def test_a_penalty_and_a_number_stop_whichever_comes_first(data1):
    X, y, _ = data1
    by_number = SpAM(3).fit(X, y)
    high, low = 1.3 * by_number.alpha_, 0.5 * by_number.alpha_
    assert SpAM(3, alpha=low).fit(X, y).selected_.tolist() == by_number.selected_.tolist()
    first = SpAM(3, alpha=high).fit(X, y)
    assert first.alpha_ == high
    assert first.selected_.size < 3
    many = SpAM(alpha=0.1 * by_number.alpha_).fit(X, y)
    assert many.selected_.size == np.count_nonzero(many.scores_) > 10
    assert SpAM(alpha=2 * by_number.alpha_max_).fit(X, y).selected_.size == 0


@settings(max_examples=8)
@given(st.integers(0, 1000))
@pytest.mark.parametrize("smoother", ORACLES)
def test_what_does_not_matter(smoother, seed):
    """Shifts and scales of columns and target, and the order of samples and of features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, 8))
    y = np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.standard_normal(50)
    selector = SpAM(4, smoother=smoother, n_alphas=30, tol=1e-9)
    plain = clone(selector).fit(X, y)
    scales = rng.choice([-1e-3, 0.5, 7.0, 1e5], 8)
    scaled = clone(selector).fit(X * scales + rng.standard_normal(8) * scales, 3 - 20 * y)
    assert scaled.selected_.tolist() == plain.selected_.tolist()
    assert scaled.alpha_ == pytest.approx(20 * plain.alpha_, rel=1e-5)
    np.testing.assert_allclose(scaled.scores_, 20 * plain.scores_, atol=1e-4)
    rows, columns = rng.permutation(50), rng.permutation(8)
    moved = clone(selector).fit(X[rows][:, columns], y[rows])
    assert columns[moved.selected_].tolist() == plain.selected_.tolist()
    np.testing.assert_allclose(moved.scores_, plain.scores_[columns], atol=1e-6)
    np.testing.assert_allclose(moved.functions_, plain.functions_[:, rows], atol=1e-5)


def test_few_distinct_values_will_do():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (100, 30)).astype(float)
    y = (X[:, 4] == 1) + 0.7 * X[:, 9] + 0.1 * rng.standard_normal(100)
    for smoother in ORACLES:
        selector = SpAM(2, smoother=smoother).fit(X, y)
        assert sorted(selector.selected_) == [4, 9]


def test_equal_columns():
    """Of splines only one is used; of a kernel both may be. Neither is an obstacle."""
    rng = np.random.default_rng(0)
    x, z = rng.standard_normal((2, 80))
    X, y = np.column_stack([x, x, z]), np.sin(x) + 0.3 * z
    assert SpAM(2, smoother="spline").fit(X, y).selected_.tolist() == [0, 2]
    selector = SpAM(1).fit(X, y)
    assert selector.selected_.tolist() == [0]


def test_what_the_path_does_not_reach_is_filled_in():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(50)
    X = np.column_stack([x, x, rng.standard_normal(50)])
    with pytest.warns(FewerFeaturesWarning, match=r"chose \d features where 3 were"):
        selector = SpAM(3, smoother="spline").fit(X, x + 0.5 * X[:, 2])
    assert [feature.origin for feature in selector.result_.features][-1] == "filled"
    assert selector.selected_.size == 3
    assert len(selector.functions_) == 2


def test_constant_columns_are_left_out(data1):
    X, y, _ = data1
    with_constant = np.insert(X, 3, 1.0, axis=1)
    with pytest.warns(ConstantFeatureWarning):
        selector = SpAM(3).fit(with_constant, y)
    assert 3 not in selector.selected_
    assert selector.ranking_[3] == 31
    with pytest.warns(ConstantFeatureWarning):
        nothing = SpAM().fit(np.ones((120, 2)), y)
    assert nothing.selected_.size == 0
    assert nothing.alpha_max_ == 0


def test_options_change_the_answer(data1):
    X, y, _ = data1
    plain = SpAM(5).fit(X, y)
    for options in (
        {"bandwidth": 1.0}, {"smoother": "spline"}, {"smoother": "spline", "n_knots": 3},
    ):  # fmt: skip
        assert not np.allclose(SpAM(5, **options).fit(X, y).scores_, plain.scores_, atol=1e-3)
    knots = [SpAM(5, smoother="spline", n_knots=k).fit(X, y).path_.degrees[-1] for k in (3, 8)]
    assert knots == [20, 45]
    path = SpAM(5, n_alphas=10, alpha_ratio_min=0.1).fit(X, y).path_
    assert path.alphas[1] / path.alphas[0] == pytest.approx(0.1 ** (1 / 9))
    loose = SpAM(5, tol=0.01).fit(X, y)
    assert loose.path_.n_iter.sum() < plain.path_.n_iter.sum()


def test_threads_do_not_matter(data1):
    X, y, _ = data1
    one, two = (SpAM(6, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.ranking_, two.ranking_)


def test_tables_of_other_sorts(data1):
    X, y, _ = data1
    plain = SpAM(4).fit(X, y)
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(30)])
    named = SpAM(4).fit(frame, pd.Series(y))
    assert named.result_.names == tuple(f"g{j}" for j in plain.selected_)
    assert named.get_feature_names_out().tolist() == [f"g{j}" for j in sorted(plain.selected_)]
    assert named.transform(frame).shape == (120, 4)
    thin = sparse.random_array(
        (120, 30), density=0.2, random_state=np.random.default_rng(0), format="csc"
    )
    dense = SpAM(4).fit(thin.toarray(), y)
    assert SpAM(4).fit(thin, y).selected_.tolist() == dense.selected_.tolist()


def test_a_target_of_ranks_or_counts(data1):
    X, y, _ = data1
    ordinal = SpAM(4, target="ordinal").fit(X, y)
    ranks = SpAM(4).fit(X, np.argsort(np.argsort(y)).astype(float) + 0.5)
    np.testing.assert_allclose(ordinal.scores_, ranks.scores_)
    assert ordinal.result_.target == "ordinal"
    counts = np.random.default_rng(0).poisson(np.exp(X[:, 3]))
    assert SpAM(1, target="counts").fit(X, counts).selected_.tolist() == [3]


def test_reports_its_progress(data1):
    X, y, _ = data1
    calls = []
    SpAM(3, n_jobs=1).fit_reporting(X, y, lambda *call: calls.append(call))
    assert ("features smoothed", 30, 30) in calls
    assert calls[-1] == ("features in use", 3, 3)


def test_says_when_it_does_not_converge(data1):
    X, y, _ = data1
    with pytest.warns(ConvergenceWarning, match="max_iter=1 cycles at .* of .* penalties"):
        selector = SpAM(5, max_iter=1).fit(X, y)
    assert selector.n_iter_ == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoother": "loess"}, "smoother='loess' is unknown: choose 'kernel' or 'spline'"),
        ({"bandwidth": 0.0}, "bandwidth=0.0 must be a finite number > 0"),
        ({"bandwidth": "silverman"}, "bandwidth='silverman'"),
        ({"bandwidth": 1.0, "smoother": "spline"}, "has no meaning with smoother='spline'"),
        ({"n_knots": 7}, "n_knots=7 has no meaning with smoother='kernel'"),
        ({"n_knots": 1, "smoother": "spline"}, "n_knots=1 must be a whole number >= 2"),
        ({"alpha": 0}, "alpha=0 must be a finite number > 0"),
        ({"alpha": np.inf}, "alpha=inf"),
        ({"criterion": "gcv"}, "criterion='gcv' is unknown: choose None or 'cp'"),
        ({"criterion": "cp", "alpha": 1.0}, "criterion='cp' chooses the penalty"),
        ({"alpha_ratio_min": 1.0}, "alpha_ratio_min=1.0 is a share"),
        ({"n_alphas": 1}, "n_alphas=1 must be a whole number >= 2"),
        ({"tol": 0}, "tol=0"),
        ({"max_iter": 0}, "max_iter=0 must be a whole number >= 1"),
        ({"max_iter": None}, "max_iter"),
        ({"target": "ranking"}, "target='ranking' is unknown"),
        ({"n_features_to_select": 31}, "greater than n_features=30"),
    ],
)
def test_options_that_have_no_meaning(data1, options, message):
    X, y, _ = data1
    with pytest.raises(InvalidInputError, match=message):
        SpAM(**options).fit(X, y)


def test_targets_that_are_not_one_real_number(data1):
    X, y, _ = data1
    with pytest.raises(InvalidInputError, match="kind 'classes', but SpAM serves only"):
        SpAM().fit(X, np.where(y > 0, "high", "low"))
    with pytest.raises(InvalidInputError, match="kind 'labels'"):
        SpAM().fit(X, np.column_stack([y > 0, y > 1]))
    with pytest.raises(InvalidInputError, match="kind 'survival'"):
        SpAM(target="survival").fit(X, np.column_stack([np.abs(y), y > 0]))
    with pytest.raises(InvalidInputError, match="y has 2 outputs, but SpAM serves one"):
        SpAM().fit(X, np.column_stack([y, y**2]))
    frame = pd.DataFrame(X).assign(group=["a", "b"] * 60)
    with pytest.raises(InvalidInputError, match="column 'group' holds labels"):
        SpAM().fit(frame.rename(columns=str), y)
