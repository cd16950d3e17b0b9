"""The tables that `input` takes: files, arrays, lists and frames."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.compat.errors import ArgumentCountError, ArgumentTypeError
from hsiclasso.data import Source, as_source, read_table
from hsiclasso.data.base import WrappedSource
from hsiclasso.data.dataset import assemble
from hsiclasso.data.layout import Roles
from hsiclasso.errors import InvalidInputError

__all__ = [
    "Table",
    "check_arguments",
    "from_arrays",
    "from_file",
    "from_frame",
    "input_csv_file",
    "input_matlab_file",
    "input_tsv_file",
    "is_frame",
]

Array = np.ndarray[Any, Any]

#: Formats of files that `input` reads.
_SUFFIXES = (".csv", ".tsv", ".mat")
#: Names that the table and the target may have in a MATLAB file.
_VARIABLES = (("X", "Y"), ("X_in", "Y_in"), ("x", "y"), ("x_in", "y_in"))
#: Names of the target columns if none are given.
_OUTPUTS = ("class",)


@dataclass(frozen=True)
class Table:
    """Features with their names, and the target."""

    source: Source
    #: Shape (n_samples,), or (n_samples, n_outputs).
    y: Any

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        return [self.source.name(j) for j in range(self.source.n_features)]

    @property
    def features_by_samples(self) -> FloatArray:
        """The numbers of the table, transposed as pyHSICLasso keeps them; codes of labels."""
        return self.source.block(slice(None)).T

    @property
    def outputs_by_samples(self) -> Array:
        """The target of shape (n_outputs, n_samples)."""
        y = np.array(self.y)
        return y[None] if y.ndim == 1 else y.T

    def check(self) -> None:
        """Raise unless there is a value of the target for every sample."""
        n, n_values = self.source.n_samples, len(self.y)
        if n != n_values:
            raise InvalidInputError(
                f"X has {n} samples (rows) and y has {n_values} values: pass one value for each "
                "row, and X.T if the rows of X are features."
            )

    def check_values(self, *, classes: bool) -> None:
        """Raise if a number is missing or infinite, or if labels are no classes."""
        remedy = "drop such rows, fill them in, or use hsiclasso.HSICLasso(missing='ignore')."
        for run in self.source.runs():
            bad = np.argwhere(~np.isfinite(self.source.block(run)))
            if len(bad):
                row, column = bad[0].tolist()
                name = self.source.name(run.start + column)
                raise InvalidInputError(
                    f"X has a value that is missing or infinite in row {row} of feature {name!r}, "
                    f"and every value must be a number: {remedy}"
                )
        y = np.asarray(self.y)
        text = next((value for value in y.ravel() if isinstance(value, str)), None)
        if text is not None and not classes:
            raise InvalidInputError(
                f"y holds text such as {str(text)!r}, and regression needs numbers: call "
                "classification, or encode y."
            )
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            row = int(np.argwhere(~np.isfinite(y))[0, 0])
            raise InvalidInputError(
                f"y has a value that is missing or infinite in row {row}, and every value must be "
                "a number: drop such rows."
            )


class _Named(WrappedSource):
    """A table with other names of its columns."""

    def __init__(self, source: Source, names: Sequence[str]) -> None:
        super().__init__(source)
        if not source.annotations:
            del self.annotations  # so that the table can be pickled
        self._names = [str(name) for name in names]

    def name(self, column: int) -> str:
        """Name of one column."""
        return self._names[column]


def check_arguments(args: Sequence[Any]) -> None:
    """Raise unless `input` can take these positional arguments."""
    if not 1 <= len(args) <= 3:
        raise ArgumentCountError(
            f"input got {len(args)} positional arguments, but takes a file, a frame, X and y, or "
            "X, y and the names of the features."
        )
    X, *others = args
    if is_path(X):
        if others:
            raise ArgumentTypeError(
                f"input got a file, {str(X)!r}, and more: the target is a column of the file, "
                "which output_list=['name'] names."
            )
        _check_suffix(X)
    elif is_frame(X):
        return
    elif not others:
        raise ArgumentTypeError(
            f"input got only a {type(X).__name__}: pass the path of a file, a frame with the "
            "target among its columns, or X and y."
        )
    else:
        _check_pair(X, others)


def _check_pair(X: Any, others: Sequence[Any]) -> None:
    """Raise unless X and y are two arrays or two lists."""
    alike = any(isinstance(X, kind) and isinstance(others[0], kind) for kind in (np.ndarray, list))
    if not alike:
        raise ArgumentTypeError(
            f"input got X as {type(X).__name__} and y as {type(others[0]).__name__}: pass both as "
            "arrays (numpy.asarray) or both as lists."
        )
    if len(others) > 1 and not isinstance(others[1], list | tuple | np.ndarray):
        raise ArgumentTypeError(
            f"input got names of features as {type(others[1]).__name__}: pass a list of str."
        )


def _check_suffix(path: Any) -> None:
    """Raise unless the name of a file ends like one that can be read."""
    name = os.fspath(path)
    if len(name) <= max(map(len, _SUFFIXES)):
        raise InvalidInputError(
            f"input got the file name {name!r}, which is too short: pass a path such as "
            "'table.csv'."
        )
    if not name.lower().endswith(_SUFFIXES):
        raise ArgumentTypeError(
            f"input got the file {name!r}, but reads only {', '.join(_SUFFIXES)}: "
            "hsiclasso.HSICLasso().fit(path, target) reads many other formats."
        )


def is_path(X: Any) -> bool:
    """Whether a table is given by its path."""
    return isinstance(X, str | os.PathLike)


def is_frame(X: Any) -> bool:
    """Whether a table is a pandas or polars frame."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def from_file(path: str | os.PathLike[str], output_list: Sequence[str] | None) -> Table:
    """Read a table with the target among its columns, or two variables of a MATLAB file."""
    if not Path(path).is_file():
        raise InvalidInputError(f"{path} does not exist: check the spelling of the path.")
    if Path(path).suffix.lower() == ".mat":
        if output_list is not None:
            raise InvalidInputError(
                f"output_list={output_list!r} names columns, which a MATLAB file does not have: "
                "leave it out; the target is the variable Y."
            )
        return _from_mat(path)
    data = read_table(path, _outputs(output_list), duplicates="unique")
    return Table(data.source, data.y)


