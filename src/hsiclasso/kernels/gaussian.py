"""The Gaussian kernel: closed-form terms, and pivoted Cholesky for columns with long tails."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import ClassVar, Literal, Self

import numpy as np

from hsiclasso._checks import one_of
from hsiclasso._types import BoolArray, Columns, FloatArray, IntArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels.base import (
    ROUNDING,
    DistanceKernel,
    Product,
    Terms,
    Width,
    measured_widths,
)
from hsiclasso.kernels.grid import Grid, make_grid
from hsiclasso.kernels.hermite import (
    BINS_PER_UNIT,
    BULK_SHARE,
    REACH,
    TABLE_BASIS,
    bases,
    choose_expansions,
    lookup_table,
    table_error,
)

__all__ = ["Gaussian"]

_EXPANSIONS = ("auto", "table", "cholesky")
#: With more samples, pivots of a Cholesky factor are looked for in cells, this many per width.
_MANY, _CELLS = 4096, 16.0


class Gaussian(DistanceKernel):
    r"""Gaussian kernel of the standardised column, :math:`e^{-(x-x')^2/(2\sigma^2)}`.

    Most columns are expanded in closed-form eigenfunctions, which cost a few multiply-adds per
    value. Columns with long tails get a pivoted Cholesky factor.

    Parameters
    ----------
    width : float, "median" or tuple of these, default=1.0
        :math:`\sigma` in standard deviations of the column, or the median of the non-zero
        pairwise distances of each column. With several widths, the kernel is the mean of one
        kernel for each width.
    expansion : {"auto", "table", "cholesky"}, default="auto"
        ``"auto"`` is the fastest. ``"table"`` interpolates the eigenfunctions in a table of 4096
        entries, similar to the lookup table of the paper. ``"cholesky"`` uses pivoted Cholesky
        for every column.

    Examples
    --------
    >>> Gaussian((0.5, 1.0, 2.0)).widths
    (0.5, 1.0, 2.0)
    """

    name: ClassVar[str] = "gaussian"

    def __init__(
        self,
        width: Width | tuple[Width, ...] = 1.0,
        expansion: Literal["auto", "table", "cholesky"] = "auto",
    ) -> None:
        self.width = width
        self.expansion = expansion

    @property
    def widths(self) -> tuple[Width, ...]:
        """All widths; the kernel is the mean of one kernel for each width."""
        return tuple(self.width) if isinstance(self.width, tuple | list) else (self.width,)

    def check(self) -> Self:
        """Raise if there is no width, a width is invalid or the expansion is unknown."""
        if not self.widths:
            raise InvalidInputError("width=() has no width: give one or more.")
        if self.expansion not in _EXPANSIONS:
            raise InvalidInputError(
                f"expansion={self.expansion!r} is unknown: choose {one_of(_EXPANSIONS)}."
            )
        return super().check()

    def of_squares(self, squares: FloatArray) -> FloatArray:
        """Return the kernel at squared distances, in units of the squared width if it is one."""
        if len(self.widths) == 1:
            return np.asarray(np.exp(-0.5 * squares))
        parts = [np.exp(-0.5 * squares / float(width) ** 2) for width in self.widths]
        return np.asarray(np.mean(parts, axis=0))

    def learnt(self, z: FloatArray, weights: FloatArray) -> Gaussian:
        """Return the kernel with several widths as numbers; one width is part of the scale."""
        if len(self.widths) == 1:
            return self
        return Gaussian(tuple(w[0] for w in self._measured(z, weights[None], joint=True).tolist()))

    def _measured(self, z: FloatArray, weights: FloatArray, *, joint: bool = False) -> FloatArray:
        """Return all widths of standardised columns (k, n) as numbers, shape (w, k)."""
        varies = np.ptp(z, axis=1) > 0
        return np.array([measured_widths(w, z, weights, varies, joint=joint) for w in self.widths])

    def inverse_widths(self, z: FloatArray, weights: FloatArray) -> FloatArray:
        """Return 1 / widths of scaled columns (k, n), shape (k, w); 1 if it is in the scale."""
        if len(self.widths) == 1:
            return np.ones((len(z), 1))
        return np.ascontiguousarray(1 / self._measured(z, weights).T)

    def grid(self, reach: float, error: float, points: int = 4) -> Grid | None:
        """Return a grid for scaled values up to `reach`, if there is one known width."""
        if len(self.widths) > 1 or self.widths[0] == "median" or self.expansion != "auto":
            return None
        return _grid(reach, error, points)

    def gram(self, z: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the Gram matrices (k, m, m) of a few scaled values (k, m) of each column."""
        if len(self.widths) == 1:
            return super().gram(z, weights)
        squares = np.square(z[:, :, None] - z[:, None, :])
        parts = [
            np.exp(-0.5 * squares / np.square(width)[:, None, None])
            for width in self._measured(z, weights)
        ]
        return np.asarray(np.mean(parts, axis=0))

    def expand_joint(
        self, z: FloatArray, allowed: float, weights: FloatArray
    ) -> tuple[FloatArray, float]:
        """Expand the scaled columns (q, n) of one feature by pivoted Cholesky."""
        if len(z) == 1:
            (inverse,) = self.inverse_widths(z, weights[None])
            allowed = max(allowed, ROUNDING * float(weights.sum()))
            return _cholesky(z[0], inverse, allowed, weights)
        kernel = self.learnt(z, weights)
        return super(Gaussian, kernel).expand_joint(z, allowed, weights)

    def expand(
        self, z: FloatArray, columns: IntArray, allowed: FloatArray, weights: FloatArray
    ) -> list[Terms]:
        """Expand some columns of a scaled block: in closed form, or by Cholesky where it fails."""
        total = weights.sum(axis=1)[np.minimum(columns, len(weights) - 1)]
        allowed = np.maximum(allowed, ROUNDING * total)
        if self.expansion == "cholesky":
            return super().expand(z, columns, allowed, weights)
        scaled = [z]
        if len(self.widths) > 1:
            scaled = [z / width[:, None] for width in self._measured(z, weights)]
        closed = _ClosedForm(scaled, columns, table=self.expansion == "table")
        terms, expanded = closed.terms(allowed, total, weights)
        if not expanded.all():
            terms += super().expand(z, columns[~expanded], allowed[~expanded], weights)
        return terms


