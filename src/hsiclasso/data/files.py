"""Tables from files, by suffix: CSV, TSV, Parquet and NPZ.

Text goes through NumPy's own parser, which takes a second for 50 x 300,000 numbers; the target
column is captured in the same pass and may hold labels.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TextIO

import numpy as np

from hsiclasso._types import IntArray
from hsiclasso.data.layout import Layout, lay_out, quoted, refuse_target_value, refuse_value
from hsiclasso.data.sources import ArraySource, Source
from hsiclasso.errors import InvalidInputError, require

__all__ = ["Table", "read_table"]

Array = np.ndarray[Any, Any]

#: How a missing value is written in text files.
_MISSING = frozenset({"", "NA", "N/A", "#N/A", "NaN", "nan", "NAN", "NULL", "null"})
#: Entries moved or looked at in one step.
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Table:
    """A table of features and its target.

    Attributes
    ----------
    source : Source
        The features, with their names.
    y : ndarray of shape (n_samples,)
        The target: numbers, booleans or text.
    target : str
        Name of the target.
    """

    source: Source
    y: Array
    target: str


def read_table(
    path: str | os.PathLike[str], target: str, *, drop: str | Iterable[str] = ()
) -> Table:
    r"""Read features and target from a file.

    Parameters
    ----------
    path : path-like
        ``.csv``, ``.tsv`` or ``.txt`` (tab-separated), each also with ``.gz``; ``.parquet``
        (needs the extra ``parquet``); ``.npz`` with arrays ``X``, ``y`` and, optionally,
        ``feature_names``. Text files start with a line of column names.
    target : str
        Name of the target column; for NPZ, name of an array or else one of `feature_names`.
    drop : iterable of str
        Columns to leave out, such as sample identifiers. The index that pandas stores in a
        Parquet file is left out in any case.

    Returns
    -------
    Table

    Raises
    ------
    InvalidInputError
        If the file, the names or a value break a rule; the message says which and where.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "table.csv")
    ...     _ = file.write_text("id,a,b,kind\ns1,1,2,x\ns2,3,4,y\ns3,5,6,x\n")
    ...     table = read_table(file, "kind", drop=["id"])
    >>> table.source.name(0), table.source.n_samples, table.y.tolist()
    ('a', 3, ['x', 'y', 'x'])
    """
    file = Path(path)
    read, form = _reader(file)
    dropped = frozenset([drop] if isinstance(drop, str) else drop)
    try:
        table = read(file, target, dropped)
    except InvalidInputError:
        raise
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{file} is not UTF-8 text ({error.reason} at byte {error.start}): save it as UTF-8."
        ) from error
    except (OSError, EOFError, ValueError, csv.Error, zipfile.BadZipFile) as error:
        raise InvalidInputError(
            f"{file} cannot be read as {form} ({error}): check that it is complete, readable and "
            "in the format that its suffix says."
        ) from error
    _check_size(file, table.source)
    return table


_Read = Callable[[Path, str, frozenset[str]], Table]


def _reader(file: Path) -> tuple[_Read, str]:
    """Choose the reader for a file that exists, and the name of its format."""
    text = {
        ".csv": (partial(_read_text, delimiter=","), "comma-separated text"),
        ".tsv": (partial(_read_text, delimiter="\t"), "tab-separated text"),
        ".txt": (partial(_read_text, delimiter="\t"), "tab-separated text"),
    }
    readers: dict[str, tuple[_Read, str]] = {
        **text,
        **{f"{suffix}.gz": entry for suffix, entry in text.items()},
        ".parquet": (_read_parquet, "Parquet"),
        ".npz": (_read_npz, "an NPZ archive"),
    }
    suffix = file.suffix.lower()
    if suffix == ".gz":
        suffix = "".join(file.suffixes[-2:]).lower()
    if suffix not in readers:
        raise InvalidInputError(
            f"{file} has the suffix {suffix!r}, and the suffix tells the format: use one of "
            f"{', '.join(readers)}."
        )
    if not file.is_file():
        what = "is a folder, not a file" if file.is_dir() else "does not exist"
        raise InvalidInputError(f"{file} {what}: check the spelling of the path.")
    if file.stat().st_size == 0:
        raise InvalidInputError(f"{file} is empty (0 bytes): write a table into it first.")
    return readers[suffix]


def _read_text(file: Path, target: str, drop: frozenset[str], *, delimiter: str) -> Table:
    names, first, n_lines = _peek(file, delimiter)
    layout = lay_out(file, names, target, drop)
    if len(first) != len(names):
        raise InvalidInputError(
            f"{file} has {len(names)} column names, but {len(first)} values in data row 1: every "
            "row must have one value per name. A header that is one short usually lacks the name "
            "of the row labels: add it."
        )
    labels: list[str] = []

    def capture(label: str) -> float:
        labels.append(label.strip())
        return 0.0

    kept = set(layout.kept.tolist())
    converters: dict[int | str, Any] = {j: _zero for j in range(len(names)) if j not in kept}
    converters[layout.target] = capture
    try:
        numbers = np.loadtxt(
            file, delimiter=delimiter, quotechar='"', comments=None, skiprows=n_lines,
            converters=converters, ndmin=2, encoding="utf-8",
        )  # fmt: skip
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # it struck within a converter
            raise error.__cause__ from None
        _explain(file, names, str(error))
    X = _take(numbers, layout.kept)
    return _table(X, _target_from_text(labels, target), target, layout.features)


def _zero(_: str) -> float:
    """Stand in for a value that is not a feature."""
    return 0.0


def _peek(file: Path, delimiter: str) -> tuple[list[str], list[str], int]:
    """Return the names, the fields of the first data row, and the lines that the header takes."""
    with _open_text(file) as lines:
        rows = csv.reader(lines, delimiter=delimiter)
        header = next((row for row in rows if any(map(str.strip, row))), None)
        n_lines = rows.line_num
        first = next((row for row in rows if row), None)
    if header is None:
        raise InvalidInputError(f"{file} holds only blank lines: write a table into it first.")
    if first is None:
        raise InvalidInputError(
            f"{file} has {len(header)} column name{'s'[: len(header) != 1]} and no rows below: "
            "add one row per sample."
        )
    names = [name.strip() or f"unnamed_{j}" for j, name in enumerate(header, start=1)]
    return names, first, n_lines


def _open_text(file: Path) -> TextIO:
    if file.suffix.lower() == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig", newline="")
    return file.open(encoding="utf-8-sig", newline="")


def _explain(file: Path, names: list[str], error: str) -> NoReturn:
    """Say in the table's terms what NumPy's parser stumbled over."""
    if match := re.search(r"changed from (\d+) to (\d+) at row (\d+)", error):
        wanted, found, row = match.groups()
        raise InvalidInputError(
            f"{file} has {found} values in data row {row}, but {wanted} columns: every row must "
            "have one value per column."
        )
    if match := re.search(r"convert string (.*) to float64 at row (\d+), column (\d+)", error):
        value, row, column = match[1], int(match[2]) + 1, int(match[3])
        refuse_value(names[column - 1], value, row, missing=value.strip("'\" ") in _MISSING)
    raise InvalidInputError(f"{file} cannot be read ({error}): check its columns and quotes.")


def _target_from_text(labels: list[str], name: str) -> Array:
    """Return numbers if all labels are, and else the labels."""
    for row, label in enumerate(labels, start=1):
        if label in _MISSING:
            refuse_target_value(name, label, row)
    try:
        return np.array(labels, dtype=np.float64)
    except ValueError:
        return np.array(labels)


def _read_parquet(file: Path, target: str, drop: frozenset[str]) -> Table:
    parquet = require("pyarrow.parquet", "parquet")
    with parquet.ParquetFile(file) as stored:
        schema = stored.schema_arrow
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        hidden = {name for name in index if isinstance(name, str)} - {target}
        layout = lay_out(file, list(schema.names), target, drop | (hidden & set(schema.names)))
        _check_types(stored, layout)
        if stored.metadata.num_rows == 0:
            raise InvalidInputError(f"{file} has no rows: add one row per sample.")
        y = _parquet_target(stored.read(columns=[target]).column(target), target)
        X = np.empty((stored.metadata.num_rows, layout.kept.size), order="F")
        start = 0
        for batch in stored.iter_batches(columns=layout.features):
            stop = start + batch.num_rows
            for k, name in enumerate(layout.features):
                column = batch.column(name)
                if column.null_count:
                    row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
                    refuse_value(name, "null", start + row + 1, missing=True)
                X[start:stop, k] = column.to_numpy(zero_copy_only=False)
            start = stop
    return _table(X, y, target, layout.features)


def _check_types(stored: Any, layout: Layout) -> None:
    """Raise if a feature of a Parquet file is not numeric."""
    types = require("pyarrow", "parquet").types
    numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    kinds = stored.schema_arrow.types
    for j in layout.kept:
        kind, name = kinds[j], layout.names[j]
        if types.is_null(kind):
            refuse_value(name, "null", 1, missing=True)
        if not any(is_kind(kind) for is_kind in numeric):
            rows = next(stored.iter_batches(batch_size=1, columns=[name]), None)
            value = repr(rows.column(name)[0].as_py()) if rows is not None else "values"
            refuse_value(name, f"{value} (of type {kind})", 1, missing=False)


def _parquet_target(column: Any, name: str) -> Array:
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy()))
        refuse_target_value(name, None, row + 1)
    values = np.asarray(column.to_numpy())
    return values if values.dtype.kind in "biuf" else np.array([str(v) for v in values])


def _read_npz(file: Path, target: str, drop: frozenset[str]) -> Table:
    X, y, names = _load_npz(file, target)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"X in {file} has shape {X.shape} and dtype {X.dtype}: it must be a 2-D array of real "
            "numbers, one row per sample."
        )
    if names is not None and names.shape != X.shape[1:]:
        raise InvalidInputError(
            f"feature_names in {file} has shape {names.shape}, but X has {X.shape[1]} columns: "
            "give one name per column."
        )
    labels = [f"x{j}" for j in range(X.shape[1])] if names is None else names.astype(str).tolist()
    if y is None:
        layout = lay_out(file, labels, target, drop)
        y = X[:, layout.target].copy()
    else:
        layout = lay_out(file, [*labels, target], target, drop)
        y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if y.shape != X.shape[:1]:
        raise InvalidInputError(
            f"{target} in {file} has shape {y.shape}, but X has {X.shape[0]} rows: lengths must "
            "agree; give one target value per row."
        )
    return _table(_take(X, layout.kept), y, target, layout.features)


def _load_npz(file: Path, target: str) -> tuple[Array, Array | None, Array | None]:
    """Return X, the target if it is an array of its own, and the names if there are any."""
    with np.load(file, allow_pickle=False) as archive:
        if "X" not in archive.files:
            raise InvalidInputError(
                f"{file} has no array named 'X', only {quoted(archive.files)}: save the table "
                "with numpy.savez(file, X=X, y=y, feature_names=names)."
            )
        names = archive["feature_names"] if "feature_names" in archive.files else None
        others = [name for name in archive.files if name not in ("X", "feature_names")]
        if target not in others and (names is None or target not in names.astype(str)):
            raise InvalidInputError(
                f"target={target!r} is neither an array of {file} (it has {quoted(others)}) nor "
                "one of its feature_names: give the name of the target, usually 'y'."
            )
        return archive["X"], archive[target] if target in others else None, names


def _take(array: Array, kept: IntArray) -> Array:
    """Keep columns, in ascending order, of an array of our own: a view, never a second copy."""
    if kept.size == 0 or kept[-1] - kept[0] + 1 == kept.size:
        return array[:, kept[0] : kept[-1] + 1] if kept.size else array[:, :0]
    step = max(1, _CHUNK // array.shape[1])
    for start in range(0, array.shape[0], step):
        rows = array[start : start + step]
        rows[:, : kept.size] = rows[:, kept]
    return array[:, : kept.size]


def _table(X: Array, y: Array, target: str, names: list[str]) -> Table:
    """Gather what was read, checked for NaN."""
    if y.dtype.kind == "f" and np.isnan(y).any():
        refuse_target_value(target, np.nan, int(np.argmax(np.isnan(y))) + 1)
    step = max(1, _CHUNK // max(1, X.shape[1]))
    for start in range(0, X.shape[0] if X.dtype.kind == "f" else 0, step):
        rows = X[start : start + step]
        # A finite sum proves that there is no NaN; another may be mere overflow.
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(rows.sum()):
                continue
        for row, column in np.argwhere(np.isnan(rows))[:1]:
            refuse_value(names[column], "NaN", start + int(row) + 1, missing=True)
    return Table(ArraySource(X, names), y, target)


def _check_size(file: Path, source: Source) -> None:
    if source.n_features < 1:
        raise InvalidInputError(
            f"{file} has no column left beside the target and those dropped: features are needed."
        )
    if source.n_samples < 3:
        raise InvalidInputError(
            f"{file} has {source.n_samples} data row(s), but dependence can only be measured on "
            "3 samples or more: add rows."
        )
