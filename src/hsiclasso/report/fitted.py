"""The fitted functions of Embedding Lasso, where there is no data to draw."""

from __future__ import annotations

import numpy as np

from hsiclasso.report.drawn import Drawn
from hsiclasso.report.shapes import Shape
from hsiclasso.report.svg import Axis, Plot, digit_of, dots, line, number, picture
from hsiclasso.selectors.result import FeatureFunction, PairFunction

__all__ = ["draw_function"]

#: Outputs that a picture shows, and labels.
_OUTPUTS, _LABELS = 4, 8


def draw_function(function: FeatureFunction | PairFunction) -> Shape:
    """Draw what the values of a feature add to the prediction.

    Parameters
    ----------
    function : FeatureFunction or PairFunction
        One of ``result.functions``; a pair and a joint feature have no picture.
    """
    if isinstance(function, PairFunction) or not len(function.grid):
        return Shape(None, "Its function is one of several columns, and has no curve.")
    shown = np.sort(np.argsort(-np.asarray(function.spread), kind="stable")[:_OUTPUTS])
    labelled = function.grid.dtype == object
    grid = function.grid[: _LABELS if labelled else None]
    values = function.values[shown][:, : grid.size]
    (left, right), (low, high) = Plot.room()
    across = Axis.of(np.array([0.0, 1.0]) if labelled else grid, left, right)
    if labelled:
        across = Axis.naming([str(label) for label in grid], left, right)
    plot = Plot(across, Axis.of(values.ravel(), low, high))
    x = plot.x.at(np.arange(grid.size) if labelled else grid)
    draw = dots if labelled or grid.size < 20 else line
    letter = "d large" if draw is dots else "l"
    parts = [
        draw(x, plot.y.at(one), class_=f"{letter} c{k}{f' h{k}' if draw is line else ''}")
        for k, one in enumerate(values)
    ]
    names = tuple(function.outputs[k] for k in shown)
    what = f"added to {names[0]}" if len(names) == 1 else "added to the score"
    most, least = int(np.argmax(values[0])), int(np.argmin(values[0]))
    step = digit_of(values)
    words = (
        f"Fitted function: it adds most ({number(float(values[0, most]), step)}) to {names[0]} at "
        f"{_value(grid[most])}, least ({number(float(values[0, least]), step)}) at "
        f"{_value(grid[least])}."
    )
    title = f"{what} over {function.name}. {words}"
    made = picture(title, plot.frame(function.name, what), parts)
    return Shape(Drawn(made, words, names if len(names) > 1 else ()))


def _value(value: object) -> str:
    return number(float(value)) if isinstance(value, float) else str(value)
