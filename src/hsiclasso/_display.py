"""Names of features and labels as text: what a terminal or a spreadsheet would obey is escaped."""

from __future__ import annotations

from typing import Any

__all__ = ["as_cell", "label_text", "printable"]

#: How text begins that a spreadsheet takes for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def printable(text: str) -> str:
    r"""Return text in which characters that are not printed are escapes.

    Examples
    --------
    >>> print(printable("gene\x1b[31m β"))
    gene\x1b[31m β
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


def as_cell(value: Any) -> Any:
    """Return a value for CSV: text that a spreadsheet would run as a formula gets a quote in front.

    Examples
    --------
    >>> as_cell("=1+1"), as_cell("TP53"), as_cell(-2.5)
    ("'=1+1", 'TP53', -2.5)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def label_text(label: Any) -> str:
    """Return a label as text; whole numbers without a point, as files have them.

    Examples
    --------
    >>> label_text(4.0), label_text(0.5), label_text("case")
    ('4', '0.5', 'case')
    """
    whole = isinstance(label, float) and label.is_integer()
    return str(int(label)) if whole else str(label)
