"""One door for tables of any kind: ``as_source(X)`` hands out blocks of columns.

A source never copies its input as a whole and never writes to it: ``block`` returns a fresh
float64 array that the caller owns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from hsiclasso._types import Columns, FloatArray
from hsiclasso.errors import InvalidInputError

__all__ = ["ArraySource", "FrameSource", "Source", "SparseSource", "as_source", "check_finite"]

#: A block read while looking for NaN: large enough to be fast, small enough to be cheap.
_CHECK_ENTRIES = 1 << 21


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

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""

    def views(self) -> Iterator[tuple[int, Any]]:
        """Yield ``(first column, array)`` pieces that together hold every stored value."""


class ArraySource:
    """Columns of a NumPy array of any real dtype and memory order.

    Parameters
    ----------
    array : ndarray of shape (n_samples, n_features)
        Read in place, never copied as a whole.
    names : sequence of str, optional
        Column names; ``x0, x1, ...`` if absent.
    """

    def __init__(self, array: np.ndarray[Any, Any], names: Sequence[str] | None = None) -> None:
        self._array = array
        self._names = names
        self.n_samples, self.n_features = map(int, array.shape)

    def name(self, column: int) -> str:
        """Name of one column."""
        return f"x{column}" if self._names is None else self._names[column]

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""
        return np.array(self._array[:, columns], dtype=np.float64, order="F")

    def views(self) -> Iterator[tuple[int, Any]]:
        """Yield pieces of the array along its contiguous direction, without copies."""
        if self._array.dtype.kind in "biu":
            return
        if self._array.flags.c_contiguous:
            step = max(1, _CHECK_ENTRIES // self.n_features)
            yield from ((0, self._array[i : i + step]) for i in range(0, self.n_samples, step))
        else:
            step = max(1, _CHECK_ENTRIES // self.n_samples)
            yield from ((j, self._array[:, j : j + step]) for j in range(0, self.n_features, step))


class FrameSource:
    """Columns of a pandas or polars frame, converted block by block.

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame
        Every column must be numeric or boolean.
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._pandas = hasattr(frame, "iloc")
        self._names = [str(name) for name in frame.columns]
        self.n_samples, self.n_features = map(int, frame.shape)
        _check_unique(self._names)
        self._check_numeric()

    def name(self, column: int) -> str:
        """Name of one column."""
        return self._names[column]

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""
        if self._pandas:
            part = self._frame.iloc[:, columns].to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            part = self._frame[:, columns].to_numpy()
        return np.array(part, dtype=np.float64, order="F")

    def views(self) -> Iterator[tuple[int, Any]]:
        """Yield blocks of columns as arrays."""
        step = max(1, _CHECK_ENTRIES // max(1, self.n_samples))
        for j in range(0, self.n_features, step):
            yield j, self.block(slice(j, min(j + step, self.n_features)))

    def _check_numeric(self) -> None:
        for j, dtype in enumerate(self._frame.dtypes):
            if _is_real_dtype(dtype):
                continue
            column = self._frame.iloc[:, j] if self._pandas else self._frame[:, j]
            if str(dtype) == "object" and _all_numbers(column):
                continue
            example = repr(column[0] if not self._pandas else column.iloc[0])
            if "complex" in str(dtype):
                raise InvalidInputError(
                    f"Complex data not supported: column {self._names[j]!r} has dtype {dtype}; "
                    "pass its real part, imaginary part or modulus instead."
                )
            raise InvalidInputError(
                f"column {self._names[j]!r} has dtype {dtype} (first value {example}), and "
                "features must be numbers: drop the column or encode it as numbers first."
            )


class SparseSource:
    """Columns of a SciPy sparse matrix, densified block by block.

    Parameters
    ----------
    matrix : sparse matrix or array of shape (n_samples, n_features)
        Converted once to compressed columns if it is stored otherwise.
    """

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix.tocsc()
        self.n_samples, self.n_features = map(int, matrix.shape)

    def name(self, column: int) -> str:
        """Name of one column."""
        return f"x{column}"

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""
        return np.array(self._matrix[:, columns].toarray(), dtype=np.float64, order="F")

    def views(self) -> Iterator[tuple[int, Any]]:
        """Yield the stored entries of each run of columns as one-column arrays."""
        indptr, values = self._matrix.indptr, self._matrix.data
        for j in range(self.n_features):
            yield j, values[indptr[j] : indptr[j + 1]].reshape(-1, 1)


def as_source(X: Any, *, min_samples: int = 3) -> Source:
    """Turn a table of any supported kind into a source of column blocks.

    Parameters
    ----------
    X : ndarray, pandas.DataFrame, polars.DataFrame, SciPy sparse matrix or array-like
        Table of shape (n_samples, n_features). A source is returned as it is.
    min_samples : int
        Fewest rows; 3 to measure dependence, 1 to apply what was learnt.

    Returns
    -------
    Source
        Blocks of columns on demand; ``X`` is neither copied as a whole nor written to.

    Examples
    --------
    >>> import numpy as np
    >>> source = as_source(np.arange(6.0).reshape(3, 2))
    >>> source.n_samples, source.n_features, source.name(1)
    (3, 2, 'x1')
    >>> source.block(slice(1, 2)).ravel()
    array([1., 3., 5.])
    """
    if isinstance(X, ArraySource | FrameSource | SparseSource):
        return X
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        frame = FrameSource(X)
        _check_size(frame, min_samples)
        return frame
    options = {"ensure_all_finite": False, "ensure_min_samples": 0, "ensure_min_features": 0}
    if sparse.issparse(X):
        source: Source = SparseSource(check_array(X, accept_sparse=True, **options))
    else:
        source = ArraySource(_as_numeric_array(X, options))
    _check_size(source, min_samples)
    return source


def check_finite(source: Source) -> None:
    """Raise if the table holds NaN or infinity, naming the first such column."""
    for first, piece in source.views():
        # A finite sum proves that all is finite; an infinite one may be mere overflow.
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(np.sum(piece)):
                continue
        bad = ~np.isfinite(piece)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            what = "NaN" if np.isnan(piece[row, column]) else "infinity"
            raise InvalidInputError(
                f"Input X contains NaN or inf: the first is {what} in column "
                f"{source.name(first + int(column))!r}; every value must be finite: impute or "
                "drop the rows or columns concerned."
            )


def _as_numeric_array(X: Any, options: dict[str, Any]) -> np.ndarray[Any, Any]:
    try:
        return np.asarray(check_array(X, dtype="numeric", copy=False, **options))
    except ValueError as error:
        if not any(words in str(error) for words in ("could not convert", "bytes/strings")):
            raise
        raise InvalidInputError(
            f"X holds values that are not numbers ({error}); features must be numbers: drop "
            "such columns or encode them first."
        ) from error


def _check_size(source: Source, min_samples: int) -> None:
    shape = (source.n_samples, source.n_features)
    if source.n_features < 1:
        raise InvalidInputError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required."
        )
    if source.n_samples < min_samples:
        raise InvalidInputError(
            f"n_samples={source.n_samples} (X has shape {shape}), but dependence can only be "
            f"measured on {min_samples} samples or more: add rows, or transpose X if samples are "
            "columns."
        )


def _check_unique(names: Sequence[str]) -> None:
    if len(set(names)) == len(names):
        return
    twice = [name for name, count in Counter(names).items() if count > 1]
    raise InvalidInputError(
        f"column names must be unique, but {twice[:5]} occur more than once: rename or drop "
        "the repeated columns."
    )


def _is_real_dtype(dtype: Any) -> bool:
    """Tell whether a pandas or polars dtype converts to float64 without losing meaning."""
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric() or str(dtype) == "Boolean")
    kind = getattr(dtype, "kind", "O")
    return kind in "biuf" or bool(getattr(dtype, "_is_numeric", False) and kind != "c")


def _all_numbers(column: Any) -> bool:
    return all(isinstance(value, int | float | np.number) for value in column)
