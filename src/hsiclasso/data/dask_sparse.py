"""Dask arrays of sparse blocks, such as the matrices of AnnData that are read lazily.

Blocks with some of the columns are computed when these are needed. If blocks have all columns, all
of them are needed for any column. They are then computed once, one at a time, and kept as
compressed columns. If these do not fit in memory, the array is refused.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from hsiclasso._memory import free_bytes, in_words
from hsiclasso._types import Columns, IntArray
from hsiclasso.data.base import Source
from hsiclasso.data.sources import SparseSource, check_numbers
from hsiclasso.data.sparse_store import StoredSparse
from hsiclasso.data.stored import whole_chunks
from hsiclasso.data.structure import check_sparse
from hsiclasso.errors import InvalidInputError

__all__ = ["SparseBlocks", "SparseDaskSource"]


class SparseBlocks:
    """A Dask array of sparse blocks; the number of its entries is that of the first block, scaled.

    Parameters
    ----------
    array : dask.array.Array
    """

    def __init__(self, array: Any) -> None:
        check_numbers("X (a Dask array)", array.dtype)
        self.array = array
        #: Computes blocks; None stands for the scheduler that is current.
        self.client: Any = None
        self.dtype: np.dtype[Any] = np.dtype(array.dtype)
        self.shape: tuple[int, int] = (int(array.shape[0]), int(array.shape[1]))
        first = self.compute(array.blocks[0, 0]) if array.size else sparse.csc_array((1, 1))
        share = first.nnz / max(1, first.shape[0] * first.shape[1])
        self.n_stored = max(1, int(share * self.shape[0] * self.shape[1]))

    @property
    def entry_bytes(self) -> int:
        """Bytes of one entry in memory, value and index."""
        return int(self.dtype.itemsize) + 4

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"client": None}

    def compute(self, array: Any) -> Any:
        """Compute an array as a CSC array, in this thread if a worker of Dask asks for it."""
        from hsiclasso.data.dask import in_task

        made = array.compute(scheduler="sync" if in_task() else self.client)
        return sparse.csc_array(check_sparse("a block of X (a Dask array)", made))


class SparseDaskSource(StoredSparse):
    """Columns of a Dask array of sparse blocks.

    Parameters
    ----------
    array : dask.array.Array of shape (n_samples, n_features)
    names : sequence of str, optional
        Column names.
    budget : int, optional
        Bytes that the columns may take if each block has all of them; by default half of the free
        memory.

    Examples
    --------
    >>> import dask.array as da
    >>> lazy = da.eye(6, chunks=3).map_blocks(sparse.csr_matrix)
    >>> source = SparseDaskSource(lazy)
    >>> source.chunks(10**6), source.load(slice(3, 6)).n_stored
    ([slice(0, 3, None), slice(3, 6, None)], 3)
    """

    def __init__(self, array: Any, names: Any = None, budget: int | None = None) -> None:
        self._blocks = SparseBlocks(array)
        super().__init__(self._blocks, names)
        self._given = free_bytes() // 2 if budget is None else budget
        self._whole: SparseSource | None = None
        self._lock = Lock()
        self._edges = [0, *np.cumsum(array.chunks[1]).tolist()]
        self.in_memory = len(self._edges) <= 2
        self.limit_memory(None)

    def __getstate__(self) -> dict[str, Any]:
        if self.in_memory:  # another process needs all of it too
            self._keep()
        return self.__dict__ | {"_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())

    def use_client(self, client: Any) -> None:
        """Have a Dask client compute blocks; None stands for the scheduler that is current."""
        self._blocks.client = client

    def limit_memory(self, limit: int | None) -> None:
        """Refuse a table of which all columns are needed at once, but do not fit in memory."""
        self._budget = self._given if limit is None else min(self._given, limit)
        if self.in_memory and self.n_bytes > self._budget:
            self._refuse()

    @property
    def bytes_to_come(self) -> int:
        """Number of bytes that the columns will still take."""
        return self.n_bytes if self.in_memory and self._whole is None else 0

    def chunks(self, size: int) -> list[slice]:
        """Cut the columns into chunks of about `size` bytes, in whole blocks of the array."""
        if self.in_memory:
            return super().chunks(size)
        return whole_chunks(self._edges, max(1, size * self.n_features // self.n_bytes))

    def load(self, columns: slice) -> Source:
        """Compute adjacent columns, if they are not in memory: a table of these columns."""
        return Source.load(self, columns) if self.in_memory else super().load(columns)

    def held(self, columns: Columns) -> tuple[SparseSource, Columns]:
        """Return a table in memory, and where the columns are in it."""
        return (self._keep(), columns) if self.in_memory else super().held(columns)

    def gather(self, columns: IntArray) -> Any:
        """Compute columns, given in ascending order and once each, as a CSC array."""
        array = self._blocks.array
        every = columns.size == self.n_features
        return self._blocks.compute(array if every else array[:, columns])

    def identity(self) -> str:
        """Return a fingerprint: the token of the array, which depends on how it was built."""
        return f"dask {self._blocks.array.name} {self._dtype} {self.n_samples} x {self.n_features}"

    def _keep(self) -> SparseSource:
        """Compute all columns, once; memory beside them is that of one block of rows."""
        with self._lock:
            if self._whole is None:
                parts, n_bytes = [], 0
                for block in self._blocks.array.blocks.ravel():
                    parts.append(self._blocks.compute(block))
                    n_bytes += parts[-1].nnz * self._blocks.entry_bytes
                    if n_bytes > self._budget:
                        self._refuse()
                self._whole = SparseSource(sparse.vstack(parts, format="csc"))
            return self._whole

    def _refuse(self) -> NoReturn:
        raise InvalidInputError(
            f"X is a Dask array of {len(self._blocks.array.chunks[0])} sparse blocks with all "
            f"{self.n_features:,} columns each. All of them are needed for any column, and their "
            f"entries take more than {in_words(self._budget)} of memory: pass the path of the file "
            "or anndata.read_h5ad(FILE, backed='r'), which are read by ranges of columns, store it "
            "as a CSC matrix, or allow more memory."
        )
