"""Features along the genome: how much the target depends on each, and which were selected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data import as_dataset
from hsiclasso.errors import InvalidInputError
from hsiclasso.inference import HSICScan
from hsiclasso.plots import drawing
from hsiclasso.plots.drawing import INK, LINES, QUIET, SMALL, TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_manhattan"]

#: Colours of neighbouring chromosomes.
_PALE = ("#7A8CA0", "#B9C4CF")
#: Gap between chromosomes, in parts of the genome; least part of one that is named.
_GAP, _NAMED = 0.012, 0.012
#: p-values are drawn down to this one.
_LEAST_P = 1e-300


def plot_manhattan(
    selected: Any, places: Any = None, *, labels: Mapping[str, str] | None = None,
    max_labels: int = 15, ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Draw features along the chromosomes; those that were selected are large, and named.

    The height is the relevance, or -log10 of the p-value if there are p-values.

    Parameters
    ----------
    selected : estimator, SelectionResult or HSICScan
        A fitted selector, for all features; its ``result_``, for those that were selected; or the
        tests of all features, of which those found at a false discovery rate of 0.1 are large.
    places : table or (chromosomes, positions), optional
        The table of the fit, if it knows the places of its columns: the path of a ``.bed`` file.
        Or two lists with one entry for each column: its chromosome and its position. Without
        places, the selected variants of a ``.bed`` file are drawn.
    labels : mapping of str to str, optional
        What selected features are called, such as their genes; by default their own names.
    max_labels : int, default=15
        Most features that are named, the highest ones.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from hsiclasso import HSICLasso, make_data1
    >>> X, y, causal = make_data1(100, 30, random_state=0)
    >>> selector = HSICLasso(4).fit(X, y)
    >>> places = np.repeat(["1", "2", "X"], 10), np.arange(30) * 1000
    >>> ax = plot_manhattan(selector, places)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['1', '2', 'X']
    """
    result = getattr(selected, "result_", selected)
    p_values = getattr(selected, "p_values_", None)
    if isinstance(result, HSICScan):
        p_values, features = result.p_value, _found(selected, result, places)
    else:
        features = [one for one in result.features if not one.members]
    if places is None:
        features = [one for one in features if {"chromosome", "position"} <= one.info.keys()]
        if not features:
            raise InvalidInputError(
                "no selected feature has a chromosome and a position: pass places, or select from "
                "genotypes, such as a .bed file."
            )
    if places is None:
        every, chosen = _Places.of([one.info for one in features]), np.arange(len(features))
        heights = np.array([one.relevance for one in features])
        if p_values is not None:
            heights = _minus_log(p_values[[one.index for one in features]])
    else:
        every, chosen = _Places.read(places), np.array([one.index for one in features], np.int64)
        values = _relevance(selected) if p_values is None else _minus_log(p_values)
        heights = _matching(values, every.size)
    ax = drawing.tidy_axes(ax, (10.0, 4.0), "chromosome")
    label = "relevance" if p_values is None else "-log10 of the p-value"
    ax.set_ylabel(label, fontsize=TEXT, color=INK)
    if places is not None:
        _cloud(ax, every, heights)
    x, y = every.along[chosen], heights[chosen]
    ax.scatter(x, y, 34, color=LINES[1], edgecolors="white", linewidths=0.8, zorder=4)
    ax.set_xlim(0, every.end)
    ax.set_ylim(0, 1.1 * float(heights.max(initial=0.0)) or 1.0)
    _name_chromosomes(ax, every)
    drawing.few_ticks(ax.yaxis)
    highest = np.argsort(-y, kind="stable")[:max_labels]
    own = {k: features[k].name for k in highest.tolist()}
    drawing.name_dots(ax, x, y, {k: (labels or {}).get(name, name) for k, name in own.items()})
    return ax


