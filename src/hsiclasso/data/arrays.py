"""Files of arrays: a bare NPY, and HDF5 and Zarr with an array X among others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from hsiclasso.data.base import Source
from hsiclasso.data.dataset import Dataset, assemble
from hsiclasso.data.layout import Roles, quoted
from hsiclasso.data.reading import reading
from hsiclasso.data.sources import ArraySource, SparseSource
from hsiclasso.data.stored import StoredArray, check_array_form
from hsiclasso.errors import InvalidInputError, require

__all__ = [
    "as_text",
    "choose_array",
    "make_dataset",
    "read_hdf5",
    "read_npy",
    "read_zarr",
    "says_anndata",
    "split_inside",
]

Array = np.ndarray[Any, Any]

#: What an array of the names of the features may be called.
NAMES = ("feature_names", "names")
#: What stands in front of the path of an array within a file.
_INSIDE = re.compile(r"(?P<file>.+\.(?:h5|hdf5|hdf|mat|zarr|zip)):(?P<inside>/.*)", re.IGNORECASE)


def split_inside(path: str | os.PathLike[str]) -> tuple[Path, str]:
    """Split ``FILE.h5:/path/to/X`` into the file and the path within it, empty if there is none.

    Examples
    --------
    >>> split_inside("table.h5:/run1/X")[1], split_inside("table.h5")[1]
    ('run1/X', '')
    """
    found = None if Path(path).exists() else _INSIDE.fullmatch(os.fspath(path))
    if found is None:
        return Path(path), ""
    return Path(found["file"]), found["inside"].strip("/")


def read_npy(file: Path, roles: Roles) -> Dataset:
    """Open a NumPy array, which is read by chunks of columns."""
    with reading(file, "a NumPy array"):
        try:
            array = np.load(file, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            if "Python objects" not in str(error):
                raise
            raise InvalidInputError(
                f"{file} holds Python objects, which can run code when they are read: save an "
                "array of numbers instead."
            ) from error
        check_array_form(array, f"X in {file}")
    own = {f"x{j}" for j in range(array.shape[1])}
    for name in roles.others:
        if name not in own:
            raise InvalidInputError(
                f"{name!r} is not known: the columns of {file} have no names but x0, x1, ...; give "
                "the values of the target as y (--target-file FILE on the command line)."
            )
    return make_dataset(str(file), array, None, {}, roles)


def read_hdf5(file: Path, roles: Roles, inside: str = "") -> Dataset:
    """Open an HDF5 file: an array ``X``, and values of samples and names of features beside it."""
    with reading(file, "HDF5"):
        return _read_tree(file, require("h5py", "hdf5").File(file, "r"), roles, inside)


def read_zarr(file: Path, roles: Roles, inside: str = "") -> Dataset:
    """Open a Zarr folder or ZIP archive: an array, or a group with an array ``X``."""
    with reading(file, "Zarr"):
        return _read_tree(file, _open_zarr(file), roles, inside)


def _open_zarr(file: Path) -> Any:
    zarr = require("zarr", "zarr")
    is_archive = file.suffix.lower() == ".zip"
    return zarr.open(zarr.storage.ZipStore(file, mode="r") if is_archive else file, mode="r")


def says_anndata(file: Path) -> bool:
    """Whether an HDF5 file or a Zarr store says that it is written by AnnData."""
    try:
        is_hdf5 = file.is_file() and file.suffix.lower() != ".zip"
        root = require("h5py", "hdf5").File(file, "r") if is_hdf5 else _open_zarr(file)
        return bool(root.attrs.get("encoding-type", "") == "anndata")
    except Exception:
        return False  # whoever reads it says what is wrong


def make_dataset(
    where: str,
    X: Any,
    names: Sequence[str] | None,
    notes: Mapping[str, Array],
    roles: Roles,
) -> Dataset:
    """Make a dataset of an array, stored or in memory, of names and of values of the samples."""
    check_array_form(X, f"X in {where}")
    n, d = X.shape
    if names is not None and len(names) != d:
        raise InvalidInputError(
            f"{where} has {len(names)} names of features, but X has {d} columns: give one name "
            "per column."
        )
    source: Source
    if sparse.issparse(X):
        source = SparseSource(X, names)
    elif isinstance(X, np.ndarray) and not isinstance(X, np.memmap):
        source = ArraySource(X, names)
    else:
        source = StoredArray(X, names)
    for name in roles.others:
        if name in notes and len(notes[name]) != n:
            raise InvalidInputError(
                f"{name} in {where} has shape {notes[name].shape}, but X has {n} rows: lengths "
                "must agree; give one value per row."
            )
    source.annotations = {name: values for name, values in notes.items() if len(values) == n}
    return assemble(where, source, roles)


def _read_tree(file: Path, root: Any, roles: Roles, inside: str) -> Dataset:
    """Find X, the names of its columns and the values of its samples in a tree of arrays."""
    X, beside = _find_table(file, root, inside)
    own = next((beside.pop(name) for name in NAMES if name in beside), None)
    names = None if own is None else [str(name) for name in as_text(own[...]).ravel()]
    if len(X.shape) != 2:
        check_array_form(X, f"X in {file}")
    wanted = {*roles.others, "y", "Y"}
    notes = {
        name: as_text(array[...])
        for name, array in beside.items()
        if name in wanted or tuple(array.shape) == tuple(X.shape[:1])
    }
    notes = {name: values for name, values in notes.items() if values.ndim and values.ndim < 3}
    return make_dataset(str(file), X, names, notes, roles)


def _find_table(file: Path, root: Any, inside: str) -> tuple[Any, dict[str, Any]]:
    """Return the array X, and the arrays beside it by name."""
    arrays = dict(sorted(_arrays(root), key=itemgetter(0)))
    if inside and inside not in arrays:
        within = {path: array for path, array in arrays.items() if path.startswith(f"{inside}/")}
        if not within:
            raise InvalidInputError(
                f"{file} has no array or group {inside!r}: give one of {quoted(list(arrays))}."
            )
        chosen = choose_array(file, within, f"{inside}/X")
    else:
        chosen = inside or choose_array(file, arrays, "X")
    folder = chosen.rpartition("/")[0]
    beside = {
        path.rpartition("/")[2]: array
        for path, array in arrays.items()
        if path.rpartition("/")[0] == folder and path != chosen
    }
    return arrays[chosen], beside


def choose_array(file: Path, arrays: Mapping[str, Any], usual: str) -> str:
    """Return the name of the array X: the usual one, or else that of the only table."""
    if usual in arrays:
        return usual
    tables = [name for name, array in arrays.items() if _is_table(array)]
    if len(tables) == 1:
        return tables[0]
    if not tables:
        raise InvalidInputError(
            f"{file} has no array named {usual!r} and no other table of numbers, only "
            f"{quoted(list(arrays)) or 'nothing'}: store one with a row per sample."
        )
    raise InvalidInputError(
        f"{file} has several tables ({quoted(tables)}), and it is not clear which one has the "
        f"features: name it, as in {file}:/{tables[0]}."
    )


def _is_table(array: Any) -> bool:
    """Whether an array has numbers in several rows and columns."""
    return (
        len(array.shape) == 2
        and min(array.shape) > 1
        and getattr(array.dtype, "kind", "O") in "biuf"
    )


def _arrays(root: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all arrays of an HDF5 file or Zarr store, with their paths."""
    if hasattr(root, "shape"):
        yield prefix, root
        return
    members = root.members() if hasattr(root, "members") else root.items()
    for name, member in members:
        if hasattr(member, "shape") or hasattr(member, "keys"):
            yield from _arrays(member, f"{prefix}/{name}".lstrip("/"))


def as_text(values: Any) -> Array:
    """Return an array; one of text as objects, None where it is missing."""
    array = np.asarray(values)
    if array.dtype.kind in "biufcV":
        return array
    texts = [
        cell.decode() if isinstance(cell, bytes) else cell if cell is None else str(cell)
        for cell in array.astype(object).ravel()
    ]
    return np.array(texts, dtype=object).reshape(array.shape)