@cache
def _grid(reach: float, error: float, points: int) -> Grid:
    """Make a grid for scaled values, whose kernel has width 1."""
    # derivative 2p of exp(-d**2 / 2) at 0 is the product of the odd numbers below 2p
    roughness = np.sqrt(np.prod(np.arange(1.0, 2 * points, 2)))
    return make_grid(lambda d: np.exp(-0.5 * np.square(d)), roughness, reach, error, points)


def _cholesky(
    z: FloatArray, inverse: FloatArray, allowed: float, weights: FloatArray
) -> tuple[FloatArray, float]:
    """Factor the Gram matrix of one column; with many samples, the pivots are from a few of them.

    The kernel is the mean of those with the widths 1 / `inverse` (w,).

    Close values have nearly the same row of the Gram matrix. It is therefore enough to look for
    pivots among one value of each cell. The rows of all samples then follow run by run.
    """
    from hsiclasso.kernels._loops import factor_at_pivots

    cells = _CELLS * float(inverse.max())
    while z.size > _MANY:
        _, some, which = np.unique(np.floor(cells * z), return_index=True, return_inverse=True)
        if some.size > z.size // 4:
            break
        shares = np.bincount(which, weights).astype(np.float64)
        few, _, pivots = _pivoted(z[some], inverse, 0.1 * allowed, shares)
        rows = np.empty((len(few), z.size))
        lower = np.ascontiguousarray(few[:, pivots].T)
        left_out = factor_at_pivots(z, inverse, weights, z[some][pivots], lower, rows)
        if left_out <= allowed:
            return rows, left_out
        cells *= 4
    return _pivoted(z, inverse, allowed, weights)[:2]


def _pivoted(
    z: FloatArray, inverse: FloatArray, allowed: float, weights: FloatArray
) -> tuple[FloatArray, float, IntArray]:
    """Return the Cholesky rows of a column, the trace they leave out, and their pivots."""
    from hsiclasso.kernels._loops import gaussian_cholesky

    residual, pivots = np.ones(z.size), np.empty(z.size, dtype=np.int64)
    rows, rank = np.empty((0, z.size)), 0
    while True:
        longer = np.empty((min(z.size, max(32, 2 * rank)), z.size))
        longer[:rank] = rows
        rows = longer
        known = rows, residual, pivots, rank
        rank, left_out = gaussian_cholesky(z, inverse, weights, allowed, *known)
        if rank < len(rows) or rank == z.size:
            return rows[:rank], left_out, pivots[:rank]


