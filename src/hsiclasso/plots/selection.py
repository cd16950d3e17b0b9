"""The figures of one selection, and of the weights of several side by side."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hsiclasso.errors import InvalidInputError
from hsiclasso.plots import drawing
from hsiclasso.plots.drawing import BAR, FEW, INK, LINES, TEXT
from hsiclasso.plots.files import write_figure
from hsiclasso.plots.functions import functions_height, plot_functions
from hsiclasso.plots.path import plot_path
from hsiclasso.selectors import SelectionResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "draw_result",
    "heading",
    "plot_comparison",
    "plot_relevance",
    "plot_selection",
    "save_figure",
]

#: Colours of relevance, and of a mark.
DOT, _MARK = LINES[1], "#F6E7B8"


def plot_selection(result: SelectionResult, ax: Axes | None = None) -> Axes:
    """Draw the weights as bars, heaviest on top.

    Parameters
    ----------
    result : SelectionResult
        ``selector.result_``.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

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
    return _bars(result, [feature.weight for feature in result.features], "weight", BAR, ax)


def plot_relevance(result: SelectionResult, ax: Axes | None = None) -> Axes:
    """Draw how much the target depends on each selected feature alone, in the order of the weights.

    Parameters
    ----------
    result : SelectionResult
        ``selector.result_``.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from hsiclasso import HSICLasso, make_data1
    >>> X, y, causal = make_data1(100, 20, random_state=0)
    >>> plot_relevance(HSICLasso(4).fit(X, y).result_).get_xlabel()
    'relevance'
    """
    return _bars(result, [feature.relevance for feature in result.features], "relevance", DOT, ax)


def _bars(
    result: SelectionResult, values: list[float], label: str, colour: str, ax: Axes | None
) -> Axes:
    """Draw a bar for each feature."""
    k, made = len(values), ax is None
    ax = drawing.tidy_axes(ax, (7.0, drawing.figure_height(k)), label)
    if made:
        drawing.name_axes(ax, heading(result))
    if k == 0:
        return drawing.empty(ax)
    ax.barh(np.arange(k), values, height=0.66, color=colour, zorder=2)
    drawing.name_rows(ax, result.names)
    ax.set_ylim(max(k, FEW) - 0.4, -0.6)
    ax.set_xlim(drawing.limits(values))
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
    marked : collection of str, default=()
        Names of features to mark, by a band and a bold name; names that no selection has are
        ignored.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure. The legend is above them.
    marked_label : str, default="marked"
        Meaning of the mark, for the legend.

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
    ax = drawing.tidy_axes(ax, (7.0, _comparison_height(len(names), len(results))), "weight")
    if not names:
        return drawing.empty(ax)
    bars = _bars_beside(ax, names, results)
    bands = _bands(ax, [row for row, name in enumerate(names) if name in marked], marked_label)
    drawing.name_rows(ax, names, marked)
    ax.set_ylim(max(len(names), FEW) - 0.4, -0.6)
    ax.set_xlim(drawing.limits([f.weight for result in results.values() for f in result.features]))
    look: dict[str, Any] = {"ncols": 2, "frameon": False, "fontsize": TEXT, "labelcolor": INK}
    ax.legend(handles=[*bars, *bands[:1]], loc="lower left", bbox_to_anchor=(0, 1), **look)
    return ax


