"""The shape of each dependence in the data: what the target looks like over a feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hsiclasso._checks import is_number
from hsiclasso.data import as_dataset
from hsiclasso.errors import InvalidInputError
from hsiclasso.plots import drawing
from hsiclasso.plots.drawing import BAR, INK, LINES, SMALL, TEXT
from hsiclasso.plots.pairs import plot_pair
from hsiclasso.plots.seen import Seen, read_data
from hsiclasso.plots.shape_data import Lives, Over, Scatter, Shares, Strips, shape_of
from hsiclasso.plots.smoothing import (
    MOST_DOTS,
    central_range,
    last_time,
    smooth,
    survival_curve,
    thin,
)
from hsiclasso.selectors import SelectionResult
from hsiclasso.selectors.columns import close_matches
from hsiclasso.selectors.result import SelectedFeature

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_shape", "plot_shapes"]

#: Panels of a row, the most that are drawn, and the size of one in inches.
_ACROSS, _MOST, _PANEL = 4, 20, (3.6, 2.9)
#: Part of a group's place over which its dots are spread, and the step from one dot to the next.
_SPREAD, _STEP = 0.62, 0.7548776662
#: Styles of lines, so that curves can be told apart without colours.
_STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))


def plot_shapes(
    result: SelectionResult, X: Any, y: Any = None, *, target: Sequence[str] = ()
) -> Figure:
    """Draw how the target depends on each selected feature, a panel for each of the first 20.

    Parameters
    ----------
    result : SelectionResult
        ``selector.result_``.
    X, y : table and target
        Those of the fit.
    target : sequence of str, default=()
        Names of the columns of the target.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from hsiclasso import HSICLasso, make_data1
    >>> X, y, causal = make_data1(100, 20, random_state=0)
    >>> result = HSICLasso(4).fit(X, y).result_
    >>> [ax.get_xlabel() for ax in plot_shapes(result, X, y).axes] == list(result.names)
    True
    """
    seen = read_data(result, X, y, target)
    drawn = result.features[:_MOST]
    across = min(_ACROSS, max(len(drawn), 1))
    down = -(-max(len(drawn), 1) // across)
    figure = drawing.new_figure((_PANEL[0] * across, _PANEL[1] * down + 0.4))
    panels = np.ravel(figure.subplots(down, across, squeeze=False))
    for ax, feature in zip(panels, drawn, strict=False):
        _draw(ax, feature, seen, (X, y, result.method.target, target or result.data.target))
    if not drawn:
        drawing.empty(panels[0])
    for ax in panels[max(len(drawn), 1) :]:
        ax.remove()
    more = len(result.features) - len(drawn)
    drawing.title(
        figure, "How the target depends on each feature" + (f" ({more} more)" if more else "")
    )
    return figure


def plot_shape(
    result: SelectionResult, X: Any, y: Any = None, feature: str | int = 0, *,
    target: Sequence[str] = (), ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Draw how the target depends on one selected feature.

    Numbers over numbers are dots and a smooth curve; numbers and classes are dots and boxes;
    classes and groups are stacked shares; survival is a Kaplan-Meier curve for each third, or
    value, of the feature. Pairs are drawn as by `plot_pair`.

    Parameters
    ----------
    result : SelectionResult
        ``selector.result_``.
    X, y : table and target
        Those of the fit.
    feature : str or int, default=0
        Name of a selected feature, or its place among them: 0 is the heaviest.
    target : sequence of str, default=()
        Names of the columns of the target.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from hsiclasso import HSICLasso, make_data1
    >>> X, y, causal = make_data1(100, 20, random_state=0)
    >>> result = HSICLasso(4).fit(X, y).result_
    >>> plot_shape(result, X, y, target=["risk"]).get_ylabel()
    'risk'
    """
    chosen = _find(result, feature)
    seen = read_data(result, X, y, target)
    if ax is None:
        ax = drawing.new_figure((5.2, 4.2)).add_subplot()
    return _draw(ax, chosen, seen, (X, y, result.method.target, target or result.data.target))


def _find(result: SelectionResult, feature: str | int) -> SelectedFeature:
    """Return one of the selected features."""
    number = len(result.features)
    if isinstance(feature, str):
        if feature not in result.names:
            raise InvalidInputError(
                f"feature={feature!r} was not selected: {close_matches(feature, result.names)}"
            )
        return result.features[result.names.index(feature)]
    if not is_number(feature) or int(feature) != feature or not 0 <= feature < number:
        raise InvalidInputError(
            f"feature={feature!r} must be the name of a selected feature, or its place among the "
            f"{number} that were selected, from 0."
        )
    return result.features[int(feature)]


