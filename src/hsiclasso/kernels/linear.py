"""The linear kernel."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.kernels.base import ProductKernel, Terms
from hsiclasso.kernels.polynomial import power_terms

__all__ = ["Linear"]


class Linear(ProductKernel):
    """Linear kernel :math:`x x'` of the standardised column; several columns give the mean.

    It detects linear dependences only.

    Examples
    --------
    >>> Linear().between(np.array([[1.0, 2.0]]), np.array([[3.0, -1.0]]))
    array([[ 3., -1.],
           [ 6., -2.]])
    """

    name: ClassVar[str] = "linear"

    def of_products(self, products: FloatArray) -> FloatArray:
        """Return the products."""
        return products

    def expand(
        self, z: FloatArray, columns: IntArray, allowed: FloatArray, weights: FloatArray
    ) -> list[Terms]:
        """Return the columns themselves, one row each."""
        return power_terms(z, columns, np.array([0.0, 1.0]))

    def expand_joint(
        self, z: FloatArray, allowed: float, weights: FloatArray
    ) -> tuple[FloatArray, float]:
        """Return the scaled columns (q, n) themselves."""
        return z.copy(), 0.0
