"""The shape of each dependence: which picture shows a feature and the target."""

from __future__ import annotations

from dataclasses import dataclass

from hsiclasso.plots.seen import Groups, Seen
from hsiclasso.plots.shape_data import Lives, Over, Scatter, Shares, Strips, shape_of
from hsiclasso.report import boxes
from hsiclasso.report.drawn import Drawn
from hsiclasso.report.lives import draw_lives
from hsiclasso.report.pairs import draw_pair
from hsiclasso.report.scatter import draw_scatter
from hsiclasso.selectors.result import SelectedFeature

__all__ = ["Shape", "draw_shape"]


@dataclass(frozen=True)
class Shape:
    """A picture of a feature, or why there is none."""

    drawn: Drawn | None
    #: What a reader should know besides.
    note: str = ""


def draw_shape(feature: SelectedFeature, seen: Seen) -> Shape:
    """Draw how the target depends on a feature."""
    shape = shape_of(feature, seen)
    return Shape(_draw(shape.shown), shape.note)


def _draw(shown: Scatter | Strips | Shares | Lives | Over | None) -> Drawn | None:
    if isinstance(shown, Scatter):
        return draw_scatter(shown.name, shown.x, shown.target, shown.y)
    if isinstance(shown, Strips):
        return boxes.draw_strips(shown)
    if isinstance(shown, Shares):
        return boxes.draw_shares(shown)
    if isinstance(shown, Lives):
        return draw_lives(shown.groups, shown.times)
    if isinstance(shown, Over):
        target = shown.target
        if isinstance(target, Groups):
            return draw_pair(shown.columns, target.name, target)
        return draw_pair(shown.columns, target.names[0], target.values[0])
    return None
