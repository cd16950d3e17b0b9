"""Writing figures to files, whole or not at all."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hsiclasso.data.atomic import check_writable, write_atomically
from hsiclasso.errors import InvalidInputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURE_SUFFIXES", "write_figure"]

#: Formats of `save_figure` and `save_ranks`.
FIGURE_SUFFIXES = (".png", ".svg", ".pdf")


def write_figure(draw: Callable[[], Figure], file: str | os.PathLike[str]) -> None:
    """Draw a figure and write it, if its format is known."""
    suffix = Path(file).suffix.lower()
    if suffix not in FIGURE_SUFFIXES:
        raise InvalidInputError(
            f"{file} has the suffix {suffix!r}, and the suffix tells the format of the figure: "
            f"use one of {', '.join(FIGURE_SUFFIXES)}."
        )
    check_writable(file)
    buffer = io.BytesIO()
    draw().savefig(buffer, format=suffix[1:], dpi=160)
    write_atomically(file, buffer.getvalue())
