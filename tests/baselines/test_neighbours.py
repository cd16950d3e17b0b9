"""Neighbours and partial correlations against plain sums, known limits and printed figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsiclasso.baselines._neighbour_loops import means_of_nearest, means_on_a_line
from hsiclasso.baselines.neighbours import NeighbourCriterion, rank_gram
from tests import oracles
from tests.baselines.r_random import R


def follow(columns, L, k, features, **options):
    """Partial correlations of features that are added one after the other."""
    criterion = NeighbourCriterion(np.ascontiguousarray(columns, float), L, k, **options)
    found = []
    for feature in features:
        gain = criterion.gains(np.array([feature]))[0]
        criterion.add(feature, gain)
        found.append(gain)
    return found, criterion.explained


def table_of(kind, n, d, rng):
    """Columns without ties, with many, and with a sample that is there twice."""
    if kind == "genotypes":
        return rng.integers(0, 3, (n, d)) - rng.uniform(size=d)
    X = rng.standard_normal((n, d))
    if kind == "copies":
        X[n // 2 :] = X[: n - n // 2]
    return X


class TestLoops:
    @given(st.integers(0, 9999), st.sampled_from(["normal", "genotypes", "copies"]))
    @settings(max_examples=30)
    def test_means_are_those_of_plain_sums(self, seed, kind):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 25))
        k = int(rng.integers(1, n))
        X = table_of(kind, n, 3, rng)
        L = oracles.gaussian_gram(rng.standard_normal(n))
        columns, out = np.ascontiguousarray(X.T), np.empty(3)
        means_on_a_line(columns, L, k, out)
        expected = [oracles.mean_of_nearest(X[:, [j]], L, k) for j in range(3)]
        np.testing.assert_allclose(out, expected, rtol=1e-12)
        distances = (X[:, :1] - X[:, 0]) ** 2
        np.fill_diagonal(distances, np.inf)
        order = np.argsort(distances, axis=1)[:, :-1]
        near = (np.take_along_axis(m, order, axis=1) for m in (distances, L))
        means_of_nearest(columns, order, *near, k, out)
        expected = [oracles.mean_of_nearest(X[:, [0, j]], L, k) for j in range(3)]
        np.testing.assert_allclose(out, expected, rtol=1e-12)

    def test_ties_are_the_mean_over_random_orders(self, rng):
        """The authors break ties at random; columns that differ by little do so too."""
        X = rng.integers(0, 3, (12, 1)).astype(float)
        L = oracles.gaussian_gram(rng.standard_normal(12))
        broken = [
            oracles.mean_of_nearest(X + 1e-3 * rng.standard_normal((12, 1)), L, 2)
            for _ in range(400)
        ]
        error = np.std(broken) / np.sqrt(400)
        assert abs(np.mean(broken) - oracles.mean_of_nearest(X, L, 2)) < 5 * error


class TestPartialCorrelation:
    @pytest.mark.parametrize("kind", ["normal", "genotypes"])
    @pytest.mark.parametrize("k", [1, 4])
    def test_every_step(self, k, kind, rng):
        X = table_of(kind, 30, 4, rng)
        L = oracles.gaussian_gram(X[:, 0] * X[:, 2] + X[:, 1])
        found, explained = follow(X.T, L, k, [2, 0, 3])
        chosen = [[], [2], [2, 0]]
        expected = [
            oracles.partial_correlation(X, L, known, new, k)
            for known, new in zip(chosen, [2, 0, 3], strict=True)
        ]
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        # what is left after each step is multiplied
        assert 1 - explained == pytest.approx(np.prod(1 - np.array(expected)), rel=1e-9)

    def test_of_a_function_is_one_and_of_noise_zero(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(1500, 3))
        L = oracles.gaussian_gram((X[:, 0] + X[:, 1]) % 1.0)
        _, explained = follow(X.T, L, 1, [0, 1])
        assert explained > 0.9
        found, _ = follow(X.T, L, 10, [0])
        assert abs(found[0]) < 0.02  # neither number alone says anything
        found, _ = follow(X.T, L, 10, [2, 0, 1])
        assert abs(found[0]) < 0.02

    def test_nothing_is_left(self):
        """Classes that a feature separates: no further one can add anything."""
        x = np.repeat([0.0, 5.0], 10)
        L = oracles.delta_gram(x)
        criterion = NeighbourCriterion(np.array([x, np.arange(20.0)]), L, 3)
        criterion.add(0, criterion.gains(np.array([0]))[0])
        assert criterion.explained == pytest.approx(1.0)
        gains = criterion.gains(np.array([1]))
        assert gains[0] <= 0
        assert not criterion.worth(np.array([1]), gains)

    def test_threads_change_nothing(self, rng):
        columns = rng.standard_normal((40, 50))
        L = oracles.gaussian_gram(columns[3])
        one, four = (NeighbourCriterion(columns, L, 3, n_threads=n) for n in (1, 4))
        candidates = np.arange(1, 40)
        for criterion in (one, four):
            criterion.add(0, 0.1)
        np.testing.assert_array_equal(one.gains(candidates), four.gains(candidates))


class TestRanks:
    @pytest.mark.parametrize("ties", [False, True])
    def test_one_neighbour_is_the_coefficient_of_azadkia_and_chatterjee(self, ties, rng):
        X = rng.standard_normal((40, 3))
        y = X[:, 0] + X[:, 1] ** 2
        y = y.round() if ties else y
        gram, unrelated = rank_gram(y)
        for chosen in ([1], [1, 0], [2, 1, 0]):
            _, explained = follow(X.T, gram, 1, chosen, unrelated=unrelated)
            assert explained == pytest.approx(oracles.codec(X[:, chosen], y), rel=1e-9)

    def test_only_ranks_matter(self, rng):
        y = rng.standard_normal(20)
        np.testing.assert_array_equal(rank_gram(y)[0], rank_gram(np.exp(y))[0])


class TestPrinted:
    """Figures of the packages' own pages, on the numbers that R draws."""

    def test_random_numbers_of_r(self):
        np.testing.assert_allclose(R(1).runif(3), [0.2655087, 0.3721239, 0.5728534], atol=5e-8)
        np.testing.assert_allclose(R(1).rnorm(3), [-0.6264538, 0.1836433, -0.8356286], atol=5e-8)

    def test_kernel_partial_correlation(self):
        """README of the R package KPC: `KPCgraph` and `KPCCME` for y = (x + z) mod 1."""
        draw = R(1)
        x, z = draw.runif(1000), draw.runif(1000)
        y = (x + z) % 1
        L = np.exp(-5 * (y[:, None] - y) ** 2)
        found, _ = follow([x, z], L, 1, [0, 1])
        assert found[1] == pytest.approx(0.9725613, abs=5e-8)
        K = np.exp(-5 * (x[:, None] - x) ** 2)
        K_with = np.exp(-2 * ((x[:, None] - x) ** 2 + (z[:, None] - z) ** 2))
        epsilon = 1e-3 / 1000**0.49
        assert oracles.rkhs_partial_correlation(K, K_with, L, epsilon) == pytest.approx(
            0.6854751, abs=5e-8
        )

    def test_targets_that_are_rotations(self):
        """The same page: y is a rotation by x and then by z, compared by its angle."""
        draw = R(1)
        x, z = draw.rnorm(1000), draw.rnorm(1000)
        zero, one = np.zeros(1000), np.ones(1000)
        about_x = [[one, zero, zero], [zero, np.cos(x), -np.sin(x)], [zero, np.sin(x), np.cos(x)]]
        about_z = [[np.cos(z), -np.sin(z), zero], [np.sin(z), np.cos(z), zero], [zero, zero, one]]
        turned = np.einsum("ijn,jkn->nik", np.array(about_x), np.array(about_z)).reshape(1000, 9)
        angle = np.arccos(np.clip((turned @ turned.T - 1) / 2, 0, 1))
        np.fill_diagonal(angle, 0.0)
        with np.errstate(invalid="ignore"):
            L = np.where(angle == 0, np.pi, angle * (np.pi - angle) / np.sin(angle))
        found, _ = follow([x, z], L, 1, [0, 1])
        assert found[1] == pytest.approx(0.8547098, abs=5e-8)

    def test_forward_steps_of_ranks(self):
        """Vignette of the R package FORD: `foci`, told not to stop, with the seed 42."""
        X = R(42).rnorm(200_000).reshape(100, 2000)
        y = X[0] * X[1] + np.sin(X[0] * X[2]) + X[3] ** 2
        columns = (X - X.mean(axis=1)[:, None]) / X.std(axis=1)[:, None]
        gram, unrelated = rank_gram(y)
        criterion = NeighbourCriterion(columns, gram, 1, unrelated=unrelated)
        left, shares = np.arange(100), []
        for feature in (3, 0, 1, 2, 65):
            gains = criterion.gains(left)
            assert left[np.argmax(gains)] == feature
            criterion.add(feature, gains.max())
            shares.append(criterion.explained)
            left = left[left != feature]
        printed = [0.3356423, 0.4027284, 0.6226254, 0.7619649, 0.6900384]
        np.testing.assert_allclose(shares, printed, atol=5e-8)
