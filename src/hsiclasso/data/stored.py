"""Tables that are not in memory: their columns are read by chunks."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hsiclasso._types import Columns, FloatArray
from hsiclasso.data.base import NamesOf, Source, WrappedSource, as_positions, cut
from hsiclasso.data.fingerprint import file_state
from hsiclasso.data.places import Transposed, copy_columns, opener, stored_path
from hsiclasso.data.preparation import Preparation
from hsiclasso.data.reading import package_of, reading
from hsiclasso.data.rechunk import Panels, Rechunking, chunk_blocks, panel_edges
from hsiclasso.data.sources import ArraySource, ReadSource, UniformSource, check_numbers
from hsiclasso.data.store import warn_of_absent_chunks
from hsiclasso.errors import InvalidInputError

__all__ = [
    "LEAST_CHUNKS",
    "HeldColumns",
    "Outline",
    "StoredArray",
    "check_array_form",
    "even_chunks",
    "is_stored_array",
    "join_chunks",
    "whole_chunks",
]

#: A table has at least this many chunks, if it has enough columns, so that threads share them.
LEAST_CHUNKS = 8
#: A chunk may be this many times larger than asked.
_MOST_TIMES = 4
#: Arrays of at most this many bytes are not worth re-chunking: their chunks are read as they are.
_SMALL_BYTES = 32 * 2**20
#: Arrays in row order without chunks are re-chunked if they have more bytes, too many for the
#: system's cache, and a chunk of columns takes fewer bytes of each row.
_CACHED_BYTES, _SHORT_RUN = 2**30, 1024


class StoredArray(ReadSource):
    """Columns of a dense array that is not in memory.

    Parameters
    ----------
    array : numpy.memmap, h5py.Dataset, zarr.Array or similar, of shape (n_samples, n_features)
        Anything with `shape`, `dtype` and slices of columns. If it has `chunks`, chunks of columns
        are read as they are stored.
    names : sequence of str, optional
        Column names; ``x0, x1, ...`` by default.

    Notes
    -----
    If the chunks of the store have so many columns that memory cannot hold all samples of these,
    `chunks` first copies the array to a temporary file, after a `RechunkWarning`. A pickle holds
    the path of the array.
    """

    def __init__(self, array: Any, names: Sequence[str] | None = None) -> None:
        self._path = path = stored_path(array)
        self._where = "X" if path is None else path
        check_array_form(array, "X")
        warn_of_absent_chunks(array, self._where)
        super().__init__(np.dtype(array.dtype), array.shape, names)
        self._opened, self._open = array, opener(array)
        self._panels: Panels | None = None
        self._lock = threading.Lock()
        chunks = getattr(array, "chunks", None)
        #: Number of rows and of columns that are stored together.
        self._together = (self.n_samples, 1) if chunks is None else (int(chunks[0]), int(chunks[1]))
        in_rows = array.flags.c_contiguous if isinstance(array, np.ndarray) else chunks is None
        self._in_rows = in_rows and not isinstance(array, Transposed)
        inner = getattr(array, "below", array)
        place = getattr(inner, "name", getattr(inner, "offset", ""))
        self._label = f"{place} {self._dtype} {self.n_samples} x {self.n_features}"

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_lock"]
        if self._open is not None:
            state["_opened"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
        if self._panels is not None and not os.path.exists(self._panels.path):
            self._panels = None  # another machine: read the array itself

    @property
    def _array(self) -> Any:
        """The array, opened when it is needed."""
        if self._panels is not None:
            return self._panels
        with self._lock:
            if self._opened is None and self._open is not None:
                with reading(self._where, "an array"):
                    self._opened = self._open()
        return self._opened

    def identity(self) -> str:
        """Return a fingerprint of the file, or of the values if there is none."""
        if self._path is None:
            return super().identity()
        return f"{file_state(self._path)} {self._label}"

    def must_be_rechunked(self, size: int) -> bool:
        """Whether `chunks` of `size` bytes make a temporary copy of the array first."""
        column = max(1, self.n_samples * self._dtype.itemsize)
        if self._panels is not None or self.n_bytes <= max(_SMALL_BYTES, _MOST_TIMES * size):
            return False
        if self._in_rows:
            run = self._width(size) * self._dtype.itemsize
            return self.n_bytes > _CACHED_BYTES and run < min(
                _SHORT_RUN, self.n_features * self._dtype.itemsize
            )
        return self._together[1] * column > _MOST_TIMES * size

    def chunks(self, size: int) -> list[slice]:
        """Cut the columns into chunks of about `size` bytes, in whole chunks of the store.

        Makes a temporary copy of the array first, if it must be re-chunked.
        """
        width = self._width(size)
        if self.must_be_rechunked(size):
            self._rechunk(width)
        if self._panels is not None:
            return whole_chunks(self._panels.edges, width)
        return even_chunks(self.n_features, width, self._together[1])

    def preparation(self, size: int) -> Preparation | None:
        """Say what making a temporary copy costs, if the array must be re-chunked."""
        if not self.must_be_rechunked(size):
            return None
        width = self._width(size)
        work = self._rechunking(width)
        with reading(self._where, "an array"):
            return work.preparation(self, whole_chunks(work.edges, width))

    def _width(self, size: int) -> int:
        """Number of columns of about `size` bytes."""
        return max(1, size // max(1, self.n_samples * self._dtype.itemsize))

    def _rechunking(self, width: int) -> Rechunking:
        shape = (self.n_samples, self.n_features)
        together = (1, self.n_features) if self._in_rows else self._together
        edges = panel_edges(self.n_features, together[1], width)
        blocks = list(chunk_blocks(shape, together, self._dtype.itemsize))
        return Rechunking(self._array, edges, blocks, self._where, together)

    def _rechunk(self, width: int) -> None:
        work = self._rechunking(width)
        with self._lock:
            if self._panels is None:
                with reading(self._where, "an array"):
                    self._panels = work.run()

    def load(self, columns: slice) -> Source:
        """Read adjacent columns into memory, with the dtype of the store."""
        names = NamesOf(self, columns)
        array = self._array
        with reading(self._where, "an array"):
            part = copy_columns(array, columns) if isinstance(array, np.ndarray) else None
        return ArraySource(self._slice(columns) if part is None else part, names)

    def read(self, columns: Columns) -> np.ndarray[Any, Any]:
        """Return the columns (n_samples, k) with the dtype of the store."""
        if isinstance(columns, slice):
            return self._slice(columns)
        out = np.empty((self.n_samples, columns.size), dtype=self._dtype, order="F")
        if self._panels is not None:
            chunk_of = np.searchsorted(self._panels.edges, columns, side="right")
        else:
            chunk_of = columns // self._together[1]
        for chunk in np.unique(chunk_of):  # read each chunk of the store once
            places = np.flatnonzero(chunk_of == chunk)
            low, high = int(columns[places].min()), int(columns[places].max())
            part = self._slice(slice(low, high + 1))
            out[:, places] = part[:, columns[places] - low]
        return out

    def _slice(self, columns: slice) -> np.ndarray[Any, Any]:
        array = self._array
        with reading(f"{self._where}[:, {columns.start}:{columns.stop}]", "an array"):
            return np.asarray(array[:, columns])


def check_array_form(array: Any, where: str) -> None:
    """Raise if an array is no table of numbers."""
    if len(array.shape) != 2:
        raise InvalidInputError(
            f"{where} has shape {tuple(array.shape)}, but a table has two dimensions, samples and "
            "features: reshape it."
        )
    check_numbers(where, array.dtype)


def even_chunks(n_features: int, width: int, together: int = 1) -> list[slice]:
    """Cut columns into chunks of about `width`, several at least, in multiples of `together`."""
    wanted = min(width, -(-n_features // LEAST_CHUNKS))
    return cut(n_features, together * max(1, wanted // together))


def whole_chunks(edges: Sequence[int], width: int) -> list[slice]:
    """Join adjacent chunks of columns, which begin at `edges`; return several at least.

    Examples
    --------
    >>> whole_chunks([0, 2, 4, 9, 10], 100)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 9, None), slice(9, 10, None)]
    """
    return join_chunks(edges, min(width, -(-edges[-1] // LEAST_CHUNKS)))


def join_chunks(edges: Sequence[int], width: int) -> list[slice]:
    """Join adjacent chunks, which begin at `edges`, as long as they are not wider than `width`.

    Examples
    --------
    >>> join_chunks([0, 2, 4, 9, 10], 4)
    [slice(0, 4, None), slice(4, 9, None), slice(9, 10, None)]
    """
    parts: list[slice] = []
    for start, stop in itertools.pairwise(edges):
        if parts and stop - parts[-1].start <= width:
            parts[-1] = slice(parts[-1].start, stop)
        else:
            parts.append(slice(start, stop))
    return parts


class HeldColumns(WrappedSource):
    """A table that is not in memory, with some columns that are.

    Parameters
    ----------
    source : Source
        The table.
    held : mapping of int to ndarray of shape (n_samples,)
        Columns that were read before, as float64.
    """

    def __init__(self, source: Source, held: Mapping[int, FloatArray]) -> None:
        super().__init__(source)
        self._held = dict(held)

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array; read those not held."""
        wanted = as_positions(columns, self.n_features)
        held = np.array([j in self._held for j in wanted.tolist()], dtype=bool)
        if not held.any():
            return self._source.block(columns)
        out = np.empty((self.n_samples, wanted.size), order="F")
        for place in np.flatnonzero(held):
            out[:, place] = self._held[int(wanted[place])]
        if not held.all():
            out[:, ~held] = self._source.block(wanted[~held])
        return out


class Outline(UniformSource):
    """The names of a table without its values, to be sent to others."""

    def __init__(self, source: Source) -> None:
        names = [source.name(j) for j in range(source.n_features)] if source.named else None
        super().__init__(np.dtype(float), (source.n_samples, source.n_features), names)


def is_stored_array(X: Any) -> bool:
    """Whether an object is an array that is not in memory: memory-mapped, HDF5 or Zarr."""
    return isinstance(X, np.memmap) or (package_of(X) in ("h5py", "zarr") and hasattr(X, "dtype"))
