"""Some columns of a table, without a copy of the table."""

from __future__ import annotations

from typing import Any

import numpy as np

from hsiclasso._types import Columns, FloatArray, IntArray
from hsiclasso.data.base import Kind, Source, Stored, WrappedSource, adjacent, as_positions
from hsiclasso.data.fingerprint import hash_of

__all__ = ["ColumnSubset"]


class ColumnSubset(WrappedSource):
    """Some columns of another source, in ascending order.

    Parameters
    ----------
    source : Source
        The table.
    columns : ndarray of int of shape (k,)
        Positions of the columns, ascending.

    Examples
    --------
    >>> from hsiclasso.data import as_source
    >>> table = ColumnSubset(as_source(np.arange(12).reshape(3, 4)), np.array([1, 3]))
    >>> table.name(1), table.block(slice(1, 2)).ravel().tolist()
    ('x3', [3.0, 7.0, 11.0])
    """

    def __init__(self, source: Source, columns: IntArray) -> None:
        super().__init__(source)
        self._columns = columns
        self.n_features = columns.size
        self._uniform_kind: Kind | None = source.uniform_kind
        if self._uniform_kind is None:
            kinds = {source.kind(int(j)) for j in columns}
            self._uniform_kind = kinds.pop() if len(kinds) == 1 else None
        self.named = source.named or not np.array_equal(columns, np.arange(columns.size))

    def name(self, column: int) -> str:
        """Name of one column."""
        return self._source.name(int(self._columns[column]))

    def kind(self, column: int) -> Kind:
        """Kind of one column."""
        return self._source.kind(int(self._columns[column]))

    @property
    def uniform_kind(self) -> Kind | None:
        """Kind of all columns, or None if they differ."""
        return self._uniform_kind

    def dtype_name(self, column: int) -> str:
        """Name of the dtype of one column."""
        return self._source.dtype_name(int(self._columns[column]))

    def categories(self, column: int) -> list[Any] | None:
        """Labels of the codes of a column, None for columns without."""
        return self._source.categories(int(self._columns[column]))

    def column_info(self, column: int) -> dict[str, Any]:
        """What is known about one column beside its name."""
        return self._source.column_info(int(self._columns[column]))

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""
        return self._source.block(self._below(columns))

    def read_into(self, columns: Columns, out: FloatArray) -> None:
        """Write the columns to an (n_samples, k) array."""
        self._source.read_into(self._below(columns), out)

    def read(self, columns: Columns) -> np.ndarray[Any, Any]:
        """Return the columns (n_samples, k) with the dtype of the table, if it has only one."""
        return self._source.read(self._below(columns))

    def levels(self, columns: Columns) -> np.ndarray[Any, Any] | None:
        """Return int8 or uint8 columns as they are stored, booleans as uint8, else None."""
        return self._source.levels(self._below(columns))

    def calls(self, columns: Columns, samples: slice) -> np.ndarray[Any, Any]:
        """Return genotypes of some samples."""
        return self._source.calls(self._below(columns), samples)

    def stored(self, columns: Columns) -> Stored | None:
        """Return the compressed columns of a sparse table, None for others."""
        return self._source.stored(self._below(columns))

    @property
    def n_stored(self) -> int:
        """Number of entries that are stored, if all columns have the same share of them."""
        return self._source.n_stored * self.n_features // max(1, self._source.n_features)

    @property
    def n_bytes(self) -> int:
        """Number of bytes that are read in one pass over the table."""
        return self._source.n_bytes * self.n_features // max(1, self._source.n_features)

    def chunks(self, size: int) -> list[slice]:
        """Cut the columns into chunks of about `size` bytes, each of which `load` reads at once."""
        ends = np.searchsorted(self._columns, [part.stop for part in self._source.chunks(size)])
        parts = zip([0, *ends.tolist()], ends.tolist(), strict=False)
        return [slice(start, stop) for start, stop in parts if start < stop]

    def load(self, columns: slice) -> Source:
        """Read adjacent columns into memory, if they are not there: a table of these columns."""
        wanted = self._columns[columns]
        if self.in_memory or not wanted.size:
            return ColumnSubset(self._source, wanted)
        first, stop = int(wanted[0]), int(wanted[-1]) + 1
        loaded = self._source.load(slice(first, stop))
        return loaded if stop - first == wanted.size else ColumnSubset(loaded, wanted - first)

    def delayed(self, columns: slice) -> Any | None:
        """Return a `dask.delayed` array of adjacent columns, None if there is none."""
        wanted = self._columns[columns]
        if not wanted.size:
            return None
        first, stop = int(wanted[0]), int(wanted[-1]) + 1
        values = self._source.delayed(slice(first, stop))
        return (
            values if values is None or stop - first == wanted.size else values[:, wanted - first]
        )

    def identity(self) -> str:
        """Return a fingerprint of the table and of which columns these are."""
        return f"{self._source.identity()} columns {hash_of(self._columns)}"

    def _below(self, columns: Columns) -> Columns:
        """Positions of columns in the table below: a slice if they are adjacent."""
        return adjacent(self._columns[as_positions(columns, self.n_features)])
