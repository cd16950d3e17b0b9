"""``hsiclasso select``: the features of a file that a target depends on."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hsiclasso.cli.choices import Choices
from hsiclasso.cli.complete import check_complete
from hsiclasso.cli.inputs import Inputs
from hsiclasso.cli.options import select_options
from hsiclasso.cli.output import check_outputs, write_result
from hsiclasso.cli.sections import SectionedCommand
from hsiclasso.cli.terminal import (
    certificate_line,
    clean_warnings,
    feature_table,
    make_console,
    progress_bar,
    summary_line,
)

if TYPE_CHECKING:
    from hsiclasso.selectors import Selection, SelectionResult

__all__ = ["select"]


#: The mark in front keeps click from filling the lines.
_EXAMPLES = """\b
Examples:
  hsiclasso select genes.csv --target tumour --drop sample_id -k 20
  hsiclasso select cars.parquet -t price --y-transform rank --plot cars.png
  hsiclasso select cohort.csv --survival months died --covariate site
  hsiclasso select survey.csv -t income --weights w --missing ignore
"""


@click.command(cls=SectionedCommand, no_args_is_help=True, epilog=_EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
@select_options
def select(
    file: Path, out: Path | None, plot: Path | None, as_json: bool, quiet: bool, **chosen: Any
) -> None:
    """Select the features of FILE that the target depends on.

    FILE is .csv, .tsv or .txt (tabs), each also with .gz, with a line of column names; .parquet;
    or .npz with arrays X, y and, optionally, feature_names. Columns are numbers, true and false,
    or text; cells that are empty, NA, NaN or null are missing.
    """
    inputs = Inputs.take(file, chosen)
    groups = chosen["groups"]
    check_outputs(out, plot, inputs.files if groups is None else (*inputs.files, groups))
    with clean_warnings():
        selection = _run(inputs, Choices(**chosen), wanted=not (quiet or as_json))
        if plot is not None:
            from hsiclasso.plots import save_figure

            save_figure(selection.result, selection.path, plot)
    if out is not None:
        from hsiclasso.selectors.result import RECORD_FIELDS

        write_result(selection.result, RECORD_FIELDS, out)
    if as_json:
        click.echo(selection.result.to_json())
        return
    written = [path for path in (out, plot) if path is not None]
    _show(selection.result, inputs, written, quiet=quiet)


def _run(inputs: Inputs, choices: Choices, *, wanted: bool) -> Selection:
    from hsiclasso.selectors import select as select_features

    inputs.check(choices.covariates)
    settings = choices.settings(inputs.target_options())
    with progress_bar(wanted=wanted) as report:
        report("read", 0, 0)
        table = inputs.read()
        report("read", table.source.n_samples, table.source.n_samples)
        check_complete(
            table,
            missing=choices.missing,
            missing_target=inputs.missing_target,
            covariates=choices.covariates,
        )
        return select_features(
            table.source,
            table.y,
            dataclasses.replace(settings, target=inputs.as_read(settings.target, table)),
            sample_weight=table.weights,
            progress=report,
        )


def _show(result: SelectionResult, inputs: Inputs, written: list[Path], *, quiet: bool) -> None:
    console = make_console()
    console.print(feature_table(result))
    if quiet:
        return
    console.print(summary_line(result, inputs.weights, inputs.dropped), soft_wrap=True)
    console.print(certificate_line(result), soft_wrap=True)
    for path in written:
        click.echo(f"Written: {path}")
