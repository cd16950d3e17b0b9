"""What the terminal shows: tables, certificates, warnings and progress."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from hsiclasso.selectors import SelectedFeature, SelectionResult

__all__ = [
    "certificate_line",
    "clean_warnings",
    "feature_table",
    "make_console",
    "progress_bar",
    "summary_line",
]

Report = Callable[[str, int, int], None]

#: Neighbours less similar than this are hardly redundant, and the table leaves them out.
_SIMILAR = 0.2
#: Columns of a table that goes to a file or a pipe.
_PIPE_WIDTH = 120
_STAGES = {
    "read": "Reading the table",
    "relevance": "Relating features to the target",
    "path": "Following the path",
}


def make_console(*, stderr: bool = False) -> Console:
    """Return a console for standard output or error."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _PIPE_WIDTH
    return console


def feature_table(result: SelectionResult, causal: Collection[str] | None = None) -> Table:
    """Return the selected features as a table.

    Parameters
    ----------
    result : SelectionResult
        What was found.
    causal : collection of str, optional
        Names of the features that truly matter, where they are known: adds a column.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("feature", overflow="fold", style="cyan")
    notes = _notes(result)
    for title in notes:
        table.add_column(title, overflow="fold")
    if causal is not None:
        table.add_column("causal", no_wrap=True)
    table.add_column("weight", justify="right", no_wrap=True)
    table.add_column("relevance", justify="right", no_wrap=True)
    few = any(feature.n_observed < result.n_samples for feature in result.features)
    if few:
        table.add_column("observed", justify="right", no_wrap=True)
    table.add_column("redundant neighbours (similarity)", overflow="fold")
    weights = _aligned([feature.weight for feature in result.features])
    relevances = _aligned([feature.relevance for feature in result.features])
    for rank, feature in enumerate(result.features, start=1):
        mark = () if causal is None else (_mark(feature.name in causal),)
        numbers = [Text(weights[rank - 1]), Text(relevances[rank - 1])]
        numbers += [Text(f"{feature.n_observed:,}")] if few else []
        beside = (Text(column[rank - 1]) for column in notes.values())
        table.add_row(str(rank), Text(feature.name), *beside, *mark, *numbers, _neighbours(feature))
    return table


def _notes(result: SelectionResult) -> dict[str, list[str]]:
    """Columns that only some results need: groups, and what did not come from the path."""
    notes = {}
    if result.groups:
        notes["group"] = [feature.group or "" for feature in result.features]
    origins = [feature.origin for feature in result.features]
    if set(origins) - {"path"}:
        notes["origin"] = [str(origin) for origin in origins]
    return notes


def summary_line(
    result: SelectionResult, weights: str | None = None, dropped: str = "without a target"
) -> Text:
    """Return the method, the size of the table, the penalty and how the path ended.

    Parameters
    ----------
    result : SelectionResult
        What was found.
    weights : str, optional
        Column of sample weights.
    dropped : str
        What samples were dropped for.
    """
    from rich.text import Text

    size = f"{result.n_samples:,} samples x {result.n_features:,} columns"
    parts = [f"{result.method}, {result.task}, {size}. {result.message}"]
    if result.n_dropped:
        few = "sample" if result.n_dropped == 1 else "samples"
        parts.append(f"{result.n_dropped:,} {few} {dropped} dropped.")
    if weights is not None:
        parts.append(f"Samples weighted by {weights}.")
    if result.covariates:
        parts.append(_covariates(result))
    return Text(" ".join(parts))


def _covariates(result: SelectionResult) -> str:
    """Say what became of the covariates."""
    names = ", ".join(result.covariates)
    if not result.n_removed:
        return f"Taken from the target's matrix: that of {names}."
    functions = "function" if result.n_removed == 1 else "functions"
    return f"Removed from features and target: {result.n_removed} {functions} of {names}."


def certificate_line(result: SelectionResult) -> Text:
    """Return the proof of optimality in one line."""
    from rich.text import Text

    proof = result.certificate
    return Text(
        f"Certificate: KKT residual {proof.kkt_residual:.1e}, duality gap {proof.duality_gap:.1e}, "
        f"{proof.n_candidates:,} of {result.n_features:,} columns touched, embedding error "
        f"{result.embedding_error:.1e}",
        style="dim",
    )


@contextmanager
def clean_warnings() -> Iterator[None]:
    """Show the warnings of a block at its end, each as one line on standard error."""
    from rich.text import Text

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        finally:
            console = make_console(stderr=True)
            for message in dict.fromkeys(str(warning.message) for warning in caught):
                console.print(Text(f"Warning: {message}", style="yellow"), soft_wrap=True)


@contextmanager
def progress_bar(*, wanted: bool) -> Iterator[Report]:
    """Yield a function that shows progress, if it is wanted and standard error is a terminal.

    The function takes a stage, units done and units in all; 0 in all means an unknown number.
    """
    console = make_console(stderr=True)
    if not (wanted and console.is_terminal):
        yield lambda stage, done, total: None
        return
    from rich import progress

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
    )
    with progress.Progress(*columns, console=console, transient=True) as bar:
        tasks: dict[str, progress.TaskID] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(_STAGES.get(stage, stage), total=total or None)
            bar.update(tasks[stage], completed=done, total=total or None)

        yield report


def _neighbours(feature: SelectedFeature) -> Text:
    from rich.text import Text

    similar = [other for other in feature.neighbours if other.similarity >= _SIMILAR]
    if not similar:
        return Text("-", style="dim")
    return Text(", ".join(f"{other.name} ({other.similarity:.2f})" for other in similar))


def _mark(is_causal: bool) -> Text:
    from rich.text import Text

    return Text("yes", style="bold green") if is_causal else Text("no", style="dim")


def _aligned(values: list[float]) -> list[str]:
    """Format numbers to as many decimals as give the largest five digits.

    Examples
    --------
    >>> _aligned([0.17588, 0.0058553, 1e-9])
    ['0.17588', '0.00586', '1.0e-09']
    """
    largest = max(values, default=1.0)
    decimals = max(0, 4 - math.floor(math.log10(largest))) if largest > 0 else 0
    texts = [f"{value:.{decimals}f}" for value in values]
    return [
        f"{value:.1e}" if value and float(text) == 0 else text
        for value, text in zip(values, texts, strict=True)
    ]
