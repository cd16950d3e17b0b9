"""Whether values are missing where they must not be, in the words of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from hsiclasso._types import BoolArray
from hsiclasso.errors import InvalidInputError

if TYPE_CHECKING:
    from hsiclasso.data import Source
    from hsiclasso.data.files import Table

__all__ = ["check_complete"]


def check_complete(
    table: Table,
    *,
    missing: str | None = None,
    missing_target: str | None = None,
    covariates: tuple[str, ...] = (),
) -> None:
    """Raise if a value is missing that must be there, and say how to go on.

    Parameters
    ----------
    table : Table
        What was read.
    missing : {"error", "ignore"} or None
        Whether features may have missing values; None if they may not and the command has no
        option to say otherwise.
    missing_target : {"error", "drop"} or None
        Whether rows without a target are dropped; None likewise.
    covariates : tuple of str
        Columns that are covariates, which must be complete.
    """
    lacking = _without_target(table)
    if lacking.any() and missing_target != "drop":
        row = int(np.argmax(lacking))
        names = " or ".join(map(repr, table.target))
        option = "" if missing_target is None else " with --missing-target drop"
        raise InvalidInputError(
            f"target {names} has no value in data row {row + 1} ({np.count_nonzero(lacking):,} "
            f"rows in all): fill it in, or leave such rows out{option}."
        )
    used = ~lacking if table.weights is None else ~lacking & (table.weights > 0)
    _check_covariates(table.source, covariates, used)
    if missing != "ignore":
        _check_features(table.source, used, may_ignore=missing is not None)


def _without_target(table: Table) -> BoolArray:
    """Tell which rows have no target."""
    n, y = table.source.n_samples, table.y
    if y is None or not table.target:
        return np.zeros(n, dtype=bool)
    parts = [y[name] for name in y.dtype.names] if y.dtype.names else [y]
    lacking = np.zeros(n, dtype=bool)
    for part in parts:
        empty = _empty(part)
        lacking |= empty.any(axis=1) if empty.ndim == 2 else empty
    return lacking


def _empty(values: Any) -> BoolArray:
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=bool)
    return np.asarray([[v is None or v != v for v in row] for row in np.atleast_2d(values.T).T])


def _check_covariates(source: Source, covariates: tuple[str, ...], used: BoolArray) -> None:
    if not covariates:
        return
    wanted = set(covariates)
    for j in range(source.n_features):
        if source.name(j) in wanted:
            lacking = np.isnan(source.block(slice(j, j + 1))[:, 0]) & used
            if lacking.any():
                raise InvalidInputError(
                    f"covariate {source.name(j)!r} has no value in data row "
                    f"{int(np.argmax(lacking)) + 1}, and covariates must be complete: fill it in, "
                    "or take the row out."
                )


def _check_features(source: Source, used: BoolArray, *, may_ignore: bool) -> None:
    from hsiclasso.data.sources import sum_is_finite

    start = 0
    for first, piece in source.views():
        whole = piece.shape[0] == source.n_samples  # pieces are rows or columns
        rows = used if whole else used[start : start + piece.shape[0]]
        if not sum_is_finite(piece):
            lacking = np.isnan(piece) & rows[:, None]
            if lacking.any():
                row, column = np.argwhere(lacking)[0]
                _refuse(source.name(first + int(column)), start + int(row) + 1, may_ignore)
        start += 0 if whole else piece.shape[0]


def _refuse(name: str, row: int, may_ignore: bool) -> NoReturn:
    observed = "judge features on the samples on which they are observed with --missing ignore, "
    raise InvalidInputError(
        f"column {name!r} has no value in data row {row}: {observed if may_ignore else ''}"
        f"fill it in, or leave the column out with --drop {name!r}."
    )
