"""Checking MATLAB 5 files before SciPy reads them, which takes their tags at their word.

A file is a sequence of elements: a tag of a type and a number of bytes, then these bytes. A matrix
is an element made of elements: its class, shape and name, then its numbers; or, of a cell array, a
matrix for each cell. A compressed element holds a matrix. SciPy looks types up in a table without
asking whether they are there, and reads on behind the end of a matrix that has too few elements:
the interpreter may crash.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Container
from pathlib import Path
from typing import BinaryIO

__all__ = ["check_tags"]

#: Types of numbers; and those of letters.
_NUMBERS = frozenset((1, 2, 3, 4, 5, 6, 7, 9, 12, 13))
_LETTERS = frozenset((1, 2, 4, 16, 17, 18))
_MATRIX, _COMPRESSED, _FLAGS, _SHAPE = 14, 15, 6, 5
#: Classes of matrices: of cells, of letters, sparse, of numbers, and the one without a shape.
_CELLS, _CHAR, _SPARSE, _NUMERIC, _OPAQUE = 1, 4, 5, range(6, 16), 17
#: The flag of complex numbers, and the most numbers of a shape.
_COMPLEX, _MOST_AXES = 0x800, 32
#: Bytes that are read at once, and of a file's header.
_STEP, _HEADER = 1 << 20, 128
#: Most matrices within matrices.
_DEEPEST = 50


def check_tags(file: Path, names: Container[str] = ()) -> None:
    """Raise a ValueError if SciPy cannot read the variables with these names.

    Of other variables only the header is checked. Files of version 4 have no tags.
    """
    with file.open("rb") as stream:
        begin = stream.read(_HEADER)
        if len(begin) < _HEADER or 0 in begin[:4]:
            return
        order = "<" if begin[126:] == b"IM" else ">"
        end = file.stat().st_size
        while end - stream.tell() >= 8:
            kind, size = struct.unpack(f"{order}II", stream.read(8))
            start = stream.tell()
            if size > end - start:
                raise ValueError("the file ends within an element")
            inside = _Bytes(stream, size, order)
            if kind == _COMPRESSED:
                inside = _Bytes(_Inflated(stream, size), 8, order)
                kind, inner = inside.unpack("II")
                inside.left = inner
            if kind != _MATRIX:
                raise ValueError(f"an element of type {kind}")
            _check_matrix(inside, names, 0)
            stream.seek(start + size)


class _Inflated:
    """What a compressed element holds, read like a file."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream, self._left = stream, size
        self._more, self._rest = zlib.decompressobj(), b""

    def read(self, size: int) -> bytes:
        """Return so many bytes, or fewer at the end."""
        while len(self._rest) < size:
            packed = self._more.unconsumed_tail
            if not packed and self._left:
                packed = self._stream.read(min(self._left, _STEP))
                self._left -= len(packed)
            if not packed:
                break
            self._rest += self._more.decompress(packed, _STEP)
        made, self._rest = self._rest[:size], self._rest[size:]
        return made


class _Bytes:
    """The bytes of a matrix, of which no more are read."""

    def __init__(self, stream: BinaryIO | _Inflated, left: int, order: str) -> None:
        self._stream, self.left, self.order = stream, left, order

    def unpack(self, form: str) -> tuple[int, ...]:
        """Return numbers."""
        return struct.unpack(f"{self.order}{form}", self._read(struct.calcsize(f"={form}")))

    def element(self, kinds: Container[int], most: int = 0) -> bytes:
        """Read an element of one of some types; return its bytes if there are at most so many."""
        kind, size = self.unpack("II")
        small = kind >> 16  # the tag of a small element holds its bytes
        if kind & 0xFFFF not in kinds or small > 4 or (not small and size > self.left):
            raise ValueError(f"an element of type {kind & 0xFFFF} and {small or size} bytes")
        if small:
            return struct.pack(f"{self.order}I", size)[:small]
        content = self._read(size) if size <= most else b""
        filling = min(-size % 8, self.left - (0 if content else size))
        self.skip((0 if content else size) + filling)
        return content

    def _read(self, size: int) -> bytes:
        found = self._stream.read(size) if size <= self.left else b""
        if len(found) < size:
            raise ValueError("the file ends within an element")
        self.left -= size
        return found

    def skip(self, size: int) -> None:
        """Leave out so many bytes."""
        if not isinstance(self._stream, _Inflated):
            self._stream.seek(size, 1)
            self.left -= size
            return
        while size > 0:
            size -= len(self._read(min(size, _STEP)))


def _check_matrix(inside: _Bytes, names: Container[str] | None, depth: int) -> None:
    """Check a matrix; None for `names` checks it whatever it is called."""
    kind, size, flags, _ = inside.unpack("IIII")
    if (kind, size) != (_FLAGS, 8):
        raise ValueError(f"a matrix that begins with type {kind} and {size} bytes")
    if depth > _DEEPEST:
        raise ValueError(f"more than {_DEEPEST} matrices within matrices")
    form = flags & 0xFF
    shape = (1,) if form == _OPAQUE else _shape(inside)
    name = inside.element(_LETTERS, most=1 << 16).decode("latin-1")
    if names is not None and name not in names:
        return
    is_complex = bool(flags & _COMPLEX)
    if form == _CHAR:
        inside.element(_LETTERS)
    elif form in (_SPARSE, *_NUMERIC):
        for _ in range(is_complex + (3 if form == _SPARSE else 1)):
            inside.element(_NUMBERS)
    elif form == _CELLS:
        _check_cells(inside, math.prod(shape), depth)
    else:
        raise ValueError(f"{name!r} is neither numbers nor texts")


def _check_cells(inside: _Bytes, number: int, depth: int) -> None:
    for _ in range(number):
        kind, size = inside.unpack("II")
        if kind != _MATRIX or size > inside.left:
            raise ValueError(f"a cell of type {kind} and {size} bytes")
        if size:  # an empty cell has nothing
            rest = inside.left - size
            inside.left = size
            _check_matrix(inside, None, depth + 1)
            inside.skip(inside.left)
            inside.left = rest


def _shape(inside: _Bytes) -> tuple[int, ...]:
    """Return the shape of a matrix, which has two axes or more."""
    content = inside.element({_SHAPE}, most=4 * _MOST_AXES)
    shape: tuple[int, ...] = tuple(
        value
        for (value,) in struct.iter_unpack(f"{inside.order}i", content[: len(content) // 4 * 4])
    )
    if len(shape) < 2 or min(shape) < 0:
        raise ValueError(f"a matrix of shape {shape}")
    return shape
