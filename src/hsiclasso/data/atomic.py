"""Writing files: completely or not at all, and with the permissions that they had.

A regular file is replaced in one step. What is no regular file, such as a FIFO, is written to. What
a killed process leaves half-written beside a file is removed by the next write there.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hsiclasso.data.temporary import new_file
from hsiclasso.errors import InvalidInputError

__all__ = ["check_writable", "replacing", "write_atomically"]

#: Where devices are.
_DEVICES = Path("/dev")


def write_atomically(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a file so that it is complete or not there; one that exists is replaced in one step.

    Text becomes UTF-8; what UTF-8 cannot write, parts of characters, becomes escapes.
    """
    if isinstance(content, str):
        content = content.encode(errors="backslashreplace")
    with replacing(path) as part:
        part.write_bytes(content)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the name of a file to write; it takes the place of `path` when it is complete.

    A file that exists keeps its owner, permissions and other names. If it cannot be replaced so,
    its content is.
    """
    check_writable(path)
    final = Path(path).resolve()
    before = final.stat() if final.exists() else None
    beside = before is None or _is_replaceable(final, before)
    folder = final.parent if beside else Path(tempfile.gettempdir())
    # what was private is so from the start
    part = new_file(folder, ".part", 0o666 if before is None else 0o600)
    try:
        yield part
        if beside and (before is None or _keeps(part, before)):
            part.replace(final)
        else:
            with part.open("rb") as made, final.open("wb") as existing:
                shutil.copyfileobj(made, existing)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise OSError(errno.ENOSPC, error.strerror, str(path)) from error
        raise
    finally:
        part.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str], what: str = "") -> None:
    """Raise if a file cannot be written, or if writing it would harm a device.

    Parameters
    ----------
    path : path-like
        The file, which need not exist.
    what : str
        What it is called in errors, besides its path.
    """
    file = Path(path)
    named = f"{what} {file}".lstrip()
    try:
        final = file.resolve()
    except (RuntimeError, OSError):
        final = file
    if final.is_symlink():  # a loop
        raise InvalidInputError(f"{named} is a link that leads nowhere: choose another name.")
    folder = final.parent if file.is_symlink() else file.parent
    within = f"{named} lies in the folder {folder}, which"
    if final.is_dir():
        raise InvalidInputError(f"{named} is a folder: give the name of a file.")
    if not folder.is_dir():
        raise InvalidInputError(f"{within} does not exist: create it first.")
    if not final.exists():
        if not os.access(folder, os.W_OK):
            raise InvalidInputError(f"{within} cannot be written to: choose another.")
        return
    mode = final.stat().st_mode
    if stat.S_ISBLK(mode) or (file.is_symlink() and final.is_relative_to(_DEVICES)):
        raise InvalidInputError(f"{named} is the device {final}: give the name of a file.")
    if not (mode & 0o222 and os.access(final, os.W_OK)):
        raise InvalidInputError(
            f"{named} is read-only: allow that it is written, or choose another name."
        )


def _is_replaceable(file: Path, before: os.stat_result) -> bool:
    """Whether another file can take the place of one: it is regular and has no second name."""
    alone = stat.S_ISREG(before.st_mode) and before.st_nlink == 1
    return alone and os.access(file.parent, os.W_OK)


def _keeps(part: Path, before: os.stat_result) -> bool:
    """Give a new file the owner and the permissions of another, if that is allowed."""
    made = part.stat()
    try:
        if (made.st_uid, made.st_gid) != (before.st_uid, before.st_gid):
            os.chown(part, before.st_uid, before.st_gid)
        part.chmod(stat.S_IMODE(before.st_mode))
    except PermissionError:
        return False
    return True
