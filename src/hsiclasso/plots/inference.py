"""Figures of how sure a selection is: tests of candidates, stability, clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hsiclasso.errors import InvalidInputError
from hsiclasso.plots import drawing
from hsiclasso.plots.drawing import BAR, FEW, INK, LINES, QUIET, SMALL, TEXT
from hsiclasso.selectors import SelectionResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hsiclasso.inference.stability_result import StabilityResult

__all__ = ["plot_candidates", "plot_clusters", "plot_stability"]

#: Where values of p = 0 are drawn, and the least range of the axis.
_MOST, _LEAST_RANGE = 300.0, 2.0
_LINE: dict[str, Any] = {"color": LINES[1], "linewidth": 1.2, "linestyle": "--", "zorder": 1}


def plot_candidates(result: SelectionResult, ax: Axes | None = None) -> Axes:
    """Draw how sure each candidate is: bars of -log10 q, and the level as a line.

    Parameters
    ----------
    result : SelectionResult
        ``selector.result_`` of a `ControlledSelection`.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from hsiclasso import ControlledSelection, make_data1
    >>> X, y, causal = make_data1(200, 40, random_state=0)
    >>> ax = plot_candidates(ControlledSelection().fit(X, y).result_)
    >>> ax.get_xlabel()
    '-log10 of the q-value'
    """
    control = result.error_control
    if control is None:
        raise InvalidInputError(
            "result has no tests of candidates: pass the result_ of a ControlledSelection."
        )
    tests = sorted(control.candidates, key=lambda test: test.q_value)
    if ax is None:
        ax = drawing.new_figure((7.0, drawing.figure_height(len(tests)))).add_subplot()
    drawing.tidy(ax, "-log10 of the q-value")
    if not tests:
        return drawing.empty(ax)
    sizes = [min(_MOST, -np.log10(max(test.q_value, 1e-300))) for test in tests]
    colours = [BAR if test.found else QUIET for test in tests]
    ax.barh(np.arange(len(tests)), sizes, height=0.66, color=colours, zorder=2)
    ax.axvline(-np.log10(control.level), **_LINE)
    drawing.name_rows(ax, [t.name for t in tests], [t.name for t in tests if t.found])
    ax.set_ylim(max(len(tests), FEW) - 0.4, -0.6)
    ax.set_xlim(0, 1.08 * max(_LEAST_RANGE, *sizes))
    n_found = len(result.features)
    ax.set_title(
        f"{n_found} of {len(tests)} candidates found at a false discovery rate of "
        f"{control.level:g} (dashed)",
        fontsize=TEXT, color=INK, loc="left",
    )  # fmt: skip
    return ax


def plot_stability(
    result: StabilityResult, ax: Axes | None = None, *, max_clusters: int = 25
) -> Axes:
    """Draw how often half-samples select each cluster: bars, and the threshold as a line.

    Parameters
    ----------
    result : StabilityResult
        ``selector.result_`` of a `StabilitySelection`.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.
    max_clusters : int, default=25
        Most bars.

    Returns
    -------
    matplotlib.axes.Axes
    """
    shown = result.clusters[:max_clusters]
    if ax is None:
        ax = drawing.new_figure((7.0, drawing.figure_height(len(shown)))).add_subplot()
    drawing.tidy(ax, "share of half-samples that select it")
    if not shown:
        return drawing.empty(ax)
    colours = [BAR if cluster.selected else QUIET for cluster in shown]
    sizes = [cluster.frequency for cluster in shown]
    ax.barh(np.arange(len(shown)), sizes, height=0.66, color=colours, zorder=2)
    ax.axvline(result.levels.threshold, **_LINE)
    names = [
        cluster.representative.name + (f" +{len(cluster.members)}" if cluster.members else "")
        for cluster in shown
    ]
    chosen = [name for name, cluster in zip(names, shown, strict=True) if cluster.selected]
    drawing.name_rows(ax, names, chosen)
    ax.set_ylim(max(len(shown), FEW) - 0.4, -0.6)
    ax.set_xlim(0, 1.0)
    more = f"; {n} more not shown" if (n := len(result.clusters) - len(shown)) > 0 else ""
    ax.set_title(
        f"{len(result.selected)} stable clusters, threshold {result.levels.threshold:.2f} "
        f"(dashed){more}",
        fontsize=TEXT, color=INK, loc="left",
    )  # fmt: skip
    return ax


def plot_clusters(
    result: SelectionResult, ax: Axes | None = None, *, max_members: int = 12
) -> Axes:
    """Draw, for each selected feature, how similar the features are that it stands for.

    Parameters
    ----------
    result : SelectionResult
        ``selector.result_``.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.
    max_members : int, default=12
        Most members of a cluster that are named.

    Returns
    -------
    matplotlib.axes.Axes
    """
    clusters = result.clusters
    if ax is None:
        ax = drawing.new_figure((9.0, drawing.figure_height(len(clusters)))).add_subplot()
    drawing.tidy(ax, "similarity to the selected feature")
    if not clusters:
        return drawing.empty(ax)
    for row, cluster in enumerate(clusters):
        similar = [member.similarity for member in cluster.members]
        ax.plot([1.0], [row], "o", color=BAR, zorder=3)
        ax.plot(similar, [row] * len(similar), "o", color=LINES[4], alpha=0.7, zorder=2)
        named = ", ".join(drawing.shorten(m.name, 16) for m in cluster.members[:max_members])
        more = len(cluster.members) - max_members
        text = named + (f" and {more} more" if more > 0 else "")
        beside: dict[str, Any] = {"va": "center", "fontsize": SMALL, "color": INK}
        ax.text(1.03, row, text or "alone", parse_math=False, **beside)
    drawing.name_rows(ax, [cluster.representative for cluster in clusters])
    ax.set_ylim(max(len(clusters), FEW) - 0.4, -0.6)
    ax.set_xlim(0, 1.02)
    return ax
