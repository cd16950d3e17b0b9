"""The closed-form expansion of the Gaussian kernel."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.embedding.hermite import BULK_SHARE, MAX_FEATURES, REACH, bases, choose_expansion
from hsiclasso.embedding.table import TABLE_BASIS, lookup_table, table_error


@pytest.mark.parametrize("basis", range(6))
def test_expansion_converges_to_the_kernel(basis):
    x = np.linspace(-3, 3, 41)
    phi = bases().features(x, basis, MAX_FEATURES)
    np.testing.assert_allclose(phi.T @ phi, np.exp(-((x[:, None] - x) ** 2) / 2), atol=1e-12)


@pytest.mark.parametrize("n_features", [3, 9, 20])
def test_what_is_left_out_is_positive_semidefinite(n_features, rng):
    x = 2 * rng.standard_normal(50)
    phi = bases().features(x, 2, n_features)
    rest = np.exp(-((x[:, None] - x) ** 2) / 2) - phi.T @ phi
    assert np.linalg.eigvalsh(rest).min() > -1e-12


@pytest.mark.parametrize("allowed", [1e-3, 1e-7, 1e-11])
def test_choice_keeps_its_promise(allowed, rng):
    block = np.vstack([rng.standard_normal((5, 300)), rng.uniform(-1.7, 1.7, (5, 300))])
    choice = choose_expansion(block, allowed)
    for z, basis, count in zip(block, choice.basis, choice.counts, strict=True):
        phi = bases().features(z, int(basis), int(count))
        assert np.mean(1 - np.sum(phi * phi, axis=0)) <= allowed


def test_no_expansion_serves_values_out_of_reach(rng):
    block = rng.standard_normal((2, 100))
    block[1, 7] = 1.01 * REACH
    assert (choose_expansion(block, 1e-7).counts == 0).tolist() == [False, True]


def test_bulk_counts_features_that_hold_nearly_all(rng):
    z = rng.standard_normal((1, 500))
    choice = choose_expansion(z, 1e-9)
    left = []
    for basis in range(6):
        phi = bases().features(z[0], basis, int(choice.bulk[0]))
        left.append(np.mean(1 - np.sum(phi * phi, axis=0)))
    assert min(left) <= BULK_SHARE
    assert choice.bulk[0] < choice.counts[0]


def test_residuals_decrease_with_features_and_grow_with_magnitude():
    residual = bases().residual
    assert (np.diff(residual, axis=1) <= 1e-15).all()
    assert (np.diff(residual, axis=2) >= 0).all()


def test_table_holds_the_eigenfunctions():
    assert lookup_table().shape == (4096, MAX_FEATURES)
    exact = bases().features(np.array([-REACH, REACH]), TABLE_BASIS, MAX_FEATURES)
    np.testing.assert_array_equal(lookup_table()[[0, -1]], exact.T)
    assert 0 < table_error() < 1e-7
