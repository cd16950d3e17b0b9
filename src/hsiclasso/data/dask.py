"""Dask arrays and frames: columns are computed by chunks, never gathered as a whole."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from hsiclasso._types import Columns
from hsiclasso.data.base import Kind, Source, as_positions
from hsiclasso.data.dask_sparse import SparseDaskSource
from hsiclasso.data.fingerprint import hash_of
from hsiclasso.data.labelled import DTYPE_OF_KIND, LabelledColumns, LabelledSource
from hsiclasso.data.preparation import Preparation
from hsiclasso.data.rechunk import READ_BYTES, Panels, Rechunking, panel_edges
from hsiclasso.data.sources import ArraySource, ReadSource
from hsiclasso.data.stored import check_array_form, join_chunks, whole_chunks
from hsiclasso.errors import InvalidInputError, require

__all__ = ["DaskSource", "current_client", "in_task", "is_dask", "open_dask"]

#: Bytes of a chunk, if the chunks of the array are too large to be computed as they are.
_CHUNK_BYTES = 32 * 2**20
#: A chunk may be this many times larger.
_MOST_TIMES = 4


def is_dask(X: Any) -> bool:
    """Whether an object is a Dask array or frame; does not import Dask."""
    # views of AnnData have a class of their own
    homes = ("dask.array", "dask.dataframe", "dask_expr")
    return hasattr(X, "dask") and any(each.__module__.startswith(homes) for each in type(X).__mro__)


def current_client() -> Any | None:
    """Return the `distributed.Client` that is current, None if there is none; imports nothing."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        client = distributed.default_client()
    except ValueError:
        return None
    # a task of a worker must not wait for other tasks, and coroutines cannot be waited for here
    return None if client.asynchronous or in_task() else client


