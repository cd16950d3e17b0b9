"""The Laplace kernel: exact recursions along the sorted column replace a factor of low rank."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.kernels.base import DistanceKernel

__all__ = ["Laplace"]


class Laplace(DistanceKernel):
    r"""Laplace kernel of the standardised column, :math:`e^{-|x-x'|/\sigma}`.

    The kernel is universal, as the Gaussian kernel is, but it is not smooth: its Gram matrix does
    not have low rank. Recursions along the sorted column compute products with it exactly.

    Parameters
    ----------
    width : float or "median", default=1.0
        :math:`\sigma` in standard deviations of the column, or the median of the non-zero
        pairwise distances.

    Examples
    --------
    >>> Laplace().of_squares(np.log([1.0, 2.0, 4.0]) ** 2)
    array([1.  , 0.5 , 0.25])
    """

    name: ClassVar[str] = "laplace"
    full_rank: ClassVar[bool] = True
    joins_columns: ClassVar[bool] = False
    has_recursion: ClassVar[bool] = True

    def of_squares(self, squares: FloatArray) -> FloatArray:
        """Return the kernel at squared distances, which are in units of the squared width."""
        return np.asarray(np.exp(-np.sqrt(squares)))

    def expand_joint(
        self, z: FloatArray, allowed: float, weights: FloatArray
    ) -> tuple[FloatArray, float]:
        """Expand one scaled column exactly: a row for each innovation of the Markov process."""
        column = z[0]
        order = np.argsort(column, kind="stable")
        values = column[order]
        first = np.flatnonzero(np.diff(values, prepend=-np.inf) > 0)
        starts = values[first]
        with np.errstate(over="ignore"):
            decay = np.exp(-np.maximum(values - starts[:, None], 0.0))
        size = np.sqrt(-np.expm1(-2 * np.diff(starts, prepend=-np.inf)))
        rows = np.empty_like(decay)
        rows[:, order] = np.where(values >= starts[:, None], size[:, None] * decay, 0.0)
        return rows, 0.0
