"""The figure of a comparison: which method selects which feature, and at which rank."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hsiclasso._types import IntArray
from hsiclasso.errors import InvalidInputError, require
from hsiclasso.plots import drawing
from hsiclasso.plots.drawing import BAR, FEW, INK, SMALL, TEXT
from hsiclasso.plots.files import write_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hsiclasso.baselines import Comparison

__all__ = ["plot_ranks", "save_ranks"]

_PALE, _BLANK = "#D3E4F0", "#F5F5F5"


def plot_ranks(comparison: Comparison, ax: Axes | None = None, *, max_features: int = 25) -> Axes:
    """Draw which method selects which feature: a grid of ranks, the best darkest.

    Features that most methods select are on top. The number of methods that select a feature, its
    votes, is on the right. Methods that did not run are left out.

    Parameters
    ----------
    comparison : Comparison
        What `hsiclasso.baselines.compare` returns.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.
    max_features : int, default=25
        Most rows.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> from hsiclasso.baselines import compare
    >>> X, y, causal = make_data1(100, 20, random_state=0)
    >>> ax = plot_ranks(compare(X, y, 4, methods=["hsic_lasso", "mi_ranking"]))
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['HSIC Lasso', 'MI ranking', 'votes']
    """
    if max_features < 1:
        raise InvalidInputError(f"max_features={max_features}, but it must be 1 or more.")
    ranks = comparison.ranks()
    names, n_columns = list(ranks)[:max_features], len(comparison.ran)
    if ax is None:
        size = (2.8 + 0.42 * max(n_columns, FEW), drawing.figure_height(len(names)))
        ax = drawing.new_figure(size).add_subplot()
    for spine in ax.spines.values():
        spine.set_visible(False)
    if not names:
        return drawing.empty(ax)
    places = np.array(
        [[ranks[name].get(outcome.method, 0) for outcome in comparison.ran] for name in names]
    )
    _cells(ax, places, int(places.max()))
    for row, name in enumerate(names):
        votes: dict[str, Any] = {"ha": "center", "va": "center", "fontweight": "bold"}
        ax.text(n_columns + 0.1, row, str(len(ranks[name])), fontsize=TEXT, color=INK, **votes)
    drawing.name_rows(ax, names)
    ax.tick_params(axis="y", colors=INK)
    _name_columns(ax, [outcome.title for outcome in comparison.ran])
    ax.set_xlim(-0.5, n_columns + 0.6)
    ax.set_ylim(max(len(names), FEW) - 0.5, -0.5)
    more = f"; {n_more} more features not shown" if (n_more := len(ranks) - len(names)) else ""
    ax.set_xlabel(f"rank in each method{more}", fontsize=SMALL, color=INK)
    ax.xaxis.set_label_position("bottom")
    return ax


def save_ranks(
    comparison: Comparison, file: str | os.PathLike[str], *,
    target: Sequence[str] = (), source: str | os.PathLike[str] = "",
) -> None:  # fmt: skip
    """Write the grid of `plot_ranks` to a file, as `save_figure` does.

    Parameters
    ----------
    comparison : Comparison
        What `hsiclasso.baselines.compare` returns.
    file : path-like
        File to write: a ``.png``, ``.svg`` or ``.pdf``, by its suffix.
    target, source
        As in `draw_result`.
    """
    write_figure(lambda: _titled_ranks(comparison, target, source), file)


def _titled_ranks(
    comparison: Comparison, target: Sequence[str], source: str | os.PathLike[str]
) -> Figure:
    figure = plot_ranks(comparison).figure
    n_ran, n_all = len(comparison.ran), len(comparison.outcomes)
    sizes = (
        f"{comparison.n_requested} of {comparison.n_features:,} features by each of "
        f"{n_ran if n_ran == n_all else f'{n_ran} (of {n_all})'} methods, "
        f"from {comparison.n_samples:,} samples"
    )
    about = drawing.shorten(", ".join(target), 40)
    where = drawing.shorten(Path(source).name, 40)
    named = [text for text in (about and f"target: {about}", where and f"file: {where}") if text]
    drawing.title(figure, f"{', '.join(named)}\n{sizes}" if named else sizes)
    return cast("Figure", figure)


def _cells(ax: Axes, places: IntArray, worst: int) -> None:
    """Draw ranks (features, methods) as shaded numbers; 0 is a feature that is not selected."""
    colors = require("matplotlib.colors", "plots")
    best, last, blank = (np.array(colors.to_rgb(color)) for color in (BAR, _PALE, _BLANK))
    shares = (places - 1) / max(worst - 1, 1)
    shades = best + shares[..., None] * (last - best)
    shades[places == 0] = blank
    rows, columns = places.shape
    edges = [np.arange(size + 1) - 0.5 for size in (columns, rows)]
    ax.pcolormesh(*edges, shades, edgecolors="white", linewidth=1.5)
    for row, column in np.argwhere(places > 0):
        ink = "white" if shares[row, column] < 0.5 else INK
        place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL}
        ax.text(column, row, str(places[row, column]), color=ink, **place)


def _name_columns(ax: Axes, titles: Sequence[str]) -> None:
    """Name the columns of a grid along its top, with room for the votes."""
    at = [*range(len(titles)), len(titles) + 0.1]
    labels = [*(drawing.shorten(title) for title in titles), "votes"]
    ax.xaxis.tick_top()
    ax.set_xticks(at, labels=labels, fontsize=SMALL, parse_math=False)
    ax.tick_params(axis="x", length=0)
    for label in ax.get_xticklabels():
        label.set(rotation=45, ha="left", rotation_mode="anchor", color=INK)
