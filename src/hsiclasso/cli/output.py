"""Writing a result to files, which are checked before the work, and to the terminal."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click

from hsiclasso._display import as_cell, printable
from hsiclasso.cli.terminal import clean_warnings, make_console
from hsiclasso.errors import InvalidInputError

__all__ = ["Output", "Result"]

#: Formats of ``--out``.
_SUFFIXES = (".csv", ".tsv", ".json")


class Result(Protocol):
    """A result that can be written as a document or as flat records."""

    def to_json(self) -> str:
        """Return everything as a JSON document."""

    def to_rows(self) -> list[dict[str, Any]]:
        """Return the records."""


_R = TypeVar("_R", bound=Result)


@dataclass(frozen=True)
class Output:
    """Where a result goes."""

    out: Path | None  # file for the result
    plot: Path | None  # file for its figure
    as_json: bool  # print the result as JSON and nothing else
    quiet: bool  # print neither progress nor notes
    report: Path | None = None  # file for the page about it

    def check(self, read: Sequence[Path], more: Sequence[str] = ()) -> None:
        """Raise if a file cannot be written, a package is missing, or a file in `read` would go.

        `more` are formats of the result besides those that all commands have.
        """
        if self.out is not None:
            _check_file("--out", self.out, (*_SUFFIXES, *more), read)
        if self.report is not None:
            from hsiclasso.report import REPORT_SUFFIXES

            _check_file("--report", self.report, REPORT_SUFFIXES, read)
        if self.plot is not None:
            from hsiclasso.errors import require
            from hsiclasso.plots import FIGURE_SUFFIXES

            _check_file("--plot", self.plot, FIGURE_SUFFIXES, read)
            require("matplotlib.figure", "plots")

    @property
    def progress(self) -> bool:
        """Whether progress is shown."""
        return not (self.quiet or self.as_json)

    def deliver(
        self,
        result: _R,
        *,
        fields: Sequence[str],
        tables: Callable[[], Sequence[Any]],
        notes: Callable[[], Sequence[Any]],
        save: Callable[[_R, Path], None] | None = None,
        report: Callable[[Path], None] | None = None,
        write: Mapping[str, Callable[[Path], None]] | None = None,
    ) -> None:
        """Write the files, and print.

        `fields` name the values of a record. `save` writes the figure and `report` the page of
        commands that have one. `tables` return what is always printed, `notes` what is printed
        unless `quiet`. `write` has a function for each format of the result that only this command
        has.
        """
        if self.plot is not None and save is not None:
            with clean_warnings():
                save(result, self.plot)
        if self.out is not None:
            own = (write or {}).get(self.out.suffix.lower())
            with clean_warnings():
                own(self.out) if own else _write(result, fields, self.out)
        if self.report is not None and report is not None:
            with clean_warnings():
                report(self.report)
        if self.as_json:
            click.echo(result.to_json())
            return
        console = make_console()
        for part in [*tables(), *([] if self.quiet else notes())]:
            console.print(part, soft_wrap=hasattr(part, "plain"))  # lines of text wrap softly
        for path in (self.out, self.plot, self.report):
            if path is not None and not self.quiet:
                click.echo(f"Written: {printable(str(path))}")


def _check_file(option: str, file: Path, suffixes: Sequence[str], read: Sequence[Path]) -> None:
    """Raise if the file of an option cannot be written."""
    from hsiclasso.data.atomic import check_writable

    if file.suffix.lower() not in suffixes:
        raise InvalidInputError(
            f"{option} {file} has the suffix {file.suffix!r}, and the suffix tells the format: use "
            f"one of {', '.join(suffixes)}."
        )
    check_writable(file, option)
    if file.exists() and any(data.exists() and file.samefile(data) for data in read):
        raise InvalidInputError(
            f"{option} {file} is a file with the data and would overwrite it: choose another."
        )


def _write(result: Result, fields: Sequence[str], file: Path) -> None:
    """Write a result as CSV, TSV or JSON, whichever the suffix says."""
    from hsiclasso.data.atomic import write_atomically

    suffix = file.suffix.lower()
    if suffix == ".json":
        text = result.to_json() + "\n"
    else:
        buffer = io.StringIO(newline="")
        delimiter = "," if suffix == ".csv" else "\t"
        writer = csv.DictWriter(buffer, fields, delimiter=delimiter, lineterminator="\n")
        writer.writeheader()
        rows = result.to_rows()
        writer.writerows({name: as_cell(value) for name, value in row.items()} for row in rows)
        text = buffer.getvalue()
    write_atomically(file, text)
