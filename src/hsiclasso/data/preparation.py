"""What must be done before some tables can be read by columns, and what it costs."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from hsiclasso._memory import free_bytes
from hsiclasso._types import Columns, FloatArray
from hsiclasso.data.base import Source, Stored, WrappedSource, as_positions
from hsiclasso.data.sources import ArraySource, SparseSource

__all__ = ["Cost", "Preparation", "StandIn", "time_file", "time_parts"]

_T = TypeVar("_T")


@dataclass(frozen=True)
class Cost:
    """Bytes that are read and written, and about how many seconds it takes."""

    n_bytes: int
    seconds: float


@dataclass(frozen=True)
class Preparation:
    """What a table needs before, or while, its columns are read.

    Parameters
    ----------
    sentence : str
        What is done, and how to avoid it.
    once : Cost
        What is done once, before chunks of columns are read.
    each_pass : Cost
        What every pass over the table takes; its bytes include those of the table.
    stand_in : Source
        A table of the same shape and chunks that is cheap to read.
    """

    sentence: str
    once: Cost
    each_pass: Cost
    stand_in: Source


class StandIn(WrappedSource):
    """A table with few of its samples, in place of all.

    What takes the time of many samples can be tried with it. Samples that were not read are made
    up: they have the values of the next columns.

    Parameters
    ----------
    source : Source
        The table.
    chunks : sequence of slice
        The chunks that it will have.
    sample : ndarray or sparse array of shape (r, w)
        Some samples, and the first w columns of them.
    """

    def __init__(self, source: Source, chunks: Sequence[slice], sample: Any) -> None:
        super().__init__(source)
        self._chunks, self._sample = list(chunks), sample

    def chunks(self, size: int) -> list[slice]:
        """Return the chunks that the table will have."""
        return self._chunks

    def load(self, columns: slice) -> Source:
        """Make up adjacent columns."""
        wanted = as_positions(columns, self.n_features)
        names = [self.name(int(j)) for j in wanted]
        (r, w), n = self._sample.shape, self.n_samples
        others = (wanted + np.arange(-(-n // max(1, r)))[:, None]) % max(1, w)
        if sparse.issparse(self._sample):
            parts = [self._sample[:, some] for some in others]
            return SparseSource(sparse.vstack(parts, format="csr")[:n], names)
        values = self._sample[:, others].swapaxes(0, 1).reshape(r * len(others), wanted.size)
        return ArraySource(values[:n], names)

    def block(self, columns: Columns) -> FloatArray:
        """Make up columns, as floats."""
        return self._made(columns).block(slice(None))

    def levels(self, columns: Columns) -> np.ndarray[Any, Any] | None:
        """Make up columns, if they are small integers."""
        return self._made(columns).levels(slice(None))

    def stored(self, columns: Columns) -> Stored | None:
        """Make up compressed columns, if the table is sparse."""
        return self._made(columns).stored(slice(None))

    def read(self, columns: Columns) -> np.ndarray[Any, Any]:
        """Make up columns with the dtype of the table."""
        return self._made(columns).read(slice(None))

    def _made(self, columns: Columns) -> Source:
        # the values are made up, so it does not matter which columns they come from
        return self.load(slice(0, as_positions(columns, self.n_features).size))


def time_parts(read: Callable[[_T], Any], parts: Sequence[_T]) -> tuple[list[Any], float]:
    """Read the first part of a table and one from the middle; return them, and the seconds."""
    chosen = parts[:1] if len(parts) < 3 else [parts[0], parts[len(parts) // 2]]
    start = time.perf_counter()
    return [read(part) for part in chosen], time.perf_counter() - start


def time_file(values: np.ndarray[Any, Any], size: int) -> tuple[float, float]:
    """Return the seconds in which a temporary file of `size` bytes is written and read.

    A file of `values` is tried. It is read from the disk if a file of that size does not stay in
    memory. If there is no room for it, it takes no time.
    """
    with tempfile.TemporaryFile() as file:
        start = time.perf_counter()
        try:
            values.tofile(file)
            os.fsync(file.fileno())
        except OSError:
            return 0.0, 0.0
        written = time.perf_counter()
        if size > free_bytes() and hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        file.seek(0)
        begun = time.perf_counter()
        np.fromfile(file, values.dtype)
        read = time.perf_counter() - begun
    times = size / max(1, values.nbytes)
    return (written - start) * times, read * times
