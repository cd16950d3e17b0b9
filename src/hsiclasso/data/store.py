"""HDF5 files and Zarr stores: groups and arrays by key, opened when they are used."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hsiclasso.data.fingerprint import file_state
from hsiclasso.data.reading import reading
from hsiclasso.errors import require

__all__ = ["FileArray", "Store", "as_texts", "warn_of_absent_chunks"]

Array = np.ndarray[Any, Any]


class Store:
    """An HDF5 file or a Zarr store, which can be sent to another process.

    A file is open only while something is read, so that it can be written again afterwards.

    Parameters
    ----------
    path : str or None
        The file or folder; None if it is in memory.
    root : h5py.Group or zarr.Group, optional
        The group that keys start from, if it is open; it stays open.
    inner : str
        Place of this group in the file.
    """

    def __init__(self, path: str | None, root: Any = None, inner: str = "/") -> None:
        self.path = path
        self._root = root
        self._inner = inner

    @classmethod
    def of(cls, group: Any) -> Store:
        """Return the store of a group that is open."""
        if hasattr(group, "file"):
            return cls(str(group.file.filename), group, group.name)
        root = getattr(group.store, "root", None)
        return cls(None if root is None else str(root), group, group.path or "/")

    @contextmanager
    def open(self, key: str = "") -> Iterator[Any]:
        """Yield the group or array under a key; errors within name the file."""
        with reading(f"{self} ({key})" if key else str(self)), ExitStack() as stack:
            root = self._root
            if root is None:
                opened = _open(Path(str(self.path)))
                if hasattr(opened, "close"):  # a file of HDF5
                    stack.callback(opened.close)
                root = opened if self._inner == "/" else opened[self._inner]
            yield root[key] if key else root

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_root": None}

    def __str__(self) -> str:
        return "a store in memory" if self.path is None else self.path

    def identity(self, key: str) -> str | None:
        """Return a fingerprint of what is stored under a key, if there is a file."""
        return None if self.path is None else f"{file_state(self.path)} {self._inner} {key}"


def _open(path: Path) -> Any:
    if path.is_dir():
        # look at the arrays that exist: the store's own list of them may name some that are lost
        return require("zarr", "zarr").open_group(path, mode="r", use_consolidated=False)
    return require("h5py", "hdf5").File(path, "r")


class FileArray:
    """An array of a store, with what a stored array needs: shape, dtype, chunks and slices."""

    def __init__(self, store: Store, key: str) -> None:
        self._store, self.name = store, key
        with store.open(key) as array:
            self.shape, self.dtype = tuple(map(int, array.shape)), array.dtype
            self.chunks = array.chunks
            warn_of_absent_chunks(array, f"{key} of {store}")
        #: Where the array is stored: it can be pickled as it is.
        self.stored_at = str(store.path)

    def __getitem__(self, place: Any) -> Array:
        with self._store.open(self.name) as array:
            return np.asarray(array[place])


def warn_of_absent_chunks(array: Any, where: str) -> None:
    """Warn if a Zarr array in a local store lacks chunks, which are read as its fill value.

    Zarr does not store chunks of the fill value only, but a copy that was interrupted looks alike.
    """
    if type(getattr(array, "store", None)).__name__ not in ("LocalStore", "ZipStore"):
        return
    absent = array.nchunks - array.nchunks_initialized
    if absent > 0:
        warnings.warn(
            f"{absent:,} of {array.nchunks:,} chunks of {where} are not in the store, and are read "
            f"as {array.fill_value}: if this is not what was written, copy the store again.",
            UserWarning,
            stacklevel=2,
        )


def as_texts(values: Array) -> list[str]:
    """Return an array of text or bytes as text."""
    return [
        value.decode("utf-8") if isinstance(value, bytes) else str(value)
        for value in values.tolist()
    ]
