"""The shape of each dependence: the fitted function of every selected feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hsiclasso.errors import InvalidInputError
from hsiclasso.plots import drawing
from hsiclasso.plots.drawing import INK, LINES, SMALL, TEXT
from hsiclasso.selectors.result import FeatureFunction

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["functions_height", "plot_functions"]

#: Panels of a row, and the most that are drawn.
_ACROSS, _MOST = 5, 20
#: Height of a row of panels, and of what is above them, in inches.
_ROW, _ABOVE = 2.1, 0.6
#: Outputs that a panel shows: those in which the function varies most.
_OUTPUTS = 6


def plot_functions(
    functions: Sequence[FeatureFunction], figure: Figure | SubFigure | None = None
) -> Figure | SubFigure:
    """Draw the function of each feature in a panel of its own, on a common scale.

    A curve shows what the value of the feature adds to the prediction; labels and small integers
    have dots. With several outputs or classes, a panel shows those that vary most.

    Parameters
    ----------
    functions : sequence of FeatureFunction
        ``selector.functions_``; the first 20 are drawn.
    figure : matplotlib.figure.Figure, default=None
        Figure to draw on; by default a new one.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from hsiclasso import EmbeddingLasso, make_data1
    >>> X, y, causal = make_data1(100, 20, random_state=0)
    >>> figure = plot_functions(EmbeddingLasso(4).fit(X, y).functions_)
    >>> sum(ax.get_visible() for ax in figure.axes)
    4
    """
    drawn = [function for function in functions if len(function.grid)][:_MOST]
    if not drawn:
        raise InvalidInputError(
            "functions is empty, or has joint features only, which have no curve: pass "
            "functions_ of a fitted EmbeddingLasso."
        )
    down = -(-len(drawn) // _ACROSS)
    across = -(-len(drawn) // down)
    if figure is None:
        figure = drawing.new_figure((2.6 * max(across, 2), functions_height(len(drawn))))
    panels = np.ravel(figure.subplots(down, across, sharey=True, squeeze=False))
    shown = _shown_outputs(drawn)
    for ax, function in zip(panels, drawn, strict=False):
        _draw(ax, function, shown)
    for ax in panels[len(drawn) :]:
        ax.set_visible(False)
    several = len(shown) > 1
    for ax in panels[::across]:
        label = "added to the score" if several else f"added to {drawn[0].outputs[0]}"
        ax.set_ylabel(label, fontsize=SMALL, color=INK)
    if several:
        look: dict[str, Any] = {"frameon": False, "fontsize": SMALL, "labelcolor": INK}
        lines = [line for line in panels[0].get_lines() if line.get_label() in _labels(drawn)]
        figure.legend(handles=lines, loc="outside upper right", ncols=len(shown), **look)
    return figure


def functions_height(n_functions: int) -> float:
    """Height in inches of the panels of so many functions."""
    return _ABOVE + _ROW * -(-min(n_functions, _MOST) // _ACROSS)


def _shown_outputs(functions: Sequence[FeatureFunction]) -> list[int]:
    """Return the outputs that vary most, in their order."""
    spread = np.sum([np.square(function.spread) for function in functions], axis=0)
    return [int(j) for j in np.sort(np.argsort(-spread, kind="stable")[:_OUTPUTS])]


def _labels(functions: Sequence[FeatureFunction]) -> set[str]:
    return {drawing.shorten(name, 20) for name in functions[0].outputs}


def _draw(ax: Axes, function: FeatureFunction, shown: Sequence[int]) -> None:
    """Draw one function."""
    drawing.tidy(ax, "")
    ax.axhline(0, color=INK, linewidth=0.6, zorder=1)
    few = len(function.grid) < 30 or function.grid.dtype == object
    places = np.arange(len(function.grid)) if function.grid.dtype == object else function.grid
    for colour, output in zip(LINES, shown, strict=False):
        look: dict[str, Any] = {"color": colour, "linewidth": 1.0 if few else 1.8, "zorder": 3}
        look["label"] = drawing.shorten(function.outputs[output], 20)
        look |= {"marker": "o", "markersize": 5} if few else {}
        ax.plot(places, function.values[output], **look)
    if function.grid.dtype == object:
        labels = [drawing.shorten(str(label), 10) for label in function.grid]
        ax.set_xticks(places, labels=labels, fontsize=SMALL, parse_math=False)
    else:
        drawing.few_ticks(ax.xaxis, 4)
    name = drawing.shorten(function.name, 22)
    ax.set_title(f"{name}  {function.share:.0%}", fontsize=TEXT, color=INK, parse_math=False)
