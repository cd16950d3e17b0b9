"""The figure of a path: weights against the penalty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.errors import require
from hsiclasso.plots import drawing
from hsiclasso.plots.drawing import INK, LINES, QUIET, SMALL, TEXT
from hsiclasso.solvers import SolutionPath

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["path_curves", "plot_path"]


def plot_path(
    path: SolutionPath,
    names: Mapping[int, str] | Sequence[str] | None = None,
    ax: Axes | None = None,
    max_labels: int = 10,
) -> Axes:
    """Draw the weights against the penalty, which falls from left to right.

    Parameters
    ----------
    path : SolutionPath
        ``selector.path_``.
    names : sequence or mapping of int to str, default=None
        Names of the columns, by default ``x0, x1, ...``; columns that it does not have are grey.
        Interactions have numbers after those of the columns, and no name of their own:
        ``{feature.index: feature.name for feature in selector.result_.features}`` has them.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.
    max_labels : int, default=10
        Most features with a colour and a label, those of the largest weights in the solution; all
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
    ax = drawing.tidy_axes(ax, (7.5, drawing.figure_height(0)), "penalty, decreasing")
    ax.set_ylabel("weight", fontsize=TEXT, color=INK)
    if path.entered.size == 0:
        return drawing.empty(ax)
    if not path.alphas[0] > 0:
        return drawing.empty(ax, "all features are kept: there is no path")
    alphas, weights = path_curves(path)
    solution = path.breakpoints[-1]
    order = np.lexsort((solution.indices, -np.abs(solution.weights)))
    heaviest = solution.indices[order].tolist()
    labelled = [k for k in heaviest if _is_named(names, k)][:max_labels]
    for k in path.entered.tolist():
        if k not in labelled:
            ax.plot(alphas, _present(weights[k]), color=QUIET, linewidth=1.0, zorder=2)
    for rank, k in enumerate(labelled):
        color = LINES[rank % len(LINES)]
        ax.plot(alphas, _present(weights[k]), color=color, linewidth=1.8, zorder=3)
    if n_quiet := path.entered.size - len(labelled):
        ax.set_xlabel(f"penalty, decreasing (grey: {n_quiet} more)")
    _log_ticks(ax, float(alphas[0]), float(alphas[-1]))
    extremes = [v for curve in weights.values() for v in (curve.min(), curve.max())]
    ax.set_ylim(drawing.limits(extremes))
    drawing.few_ticks(ax.yaxis)
    _label_ends(ax, [_name(names, k) for k in labelled], [weights[k][-1] for k in labelled])
    return ax


def path_curves(path: SolutionPath) -> tuple[FloatArray, dict[int, FloatArray]]:
    """Return penalties, falling, and the weight of every feature that ever entered at each.

    Between breakpoints, weights are linear in the penalty: curves on a logarithmic axis. That axis
    does not reach 0, and a path that ends there is drawn for two more decades.
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


def _log_ticks(ax: Axes, highest: float, lowest: float) -> None:
    """Make the horizontal axis logarithmic and falling, with plain numbers along it."""
    ticker = require("matplotlib.ticker", "plots")
    ax.set_xscale("log")
    ax.set_xlim(highest, lowest)
    ax.xaxis.set_minor_formatter(ticker.NullFormatter())
    ratio = highest / lowest
    if ratio < 10:
        ax.xaxis.set_minor_locator(ticker.NullLocator())
        drawing.few_ticks(ax.xaxis)
        return
    ax.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if ratio < 200 else (1,)))
    ax.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))


def _label_ends(ax: Axes, labels: list[str], ends: list[float]) -> None:
    """Name lines at their right end, moved apart so that no two names overlap."""
    if not labels:
        return
    inches = ax.bbox.height / ax.figure.dpi
    bottom, top = ax.get_ylim()
    shares = (np.array(ends) - bottom) / (top - bottom)
    heights = drawing.spread_apart(shares, 1.5 * SMALL / 72 / inches)
    for rank, (label, share, height) in enumerate(zip(labels, shares, heights, strict=True)):
        color = LINES[rank % len(LINES)]
        ax.annotate(
            drawing.shorten(label),
            xy=(1.0, float(share)),
            xytext=(1.05, height),
            xycoords="axes fraction",
            fontsize=SMALL,
            color=color,
            va="center",
            parse_math=False,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": color, "lw": 0.8, "relpos": (0, 0.5)}
            | {"shrinkA": 1, "shrinkB": 1},
        )


def _is_named(names: Mapping[int, str] | Sequence[str] | None, column: int) -> bool:
    if isinstance(names, Mapping):
        return column in names
    return names is None or column < len(names)


def _name(names: Mapping[int, str] | Sequence[str] | None, column: int) -> str:
    return f"x{column}" if names is None else names[column]
