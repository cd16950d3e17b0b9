"""From statistics to a selection: the threshold of knockoff+, e-values and e-BH."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.inference.knockoff_filter import (
    average_e_values,
    e_bh,
    e_values,
    knockoff_threshold,
)
from tests.oracles import knockoff_plus

statistics = st.lists(st.integers(-6, 9), min_size=1, max_size=40).map(
    lambda values: np.array(values, dtype=float)
)
levels = st.sampled_from([0.05, 0.1, 0.2, 0.3, 0.5])


@given(W=statistics, q=levels)
def test_the_threshold_is_that_of_knockoff_plus(W, q):
    assert knockoff_threshold(W, q) == knockoff_plus(W, q)


@given(W=statistics, q=levels)
def test_one_draw_selects_what_knockoff_plus_selects(W, q):
    _, values = average_e_values(W[None], q)
    chosen, least = e_bh(values, q)
    np.testing.assert_array_equal(np.sort(chosen), np.flatnonzero(knockoff_plus(W, q) <= W))
    assert chosen.size == 0 or values[chosen].min() >= least * (1 - 1e-9)
    # an early stop changes e-values of draws that select nothing, and so no selection
    early = e_values(W, knockoff_threshold(W, q, stop_early=True))
    assert set(e_bh(early, q)[0]) == set(chosen)


@given(values=st.lists(st.floats(0, 100), min_size=1, max_size=30), q=levels)
def test_e_bh_selects_the_most_that_it_may(values, q):
    values = np.array(values)
    chosen, _ = e_bh(values, q)
    ordered = np.sort(values)[::-1]
    allowed = [k for k in range(1, values.size + 1) if ordered[k - 1] * q * k >= values.size]
    assert chosen.size == max(allowed, default=0)
    assert values[chosen].sum() == pytest.approx(ordered[: chosen.size].sum())


def test_several_draws_are_averaged():
    first, second = np.array([3.0, 2, 2, 2, -1, 0]), np.array([3.0, 2, 2, -1, 2, 0])
    thresholds, values = average_e_values(np.array([first, second]), 0.25)
    np.testing.assert_array_equal(thresholds, [2, 2])
    np.testing.assert_array_equal(values, [6, 6, 6, 3, 3, 0])


def test_a_draw_without_a_selection_still_counts_beside_others():
    few = np.array([4.0, 3.0, 0, 0, 0, 0])
    assert knockoff_threshold(few, 0.25) == np.inf
    assert knockoff_threshold(few, 0.25, stop_early=True) == 3.0
    _, values = average_e_values(np.array([few, few]), 0.25)
    np.testing.assert_array_equal(values, [6, 6, 0, 0, 0, 0])


def test_false_discoveries_of_symmetric_nulls_are_bounded(rng):
    """80 nulls with random signs beside 20 true ones: the mean proportion stays below q."""
    sizes = rng.exponential(size=(2000, 100))
    signs = rng.choice([-1, 1], size=(2000, 100))
    signs[:, :20] = 1
    W = signs * sizes
    W[:, :20] += 2
    proportions, several = [], []
    for row in W:
        found = np.flatnonzero(row >= knockoff_threshold(row, 0.2))
        proportions.append((found >= 20).sum() / max(1, found.size))
    for rows in W.reshape(400, 5, 100):
        found, _ = e_bh(average_e_values(rows, 0.1)[1], 0.2)
        several.append((found >= 20).sum() / max(1, found.size))
    error = np.std(proportions) / np.sqrt(2000)
    assert 0.1 < np.mean(proportions) < 0.2 + 3 * error
    assert np.mean(several) < 0.2
