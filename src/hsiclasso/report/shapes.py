"""The shape of each dependence: which picture shows a feature and the target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsiclasso._types import BoolArray, FloatArray
from hsiclasso.report import boxes
from hsiclasso.report.data import Column, Groups, Labels, Numbers, Seen, Target, Times, groups_of
from hsiclasso.report.drawn import Drawn
from hsiclasso.report.lives import draw_lives, draw_lives_of_pair
from hsiclasso.report.pairs import draw_pair
from hsiclasso.report.scatter import draw_scatter
from hsiclasso.report.smoothing import smooth
from hsiclasso.selectors.result import SelectedFeature

__all__ = ["Shape", "draw_shape"]

#: Fewest samples that a picture needs.
_LEAST = 3


@dataclass(frozen=True)
class Shape:
    """A picture of a feature, or why there is none."""

    drawn: Drawn | None
    #: What a reader should know besides.
    note: str = ""


def draw_shape(feature: SelectedFeature, seen: Seen) -> Shape:
    """Draw how the target depends on a feature."""
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
    drawn = _draw_one(columns[0], target) if len(columns) == 1 else _draw_two(columns, target)
    missing = known.size - int(np.count_nonzero(known))
    note = f"Observed on {known.size - missing:,} of {known.size:,} samples." if missing else ""
    return Shape(drawn, note)


def _only(target: Target, rows: BoolArray) -> Target:
    """Return the target on some samples."""
    if isinstance(target, Groups):
        return Groups(target.name, target.codes[rows], target.names)
    if isinstance(target, Times):
        return Times(target.name, target.time[rows], target.event[rows])
    return type(target)(target.values[:, rows], target.names)


def _draw_one(column: Column, target: Target) -> Drawn:
    """Draw the target over one column."""
    groups = groups_of(column)
    if isinstance(target, Times):
        return draw_lives(column, groups, target)
    if isinstance(target, Numbers):
        name, values = _clearest(column, target)
        if groups is None:
            return draw_scatter(column.name, column.values, name, values)
        return boxes.draw_columns(groups, name, values)
    if isinstance(target, Labels):
        return boxes.draw_labels(column, groups, target)
    if groups is None:
        return boxes.draw_rows(column.name, column.values, target)
    return boxes.draw_shares(groups, target)


def _draw_two(columns: list[Column], target: Target) -> Drawn:
    """Draw the target over two columns."""
    if isinstance(target, Times):
        return draw_lives_of_pair(columns, target)
    if isinstance(target, Labels):
        codes = target.values[0]
        target = Groups(target.names[0], codes, (f"not {target.names[0]}", target.names[0]))
    if isinstance(target, Numbers):
        return draw_pair(columns, target.names[0], target.values[0])
    return draw_pair(columns, target.name, target)


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
