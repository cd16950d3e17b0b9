"""The tables that the commands print."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING

from hsiclasso.cli.columns import GAP, Column, fitted_table, numbers, words
from hsiclasso.cli.console import make_console, plain

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from hsiclasso.baselines import Comparison
    from hsiclasso.inference import FoundFeatures, FoundPairs, KnockoffResult, PostSelectionResult
    from hsiclasso.selectors import SelectedFeature, SelectionResult

__all__ = [
    "LISTED", "VOTED", "feature_table", "found_table", "knockoff_table", "method_table",
    "names_within", "selected_table", "vote_table",
]  # fmt: skip

#: Features less similar than this are hardly redundant: the table does not show them.
_SIMILAR = 0.2
#: Most features that the table of tests shows, and that of votes.
LISTED, VOTED = 50, 15
#: Lines for the features of a method, and letters of one at least.
_LINES, _NAMES = 2, 20


def feature_table(result: SelectionResult, causal: Collection[str] | None = None) -> Table:
    """Return the selected features as a table, with a column that marks the `causal` ones."""
    features = result.features
    columns = [
        numbers("rank", [str(rank) for rank in range(1, len(features) + 1)]),
        words("feature", [plain(feature.name) for feature in features], style="cyan"),
        *_notes(result, causal),
        numbers("weight", _aligned([feature.weight for feature in features])),
        numbers("relevance", _aligned([feature.relevance for feature in features]), 5),
    ]
    if any(feature.classes for feature in features):
        spoken = [f"{feature.main_class} {feature.main_class_share:.0%}" for feature in features]
        columns.append(words("speaks for", list(map(plain, spoken)), 3))
    if any(feature.n_observed < result.data.n_samples for feature in features):
        columns.append(numbers("observed", [f"{feature.n_observed:,}" for feature in features], 7))
    if result.error_control is not None:
        columns.append(numbers("p", [f"{feature.p_value:.1e}" for feature in features], 6))
        columns.append(numbers("q", [f"{feature.q_value:.1e}" for feature in features], 1))
    if any(cluster.members for cluster in result.clusters):
        left_out = [f"{len(cluster.members):,}" for cluster in result.clusters]
        columns.append(numbers("left out", left_out, 4))
    if any(feature.frequency is not None for feature in features):
        often = [f"{feature.frequency or 0.0:.0%}" for feature in features]
        columns.append(numbers("frequency", often, 2))
    if any(feature.neighbours for feature in features):
        columns.append(words("similar features", list(map(_neighbours, features)), 3))
    return fitted_table(columns)


def _notes(result: SelectionResult, causal: Collection[str] | None) -> list[Column]:
    """Columns that only some results need: groups, origins other than the path, causal features."""
    notes, features = [], result.features
    if result.groups:
        notes.append(words("group", [plain(feature.group or "") for feature in features], 2))
    if any(feature.origin != "path" for feature in features):
        notes.append(words("origin", [plain(feature.origin) for feature in features], 3))
    if causal is not None:
        yes, no = plain("yes", "bold green"), plain("no", "dim")
        marks = [yes if feature.name in causal else no for feature in features]
        notes.append(words("causal", marks, 1))
    return notes


def found_table(found: FoundFeatures | FoundPairs) -> Table | Text:
    """Return the first features that tests find as a table, or a line if there are none."""
    if not found.features:
        return plain(found.message)
    features = found.features[:LISTED]
    columns = [
        numbers("rank", [str(feature.rank) for feature in features]),
        words("feature", [plain(feature.name) for feature in features], style="cyan"),
        numbers("statistic", _aligned([feature.statistic for feature in features]), 3),
        numbers("p", [f"{feature.p_value:.2e}" for feature in features], 2),
        numbers("q", [f"{feature.q_value:.2e}" for feature in features], 1),
    ]
    family = [getattr(feature, "family_p_value", None) for feature in features]
    if family[0] is not None:
        columns.append(numbers("family p", [f"{p:.3g}" for p in family], 1))
    return fitted_table(columns)


def knockoff_table(found: KnockoffResult) -> Table | Text:
    """Return the features that knockoffs find as a table, or a line that says that none are."""
    rows = [row for row in found.to_rows() if row["selected"]]
    if not rows:
        return plain(found.message)
    return fitted_table([
        numbers("rank", [str(rank) for rank in range(1, len(rows) + 1)]),
        words("feature", [plain(row["name"]) for row in rows], style="cyan"),
        numbers("statistic", _aligned([row["statistic"] for row in rows]), 1),
        numbers("like its knockoff", [f"{row['similarity']:.2f}" for row in rows], 2),
    ])  # fmt: skip


def selected_table(found: PostSelectionResult) -> Table | Text:
    """Return selected features with their tests as a table, or a line if there are none."""
    features = found.features
    if not features:
        return plain(found.message)
    return fitted_table([
        numbers("rank", [str(rank) for rank in range(1, len(features) + 1)]),
        words("feature", [plain(one.name) for one in features], style="cyan"),
        numbers("estimate", [f"{one.estimate:.3g}" for one in features], 3),
        numbers("s.e.", [f"{one.standard_error:.2g}" for one in features], 1),
        numbers("p", [f"{one.p_value:.2e}" for one in features], 4),
        numbers("from", [f"{one.low:.3g}" for one in features], 2),
        numbers("to", [f"{one.high:.3g}" for one in features], 2),
    ])  # fmt: skip


def method_table(comparison: Comparison) -> Table:
    """Return what each method selects, under a letter; wide terminals show more features."""
    ran = comparison.ran[: len(ascii_lowercase)]
    seen = ["-" if one.redundancy is None else f"{one.redundancy:.2f}" for one in ran]
    columns = [
        words("", [plain(letter) for letter in ascii_lowercase[: len(ran)]], style="dim"),
        words("method", [plain(one.title) for one in ran]),
        numbers("seconds", [f"{one.seconds:.2f}" for one in ran], 3),
        numbers("redundancy", seen, 5),
    ]
    if any(one.score is not None for one in ran):
        scores = [f"{one.score:.3f}" for one in ran]
        errors = [f"± {one.score_error:.3f}" for one in ran]
        columns.append(numbers("score", scores))
        columns.append(numbers("s.e.", errors, 4))
        columns.append(numbers("stability", [f"{one.stability:.2f}" for one in ran], 2))
    room = make_console().width - sum(column.least + GAP for column in columns)
    names = [plain(names_within(one.features, _LINES * max(room, _NAMES))) for one in ran]
    title = "features, best first"
    return fitted_table([*columns, words(title, names, 1, least=_NAMES, style="cyan")])


def vote_table(comparison: Comparison) -> Table:
    """Return the features that most methods select, with their ranks in each."""
    digits = len(str(comparison.n_requested)) + 1
    letters = ascii_lowercase[: len(comparison.ran)]
    voted = list(comparison.ranks().items())[:VOTED]
    places = [
        "".join(f"{ranks.get(outcome.method, '-'):>{digits}}" for outcome in comparison.ran)
        for _, ranks in voted
    ]
    means = [f"{sum(ranks.values()) / len(ranks):.1f}" for _, ranks in voted]
    return fitted_table([
        words("feature", [plain(name) for name, _ in voted], style="cyan"),
        numbers("votes", [str(len(ranks)) for _, ranks in voted]),
        numbers("mean rank", means, 1),
        numbers("".join(f"{letter:>{digits}}" for letter in letters), places, 2),
    ])  # fmt: skip


def names_within(names: Sequence[str], room: int) -> str:
    """Join as many names as fit into `room` letters, but at least the first.

    Examples
    --------
    >>> names_within(["red", "green", "blue"], 16)
    'red, green, blue'
    >>> names_within(["red", "green", "blue"], 15)
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


def _neighbours(feature: SelectedFeature) -> Text:
    similar = [other for other in feature.neighbours if other.similarity >= _SIMILAR]
    if not similar:
        return plain("-", style="dim")
    return plain(", ".join(f"{other.name} ({other.similarity:.2f})" for other in similar))


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
