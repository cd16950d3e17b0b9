"""The linear kernel; what it shares with others is in `test_base`."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.kernels import Linear


@pytest.mark.parametrize("q", [1, 3])
def test_rows_are_the_columns(q, rng):
    z = rng.exponential(size=(q, 20))
    Linear().scale(z, np.ones((1, 20)), joint=True)
    rows, left = Linear().rows(z, 0.0, np.ones(20))
    np.testing.assert_array_equal(rows, z)
    assert left == 0
    np.testing.assert_allclose(np.square(rows).sum(), 20)
    np.testing.assert_allclose(rows.sum(axis=1), 0, atol=1e-12)
