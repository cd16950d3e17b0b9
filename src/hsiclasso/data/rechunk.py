"""Arrays that are stored by rows -> panels of columns in a temporary file.

To read some columns of a store whose chunks have a few samples and all features, every chunk must
be read. Instead each chunk is read once and its values are appended to panels: groups of columns
that lie together in the file.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hsiclasso.data.places import forget_pages
from hsiclasso.errors import InvalidInputError, RechunkWarning

__all__ = ["READ_BYTES", "Panels", "chunk_blocks", "panel_edges", "rechunk"]

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


def rechunk(
    array: Any, edges: Sequence[int], blocks: Iterable[Block], where: str, chunks: tuple[int, int]
) -> Panels:
    """Write an array to a temporary file by panels; each block of it is read once.

    Parameters
    ----------
    array : array-like of shape (n_samples, n_features)
        Read by slices of rows and columns.
    edges : sequence of int
        First columns of the panels, and the number of columns.
    blocks : iterable of pairs of slices
        Rows and columns to read at once, such as those of `chunk_blocks`. A panel is in the columns
        of one block.
    where : str
        What the array is called.
    chunks : tuple of int
        Rows and columns of a chunk of the store, for the warning.

    Returns
    -------
    Panels
        The file is deleted with it, at the latest at the end of the process.

    Warns
    -----
    RechunkWarning
        Before the work begins: how much is read and written, and where.
    """
    n, d = (int(size) for size in array.shape)
    dtype = np.dtype(array.dtype)
    folder = tempfile.gettempdir()
    _announce(where, n * d * dtype.itemsize, folder, chunks)
    handle, path = tempfile.mkstemp(".panels", "hsiclasso-", folder)
    os.close(handle)
    try:
        with open(path, "wb") as file:
            for rows, columns in blocks:
                _write(file, np.asarray(array[rows, columns]), rows.start, columns, edges, n)
                if isinstance(array, np.ndarray):
                    forget_pages(array)
    except BaseException:  # an interrupt too
        Path(path).unlink(missing_ok=True)
        raise
    panels = Panels(path, (n, d), dtype, edges)
    weakref.finalize(panels, Path(path).unlink, missing_ok=True)
    return panels


def _announce(where: str, size: int, folder: str, chunks: tuple[int, int]) -> None:
    """Say what it costs; raise if there is no room."""
    free = shutil.disk_usage(folder).free
    what = f"{where} is stored in chunks of {chunks[0]:,} samples x {chunks[1]:,} features"
    remedy = "store it in chunks of all samples and some features to avoid this"
    if free < size:
        raise InvalidInputError(
            f"{what} and must be re-chunked to be read by features. This needs {_words(size)} in "
            f"{folder}, which has {_words(free)}: set TMPDIR to a larger folder, or {remedy}."
        )
    warnings.warn(
        f"{what}, and is re-chunked once to be read by features: {_words(size)} are read, and as "
        f"much is written to {folder} until the table is not needed any more; {remedy}.",
        RechunkWarning,
        stacklevel=4,
    )


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


def _words(size: int) -> str:
    """Return a number of bytes in words."""
    for unit, name in ((2**30, "GB"), (2**20, "MB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size:,} bytes"
