"""The closed-form expansion of the Gaussian kernel."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.kernels.base import TILE
from hsiclasso.kernels.hermite import (
    BINS_PER_UNIT,
    BULK_SHARE,
    MAX_FEATURES,
    N_ENTRIES,
    REACH,
    TABLE_BASIS,
    bases,
    choose_expansions,
    lookup_table,
    table_error,
)


def histogram_of(block, weights=None):
    """Weights of magnitudes by bin, and of those beyond reach."""
    edges = np.append(np.arange(REACH * BINS_PER_UNIT + 1) / BINS_PER_UNIT, np.inf)
    return np.array([np.histogram(np.abs(z), edges, weights=weights)[0] for z in block], float)


def choose(block, share, only=None):
    n = np.full(len(block), float(block.shape[1]))
    return choose_expansions(histogram_of(block), share * n, n, only)


@pytest.mark.parametrize("basis", range(6))
def test_expansion_converges_to_the_kernel(basis):
    x = np.linspace(-3, 3, 41)
    phi = bases().features(x, basis, MAX_FEATURES)
    K = np.exp(-((x[:, None] - x) ** 2) / 2)
    np.testing.assert_allclose(phi.T @ phi, K, atol=1e-12)
    for n_features in (3, 9, 20):  # what is left out is positive semi-definite
        rest = K - phi[:n_features].T @ phi[:n_features]
        assert np.linalg.eigvalsh(rest).min() > -1e-12


@pytest.mark.parametrize("share", [1e-3, 1e-7, 1e-11])
@pytest.mark.parametrize("only", [None, TABLE_BASIS])
def test_the_choice_keeps_its_promise_with_the_fewest_features(share, only, rng):
    block = np.vstack([rng.standard_normal((5, 300)), rng.uniform(-1.7, 1.7, (5, 300))])
    basis, counts, bulk = choose(block, share, only)
    residual = bases().residual
    for j, z in enumerate(block):
        phi = bases().features(z, int(basis[j]), int(counts[j]))
        assert np.mean(1 - np.sum(phi * phi, axis=0)) <= share
        left = residual[:, :, :] @ histogram_of(z[None])[0, :-1] / 300
        choices = left if only is None else left[only : only + 1]
        fewest = (choices > share).sum(axis=1).min() + 1
        # rounded up to the number of rows that are multiplied at once
        assert fewest <= counts[j] < fewest + TILE[0]
        assert counts[j] % TILE[0] == 0
        assert bulk[j] == (choices > BULK_SHARE).sum(axis=1).min() + 1
        assert bulk[j] <= counts[j]
    if only is not None:
        assert (basis == only).all()


def test_no_expansion_serves_values_out_of_reach(rng):
    block = rng.standard_normal((3, 100))
    block[1, 7] = 1.01 * REACH
    block[2] *= 9  # within reach, but too many features would be needed
    block[2] = np.clip(block[2], -11.9, 11.9)
    assert (choose(block, 1e-11)[1] == 0).tolist() == [False, True, True]


def test_residuals_decrease_with_features_and_grow_with_magnitude():
    residual = bases().residual
    assert (np.diff(residual, axis=1) <= 1e-15).all()
    assert (np.diff(residual, axis=2) >= 0).all()


def test_table_holds_the_eigenfunctions():
    assert lookup_table().shape == (N_ENTRIES, MAX_FEATURES)
    exact = bases().features(np.array([-REACH, REACH]), TABLE_BASIS, MAX_FEATURES)
    np.testing.assert_array_equal(lookup_table()[[0, -1]], exact.T)
    assert 0 < table_error() < 1e-7
