"""An error, or the end of the process, at every write of every writer.

``python -m reliability.faults [--writers csv h5ad ...] [--kinds ENOSPC EIO EACCES size kill disk]``

Opening a file for writing, renaming, removing, making folders: the interpreter announces each such
call (`sys.addaudithook`), and the n-th of them that concerns the folder fails, for n = 1, 2, ...
until all succeed. What is written within a file is limited by the system (`RLIMIT_FSIZE`), at
every so many bytes; so are the writes of compiled libraries. With `disk`, which needs root, the
folder is a small disk that gets full. With `kill`, the process ends at the n-th call, as by kill
-9. After each: a file is as it was or complete, nothing else is left, the error is one line of the
shell, and the same command, again, gives the same result.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reliability import records
from reliability.writers import WRITERS, RefusedError, Writer, make_data, small_chunks

KINDS = ("ENOSPC", "EIO", "EACCES", "size", "kill", "disk")
_CALLS = {"os.rename", "os.remove", "os.mkdir", "os.chmod", "os.chown", "os.truncate", "os.link"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_OLD = b"the old content"
#: Most limits of a file's size that are tried for one writer.
_SIZES = 12


class _Hook:
    """Fails, or ends the process, at the n-th call that changes something in a folder."""

    def __init__(self) -> None:
        self.folder, self.at, self.seen, self.kind = "", 0, 0, ""
        sys.addaudithook(self)

    def arm(self, folder: Path, at: int, kind: str) -> None:
        self.folder, self.at, self.seen, self.kind = str(folder), at, 0, kind

    def disarm(self) -> bool:
        """Stop failing; return whether the n-th call has come."""
        self.folder = ""
        return self.seen >= self.at

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.folder or not (event in _CALLS or event == "open"):
            return
        if event == "open" and not _writes(args[1], args[2]):
            return
        if not any(str(path).startswith(self.folder) for path in args[:2]):
            return
        self.seen += 1
        if self.seen != self.at:
            return
        if self.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        code = getattr(errno, self.kind)
        raise OSError(code, os.strerror(code), str(args[0]))


def _writes(mode: Any, flags: Any) -> bool:
    return bool(set(mode) & set("wax+")) if isinstance(mode, str) else bool((flags or 0) & _WRITING)


def torture(name: str, kinds: tuple[str, ...], hook: _Hook) -> dict[str, Any]:
    """Let one writer fail in every way; return counts of the answers, and what is wrong."""
    writer, answers, wrong = WRITERS[name], Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as place:
        folder, valid = (Path(place).resolve() / part for part in ("work", "valid"))
        folder.mkdir()
        make_data(folder)
        expected = writer.write(folder)
        shutil.copytree(folder, valid, ignore=shutil.ignore_patterns(*writer.made))
        sizes = [file.stat().st_size for file in _files(folder / writer.made[0])]
        limits = {"size": _limits(max(sizes)), "disk": _limits(sum(sizes))}
        for kind in kinds:
            with _small_disk(folder) if kind == "disk" else contextlib.nullcontext():
                for n in limits.get(kind, range(1, 10_000)):
                    _begin_anew(folder, valid, writer)
                    answer, came = _once(writer, folder, kind, n, hook)
                    answers[f"{kind}: {answer.split(': ')[0]}"] += 1
                    problems = [answer] if answer.startswith("foreign") else []
                    problems += _look(writer, folder, valid, kind, expected)
                    wrong += [f"{name}, {kind} {n}: {problem}" for problem in problems]
                    if not came:
                        break
    return {"answers": dict(answers), "wrong": wrong}


def _limits(size: int) -> list[int]:
    """Return sizes from nothing to more than is needed: a file may be larger before it is done."""
    around = {1, max(0, size - 1), *(size + 2**k for k in range(9, 22, 3))}
    return sorted({size * k // _SIZES for k in range(_SIZES)} | around)


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]


def _begin_anew(folder: Path, valid: Path, writer: Writer) -> None:
    """Empty a folder and fill it with the data, and with an old file that is to be replaced."""
    for part in folder.iterdir():
        shutil.rmtree(part) if part.is_dir() else part.unlink()
    shutil.copytree(valid, folder, dirs_exist_ok=True)
    if Path(writer.made[0]).suffix:
        (folder / writer.made[0]).write_bytes(_OLD)


@contextlib.contextmanager
def _small_disk(folder: Path) -> Iterator[None]:
    """Put a disk of its own, in memory, in the place of a folder; only root may do so."""
    _mount("-t", "tmpfs", "-o", "size=64m", "none", str(folder))
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def _mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


def _once(writer: Writer, folder: Path, kind: str, n: int, hook: _Hook) -> tuple[str, bool]:
    """Run the writer with a fault; return the answer, and whether the fault came."""
    if kind == "kill":
        return _killed(writer, folder, n, hook)
    if kind in ("size", "disk"):
        with _limited_size(n) if kind == "size" else _nearly_full(folder, n):
            return _answer(writer, folder), True
    hook.arm(folder, n, kind)
    try:
        answer = _answer(writer, folder)
    finally:
        came = hook.disarm()
    return answer, came


@contextlib.contextmanager
def _limited_size(size: int) -> Iterator[None]:
    """Let no file grow beyond a size."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


