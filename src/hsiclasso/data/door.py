"""The one door: a table of any supported kind becomes a source of column blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from hsiclasso.data.base import Source
from hsiclasso.data.sources import ArraySource, FrameSource, SparseSource
from hsiclasso.data.stored import StoredArray, is_stored_array
from hsiclasso.errors import InvalidInputError

__all__ = ["as_source", "is_source"]


def as_source(X: Any, *, min_samples: int = 3) -> Source:
    """Turn a table of any supported kind into a source of column blocks.

    Parameters
    ----------
    X : ndarray, pandas.DataFrame, polars.DataFrame, SciPy sparse matrix or array-like
        Table of shape (n_samples, n_features). A source is returned as it is. A `numpy.memmap`,
        an `h5py.Dataset` and a `zarr.Array` are read by chunks of columns.
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
    if is_stored_array(X):
        source: Source = StoredArray(X)
        _check_size(source, min_samples)
        return source
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        frame = FrameSource(X)
        _check_size(frame, min_samples)
        return frame
    options = {"ensure_all_finite": False, "ensure_min_samples": 0, "ensure_min_features": 0}
    if sparse.issparse(X):
        source = SparseSource(check_array(X, accept_sparse=True, **options))
    else:
        source = ArraySource(_as_numeric_array(X, options))
    _check_size(source, min_samples)
    return source


def is_source(X: Any) -> bool:
    """Whether a table is already a source."""
    return isinstance(X, Source)


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
