"""Ordinal targets: ordered levels without distances."""

from __future__ import annotations

from typing import ClassVar

from hsiclasso._types import FloatArray
from hsiclasso.targets.base import Array
from hsiclasso.targets.values import ValueTarget, transformed

__all__ = ["Ordinal"]


class Ordinal(ValueTarget):
    """Ordered levels, such as grades: mid-ranks under a Gaussian kernel.

    Parameters
    ----------
    kernel, outputs, missing
        As in `Real`.

    Examples
    --------
    >>> Ordinal().prepare([1, 5, 5, 100], 4).data.values
    array([[1. , 2.5, 2.5, 4. ]])
    """

    name: ClassVar[str] = "ordinal"
    words: ClassVar[str] = "an ordinal target"
    ordered: ClassVar[bool] = True
    transform = "rank"

    def scores(self, column: Array) -> FloatArray:
        """Return mid-ranks."""
        return transformed(self.numbers(column), "rank")
