"""Columns of pandas and polars frames, of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, cast

import numpy as np
import numpy.typing as npt

from hsiclasso._types import Columns, FloatArray
from hsiclasso.data.base import Kind, ListedSource, enumerated, repeated
from hsiclasso.errors import InvalidInputError

__all__ = ["WIDE", "FrameSource", "floats_of"]

#: Codes of labels, -1 where missing, and the labels.
_Encoded = tuple[npt.NDArray[np.signedinteger[Any]], list[Any]]
#: Kinds that are read as codes of labels.
_CODED = ("category", "text")
#: Kinds of the polars dtypes that are not numeric; Null is a column without any value.
_POLARS_KINDS: dict[str, Kind] = {
    "Boolean": "bool",
    "String": "text",
    "Categorical": "category",
    "Enum": "category",
    "Null": "number",
}


#: Dtypes of polars that NumPy does not have.
WIDE = ("Int128", "UInt128")


class FrameSource(ListedSource):
    """Columns of a pandas or polars frame, converted block by block.

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame
        Columns of numbers, booleans, categories or text, in which values may be missing.

    Notes
    -----
    Categories and text are read as codes 0, 1, ... of their labels. The labels are those of the
    dtype, in its order, for pandas categories and polars Enum; the sorted values of the column
    for text and polars Categorical.
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._pandas = hasattr(frame, "iloc")
        self._names = [str(name) for name in frame.columns]
        self.n_samples, self.n_features = map(int, frame.shape)
        _check_unique(self._names)
        self._dtypes = frame.dtypes.to_list() if self._pandas else list(frame.dtypes)
        #: Columns that the frame cannot convert to floats by itself.
        self._special = np.zeros(self.n_features, dtype=bool)
        super().__init__(self._names, self._find_kinds(), self.n_samples)
        if not set(self._kinds).isdisjoint(_CODED):
            self._special |= [kind in _CODED for kind in self._kinds]
        self._any_special = bool(self._special.any())
        self._codes: dict[int, _Encoded] = {}

    def dtype_name(self, column: int) -> str:
        """Name of the dtype of one column, for a polars Enum without its categories."""
        dtype = self._dtypes[column]
        return _short_name(dtype) if self._kinds[column] in _CODED else str(dtype)

    def categories(self, column: int) -> list[Any] | None:
        """Labels of the codes 0, 1, ... of a category or text column, None for other kinds."""
        return list(self._encoded(column)[1]) if self._kinds[column] in _CODED else None

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""
        if not self._any_special:
            return self._numbers(columns)
        if isinstance(columns, slice):
            index = np.arange(*columns.indices(self.n_features))
        else:
            index = np.asarray(columns)
        special = self._special[index]
        if not special.any():
            return self._numbers(columns)
        block = np.empty((self.n_samples, index.size), order="F")
        if not special.all():
            block[:, ~special] = self._numbers(index[~special])
        for i in np.flatnonzero(special):
            block[:, i] = self._floats(int(index[i]))
        return block

    def _numbers(self, columns: Columns) -> FloatArray:
        """Convert columns that are not special, all at once."""
        if self._pandas:
            part = self._frame.iloc[:, columns].to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            some = self._frame[:, columns]
            # Without columns, a polars frame has no number of rows.
            part = some.to_numpy() if some.width else np.empty((self.n_samples, 0))
        return np.array(part, dtype=np.float64, order="F")

    def _floats(self, j: int) -> FloatArray:
        """Convert one special column."""
        if self._kinds[j] in _CODED:
            codes = self._encoded(j)[0]
            return np.where(codes < 0, np.nan, codes)
        column = self._column(j)
        if not self._pandas:
            return floats_of(column)
        return np.where(column.isna(), np.nan, column.to_numpy()).astype(np.float64)

    def _encoded(self, j: int) -> _Encoded:
        """Codes and labels of one column, made on first use.

        If two threads both make them, the results are equal.
        """
        if j not in self._codes:
            encode = _encode_pandas if self._pandas else _encode_polars
            codes, labels = encode(self._column(j))
            compact = np.min_scalar_type(-max(1, len(labels)))
            self._codes[j] = codes.astype(compact, copy=False), labels
        return self._codes[j]

    def _column(self, j: int) -> Any:
        return self._frame.iloc[:, j] if self._pandas else self._frame[:, j]

    def _find_kinds(self) -> list[Kind]:
        """Kind of every column, by its dtype if that is enough."""
        # By identity: equal dtypes are usually one object, and long categories are slow to hash.
        unique = {id(dtype): dtype for dtype in self._dtypes}
        known = {place: _frame_kind(dtype) for place, dtype in unique.items()}
        kinds = [known[id(dtype)] for dtype in self._dtypes]
        wide = {place for place, dtype in unique.items() if _short_name(dtype) in WIDE}
        if wide:
            self._special |= [id(dtype) in wide for dtype in self._dtypes]
        if set(known.values()) <= {"number", "bool"}:
            return cast(list[Kind], kinds)
        for j, kind in enumerate(kinds):
            kinds[j] = self._look_at(j) if kind is None else kind
        if None in kinds:
            self._refuse([j for j, kind in enumerate(kinds) if kind is None])
        return cast(list[Kind], kinds)

    def _look_at(self, j: int) -> Kind | None:
        """Kind of a column by its values, if the dtype is not enough."""
        if str(self._dtypes[j]) != "object":
            return None
        column = self._column(j)
        missing = column.isna().to_numpy()
        kind = _kind_of_types(set(map(type, column.to_numpy()[~missing])))
        if kind is not None:
            self._special[j] = missing.any()  # pandas itself fails on NA among objects
        return kind

    def _refuse(self, columns: list[int]) -> NoReturn:
        """Raise for columns whose kind is not supported."""
        j, *others = columns
        values = [value for value in self._column(j).to_list() if value is not None]
        values = [value for value in values if value is values[0] or value == value]  # not NaN
        value = values[0] if values else None
        also = [repr(self._names[k]) for k in others]
        more = f"; likewise {enumerated(also)}" if also else ""
        types = {type(value).__name__ for value in values}
        if "complex" in f"{self._dtypes[j]} {types}":
            raise InvalidInputError(
                f"Complex data not supported: column {self._names[j]!r} has dtype "
                f"{self._dtypes[j]}{more}; pass its real part, imaginary part or modulus instead."
            )
        of = ""
        if str(self._dtypes[j]) == "object":
            of = f" of {', '.join(sorted(types))}"
        raise InvalidInputError(
            f"column {self._names[j]!r} has dtype {self._dtypes[j]}{of} (first value {value!r})"
            f"{more}, and features must be numbers, booleans, categories or text: drop such "
            "columns or encode them as one of these first, dates as days since some day for "
            "example."
        )


