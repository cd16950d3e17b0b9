"""The order in which candidates may join."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.solvers.candidates import _by_limit, _falling
from hsiclasso.solvers.penalty import Penalty


@pytest.mark.parametrize("n", [0, 1, 2, 500])
@pytest.mark.parametrize("n_values", [1, 3, 10**9])
def test_values_fall_and_ties_keep_their_order(n, n_values, rng):
    values = rng.integers(0, n_values, n).astype(float)
    values[rng.random(n) < 0.05] = np.inf
    np.testing.assert_array_equal(_falling(values), np.argsort(-values, kind="stable"))


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("penalty", [Penalty.lasso(9), Penalty.group([0, 0, 1, 2, 2, 2, 3, 3, 3])])
def test_the_order_does_not_depend_on_the_scale(penalty, scale, rng):
    """Relevances that agree to eleven digits are ordered by index, whatever their size."""
    relevance = rng.uniform(1, 2, 9)
    relevance[[7, 2]] = relevance[5] * (1 + 1e-14 * np.array([1, -1]))
    order, limit = _by_limit(scale * relevance, penalty)
    expected, limits = _by_limit(relevance, penalty)
    assert order.tolist() == expected.tolist()
    np.testing.assert_allclose(limit, scale * limits)
    if not penalty.grouped:
        assert [k for k in order if k in (2, 5, 7)] == [2, 5, 7]
        np.testing.assert_allclose(relevance[order], np.sort(relevance)[::-1])
