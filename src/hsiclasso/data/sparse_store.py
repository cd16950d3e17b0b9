"""Sparse tables that are not in memory: compressed columns (CSC) and compressed rows (CSR).

Columns of a CSC table are adjacent in the file, and a chunk of them is one read. Of a CSR table,
every row must be read to get a column. It is therefore read once and kept in memory as compressed
columns, if these fit. If not, chunks of columns are as large as memory allows, and each of them
reads all rows.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from threading import Lock
from typing import Any, Literal, NoReturn, TypeVar

import numpy as np
from scipy import sparse

from hsiclasso._memory import free_bytes, in_words
from hsiclasso._types import Columns, FloatArray, IntArray
from hsiclasso.data.base import Source, Stored, as_positions, cut
from hsiclasso.data.fingerprint import hash_of
from hsiclasso.data.preparation import Cost, Preparation, StandIn, time_parts
from hsiclasso.data.sources import SparseSource, UniformSource, check_numbers
from hsiclasso.data.store import Store, warn_of_absent_chunks
from hsiclasso.data.stored import LEAST_CHUNKS
from hsiclasso.errors import InvalidInputError

__all__ = ["CompressedFile", "StoredColumns", "StoredRows", "StoredSparse", "sparse_source"]

Array = np.ndarray[Any, Any]
_T = TypeVar("_T")
#: A part of a compressed matrix: its first row or column, indptr from 0, indices and values.
_Piece = tuple[int, IntArray, Array, Array]

#: Entries that are read at once.
_PIECE = 1 << 21
#: Largest number of entries of a matrix with 32-bit indices.
_MOST_ENTRIES = np.iinfo(np.int32).max


class CompressedFile:
    """A compressed sparse matrix in a group with `data`, `indices` and `indptr`.

    Parameters
    ----------
    store : Store
    key : str
        The group.
    form : {"csr", "csc"}
    shape : tuple of int
    """

    def __init__(
        self, store: Store, key: str, form: Literal["csr", "csc"], shape: tuple[int, int]
    ) -> None:
        self.store, self.key, self.form, self.shape = store, key, form, shape
        with store.open(key) as group:
            self.indptr: IntArray = np.asarray(group["indptr"][:]).astype(np.int64)
            data, indices = group["data"], group["indices"]
            self.dtype = np.dtype(data.dtype)
            for array in (group["indptr"], data, indices):
                warn_of_absent_chunks(array, f"{key} of {store}")
            self._check(data.shape, indices.shape)

    def _check(self, *lengths: tuple[int, ...]) -> None:
        """Raise if the arrays do not fit together."""
        check_numbers(f"{self.key} of {self.store}", self.dtype)
        n_parts = self.shape[0 if self.form == "csr" else 1]
        right = (
            self.indptr.shape == (n_parts + 1,)
            and self.indptr[0] == 0
            and (np.diff(self.indptr) >= 0).all()
            and all(length == (self.indptr[-1],) for length in lengths)
        )
        if not right:
            raise InvalidInputError(
                f"{self.key} of {self.store} is no valid {self.form.upper()} matrix of shape "
                f"{self.shape}: indptr, indices and data do not fit together; write it again."
            )

    @property
    def n_stored(self) -> int:
        """Number of entries."""
        return int(self.indptr[-1])

    @property
    def entry_bytes(self) -> int:
        """Bytes of one entry in memory, value and index."""
        return int(self.dtype.itemsize) + 4

    def indices(self, start: int, stop: int) -> Array:
        """Read indices of some adjacent rows (CSR) or columns (CSC)."""
        return self._read("indices", start, stop).astype(np.int32, copy=False)

    def part(self, start: int, stop: int) -> _Piece:
        """Read some adjacent rows (CSR) or columns (CSC)."""
        indptr = self.indptr[start : stop + 1]
        values = self._read("data", start, stop)
        return start, indptr - indptr[0], self.indices(start, stop), values

    def matrix(self, ends: tuple[int, int]) -> Any:
        """Read some adjacent rows (CSR) or columns (CSC) as a sparse array."""
        start, indptr, indices, values = self.part(*ends)
        by_rows, n_parts = self.form == "csr", ends[1] - start
        length = self.shape[1 if by_rows else 0]
        if indices.size and not (indices.min() >= 0 and indices.max() < length):
            _refuse_index(self)
        parts = (values, indices, indptr.astype(np.int32))
        if by_rows:
            return sparse.csr_array(parts, shape=(n_parts, length))
        return sparse.csc_array(parts, shape=(length, n_parts))

    def _read(self, name: str, start: int, stop: int) -> Array:
        with self.store.open(self.key) as group:
            return np.asarray(group[name][int(self.indptr[start]) : int(self.indptr[stop])])

    def cuts(self, entries: int) -> list[tuple[int, int]]:
        """Cut the rows (CSR) or columns (CSC) into parts with about so many entries."""
        return _cuts(self.indptr, entries)


def _cuts(indptr: IntArray, entries: int) -> list[tuple[int, int]]:
    """Cut positions into ranges with at most so many entries, or of one position."""
    ranges, start, last = [], 0, indptr.size - 1
    while start < last:
        stop = int(np.searchsorted(indptr, indptr[start] + entries, side="right")) - 1
        stop = min(last, max(stop, start + 1))
        ranges.append((start, stop))
        start = stop
    return ranges


def sparse_source(
    file: CompressedFile, names: Sequence[str] | None = None, *, memory_limit: int | None = None
) -> Source:
    """Return a sparse matrix in a file as a table.

    Parameters
    ----------
    file : CompressedFile
    names : sequence of str, optional
        Column names.
    memory_limit : int, optional
        Bytes that the columns of a CSR matrix may take; by default half of the free memory.
    """
    if file.form == "csc":
        return StoredColumns(file, names)
    return StoredRows(file, names, free_bytes() // 2 if memory_limit is None else memory_limit)


class StoredSparse(UniformSource):
    """Columns of a sparse matrix that is not in memory; a subclass says how they are read.

    Parameters
    ----------
    file : CompressedFile or SparseBlocks
        Has `dtype`, `shape`, `n_stored` and `entry_bytes`.
    names : sequence of str or None
        Column names.
    """

    def __init__(self, file: Any, names: Sequence[str] | None) -> None:
        super().__init__(file.dtype, file.shape, names)
        self._file = file
        self.in_memory = False

    def gather(self, columns: IntArray) -> Any:
        """Read columns, given in ascending order and once each, as a CSC array."""
        raise NotImplementedError

    def held(self, columns: Columns) -> tuple[SparseSource, Columns]:
        """Read columns into memory: a table, and where they are in it."""
        wanted, places = np.unique(as_positions(columns, self.n_features), return_inverse=True)
        in_order = np.array_equal(places, np.arange(wanted.size))
        return SparseSource(self.gather(wanted)), slice(None) if in_order else places

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""
        if not as_positions(columns, self.n_features).size:  # read nothing
            return np.empty((self.n_samples, 0), order="F")
        table, places = self.held(columns)
        return table.block(places)

    def read(self, columns: Columns) -> Array:
        """Return the columns (n_samples, k) with the dtype of the file."""
        table, places = self.held(columns)
        return table.read(places)

    def stored(self, columns: Columns) -> Stored:
        """Return the compressed columns."""
        if not as_positions(columns, self.n_features).size:  # asks for the storage only
            nothing = np.zeros(0, dtype=np.int32)
            return np.zeros(1, dtype=np.int64), nothing, np.zeros(0)
        table, places = self.held(columns)
        return table.stored(places)

    def load(self, columns: slice) -> Source:
        """Read adjacent columns into memory, with the dtype of the file."""
        wanted = as_positions(columns, self.n_features)
        names = None if self._names is None else self._names[columns]
        return SparseSource(self.gather(wanted), names)

    @property
    def n_stored(self) -> int:
        """Number of entries that are stored."""
        return int(self._file.n_stored)

    @property
    def n_bytes(self) -> int:
        """Number of bytes that are read in one pass over the table."""
        return self.n_stored * int(self._file.entry_bytes)

    def identity(self) -> str:
        """Return a fingerprint of the file, or of the values if there is none."""
        known = self._file.store.identity(self._file.key)
        return super().identity() if known is None else f"{known} {hash_of(self._file.indptr)}"


class StoredColumns(StoredSparse):
    """Columns of a CSC matrix in a file, read by chunks.

    Parameters
    ----------
    file : CompressedFile
    names : sequence of str, optional
        Column names.
    """

    def chunks(self, size: int) -> list[slice]:
        """Cut the columns into chunks of about `size` bytes, each of which is one read."""
        entries = min(size // self._file.entry_bytes, -(-self.n_stored // LEAST_CHUNKS))
        return [slice(*ends) for ends in self._file.cuts(max(1, entries))]

    def gather(self, columns: IntArray) -> Any:
        """Read columns, given in ascending order and once each, as a CSC array."""
        breaks = np.flatnonzero(np.diff(columns) != 1) + 1
        runs = [run for run in np.split(columns, breaks) if run.size]
        parts = [self._run(int(run[0]), int(run[-1]) + 1) for run in runs]
        empty = sparse.csc_array((self.n_samples, 0), dtype=self._dtype)
        return parts[0] if len(parts) == 1 else sparse.hstack([empty, *parts], format="csc")

    def _run(self, start: int, stop: int) -> Any:
        """Read adjacent columns."""
        return self._file.matrix((start, stop))


class StoredRows(StoredSparse):
    """Columns of a CSR matrix in a file, in memory as compressed columns if these fit.

    Parameters
    ----------
    file : CompressedFile
    names : sequence of str or None
        Column names.
    budget : int
        Bytes that the compressed columns may take.
    """

    def __init__(self, file: CompressedFile, names: Sequence[str] | None, budget: int) -> None:
        super().__init__(file, names)
        self._given = budget
        self._whole: SparseSource | None = None
        self._lock = Lock()
        self.limit_memory(None)

    def __getstate__(self) -> dict[str, Any]:
        # another process reads the file itself
        return self.__dict__ | {"_whole": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())

    def limit_memory(self, limit: int | None) -> None:
        """Keep the columns within a number of bytes, and within what was given at first."""
        self._budget = self._given if limit is None else min(self._given, limit)
        self.__dict__.pop("_ranges", None)
        self.in_memory = self.n_stored <= min(_MOST_ENTRIES, self._budget // self._file.entry_bytes)
        if not self.in_memory:
            self._whole = None

    @property
    def bytes_to_come(self) -> int:
        """Number of bytes that the columns will still take, all of them or ranges of them."""
        if not self.in_memory:
            return self._budget
        return self.n_bytes if self._whole is None else 0

    def held(self, columns: Columns) -> tuple[SparseSource, Columns]:
        """Return a table in memory, and where the columns are in it."""
        if not self.in_memory:
            return super().held(columns)
        with self._lock:
            if self._whole is None:
                self._whole = SparseSource(self.gather(np.arange(self.n_features)))
        return self._whole, columns

    def read(self, columns: Columns) -> Array:
        """Return the columns (n_samples, k) with the dtype of the file; read no others."""
        if self._whole is not None:
            return self._whole.read(columns)
        table, places = super().held(columns)
        return table.read(places)

    def load(self, columns: slice) -> Source:
        """Read adjacent columns into memory, if they are not there: a table of these columns."""
        return Source.load(self, columns) if self.in_memory else super().load(columns)

    def chunks(self, size: int) -> list[slice]:
        """Cut the columns into chunks; if they do not fit in memory, as few as possible."""
        if self.in_memory:
            return super().chunks(size)
        logging.getLogger("hsiclasso").warning("%s", self._sentence(len(self._ranges)))
        return self._ranges

    def preparation(self, size: int) -> Preparation | None:
        """Say what reading all rows several times costs, if the columns do not fit in memory."""
        if self.in_memory:
            return None
        n_scans = -(-self.n_stored // self._entries)
        # compressing columns takes about as long as moving entries to them
        parts, seconds = time_parts(
            lambda ends: self._file.matrix(ends).tocsc(), self._file.cuts(_PIECE)
        )
        scan = seconds * self.n_stored / max(1, sum(part.nnz for part in parts))
        index = 4 * self.n_stored
        return Preparation(
            self._sentence(n_scans),
            Cost(index, scan * index / self.n_bytes),  # entries are counted first
            Cost(n_scans * self.n_bytes, n_scans * scan),
            StandIn(self, cut(self.n_features, -(-self.n_features // n_scans)), parts[0]),
        )

    def _sentence(self, n_scans: int) -> str:
        return (
            f"{self._file.store} ({self._file.key}) is stored by rows, and its columns do not fit "
            f"in {in_words(self._budget)} of memory: all rows are read {n_scans} times. Store it "
            "as a CSC matrix to read everything once."
        )

    def runs(self) -> Iterator[slice]:
        """Cut the columns into runs; if they do not fit in memory, as few as possible."""
        return super().runs() if self.in_memory else iter(self._ranges)

    @cached_property
    def _ranges(self) -> list[slice]:
        """Ranges of columns that fit in memory, one for each thread and one that is read ahead."""
        ends = np.concatenate([[0], np.cumsum(self._counts)])
        return [slice(*part) for part in _cuts(ends, self._entries)]

    @property
    def _entries(self) -> int:
        """Most entries of a range."""
        entries = self._budget // ((1 + (os.cpu_count() or 1)) * int(self._file.entry_bytes))
        return min(_MOST_ENTRIES, max(1, entries))

    @cached_property
    def _counts(self) -> IntArray:
        """Number of entries of each column, counted in one pass over the indices."""
        from hsiclasso.data._sparse_loops import count

        counts = np.zeros(self.n_features, dtype=np.int64)
        for indices in _read_ahead(self._file.indices, self._file.cuts(_PIECE)):
            if not count(indices, counts):
                _refuse_index(self._file)
        return counts

    def gather(self, columns: IntArray) -> Any:
        """Read columns, given in ascending order and once each, as a CSC array.

        Memory beside the result is that of a few pieces of rows.
        """
        from hsiclasso.data._sparse_loops import scatter

        indptr = np.concatenate([[0], np.cumsum(self._counts[columns])])
        place = np.full(self.n_features, -1, dtype=np.int32)
        place[columns] = np.arange(columns.size)
        rows = np.empty(indptr[-1], dtype=np.int32)
        values = np.empty(indptr[-1], dtype=self._dtype)
        # one compiled loop moves all types of the same size
        raw, ends = np.dtype(f"u{self._dtype.itemsize}"), indptr[:-1].copy()
        fits = True
        for first, starts, indices, data in _read_ahead(self._file.part, self._file.cuts(_PIECE)):
            fits = fits and scatter(
                first, starts, indices, data.view(raw), place, ends, rows, values.view(raw)
            )
        if not fits or not np.array_equal(ends, indptr[1:]):
            raise InvalidInputError(
                f"{self._file.store} changed while it was read: wait until it is complete."
            )
        shape = (self.n_samples, columns.size)
        return sparse.csc_array((values, rows, indptr.astype(np.int32)), shape=shape)


def _read_ahead(read: Callable[[int, int], _T], ranges: list[tuple[int, int]]) -> Iterator[_T]:
    """Yield what is read of each range; the next one is read in the meantime."""
    with ThreadPoolExecutor(1) as thread:
        coming = [thread.submit(read, *ends) for ends in ranges[:1]]
        for ends in ranges[1:]:
            coming.append(thread.submit(read, *ends))
            yield coming.pop(0).result()
        if coming:
            yield coming.pop(0).result()


def _refuse_index(file: CompressedFile) -> NoReturn:
    raise InvalidInputError(
        f"{file.key} of {file.store} has an entry outside its shape {file.shape}: the file is "
        "corrupt; write it again."
    )
