"""What the terminal shows: tables, certificates, warnings and progress."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from string import ascii_lowercase
from typing import TYPE_CHECKING

import click

from hsiclasso._display import printable
from hsiclasso.cli.words import in_options

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from hsiclasso.baselines import Comparison
    from hsiclasso.inference import FoundFeatures, FoundPairs, StabilityResult
    from hsiclasso.selectors import SelectedFeature, SelectionResult

__all__ = [
    "Report",
    "certificate_line",
    "clean_warnings",
    "comparison_line",
    "feature_table",
    "found_line",
    "found_table",
    "left_out_lines",
    "make_console",
    "method_table",
    "progress_bar",
    "summary_line",
    "vote_table",
]

Report = Callable[[str, int, int], None]

#: Neighbours less similar than this are hardly redundant: the table does not show them.
_SIMILAR = 0.2
#: Columns of a table that goes to a file or a pipe.
_PIPE_WIDTH = 120
_STAGES = {
    "read": "Reading the table",
    "relevance": "Relating features to the target",
    "path": "Following the path",
    "pairs": "Scanning pairs of features",
    "neighbours": "Looking for similar features",
    "tests": "Testing candidates",
    "test": "Testing features",
    "permutations": "Permuting the target",
    "methods": "Methods",
}
#: Most features that the table of votes shows.
_VOTED = 15
#: Width of the table of methods without its features, and lines for the features of a method.
_BESIDE, _LINES = 46, 2


def make_console(*, stderr: bool = False) -> Console:
    """Return a console for standard output or error."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _PIPE_WIDTH
    return console


def _text(words: str, style: str = "") -> Text:
    """Return words as they are: brackets in them are no markup, and escapes are shown."""
    from rich.text import Text

    return Text(printable(words), style)


def _table() -> Table:
    """Return an empty table."""
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")


def _add_numbers(table: Table, *titles: str) -> None:
    """Add columns of numbers."""
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)


def feature_table(result: SelectionResult, causal: Collection[str] | None = None) -> Table:
    """Return the selected features as a table, with a column that marks the `causal` ones."""
    features, notes = result.features, _notes(result, causal)
    numbers = {
        "weight": _aligned([feature.weight for feature in features]),
        "relevance": _aligned([feature.relevance for feature in features]),
    }
    if any(feature.n_observed < result.data.n_samples for feature in features):
        numbers["observed"] = [f"{feature.n_observed:,}" for feature in features]
    if result.error_control is not None:
        numbers["p"] = [f"{feature.p_value:.1e}" for feature in features]
        numbers["q"] = [f"{feature.q_value:.1e}" for feature in features]
    if any(cluster.members for cluster in result.clusters):
        numbers["left out"] = [f"{len(cluster.members):,}" for cluster in result.clusters]
    if any(feature.frequency is not None for feature in features):
        numbers["frequency"] = [f"{feature.frequency or 0.0:.0%}" for feature in features]
    table = _table()
    _add_numbers(table, "rank")
    table.add_column("feature", overflow="fold", style="cyan")
    for title in notes:
        table.add_column(title, overflow="fold", no_wrap=title == "causal")
    _add_numbers(table, *numbers)
    table.add_column("redundant neighbours (similarity)", overflow="fold")
    rows = zip(features, *notes.values(), *numbers.values(), strict=True)
    for rank, (feature, *cells) in enumerate(rows, start=1):
        table.add_row(str(rank), _text(feature.name), *cells, _neighbours(feature))
    return table


def _notes(result: SelectionResult, causal: Collection[str] | None) -> dict[str, list[Text]]:
    """Columns that only some results need: groups, origins other than the path, causal features."""
    notes, features = {}, result.features
    if result.groups:
        notes["group"] = [_text(feature.group or "") for feature in features]
    if any(feature.origin != "path" for feature in features):
        notes["origin"] = [_text(feature.origin) for feature in features]
    if causal is not None:
        yes, no = _text("yes", "bold green"), _text("no", "dim")
        notes["causal"] = [yes if feature.name in causal else no for feature in features]
    return notes


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
    return _text(" ".join(parts))


def stability_line(stability: StabilityResult) -> Text:
    """Return how many clusters are stable, and the bound on false selections."""
    levels, stable = stability.levels, stability.names
    words = f"Stability: {len(stable)} cluster{'' if len(stable) == 1 else 's'} of features"
    words += f" in {levels.threshold:.0%} or more of {stability.n_subsamples} half-samples"
    if stable:
        words += f": {_names_within(stable, make_console().width)}"
    return _text(f"{words}. {stability.error_bound}")


def certificate_line(result: SelectionResult) -> Text:
    """Return the proof of optimality in one line."""
    proof = result.certificate
    return _text(
        f"Certificate: KKT residual {proof.kkt_residual:.1e}, duality gap {proof.duality_gap:.1e}, "
        f"{proof.n_candidates:,} of {result.data.n_columns:,} columns touched, Gram error "
        f"{result.solution.gram_error:.1e}",
        style="dim",
    )


