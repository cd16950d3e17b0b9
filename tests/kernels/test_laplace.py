"""The Laplace kernel; what it shares with others is in `test_base`."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.kernels import Laplace

values = st.floats(-4, 4) | st.integers(-2, 2).map(float) | st.sampled_from([-1e6, 0.0, 1e6])


@given(st.lists(values, min_size=1, max_size=30))
def test_innovations_are_exact(column):
    """One row for each distinct value, at any distance between them."""
    z = np.array(column)
    rows, left = Laplace().expand_joint(z[None], 0.1, np.ones(z.size))
    assert left == 0
    assert len(rows) == np.unique(z).size
    np.testing.assert_allclose(rows.T @ rows, np.exp(-np.abs(z[:, None] - z)), atol=1e-14)


def test_it_is_for_single_columns():
    assert Laplace.full_rank
    assert Laplace.has_recursion
    assert not Laplace.joins_columns
