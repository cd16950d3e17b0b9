"""Greedy HSIC, each step against all its candidates by the plain formulas."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from hsiclasso import (
    Auto,
    ConstantFeatureWarning,
    Gaussian,
    InvalidInputError,
    Survival,
    make_data1,
    make_data2,
)
from hsiclasso.baselines import greedy
from hsiclasso.baselines.greedy import GreedyHSIC
from tests import oracles
from tests.baselines import oracle_joint as oracle

SETTINGS = [
    {"estimator": "biased", "width": 1.0, "retune": True},
    {"estimator": "unbiased", "width": 0.7, "retune": True},
    {"estimator": "unbiased", "width": 1.5, "retune": False},
]
DIRECTIONS = ["forward", "backward"]


def selector_of(size, options, **more):
    return GreedyHSIC(
        size,
        estimator=options["estimator"],
        width=options["width"],
        retune_width=options["retune"],
        n_jobs=1,
        **more,
    )


def data(seed=0, n=40, d=8):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 10, d) + rng.standard_normal(d)
    Z = oracles.standardised(X)
    return X, np.sin(2 * Z[:, 1]) + Z[:, 3] * Z[:, 4] + 0.2 * rng.standard_normal(n)


def check_consistent(selector, d):
    """All features are ranked once, and scores do not rise along the ranking."""
    assert sorted(selector.ranking_) == list(range(1, d + 1))
    by_rank = np.argsort(selector.ranking_)
    assert (np.diff(selector.scores_[by_rank]) <= 0).all()
    assert selector.selected_.tolist() == by_rank[: selector.selected_.size].tolist()
    assert selector.hsic_.size == selector.selected_.size
    assert [f.score for f in selector.result_.features] == list(
        selector.scores_[selector.selected_]
    )
    assert all(feature.origin == "method" for feature in selector.result_.features)


class TestForward:
    @pytest.mark.parametrize(
        ("options", "seed"), list(zip(SETTINGS, (0, 1, 5), strict=True)), ids=str
    )
    def test_every_step_is_the_best_of_its_candidates(self, options, seed):
        """A greedy step is an exhaustive search over the candidates of the step."""
        X, y = data(seed)
        L = oracles.gaussian_gram(y)
        selector = selector_of(4, options).fit(X, y)
        chosen, values, after = oracle.forward(X, L, 4, **options)
        assert selector.selected_.tolist() == chosen
        np.testing.assert_allclose(selector.hsic_, values, rtol=1e-7)
        rest = sorted(after, key=lambda j: -after[j])
        assert np.argsort(selector.ranking_)[4:].tolist() == rest
        check_consistent(selector, 8)

    @pytest.mark.parametrize("options", SETTINGS[:2], ids=str)
    def test_scores_are_what_a_feature_adds(self, options):
        X, y = data(1)
        L = oracles.gaussian_gram(y)
        selector = selector_of(3, options).fit(X, y)
        chosen, values, after = oracle.forward(X, L, 3, **options)
        rest = sorted(after, key=lambda j: -after[j])
        gains = [*np.diff([0, *values]), *[after[j] - values[-1] for j in rest]]
        capped = np.minimum.accumulate(gains)
        np.testing.assert_allclose(selector.scores_[[*chosen, *rest]], capped, rtol=1e-6, atol=1e-9)

    def test_scores_are_capped_where_features_matter_together(self, rng):
        """The second feature of a product adds more than the first, but is no better than it."""
        X = rng.standard_normal((150, 4))
        selector = GreedyHSIC(2).fit(X, (X[:, 0] * X[:, 3] > 0).astype(int))
        assert set(selector.selected_) == {0, 3}
        first, second = selector.hsic_[0], selector.hsic_[1] - selector.hsic_[0]
        assert second > 2 * first
        np.testing.assert_array_equal(selector.scores_[selector.selected_], [first, first])
        check_consistent(selector, 4)

    def test_all_features(self):
        X, y = data()
        selector = GreedyHSIC(8).fit(X, y)
        chosen, values, after = oracle.forward(X, oracles.gaussian_gram(y), 8)
        assert selector.selected_.tolist() == chosen
        np.testing.assert_allclose(selector.hsic_, values, rtol=1e-7)
        assert not after
        check_consistent(selector, 8)

    def test_a_smaller_number_is_a_prefix(self):
        X, y = data()
        whole = GreedyHSIC(6).fit(X, y)
        for size in range(1, 6):
            part = GreedyHSIC(size).fit(X, y)
            assert part.selected_.tolist() == whole.selected_[:size].tolist()
            np.testing.assert_array_equal(part.hsic_, whole.hsic_[:size])


class TestBackward:
    @pytest.mark.parametrize(
        ("options", "drop"), list(zip(SETTINGS, (0.4, 0.0, 0.1), strict=True)), ids=str
    )
    def test_every_round_drops_the_least_missed(self, options, drop):
        X, y = data(2)
        L = oracles.gaussian_gram(y)
        selector = selector_of(3, options, direction="backward", drop=drop).fit(X, y)
        ranked = oracle.backward(X, L, 3, drop, **options)
        assert np.argsort(selector.ranking_).tolist() == ranked
        expected = [oracle.subset_hsic(X, L, ranked[:size], **options) for size in (1, 2, 3)]
        np.testing.assert_allclose(selector.hsic_, expected, rtol=1e-7)
        check_consistent(selector, 8)

    def test_scores_are_what_is_lost_without_a_feature(self):
        X, y = data(3)
        L = oracles.gaussian_gram(y)
        selector = GreedyHSIC(2, direction="backward", drop=0).fit(X, y)
        ranked = oracle.backward(X, L, 2, 0.0)
        values = [oracle.subset_hsic(X, L, ranked[:size]) for size in range(9)]
        capped = np.minimum.accumulate(np.diff(values))
        np.testing.assert_allclose(selector.scores_[ranked], capped, rtol=1e-6, atol=1e-10)

    @pytest.mark.parametrize(
        ("size", "wanted", "drop", "expected"),
        [
            (100, 10, 0.1, 10), (15, 10, 0.1, 1), (11, 10, 0.5, 1), (12, 10, 0.5, 2),
            (10, 10, 0.5, 1), (3, 10, 0.5, 1), (50, 1, 0.0, 1), (50, 1, 0.99, 49), (2, 1, 0.1, 1),
        ],
    )  # fmt: skip
    def test_number_dropped(self, size, wanted, drop, expected):
        assert greedy._n_dropped(size, wanted, drop) == expected

    def test_shares_are_faster_and_may_differ(self):
        """Dropping half at once looks once where one by one looks again after each feature."""
        found = set()
        for seed in range(6):
            X, y = data(seed)
            slow = GreedyHSIC(2, direction="backward", drop=0).fit(X, y)
            fast = GreedyHSIC(2, direction="backward", drop=0.9).fit(X, y)
            found.add(slow.ranking_.tolist() == fast.ranking_.tolist())
        assert False in found

    def test_sees_features_that_matter_only_together(self):
        """No feature of an exclusive or is seen alone, but both are missed when one goes."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((150, 8))
        y = (X[:, 2] * X[:, 6] > 0).astype(int)
        backward = GreedyHSIC(2, direction="backward").fit(X, y)
        assert set(backward.selected_) == {2, 6}


