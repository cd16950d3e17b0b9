"""``hsiclasso compare``: what several methods select from a file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from hsiclasso.cli import tables, terminal
from hsiclasso.cli.build import files_read, make_target, read
from hsiclasso.cli.commands import SectionedCommand, command_words
from hsiclasso.cli.names import read_names
from hsiclasso.cli.options import (
    COLUMNS,
    CONFIG,
    COVARIATE,
    FILE,
    FILES,
    OUT,
    PRINTED,
    TARGET,
    giving,
    of_output,
    section,
)  # fmt: skip
from hsiclasso.cli.output import Output
from hsiclasso.cli.piped import named
from hsiclasso.errors import InvalidInputError

__all__ = ["compare"]

#: Some methods draw random numbers; the same table must give the same answer.
_SEED = 0
#: The mark in front keeps click from filling the lines.
_EXAMPLES = """\b
Examples:
  hsiclasso compare genes.csv --target tumour --drop sample_id -k 20
  hsiclasso compare cars.csv -t price --methods hsic_lasso,mrmr,lasso
  hsiclasso compare cohort.csv --survival months died --plot ranks.png
  hsiclasso compare genes.csv -t tumour --covariate batch --cv 5
"""

_methods = section("Methods")
_METHODS = (
    *read_names("baselines/registry.py", "METHODS"),
    *read_names("baselines/registry.py", "BASELINES"),
)
_OPTIONS = (
    *TARGET,
    *FILES,
    *COLUMNS,
    COVARIATE,
    _methods(
        "-k", "--n-features", type=int, default=10, show_default=True,
        help="Number of features that each method selects.",
    ),
    _methods(
        "--methods", metavar="NAME,NAME",
        help=f"Methods to compare: {', '.join(_METHODS)}.  [default: all]",
    ),
    _methods(
        "--cv", type=int, metavar="FOLDS",
        help="Select in so many folds too, such as 5, and print how well a support vector machine "
        "predicts from the features of each method, and how stable its selection is.",
    ),
    of_output(
        "--out", type=FILE,
        help=f"Write a row for each method and feature {OUT}; .json has all else too.",
    ),
    of_output(
        "--plot", type=FILE, help="Draw the ranks of all methods in a .png, .svg or .pdf file."
    ),
    of_output(
        "--report", "report_file", type=FILE,
        help="Write a page to an .html file that opens offline: a table of features and methods "
        "to sort and filter, and how much the methods agree.",
    ),
    *PRINTED,
    *CONFIG,
)  # fmt: skip


@click.command(cls=SectionedCommand, no_args_is_help=True, epilog=_EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
@giving(*_OPTIONS)
def compare(
    file: Path,
    n_features: int,
    methods: str | None,
    out: Path | None,
    plot: Path | None,
    report_file: Path | None,
    as_json: bool,
    quiet: bool,
    save_config: Path | None,
    **chosen: Any,
) -> None:
    """Compare the features of FILE that several methods select.

    FILE is as for select, without missing cells. A method that cannot handle the table, the target
    or an option is left out, and the reason is printed.
    """
    output = Output(out, plot, as_json, quiet, report_file, save_config)
    output.check(files_read(file, chosen))
    from hsiclasso.baselines import compare as compare_methods
    from hsiclasso.baselines.comparison import RECORD_FIELDS
    from hsiclasso.baselines.registry import METHODS, traits_of
    from hsiclasso.plots import save_ranks
    from hsiclasso.report import Asked, write_comparison
    from hsiclasso.selectors import HSICLasso
    from hsiclasso.selectors.prepare import check_options

    target = make_target(chosen)
    cv = chosen["cv"]
    if cv is not None and cv < 2:
        raise InvalidInputError(f"--cv {cv} must be at least 2 folds; 5 is usual.")
    check_options(HSICLasso(n_features, target=target))
    names = list(METHODS) if methods is None else [name.strip() for name in methods.split(",")]
    for name in names:
        traits_of(name)  # raises if there is no such method
    with terminal.clean_warnings(), terminal.progress_bar(wanted=output.progress) as report:
        table = read(file, chosen, report)
        found = compare_methods(
            table.source,
            table.y,
            n_features,
            methods=names,
            options={"target": target},
            covariates=chosen["covariates"] or None,
            cv=cv,
            random_state=_SEED,
            report=report,
        )
    asked = Asked(named(file), table.target, command_words(), _SEED)
    output.deliver(
        found,
        fields=RECORD_FIELDS,
        save=partial(save_ranks, target=table.target, source=named(file)),
        report=lambda path: write_comparison(found, path, asked=asked),
        tables=lambda: [
            tables.method_table(found),
            *terminal.left_out_lines(found),
            tables.vote_table(found),
        ],
        notes=lambda: [terminal.comparison_line(found)],
    )