def _draw(
    ax: Axes, feature: SelectedFeature, seen: Seen, asked: tuple[Any, Any, str, Sequence[str]]
) -> Axes:
    """Draw one feature."""
    shape = shape_of(feature, seen)
    shown = shape.shown
    if isinstance(shown, Over):
        X, y, kind, names = asked
        data = as_dataset(X, y)
        data = replace(data, target=tuple(names) or data.target)
        plot_pair(data, None, feature.columns, target=_without_gaps(kind), ax=ax)
        return ax
    drawing.tidy(ax, "")
    if isinstance(shown, Scatter):
        _scatter(ax, shown)
    elif isinstance(shown, Strips):
        _strips(ax, shown)
    elif isinstance(shown, Shares):
        _shares(ax, shown)
    elif isinstance(shown, Lives):
        _lives(ax, shown)
    else:
        drawing.empty(ax, shape.note)
    if shown is not None and shape.note:
        ax.set_title(shape.note, fontsize=SMALL, color=INK, loc="left")
    if not ax.get_xlabel():
        _name(ax, feature.name)
    return ax


def _without_gaps(kind: str) -> Any:
    """Return a kind of target that leaves out samples without a target."""
    from hsiclasso.targets import as_target

    return as_target(kind).set_params(missing="drop")


def _name(ax: Axes, across: str, up: str = "") -> None:
    """Name the axes."""
    look: dict[str, Any] = {"fontsize": TEXT, "color": INK, "parse_math": False}
    ax.set_xlabel(drawing.shorten(across), **look)
    ax.set_ylabel(drawing.shorten(up), **look)


def _scatter(ax: Axes, shown: Scatter) -> None:
    """Draw dots, and a smooth curve through them."""
    limits = [central_range(values) for values in (shown.x, shown.y)]
    inside = np.ones(shown.x.size, dtype=bool)
    for values, (low, high) in zip((shown.x, shown.y), limits, strict=True):
        inside &= (values >= low) & (values <= high)
    some = np.flatnonzero(inside)
    some = some[thin(some.size)]
    look: dict[str, Any] = {"s": 14, "color": BAR, "alpha": 0.5, "linewidths": 0, "zorder": 2}
    ax.scatter(shown.x[some], shown.y[some], **look)
    points, curve = smooth(shown.x, shown.y)
    ax.plot(points, curve, color=LINES[1], linewidth=2.0, zorder=3)
    ax.set_xlim(_with_margin(*limits[0]))
    ax.set_ylim(_with_margin(*limits[1]))
    _name(ax, shown.name, shown.target)
    drawing.few_ticks(ax.xaxis, 4)
    drawing.few_ticks(ax.yaxis, 4)
    if beyond := int(np.count_nonzero(~inside)):
        ax.set_title(f"{beyond} samples lie beyond the axes", fontsize=SMALL, color=INK, loc="left")


def _with_margin(low: float, high: float) -> tuple[float, float]:
    gap = 0.04 * (high - low) or 1.0
    return low - gap, high + gap


