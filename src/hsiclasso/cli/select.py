"""``hsiclasso select``: the features of a file that a target depends on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hsiclasso.cli import tables, terminal
from hsiclasso.cli.build import files_read, make_selector, read, refuse, resources_of
from hsiclasso.cli.commands import SectionedCommand, command_words
from hsiclasso.cli.options import CHECKPOINT, CONFIG, RESULT, RUNNING, WORK, giving, of_size
from hsiclasso.cli.output import Output
from hsiclasso.cli.piped import named
from hsiclasso.errors import InvalidInputError

if TYPE_CHECKING:
    from hsiclasso.data.files import Dataset
    from hsiclasso.inference import StabilityResult
    from hsiclasso.selectors.estimators import LassoSelector
    from hsiclasso.selectors.result import SelectionResult

__all__ = ["check_output", "deliver", "select"]


#: Half-samples are drawn at random; the same table must give the same answer.
_SEED = 0
#: The mark in front keeps click from filling the lines.
_EXAMPLES = """\b
Examples:
  hsiclasso select genes.csv --target tumour --drop sample_id -k 20
  hsiclasso select genes.csv -t age --method embedding --plot shapes.png
  hsiclasso select genes.csv -t tumour --fdr 0.1 --report genes.html
  hsiclasso select genes.csv -t tumour --cv 5 --save-config tumour.toml
  hsiclasso select --config tumour.toml --out genes.xlsx
  zcat genes.csv.gz | hsiclasso select - -t tumour --json
  hsiclasso select cohort.csv --survival months died --covariate site
  hsiclasso select cells.h5ad -t cell_type --covariate batch --out genes.h5ad
  hsiclasso select genes.tsv.gz --transpose --phenotype patients.csv -t status
