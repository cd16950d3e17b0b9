"""Figures of a selection, its path, and of selections compared (needs the extra ``plots``).

Figures are objects of their own: nothing here touches pyplot or any other global state.
"""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.data.atomic import write_atomically
from hsiclasso.errors import InvalidInputError, require
from hsiclasso.selectors import SelectionResult
from hsiclasso.solvers import Path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = ["FIGURE_SUFFIXES", "plot_comparison", "plot_path", "plot_selection", "save_figure"]

#: Formats of `save_figure`.
FIGURE_SUFFIXES = (".png", ".svg", ".pdf")

# Okabe and Ito's colours, which colour-blind readers can tell apart, and two more dark ones.
_BAR, _DOT = "#0072B2", "#D55E00"
_LINES = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9",
    "#E69F00", "#332288", "#882255", "#44AA99", "#000000",
)  # fmt: skip
_QUIET, _RULE, _INK, _MARK = "#C4C4C4", "#E6E6E6", "#333333", "#F6E7B8"
_TEXT, _SMALL = 10, 9
#: Rows from which on bars are set closer, and the fewest rows that are given room.
_MANY, _FEW = 25, 8


def plot_selection(result: SelectionResult, ax: Axes | None = None) -> Axes:
    """Draw the weights as bars, heaviest on top, and the relevances as dots.

    Parameters
    ----------
    result : SelectionResult
        ``selector.result_``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if absent. Dots go to a second axis along its top.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the bars; ``ax.figure`` is the figure.

    Examples
    --------
    >>> from hsiclasso import HSICLasso, make_data1
    >>> X, y, causal = make_data1(100, 20, random_state=0)
    >>> result = HSICLasso(4).fit(X, y).result_
    >>> ax = plot_selection(result)
    >>> [label.get_text() for label in ax.get_yticklabels()] == list(result.names)
    True
    """
    k = len(result.features)
    if ax is None:
        ax = _new_figure((7.0, _height(k))).add_subplot()
    _tidy(ax, "weight")
    if k == 0:
        return _empty(ax)
    weights = [feature.weight for feature in result.features]
    rows = np.arange(k)
    ax.barh(rows, weights, height=0.66, color=_BAR, zorder=2)
    _name_rows(ax, result.names)
    ax.set_ylim(max(k, _FEW) - 0.4, -0.6)
    ax.set_xlim(_limits(weights))
    ax.xaxis.label.set_color(_BAR)
    _dots(ax, rows, [feature.relevance for feature in result.features])
    return ax


def plot_comparison(
    results: Mapping[str, SelectionResult],
    marked: Collection[str] = (),
    ax: Axes | None = None,
    *,
    marked_label: str = "marked",
) -> Axes:
    """Draw the weights of several selections side by side, feature by feature.

    Features are matched by name. Those of the first selection come first, heaviest on top, then
    those that only a later one selects; a missing bar is a feature that was not selected.

    Parameters
    ----------
    results : mapping of str to SelectionResult
        Selections by the names under which they appear in the legend.
    marked : collection of str
        Names of features to mark, by a band and a bold name; names that no selection has are
        passed over.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if absent. The legend goes above it.
    marked_label : str
        What the mark means, for the legend.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from hsiclasso import HSICLasso, make_data1
    >>> X, y, causal = make_data1(100, 20, random_state=0)
    >>> few, more = (HSICLasso(k).fit(X, y).result_ for k in (2, 4))
    >>> ax = plot_comparison({"two": few, "four": more})
    >>> [label.get_text() for label in ax.get_yticklabels()][:2] == list(few.names)
    True
    """
    if not results:
        raise InvalidInputError("results is empty: pass one or more selections by name.")
    if isinstance(marked, str):
        raise InvalidInputError(f"marked={marked!r} is one text: pass a list of feature names.")
    names = list(dict.fromkeys(name for result in results.values() for name in result.names))
    if ax is None:
        ax = _new_figure((7.0, _comparison_height(len(names), len(results)))).add_subplot()
    _tidy(ax, "weight")
    if not names:
        return _empty(ax)
    bars = _bars_beside(ax, names, results)
    bands = _bands(ax, [row for row, name in enumerate(names) if name in marked], marked_label)
    _name_rows(ax, names, marked)
    ax.set_ylim(max(len(names), _FEW) - 0.4, -0.6)
    ax.set_xlim(_limits([f.weight for result in results.values() for f in result.features]))
    ax.legend(
        handles=[*bars, *bands[:1]],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        frameon=False,
        fontsize=_TEXT,
        labelcolor=_INK,
    )
    return ax


