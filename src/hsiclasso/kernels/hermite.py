r"""Closed-form eigenfunctions of the Gaussian kernel.

The Gaussian kernel of width 1 has, with respect to a normal measure of standard deviation s,
the Mercer expansion (Zhu, Williams, Rohwer and Morciniec, 1998)

.. math:: e^{-(x-x')^2/2} = \sum_{m \ge 0} \lambda_m \psi_m(x) \psi_m(x'), \qquad
    \lambda_m = \sqrt{2a/A}\; B^m, \quad
    \psi_m(x) = \frac{(c/a)^{1/4}}{\sqrt{2^m m!}}\, e^{-(c-a)x^2} H_m(\sqrt{2c}\,x)

with :math:`a = 1/(4s^2)`, :math:`b = 1/2`, :math:`c = \sqrt{a^2 + 2ab}`, :math:`A = a+b+c`,
:math:`B = b/A`. The features :math:`\phi_m = \sqrt{\lambda_m}\psi_m` obey a three-term
recurrence. The first N features of a value take one exponential and N multiply-adds, and are exact.

The first N features leave out a positive semi-definite matrix with diagonal
:math:`\rho_N(x) = 1 - \sum_{m<N}\phi_m(x)^2`. Its trace bounds the error of the Gram matrix in
every norm. A histogram of |x| therefore tells, before any feature is computed, how many features
are needed and which s needs the fewest.

The paper looks kernel values up in a table of differences. Here the table holds the leading
eigenfunctions at 4096 values, and cubic interpolation in the table gives the features of a value.
The recurrence needs no table and is faster. The table is therefore an option, not the default.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.kernels.base import TILE

__all__ = [
    "BINS_PER_UNIT",
    "BULK_SHARE",
    "MAX_FEATURES",
    "N_ENTRIES",
    "REACH",
    "TABLE_BASIS",
    "HermiteBases",
    "bases",
    "choose_expansions",
    "lookup_table",
    "table_error",
]

#: Largest magnitude of a value that can be expanded; beyond it the expansion would be too long.
REACH = 12.0
#: Longest expansion that is still faster than a pivoted Cholesky factor.
MAX_FEATURES = 63
#: Number of features that is enough for most columns.
_USUAL_FEATURES = 24
#: The bulk of a Gram matrix is all of its trace but this share.
BULK_SHARE = 0.02
#: Bins per unit in the histogram of magnitudes that tells how many features are needed.
BINS_PER_UNIT = 4
#: Number of entries of the lookup table (the paper's B), and the basis that is tabulated.
N_ENTRIES, TABLE_BASIS = 4096, 2
#: Standard deviations s of the reference measures. Small ones suit columns without tails.
_DEVIATIONS = (0.6, 0.8, 1.0, 1.3, 1.7, 2.2)


@dataclass(frozen=True)
class HermiteBases:
    """Recurrence coefficients of every basis, and the residuals that its features leave."""

    #: Scale and decay of the first feature ``scale * exp(-decay * x**2)``, shape (n_bases, 2).
    first: FloatArray
    #: Coefficients up and back of ``phi[m+1] = up[m] * x * phi[m] - back[m] * phi[m-1]``,
    #: shape (n_bases, 2, MAX_FEATURES).
    steps: FloatArray
    #: Largest diagonal residual of 1, 2, ... features over all magnitudes up to the end of each
    #: histogram bin, shape (n_bases, MAX_FEATURES, n_bins).
    residual: FloatArray

    def features(self, x: FloatArray, basis: int, n_features: int) -> FloatArray:
        """Evaluate the first features of one basis in NumPy: shape (n_features, len(x))."""
        out = np.empty((n_features, x.size))
        scale, decay = self.first[basis]
        up, back = self.steps[basis]
        out[0] = scale * np.exp(-decay * x * x)
        previous = np.zeros_like(x)
        for m in range(n_features - 1):
            out[m + 1] = up[m] * x * out[m] - back[m] * previous
            previous = out[m]
        return out


@cache
def bases() -> HermiteBases:
    """Return the bases, which are made once per process."""
    deviations = np.array(_DEVIATIONS)
    a = 1 / (4 * deviations**2)
    b = 0.5
    c = np.sqrt(a * a + 2 * a * b)
    total = a + b + c
    ratio = b / total
    m = np.arange(MAX_FEATURES)
    up = np.sqrt(2 * c * ratio)[:, None] * np.sqrt(2 / (m + 1))
    back = ratio[:, None] * np.sqrt(m / (m + 1))
    scale = np.sqrt(np.sqrt(2 * a / total)) * (c / a) ** 0.25
    first, steps = np.stack([scale, c - a], axis=1), np.stack([up, back], axis=1)
    made = HermiteBases(first, steps, np.empty(0))

    per_bin = 8
    grid = np.arange(1, int(REACH * BINS_PER_UNIT) * per_bin + 1) / (BINS_PER_UNIT * per_bin)
    residual = np.empty((deviations.size, MAX_FEATURES, grid.size // per_bin))
    for s in range(deviations.size):
        power = np.cumsum(made.features(grid, s, MAX_FEATURES) ** 2, axis=0)
        largest = np.maximum.accumulate(np.maximum(1 - power, 0), axis=1)
        residual[s] = largest[:, per_bin - 1 :: per_bin]
    return HermiteBases(first, steps, residual)


def choose_expansions(
    histogram: FloatArray, allowed: FloatArray, total: FloatArray, only: int | None = None
) -> tuple[IntArray, IntArray, IntArray]:
    """Choose for each column the basis that needs the fewest features.

    Parameters
    ----------
    histogram : ndarray of shape (k, n_bins + 1)
        Weight of each column's values in each bin of magnitudes. The last entry is the weight of
        the values beyond `REACH`.
    allowed : ndarray of shape (k,)
        Largest weighted sum of the diagonal residual over the values of a column.
    total : ndarray of shape (k,)
        Sum of the weights of each column.
    only : int, optional
        The only basis to choose from.

    Returns
    -------
    basis : ndarray of shape (k,)
        Number of the basis in `HermiteBases`.
    counts : ndarray of shape (k,)
        Number of features; 0 if no basis suits the column.
    bulk : ndarray of shape (k,)
        Fewest features, of any basis, that leave out at most `BULK_SHARE` of the trace.
    """
    residual = bases().residual if only is None else bases().residual[only : only + 1]
    used = int(np.flatnonzero(histogram[:, :-1].any(axis=0)).max(initial=0)) + 1
    for most in (_USUAL_FEATURES, MAX_FEATURES):
        left_out = _left_out(histogram[:, :used], residual[:, :most, :used])
        by_basis = _fewest_features(left_out, allowed)
        basis = np.argmin(by_basis, axis=1)
        counts = by_basis[np.arange(len(basis)), basis]
        if (counts <= most).all():
            break
    # columns of equal length are evaluated together: a few lengths, which fill whole tiles
    counts = -(-counts // TILE[0]) * TILE[0]
    counts[(counts > MAX_FEATURES) | (histogram[:, -1] > 0)] = 0
    bulk = _fewest_features(left_out, BULK_SHARE * total).min(axis=1)
    return basis + (only or 0), counts, bulk


def _left_out(histogram: FloatArray, residual: FloatArray) -> FloatArray:
    """Trace of each column that 1, ..., N features of each basis leave out: (k, bases, N)."""
    flat = residual.reshape(-1, residual.shape[2])
    return (histogram @ flat.T).reshape(-1, *residual.shape[:2])


def _fewest_features(left_out: FloatArray, limit: FloatArray) -> IntArray:
    """Fewest features of each basis that leave out at most the limit; N + 1 if N are too few."""
    # more features leave out less: count the numbers of features that are too small
    return np.asarray(np.count_nonzero(left_out > limit[:, None, None], axis=2) + 1)


@cache
def lookup_table() -> FloatArray:
    """Return the table of shape (N_ENTRIES, MAX_FEATURES) over [-REACH, REACH]."""
    grid = np.linspace(-REACH, REACH, N_ENTRIES)
    return np.ascontiguousarray(bases().features(grid, TABLE_BASIS, MAX_FEATURES).T)


@cache
def table_error() -> float:
    """Bound on the error of a kernel value from interpolation, measured between the entries."""
    from hsiclasso.kernels._loops import table_features

    step = 2 * REACH / (N_ENTRIES - 1)
    between = np.linspace(-REACH + step, REACH - step, 16 * N_ENTRIES)
    looked_up = np.empty((1, MAX_FEATURES, between.size))
    first = np.zeros(1, dtype=np.int64)
    table_features(between[None], first, 0, between.size, REACH, lookup_table(), looked_up)
    exact = bases().features(between, TABLE_BASIS, MAX_FEATURES)
    # |phi~'psi~ - phi'psi| <= 2 e + e^2 where e bounds |phi~ - phi|, and |phi| <= 1.
    error = float(np.sqrt(np.sum((looked_up[0] - exact) ** 2, axis=0)).max())
    return 2 * error + error**2
