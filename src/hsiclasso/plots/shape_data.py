"""What a picture of one dependence shows: chosen here once, drawn by figures and by reports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsiclasso._types import BoolArray, FloatArray
from hsiclasso.plots.drawing import digit_of, number, shorten
from hsiclasso.plots.seen import (
    Column,
    Groups,
    Labels,
    Numbers,
    Seen,
    Target,
    Times,
    groups_of,
    merged,
)
from hsiclasso.plots.smoothing import smooth
from hsiclasso.selectors.result import SelectedFeature

__all__ = ["Lives", "Over", "Scatter", "Shape", "Shares", "Strips", "few", "shape_of"]

#: Fewest samples that a picture needs.
_LEAST = 3
#: Most groups whose names have room beside each other, most curves of survival, and most labels.
_ABREAST, _CURVES, _LABELS = 5, 5, 8


@dataclass(frozen=True)
class Scatter:
    """Numbers of a target over numbers of a feature."""

    name: str
    x: FloatArray
    target: str
    y: FloatArray


@dataclass(frozen=True)
class Strips:
    """Numbers in groups: dots and a box for each group."""

    #: What the numbers are.
    name: str
    parts: list[FloatArray]
    #: Names of the groups, and what they are groups of.
    names: tuple[str, ...]
    other: str
    #: Whether numbers run across, so that names of groups have room.
    across: bool


@dataclass(frozen=True)
class Shares:
    """Shares of the classes of a target within groups of the samples."""

    groups: Groups
    target: Groups

    @property
    def counts(self) -> FloatArray:
        """Number of samples of each group (rows) and class (columns)."""
        cells = [
            [
                np.count_nonzero((self.groups.codes == g) & (self.target.codes == c))
                for c in range(len(self.target.names))
            ]
            for g in range(len(self.groups.names))
        ]
        return np.array(cells, dtype=np.float64)


@dataclass(frozen=True)
class Lives:
    """Survival of groups of the samples."""

    groups: Groups
    times: Times


@dataclass(frozen=True)
class Over:
    """A target over two features."""

    columns: list[Column]
    target: Groups | Numbers


Drawable = Scatter | Strips | Shares | Lives | Over


@dataclass(frozen=True)
class Shape:
    """What a picture of a feature shows, or why there is none."""

    shown: Drawable | None
    #: What a reader should know besides.
    note: str = ""


def shape_of(feature: SelectedFeature, seen: Seen) -> Shape:
    """Return what shows how the target depends on a feature."""
    if seen.target is None:
        return Shape(None, "This kind of target compares pairs of samples, and has no picture.")
    columns = [seen.columns[name] for name in feature.columns if name in seen.columns]
    if len(columns) < len(feature.columns):
        return Shape(None, "Pictures are drawn of the first 120 columns only.")
    if len(columns) > 2:
        return Shape(None, f"It consists of {len(columns)} columns, and has no picture.")
    known = np.asarray(~np.isnan([column.values for column in columns]).any(axis=0))
    if np.count_nonzero(known) < _LEAST:
        return Shape(None, "Fewer than three samples have a value.")
    columns = [Column(one.name, one.values[known], one.labels) for one in columns]
    target = _only(seen.target, known)
    shown = _of_one(columns[0], target) if len(columns) == 1 else _of_two(columns, target)
    missing = known.size - int(np.count_nonzero(known))
    note = f"Observed on {known.size - missing:,} of {known.size:,} samples." if missing else ""
    return Shape(shown, note)


def _only(target: Target, rows: BoolArray) -> Target:
    """Return the target on some samples."""
    if isinstance(target, Groups):
        return Groups(target.name, target.codes[rows], target.names)
    if isinstance(target, Times):
        return Times(target.name, target.time[rows], target.event[rows])
    return type(target)(target.values[:, rows], target.names)


def _of_one(column: Column, target: Target) -> Drawable:
    """Return what shows the target over one column."""
    groups = groups_of(column)
    if isinstance(target, Times):
        return Lives(_thirds(column) if groups is None else merged(groups, _CURVES), target)
    if isinstance(target, Numbers):
        name, values = _clearest(column, target)
        if groups is None:
            return Scatter(column.name, column.values, name, values)
        across = len(groups.names) > _ABREAST
        return Strips(name, _parts(values, groups), groups.names, groups.name, across)
    if isinstance(target, Labels):
        return _of_labels(column, groups, target)
    if groups is None:
        target = merged(target)
        return Strips(column.name, _parts(column.values, target), target.names, "class", True)
    return Shares(merged(groups, _ABREAST + 1), merged(target))


def _parts(values: FloatArray, groups: Groups) -> list[FloatArray]:
    return [values[groups.codes == g] for g in range(len(groups.names))]


def _of_labels(column: Column, groups: Groups | None, target: Labels) -> Drawable:
    """Return the samples that have each label; of groups, those of the label that differs most."""
    rows = np.argsort(-target.values.sum(axis=1), kind="stable")[:_LABELS]
    names = tuple(target.names[k] for k in rows)
    have = [target.values[k] > 0 for k in rows]
    if groups is None:
        return Strips(column.name, [column.values[one] for one in have], names, "label", True)
    shares = [[np.mean(one[groups.codes == g]) for g in range(len(groups.names))] for one in have]
    best = int(np.argmax(np.ptp(shares, axis=1)))
    has = Groups(names[best], have[best].astype(float), (f"not {names[best]}", names[best]))
    return Shares(merged(groups, _ABREAST + 1), has)


def _of_two(columns: list[Column], target: Target) -> Drawable:
    """Return what shows the target over two columns."""
    if isinstance(target, Times):
        return Lives(_both(columns), target)
    if isinstance(target, Labels):
        codes = target.values[0]
        return Over(columns, Groups(target.names[0], codes, (f"not {target.names[0]}",
                                                             target.names[0])))  # fmt: skip
    if isinstance(target, Numbers):
        return Over(columns, Numbers(target.values[:1], target.names[:1]))
    return Over(columns, target)


def _clearest(column: Column, target: Numbers) -> tuple[str, FloatArray]:
    """Return the output that a smooth curve over the column explains best."""
    if len(target.names) == 1:
        return target.names[0], target.values[0]
    explained = []
    for values in target.values:
        points, curve = smooth(column.values, values)
        total = float(np.var(values))
        explained.append(float(np.var(curve)) / total if points.size and total > 0 else 0.0)
    best = int(np.argmax(explained))
    return target.names[best], target.values[best]


def _thirds(column: Column) -> Groups:
    """Return the thirds of a column of numbers."""
    low, high = np.quantile(column.values, [1 / 3, 2 / 3])
    codes = (column.values > low).astype(np.float64) + (column.values > high)
    step = digit_of(column.values)
    a, b = number(float(low), step), number(float(high), step)
    return Groups(
        column.name, codes, (f"low (up to {a})", f"middle ({a} to {b})", f"high (above {b})")
    )


def _both(columns: list[Column]) -> Groups:
    """Return the halves, or labels, of two columns together."""
    first, second = (few(column) for column in columns)
    codes = first.codes * len(second.names) + second.codes
    names = tuple(
        f"{shorten(first.name, 14)} {a}, {shorten(second.name, 14)} {b}"
        for a in first.names for b in second.names
    )  # fmt: skip
    return merged(Groups(f"{first.name} and {second.name}", codes, names), _CURVES)


def few(column: Column) -> Groups:
    """Return the groups of a column: its labels or values, or halves of its numbers."""
    found = groups_of(column, 4)
    if found is not None:
        return found
    middle = float(np.median(column.values))
    codes = (column.values > middle).astype(np.float64)
    cut = number(middle, digit_of(column.values))
    return Groups(column.name, codes, (f"up to {cut}", f"above {cut}"))