def plot_path(
    path: Path,
    names: Mapping[int, str] | Sequence[str] | None = None,
    ax: Axes | None = None,
    max_labels: int = 10,
) -> Axes:
    """Draw the weights against the penalty, which falls from left to right.

    Parameters
    ----------
    path : Path
        ``selector.path_``.
    names : sequence or mapping of int to str, optional
        Names of the columns; ``x0, x1, ...`` where there is none.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if absent.
    max_labels : int
        The heaviest features of the solution get a colour and a label, up to this many; all
        others are grey.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from hsiclasso import HSICLasso, make_data1
    >>> X, y, causal = make_data1(100, 20, random_state=0)
    >>> ax = plot_path(HSICLasso(4).fit(X, y).path_)
    >>> len(ax.lines)
    4
    """
    if ax is None:
        ax = _new_figure((7.5, _height(0))).add_subplot()
    _tidy(ax, "penalty, decreasing")
    ax.set_ylabel("weight", fontsize=_TEXT, color=_INK)
    if path.entered.size == 0:
        return _empty(ax)
    alphas, weights = _curves(path)
    solution = path.breakpoints[-1]
    order = np.lexsort((solution.indices, -np.abs(solution.weights)))
    labelled = solution.indices[order][:max_labels].tolist()
    for k in path.entered.tolist():
        if k not in labelled:
            ax.plot(alphas, _present(weights[k]), color=_QUIET, linewidth=1.0, zorder=2)
    for rank, k in enumerate(labelled):
        color = _LINES[rank % len(_LINES)]
        ax.plot(alphas, _present(weights[k]), color=color, linewidth=1.8, zorder=3)
    if n_quiet := path.entered.size - len(labelled):
        ax.set_xlabel(f"penalty, decreasing (grey: {n_quiet} more)")
    _log_ticks(ax, float(alphas[0]), float(alphas[-1]))
    ax.set_ylim(_limits([v for curve in weights.values() for v in (curve.min(), curve.max())]))
    _few_ticks(ax.yaxis)
    _label_ends(ax, [_name(names, k) for k in labelled], [weights[k][-1] for k in labelled])
    return ax


def save_figure(result: SelectionResult, path: Path, file: str | os.PathLike[str]) -> None:
    """Write the selection and its path, side by side, to a PNG, SVG or PDF file.

    Parameters
    ----------
    result : SelectionResult
        ``selector.result_``.
    path : Path
        ``selector.path_``.
    file : path-like
        Where to; the suffix tells the format. Nothing is written if drawing fails.

    Raises
    ------
    InvalidInputError
        If the suffix is none of ``.png``, ``.svg`` and ``.pdf``.
    """
    suffix = FilePath(file).suffix.lower()
    if suffix not in FIGURE_SUFFIXES:
        raise InvalidInputError(
            f"{file} has the suffix {suffix!r}, and the suffix tells the format of the figure: "
            f"use one of {', '.join(FIGURE_SUFFIXES)}."
        )
    figure = _both_panels(result, path)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=suffix[1:], dpi=160)
    write_atomically(file, buffer.getvalue())


def _both_panels(result: SelectionResult, path: Path) -> Figure:
    figure = _new_figure((13.0, _height(len(result.features))))
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
    plot_selection(result, left)
    names = {feature.index: feature.name for feature in result.features}
    plot_path(path, names, right)
    figure.suptitle(
        f"{result.method}, {result.task}: {len(result.features)} of {result.n_features:,} "
        f"features from {result.n_samples:,} samples",
        fontsize=_TEXT + 2,
        color=_INK,
    )
    return figure


