"""How much memory there is, and sizes in words."""

from __future__ import annotations

import os
import re
from pathlib import Path

from hsiclasso.errors import InvalidInputError

__all__ = ["as_bytes", "free_bytes", "in_words", "resident_bytes", "swap_bytes"]

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
#: Assumed if the system does not say how much memory is free.
_UNKNOWN = 4 * 2**30
#: What Linux says about memory, and about the limits of a container.
_MEMORY, _GROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


def as_bytes(what: str, value: int | float | str) -> int:
    """Read a size: a number of bytes, or text such as ``"4GB"`` or ``"500 MiB"``.

    Examples
    --------
    >>> as_bytes("memory_limit", "1.5GB")
    1500000000
    """
    match = re.fullmatch(r"\s*([\d.]+)\s*([a-zA-Z]*)\s*", str(value))
    if isinstance(value, bool) or match is None or match[2].upper() not in _UNITS:
        raise InvalidInputError(
            f"{what}={value!r} is no size: give a number of bytes, or text such as '4GB' or "
            "'500MB'."
        )
    try:
        return int(float(match[1]) * _UNITS[match[2].upper()])
    except ValueError:
        raise InvalidInputError(f"{what}={value!r} is no size: give text such as '4GB'.") from None


def in_words(size: float) -> str:
    """Return a number of bytes in a unit that reads well.

    Examples
    --------
    >>> in_words(1536), in_words(4e9)
    ('1.5 kB', '4.0 GB')
    """
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size:.0f} bytes"


def free_bytes() -> int:
    """Return how much memory can be used, as the system and the limits of its container say."""
    sizes = [_number(r"MemAvailable:\s+(\d+) kB", _MEMORY) * 1024]
    limit = _number(r"(\d+)", _GROUP / "memory.max")
    if limit:
        # pages of files count as used, but the system gives them up
        files = _number(r"\binactive_file (\d+)", _GROUP / "memory.stat")
        used = _number(r"(\d+)", _GROUP / "memory.current") - files
        sizes.append(max(1, limit - max(0, used)))
    known = [size for size in sizes if size]
    if known:
        return min(known)
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):  # not on Windows
        return _UNKNOWN


def swap_bytes() -> int:
    """Return how much swap space is free; 0 if the system does not say."""
    return _number(r"SwapFree:\s+(\d+) kB", _MEMORY) * 1024


def resident_bytes() -> int:
    """Return the memory of this process that is resident now; 0 if the system does not say."""
    return _number(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status")) * 1024


def _number(pattern: str, file: Path) -> int:
    """Return the number that a pattern finds in a file of the system; 0 if there is none."""
    try:
        match = re.search(pattern, file.read_text())
    except OSError:
        return 0
    return int(match[1]) if match else 0
