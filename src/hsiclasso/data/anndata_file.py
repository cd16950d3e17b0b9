"""The parts of AnnData files: `.h5ad` of all versions, and `.zarr`.

There are three generations of files. The first (before anndata 0.7) has `obs` and `var` as arrays
of records, with the categories in `uns`; the second has a group `__categories`; the third says by
``encoding-type`` what each group is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

import numpy as np

from hsiclasso.data.annotations import as_labels
from hsiclasso.data.layout import quoted
from hsiclasso.data.reading import reading
from hsiclasso.data.store import Store, as_texts
from hsiclasso.errors import InvalidInputError

__all__ = [
    "AnnDataFile",
    "as_column",
    "is_group",
    "missing_layer",
    "missing_matrix",
    "missing_raw",
    "nullable",
    "sparse_form",
]

Array = np.ndarray[Any, Any]
_SPARSE: dict[str, Literal["csr", "csc"]] = {
    "csr_matrix": "csr", "csc_matrix": "csc", "csr": "csr", "csc": "csc",
}  # fmt: skip
#: Names of the index of a frame that does not say it.
_INDEX = ("_index", "index")


class AnnDataFile:
    """The parts of an AnnData file, by their places in it.

    Parameters
    ----------
    store : Store
        An HDF5 file or a Zarr store.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        present = self.keys()
        absent = [part for part in ("obs", "var") if part not in present]
        if absent:
            raise InvalidInputError(
                f"{store} is no AnnData file: it has no {' and no '.join(absent)}, only "
                f"{quoted(sorted(present)) or 'nothing'}; write one with adata.write_h5ad(file) or "
                "adata.write_zarr(folder)."
            )

    def keys(self, key: str = "") -> list[str]:
        """Names of what is in a group; nothing if there is no such group."""
        with self.store.open() as root:
            if key and key not in root:
                return []
            node = root[key] if key else root
            return [str(name) for name in node] if is_group(node) else []

    def matrix(self, layer: str | None = None, *, raw: bool = False) -> tuple[str, str]:
        """Return the places of a matrix and of the frame of its columns."""
        if layer is not None:
            layers = self.keys("layers")
            if layer not in layers:
                raise InvalidInputError(missing_layer(str(self.store), layer, layers))
            return f"layers/{layer}", "var"
        if raw:
            for sign in ("/", "."):  # of today and of the first generation
                if self._holds(f"raw{sign}X"):
                    return f"raw{sign}X", f"raw{sign}var"
            raise InvalidInputError(missing_raw(str(self.store)))
        if not self._holds("X"):
            raise InvalidInputError(missing_matrix(str(self.store), self.keys("layers")))
        return "X", "var"

    def _holds(self, key: str) -> bool:
        """Whether a key exists and does not hold AnnData's mark for None."""
        with self.store.open() as root:
            return key in root and root[key].attrs.get("encoding-type") != "null"

    def shape(self, key: str) -> tuple[int, ...]:
        """Return the shape of a matrix, dense or sparse."""
        with self.store.open(key) as node:
            if not is_group(node):
                return tuple(map(int, node.shape))
            if "shape" not in node.attrs and "h5sparse_shape" not in node.attrs:
                raise InvalidInputError(
                    f"{key} of {self.store} is a group without a shape, and no sparse matrix: "
                    "write X as an array or as a CSR or CSC matrix."
                )
            return tuple(map(int, node.attrs.get("shape", node.attrs.get("h5sparse_shape"))))

    def names(self, frame: str) -> list[str]:
        """Return the index of a frame."""
        with self.store.open(frame) as node:
            index = self._index(node)
            values = node[index][:] if is_group(node) else node[index]
            return as_texts(np.asarray(values))

    def columns(self, frame: str) -> list[str]:
        """Return the names of the columns of a frame, without its index."""
        with self.store.open(frame) as node:
            if not is_group(node):
                found = list(node.dtype.names)
            elif "column-order" in node.attrs:
                found = as_texts(np.asarray(node.attrs["column-order"]))
            else:
                found = [str(name) for name in node if name != "__categories"]
            return [name for name in found if name != self._index(node)]

    def _index(self, node: Any) -> str:
        """Return the name of the index of a frame."""
        known = list(node) if is_group(node) else list(node.dtype.names or ())
        names = [str(node.attrs["_index"])] if "_index" in node.attrs else _INDEX
        for name in names:
            if name in known:
                return name
        raise InvalidInputError(
            f"a frame of {self.store} has no index ({quoted(known)}): names of samples and genes "
            "are needed; write the file again."
        )

    def column(self, frame: str, name: str) -> Array:
        """Return a column of a frame: numbers, booleans, or labels with None where missing."""
        with self.store.open() as root, reading(f"{self.store} ({frame}/{name})"):
            node = root[frame]
            if not is_group(node):
                return _field(root, node, name)
            item = node[name]
            return self._encoded(item, f"{frame}/{name}") if is_group(item) else _plain(node, item)

    def _encoded(self, item: Any, place: str) -> Array:
        """Return a column that is a group of arrays."""
        form = str(item.attrs.get("encoding-type", ""))
        if form == "categorical":
            labels, ordered = as_texts(np.asarray(item["categories"][:])), item.attrs.get("ordered")
            return as_labels(np.asarray(item["codes"][:]), labels, ordered=bool(ordered))
        if form.startswith("nullable-"):
            return nullable(np.asarray(item["values"][:]), np.asarray(item["mask"][:]))
        raise InvalidInputError(
            f"{place} of {self.store} is stored as {form or 'a group'!r}, and is not one number or "
            "label for each sample: give another column."
        )


