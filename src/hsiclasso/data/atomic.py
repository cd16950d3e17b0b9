"""Writing files completely or not at all."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that it is complete or not there; one that exists is replaced in one step."""
    final = Path(path).resolve()
    part = final.with_name(f".{final.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(final)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
