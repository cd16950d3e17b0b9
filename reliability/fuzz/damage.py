"""Damage to bytes, and to files with structure."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
from pathlib import Path

import numpy as np

Rng = np.random.Generator

#: Numbers at which programs go wrong, as text and as integers.
_NUMBERS = (
    b"0", b"-1", b"1", b"2147483648", b"1000000", b"9223372036854775807", b"18446744073709551616",
    b"1e400", b"nan", b"inf", b"-inf", b"1e-320", b"0x10", b"1,5", b"", b"\xff", b"None", b"true",
    b"1_000", "½".encode(), "٣".encode(), b"9" * 400, b"=1+1", b'"', b"\x00", b"\x1b[2J",
)  # fmt: skip
_INTEGERS = (0, 1, -1, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1, -(2**63))
#: Half of the damage falls on so many bytes at either end, where headers and indexes are.
_END = 400


def damaged(rng: Rng, data: bytes) -> bytes:
    """Return bytes with damage of one kind, or of a few."""
    for _ in range(int(rng.geometric(0.6))):
        data = _KINDS[int(rng.integers(len(_KINDS)))](rng, data)
    return data


def damage_file(rng: Rng, file: Path) -> None:
    """Damage a file; in half of the compressed ones what is inside, with right checksums."""
    data, inside = file.read_bytes(), rng.random() < 0.5
    try:
        made = _damage_inside(rng, file, data) if inside else damaged(rng, data)
    except Exception:  # it was damaged before, and cannot be opened any more
        made = damaged(rng, data)
    file.write_bytes(made)


def _damage_inside(rng: Rng, file: Path, data: bytes) -> bytes:
    if file.suffix == ".gz":
        return gzip.compress(damaged(rng, gzip.decompress(data)))
    if file.suffix == ".zst":
        import zstandard

        plain = zstandard.ZstdDecompressor().decompressobj().decompress(data)
        return zstandard.ZstdCompressor().compress(damaged(rng, plain))
    is_archive = zipfile.is_zipfile(io.BytesIO(data))
    return _damage_member(rng, data) if is_archive else damaged(rng, data)


def damage_folder(rng: Rng, folder: Path) -> None:
    """Damage one to three of the files of a folder; a few are removed."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    for _ in range(1 if len(files) == 1 else int(rng.integers(1, 4))):
        file = files[int(rng.integers(len(files)))]
        if len(files) > 1 and rng.random() < 0.05:
            file.unlink(missing_ok=True)
        elif file.exists():
            damage_file(rng, file)


def _damage_member(rng: Rng, data: bytes) -> bytes:
    """Damage a member of an archive, or its name; or leave it out, or have it twice."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    k, draw = int(rng.integers(len(members))), rng.random()
    name, content = members[k]
    if draw < 0.8:
        members[k] = (name, damaged(rng, content))
    elif draw < 0.9:
        members[k] = (damaged(rng, name.encode()).decode("latin-1")[:200], content)
    else:
        del members[k]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def _place(rng: Rng, size: int) -> int:
    """Draw a position, often near one of the ends."""
    draw = rng.random()
    if draw < 0.35:
        return int(rng.integers(min(size, _END) + 1))
    if draw < 0.5:
        return size - int(rng.integers(min(size, _END) + 1))
    return int(rng.integers(size + 1))


def _flip(rng: Rng, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 9)) if data else 0):
        changed[min(_place(rng, len(data)), len(data) - 1)] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _cut_short(rng: Rng, data: bytes) -> bytes:
    return data[: _place(rng, len(data))]


def _remove(rng: Rng, data: bytes) -> bytes:
    at = _place(rng, len(data))
    return data[:at] + data[at + int(rng.integers(1, 64)) :]


def _move(rng: Rng, data: bytes) -> bytes:
    """Insert a piece of the file elsewhere, or write it over what is there."""
    start, at, size = _place(rng, len(data)), _place(rng, len(data)), int(rng.integers(1, 128))
    piece = data[start : start + size]
    return data[:at] + piece + data[at + (len(piece) if rng.random() < 0.5 else 0) :]


def _noise(rng: Rng, data: bytes) -> bytes:
    at, noise = _place(rng, len(data)), rng.bytes(int(rng.integers(1, 17)))
    return data[:at] + noise + data[at + (len(noise) if rng.random() < 0.5 else 0) :]


def _fill(rng: Rng, data: bytes) -> bytes:
    at, size = _place(rng, len(data)), int(rng.integers(1, 33))
    return data[:at] + bytes([int(rng.choice([0, 32, 127, 255]))]) * size + data[at + size :]


def _integer(rng: Rng, data: bytes) -> bytes:
    size, at = int(rng.choice([1, 2, 4, 8])), _place(rng, len(data))
    value = _INTEGERS[int(rng.integers(len(_INTEGERS)))] % 256**size
    order = "little" if rng.random() < 0.8 else "big"
    return data[:at] + value.to_bytes(size, order) + data[at + size :]


def _number(rng: Rng, data: bytes) -> bytes:
    """Replace a number that is written as text, in a header for example."""
    at = _place(rng, len(data))
    found = re.compile(rb"-?\d+(\.\d+)?").search(data, at) or re.search(rb"\d+", data)
    if found is None:
        return _flip(rng, data)
    other = _NUMBERS[int(rng.integers(len(_NUMBERS)))]
    return data[: found.start()] + other + data[found.end() :]


def _word(rng: Rng, data: bytes) -> bytes:
    """Replace a word by another one of the file, or remove it."""
    words = list(re.finditer(rb"[A-Za-z_]{2,}", data))
    if not words:
        return _flip(rng, data)
    old, new = (words[int(rng.integers(len(words)))] for _ in range(2))
    return data[: old.start()] + (new[0] if rng.random() < 0.8 else b"") + data[old.end() :]


def _lines(rng: Rng, data: bytes) -> bytes:
    """Repeat, remove or swap lines."""
    lines = data.split(b"\n")
    i, k = (int(rng.integers(len(lines))) for _ in range(2))
    draw = rng.random()
    if draw < 0.3:
        lines[i:i] = [lines[k]] * int(rng.integers(1, 4))
    elif draw < 0.6:
        del lines[min(i, k) : max(i, k)]
    else:
        lines[i], lines[k] = lines[k], lines[i]
    return b"\n".join(lines)


_KINDS = (
    _flip, _flip, _cut_short, _remove, _move, _noise, _fill, _integer, _integer, _number, _number,
    _word, _lines,
)  # fmt: skip
