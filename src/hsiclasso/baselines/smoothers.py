r"""Smoothers of one column, as factors: a smoothing costs O(n r), and no n x n matrix exists.

A linear smoother replaces values :math:`v` on the samples by :math:`Sv`, a function of one
column. Both kinds here are :math:`S = M^{-1} \Phi^\top \Phi` with r rows :math:`\Phi` of length n
and a diagonal M: local means weighted by a Gaussian kernel, whose Gram matrix is of low rank,
and regression on splines, for which M is the identity and S a projection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.interpolate import BSpline

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.parts import Tell, for_parts
from hsiclasso.data import Source
from hsiclasso.kernels import Gaussian
from hsiclasso.kernels.scale import standardise

__all__ = ["Bandwidth", "Smoother", "SmootherBank", "kernel_smoother", "spline_smoother"]

Bandwidth = float | Literal["plugin"]

#: Trace that a factor may leave out of a Gram matrix. No sum of weights is below 1: this bounds the
#: error of smoothed values, relative to the norm of what is smoothed.
_LEFT = 1e-9
#: What rounding may add to the norm of a smoother.
_ROUNDING = 1e-6
#: Directions of a spline basis below this share of the largest are rounding errors.
_DEPENDENT = 1e-8
_DEGREE = 3
#: Bytes of smoothers that are kept for columns that may be asked for again.
_ROOM = 1 << 28
#: Rows that a smoother is expected to have.
_USUAL_RANK = 64
#: Entries of the table that are smoothed together.
_BLOCK = 1 << 15


@dataclass(frozen=True)
class Smoother:
    r"""A linear smoother :math:`S = M^{-1}\Phi^\top\Phi` of one column."""

    rows: FloatArray  # (r, n)
    mass: FloatArray | None  # (n,), diagonal of M; None for ones
    norm: float  # at least the spectral norm of S
    trace: float  # degrees of freedom of S

    def __call__(self, values: FloatArray) -> FloatArray:
        """Smooth values on the samples, shape (n,) or (q, n)."""
        smooth: FloatArray = (values @ self.rows.T) @ self.rows
        if self.mass is not None:
            smooth /= self.mass
        return smooth


def kernel_smoother(column: FloatArray, bandwidth: Bandwidth = "plugin") -> Smoother:
    r"""Local means (Nadaraya-Watson) under a Gaussian kernel, :math:`S = \mathrm{diag}(K1)^{-1}K`.

    The kernel is :math:`e^{-(x-x')^2/(2h^2)}`, with the bandwidth h in standard deviations of the
    column (divisor n); ``"plugin"`` is :math:`0.6\, n^{-1/5}`. The column must vary.

    Examples
    --------
    >>> smoother = kernel_smoother(np.array([0.0, 1.0, 2.0, 4.0]), 1.0)
    >>> bool(np.allclose(smoother(np.ones(4)), 1))
    True
    """
    n = column.size
    width = 0.6 * n**-0.2 if isinstance(bandwidth, str) else float(bandwidth)
    # a narrow kernel has a long expansion in closed form; Cholesky's is shorter, and is used often
    kernel, z, ones = Gaussian(width, "cholesky"), column[None].copy(), np.ones((1, n))
    kernel.scale(z, ones)
    rows = kernel.rows(z, _LEFT, ones[0])[0].copy()  # a copy without the spare rows
    mass = rows.sum(axis=1) @ rows
    # rows of S sum to 1, and |S|^2 <= |S|_1 |S|_inf: the largest sum of a column of S
    largest = float(((rows @ (1 / mass)) @ rows).max())
    trace = float(np.einsum("ri,ri,i->", rows, rows, 1 / mass))
    return Smoother(rows, mass, float(np.sqrt(largest)) * (1 + _ROUNDING), trace)


def spline_smoother(column: FloatArray, n_knots: int = 5) -> Smoother:
    r"""Least squares on centred cubic splines, a projection: :math:`S = QQ^\top`.

    Knots are at evenly spaced quantiles, the extremes among them. There are ``n_knots + 2``
    B-splines, and one fewer after centring; fewer still if the column has few distinct values.
    The column must vary.

    Examples
    --------
    >>> spline_smoother(np.arange(20.0), 5).trace
    6.0
    >>> spline_smoother(np.array([0.0, 1.0, 2.0, 1.0, 1.0, 0.0]), 5).trace
    2.0
    """
    block = column[None].copy()
    standardise(block, np.ones_like(block))
    (values,) = block
    places = np.linspace(0, column.size - 1, n_knots)
    knots = np.unique(np.interp(places, np.arange(column.size), np.sort(values)))
    breaks = np.pad(knots, _DEGREE, mode="edge")
    basis = BSpline(breaks, np.eye(breaks.size - _DEGREE - 1), _DEGREE)(values)
    basis -= basis.mean(axis=0)
    _, sizes, rows = np.linalg.svd(basis.T, full_matrices=False)
    rank = int(np.count_nonzero(sizes > _DEPENDENT * sizes[0]))
    rows = np.ascontiguousarray(rows[:rank])
    return Smoother(rows, None, 1 + _ROUNDING, float(rank))


class SmootherBank:
    """Makes smoothers of the columns of a table when they are needed, and keeps what it can."""

    def __init__(
        self, source: Source, make: Callable[[FloatArray], Smoother], *, n_threads: int = 1
    ) -> None:
        self._source = source
        self._make = make
        self._n_threads = n_threads
        self._kept: dict[int, Smoother] = {}
        self._room = _ROOM

    def __getitem__(self, column: int) -> Smoother:
        """Smoother of a column, which is kept."""
        if column not in self._kept:
            values = self._source.block(np.array([column], dtype=np.int64))
            self._kept[column] = self._make(np.ascontiguousarray(values[:, 0]))
        return self._kept[column]

    def grams(
        self, columns: IntArray, values: FloatArray, report: Tell = None
    ) -> tuple[FloatArray, FloatArray]:
        r"""Smooth functions :math:`v_1, \dots, v_q` (q, n) by each of k columns.

        Returns the products (k, q, q) of smoothed functions, :math:`(S_j v_a)^\top (S_j v_b)/n`,
        and bounds (k,) on the norms of the smoothers. `report` is told how many columns are done.
        """
        q, n = values.shape
        grams, norms = np.empty((columns.size, q, q)), np.empty(columns.size)
        # do not fill the room with the smoothers of a wide table, few of which are needed again
        keep = columns.size * n * _USUAL_RANK * 8 <= _ROOM

        def work(part: slice) -> None:
            for place, smoother in enumerate(self._smoothers(columns[part], keep), part.start):
                smooth = smoother(values)
                grams[place] = smooth @ smooth.T / n
                norms[place] = smoother.norm

        for_parts(work, columns.size, max(1, _BLOCK // n), self._n_threads, report)
        return grams, norms

    def _smoothers(self, columns: IntArray, keep: bool) -> list[Smoother]:
        new = [k for k in columns.tolist() if k not in self._kept]
        block = self._source.block(np.array(new, dtype=np.int64)).T if new else np.empty((0, 0))
        made = {}
        for k, column in zip(new, block, strict=True):
            made[k] = self._make(column)
            if keep and self._room > 0:
                self._kept[k] = made[k]
                self._room -= made[k].rows.nbytes
        return [made[k] if k in made else self._kept[k] for k in columns.tolist()]
