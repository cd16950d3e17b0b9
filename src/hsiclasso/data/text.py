"""Comma- and tab-separated text -> a table of numbers and codes.

NumPy's parser reads 50 x 300,000 numbers in a second. Columns whose first cell is a word go through
a coder in the same pass. If another cell turns out to be missing or a word, a second pass looks at
every cell, and a third one codes the columns in which words were found.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn, TextIO, TypeVar

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.data.cells import MISSING, CodedTable, Coder, as_number
from hsiclasso.data.layout import Layout
from hsiclasso.errors import InvalidInputError

__all__ = ["DELIMITERS", "by_suffix", "open_text", "peek", "read_cells"]

#: Delimiter of text files by suffix.
DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}

#: Suffixes of formats that may be folders.
FOLDERS = (".zarr",)

_Convert = Callable[[str], float]
_T = TypeVar("_T")


def by_suffix(file: Path, choices: Mapping[str, _T]) -> _T:
    """Return the choice for the suffix of a file, which must exist; ``.csv.gz`` is a suffix."""
    suffix = file.suffix.lower()
    if suffix == ".gz":
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


def peek(file: Path, delimiter: str) -> tuple[list[str], list[str], int]:
    """Return the names, the fields of the first data row, and the number of header lines."""
    with open_text(file) as lines:
        rows = csv.reader(lines, delimiter=delimiter)
        header = next((row for row in rows if any(map(str.strip, row))), None)
        n_lines = rows.line_num
        first = next((row for row in rows if row), None)
    if header is None:
        raise InvalidInputError(f"{file} holds only blank lines: write a table into it first.")
    if first is None:
        raise InvalidInputError(
            f"{file} has {len(header)} column name{'s'[: len(header) != 1]} and no rows below: "
            "add one row per sample."
        )
    names = [name.strip() or f"unnamed_{j}" for j, name in enumerate(header, start=1)]
    return names, first, n_lines


def open_text(file: Path) -> TextIO:
    """Open a text file, compressed or not."""
    if file.suffix.lower() == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig", newline="")
    return file.open(encoding="utf-8-sig", newline="")


def read_cells(
    file: Path, layout: Layout, first: list[str], *, delimiter: str, skip: int
) -> CodedTable:
    """Read all columns that the layout uses; the others become zeros.

    `first` has the fields of the first data row, below `skip` lines of header.
    """
    if len(first) != len(layout.names):
        raise InvalidInputError(
            f"{file} has {len(layout.names)} column names, but {len(first)} values in data row 1: "
            "every row must have one value per name. If one name is missing, it is usually that of "
            "the row labels: add it."
        )
    parser = _Parser(file, layout, delimiter, skip)
    words = {j for j in layout.used if as_number(first[j]) is None}
    empty = {j for j in words if first[j].strip() in MISSING}
    coded = (words - empty) | layout.category
    found = None if empty else parser.only_numbers(coded)
    return found or parser.any_cells(coded)


class _Parser:
    """Reads one file, in one or several passes."""

    def __init__(self, file: Path, layout: Layout, delimiter: str, skip: int) -> None:
        self.file = file
        self.layout = layout
        self.delimiter = delimiter
        self.skip = skip

    def only_numbers(self, coded: Iterable[int]) -> CodedTable | None:
        """Read a file whose columns are numbers, except those coded; None if they are not."""
        coders = {j: Coder() for j in coded}
        try:
            return self._settled(
                self._load({j: coder.__getitem__ for j, coder in coders.items()}), coders
            )
        except _NotANumberError:
            return None

    def any_cells(self, coded: set[int]) -> CodedTable:
        """Read a file with missing cells, and with words where none were expected."""
        while True:
            coders = {j: Coder() for j in coded}
            words: set[int] = set()
            others = {j: _number(j, words) for j in self.layout.used if j not in coded}
            codes = {j: coder.__getitem__ for j, coder in coders.items()}
            array = self._load({**codes, **others})
            if not words:
                return self._settled(array, coders)
            coded = coded | words

    def _load(self, converters: Mapping[int, _Convert]) -> FloatArray:
        """Parse the file; `converters` turn the cells of some columns into numbers."""
        used = set(self.layout.used)
        functions: dict[int | str, Any] = {
            j: converters.get(j, _zero)
            for j in range(len(self.layout.names))
            if j in converters or j not in used
        }
        try:
            return np.loadtxt(
                self.file, delimiter=self.delimiter, quotechar='"', comments=None,
                skiprows=self.skip, converters=functions, ndmin=2, encoding="utf-8",
            )  # fmt: skip
        except UnicodeDecodeError:
            raise
        except ValueError as error:
            if isinstance(error.__cause__, KeyboardInterrupt):  # raised within a converter
                raise error.__cause__ from None
            if "could not convert string" in str(error):
                raise _NotANumberError from error
            _explain(self.file, str(error))

    def _settled(self, array: FloatArray, coders: dict[int, Coder]) -> CodedTable:
        table = CodedTable(array)
        for j, coder in sorted(coders.items()):
            category = j in self.layout.category
            table.settle(j, self.layout.names[j], coder.labels, category=category)
        return table


class _NotANumberError(Exception):
    """A cell is no number where one was expected."""


def _number(column: int, words: set[int]) -> _Convert:
    """Return a function that reads cells of one column, NaN if missing, and notes words."""

    def convert(cell: str) -> float:
        try:
            number = float(cell)
        except ValueError:
            if cell.strip() not in MISSING:
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
            "have one value per column."
        )
    raise InvalidInputError(f"{file} cannot be read ({error}): check its columns and quotes.")
