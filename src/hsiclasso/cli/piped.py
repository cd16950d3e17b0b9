"""A table on standard input, which is kept in a file because readers look at it more than once."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from hsiclasso.errors import InvalidInputError

__all__ = ["PIPE", "named", "on_disk"]

#: What stands for standard input in place of a file.
PIPE = Path("-")
_NAME = "standard input"
#: First bytes of the formats that can be piped; all else is text.
_FORMATS = {b"\x1f\x8b": ".txt.gz", b"\x28\xb5\x2f\xfd": ".txt.zst", b"PAR1": ".parquet"}


def named(file: Path) -> str:
    """Return what a file is called.

    Examples
    --------
    >>> named(PIPE), named(Path("genes.csv"))
    ('standard input', 'genes.csv')
    """
    return _NAME if file == PIPE else str(file)


@contextmanager
def on_disk(file: Path) -> Iterator[Path]:
    """Yield the file, or one with all of standard input, which lasts as long as the command.

    Errors within the block name standard input instead.
    """
    if file != PIPE:
        yield file
        return
    folder = click.get_current_context().with_resource(tempfile.TemporaryDirectory())
    stream = sys.stdin.buffer
    head = stream.read(max(map(len, _FORMATS)))
    suffix = next((end for mark, end in _FORMATS.items() if head.startswith(mark)), ".txt")
    kept = Path(folder) / f"stdin{suffix}"
    with kept.open("wb") as target:
        target.write(head)
        shutil.copyfileobj(stream, target)
    try:
        yield kept
    except InvalidInputError as error:
        raise InvalidInputError(str(error).replace(str(kept), _NAME)) from error