@pytest.mark.parametrize("options", SETTINGS, ids=str)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_equals_exhaustive_search_for_two_of_eight(direction, options):
    """Where the best feature alone is one of the best two, forward must find both."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 8))
    y = X[:, 5] - np.tanh(2 * X[:, 2])
    L = oracles.gaussian_gram(y)
    best = oracle.best_subset(X, L, 2, **options)
    assert oracle.best_subset(X, L, 1, **options)[0] in best
    selector = selector_of(2, options, direction=direction).fit(X, y)
    assert set(selector.selected_) == set(best) == {2, 5}
    value = oracle.subset_hsic(X, L, best, **options)
    assert selector.hsic_[-1] == pytest.approx(value, rel=1e-7)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", ["classes", "survival", "graph"])
def test_targets_of_other_kinds(name, direction, rng):
    """`test_joint` has all kinds."""
    X = rng.standard_normal((30, 5))
    options, target, gram = oracle.TARGETS[name]
    selector = GreedyHSIC(2, direction=direction, drop=0.1, **options).fit(X, target(X))
    L = gram(X)
    if direction == "forward":
        assert selector.selected_.tolist() == oracle.forward(X, L, 2)[0]
    else:
        assert np.argsort(selector.ranking_).tolist() == oracle.backward(X, L, 2)
    expected = [oracle.subset_hsic(X, L, selector.selected_[:k]) for k in (1, 2)]
    np.testing.assert_allclose(selector.hsic_, expected, rtol=1e-6)
    assert selector.result_.target == name


class TestFindsCausalFeatures:
    @pytest.mark.parametrize(
        ("direction", "estimator"), [("forward", "unbiased"), ("backward", "biased")]
    )
    def test_data1(self, direction, estimator):
        X, y, causal = make_data1(300, 40, random_state=1)
        selector = GreedyHSIC(4, direction=direction, estimator=estimator).fit(X, y)
        assert set(selector.selected_) == set(causal)

    def test_data2(self):
        X, y, causal = make_data2(300, 40, random_state=0)
        selector = GreedyHSIC(3, target=Auto(transform="rank")).fit(X, y)
        assert set(selector.selected_) == set(causal)

    @pytest.mark.parametrize("direction", DIRECTIONS)
    def test_graph_between_samples(self, direction, rng):
        X = rng.standard_normal((120, 15))
        near = np.abs(X[:, [3]] - X[:, 3]) + np.abs(X[:, [8]] - X[:, 8]) < 0.7
        links = sparse.csr_array(np.triu(near, 1).astype(float))
        selector = GreedyHSIC(2, direction=direction, target="graph")
        assert set(selector.fit(X, links + links.T).selected_) == {3, 8}

    def test_survival(self, rng):
        X = rng.standard_normal((200, 12))
        time = rng.exponential(np.exp(1.5 * X[:, 2] + 1.5 * np.abs(X[:, 7])))
        end = rng.exponential(np.quantile(time, 0.8), 200)
        y = (np.minimum(time, end), time <= end)
        selector = GreedyHSIC(2, target=Survival(transform="rank")).fit(X, y)
        assert set(selector.selected_) == {2, 7}


class TestWidth:
    @pytest.mark.parametrize(("direction", "retune"), [("forward", False), ("backward", True)])
    def test_median(self, direction, retune):
        X, y = data(4)
        selector = GreedyHSIC(
            3, width="median", retune_width=retune, direction=direction
        ).fit(X, y)  # fmt: skip
        width = oracle.median_width(X)
        assert selector.width_ == pytest.approx(width, rel=1e-12)
        other = GreedyHSIC(3, width=width, retune_width=retune, direction=direction).fit(X, y)
        np.testing.assert_allclose(selector.hsic_, other.hsic_, rtol=1e-10)
        assert selector.ranking_.tolist() == other.ranking_.tolist()

    def test_median_leaves_constant_columns_out(self):
        X, y = data(4)
        wide = np.insert(X, 2, 7.0, axis=1)
        with pytest.warns(ConstantFeatureWarning):
            selector = GreedyHSIC(3, width="median").fit(wide, y)
        assert selector.width_ == pytest.approx(oracle.median_width(X), rel=1e-12)

    def test_number_is_kept(self):
        X, y = data()
        assert GreedyHSIC(2, width=2).fit(X, y).width_ == 2.0

    def test_options_change_the_answer(self):
        X, y = data(0, n=30, d=12)
        found = {
            name: tuple(GreedyHSIC(6, **options).fit(X, y).ranking_)
            for name, options in {
                "plain": {}, "narrow": {"width": 0.3}, "median": {"width": "median"},
                "fixed": {"retune_width": False}, "unbiased": {"estimator": "unbiased"},
                "backward": {"direction": "backward"}, "rank": {"target": Auto(transform="rank")},
                "y width": {"target": Auto(Gaussian(0.2))}, "y kernel": {"target": Auto("linear")},
            }.items()
        }  # fmt: skip
        for name in set(found) - {"plain"}:
            assert found[name] != found["plain"], name


class TestInvariances:
    @pytest.mark.parametrize("direction", DIRECTIONS)
    @given(seed=st.integers(0, 500))
    @settings(max_examples=10)
    def test_order_of_features_and_samples_shifts_and_scales(self, direction, seed):
        X, y = data(seed, n=25, d=6)
        rng = np.random.default_rng(seed)
        plain = GreedyHSIC(3, direction=direction).fit(X, y)
        columns, rows = rng.permutation(6), rng.permutation(25)
        scale = rng.choice([-3.0, 0.1, 1e5], 6)
        other = GreedyHSIC(3, direction=direction).fit(
            (X * scale + 10 * scale)[rows][:, columns], 5 - 2 * y[rows]
        )
        assert columns[other.selected_].tolist() == plain.selected_.tolist()
        np.testing.assert_allclose(other.hsic_, plain.hsic_, rtol=1e-7)
        np.testing.assert_allclose(other.scores_, plain.scores_[columns], rtol=1e-5, atol=1e-9)

    @pytest.mark.parametrize("direction", DIRECTIONS)
    def test_of_copies_the_first_is_better(self, direction):
        X, y = data(0)
        X = np.c_[X, X[:, ::-1], -X, 2 * X]  # signs and powers of two do not round
        best = {
            min(np.flatnonzero((np.abs(Z) == np.abs(Z[:, [k]])).all(axis=0)))
            for Z in [oracles.standardised(X).round(9)]
            for k in range(X.shape[1])
        }
        assert best == set(range(8))
        selector = GreedyHSIC(1, direction=direction, drop=0.1).fit(X, y)
        assert selector.selected_[0] < 8


class TestTables:
    @pytest.mark.parametrize("direction", DIRECTIONS)
    def test_constant_columns_come_last(self, direction):
        X, y = data()
        wide = np.insert(X, [0, 3], 1.0, axis=1)
        with pytest.warns(ConstantFeatureWarning, match="2 of 10 columns do not vary"):
            selector = GreedyHSIC(8, direction=direction).fit(wide, y)
        plain = GreedyHSIC(8, direction=direction).fit(X, y)
        kept = np.delete(np.arange(10), [0, 4])
        assert selector.selected_.tolist() == kept[plain.selected_].tolist()
        assert selector.ranking_[[0, 4]].tolist() == [9, 10]
        np.testing.assert_array_equal(selector.hsic_, plain.hsic_)
        check_consistent(selector, 10)

    @pytest.mark.parametrize("direction", DIRECTIONS)
    def test_nothing_varies(self, direction):
        with pytest.warns(ConstantFeatureWarning):
            selector = GreedyHSIC(1, direction=direction).fit(np.ones((9, 3)), np.arange(9.0))
        assert selector.selected_.size == selector.hsic_.size == 0
        assert selector.scores_.tolist() == [0, 0, 0]

    @pytest.mark.parametrize("direction", DIRECTIONS)
    def test_one_feature(self, direction):
        X, y = data()
        selector = GreedyHSIC(1, direction=direction).fit(X[:, [1]], y)
        expected = oracle.subset_hsic(X, oracles.gaussian_gram(y), [1])
        assert selector.hsic_ == pytest.approx([expected], rel=1e-7)
        assert selector.scores_ == pytest.approx([expected], rel=1e-7)

    @pytest.mark.parametrize("direction", DIRECTIONS)
    def test_outliers(self, direction):
        X, y = data()
        X[3, 2], X[5, 6] = 1e9, -1e12
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            selector = GreedyHSIC(3, direction=direction).fit(X, y)
        ranked = oracle.forward(X, oracles.gaussian_gram(y), 3)[0]
        if direction == "backward":
            ranked = oracle.backward(X, oracles.gaussian_gram(y), 3)[:3]
        assert selector.selected_.tolist() == ranked

    def test_progress(self):
        X, y = data()
        told = []
        GreedyHSIC(3).fit_reporting(X, y, lambda *step: told.append(step))
        assert told == [("features", 1, 3), ("features", 2, 3), ("features", 3, 3)]
        told.clear()
        GreedyHSIC(3, direction="backward", drop=0.3).fit_reporting(
            X, y, lambda *step: told.append(step)
        )
        assert told == [("features dropped", done, 8) for done in (2, 3, 4, 5, 6, 7, 8)]


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"direction": "up"}, "direction='up' is unknown: choose 'forward' or 'backward'"),
            ({"estimator": "best"}, "estimator='best' is unknown: choose 'biased' or 'unbiased'"),
            ({"width": 0.0}, "width=0.0 must be a finite number > 0"),
            ({"width": np.inf}, "width=inf must be a finite number > 0"),
            ({"width": True}, "width=True must be"),
            ({"width": None}, "width=None must be"),
            ({"width": "mean"}, "width='mean' is unknown: pass a number or 'median'"),
            ({"retune_width": 1}, "retune_width=1 must be True or False"),
            ({"direction": "backward", "drop": 1.0}, "drop=1.0, but the share of features"),
            ({"direction": "backward", "drop": -0.1}, "drop=-0.1, but the share"),
            ({"direction": "backward", "drop": np.nan}, "drop=nan, but the share"),
            ({"direction": "backward", "drop": "few"}, "drop='few', but the share"),
            ({"direction": "backward", "drop": True}, "drop=True, but the share"),
            ({"drop": 0.2}, "drop=0.2 has no meaning with direction='forward': leave it out"),
            ({"target": "sorting"}, "target='sorting' is unknown"),
            ({"target": Auto("cubic")}, "kernel of the target='cubic'"),
            ({"n_features_to_select": 9}, "n_features_to_select=9 is greater than n_features=8"),
        ],
    )
    def test_parameters(self, options, words):
        X, y = data()
        with pytest.raises(InvalidInputError, match=words.replace("(", r"\(")):
            GreedyHSIC(**options).fit(X, y)

    def test_too_many_samples(self):
        X = np.arange(10_001.0)[:, None]
        with pytest.raises(
            InvalidInputError,
            match=r"n_samples=10001, but Greedy HSIC holds matrices .* at most 10000: take some "
            r"of the rows, or HSICLasso or HSICRanking",
        ):
            GreedyHSIC(1).fit(X, X[:, 0])

    def test_three_samples(self):
        X, y = np.random.default_rng(0).standard_normal((3, 4)), np.array([0.1, 0.5, 2.0])
        assert GreedyHSIC(2).fit(X, y).selected_.size == 2
        with pytest.raises(InvalidInputError, match="the unbiased estimator needs 4 or more"):
            GreedyHSIC(2, estimator="unbiased").fit(X, y)

    def test_backward_with_a_kernel_that_sees_nothing(self):
        X, y = data(0, n=30, d=100)
        with pytest.raises(
            InvalidInputError, match=r"width=0.5 is so small for 100 features .* retune_width=True"
        ):
            GreedyHSIC(5, direction="backward", width=0.5, retune_width=False).fit(X, y)
        GreedyHSIC(5, direction="backward", width=0.5).fit(X, y)
        GreedyHSIC(5, width=0.5, retune_width=False).fit(X, y)

    def test_backward_with_a_kernel_that_sees_little(self):
        """Kernels of about 1e-7 between any two samples still decide."""
        X, y = data(0, n=30, d=12)
        options = {"estimator": "unbiased", "width": 0.35, "retune": False}
        selector = selector_of(3, options, direction="backward").fit(X, y)
        ranked = oracle.backward(X, oracles.gaussian_gram(y), 3, **options)
        assert np.argsort(selector.ranking_).tolist() == ranked
        gram = oracles.joint_gram(oracles.standardised(X), 0.35)
        assert np.max(gram - np.eye(30)) < 1e-6

    def test_median_of_equal_samples(self):
        X = np.zeros((12, 2))
        X[0], X[1] = 1.0, 2.0
        with pytest.raises(InvalidInputError, match="width='median', but more than half"):
            GreedyHSIC(1, width="median").fit(X, np.arange(12.0))

    def test_additive_affinity(self):
        X, y = data()
        with pytest.raises(InvalidInputError, match="Nothing of the target is left"):
            GreedyHSIC(1, target="affinity").fit(X, y[:, None] + y)
