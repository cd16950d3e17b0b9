"""MATLAB files: version 5 through SciPy, version 7.3 through h5py (needs the extra ``hdf5``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from hsiclasso.data.arrays import NAMES, as_text, choose_array, make_dataset
from hsiclasso.data.dataset import Dataset
from hsiclasso.data.layout import Roles
from hsiclasso.data.mat_tags import check_tags
from hsiclasso.data.places import Transposed
from hsiclasso.data.reading import reading
from hsiclasso.data.structure import check_sparse
from hsiclasso.errors import InvalidInputError, require

__all__ = ["read_mat"]

Array = np.ndarray[Any, Any]

#: How an HDF5 file begins; MATLAB puts 512 bytes of its own before that.
_HDF5 = b"\x89HDF\r\n\x1a\n"


def read_mat(file: Path, roles: Roles, inside: str = "") -> Dataset:
    """Read X, and the variables that are target or weights.

    X may have a row or a column per sample: the target tells which.
    """
    with reading(file, "a MATLAB file"):
        with file.open("rb") as stream:
            begin = stream.read(520)
        is_hdf5 = _HDF5 in (begin[:8], begin[512:])
        variables = _variables_of_hdf5(file) if is_hdf5 else _variables(file)
        chosen = inside or choose_array(file, variables, "X")
        if chosen not in variables:
            raise InvalidInputError(
                f"{file} has no variable {chosen!r}, only {', '.join(variables)}: give one of them."
            )
        X = variables[chosen].load()
        others = {
            name: variables[name].load()
            for name in (*roles.others, "y", "Y")
            if name in variables and name != chosen
        }
        names = next((_texts(variables[name].load()) for name in NAMES if name in variables), None)
        X, notes = _orient(file, X, others, roles)
        return make_dataset(str(file), X, names, notes, roles)


@dataclass(frozen=True)
class _Variable:
    """A variable of a file, read when it is needed."""

    shape: tuple[int, ...]
    dtype: Any
    load: Any


def _variables(file: Path) -> dict[str, _Variable]:
    """Variables of a file of version 5 or older."""
    from scipy import io

    numbers = {"double", "single", "logical", "sparse"}
    numbers |= {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}

    def load(name: str) -> Any:
        check_tags(file, {name})
        value = io.loadmat(file, variable_names=[name])[name]
        return value if sparse.issparse(value) else np.asarray(value)

    check_tags(file)
    found = io.whosmat(file)
    if not all(name.isascii() and name.isprintable() for name, _, _ in found):
        raise ValueError("names of variables are no text")
    return {
        name: _Variable(
            shape, np.dtype(float if kind in numbers else object), lambda name=name: load(name)
        )
        for name, shape, kind in found
    }


def _variables_of_hdf5(file: Path) -> dict[str, _Variable]:
    """Variables of a file of version 7.3, which stores rows as columns."""
    root = require("h5py", "hdf5").File(file, "r")
    found = {}
    for name, item in root.items():
        if "MATLAB_sparse" in item.attrs:
            shape = (int(item.attrs["MATLAB_sparse"]), item["jc"].shape[0] - 1)
            found[name] = _Variable(shape, np.dtype(float), lambda i=item, s=shape: _sparse(i, s))
        elif hasattr(item, "shape") and len(item.shape) == 2:
            is_text = item.attrs.get("MATLAB_class", b"") in (b"cell", b"char")
            load = (lambda i=item: _cells(root, i)) if is_text else (lambda i=item: Transposed(i))
            dtype = np.dtype(object) if is_text else item.dtype
            found[name] = _Variable((item.shape[1], item.shape[0]), dtype, load)
    return found


def _sparse(item: Any, shape: tuple[int, int]) -> Any:
    parts = [item[part][...] if part in item else np.empty(0) for part in ("data", "ir", "jc")]
    data, rows, ends = parts
    return sparse.csc_array((data, rows.astype(np.int64), ends.astype(np.int64)), shape=shape)


def _cells(root: Any, item: Any) -> Array:
    """Texts of a cell array, or of the rows of an array of characters, of version 7.3."""
    if item.dtype.kind == "O":  # references, as MATLAB counts them
        cells = [_characters(root[reference]) for reference in item[...].ravel()]
        return np.array(cells, dtype=object)
    return np.array(["".join(map(chr, row)).strip() for row in item[...].T], dtype=object)


def _characters(item: Any) -> str:
    values = np.asarray(item[...]).ravel()
    return "".join(map(chr, values)) if values.dtype.kind == "u" else str(values[0])


def _texts(values: Any) -> list[str]:
    """Names of features: a cell array of texts, or the rows of an array of characters."""
    cells = np.asarray(values[:, :] if isinstance(values, Transposed) else values).ravel()
    return [str(np.squeeze(cell)).strip() for cell in cells]


def _orient(
    file: Path, X: Any, others: Mapping[str, Any], roles: Roles
) -> tuple[Any, dict[str, Array]]:
    """Turn X so that it has a row per sample, and the others so that they have one, too."""
    arrays = {name: _dense(values) for name, values in others.items()}
    deciding = [*roles.targets, "y", "Y"]
    y = next((arrays[name] for name in deciding if name in arrays), None)
    rows, columns = X.shape
    if y is None:
        fits = (True, False)
    elif min(y.shape) <= 1:
        fits = (y.size == rows, y.size == columns)
    else:  # several outputs: rows of both are samples, or columns of both are
        in_rows = y.shape[0] == rows
        fits = (in_rows, y.shape[1] == columns and not in_rows)
    if y is not None and fits == (False, False):
        raise InvalidInputError(
            f"{file} has X of {rows} x {columns} and a target of {y.shape[0]} x {y.shape[1]}: "
            "lengths must agree; give one value per sample."
        )
    if fits == (True, True):
        raise InvalidInputError(
            f"{file} has a square X ({rows} x {columns}), and it is not clear whether rows or "
            "columns are samples: load it with scipy.io.loadmat or h5py and pass X and y."
        )
    turned = fits[1]
    if turned:
        X = X.below if isinstance(X, Transposed) else X.T
    return X, {
        name: values.ravel() if min(values.shape) <= 1 else values.T if turned else values
        for name, values in arrays.items()
    }


def _dense(values: Any) -> Array:
    """Return a variable as a 2-D array of numbers or texts."""
    if isinstance(values, Transposed):
        values = values[:, :]
    if sparse.issparse(values):
        values = check_sparse("a sparse variable", values).toarray()
    array = np.asarray(values)
    if array.dtype.kind in "OUS":
        cells = [str(np.squeeze(cell)).strip() for cell in array.ravel()]
        array = as_text(np.array(cells, dtype=object)).reshape(-1, 1)
    return array if array.ndim == 2 else array.reshape(-1, 1)
