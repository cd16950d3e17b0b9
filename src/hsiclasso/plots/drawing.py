"""What all figures share: colours and sizes, tidy axes, names and ticks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hsiclasso.dependence.features import INTERACTION
from hsiclasso.errors import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = [
    "BAR",
    "FEW",
    "INK",
    "LINES",
    "QUIET",
    "SMALL",
    "TEXT",
    "empty",
    "few_ticks",
    "figure_height",
    "limits",
    "name_rows",
    "new_figure",
    "shorten",
    "tidy",
    "tidy_axes",
    "title",
]

# Okabe and Ito's colours, which colour-blind readers can tell apart, and two more dark ones.
LINES = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9",
    "#E69F00", "#332288", "#882255", "#44AA99", "#000000",
)  # fmt: skip
BAR = LINES[0]
QUIET, INK, _RULE = "#C4C4C4", "#333333", "#E6E6E6"
#: Sizes of letters, in points.
TEXT, SMALL = 10, 9
#: Fewest letters of the name of a member of an interaction.
_LEAST_NAME = 3
#: Every figure has room for this many rows; bars are closer if there are more than the second.
FEW, _MANY = 8, 25


def new_figure(size: tuple[float, float]) -> Figure:
    """Make a figure of this size in inches, unknown to pyplot."""
    figure: Figure = require("matplotlib.figure", "plots").Figure(size, layout="constrained")
    return figure


def figure_height(n_rows: int) -> float:
    """Height in inches of a figure with this many bars."""
    return 2.0 + (0.28 if n_rows <= _MANY else 0.21) * max(n_rows, FEW)


def title(figure: Any, text: str) -> None:
    """Write the title of a figure."""
    figure.suptitle(text, fontsize=TEXT + 2, color=INK)


def tidy_axes(ax: Axes | None, size: tuple[float, float], label: str) -> Axes:
    """Return tidy axes: the given ones, or those of a new figure of this size."""
    made = new_figure(size).add_subplot() if ax is None else ax
    tidy(made, label)
    return made


def tidy(ax: Axes, label: str) -> None:
    """Give axes thin rules and few lines."""
    ax.set_xlabel(label, fontsize=TEXT, color=INK)
    ax.tick_params(labelsize=SMALL, colors=INK)
    ax.grid(color=_RULE, linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(QUIET)


def name_rows(ax: Axes, names: Sequence[str], marked: Collection[str] = ()) -> None:
    """Name the rows of a bar chart, some in bold, and hide its horizontal rules."""
    size = TEXT if len(names) <= _MANY else SMALL
    labels = [shorten(name) for name in names]
    ax.set_yticks(np.arange(len(names)), labels=labels, fontsize=size, parse_math=False)
    for name, label in zip(names, ax.get_yticklabels(), strict=True):
        label.set_fontweight("bold" if name in marked else "normal")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    few_ticks(ax.xaxis)


def few_ticks(axis: Axis, number: int = 5) -> None:
    """Put about so many plain numbers along an axis."""
    ticker = require("matplotlib.ticker", "plots")
    axis.set_major_locator(ticker.MaxNLocator(number))
    axis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))


def limits(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis that shows zero and all values, with a margin."""
    low, high = min([0.0, *values]), max([0.0, *values])
    return (1.08 * low, 1.08 * max(high, -0.1 * low)) if high > low else (0.0, 1.0)


def empty(ax: Axes, why: str = "no feature selected") -> Axes:
    """Say on the axes that there is nothing to draw."""
    ax.set_xticks([])
    ax.set_yticks([])
    middle: dict[str, Any] = {"ha": "center", "va": "center", "transform": ax.transAxes}
    ax.text(0.5, 0.5, why, fontsize=TEXT, color=INK, **middle)
    return ax


def shorten(name: str, most: int = 28) -> str:
    """Cut the middle out of a long name; of an interaction, out of its members' names.

    Examples
    --------
    >>> shorten("a_rather_long_name", 9), shorten("a_rather_long_name & x7", 14)
    ('a_ra…name', 'a_ra…name & x7')
    """
    if len(name) <= most:
        return name
    parts = name.split(INTERACTION)
    room = most - len(INTERACTION) * (len(parts) - 1)
    if len(parts) == 1 or room < _LEAST_NAME * len(parts):
        head = (most - 1) // 2
        return f"{name[:head]}…{name[head + 1 - most :]}"
    short = list(parts)
    for done, place in enumerate(sorted(range(len(parts)), key=lambda i: len(parts[i]))):
        short[place] = shorten(parts[place], room // (len(parts) - done))
        room -= len(short[place])
    return INTERACTION.join(short)
