"""Temporary files that a killed process leaves behind are removed by the next that makes one.

A name says which process made the file: that of a living one is never removed. A number of a
process means something only where it was given, so that the name has the running system too: its
boot and its container. What another system left, or this one before it was started again, is
removed when nothing was written to it for a week by the clock of its own disk.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from pathlib import Path

from hsiclasso.data.fingerprint import hash_of

__all__ = ["new_file"]

#: How a file is made that must not exist.
_NEW = os.O_CREAT | os.O_EXCL | os.O_WRONLY
_WEEK = 7 * 86_400
_BOOT, _CONTAINER = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")


def new_file(folder: Path, suffix: str, mode: int = 0o600, *, ages: bool = True) -> Path:
    """Make an empty file with a name that nobody can foresee; remove what was left behind.

    Parameters
    ----------
    folder : Path
    suffix : str
        End of the name, by which files that were left behind are known too.
    mode : int
        Permissions, of which the process may hold some back.
    ages : bool
        Whether files of unknown processes are removed after a week. No, if a file is read for long.
    """
    name = f".hsiclasso-{_system()}-{os.getpid()}-{secrets.token_hex(8)}{suffix}"
    file = folder / name
    os.close(os.open(file, _NEW, mode))
    try:
        _remove_left(file, suffix, ages)
    except BaseException:  # an interrupt
        file.unlink(missing_ok=True)
        raise
    return file


def _remove_left(new: Path, suffix: str, ages: bool) -> None:
    """Remove the files beside a new one that no living process writes, as far as it is allowed."""
    known = re.compile(rf"\.hsiclasso-(\w+)-(\d+)-[0-9a-f]{{16}}{re.escape(suffix)}")
    with contextlib.suppress(OSError):
        now, here = _last_change(new), _system()
        for found in map(known.fullmatch, os.listdir(new.parent)):
            if found is None or found[0] == new.name:
                continue
            with contextlib.suppress(OSError):
                file = new.parent / found[0]
                if found[1] == here != "unknown":
                    is_left = _is_dead(int(found[2]))
                else:
                    is_left = ages and now - _last_change(file) > _WEEK
                if is_left:
                    file.unlink()


def _last_change(file: Path) -> float:
    state = file.lstat()
    return max(state.st_mtime, state.st_ctime)


def _system() -> str:
    """Return what tells this running system from others; "unknown" if nothing does."""
    try:
        return hash_of(_BOOT.read_text(), os.readlink(_CONTAINER))[:12]
    except OSError:  # only Linux has them
        return "unknown"


def _is_dead(process: int) -> bool:
    """Whether no process of this system has a number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # it belongs to another user
        return False
    return False
