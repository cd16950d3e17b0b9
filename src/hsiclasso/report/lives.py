"""Survival by a feature: Kaplan-Meier curves of its thirds, or of its labels."""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.plots.drawing import shorten
from hsiclasso.plots.seen import Groups, Times
from hsiclasso.plots.smoothing import last_time, survival_curve
from hsiclasso.report.drawn import Drawn
from hsiclasso.report.markup import Markup, tag
from hsiclasso.report.svg import Axis, Plot, dots, number, picture

__all__ = ["draw_lives"]

#: Most steps of a curve, and most marks of censored times.
_STEPS, _MARKS = 100, 60


def draw_lives(groups: Groups, times: Times) -> Drawn:
    """Draw the survival of each group of the samples."""
    (left, right), (low, high) = Plot.room()
    last = last_time(times.time)
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


def _steps(plot: Plot, at: FloatArray, left_over: FloatArray, end: float, colour: int) -> Markup:
    """Draw a curve of steps up to the last time."""
    # of many steps those at evenly spaced times: the others could not be seen
    seen = np.searchsorted(at, np.linspace(0.0, end, _STEPS), side="right") - 1
    shown = np.unique(seen) if at.size > _STEPS else np.flatnonzero(at <= end)
    x, y = plot.x.at(at[shown]), plot.y.at(left_over[shown])
    steps = "".join(f"H{a:.0f}V{b:.0f}" for a, b in zip(x[1:], y[1:], strict=True))
    data = f"M{x[0]:.0f} {y[0]:.0f}{steps}H{plot.x.at(end):.0f}"
    return tag("path", class_=f"l c{colour} h{colour}", d=data)
