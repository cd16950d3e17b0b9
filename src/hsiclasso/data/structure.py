"""Arrays that are not plain: sparse ones, whose structure is checked, and masked ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from hsiclasso.errors import InvalidInputError

__all__ = ["check_sparse", "unmasked"]


def check_sparse(what: str, matrix: Any) -> Any:
    """Return a sparse matrix; raise if its arrays do not fit together.

    Compiled code trusts them: an index out of range would read or write foreign memory.

    Parameters
    ----------
    what : str
        What the matrix is called in errors.
    matrix : sparse matrix or array of any format
        Compressed rows, columns and blocks, and coordinates are checked in place; other formats
        are first turned into coordinates.

    Examples
    --------
    >>> from scipy import sparse
    >>> made = sparse.csr_array(np.eye(2))
    >>> made.indices[1] = 7
    >>> check_sparse("X", made)
    Traceback (most recent call last):
        ...
    hsiclasso.errors.InvalidInputError: X is no valid sparse matrix of shape (2, 2): its largest
    index is 7, and there are 2 places; make it anew.
    """
    if matrix.format not in ("csr", "csc", "bsr", "coo"):
        matrix = matrix.tocoo()
    if matrix.format == "coo":
        parts = [
            (np.asarray(index), length)
            for index, length in zip((matrix.row, matrix.col), matrix.shape, strict=True)
        ]
        lengths = {len(matrix.data), *(len(index) for index, _ in parts)}
        problem = "it has not one row and one column for each value" if len(lengths) > 1 else None
    else:
        parts, problem = _compressed(matrix)
    for index, length in parts:
        if problem is None and index.size and not (index.min() >= 0 and index.max() < length):
            worst = index.min() if index.min() < 0 else index.max()
            which = "smallest" if worst < 0 else "largest"
            problem = f"its {which} index is {worst}, and there are {length} places"
    if problem is not None:
        raise InvalidInputError(
            f"{what} is no valid sparse matrix of shape {matrix.shape}: {problem}; make it anew."
        )
    return matrix


def _compressed(matrix: Any) -> tuple[list[tuple[Any, int]], str | None]:
    """Return the indices of a compressed matrix with their bound, and a problem of its indptr."""
    rows, columns = matrix.shape
    if matrix.format == "bsr":
        rows, columns = rows // matrix.blocksize[0], columns // matrix.blocksize[1]
    n_parts, length = (columns, rows) if matrix.format == "csc" else (rows, columns)
    indptr, indices = np.asarray(matrix.indptr), np.asarray(matrix.indices)
    fits = (
        indptr.shape == (n_parts + 1,)
        and indptr[0] == 0
        and bool((np.diff(indptr) >= 0).all())
        and indptr[-1] <= indices.size
        and indices.size == len(matrix.data)
    )
    used = indices[: int(indptr[-1])] if fits else indices[:0]
    return [(used, length)], None if fits else "indptr, indices and data do not fit together"


def unmasked(values: Any) -> Any:
    """Return a masked array with NaN, or None among objects, where it is masked; others as is.

    Examples
    --------
    >>> unmasked(np.ma.array([1, 2, 3], mask=[False, True, False]))
    array([ 1., nan,  3.])
    """
    if not isinstance(values, np.ma.MaskedArray) or values.dtype.names is not None:
        return values
    mask = np.ma.getmaskarray(values)
    if not mask.any():
        return np.asarray(values)
    numeric = values.dtype.kind in "biuf"
    dtype = np.result_type(values.dtype, np.float32) if numeric else object
    made = np.array(values.data, dtype=dtype)
    made[mask] = np.nan if numeric else None
    return made
