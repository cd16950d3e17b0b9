"""A pair of features in the data: the target over both of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hsiclasso._display import label_text
from hsiclasso._types import BoolArray, FloatArray
from hsiclasso.data import Dataset, as_dataset
from hsiclasso.errors import InvalidInputError, require
from hsiclasso.plots import drawing
from hsiclasso.plots.drawing import INK, LINES, QUIET, SMALL
from hsiclasso.plots.sides import FEW_VALUES, Side, draw_dots, name_sides
from hsiclasso.plots.surfaces import tidy_bar
from hsiclasso.selectors.columns import ColumnFinder
from hsiclasso.targets import Values, as_target

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_pair"]

#: Colours of numbers, dark to bright.
_COLOURS = "viridis"
#: Points on a side of the background, and the samples nearby with which it has half its colour.
_SIDE, _NEAR = 120, 0.7
#: Width of the background's kernel, in standard deviations, for one sample.
_WIDTH = 0.9
#: How much of a colour is left in the background.
_PALE = 0.45
#: Share of the numbers that are darker than the darkest colour, and of those brighter.
_TAIL = 0.02


def plot_pair(
    X: Any, y: Any, pair: Sequence[str | int], *, target: Any = "auto", ax: Axes | None = None
) -> Axes:
    """Draw the target over two features.

    Each sample is a dot with the colour of its target. The background is the mean of the samples
    nearby, or for classes the mixture of their colours; it fades where there are none. Labels
    and few numbers are drawn one by one. If both features have few values, a table shows the mean
    for each combination, or the share of the most frequent class, and the number of samples.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        As in `HSICLasso.fit`.
    y : array-like of shape (n_samples,) or str
        Numbers or classes, or the name of their column in X.
    pair : sequence of two str or int
        Names or indices of the columns, such as ``result_.features[0].columns``.
    target : str or Target, default="auto"
        What y is, as in `HSICLasso`.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure. A colour bar or a legend is beside them.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from hsiclasso import HSICLasso
    >>> X = np.random.default_rng(0).standard_normal((200, 5))
    >>> y = X[:, 1] * X[:, 3]
    >>> result = HSICLasso(1, interactions="all").fit(X, y).result_
    >>> ax = plot_pair(X, y, result.features[0].columns)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x1', 'x3')
    """
    data = _Pair.read(as_dataset(X, y), pair, target)
    if ax is None:
        ax = drawing.new_figure((5.2, 4.2)).add_subplot()
    if data.across.one_by_one and data.up.one_by_one:
        _draw_table(ax, data)
    else:
        _draw_cloud(ax, data)
    name_sides(ax, data.across, data.up)
    return ax


@dataclass(frozen=True)
class _Pair:
    """Samples on which both features and the target are known."""

    across: Side
    up: Side
    samples: tuple[Any, Any]
    #: Numbers, or codes of classes, shape (n,).
    target: FloatArray
    #: Names of the classes; empty for numbers.
    classes: tuple[str, ...]
    #: Name of the target.
    name: str

    @classmethod
    def read(cls, data: Dataset, pair: Sequence[str | int], target: Any) -> _Pair:
        """Look columns and target up, and check them."""
        source = data.source
        columns = ColumnFinder(source)("pair", pair)
        if len(set(columns.tolist())) != 2 or columns.size != 2:
            raise InvalidInputError(
                f"pair={pair!r} must name two columns: that of an interaction of three or more "
                "has no picture."
            )
        prepared = as_target(target).prepare(data.y, source.n_samples)
        values = prepared.data
        if not isinstance(values, Values) or len(values.raw) != 1:
            raise InvalidInputError(
                "y must be one number or class per sample to be drawn over two features: pass one "
                "output, or for survival the time."
            )
        block = source.block(columns).T
        if prepared.rows is not None:
            block = block[:, prepared.rows]
        known = ~np.isnan(block).any(axis=0)
        sides, samples = [], []
        for column, own in zip(columns.tolist(), block[:, known], strict=True):
            labels = source.categories(column)
            if labels is not None:
                own = np.array([labels[int(code)] for code in own], dtype=object)
            sides.append(_side(source.name(column), own))
            samples.append(own)
        classes = values.labels[0] if values.kernel.of_labels and values.labels else ()
        names = tuple(map(label_text, classes))
        called = (*data.target_names, "y")[0]
        both = (samples[0], samples[1])
        return cls(sides[0], sides[1], both, values.raw[0][known], names, called)

    @property
    def colours(self) -> FloatArray:
        """Red, green and blue of each class, shape (c, 3)."""
        to_rgb = require("matplotlib.colors", "plots").to_rgb
        names = [*LINES, *[QUIET] * len(self.classes)][: len(self.classes)]
        return np.array([to_rgb(name) for name in names])

    @property
    def outputs(self) -> FloatArray:
        """What is averaged, shape (q, n): numbers, or an indicator of each class."""
        if not self.classes:
            return self.target[None]
        return np.array([self.target == code for code in range(len(self.classes))], dtype=float)


def _side(name: str, values: Any) -> Side:
    """Return a side with the values of a column, or points between them if they are many."""
    is_number = values.dtype != object
    distinct = np.unique(values) if is_number else np.array(sorted(set(values), key=str), object)
    few = len(distinct) <= FEW_VALUES or not is_number
    points = distinct if few else np.linspace(distinct[0], distinct[-1], _SIDE)
    return Side(name, points, few)


def _near(side: Side, samples: Any) -> FloatArray:
    """Return how near each sample is to each place of a side, between 0 and 1: (g, n)."""
    apart = side.places[:, None] - side.at(samples)
    if side.one_by_one:
        return np.asarray(apart == 0, dtype=np.float64)
    width = _WIDTH * float(np.std(samples)) * len(samples) ** (-1 / 6)
    return np.asarray(np.exp(-0.5 * np.square(apart / (width or 1.0))))


def _means(data: _Pair) -> tuple[FloatArray, FloatArray]:
    """Return the means (q, h, g) near each place, up by across, and the number of samples there."""
    across, up = _near(data.across, data.samples[0]), _near(data.up, data.samples[1])
    counts = up @ across.T
    sums = np.array([(up * values) @ across.T for values in data.outputs])
    return np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0), counts


def _draw_cloud(ax: Axes, data: _Pair) -> None:
    """Draw samples, and what is usual nearby behind them."""
    means, counts = _means(data)
    dots: dict[str, Any] = {"s": 22, "linewidths": 0.5, "zorder": 3}
    if data.classes:
        image = np.einsum("chg,cr->hgr", means, data.colours)
        dots["color"] = data.colours[data.target.astype(int)]
    else:
        low, high = np.quantile(data.target, [_TAIL, 1 - _TAIL])
        dots |= {"c": data.target, "cmap": _COLOURS, "vmin": low, "vmax": high}
    colours = draw_dots(ax, data.across, data.up, data.samples, **dots)
    if data.classes:
        _class_legend(ax, data)
    else:
        image = colours.to_rgba(means[0])[..., :3]
        tidy_bar(ax.figure.colorbar(colours, ax=ax), data.name)
    strength = np.square(counts) / (np.square(counts) + _NEAR**2)
    places = data.across.places, data.up.places
    ax.pcolormesh(*places, _pale(image, strength), shading="nearest", rasterized=True, zorder=1)


def _draw_table(ax: Axes, data: _Pair) -> None:
    """Draw a cell for each combination of values: its mean, and its number of samples."""
    means, counts = _means(data)
    seen = counts > 0
    places = data.across.places, data.up.places
    look: dict[str, Any] = {"shading": "nearest", "edgecolors": "white", "linewidth": 1.5}
    if data.classes:
        first, share = means.argmax(axis=0), means.max(axis=0)
        image = 1 - (1 - data.colours[first]) * share[..., None]
        ax.pcolormesh(*places, _pale(image, seen * 1.0), **look)
        words = [
            [f"{drawing.shorten(data.classes[c], 10)} {s:.0%}" for c, s in zip(*row, strict=True)]
            for row in zip(first, share, strict=True)
        ]
        light = np.ones(seen.shape, dtype=bool)
        _class_legend(ax, data)
    else:
        shown = np.ma.masked_where(~seen, means[0])
        colours = ax.pcolormesh(*places, shown, cmap=_COLOURS, **look)
        words = [[f"{value:.3g}" for value in row] for row in means[0]]
        middle = 0.5 * (shown.max() + shown.min())
        light = np.asarray(means[0] > middle)
        tidy_bar(ax.figure.colorbar(colours, ax=ax), f"mean of {data.name}")
    _write_cells(ax, data, words, counts, light)


def _write_cells(
    ax: Axes, data: _Pair, words: list[list[str]], counts: FloatArray, light: BoolArray
) -> None:
    """Write into each cell what it shows, and how many samples it has."""
    middle: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL}
    for h, up in enumerate(data.up.places):
        for g, across in enumerate(data.across.places):
            number = int(counts[h, g])
            text = f"{words[h][g]}\nn={number}" if number else "n=0"
            color = INK if light[h, g] or not number else "white"
            ax.text(across, up, text, color=color, parse_math=False, **middle)


def _pale(image: Any, strength: Any) -> FloatArray:
    """Make colours (h, g, 3) paler: white where the strength (h, g) is 0."""
    return np.asarray(1 - _PALE * strength[..., None] * (1 - image))


def _class_legend(ax: Axes, data: _Pair) -> None:
    """Name the colours of classes above the axes."""
    lines = require("matplotlib.lines", "plots")
    look: dict[str, Any] = {"marker": "o", "linestyle": "", "markeredgecolor": "white"}
    named = list(zip(data.classes, data.colours, strict=True))[: len(LINES)]
    handles = [
        lines.Line2D([], [], color=colour, label=drawing.shorten(name, 16), **look)
        for name, colour in named
    ]
    if len(data.classes) > len(LINES):
        handles.append(lines.Line2D([], [], color=QUIET, label="others", **look))
    look = {"frameon": False, "fontsize": SMALL, "labelcolor": INK, "handletextpad": 0.1}
    ncols = min(len(handles), 4)
    ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=ncols, **look)