@contextlib.contextmanager
def _nearly_full(folder: Path, size: int) -> Iterator[None]:
    """Leave so many bytes on the disk of a folder, in whole pages."""
    disk = os.statvfs(folder)
    page = disk.f_frsize
    used = (disk.f_blocks - disk.f_bfree + size // page) * page
    _mount("-o", f"remount,size={used}", str(folder))
    try:
        yield
    finally:
        _mount("-o", "remount,size=64m", str(folder))


def _answer(writer: Writer, folder: Path) -> str:
    try:
        writer.write(folder)
    except RefusedError:
        return "refused"
    except Exception as error:
        return f"foreign: {type(error).__name__}: {error}"
    return "written"


def _killed(writer: Writer, folder: Path, n: int, hook: _Hook) -> tuple[str, bool]:
    """Run the writer in a copy of this process, which ends at the n-th call."""
    child = os.fork()
    if child == 0:
        hook.arm(folder, n, "kill")
        answer = _answer(writer, folder)
        os._exit(0 if answer == "written" else 3)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    answer = {0: "written", -signal.SIGKILL: "killed"}.get(code, f"foreign: exit code {code}")
    return answer, code != 0


def _look(writer: Writer, folder: Path, valid: Path, kind: str, expected: str) -> list[str]:
    """Return what is wrong in the folder, and with the same command once more."""
    wrong = []
    for made in writer.made:
        path = folder / made
        is_old = path.is_file() and path.read_bytes() == _OLD
        try:
            if path.exists() and not is_old and not writer.complete(path):
                wrong.append(f"{made} is not complete")
        except Exception as error:
            wrong.append(f"{made} cannot be read ({error})")
    known = {*(file.name for file in valid.iterdir()), *writer.made}
    if kind != "kill":  # a process that is killed cannot clean up
        wrong += _left(folder, known)
    for file in valid.iterdir():
        if file.is_file() and file.read_bytes() != (folder / file.name).read_bytes():
            wrong.append(f"{file.name} has changed")
    try:
        if writer.write(folder) != expected:
            wrong.append("the result of another run differs")
    except Exception as error:
        wrong.append(f"another run fails ({error})")
    return wrong + _left(folder, known)


def _left(folder: Path, known: set[str]) -> list[str]:
    """Return what is in a folder that nobody asked for."""
    names = [file.name for file in folder.iterdir() if file.name not in known]
    names += [file.name for file in folder.rglob("*.part")]
    return [f"{', '.join(names)} is left"] if names else []


def run(writers: list[str], kinds: tuple[str, ...]) -> dict[str, Any]:
    """Torture writers, and return what came of it by writer."""
    small_chunks()
    warnings.simplefilter("ignore")
    hook = _Hook()
    return {name: torture(name, kinds, hook) for name in writers}


def main() -> None:
    """Torture the writers that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m reliability.faults")
    parser.add_argument("--writers", nargs="*", choices=list(WRITERS), default=list(WRITERS))
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=list(KINDS[:-1]))
    parser.add_argument("--record", action="store_true", help="write the record of the page")
    asked = parser.parse_args()
    found = run(asked.writers, tuple(asked.kinds))
    if asked.record:
        records.save("faults", {"writers": found})
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
