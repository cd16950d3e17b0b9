"""Tables in memory: arrays, sparse matrices and frames, read as blocks of columns.

A source never copies its input as a whole and never writes to it: ``block`` returns a fresh
float64 array that the caller owns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from hsiclasso._types import Columns, FloatArray
from hsiclasso.data.base import Kind, Missing, Source, Stored
from hsiclasso.data.frames import FrameSource
from hsiclasso.data.structure import check_sparse
from hsiclasso.errors import InvalidInputError

__all__ = [
    "ArraySource",
    "FrameSource",
    "Kind",
    "Missing",
    "ReadSource",
    "Source",
    "SparseSource",
    "Stored",
    "UniformSource",
    "check_finite",
    "check_numbers",
    "refuse_value",
    "sum_is_finite",
]


#: An array with more rows than this has many, and bytes of a page of memory.
_MANY_ROWS, _PAGE = 4096, 4096


def check_numbers(what: str, dtype: Any) -> None:
    """Raise unless values of a dtype are real numbers or booleans."""
    if np.dtype(dtype).kind not in "biuf":
        raise InvalidInputError(
            f"{what} has dtype {dtype}, but values must be real numbers: convert it, or store "
            "labels in a frame or text file."
        )


class UniformSource(Source):
    """A table whose columns all have the same dtype."""

    def __init__(
        self, dtype: np.dtype[Any], shape: tuple[int, ...], names: Sequence[str] | None = None
    ) -> None:
        self._dtype = dtype
        self._names = names
        self.named = names is not None
        self.n_samples, self.n_features = map(int, shape)

    def name(self, column: int) -> str:
        """Name of one column."""
        return f"x{column}" if self._names is None else self._names[column]

    def kind(self, column: int) -> Kind:
        """``bool`` or ``number``, by the dtype."""
        return "bool" if self._dtype.kind == "b" else "number"

    @property
    def uniform_kind(self) -> Kind | None:
        """Kind of all columns."""
        return self.kind(0)

    def dtype_name(self, column: int) -> str:
        """Name of the dtype, the same for all columns."""
        return str(self._dtype.name)


class ReadSource(UniformSource):
    """A table that is not in memory, of one dtype; a subclass says how to `read` columns."""

    in_memory = False

    @property
    def n_bytes(self) -> int:
        """Number of bytes that are read in one pass over the table."""
        return self.n_stored * self._dtype.itemsize

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""
        return np.array(self.read(columns), dtype=np.float64, order="F")

    def levels(self, columns: Columns) -> np.ndarray[Any, Any] | None:
        """Return int8 or uint8 columns as they are stored, booleans as uint8, else None."""
        if self._dtype not in (np.int8, np.uint8, np.bool_):
            return None
        return ArraySource(self.read(columns)).levels(slice(None))


class ArraySource(UniformSource):
    """Columns of a NumPy array of any real dtype and memory order.

    Parameters
    ----------
    array : ndarray of shape (n_samples, n_features)
        Read in place, never copied as a whole.
    names : sequence of str, optional
        Column names; ``x0, x1, ...`` by default.
    """

    def __init__(self, array: np.ndarray[Any, Any], names: Sequence[str] | None = None) -> None:
        super().__init__(array.dtype, array.shape, names)
        self._array = array
        # NumPy takes twice as long to convert and transpose at once, and to transpose so many rows
        # that the cache cannot hold a line of each; rows whole pages apart even share few lines
        many = len(array) >= _MANY_ROWS or array.strides[0] % _PAGE == 0
        slow = array.dtype == np.float32 or (array.dtype == np.float64 and many)
        self._by_tiles = bool(slow and array.flags.c_contiguous)

    def levels(self, columns: Columns) -> np.ndarray[Any, Any] | None:
        """Return int8 or uint8 columns as they are, booleans as uint8, else None."""
        if self._array.dtype not in (np.int8, np.uint8, np.bool_):
            return None
        part = self._array[:, columns]
        return part.view(np.uint8) if part.dtype == np.bool_ else part

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""
        return np.array(self._array[:, columns], dtype=np.float64, order="F")

    def read_into(self, columns: Columns, out: FloatArray) -> None:
        """Write the columns to an (n_samples, k) array."""
        if self._by_tiles and isinstance(columns, slice) and out.flags.f_contiguous:
            from hsiclasso.data._array_loops import copy_columns

            copy_columns(self._array, columns.indices(self.n_features)[0], out.T)
        else:
            out[:] = self._array[:, columns]

    def read(self, columns: Columns) -> np.ndarray[Any, Any]:
        """Return the columns (n_samples, k) with the dtype of the array."""
        return self._array[:, columns]

    @property
    def n_bytes(self) -> int:
        """Number of bytes that are read in one pass over the table."""
        return self._array.nbytes


class SparseSource(UniformSource):
    """Columns of a SciPy sparse matrix, made dense block by block.

    Parameters
    ----------
    matrix : sparse matrix or array of shape (n_samples, n_features)
        Converted once to compressed columns, unless it is stored so. Copied once if the entries of
        a column are not sorted or occur twice; the latter are then added.
    names : sequence of str, optional
        Column names; ``x0, x1, ...`` by default.
    """

    def __init__(self, matrix: Any, names: Sequence[str] | None = None) -> None:
        given = check_sparse("X", matrix).tocsc()
        # a new object on the same arrays, because SciPy stores what it learns about them in it
        own = sparse.csc_array((given.data, given.indices, given.indptr), shape=given.shape)
        if not own.has_canonical_format:
            own = own.copy()
            own.sum_duplicates()
        self._matrix = own
        super().__init__(own.dtype, own.shape, names)

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""
        return np.array(self._matrix[:, columns].toarray(), dtype=np.float64, order="F")

    def stored(self, columns: Columns) -> Stored:
        """Return indptr of shape (k + 1,), sorted row indices and values of the columns."""
        part = self._matrix[:, columns]
        indptr = np.array(part.indptr, dtype=np.int64)
        return indptr, part.indices, np.array(part.data, dtype=np.float64)

    def read(self, columns: Columns) -> np.ndarray[Any, Any]:
        """Return the columns (n_samples, k) with the dtype of the matrix."""
        return np.asarray(self._matrix[:, columns].toarray(order="F"))

    @property
    def n_stored(self) -> int:
        """Number of entries that are stored, zeros among them included."""
        return int(self._matrix.nnz)


def check_finite(source: Source, *, ignore: bool = False) -> None:
    """Raise if the table holds infinity or missing values, naming the first such column.

    Parameters
    ----------
    source : Source
        The table.
    ignore : bool
        Whether NaN, which stands for missing values, is allowed. Infinity never is.

    Examples
    --------
    >>> table = ArraySource(np.array([[1.0, np.nan], [2.0, 5.0], [3.0, 6.0]]))
    >>> check_finite(table, ignore=True)
    """
    for run in source.runs():
        if source.missing_level is None and source.levels(run) is not None:  # integers
            continue
        stored = source.stored(run)
        if stored is not None and sum_is_finite(stored[2]):
            continue
        values = source.block(run)
        bad = np.zeros(values.shape, dtype=bool)
        if not sum_is_finite(values):
            bad = np.isinf(values) if ignore else ~np.isfinite(values)
        if bad.any():
            column, row = np.argwhere(bad.T)[0]
            refuse_value(source.name(run.start + int(column)), values[row, column], ignore)


def sum_is_finite(values: np.ndarray[Any, Any]) -> bool:
    """Whether the sum is finite; if so, every value is. An overflow may make it infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.sum(values)))


def refuse_value(name: str, value: float, ignore: bool) -> NoReturn:
    """Raise for a value that is not finite; `ignore` says whether missing ones are allowed."""
    if ignore:
        raise InvalidInputError(
            f"Input X contains inf: the first is infinity in column {name!r}; values may be "
            "missing, but not infinite: replace them, or drop the rows or columns concerned."
        )
    what, instead = (
        ("NaN", ", or pass missing='ignore' to HSICLasso") if np.isnan(value) else ("infinity", "")
    )
    raise InvalidInputError(
        f"Input X contains NaN or inf: the first is {what} in column {name!r}; every value must "
        f"be finite: impute or drop the rows or columns concerned{instead}."
    )