def _strips(ax: Axes, shown: Strips) -> None:
    """Draw dots and a box for each group."""
    every = np.concatenate(shown.parts)
    low, high = central_range(every)
    most = max(20, MOST_DOTS // max(1, sum(part.size > 0 for part in shown.parts)))
    for place, part in enumerate(shown.parts):
        values = part[(part >= low) & (part <= high)]
        values = values[thin(values.size, most)]
        beside = place + _SPREAD * (np.arange(values.size) * _STEP % 1 - 0.5)
        colour = LINES[place % len(LINES)]
        x, y = (values, beside) if shown.across else (beside, values)
        ax.scatter(x, y, s=10, color=colour, alpha=0.45, linewidths=0, zorder=2)
    _boxes(ax, shown)
    places, number = np.arange(len(shown.names)), len(shown.names)
    labels = [drawing.shorten(name, 16) for name in shown.names]
    if shown.across:
        ax.set_yticks(places, labels=labels, fontsize=SMALL, parse_math=False)
        ax.set_ylim(number - 0.4, -0.6)
        ax.set_xlim(_with_margin(low, high))
        drawing.few_ticks(ax.xaxis, 4)
        _name(ax, shown.name, "" if shown.other in ("class", "label") else shown.other)
    else:
        ax.set_xticks(places, labels=labels, fontsize=SMALL, parse_math=False)
        ax.set_xlim(-0.6, number - 0.4)
        ax.set_ylim(_with_margin(low, high))
        drawing.few_ticks(ax.yaxis, 4)
        _name(ax, shown.other, shown.name)
    ax.tick_params(axis="y" if shown.across else "x", length=0)
    ax.grid(axis="y" if shown.across else "x", visible=False)


def _boxes(ax: Axes, shown: Strips) -> None:
    """Draw the middle half and the median of each group, and lines to the 5% and 95% quantiles."""
    ink: dict[str, Any] = {"color": INK, "linewidth": 1.3}
    kept = [place for place, part in enumerate(shown.parts) if part.size]
    stats = [
        dict(zip(("whislo", "q1", "med", "q3", "whishi"),
                 np.quantile(shown.parts[place], [0.05, 0.25, 0.5, 0.75, 0.95]), strict=True))
        for place in kept
    ]  # fmt: skip
    look = {f"{part}props": ink for part in ("box", "median", "whisker")}
    direction = "horizontal" if shown.across else "vertical"
    drawn = {"positions": kept, "widths": 0.5, "showfliers": False, "showcaps": False}
    if stats:
        _bxp(ax, stats, direction, drawn | look | {"manage_ticks": False, "zorder": 3})


def _bxp(ax: Any, stats: list[Any], direction: str, look: dict[str, Any]) -> None:
    """Draw boxes with the name that this version of matplotlib has for their direction."""
    try:
        ax.bxp(stats, orientation=direction, **look)
    except TypeError:  # before 3.10
        ax.bxp(stats, vert=direction == "vertical", **look)


def _shares(ax: Axes, shown: Shares) -> None:
    """Draw the shares of the classes within each group, stacked."""
    counts = shown.counts
    totals = counts.sum(axis=1)
    shares = counts / np.maximum(totals, 1)[:, None]
    places, bottom = np.arange(len(totals)), np.zeros(len(totals))
    for c, name in enumerate(shown.target.names):
        look: dict[str, Any] = {"color": LINES[c % len(LINES)], "label": drawing.shorten(name, 20)}
        ax.bar(places, shares[:, c], 0.76, bottom=bottom, edgecolor="white", zorder=2, **look)
        bottom = bottom + shares[:, c]
    for place, total in zip(places, totals, strict=True):
        ax.text(float(place), 1.01, f"n={int(total)}", ha="center", va="bottom", fontsize=SMALL - 1)
    labels = [drawing.shorten(name, 12) for name in shown.groups.names]
    ax.set_xticks(places, labels=labels, fontsize=SMALL, parse_math=False)
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="x", visible=False)
    ax.set_ylim(0, 1.1)
    ax.set_yticks([0, 0.5, 1], labels=["0%", "50%", "100%"])
    _name(ax, shown.groups.name, f"share of {shown.target.name}")
    _legend(ax)


def _lives(ax: Axes, shown: Lives) -> None:
    """Draw the survival of each group."""
    groups, times = shown.groups, shown.times
    last = last_time(times.time)
    for g, name in enumerate(groups.names):
        own = groups.codes == g
        if not own.any():
            continue
        time, event = times.time[own], times.event[own]
        at, left = survival_curve(time, event)
        end = min(float(time.max()), last)
        colour, label = LINES[g % len(LINES)], f"{drawing.shorten(name, 30)}, n={own.sum()}"
        look: dict[str, Any] = {"color": colour, "linestyle": _STYLES[g % len(_STYLES)]}
        ax.step(np.append(at, end), np.append(left, left[-1]), where="post", label=label, **look)
        ended = np.sort(time[(event == 0) & (time <= last)])
        share = left[np.searchsorted(at, ended, side="right") - 1]
        ax.plot(ended, share, "|", color=colour, markersize=5)
    ax.set_xlim(0, 1.02 * last)
    ax.set_ylim(0, 1.02)
    drawing.few_ticks(ax.xaxis, 4)
    drawing.few_ticks(ax.yaxis, 4)
    _name(ax, times.name, "without the event")
    _legend(ax, groups.name)


def _legend(ax: Axes, title: str | None = None) -> None:
    """Explain colours above the axes, or with a title at the top right."""
    look: dict[str, Any] = {"frameon": False, "fontsize": SMALL - 1, "labelcolor": INK}
    if title is None:
        look |= {"loc": "lower left", "bbox_to_anchor": (0, 1), "handlelength": 1.2}
        look["ncols"] = min(len(ax.get_legend_handles_labels()[1]), 3)
    else:  # curves that fall leave room at the top right
        look |= {"loc": "upper right", "title": drawing.shorten(title, 40)}
    legend = ax.legend(title_fontsize=SMALL, **look)
    for text in (*legend.get_texts(), legend.get_title()):
        text.set_parse_math(False)