def _new_figure(size: tuple[float, float]) -> Figure:
    figure: Figure = require("matplotlib.figure", "plots").Figure(size, layout="constrained")
    return figure


def _height(n_rows: int) -> float:
    """Inches of a figure with so many bars."""
    return 2.0 + (0.28 if n_rows <= _MANY else 0.21) * max(n_rows, _FEW)


def _tidy(ax: Axes, label: str) -> None:
    """Give axes thin rules and few lines."""
    ax.set_xlabel(label, fontsize=_TEXT, color=_INK)
    ax.tick_params(labelsize=_SMALL, colors=_INK)
    ax.grid(color=_RULE, linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(_QUIET)


def _name_rows(ax: Axes, names: Sequence[str], marked: Collection[str] = ()) -> None:
    """Name the rows of a bar chart, and leave its horizontal rules out."""
    size = _TEXT if len(names) <= _MANY else _SMALL
    labels = [_shorten(name) for name in names]
    ax.set_yticks(np.arange(len(names)), labels=labels, fontsize=size, parse_math=False)
    for name, label in zip(names, ax.get_yticklabels(), strict=True):
        label.set_fontweight("bold" if name in marked else "normal")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    _few_ticks(ax.xaxis)


def _bars_beside(ax: Axes, names: list[str], results: Mapping[str, SelectionResult]) -> list[Any]:
    """Draw one bar per selection in the row of each feature that it selects."""
    row_of = {name: row for row, name in enumerate(names)}
    thick = 0.8 / len(results)
    bars: list[Any] = []
    for i, (label, result) in enumerate(results.items()):
        rows = np.array([row_of[name] for name in result.names], dtype=np.float64)
        centres = rows - 0.4 + (i + 0.5) * thick
        weights = [feature.weight for feature in result.features]
        look: dict[str, Any] = {"color": _LINES[i % len(_LINES)], "label": _shorten(label, 40)}
        bars.append(ax.barh(centres, weights, height=thick, zorder=2, **look))
    return bars


def _bands(ax: Axes, rows: Sequence[int], label: str) -> list[Any]:
    """Lay a pale band under rows."""
    look: dict[str, Any] = {"color": _MARK, "linewidth": 0, "label": _shorten(label, 40)}
    return [ax.axhspan(row - 0.5, row + 0.5, zorder=0, **look) for row in rows]


def _comparison_height(n_rows: int, n_bars: int) -> float:
    """Inches of a figure with so many rows of so many bars."""
    return 2.0 + max(0.22, 0.1 * n_bars) * max(n_rows, _FEW) + 0.2 * ((n_bars + 1) // 2)


def _limits(values: Sequence[float]) -> tuple[float, float]:
    """Ends of an axis that shows zero and all values, with some room."""
    low, high = min([0.0, *values]), max([0.0, *values])
    return (1.08 * low, 1.08 * max(high, -0.1 * low)) if high > low else (0.0, 1.0)


def _few_ticks(axis: Axis) -> None:
    ticker = require("matplotlib.ticker", "plots")
    axis.set_major_locator(ticker.MaxNLocator(5))
    axis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))


def _log_ticks(ax: Axes, highest: float, lowest: float) -> None:
    """Make the horizontal axis logarithmic and falling, with plain numbers along it."""
    ticker = require("matplotlib.ticker", "plots")
    ax.set_xscale("log")
    ax.set_xlim(highest, lowest)
    ax.xaxis.set_minor_formatter(ticker.NullFormatter())
    ratio = highest / lowest
    if ratio < 10:
        ax.xaxis.set_minor_locator(ticker.NullLocator())
        _few_ticks(ax.xaxis)
        return
    ax.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if ratio < 200 else (1,)))
    ax.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))


def _empty(ax: Axes) -> Axes:
    ax.set_xticks([])
    ax.set_yticks([])
    middle: dict[str, Any] = {"ha": "center", "va": "center", "transform": ax.transAxes}
    ax.text(0.5, 0.5, "no feature selected", fontsize=_TEXT, color=_INK, **middle)
    return ax


