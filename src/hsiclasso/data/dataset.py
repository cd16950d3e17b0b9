"""A table of features together with its target and weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.data.annotations import Annotations, RankedLabels
from hsiclasso.data.base import Source, WrappedSource
from hsiclasso.data.cells import CodedTable
from hsiclasso.data.duplicates import RenamedColumns, averaged
from hsiclasso.data.labelled import OrderedLabels
from hsiclasso.data.layout import Roles, lay_out
from hsiclasso.data.subset import ColumnSubset
from hsiclasso.errors import InvalidInputError

__all__ = ["Dataset", "as_ids", "as_weights", "assemble", "join_targets", "labels_of_numbers"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Dataset:
    """A table of features, with its target and weights."""

    #: The features, with their names and kinds.
    source: Source
    #: The target, shape (n_samples,) or (n_samples, n_targets): numbers, booleans or text, with NaN
    #: or None where missing; or one column of ordered labels.
    y: Any
    #: Names of the columns of the target.
    target: tuple[str, ...]
    #: Sample weights, shape (n_samples,).
    weights: FloatArray | None = None

    @property
    def target_names(self) -> tuple[str, ...]:
        """Names of the columns of the target, also those that a frame or a series has itself."""
        if self.target:
            return self.target
        if hasattr(self.y, "columns"):
            return tuple(map(str, self.y.columns))
        name = getattr(self.y, "name", None)
        return () if name is None else (str(name),)


def assemble(where: str, source: Source, roles: Roles) -> Dataset:
    """Take the target and the weights out of a table.

    They are found by name among the annotations of the samples, then among the columns. A column
    with a role is no feature.

    Parameters
    ----------
    where : str
        What the table is called in errors, such as its path.
    source : Source
        The table, with its annotations.
    roles : Roles
        Names of targets, weights, and so on.
    """
    if roles.duplicates != "error":
        source = averaged(source) if roles.duplicates == "mean" else RenamedColumns(source)
        roles = replace(roles, duplicates="error")
    names = [source.name(j) for j in range(source.n_features)]
    known, notes = set(names), source.annotations
    here = known | notes.keys()
    if source.ids is not None and roles.id not in here and roles.id in (None, *roles.join_by):
        # the table has identifiers already: a column of them is looked for in other files only
        roles = replace(roles, id=None, join_by=())
    roles = roles.with_id(here)
    for name in roles.others:
        if name in known and name in notes:
            raise InvalidInputError(
                f"{name!r} is a feature of {where} and also describes its samples, and it is not "
                "clear which of the two is meant: rename one."
            )
    described = replace(roles, elsewhere=(*roles.elsewhere, *notes))
    layout = lay_out(where, [*names, *(note for note in notes if note not in known)], described)
    for name in sorted(roles.category - set(roles.others) - set(notes)):
        if source.kind(names.index(name)) not in ("category", "text"):
            raise InvalidInputError(
                f"category names {name!r}, a column of numbers of {where}: labels are read from "
                f"text files and frames; here, pass kernel={{{name!r}: 'plain_delta'}} instead."
            )

    def values(name: str) -> Array:
        found = notes[name] if name in notes else column_values(source, names.index(name))
        return labels_of_numbers(found) if name in roles.category else found

    parts = [values(name) for name in roles.targets]
    weights = None if roles.weights is None else as_weights(roles.weights, values(roles.weights))
    kept = layout.kept[layout.kept < source.n_features]
    features = ColumnSubset(source, kept) if kept.size < source.n_features else _Annotated(source)
    used = {*roles.others, *roles.drop}
    features.annotations = Annotations(
        [name for name in notes if name not in used], notes.__getitem__
    )
    if roles.id is not None:
        features.ids = as_ids(where, values(roles.id))
    return Dataset(features, join_targets(parts) if parts else None, roles.targets, weights)


class _Annotated(WrappedSource):
    """A table with other annotations."""


def as_ids(where: Path | str, values: Array) -> list[str]:
    """Return identifiers of samples as text; raise if one is missing."""
    labels = labels_of_numbers(values).tolist()
    if None in labels or "" in labels:
        row = labels.index(None if None in labels else "")
        raise InvalidInputError(
            f"{where} has no identifier in data row {row + 1}: fill it in, or remove the row."
        )
    return [label.decode() if isinstance(label, bytes) else str(label) for label in labels]


def column_values(source: Source, column: int) -> Array:
    """Return one column: numbers, or labels with None where missing."""
    cells = source.block(slice(column, column + 1))[:, 0]
    categories = source.categories(column)
    if categories is None:
        return cells
    labels = np.array([*categories, None], dtype=object)
    return labels[np.where(np.isnan(cells), len(labels) - 1, cells).astype(np.int64)]


def labels_of_numbers(values: Array) -> Array:
    """Turn an array of numbers into labels, None where one is missing."""
    if values.ndim != 1 or values.dtype.kind not in "iuf":
        return values
    table = CodedTable(values.astype(np.float64)[:, None])
    table.relabel(0)
    return table.values(0)


def join_targets(parts: Sequence[Array]) -> Any:
    """Return the columns of a target as one array, or as ordered labels."""
    if len(parts) == 1:
        (y,) = parts
        if isinstance(y, RankedLabels):
            return OrderedLabels(y.codes)
        return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if any(part.dtype.kind not in "biuf" for part in parts):
        parts = [part.astype(object) for part in parts]
    return np.column_stack(parts)


def as_weights(name: str, values: Array) -> FloatArray:
    """Check weights that were found under a name."""
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"weights names {name!r}, which holds values such as {values.ravel()[0]!r}, but "
            "weights are numbers, one per sample."
        )
    weights = values.astype(np.float64)
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise InvalidInputError(
            f"weights names {name!r}, which holds {weights[row]} in data row {row + 1}, but a "
            "weight is a finite number >= 0: 0 leaves a sample out."
        )
    return weights
