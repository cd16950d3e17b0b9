"""Compiled loops that turn compressed rows into compressed columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hsiclasso._compile import compiled
from hsiclasso._types import IntArray

__all__ = ["count", "scatter"]

_Indices = npt.NDArray[np.int32]


@compiled
def count(columns: _Indices, counts: IntArray) -> bool:
    """Add the number of entries of each column to `counts`; return False if there is none such."""
    d = counts.size
    for e in range(columns.size):
        j = columns[e]
        if j < 0 or j >= d:
            return False
        counts[j] += 1
    return True


@compiled
def scatter(
    first: int, indptr: IntArray, columns: _Indices, values: npt.NDArray[np.unsignedinteger[Any]],
    place: _Indices, ends: IntArray, rows: _Indices, out: npt.NDArray[np.unsignedinteger[Any]],
) -> bool:  # fmt: skip
    """Append entries of rows to the columns that are wanted.

    The rows are ``first, first + 1, ...``, and `indptr` says where they are in `columns` and
    `values`. Column j is wanted if ``place[j] >= 0``. Then its entries go to `rows` and `out` at
    ``ends[place[j]]``, which moves on. Returns False if they do not fit.
    """
    size, d = rows.size, place.size
    for i in range(indptr.size - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = columns[e]
            if j < 0 or j >= d:
                return False
            k = place[j]
            if k >= 0:
                at = ends[k]
                if at >= size:
                    return False
                rows[at] = first + i
                out[at] = values[e]
                ends[k] = at + 1
    return True