def _dots(ax: Axes, rows: np.ndarray[Any, Any], relevance: list[float]) -> None:
    """Add relevances to the bars, on a scale of their own along the top."""
    top = ax.twiny()
    top.plot(relevance, rows, "o", color=_DOT, markeredgecolor="white", markersize=7, zorder=4)
    # Zero of the dots lies above zero of the bars.
    (left, right), (low, high) = ax.get_xlim(), _limits(relevance)
    scale = max(high / right, low / left if left < 0 else 0.0)
    top.set_xlim(min(scale * left, low), scale * right)
    top.set_xlabel("relevance (dots)", fontsize=_TEXT, color=_DOT)
    top.tick_params(labelsize=_SMALL, colors=_INK)
    for side in ("left", "right", "bottom"):
        top.spines[side].set_visible(False)
    top.spines["top"].set_color(_QUIET)


def _curves(path: Path) -> tuple[FloatArray, dict[int, FloatArray]]:
    """Return penalties, falling, and the weight of every feature that ever entered at each.

    Weights are linear in the penalty between breakpoints, and so bent on a logarithmic axis.
    A path that ends at 0, which that axis does not reach, is drawn for two decades more.
    """
    bends = path.alphas
    lowest = bends[-1] if bends[-1] > 0 else 1e-2 * bends[bends > 0].min()
    lowest = min(lowest, 0.99 * bends[0])
    fine = np.geomspace(bends[0], lowest, 400)
    alphas = np.unique(np.concatenate([fine, bends[bends >= lowest]]))[::-1]
    at_bends = {int(k): np.zeros(bends.size) for k in path.entered}
    for step, point in enumerate(path.breakpoints):
        for k, weight in zip(point.indices.tolist(), point.weights.tolist(), strict=True):
            at_bends[k][step] = weight
    rising = bends[::-1]
    return alphas, {k: np.interp(alphas, rising, w[::-1]) for k, w in at_bends.items()}


def _present(weights: FloatArray) -> FloatArray:
    """Leave out the stretches where a weight stays at zero."""
    size = np.abs(weights)
    beside = np.maximum(np.append(size[1:], 0.0), np.append(0.0, size[:-1]))
    return np.where((size > 0) | (beside > 0), weights, np.nan)


def _label_ends(ax: Axes, labels: list[str], ends: list[float]) -> None:
    """Name lines at their right end, moved apart so that no two names overlap."""
    if not labels:
        return
    inches = ax.bbox.height / ax.figure.dpi
    bottom, top = ax.get_ylim()
    shares = (np.array(ends) - bottom) / (top - bottom)
    heights = _spread(shares, 1.5 * _SMALL / 72 / inches)
    for rank, (label, share, height) in enumerate(zip(labels, shares, heights, strict=True)):
        color = _LINES[rank % len(_LINES)]
        ax.annotate(
            _shorten(label),
            xy=(1.0, float(share)),
            xytext=(1.05, height),
            xycoords="axes fraction",
            fontsize=_SMALL,
            color=color,
            va="center",
            parse_math=False,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": color, "lw": 0.8, "relpos": (0, 0.5)}
            | {"shrinkA": 1, "shrinkB": 1},
        )


def _spread(heights: FloatArray, gap: float) -> FloatArray:
    """Move heights in [0, 1] apart to at least `gap`, in their order and as little as possible.

    Examples
    --------
    >>> _spread(np.array([0.5, 0.3, 0.3]), 0.1).round(2).tolist()
    [0.5, 0.25, 0.35]
    """
    from sklearn.isotonic import isotonic_regression

    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(heights.size)
    room = max(0.0, 1.0 - float(steps[-1]))
    spread = np.empty_like(heights)
    spread[order] = steps + isotonic_regression(heights[order] - steps, y_min=0.0, y_max=room)
    return spread


def _name(names: Mapping[int, str] | Sequence[str] | None, column: int) -> str:
    if names is None or (isinstance(names, Mapping) and column not in names):
        return f"x{column}"
    return names[column]


def _shorten(name: str, most: int = 28) -> str:
    """Cut the middle out of a long name."""
    head = (most - 1) // 2
    return name if len(name) <= most else f"{name[:head]}…{name[head + 1 - most :]}"
