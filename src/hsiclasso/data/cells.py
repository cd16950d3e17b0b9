"""Cells of text -> numbers, booleans or labels, column by column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hsiclasso.data.base import Kind
from hsiclasso.errors import InvalidInputError

__all__ = ["MISSING", "CodedTable", "Coder", "as_number"]

Array = np.ndarray[Any, Any]

#: Texts that stand for a missing value, as in pandas.
MISSING = frozenset(
    {"", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-NaN"}
    | {"-nan", "NULL", "null", "None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}
)
#: If more than this share of a column are numbers, its other cells are mistakes, not labels.
_MOSTLY = 0.5


@dataclass(frozen=True)
class CodedTable:
    """All columns of a file in one array of numbers and codes."""

    #: Numbers, 0 and 1 for booleans, codes of labels; NaN where missing. Shape (n, m).
    array: Array
    #: Kinds of the columns that are not numbers.
    kinds: dict[int, Kind] = field(default_factory=dict)
    #: Labels of the codes.
    labels: dict[int, list[str]] = field(default_factory=dict)
    #: Columns whose labels have an order, that of the codes.
    ordered: set[int] = field(default_factory=set)

    def values(self, column: int) -> Array:
        """Return one column: numbers, booleans, or labels with None where missing.

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
        """Find out what a column of codes holds, and store that in place of the codes.

        Parameters
        ----------
        column : int
            Column of codes of labels, NaN where missing.
        name : str
            Name of the column, for errors.
        labels : list of str
            Labels of the codes.
        category : bool
            Whether these are labels even if they look like numbers.

        Raises
        ------
        InvalidInputError
            If most cells are numbers and some are not.
        """
        codes = self.array[:, column]
        numbers = [as_number(label) for label in labels]
        seen = ~np.isnan(codes)
        places = codes[seen].astype(np.int64)
        if not category:
            is_number = np.array([number is not None for number in numbers], dtype=bool)
            if is_number.all():
                codes[seen] = np.array(numbers, dtype=np.float64)[places]
                return
            if is_number[places].mean() > _MOSTLY:
                row = int(np.flatnonzero(seen)[np.argmin(is_number[places])])
                raise InvalidInputError(
                    f"column {name!r} holds {labels[int(codes[row])]!r} in data row {row + 1}, but "
                    "most of its values are numbers: correct it, empty the cell if the value is "
                    f"missing, or, if these are labels, pass category=[{name!r}] (--category "
                    f"{name!r} on the command line)."
                )
            truths = [label.lower() for label in labels]
            if set(truths) <= {"true", "false"}:
                codes[seen] = np.array([truth == "true" for truth in truths])[places]
                self.kinds[column] = "bool"
                return
        order = np.argsort(np.array(labels, dtype=object), kind="stable")
        codes[seen] = np.argsort(order)[places]
        self.kinds[column] = "category" if category else "text"
        self.labels[column] = [labels[i] for i in order]

    def relabel(self, column: int) -> None:
        """Turn a column of numbers into labels.

        Examples
        --------
        >>> table = CodedTable(np.array([[3.0], [np.nan], [1.0], [3.0]]))
        >>> table.relabel(0)
        >>> table.labels, table.array.ravel().tolist()
        ({0: ['1', '3']}, [1.0, nan, 0.0, 1.0])
        """
        codes = self.array[:, column]
        seen = ~np.isnan(codes)
        levels, codes[seen] = np.unique(codes[seen], return_inverse=True)
        self.kinds[column] = "category"
        self.labels[column] = [f"{level:.17g}" for level in levels]


class Coder(dict[str, float]):
    """Codes of the cells of one column, in order of appearance; NaN for missing ones.

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
    """Return the number in a cell, None if there is none.

    Examples
    --------
    >>> as_number(" 2.5 "), as_number("1_000"), as_number("12,3")
    (2.5, None, None)
    """
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None
