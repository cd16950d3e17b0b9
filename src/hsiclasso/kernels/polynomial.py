"""The polynomial kernel."""

from __future__ import annotations

from math import comb
from typing import Any, ClassVar, Self

import numpy as np

from hsiclasso._checks import is_number
from hsiclasso._types import Columns, FloatArray, IntArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels.base import ProductKernel, Terms

__all__ = ["Polynomial", "power_terms"]


class Polynomial(ProductKernel):
    r"""Polynomial kernel of the standardised column, :math:`(x x' + c)^p`.

    Parameters
    ----------
    degree : int, default=2
        :math:`p`, 1 to 10.
    offset : float, default=1.0
        :math:`c \ge 0`. If it is positive, all powers up to the degree count.

    Examples
    --------
    >>> Polynomial(degree=2).of_products(np.array([-1.0, 0.0, 2.0]))
    array([0., 1., 9.])
    """

    name: ClassVar[str] = "polynomial"

    def __init__(self, degree: int = 2, offset: float = 1.0) -> None:
        self.degree = degree
        self.offset = offset

    def check(self) -> Self:
        """Raise unless the degree is a whole number from 1 to 10 and the offset is >= 0."""
        degree: Any = self.degree
        is_integer = isinstance(degree, int | np.integer) and not isinstance(degree, bool)
        if not (is_integer and 1 <= degree <= 10):
            raise InvalidInputError(
                f"degree={self.degree!r}, but a polynomial kernel needs a whole number between 1 "
                "and 10: 2 is the default."
            )
        if not (is_number(self.offset) and self.offset >= 0):
            raise InvalidInputError(
                f"offset={self.offset!r}, but a polynomial kernel needs a finite offset >= 0: 1 is "
                "the default."
            )
        return self

    def of_products(self, products: FloatArray) -> FloatArray:
        """Return the kernel at products of standardised values."""
        return np.asarray((products + self.offset) ** self.degree)

    def expand(
        self, z: FloatArray, columns: IntArray, allowed: FloatArray, weights: FloatArray
    ) -> list[Terms]:
        """Return the powers of each column, weighted by the binomial theorem."""
        p, c = self.degree, self.offset
        sizes = np.sqrt([comb(p, m) * c ** (p - m) for m in range(p + 1)])
        return power_terms(z, columns, sizes)


def power_terms(z: FloatArray, columns: IntArray, sizes: FloatArray) -> list[Terms]:
    """Return powers 0, 1, ... of scaled columns as exact terms, each times its factor in `sizes`.

    Terms that leave nothing out need no bound on their norm: the bulk may be empty.
    """
    powers = np.flatnonzero(sizes)

    def evaluate(which: slice, samples: Columns, out: FloatArray) -> None:
        np.power(z[columns[which]][:, None, samples], powers[:, None], out=out)
        out *= sizes[powers, None]

    nothing, one = np.zeros(columns.size), np.ones(columns.size, dtype=np.int64)
    return [Terms(columns, powers.size, z.shape[1], nothing, nothing, one, evaluate)]
