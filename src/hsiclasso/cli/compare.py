"""``hsiclasso compare``: what several methods select from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hsiclasso.cli.complete import check_complete
from hsiclasso.cli.inputs import Inputs
from hsiclasso.cli.options import compare_options
from hsiclasso.cli.output import check_outputs, write_result
from hsiclasso.cli.sections import SectionedCommand
from hsiclasso.cli.terminal import (
    clean_warnings,
    comparison_line,
    left_out_lines,
    make_console,
    method_table,
    progress_bar,
    vote_table,
)

if TYPE_CHECKING:
    from hsiclasso.baselines import Comparison
    from hsiclasso.data.files import Table
    from hsiclasso.selectors import TargetOptions

__all__ = ["compare"]

#: The same table gives the same answer, though some methods draw random numbers.
_SEED = 0
#: The mark in front keeps click from filling the lines.
_EXAMPLES = """\b
Examples:
  hsiclasso compare genes.csv --target tumour --drop sample_id -k 20
  hsiclasso compare cars.csv -t price --methods hsic_lasso,mrmr,lasso
  hsiclasso compare cohort.csv --survival months died --plot ranks.png
"""


@click.command(cls=SectionedCommand, no_args_is_help=True, epilog=_EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
@compare_options
def compare(
    file: Path, out: Path | None, plot: Path | None, as_json: bool, quiet: bool, **chosen: Any
) -> None:
    """Compare the features of FILE that several methods select.

    FILE is as for select, without missing cells. A method that cannot serve the table, the target
    or an option is left out, and the reason is said.
    """
    inputs = Inputs.take(file, chosen)
    check_outputs(out, plot, inputs.files)
    with clean_warnings():
        comparison, task = _run(inputs, **chosen, wanted=not (quiet or as_json))
        if plot is not None:
            from hsiclasso.plots import save_ranks

            save_ranks(comparison, plot)
    if out is not None:
        from hsiclasso.baselines.comparison import RECORD_FIELDS

        write_result(comparison, RECORD_FIELDS, out)
    if as_json:
        click.echo(comparison.to_json())
        return
    written = [path for path in (out, plot) if path is not None]
    _show(comparison, task, written, quiet=quiet)


def _run(
    inputs: Inputs, n_features: int, methods: tuple[str, ...] | None, *, wanted: bool
) -> tuple[Comparison, str]:
    """Compare; return what was found, and the kind of the target."""
    from hsiclasso.baselines import compare as compare_methods

    inputs.check()
    target = inputs.target_options()
    with progress_bar(wanted=wanted) as report:
        report("read", 0, 0)
        table = inputs.read()
        report("read", table.source.n_samples, table.source.n_samples)
        target = inputs.as_read(target, table)
        task = _check(table, target)
        found = compare_methods(
            table.source,
            table.y,
            n_features,
            methods=methods,
            options=_options(target),
            random_state=_SEED,
            report=report,
        )
    return found, task


def _check(table: Table, target: TargetOptions) -> str:
    """Raise for what no method could serve; return the kind of the target."""
    from hsiclasso.data import check_finite
    from hsiclasso.selectors.targets import prepare_target

    check_complete(table)
    check_finite(table.source)
    return prepare_target(table.y, table.source.n_samples, target).task


def _options(target: TargetOptions) -> dict[str, Any]:
    """Return what is said of the target as parameters of the methods."""
    usual = type(target)()
    given = {
        "task": (target.task, usual.task),
        "y_kernel": (target.kernel, usual.kernel),
        "y_transform": (target.transform, usual.transform),
        "multioutput": (target.multioutput, usual.multioutput),
    }
    return {name: value for name, (value, default) in given.items() if value != default}


def _show(comparison: Comparison, task: str, written: list[Path], *, quiet: bool) -> None:
    console = make_console()
    console.print(method_table(comparison, console.width))
    for line in left_out_lines(comparison):
        console.print(line, soft_wrap=True)
    console.print(vote_table(comparison))
    if quiet:
        return
    console.print(comparison_line(comparison, task), soft_wrap=True)
    for path in written:
        click.echo(f"Written: {path}")