def _field(root: Any, frame: Any, name: str) -> Array:
    """Return a column of an array of records; its categories are in `uns`."""
    values, place = np.asarray(frame[name]), f"uns/{name}_categories"
    if values.dtype.kind not in "iu" or place not in root:
        return as_column(values)
    labels = np.asarray(root[place][()])
    return as_labels(values, as_texts(np.atleast_1d(labels)))


def _plain(frame: Any, item: Any) -> Array:
    """Return a column that is an array; its categories may be in `__categories`."""
    values = np.asarray(item[:])
    if "categories" not in item.attrs:
        return as_column(values)
    labels = frame[item.attrs["categories"]]
    ordered = bool(labels.attrs.get("ordered", False))
    return as_labels(values, as_texts(np.asarray(labels[:])), ordered=ordered)


def as_column(values: Array) -> Array:
    """Return numbers and booleans as they are, all else as text."""
    if values.dtype.kind in "biuf":
        return values
    return np.array([*as_texts(values), None], dtype=object)[:-1]  # None keeps it an object array


def nullable(values: Array, missing: Array) -> Array:
    """Return values of which some are missing.

    Examples
    --------
    >>> nullable(np.array([4, 5]), np.array([False, True]))
    array([ 4., nan])
    >>> nullable(np.array([True, False]), np.array([False, True]))
    array([True, None], dtype=object)
    """
    if not missing.any():
        return as_column(values)
    if values.dtype.kind in "iuf":
        return np.where(missing, np.nan, values)
    filled = as_column(values).astype(object)
    filled[missing] = None
    return filled


def is_group(node: Any) -> bool:
    """Whether something in a store is a group, not an array."""
    return not hasattr(node, "dtype")


def sparse_form(node: Any) -> Literal["csr", "csc"] | None:
    """Return how a group stores a sparse matrix, None if it does not."""
    form = node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", ""))
    return _SPARSE.get(cast(str, form))


def missing_layer(where: str, layer: str, layers: Sequence[str]) -> str:
    """Say that there is no such layer."""
    return f"{where} has no layer {layer!r}: it has {quoted(list(layers)) or 'no layers at all'}."


def missing_raw(where: str) -> str:
    """Say that there is no raw matrix."""
    return f"{where} has no raw matrix: leave raw out, or name a layer."


def missing_matrix(where: str, layers: Sequence[str]) -> str:
    """Say that there is no X."""
    instead = f"name a layer ({quoted(list(layers))})" if layers else "write one into it"
    return f"{where} has no X: {instead}."
