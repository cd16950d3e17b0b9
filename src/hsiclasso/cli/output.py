"""Writing a result to files, which are checked before the work, and to the terminal."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click

from hsiclasso._display import as_cell, printable
from hsiclasso.cli.config import as_toml
from hsiclasso.cli.console import make_console, show
from hsiclasso.cli.terminal import clean_warnings
from hsiclasso.errors import InvalidInputError

__all__ = ["Output", "Result"]

#: Formats of ``--out``, and what writes those that need a package: a module and its extra.
_NEEDED = {".parquet": ("pyarrow", "parquet"), ".xlsx": ("openpyxl", "excel")}
_SUFFIXES = (".csv", ".tsv", ".json", *_NEEDED)


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
    config: Path | None = None  # file for the options of the command

    def check(self, read: Sequence[Path], more: Sequence[str] = ()) -> None:
        """Raise if a file cannot be written, a package is missing, or a file in `read` would go.

        `more` are formats of the result besides those that all commands have.
        """
        if self.out is not None:
            _check_file("--out", self.out, (*_SUFFIXES, *more), read)
            _writer_of(self.out)
        if self.config is not None:
            _check_file("--save-config", self.config, (".toml",), read)
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
        if self.config is not None:
            from hsiclasso.data.atomic import write_atomically

            write_atomically(self.config, as_toml(click.get_current_context()).encode())
        if self.as_json:
            click.echo(result.to_json())
            return
        console = make_console()
        for part in [*tables(), *([] if self.quiet else notes())]:
            show(console, part)
        for path in (self.out, self.plot, self.report, self.config):
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


def _writer_of(file: Path) -> Any:
    """Return the package that writes a format, if it needs one; raise if it is missing."""
    needed = _NEEDED.get(file.suffix.lower())
    if needed is None:
        return None
    from hsiclasso.errors import require

    return require(*needed)


def _write(result: Result, fields: Sequence[str], file: Path) -> None:
    """Write a result in the format that the suffix says."""
    from hsiclasso.data.atomic import replacing

    suffix, package = file.suffix.lower(), _writer_of(file)
    with replacing(file) as part:
        if suffix == ".json":
            part.write_bytes((result.to_json() + "\n").encode())
        elif suffix == ".parquet":
            _write_parquet(result.to_rows(), fields, part)
        elif suffix == ".xlsx":
            _write_excel(package, result.to_rows(), fields, part)
        else:
            with part.open("w", newline="", encoding="utf-8", errors="backslashreplace") as stream:
                delimiter = "," if suffix == ".csv" else "\t"
                writer = csv.DictWriter(stream, fields, delimiter=delimiter, lineterminator="\n")
                writer.writeheader()
                for row in result.to_rows():
                    writer.writerow({name: as_cell(value) for name, value in row.items()})


def _write_parquet(rows: list[dict[str, Any]], fields: Sequence[str], file: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    columns = {name: [row[name] for row in rows] for name in fields}
    parquet.write_table(pa.table(columns), file)


def _write_excel(
    package: Any, rows: list[dict[str, Any]], fields: Sequence[str], file: Path
) -> None:
    """Write a workbook of one sheet; text is text, also if it looks like a formula."""
    book = package.Workbook()
    sheet = book.active
    for row, record in enumerate([dict(zip(fields, fields, strict=True)), *rows], start=1):
        for column, name in enumerate(fields, start=1):
            value = record[name]
            cell = sheet.cell(row, column)
            if isinstance(value, str):
                # spreadsheets have no control characters
                cell.value = "".join(c for c in value if c >= " " or c in "\t\n\r")
                cell.data_type = "s"
            else:
                cell.value = value
    sheet.freeze_panes = "A2"
    book.save(file)
