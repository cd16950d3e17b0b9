"""Finished chunks in a folder: an interrupted pass continues, and parts of it can be run apart.

A folder belongs to one table and one set of settings; ``made_for.json`` says which. The result of
every chunk is a file of its own, which is complete or not there. Whoever computes it - threads,
a cluster, another process that runs a part of the chunks - the file is the same.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from hsiclasso.data.atomic import write_atomically
from hsiclasso.data.fingerprint import hash_of
from hsiclasso.dependence.running import Runner
from hsiclasso.errors import InvalidInputError

__all__ = ["Checkpoint", "Part", "keep"]

_MADE_FOR = "made_for.json"
#: Name of the entry that tells whether the others are those that were saved.
_DIGEST = "digest"


@dataclass(frozen=True)
class Part:
    """One of several parts of the chunks, numbered from 1."""

    number: int
    of: int

    def chunks(self, n_chunks: int) -> range:
        """Return the numbers of the chunks of this part, which are adjacent."""
        return range(n_chunks * (self.number - 1) // self.of, n_chunks * self.number // self.of)


@dataclass(frozen=True)
class Checkpoint:
    """Runs the chunks that a folder does not have, and reads the others.

    Parameters
    ----------
    folder : Path
        Folder of the results; it is made if it does not exist.
    runner : Runner
        Runs the chunks.
    made_for : mapping of str to str
        Fingerprints of the table, the target and the settings, by what they are called in errors.
    """

    folder: Path
    runner: Runner
    made_for: Mapping[str, str]

    by_chunks: ClassVar[bool] = True

    def map(self, work: Any, pieces: Sequence[slice]) -> Iterator[Any]:
        """Yield the results of all chunks, in order: values that become arrays and back."""
        files = self._files(work, pieces)
        missing = {number for number, file in enumerate(files) if _load(file) is None}
        fresh = self.runner.map(work, [pieces[number] for number in sorted(missing)])
        for number, file in enumerate(files):
            if number in missing:
                yield _save(file, next(fresh))
            else:
                arrays = _load(file)
                if arrays is None:
                    raise InvalidInputError(
                        f"{file} was damaged or removed while it was in use: start again to "
                        "continue."
                    )
                yield work.result_type.from_arrays(arrays)

    def run_part(self, part: Part, work: Any, pieces: Sequence[slice]) -> Iterator[slice]:
        """Compute the chunks of a part that are not in the folder; yield each when it is saved."""
        files, numbers = self._files(work, pieces), part.chunks(len(pieces))
        missing = [number for number in numbers if _load(files[number]) is None]
        results = self.runner.map(work, [pieces[number] for number in missing])
        for number, result in zip(missing, results, strict=True):
            _save(files[number], result)
            yield pieces[number]

    def check_parts(self, n_parts: int, work: Any, pieces: Sequence[slice]) -> None:
        """Raise if a part is not complete; the message says which are not."""
        files = self._files(work, pieces)
        absent = [
            number
            for number in range(1, n_parts + 1)
            if any(_load(files[k]) is None for k in Part(number, n_parts).chunks(len(pieces)))
        ]
        if absent:
            shown = ", ".join(map(str, absent[:10])) + (", ..." if len(absent) > 10 else "")
            raise InvalidInputError(
                f"{len(absent)} of {n_parts} parts in {self.folder} are not complete ({shown}): "
                f"run each of them first, with: hsiclasso run {self.folder} NUMBER"
            )

    def _files(self, work: Any, pieces: Sequence[slice]) -> list[Path]:
        """Return the files of all chunks, in a folder that was made for the same work."""
        folder = self._open(work, pieces)
        return [folder / f"{number:06d}.npz" for number in range(len(pieces))]

    def _open(self, work: Any, pieces: Sequence[slice]) -> Path:
        """Make the folder, or check that it was made for the same work; return that of a stage."""
        cut = hash_of([(piece.start, piece.stop) for piece in pieces], work.variant)
        made_for = {**self.made_for, f"set of chunks ({work.stage})": cut}
        file = self.folder / _MADE_FOR
        self.folder.mkdir(parents=True, exist_ok=True)
        before = _read_json(file) if file.exists() else {}
        for what, value in made_for.items():
            if before.get(what, value) != value:
                raise InvalidInputError(
                    f"checkpoint={str(self.folder)!r} was made for another {what} "
                    f"({_difference(before[what], value)}): give another folder, or delete this "
                    "one to start anew."
                )
        if before.keys() != before.keys() | made_for.keys():
            keep(self.folder, file, json.dumps(before | made_for, indent=1).encode())
        # a stage such as "neighbours of 3, 17" is named by its hash
        name = work.stage if work.stage.isalpha() else hash_of(work.stage)[:12]
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return folder


def _load(file: Path) -> dict[str, Any] | None:
    """Return the arrays of a chunk; None if they are not there, or not those that were saved."""
    try:
        with file.open("rb") as stream:
            archive = np.load(stream, allow_pickle=False)
            arrays = {name: archive[name] for name in archive.files}
        return arrays if str(arrays.pop(_DIGEST)) == _digest(arrays) else None
    except Exception:  # NumPy raises errors of any class on damaged files
        return None


def _digest(arrays: Mapping[str, Any]) -> str:
    """Return a text that changes with the arrays: a damaged chunk is computed again."""
    return hash_of(*(part for name in sorted(arrays) for part in (name, np.asarray(arrays[name]))))


def _save(file: Path, result: Any) -> Any:
    """Write the result of a chunk, completely or not at all."""
    buffer, arrays = io.BytesIO(), result.to_arrays()
    arrays[_DIGEST] = np.array(_digest(arrays))
    np.savez(buffer, **arrays)
    keep(file.parent.parent, file, buffer.getvalue())
    return result


def keep(folder: Path, file: Path, content: bytes) -> None:
    """Write a file of the checkpoint in a folder."""
    try:
        write_atomically(file, content)
    except OSError as error:
        raise InvalidInputError(
            f"checkpoint={str(folder)!r} cannot be written to ({error.strerror}): what "
            "was finished before is safe; make room there, and start again to continue."
        ) from error


def _read_json(file: Path) -> dict[str, str]:
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"{file} cannot be read ({error}): it says what the checkpoint is for; delete the "
            "folder to start anew."
        ) from error
    if not isinstance(found, dict):
        raise InvalidInputError(f"{file} is no description of a checkpoint: give another folder.")
    return found


def _difference(before: str, now: str) -> str:
    """Say which file has changed if fingerprints differ in that; show them otherwise.

    Examples
    --------
    >>> same, old, new = "a" * 32, "b" * 32, "c" * 32
    >>> _difference(f"/a/t.bed {same} /a/t.bim {old}", f"/a/t.bed {same} /a/t.bim {new}")
    '/a/t.bim has changed'
    >>> _difference("41f0", "9d7b")
    '41f0; now 9d7b'
    """
    old, new = before.split(" "), now.split(" ")
    place = next((k for k, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
    file = re.sub(r".* [0-9a-f]{32} ", "", " ".join(old[:place]))
    if os.sep in file and re.fullmatch("[0-9a-f]{32}", old[place]):
        return f"{file} has changed"
    return "; now ".join(text if len(text) <= 60 else f"...{text[-57:]}" for text in (before, now))
