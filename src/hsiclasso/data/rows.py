"""Some rows of a table, such as a fold or a resample, without a copy of the table."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hsiclasso._types import Columns, FloatArray, IntArray
from hsiclasso.data.annotations import rows_of
from hsiclasso.data.base import Source, Stored, WrappedSource
from hsiclasso.data.fingerprint import hash_of
from hsiclasso.errors import InvalidInputError, require

__all__ = ["RowSubset"]


class RowSubset(WrappedSource):
    """Some rows of another source, in any order.

    Parameters
    ----------
    source : Source
        The table.
    rows : array-like of int or of bool
        Indices of rows, which may repeat, or a mask of shape (source.n_samples,).

    Notes
    -----
    Codes of categories and text are those of the full table, whichever rows are taken.

    Examples
    --------
    >>> from hsiclasso.data import as_source
    >>> table = as_source(np.arange(8).reshape(4, 2))
    >>> RowSubset(table, [3, 0]).block(slice(0, 1)).ravel()
    array([6., 0.])
    """

    def __init__(self, source: Source, rows: npt.ArrayLike) -> None:
        chosen = _as_rows(rows, source.n_samples)
        self._rows: IntArray = chosen
        if isinstance(source, RowSubset):  # take rows of the table, not rows of rows
            self._rows = source._rows[chosen]
            source = source._source
        super().__init__(source)
        self.n_samples = chosen.size
        self.ids = None if source.ids is None else [source.ids[i] for i in self._rows.tolist()]
        self.annotations = rows_of(source.annotations, self._rows)

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""
        return _take(self._source.block(columns), self._rows)

    def levels(self, columns: Columns) -> np.ndarray[Any, Any] | None:
        """Return a copy of int8, uint8 or bool columns as they are stored, else None."""
        levels = self._source.levels(columns)
        return None if levels is None else _take(levels, self._rows)

    def calls(self, columns: Columns, samples: slice) -> np.ndarray[Any, Any]:
        """Return genotypes of some samples; rows that are far apart are read one part at a time."""
        rows = self._rows[samples]
        width = self._source.calls(columns, slice(0, 0)).shape[1]
        out = np.empty((rows.size, width), dtype=np.uint8)
        low, high = int(rows.min(initial=self._source.n_samples)), int(rows.max(initial=-1)) + 1
        for start in range(low, high, max(1, rows.size)):
            stop = min(high, start + rows.size)
            inside = np.flatnonzero((rows >= start) & (rows < stop))
            if inside.size:
                calls = self._source.calls(columns, slice(start, stop))
                out[inside] = calls.take(rows[inside] - start, axis=0)
        return out

    def stored(self, columns: Columns) -> Stored | None:
        """Return indptr, row indices within the subset and values; None if not sparse."""
        stored = self._source.stored(columns)
        if stored is None:
            return None
        indptr, indices, data = stored
        shape = (self._source.n_samples, indptr.size - 1)
        part = sparse.csc_array((data, indices, indptr), shape=shape)[self._rows]
        part.sort_indices()
        return part.indptr.astype(np.int64), part.indices, part.data

    @cached_property
    def n_stored(self) -> int:
        """Number of entries that are stored, counted on first use."""
        if self._source.stored(slice(0, 0)) is None:
            return self.n_samples * self.n_features
        times = np.bincount(self._rows, minlength=self._source.n_samples)
        total = 0
        for run in self._source.runs():
            stored = self._source.stored(run)
            total += 0 if stored is None else int(times[stored[1]].sum())
        return total

    def load(self, columns: slice) -> Source:
        """Read adjacent columns into memory, if they are not there: a table of these columns."""
        return RowSubset(self._source.load(columns), self._rows)

    def delayed(self, columns: slice) -> Any | None:
        """Return a `dask.delayed` array of adjacent columns, None if there is none."""
        values = self._source.delayed(columns)
        if values is None:
            return None
        dask: Any = require("dask", "dask")
        return dask.delayed(_take, pure=True)(values, self._rows_as_task)

    @cached_property
    def _rows_as_task(self) -> Any:
        """The rows as one task, which all chunks share."""
        dask: Any = require("dask", "dask")
        return dask.delayed(self._rows, pure=True)

    def read(self, columns: Columns) -> np.ndarray[Any, Any]:
        """Return the columns (n_samples, k) with the dtype of the table, if it has only one."""
        return _take(self._source.read(columns), self._rows)

    def identity(self) -> str:
        """Return a fingerprint of the table and of which rows these are."""
        return f"{self._source.identity()} rows {hash_of(self._rows)}"


def _take(array: np.ndarray[Any, Any], rows: IntArray) -> np.ndarray[Any, Any]:
    """Rows of an array, in the memory order of the array."""
    if array.flags.f_contiguous:
        return array.T.take(rows, axis=1).T
    return array.take(rows, axis=0)


def _as_rows(rows: npt.ArrayLike, n_samples: int) -> IntArray:
    """Indices of rows from indices or a mask."""
    given = np.asarray(rows)
    if given.dtype == np.bool_:
        if given.shape != (n_samples,):
            raise InvalidInputError(
                f"rows is a mask of shape {given.shape}, but the table has {n_samples} rows: "
                "give one boolean per row."
            )
        return np.flatnonzero(given)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise InvalidInputError(
            f"rows has shape {given.shape} and dtype {given.dtype}: give a list of row indices "
            "or a mask of booleans."
        )
    if given.size and not (given.min() >= 0 and given.max() < n_samples):
        raise InvalidInputError(
            f"rows reaches from {given.min()} to {given.max()}, but the table has {n_samples} "
            f"rows: give indices from 0 to {n_samples - 1}."
        )
    return given.astype(np.int64)
