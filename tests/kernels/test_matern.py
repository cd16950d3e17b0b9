"""The Matérn kernel; what it shares with others is in `test_base`."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Matern


@pytest.mark.parametrize("nu", [0.5, 2, None, "1.5", np.nan, (1.5, 2.5)])
def test_bad_smoothness(nu):
    with pytest.raises(InvalidInputError, match=r"nu=.*needs 1\.5 or 2\.5: 1\.5 is the default"):
        Matern(nu).check()


@pytest.mark.parametrize("nu", [1.5, 2.5])
def test_it_is_smooth_at_zero(nu):
    """Unlike the Laplace kernel: near 0 it falls like the squared distance."""
    d = np.array([1e-3, 2e-3])
    first, second = 1 - Matern(nu).of_squares(d**2)
    assert second / first == pytest.approx(4, rel=0.01)
