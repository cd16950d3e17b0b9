"""Cells of text -> numbers, booleans or labels, column by column."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from hsiclasso.data.annotations import GivenLabels
from hsiclasso.data.base import Kind
from hsiclasso.errors import InvalidInputError

__all__ = ["MISSING", "CodedTable", "Coder", "as_number", "is_nearly_number", "swap_marks"]

Array = np.ndarray[Any, Any]

#: Texts that stand for a missing value, as in pandas.
MISSING = frozenset(
    {"", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-NaN"}
    | {"-nan", "NULL", "null", "None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}
)
#: If more than this share of a column are numbers, its other cells are mistakes, not labels.
_MOSTLY = 0.5
#: Numbers with thousands separators, and numbers with a decimal comma.
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:[,' \u00a0\u2009\u202f]\d{3})+(?:\.\d+)?")
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
_SWAPPED = str.maketrans(",.", ".,")


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
        found = labels[np.where(np.isnan(cells), len(labels) - 1, cells).astype(np.int64)]
        return found.view(GivenLabels) if kind == "category" else found

    def settle(
        self,
        column: int,
        name: str,
        labels: list[str],
        *,
        category: bool,
        decimal: str = ".",
        samples: Sequence[str] | None = None,
    ) -> None:
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
        decimal : str
            Decimal mark of numbers in the labels.
        samples : list of str, optional
            Names of the samples of a table whose rows are features, for errors.

        Raises
        ------
        InvalidInputError
            If most cells are numbers and some are not.
        """
        codes = self.array[:, column]
        swap = decimal == ","
        numbers = [as_number(swap_marks(label) if swap else label) for label in labels]
        seen = ~np.isnan(codes)
        places = codes[seen].astype(np.int64)
        if not category:
            is_number = np.array([number is not None for number in numbers], dtype=bool)
            if is_number.all():
                codes[seen] = np.array(numbers, dtype=np.float64)[places]
                return
            nearly = ~is_number & np.array([is_nearly_number(label) for label in labels])
            if (is_number | nearly)[places].mean() > _MOSTLY:
                bad = nearly[places] if nearly.any() else ~is_number[places]
                row = int(np.flatnonzero(seen)[np.argmax(bad)])
                where = f"data row {row + 1}" if samples is None else f"sample {samples[row]!r}"
                _refuse(name, labels[int(codes[row])], where, decimal)
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

    Parameters
    ----------
    missing : collection of str
        Texts that stand for a missing value.
    swap : bool
        Whether commas and dots are swapped in the cells.

    Examples
    --------
    >>> code = Coder()
    >>> [code[cell] for cell in ("red", "blue", "NA", " red")], code.labels
    ([0.0, 1.0, nan, 0.0], ['red', 'blue'])
    """

    def __init__(self, missing: Collection[str] = MISSING, *, swap: bool = False) -> None:
        super().__init__()
        self._missing, self._swap = missing, swap
        self._codes: dict[str, float] = {}

    @property
    def labels(self) -> list[str]:
        """Labels of the codes."""
        return list(self._codes)

    def __missing__(self, cell: str) -> float:
        label = swap_marks(cell.strip()) if self._swap else cell.strip()
        if label in self._missing:
            code = float("nan")
        else:
            code = self._codes.setdefault(label, float(len(self._codes)))
        self[cell] = code
        return code


def swap_marks(text: str) -> str:
    """Swap commas and dots, which turns numbers with a decimal comma into those with a dot."""
    return text.translate(_SWAPPED)


def is_nearly_number(cell: str) -> bool:
    """Whether a cell has separators of thousands, or a number with the other decimal mark.

    Examples
    --------
    >>> [is_nearly_number(cell) for cell in ("1,5", "1,234.5", "1.234,5", "1 000", "a,5")]
    [True, True, True, True, False]
    """
    forms = (cell, swap_marks(cell))
    return any(_GROUPED.fullmatch(text) or _WITH_COMMA.fullmatch(text) for text in forms)


def _refuse(name: str, label: str, where: str, decimal: str) -> NoReturn:
    """Raise for a cell that is no number, among numbers."""
    holds = f"column {name!r} holds {label!r} in {where}, but most of its values are numbers"
    remedy = "correct it, empty the cell if the value is missing"
    if is_nearly_number(label):
        other = "." if decimal == "," else ","
        remedy = "remove separators of thousands"
        if as_number(swap_marks(label) if decimal == "." else label) is not None:
            remedy += (
                f", or say what the decimal mark is with text=TextFormat(decimal={other!r}) "
                f"(--decimal {other!r} on the command line)"
            )
    raise InvalidInputError(
        f"{holds}: {remedy}, or, if these are labels, pass category=[{name!r}] (--category "
        f"{name!r} on the command line)."
    )


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
