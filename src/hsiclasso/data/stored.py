"""Tables that are not in memory: their columns are read by chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hsiclasso._types import Columns, FloatArray
from hsiclasso.data.base import Source, WrappedSource, as_positions
from hsiclasso.data.fingerprint import file_state
from hsiclasso.data.sources import ArraySource, UniformSource
from hsiclasso.errors import InvalidInputError

__all__ = ["HeldColumns", "Outline", "StoredArray", "is_stored_array"]

#: A table has at least this many chunks, if it has enough columns, so that threads share them.
_LEAST_CHUNKS = 8


class StoredArray(UniformSource):
    """Columns of a dense array that is not in memory.

    Parameters
    ----------
    array : numpy.memmap, h5py.Dataset, zarr.Array or similar, of shape (n_samples, n_features)
        Anything with `shape`, `dtype` and slices of columns. If it has `chunks`, chunks of columns
        are read as they are stored.
    names : sequence of str, optional
        Column names; ``x0, x1, ...`` by default.
    """

    def __init__(self, array: Any, names: Sequence[str] | None = None) -> None:
        if len(array.shape) != 2:
            raise InvalidInputError(
                f"X has shape {tuple(array.shape)}, but a table has two dimensions, samples and "
                "features: reshape it."
            )
        if np.dtype(array.dtype).kind not in "biuf":
            raise InvalidInputError(
                f"X has dtype {array.dtype}, but columns of an array must be real numbers: "
                "convert it, or store labels in a frame or text file."
            )
        super().__init__(np.dtype(array.dtype), array.shape, names)
        self.in_memory = False
        self._array = array
        #: Number of columns that are stored together.
        self._together = int((getattr(array, "chunks", None) or (1, 1))[1])

    @property
    def n_bytes(self) -> int:
        """Number of bytes that are read in one pass over the table."""
        return self.n_stored * self._dtype.itemsize

    def identity(self) -> str:
        """Return a fingerprint of the file, or of the values if there is none."""
        path = stored_path(self._array)
        if path is None:
            return super().identity()
        place = getattr(self._array, "name", getattr(self._array, "offset", ""))
        return f"{file_state(path)} {place} {self._dtype} {self.n_samples} x {self.n_features}"

    def chunks(self, size: int) -> list[slice]:
        """Cut the columns into chunks of about `size` bytes, in whole chunks of the store."""
        together, d = self._together, self.n_features
        wanted = size // max(1, self.n_samples * self._dtype.itemsize)
        wanted = min(wanted, -(-d // _LEAST_CHUNKS))
        width = together * max(1, wanted // together)
        return [slice(start, min(d, start + width)) for start in range(0, d, width)]

    def load(self, columns: slice) -> Source:
        """Read adjacent columns into memory, with the dtype of the store."""
        names = [self.name(j) for j in range(columns.start, columns.stop)]
        return ArraySource(np.asarray(self._array[:, columns]), names)

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""
        return np.array(self.read(columns), dtype=np.float64, order="F")

    def levels(self, columns: Columns) -> np.ndarray[Any, Any] | None:
        """Return int8 or uint8 columns as they are stored, booleans as uint8, else None."""
        if self._dtype not in (np.int8, np.uint8, np.bool_):
            return None
        return ArraySource(self.read(columns)).levels(slice(None))

    def read(self, columns: Columns) -> np.ndarray[Any, Any]:
        """Return the columns (n_samples, k) with the dtype of the store."""
        if isinstance(columns, slice):
            return np.asarray(self._array[:, columns])
        out = np.empty((self.n_samples, columns.size), dtype=self._dtype, order="F")
        chunk_of = columns // self._together
        for chunk in np.unique(chunk_of):  # read each chunk of the store once
            places = np.flatnonzero(chunk_of == chunk)
            low, high = int(columns[places].min()), int(columns[places].max())
            part = np.asarray(self._array[:, slice(low, high + 1)])
            out[:, places] = part[:, columns[places] - low]
        return out


class HeldColumns(WrappedSource):
    """A table that is not in memory, with some columns that are.

    Parameters
    ----------
    source : Source
        The table.
    held : mapping of int to ndarray of shape (n_samples,)
        Columns that were read before, as float64.
    """

    def __init__(self, source: Source, held: Mapping[int, FloatArray]) -> None:
        super().__init__(source)
        self._held = dict(held)

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array; read those not held."""
        wanted = as_positions(columns, self.n_features)
        held = np.array([j in self._held for j in wanted.tolist()], dtype=bool)
        if not held.any():
            return self._source.block(columns)
        out = np.empty((self.n_samples, wanted.size), order="F")
        for place in np.flatnonzero(held):
            out[:, place] = self._held[int(wanted[place])]
        if not held.all():
            out[:, ~held] = self._source.block(wanted[~held])
        return out


class Outline(UniformSource):
    """The names of a table without its values, to be sent to others."""

    def __init__(self, source: Source) -> None:
        names = [source.name(j) for j in range(source.n_features)] if source.named else None
        super().__init__(np.dtype(float), (source.n_samples, source.n_features), names)


def stored_path(array: Any) -> str | None:
    """Path of the file or folder of a memory-mapped, HDF5 or Zarr array, if it has one."""
    if isinstance(array, np.memmap):
        return None if array.filename is None else str(array.filename)
    if hasattr(array, "file"):
        return str(array.file.filename)
    root = getattr(getattr(array, "store", None), "root", None)
    return None if root is None else str(root)


def is_stored_array(X: Any) -> bool:
    """Whether an object is an array that is not in memory: memory-mapped, HDF5 or Zarr."""
    home = type(X).__module__.partition(".")[0]
    return isinstance(X, np.memmap) or (home in ("h5py", "zarr") and hasattr(X, "dtype"))
