"""Cells of text -> numbers, truth values or labels, column by column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.data.layout import refuse_number
from hsiclasso.data.sources import Kind

__all__ = ["MISSING", "Coder", "Grid", "as_number", "relabel", "settle"]

Array = np.ndarray[Any, Any]

#: How a missing value is written in text: as pandas reads it.
MISSING = frozenset(
    {"", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-NaN"}
    | {"-nan", "NULL", "null", "None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}
)
#: Share of numbers from which other cells of a column are mistakes rather than labels.
_MOSTLY = 0.5


@dataclass(frozen=True)
class Grid:
    """All columns of a file in one array.

    Attributes
    ----------
    array : ndarray of shape (n, m)
        Numbers, truth values and codes 0, 1, ... of labels; NaN where missing.
    kinds : dict of int to str
        Columns that are not numbers.
    labels : dict of int to list
        Labels of the codes.
    ordered : set of int
        Columns whose labels have an order, that of the codes.
    """

    array: Array
    kinds: dict[int, Kind] = field(default_factory=dict)
    labels: dict[int, list[str]] = field(default_factory=dict)
    ordered: set[int] = field(default_factory=set)

    def values(self, column: int) -> Array:
        """Return one column: numbers, truth values, or labels with None where missing.

        Labels that have an order come as their codes.
        """
        cells = self.array[:, column].copy()
        kind = self.kinds.get(column, "number")
        if kind == "bool" and not np.isnan(cells).any():
            return cells.astype(bool)
        if kind in ("number", "bool") or column in self.ordered:
            return cells
        labels = np.array([*self.labels[column], None], dtype=object)
        return labels[np.where(np.isnan(cells), len(labels) - 1, cells).astype(np.int64)]

    def settle(self, column: int, name: str, labels: list[str], *, category: bool) -> None:
        """Find out what a column of codes holds, and write numbers where it holds numbers."""
        kind, found = settle(name, self.array[:, column], labels, category=category)
        if kind != "number":
            self.kinds[column] = kind
        if found is not None:
            self.labels[column] = found

    def relabel(self, column: int) -> None:
        """Turn a column of numbers into labels."""
        self.kinds[column] = "category"
        self.labels[column] = relabel(self.array[:, column])


class Coder(dict[str, float]):
    """Codes of the cells of one column, numbered as they appear; NaN for missing ones.

    Examples
    --------
    >>> code = Coder()
    >>> [code[cell] for cell in ("red", "blue", "NA", " red")], code.labels
    ([0.0, 1.0, nan, 0.0], ['red', 'blue'])
    """

    def __init__(self) -> None:
        super().__init__()
        self.labels: list[str] = []

    def __missing__(self, cell: str) -> float:
        label = cell.strip()
        if label in MISSING:
            code = float("nan")
        elif label != cell:
            code = self[label]
        else:
            code = float(len(self.labels))
            self.labels.append(label)
        self[cell] = code
        return code


def as_number(text: str) -> float | None:
    """Return the number that a cell holds, None if it holds none.

    Examples
    --------
    >>> as_number(" 2.5 "), as_number("1_000"), as_number("12,3")
    (2.5, None, None)
    """
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def settle(
    name: str, codes: FloatArray, labels: list[str], *, category: bool
) -> tuple[Kind, list[str] | None]:
    """Say what a column of text holds, and write that over its codes.

    Parameters
    ----------
    name : str
        Name of the column, for errors.
    codes : ndarray of shape (n,)
        Codes of labels, NaN where missing; become numbers if all labels are.
    labels : list of str
        Labels of the codes.
    category : bool
        Whether these are labels in any case, be they numbers or not.

    Returns
    -------
    kind : str
    labels : list of str or None
        Labels of the new codes, in alphabetical order.

    Raises
    ------
    InvalidInputError
        If most cells are numbers and some are not.
    """
    numbers = [as_number(label) for label in labels]
    seen = ~np.isnan(codes)
    places = codes[seen].astype(np.int64)
    if not category:
        is_number = np.array([number is not None for number in numbers], dtype=bool)
        if is_number.all():
            codes[seen] = np.array(numbers, dtype=np.float64)[places]
            return "number", None
        if is_number[places].mean() > _MOSTLY:
            row = int(np.flatnonzero(seen)[np.argmin(is_number[places])])
            refuse_number(name, labels[int(codes[row])], row + 1)
        truths = [label.lower() for label in labels]
        if set(truths) <= {"true", "false"}:
            codes[seen] = np.array([truth == "true" for truth in truths])[places]
            return "bool", None
    order = np.argsort(np.array(labels, dtype=object), kind="stable")
    codes[seen] = np.argsort(order)[places]
    return "category" if category else "text", [labels[i] for i in order]


def relabel(codes: FloatArray) -> list[str]:
    """Write codes of labels over numbers, and return the labels.

    Examples
    --------
    >>> numbers = np.array([3.0, np.nan, 1.0, 3.0])
    >>> relabel(numbers), numbers.tolist()
    (['1', '3'], [1.0, nan, 0.0, 1.0])
    """
    seen = ~np.isnan(codes)
    levels, codes[seen] = np.unique(codes[seen], return_inverse=True)
    return [f"{level:.17g}" for level in levels]
