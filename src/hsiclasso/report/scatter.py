"""Numbers over numbers: dots, and a smooth curve through them."""

from __future__ import annotations

import numpy as np

from hsiclasso._types import BoolArray, FloatArray
from hsiclasso.plots.smoothing import central_range, smooth, thin
from hsiclasso.report.drawn import Drawn
from hsiclasso.report.svg import Axis, Plot, digit_of, dots, line, number, picture

__all__ = ["axis_of", "draw_scatter"]


def draw_scatter(name: str, x: FloatArray, target: str, y: FloatArray) -> Drawn:
    """Draw a target of numbers over a column of numbers."""
    (left, right), (low, high) = Plot.room()
    plot = Plot(axis_of(x, left, right), axis_of(y, low, high))
    beyond = _beyond(plot.x, x) | _beyond(plot.y, y)
    shown = np.flatnonzero(~beyond)
    shown = shown[thin(shown.size)]
    points, curve = smooth(x, y)
    inside = ~(_beyond(plot.x, points) | _beyond(plot.y, curve))
    words = _words(name, target, points, curve)
    if beyond.any():
        words += f" {np.count_nonzero(beyond)} samples lie beyond the axes."
    parts = [
        plot.frame(name, target),
        dots(plot.x.at(x[shown]), plot.y.at(y[shown]), class_="d q"),
        line(plot.x.at(points), np.where(inside, plot.y.at(curve), np.nan), class_="l c1"),
    ]
    return Drawn(picture(f"{target} over {name}. {words}", parts), words)


def axis_of(values: FloatArray, start: float, end: float) -> Axis:
    """Return an axis for numbers; a few far ones do not make all others small."""
    return Axis.of(np.array(central_range(values)), start, end)


def _beyond(axis: Axis, values: FloatArray) -> BoolArray:
    return np.asarray((values < axis.low) | (values > axis.high))


def _words(name: str, target: str, points: FloatArray, curve: FloatArray) -> str:
    """Say where the curve begins, turns and ends."""
    if not points.size:
        return f"{name} has too few values for a curve."
    middle = int(np.argmin(np.abs(points - 0.5 * (points[0] + points[-1]))))
    step = digit_of(curve)
    first, between, last = (number(float(curve[place]), step) for place in (0, middle, -1))
    return f"On average {target} is {first} at low, {between} at middle and {last} at high values."
