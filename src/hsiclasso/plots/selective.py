"""Figures of tests around a selection: knockoffs, and intervals that know of the selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hsiclasso.inference.knockoff_result import KnockoffResult
from hsiclasso.inference.post_selection_result import PostSelectionResult
from hsiclasso.plots import drawing
from hsiclasso.plots.drawing import BAR, FEW, INK, LINES, QUIET, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_knockoffs", "plot_post_selection"]

#: Where p-values stand beside the axes, in points.
_BESIDE = 52


def plot_knockoffs(
    result: KnockoffResult, ax: Axes | None = None, *, max_features: int = 25
) -> Axes:
    """Draw how much each feature beats its knockoff, and the threshold as a line.

    With several draws, bars are mean e-values.

    Parameters
    ----------
    result : KnockoffResult
        ``selector.result_`` of a `KnockoffSelection`.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.
    max_features : int, default=25
        Most bars: the features that are found come first.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from hsiclasso import KnockoffSelection
    >>> X = np.random.default_rng(0).standard_normal((300, 20))
    >>> y = np.abs(X[:, :12]).sum(axis=1)
    >>> ax = plot_knockoffs(KnockoffSelection(q=0.2, random_state=0).fit(X, y).result_)
    >>> ax.get_xlabel()
    'weight of the feature less that of its knockoff'
    """
    one_draw = len(result.thresholds) == 1
    rows = result.to_rows()[:max_features]
    sizes = [row["statistic" if one_draw else "e_value"] for row in rows]
    label = "weight of the feature less that of its knockoff" if one_draw else "mean e-value"
    threshold = float(result.thresholds[0]) if one_draw else result.e_threshold
    ax = drawing.tidy_axes(ax, (7.0, drawing.figure_height(len(rows))), label)
    colours = [BAR if row["selected"] else QUIET for row in rows]
    ax.barh(np.arange(len(rows)), sizes, height=0.66, color=colours, zorder=2)
    found = [row["name"] for row in rows if row["selected"]]
    drawing.name_rows(ax, [row["name"] for row in rows], found)
    ax.set_ylim(max(len(rows), FEW) - 0.4, -0.6)
    shown = [*sizes, threshold] if np.isfinite(threshold) else sizes
    ax.set_xlim(drawing.limits(shown))
    if np.isfinite(threshold):
        ax.axvline(threshold, color=LINES[1], linewidth=1.2, linestyle="--", zorder=1)
    drawing.name_axes(ax, result.message)
    return ax


def plot_post_selection(result: PostSelectionResult, ax: Axes | None = None) -> Axes:
    """Draw the confidence interval of each selected feature, which knows of the selection.

    Features stand in the order of their p-values, which are written beside them. A triangle is an
    end without a bound.

    Parameters
    ----------
    result : PostSelectionResult
        What `post_selection_test` returns.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from hsiclasso import HSICLasso, make_data1, post_selection_test
    >>> X, y, causal = make_data1(600, 20, random_state=0)
    >>> found = post_selection_test(HSICLasso(4), X, y, quantity="hsic", random_state=0)
    >>> plot_post_selection(found).get_xlabel()
    'HSIC'
    """
    features = result.features
    label = "HSIC" if result.quantity == "hsic" else "coefficient among the selected features"
    ax = drawing.tidy_axes(ax, (7.5, drawing.figure_height(len(features))), label)
    if not features:
        return drawing.empty(ax)
    ends = np.array([[one.low, one.estimate, one.high] for one in features])
    known = ends[np.isfinite(ends)]
    gap = 0.06 * float(np.ptp([*known, 0.0])) or 1.0
    left, right = min(0.0, float(known.min())) - gap, float(known.max()) + gap
    for row, (low, middle, high) in enumerate(ends.tolist()):
        colour = BAR if low > 0 else QUIET
        ax.plot([max(low, left), min(high, right)], [row, row], color=colour, linewidth=3, zorder=2)
        ax.plot([middle], [row], "o", color=colour, markeredgecolor="white", markersize=8, zorder=3)
        for end, mark, at in ((low, "<", left), (high, ">", right)):
            if not np.isfinite(end):
                ax.plot([at], [row], mark, color=colour, clip_on=False, zorder=3)
        ax.annotate(
            f"p = {features[row].p_value:.2g}", (1.0, row), (_BESIDE, 0), fontsize=SMALL,
            color=INK, ha="right", va="center", xycoords=("axes fraction", "data"),
            textcoords="offset points",
        )  # fmt: skip
    ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
    sure = [one.name for one in features if one.low > 0]
    drawing.name_rows(ax, [one.name for one in features], sure)
    ax.set_ylim(max(len(features), FEW) - 0.4, -0.6)
    ax.set_xlim(left, right)
    drawing.name_axes(ax, f"{result.confidence:.0%} intervals, given what was selected")
    return ax