def _from_mat(path: str | os.PathLike[str]) -> Table:
    """Read a MATLAB file, whose X has a row for each feature."""
    from scipy.io import loadmat

    try:
        stored = loadmat(path)
    except NotImplementedError:
        raise InvalidInputError(
            f"{path} is a MATLAB file of version 7.3: save it with -v7, or use "
            "hsiclasso.HSICLasso().fit(path, 'Y'), which reads it."
        ) from None
    for x_name, y_name in _VARIABLES:
        if x_name in stored and y_name in stored:
            X, y = stored[x_name], np.atleast_2d(stored[y_name])
            if X.shape[1] != y.shape[1]:
                raise InvalidInputError(
                    f"{path} has {x_name} of shape {X.shape} and {y_name} of shape {y.shape}: both "
                    "must have a column for each sample; transpose the one that has not."
                )
            return from_arrays(X.T, y.T)
    known = [name for name in stored if not name.startswith("__")]
    raise InvalidInputError(
        f"{path} has the variables {', '.join(known)}: it needs a table and a target with names "
        f"such as {' and '.join(_VARIABLES[0])}."
    )


def from_arrays(X: Any, y: Any, names: Sequence[str] | None = None) -> Table:
    """Make a table of arrays or lists; features without names are called 1, 2, ..."""
    source, y = as_source(X, min_samples=1), np.asarray(y)
    n, d = source.n_samples, source.n_features
    if y.ndim not in (1, 2) or (y.ndim == 2 and len(y) != n):
        raise InvalidInputError(
            f"y has shape {y.shape}, and X has {n} samples: pass one value for each sample, or a "
            "row of several outputs."
        )
    if names is None:
        names = [str(j) for j in range(1, d + 1)]
    elif len(names) != d:
        raise InvalidInputError(
            f"featname has {len(names)} names, and X has {d} features: pass one for each column."
        )
    return Table(_Named(source, names), y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y)


def from_frame(
    frame: Any, y: Any, names: Sequence[str] | None, output_list: Sequence[str] | None
) -> Table:
    """Make a table of a frame; without y, the target is among its columns."""
    source = as_source(frame, min_samples=1)
    if y is None:
        data = assemble("the frame", source, Roles(_outputs(output_list)))
        source, y = data.source, data.y
    names = names or [source.name(j) for j in range(source.n_features)]
    return from_arrays(source, y, names)


def _outputs(output_list: Sequence[str] | None) -> tuple[str, ...]:
    """Names of the target columns."""
    if output_list is None:
        return _OUTPUTS
    names = (output_list,) if isinstance(output_list, str) else tuple(output_list)
    if not names:
        raise InvalidInputError(
            "output_list=[] names no column: name the target, as in output_list=['class']."
        )
    return names


def input_csv_file(
    file_name: str, output_list: Sequence[str] = _OUTPUTS
) -> tuple[FloatArray, Array, list[str]]:
    r"""Read a CSV file as pyHSICLasso does.

    Parameters
    ----------
    file_name : str
        A file with column names in its first line.
    output_list : sequence of str, default=("class",)
        Names of the target columns.

    Returns
    -------
    X_in : ndarray of shape (n_features, n_samples)
    Y_in : ndarray of shape (n_outputs, n_samples)
    featname : list of str

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("small.csv").write_text("class,a,b\n0,1,2\n1,3,4\n0,5,6\n")
    >>> X_in, Y_in, featname = input_csv_file("small.csv")
    >>> X_in.shape, Y_in.shape, featname
    ((2, 3), (1, 3), ['a', 'b'])
    """
    return _parts(from_file(file_name, output_list))


def input_tsv_file(
    file_name: str, output_list: Sequence[str] = _OUTPUTS
) -> tuple[FloatArray, Array, list[str]]:
    """Read a TSV file as pyHSICLasso does.

    Parameters
    ----------
    file_name : str
        A file with column names in its first line.
    output_list : sequence of str, default=("class",)
        Names of the target columns.

    Returns
    -------
    X_in, Y_in, featname
        As from `input_csv_file`.
    """
    return _parts(from_file(file_name, output_list))


def input_matlab_file(file_name: str) -> tuple[FloatArray, Array, list[str]]:
    """Read a MATLAB file as pyHSICLasso does.

    Parameters
    ----------
    file_name : str
        A file with variables X, a row for each feature, and Y, or X_in and Y_in.

    Returns
    -------
    X_in, Y_in, featname
        As from `input_csv_file`; features are called 1, 2, ...
    """
    return _parts(from_file(file_name, None))


def _parts(table: Table) -> tuple[FloatArray, Array, list[str]]:
    return table.features_by_samples, table.outputs_by_samples, table.names
