"""Which classes each selected feature speaks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hsiclasso.errors import InvalidInputError
from hsiclasso.plots import drawing
from hsiclasso.plots.drawing import INK, SMALL, TEXT
from hsiclasso.plots.surfaces import tidy_bar
from hsiclasso.selectors import SelectionResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_classes"]

#: Shares, pale to dark, and the one above which letters are white.
_COLOURS, _DARK = "Blues", 0.55
#: Most classes whose cells have room for their numbers, and width of a cell in inches.
_WITH_NUMBERS, _WIDE = 14, 0.52


def plot_classes(result: SelectionResult, ax: Axes | None = None) -> Axes:
    """Draw the share of each class in the relevance of each selected feature, heaviest on top.

    Parameters
    ----------
    result : SelectionResult
        ``selector.result_`` for a target of three classes or more.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure. A colour bar is drawn beside them.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from hsiclasso import HSICLasso, make_data1
    >>> X, y, causal = make_data1(100, 20, random_state=0)
    >>> grade = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    >>> ax = plot_classes(HSICLasso(4, target="classes").fit(X, grade).result_)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['0', '1', '2']
    """
    features = result.features
    if features and not features[0].classes:
        raise InvalidInputError(
            "result has no parts of the classes: select for a target of three classes or more, "
            "without subtracting covariates."
        )
    names = list(features[0].classes) if features else []
    if ax is None:
        wide = 3.4 + _WIDE * max(len(names), 4)
        height = 0.8 + drawing.figure_height(len(features))
        ax = drawing.new_figure((wide, height)).add_subplot()
    if not features:
        return drawing.empty(ax)
    parts = np.array([list(feature.classes.values()) for feature in features])
    shares = parts / np.maximum(parts.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    rows, columns = shares.shape
    look: dict[str, Any] = {"cmap": _COLOURS, "vmin": 0.0, "vmax": 1.0, "edgecolors": "white"}
    cells = ax.pcolormesh(np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5, shares, **look)
    if columns <= _WITH_NUMBERS:
        middle: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL - 1}
        for (row, column), share in np.ndenumerate(shares):
            ink = "white" if share > _DARK else INK
            ax.text(column, row, f"{100 * share:.0f}", color=ink, **middle)
    drawing.name_rows(ax, result.names)
    ax.xaxis.tick_top()
    labels = [drawing.shorten(name, 22) for name in names]
    ax.set_xticks(np.arange(columns), labels=labels, fontsize=SMALL, parse_math=False)
    for label in ax.get_xticklabels():
        label.set(rotation=45, ha="left", rotation_mode="anchor", color=INK)
    ax.tick_params(axis="x", length=0)
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_ylim(rows - 0.5, -0.5)
    bar = ax.figure.colorbar(cells, ax=ax, shrink=0.5, aspect=20, pad=0.02)
    tidy_bar(bar, "share of the relevance")
    ax.set_xlabel("class that the feature tells from the rest, %", fontsize=TEXT, color=INK)
    ax.xaxis.set_label_position("bottom")
    return ax
