"""The one door: a table of any supported kind becomes a source of column blocks."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from hsiclasso.data.anndata import is_anndata, open_anndata
from hsiclasso.data.arrow import ArrowSource, TableColumns, is_arrow
from hsiclasso.data.base import Source
from hsiclasso.data.dask import is_dask, open_dask
from hsiclasso.data.dataset import Dataset, assemble
from hsiclasso.data.layout import Roles
from hsiclasso.data.lazy import LazyFrameSource, is_lazy_frame
from hsiclasso.data.sources import ArraySource, FrameSource, SparseSource
from hsiclasso.data.stored import StoredArray, is_stored_array
from hsiclasso.errors import InvalidInputError

__all__ = ["as_dataset", "as_source", "is_container"]


def as_dataset(X: Any, y: Any = None) -> Dataset:
    """Turn a table of any supported kind and its target into a dataset.

    Parameters
    ----------
    X : table, path-like or Dataset
        Anything that `as_source` takes, or what `read_table` returns.
    y : str, sequence of str or array-like
        The target, one entry per sample; by default that of a dataset. For files and for
        containers that describe their samples, also the name of a column or annotation, or a list
        of such names.

    Examples
    --------
    >>> as_dataset(np.eye(3), [1, 2, 3]).source.n_features
    3
    """
    names = _as_names(y)
    if isinstance(X, Dataset):
        if y is None:
            return X
        known = X.source.annotations.keys() | {X.source.name(j) for j in range(X.source.n_features)}
        if isinstance(y, str) or (names and known >= set(names)):
            return replace(assemble("X", X.source, Roles(names)), weights=X.weights)
        return replace(X, y=y, target=())
    if is_path(X):
        from hsiclasso.data.files import read_table

        data = read_table(X, names or ())
        return data if names else replace(data, y=y)
    source = as_source(X)
    if names and (isinstance(y, str) or source.annotations.keys() >= set(names)):
        if not source.annotations:
            raise InvalidInputError(
                f"y={y!r} is a name, but a {type(X).__name__} has no annotations of its samples "
                "to look it up in: pass the values of the target, one per sample."
            )
        return assemble(f"X ({type(X).__name__})", source, Roles(names))
    return Dataset(source, y, ())


def _as_names(y: Any) -> tuple[str, ...]:
    """Return names of a target that is given by name."""
    if isinstance(y, str):
        return (y,)
    is_list = isinstance(y, list | tuple) and all(isinstance(name, str) for name in y)
    return tuple(y) if is_list else ()


def as_source(X: Any, *, min_samples: int = 3) -> Source:
    """Turn a table of any supported kind into a source of column blocks.

    Parameters
    ----------
    X : array-like, pandas.DataFrame, polars.DataFrame, AnnData, SciPy sparse matrix or path-like
        Table of shape (n_samples, n_features). A source is returned as it is. A `numpy.memmap`,
        an `h5py.Dataset`, a `zarr.Array`, a `pyarrow.Table` or `pyarrow.dataset.Dataset`, a
        `polars.LazyFrame`, and arrays and frames of Dask are read by chunks of columns. For the
        formats of files see `hsiclasso.data.files.read_table`.
    min_samples : int, default=3
        Least number of rows; 3 to measure dependence, 1 to apply what was learnt.

    Returns
    -------
    Source
        Blocks of columns on demand; ``X`` is neither copied as a whole nor written to.

    Examples
    --------
    >>> import numpy as np
    >>> source = as_source(np.arange(6.0).reshape(3, 2))
    >>> source.n_samples, source.n_features, source.name(1)
    (3, 2, 'x1')
    >>> source.block(slice(1, 2)).ravel()
    array([1., 3., 5.])
    """
    if isinstance(X, Source):
        return X
    if isinstance(X, Dataset):
        return X.source
    if is_path(X):
        from hsiclasso.data.files import read_table

        return read_table(X, ()).source
    source = _open(X)
    _check_size(source, min_samples)
    return source


def _open(X: Any) -> Source:
    """Choose the kind of source for an object."""
    if is_stored_array(X):
        return StoredArray(X)
    if is_anndata(X):
        return open_anndata(X)
    if _is_lazy(X):
        return _open_lazy(X)
    if not is_container(X):
        raise InvalidInputError(
            f"X is a {type(X).__module__}.{type(X).__qualname__}, which is no table: pass an "
            "array, a sparse matrix, a pandas or polars frame, an AnnData, or the path of a file."
        )
    if _is_frame(X):
        return FrameSource(X)
    options = {"ensure_all_finite": False, "ensure_min_samples": 0, "ensure_min_features": 0}
    if sparse.issparse(X):
        return SparseSource(check_array(X, accept_sparse=True, **options))
    return ArraySource(_as_numeric_array(X, options))


def _is_lazy(X: Any) -> bool:
    """Whether an object is a Dask, Arrow or polars table that is read by groups of columns."""
    return is_dask(X) or is_arrow(X) or is_lazy_frame(X)


def _open_lazy(X: Any) -> Source:
    if is_dask(X):
        return open_dask(X)
    return ArrowSource(TableColumns(X)) if is_arrow(X) else LazyFrameSource(X)


def is_path(X: Any) -> bool:
    """Whether a table is given by its path."""
    return isinstance(X, str | os.PathLike)


def is_container(X: Any) -> bool:
    """Whether a table is a frame, an array or a sparse matrix in memory, as scikit-learn takes."""
    if isinstance(X, Source | Dataset) or is_path(X) or is_stored_array(X):
        return False
    if is_anndata(X) or _is_lazy(X):
        return False
    arrays = ("__array__", "__array_interface__", "__dlpack__")
    return (
        _is_frame(X)
        or sparse.issparse(X)
        or isinstance(X, list | tuple | range)
        or np.isscalar(X)
        or any(hasattr(X, name) for name in arrays)
    )


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def _as_numeric_array(X: Any, options: dict[str, Any]) -> np.ndarray[Any, Any]:
    try:
        return np.asarray(check_array(X, dtype="numeric", copy=False, **options))
    except ValueError as error:
        if not any(words in str(error) for words in ("could not convert", "bytes/strings")):
            raise
        raise InvalidInputError(
            f"X holds values that are not numbers ({error}); features must be numbers: drop "
            "such columns or encode them first, or pass a pandas or polars frame."
        ) from error


def _check_size(source: Source, min_samples: int) -> None:
    shape = (source.n_samples, source.n_features)
    if source.n_features < 1:
        raise InvalidInputError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required."
        )
    if source.n_samples < min_samples:
        raise InvalidInputError(
            f"n_samples={source.n_samples} (X has shape {shape}), but dependence can only be "
            f"measured on {min_samples} samples or more: add rows, or transpose X if samples are "
            "columns."
        )
