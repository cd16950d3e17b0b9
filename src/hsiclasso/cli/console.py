"""The terminal, or what stands in its place, and plain words for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from hsiclasso._display import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["make_console", "plain", "show"]

#: Letters of a line that goes to a file or a pipe.
_PIPE_WIDTH = 120


def make_console(*, stderr: bool = False) -> Console:
    """Return a console for standard output or error."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _PIPE_WIDTH
    return console


def plain(words: str, style: str = "") -> Text:
    """Return words as they are: brackets in them are no markup, and escapes are shown."""
    from rich.text import Text

    return Text(printable(words), style)


def show(console: Console, part: Any) -> None:
    """Print a table or a sentence; a terminal breaks its lines between words, a file keeps them."""
    console.print(part, soft_wrap=hasattr(part, "plain") and not console.is_terminal)
