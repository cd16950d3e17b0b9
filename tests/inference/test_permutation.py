"""The permutation null without permuting: against all permutations, and against exact tails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hsiclasso.errors import InvalidInputError
from hsiclasso.inference import (
    Spectrum,
    permutation_moments,
    permutation_p_value,
    permutation_skewness,
)
from hsiclasso.inference.permutation import _POOLED
from hsiclasso.inference.spectrum import third_sums
from tests import oracles


def rows_of(x, rank=8):
    """Rows of the centred Gaussian Gram matrix of a column."""
    values, vectors = np.linalg.eigh(oracles.centre(oracles.gaussian_gram(x)))
    return (vectors * np.sqrt(np.maximum(values, 0))).T[::-1][:rank]


def without_excess(values, n):
    """A spectrum whose permutation variance is that of random rotations."""
    values = np.asarray(values, dtype=float)
    trace, norm2 = values.sum(), np.square(values).sum()
    return Spectrum(values, trace, norm2, (n - 1) * (trace**2 + 2 * norm2) / (n * (n + 1)))


def rotation_sd(lam, mu, N):
    """Standard deviation of sum_i lam_i R_i."""
    lam, mu = np.asarray(lam), np.asarray(mu)
    variance = 2 * (lam**2).sum() * (N * (mu**2).sum() - mu.sum() ** 2)
    return np.sqrt(variance / (N * N * (N + 2)))


@pytest.mark.parametrize("n", [4, 5, 6, 7])
@pytest.mark.parametrize("draw", ["normal", "standard_cauchy"])
def test_moments_are_those_of_all_permutations(n, draw, rng):
    f, g = (getattr(rng, draw)(size=(2, n)) for _ in range(2))
    f -= f.mean(axis=1, keepdims=True)
    g -= g.mean(axis=1, keepdims=True)
    every = oracles.permuted_statistics(f.T @ f, g.T @ g)
    mean, variance = permutation_moments(Spectrum.of(f), Spectrum.of(g), n)
    assert mean == pytest.approx(every.mean(), rel=1e-12)
    assert variance == pytest.approx(every.var(), rel=1e-10)
    skewness = permutation_skewness(Spectrum.of(f), Spectrum.of(g), n)
    assert skewness == pytest.approx(stats.skew(every), rel=1e-8)


@pytest.mark.parametrize(("r", "n"), [(1, 5), (3, 20), (9, 12)])
def test_third_sums_are_those_of_the_matrix(r, n, rng):
    rows = rng.normal(size=(2, r, n))
    found = third_sums(rows, rows @ rows.transpose(0, 2, 1))
    for F, sums in zip(rows, found, strict=True):
        K = F.T @ F
        d = np.diag(K)
        np.testing.assert_allclose(
            sums, [(d**3).sum(), (K**3).sum(), d @ np.diag(K @ K), d @ K @ d]
        )


def test_p_values_are_those_of_all_permutations_of_few_samples(rng):
    """With 7 samples there are only 5040 values: the tail is right to a few percent of 1."""
    f, g = rows_of(rng.normal(size=7)), rows_of(rng.normal(size=7))
    every = oracles.permuted_statistics(f.T @ f, g.T @ g)
    p = permutation_p_value(every[:, None].T, Spectrum.of(f), Spectrum.of(g), 7)[0]
    share = stats.rankdata(-every, "max") / every.size
    assert np.abs(p - share).max() < 0.06


def test_tail_is_that_of_half_a_million_permutations(rng):
    n, m = 100, 500_000
    f, g = rows_of(rng.normal(size=n), 5), rows_of(rng.uniform(size=n), 4)
    orders = np.tile(np.arange(n), (20_000, 1))
    values = []
    for _ in range(m // 20_000):
        rng.permuted(orders, axis=1, out=orders)
        cross = f @ g[:, orders].transpose(1, 2, 0)
        values.append(np.square(cross).sum(axis=(1, 2)))
    values = np.sort(np.concatenate(values))[::-1]
    for share, tolerance in ((0.3, 0.05), (0.05, 0.05), (1e-2, 0.06), (1e-3, 0.15), (1e-4, 0.4)):
        at = values[int(share * m)]
        p = permutation_p_value(at, Spectrum.of(f), Spectrum.of(g), n)
        assert p == pytest.approx(share, rel=tolerance)


@pytest.mark.parametrize("n", [8, 30, 300])
@pytest.mark.parametrize(
    ("lam", "mu"), [([1.0], [2.0]), ([3.0, 1.0, 0.2], [1.0, 0.4]), ([1.0, 1.0], [1.0, 1.0, 0.5])]
)
def test_tail_is_the_double_saddlepoint(n, lam, mu):
    N, lam, mu = n - 1, np.array(lam), np.array(mu)
    feature, target = without_excess(lam, n), without_excess(mu, n)
    mean, sd = feature.trace * target.trace / N, rotation_sd(lam, mu, N)
    exact = np.sqrt(permutation_moments(feature, target, n)[1])
    for t in mean * np.array([0.3, 0.7, 1.4, 2.0]):
        if abs(t - mean) > 0.06 * sd and t < lam.sum() * mu[0]:
            statistic = mean + (t - mean) / sd * exact
            found = permutation_p_value(statistic, feature, target, n)
            assert found == pytest.approx(oracles.rotation_tail(t, lam, mu, N), rel=1e-6)


@pytest.mark.parametrize("n", [10, 50, 1000])
def test_two_numbers_are_correlated_as_pearson_says(n):
    """Of one eigenvalue each, T is a squared correlation, which has a beta distribution."""
    one = without_excess([1.0], n)
    exact = np.array([0.9, 0.5, 0.2, 0.05, 1e-2, 1e-4, 1e-6])
    r2 = stats.beta.isf(exact, 0.5, (n - 2) / 2)
    found = permutation_p_value(r2[None], one, one, n)[0]
    np.testing.assert_allclose(found, exact, rtol=0.14)


@pytest.mark.parametrize(
    ("lam", "mu"),
    [([1, 0.5, 0.2, 0.05, 0.01], [1, 0.3, 0.1]), ([1.0] * 10, [1, 0.5]), ([1, 1], [1, 1])],
)
def test_with_many_samples_it_is_the_weighted_sum_of_chi_squares(lam, mu):
    n = 10**7
    feature, target = without_excess(lam, n), without_excess(mu, n)
    weights = np.outer(lam, mu).ravel()
    for z in (-0.6, -0.2, 0.0, 0.5, 2.0, 4.0, 6.0):
        t = weights.sum() + z * np.sqrt(2 * np.square(weights).sum())
        found = permutation_p_value(t / (n - 1), feature, target, n)
        assert found == pytest.approx(oracles.chi2_tail(t, weights), rel=0.08)


def test_pooled_eigenvalues_keep_the_tail():
    """A slowly falling spectrum: the small eigenvalues become one with a multiplicity."""
    n, lam = 10**6, 1 / np.arange(1.0, 60) ** 2
    assert (lam < _POOLED).sum() > 40
    feature, target = without_excess(lam, n), without_excess([1.0], n)
    for z in (0.5, 2.0, 5.0):
        t = lam.sum() + z * np.sqrt(2 * np.square(lam).sum())
        found = permutation_p_value(t / (n - 1), feature, target, n)
        assert found == pytest.approx(oracles.chi2_tail(t, lam), rel=0.08)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(5, 60), power=st.floats(-3, 3))
def test_p_values_are_monotone_and_invariant(seed, n, power):
    rng = np.random.default_rng(seed)
    f, g = (rng.normal(size=(rng.integers(1, 4), n)) for _ in range(2))
    f -= f.mean(axis=1, keepdims=True)
    g -= g.mean(axis=1, keepdims=True)
    feature, target = Spectrum.of(f), Spectrum.of(g)
    mean, variance = permutation_moments(feature, target, n)
    most = feature.eigenvalues @ np.pad(target.eigenvalues, (0, 3))[: len(f)]
    statistic = np.sort(
        np.append(rng.uniform(0, most, 40), mean + np.sqrt(variance) * 0.2 * rng.normal(size=9))
    )
    p = permutation_p_value(statistic[None], feature, target, n)[0]
    assert ((p > 0) & (p <= 1)).all()
    assert (np.diff(p) <= 1e-9).all()
    scale, order = 10.0**power, rng.permutation(n)
    other = Spectrum.of(f[:, order] * np.sqrt(scale))
    np.testing.assert_allclose(
        permutation_p_value(scale * statistic[None], other, target, n)[0], p, rtol=1e-5
    )
    turned = Spectrum.of(g[:, order] * scale)
    np.testing.assert_allclose(
        permutation_p_value(scale**2 * statistic[None], feature, turned, n)[0], p, rtol=1e-5
    )


def test_many_features_at_once_are_as_one_by_one(rng):
    n = 40
    f = rng.normal(size=(5, 3, n))
    f -= f.mean(axis=2, keepdims=True)
    f[1, 2] = 0  # a matrix of lower rank
    g = rng.normal(size=(5, 2, n))
    g -= g.mean(axis=2, keepdims=True)
    statistic = np.square(f @ g.transpose(0, 2, 1)).sum(axis=(1, 2))[:, None] * [1.0, 3.0]
    sizes = np.array([40, 30, 20, 10, 5])
    together = permutation_p_value(statistic, Spectrum.of(f), Spectrum.of(g), sizes)
    one_target = permutation_p_value(statistic[:, 0], Spectrum.of(f), Spectrum.of(g[0]), n)
    for k in range(5):
        feature = Spectrum.of(f[k])
        for s in range(2):
            one = permutation_p_value(statistic[k, s], feature, Spectrum.of(g[k]), sizes[k])
            assert together[k, s] == pytest.approx(one, rel=1e-12)
        first = permutation_p_value(statistic[k, 0], feature, Spectrum.of(g[0]), n)
        assert one_target[k] == pytest.approx(first, rel=1e-12)
        assert isinstance(first, float)


def test_what_cannot_vary_has_p_value_one(rng):
    n = 6
    g = Spectrum.of(rows_of(rng.normal(size=n)))
    zero = Spectrum.of(np.zeros((1, n)))
    assert permutation_p_value(0.0, zero, g, n) == 1.0
    # the kernel of six different labels: the centring matrix, the same in every order
    labels = Spectrum.of(np.eye(n) - 1 / n)
    assert permutation_p_value(g.trace, labels, g, n) == 1.0


def test_the_smallest_p_value_is_that_of_one_order():
    one = Spectrum.of(np.array([[-2.0, -1.0, 0.0, 1.0, 2.0]]))
    assert permutation_p_value(100.0, replace(one, third=None), one, 5) == pytest.approx(1 / 120)
    many = without_excess([1.0], 10_000)
    assert 0 < permutation_p_value(1.0, many, many, 10_000) < 1e-300


def test_carriers_of_a_rare_allele_and_a_rare_class_meet_by_chance():
    """Exact: the number of carriers in the class is hypergeometric."""
    n, carriers, members = 200, 6, 12
    f, g = np.zeros((2, 1, n))
    f[0, :carriers], g[0, :members] = 1, 1
    feature, target = Spectrum.of(f - f.mean()), Spectrum.of(g - g.mean())
    for met in (2, 3, 4):
        both = met - carriers * members / n  # the inner product of the centred rows
        exact = stats.hypergeom(n, carriers, members).sf(met - 1)
        p = permutation_p_value(both**2, feature, target, n)
        assert 0.2 * exact < p < exact
        # rotations alone say far too little
        blind = permutation_p_value(both**2, replace(feature, third=None), target, n)
        assert blind < p
    assert blind < 1e-3 * exact


def test_too_few_samples_are_refused():
    one = Spectrum.of(np.array([[-1.0, 0.0, 1.0]]))
    with pytest.raises(InvalidInputError, match=r"n=3, but .* 4 samples"):
        permutation_p_value(1.0, one, one, 3)
