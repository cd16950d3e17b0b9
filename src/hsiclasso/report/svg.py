"""Small vector pictures: axes, dots, lines and boxes in whole units of a view box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.plots.drawing import digit_of, number, shorten
from hsiclasso.report.markup import Markup, tag

__all__ = [
    "HEIGHT",
    "WIDTH",
    "Axis",
    "Plot",
    "digit_of",
    "dots",
    "line",
    "number",
    "picture",
    "squares",
]

#: Size of a picture in its own units; letters are 22 of them high.
WIDTH, HEIGHT = 640, 460
#: Room for numbers and names on the left and below.
_LEFT, _RIGHT, _TOP, _BOTTOM = 100, 16, 14, 74
#: Letters of a name along an axis, and of a value; typical width of a letter.
_NAME, _VALUE, _LETTER = 34, 11, 12.5


@dataclass(frozen=True)
class Axis:
    """One axis of a picture: values from `low` to `high` lie between `start` and `end`."""

    low: float
    high: float
    start: float
    end: float
    #: Names of the places 0, 1, ...; empty for numbers.
    labels: tuple[str, ...] = ()
    log: bool = False

    @classmethod
    def of(cls, values: FloatArray, start: float, end: float) -> Axis:
        """Return an axis that shows all values, with a margin."""
        known = values[np.isfinite(values)]
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        gap = 0.04 * (high - low) or 0.5 * abs(high) or 1.0
        return cls(low - gap, high + gap, start, end)

    @classmethod
    def naming(cls, labels: Sequence[str], start: float, end: float) -> Axis:
        """Return an axis with a place for each label."""
        return cls(-0.6, len(labels) - 0.4, start, end, tuple(labels))

    def at(self, values: Any) -> Any:
        """Return the places of values."""
        low, high, values = self.low, self.high, np.asarray(values, dtype=np.float64)
        if self.log:
            low, high, values = np.log(low), np.log(high), np.log(values)
        return self.start + (self.end - self.start) * (values - low) / (high - low)

    def ticks(self, letters: int = _VALUE) -> list[tuple[float, str]]:
        """Return about five places with round numbers, or all that have a name."""
        if self.labels:
            return [(float(k), shorten(name, letters)) for k, name in enumerate(self.labels)]
        low, high = sorted((self.low, self.high))
        if self.log and high / low > 30:
            powers = range(int(np.ceil(np.log10(low))), int(np.floor(np.log10(high))) + 1)
            return [(10.0**power, number(10.0**power)) for power in powers]
        rough = (high - low) / 4.5
        digit = 10.0 ** np.floor(np.log10(rough))
        step = digit * min((1, 2, 5, 10), key=lambda size: abs(size * digit - rough))
        first, last = int(np.ceil(low / step)), int(np.floor(high / step))
        return [(place * step, number(place * step, step)) for place in range(first, last + 1)]


@dataclass(frozen=True)
class Plot:
    """The area of a picture, with its two axes."""

    x: Axis
    y: Axis

    @classmethod
    def room(cls, *, left: int = _LEFT) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return where the horizontal and the vertical axis start and end."""
        return (left, WIDTH - _RIGHT), (HEIGHT - _BOTTOM, _TOP)

    def frame(self, across: str, up: str = "") -> Markup:
        """Return rules, numbers and names of the axes."""
        parts = []
        for value, text in self.y.ticks():
            place = round(float(self.y.at(value)))
            if not self.y.labels:
                grid = f"M{self.x.start:.0f} {place}H{self.x.end:.0f}"
                parts.append(tag("path", class_="g", d=grid))
            look = {"text_anchor": "end", "x": round(self.x.start) - 8, "y": place + 7}
            parts.append(tag("text", text, **look))
        base = HEIGHT - _BOTTOM
        for place, text in self._below():
            parts.append(tag("text", text, text_anchor="middle", x=place, y=base + 28))
        parts.append(tag("path", class_="a", d=f"M{self.x.start:.0f} {base}H{self.x.end:.0f}"))
        middle = round((self.x.start + self.x.end) / 2)
        name = {"text_anchor": "middle", "class_": "n"}
        parts.append(tag("text", shorten(across, _NAME), x=middle, y=HEIGHT - 12, **name))
        if up:
            at = f"translate(18 {round((_TOP + base) / 2)}) rotate(-90)"
            parts.append(tag("text", shorten(up, _NAME - 6), transform=at, **name))
        return tag("g", parts, class_="axes")

    def _below(self) -> list[tuple[int, str]]:
        """Return numbers or names below the picture, those that do not overlap."""
        letters = _VALUE
        if self.x.labels:
            letters = max(3, int(abs(self.x.at(1) - self.x.at(0)) / _LETTER))
        found = [(round(float(self.x.at(v))), text) for v, text in self.x.ticks(letters)]
        shown: list[tuple[int, str]] = []
        for place, text in sorted(found):
            gap = _LETTER * (len(text) + (len(shown[-1][1]) if shown else 0)) / 2 + 8
            if not shown or self.x.labels or place - shown[-1][0] >= gap:
                shown.append((place, text))
        return shown


def picture(title: str, *parts: Any, height: int = HEIGHT, width: int = WIDTH) -> Markup:
    """Return a picture with a title that screen readers read."""
    look = {"viewBox": f"0 0 {width} {height}", "role": "img", "aria_label": title}
    natural = f"max-width:{width}px;min-width:{min(width, 540)}px" if width != WIDTH else None
    return tag("svg", tag("title", title), parts, style=natural, **look)


def dots(x: Any, y: Any, **look: Any) -> Markup:
    """Return dots as one path: relative steps are the shortest way to write them."""
    places = np.rint(np.column_stack([x, y])).astype(int)
    places = places[np.lexsort((places[:, 1], places[:, 0]))]
    steps = np.diff(places, axis=0, prepend=np.zeros((1, 2), dtype=int))
    data = "".join(f"m{dx}{' ' if dy >= 0 else ''}{dy}h0" for dx, dy in steps.tolist())
    return tag("path", d=data, **{"class_": "d"} | look)


def line(x: Any, y: Any, **look: Any) -> Markup:
    """Return a line; it is broken where a value is NaN."""
    parts, pen = [], "M"
    for across, up in zip(np.asarray(x).tolist(), np.asarray(y).tolist(), strict=True):
        if across != across or up != up:
            pen = "M"
            continue
        parts.append(f"{pen}{across:.4g} {up:.4g}")
        pen = "L"
    return tag("path", d="".join(parts), **{"class_": "l"} | look)


def squares(columns: Any, rows: Any, side: float, **look: Any) -> Markup:
    """Return squares of a grid as one path."""
    data = "".join(
        f"M{c * side:.0f} {r * side:.0f}h{side:.0f}v{side:.0f}h-{side:.0f}z"
        for c, r in zip(columns, rows, strict=True)
    )
    return tag("path", d=data, **look)