def draw_result(
    result: SelectionResult, *, target: Sequence[str] = (), source: str | os.PathLike[str] = ""
) -> Figure:
    """Draw weights, relevances and the path side by side, and below them curves and surfaces.

    Only `EmbeddingLasso` has curves and surfaces.

    Parameters
    ----------
    result : SelectionResult
        ``selector.result_``.
    target : sequence of str, default=()
        Names of the columns of the target, for the title; by default those of the fit.
    source : path-like, default=""
        File from which features were selected, for the title.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from hsiclasso import HSICLasso, make_data1
    >>> X, y, causal = make_data1(100, 20, random_state=0)
    >>> figure = draw_result(HSICLasso(4).fit(X, y).result_, target=["risk"])
    >>> figure.get_suptitle()
    'HSIC Lasso, target: risk (real). 4 of 20 features selected on 100 samples'
    """
    height, below = drawing.figure_height(len(result.features)), functions_height(result.functions)
    figure = drawing.new_figure((14.0, height + below))
    above: Any = figure
    if below:
        parts: Any = figure.subfigures(2, 1, height_ratios=(height, below))
        above = parts[0]
        plot_functions(result.functions, parts[1])
    left, middle, right = above.subplots(1, 3, width_ratios=(1, 0.7, 1.25))
    plot_selection(result, left)
    plot_relevance(result, middle)
    middle.tick_params(labelleft=False)
    names = {feature.index: feature.name for feature in result.features}
    plot_path(result.path, names, right)
    drawing.title(figure, heading(result, target, source))
    return figure


def heading(
    result: SelectionResult, target: Sequence[str] = (), source: str | os.PathLike[str] = ""
) -> str:
    """Return the title of a figure: method, target, file and sizes.

    Covariates are no features.
    """
    k, method, data = len(result.features), result.method, result.data
    called = drawing.shorten(", ".join(target or data.target), 40)
    kind = f"{called} ({method.target})" if called else method.target
    where = f", file: {drawing.shorten(Path(source).name, 40)}" if str(source) else ""
    has_pairs = any(feature.members for feature in result.features)
    found = (
        f"{k} features selected from {data.n_features:,} and their pairs" if has_pairs
        else f"{k} of {data.n_features:,} features selected"
    )  # fmt: skip
    return f"{method.name}, target: {kind}{where}. {found} on {data.n_samples:,} samples"


def save_figure(
    result: SelectionResult, file: str | os.PathLike[str], *,
    target: Sequence[str] = (), source: str | os.PathLike[str] = "",
) -> None:  # fmt: skip
    """Write the figure of `draw_result` to a PNG, SVG or PDF file.

    Parameters
    ----------
    result : SelectionResult
        ``selector.result_``.
    file : path-like
        File to write; the suffix tells the format. Nothing is written if drawing fails.
    target, source
        As in `draw_result`.

    Raises
    ------
    InvalidInputError
        If the suffix is none of ``.png``, ``.svg`` and ``.pdf``.
    """
    write_figure(lambda: draw_result(result, target=target, source=source), file)


def _bars_beside(ax: Axes, names: list[str], results: Mapping[str, SelectionResult]) -> list[Any]:
    """Draw one bar per selection in the row of each feature that it selects."""
    row_of = {name: row for row, name in enumerate(names)}
    thick = 0.8 / len(results)
    bars: list[Any] = []
    for i, (label, result) in enumerate(results.items()):
        rows = np.array([row_of[name] for name in result.names], dtype=np.float64)
        centres = rows - 0.4 + (i + 0.5) * thick
        weights = [feature.weight for feature in result.features]
        look: dict[str, Any] = {"color": LINES[i % len(LINES)], "label": drawing.shorten(label, 40)}
        bars.append(ax.barh(centres, weights, height=thick, zorder=2, **look))
    return bars


def _bands(ax: Axes, rows: Sequence[int], label: str) -> list[Any]:
    """Lay a pale band under rows."""
    look: dict[str, Any] = {"color": _MARK, "linewidth": 0, "label": drawing.shorten(label, 40)}
    return [ax.axhspan(row - 0.5, row + 0.5, zorder=0, **look) for row in rows]


def _comparison_height(n_rows: int, n_bars: int) -> float:
    """Height in inches of a figure with this many rows, each of this many bars."""
    return 2.0 + max(0.22, 0.1 * n_bars) * max(n_rows, FEW) + 0.2 * ((n_bars + 1) // 2)
