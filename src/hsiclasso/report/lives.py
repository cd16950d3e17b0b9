"""Survival by a feature: Kaplan-Meier curves of its thirds, or of its labels."""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.plots.drawing import shorten
from hsiclasso.report.boxes import few
from hsiclasso.report.data import Column, Groups, Times, merged
from hsiclasso.report.drawn import Drawn
from hsiclasso.report.markup import Markup, tag
from hsiclasso.report.smoothing import survival_curve
from hsiclasso.report.svg import Axis, Plot, digit_of, dots, number, picture

__all__ = ["draw_lives", "draw_lives_of_pair"]

#: Most curves of a picture, and most steps and marks of censored times of each.
_CURVES, _STEPS, _MARKS = 5, 100, 60
#: The last times are not drawn if they are so much later than the first 95%.
_FAR = 2.0


def draw_lives(column: Column, groups: Groups | None, times: Times) -> Drawn:
    """Draw the survival of the samples by their values of a column."""
    return _curves(_thirds(column) if groups is None else merged(groups, _CURVES), times)


def draw_lives_of_pair(columns: list[Column], times: Times) -> Drawn:
    """Draw the survival of the samples by halves, or labels, of two columns."""
    first, second = (few(column) for column in columns)
    codes = first.codes * len(second.names) + second.codes
    names = tuple(
        f"{shorten(first.name, 14)} {a}, {shorten(second.name, 14)} {b}"
        for a in first.names for b in second.names
    )  # fmt: skip
    return _curves(merged(Groups(f"{first.name} and {second.name}", codes, names), _CURVES), times)


def _thirds(column: Column) -> Groups:
    """Return the thirds of a column of numbers."""
    low, high = np.quantile(column.values, [1 / 3, 2 / 3])
    codes = (column.values > low).astype(np.float64) + (column.values > high)
    step = digit_of(column.values)
    a, b = number(float(low), step), number(float(high), step)
    return Groups(
        column.name, codes, (f"low (up to {a})", f"middle ({a} to {b})", f"high (above {b})")
    )


def _curves(groups: Groups, times: Times) -> Drawn:
    """Draw the curve of each group."""
    (left, right), (low, high) = Plot.room()
    last = _last(times.time)
    plot = Plot(Axis(0.0, 1.02 * last, left, right), Axis(0.0, 1.02, low, high))
    half = float(np.median(times.time))
    parts: list[Markup] = []
    names, said = [], []
    for g, name in enumerate(groups.names):
        own = groups.codes == g
        names.append(f"{name} (n={np.count_nonzero(own)})")
        if not own.any():
            continue
        time, event = times.time[own], times.event[own]
        at, left_over = survival_curve(time, event)
        parts.append(_steps(plot, at, left_over, min(float(time.max()), last), g))
        ended = np.sort(time[(event == 0) & (time <= last)])
        ended = ended[:: max(1, -(-ended.size // _MARKS))]
        share = left_over[np.searchsorted(at, ended, side="right") - 1]
        parts.append(dots(plot.x.at(ended), plot.y.at(share), class_=f"k c{g}"))
        share_then = left_over[np.searchsorted(at, half, side="right") - 1]
        said.append(f"{share_then:.0%} for {shorten(name, 40)}")
    words = f"Without the event at {number(half)}: {', '.join(said)}."
    frame = plot.frame(times.name, "share without the event")
    title = f"Survival by {groups.name}. {words}"
    return Drawn(picture(title, frame, parts), words, tuple(names))


def _last(time: FloatArray) -> float:
    """Return where the curves end: where few samples are left, if the last times are far away."""
    last, most = float(time.max()), float(np.quantile(time, 0.95))
    return most if last > _FAR * most > 0 else last


def _steps(plot: Plot, at: FloatArray, left_over: FloatArray, end: float, colour: int) -> Markup:
    """Draw a curve of steps up to the last time."""
    # of many steps those at evenly spaced times: the others could not be seen
    seen = np.searchsorted(at, np.linspace(0.0, end, _STEPS), side="right") - 1
    shown = np.unique(seen) if at.size > _STEPS else np.flatnonzero(at <= end)
    x, y = plot.x.at(at[shown]), plot.y.at(left_over[shown])
    steps = "".join(f"H{a:.0f}V{b:.0f}" for a, b in zip(x[1:], y[1:], strict=True))
    data = f"M{x[0]:.0f} {y[0]:.0f}{steps}H{plot.x.at(end):.0f}"
    return tag("path", class_=f"l c{colour} h{colour}", d=data)
