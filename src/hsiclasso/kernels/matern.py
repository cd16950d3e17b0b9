"""The Matérn kernel."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels.base import DistanceKernel, Width

__all__ = ["Matern"]


class Matern(DistanceKernel):
    r"""Matérn kernel of the standardised column, between the Laplace and the Gaussian kernel.

    .. math::
        \nu = 3/2:&\quad (1 + r)\, e^{-r}, \quad r = \sqrt 3\, |x-x'| / \sigma \\
        \nu = 5/2:&\quad (1 + r + r^2/3)\, e^{-r}, \quad r = \sqrt 5\, |x-x'| / \sigma

    A smaller :math:`\nu` detects less smooth dependences better, but its factors have more rows:
    about 200 at the default error, where the Gaussian kernel has 12.

    Parameters
    ----------
    nu : {1.5, 2.5}, default=1.5
        :math:`\nu`. The value 0.5 would give the `Laplace` kernel; large values approach the
        `Gaussian` kernel.
    width : float or "median", default=1.0
        As in `Laplace`.

    Examples
    --------
    >>> Matern(nu=2.5).of_squares(np.array([0.0, 1.0, 9.0])).round(3)
    array([1.   , 0.524, 0.028])
    """

    name: ClassVar[str] = "matern"

    def __init__(self, nu: float = 1.5, width: Width = 1.0) -> None:
        self.nu = nu
        self.width = width

    def check(self) -> Self:
        """Raise if `nu` is neither 1.5 nor 2.5, or if the width is invalid."""
        if self.nu not in (1.5, 2.5):
            raise InvalidInputError(
                f"nu={self.nu!r}, but a matern kernel needs 1.5 or 2.5: 1.5 is the default, 2.5 is "
                "smoother."
            )
        return super().check()

    def of_squares(self, squares: FloatArray) -> FloatArray:
        """Return the kernel at squared distances, which are in units of the squared width."""
        r2 = 2 * self.nu * squares
        r = np.sqrt(r2)
        polynomial = 1 + r if self.nu == 1.5 else 1 + r + r2 / 3
        return np.asarray(polynomial * np.exp(-r))
