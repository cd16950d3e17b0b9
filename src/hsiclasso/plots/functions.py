"""The shape of each dependence: the fitted functions of all selected features and pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hsiclasso.errors import InvalidInputError
from hsiclasso.plots import drawing
from hsiclasso.plots.drawing import INK, LINES, SMALL, TEXT
from hsiclasso.plots.surfaces import draw_surface, largest_value, tidy_bar, widest_output
from hsiclasso.selectors.result import FeatureFunction, PairFunction

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["functions_height", "plot_functions"]

#: Panels of a row, and the most that are drawn.
_ACROSS, _MOST = 5, 20
#: The same for surfaces.
_SURFACES_ACROSS, _MOST_SURFACES = 4, 12
#: Height of a row of panels, of a row of surfaces, and of what is above them, in inches.
_ROW, _SURFACE_ROW, _ABOVE = 2.1, 2.7, 0.6
#: Outputs that a panel shows: those in which the function varies most.
_OUTPUTS = 6


def plot_functions(
    functions: Sequence[FeatureFunction | PairFunction], figure: Figure | SubFigure | None = None
) -> Figure | SubFigure:
    """Draw the function of each feature in a panel of its own, on a common scale.

    A curve shows what the value of the feature adds to the prediction; labels and small integers
    have dots. With several outputs or classes, a panel shows those that vary most. Pairs of
    features have surfaces, below the curves, of the output in which they vary most.

    Parameters
    ----------
    functions : sequence of FeatureFunction and PairFunction
        ``selector.functions_``; the first 20 curves and the first 12 surfaces are drawn.
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
    curves, surfaces = _drawn(functions)
    if not curves and not surfaces:
        raise InvalidInputError(
            "functions is empty, or has joint features only, which have no curve: pass "
            "functions_ of a fitted EmbeddingLasso."
        )
    if figure is None:
        wide = max(2.6 * min(max(len(curves), 2), _ACROSS), 3.2 * len(surfaces) + 0.6)
        figure = drawing.new_figure((min(wide, 2.6 * _ACROSS), functions_height(functions)))
    if not surfaces:
        return _draw_curves(curves, figure)
    if not curves:
        return _draw_surfaces(surfaces, figure)
    heights = functions_height(curves), functions_height(surfaces)
    parts: Any = figure.subfigures(2, 1, height_ratios=heights)
    _draw_curves(curves, parts[0])
    _draw_surfaces(surfaces, parts[1])
    return figure


def functions_height(functions: Sequence[FeatureFunction | PairFunction]) -> float:
    """Height in inches of the panels of some functions; 0 if they have none."""
    curves, surfaces = _drawn(functions)
    height = _ABOVE + _ROW * -(-len(curves) // _ACROSS) if curves else 0.0
    return height + (_ABOVE + _SURFACE_ROW * _n_rows(surfaces) if surfaces else 0.0)


def _n_rows(surfaces: Sequence[PairFunction]) -> int:
    return -(-len(surfaces) // _SURFACES_ACROSS)


def _drawn(
    functions: Sequence[FeatureFunction | PairFunction],
) -> tuple[list[FeatureFunction], list[PairFunction]]:
    """Return the curves and the surfaces that are drawn."""
    curves = [one for one in functions if isinstance(one, FeatureFunction) and len(one.grid)]
    surfaces = [one for one in functions if isinstance(one, PairFunction)]
    return curves[:_MOST], surfaces[:_MOST_SURFACES]


def _draw_curves(drawn: list[FeatureFunction], figure: Figure | SubFigure) -> Figure | SubFigure:
    """Draw curves, which share their outputs and the scale of the prediction."""
    down = -(-len(drawn) // _ACROSS)
    across = -(-len(drawn) // down)
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


def _draw_surfaces(drawn: list[PairFunction], figure: Figure | SubFigure) -> Figure | SubFigure:
    """Draw surfaces, which share their output, their colours and one colour bar."""
    down = _n_rows(drawn)
    across = -(-len(drawn) // down)
    panels = np.ravel(figure.subplots(down, across, squeeze=False))
    output = widest_output(drawn)
    limit = largest_value(drawn, output)
    for ax, function in zip(panels, drawn, strict=False):
        colours = draw_surface(ax, function, output, limit)
    for ax in panels[len(drawn) :]:
        ax.set_visible(False)
    bar = figure.colorbar(colours, ax=panels.tolist(), aspect=20 * down)
    tidy_bar(bar, f"added to {drawn[0].outputs[output]}", limit)
    return figure


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
