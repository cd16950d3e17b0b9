"""What a text file looks like: its comments, header, separator and decimal mark."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NoReturn

from hsiclasso._checks import one_of
from hsiclasso.data.cells import as_number, swap_marks
from hsiclasso.data.compressed import open_text
from hsiclasso.data.form import WHITESPACE, TextFormat, text_option
from hsiclasso.errors import InvalidInputError

__all__ = ["Form", "recognise", "split_rows"]

#: Fewest and most lines that are looked at, and letters of them that are enough.
_LEAST_LINES, _LINES, _LETTERS = 3, 20, 1 << 20
#: Cells of rows that are enough.
_CELLS = 100_000
#: Separators that are tried if the usual one makes no columns.
_OTHERS = (",", ";", "\t", "|")
#: The line by which Excel tells itself the separator.
_EXCEL = re.compile(r'"?sep=(.)"?\s*')
#: Numbers with a decimal dot, and numbers whose comma may separate thousands.
_DOT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")
#: What comments, and some headers, begin with.
_MARK = "#"
#: What comments begin with in GEO's and other files.
_OTHER_MARKS = ("!", "%")


@dataclass(frozen=True)
class Form:
    """What a text file looks like."""

    file: Path
    #: Names of the columns.
    names: list[str]
    #: Cells of the first row below the names.
    first: list[str]
    #: Number of lines above the first row.
    skip: int
    #: Separator of columns, and decimal mark.
    sep: str
    decimal: str
    #: What the user says of the file.
    text: TextFormat

    def lines(self) -> Iterator[str]:
        """Yield the lines below the header, without comments."""
        with open_text(self.file, self.text.encoding) as stream:
            for _ in range(self.skip):
                next(stream, None)
            yield from _without_comments(stream, self.text.comment)

    def rows(self) -> Iterator[list[str]]:
        """Yield the cells of the rows below the header."""
        return (row for row in split_rows(self.lines(), self.sep) if row)


def recognise(
    file: Path,
    usual: str,
    text: TextFormat,
    names_of: Callable[[list[str]], list[str] | None] = lambda row: None,
) -> Form:
    """Find out what a text file looks like.

    Parameters
    ----------
    file : Path
        The file.
    usual : str
        Separator that its suffix stands for.
    text : TextFormat
        What the user says.
    names_of : callable
        Takes the first row. If that is no header, returns the names of the columns.
    """
    with open_text(file, text.encoding) as stream:
        above, lines = _start(stream, text.comment or _MARK)
        _check_text(file, lines)
        excel = _EXCEL.fullmatch(above[0]) if above else None
        sep = text.separator or (excel[1] if excel else _separator(file, lines, usual))
        if _ends_in_header(file, above, lines, sep, text):
            line = above.pop()
            lines.insert(0, line if line[1:2] in (sep, "") else line.lstrip(_MARK))
        rows = split_rows(_without_comments(chain(lines, stream), text.comment), sep)
        filled = (row for row in rows if any(map(str.strip, row)))
        header, skip = next(filled, None), len(above) + rows.line_num
        if header is None:
            raise InvalidInputError(f"{file} holds only blank lines: write a table into it first.")
        names = names_of(header)
        sample = [] if names is None else [header]
        sample += islice(filled, max(1, min(_LINES, _CELLS // len(header))))
    if not sample:
        raise InvalidInputError(
            f"{file} has {len(header)} column name{'s'[: len(header) != 1]} and no rows below: "
            "add one row per sample."
        )
    if names is None:
        names = [name.strip() or f"unnamed_{j}" for j, name in enumerate(header, start=1)]
        names[0] = names[0].lstrip(_MARK).strip() or names[0]
    else:
        skip = len(above)
    return Form(file, names, sample[0], skip, sep, _decimal(file, sample, sep, text), text)


def split_rows(lines: Iterable[str], sep: str) -> Any:
    """Return a reader of rows of cells, with quotes; its `line_num` counts lines."""
    if sep == WHITESPACE:
        return csv.reader((" ".join(line.split()) for line in lines), delimiter=" ")
    return csv.reader(lines, delimiter=sep)


def _without_comments(lines: Iterable[str], comment: str | None) -> Iterable[str]:
    if comment is None:
        return lines
    return (line for line in lines if not line.startswith(comment))


def _start(stream: Iterable[str], mark: str) -> tuple[list[str], list[str]]:
    """Return the lines above the header - blank ones and comments - and some that follow."""
    above: list[str] = []
    lines: list[str] = []
    letters = 0
    for line in stream:
        excel = not above and _EXCEL.fullmatch(line)
        if not lines and (not line.strip() or line.startswith(mark) or excel):
            above.append(line)
            continue
        lines.append(line)
        letters += len(line)
        if len(lines) == _LINES or (letters > _LETTERS and len(lines) >= _LEAST_LINES):
            break
    return above, lines


def _check_text(file: Path, lines: list[str]) -> None:
    if any("\0" in line for line in lines):
        raise InvalidInputError(
            f"{file} holds NUL bytes, which text does not: if it is text in another encoding, "
            f"say which, as with {text_option('encoding', 'utf-16')}."
        )


def _separator(file: Path, lines: list[str], usual: str) -> str:
    """Return the separator of the suffix, or another one if only that makes columns."""
    others = [sep for sep in _OTHERS if sep != usual and lines and sep in lines[0]]
    if not lines or (usual in lines[0] and not others):
        return usual
    seen = usual == WHITESPACE or usual in lines[0]
    widths = {usual: _width(lines, usual) if seen else 0, **{s: _width(lines, s) for s in others}}
    most = max(widths.values())
    if most < 2 and usual in ("\t", WHITESPACE):
        return WHITESPACE if _width(lines, WHITESPACE) > 1 else usual
    if most < 2 or widths[usual] == most:
        return usual
    found = [sep for sep, width in widths.items() if width > 1]
    if len(found) == 1:
        return found[0]
    shown = one_of("tab" if sep == "\t" else sep for sep in found)
    raise InvalidInputError(
        f"{file} has columns whether {shown} separates them: say which it is, as with "
        f"{text_option('sep', found[-1])}."
    )


def _width(lines: list[str], sep: str) -> int:
    """Number of columns that a separator makes, 0 if not all lines have as many.

    A header may lack the name of the first column, as R writes it.
    """
    try:
        widths = [len(row) for row in split_rows(lines, sep) if row]
    except csv.Error:
        return 0
    body = set(widths[1:]) or {widths[0]}
    return max(body) if len(body) == 1 and max(body) - widths[0] in (0, 1) else 0


def _ends_in_header(
    file: Path, above: list[str], lines: list[str], sep: str, text: TextFormat
) -> bool:
    """Whether the last line above the table, which begins with #, has the names of columns."""
    mark = lines[0][:1] if lines else ""
    if mark in _OTHER_MARKS and text.comment is None and _width(lines, sep) < 2:
        _refuse_comments(file, "seem to be comments", mark)
    marked = [line for line in above if line.startswith(_MARK)]
    if not marked or not lines:
        return bool(marked)
    rows = [row for row in split_rows(lines, sep) if row]
    last: list[str] = next(split_rows([marked[-1].lstrip(_MARK)], sep), [])
    numbers = [any(as_number(cell) is not None for cell in row) for row in rows[:2]]
    if len(last) == len(rows[0]) > 1 and above[-1] is marked[-1]:
        if numbers[0] and not any(as_number(cell) is not None for cell in last):
            return True
        if not any(numbers) and text.comment is None:
            if not marked[-1][1:2].isspace():
                return True
            _refuse_comments(file, "may be comments or a header")
    if text.comment is None and {len(row) for row in rows[:2]} != {max(2, len(rows[0]))}:
        _refuse_comments(file, "seem to be comments, but no header follows")
    return False


def _refuse_comments(file: Path, what: str, mark: str = _MARK) -> NoReturn:
    raise InvalidInputError(
        f"{file} starts with lines that begin with {mark!r}; they {what}: if they are comments, "
        f"pass {text_option('comment', mark)}, else remove the mark."
    )


def _decimal(file: Path, sample: list[list[str]], sep: str, text: TextFormat) -> str:
    """Return the decimal mark: what the user says, or a comma if nothing else can be."""
    if text.decimal == sep:
        raise InvalidInputError(
            f"decimal={sep!r} is also what separates the columns of {file}: save it with "
            f"semicolons or tabs, or name another separator with {text_option('sep', ';')}."
        )
    if text.decimal is not None or sep != ";":
        return text.decimal or "."
    sure = False
    for cell in (cell.strip() for row in sample for cell in row if "," in cell or "." in cell):
        if _DOT.fullmatch(cell):
            return "."
        comma = "," in cell and not _THOUSANDS.fullmatch(cell)
        sure = sure or (comma and as_number(swap_marks(cell)) is not None)
    return "," if sure else "."
