"""NPZ archives of NumPy -> a table of numbers and codes, and separate arrays."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hsiclasso.data.cells import CodedTable, Coder
from hsiclasso.data.dataset import labels_of_numbers
from hsiclasso.data.layout import Layout, Roles, lay_out, quoted
from hsiclasso.errors import InvalidInputError

__all__ = ["open_npz", "read_npz"]

Array = np.ndarray[Any, Any]


def read_npz(file: Path, roles: Roles) -> tuple[CodedTable, Layout, dict[str, Array]]:
    """Read X, and the separate arrays that are target or weights."""
    X, others, names = _load(file, roles.others)
    if X.ndim != 2 or X.dtype.kind not in "biufUS":
        raise InvalidInputError(
            f"X in {file} has shape {X.shape} and dtype {X.dtype}: it must be a 2-D array of real "
            "numbers or text, one row per sample."
        )
    if names is not None and names.shape != X.shape[1:]:
        raise InvalidInputError(
            f"feature_names in {file} has shape {names.shape}, but X has {X.shape[1]} columns: "
            "give one name per column."
        )
    columns = [f"x{j}" for j in range(X.shape[1])] if names is None else names.astype(str).tolist()
    own = {name: values for name, values in others.items() if values is not None}
    for name in roles.others:
        if name not in own and name not in columns:
            raise InvalidInputError(
                f"{name!r} is neither an array of {file} (it has {quoted(list(others))}) nor one "
                "of its feature_names: give the name of the target, usually 'y'."
            )
        if name in own and (own[name].shape[:1] != X.shape[:1] or own[name].ndim > 2):
            raise InvalidInputError(
                f"{name} in {file} has shape {own[name].shape}, but X has {X.shape[0]} rows: "
                "lengths must agree; give one value per row."
            )
    layout = lay_out(file, [*columns, *own], roles)
    for name in roles.category & own.keys():
        own[name] = labels_of_numbers(own[name])
    return _coded(X, layout), layout, own


@contextmanager
def open_npz(file: Path) -> Iterator[Any]:
    """Open an archive, and close it also if it is damaged, which NumPy does not."""
    with file.open("rb") as stream:
        archive = np.load(stream, allow_pickle=False)
        if not hasattr(archive, "files"):
            raise ValueError("it holds one array: call the file .npy")
        with archive:
            yield archive


def _load(file: Path, wanted: Iterable[str]) -> tuple[Array, dict[str, Array | None], Array | None]:
    """Return X; the other arrays, None for those that are not wanted; and names, if any."""
    with open_npz(file) as archive:
        if "X" not in archive.files:
            raise InvalidInputError(
                f"{file} has no array named 'X', only {quoted(archive.files)}: save the table "
                "with numpy.savez(file, X=X, y=y, feature_names=names)."
            )
        names = _array(archive, "feature_names") if "feature_names" in archive.files else None
        others = [name for name in archive.files if name not in ("X", "feature_names")]
        arrays = {name: _array(archive, name) if name in wanted else None for name in others}
        return _array(archive, "X"), arrays, names


def _array(archive: Any, name: str) -> Array:
    """Return an array of an archive; NumPy returns a member that is none as bytes."""
    array = archive[name]
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{name} is no array")
    if array.dtype.kind == "U" and array.dtype.itemsize:
        codes = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="))).view(np.uint32)
        if codes.size and codes.max() > sys.maxunicode:
            raise ValueError(f"{name} is text with signs that do not exist")
    return array


def _coded(X: Array, layout: Layout) -> CodedTable:
    """Make a table of an array of numbers or text."""
    category = {j for j in layout.category if j < X.shape[1]}
    if X.dtype.kind in "biuf":
        numbers = X.astype(np.float64) if category else X
        table = CodedTable(numbers)
        for j in sorted(category):
            table.relabel(j)
        return table
    table = CodedTable(np.zeros(X.shape, order="F"))
    for j in (j for j in layout.used if j < X.shape[1]):
        coder = Coder()
        table.array[:, j] = [coder[cell] for cell in X[:, j].astype(str).tolist()]
        table.settle(j, layout.names[j], coder.labels, category=j in category)
    return table
