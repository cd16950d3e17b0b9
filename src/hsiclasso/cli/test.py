"""``hsiclasso test``: a p-value for every feature of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hsiclasso.cli import tables, terminal
from hsiclasso.cli.build import (
    files_read,
    make_target,
    read,
    read_joint,
    read_kernels,
    read_missing,
    refuse,
    resources_of,
)  # fmt: skip
from hsiclasso.cli.commands import SectionedCommand
from hsiclasso.cli.options import (
    CHECKPOINT,
    COLUMNS,
    CONFIG,
    FILE,
    FILES,
    JOINT,
    KERNEL,
    MISSING,
    MISSING_TARGET,
    OUT,
    PRINTED,
    RUNNING,
    TARGET,
    TRANSFORM,
    choice,
    giving,
    of_output,
    of_target,
    section,
)  # fmt: skip
from hsiclasso.cli.output import Output
from hsiclasso.errors import InvalidInputError

if TYPE_CHECKING:
    from hsiclasso.inference import KnockoffSelection
    from hsiclasso.inference.scan import ScanOptions
    from hsiclasso.selectors import HSICLasso

__all__ = ["test"]

#: The mark in front keeps click from filling the lines.
_EXAMPLES = """\b
Examples:
  hsiclasso test genes.csv --target tumour --drop sample_id
  hsiclasso test cars.parquet -t price --mode fwe --level 0.05 --out tests.csv
  hsiclasso test cohort.csv --survival months died --mode fwe_permutation
  hsiclasso test genes.csv -t tumour --pairs
  hsiclasso test genes.csv -t tumour --knockoffs --level 0.2
  hsiclasso test cohort.csv -t ldl --post-selection 5 --quantity hsic
  hsiclasso test cells.h5ad -t cell_type --mode n_features --level 50 --json
