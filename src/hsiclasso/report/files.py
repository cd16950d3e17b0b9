"""Writing a page to a file, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from hsiclasso.data.atomic import check_writable, write_atomically
from hsiclasso.errors import InvalidInputError

__all__ = ["REPORT_SUFFIXES", "write_page_to"]

#: Formats of a report.
REPORT_SUFFIXES = (".html", ".htm")


def write_page_to(file: str | os.PathLike[str], make: Callable[[], str]) -> None:
    """Make a page and write it, if the file can be one; the page is made after these checks."""
    path = Path(file)
    if path.suffix.lower() not in REPORT_SUFFIXES:
        raise InvalidInputError(
            f"{file} has the suffix {path.suffix!r}, but a report is a web page: use .html."
        )
    check_writable(path)
    write_atomically(path, make())
