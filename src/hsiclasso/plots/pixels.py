"""Selected pixels of images, where they are in the picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hsiclasso._checks import check_choice, is_number
from hsiclasso._types import FloatArray
from hsiclasso.data import as_dataset
from hsiclasso.errors import InvalidInputError
from hsiclasso.plots import drawing
from hsiclasso.plots.drawing import LINES
from hsiclasso.plots.surfaces import tidy_bar
from hsiclasso.selectors import SelectionResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_pixels"]

#: Shades of the weights, pale to dark, and of the picture behind the pixels.
_WEIGHTS, _BEHIND = "YlOrRd", "gray"
#: Longest side of the picture, in inches.
_SIDE = 4.6


def plot_pixels(
    result: SelectionResult, shape: Sequence[int], X: Any = None, *,
    order: Literal["C", "F"] = "C", ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Draw which pixels of an image were selected, with their weights as colours.

    Parameters
    ----------
    result : SelectionResult
        ``selector.result_`` of a table with one column for each pixel.
    shape : sequence of two int
        Height and width of the images: ``(h, w)``, with ``h * w`` columns.
    X : table, optional
        That of the fit; the mean image is drawn behind the pixels.
    order : {"C", "F"}, default="C"
        Whether pixels follow each other row by row, or column by column, as MATLAB stores them.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure. A colour bar is drawn beside them.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from hsiclasso import HSICLasso, make_data1
    >>> X, y, causal = make_data1(100, 24, random_state=0)
    >>> ax = plot_pixels(HSICLasso(4).fit(X, y).result_, (4, 6), X)
    >>> ax.images[-1].get_array().shape
    (4, 6)
    """
    height, width = _checked(shape, result)
    check_choice("order", order, ("C", "F"))
    if ax is None:
        scale = _SIDE / max(height, width)
        size = max(2.6, scale * width) + 1.2, max(2.2, scale * height) + 0.6
        ax = drawing.new_figure(size).add_subplot()
        drawing.name_axes(ax, f"{len(result.features)} of {height * width:,} pixels")
    if X is not None:
        look: dict[str, Any] = {"cmap": _BEHIND, "interpolation": "nearest"}
        ax.imshow(_mean_image(X, height * width).reshape((height, width), order=order), **look)
    weights = np.full(height * width, np.nan)
    for feature in result.features:
        if not feature.members:  # a pair has no pixel of its own
            weights[feature.index] = feature.weight
    mask = weights.reshape((height, width), order=order)
    top = float(np.nanmax(np.abs(mask))) if np.isfinite(mask).any() else 1.0
    least = min(0.0, float(np.nanmin(mask))) if np.isfinite(mask).any() else 0.0
    drawn = ax.imshow(mask, cmap=_WEIGHTS, vmin=least, vmax=top or 1.0, interpolation="nearest")
    rows, columns = np.nonzero(np.isfinite(mask))
    # a frame, because a pixel of a large image is small and one of little weight is pale
    ax.plot(columns, rows, "s", color="none", markeredgecolor=LINES[0], markersize=5, zorder=3)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_xlim(-0.5, width - 0.5)
    ax.set_ylim(height - 0.5, -0.5)
    tidy_bar(ax.figure.colorbar(drawn, ax=ax), "weight")
    return ax


def _checked(shape: Sequence[int], result: SelectionResult) -> tuple[int, int]:
    """Return height and width; raise if they do not make the columns of the table."""
    d = result.data.n_columns
    sides = [side for side in shape if is_number(side) and int(side) == side > 0]
    if len(sides) != 2 or len(shape) != 2 or sides[0] * sides[1] != d:
        raise InvalidInputError(
            f"shape={tuple(shape)!r} must be the height and the width of the images, whose product "
            f"is the number of columns, {d}."
        )
    return int(sides[0]), int(sides[1])


def _mean_image(X: Any, size: int) -> FloatArray:
    """Return the mean of all images, pixel after pixel."""
    source = as_dataset(X).source
    if source.n_features != size:
        raise InvalidInputError(
            f"X has {source.n_features} columns, but the features were selected from {size}: pass "
            "the table of the fit."
        )
    means = [np.nanmean(source.block(run), axis=0) for run in source.runs()]
    return np.concatenate(means)