def floats_of(column: Any) -> FloatArray:
    """Return a polars column of numbers as floats; NumPy has no integers of 128 bits.

    Examples
    --------
    >>> import polars as pl
    >>> floats_of(pl.Series([1, None]))
    array([ 1., nan])
    """
    return np.asarray(column.cast(float).to_numpy(), dtype=np.float64)


def _check_unique(names: Sequence[str]) -> None:
    if twice := repeated(names):
        raise InvalidInputError(
            f"column names must be unique, but {twice[:5]} occur more than once: rename or drop "
            "the repeated columns."
        )


def _short_name(dtype: Any) -> str:
    """Name of a dtype without its parameters, such as the categories of an Enum."""
    return str(dtype).split("(", 1)[0]


def _frame_kind(dtype: Any) -> Kind | None:
    """Kind of columns of a pandas or polars dtype; None if it is unknown or not supported."""
    if hasattr(dtype, "is_numeric"):  # polars
        return "number" if dtype.is_numeric() else _POLARS_KINDS.get(_short_name(dtype))
    letter = getattr(dtype, "kind", "O")
    if letter == "b":
        return "bool"
    if letter in "iuf" or (getattr(dtype, "_is_numeric", False) and letter != "c"):
        return "number"
    if str(dtype) == "category":
        return "category"
    return "text" if getattr(dtype, "type", None) is str else None


def _kind_of_types(types: set[type]) -> Kind | None:
    """Kind of values of these types; numbers if there are none, None for a mixture."""
    kinds: list[tuple[Kind, tuple[type, ...]]] = [
        ("bool", (bool, np.bool_)),
        ("number", (int, float, np.integer, np.floating, np.bool_)),
        ("text", (str,)),
    ]
    if not types:
        return "number"
    return next((kind for kind, fit in kinds if all(issubclass(t, fit) for t in types)), None)


def _encode_pandas(column: Any) -> _Encoded:
    """Codes of a category or text column, -1 where missing, and their labels."""
    if str(column.dtype) == "category":
        return column.cat.codes.to_numpy(), column.cat.categories.to_list()
    codes, labels = column.factorize(sort=True)
    return codes, labels.to_list()


def _encode_polars(column: Any) -> _Encoded:
    """Codes of a category or text column, -1 where missing, and their labels."""
    if _short_name(column.dtype) == "Enum":
        codes, labels = column.to_physical(), column.dtype.categories
    else:
        # A polars Categorical shares its codes with all columns of the process: make new ones.
        text = column.cast(str)
        codes, labels = text.rank("dense") - 1, text.drop_nulls().unique().sort()
    return codes.cast(int).fill_null(-1).to_numpy(), labels.to_list()
