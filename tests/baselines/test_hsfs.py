"""Hilbert-Schmidt feature selection: stationary points, penalties, restarts, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning

from hsiclasso import (
    Auto,
    ConstantFeatureWarning,
    FewerFeaturesWarning,
    InvalidInputError,
    make_data1,
)
from hsiclasso.baselines import hsfs
from hsiclasso.baselines.hsfs import HSFS
from tests import oracles
from tests.baselines import oracle_joint as oracle


def data(seed=0, n=60, d=8):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 10, d) + rng.standard_normal(d)
    Z = oracles.standardised(X)
    return X, np.tanh(2 * Z[:, 1]) + Z[:, 4 % d] + 0.3 * rng.standard_normal(n)


def fit(X, y, *args, **options):
    return HSFS(*args, **{"random_state": 0, "n_jobs": 1, **options}).fit(X, y)


def check_solution(selector, X, L, width=1.0):
    """What is said of the solution holds for the problem as it is written."""
    W, alpha = selector.components_, selector.alpha_
    value = oracles.hsfs_objective(W, X, L, alpha, width)
    assert selector.objective_ == pytest.approx(value, rel=1e-6, abs=1e-10)
    slope = oracle.hsfs_gradient(W, X, L, width)
    assert oracle.subgradient_violation(W, slope, alpha, tied=1e-4) < 2e-3 * alpha
    assert selector.stationarity_ <= 1e-5
    np.testing.assert_array_equal(selector.scores_, np.abs(W).max(axis=0))
    assert selector.objective_ == selector.objectives_.min()


class TestSolution:
    @pytest.mark.parametrize(
        ("size", "n_components"), [(1, "full"), (2, "auto"), (4, 1), (4, "auto")]
    )
    def test_stationary_with_as_many_features_as_wanted(self, size, n_components):
        X, y = data()
        selector = fit(X, y, size, n_components=n_components)
        check_solution(selector, X, oracles.gaussian_gram(y))
        assert np.count_nonzero(selector.scores_) >= size
        assert selector.selected_.tolist() == np.argsort(-selector.scores_)[:size].tolist()
        expected = {"auto": min(3, size), "full": 8}.get(n_components, n_components)
        assert selector.components_.shape == (expected, 8)

    @pytest.mark.parametrize(
        ("alpha", "n_components"), [(0.0005, 1), (0.005, "full"), (0.02, "full")]
    )
    def test_stationary_at_a_given_penalty(self, alpha, n_components):
        X, y = data(1)
        selector = fit(X, y, alpha=alpha, n_components=n_components, max_iter=3000)
        assert selector.alpha_ == alpha
        check_solution(selector, X, oracles.gaussian_gram(y))
        assert selector.selected_.size == np.count_nonzero(selector.scores_) > 0

    def test_ranking(self):
        """By weight, then by the pull on the features that have none."""
        X, y = data(2)
        L = oracles.gaussian_gram(y)
        selector = fit(X, y, 2)
        sizes = np.abs(selector.components_).max(axis=0)
        pulls = np.abs(oracle.hsfs_gradient(selector.components_, X, L)).sum(axis=0)
        assert 0 < np.count_nonzero(sizes) < 7
        expected = sorted(range(8), key=lambda j: (-sizes[j], -pulls[j]))
        assert np.argsort(selector.ranking_).tolist() == expected
        assert [f.score for f in selector.result_.features] == list(sizes[selector.selected_])

    def test_one_component_and_two_features_by_brute_force(self):
        X, y = data(3, n=30, d=2)
        L, alpha = oracles.gaussian_gram(y), 0.01
        axis = np.linspace(-1.5, 1.5, 31)
        grid = [oracles.hsfs_objective(np.array([[a, b]]), X, L, alpha) for a in axis for b in axis]
        selector = fit(X, y, alpha=alpha, n_components=1)
        assert min(grid) - 1e-3 < selector.objective_ <= min(grid)

    def test_message(self):
        X, y = data()
        selector = fit(X, y, 2, n_restarts=3)
        assert selector.result_.message == (
            f"{np.count_nonzero(selector.scores_)} features have weight at penalty "
            f"{selector.alpha_:.4g}, the best of 3 restarts."
        )


class TestPenalty:
    def test_fewer_features_as_it_grows(self):
        X, y = data(n=80)
        sizes = [
            np.count_nonzero(fit(X, y, alpha=alpha, max_iter=2000).scores_)
            for alpha in (1e-4, 5e-3, 1e-2, 3e-2, 1.0)
        ]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] == 8
        assert sizes[-1] == 0
        assert len(set(sizes)) >= 4

    def test_so_large_that_nothing_is_left(self):
        X, y = data()
        selector = fit(X, y, alpha=10.0)
        assert selector.selected_.size == 0
        assert not selector.components_.any()
        assert selector.objective_ == pytest.approx(0, abs=1e-12)
        assert selector.stationarity_ == 0
        with pytest.warns(UserWarning, match="No features were selected"):
            assert selector.transform(X).shape == (60, 0)

    def test_number_is_an_upper_limit_beside_it(self):
        X, y = data()
        free = fit(X, y, alpha=1e-3)
        assert free.selected_.size > 3
        few = fit(X, y, 3, alpha=1e-3)
        assert few.selected_.tolist() == free.selected_[:3].tolist()
        many = fit(X, y, 8, alpha=0.02)
        assert many.selected_.size < 8

    def test_of_a_number_of_features_gives_the_same_again(self):
        X, y = data()
        counted = fit(X, y, 2)
        again = fit(X, y, alpha=counted.alpha_, n_components=2)
        assert again.selected_.tolist() == counted.selected_.tolist()
        assert again.objective_ == pytest.approx(counted.objective_, rel=1e-4)

    def test_as_few_as_possible(self):
        X, y = data(d=12)
        sizes = [np.count_nonzero(fit(X, y, size).scores_) for size in range(1, 9)]
        assert sizes == [2, 2, 3, 4, 5, 6, 7, 8]  # the second comes with the first

    def test_a_little_more_leaves_fewer(self):
        """The penalty is as large as it can be, but for the width of the last interval."""
        X, y = data()
        counted = fit(X, y, 3, n_components=2)
        more = fit(X, y, alpha=2.5 * counted.alpha_, n_components=2)
        assert np.count_nonzero(more.scores_) < 3

    @pytest.mark.parametrize("width", [0.1, 30.0])
    def test_width_is_a_unit(self, width):
        X, y = data()
        plain, other = fit(X, y, 2), fit(X, y, 2, width=width)
        assert other.selected_.tolist() == plain.selected_.tolist()
        assert other.alpha_ == pytest.approx(plain.alpha_ / width, rel=1e-6)
        # up to the signs of components, which HSIC does not see
        squares = (fit.components_.T @ fit.components_ for fit in (other, plain))
        np.testing.assert_allclose(
            next(squares), width**2 * next(squares), rtol=1e-3, atol=1e-4 * width**2
        )
        check_solution(other, X, oracles.gaussian_gram(y), width)


class TestRestarts:
    def test_more_are_never_worse(self):
        """The starts of few are the first of many."""
        X, y = data(4, d=12)
        y = np.sign(X[:, 0] * X[:, 1])  # many local minima
        before = None
        for n_restarts in (1, 2, 4, 8):
            selector = fit(X, y, alpha=1e-4, n_restarts=n_restarts)
            assert selector.objectives_.shape == (n_restarts,)
            if before is not None:
                np.testing.assert_array_equal(
                    selector.objectives_[: before.objectives_.size], before.objectives_
                )
                assert selector.objective_ <= before.objective_
            before = selector
        assert np.ptp(before.objectives_) > 1e-6

    @pytest.mark.parametrize(
        "make", [lambda: np.random.default_rng(3), lambda: np.random.RandomState(3), lambda: None]
    )
    def test_sources_of_randomness(self, make):
        X, y = data()
        one, two = (fit(X, y, 2, random_state=make()) for _ in range(2))
        assert set(one.selected_) == set(two.selected_) == {1, 4}
        W = one.components_
        assert (two.components_ == W).all() == (make() is not None)
        # the sign of a component is chosen: its largest weight is positive
        assert W.any(axis=1).all()
        assert (W.max(axis=1) == np.abs(W).max(axis=1)).all()
        assert (fit(X, y, 2, random_state=8).components_ != W).any()

    def test_the_global_generator_is_left_alone(self):
        X, y = data()
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        fit(X, y, 2, random_state=None)
        np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


class TestConvergence:
    def test_small_weights_converge_too(self):
        X, y = load_wine(return_X_y=True)
        assert fit(X, y, max_iter=500).stationarity_ <= 1e-6

    def test_all_of_many_correlated_features(self):
        """The first penalty is too large for all of them, and is lowered from where it leads."""
        X, y = load_diabetes(return_X_y=True)
        selector = fit(X, y)
        assert np.count_nonzero(selector.scores_) == 10
        assert selector.stationarity_ <= 1e-6

    def test_warns(self):
        X, y = data()
        with pytest.warns(
            ConvergenceWarning, match="max_iter=1 iterations: .* Raise max_iter or tol"
        ):
            selector = fit(X, y, alpha=1e-3, max_iter=1)
        assert selector.stationarity_ > 1e-3

    def test_tolerance(self):
        X, y = data()
        loose, tight = (fit(X, y, alpha=1e-3, tol=tol) for tol in (1e-1, 1e-5))
        assert loose.n_iter_ < tight.n_iter_
        assert tight.stationarity_ < 1e-4 < loose.stationarity_


@pytest.mark.parametrize("name", ["classes", "survival", "graph", "indefinite words"])
def test_targets_of_other_kinds(name, rng):
    """`test_joint` has all kinds."""
    X = rng.standard_normal((40, 5))
    options, target, gram = oracle.TARGETS[name]
    selector = fit(X, target(X), 2, n_restarts=3, **options)
    check_solution(selector, X, gram(X))
    assert set(selector.selected_) & {0, 1}


class TestFindsCausalFeatures:
    @pytest.mark.parametrize("n_components", [1, "auto"])
    def test_monotone_relations(self, n_components, rng):
        X = rng.standard_normal((150, 30))
        y = np.tanh(X[:, 3]) - X[:, 17] + 0.7 * X[:, 25] ** 3 / 3 + 0.2 * rng.standard_normal(150)
        assert set(fit(X, y, 3, n_components=n_components).selected_) == {3, 17, 25}

    def test_data1(self):
        """All but the square, which is even: the docstring says so."""
        X, y, causal = make_data1(300, 40, random_state=0)
        found = set(fit(X, y, 4, n_restarts=3).selected_)
        assert found >= set(causal) - {causal[1]}

    def test_classes(self, rng):
        classes = rng.integers(3, size=150)
        X = rng.standard_normal((150, 20))
        X[:, [5, 9]] += 2.5 * np.array([[1, 0], [0, 1], [0, 0]])[classes]
        assert set(fit(X, classes, 2).selected_) == {5, 9}

    def test_a_feature_that_is_even_alone(self, rng):
        X = rng.standard_normal((150, 6))
        selector = fit(X, X[:, 2] ** 2, 1, target=Auto(transform="rank"))
        assert selector.selected_.tolist() == [2]


class TestTables:
    def test_invariances(self, rng):
        """Scales, shifts and the order of samples."""
        X, y = data()
        plain = fit(X, y, 3)
        scale = rng.choice([0.1, 20.0, 1e6], 8)
        rows = rng.permutation(60)
        other = fit((X * scale - 5 * scale)[rows], 3 - y[rows], 3)
        assert other.selected_.tolist() == plain.selected_.tolist()
        np.testing.assert_allclose(other.components_, plain.components_, rtol=1e-3, atol=1e-4)

    def test_order_of_features(self, rng):
        """Not the same starts, but the same answer where it is clear."""
        X, y = data()
        columns = rng.permutation(8)
        other = fit(X[:, columns], y, 2)
        assert set(columns[other.selected_]) == set(fit(X, y, 2).selected_) == {1, 4}

    def test_constant_columns(self):
        X, y = data()
        wide = np.insert(X, [0, 3], 1.0, axis=1)
        with pytest.warns(ConstantFeatureWarning, match="2 of 10 columns do not vary"):
            selector = fit(wide, y, 3)
        plain = fit(X, y, 3)
        kept = np.delete(np.arange(10), [0, 4])
        assert selector.selected_.tolist() == kept[plain.selected_].tolist()
        np.testing.assert_array_equal(selector.components_[:, kept], plain.components_)
        assert not selector.components_[:, [0, 4]].any()
        assert selector.ranking_[[0, 4]].tolist() == [9, 10]

    @pytest.mark.parametrize("alpha", [None, 0.1])
    def test_nothing_varies(self, alpha):
        with pytest.warns(ConstantFeatureWarning):
            selector = fit(np.ones((9, 3)), np.arange(9.0), 2, alpha=alpha)
        assert selector.selected_.size == 0
        assert selector.components_.shape == (1, 3)
        assert selector.stationarity_ == selector.objective_ == 0

    def test_all_features(self):
        X, y = data(d=5)
        selector = fit(X, y)
        assert sorted(selector.selected_) == list(range(5))
        assert np.count_nonzero(selector.scores_) == 5
        check_solution(selector, X, oracles.gaussian_gram(y))

    def test_starts_that_lose_everything_begin_again(self, monkeypatch):
        X, y = data()
        plain = fit(X, y, 2)
        monkeypatch.setattr(hsfs, "_FIRST", 30.0)
        selector = fit(X, y, 2)
        check_solution(selector, X, oracles.gaussian_gram(y))
        assert set(selector.selected_) == set(plain.selected_)

    def test_fewer_than_wanted(self, monkeypatch):
        """Where no penalty that is tried gives all of them weights, the rest go by their pull."""
        monkeypatch.setattr(hsfs, "_LOWERED", 0)
        monkeypatch.setattr(hsfs, "_FIRST", 2.0)
        X, y = data()
        with pytest.warns(FewerFeaturesWarning, match="HSFS chose . features where 8 were asked"):
            selector = fit(X, y, 8)
        found = np.count_nonzero(selector.scores_)
        assert 0 < found < 8
        origins = [feature.origin for feature in selector.result_.features]
        assert origins == ["method"] * found + ["filled"] * (8 - found)
        check_solution(selector, X, oracles.gaussian_gram(y))

    def test_outliers(self):
        X, y = data()
        X[3, 2], X[5, 6] = 1e9, -1e12
        check_solution(fit(X, y, 2), X, oracles.gaussian_gram(y))

    def test_progress(self):
        X, y = data()
        told = []
        HSFS(alpha=0.01, n_restarts=3, random_state=0, n_jobs=1).fit_reporting(
            X, y, lambda *step: told.append(step)
        )
        assert told == [("restarts", done, 3) for done in (1, 2, 3)]
        told.clear()
        HSFS(2, n_restarts=3, random_state=0, n_jobs=1).fit_reporting(
            X, y, lambda *step: told.append(step)
        )
        assert told == [("restarts", done, 0) for done in range(1, len(told) + 1)]
        assert len(told) % 3 == 0


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"n_components": 0}, "n_components=0 must be a whole number >= 1"),
            ({"n_components": None}, "n_components=None must be a whole number >= 1"),
            ({"n_components": "half"}, "n_components='half' is unknown: pass a number, 'auto'"),
            ({"n_components": 9}, "n_components=9 is greater than n_features=8: take at most 8"),
            ({"alpha": 0.0}, "alpha=0.0 must be a finite number > 0"),
            ({"alpha": -1}, "alpha=-1 must be a finite number > 0"),
            ({"alpha": "auto"}, "alpha='auto' must be"),
            ({"width": np.nan}, "width=nan must be a finite number > 0"),
            ({"width": "median"}, "width='median' must be a finite number"),
            ({"tol": 0}, "tol=0 must be a finite number > 0"),
            ({"n_restarts": 0}, "n_restarts=0 must be a whole number >= 1"),
            ({"max_iter": 1.5}, "max_iter=1.5 must be a whole number >= 1"),
            ({"random_state": "seed"}, "random_state='seed' is no source of randomness"),
            ({"random_state": -1}, "random_state=-1 is no source of randomness"),
            ({"random_state": True}, "random_state=True is no source of randomness"),
            ({"target": "sorting"}, "target='sorting' is unknown"),
            ({"n_features_to_select": 9}, "n_features_to_select=9 is greater than n_features=8"),
        ],
    )
    def test_parameters(self, options, words):
        X, y = data()
        with pytest.raises(InvalidInputError, match=words):
            HSFS(**options).fit(X, y)

    def test_too_many_samples(self):
        X = np.arange(10_002.0).reshape(-1, 2)
        with pytest.raises(
            InvalidInputError, match=r"n_samples=5001, but HSFS holds .* at most 5000: .* HSICLasso"
        ):
            HSFS(1).fit(X, X[:, 0])

    def test_too_many_components(self):
        X = np.random.default_rng(0).standard_normal((10, 400))
        with pytest.raises(
            InvalidInputError,
            match="n_samples=10, n_features=400 and 400 components would take too long: pass "
            "n_components=250 or less",
        ):
            HSFS(1, n_components="full").fit(X, X[:, 0])
        X = np.random.default_rng(0).standard_normal((4000, 20))
        with pytest.raises(InvalidInputError, match="pass n_components=15 or less"):
            HSFS(1, n_components="full").fit(X, X[:, 0])

    def test_too_many_features(self):
        X = np.random.default_rng(0).standard_normal((5, 100_001))
        with pytest.raises(
            InvalidInputError, match="would take too long: use HSICLasso or GreedyHSIC"
        ):
            HSFS(1).fit(X, X[:, 0])
