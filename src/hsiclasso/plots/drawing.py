"""What all figures share: colours and sizes, tidy axes, names and ticks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hsiclasso._types import FloatArray
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
    "digit_of",
    "empty",
    "few_ticks",
    "figure_height",
    "limits",
    "name_axes",
    "name_dots",
    "name_rows",
    "new_figure",
    "number",
    "shorten",
    "spread_apart",
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
#: Lines by which the name of a dot may be moved up or down.
_SHIFTS = 5
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


def number(value: float, step: float | None = None) -> str:
    """Return a number as people write it.

    Examples
    --------
    >>> number(0.30000000000000004, 0.1), number(1234567.0), number(12.3456)
    ('0.3', '1.23e+06', '12.3')
    """
    if step is not None:
        value = round(value / step) * step
        if not value:
            return "0"
        digits = 1 + int(np.floor(np.log10(abs(value))) - np.floor(np.log10(step)))
        return f"{value:.{max(digits, 6)}g}"
    return f"{value:.3g}" if abs(value) < 1000 or abs(value) >= 1e5 else f"{value:,.0f}"


def digit_of(values: FloatArray) -> float:
    """Return the smallest step between numbers that matters among some values.

    Examples
    --------
    >>> float(digit_of(np.array([0.5, 12.3])))
    0.1
    """
    spread = float(np.ptp(values)) or float(np.abs(values).max(initial=0.0)) or 1.0
    return float(10.0 ** (np.floor(np.log10(spread)) - 2))


def name_axes(ax: Axes, text: str) -> None:
    """Write what axes show above them."""
    ax.set_title(shorten(text, 90), fontsize=TEXT + 1, color=INK, loc="left", parse_math=False)


def name_dots(
    ax: Axes, x: FloatArray, y: FloatArray, names: Mapping[int, str], letters: int = 20
) -> None:
    """Name some of the dots of axes whose limits are set, most important first.

    A name stands beside its dot, or higher or lower, where it covers no dot and no other name.
    """
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    inches = ax.bbox.width / ax.figure.dpi, ax.bbox.height / ax.figure.dpi
    line, letter = 1.3 * SMALL / 72 / inches[1], 0.62 * SMALL / 72 / inches[0]
    dots = np.column_stack([(x - left) / (right - left), (y - low) / (high - low)])
    taken: list[tuple[float, float, float, float]] = []
    for k, name in names.items():
        text, (at, up) = shorten(name, letters), dots[k].tolist()
        wide, beside = letter * len(text), 1.5 * letter
        boxes = [
            (begin, up + shift * line, begin + wide, up + (shift + 1) * line)
            for shift in sorted(np.arange(-_SHIFTS, _SHIFTS, 0.5) - 0.5, key=lambda v: abs(v + 0.5))
            for begin in (at + beside, at - beside - wide)
        ]
        inside = [box for box in boxes if min(box) >= 0 and max(box) <= 1] or boxes
        box = min(inside, key=lambda box: _covered(box, dots, taken))
        taken.append(box)
        side = box[0] > at
        ax.annotate(
            text, xy=(at, up), xytext=(box[0] if side else box[2], 0.5 * (box[1] + box[3])),
            xycoords="axes fraction", textcoords="axes fraction", fontsize=SMALL, color=INK,
            ha="left" if side else "right", va="center", parse_math=False, zorder=5,
            arrowprops={"arrowstyle": "-", "color": QUIET, "lw": 0.7, "shrinkA": 0, "shrinkB": 3},
        )  # fmt: skip


def _covered(box: Any, dots: FloatArray, taken: Sequence[Any]) -> int:
    """Count the dots, and the names many times over, that a box would cover."""
    left, low, right, high = box
    x, y = dots.T
    inside = np.count_nonzero((x > left) & (x < right) & (y > low) & (y < high))
    names = sum(left < r and right > a and low < t and high > b for a, b, r, t in taken)
    return int(inside + 1000 * names)


def spread_apart(heights: FloatArray, gap: float) -> FloatArray:
    """Move heights in [0, 1] apart to at least `gap`, in their order and as little as possible.

    Examples
    --------
    >>> spread_apart(np.array([0.5, 0.3, 0.3]), 0.1).round(2).tolist()
    [0.5, 0.25, 0.35]
    """
    from sklearn.isotonic import isotonic_regression

    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(heights.size)
    room = max(0.0, 1.0 - float(steps[-1]))
    spread = np.empty_like(heights)
    spread[order] = steps + isotonic_regression(heights[order] - steps, y_min=0.0, y_max=room)
    return spread
