"""Tables for terminals of any width: where there is little room, the least important columns go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hsiclasso.cli.console import make_console

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

__all__ = ["GAP", "LEAST_TEXT", "Column", "fitted_table", "numbers", "words"]

#: Letters between two columns, and those that a column of texts needs, whose lines are broken.
GAP, LEAST_TEXT = 2, 12


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    title: str
    cells: Sequence[str | Text]
    #: Columns of high numbers are left out first; 0 stays in any case.
    dispensable: int
    #: Letters that it needs.
    least: int
    look: dict[str, Any] = field(default_factory=dict)


def numbers(title: str, cells: Sequence[str], dispensable: int = 0) -> Column:
    """Return a column of numbers, whose lines cannot be broken."""
    least = max(map(len, [title, *cells]))
    return Column(title, cells, dispensable, least, {"justify": "right", "no_wrap": True})


def words(
    title: str, cells: Sequence[Text], dispensable: int = 0, least: int = LEAST_TEXT, **look: Any
) -> Column:
    """Return a column of texts, whose lines may be broken."""
    longest = max(len(title), *(len(cell) for cell in cells), 1)
    return Column(title, cells, dispensable, min(longest, least), look | {"overflow": "fold"})


def fitted_table(columns: Sequence[Column]) -> Table:
    """Return a table as wide as the terminal allows; it says which columns it leaves out."""
    from rich import box
    from rich.table import Table

    kept, room = list(columns), make_console().width
    while sum(column.least + GAP for column in kept) - GAP > room:
        last = max(kept, key=lambda column: column.dispensable)
        if not last.dispensable:
            break
        kept.remove(last)
    hidden = [column.title.strip() for column in columns if column not in kept]
    note = f"No room for: {', '.join(hidden)}." if hidden else None
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", caption=note,
        caption_justify="left",
    )  # fmt: skip
    for column in kept:
        table.add_column(column.title, **column.look)
    for row in zip(*(column.cells for column in kept), strict=True):
        table.add_row(*row)
    return table
