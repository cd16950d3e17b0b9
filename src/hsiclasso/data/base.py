"""The interface of every table, however it is stored."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from hsiclasso._types import Columns, FloatArray, IntArray

__all__ = ["CHECK_ENTRIES", "BaseSource", "Kind", "Missing", "Source", "Stored"]

#: What a column holds.
Kind = Literal["number", "bool", "category", "text"]
#: What to do with missing values.
Missing = Literal["error", "ignore"]
#: Compressed columns: indptr of shape (k + 1,), row indices and values.
Stored = tuple[IntArray, npt.NDArray[np.signedinteger[Any]], FloatArray]

#: A block read while looking for NaN: large enough to be fast, small enough to be cheap.
CHECK_ENTRIES = 1 << 21


class Source(Protocol):
    """A table of ``n_samples`` rows and ``n_features`` named columns, read by column blocks."""

    @property
    def n_samples(self) -> int:
        """Number of rows."""

    @property
    def n_features(self) -> int:
        """Number of columns."""

    def name(self, column: int) -> str:
        """Name of one column."""

    def kind(self, column: int) -> Kind:
        """Kind of one column."""

    @property
    def uniform_kind(self) -> Kind | None:
        """Kind of all columns, or None if they differ."""

    def dtype_name(self, column: int) -> str:
        """Name that the container gives to the dtype of one column, such as ``int8``."""

    def categories(self, column: int) -> list[Any] | None:
        """Labels of the codes 0, 1, ... of a category or text column, None for other kinds."""

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order.

        Category and text columns come as codes 0, 1, ... of their labels, missing values as NaN.
        """

    def read_into(self, columns: Columns, out: FloatArray) -> None:
        """Write the columns, as `block` returns them, to an (n_samples, k) array."""

    def levels(self, columns: Columns) -> np.ndarray[Any, Any] | None:
        """Return int8 or uint8 columns as they are stored, booleans as uint8, else None.

        The (n_samples, k) array may be a view of the table: do not write to it.
        """

    def stored(self, columns: Columns) -> Stored | None:
        """Return the compressed columns of a sparse table, None for others.

        Row indices ascend within a column and occur once; stored zeros may be among the
        values. The indices may be a view of the table: do not write to them.
        """

    @property
    def n_stored(self) -> int:
        """Number of entries that are stored."""

    def views(self) -> Iterator[tuple[int, Any]]:
        """Yield ``(first column, array)`` pieces with all values that may be NaN or infinite."""


class BaseSource:
    """Base of all sources; its defaults are those of a dense table of numbers."""

    n_samples: int
    n_features: int

    @abstractmethod
    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""

    def read_into(self, columns: Columns, out: FloatArray) -> None:
        """Write the columns to an (n_samples, k) array."""
        out[:] = self.block(columns)

    def categories(self, column: int) -> list[Any] | None:
        """Return None: there are no labels."""
        return None

    def levels(self, columns: Columns) -> np.ndarray[Any, Any] | None:
        """Return None: there are no columns of small integers."""
        return None

    def stored(self, columns: Columns) -> Stored | None:
        """Return None: nothing is compressed."""
        return None

    @property
    def n_stored(self) -> int:
        """Number of entries that are stored: all."""
        return self.n_samples * self.n_features
