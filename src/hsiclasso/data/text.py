"""Text -> a table of numbers and codes.

NumPy's parser reads 50 x 300,000 numbers in a second. Columns whose first cell is a word go through
a coder in the same pass. If another cell turns out to be missing or a word, a second pass looks at
every cell, and a third one codes the columns in which words were found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.data.base import enumerated
from hsiclasso.data.cells import CodedTable, Coder, as_number, swap_marks
from hsiclasso.data.compressed import COMPRESSED
from hsiclasso.data.form import WHITESPACE, text_option
from hsiclasso.data.layout import Layout
from hsiclasso.data.reading import reading
from hsiclasso.data.recognise import Form
from hsiclasso.errors import InvalidInputError

__all__ = [
    "DELIMITERS",
    "by_suffix",
    "mark_missing",
    "plain_suffix",
    "read_cells",
    "read_numbers",
    "reading_text",
]

#: Delimiter of text files by suffix.
DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}

#: Suffixes of formats that may be folders.
FOLDERS = (".zarr",)

_Convert = Callable[[str], float]
_T = TypeVar("_T")


def plain_suffix(file: Path) -> str:
    """Return the suffix of a file in lower case, without that of a compression.

    Examples
    --------
    >>> plain_suffix(Path("t.CSV.gz")), plain_suffix(Path("a.csv.npz"))
    ('.csv', '.npz')
    """
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def by_suffix(file: Path, choices: Mapping[str, _T]) -> _T:
    """Return the choice for the suffix of a file, which must exist; ``.csv.gz`` is a suffix."""
    suffix = file.suffix.lower()
    if suffix in COMPRESSED:
        suffix = "".join(file.suffixes[-2:]).lower()
    if suffix not in choices:
        raise InvalidInputError(
            f"{file} has the suffix {suffix!r}, and the suffix tells the format: use one of "
            f"{', '.join(choices)}."
        )
    if not file.is_file() and not (file.is_dir() and suffix in FOLDERS):
        what = "is a folder, not a file" if file.is_dir() else "does not exist"
        raise InvalidInputError(f"{file} {what}: check the spelling of the path.")
    return choices[suffix]


@contextmanager
def reading_text(file: Path, what: str, encoding: str | None = None) -> Iterator[None]:
    """Turn the errors of libraries that read a file into ours, and name the file in them.

    `what` names its format.
    """
    try:
        with reading(file, what):
            yield
    except InvalidInputError as error:
        cause = error.__cause__
        if isinstance(cause, UnicodeError) and str(error).startswith(f"{file} cannot be read"):
            other = "latin-1" if encoding is None else "utf-8"
            where = str(cause)
            if isinstance(cause, UnicodeDecodeError):
                where = f"{cause.reason} at byte {cause.start}"
            raise InvalidInputError(
                f"{file} is not {'UTF-8' if encoding is None else encoding} text ({where}): "
                f"say what it is, as with {text_option('encoding', other)}, or save it as UTF-8."
            ) from cause
        if str(file) in str(error) or isinstance(cause, UnicodeError):
            raise
        raise InvalidInputError(f"{file}: {error}") from error


def read_cells(form: Form, layout: Layout) -> CodedTable:
    """Read all columns that the layout uses; the others become zeros."""
    first = form.first
    _check_width(form, layout)
    parser = _Parser(form, layout)
    words = {j for j in layout.used if parser.number(first[j]) is None}
    empty = {j for j in words if first[j].strip() in parser.missing}
    coded = (words - empty) | layout.category
    if layout.ids is not None:
        coded |= {layout.ids}
    found = None if empty else parser.only_numbers(coded)
    return found or parser.any_cells(coded)


def read_numbers(form: Form, layout: Layout) -> CodedTable | None:
    """Read a table of numbers, with names in the column of identifiers; None if it is none."""
    _check_width(form, layout)
    return _Parser(form, layout).only_numbers([] if layout.ids is None else [layout.ids])


def mark_missing(array: FloatArray, form: Form, *, but: Iterable[int] = ()) -> None:
    """Replace numbers that stand for a missing value, such as -99, except in some columns."""
    for mark in form.text.own_marks:
        number = as_number(swap_marks(mark) if form.decimal == "," else mark)
        if number is not None:
            hit = array == number
            hit[:, list(but)] = False
            array[hit] = np.nan


def _check_width(form: Form, layout: Layout) -> None:
    if len(form.first) != len(layout.names):
        raise InvalidInputError(
            f"{form.file} has {len(layout.names)} column names, but {len(form.first)} values in "
            "data row 1: every row must have one value per name. If one name is missing, it is "
            "usually that of the row labels: add it."
        )


class _Parser:
    """Reads one file, in one or several passes.

    Where the decimal mark is a comma, commas and dots are swapped in every line, which NumPy's
    parser reads at full speed, and swapped back in labels.
    """

    def __init__(self, form: Form, layout: Layout) -> None:
        self.form = form
        self.layout = layout
        self.missing = form.text.marks
        self.swap = form.decimal == ","

    def number(self, cell: str) -> float | None:
        """Return the number in a cell of the file, None if there is none."""
        return as_number(swap_marks(cell) if self.swap else cell)

    def only_numbers(self, coded: Iterable[int]) -> CodedTable | None:
        """Read a file whose columns are numbers, except those coded; None if they are not."""
        coders = self._coders(coded)
        try:
            return self._settled(
                self._load({j: coder.__getitem__ for j, coder in coders.items()}), coders
            )
        except _NotANumberError:
            return None

    def any_cells(self, coded: set[int]) -> CodedTable:
        """Read a file with missing cells, and with words where none were expected."""
        marks = {swap_marks(mark) for mark in self.missing} if self.swap else self.missing
        while True:
            coders = self._coders(coded)
            words: set[int] = set()
            others = {j: _number(j, words, marks) for j in self.layout.used if j not in coded}
            codes = {j: coder.__getitem__ for j, coder in coders.items()}
            array = self._load({**codes, **others})
            if not words:
                return self._settled(array, coders)
            coded = coded | words

    def _coders(self, coded: Iterable[int]) -> dict[int, Coder]:
        return {j: Coder(self.missing, swap=self.swap) for j in coded}

    def _load(self, converters: Mapping[int, _Convert]) -> FloatArray:
        """Parse the file; `converters` turn the cells of some columns into numbers."""
        used = set(self.layout.used)
        functions: dict[int | str, Any] = {
            j: converters.get(j, _zero)
            for j in range(len(self.layout.names))
            if j in converters or j not in used
        }
        sep = None if self.form.sep == WHITESPACE else self.form.sep
        lines = map(swap_marks, self.form.lines()) if self.swap else self.form.lines()
        try:
            return np.loadtxt(
                lines, delimiter=sep,
                quotechar='"', comments=None, converters=functions, ndmin=2,
                encoding=None,  # NumPy before 2 would hand bytes to converters
            )  # fmt: skip
        except UnicodeDecodeError:
            raise
        except ValueError as error:
            if isinstance(error.__cause__, KeyboardInterrupt):  # raised within a converter
                raise error.__cause__ from None
            if "could not convert string" in str(error):
                raise _NotANumberError from error
            _explain(self.form.file, str(error))

    def _refuse_nul(self, column: int, coder: Coder) -> None:
        if any("\0" in label for label in coder.labels):
            raise InvalidInputError(
                f"column {self.layout.names[column]!r} of {self.form.file} holds NUL bytes, which "
                "text does not: the file is damaged; write it again."
            )

    def _settled(self, array: FloatArray, coders: dict[int, Coder]) -> CodedTable:
        mark_missing(array, self.form, but=coders)
        table = CodedTable(array)
        wrong: dict[str, InvalidInputError] = {}
        for j, coder in sorted(coders.items()):
            self._refuse_nul(j, coder)
            try:
                table.settle(
                    j,
                    self.layout.names[j],
                    coder.labels,
                    category=j in self.layout.category or j == self.layout.ids,
                    decimal=self.form.decimal,
                )
            except InvalidInputError as error:
                wrong[self.layout.names[j]] = error
        if wrong:
            first, *others = wrong
            also = f" Likewise {enumerated(list(map(repr, others)))}." if others else ""
            raise InvalidInputError(f"{wrong[first]}{also}")
        return table


class _NotANumberError(Exception):
    """A cell is no number where one was expected."""


def _number(column: int, words: set[int], missing: Collection[str]) -> _Convert:
    """Return a function that reads cells of one column, NaN if missing, and notes words."""

    def convert(cell: str) -> float:
        try:
            number = float(cell)
        except ValueError:
            if cell.strip() not in missing:
                words.add(column)
            return np.nan
        if "_" in cell:  # 1_000 is a number in Python only
            words.add(column)
        return number

    return convert


def _zero(_: str) -> float:
    """Replace a value that is not used."""
    return 0.0


def _explain(file: Path, error: str) -> NoReturn:
    """Raise an error of NumPy's parser in words of the table."""
    if match := re.search(r"changed from (\d+) to (\d+) at row (\d+)", error):
        wanted, found, row = match.groups()
        raise InvalidInputError(
            f"{file} has {found} values in data row {row}, but {wanted} columns: every row must "
            "have one value per column; correct the row, or say what separates the columns with "
            f"{text_option('sep', ';')}."
        )
    raise InvalidInputError(f"{file} cannot be read ({error}): check its columns and quotes.")
