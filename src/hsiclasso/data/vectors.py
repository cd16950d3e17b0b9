"""A target in a file of its own, whose rows are those of the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hsiclasso.data.cells import CodedTable, Coder
from hsiclasso.data.compressed import open_text
from hsiclasso.data.reading import reading
from hsiclasso.data.text import DELIMITERS, by_suffix
from hsiclasso.errors import InvalidInputError

__all__ = ["read_target"]


def read_target(path: str | Path, n_samples: int) -> np.ndarray[Any, Any]:
    r"""Read a target whose values are in the order of the rows of a table.

    Parameters
    ----------
    path : path-like
        ``.npy``, or text (``.csv``, ``.tsv``, ``.txt``, also with ``.gz``) with one value on each
        line. A name may stand on the first line.
    n_samples : int
        Number of rows of the table.

    Returns
    -------
    ndarray of shape (n_samples,) or (n_samples, n_targets)
        Numbers, booleans, or labels with None where missing.

    Examples
    --------
    >>> file = Path("y.txt")
    >>> _ = file.write_text("dose\n1\n2.5\nNA\n")
    >>> read_target(file, 3)
    array([1. , 2.5, nan])
    """
    file = Path(path)
    text = {f"{suffix}{end}": False for suffix in DELIMITERS for end in ("", ".gz")}
    is_npy = by_suffix(file, {".npy": True, **text})
    with reading(file, "a target"):
        y = np.load(file, allow_pickle=False) if is_npy else _read_lines(file, n_samples)
    if y.ndim == 2 and 1 in y.shape:  # pyHSICLasso stores a row
        y = y.ravel()
    if y.ndim not in (1, 2) or len(y) != n_samples:
        what = f"shape {y.shape}" if is_npy else f"{len(y)} values"
        raise InvalidInputError(
            f"{file} has {what}, but the table has {n_samples} rows: lengths must agree; give one "
            "value per row, in the order of the table."
        )
    return y


def _read_lines(file: Path, n_samples: int) -> np.ndarray[Any, Any]:
    """Read one value per line; one line more than samples is a name."""
    with open_text(file) as stream:
        lines = [line.strip() for line in stream.read().splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    if len(lines) == n_samples + 1:
        del lines[0]
    cells = [line.strip('"') for line in lines]
    for place, cell in enumerate(cells, start=1):
        if "," in cell or "\t" in cell:
            raise InvalidInputError(
                f"{file} holds {cell[:40]!r} in data row {place}, which looks like several "
                "columns: give one value on each line."
            )
    coder = Coder()
    table = CodedTable(np.array([[coder[cell]] for cell in cells]).reshape(-1, 1))
    table.settle(0, file.name, coder.labels, category=False)
    return table.values(0)
