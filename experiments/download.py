"""Fetches the original files of the paper's data sets from their public sources.

``python -m experiments.download`` gets all that are missing, ``python -m experiments.download
warpAR10P TOX_171`` some. A file appears under its name only when it is whole and its checksum is
right. The terms are those of the sources; the sets of faces are for research.
"""

import argparse
import gzip
import hashlib
import http.client
import os
import sys
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

from experiments.catalogue import CATALOGUE, Original, entry_of, present
from experiments.datasets import VARIABLE, add_data_option
from experiments.runner import tell

TIMEOUT = 60.0  # seconds without an answer
_CHUNK = 1 << 16


class DownloadError(Exception):
    """A file could not be fetched; the message says why and what to do."""


class FolderError(DownloadError):
    """The folder cannot be written to."""


def fetch(original: Original, folder: Path, mirror: str | None = None) -> Path:
    """Get one file into the folder, under another name until it is complete and checked.

    Parameters
    ----------
    mirror
        Address of a folder that has the file under the same name, to be used instead.
    """
    address = f"{mirror.rstrip('/')}/{original.name}" if mirror else original.address
    target = folder / original.name
    # the process in the name keeps two downloads of the same file apart
    part = folder / f"{original.name}.{os.getpid()}.part"
    try:
        _prepare(folder)
        try:
            with part.open("wb") as file, closing(_chunks(address)) as chunks:
                _copy(chunks, file, address, original)
            if original.sha256 is None:
                _unpack(part, address)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:  # those of the network have become a DownloadError
        raise _unwritable(folder, error) from error
    return target


def _unwritable(folder: Path, reason: object) -> FolderError:
    return FolderError(
        f"{folder} cannot be written to ({reason}). Name another folder with --data or the "
        f"variable {VARIABLE}."
    )


def _prepare(folder: Path) -> None:
    """Make the folder, with a file that keeps it out of version control."""
    if not folder.exists():
        folder.mkdir(parents=True)
        (folder / ".gitignore").write_text("*\n")
    # asked of the mode, because a superuser may write anywhere
    if not folder.stat().st_mode & 0o222:
        raise _unwritable(folder, "it is read-only")


def _chunks(address: str) -> Iterator[bytes]:
    """Yield what an address answers; any failure becomes an error with a clear sentence."""
    request = urllib.request.Request(address, headers={"User-Agent": "hsiclasso-experiments"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            left = answer.headers.get("Content-Length")
            left = int(left) if left else None
            while chunk := answer.read(_CHUNK):
                left = None if left is None else left - len(chunk)
                yield chunk
    except urllib.error.HTTPError as error:
        error.close()
        raise DownloadError(
            f"{address} answers {error.code} {error.reason}. The file has moved, or the source is "
            "out of order: try later, or name a mirror with --from."
        ) from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise DownloadError(
            f"{address} cannot be fetched ({reason}). Check the connection and try again, or name "
            "a mirror with --from."
        ) from error
    if left:
        raise DownloadError(f"{address} stopped {left} bytes before its end: try again.")


def _copy(chunks: Iterator[bytes], file: BinaryIO, address: str, original: Original) -> None:
    """Write an answer to a file and compare its length and checksum."""
    digest, received = hashlib.sha256(), 0
    progress = _Progress(original.name, original.size)
    for chunk in chunks:
        digest.update(chunk)
        received += file.write(chunk)
        progress.show(received)
        if original.size is not None and received > original.size:
            break  # it might have no end
    progress.end()
    if original.sha256 not in (None, digest.hexdigest()):
        raise DownloadError(
            f"{address} gave {received} bytes with the SHA-256 checksum {digest.hexdigest()}, not "
            f"{original.size} with {original.sha256}: it is another file, and is not kept."
        )


def _unpack(part: Path, address: str) -> None:
    """Read a compressed file to its end; this verifies the checksum that it carries."""
    try:
        with gzip.open(part) as file:
            while file.read(_CHUNK):
                pass
    except (OSError, EOFError, zlib.error) as error:
        raise DownloadError(f"{address} gave a damaged file ({error}): try again.") from error


class _Progress:
    """A line on a terminal that counts up; nothing elsewhere."""

    def __init__(self, name: str, size: int | None) -> None:
        self._name, self._size = name, size
        self._on = sys.stderr.isatty()

    def show(self, received: int) -> None:
        if self._on:
            of = f" of {self._size / 1e6:.1f}" if self._size else ""
            print(f"\r{self._name}: {received / 1e6:.1f}{of} MB", end="", file=sys.stderr)

    def end(self) -> None:
        if self._on:
            print("\r\033[K", end="", file=sys.stderr)


def _get(name: str, folder: Path, mirror: str | None) -> None:
    """Get a set unless it is there, and tell of it."""
    there = present(name, folder)
    if there is not None:
        tell(f"{name}: {there} is there already.")
        return
    entry = entry_of(name)
    if entry.original is None:
        raise DownloadError(f"{entry.remedy(name)} ({folder / entry.own[0]}).")
    path = fetch(entry.original, folder, mirror)
    tell(f"{name}: {path}, {path.stat().st_size / 1e6:.1f} MB, from {entry.original.where}.")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.download", description=__doc__.split("\n\n")[0]
    )
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="data sets (default: all): " + ", ".join(CATALOGUE))  # fmt: skip
    add_data_option(parser)
    parser.add_argument("--from", dest="mirror", metavar="URL",
                        help="a folder on the web that has the files by their names")  # fmt: skip
    chosen = parser.parse_args(arguments)
    try:
        for name in chosen.names:
            entry_of(name)
    except ValueError as error:
        parser.error(str(error))
    if chosen.mirror and not chosen.mirror.startswith(("http://", "https://")):
        parser.error(f"--from {chosen.mirror}: an address begins with http:// or https://.")
    return chosen


def main(arguments: list[str] | None = None) -> int:
    """Get what is missing; return 1 if something named could not be fetched, 130 if interrupted."""
    chosen = parse(arguments)
    failed = False
    try:
        for name in chosen.names or CATALOGUE:
            try:
                _get(name, chosen.data, chosen.mirror)
            except FolderError as error:
                tell(str(error))
                return 1
            except DownloadError as error:
                tell(f"{name}: {error}")
                # no address is known: a failure only for those who ask for the set
                failed |= bool(chosen.names) or CATALOGUE[name].original is not None
    except KeyboardInterrupt:
        tell("interrupted; files that are there are whole. The same command gets the others.")
        return 130
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
