"""How similar the selected features are: a heat map in the order of a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.plots import drawing
from hsiclasso.plots.drawing import INK, SMALL, TEXT
from hsiclasso.plots.surfaces import tidy_bar
from hsiclasso.selectors import SelectionResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["clustered", "plot_heatmap"]

#: Shades of similarity, pale to dark.
_COLOURS = "Blues"
#: Cells of so many features have room for their numbers; letters of smaller ones are smaller.
_WITH_NUMBERS, _MANY = 14, 40
#: Side of a cell and least side of all of them, in inches; the tree in parts of the cells.
_CELL, _LEAST, _TREE = 0.2, 3.0, 0.28


def plot_heatmap(result: SelectionResult, ax: Axes | None = None) -> Axes:
    """Draw how similar the selected features are to each other, similar ones side by side.

    The tree beside the cells joins features by their mean similarity: those that it joins early,
    near the cells, say nearly the same.

    Parameters
    ----------
    result : SelectionResult
        ``selector.result_``, of at most 200 features.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure. A colour bar is drawn beside them.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from hsiclasso import HSICLasso, make_data1
    >>> X, y, causal = make_data1(100, 20, random_state=0)
    >>> result = HSICLasso(4).fit(X, y).result_
    >>> ax = plot_heatmap(result)
    >>> sorted(label.get_text() for label in ax.get_yticklabels()) == sorted(result.names)
    True
    """
    similarity, names = result.similarity, result.names
    if similarity is None:
        raise InvalidInputError(
            f"result has {len(names)} features and no similarities, which are computed for up to "
            "200: ask for fewer features."
        )
    if ax is None:
        side = max(_LEAST, _CELL * len(names))
        ax = drawing.new_figure((3.2 + (1 + _TREE) * side, 0.5 + side)).add_subplot()
        drawing.name_axes(ax, f"Similarity of the features of {result.method.name}")
    if len(names) < 2:
        return drawing.empty(ax, "fewer than two features" if names else "no feature selected")
    order, tree = clustered(similarity)
    shown = similarity[np.ix_(order, order)]
    size = len(order)
    look: dict[str, Any] = {"cmap": _COLOURS, "vmin": 0.0, "vmax": 1.0}
    cells = ax.pcolormesh(np.arange(size + 1) - 0.5, np.arange(size + 1) - 0.5, shown, **look)
    if size <= _WITH_NUMBERS:
        _write(ax, shown)
    letters = TEXT if size <= _WITH_NUMBERS else SMALL if size <= _MANY else SMALL - 2
    labels = [drawing.shorten(names[k], 24) for k in order]
    ax.set_yticks(np.arange(size), labels=labels, fontsize=letters, color=INK, parse_math=False)
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.set_xlim(-0.5, (1 + _TREE) * size)
    ax.set_ylim(size - 0.5, -0.5)
    for spine in ax.spines.values():
        spine.set_visible(False)
    _draw_tree(ax, tree, size)
    tidy_bar(ax.figure.colorbar(cells, ax=ax, shrink=0.6, aspect=25, pad=0.02), "similarity")
    return ax


def clustered(similarity: FloatArray) -> tuple[list[int], dict[str, Any]]:
    """Return the order of the features in a tree, by mean similarity, and the tree.

    Parameters
    ----------
    similarity : ndarray of shape (s, s)

    Returns
    -------
    order : list of int
    tree : dict
        What `scipy.cluster.hierarchy.dendrogram` returns.

    Examples
    --------
    >>> clustered(np.array([[1.0, 0.1, 0.9], [0.1, 1.0, 0.2], [0.9, 0.2, 1.0]]))[0]
    [1, 2, 0]
    """
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    apart = 1 - 0.5 * (similarity + similarity.T)
    np.fill_diagonal(apart, 0.0)
    linkage = hierarchy.linkage(squareform(apart, checks=False), "average", optimal_ordering=True)
    tree = hierarchy.dendrogram(linkage, no_plot=True)
    return [int(leaf) for leaf in tree["leaves"]], tree


def _write(ax: Axes, shown: FloatArray) -> None:
    """Write its number into each cell."""
    middle: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL - 1}
    for (row, column), value in np.ndenumerate(shown):
        text = f"{value:.2f}".lstrip("0") or "0"
        ax.text(column, row, text, color="white" if value > 0.55 else INK, **middle)


def _draw_tree(ax: Axes, tree: dict[str, Any], size: int) -> None:
    """Draw the tree to the right of the cells: branches that join late join far away."""
    highest = max(max(one) for one in tree["dcoord"]) or 1.0
    for heights, places in zip(tree["dcoord"], tree["icoord"], strict=True):
        along = size - 0.4 + (_TREE * size) * np.array(heights) / highest
        # the dendrogram has its leaves at 5, 15, 25, ...
        ax.plot(along, (np.array(places) - 5) / 10, color=INK, linewidth=0.9)
