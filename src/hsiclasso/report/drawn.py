"""A picture together with what it says in words."""

from __future__ import annotations

from dataclasses import dataclass

from hsiclasso.report.markup import Markup

__all__ = ["Drawn"]


@dataclass(frozen=True)
class Drawn:
    """A picture, what it shows in a sentence, and the names of its colours."""

    picture: Markup
    words: str
    #: Names of the colours 0, 1, ...; empty if the axes say everything.
    legend: tuple[str, ...] = ()
    #: Class of the colours: ``c`` for groups, ``s`` for small to large.
    colours: str = "c"
