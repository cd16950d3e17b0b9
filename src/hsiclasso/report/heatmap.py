"""How similar the selected features are: a heat map in the order of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.plots.drawing import shorten
from hsiclasso.plots.heatmap import clustered
from hsiclasso.report.markup import Markup, tag
from hsiclasso.report.svg import picture, squares

__all__ = ["HeatMap", "draw_heatmap"]

#: Most features that are drawn, and shades of similarity.
MOST, _SHADES = 60, 10
#: Room for the tree, for cells in all; largest cell; letters of a name and their width and height.
_TREE, _CELLS, _CELL, _LETTERS, _WIDTH, _HEIGHT = 130, 600, 56, 24, 0.7, 16
#: Cells are wide enough for their numbers from this size on.
_WITH_NUMBERS = 40


@dataclass(frozen=True)
class HeatMap:
    """The picture, and the most similar features in a sentence."""

    picture: Markup
    words: str


def draw_heatmap(
    names: tuple[str, ...], similarity: FloatArray, what: str = "selected features",
    *, marked: bool = True,
) -> HeatMap | None:  # fmt: skip
    """Draw similarities (s, s), similar ones next to each other; rows are `marked` as features."""
    names, similarity = names[:MOST], similarity[:MOST, :MOST]
    s = len(names)
    if s < 2:
        return None
    order, tree = clustered(similarity)
    side = max(8, min(_CELL, _CELLS // s))
    shown = similarity[np.ix_(order, order)]
    size = side * s
    short = [shorten(name, _LETTERS) for name in names]
    height = min(_HEIGHT, side)
    left = round(_WIDTH * height * max(map(len, short))) + 12
    cells = tag("g", _cells(shown, side), transform=f"translate({left} 0)")
    rows = [
        tag("g", _name(short[k], left, (place + 0.5) * side, height),
            _marks(left, place, side, size), data_f=k if marked else None)
        for place, k in enumerate(order)
    ]  # fmt: skip
    branches = _branches(tree, side, left + size + 6)
    words = _words(names, similarity)
    title = f"Similarity of the {s} {what}. {words}"
    made = picture(title, cells, rows, branches, width=left + size + _TREE, height=size + 4)
    return HeatMap(made, words)


def _cells(shown: FloatArray, side: int) -> list[Markup]:
    """Draw one path for each shade; large cells have their numbers."""
    shades = np.minimum((shown * _SHADES).astype(int), _SHADES - 1)
    made = []
    for shade in range(_SHADES):
        rows, columns = np.nonzero(shades == shade)
        if rows.size:
            look = {"class_": "cell", "fill_opacity": f"{0.04 + 0.96 * shade / (_SHADES - 1):.2g}"}
            made.append(squares(columns, rows, side, **look))
    if side >= _WITH_NUMBERS:
        for (row, column), value in np.ndenumerate(shown):
            at = {"x": round((column + 0.5) * side), "y": round((row + 0.5) * side) + 6}
            look = {"text_anchor": "middle", "class_": "v dark" if value > 0.55 else "v"}
            made.append(tag("text", f"{value:.2f}".lstrip("0") or "0", **look, **at))
    return made


def _name(name: str, left: int, middle: float, height: int) -> Markup:
    """Write the name of a row."""
    look = {"text_anchor": "end", "x": left - 8, "y": round(middle + height / 3)}
    return tag("text", name, style=f"font-size:{height}px", **look)


def _marks(left: int, place: int, side: int, size: int) -> list[Markup]:
    """Return what marks the cells of a row and those of its column."""
    across = {"x": left, "y": place * side, "width": size, "height": side}
    down = {"x": left + place * side, "y": 0, "width": side, "height": size}
    return [tag("rect", class_="mark", **across), tag("rect", class_="mark down", **down)]


def _branches(tree: dict[str, Any], side: int, left: float) -> Markup:
    """Draw the tree to the right of the cells: branches that join late join far away."""
    highest = max(max(one) for one in tree["dcoord"]) or 1.0
    data = []
    for heights, places in zip(tree["dcoord"], tree["icoord"], strict=True):
        x = [left + (_TREE - 16) * height / highest for height in heights]
        y = [side * place / 10 for place in places]
        data.append(f"M{x[0]:.0f} {y[0]:.0f}H{x[1]:.0f}V{y[2]:.0f}H{x[3]:.0f}")
    return tag("path", class_="tree", d="".join(data))


def _words(names: tuple[str, ...], similarity: FloatArray) -> str:
    """Name the three most similar pairs."""
    first, second = np.triu_indices(len(names), 1)
    values = similarity[first, second]
    most = np.argsort(-values, kind="stable")[:3]
    pairs = [
        f"{shorten(names[first[k]])} and {shorten(names[second[k]])} ({values[k]:.2f})"
        for k in most.tolist()
    ]
    return f"Most similar: {'; '.join(pairs)}."
