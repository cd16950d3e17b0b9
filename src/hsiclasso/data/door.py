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
from hsiclasso.data.guards import check_columns
from hsiclasso.data.layout import Roles
from hsiclasso.data.lazy import LazyFrameSource, is_lazy_frame
from hsiclasso.data.reading import package_of
from hsiclasso.data.sources import ArraySource, FrameSource, SparseSource
from hsiclasso.data.stored import StoredArray, is_stored_array
from hsiclasso.data.structure import unmasked
from hsiclasso.errors import InvalidInputError

__all__ = ["as_dataset", "as_source", "check_rows", "is_container"]


def as_dataset(X: Any, y: Any = None) -> Dataset:
    """Turn a table of any supported kind and its target into a dataset.

    Parameters
    ----------
    X : table, path-like or Dataset
        Anything that `as_source` takes, or what `read_table` returns.
    y : str, sequence of str or array-like
        The target, one entry per sample; by default that of a dataset, or the array ``y`` of a
        file of arrays. For files, frames and
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
        from hsiclasso.data.files import own_target, read_table

        if y is None:
            names = own_target(X)
        data = read_table(X, names)
        return data if names else replace(data, y=y)
    source = as_source(X)
    check_rows(X, source, y=y)
    found, where = Dataset(source, y, ()), f"X ({type(X).__name__})"
    if names and (isinstance(y, str) or _are_known(names, source)):
        if not (source.annotations or source.named):
            raise InvalidInputError(
                f"y={y!r} is a name, but a {type(X).__name__} has neither names of columns nor "
                "annotations of its samples to look it up in: pass the values of the target, one "
                "per sample."
            )
        found = assemble(where, source, Roles(names))
        _check_size(found.source, 3)
    if not isinstance(X, Source):
        check_columns(found.source, where)
    return found


def _are_known(names: tuple[str, ...], source: Source) -> bool:
    """Whether a list of texts are names, and not one label for each sample."""
    if source.annotations.keys() >= set(names):
        return True
    if not source.named or len(names) == source.n_samples:
        return False
    return {source.name(j) for j in range(source.n_features)} >= set(names)


def check_rows(X: Any, source: Source, **others: Any) -> None:
    """Raise if pandas says that values by name, such as ``y``, are not of the rows of X.

    Parameters
    ----------
    X : object
        What the user passed.
    source : Source
        The table made of it.
    **others : object
        Values of the samples, in any form.
    """
    for name, values in others.items():
        if 0 < _n_values(values) == source.n_features != source.n_samples:
            raise InvalidInputError(
                f"{name} has {source.n_features} values and X has {source.n_samples} samples, but "
                f"{source.n_features} columns: inconsistent numbers of samples; samples seem to be "
                "in columns: pass X.T."
            )
        if package_of(X) == package_of(values) == "pandas" and hasattr(X, "iloc"):
            _check_index(name, X.index, getattr(values, "index", X.index))


def _n_values(values: Any) -> int:
    """Number of values of a target that has one for each sample; 0 for other forms."""
    one = isinstance(values, list) or getattr(values, "ndim", 0) == 1
    return len(values) if one else 0


def _check_index(name: str, ours: Any, theirs: Any) -> None:
    """Raise if two indices of pandas contradict each other.

    One that only counts rows says nothing about names of samples.
    """
    if ours.equals(theirs) or len(ours) != len(theirs):
        return
    counts = [type(index).__name__ == "RangeIndex" for index in (ours, theirs)]
    words = [getattr(index.dtype, "kind", "O") not in "iu" for index in (ours, theirs)]
    if (counts[0] and words[1]) or (counts[1] and words[0]):
        return
    place = int(np.argmax(np.asarray(ours) != np.asarray(theirs)))
    same = ours.is_unique and theirs.is_unique and not len(ours.difference(theirs))
    raise InvalidInputError(
        f"the indices of X and {name} differ, first in row {place}: {ours[place]!r} and "
        f"{theirs[place]!r}; they have {'the same labels in another order' if same else 'other'}"
        f"{'' if same else ' labels'}: pass {name}.loc[X.index] to pair rows by label, or "
        f"{name}.to_numpy() to pair them by position."
    )


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
    X = unmasked(X)
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
        words = str(error)
    if any(part in words for part in ("could not convert", "bytes/strings")):
        raise InvalidInputError(
            f"X holds values that are not numbers, the first is {_first_text(X)!r:.80}; features "
            "must be numbers: drop such columns or encode them first, or pass a pandas or polars "
            "frame."
        )
    # without the array, which takes many lines
    first, *others = words.splitlines()
    told = " ".join([first.rstrip(":"), *(line for line in others if line.startswith("Reshape"))])
    remedy = "an array with a row for each sample and a column for each feature"
    if "Complex" in first:
        remedy = "its real part, imaginary part or modulus instead"
    raise InvalidInputError(f"X is no table of real numbers ({told}): pass {remedy}.")


def _first_text(X: Any) -> Any:
    """Return the first value that is no number."""
    for value in np.asarray(X, dtype=object).ravel():
        try:
            float(value)
        except (TypeError, ValueError):
            return value
    return X


def _check_size(source: Source, min_samples: int) -> None:
    shape = (source.n_samples, source.n_features)
    if source.n_features < 1:
        raise InvalidInputError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required: add "
            "features."
        )
    if source.n_samples < min_samples:
        raise InvalidInputError(
            f"n_samples={source.n_samples} (X has shape {shape}), but dependence can only be "
            f"measured on {min_samples} samples or more: add rows, or transpose X if samples are "
            "columns."
        )
