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

The paper looks kernel values up in a table of differences. In this form the table holds the
leading eigenfunctions at 4096 values, and embedding a value is a cubic interpolation in it. The
recurrence needs no table and is faster, so that the table is an option and not the default.
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
    "N_ENTRIES",
    "REACH",
    "TABLE_BASIS",
    "HermiteBases",
    "bases",
    "choose_expansions",
    "lookup_table",
    "table_error",
]

#: Values up to this magnitude can be served; beyond it the expansion would be too long.
REACH = 12.0
#: Longest expansion that still beats a pivoted Cholesky factor.
MAX_FEATURES = 64
#: Most columns need fewer features than this.
_MOST_NEED = 24
#: Expansions longer than this have lengths that are multiples of the step.
_FREE, _STEP = 24, 4
#: Share of the trace that does not count as the bulk of a Gram matrix.
BULK_SHARE = 0.02
#: Bins of the histogram of magnitudes that tells how many features are needed.
BINS_PER_UNIT = 4
#: Entries of the lookup table (the paper's B), and the expansion that is tabulated.
N_ENTRIES, TABLE_BASIS = 4096, 2
#: Standard deviations of the reference measures. Narrow ones serve columns without tails.
_SPREADS = (0.6, 0.8, 1.0, 1.3, 1.7, 2.2)


@dataclass(frozen=True)
class HermiteBases:
    """Recurrence coefficients of every expansion, and what each leaves out.

    Attributes
    ----------
    first : ndarray of shape (n_bases, 2)
        Scale and decay of the first feature, ``scale * exp(-decay * x**2)``.
    steps : ndarray of shape (n_bases, 2, MAX_FEATURES)
        Coefficients up and back of ``phi[m+1] = up[m] * x * phi[m] - back[m] * phi[m-1]``.
    residual : ndarray of shape (n_bases, MAX_FEATURES, n_bins)
        Largest diagonal residual over the magnitudes up to the end of each histogram bin
        when 1, 2, ... features are kept.
    """

    first: FloatArray
    steps: FloatArray
    residual: FloatArray

    def features(self, x: FloatArray, basis: int, n_features: int) -> FloatArray:
        """Evaluate features of one basis in NumPy: an (n_features, len(x)) array."""
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
    first, steps = np.stack([scale, c - a], axis=1), np.stack([up, back], axis=1)
    made = HermiteBases(first, steps, np.empty(0))

    per_bin = 8
    grid = np.arange(1, int(REACH * BINS_PER_UNIT) * per_bin + 1) / (BINS_PER_UNIT * per_bin)
    residual = np.empty((spread.size, MAX_FEATURES, grid.size // per_bin))
    for s in range(spread.size):
        power = np.cumsum(made.features(grid, s, MAX_FEATURES) ** 2, axis=0)
        left = np.maximum.accumulate(np.maximum(1 - power, 0), axis=1)
        residual[s] = left[:, per_bin - 1 :: per_bin]
    return HermiteBases(first, steps, residual)


def choose_expansions(
    histogram: FloatArray, allowed: FloatArray, total: FloatArray, only: int | None = None
) -> tuple[IntArray, IntArray, IntArray]:
    """Choose for each column the basis that needs the fewest features.

    Parameters
    ----------
    histogram : ndarray of shape (k, n_bins + 1)
        Weights of the values of each column by the bin of their magnitude; the last entry has
        what lies beyond `REACH`.
    allowed : ndarray of shape (k,)
        Largest weighted sum of the diagonal residual over the values of a column.
    total : ndarray of shape (k,)
        Sum of the weights.
    only : int, optional
        The one basis to choose from.

    Returns
    -------
    basis : ndarray of shape (k,)
        Row of the coefficients in `HermiteBases`.
    counts : ndarray of shape (k,)
        Number of features; 0 where no expansion serves the column.
    bulk : ndarray of shape (k,)
        Number of features, of some basis, that leave out at most `BULK_SHARE` of the trace.
    """
    residual = bases().residual if only is None else bases().residual[only : only + 1]
    used = int(np.flatnonzero(histogram[:, :-1].any(axis=0)).max(initial=0)) + 1
    for most in (_MOST_NEED, MAX_FEATURES):
        left = _left_out(histogram[:, :used], residual[:, :most, :used])
        by_basis = _needed(left, allowed)
        basis = np.argmin(by_basis, axis=1)
        counts = by_basis[np.arange(len(basis)), basis]
        if (counts <= most).all():
            break
    # long expansions come in a few lengths, so that columns can be evaluated together
    counts = np.where((counts > _FREE) & (counts <= most), -(-counts // _STEP) * _STEP, counts)
    counts[(counts > MAX_FEATURES) | (histogram[:, -1] > 0)] = 0
    bulk = _needed(left, BULK_SHARE * total).min(axis=1)
    return basis + (only or 0), counts, bulk


def _left_out(histogram: FloatArray, residual: FloatArray) -> FloatArray:
    """Trace that each number of features of each basis leaves out of columns: (k, bases, N)."""
    flat = residual.reshape(-1, residual.shape[2])
    return (histogram @ flat.T).reshape(-1, *residual.shape[:2])


def _needed(left: FloatArray, limit: FloatArray) -> IntArray:
    """Fewest features of each basis that leave out at most the limit; one more than all if none.

    What is left out falls with the number of features, so that those that do not suffice count.
    """
    return np.asarray(np.count_nonzero(left > limit[:, None, None], axis=2) + 1)


@cache
def lookup_table() -> FloatArray:
    """Return the table of shape (N_ENTRIES, MAX_FEATURES) over [-REACH, REACH]."""
    grid = np.linspace(-REACH, REACH, N_ENTRIES)
    return np.ascontiguousarray(bases().features(grid, TABLE_BASIS, MAX_FEATURES).T)


@cache
def table_error() -> float:
    """Bound on how far interpolation moves any kernel value, measured between the entries."""
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
