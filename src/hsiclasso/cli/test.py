"""``hsiclasso test``: a p-value for every feature of a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from hsiclasso.cli import tables, terminal
from hsiclasso.cli.build import files_read, make_knockoffs, make_scan, read
from hsiclasso.cli.commands import SectionedCommand
from hsiclasso.cli.options import test_options
from hsiclasso.cli.output import Output
from hsiclasso.errors import InvalidInputError

__all__ = ["test"]

#: The mark in front keeps click from filling the lines.
_EXAMPLES = """\b
Examples:
  hsiclasso test genes.csv --target tumour --drop sample_id
  hsiclasso test cars.parquet -t price --mode fwe --level 0.05 --out tests.csv
  hsiclasso test cohort.csv --survival months died --mode fwe_permutation
  hsiclasso test genes.csv -t tumour --pairs
  hsiclasso test genes.csv -t tumour --knockoffs --level 0.2
  hsiclasso test cells.h5ad -t cell_type --mode n_features --level 50 --json
"""


@click.command(cls=SectionedCommand, no_args_is_help=True, epilog=_EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
@test_options
def test(
    file: Path, level: float, knockoffs: bool, out: Path | None, as_json: bool, quiet: bool,
    save_config: Path | None, **chosen: Any,
) -> None:  # fmt: skip
    """Test each feature of FILE for independence of the target, and list those that are found.

    FILE is as for select. Every feature gets a p-value of its own: copies of a feature are found
    together. With --pairs, all pairs of features are tested for what they say jointly. If nothing
    is found, the list is empty and the exit code is 0.
    """
    output = Output(out, None, as_json, quiet, config=save_config)
    output.check(files_read(file, chosen))
    find = _by_knockoffs(chosen, level) if knockoffs else _by_tests(chosen, level)
    with terminal.clean_warnings(), terminal.progress_bar(wanted=output.progress) as report:
        found = find(read(file, chosen, report), report)
    table, line = (
        (tables.knockoff_table, terminal.knockoff_line) if knockoffs
        else (tables.found_table, terminal.found_line)
    )  # fmt: skip
    output.deliver(
        found, fields=found.columns, tables=lambda: [table(found)], notes=lambda: [line(found)]
    )


def _by_knockoffs(chosen: dict[str, Any], level: float) -> Callable[..., Any]:
    """Return what finds features by knockoffs; raise if an option has no meaning."""
    selection = make_knockoffs(chosen, level)
    return lambda table, report: selection.fit(table).result_


def _by_tests(chosen: dict[str, Any], level: float) -> Callable[..., Any]:
    """Return what finds features, or pairs of them, by tests; raise if an option is wrong."""
    from hsiclasso.inference.pair_tests import scan_pairs_of
    from hsiclasso.inference.results import check_mode
    from hsiclasso.inference.scan import scan_table

    pairs, mode = chosen["pairs"], chosen["mode"]
    if pairs and mode != "fdr":
        raise InvalidInputError(
            f"--mode {mode} has no meaning with --pairs, whose --level is a false discovery rate: "
            "leave it out."
        )
    options = make_scan(chosen)
    at = int(level) if mode == "n_features" and level.is_integer() else level
    check_mode(mode, at)
    if pairs:
        return lambda table, report: scan_pairs_of(options, table, progress=report).found(level)
    return lambda table, report: scan_table(options, table, report).found(mode, at)
