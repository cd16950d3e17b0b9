"""A cache for entries of a large matrix."""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray, IntArray

__all__ = ["Entries"]

#: Numbers of rows and columns that are allocated at first.
_FIRST_SHAPE = (64, 16)


class Entries:
    """Stores entries of a d x d matrix, of which only few rows and columns are needed.

    Parameters
    ----------
    size : int
        d.

    Examples
    --------
    >>> entries = Entries(100)
    >>> entries.remember(np.array([7, 3]), np.array([50]), np.array([[1.0], [2.0]]))
    >>> entries.recall(np.array([3, 4]), np.array([50, 51]))
    array([[ 2., nan],
           [nan, nan]])
    """

    def __init__(self, size: int) -> None:
        self._row_places = np.full(size, -1, dtype=np.int32)
        self._col_places: dict[int, int] = {}
        self._n_rows = 0
        self._values = np.full(_FIRST_SHAPE, np.nan)

    def recall(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the entries of `rows` and `cols`; NaN for entries that are not stored."""
        out = np.full((rows.size, cols.size), np.nan)
        from_rows = self._row_places[rows]
        from_cols = np.array([self._col_places.get(k, -1) for k in cols.tolist()], dtype=np.int32)
        known_rows, known_cols = np.flatnonzero(from_rows >= 0), np.flatnonzero(from_cols >= 0)
        if known_rows.size and known_cols.size:
            stored = self._values[np.ix_(from_rows[known_rows], from_cols[known_cols])]
            out[np.ix_(known_rows, known_cols)] = stored
        return out

    def remember(self, rows: IntArray, cols: IntArray, values: FloatArray) -> None:
        """Store the entries of distinct `rows` and `cols`."""
        new_rows = rows[self._row_places[rows] < 0]
        self._row_places[new_rows] = np.arange(self._n_rows, self._n_rows + new_rows.size)
        self._n_rows += new_rows.size
        for k in cols.tolist():
            self._col_places.setdefault(k, len(self._col_places))
        self._grow()
        into_cols = np.array([self._col_places[k] for k in cols.tolist()], dtype=np.int32)
        self._values[np.ix_(self._row_places[rows], into_cols)] = values

    def _grow(self) -> None:
        """Enlarge the array if needed: doubling it makes copies rare."""
        have, need = self._values.shape, (self._n_rows, len(self._col_places))
        added = [(0, 0 if b <= a else max(b, 2 * a) - a) for a, b in zip(have, need, strict=True)]
        if any(number for _, number in added):
            self._values = np.pad(self._values, added, constant_values=np.nan)
