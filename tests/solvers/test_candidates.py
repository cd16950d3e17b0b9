from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.solvers.candidates import _falling


@pytest.mark.parametrize("n", [0, 1, 2, 500])
@pytest.mark.parametrize("n_values", [1, 3, 10**9])
def test_values_fall_and_ties_keep_their_order(n, n_values, rng):
    values = rng.integers(0, n_values, n).astype(float)
    values[rng.random(n) < 0.05] = np.inf
    np.testing.assert_array_equal(_falling(values), np.argsort(-values, kind="stable"))