class _ClosedForm:
    """Expands columns in closed-form eigenfunctions, at one width or several.

    `scaled` has the block of columns (k, n) divided by each width; `columns` are the positions of
    the columns to expand.
    """

    def __init__(self, scaled: list[FloatArray], columns: IntArray, *, table: bool) -> None:
        self.scaled = scaled
        self.columns = columns
        self.table = table
        #: For each width, the basis of each column of the block, shape (k,).
        self.bases: list[IntArray] = []
        self._gathered: dict[tuple[int, int], tuple[IntArray, FloatArray]] = {}

    def terms(
        self, allowed: FloatArray, total: FloatArray, weights: FloatArray
    ) -> tuple[list[Terms], BoolArray]:
        """Return the terms of the columns that have a short expansion, and which ones have it."""
        counts, bulk = [], np.zeros(self.columns.size, dtype=np.int64)
        for z in self.scaled:
            needed = self._choose(z, allowed, total, weights)
            basis = np.zeros(len(z), dtype=np.int64)
            basis[self.columns] = needed[0]
            self.bases.append(basis)
            counts.append(needed[1])
            bulk += needed[2]
        by_width = np.array(counts)
        expanded = np.all(by_width > 0, axis=0)
        left_out = allowed + table_error() * total if self.table else allowed
        bulk_trace = (1 - BULK_SHARE) * total - left_out
        made = []
        # columns that have equal numbers of rows at each width are evaluated together
        for lengths in dict.fromkeys(zip(*by_width[:, expanded].tolist(), strict=True)):
            which = np.flatnonzero((by_width == np.array(lengths)[:, None]).all(axis=0))
            made.append(
                Terms(
                    self.columns[which],
                    sum(lengths),
                    self.scaled[0].shape[1],
                    left_out[which],
                    bulk_trace[which],
                    bulk[which],
                    self._evaluator(self.columns[which], lengths),
                    self._multiplier(self.columns[which]),
                )
            )
        return made, np.asarray(expanded)

    def _choose(
        self, z: FloatArray, allowed: FloatArray, total: FloatArray, weights: FloatArray
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Choose the expansion of each column at one width, as `choose_expansions` returns it."""
        from hsiclasso.kernels._loops import count_magnitudes

        every = np.array_equal(self.columns, np.arange(len(z)))
        values = z if every else z[self.columns]
        shares = weights if every or len(weights) == 1 else weights[self.columns]
        histogram = np.zeros((len(values), int(REACH * BINS_PER_UNIT) + 1))
        count_magnitudes(values, shares, float(BINS_PER_UNIT), histogram)
        only = TABLE_BASIS if self.table else None
        return choose_expansions(histogram, allowed, total, only)

    def _evaluator(
        self, columns: IntArray, lengths: tuple[int, ...]
    ) -> Callable[[slice, Columns, FloatArray], None]:
        """Return the function that evaluates rows, given their number at each width."""
        if len(lengths) == 1:
            return partial(self._evaluate, 0, columns)

        def evaluate(which: slice, samples: Columns, out: FloatArray) -> None:
            start = 0
            for width, length in enumerate(lengths):
                part = np.empty((out.shape[0], length, out.shape[2]))
                self._evaluate(width, columns, which, samples, part)
                out[:, start : start + length] = part
                start += length
            out /= np.sqrt(len(lengths))

        return evaluate

    def _multiplier(self, columns: IntArray) -> Callable[[Columns, Product], None] | None:
        """Return the function that multiplies rows with those of a target, if there is a loop."""
        if self.table or len(self.scaled) > 1:
            return None

        def multiply(samples: Columns, product: Product) -> None:
            from hsiclasso.kernels._loops import multiply_hermite

            z = self.scaled[0] if isinstance(samples, slice) else self._gather(0, samples)
            made = bases()
            multiply_hermite(
                z, columns, self.bases[0], made.first, made.steps,
                product.target, product.root, product.out, product.gram,
            )  # fmt: skip

        return multiply

    def _gather(self, width: int, samples: IntArray) -> FloatArray:
        """Return all columns on some samples; repeated calls for the same array are cached."""
        key = width, id(samples)
        if key not in self._gathered:
            # keep the samples alive: otherwise another array could get the same id
            self._gathered[key] = samples, self.scaled[width].take(samples, axis=1)
        return self._gathered[key][1]

    def _evaluate(
        self, width: int, columns: IntArray, which: slice, samples: Columns, out: FloatArray
    ) -> None:
        """Write the first features of ``columns[which]`` at one width to `out` (c, length, s)."""
        from hsiclasso.kernels._loops import hermite_features, table_features

        z, basis = self.scaled[width], self.bases[width]
        if not isinstance(samples, slice):
            z, samples = self._gather(width, samples), slice(None)
        start, stop, _ = samples.indices(z.shape[1])
        if self.table:
            table_features(z, columns[which], start, stop, REACH, lookup_table(), out)
            return
        made = bases()
        hermite_features(z, columns[which], start, stop, basis, made.first, made.steps, out)
