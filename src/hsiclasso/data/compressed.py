"""Text files, compressed or not, opened as lines."""

from __future__ import annotations

import codecs
import gzip
import io
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from hsiclasso.errors import require

__all__ = ["COMPRESSED", "open_text"]

#: Suffixes of compressed text.
COMPRESSED = (".gz", ".zst")
#: Bytes that are unpacked at once.
_PACKED = 1 << 17
#: Largest window of a frame, that of ``zstd --long=31``.
_WINDOW = 1 << 31


def open_text(file: Path, encoding: str | None = None) -> TextIO:
    """Open a text file, ``.gz``, ``.zst`` (needs the extra ``zstd``) or plain.

    Without an encoding it is UTF-8, or UTF-16 if the file starts with its mark. A mark at the start
    is no part of the text.
    """
    binary = _open_bytes(file)
    if encoding is None:
        marked = binary.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        encoding = "utf-16" if marked else "utf-8-sig"
    elif codecs.lookup(encoding).name == "utf-8":
        encoding = "utf-8-sig"
    return io.TextIOWrapper(binary, encoding=encoding, newline="")


def _open_bytes(file: Path) -> io.BufferedReader:
    suffix = file.suffix.lower()
    if suffix == ".gz":
        return io.BufferedReader(cast(Any, gzip.open(file, "rb")))
    if suffix == ".zst":
        return io.BufferedReader(_ZstdFile(file))
    return file.open("rb")


class _ZstdFile(io.RawIOBase):
    """Bytes of a file of Zstandard frames; unlike the package's own, it notices a cut frame."""

    def __init__(self, file: Path) -> None:
        self._zstd = require("zstandard", "zstd")
        self._file: BinaryIO = file.open("rb")
        self._frame: Any = None
        self._packed = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """Whether the file can be read: yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, as `io.RawIOBase` asks."""
        while not self._ready:
            packed = self._packed or self._file.read(_PACKED)
            if not packed:
                if self._frame is not None:
                    raise EOFError("the file ends within a compressed frame")
                return 0
            self._ready = memoryview(self._unpacked(packed))
        n = min(len(buffer), len(self._ready))
        buffer[:n], self._ready = self._ready[:n], self._ready[n:]
        return n

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

    def _unpacked(self, packed: bytes) -> bytes:
        if self._frame is None:
            self._frame = self._zstd.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
        try:
            made: bytes = self._frame.decompress(packed)
        except self._zstd.ZstdError as error:
            raise OSError(str(error)) from error
        self._packed = b""
        if self._frame.eof:
            self._packed, self._frame = self._frame.unused_data, None
        return made
