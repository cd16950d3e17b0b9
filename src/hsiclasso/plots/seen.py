"""What the pictures show of the data: the selected columns and the target, on the same samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hsiclasso._display import label_text
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data import Source, as_dataset
from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors.columns import ColumnFinder
from hsiclasso.selectors.result import SelectedFeature, SelectionResult
from hsiclasso.targets import TARGETS, Censored, Values, as_target

__all__ = [
    "MOST_GROUPS",
    "Column",
    "Groups",
    "Labels",
    "Numbers",
    "Seen",
    "Target",
    "Times",
    "groups_of",
    "read_data",
]

#: Most groups of a picture: further ones become "others".
MOST_GROUPS = 8
#: A column with at most so many different numbers is drawn value by value.
_FEW_NUMBERS = 5
#: Kinds of targets that say something of pairs of samples, not of each.
_WITHOUT = ("affinity", "graph")
#: Most columns that are read for pictures.
_MOST_COLUMNS = 120


@dataclass(frozen=True)
class Groups:
    """Samples in groups: classes of a target, or labels or few values of a feature."""

    name: str
    #: Group of each sample, NaN where it is unknown, shape (n,).
    codes: FloatArray
    names: tuple[str, ...]


@dataclass(frozen=True)
class Numbers:
    """A target of numbers, one or several outputs."""

    #: Shape (q, n).
    values: FloatArray
    names: tuple[str, ...]


@dataclass(frozen=True)
class Labels:
    """A target of labels, of which a sample may have several."""

    #: Zeros and ones, shape (q, n).
    values: FloatArray
    names: tuple[str, ...]


@dataclass(frozen=True)
class Times:
    """Times until an event, some of them censored."""

    name: str
    time: FloatArray
    event: FloatArray


#: A target that has a picture.
Target = Groups | Numbers | Labels | Times


@dataclass(frozen=True)
class Column:
    """One column of the table."""

    name: str
    #: Numbers, or codes of labels; NaN where missing, shape (n,).
    values: FloatArray
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Seen:
    """The samples of a report."""

    columns: dict[str, Column] = field(default_factory=dict)
    #: None if the target has no picture, such as a graph.
    target: Target | None = None


def read_data(result: SelectionResult, X: Any, y: Any, target: Any = None) -> Seen:
    """Read the selected columns and the target.

    Parameters
    ----------
    result : SelectionResult
    X, y
        The table and the target from which features were selected, as in `HSICLasso.fit`.
    target : sequence of str, optional
        Names of the columns of the target.
    """
    data = as_dataset(X, y)
    _check_same(result, data.source)
    kind, n = result.method.target, data.source.n_samples
    use = None if data.weights is None else data.weights > 0
    called = tuple(target or data.target_names or result.data.target)
    if kind not in TARGETS or kind in _WITHOUT:
        shown, rows = None, use
    else:
        of_kind = as_target(kind).set_params(missing="drop")
        prepared = of_kind.prepare(data.y, n, use)
        shown, rows = _shown(prepared.data, kind, called), prepared.rows
        if kind == "ordinal" and isinstance(shown, Groups):
            shown = replace(shown, names=_level_names(data.y, shown.names))
    return Seen(_columns(data.source, result.features, rows), shown)


def _check_same(result: SelectionResult, source: Source) -> None:
    """Raise unless a table can be that of a selection."""
    asked, n = result.data.n_columns, result.data.n_samples + result.data.n_dropped
    if source.n_features != asked or source.n_samples != n:
        raise InvalidInputError(
            f"X has {source.n_samples} rows and {source.n_features} columns, but the features were "
            f"selected from {n} rows and {asked} columns: pass the table of the fit."
        )


def _level_names(y: Any, codes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of levels that an ordered category gives by their codes."""
    categories = getattr(getattr(y, "dtype", None), "categories", None)
    if categories is None:
        return codes
    return tuple(str(categories[int(code)]) for code in codes)


def _shown(data: Any, kind: str, names: Sequence[str]) -> Target | None:
    """Return the picture's form of a target that was checked."""
    if isinstance(data, Censored):
        return Times(names[0] if names else "time", data.time, data.event)
    if not isinstance(data, Values):
        return None
    q = len(data.raw)
    if len(names) != q:
        names = ("y",) if q == 1 else tuple(f"y{j}" for j in range(q))
    if kind == "labels":
        return Labels(data.raw, tuple(names))
    if data.labels and (kind == "classes" or len(data.labels[0]) <= MOST_GROUPS):
        levels = tuple(label_text(label) for label in data.labels[0])
        codes = data.raw[0]
        if kind == "ordinal":
            codes = np.searchsorted(data.labels[0], codes).astype(np.float64)
        more = f" (first of {q} outputs)" if q > 1 else ""
        return Groups(names[0] + more, codes, levels)
    return Numbers(data.raw, tuple(names))


def _columns(source: Source, features: Sequence[SelectedFeature], rows: Any) -> dict[str, Column]:
    """Read the columns of the selected features, by name."""
    wanted: dict[str, int] = {}
    finder = ColumnFinder(source)
    for feature in features:
        single = len(feature.columns) == 1 and source.name(feature.index) == feature.columns[0]
        for name in feature.columns:
            wanted.setdefault(name, feature.index if single else finder.one("columns", name))
    wanted = dict(list(wanted.items())[:_MOST_COLUMNS])
    if not wanted:
        return {}
    positions = np.array(list(wanted.values()), dtype=np.int64)
    block = _block(source, positions)
    if rows is not None:
        block = block[rows]
    return {
        name: Column(name, values, _labels(source, j))
        for (name, j), values in zip(wanted.items(), block.T, strict=True)
    }


def _block(source: Source, positions: IntArray) -> FloatArray:
    """Read columns in ascending order, each once, as files prefer."""
    distinct, places = np.unique(positions, return_inverse=True)
    return source.block(distinct)[:, places]


def _labels(source: Source, column: int) -> tuple[str, ...] | None:
    if source.kind(column) == "bool":
        return ("false", "true")
    labels = source.categories(column)
    return None if labels is None else tuple(map(label_text, labels))


def groups_of(column: Column, most: int = MOST_GROUPS) -> Groups | None:
    """Return the groups of a column of labels or few numbers; None for other columns.

    Examples
    --------
    >>> groups_of(Column("dose", np.array([0.0, 5.0, 5.0, np.nan]))).codes
    array([ 0.,  1.,  1., nan])
    """
    known = ~np.isnan(column.values)
    distinct, codes = np.unique(column.values[known], return_inverse=True)
    if column.labels is None and distinct.size > _FEW_NUMBERS:
        return None
    of = column.labels
    names = [f"{value:g}" if of is None else of[int(value)] for value in distinct]
    placed = np.full(column.values.size, np.nan)
    placed[known] = codes
    return merged(Groups(column.name, placed, tuple(names)), most)


def merged(groups: Groups, most: int = MOST_GROUPS) -> Groups:
    """Return the largest groups, and the others as one, if there are too many."""
    if len(groups.names) <= most:
        return groups
    known = ~np.isnan(groups.codes)
    counts = np.bincount(groups.codes[known].astype(int), minlength=len(groups.names))
    kept = np.sort(np.argsort(-counts, kind="stable")[: most - 1])
    place = np.full(len(groups.names), float(most - 1))
    place[kept] = np.arange(kept.size)
    codes = groups.codes.copy()
    codes[known] = place[codes[known].astype(int)]
    return Groups(groups.name, codes, (*(groups.names[k] for k in kept), "others"))
