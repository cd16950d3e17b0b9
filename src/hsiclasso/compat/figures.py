"""The figures of pyHSICLasso: path, dendrogram and heatmap, without pyplot or seaborn."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.compat.fitting import Fit
from hsiclasso.data.atomic import write_atomically
from hsiclasso.plots import drawing, plot_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_dendrogram", "draw_heatmap", "draw_path", "write_any"]

#: Most samples that are sorted by similarity: the distances of all pairs are held in memory.
_MOST_SORTED = 3000
#: Standard deviations at which the colours end.
_RANGE = 3.0


def draw_path(fit: Fit, names: Sequence[str]) -> Figure:
    """Draw the weights against the penalty; features that are not selected are grey."""
    axes = plot_path(fit.path, {k: names[k] for k in fit.index})
    figure: Figure = axes.figure  # type: ignore[assignment]
    return figure


def draw_dendrogram(tree: FloatArray, names: Sequence[str]) -> Figure:
    """Draw the tree of a hierarchical clustering."""
    figure = drawing.new_figure((7.5, drawing.figure_height(len(names))))
    axes = figure.add_subplot()
    drawing.tidy(axes, "distance: 1 - similarity")
    _draw_tree(tree, axes)
    _name_leaves(axes, [names[leaf] for leaf in _leaves(tree).tolist()])
    return figure


def draw_heatmap(values: FloatArray, tree: FloatArray, names: Sequence[str]) -> Figure:
    """Draw standardised features (m, n) in the order of a tree, and the tree beside them.

    Samples are in the order of a clustering of their own.
    """
    m, n = values.shape
    figure = drawing.new_figure((9.0, drawing.figure_height(m)))
    left, right = figure.subplots(1, 2, width_ratios=(1, 4))
    _draw_tree(tree, left)
    left.set_axis_off()
    spread = values.std(axis=1, keepdims=True)
    z = (values - values.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    leaves = _leaves(tree)
    samples = _sorted_samples(z) if n <= _MOST_SORTED else np.arange(n)
    # a tree that grows to the left has a leaf at 5, 15, 25, ...
    image = right.imshow(
        z[np.ix_(leaves, samples)], aspect="auto", origin="lower", cmap="RdBu_r",
        vmin=-_RANGE, vmax=_RANGE, extent=(0, n, 0, 10 * m), interpolation="nearest",
    )  # fmt: skip
    left.set_ylim(0, 10 * m)
    right.yaxis.tick_right()
    right.set_xticks([])
    right.set_xlabel("samples")
    _name_leaves(right, [names[leaf] for leaf in leaves.tolist()])
    figure.colorbar(image, ax=left, location="left", label="standard deviations", shrink=0.6)
    return figure


def _draw_tree(tree: FloatArray, axes: Axes) -> None:
    """Draw a tree with its leaves at the right."""
    from scipy.cluster.hierarchy import dendrogram

    dendrogram(
        tree, orientation="left", ax=axes, no_labels=True, color_threshold=0,
        above_threshold_color=drawing.BAR,
    )  # fmt: skip


def _name_leaves(axes: Axes, names: Sequence[str]) -> None:
    """Name the leaves of a tree along the right side."""
    axes.yaxis.tick_right()
    labels = [drawing.shorten(name) for name in names]
    places = 10 * np.arange(len(names)) + 5
    axes.set_yticks(places, labels=labels, fontsize=drawing.SMALL, parse_math=False)
    axes.tick_params(axis="y", length=0)


def _leaves(tree: FloatArray) -> IntArray:
    """Order of the leaves, from below."""
    from scipy.cluster.hierarchy import leaves_list

    return np.asarray(leaves_list(tree), dtype=np.int64)


def _sorted_samples(z: FloatArray) -> IntArray:
    """Order of the samples in a clustering by Ward's method."""
    from scipy.cluster.hierarchy import linkage

    return _leaves(linkage(z.T, "ward"))


def write_any(figure: Figure, file: str | os.PathLike[str]) -> None:
    """Write a figure in any format of matplotlib, by the suffix of the file; PNG without one."""
    path = Path(file)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix[1:].lower() or "png", dpi=160)
    write_atomically(path if path.suffix else path.with_suffix(".png"), buffer.getvalue())
