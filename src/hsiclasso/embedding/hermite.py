r"""Closed-form eigenfunctions of the Gaussian kernel.

The Gaussian kernel of width 1 has, with respect to a normal measure of standard deviation s,
the Mercer expansion (Zhu, Williams, Rohwer and Morciniec, 1998)

.. math:: e^{-(x-x')^2/2} = \sum_{m \ge 0} \lambda_m \psi_m(x) \psi_m(x'), \qquad
    \lambda_m = \sqrt{2a/A}\; B^m, \quad
    \psi_m(x) = \frac{(c/a)^{1/4}}{\sqrt{2^m m!}}\, e^{-(c-a)x^2} H_m(\sqrt{2c}\,x)

with :math:`a = 1/(4s^2)`, :math:`b = 1/2`, :math:`c = \sqrt{a^2 + 2ab}`, :math:`A = a+b+c`,
:math:`B = b/A`. The features :math:`\phi_m = \sqrt{\lambda_m}\psi_m` obey a three-term
recurrence, so a value is embedded by one exponential and N multiply-adds, exactly.

What a truncation after N features leaves out is itself positive semi-definite, with diagonal
:math:`\rho_N(x) = 1 - \sum_{m<N}\phi_m(x)^2`: its trace bounds the error of the Gram matrix in
every norm. A histogram of |x| therefore tells, before any feature is computed, how many are
needed and which s needs the fewest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from hsiclasso._types import FloatArray, IntArray

__all__ = [
    "BINS_PER_UNIT",
    "BULK_SHARE",
    "MAX_FEATURES",
    "REACH",
    "Choice",
    "HermiteBases",
    "bases",
    "choose_expansion",
]

#: Values up to this magnitude can be served; beyond it the expansion would be too long.
REACH = 12.0
#: Longest expansion that still beats a pivoted Cholesky factor.
MAX_FEATURES = 64
#: Share of the trace that does not count as the bulk of a Gram matrix.
BULK_SHARE = 0.02
#: Bins of the histogram of magnitudes that tells how many features are needed.
BINS_PER_UNIT = 4
#: Standard deviations of the reference measures. Narrow ones serve columns without tails.
_SPREADS = (0.6, 0.8, 1.0, 1.3, 1.7, 2.2)


@dataclass(frozen=True)
class HermiteBases:
    """Recurrence coefficients of every expansion, and what each leaves out.

    Attributes
    ----------
    scale, decay : ndarray of shape (n_bases,)
        First feature: ``scale * exp(-decay * x**2)``.
    up, back : ndarray of shape (n_bases, MAX_FEATURES)
        ``phi[m+1] = up[m] * x * phi[m] - back[m] * phi[m-1]``.
    residual : ndarray of shape (n_bases, MAX_FEATURES, n_bins)
        Largest diagonal residual over the magnitudes up to the end of each histogram bin
        when 1, 2, ... features are kept.
    """

    scale: FloatArray
    decay: FloatArray
    up: FloatArray
    back: FloatArray
    residual: FloatArray

    def features(self, x: FloatArray, basis: int, n_features: int) -> FloatArray:
        """Evaluate features of one basis in NumPy: an (n_features, len(x)) array."""
        out = np.empty((n_features, x.size))
        out[0] = self.scale[basis] * np.exp(-self.decay[basis] * x * x)
        previous = np.zeros_like(x)
        for m in range(n_features - 1):
            out[m + 1] = self.up[basis, m] * x * out[m] - self.back[basis, m] * previous
            previous = out[m]
        return out


@cache
def bases() -> HermiteBases:
    """Return the expansions, made once per process."""
    spread = np.array(_SPREADS)
    a = 1 / (4 * spread**2)
    b = 0.5
    c = np.sqrt(a * a + 2 * a * b)
    total = a + b + c
    ratio = b / total
    m = np.arange(MAX_FEATURES)
    up = np.sqrt(2 * c * ratio)[:, None] * np.sqrt(2 / (m + 1))
    back = ratio[:, None] * np.sqrt(m / (m + 1))
    scale = np.sqrt(np.sqrt(2 * a / total)) * (c / a) ** 0.25
    made = HermiteBases(scale, c - a, up, back, np.empty(0))

    per_bin = 8
    grid = np.arange(1, int(REACH * BINS_PER_UNIT) * per_bin + 1) / (BINS_PER_UNIT * per_bin)
    residual = np.empty((spread.size, MAX_FEATURES, grid.size // per_bin))
    for s in range(spread.size):
        power = np.cumsum(made.features(grid, s, MAX_FEATURES) ** 2, axis=0)
        left = np.maximum.accumulate(np.maximum(1 - power, 0), axis=1)
        residual[s] = left[:, per_bin - 1 :: per_bin]
    return HermiteBases(scale, c - a, up, back, residual)


@dataclass(frozen=True)
class Choice:
    """Which expansion serves each column.

    Attributes
    ----------
    basis : ndarray of shape (k,)
        Row of the coefficients in `HermiteBases`.
    counts : ndarray of shape (k,)
        Number of features; 0 where no expansion serves the column.
    bulk : ndarray of shape (k,)
        Number of features, of some basis, that leave out at most `BULK_SHARE` of the trace.
    """

    basis: IntArray
    counts: IntArray
    bulk: IntArray

    def take(self, columns: IntArray) -> Choice:
        """Return the choice for some of the columns."""
        return Choice(self.basis[columns], self.counts[columns], self.bulk[columns])


def choose_expansion(
    block: FloatArray,
    allowed: float,
    *,
    weights: FloatArray | None = None,
    only: int | None = None,
) -> Choice:
    """Choose for each row of `block` the basis that needs the fewest features.

    Parameters
    ----------
    block : ndarray of shape (k, n)
        Standardised columns, one per row.
    allowed : float
        Largest mean of the diagonal residual over the n values.
    weights : ndarray of shape (n,), optional
        Weights of the values in that mean.
    only : int, optional
        The one basis to choose from.
    """
    from hsiclasso.embedding._loops import choose_features

    k, n = block.shape
    total = float(n) if weights is None else float(weights.sum())
    first, last = (0, len(_SPREADS)) if only is None else (only, only + 1)
    basis, counts, bulk = (np.zeros(k, dtype=np.int64) for _ in range(3))
    choose_features(
        block, np.empty(0) if weights is None else weights, float(BINS_PER_UNIT),
        bases().residual[first:last], allowed * total, BULK_SHARE * total, basis, counts, bulk,
    )  # fmt: skip
    return Choice(basis + first, counts, bulk)
