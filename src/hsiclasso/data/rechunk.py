"""Arrays that are stored by rows -> panels of columns in a temporary file.

To read some columns of a store whose chunks have a few samples and all features, every chunk must
be read. Instead each chunk is read once and its values are appended to panels: groups of columns
that lie together in the file.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hsiclasso._memory import in_words
from hsiclasso.data.base import Source
from hsiclasso.data.places import forget_pages
from hsiclasso.data.preparation import Cost, Preparation, StandIn, time_file, time_parts
from hsiclasso.data.temporary import new_file
from hsiclasso.errors import InvalidInputError, RechunkWarning

__all__ = ["READ_BYTES", "Panels", "Rechunking", "chunk_blocks", "panel_edges"]

#: Rows and columns of a part of an array.
Block = tuple[slice, slice]

#: Bytes that are read at once.
READ_BYTES = 64 * 2**20


class Panels:
    """Groups of adjacent columns of an array in a file, each in one piece.

    Parameters
    ----------
    path : str
        The file.
    shape, dtype
        Of the array.
    edges : sequence of int
        First columns of the panels, and the number of columns.
    """

    def __init__(
        self, path: str, shape: tuple[int, int], dtype: np.dtype[Any], edges: Sequence[int]
    ) -> None:
        self.path, self.shape, self.dtype, self.edges = path, shape, dtype, list(edges)

    def __getitem__(self, key: tuple[slice, slice]) -> np.ndarray[Any, Any]:
        start, stop, _ = key[1].indices(self.shape[1])
        inside = [
            (a, b) for a, b in itertools.pairwise(self.edges) if a < stop and start < min(b, stop)
        ]
        parts = [self._panel(a, b)[:, max(start - a, 0) : stop - a] for a, b in inside]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([np.empty((self.shape[0], 0), self.dtype), *parts], axis=1)

    def _panel(self, start: int, stop: int) -> np.ndarray[Any, Any]:
        n = self.shape[0]
        values = np.fromfile(
            self.path, self.dtype, n * (stop - start), offset=n * start * self.dtype.itemsize
        )
        return values.reshape(n, stop - start)


def panel_edges(n_features: int, together: int, width: int) -> list[int]:
    """Cut every chunk of `together` columns into panels of at most `width` columns."""
    edges = []
    for start in range(0, n_features, together):
        own = min(together, n_features - start)
        edges += [start + own * k // -(-own // width) for k in range(-(-own // width))]
    return [*edges, n_features]


@dataclass(frozen=True)
class Rechunking:
    """The way from an array to panels in a temporary file; each block of it is read once.

    Parameters
    ----------
    array : array-like of shape (n_samples, n_features)
        Read by slices of rows and columns.
    edges : sequence of int
        First columns of the panels, and the number of columns.
    blocks : sequence of pairs of slices
        Rows and columns to read at once, such as those of `chunk_blocks`. A panel is in the columns
        of one block.
    where : str
        What the array is called.
    chunks : tuple of int
        Rows and columns of a chunk of the store, for the warning.
    """

    array: Any
    edges: Sequence[int]
    blocks: Sequence[Block]
    where: str
    chunks: tuple[int, int]

    def run(self) -> Panels:
        """Write the panels.

        Returns
        -------
        Panels
            The file is deleted with it, at the latest at the end of the process.

        Warns
        -----
        RechunkWarning
            Before the work begins: how much is read and written, and where.
        """
        n, d = (int(size) for size in self.array.shape)
        warnings.warn(self.sentence(), RechunkWarning, stacklevel=4)
        path = str(new_file(Path(tempfile.gettempdir()), ".panels", ages=False))
        try:
            with open(path, "wb") as file:
                for rows, columns in self.blocks:
                    _write(file, self._read((rows, columns)), rows.start, columns, self.edges, n)
        except BaseException:  # an interrupt too
            Path(path).unlink(missing_ok=True)
            raise
        panels = Panels(path, (n, d), np.dtype(self.array.dtype), self.edges)
        weakref.finalize(panels, Path(path).unlink, missing_ok=True)
        return panels

    def preparation(self, source: Source, chunks: Sequence[slice]) -> Preparation:
        """Say what it costs, without doing it.

        Parameters
        ----------
        source : Source
            The table of the array.
        chunks : sequence of slice
            The chunks that it will have.
        """
        sentence, size = self.sentence(), self._n_bytes
        parts, seconds = time_parts(self._read, self.blocks)
        seconds *= size / max(1, sum(part.nbytes for part in parts))
        writing, reading = time_file(np.ascontiguousarray(parts[0]), size)
        once = Cost(2 * size, seconds + writing)
        each_pass = Cost(source.n_bytes, reading)
        return Preparation(sentence, once, each_pass, StandIn(source, chunks, parts[0]))

    def sentence(self) -> str:
        """Say what is done and what it costs; raise if there is no room."""
        folder, size = tempfile.gettempdir(), self._n_bytes
        free = shutil.disk_usage(folder).free
        high, wide = self.chunks
        what = f"{self.where} is stored in chunks of {high:,} samples x {wide:,} features"
        remedy = "store it in chunks of all samples and some features to avoid this"
        if free < size:
            raise InvalidInputError(
                f"{what} and must be re-chunked to be read by features. This needs "
                f"{in_words(size)} in {folder}, which has {in_words(free)}: set TMPDIR to a larger "
                f"folder, or {remedy}."
            )
        return (
            f"{what}, and is re-chunked once to be read by features: {in_words(size)} are read, "
            f"and as much is written to {folder} until the table is not needed any more; {remedy}."
        )

    @property
    def _n_bytes(self) -> int:
        n, d = (int(size) for size in self.array.shape)
        return n * d * int(np.dtype(self.array.dtype).itemsize)

    def _read(self, block: Block) -> np.ndarray[Any, Any]:
        part = np.asarray(self.array[block])
        if isinstance(self.array, np.ndarray):
            part = part.copy()
            forget_pages(self.array)
        return part


def chunk_blocks(shape: tuple[int, int], chunks: tuple[int, int], itemsize: int) -> Iterator[Block]:
    """Cut an array into blocks of whole chunks, as wide as possible, then as high as possible."""
    n, d = shape
    high, wide = min(chunks[0], n), min(chunks[1], d)
    wide *= max(1, min(-(-d // wide), READ_BYTES // (high * wide * itemsize)))
    high *= max(1, min(-(-n // high), READ_BYTES // (high * wide * itemsize)))
    for top in range(0, n, high):
        for left in range(0, d, wide):
            yield slice(top, min(n, top + high)), slice(left, min(d, left + wide))


def _write(
    file: Any, block: np.ndarray[Any, Any], top: int, columns: slice, edges: Sequence[int], n: int
) -> None:
    """Write a block that begins with row `top` to the panels that lie in its columns."""
    first, last = np.searchsorted(edges, [columns.start, columns.stop]).tolist()
    for start, stop in zip(edges[first:last], edges[first + 1 : last + 1], strict=True):
        file.seek((n * start + top * (stop - start)) * block.dtype.itemsize)
        part = block[:, start - columns.start : stop - columns.start]
        try:
            file.write(np.ascontiguousarray(part).data)
        except OSError as error:
            raise InvalidInputError(
                f"{file.name} cannot be written while a table is re-chunked ({error}): set TMPDIR "
                "to a folder with more space."
            ) from error
