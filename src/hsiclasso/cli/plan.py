"""``hsiclasso plan``: what a selection will cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from hsiclasso.cli import terminal
from hsiclasso.cli.build import make_selector, read
from hsiclasso.cli.commands import SectionedCommand
from hsiclasso.cli.options import run_options, work_options

__all__ = ["plan"]

_EXAMPLES = """\b
Example:
  hsiclasso plan cohort.bed --target status --missing ignore -k 50 --memory-limit 2GB
"""


@click.command(cls=SectionedCommand, no_args_is_help=True, epilog=_EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
@work_options
@run_options
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def plan(file: Path, as_json: bool, **chosen: Any) -> None:
    """Say what selecting features of FILE will cost, without doing it.

    A few chunks of columns are tried. The options are those of the command select.
    """
    selector = make_selector(chosen)
    from hsiclasso.selectors.plan import plan as make_plan

    with terminal.clean_warnings(), terminal.progress_bar(wanted=False) as report:
        table = read(file, chosen, report)
        made = make_plan(selector, table.source, table.y, sample_weight=table.weights)
    click.echo(json.dumps(made.to_dict(), indent=2) if as_json else str(made))
