"""Formulas as MathML, which browsers show without scripts and without a network."""

from __future__ import annotations

from typing import Literal

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

#: What the converter leaves as it is, does not know as a relation, or does not let grow.
_REPAIRS = (
    (r"\|</mo>", "&#x2016;</mo>"),
    ("<mi>&#x02AB0;</mi>", "<mo>&#x02AB0;</mo>"),
    ("<mo minsize", '<mo stretchy="true" minsize'),
)


def formula(text: str, display: Literal["inline", "block"]) -> str:
    """Return a formula as MathML."""
    made = convert(text, display=display)
    for old, new in _REPAIRS:
        made = made.replace(old, new)
    return made


def within_a_line(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(formula(node.astext(), "inline"))
    raise nodes.SkipNode


def on_its_own(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula that has lines of its own."""
    self.body.append(f'<div class="formula">{formula(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (within_a_line, None), (on_its_own, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
