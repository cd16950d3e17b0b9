"""AnnData: objects in memory, backed by a file or read lazily, and their files.

The features are the columns of X, of a layer or of raw. The columns of `obs` are annotations.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from hsiclasso.data.anndata_file import (
    AnnDataFile,
    as_column,
    is_group,
    missing_layer,
    missing_matrix,
    missing_raw,
    nullable,
    sparse_form,
)
from hsiclasso.data.annotations import Annotations, as_labels
from hsiclasso.data.base import Source, repeated
from hsiclasso.data.dask import is_dask, open_dask
from hsiclasso.data.dataset import Dataset, assemble
from hsiclasso.data.layout import Roles, quoted
from hsiclasso.data.sources import ArraySource, SparseSource, check_numbers
from hsiclasso.data.sparse_store import CompressedFile, sparse_source
from hsiclasso.data.store import FileArray, Store
from hsiclasso.data.stored import StoredArray, is_stored_array
from hsiclasso.errors import InvalidInputError

__all__ = ["is_anndata", "open_anndata", "read_anndata"]

Array = np.ndarray[Any, Any]


def is_anndata(X: Any) -> bool:
    """Whether an object is an AnnData, or has all of it that is used here."""
    return all(hasattr(X, name) for name in ("obs", "var", "layers", "obs_names", "var_names"))


def open_anndata(
    data: Any, *, layer: str | None = None, raw: bool = False, memory_limit: int | None = None
) -> Source:
    """Return a matrix of an AnnData object or file as a table, with `obs` as its annotations.

    Parameters
    ----------
    data : anndata.AnnData or path-like
        An object, also a view, backed or lazily read; or the path of an ``.h5ad`` file (needs the
        extra ``hdf5``) or of a ``.zarr`` store (needs the extra ``zarr``).
    layer : str, optional
        Name of a layer, in place of X.
    raw : bool
        Whether to take the matrix and the genes of `raw`.
    memory_limit : int, optional
        Bytes that a sparse matrix may take that is stored by rows (CSR), and therefore has to be
        turned into columns; by default half of the free memory. If it needs more, columns are
        read by ranges, for each of which all rows are read. Matrices that are dense or stored by
        columns (CSC) are read by chunks in any case.

    Returns
    -------
    Source
        A table that `HSICLasso.fit` takes. The target and covariates can be given by their names
        in `obs`.

    Examples
    --------
    >>> table = open_anndata("cells.h5ad", layer="counts")  # doctest: +SKIP
    >>> HSICLasso(20).fit(table, "cell_type")  # doctest: +SKIP
    """
    if layer is not None and raw:
        raise InvalidInputError(f"layer={layer!r} and raw are two different matrices: choose one.")
    if isinstance(data, str | os.PathLike):
        file = AnnDataFile(Store(str(data)))
        key, frame = file.matrix(layer, raw=raw)
        where, names, ids = str(data), file.names(frame), file.names("obs")
        _check_shape(where, key, file.shape(key), ids, names)
        _check_names(where, names)
        source = _open_node(file, key, names, memory_limit)
        read = partial(_column, file, len(ids))
        notes: Mapping[str, Array] = Annotations(file.columns("obs"), read)
    elif is_anndata(data):
        where = f"X ({type(data).__name__})"
        matrix, names, ids = *_matrix(data, where, layer, raw), _texts(data.obs_names)
        _check_names(where, names)
        source = _open_matrix(matrix, names, memory_limit)
        notes = Annotations(_texts(data.obs.columns), partial(_obs, data.obs))
    else:
        raise InvalidInputError(
            f"data is a {type(data).__name__}, which is no AnnData: pass one, or the path of an "
            ".h5ad file or .zarr store."
        )
    source.annotations, source.ids = notes, ids
    return source


def read_anndata(file: Path, roles: Roles) -> Dataset:
    """Read features, target and weights of an ``.h5ad`` file or a ``.zarr`` store."""
    raw = roles.layer == "raw"
    source = open_anndata(file, layer=None if raw else roles.layer, raw=raw)
    return assemble(str(file), source, roles)


def _column(file: AnnDataFile, n: int, name: str) -> Array:
    """Read a column of `obs`, one value for each of n samples, from a file."""
    values = file.column("obs", name)
    if values.shape != (n,):
        raise InvalidInputError(
            f"obs/{name} of {file.store} has shape {values.shape}, but there are {n} samples: the "
            "file is corrupt; write it again."
        )
    return values


def _check_shape(
    where: str, key: str, shape: tuple[int, ...], ids: Sequence[str], names: Sequence[str]
) -> None:
    if shape != (len(ids), len(names)):
        raise InvalidInputError(
            f"{key} of {where} has shape {shape}, but there are {len(ids)} samples and "
            f"{len(names)} genes: the file is corrupt; write it again."
        )


def _check_names(where: str, names: Sequence[str]) -> None:
    if twice := repeated(names):
        raise InvalidInputError(
            f"{where} has several genes named {quoted(twice)}, and names must be unique: call "
            "adata.var_names_make_unique() (for raw, before it is set)."
        )


def _open_node(
    file: AnnDataFile, key: str, names: Sequence[str], memory_limit: int | None
) -> Source:
    """Return a matrix in a file as a table."""
    store, (n, d) = file.store, file.shape(key)
    with store.open(key) as node:
        if not is_group(node):
            check_numbers(f"{key} of {store}", node.dtype)
            return StoredArray(FileArray(store, key), names)
        form = sparse_form(node)
        if form is None:
            raise InvalidInputError(
                f"{key} of {store} is stored as {node.attrs.get('encoding-type')!r}, which is no "
                "matrix: write X as an array or as a CSR or CSC matrix."
            )
    matrix = CompressedFile(store, key, form, (n, d))
    return sparse_source(matrix, names, memory_limit=memory_limit)


def _matrix(adata: Any, where: str, layer: str | None, raw: bool) -> tuple[Any, list[str]]:
    """Return a matrix of an object, and the names of its genes."""
    layers = [str(name) for name in adata.layers if name is not None]
    if raw:
        if adata.raw is None:
            raise InvalidInputError(missing_raw(where))
        return adata.raw.X, _texts(adata.raw.var_names)
    if layer is not None and layer not in layers:
        raise InvalidInputError(missing_layer(where, layer, layers))
    matrix = adata.X if layer is None else adata.layers[layer]
    if matrix is None:
        raise InvalidInputError(missing_matrix(where, layers))
    return matrix, _texts(adata.var_names)


def _open_matrix(matrix: Any, names: Sequence[str], memory_limit: int | None) -> Source:
    """Return a matrix of an object as a table."""
    check_numbers("X (AnnData)", matrix.dtype)
    if is_stored_array(matrix):
        return StoredArray(matrix, names)
    if hasattr(matrix, "group") and hasattr(matrix, "format"):  # anndata's matrix in a file
        shape = tuple(map(int, matrix.shape))
        file = CompressedFile(Store.of(matrix.group), "", matrix.format, (shape[0], shape[1]))
        return sparse_source(file, names, memory_limit=memory_limit)
    if sparse.issparse(matrix):
        return SparseSource(matrix, names)
    if is_dask(matrix):
        return open_dask(matrix, names, memory_limit)
    return ArraySource(np.asarray(matrix), names)


def _texts(names: Any) -> list[str]:
    return [str(name) for name in names]


def _obs(frame: Any, name: str) -> Array:
    """Return a column of a frame: numbers, booleans, or labels with None where missing."""
    column = frame[name]
    column = column.to_series() if hasattr(column, "to_series") else column  # of xarray
    if getattr(column.dtype, "categories", None) is not None:
        ordered = bool(column.cat.ordered)
        return as_labels(column.cat.codes.to_numpy(), list(column.cat.categories), ordered=ordered)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        return np.asarray(column.to_numpy())
    missing = column.isna().to_numpy()
    kind = getattr(column.dtype, "kind", "O")
    fill = {"b": False, "i": 0, "u": 0, "f": np.nan}.get(kind, "")
    filled = column.to_numpy(dtype={"b": bool, "O": object}.get(kind), na_value=fill)
    return nullable(as_column(np.asarray(filled)), missing)
