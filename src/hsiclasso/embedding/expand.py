"""Columns -> uncentred features ``phi`` with ``phi' phi = K - E`` and E of bounded norm.

Most Gaussian columns are served by closed-form eigenfunctions, which cost a few multiply-adds
per value and are therefore never stored: `ClosedForm` only says how to evaluate them. The
others - long tails, other kernels - get explicit rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb
from typing import Literal, get_args

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.embedding.hermite import REACH, Choice, bases, choose_expansion
from hsiclasso.embedding.kernels import Delta, Gaussian, Kernel, Laplace, Linear, Polynomial
from hsiclasso.embedding.scale import scale_to_width, standardised
from hsiclasso.embedding.table import TABLE_BASIS, lookup_table, table_error
from hsiclasso.errors import InvalidInputError

__all__ = ["ClosedForm", "Embedding", "Method", "indicators"]

Method = Literal["auto", "table", "cholesky"]

_PAPER_KERNEL = Gaussian()
#: Share of the trace below which rounding makes a residual trace meaningless.
_ROUNDING = 1e-14
_NO_TABLE = np.empty((0, 0))


@dataclass(frozen=True)
class ClosedForm:
    """Columns of a block that eigenfunctions serve, and which ones.

    Attributes
    ----------
    columns : ndarray of shape (c,)
        Positions of the columns within their block.
    values : ndarray of shape (c, n)
        The columns, in units of their kernel width.
    choice : Choice
        Basis and number of eigenfunctions of each column.
    left : float
        Upper bound on the Frobenius norm of what they leave out of a Gram matrix.
    table : ndarray of shape (B, N)
        Table to look the eigenfunctions up in; without entries if they are computed.
    """

    columns: IntArray
    values: FloatArray
    choice: Choice
    left: float
    table: FloatArray

    def features(self, j: int) -> FloatArray:
        """Evaluate the features of the j-th column: an array of shape (counts[j], n)."""
        from hsiclasso.embedding._loops import hermite_features, table_features

        made, one = bases(), slice(j, j + 1)
        values, counts = self.values[one], self.choice.counts[one]
        out = np.empty((int(counts[0]), values.shape[1]))
        if self.table.size:
            table_features(values, 0, values.shape[1], counts, REACH, self.table, out)
        else:
            hermite_features(
                values, 0, values.shape[1], self.choice.basis[one], counts,
                made.scale, made.decay, made.up, made.back, out,
            )  # fmt: skip
        return out


@dataclass(frozen=True)
class Embedding:
    """How columns become features.

    Parameters
    ----------
    kernel : Kernel
        Kernel of every column.
    tol : float
        Guaranteed relative error of a centred Gram matrix in the Frobenius norm.
    method : {"auto", "table", "cholesky"}
        ``"auto"`` takes closed-form eigenfunctions where they serve and pivoted Cholesky for
        the other columns; ``"table"`` interpolates the eigenfunctions in a table of 4096
        entries, as the paper looks kernel values up; ``"cholesky"`` is adaptive throughout.
    """

    kernel: Kernel = _PAPER_KERNEL
    tol: float = 1e-6
    method: Method = "auto"

    def __post_init__(self) -> None:
        if not 1e-12 <= self.tol <= 1e-2:
            raise InvalidInputError(
                f"tol={self.tol!r}, but the relative error of a factor must lie between 1e-12 "
                "and 1e-2: 1e-6 is the default, 1e-10 the tight choice."
            )
        if self.method not in get_args(Method):
            raise InvalidInputError(
                f"embedding={self.method!r} is unknown: choose one of {get_args(Method)}."
            )
        if self.method == "table" and self.tol < 1e-6:
            raise InvalidInputError(
                f"embedding='table' cannot reach tol={self.tol!r}: cubic interpolation in 4096 "
                "entries serves 1e-6 and above. Use embedding='auto'."
            )

    def prepare(
        self, block: FloatArray, share: float, weights: FloatArray | None = None
    ) -> tuple[ClosedForm, IntArray]:
        """Decide how each column of a block is expanded.

        Parameters
        ----------
        block : ndarray of shape (k, n)
            One column of the table per row; overwritten with what `rows` expects.
        share : float
            Largest trace that may be left out of a column's Gram matrix, as a share of the
            total weight.
        weights : ndarray of shape (n,), optional
            Weights of the samples; ones by default.

        Returns
        -------
        closed : ClosedForm
            The columns that eigenfunctions serve.
        others : ndarray
            Positions of the other columns that vary: `rows` expands them.
        """
        varies = self.scale(block, weights)
        one_width = isinstance(self.kernel, Gaussian) and len(self.kernel.widths) == 1
        if not one_width or self.method == "cholesky":
            nothing = np.zeros(0, dtype=np.int64)
            choice = Choice(nothing, nothing, nothing)
            return ClosedForm(nothing, block[:0], choice, 0.0, _NO_TABLE), np.flatnonzero(varies)
        columns = np.flatnonzero(varies)
        values = block if columns.size == len(block) else block[columns]
        return self._serve(columns, values, share, weights)

    def tighten(
        self,
        closed: ClosedForm,
        which: BoolArray,
        share: float,
        weights: FloatArray | None = None,
    ) -> tuple[ClosedForm, IntArray]:
        """Choose longer expansions for some columns in closed form; as `prepare` otherwise."""
        return self._serve(closed.columns[which], closed.values[which], share, weights)

    def _serve(
        self, columns: IntArray, values: FloatArray, share: float, weights: FloatArray | None
    ) -> tuple[ClosedForm, IntArray]:
        share = max(share, _ROUNDING)
        only = TABLE_BASIS if self.method == "table" else None
        choice = choose_expansion(values, share, weights=weights, only=only)
        served = choice.counts > 0
        others = columns[~served]
        if others.size:
            columns, values = columns[served], values[served]
            choice = choice.take(np.flatnonzero(served))
        total = values.shape[1] if weights is None else float(weights.sum())
        if self.method == "table":
            left = (share + table_error()) * total
            return ClosedForm(columns, values, choice, left, lookup_table()), others
        return ClosedForm(columns, values, choice, share * total, _NO_TABLE), others

    def rows(
        self, column: FloatArray, share: float, weights: FloatArray | None = None
    ) -> tuple[FloatArray, float]:
        """Expand one prepared column explicitly.

        Returns the features, shape (r, n), and a bound on the weighted trace that they leave
        out, at most `share` of the total weight.
        """
        share = max(share, _ROUNDING)
        kernel = self.kernel
        if isinstance(kernel, Delta):
            return indicators(column, kernel, weights), 0.0
        if isinstance(kernel, Linear):
            return column[None].copy(), 0.0
        if isinstance(kernel, Polynomial):
            return _powers(column, kernel), 0.0
        if isinstance(kernel, Laplace):
            return _markov_rows(column), 0.0
        if len(kernel.widths) == 1:
            return _pivoted_cholesky(column, share, weights)
        return self._several_widths(column, kernel, share, weights)

    def expand(
        self, column: FloatArray, share: float, weights: FloatArray | None = None
    ) -> tuple[FloatArray, float]:
        """Expand one column, as it stands in the table, explicitly; as `rows` in what it returns.

        A column that does not vary has no features.
        """
        block = column[None].copy()
        closed, others = self.prepare(block, share, weights)
        if closed.columns.size:
            return closed.features(0), closed.left
        if others.size:
            return self.rows(block[0], share, weights)
        return np.zeros((0, column.size)), 0.0

    def on_observed(self, share: float) -> Embedding:
        """Return the embedding of a feature that is observed on a share of the samples."""
        if isinstance(self.kernel, Delta) and self.kernel.by_count:
            return replace(self, kernel=replace(self.kernel, observed=share))
        return self

    def scale(self, block: FloatArray, weights: FloatArray | None = None) -> BoolArray:
        """Bring the rows of (k, n) to the scale of the kernel, in place; tell which vary."""
        kernel = self.kernel
        if isinstance(kernel, Delta):
            return np.asarray(np.ptp(block, axis=1) > 0)
        varies, middle = standardised(block, weights)
        if isinstance(kernel, Linear | Polynomial):
            block += middle[:, None]  # these kernels do see shifts
        elif isinstance(kernel, Laplace):
            scale_to_width(block, kernel.width, varies, weights)
        elif len(kernel.widths) == 1:
            scale_to_width(block, kernel.widths[0], varies, weights)
        return varies

    def _several_widths(
        self, column: FloatArray, kernel: Gaussian, share: float, weights: FloatArray | None
    ) -> tuple[FloatArray, float]:
        parts = [
            Embedding(Gaussian(width), self.tol, self.method).expand(column, share, weights)
            for width in kernel.widths
        ]
        rows = np.concatenate([part for part, _ in parts])
        return rows / np.sqrt(len(parts)), sum(left for _, left in parts) / len(parts)


def indicators(column: FloatArray, kernel: Delta, weights: FloatArray | None = None) -> FloatArray:
    """One indicator row for each distinct value of a column, scaled by 1/sqrt(n_x) if asked."""
    _, codes = np.unique(column, return_inverse=True)
    sizes = np.bincount(codes, weights) / kernel.observed
    rows = np.zeros((sizes.size, column.size))
    rows[codes, np.arange(column.size)] = 1 / np.sqrt(sizes[codes]) if kernel.by_count else 1.0
    return rows


def _powers(column: FloatArray, kernel: Polynomial) -> FloatArray:
    """Rows whose products are those of the polynomial kernel, by the binomial theorem."""
    p, c = kernel.degree, kernel.offset
    scale = [np.sqrt(comb(p, m) * c ** (p - m)) for m in range(p + 1)]
    return np.array([s * column**m for m, s in enumerate(scale) if s > 0])


def _markov_rows(column: FloatArray) -> FloatArray:
    """Exact rows of the Laplace kernel: the innovations of the process that it belongs to."""
    order = np.argsort(column, kind="stable")
    values = column[order]
    first = np.flatnonzero(np.diff(values, prepend=-np.inf) > 0)
    starts = values[first]
    with np.errstate(over="ignore"):
        decay = np.exp(-np.maximum(values - starts[:, None], 0.0))
    size = np.sqrt(-np.expm1(-2 * np.diff(starts, prepend=-np.inf)))
    rows = np.empty_like(decay)
    rows[:, order] = np.where(values >= starts[:, None], size[:, None] * decay, 0.0)
    return rows


def _pivoted_cholesky(
    column: FloatArray, share: float, weights: FloatArray | None
) -> tuple[FloatArray, float]:
    from hsiclasso.embedding._loops import pivoted_cholesky

    n = column.size
    weights = np.ones(n) if weights is None else weights
    allowed = share * float(weights.sum())
    residual = np.ones(n)
    rows, rank = np.empty((0, n)), 0
    while True:
        longer = np.empty((min(n, max(32, 2 * rank)), n))
        longer[:rank] = rows
        rows = longer
        rank, left = pivoted_cholesky(column, weights, allowed, rows, residual, rank)
        if rank < len(rows) or rank == n:
            return rows[:rank], left
