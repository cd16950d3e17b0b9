"""Ordinal targets: ordered levels without distances."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.stats import rankdata

from hsiclasso._types import FloatArray
from hsiclasso.targets.base import Array
from hsiclasso.targets.values import ValueTarget

__all__ = ["Ordinal"]


class Ordinal(ValueTarget):
    """Ordered levels, such as grades: mid-ranks under a Gaussian kernel.

    Parameters
    ----------
    kernel : str or Kernel, default="auto"
        ``"auto"`` is the Gaussian kernel of width 1.
    outputs : {"auto", "joint", "average"}, default="auto"
        One kernel on several columns together, or one for each, averaged; ``"auto"`` is together.
    missing : {"error", "drop"}, default="error"
        Whether samples without a target are refused or dropped.

    Examples
    --------
    >>> Ordinal().prepare([1, 5, 5, 100], 4).data.values
    array([[1. , 2.5, 2.5, 4. ]])
    """

    name: ClassVar[str] = "ordinal"
    words: ClassVar[str] = "an ordinal target"

    def scores(self, column: Array) -> FloatArray:
        """Return mid-ranks."""
        return np.asarray(rankdata(self.numbers(column)), dtype=np.float64)
