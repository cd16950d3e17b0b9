"""Boxes and dots by group, and shares of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.plots.drawing import shorten
from hsiclasso.plots.shape_data import Shares, Strips
from hsiclasso.plots.smoothing import MOST_DOTS, thin
from hsiclasso.report.drawn import Drawn
from hsiclasso.report.markup import Markup, tag
from hsiclasso.report.scatter import axis_of
from hsiclasso.report.svg import Axis, Plot, digit_of, dots, number, picture

__all__ = ["draw_shares", "draw_strips"]

#: Room for names of groups on the left.
_NAMES = 172
#: Part of a group's place over which its dots are spread.
_SPREAD = 0.62


def draw_strips(shown: Strips) -> Drawn:
    """Draw dots and a box for each group: numbers run across, or up."""
    name, parts, names, other = shown.name, shown.parts, shown.names, shown.other
    across = shown.across
    (left, right), (low, high) = Plot.room(left=_NAMES if across else 100)
    every = np.concatenate(parts)
    if across:
        plot = Plot(axis_of(every, left, right), Axis.naming(names, high, low))
    else:
        plot = Plot(Axis.naming(names, left, right), axis_of(every, low, high))
    values, places = (plot.x, plot.y) if across else (plot.y, plot.x)
    most = max(20, MOST_DOTS // max(1, sum(part.size > 0 for part in parts)))
    step = abs(float(places.at(1) - places.at(0)))
    drawn: list[Markup] = []
    for g, part in enumerate(parts):
        if not part.size:
            continue
        inside = part[(part >= values.low) & (part <= values.high)]
        inside = inside[thin(inside.size, most)]
        beside = _SPREAD * (np.arange(inside.size) * 0.7548776662 % 1 - 0.5)
        at, by = values.at(inside), places.at(g + beside)
        drawn.append(dots(*((at, by) if across else (by, at)), class_=f"d c{g}"))
        box = np.clip(np.quantile(part, [0.05, 0.25, 0.5, 0.75, 0.95]), values.low, values.high)
        middle, half = float(places.at(g)), min(0.3 * step, 26.0)
        drawn.append(_box(values.at(box), middle, half, across=across))
    frame = plot.frame(name, "") if across else plot.frame(other, name)
    words = _medians(name, parts, names)
    return Drawn(picture(f"{name} by {other}. {words}", frame, drawn), words)


def _box(at: FloatArray, middle: float, half: float, *, across: bool) -> Markup:
    """Draw the middle half, the median, and lines to the 5% and 95% quantiles."""
    a, b, c, d, e = (f"{value:.0f}" for value in at)
    m, low, high = (f"{value:.0f}" for value in (middle, middle - half, middle + half))
    if across:
        data = f"M{b} {low}H{d}V{high}H{b}zM{c} {low}V{high}M{a} {m}H{b}M{d} {m}H{e}"
    else:
        data = f"M{low} {b}V{d}H{high}V{b}zM{low} {c}H{high}M{m} {a}V{b}M{m} {d}V{e}"
    return tag("path", class_="b", d=data)


def _medians(name: str, parts: list[FloatArray], names: tuple[str, ...]) -> str:
    """Say the median of each group, or of those that differ most."""
    known = [(float(np.median(p)), n) for p, n in zip(parts, names, strict=True) if p.size]
    known.sort(key=lambda pair: pair[0])
    if len(known) > 3:
        known = [known[0], known[-1]]
    step = digit_of(np.array([median for median, _ in known]))
    each = ", ".join(f"{number(median, step)} for {shorten(group, 24)}" for median, group in known)
    ends = "lowest and highest median" if len(parts) > 3 else "median"
    return f"{ends.capitalize()} of {name}: {each}."


def draw_shares(shown: Shares) -> Drawn:
    """Draw the shares of the classes within each group of the samples, stacked."""
    groups, target, counts = shown.groups, shown.target, shown.counts
    (left, right), (low, high) = Plot.room()
    plot = Plot(Axis.naming(groups.names, left, right), Axis(0.0, 1.08, low, high))
    totals = counts.sum(axis=1)
    tops = np.cumsum(counts / np.maximum(totals, 1)[:, None], axis=1)
    drawn = []
    for g, total in enumerate(totals):
        begin, end = (round(float(plot.x.at(g + side))) for side in (-0.38, 0.38))
        bottom = 0.0
        for c, top in enumerate(tops[g]):
            y, height = _bar(plot.y, bottom, float(top))
            look: dict[str, Any] = {"x": begin, "y": y, "width": end - begin, "height": height}
            drawn.append(tag("rect", class_=f"f c{c}", **look) if height else None)
            bottom = float(top)
        above = round(float(plot.y.at(1.0))) - 6
        look = {"text_anchor": "middle", "x": (begin + end) // 2, "y": above}
        drawn.append(tag("text", f"n={int(total)}", **look))
    told = len(target.names) - 1 if len(target.names) == 2 else 0
    first = counts[:, told] / np.maximum(totals, 1)
    words = f"Share of {shorten(target.names[told], 24)}: " + ", ".join(
        f"{share:.0%} for {shorten(name, 24)}"
        for share, name in zip(first[:4], groups.names, strict=False)
    )
    title = f"Shares of {target.name} by {groups.name}. {words}."
    frame = plot.frame(groups.name, f"share of {target.name}")
    return Drawn(picture(title, frame, drawn), f"{words}.", target.names)


def _bar(axis: Axis, bottom: float, top: float) -> tuple[int, int]:
    """Return where a bar begins from above, and its height."""
    above, below = round(float(axis.at(top))), round(float(axis.at(bottom)))
    return above, below - above
