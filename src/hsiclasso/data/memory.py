"""How much memory a table may take."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["free_memory", "memory_budget"]

#: Share of the free memory that a table may take.
_SHARE = 0.5
#: Where the limit and the use of a container are, if there is one.
_LIMIT, _USED = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")


def memory_budget(limit: int | None = None) -> int:
    """Return the bytes that a table may take: `limit`, or half of the free memory.

    Examples
    --------
    >>> memory_budget(1000)
    1000
    """
    return int(_SHARE * free_memory()) if limit is None else limit


def free_memory() -> int:
    """Return the bytes of memory that can be had without swapping."""
    free = _from_kernel(Path("/proc/meminfo")) or _from_system()
    limit, used = _number(_LIMIT), _number(_USED)
    return free if limit is None or used is None else max(0, min(free, limit - used))


def _from_kernel(file: Path) -> int | None:
    """Read what Linux says to be available."""
    try:
        lines = file.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    fields = [line.split() for line in lines if line.startswith("MemAvailable:")]
    return 1024 * int(fields[0][1]) if fields else None


def _from_system() -> int:
    """Return the whole memory of a system that does not say what is free, or a guess."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 4 * 2**30


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):  # there is no container, or its limit is "max"
        return None
