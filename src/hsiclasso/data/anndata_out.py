"""Writing results beside the data: a copy of an `.h5ad` file with more columns in `var`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hsiclasso.data.anndata_file import AnnDataFile, is_group
from hsiclasso.data.atomic import replacing
from hsiclasso.data.store import Store
from hsiclasso.errors import require

__all__ = ["annotated_copy", "gene_names"]

Array = np.ndarray[Any, Any]

#: Bytes that an object of a file takes at most beside its values, and a text beside its letters;
#: and bytes that are written at once.
_OBJECT, _TEXT, _STEP = 4096, 64, 1 << 20


def gene_names(path: str | os.PathLike[str]) -> list[str]:
    """Return the names of the genes in `var` of an ``.h5ad`` file."""
    return AnnDataFile(Store(str(path))).names("var")


def annotated_copy(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    columns: Mapping[str, Array],
    summary: Mapping[str, Mapping[str, Any]],
) -> None:
    """Write a copy of an ``.h5ad`` file with more in it, completely or not at all.

    Parameters
    ----------
    path : path-like
        The file, which is only read.
    out : path-like
        The copy.
    columns : mapping of str to ndarray of shape (n_genes,)
        Columns of `var`; those of the same name are replaced.
    summary : mapping of str to mapping
        Entries of `uns`: dictionaries of numbers, texts and arrays; replaced likewise.
    """
    h5py = require("h5py", "hdf5")
    with replacing(out) as part:
        shutil.copyfile(path, part)
        _make_room(part, _size([columns, summary]) + _var_size(h5py, part))
        with h5py.File(part, "r+") as file:
            if is_group(file["var"]):
                _add_columns(file["var"], columns)
            else:
                _add_fields(file, columns)
            uns = file.require_group("uns")
            for name, entry in summary.items():
                _write(uns, name, entry)


def _make_room(file: Path, size: int) -> None:
    """Take the disk space that HDF5 will need: if it finds a disk full, the process may crash.

    HDF5 gives back what it does not need.
    """
    with file.open("r+b", buffering=0) as stream:
        stream.seek(0, os.SEEK_END)
        while size > 0:
            size -= stream.write(bytes(min(size, _STEP))) or 0
        os.fsync(stream.fileno())


def _size(value: Any) -> int:
    """Return more bytes than a value, or what is in it, takes in a file."""
    if isinstance(value, Mapping | list):
        parts = value.values() if isinstance(value, Mapping) else value
        return _OBJECT + sum(map(_size, parts))
    array = np.asarray(value)
    if array.dtype.kind in "OU":
        return _OBJECT + sum(_TEXT + 4 * len(str(text)) for text in array.ravel())
    return _OBJECT + array.nbytes


def _var_size(h5py: Any, file: Path) -> int:
    """Return the size of `var` if that is an array of records, which is written anew."""
    with h5py.File(file, "r") as opened:
        var = opened["var"]
        return 0 if is_group(var) else 2 * int(var.size * var.dtype.itemsize)


def _add_columns(frame: Any, columns: Mapping[str, Array]) -> None:
    """Add columns to a frame that is a group of arrays."""
    order = [str(name) for name in frame.attrs.get("column-order", ())]
    for name, values in columns.items():
        _write(frame, name, values)
    order += [name for name in columns if name not in order]
    frame.attrs["column-order"] = np.array(order, dtype=object)


def _add_fields(file: Any, columns: Mapping[str, Array]) -> None:
    """Add columns to a frame that is an array of records, as anndata wrote before 0.7."""
    old = file["var"][:]
    kept = [name for name in old.dtype.names if name not in columns]
    types = [(name, old.dtype[name]) for name in kept]
    new = np.empty(
        old.shape, dtype=[*types, *((name, values.dtype) for name, values in columns.items())]
    )
    for name in kept:
        new[name] = old[name]
    for name, values in columns.items():
        new[name] = values
    del file["var"]
    file["var"] = new


def _write(group: Any, name: str, value: Any) -> None:
    """Write a dictionary, an array, a text or a number in AnnData's encoding."""
    if name in group:
        del group[name]
    if isinstance(value, Mapping):
        made, form, version = group.create_group(name), "dict", "0.1.0"
        for key, entry in value.items():
            _write(made, key, entry)
    else:
        h5py = require("h5py", "hdf5")
        values = np.asarray(value)
        is_text, is_array = values.dtype.kind in "UO", values.ndim > 0
        options = {"dtype": h5py.string_dtype()} if is_text else {}
        data = values.astype(object) if is_text and is_array else value
        made, version = group.create_dataset(name, data=data, **options), "0.2.0"
        form = {
            (True, True): "string-array", (True, False): "string",
            (False, True): "array", (False, False): "numeric-scalar",
        }[is_text, is_array]  # fmt: skip
    made.attrs["encoding-type"], made.attrs["encoding-version"] = form, version
