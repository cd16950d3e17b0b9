"""What each selected feature says, and how much of it the others say too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.plots import drawing
from hsiclasso.plots.drawing import BAR, INK, LINES, SMALL, TEXT
from hsiclasso.selectors import SelectionResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_redundancy"]

#: Areas of the dots of no weight and of the largest one, in square points.
_LEAST, _MOST = 18.0, 240.0


def plot_redundancy(
    result: SelectionResult, ax: Axes | None = None, *, max_labels: int = 12
) -> Axes:
    """Draw the relevance of each selected feature against its redundancy.

    Redundancy is the largest similarity with another selected feature. The best features are at
    the top left: they say much, and nobody else says it. The area of a dot is the weight. Features
    that were filled in, of weight 0, are hollow.

    Parameters
    ----------
    result : SelectionResult
        ``selector.result_``, of at most 200 features.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.
    max_labels : int, default=12
        Most features that are named, the most relevant ones.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from hsiclasso import HSICLasso, make_data1
    >>> X, y, causal = make_data1(100, 20, random_state=0)
    >>> ax = plot_redundancy(HSICLasso(4).fit(X, y).result_)
    >>> ax.get_xlabel()
    'redundancy: similarity to the nearest other'
    """
    if result.similarity is None:
        raise InvalidInputError(
            f"result has {len(result.features)} features and no similarities, which are computed "
            "for up to 200: ask for fewer features."
        )
    made = ax is None
    ax = drawing.tidy_axes(ax, (7.0, 5.0), "redundancy: similarity to the nearest other")
    if made:
        drawing.name_axes(ax, f"Features of {result.method.name}")
    ax.set_ylabel("relevance", fontsize=TEXT, color=INK)
    if not result.features:
        return drawing.empty(ax)
    x, y = _redundancy(result.similarity), np.array([f.relevance for f in result.features])
    weights = np.abs([f.weight for f in result.features])
    areas = _LEAST + (_MOST - _LEAST) * weights / (weights.max() or 1.0)
    hollow = weights == 0
    look: dict[str, Any] = {"linewidths": 1.0, "zorder": 3, "clip_on": False}
    ax.scatter(x[~hollow], y[~hollow], areas[~hollow], color=BAR, edgecolors="white", **look)
    if hollow.any():
        ax.scatter(x[hollow], y[hollow], areas[hollow], color="white", edgecolors=LINES[1], **look)
    ax.set_xlim(0, max(0.1, 1.08 * float(x.max())))
    ax.set_ylim(0, 1.08 * float(y.max()) or 1.0)
    drawing.few_ticks(ax.xaxis)
    drawing.few_ticks(ax.yaxis)
    first = np.argsort(-y, kind="stable")[:max_labels]
    drawing.name_dots(ax, x, y, {k: result.names[k] for k in first.tolist()})
    if len(first) < len(y):
        ax.set_title(
            f"the {len(first)} most relevant of {len(y)} are named",
            fontsize=SMALL, color=INK, loc="right",
        )  # fmt: skip
    return ax


def _redundancy(similarity: FloatArray) -> FloatArray:
    """Return the largest similarity of each feature with another one; 0 if there is no other."""
    others = similarity - np.diag(np.full(len(similarity), np.inf))
    return np.asarray(np.maximum(others.max(axis=1), 0.0))
