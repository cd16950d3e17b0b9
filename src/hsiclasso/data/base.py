"""The interface of every table, however it is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from hsiclasso._types import Columns, FloatArray, IntArray
from hsiclasso.data.fingerprint import hash_of

if TYPE_CHECKING:
    from hsiclasso.data.preparation import Preparation

__all__ = [
    "Kind",
    "ListedSource",
    "Missing",
    "NamesOf",
    "Source",
    "Stored",
    "WrappedSource",
    "adjacent",
    "as_positions",
    "cut",
    "enumerated",
    "repeated",
]

#: What a column holds.
Kind = Literal["number", "bool", "category", "text"]
#: What to do with missing values.
Missing = Literal["error", "ignore"]
#: Compressed columns: indptr of shape (k + 1,), row indices and values.
Stored = tuple[IntArray, npt.NDArray[np.signedinteger[Any]], FloatArray]

#: Entries of a run of columns: large enough to be fast, small enough to be cheap.
_RUN_ENTRIES = 1 << 21


class Source:
    """A table of named columns, read by blocks of them.

    A new kind of table has at least `n_samples`, `n_features`, `name` and `block`; the other
    defaults are those of a dense table of numbers.
    """

    #: Number of rows.
    n_samples: int
    #: Number of columns.
    n_features: int
    #: What is known about the samples beside the features, by name: classes, batches, ages. Each
    #: has shape (n_samples,) or (n_samples, q): numbers, booleans, or text with None where missing.
    annotations: Mapping[str, np.ndarray[Any, Any]] = MappingProxyType({})
    #: Identifiers of the samples, if they have any.
    ids: Sequence[str] | None = None
    #: Whether the columns have names of their own, not only ``x0, x1, ...``.
    named: bool = True
    #: Whether blocks are read from memory. Other tables are read by chunks, each of them once.
    in_memory: bool = True
    #: For genotypes, the value of `levels` that stands for a missing call. The other values are
    #: then 0, 1 and 2. None if `levels` has no missing values.
    missing_level: int | None = None
    #: Whether Dask computes the columns. The graph must not be pickled with the table.
    from_dask: bool = False

    def name(self, column: int) -> str:
        """Name of one column."""
        raise NotImplementedError

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order.

        Category and text columns come as codes 0, 1, ... of their labels, missing values as NaN.
        """
        raise NotImplementedError

    def read_into(self, columns: Columns, out: FloatArray) -> None:
        """Write the columns, as `block` returns them, to an (n_samples, k) array."""
        out[:] = self.block(columns)

    def kind(self, column: int) -> Kind:
        """Kind of one column."""
        return "number"

    @property
    def uniform_kind(self) -> Kind | None:
        """Kind of all columns, or None if they differ."""
        return "number"

    def dtype_name(self, column: int) -> str:
        """Name that the container gives to the dtype of one column, such as ``int8``."""
        return "float64"

    def categories(self, column: int) -> list[Any] | None:
        """Labels of the codes 0, 1, ... of a category or text column, None for other kinds."""
        return None

    def levels(self, columns: Columns) -> np.ndarray[Any, Any] | None:
        """Return int8 or uint8 columns as they are stored, booleans as uint8, else None.

        The (n_samples, k) array may be a view of the table: do not write to it.
        """
        return None

    def calls(self, columns: Columns, samples: slice) -> np.ndarray[Any, Any]:
        """Return genotypes of some samples as `levels` does, (s, k); there is a `missing_level`."""
        levels = self.levels(columns)
        assert levels is not None
        return levels[samples]

    def column_info(self, column: int) -> dict[str, Any]:
        """What is known about one column beside its name, such as the place of a variant."""
        return {}

    def stored(self, columns: Columns) -> Stored | None:
        """Return the compressed columns of a sparse table, None for others.

        Row indices ascend within a column and occur once; stored zeros may be among the
        values. The indices may be a view of the table: do not write to them.
        """
        return None

    @property
    def n_stored(self) -> int:
        """Number of entries that are stored."""
        return self.n_samples * self.n_features

    @property
    def n_bytes(self) -> int:
        """Number of bytes that are read in one pass over the table."""
        return 8 * self.n_stored

    def chunks(self, size: int) -> list[slice]:
        """Cut the columns into chunks of about `size` bytes, each of which `load` reads at once."""
        return cut(self.n_features, size * self.n_features // max(1, self.n_bytes))

    def preparation(self, size: int) -> Preparation | None:
        """Say what must be done before chunks of `size` bytes can be read; None if nothing.

        Reads little, and does nothing of it.
        """
        return None

    def load(self, columns: slice) -> Source:
        """Read adjacent columns into memory, if they are not there: a table of these columns.

        Several threads may call it at the same time.
        """
        from hsiclasso.data.subset import ColumnSubset

        return ColumnSubset(self, np.arange(*columns.indices(self.n_features)))

    def delayed(self, columns: slice) -> Any | None:
        """Return a `dask.delayed` array (n_samples, k) of adjacent columns, None if there is none.

        The values are those that `load` gives. Only tables that Dask computes have it.
        """
        return None

    def limit_memory(self, limit: int | None) -> None:
        """Keep a table that loads itself within a number of bytes; None takes the limit away.

        A table that does not fit is read by chunks.
        """

    def use_client(self, client: Any) -> None:
        """Have a Dask client compute what is computed by Dask; None stands for the current one."""

    @property
    def bytes_to_come(self) -> int:
        """Number of bytes that a table which loads itself will still take in memory."""
        return 0

    def read(self, columns: Columns) -> np.ndarray[Any, Any]:
        """Return the columns (n_samples, k) with the dtype of the table, if it has only one."""
        return self.block(columns)

    def identity(self) -> str:
        """Return a fingerprint: tables with different values have different ones.

        A table in memory is hashed as a whole. For a table in a file, the path, the size and the
        time of the last change are enough.
        """
        parts = []
        for run in self.runs():
            names = [(self.name(j), self.kind(j)) for j in range(run.start, run.stop)]
            parts.append(hash_of(self.block(run).T, names))
        return hash_of(self.n_samples, self.n_features, *parts)

    def runs(self) -> Iterator[slice]:
        """Cut the columns into runs that are cheap to read at once."""
        yield from cut(self.n_features, _RUN_ENTRIES // max(1, self.n_samples))


class NamesOf(Sequence[str]):
    """Names of adjacent columns of a table, made when they are asked for."""

    def __init__(self, source: Source, columns: slice) -> None:
        self._source = source
        self._columns = range(*columns.indices(source.n_features))

    def __len__(self) -> int:
        return len(self._columns)

    def __getitem__(self, place: Any) -> Any:
        return self._source.name(self._columns[place])


class ListedSource(Source):
    """A table whose names and kinds are known column by column."""

    def __init__(self, names: Sequence[str], kinds: Sequence[Kind], n_samples: int) -> None:
        self._names, self._kinds = list(names), list(kinds)
        self.n_samples, self.n_features = n_samples, len(self._names)
        different = set(self._kinds)
        self._uniform_kind = different.pop() if len(different) == 1 else None

    def name(self, column: int) -> str:
        """Name of one column."""
        return self._names[column]

    def kind(self, column: int) -> Kind:
        """Kind of one column."""
        return self._kinds[column]

    @property
    def uniform_kind(self) -> Kind | None:
        """Kind of all columns, or None if they differ."""
        return self._uniform_kind


class WrappedSource(Source):
    """A table on top of another one, with the same columns; a subclass changes some of it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.n_samples, self.n_features = source.n_samples, source.n_features
        self.annotations, self.ids, self.named = source.annotations, source.ids, source.named
        self.in_memory, self.missing_level = source.in_memory, source.missing_level
        self.from_dask = source.from_dask

    def name(self, column: int) -> str:
        """Name of one column."""
        return self._source.name(column)

    def kind(self, column: int) -> Kind:
        """Kind of one column."""
        return self._source.kind(column)

    @property
    def uniform_kind(self) -> Kind | None:
        """Kind of all columns, or None if they differ."""
        return self._source.uniform_kind

    def dtype_name(self, column: int) -> str:
        """Name of the dtype of one column."""
        return self._source.dtype_name(column)

    def categories(self, column: int) -> list[Any] | None:
        """Labels of the codes in the table below, None for columns without."""
        return self._source.categories(column)

    def column_info(self, column: int) -> dict[str, Any]:
        """What is known about one column beside its name."""
        return self._source.column_info(column)

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""
        return self._source.block(columns)

    def levels(self, columns: Columns) -> np.ndarray[Any, Any] | None:
        """Return int8 or uint8 columns as they are stored, booleans as uint8, else None."""
        return self._source.levels(columns)

    def calls(self, columns: Columns, samples: slice) -> np.ndarray[Any, Any]:
        """Return genotypes of some samples."""
        return self._source.calls(columns, samples)

    def stored(self, columns: Columns) -> Stored | None:
        """Return the compressed columns of a sparse table, None for others."""
        return self._source.stored(columns)

    @property
    def n_stored(self) -> int:
        """Number of entries that are stored."""
        return self._source.n_stored

    @property
    def n_bytes(self) -> int:
        """Number of bytes that are read in one pass over the table."""
        return self._source.n_bytes

    def chunks(self, size: int) -> list[slice]:
        """Cut the columns into chunks of about `size` bytes, each of which `load` reads at once."""
        return self._source.chunks(size)

    def preparation(self, size: int) -> Preparation | None:
        """Say what must be done before chunks of `size` bytes can be read; None if nothing."""
        below = self._source.preparation(size)
        if below is None:
            return None
        made = copy(self)
        made._source = below.stand_in
        return replace(below, stand_in=made)

    def load(self, columns: slice) -> Source:
        """Read adjacent columns into memory, if they are not there: a table of these columns."""
        return self._source.load(columns)

    def delayed(self, columns: slice) -> Any | None:
        """Return a `dask.delayed` array of adjacent columns, None if there is none."""
        return self._source.delayed(columns)

    def limit_memory(self, limit: int | None) -> None:
        """Keep a table that loads itself within a number of bytes."""
        self._source.limit_memory(limit)
        self.in_memory = self._source.in_memory

    def use_client(self, client: Any) -> None:
        """Have a Dask client compute what is computed by Dask; None stands for the current one."""
        self._source.use_client(client)

    @property
    def bytes_to_come(self) -> int:
        """Number of bytes that a table which loads itself will still take in memory."""
        return self._source.bytes_to_come

    def read(self, columns: Columns) -> np.ndarray[Any, Any]:
        """Return the columns (n_samples, k) with the dtype of the table, if it has only one."""
        return self._source.read(columns)

    def identity(self) -> str:
        """Return a fingerprint of the table."""
        return self._source.identity()


def repeated(names: Sequence[Hashable]) -> list[str]:
    """Return names, or identifiers, that occur more than once, as text."""
    if len(set(names)) == len(names):
        return []
    return [str(name) for name, count in Counter(names).items() if count > 1]


def enumerated(names: Sequence[str], most: int = 10) -> str:
    """Join names, the first few of many.

    Examples
    --------
    >>> enumerated(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def cut(n_columns: int, width: int) -> list[slice]:
    """Cut columns into chunks of the same width, one column at least.

    Examples
    --------
    >>> cut(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, width)
    return [slice(start, min(n_columns, start + step)) for start in range(0, n_columns, step)]


def as_positions(columns: Columns, n_features: int) -> IntArray:
    """Return columns given as a slice or as positions as positions."""
    return np.arange(*columns.indices(n_features)) if isinstance(columns, slice) else columns


def adjacent(columns: IntArray) -> Columns:
    """Return positions as a slice if they are adjacent, which is cheaper to read."""
    if columns.size and (np.diff(columns) == 1).all():
        return slice(int(columns[0]), int(columns[-1]) + 1)
    return columns
