"""``hsiclasso select``: the features of a file that a target depends on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hsiclasso.cli.choices import Choices, nonzero, width
from hsiclasso.cli.output import RESULT_SUFFIXES, check_output, write_result
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

_FILE = click.Path(path_type=Path)
_POSITIVE = click.FloatRange(min=0, min_open=True)


@click.command(no_args_is_help=True)
@click.argument("file", type=_FILE)
@click.option("--target", "-t", required=True, help="Column to explain: classes or a real number.")
@click.option(
    "-k",
    "--n-features",
    type=click.IntRange(min=1),
    help="Features to select.  [default: 10, unless --alpha is given]",
)
@click.option("--alpha", type=click.FloatRange(min=0), help="Penalty at which to stop.")
@click.option(
    "--alpha-ratio",
    type=click.FloatRange(0, 1),
    help="The same as a share of the largest penalty.",
)
@click.option(
    "--criterion",
    type=click.Choice(["aic", "bic"]),
    help="Let an information criterion choose the number of features.",
)
@click.option("--keep", multiple=True, metavar="NAME", help="Column to keep always; repeatable.")
@click.option(
    "--exclude", multiple=True, metavar="NAME", help="Column never to select; repeatable."
)
@click.option(
    "--groups",
    type=_FILE,
    help="Select groups of features: a .csv or .tsv file of features and their groups.",
)
@click.option("--n-groups", type=click.IntRange(min=1), help="Groups to select.")
@click.option(
    "--l1-ratio",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="With groups, share of the l1 part: above 0, features within groups are selected too.",
)
@click.option(
    "--ridge",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="Ridge part of the elastic net: redundant features share weight.",
)
@click.option(
    "--solver",
    type=click.Choice(["auto", "homotopy", "cd", "dal"]),
    default="auto",
    show_default=True,
    help="All reach the same certified optimum.",
)
@click.option(
    "--method",
    type=click.Choice(["hsic", "nhsic", "nocco"]),
    default="hsic",
    show_default=True,
    help="HSIC Lasso, the same with normalised Gram matrices, or NOCCO Lasso.",
)
@click.option(
    "--task",
    type=click.Choice(["auto", "classification", "regression"]),
    default="auto",
    show_default=True,
    help="What the target is; auto looks at its values.",
)
@click.option(
    "--y-transform",
    type=click.Choice(["none", "rank"]),
    default="none",
    show_default=True,
    help="Replace a real target by its ranks, which tames heavy tails.",
)
@click.option(
    "--x-width",
    metavar="FLOAT|median",
    callback=width,
    default="1.0",
    show_default=True,
    help="Kernel width of the features, in standard deviations.",
)
@click.option(
    "--y-width",
    metavar="FLOAT|median",
    callback=width,
    default="1.0",
    show_default=True,
    help="Kernel width of a real target, in standard deviations.",
)
@click.option("--epsilon", type=_POSITIVE, help="NOCCO's regularisation.  [default: 0.001]")
@click.option(
    "--tol",
    type=_POSITIVE,
    default=1e-6,
    show_default=True,
    help="Guaranteed relative error of a feature's Gram matrix.",
)
@click.option(
    "--neighbors",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="Redundant neighbours found for each feature; the table shows those above 0.2.",
)
@click.option("--drop", multiple=True, metavar="NAME", help="Column to leave out; repeatable.")
@click.option(
    "--n-jobs",
    type=int,
    default=-1,
    show_default=True,
    callback=nonzero,
    help="Threads; -1 takes all cores.",
)
@click.option("--out", type=_FILE, help="Write the result to a .csv, .tsv or .json file.")
@click.option("--plot", type=_FILE, help="Draw weights and path in a .png, .svg or .pdf file.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON and nothing else.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no summary, only the table.")
def select(
    file: Path,
    target: str,
    drop: tuple[str, ...],
    out: Path | None,
    plot: Path | None,
    as_json: bool,
    quiet: bool,
    **choices: Any,
) -> None:
    r"""Select the features of FILE that the target depends on.

    FILE is .csv, .tsv or .txt (tabs), each also with .gz, with a line of column names; .parquet;
    or .npz with arrays X, y and, optionally, feature_names. All columns but the target and those
    dropped must be numbers.

    \b
    Examples:
      hsiclasso select genes.csv --target tumour --drop sample_id -k 20
      hsiclasso select cars.parquet -t price --y-transform rank --plot cars.png
    """
    _check_outputs(out, plot, file)
    with clean_warnings():
        selection = _run(file, target, drop, Choices(**choices), wanted=not (quiet or as_json))
        if plot is not None:
            from hsiclasso.plots import save_figure

            save_figure(selection.result, selection.path, plot)
    if out is not None:
        write_result(selection.result, out)
    if as_json:
        click.echo(selection.result.to_json())
        return
    _show(selection.result, [path for path in (out, plot) if path is not None], quiet=quiet)


def _check_outputs(out: Path | None, plot: Path | None, table: Path) -> None:
    """Raise if a file cannot be written, or what draws it is missing."""
    if out is not None:
        check_output("--out", out, RESULT_SUFFIXES, table)
    if plot is not None:
        from hsiclasso.errors import require
        from hsiclasso.plots import FIGURE_SUFFIXES

        check_output("--plot", plot, FIGURE_SUFFIXES, table)
        require("matplotlib.figure", "plots")


def _run(
    file: Path, target: str, drop: tuple[str, ...], choices: Choices, *, wanted: bool
) -> Selection:
    from hsiclasso.data import read_table
    from hsiclasso.selectors import select as select_features

    settings = choices.settings()
    with progress_bar(wanted=wanted) as report:
        report("read", 0, 0)
        table = read_table(file, target, drop=drop)
        report("read", table.source.n_samples, table.source.n_samples)
        return select_features(table.source, table.y, settings, progress=report)


def _show(result: SelectionResult, written: list[Path], *, quiet: bool) -> None:
    console = make_console()
    console.print(feature_table(result))
    if quiet:
        return
    console.print(summary_line(result), soft_wrap=True)
    console.print(certificate_line(result), soft_wrap=True)
    for path in written:
        click.echo(f"Written: {path}")
