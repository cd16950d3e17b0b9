"""Files that the commands write: checked before the work, written at its end."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from hsiclasso.errors import InvalidInputError

__all__ = ["RESULT_SUFFIXES", "Result", "check_output", "check_outputs", "write_result"]

#: Formats of `write_result`.
RESULT_SUFFIXES = (".csv", ".tsv", ".json")


class Result(Protocol):
    """What can be written: a document, and flat records."""

    def to_json(self) -> str:
        """Return everything as a JSON document."""

    def to_rows(self) -> list[dict[str, Any]]:
        """Return the records."""


def check_outputs(out: Path | None, plot: Path | None, read: Sequence[Path]) -> None:
    """Raise if a file cannot be written, or what draws it is missing.

    Parameters
    ----------
    out, plot : Path or None
        Files for the result and for its figure.
    read : sequence of Path
        Files with the data.
    """
    if out is not None:
        check_output("--out", out, RESULT_SUFFIXES, read)
    if plot is not None:
        from hsiclasso.errors import require
        from hsiclasso.plots import FIGURE_SUFFIXES

        check_output("--plot", plot, FIGURE_SUFFIXES, read)
        require("matplotlib.figure", "plots")


def check_output(option: str, file: Path, suffixes: Sequence[str], read: Sequence[Path]) -> None:
    """Raise if a file cannot be written, before any work is done for it.

    Parameters
    ----------
    option : str
        The option that names the file, for the message.
    file : Path
        The file.
    suffixes : sequence of str
        Suffixes that are known.
    read : sequence of Path
        Files with the data, which must not be overwritten.
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
    if file.exists() and any(data.exists() and file.samefile(data) for data in read):
        raise InvalidInputError(
            f"{option} {file} is a file with the data and would overwrite it: choose another."
        )


def write_result(result: Result, fields: Sequence[str], file: Path) -> None:
    """Write the result as CSV, TSV or JSON, whichever the suffix says.

    Parameters
    ----------
    result : Result
        What was found.
    fields : sequence of str
        Names of the values of a record.
    file : Path
        Where to.
    """
    from hsiclasso.data.atomic import write_atomically

    suffix = file.suffix.lower()
    if suffix == ".json":
        text = result.to_json() + "\n"
    else:
        text = _separated(result, fields, "," if suffix == ".csv" else "\t")
    write_atomically(file, text.encode())


def _separated(result: Result, fields: Sequence[str], delimiter: str) -> str:
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, fields, delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(result.to_rows())
    return buffer.getvalue()
