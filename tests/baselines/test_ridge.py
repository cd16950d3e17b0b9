"""Regression of the target, partial correlations and conditional HSIC against plain formulas."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.baselines import ridge as module
from hsiclasso.baselines.ridge import ConditionalHSIC, Ridge, RidgeCriterion
from tests import oracles

RIDGE = Ridge(0.8, 0.01)
ALL = np.arange(5)


@pytest.fixture(name="X")
def table(rng):
    return oracles.standardised(rng.standard_normal((30, 5)))


@pytest.fixture(name="L")
def target(X):
    return oracles.gaussian_gram(np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2])


def columns_of(X):
    return np.ascontiguousarray(X.T)


def gram_of(X, chosen):
    """The kernel of the chosen columns; zeros if there are none."""
    if not chosen:
        return np.zeros((len(X), len(X)))
    return oracles.joint_gram(X[:, chosen], RIDGE.width * np.sqrt(len(chosen)))


def conditional(X, L, level=0.05, seed=0, **options):
    rng = np.random.default_rng(seed)
    return ConditionalHSIC(columns_of(X), L, RIDGE, level=level, rng=rng, **options)


@pytest.mark.parametrize("chosen", [[], [3], [0, 2, 1]])
class TestGains:
    def test_partial_correlation(self, chosen, X, L):
        criterion = RidgeCriterion(columns_of(X), L, RIDGE)
        for feature in chosen:
            criterion.add(feature, 0.0)
        expected = [
            oracles.rkhs_partial_correlation(gram_of(X, chosen), gram_of(X, [*chosen, j]), L, 0.01)
            for j in ALL
        ]
        np.testing.assert_allclose(criterion.gains(ALL), expected, rtol=1e-7, atol=1e-15)

    def test_conditional_hsic(self, chosen, X, L):
        criterion = conditional(X, L)
        for feature in chosen:
            criterion.add(feature, 0.0)
        expected = [
            oracles.conditional_hsic(gram_of(X, [j]), gram_of(X, chosen), L, 0.01) for j in ALL
        ]
        np.testing.assert_allclose(criterion.gains(ALL), expected, rtol=1e-9)

    def test_share_at_samples_left_out(self, chosen, X, L):
        criterion = RidgeCriterion(columns_of(X), L, RIDGE)
        for feature in chosen:
            criterion.add(feature, 0.0)
        errors = [
            oracles.left_out_error(gram_of(X, features), L, 0.01) for features in ([], chosen)
        ]
        assert criterion.explained == pytest.approx(1 - errors[1] / errors[0], abs=1e-9)


def test_without_selected_features_it_is_hsic(X, L):
    K = gram_of(X, [1])
    expected = oracles.biased_hsic(K, L)
    assert conditional(X, L).gains(np.array([1])) == pytest.approx([expected], rel=1e-10)


def test_partial_correlations_are_worth_it_if_the_error_falls(X, L):
    criterion = RidgeCriterion(columns_of(X), L, RIDGE)
    for features in ([0, 1, 2, 3, 4], [3], [4]):
        candidates = np.array(features)
        gains = criterion.gains(candidates)
        best = features[np.argmax(gains)]
        falls = oracles.left_out_error(gram_of(X, [best]), L, 0.01) < oracles.left_out_error(
            gram_of(X, []), L, 0.01
        )
        assert criterion.worth(candidates, gains) == falls
        assert criterion.explained == 0.0


class TestPermutations:
    def test_level_without_any_dependence(self):
        """The best of ten candidates is worth it by chance in a tenth of the draws."""
        worth = 0
        for seed in range(300):
            rng = np.random.default_rng(seed)
            X = oracles.standardised(rng.standard_normal((12, 10)))
            criterion = conditional(X, oracles.gaussian_gram(rng.standard_normal(12)), 0.1, seed)
            worth += criterion.worth(np.arange(10), criterion.gains(np.arange(10)))
        assert abs(worth / 300 - 0.1) < 3.5 * np.sqrt(0.09 / 300)

    def test_as_many_permutations_as_the_level_needs(self, X, L):
        for level, number in ((0.05, 19), (0.5, 1), (0.01, 99), (0.3, 3)):
            assert conditional(X, L, level)._n_permutations == number

    def test_interactions_with_selected_features_are_seen(self):
        rng = np.random.default_rng(0)
        X = oracles.standardised(rng.standard_normal((200, 5)))
        criterion = conditional(X, oracles.gaussian_gram(np.sign(X[:, 0] * X[:, 1])))
        others = np.array([1, 2, 3, 4])
        alone = criterion.gains(others)
        criterion.add(0, 0.0)
        gains = criterion.gains(others)
        assert gains[0] > 4 * gains[1:].max()
        assert gains[0] > 4 * alone[0]
        assert criterion.worth(others, gains)


def test_neither_blocks_nor_threads_change_results(X, L, monkeypatch):
    plain = [RidgeCriterion(columns_of(X), L, RIDGE), conditional(X, L)]
    monkeypatch.setattr(module, "_ENTRIES", 1)
    monkeypatch.setattr(module, "_ROWS", 7)
    small = [RidgeCriterion(columns_of(X), L, RIDGE, n_threads=3), conditional(X, L, n_threads=3)]
    for one, other in zip(plain, small, strict=True):
        one.add(0, 0.0)
        other.add(0, 0.0)
        np.testing.assert_allclose(one.gains(ALL[1:]), other.gains(ALL[1:]), rtol=1e-10)
