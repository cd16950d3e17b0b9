r"""Removing the influence of covariates - batch, age, sex - before features are selected.

``"project"``: functions of each covariate are removed from every feature and from the target,
:math:`A = P \bar K P` with P the projector on what is orthogonal to them. For labels the functions
are the indicators of the values; for numbers they are the eigenfunctions of the Gaussian kernel
that carry at least a thousandth of its trace, about six smooth functions. This removes dependence
that runs through any sum of these functions. The rest is a kernel conditional dependence in the
manner of Zhang, Peters, Janzing and Schölkopf (2011).

``"subtract"``: the kernel matrix C of all covariates together is subtracted from the target's,
:math:`T - \beta C` with :math:`\beta = \langle T, C\rangle / \|C\|^2`, as pyHSICLasso does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse

from hsiclasso._checks import check_choice, did_you_mean
from hsiclasso._options import Option
from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.data import Kind, RowSubset, Source, as_source
from hsiclasso.data.layout import quoted
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import HSIC, Delta, Factor, Gaussian, Kernel, Measure, Samples
from hsiclasso.kernels.factor import factor_columns, factor_rows
from hsiclasso.selectors.columns import ColumnFinder

__all__ = ["CovariateValues", "Covariates", "as_covariates"]

#: Share of the trace that a function of a covariate must carry to be removed.
_LEAST_SHARE = 1e-3
#: Largest share of the samples' directions that covariates may remove.
_MOST_REMOVED = 0.5


@dataclass(frozen=True)
class CovariateValues:
    """Covariates of one table."""

    names: tuple[str, ...]
    #: Kind of each.
    kinds: tuple[Kind, ...]
    #: Numbers, or codes of labels, shape (c, n).
    values: FloatArray
    #: Columns of the table that are covariates and therefore not features.
    columns: IntArray

    def with_more(self, others: CovariateValues) -> CovariateValues:
        """Add covariates that are no columns of the table."""
        return CovariateValues(
            self.names + others.names,
            self.kinds + others.kinds,
            np.concatenate([self.values, others.values]),
            self.columns,
        )

    def functions(self, weights: FloatArray | None) -> FloatArray | None:
        """Functions of the covariates that are removed: an array of shape (m, n)."""
        if not self.names:
            return None
        n = self.values.shape[1]
        samples = Samples(n, weights)
        rows = np.concatenate(
            [
                _functions(values, kind, samples)
                for values, kind in zip(self.values, self.kinds, strict=True)
            ]
        )
        n_removed = len(Samples(n, weights, rows).removed) if len(rows) else 1
        if n_removed > _MOST_REMOVED * n:
            raise InvalidInputError(
                f"covariates explain {n_removed - 1} directions of {n} samples, which leaves too "
                "few to select by: give fewer covariates, merge rare labels, or add samples."
            )
        return rows if len(rows) else None

    def factor(self, measure: Measure, samples: Samples, error: float) -> Factor:
        """Factor of the covariates' matrix: one kernel on the numbers, one on the labels."""
        labels = np.array([kind != "number" for kind in self.kinds])
        parts: list[tuple[FloatArray, Kernel]] = []
        if not labels.all():
            parts.append((self.values[~labels].copy(), Gaussian()))
        if labels.any():
            parts.append((self.values[labels].copy(), Delta()))

        for values, kernel in parts:
            kernel.scale(values, samples.shares, joint=True)

        def expand(allowed: float) -> tuple[FloatArray, float]:
            made = [kernel.rows(values, allowed, samples.shares[0]) for values, kernel in parts]
            return np.concatenate([rows for rows, _ in made]), sum(error for _, error in made)

        return measure.finish(factor_rows(expand, samples, measure, 0.2 * error))


