"""The polynomial kernel; what it shares with others is in `test_base`."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Polynomial


@pytest.mark.parametrize("degree", [0, 11, -1, 2.0, True, "2", None])
def test_bad_degree(degree):
    with pytest.raises(InvalidInputError, match=r"degree=.*whole number between 1 and 10: 2 is"):
        Polynomial(degree).check()


@pytest.mark.parametrize("offset", [-1.0, np.nan, np.inf, "1", None, True])
def test_bad_offset(offset):
    with pytest.raises(InvalidInputError, match=r"offset=.*finite offset >= 0: 1 is the default"):
        Polynomial(2, offset).check()


@pytest.mark.parametrize(("degree", "offset", "rank"), [(3, 1.0, 4), (3, 0.0, 1), (1, 0.5, 2)])
def test_powers_are_the_rows(degree, offset, rank, rng):
    z = rng.standard_normal((1, 15))
    rows, left = Polynomial(np.int64(degree), offset).check().rows(z, 0.0, np.ones(15))
    assert (len(rows), left) == (rank, 0)
    np.testing.assert_allclose(rows.T @ rows, (np.outer(z, z) + offset) ** degree, rtol=1e-12)
