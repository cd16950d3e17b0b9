"""The kernels a column can be given, and what each makes of a block of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from hsiclasso._types import BoolArray, FloatArray
from hsiclasso.errors import InvalidInputError

__all__ = ["Delta", "Gaussian", "Kernel", "make_kernel", "median_distance", "standardised"]


@dataclass(frozen=True)
class Gaussian:
    r"""Gaussian kernel of the standardised column, :math:`e^{-(x-x')^2/(2\sigma^2)}`.

    Parameters
    ----------
    width : float or "median"
        :math:`\sigma` in standard deviations of the column, or the median of the non-zero
        pairwise distances of each column.
    """

    width: float | Literal["median"] = 1.0

    def __post_init__(self) -> None:
        if self.width == "median":
            return
        if isinstance(self.width, str) or not (np.isfinite(self.width) and self.width > 0):
            raise InvalidInputError(
                f"width={self.width!r}, but a Gaussian kernel needs a positive finite width or "
                "'median': 1.0 is the paper's choice."
            )


@dataclass(frozen=True)
class Delta:
    r"""Delta kernel, :math:`1/n_x` if :math:`x = x'` and 0 otherwise.

    :math:`n_x` is the number of samples with that value, as in the paper.
    """


Kernel = Gaussian | Delta


def make_kernel(name: str, width: float | Literal["median"] = 1.0) -> Kernel:
    """Return the kernel of a given name."""
    if name == "gaussian":
        return Gaussian(width)
    if name == "delta":
        return Delta()
    raise InvalidInputError(f"kernel={name!r} is unknown: choose 'gaussian' or 'delta'.")


def standardised(block: FloatArray, kernel: Gaussian) -> BoolArray:
    """Scale the rows of `block` (k, n) in place to unit deviation, then to unit kernel width.

    Returns which rows vary.
    """
    from hsiclasso.embedding._loops import standardise

    std = np.empty(block.shape[0])
    standardise(block, block.min(axis=1), block.max(axis=1), std)
    varies = std > 0
    if kernel.width == "median":
        for j in np.flatnonzero(varies):
            block[j] /= median_distance(block[j])
    elif kernel.width != 1.0:
        block /= kernel.width
    return varies


def median_distance(column: FloatArray) -> float:
    """Median of the non-zero pairwise distances of a column that varies, in O(n log n).

    Examples
    --------
    >>> median_distance(np.array([0.0, 0.0, 1.0, 3.0]))
    2.0
    """
    from hsiclasso.embedding._loops import count_pairs_within

    values = np.sort(column)
    n_zero = count_pairs_within(values, 0.0)
    n_pairs = values.size * (values.size - 1) // 2 - n_zero
    low, high = 0.0, float(values[-1] - values[0])
    # Bisect on the distance until no double lies between the ends.
    while (middle := 0.5 * (low + high)) not in (low, high):
        if 2 * (count_pairs_within(values, middle) - n_zero) >= n_pairs:
            high = middle
        else:
            low = middle
    return high
