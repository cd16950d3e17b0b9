"""The sides of a picture over two features: numbers along an axis, or a few values one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.plots import drawing
from hsiclasso.plots.drawing import INK, SMALL, TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FEW_VALUES", "Side", "draw_dots", "name_sides", "side_of"]

#: Most different values of a side that are drawn one by one.
FEW_VALUES = 12
#: Width over which dots of one value are spread, and the steps from one dot to the next, across and
#: up: multiples of them fill a square evenly.
_SPREAD, _STEPS = 0.7, (0.7548776662, 0.5698402910)


@dataclass(frozen=True)
class Side:
    """One of two features of a picture."""

    name: str
    #: Values or labels at which something is drawn, shape (g,).
    values: Any
    #: Whether these are all values, drawn one by one.
    one_by_one: bool

    @property
    def places(self) -> FloatArray:
        """Places of the values on the axis, shape (g,)."""
        places = np.arange(len(self.values)) if self.one_by_one else self.values
        return np.asarray(places, dtype=np.float64)

    @property
    def labels(self) -> list[str]:
        """Short names of the values."""
        is_number = self.values.dtype != object
        return [f"{v:g}" if is_number else drawing.shorten(str(v), 10) for v in self.values]

    def at(self, samples: Any) -> FloatArray:
        """Return the places (m,) of samples; NaN where a value is not drawn."""
        if not self.one_by_one:
            return np.asarray(samples, dtype=np.float64)
        if self.values.dtype != object:  # numbers, but for their last digits
            nearest = np.abs(samples[:, None] - self.values).argmin(axis=1)
            return np.asarray(nearest, dtype=np.float64)
        known = {value: place for place, value in enumerate(self.values.tolist())}
        return np.array([known.get(value, np.nan) for value in samples.tolist()])


def side_of(name: str, values: Any) -> Side:
    """Return the side of a feature at some values: labels and few numbers are drawn one by one.

    Examples
    --------
    >>> side_of("dose", np.array([0.0, 1.0, 5.0])).places.tolist()
    [0.0, 1.0, 2.0]
    """
    return Side(name, values, values.dtype == object or len(values) <= FEW_VALUES)


def name_sides(ax: Axes, across: Side, up: Side) -> None:
    """Make axes tidy, and write names and labels of both sides."""
    drawing.tidy(ax, drawing.shorten(across.name))
    ax.grid(visible=False)
    ax.set_ylabel(drawing.shorten(up.name), fontsize=TEXT, color=INK, parse_math=False)
    ax.xaxis.label.set_parse_math(False)
    for side, axis in ((across, ax.xaxis), (up, ax.yaxis)):
        if side.one_by_one:
            axis.set_ticks(side.places, labels=side.labels, fontsize=SMALL, parse_math=False)
            axis.set_tick_params(length=0)
        else:
            drawing.few_ticks(axis, 4)


def draw_dots(ax: Axes, across: Side, up: Side, samples: tuple[Any, Any], **look: Any) -> Any:
    """Draw samples; those of a value that is drawn by itself are spread beside each other."""
    places = []
    for side, values, step in zip((across, up), samples, _STEPS, strict=True):
        place = side.at(values)
        if side.one_by_one:
            place = place + _SPREAD * (np.arange(place.size) * step % 1 - 0.5)
        places.append(place)
    return ax.scatter(*places, edgecolors="white", **look)