class Covariates(Option):
    """Columns whose influence is removed from the selection.

    Parameters
    ----------
    columns : sequence of str or int, default=None
        Columns of the table that are covariates. Values of your own go to `fit`.
    method : {"project", "subtract"}, default="project"
        ``"project"`` removes functions of the covariates from features and target;
        ``"subtract"`` subtracts their kernel matrix from the target's, as pyHSICLasso does.
    """

    def __init__(
        self, columns: Any = None, method: Literal["project", "subtract"] = "project"
    ) -> None:
        self.columns = columns
        self.method = method

    def check(self) -> Self:
        """Raise if a parameter breaks its rule."""
        check_choice("method", self.method, ("project", "subtract"))
        if getattr(self.columns, "ndim", 1) > 1:
            raise InvalidInputError(
                "covariates must be a list of columns of X; pass values of your own to "
                "fit(X, y, covariates=...), which cross-validation can cut into folds."
            )
        return self

    def resolve(self, source: Source, table: Any, rows: BoolArray | None) -> CovariateValues:
        """Read covariates from columns and annotations of the source, and from a separate table.

        `source` has only the samples that are used, `table` has all, of which `rows` are used.
        """
        given, notes = self.columns, {}
        if isinstance(given, Iterable) and not isinstance(given, str):
            notes = {name: source.annotations[name] for name in given if name in source.annotations}
            given = [name for name in given if name not in notes]
            _check_known(source, given)
        columns = np.unique(ColumnFinder(source)("covariates", given))
        found = _read(source, columns)
        for name, values in notes.items():
            found = found.with_more(_read_all(*_as_table(values), name))
        if table is None and not found.names and self.method != "project":
            raise InvalidInputError(
                f"method={self.method!r} has no meaning without covariates: name columns, or pass "
                "values to fit."
            )
        if table is not None:
            own, labels = _as_table(table)
            n = source.n_samples if rows is None else rows.size
            if own.n_samples != n:
                raise InvalidInputError(
                    f"covariates has {own.n_samples} rows and X has {n} samples: pass one row per "
                    "sample."
                )
            own = own if rows is None else RowSubset(own, rows)
            found = found.with_more(_read_all(own, labels))
        _check_values(found)
        return found


def _check_known(source: Source, given: list[Any]) -> None:
    """Raise for a name that is neither a column nor an annotation of a table that has these."""
    if not source.annotations:
        return
    known = ColumnFinder(source).names()
    for name in given:
        if isinstance(name, str) and name not in known:
            near = did_you_mean(name, source.annotations) or did_you_mean(name, known)
            raise InvalidInputError(
                f"covariates has {name!r}, which neither describes the samples nor is a column"
                f"{near}: give one of {quoted(list(source.annotations))}."
            )


def _read(source: Source, columns: IntArray, *, labels: bool = False) -> CovariateValues:
    """Read columns of a source as covariates; `labels` says that they are codes of labels."""
    names = tuple(source.name(int(j)) for j in columns)
    kinds: tuple[Kind, ...] = tuple("text" if labels else source.kind(int(j)) for j in columns)
    return CovariateValues(names, kinds, source.block(columns).T, columns)


def _read_all(source: Source, labels: bool, name: str | None = None) -> CovariateValues:
    """Read all columns of a source as covariates; with `name`, under this name."""
    found = _read(source, np.arange(source.n_features), labels=labels)
    return found if name is None else replace(found, names=(name,) * len(found.names))


def _as_table(table: Any) -> tuple[Source, bool]:
    """Return a table of covariates, and whether it has codes in place of text."""
    if hasattr(table, "columns") or hasattr(table, "block") or sparse.issparse(table):
        return as_source(table, min_samples=1), False
    if hasattr(table, "to_frame"):  # a pandas or polars series
        return as_source(table.to_frame(), min_samples=1), False
    values = np.asarray(table)
    values = values.reshape(-1, 1) if values.ndim == 1 else values
    missing = _is_none(values)
    if values.dtype.kind == "O":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            values = values.astype(str)
    if values.dtype.kind not in "US":
        return as_source(values, min_samples=1), False
    codes = np.array([np.unique(column, return_inverse=True)[1] for column in values.T])
    return as_source(np.where(missing, np.nan, codes.T), min_samples=1), True


def _is_none(values: Any) -> Any:
    """Tell which labels are missing."""
    return values == None if values.dtype.kind == "O" else False  # noqa: E711  # by element


def _check_values(covariates: CovariateValues) -> None:
    for name, values in zip(covariates.names, covariates.values, strict=True):
        if not np.isfinite(values).all():
            raise InvalidInputError(
                f"covariate {name!r} has missing or infinite values, first in row "
                f"{int(np.argmin(np.isfinite(values)))}: fill them in, or drop such rows."
            )


def _functions(values: FloatArray, kind: Kind, samples: Samples) -> FloatArray:
    """Functions of one covariate, shape (m, n)."""
    n = values.size
    if np.ptp(values) == 0:
        return np.zeros((0, n))
    if kind != "number":
        _, codes = np.unique(values, return_inverse=True)
        return np.asarray((codes == np.arange(codes.max() + 1)[:, None]).astype(np.float64))
    kernel, z = Gaussian(), values[None].copy()
    kernel.scale(z, samples.shares)
    (factor,) = factor_columns(z, kernel, samples, HSIC(), 1e-9)
    kept = factor.eigenvalues >= _LEAST_SHARE * samples.total
    return factor.rows[kept] / samples.root


def as_covariates(value: Any) -> Covariates:
    """Return covariates given as a list of columns, or as a checked object."""
    return (value if isinstance(value, Covariates) else Covariates(value)).check()