def in_task() -> bool:
    """Whether this is run by a worker; imports nothing."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


def open_dask(X: Any, names: Sequence[str] | None = None, budget: int | None = None) -> Source:
    """Return the columns of a Dask array or frame.

    An array may have names, and a number of bytes that sparse blocks may take in memory.
    """
    if hasattr(X, "columns"):
        return _open_frame(X)
    da: Any = require("dask.array", "dask")
    if type(X) is not da.Array:  # a view
        X = da.Array(X.dask, X.name, X.chunks, meta=X._meta)
    if sparse.issparse(X._meta):
        return SparseDaskSource(X, names, budget)
    return DaskSource(X, names)


class DaskSource(LabelledColumns, ReadSource):
    """Columns of a Dask array.

    Parameters
    ----------
    array : dask.array.Array of shape (n_samples, n_features)
        With any chunks. Chunks of columns are computed one by one, by the scheduler that is
        current then: threads, or the cluster of a `distributed.Client`.
    names : sequence of str, optional
        Column names; ``x0, x1, ...`` by default.
    kinds, labels : mapping of int
        Kinds of columns that are not numbers, and labels of the codes.

    Notes
    -----
    An array whose chunks have a few samples and many features is computed once, row by row, into a
    temporary file, if all samples of a chunk of columns take more than 128 MB; a `RechunkWarning`
    says so. `delayed`, which is for clusters, leaves this to Dask, and `read` does so if there is
    a cluster.

    Examples
    --------
    >>> import dask.array as da
    >>> source = DaskSource(da.ones((4, 6), chunks=(2, 3)))
    >>> source.chunks(10**6), source.delayed(slice(2, 4)).compute().shape
    ([slice(0, 3, None), slice(3, 6, None)], (4, 2))
    """

    def __init__(
        self,
        array: Any,
        names: Sequence[str] | None = None,
        kinds: Mapping[int, Kind] | None = None,
        labels: Mapping[int, list[Any]] | None = None,
    ) -> None:
        check_array_form(array, "X")
        if any(np.isnan(size) for size in array.shape):
            raise InvalidInputError(
                f"X is a Dask array of shape {array.shape}, whose chunks have unknown sizes: call "
                "X.compute_chunk_sizes() first, or to_dask_array(lengths=True) of a frame."
            )
        super().__init__(np.dtype(array.dtype), array.shape, names)
        self.from_dask = True
        self._array = array
        self._kinds, self._labels = dict(kinds or {}), dict(labels or {})
        self._edges = [0, *np.cumsum(array.chunks[1]).tolist()]
        self._panels: Panels | None = None
        self._client: Any = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "_lock": None, "_panels": None, "_client": None}
        state.pop("_by_columns", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def use_client(self, client: Any) -> None:
        """Have a Dask client compute columns; None stands for the scheduler that is current."""
        self._client = client

    def dtype_name(self, column: int) -> str:
        """Name of the dtype of one column."""
        kind = self._kinds.get(column)
        return super().dtype_name(column) if kind is None else DTYPE_OF_KIND[kind]

    def identity(self) -> str:
        """Return a fingerprint: the token of the array, which depends on how it was built.

        Arrays with the same values that were built differently have different ones, and so have
        two arrays of unnamed functions in two processes.
        """
        names = hash_of([self.name(j) for j in range(self.n_features)])
        shape = f"{self.n_samples} x {self.n_features}"
        return f"dask {self._array.name} {self._dtype} {shape} {names}"

    def chunks(self, size: int) -> list[slice]:
        """Cut the columns into chunks of about `size` bytes, in whole chunks of the array."""
        return whole_chunks(self._fitting_edges(), max(1, size // self._column_bytes))

    def load(self, columns: slice) -> Source:
        """Compute adjacent columns, with the scheduler that is current."""
        places = range(*columns.indices(self.n_features))
        if self._must_be_rechunked:
            self._rechunk()
        part = self.read(columns)
        names = [self.name(j) for j in places]
        kinds = {k: self._kinds[j] for k, j in enumerate(places) if j in self._kinds}
        if not kinds:
            return ArraySource(part, names)
        labels = {k: self._labels[j] for k, j in enumerate(places) if j in self._labels}
        return LabelledSource(part, names, kinds, labels, [self.dtype_name(j) for j in places])

    def delayed(self, columns: slice) -> Any:
        """Return a `dask.delayed` array of adjacent columns; its graph holds how it is made.

        Blocks of an array that is chunked by rows are computed once if all columns are asked for
        at once, as in ``dask.compute(*tasks)`` or ``client.compute(tasks)``.
        """
        chosen = self._by_columns[:, columns].rechunk({0: -1, 1: -1})
        return chosen.to_delayed(optimize_graph=False)[0, 0]

    @cached_property
    def _by_columns(self) -> Any:
        """The array with all samples in each chunk; its graph is made once for all chunks."""
        return self._array.rechunk({0: -1, 1: tuple(np.diff(self._fitting_edges()).tolist())})

    def read(self, columns: Columns) -> np.ndarray[Any, Any]:
        """Return the columns (n_samples, k) with the dtype of the array."""
        if not as_positions(columns, self.n_features).size:  # Dask would compute a block
            return np.empty((self.n_samples, 0), dtype=self._dtype)
        if self._must_be_rechunked and self._client is None and current_client() is None:
            self._rechunk()
        if isinstance(columns, slice):
            if self._panels is not None:
                return self._panels[:, columns]
            return np.asarray(self._array[:, columns].compute(scheduler=self._client))
        unique, place = np.unique(columns, return_inverse=True)
        if self._panels is not None:
            parts = [self._panels[:, slice(j, j + 1)] for j in unique.tolist()]
            part = np.concatenate([np.empty((self.n_samples, 0), self._dtype), *parts], axis=1)
        else:
            part = np.asarray(self._array[:, unique].compute(scheduler=self._client))
        return part[:, place]

    @property
    def _column_bytes(self) -> int:
        return max(1, self.n_samples * self._dtype.itemsize)

    @property
    def _must_be_rechunked(self) -> bool:
        """Whether the chunks of the widest columns, and all samples of them, are too large."""
        widest = int(max(self._array.chunks[1]))
        return widest * self._column_bytes > _MOST_TIMES * _CHUNK_BYTES

    def _fitting_edges(self) -> list[int]:
        """First columns of chunks that can be computed at once."""
        if not self._must_be_rechunked:
            return self._edges
        width = max(1, _CHUNK_BYTES // self._column_bytes)
        edges = [panel_edges(b - a, b - a, width) for a, b in itertools.pairwise(self._edges)]
        starts = [a + edge for a, own in zip(self._edges, edges, strict=False) for edge in own[:-1]]
        return [*starts, self.n_features]

    def preparation(self, size: int) -> Preparation | None:
        """Say what making a temporary copy costs, if the array must be re-chunked."""
        if self._panels is not None or not self._must_be_rechunked:
            return None
        return self._rechunking().preparation(self, self.chunks(size))

    def _rechunking(self) -> Rechunking:
        """Return the way to panels of columns on which each block is computed once."""
        high, wide = max(self._array.chunks[0]), max(self._array.chunks[1])
        most = max(high, READ_BYTES // max(1, wide * self._dtype.itemsize))
        rows = join_chunks([0, *np.cumsum(self._array.chunks[0]).tolist()], most)
        columns = [slice(a, b) for a, b in itertools.pairwise(self._edges)]
        blocks = list(itertools.product(rows, columns))
        return Rechunking(
            self._array, self._fitting_edges(), blocks, "X (a Dask array)", (high, wide)
        )

    def _rechunk(self) -> None:
        with self._lock:
            if self._panels is None:
                self._panels = self._rechunking().run()


def _open_frame(frame: Any) -> Source:
    """Return the columns of a Dask frame: numbers, booleans and categories that are known."""
    names = [str(name) for name in frame.columns]
    kinds: dict[int, Kind] = {}
    labels: dict[int, list[Any]] = {}
    dtypes = list(frame.dtypes)
    for j, (name, dtype) in enumerate(zip(names, dtypes, strict=True)):
        if str(dtype) == "category":
            column = frame.iloc[:, j] if names.count(name) > 1 else frame[frame.columns[j]]
            if column.cat.known:
                kinds[j], labels[j] = "category", list(column.cat.categories)
                continue
        elif getattr(dtype, "kind", "O") in "iuf" or getattr(dtype, "_is_numeric", False):
            kinds |= {j: "bool"} if "bool" in str(dtype).lower() else {}
            continue
        elif getattr(dtype, "kind", "O") == "b":
            kinds[j] = "bool"
            continue
        raise InvalidInputError(
            f"column {name!r} of the Dask frame has dtype {dtype}, but labels must be known before "
            f"rows are read: X[{name!r}] = X[{name!r}].astype('category').cat.as_known(), or drop "
            "the column."
        )
    common = set(map(str, dtypes))
    plain = not kinds and len(common) == 1 and getattr(dtypes[0], "kind", "O") in "f"
    dtype = np.dtype(dtypes[0] if plain else np.float64)
    array = frame.map_partitions(_as_numbers, dtype, meta=np.empty((0, 0), dtype))
    lengths = tuple(frame.map_partitions(len).compute())
    array = _with_chunks(array, lengths, len(names))
    return DaskSource(array, names, kinds, labels)


def _with_chunks(array: Any, lengths: tuple[int, ...], d: int) -> Any:
    """Tell an array of partitions the number of their rows."""
    da: Any = require("dask.array", "dask")
    parts = [
        da.from_delayed(part, shape=(rows, d), dtype=array.dtype)
        for part, rows in zip(array.to_delayed().ravel(), lengths, strict=True)
        if rows
    ]
    return da.concatenate(parts, axis=0) if parts else da.empty((0, d))


def _as_numbers(part: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return a partition of a frame as an array; categories become codes, NaN where missing."""
    out = np.empty(part.shape, dtype=dtype)
    for j in range(part.shape[1]):
        column = part.iloc[:, j]
        if str(column.dtype) == "category":
            codes = column.cat.codes.to_numpy()
            out[:, j] = np.where(codes < 0, np.nan, codes)
        else:
            out[:, j] = column.to_numpy(dtype=dtype, na_value=np.nan)
    return out
