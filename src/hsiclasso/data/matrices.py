"""Matrices between samples from files, by suffix: affinities, or the links of a graph."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from hsiclasso.data.cells import as_number
from hsiclasso.data.compressed import open_text
from hsiclasso.data.layout import quoted
from hsiclasso.data.npz import open_npz
from hsiclasso.data.reading import reading
from hsiclasso.data.text import DELIMITERS, by_suffix
from hsiclasso.errors import InvalidInputError

__all__ = ["read_matrix"]

#: What scipy.sparse.save_npz calls the kind of its matrix.
_SPARSE_MARK = "format"


def read_matrix(path: str | os.PathLike[str]) -> Any:
    r"""Read a square matrix between samples.

    Parameters
    ----------
    path : path-like
        ``.npz`` as written by `scipy.sparse.save_npz` or with a single array; ``.npy``;
        ``.csv``, ``.tsv`` or ``.txt`` (tab-separated), with numbers only, or also with a line
        and a column of names, which must agree.

    Returns
    -------
    ndarray or sparse array of shape (n, n)

    Examples
    --------
    >>> file = Path("links.csv")
    >>> _ = file.write_text(",ann,bob\nann,0,1\nbob,1,0\n")
    >>> read_matrix(file)
    array([[0., 1.],
           [1., 0.]])
    """
    file = Path(path)
    text = {suffix: partial(_read_text, delimiter=sign) for suffix, sign in DELIMITERS.items()}
    readers: dict[str, Callable[[Path], Any]] = {
        ".npz": _read_npz,
        ".npy": partial(np.load, allow_pickle=False),
        **text,
    }
    read = by_suffix(file, readers)
    with reading(file, "a matrix"):
        matrix = read(file)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"{file} holds an array of shape {matrix.shape} and dtype {matrix.dtype}: a matrix "
            "between samples is square and has a number for every pair."
        )
    return matrix


def _read_npz(file: Path) -> Any:
    with open_npz(file) as archive:
        names = archive.files
        if _SPARSE_MARK not in names and len(names) == 1:
            return archive[names[0]]
    if _SPARSE_MARK in names:
        return sparse.load_npz(file)
    raise InvalidInputError(
        f"{file} holds {len(names)} arrays ({quoted(names)}), and it is not clear which one is the "
        "matrix: save it alone with numpy.savez(file, A), or scipy.sparse.save_npz(file, A)."
    )


def _read_text(file: Path, *, delimiter: str) -> Any:
    with open_text(file) as lines:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if any(map(str.strip, row))]
    if not rows:
        raise InvalidInputError(f"{file} holds only blank lines: write a matrix into it first.")
    if any(as_number(cell) is None for cell in rows[0]):
        rows = _without_names(file, rows)
    lengths = {len(row) for row in rows}
    if lengths != {len(rows)}:
        raise InvalidInputError(
            f"{file} has {len(rows)} rows of {' or '.join(map(str, sorted(lengths)))} numbers: a "
            "matrix between samples is square; give a row and a column for each sample."
        )
    matrix = np.empty((len(rows), len(rows)))
    for i, row in enumerate(rows):
        numbers = [as_number(cell) for cell in row]
        if None in numbers:
            j = numbers.index(None)
            raise InvalidInputError(
                f"{file} holds {row[j]!r} in row {i + 1}, column {j + 1} of the matrix, but every "
                "entry must be a number: 0 stands for no link."
            )
        matrix[i] = numbers
    return matrix


def _without_names(file: Path, rows: list[list[str]]) -> list[list[str]]:
    """Remove the line and the column of names; raise if they do not agree."""
    header, body = [cell.strip() for cell in rows[0]], rows[1:]
    if len(header) != len(body) + 1:
        return body
    for i, (row, name) in enumerate(zip(body, header[1:], strict=True), start=1):
        if row[0].strip() != name:
            raise InvalidInputError(
                f"{file} calls row {i} {row[0].strip()!r} and column {i} {name!r}: rows and "
                "columns must be the same samples in the same order, that of the table."
            )
    return [row[1:] for row in body]
