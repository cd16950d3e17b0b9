"""Where an array that is not in memory is stored, so that another process can open it again."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from hsiclasso.errors import require

__all__ = ["Transposed", "copy_columns", "forget_pages", "opener", "stored_path"]

#: Bytes of a file that are mapped at a time.
_MAPPED_BYTES = 32 * 2**20
#: Opens an array.
Opener = Callable[[], Any]


class Transposed:
    """A stored array whose rows are features, as one whose columns are.

    Parameters
    ----------
    below : h5py.Dataset, zarr.Array or ndarray of shape (n_features, n_samples)
        Read by rows.
    """

    def __init__(self, below: Any) -> None:
        self.below = below
        self.shape = (int(below.shape[1]), int(below.shape[0]))
        self.dtype = below.dtype
        chunks = getattr(below, "chunks", None)
        self.chunks = None if chunks is None else (chunks[1], chunks[0])

    def __getitem__(self, key: tuple[slice, slice]) -> np.ndarray[Any, Any]:
        rows, columns = key
        return np.asarray(self.below[columns, rows]).T


def stored_path(array: Any) -> str | None:
    """Path of the file or folder of a memory-mapped, HDF5 or Zarr array, if it has one."""
    if isinstance(array, Transposed):
        return stored_path(array.below)
    if hasattr(array, "stored_at"):
        return str(array.stored_at)
    if isinstance(array, np.memmap):  # a private copy ("c") may differ from its file
        return None if array.filename is None or array.mode == "c" else str(array.filename)
    if hasattr(array, "file"):
        return str(array.file.filename)
    store = getattr(array, "store", None)
    path = getattr(store, "root", getattr(store, "path", None))  # of folders, of ZIP archives
    return None if path is None else str(path)


def opener(array: Any) -> Opener | None:
    """Return a function that opens the array again, also in another process.

    Returns
    -------
    function or None
        It can be pickled. None if the array has no file.
    """
    path = stored_path(array)
    if path is None:
        return None
    if hasattr(array, "stored_at"):  # it opens its file only to read
        return partial(_itself, array)
    if isinstance(array, Transposed):
        open_below = opener(array.below)
        return None if open_below is None else partial(_open_transposed, open_below)
    if isinstance(array, np.memmap):
        return partial(_open_memmap, path, *_bytes_of(array))
    if hasattr(array, "file"):
        return partial(_open_hdf5, path, array.name)
    return partial(_open_zarr, path, array.path)


def _itself(array: Any) -> Any:
    return array


def _root(array: Any) -> Any:
    """Return the array that a memory-mapped array is a part of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def copy_columns(array: np.ndarray[Any, Any], columns: slice) -> np.ndarray[Any, Any]:
    """Copy columns of a memory-mapped array to memory.

    The system may map far more than what is read, up to whole rows. So few rows are copied at a
    time, and what was mapped is given back.
    """
    view = array[:, columns]
    out = np.empty_like(view, subok=False)
    step = max(1, _MAPPED_BYTES // max(1, abs(array.strides[0])))
    for start in range(0, len(out), step):
        out[start : start + step] = view[start : start + step]
        forget_pages(array)
    return out


def forget_pages(array: np.ndarray[Any, Any]) -> None:
    """Give back the memory of a memory-mapped file: what was read stays in the system's cache."""
    pages = _root(array).base
    private = getattr(array, "mode", "r") == "c"  # its changes would be lost
    if isinstance(pages, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") and not private:
        pages.madvise(mmap.MADV_DONTNEED)


def _bytes_of(array: np.memmap[Any, Any]) -> tuple[int, int, int, Any, Any, Any]:
    """Where the values of a memory-mapped array, or of a part of one, are in the file."""
    root = _root(array)
    begin = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return root.offset, root.nbytes, begin, array.dtype, array.shape, array.strides


def _open_memmap(
    path: str, offset: int, size: int, begin: int, dtype: Any, shape: Any, strides: Any
) -> Any:
    values = np.memmap(path, np.uint8, "r", offset, (size,))
    return np.ndarray(shape, dtype, values, begin, strides)


def _open_transposed(open_below: Opener) -> Transposed:
    return Transposed(open_below())


def _open_hdf5(path: str, name: str) -> Any:
    return require("h5py", "hdf5").File(path, "r")[name]


def _open_zarr(path: str, inside: str) -> Any:
    zarr = require("zarr", "zarr")
    if path.lower().endswith(".zip"):
        path = zarr.storage.ZipStore(path, mode="r")
    return zarr.open_array(path, path=inside, mode="r")