"""

_FDR = of_size(
    "--fdr", type=float, metavar="LEVEL",
    help="Select the features on which the target depends beyond chance, one of each cluster of "
    "similar ones, with at most this expected share of false ones, such as 0.1; perhaps none.",
)  # fmt: skip
_CV = of_size(
    "--cv", type=int, metavar="FOLDS",
    help="Select as many features, up to -k, as let a support vector machine predict best in so "
    "many folds, such as 5.",
)  # fmt: skip
_STABILITY = of_size(
    "--stability", type=int, metavar="NUMBER",
    help="Select on so many halves of the samples too, such as 100, and print how often each "
    "feature, or one that says the same, was selected.",
)  # fmt: skip


@click.command(cls=SectionedCommand, no_args_is_help=True, epilog=_EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
@giving(*WORK, _FDR, _CV, _STABILITY, *RUNNING, CHECKPOINT, *RESULT, *CONFIG)
def select(
    file: Path, out: Path | None, plot: Path | None, report_file: Path | None, as_json: bool,
    quiet: bool, save_config: Path | None, **chosen: Any,
) -> None:  # fmt: skip
    """Select the features of FILE that the target depends on.

    FILE is a table as CSV or TSV, Parquet, Arrow, NumPy, MATLAB, HDF5 or Zarr; AnnData; or PLINK.

    Its suffix tells: .csv, .tsv or .txt (tabs), each also with .gz or .zst, with a line of column
    names; .parquet, .feather or .arrow; .npz, .mat, .h5 or .zarr with arrays X, y and, optionally,
    feature_names; .npy; .h5ad or .zarr of AnnData, with target and covariates in obs; or .bed with
    .bim and .fam beside it, whose target is phenotype. FILE.h5:/path/to/X names an array; - is
    standard input. Columns are numbers, true and false, or text; cells that are empty, NA, NaN or
    null are missing.
    """
    output = Output(out, plot, as_json, quiet, report_file, save_config)
    check_output(output, file, chosen)
    number = chosen["stability"]
    if number is not None and (number < 4 or number % 2):
        raise InvalidInputError(
            f"--stability {number} must be an even number of half-samples, 4 or more: they come in "
            "pairs. 100 is usual."
        )
    level, folds = _level_of(chosen), _folds_of(chosen)
    asked = make_selector(chosen)
    with terminal.clean_warnings(), terminal.progress_bar(wanted=output.progress) as report:
        table = read(file, chosen, report)
        if folds is not None:
            selector = asked = _validated(asked, folds, table, report)
        elif level is not None:
            from hsiclasso.inference import ControlledSelection

            selector = ControlledSelection(
                asked, level, max_redundancy=asked.max_redundancy, n_jobs=chosen["n_jobs"]
            ).fit(table.source, table.y, progress=report)
        else:
            selector = asked
            selector.fit(table.source, table.y, sample_weight=table.weights, progress=report)
        stability = None
        if number is not None and selector.result_.features:
            from hsiclasso.inference import with_frequencies

            stability = _stability(_halved(asked, selector.result_), table, chosen, report)
            selector.result_ = with_frequencies(selector.result_, stability)
    deliver(selector, output, file, chosen, table, stability)


def _validated(asked: Any, folds: int, table: Dataset, report: terminal.Report) -> LassoSelector:
    """Return a selector with the number of features that predict best, fitted to all samples."""
    from hsiclasso.selectors.cv import HSICLassoCV, usual_sizes

    most = asked.n_features_to_select
    if most is not None and most > table.source.n_features:
        raise InvalidInputError(
            f"-k {most} is greater than n_features={table.source.n_features}: ask for fewer."
        )
    sizes = None if most is None else usual_sizes(most)
    search = HSICLassoCV(asked, sizes=sizes, cv=folds)
    search.fit(table.source, table.y, sample_weight=table.weights, progress=report)
    found: LassoSelector = search.selector_
    return found


def _halved(selector: LassoSelector, result: SelectionResult) -> LassoSelector:
    """Return what halves of the samples select: with error control, the candidates of its tests."""
    from hsiclasso.selectors.auto import candidates_of

    if result.error_control is None:
        return selector
    number = len(result.error_control.candidates)
    return candidates_of(selector, number, selector.max_redundancy)


def _stability(
    selector: LassoSelector, table: Dataset, chosen: dict[str, Any], report: terminal.Report
) -> StabilityResult:
    """Select on halves of the samples."""
    from hsiclasso.inference import StabilitySelection

    asked = selector.n_features_to_select
    number = len(selector.result_.features) if asked is None else None
    stable = StabilitySelection(
        selector,
        n_features=number,
        n_pairs=chosen["stability"] // 2,
        random_state=_SEED,
        n_jobs=chosen["n_jobs"],
        resources=resources_of(chosen),
    )
    stable.fit(table.source, table.y, sample_weight=table.weights, progress=report)
    return stable.result_


def deliver(
    selector: LassoSelector, output: Output, file: Path, chosen: dict[str, Any], table: Dataset,
    stability: StabilityResult | None = None,
) -> None:  # fmt: skip
    """Write and print the result of a selection."""
    from hsiclasso.plots import save_figure
    from hsiclasso.report import Asked, write_report
    from hsiclasso.selectors.estimators import with_target_names
    from hsiclasso.selectors.genes import save_genes

    result = with_target_names(selector.result_, table.target_names)
    about = {
        "target": table.target, "layer": chosen["layer"], "use_raw": chosen["raw"]
    }  # fmt: skip
    seed = None if stability is None else _SEED
    asked = Asked(named(file), table.target, command_words(), seed)
    output.deliver(
        result,
        fields=result.fields,
        save=partial(save_figure, target=table.target, source=named(file)),
        report=lambda path: write_report(selector, path, table, asked=asked),
        tables=lambda: [tables.feature_table(result)] if result.features else [],
        notes=lambda: [
            terminal.summary_line(result),
            *([] if result.validation is None else [terminal.validation_line(result.validation)]),
            *([] if stability is None else [terminal.stability_line(stability)]),
            terminal.certificate_line(result),
        ],
        write={".h5ad": partial(save_genes, selector, file, about=about)},
    )


def check_output(output: Output, file: Path, chosen: dict[str, Any]) -> None:
    """Raise if a file cannot be written, or is to be a copy of a file that is no AnnData file."""
    is_h5ad, out = file.suffix.lower() == ".h5ad", output.out
    if out is not None and out.suffix.lower() == ".h5ad" and not is_h5ad:
        raise InvalidInputError(
            f"--out {out} would be a copy of FILE with the result in it, but FILE is no .h5ad: "
            "write .csv, .tsv or .json."
        )
    output.check(files_read(file, chosen), [".h5ad"] if is_h5ad else [])


def _level_of(chosen: Mapping[str, Any]) -> float | None:
    """Return the false discovery rate of ``--fdr``; None without it."""
    level = chosen["fdr"]
    if level is None:
        return None
    given = {
        "-k": None if chosen["n_features"] == "auto" else chosen["n_features"],
        "--alpha": chosen["alpha"],
        "--n-groups": chosen["n_groups"],
        "--groups": chosen["groups"],
        "--weights": chosen["weights"],
    }
    refuse(given, "--fdr", "finds out how many features there are by tests that exchange samples")
    if not 0 < level < 1:
        raise InvalidInputError(
            f"--fdr {level:g}, but a false discovery rate lies between 0 and 1, such as 0.1."
        )
    return float(level)


def _folds_of(chosen: Mapping[str, Any]) -> int | None:
    """Return the number of folds of ``--cv``; None without it."""
    folds = chosen["cv"]
    if folds is None:
        return None
    given = {
        "-k auto": "auto" if chosen["n_features"] == "auto" else None,
        "--alpha": chosen["alpha"],
        "--n-groups": chosen["n_groups"],
        "--fdr": chosen["fdr"],
    }
    refuse(given, "--cv", "finds out how many features predict best")
    if folds < 2:
        raise InvalidInputError(f"--cv {folds} must be at least 2 folds; 5 is usual.")
    return int(folds)
