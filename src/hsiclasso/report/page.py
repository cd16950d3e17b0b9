"""The page: sections in their order, with one style and one script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from hsiclasso.plots.drawing import LINES
from hsiclasso.report.markup import Markup, json_text, tag

__all__ = ["listed", "paragraphs", "section", "write_page"]

#: Colours on a dark page: Okabe and Ito's, lighter where they would be hard to see.
_ON_DARK = (
    "#56B4E9", "#E69F00", "#2FC79B", "#E39BC2", "#8CCBF0",
    "#F0E442", "#9A8CF0", "#E26A92", "#7FD6C6", "#FFFFFF",
)  # fmt: skip
#: Shades from small to large, which differ in lightness too.
_SHADES = ("#3B1C6B", "#3B6FA0", "#24968A", "#7CC24A", "#E8C400")
_SHADES_ON_DARK = ("#7A5AC8", "#4F8FCB", "#2FB3A3", "#93D15E", "#FDE725")


def write_page(title: str, sections: Sequence[Markup | None], data: Any) -> str:
    """Return the page.

    Parameters
    ----------
    title : str
    sections : sequence of Markup
        What is below the title, in this order.
    data : object
        What the script works on, as JSON.
    """
    script = _read("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Markup(_style())),
    ]
    body = [
        tag("header", tag("h1", title)),
        tag("main", sections),
        tag("script", json_text(data), type="application/json", id="data"),
        tag("script", Markup(script)),
    ]
    page = tag("html", tag("head", head), "\n", tag("body", body), lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


@cache
def _read(name: str) -> str:
    return files("hsiclasso.report").joinpath(name).read_text(encoding="utf-8").strip()


def _style() -> str:
    """Return the style sheet, with the colours of groups and shades."""
    light = _variables("p", LINES) + _variables("s", _SHADES)
    dark = _variables("p", _ON_DARK) + _variables("s", _SHADES_ON_DARK)
    groups = "".join(f".c{k}{{--c:var(--p{k})}}" for k in range(len(LINES)))
    shades = "".join(f".s{k}{{--c:var(--s{k})}}" for k in range(len(_SHADES)))
    colours = f":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return f"{colours}\n{groups}{shades}\n{_read('page.css')}"


def _variables(letter: str, colours: Sequence[str]) -> str:
    return "".join(f"--{letter}{k}:{colour};" for k, colour in enumerate(colours))


def section(title: str, *content: Any, name: str) -> Markup:
    """Return a section with its title."""
    look = {"id": name, "aria_labelledby": f"{name}-title"}
    return tag("section", tag("h2", title, id=f"{name}-title"), content, **look)


def paragraphs(texts: Sequence[str], **look: Any) -> list[Markup]:
    """Return a paragraph for each text."""
    return [tag("p", text, **look) for text in texts]


def listed(pairs: Mapping[str, str]) -> Markup:
    """Return names with what they stand for."""
    return tag("dl", [tag("div", tag("dt", a), tag("dd", b)) for a, b in pairs.items()])
