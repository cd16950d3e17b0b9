"""Markdown: numbers as the paper prints them, tables, and blocks between marks of a page."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from hsiclasso.data.atomic import write_atomically

MISSING = "---"


def number(value: float, digits: int = 3) -> str:
    """Return a number without a leading zero, as in the paper's tables: ``".946"``, ``"1.000"``."""
    if math.isnan(value):
        return MISSING
    value = round(value, digits + 8)  # means that end in a 5 differ in the last bit between pandas
    text = f"{round(value, digits) + 0.0:.{digits}f}"  # + 0.0: no negative zero
    return text.replace("0.", ".", 1) if abs(float(text)) < 1 else text


def seconds(value: float) -> str:
    """Return a time to two figures."""
    if math.isnan(value):
        return MISSING
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return the lines of a table; its first column is words, the others are centred."""
    lines = ["|" + "|".join(f" {cell} " for cell in row) + "|" for row in [head, *rows]]
    return [lines[0], "|---|" + ":-:|" * (len(head) - 1), *lines[1:], ""]


def marks(name: str) -> tuple[str, str]:
    """Return the two marks of a block."""
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def fill(page: Path, blocks: dict[str, str]) -> None:
    """Put each block between its marks, and leave the rest of the page alone.

    Raises
    ------
    ValueError
        If the page lacks a mark, or has it twice; it is not touched then.
    """
    text = page.read_text(encoding="utf-8")
    for name, block in blocks.items():
        begin, end = marks(name)
        if (text.count(begin), text.count(end)) != (1, 1) or text.index(begin) > text.index(end):
            raise ValueError(
                f"{page} must have the lines {begin} and {end}, once each and in this order, for "
                f"what is written between them; found {text.count(begin)} and {text.count(end)}."
            )
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{block.strip()}\n{end}{rest.split(end)[1]}"
    write_atomically(page, text.encode())
