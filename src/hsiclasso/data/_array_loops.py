"""Compiled loops that copy columns of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hsiclasso._compile import compiled, inlined
from hsiclasso._types import FloatArray

__all__ = ["copy_columns"]

#: Number of rows of a tile: it stays in the cache of the processor while it is copied.
_ROWS = 256


@inlined
def _copy_tile(
    array: npt.NDArray[np.floating[Any]], first: int, start: int, stop: int, width: int,
    out: FloatArray, place: int,
) -> None:  # fmt: skip
    for i in range(start, stop):
        row = array[i]
        for j in range(width):
            out[place + j, i] = row[first + place + j]


@compiled
def copy_columns(array: npt.NDArray[np.floating[Any]], first: int, out: FloatArray) -> None:
    """Copy the columns of `array` (n, d) from `first` on to the rows of `out` (k, n)."""
    k, n = out.shape
    for start in range(0, n, _ROWS):
        stop, j = min(n, start + _ROWS), 0
        # the compiler knows these widths, and unrolls the loop over them
        while j + 8 <= k:
            _copy_tile(array, first, start, stop, 8, out, j)
            j += 8
        while j + 4 <= k:
            _copy_tile(array, first, start, stop, 4, out, j)
            j += 4
        while j < k:
            _copy_tile(array, first, start, stop, 1, out, j)
            j += 1
