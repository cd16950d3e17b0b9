"""The path: how the weights grow as the penalty falls."""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.plots.drawing import shorten, spread_apart
from hsiclasso.plots.path import path_curves
from hsiclasso.report.markup import Markup, tag
from hsiclasso.report.svg import Axis, Plot, line, number, picture
from hsiclasso.selectors.result import SelectionResult

__all__ = ["draw_path"]

#: Width of the picture, room for names at the right end, and most names there.
_WIDE, _ROOM, _NAMED = 960, 190, 12
#: Most lines of selected features, of others, and points of a line.
_LINES, _OTHERS, _POINTS = 100, 60, 110
#: Colours there are, and the smallest distance between two names.
_COLOURS, _GAP = 10, 18.0


def draw_path(result: SelectionResult) -> Markup | None:
    """Draw the weights against the penalty, which falls from left to right."""
    path = result.path
    if path.entered.size == 0 or not path.alphas[0] > path.alphas[-1]:
        return None  # nothing joined, or all features are kept, without a penalty
    alphas, weights = path_curves(path)
    keep = np.unique(np.linspace(0, alphas.size - 1, _POINTS).astype(int))
    alphas = alphas[keep]
    (left, _), (low, high) = Plot.room()
    curves = {k: curve[keep] for k, curve in weights.items()}
    shown = {f.index: place for place, f in enumerate(result.features[:_LINES])}
    every = np.concatenate([np.zeros(1), *curves.values()])
    across = Axis(float(alphas[0]), float(alphas[-1]), left, _WIDE - _ROOM, log=True)
    plot = Plot(across, Axis.of(every, low, high))
    others = [k for k in curves if k not in shown][:_OTHERS]
    x = plot.x.at(alphas)
    parts = [_line(plot, x, curves[k], "l z") for k in others]
    named = [f for f in result.features[:_NAMED] if f.index in curves]
    for feature in result.features[:_LINES]:
        place = shown[feature.index]
        if feature.index in curves:
            colour = f"c{place % _COLOURS}" if place < _NAMED else "c0 t"
            parts.append(_line(plot, x, curves[feature.index], f"l {colour}", place))
    ends = [float(plot.y.at(curves[f.index][-1])) for f in named]
    labels = [(f.name, shown[f.index]) for f in named]
    parts += _names(labels, ends, _WIDE - _ROOM, (high, low))
    title = (
        f"Path of the weights. The penalty falls from {number(float(alphas[0]))} to "
        f"{number(float(alphas[-1]))}; {result.features[0].name if result.features else 'none'} "
        "has the largest weight at its end."
    )
    frame = plot.frame("penalty, falling", "weight")
    return picture(title, frame, parts, width=_WIDE)


def _line(
    plot: Plot, x: FloatArray, curve: FloatArray, look: str, place: int | None = None
) -> Markup:
    """Draw the weight of a feature where it is not 0."""
    size = np.abs(curve)
    beside = np.maximum(np.append(size[1:], 0.0), np.append(0.0, size[:-1]))
    y = np.where((size > 0) | (beside > 0), plot.y.at(curve), np.nan)
    return line(x, y, class_=look, data_f=place)


def _names(
    labels: list[tuple[str, int]], ends: list[float], at: float, room: tuple[float, float]
) -> list[Markup]:
    """Write names at the ends of lines, moved apart."""
    if not labels:
        return []
    top, bottom = room
    shares = (np.array(ends) - top) / (bottom - top)
    heights = top + (bottom - top) * spread_apart(shares, _GAP / (bottom - top))
    made = []
    for (name, place), end, height in zip(labels, ends, heights.tolist(), strict=True):
        lead = f"M{at + 3:.0f} {end:.0f}L{at + 18:.0f} {height:.0f}"
        colour = f"c{place % _COLOURS}"
        text = tag("text", shorten(name, 20), x=round(at + 24), y=round(height + 5))
        made.append(tag("g", tag("path", class_=f"e {colour}", d=lead), text, data_f=place))
    return made