@dataclass(frozen=True)
class _Places:
    """Where variants lie, chromosome after chromosome."""

    #: Place of each variant along the genome, and number of its chromosome, shape (d,).
    along: FloatArray
    chromosome: IntArray
    #: Names of the chromosomes, their starts and their ends.
    names: list[str]
    starts: FloatArray
    ends: FloatArray

    @property
    def size(self) -> int:
        return self.along.size

    @property
    def end(self) -> float:
        """End of the genome."""
        return float(self.ends[-1])

    @classmethod
    def read(cls, places: Any) -> _Places:
        """Look up the places of all columns of a table, or take them as they are given."""
        if isinstance(places, tuple) and len(places) == 2:
            if len(places[0]) != len(places[1]):
                raise InvalidInputError(
                    f"places has {len(places[0])} chromosomes and {len(places[1])} positions: "
                    "give one of each for every column."
                )
            pairs = zip(*places, strict=True)
            return cls.of([{"chromosome": name, "position": at} for name, at in pairs])
        source = as_dataset(places).source
        found = [source.column_info(j) for j in range(source.n_features)]
        lost = next((j for j, one in enumerate(found) if "position" not in one), None)
        if lost is not None:
            raise InvalidInputError(
                f"places is a table that does not know where its column {source.name(lost)!r} "
                "lies: pass genotypes, such as the path of a .bed file, or two lists, of "
                "chromosomes and of positions."
            )
        return cls.of(found)

    @classmethod
    def of(cls, info: Sequence[Mapping[str, Any]]) -> _Places:
        """Lay chromosomes side by side, 1 to 22 before X, Y and others."""
        own = [str(one["chromosome"]) for one in info]
        position = np.array([one["position"] for one in info], dtype=np.float64)
        names = sorted(set(own), key=_order)
        place = {name: number for number, name in enumerate(names)}
        chromosome = np.array([place[name] for name in own], dtype=np.int64)
        first = np.full(len(names), np.inf)
        last = np.zeros(len(names))
        np.minimum.at(first, chromosome, position)
        np.maximum.at(last, chromosome, position)
        lengths = np.maximum(last - first, 1.0)
        gap = _GAP * float(lengths.sum())
        starts = gap + np.concatenate([[0.0], np.cumsum(lengths + gap)[:-1]])
        along = starts[chromosome] + position - first[chromosome]
        ends = starts + lengths
        ends[-1] += gap
        return cls(along, chromosome, names, starts, ends)


def _order(name: str) -> tuple[int, str]:
    """Sort chromosomes by number, then by name."""
    plain = name.lower().removeprefix("chr")
    return (int(plain), "") if plain.isdigit() else (1000, plain)


def _found(selected: Any, scan: HSICScan, places: Any) -> Sequence[Any]:
    """Return what tests find: as a selector was asked to, or by default."""
    if places is None:
        raise InvalidInputError(
            "places is None, but tests do not know where features lie: pass the table of the fit, "
            "such as the path of a .bed file, or two lists, of chromosomes and of positions."
        )
    found = scan.found() if selected is scan else scan.found(selected.mode, selected.level)
    return found.features


def _relevance(selected: Any) -> FloatArray:
    """Return the relevance of all columns."""
    relevance = getattr(selected, "relevance_", None)
    if relevance is None:
        raise InvalidInputError(
            "selected is a result, which has the relevance of the selected features only: pass the "
            "fitted selector."
        )
    return np.asarray(relevance)


def _matching(values: FloatArray, size: int) -> FloatArray:
    """Return the values of all columns; raise if places has another number of them."""
    if values.size != size:
        raise InvalidInputError(
            f"places has {size} columns, but the selector was fitted to {values.size}: pass those "
            "of the fit."
        )
    return values


def _minus_log(p_values: FloatArray) -> FloatArray:
    return np.asarray(-np.log10(np.maximum(p_values, _LEAST_P)))


def _cloud(ax: Axes, every: _Places, heights: FloatArray) -> None:
    """Draw all variants, neighbouring chromosomes in different shades."""
    for shade, colour in enumerate(_PALE):
        own = every.chromosome % 2 == shade
        look: dict[str, Any] = {"s": 5, "color": colour, "linewidths": 0, "zorder": 2}
        ax.scatter(every.along[own], heights[own], rasterized=True, **look)


def _name_chromosomes(ax: Axes, every: _Places) -> None:
    """Name chromosomes below their middles, those that have room for it."""
    wide = every.ends - every.starts > _NAMED * every.end
    middles = 0.5 * (every.starts + every.ends)
    names = [name if w else "" for name, w in zip(every.names, wide.tolist(), strict=True)]
    ax.set_xticks(middles, labels=names, fontsize=SMALL, parse_math=False)
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="x", visible=False)
    for start, end in zip(every.starts[1:], every.ends, strict=False):
        ax.axvline(0.5 * (start + end), color=QUIET, linewidth=0.8, zorder=1)
