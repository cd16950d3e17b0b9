"""What a kind of target is: it checks y, knows its kernel, and gives the matrix T.

A target goes through two steps. `Target.prepare` checks y and returns plain data; `matrix` of that
data makes T for a measure and a set of samples.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real as RealNumber
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, column_or_1d

from hsiclasso._checks import check_choice
from hsiclasso._options import Option
from hsiclasso._types import BoolArray, FloatArray
from hsiclasso.data.annotations import GivenLabels
from hsiclasso.data.dates import dates_as_days, durations_as_days
from hsiclasso.data.frames import WIDE, floats_of
from hsiclasso.data.lazy import is_lazy_frame
from hsiclasso.data.structure import check_sparse, unmasked
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Measure, Samples
from hsiclasso.targets.matrix import TargetMatrix

__all__ = ["Prepared", "Target", "TargetData", "read_columns"]

Array = np.ndarray[Any, Any]
MissingTarget = Literal["error", "drop"]

_MIN_SAMPLES = 3
#: What objects may be so that they are numbers.
_NUMBERS = (RealNumber, Decimal, np.bool_)


class TargetData(Protocol):
    """A target that is checked."""

    def matrix(
        self, measure: Measure, samples: Samples, *, error: float, n_features: int
    ) -> TargetMatrix:
        """Make the matrix T.

        Parameters
        ----------
        measure : Measure
        samples : Samples
            Weights of the samples, and the directions that are removed.
        error : float
            Relative error of the features. T is made tighter, since its error enters the
            relevance of every feature.
        n_features : int
            Number of features that T will be compared with: it decides whether factoring pays.
        """


@dataclass(frozen=True)
class Prepared:
    """A target ready to be made into a matrix."""

    data: TargetData
    #: Kind of the target; never ``Auto``.
    target: Target
    #: Samples that are used, shape (n,); None for all.
    rows: BoolArray | None = None


class Target(Option):
    """A kind of target.

    Attributes
    ----------
    name : str
        Name as an option and on the command line.
    words : str
        Name in messages.
    missing : {"error", "drop"}
        What to do with samples whose target is missing.
    """

    name: ClassVar[str]
    words: ClassVar[str]
    missing: MissingTarget = "error"

    def check(self) -> Self:
        """Raise if a parameter breaks its rule."""
        check_choice("missing", self.missing, ("error", "drop"))
        return self

    def prepare(self, y: Any, n_samples: int, use: BoolArray | None = None) -> Prepared:
        """Check a target.

        Parameters
        ----------
        y : array-like
            One entry per sample: numbers, booleans or text; a table of them; times and events; a
            matrix between samples; or any objects.
        n_samples : int
            Number of rows of the table.
        use : ndarray of bool of shape (n_samples,), optional
            Samples to use; the others are left out.
        """
        self.check()
        if y is None:
            raise InvalidInputError(
                "requires y to be passed, but the target y is None: pass one value per sample."
            )
        values = self.read(y, n_samples)
        absent = self.absent(values, n_samples)
        if absent.any() and self.missing == "error":
            raise InvalidInputError(
                f"Input y contains NaN or None, first in row {int(np.argmax(absent))} "
                f"({np.count_nonzero(absent)} in all): drop such rows, or pass "
                f"target={type(self).__name__}(missing='drop')."
            )
        rows = ~absent if use is None else use & ~absent
        if np.count_nonzero(rows) < _MIN_SAMPLES:
            raise InvalidInputError(
                f"n_samples={np.count_nonzero(rows)} with a target and a positive weight, but "
                f"dependence can only be measured on {_MIN_SAMPLES} samples or more: add rows."
            )
        data, kind = self.make(values, rows)
        return Prepared(data, kind, None if rows.all() else rows)

    @abstractmethod
    def read(self, y: Any, n: int) -> Any:
        """Return the values of the n samples, in a form that `absent` and `make` understand."""

    @abstractmethod
    def absent(self, values: Any, n: int) -> BoolArray:
        """Tell on which samples the target is missing."""

    @abstractmethod
    def make(self, values: Any, rows: BoolArray) -> tuple[TargetData, Target]:
        """Return the data of the samples that are used, and their kind."""


def read_columns(y: Any, n: int) -> tuple[list[Array], bool]:
    """Return the outputs of a target, an array each, and whether they are one ordered category."""
    columns, ordered = _columns(y)
    for column in columns:
        check_length(len(column), n)
    return [plain(column) for column in columns], ordered


def _columns(y: Any) -> tuple[list[Array], bool]:
    if sparse.issparse(y):
        y = check_sparse("y", y).toarray()
    y = unmasked(y)
    if is_lazy_frame(y):
        raise InvalidInputError(f"y is a {type(y).__name__}, which is a query: pass y.collect().")
    if hasattr(y, "columns") and hasattr(y, "dtypes"):  # a frame of pandas or polars
        parts = [_output(y, j) for j in range(y.shape[1])]
        made = [_codes(part) if _is_ordered(part) else _labelled(part, part) for part in parts]
        return made, len(parts) == 1 and _is_ordered(parts[0])
    if _is_ordered(y):
        return [_codes(y)], True
    if str(getattr(y, "dtype", "")) in WIDE:  # NumPy does not have these
        y = floats_of(y)
    try:
        values = np.asarray(y)
    except ValueError as error:
        raise InvalidInputError(
            f"y is no array ({str(error).splitlines()[0]}): pass one value per sample, or the same "
            "number of values for each."
        ) from None
    if values.ndim > 2:
        raise InvalidInputError(
            f"y has shape {values.shape}, but a target has one or two dimensions: pass one value "
            "per sample, or a table with one row per sample."
        )
    if values.dtype.kind == "c":
        raise InvalidInputError(
            "Complex data not supported: y is complex; pass its real part or its modulus."
        )
    if values.ndim == 2 and values.shape[1] > 1:
        return list(values.T), False
    return [_labelled(y, column_or_1d(y, warn=True))], False


def _output(y: Any, j: int) -> Any:
    """One column of a pandas or polars frame."""
    column = y.iloc[:, j] if hasattr(y, "iloc") else y.to_series(j)
    return floats_of(column) if str(column.dtype) in WIDE else column


def _labelled(y: Any, values: Any) -> Array:
    """Return the values of y as an array, which remembers whether text in it is a category."""
    array = np.asarray(values)
    kind = str(getattr(y, "dtype", "")).partition("(")[0]
    given = isinstance(y, GivenLabels) or kind in ("category", "Categorical", "Enum")
    return array.astype(object).view(GivenLabels) if given and array.dtype.kind in "OUT" else array


def _codes(y: Any) -> FloatArray:
    """Codes of an ordered category of pandas, NaN where it is missing."""
    codes = np.asarray(getattr(y, "cat", y).codes, dtype=np.float64)
    return np.where(codes < 0, np.nan, codes)


def _is_ordered(y: Any) -> bool:
    return bool(getattr(getattr(y, "dtype", None), "ordered", False))


def check_length(length: int, n: int) -> None:
    """Raise unless there is one value per sample."""
    if length != n:
        raise InvalidInputError(
            f"y has {length} values and X has {n} samples: inconsistent numbers of samples; pass "
            "one target value per row of X."
        )


def plain(values: Array, *, dates: bool = True) -> Array:
    """Return numbers as numbers, durations and, if wanted, dates as days, all else as objects."""
    if values.dtype.kind in "biuf":
        return values
    if values.dtype.kind not in "mM":
        values = values.astype(object)
        gone = np.array([is_nothing(value) for value in values], dtype=bool)
        values[gone] = None
        if isinstance(values, GivenLabels):
            return values
        if gone.all() or all(isinstance(value, _NUMBERS) for value in values[~gone]):
            return _floats(values)
    days = durations_as_days(values)
    if days is None and dates:
        days = dates_as_days(values)
    return values.astype(object) if days is None else days


def _floats(values: Array) -> FloatArray:
    """Return numbers of any kind as floats, NaN where there is None."""
    try:
        return np.array([np.nan if value is None else float(value) for value in values])
    except OverflowError:
        largest = max((value for value in values if value is not None), key=abs)
        raise InvalidInputError(
            f"y holds {largest!r:.40}, but a number must be below 1.8e308: divide y by a power "
            "of 10."
        ) from None


def is_missing(values: Array) -> BoolArray:
    """Tell which values are NaN, None or NA."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind != "O":
        return np.zeros(values.size, dtype=bool)
    return np.array([is_nothing(value) for value in values], dtype=bool)


def any_missing(columns: list[Array]) -> BoolArray:
    """Tell on which samples some column is missing."""
    return np.asarray(np.any([is_missing(column) for column in columns], axis=0))


def is_nothing(value: Any) -> bool:
    """Whether an object is None, NaN or pandas' NA, which is not even equal to itself."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | Decimal) and value != value


def finite(values: Array) -> Array:
    """Return finite numbers as they are, and objects as text."""
    if values.dtype.kind == "O":
        return values.astype(str)
    try:
        assert_all_finite(values, input_name="y")
    except ValueError as error:
        raise InvalidInputError(
            f"{str(error).splitlines()[0]} Every target value must be finite: drop such rows."
        ) from None
    return values
