"""Targets of counts."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.targets.base import Array
from hsiclasso.targets.values import ValueTarget

__all__ = ["Counts"]


class Counts(ValueTarget):
    """Counts: Anscombe's square root under a Gaussian kernel.

    Parameters
    ----------
    kernel, outputs, missing
        As in `Real`.

    Examples
    --------
    >>> Counts().prepare([0, 3, 12], 3).data.values.round(2)
    array([[1.22, 3.67, 7.04]])
    """

    name: ClassVar[str] = "counts"
    words: ClassVar[str] = "a target of counts"

    def scores(self, column: Array) -> FloatArray:
        """Return square roots, whose standard deviation is about 1 whatever the mean."""
        numbers = self.numbers(column)
        wrong = (numbers < 0) | (numbers != np.floor(numbers))
        if wrong.any():
            raise InvalidInputError(
                f"y has the value {numbers[wrong][0]}, but counts are whole numbers >= 0: use "
                "target='real'."
            )
        return np.asarray(2 * np.sqrt(numbers + 0.375))
