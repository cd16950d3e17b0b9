"""Targets whose kind is found from their values."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from hsiclasso._types import BoolArray
from hsiclasso.data.annotations import GivenLabels
from hsiclasso.errors import InvalidInputError
from hsiclasso.targets.base import Array, Prepared, Target, TargetData, finite
from hsiclasso.targets.classes import Classes
from hsiclasso.targets.labels import Labels
from hsiclasso.targets.ordinal import Ordinal
from hsiclasso.targets.real import Real
from hsiclasso.targets.survival import Survival
from hsiclasso.targets.text import numbers_in
from hsiclasso.targets.values import ValueTarget

__all__ = ["Auto"]

#: A numeric target with more distinct whole numbers than this is real.
_MAX_CLASSES = 50


class Auto(Real):
    """A target whose kind is found from its values; it is real unless they show another kind.

    Text and booleans are classes, and so are whole numbers with at most 50 distinct values that
    occur three times each on average; an ordered category is ordinal; several columns of zeros
    and ones are labels; a structured array is times and events; all else is real. Text that holds
    numbers is what these numbers are. Dates are days, and so are ISO dates such as 2024-03-01.

    Parameters
    ----------
    kernel, outputs, missing
        As in the kind that is found.
    transform : {"auto", None, "rank", "normal"}, default="auto"
        As in `Real`; refused if the target is of another kind.

    Examples
    --------
    >>> Auto().prepare(["a", "b", "a"], 3).target
    Classes()
    """

    name: ClassVar[str] = "auto"
    words: ClassVar[str] = "a target"

    def prepare(self, y: Any, n_samples: int, use: BoolArray | None = None) -> Prepared:
        """Check a target; a structured array holds times and events."""
        if getattr(getattr(y, "dtype", None), "names", None):
            self._refuse_unless_default("outputs", self.outputs, "auto", Survival.words)
            transform = None if self.transform == "auto" else self.transform
            survival = Survival(self.kernel, transform, self.missing)
            return survival.prepare(y, n_samples, use)
        return super().prepare(y, n_samples, use)

    def make(self, values: tuple[list[Array], bool], rows: BoolArray) -> tuple[TargetData, Target]:
        """Find the kind of the values that are used, and let it make the data."""
        columns, ordered = values
        used = [finite(column[rows]) for column in columns]
        used = [one if isinstance(one, GivenLabels) else numbers_in(one) for one in used]
        kind = Ordinal if ordered else find_kind(used)
        if kind is Real:
            params = self.get_params(deep=False)
            return Real(**params).make(values, rows)
        if kind is Labels:
            values, rows = (used, ordered), np.ones(len(used[0]), dtype=bool)
        if self.transform is not None:
            self._refuse_unless_default("transform", self.transform, "auto", kind.words)
        return kind(self.kernel, self.outputs, self.missing).make(values, rows)

    def _refuse_unless_default(self, name: str, value: Any, default: Any, words: str) -> None:
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
    integers = column.dtype.kind in "iu" or bool(np.all(column == np.floor(column)))
    few = np.unique(column).size <= max(2, min(_MAX_CLASSES, column.size // 3))
    return Classes if integers and few else Real
