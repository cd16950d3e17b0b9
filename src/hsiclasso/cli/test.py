"""``hsiclasso test``: a p-value for every feature of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hsiclasso.cli import tables, terminal
from hsiclasso.cli.build import files_read, make_scan, read
from hsiclasso.cli.options import SectionedCommand, test_options
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
  hsiclasso test cells.h5ad -t cell_type --mode n_features --level 50 --json
"""


@click.command(cls=SectionedCommand, no_args_is_help=True, epilog=_EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
@test_options
def test(
    file: Path, mode: str, level: float, pairs: bool, out: Path | None, as_json: bool, quiet: bool,
    save_config: Path | None, **chosen: Any,
) -> None:  # fmt: skip
    """Test each feature of FILE for independence of the target, and list those that are found.

    FILE is as for select. Every feature gets a p-value of its own: copies of a feature are found
    together. With --pairs, all pairs of features are tested for what they say jointly. If nothing
    is found, the list is empty and the exit code is 0.
    """
    output = Output(out, None, as_json, quiet, config=save_config)
    output.check(files_read(file, chosen))
    from hsiclasso.inference.pair_tests import scan_pairs_of
    from hsiclasso.inference.results import check_mode
    from hsiclasso.inference.scan import scan_table

    if pairs and mode != "fdr":
        raise InvalidInputError(
            f"--mode {mode} has no meaning with --pairs, whose --level is a false discovery rate: "
            "leave it out."
        )

    options = make_scan(chosen | {"mode": mode})
    which: Any = mode
    found: Any
    at = int(level) if mode == "n_features" and level.is_integer() else level
    check_mode(which, at)
    with terminal.clean_warnings(), terminal.progress_bar(wanted=output.progress) as report:
        table = read(file, chosen, report)
        if pairs:
            found = scan_pairs_of(options, table, progress=report).found(level)
        else:
            found = scan_table(options, table, report).found(which, at)
    output.deliver(
        found,
        fields=found.columns,
        tables=lambda: [tables.found_table(found)],
        notes=lambda: [terminal.found_line(found)],
    )
