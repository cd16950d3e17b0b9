"""Compiled loops that copy columns of arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hsiclasso._compile import compiled
from hsiclasso._types import FloatArray

__all__ = ["copy_columns"]

#: Columns and rows of a tile: it stays in the cache of the processor while it is copied.
_COLUMNS, _ROWS = 8, 256


@compiled
def copy_columns(array: npt.NDArray[np.float32], first: int, out: FloatArray) -> None:
    """Copy the columns of `array` (n, d) from `first` on to the rows of `out` (k, n)."""
    k, n = out.shape
    for start in range(0, n, _ROWS):
        stop = min(n, start + _ROWS)
        for j in range(0, k - _COLUMNS + 1, _COLUMNS):
            for i in range(start, stop):
                row = array[i]
                for c in range(_COLUMNS):
                    out[j + c, i] = row[first + j + c]
        for j in range(k - k % _COLUMNS, k):
            for i in range(start, stop):
                out[j, i] = array[i, first + j]
