"""What the terminal shows besides tables: sentences, warnings and progress."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from hsiclasso.cli.console import make_console, plain, show
from hsiclasso.cli.tables import LISTED, VOTED, names_within
from hsiclasso.cli.words import in_options

if TYPE_CHECKING:
    from rich.text import Text

    from hsiclasso.baselines import Comparison
    from hsiclasso.inference import (
        FoundFeatures,
        FoundPairs,
        KnockoffResult,
        PostSelectionResult,
        StabilityResult,
    )
    from hsiclasso.selectors import SelectionResult
    from hsiclasso.selectors.summaries import SizeScores

__all__ = [
    "Report",
    "certificate_line",
    "clean_warnings",
    "comparison_line",
    "found_line",
    "knockoff_line",
    "left_out_lines",
    "post_selection_line",
    "progress_bar",
    "summary_line",
    "validation_line",
]

Report = Callable[[str, int, int], None]

#: Terminals that have no room for a bar.
_NARROW = 70
_COMPILE = "compile"
_STAGES = {
    _COMPILE: "Compiling, first run only",
    "read": "Reading the table",
    "relevance": "Relating features to the target",
    "path": "Following the path",
    "pairs": "Scanning pairs of features",
    "neighbours": "Looking for similar features",
    "tests": "Testing candidates",
    "test": "Testing features",
    "permutations": "Permuting the target",
    "methods": "Methods",
    "folds": "Cross-validating",
}


def summary_line(result: SelectionResult) -> Text:
    """Return the method, the size of the table, the penalty and how the path ended."""
    method, data = result.method, result.data
    size = f"{data.n_samples:,} samples x {data.n_columns:,} columns"
    parts = [f"{method.name}, target: {method.target}, {size}. {result.message}"]
    if result.interactions is not None:
        parts.append(result.interactions.message)
    if data.n_dropped:
        few = "sample" if data.n_dropped == 1 else "samples"
        parts.append(f"{data.n_dropped:,} {few} without a target or of weight 0 dropped.")
    if method.weighted:
        parts.append("Samples are weighted.")
    if method.covariates:
        names = ", ".join(method.covariates)
        functions = "function" if method.n_removed == 1 else "functions"
        parts.append(
            f"Removed from features and target: {method.n_removed} {functions} of {names}."
            if method.n_removed
            else f"Subtracted from the target's kernel matrix: that of {names}."
        )
    return plain(" ".join(parts))


def validation_line(validation: SizeScores) -> Text:
    """Return which number of features a cross-validation chose."""
    return plain(validation.message)


def stability_line(stability: StabilityResult) -> Text:
    """Return how many clusters are stable, and the bound on false selections."""
    levels, stable = stability.levels, stability.names
    words = f"Stability: {len(stable)} cluster{'' if len(stable) == 1 else 's'} of features"
    words += f" in {levels.threshold:.0%} or more of {stability.n_subsamples} half-samples"
    if stable:
        words += f": {names_within(stable, make_console().width)}"
    return plain(f"{words}. {stability.error_bound}")


def certificate_line(result: SelectionResult) -> Text:
    """Return the proof of optimality in one line."""
    proof, pairs = result.certificate, result.interactions
    number = f"{result.data.n_columns:,} columns"
    if pairs is not None:
        number += f" and {max(pairs.n_offered, pairs.n_scanned):,} interactions"
    return plain(
        f"Certificate: KKT residual {proof.kkt_residual:.1e}, duality gap {proof.duality_gap:.1e}, "
        f"{proof.n_candidates:,} of {number} touched, Gram error {result.solution.gram_error:.1e}",
        style="dim",
    )


def found_line(found: FoundFeatures | FoundPairs) -> Text:
    """Return the size of the table, and what was found in a sentence."""
    size = f"{found.n_samples:,} samples x {found.n_features:,} features"
    parts = [f"HSIC tests, target: {found.target}, {size}."]
    if found.features:  # otherwise the message stands in place of the table
        parts.append(found.message)
    if len(found.features) > LISTED:
        parts.append(f"The first {LISTED} are shown; --out and --json write all.")
    if found.n_dropped:
        few = "sample" if found.n_dropped == 1 else "samples"
        parts.append(f"{found.n_dropped:,} {few} without a target dropped.")
    return plain(" ".join(parts))


def left_out_lines(comparison: Comparison) -> list[Text]:
    """Return a line for each reason why methods did not run, without its remedy."""
    reasons: dict[str, list[str]] = {}
    for outcome in comparison.outcomes:
        if outcome.skipped:
            reason = outcome.skipped.rpartition(": ")[0] or outcome.skipped
            reasons.setdefault(reason, []).append(outcome.title)
    return [
        plain(f"{', '.join(titles)} left out: {reason}", style="yellow")
        for reason, titles in reasons.items()
    ]


def knockoff_line(found: KnockoffResult) -> Text:
    """Return the size of the table, and what knockoffs found in a sentence."""
    size = f"{found.n_samples:,} samples x {len(found.names):,} features"
    return plain(f"HSIC Lasso with knockoffs, {size}. {found.message if found.selected else ''}")


def post_selection_line(found: PostSelectionResult) -> Text:
    """Return the halves of the samples, and what was tested in a sentence."""
    parts = f"{found.n_first:,} samples prepare the selection, {found.n_second:,} select and test"
    return plain(f"HSIC Lasso: {parts}. {found.message if found.features else ''}".rstrip())


def comparison_line(comparison: Comparison) -> Text:
    """Return the sizes of a comparison."""
    n_ran, n_all = len(comparison.ran), len(comparison.outcomes)
    found = len(comparison.ranks())
    hidden = f", of which {VOTED} are shown" if found > VOTED else ""
    parts = [
        f"{comparison.n_samples:,} samples x {comparison.n_features:,} columns. "
        f"{n_ran} of {n_all} methods ran, each for {comparison.n_requested} features: "
        f"{found} in all{hidden}. Redundancy is the mean absolute correlation between features "
        "selected together; seconds include the loading of compiled code."
    ]
    if any(one.score is not None for one in comparison.ran):
        parts.append(
            "Score is that of a support vector machine on the part of the samples that was left "
            "out, stability the share of features that the selections of two folds have in common."
        )
    residuals = [one.title for one in comparison.ran if one.adjusted == "residuals"]
    if residuals:
        parts.append(f"Given residuals in place of the covariates: {', '.join(residuals)}.")
    return plain(" ".join(parts))


@contextmanager
def clean_warnings() -> Iterator[None]:
    """Show the warnings of a block at its end, each as one line on standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        finally:
            console = make_console(stderr=True)
            options = _options()
            for message in dict.fromkeys(in_options(str(one.message), options) for one in caught):
                show(console, plain(f"Warning: {message}", style="yellow"))


