"""Columns -> uncentred features ``phi`` with ``phi' phi = K - E`` and E of bounded norm.

Most columns are served by closed-form eigenfunctions, which cost a few multiply-adds per value
and are therefore never stored: `ClosedForm` only says how to evaluate them. The others - long
tails, delta kernels - get explicit rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.embedding.hermite import REACH, Choice, bases, choose_expansion
from hsiclasso.embedding.kernels import Delta, Gaussian, Kernel, standardised
from hsiclasso.embedding.table import TABLE_BASIS, lookup_table, table_error
from hsiclasso.errors import InvalidInputError

__all__ = ["ClosedForm", "Embedding", "Method"]

Method = Literal["auto", "table", "cholesky"]

_PAPER_KERNEL = Gaussian()
#: Share of n below which rounding makes a residual trace meaningless.
_ROUNDING = 1e-14


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

    def prepare(self, block: FloatArray, share: float) -> tuple[ClosedForm, IntArray]:
        """Decide how each column of a block is expanded.

        Parameters
        ----------
        block : ndarray of shape (k, n)
            One column of the table per row; overwritten with what `rows` expects.
        share : float
            Largest trace that may be left out of a column's Gram matrix, as a share of n.

        Returns
        -------
        closed : ClosedForm
            The columns that eigenfunctions serve.
        others : ndarray
            Positions of the other columns that vary: `rows` expands them.
        """
        if isinstance(self.kernel, Delta):
            varies = np.ptp(block, axis=1) > 0
        else:
            varies = standardised(block, self.kernel)
        if isinstance(self.kernel, Delta) or self.method == "cholesky":
            nothing = np.zeros(0, dtype=np.int64)
            choice = Choice(nothing, nothing, nothing)
            return self._closed_form(nothing, block[:0], choice, 0.0), np.flatnonzero(varies)
        share = max(share, _ROUNDING)
        only = TABLE_BASIS if self.method == "table" else None
        choice = choose_expansion(block, share, only=only)
        served = varies & (choice.counts > 0)
        columns = np.flatnonzero(served)
        if columns.size < len(block):
            block, choice = block[columns], choice.take(columns)
        return self._closed_form(columns, block, choice, share), np.flatnonzero(varies & ~served)

    def rows(self, column: FloatArray, share: float) -> tuple[FloatArray, float]:
        """Expand one prepared column explicitly.

        Returns the features, shape (r, n), and a bound on the Frobenius norm of what they
        leave out, at most ``share * n``.
        """
        if isinstance(self.kernel, Delta):
            return _indicators(column), 0.0
        return _pivoted_cholesky(column, max(share, _ROUNDING))

    def _closed_form(
        self, columns: IntArray, values: FloatArray, choice: Choice, share: float
    ) -> ClosedForm:
        n = values.shape[1]
        if self.method == "table":
            error = share + table_error()
            return ClosedForm(columns, values, choice, error * n, lookup_table())
        return ClosedForm(columns, values, choice, share * n, np.empty((0, 0)))


def _indicators(column: FloatArray) -> FloatArray:
    """One indicator row, scaled by 1/sqrt(n_x), for each distinct value of a column."""
    _, codes, sizes = np.unique(column, return_inverse=True, return_counts=True)
    rows = np.zeros((sizes.size, column.size))
    rows[codes, np.arange(column.size)] = 1 / np.sqrt(sizes[codes])
    return rows


def _pivoted_cholesky(column: FloatArray, share: float) -> tuple[FloatArray, float]:
    from hsiclasso.embedding._loops import pivoted_cholesky

    n = column.size
    residual = np.ones(n)
    rows, rank = np.empty((0, n)), 0
    while True:
        longer = np.empty((min(n, max(32, 2 * rank)), n))
        longer[:rank] = rows
        rows = longer
        rank, left = pivoted_cholesky(column, share * n, rows, residual, rank)
        if rank < len(rows) or rank == n:
            return rows[:rank], left