"""

#: Random orders of the target that are usual.
_USUAL_PERMUTATIONS = 999

_tests = section("What is found")
_TRANSFORM_OF_TEST = of_target(
    "--transform", type=click.Choice(["rank", "normal", "none"]),
    help="Compare a real target by its ranks, by their normal scores, or as it is.  [default: "
    "normal]",
)  # fmt: skip
_OPTIONS = (
    *(_TRANSFORM_OF_TEST if option is TRANSFORM else option for option in TARGET),
    MISSING_TARGET,
    *FILES,
    *COLUMNS,
    JOINT,
    *MISSING,
    _tests(
        "--mode", type=choice("inference/results.py", "Mode"), default="fdr", show_default=True,
        metavar="NAME",
        help="What --level bounds: fdr, the false discovery rate (Benjamini-Hochberg); fdr_by, "
        "the same under any dependence; fwe, the probability of any false discovery (Holm); "
        "fwe_permutation, the same by permutations; fpr, the p-value; or n_features, a number, or "
        "percentile, a share of the features.",
    ),
    _tests(
        "--pairs", is_flag=True,
        help="Test all pairs of features for what both say jointly beyond each alone.",
    ),
    _tests(
        "--knockoffs", is_flag=True,
        help="Find features by knockoffs: random copies that know nothing of the target compete "
        "with them in HSIC Lasso. For numbers; --level is a false discovery rate.",
    ),
    _tests(
        "--post-selection", type=int,
        help="Select so many features by HSIC Lasso, and give p-values and confidence intervals "
        "that account for the selection. One half of the samples prepares it, the other one "
        "selects and tests; 1 - level is the confidence.",
    ),
    _tests(
        "--quantity", type=choice("inference/post_selection.py", "Quantity"),
        help="What --post-selection tests to be above 0: partial, a feature's coefficient beside "
        "the other selected ones, or hsic, its own dependence.  [default: partial]",
    ),
    _tests("--level", type=float, default=0.1, show_default=True, help="Level of --mode."),
    _tests(
        "--n-permutations", type=int,
        help="Random orders of the target.  [default: 999 for --mode fwe_permutation, else 0]",
    ),
    _tests(
        "--seed", type=int, default=0, show_default=True,
        help="Seed of these orders, of knockoffs, or of the halves.",
    ),
    KERNEL,
    *RUNNING,
    CHECKPOINT,
    of_output("--out", type=FILE, help=f"Write the result {OUT}."),
    *PRINTED,
    *CONFIG,
)  # fmt: skip


@click.command(cls=SectionedCommand, no_args_is_help=True, epilog=_EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
@giving(*_OPTIONS)
def test(
    file: Path, level: float, knockoffs: bool, post_selection: int | None, quantity: str | None,
    out: Path | None, as_json: bool, quiet: bool, save_config: Path | None, **chosen: Any,
) -> None:  # fmt: skip
    """Test each feature of FILE for independence of the target, and list those that are found.

    FILE is as for select. Every feature gets a p-value of its own: copies of a feature are found
    together. With --pairs, all pairs of features are tested for what they say jointly. If nothing
    is found, the list is empty and the exit code is 0. With --post-selection, a few features are
    selected first, and only these are tested.
    """
    output = Output(out, None, as_json, quiet, config=save_config)
    output.check(files_read(file, chosen))
    show: tuple[Callable[[Any], Any], Callable[[Any], Any]]
    if post_selection is not None:
        find = _after_selection(chosen, level, knockoffs, post_selection, quantity or "partial")
        show = tables.selected_table, terminal.post_selection_line
    elif quantity is not None:
        raise InvalidInputError(
            f"--quantity {quantity} has no meaning without --post-selection: leave it out."
        )
    elif knockoffs:
        find = _by_knockoffs(chosen, level)
        show = tables.knockoff_table, terminal.knockoff_line
    else:
        find = _by_tests(chosen, level)
        show = tables.found_table, terminal.found_line
    with terminal.clean_warnings(), terminal.progress_bar(wanted=output.progress) as report:
        found = find(read(file, chosen, report), report)
    table, line = show
    output.deliver(
        found, fields=found.columns, tables=lambda: [table(found)], notes=lambda: [line(found)]
    )


def _after_selection(
    chosen: dict[str, Any], level: float, knockoffs: bool, size: int, quantity: Any
) -> Callable[..., Any]:
    """Return what tests the features of a selection; raise if an option has no meaning."""
    from hsiclasso._checks import check_count
    from hsiclasso.inference import post_selection_test

    why = "tests only the features that are selected"
    refuse({"--knockoffs": knockoffs or None}, "--post-selection", why)
    _refuse_others(chosen, "--post-selection", why)
    if not 0 < level < 1:
        raise InvalidInputError(
            f"--level {level:g}, but --post-selection needs a number between 0 and 1: 0.1 gives "
            "intervals of 90%."
        )
    check_count("--post-selection", size, 1)
    selector = _make_selector(chosen, size)
    return lambda table, report: post_selection_test(
        selector, table, quantity=quantity, confidence=1 - level, random_state=chosen["seed"]
    )


def _by_knockoffs(chosen: dict[str, Any], level: float) -> Callable[..., Any]:
    """Return what finds features by knockoffs; raise if an option has no meaning."""
    selection = _make_knockoffs(chosen, level)
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
    options = _make_scan(chosen)
    at = int(level) if mode == "n_features" and level.is_integer() else level
    check_mode(mode, at)
    if pairs:
        return lambda table, report: scan_pairs_of(options, table, progress=report).found(level)
    return lambda table, report: scan_table(options, table, report).found(mode, at)


def _make_scan(chosen: Mapping[str, Any]) -> ScanOptions:
    """Build the parameters of a scan from the options of ``hsiclasso test``, and check them."""
    from hsiclasso.inference.scan import ScanOptions, check_scan

    target = make_target(chosen)
    number = chosen["n_permutations"]
    if number is None:
        number = _USUAL_PERMUTATIONS if chosen["mode"] == "fwe_permutation" else 0
    options = ScanOptions(
        read_kernels(chosen["kernel"]), target, read_joint(chosen["joint"]), read_missing(chosen),
        number, chosen["seed"], chosen["n_jobs"], resources_of(chosen),
    )  # fmt: skip
    check_scan(options)
    return options


def _make_knockoffs(chosen: Mapping[str, Any], level: float) -> KnockoffSelection:
    """Build what ``--knockoffs`` asks for; raise if an option has no meaning."""
    from hsiclasso.inference import KnockoffSelection

    _refuse_others(chosen, "--knockoffs", "compares single columns of numbers with copies of them")
    return KnockoffSelection(_make_selector(chosen), q=level, random_state=chosen["seed"])


def _make_selector(chosen: Mapping[str, Any], size: int | None = None) -> HSICLasso:
    """Build the selector of knockoffs and of tests after a selection."""
    from hsiclasso.selectors import HSICLasso

    return HSICLasso(
        size, kernel=read_kernels(chosen["kernel"]), target=make_target(chosen),
        n_jobs=chosen["n_jobs"], resources=resources_of(chosen),
    )  # fmt: skip


def _refuse_others(chosen: Mapping[str, Any], by: str, why: str) -> None:
    """Raise if an option is given that only tests of all features have."""
    given = {
        "--pairs": chosen["pairs"] or None,
        "--mode": None if chosen["mode"] == "fdr" else chosen["mode"],
        "--n-permutations": chosen["n_permutations"],
        "--joint": chosen["joint"] or None,
        "--missing": None if chosen["missing"] == "error" else chosen["missing"],
        "--min-observed": chosen["min_observed"],
        "--checkpoint": chosen["checkpoint"],
    }
    refuse(given, by, why)