def _options() -> set[str]:
    """Options of the command that is running."""
    context = click.get_current_context(silent=True)
    params = [] if context is None else context.command.params
    return {option for param in params for option in param.opts}


@contextmanager
def progress_bar(*, wanted: bool) -> Iterator[Report]:
    """Yield a function that shows progress, if it is wanted and standard error is a terminal.

    The function takes a stage, units done and units in all; 0 in all means an unknown number.
    Stages without an entry in `_STAGES` share a line.
    """
    console = make_console(stderr=True)
    if not (wanted and console.is_terminal):
        yield lambda stage, done, total: None
        return
    from rich import progress

    columns: list[progress.ProgressColumn] = [
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left:"),
        progress.TimeRemainingColumn(compact=True),
    ]
    if console.width < _NARROW:
        columns = [columns[0], columns[-1]]
    with progress.Progress(*columns, console=console, transient=True) as bar:
        shown: dict[str, tuple[str, progress.TaskID]] = {}

        def report(stage: str, done: int, total: int) -> None:
            line, words = (stage, _STAGES[stage]) if stage in _STAGES else ("", stage)
            if line != _COMPILE and _COMPILE in shown:
                bar.remove_task(shown.pop(_COMPILE)[1])
            if line in shown and words != shown[line][0]:
                bar.remove_task(shown.pop(line)[1])
            if line not in shown:
                shown[line] = words, bar.add_task(words, total=total or None)
            bar.update(shown[line][1], completed=done, total=total or None)

        with _told(report):
            yield report


@contextmanager
def _told(report: Report) -> Iterator[None]:
    """Report the stages that the package logs, which have no other way to the terminal."""

    class Stages(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if stage := getattr(record, "stage", ""):
                report(stage, 0, 0)
            else:
                show(make_console(stderr=True), plain(record.getMessage()))

    handler = Stages(logging.WARNING)
    log = logging.getLogger("hsiclasso")
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
