"""Writing files completely or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replacing", "write_atomically"]


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that it is complete or not there; one that exists is replaced in one step."""
    with replacing(path) as part:
        part.write_bytes(content)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the name of a file to write; it takes the place of `path` when it is complete."""
    final = Path(path).resolve()
    part = final.with_name(f".{final.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(final)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise OSError(errno.ENOSPC, error.strerror, str(path)) from error
        raise