def found_table(found: FoundFeatures | FoundPairs) -> Table | Text:
    """Return the features that tests find as a table, or a line that says that there are none."""
    if not found.features:
        return _text(found.message)
    numbers = {
        "statistic": _aligned([feature.statistic for feature in found.features]),
        "p": [f"{feature.p_value:.2e}" for feature in found.features],
        "q": [f"{feature.q_value:.2e}" for feature in found.features],
    }
    family = [getattr(feature, "family_p_value", None) for feature in found.features]
    if family[0] is not None:
        numbers["family p"] = [f"{p:.3g}" for p in family]
    table = _table()
    _add_numbers(table, "rank")
    table.add_column("feature", overflow="fold", style="cyan")
    _add_numbers(table, *numbers)
    for feature, *cells in zip(found.features, *numbers.values(), strict=True):
        table.add_row(str(feature.rank), _text(feature.name), *cells)
    return table


def found_line(found: FoundFeatures | FoundPairs) -> Text:
    """Return the size of the table, and what was found in a sentence."""
    size = f"{found.n_samples:,} samples x {found.n_features:,} features"
    parts = [f"HSIC tests, target: {found.target}, {size}."]
    if found.features:  # otherwise the message stands in place of the table
        parts.append(found.message)
    if found.n_dropped:
        few = "sample" if found.n_dropped == 1 else "samples"
        parts.append(f"{found.n_dropped:,} {few} without a target dropped.")
    return _text(" ".join(parts))


def method_table(comparison: Comparison) -> Table:
    """Return what each method selects, under a letter; wide terminals show more features."""
    table = _table()
    table.add_column("", no_wrap=True, style="dim")
    table.add_column("method", no_wrap=True)
    _add_numbers(table, "seconds", "redundancy")
    table.add_column("features, best first", overflow="fold", style="cyan")
    for letter, outcome in zip(ascii_lowercase, comparison.ran, strict=False):
        redundancy = "-" if outcome.redundancy is None else f"{outcome.redundancy:.2f}"
        numbers = (f"{outcome.seconds:.2f}", redundancy)
        names = _names_within(outcome.features, _LINES * (make_console().width - _BESIDE))
        table.add_row(letter, _text(outcome.title), *numbers, _text(names))
    return table


def _names_within(names: Sequence[str], room: int) -> str:
    """Join as many names as fit into `room` letters, but at least the first.

    Examples
    --------
    >>> _names_within(["red", "green", "blue"], 16)
    'red, green, blue'
    >>> _names_within(["red", "green", "blue"], 15)
    'red, and 2 more'
    """
    if not names:
        return "-"
    for n in range(len(names), 0, -1):
        rest = f", and {len(names) - n} more" if n < len(names) else ""
        text = ", ".join(names[:n]) + rest
        if len(text) <= room or n == 1:
            break
    return text


def left_out_lines(comparison: Comparison) -> list[Text]:
    """Return a line for each reason why methods did not run, without its remedy."""
    reasons: dict[str, list[str]] = {}
    for outcome in comparison.outcomes:
        if outcome.skipped:
            reason = outcome.skipped.rpartition(": ")[0] or outcome.skipped
            reasons.setdefault(reason, []).append(outcome.title)
    return [
        _text(f"{', '.join(titles)} left out: {reason}", style="yellow")
        for reason, titles in reasons.items()
    ]


def vote_table(comparison: Comparison) -> Table:
    """Return the features that most methods select, with their ranks in each."""
    digits = len(str(comparison.n_requested)) + 1
    letters = ascii_lowercase[: len(comparison.ran)]
    table = _table()
    table.add_column("feature", overflow="fold", style="cyan")
    _add_numbers(table, "votes", "mean rank")
    table.add_column("".join(f"{letter:>{digits}}" for letter in letters), no_wrap=True)
    for name, ranks in list(comparison.ranks().items())[:_VOTED]:
        places = (ranks.get(outcome.method, "-") for outcome in comparison.ran)
        cells = "".join(f"{place:>{digits}}" for place in places)
        mean = sum(ranks.values()) / len(ranks)
        table.add_row(_text(name), str(len(ranks)), f"{mean:.1f}", _text(cells))
    return table


def comparison_line(comparison: Comparison) -> Text:
    """Return the sizes of a comparison."""
    n_ran, n_all = len(comparison.ran), len(comparison.outcomes)
    found = len(comparison.ranks())
    hidden = f", of which {_VOTED} are shown" if found > _VOTED else ""
    return _text(
        f"{comparison.n_samples:,} samples x {comparison.n_features:,} columns. "
        f"{n_ran} of {n_all} methods ran, each for {comparison.n_requested} features: "
        f"{found} in all{hidden}. Redundancy is the mean absolute correlation between features "
        "selected together; seconds include the loading of compiled code."
    )


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
                console.print(_text(f"Warning: {message}", style="yellow"), soft_wrap=True)


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

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left:"),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=console, transient=True) as bar:
        shown: dict[str, tuple[str, progress.TaskID]] = {}

        def report(stage: str, done: int, total: int) -> None:
            line, words = (stage, _STAGES[stage]) if stage in _STAGES else ("", stage)
            if line in shown and words != shown[line][0]:
                bar.remove_task(shown.pop(line)[1])
            if line not in shown:
                shown[line] = words, bar.add_task(words, total=total or None)
            bar.update(shown[line][1], completed=done, total=total or None)

        yield report


def _neighbours(feature: SelectedFeature) -> Text:
    similar = [other for other in feature.neighbours if other.similarity >= _SIMILAR]
    if not similar:
        return _text("-", style="dim")
    return _text(", ".join(f"{other.name} ({other.similarity:.2f})" for other in similar))


def _aligned(values: list[float]) -> list[str]:
    """Format numbers with the decimals that show five digits of the largest.

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
