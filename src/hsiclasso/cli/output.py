"""Files that the commands write: checked before the work, written at its end."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hsiclasso.errors import InvalidInputError

if TYPE_CHECKING:
    from hsiclasso.selectors import SelectionResult

__all__ = ["RESULT_SUFFIXES", "check_output", "write_result"]

#: Formats of `write_result`.
RESULT_SUFFIXES = (".csv", ".tsv", ".json")


def check_output(option: str, file: Path, suffixes: Sequence[str], table: Path) -> None:
    """Raise if a file cannot be written, before any work is done for it.

    Parameters
    ----------
    option : str
        The option that names the file, for the message.
    file : Path
        The file.
    suffixes : sequence of str
        Suffixes that are known.
    table : Path
        The file with the data, which must not be overwritten.
    """
    if file.suffix.lower() not in suffixes:
        raise InvalidInputError(
            f"{option} {file} has the suffix {file.suffix!r}, and the suffix tells the format: "
            f"use one of {', '.join(suffixes)}."
        )
    if file.is_dir():
        raise InvalidInputError(f"{option} {file} is a folder: give the name of a file.")
    if not file.parent.is_dir():
        raise InvalidInputError(
            f"{option} {file} lies in the folder {file.parent}, which does not exist: create it "
            "first."
        )
    if not os.access(file.parent, os.W_OK):
        raise InvalidInputError(
            f"{option} {file} lies in the folder {file.parent}, which cannot be written to: "
            "choose another."
        )
    if file.exists() and table.exists() and file.samefile(table):
        raise InvalidInputError(
            f"{option} {file} is the file with the data and would overwrite it: choose another."
        )


def write_result(result: SelectionResult, file: Path) -> None:
    """Write the result as CSV, TSV or JSON, whichever the suffix says."""
    from hsiclasso.data.atomic import write_atomically

    suffix = file.suffix.lower()
    if suffix == ".json":
        text = result.to_json() + "\n"
    else:
        text = _separated(result, "," if suffix == ".csv" else "\t")
    write_atomically(file, text.encode())


def _separated(result: SelectionResult, delimiter: str) -> str:
    from hsiclasso.selectors.result import RECORD_FIELDS

    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, RECORD_FIELDS, delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(result.to_rows())
    return buffer.getvalue()
