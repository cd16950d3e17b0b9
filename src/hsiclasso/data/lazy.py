"""Columns of a polars LazyFrame, collected by groups of columns, never as a whole."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from hsiclasso._types import Columns, FloatArray
from hsiclasso.data.base import ListedSource, Source, as_positions
from hsiclasso.data.fingerprint import file_state, hash_of
from hsiclasso.data.frames import FrameSource
from hsiclasso.data.reading import package_of, reading
from hsiclasso.data.stored import even_chunks
from hsiclasso.errors import require

__all__ = ["LazyFrameSource", "is_lazy_frame"]


def is_lazy_frame(X: Any) -> bool:
    """Whether an object is a polars LazyFrame."""
    return package_of(X) == "polars" and hasattr(X, "collect") and hasattr(X, "collect_schema")


class LazyFrameSource(ListedSource):
    """Columns of a LazyFrame: a query that is run for the columns that are needed.

    Parameters
    ----------
    frame : polars.LazyFrame
        Columns of numbers, booleans, categories or text.

    Examples
    --------
    >>> import polars as pl
    >>> source = LazyFrameSource(pl.LazyFrame({"a": [1, 2, 3], "b": ["u", "v", "u"]}))
    >>> source.n_samples, source.kind(1), source.block(slice(1, 2)).ravel().tolist()
    (3, 'text', [0.0, 1.0, 0.0])
    """

    def __init__(self, frame: Any) -> None:
        polars = require("polars", "polars")
        self._frame = frame
        with reading("X (LazyFrame)", "a query"):
            schema = frame.collect_schema()
            n_samples = int(frame.select(polars.len()).collect().item())
        # an empty frame of the same columns knows their kinds and dtypes, and refuses others
        self._empty = FrameSource(polars.DataFrame(schema=schema))
        names = schema.names()
        super().__init__(names, [self._empty.kind(j) for j in range(len(names))], n_samples)
        self.in_memory = False
        self._labels: dict[int, list[Any]] = {}

    def dtype_name(self, column: int) -> str:
        """Name of the dtype of one column."""
        return self._empty.dtype_name(column)

    def categories(self, column: int) -> list[Any] | None:
        """Labels of the codes 0, 1, ... of a category or text column, None for other kinds."""
        if self.kind(column) not in ("category", "text"):
            return None
        if column not in self._labels:
            self._labels[column] = self._collect(np.array([column])).categories(0) or []
        return list(self._labels[column])

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""
        wanted = as_positions(columns, self.n_features)
        if not wanted.size:
            return np.empty((self.n_samples, 0), order="F")
        unique, place = np.unique(wanted, return_inverse=True)
        block = self._collect(unique).block(slice(0, unique.size))
        return block if np.array_equal(unique, wanted) else np.asfortranarray(block[:, place])

    def chunks(self, size: int) -> list[slice]:
        """Cut the columns into chunks of about `size` bytes."""
        return even_chunks(self.n_features, size // max(1, 8 * self.n_samples))

    def load(self, columns: slice) -> Source:
        """Run the query for adjacent columns: a table of these."""
        return self._collect(np.arange(*columns.indices(self.n_features)))

    def identity(self) -> str:
        """Return a fingerprint of the query and of the files that it scans.

        A query on frames in memory includes their values. Polars before 1.39 writes a query
        differently each time, and a checkpoint of it cannot be continued.
        """
        plan = self._frame.explain(optimized=False)
        files = re.findall(r"SCAN \[(.*?)\]", plan)
        states = [file_state(file) for file in files if Path(file).exists()]
        return f"polars {hash_of(plan, self._frame.serialize(), states)}"

    def _collect(self, columns: np.ndarray[Any, Any]) -> FrameSource:
        names = [self._names[j] for j in columns.tolist()]
        with reading("X (LazyFrame)", "a query"):
            return FrameSource(self._frame.select(names).collect())
