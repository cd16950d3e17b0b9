"""The Cauchy kernel."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.kernels.base import DistanceKernel

__all__ = ["Cauchy"]


class Cauchy(DistanceKernel):
    r"""Cauchy kernel of the standardised column, :math:`1/(1 + (x-x')^2/\sigma^2)`.

    It falls slowly with the distance. Distant values of a heavy-tailed column therefore still
    count.

    Parameters
    ----------
    width : float or "median", default=1.0
        As in `Laplace`.

    Examples
    --------
    >>> Cauchy().of_squares(np.array([0.0, 1.0, 9.0]))
    array([1. , 0.5, 0.1])
    """

    name: ClassVar[str] = "cauchy"

    def of_squares(self, squares: FloatArray) -> FloatArray:
        """Return the kernel at squared distances, which are in units of the squared width."""
        return np.asarray(1 / (1 + squares))
