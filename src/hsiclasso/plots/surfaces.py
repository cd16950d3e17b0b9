"""The shape of a joint dependence: the fitted surface of a pair of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hsiclasso._checks import check_choice
from hsiclasso.errors import InvalidInputError
from hsiclasso.plots import drawing
from hsiclasso.plots.drawing import INK, SMALL, TEXT
from hsiclasso.plots.sides import draw_dots, name_sides, side_of
from hsiclasso.selectors.result import PairFunction

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_surface", "largest_value", "plot_surface", "widest_output"]

#: Red is more, blue is less, white is nothing.
_COLOURS = "RdBu_r"
#: Shades on either side of zero.
_SHADES = 8


def plot_surface(function: PairFunction, ax: Axes | None = None, output: Any = None) -> Axes:
    """Draw the fitted function of a pair of features as a surface seen from above.

    The colour is what the pair adds to the prediction, beside what the functions of single
    features add: red is more, blue is less. Dots are samples: where there are none, the surface
    is a guess. Labels and few numbers are drawn one by one.

    Parameters
    ----------
    function : PairFunction
        One of ``selector.functions_`` of an `EmbeddingLasso` with `interactions`.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure. A colour bar is drawn beside them.
    output : str, default=None
        Name of the output or class; by default the one in which the function varies most.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from hsiclasso import EmbeddingLasso
    >>> X = np.random.default_rng(0).standard_normal((200, 5))
    >>> selector = EmbeddingLasso(1, interactions="all").fit(X, X[:, 1] * X[:, 3])
    >>> ax = plot_surface(selector.functions_[0])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x1', 'x3')
    """
    if not isinstance(function, PairFunction):
        raise InvalidInputError(
            f"function={type(function).__name__}, but only the function of a pair is a surface: "
            "pass one of functions_ that is a PairFunction, or plot_functions(functions_)."
        )
    number = widest_output([function])
    if output is not None:
        check_choice("output", str(output), function.outputs)
        number = function.outputs.index(str(output))
    if ax is None:
        ax = drawing.new_figure((5.2, 4.2)).add_subplot()
    limit = largest_value([function], number)
    colours = draw_surface(ax, function, number, limit)
    tidy_bar(ax.figure.colorbar(colours, ax=ax), f"added to {function.outputs[number]}", limit)
    return ax


def draw_surface(ax: Axes, function: PairFunction, output: int, limit: float) -> Any:
    """Draw one surface with colours up to a limit; return what a colour bar needs."""
    across, up = (side_of(*one) for one in zip(function.members, function.grids, strict=True))
    values = function.values[output].T
    look: dict[str, Any] = {"cmap": _COLOURS, "zorder": 1}
    colours: Any
    if across.one_by_one or up.one_by_one:
        look |= {"vmin": -limit, "vmax": limit, "shading": "nearest", "rasterized": True}
        colours = ax.pcolormesh(across.places, up.places, values, **look)
    else:
        levels = np.linspace(-limit, limit, 2 * _SHADES + 1)
        colours = ax.contourf(across.places, up.places, values, levels, extend="both", **look)
    look = {"s": 9, "color": INK, "linewidths": 0.4, "zorder": 3}
    draw_dots(ax, across, up, function.samples, **look)
    name_sides(ax, across, up)
    share = f"{drawing.shorten(function.name, 30)}  {function.share:.0%}"
    ax.set_title(share, fontsize=TEXT, color=INK, parse_math=False)
    return colours


def widest_output(functions: list[PairFunction]) -> int:
    """Return the output in which functions vary most."""
    return int(np.argmax(np.sum([np.square(one.spread) for one in functions], axis=0)))


def largest_value(functions: list[PairFunction], output: int) -> float:
    """Return the largest value of some surfaces, or three standard deviations on the samples.

    Where there are no samples, a surface may have values that are larger than all others.
    """
    each = [
        min(float(np.abs(one.values[output]).max(initial=0.0)), 3 * float(one.spread[output]))
        for one in functions
    ]
    largest = max(each)
    if not largest > 0:
        return 1.0
    digit = 10 ** np.floor(np.log10(largest))
    return float(np.ceil(2 * largest / digit) * digit / 2)


def tidy_bar(bar: Any, label: str, limit: float | None = None) -> None:
    """Give a colour bar few plain numbers, on both sides of 0 up to a limit, and no frame."""
    bar.set_label(drawing.shorten(label), fontsize=TEXT, color=INK, parse_math=False)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=SMALL, colors=INK, length=0)
    drawing.few_ticks(bar.ax.yaxis, 5)
    if limit is not None:
        ticks = np.linspace(-limit, limit, 5)
        bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
