"""p-values of unrelated features are uniform: fixed seeds, exact binomial bounds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from hsiclasso import hsic_scan
from hsiclasso.data import as_dataset
from hsiclasso.inference.null_pass import NullPass
from hsiclasso.inference.scan import ScanOptions, prepared_scan, scan_target
from hsiclasso.kernels import Factor
from hsiclasso.targets.matrix import together

#: Least probability of a bound: one of all bounds here fails by chance once in 10,000 times.
RARE = 1e-6


def permuted_p_values(X, y, n_orders, rng):
    """p-values (d, n_orders) of features and random orders of a target, by the pass of a scan."""
    inputs = prepared_scan(ScanOptions(n_jobs=1), as_dataset(X, y))
    rows = scan_target(inputs).whole[0]
    found = []
    for start in range(0, n_orders, 50):
        orders = [rng.permutation(len(y)) for _ in range(min(50, n_orders - start))]
        factors = [Factor(rows[:, order], np.zeros(len(rows)), 0.0) for order in orders]
        work = NullPass(inputs.features, together(factors))
        found.append(
            np.concatenate([work(part).relevance[:, len(orders) :] for part in work.blocks()])
        )
    return np.concatenate(found, axis=1)


def share_below(p, level):
    """Share of p-values up to a level, and its standard error over the orders, which are alike."""
    shares = np.mean(p <= level, axis=0)
    return shares.mean(), shares.std(ddof=1) / np.sqrt(shares.size)


@pytest.mark.parametrize("n", [60, 250])
def test_permuted_p_values_are_uniform(n):
    """Many tests of normal, heavy-tailed and discrete features."""
    rng = np.random.default_rng(100 + n)
    d = 600
    X = np.concatenate(
        [rng.normal(size=(n, d)), rng.lognormal(size=(n, d)), rng.binomial(2, 0.2, (n, d))], axis=1
    )
    p = permuted_p_values(X, rng.exponential(size=n), 100, rng)
    for level in (0.5, 0.05, 1e-2, 1e-3, 1e-4):
        share, error = share_below(p, level)
        assert share < 1.35 * level + 5 * error
        assert share > 0.65 * level - 5 * error
    # at most three times too many: an exact bound if tests were independent
    assert np.count_nonzero(p <= 1e-5) <= stats.binom.isf(RARE, p.size, 3e-5)


def test_rare_alleles_and_a_rare_class():
    """Both sides are heavy: without the skewness, p-values up to 1e-4 were six times too many."""
    rng = np.random.default_rng(7)
    n, d = 200, 1500
    X = rng.binomial(2, rng.choice([0.01, 0.03, 0.1], d), (n, d)).astype(np.int8)
    p = permuted_p_values(X, np.arange(n) < 10, 300, rng)
    share, error = share_below(p, 1e-4)
    assert share < 1.8e-4 + 5 * error
    share, error = share_below(p, 1e-2)
    assert share < 1.2e-2 + 5 * error


def test_independent_tables_have_uniform_p_values():
    """No permutations: fresh tables and targets, as users have them."""
    p = []
    for seed in range(60):
        rng = np.random.default_rng([11, seed])
        p.append(hsic_scan(rng.normal(size=(80, 300)), rng.normal(size=80)).p_value)
    p = np.array(p)
    for level in (0.1, 0.01, 1e-3):
        n_found = np.count_nonzero(p <= level)
        assert stats.binom.isf(1 - RARE, p.size, 0.85 * level) <= n_found
        assert n_found <= stats.binom.isf(RARE, p.size, 1.1 * level)


def test_false_discoveries_are_bounded_and_features_found():
    """20 causal features of 400: the share of others among those found stays below the level."""
    shares, power = [], []
    for seed in range(40):
        rng = np.random.default_rng([13, seed])
        X = rng.normal(size=(200, 400))
        y = np.sin(2 * X[:, :20]).sum(axis=1) + 0.5 * rng.normal(size=200)
        found = hsic_scan(X, y).selected("fdr", 0.2)
        shares.append(np.mean(found >= 20) if found.size else 0.0)
        power.append(np.count_nonzero(found < 20))
    error = np.std(shares, ddof=1) / np.sqrt(len(shares))
    assert np.mean(shares) < 0.2 + 3 * error
    assert np.mean(power) > 1
