"""The target over two features: what a pair says jointly."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from hsiclasso._types import BoolArray, FloatArray
from hsiclasso.plots.drawing import shorten
from hsiclasso.plots.seen import Column, Groups, groups_of, merged
from hsiclasso.plots.shape_data import few
from hsiclasso.plots.smoothing import thin
from hsiclasso.report.drawn import Drawn
from hsiclasso.report.markup import Markup
from hsiclasso.report.scatter import axis_of
from hsiclasso.report.svg import Axis, Plot, digit_of, dots, number, picture

__all__ = ["draw_pair"]

#: Shades of a target of numbers, small to large.
_SHADES = 5
#: How far the samples of one value are spread.
_SPREAD = 0.6


def draw_pair(columns: list[Column], name: str, target: Groups | FloatArray) -> Drawn:
    """Draw each sample at its two values, in the colour of its target."""
    groups, colours = (
        (merged(target), "c") if isinstance(target, Groups) else (_shades(target), "s")
    )
    (left, right), (low, high) = Plot.room()
    some = thin(columns[0].values.size)
    (x, across), (y, up) = (
        _side(column, *ends, step)
        for column, ends, step in zip(
            columns, ((left, right), (low, high)), (0.7548776662, 0.5698402910), strict=True
        )
    )
    plot, parts = Plot(x, y), []
    across, up = x.at(across), y.at(up)
    for g in range(len(groups.names)):
        own = some[groups.codes[some] == g]
        parts.append(dots(across[own], up[own], class_=f"d {colours}{g}"))
    words = _words(columns, name, target)
    frame = plot.frame(columns[0].name, columns[1].name)
    title = f"{name} over {columns[0].name} and {columns[1].name}. {words}"
    return Drawn(picture(title, frame, parts), words, groups.names, colours)


def _shades(values: FloatArray) -> Groups:
    """Cut a target of numbers into parts of about the same number of samples."""
    cuts = np.unique(np.quantile(values, np.linspace(0, 1, _SHADES + 1)[1:-1]))
    codes = np.searchsorted(cuts, values, side="left").astype(np.float64)
    ends = [number(float(cut), digit_of(cuts)) for cut in cuts]
    between = [f"{a} to {b}" for a, b in pairwise(ends)]
    return Groups("", codes, (f"up to {ends[0]}", *between, f"above {ends[-1]}"))


def _side(column: Column, start: float, end: float, step: float) -> tuple[Axis, FloatArray]:
    """Return an axis and the places of samples on it; those of one value are spread."""
    groups = groups_of(column)
    if groups is None:
        axis = axis_of(column.values, start, end)
        return axis, np.clip(column.values, axis.low, axis.high)
    beside = _SPREAD * (np.arange(column.values.size) * step % 1 - 0.5)
    return Axis.naming(groups.names, start, end), groups.codes + beside


def _words(columns: list[Column], name: str, target: Groups | FloatArray) -> str:
    """Say the mean, or the most frequent class, in each quarter."""
    first, second = (few(column) for column in columns)
    said: list[str | Markup] = []
    for a, one in enumerate(first.names):
        for b, other in enumerate(second.names):
            own = (first.codes == a) & (second.codes == b)
            if own.any() and len(said) < 4:
                where = f"{shorten(first.name, 16)} {one}, {shorten(second.name, 16)} {other}"
                said.append(f"{_usual(target, own)} ({where})")
    what = f"Most frequent {name}" if isinstance(target, Groups) else f"Mean of {name}"
    return f"{what}: {'; '.join(said)}."


def _usual(target: Groups | FloatArray, own: BoolArray) -> str:
    if not isinstance(target, Groups):
        return number(float(target[own].mean()), digit_of(target))
    counts = np.bincount(target.codes[own].astype(int), minlength=len(target.names))
    best = int(np.argmax(counts))
    return f"{shorten(target.names[best], 20)} {counts[best] / counts.sum():.0%}"
