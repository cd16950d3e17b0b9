"""Finding out what kind a target is of."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np

from hsiclasso._types import BoolArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.targets.base import (
    Array,
    MissingTarget,
    Prepared,
    Target,
    TargetData,
    any_missing,
    finite,
    read_columns,
)
from hsiclasso.targets.classes import Classes
from hsiclasso.targets.labels import Labels
from hsiclasso.targets.ordinal import Ordinal
from hsiclasso.targets.real import Real
from hsiclasso.targets.survival import Survival
from hsiclasso.targets.values import Outputs, ValueTarget

__all__ = ["Auto"]

#: A numeric target with more distinct whole numbers than this is taken for a real one.
_MAX_CLASSES = 50


class Auto(Target):
    """A target whose kind is found from its values.

    Text and booleans are classes, and so are whole numbers with at most 50 distinct values that
    occur three times each on average; an ordered category is ordinal; several columns of zeros
    and ones are labels; a structured array is times and events; all else is real.

    Parameters
    ----------
    kernel : str or Kernel, default="auto"
        Kernel of the target; ``"auto"`` takes the usual one of its kind.
    transform : {None, "rank"}, default=None
        As in `Real`; refused if the target turns out to be of another kind.
    outputs : {"auto", "joint", "average"}, default="auto"
        One kernel on several outputs together, or one for each, averaged.
    missing : {"error", "drop"}, default="error"
        Whether samples without a target are refused or dropped.

    Examples
    --------
    >>> Auto().prepare(["a", "b", "a"], 3).target
    Classes()
    """

    name: ClassVar[str] = "auto"
    words: ClassVar[str] = "a target"

    def __init__(
        self,
        kernel: Any = "auto",
        transform: Literal["rank"] | None = None,
        outputs: Outputs = "auto",
        missing: MissingTarget = "error",
    ) -> None:
        self.kernel = kernel
        self.transform = transform
        self.outputs = outputs
        self.missing = missing

    def check(self) -> Self:
        """Raise if a parameter breaks its rule; the rules are those of `Real`."""
        self._real().check()
        return self

    def _real(self) -> Real:
        return Real(self.kernel, self.transform, self.outputs, self.missing)

    def prepare(self, y: Any, n_samples: int, use: BoolArray | None = None) -> Prepared:
        """Check a target; times and events are known by their structured array."""
        if getattr(getattr(y, "dtype", None), "names", None):
            self._only_with_values("outputs", self.outputs, "auto", Survival.words)
            survival = Survival(self.kernel, self.transform, self.missing)
            return survival.prepare(y, n_samples, use)
        return super().prepare(y, n_samples, use)

    def read(self, y: Any, n: int) -> tuple[list[Array], bool]:
        """Return one array for each output, and whether they are one ordered category."""
        return read_columns(y, n)

    def absent(self, values: tuple[list[Array], bool], n: int) -> BoolArray:
        """Tell on which samples some output is missing."""
        return any_missing(values[0])

    def make(self, values: tuple[list[Array], bool], rows: BoolArray) -> tuple[TargetData, Target]:
        """Find the kind of the values that are used, and let it make the data."""
        columns, ordered = values
        kind = Ordinal if ordered else find_kind([finite(column[rows]) for column in columns])
        if kind is Real:
            return self._real().make(columns, rows)
        self._only_with_values("transform", self.transform, None, kind.words)
        return kind(self.kernel, self.outputs, self.missing).make(columns, rows)

    def _only_with_values(self, name: str, value: Any, default: Any, words: str) -> None:
        if value != default:
            raise InvalidInputError(
                f"{name}={value!r} is not for {words}, which y is: leave it out, or say what y is, "
                "as in target=Real()."
            )


def find_kind(columns: list[Array]) -> type[ValueTarget]:
    """Return the kind of complete values, one array for each output."""
    numeric = all(column.dtype.kind in "biuf" for column in columns)
    if len(columns) > 1:
        if numeric and all(np.isin(column, (0, 1)).all() for column in columns):
            return Labels
        return Real if numeric else Classes
    (column,) = columns
    if column.dtype.kind not in "iuf":
        return Classes
    whole = column.dtype.kind in "iu" or bool(np.all(column == np.floor(column)))
    few = np.unique(column).size <= max(2, min(_MAX_CLASSES, column.size // 3))
    return Classes if whole and few else Real
