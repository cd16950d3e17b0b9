"""``hsiclasso select``: the features of a file that a target depends on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hsiclasso.cli import terminal
from hsiclasso.cli.build import files_read, make_selector, read
from hsiclasso.cli.options import SectionedCommand, select_options
from hsiclasso.cli.output import Output

__all__ = ["select"]


#: The mark in front keeps click from filling the lines.
_EXAMPLES = """\b
Examples:
  hsiclasso select genes.csv --target tumour --drop sample_id -k 20
  hsiclasso select cars.parquet -t price --transform rank --plot cars.png
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
    .npz with arrays X, y and, optionally, feature_names; or .bed with .bim and .fam beside it,
    whose target is phenotype. Columns are numbers, true and false, or text; cells that are empty,
    NA, NaN or null are missing.
    """
    output = Output(out, plot, as_json, quiet)
    output.check(files_read(file, chosen))
    selector = make_selector(chosen)
    from hsiclasso.plots import save_figure

    with terminal.clean_warnings(), terminal.progress_bar(wanted=output.progress) as report:
        table = read(file, chosen, report)
        selector.fit(table.source, table.y, sample_weight=table.weights, progress=report)
    result = selector.result_
    output.deliver(
        result,
        fields=result.fields,
        save=save_figure,
        tables=lambda: [terminal.feature_table(result)],
        notes=lambda: [terminal.summary_line(result), terminal.certificate_line(result)],
    )
