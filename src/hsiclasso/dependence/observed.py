"""Columns with missing values: what is removed from the target's rows on the observed samples.

A column is known by sums at its m atoms, over the samples on which it is observed: sums of the
target's r rows and of the q rows that are removed from every feature and from the target. On these
samples alone, the removed rows are neither orthonormal nor orthogonal to the target's.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from hsiclasso._types import BoolArray, FloatArray

__all__ = ["centred", "projected"]

#: Removed rows depend on each other, on the observed samples, if a squared pivot of their Gram
#: matrix is below the first number. Directions with an eigenvalue below the second are left out.
_LEAST_PIVOT, _NULL = 1e-4, 1e-10


def centred(sums: FloatArray, weights: FloatArray) -> FloatArray:
    """Remove the constant, the only removed row.

    Parameters
    ----------
    sums : (k, m, r + 1) sums of k columns
    weights : (k, m) weights of the observed samples at each atom

    Returns
    -------
    (k, m, r + 1) sums
    """
    out, totals = sums.copy(), weights.sum(axis=1)
    target = out[:, :, :-1]
    target -= (weights / totals[:, None])[:, :, None] * target.sum(axis=1, keepdims=True)
    out[:, :, -1] = weights / np.sqrt(totals)[:, None]
    return out


def projected(
    sums: FloatArray, all_rows: FloatArray, n_removed: int, missing: BoolArray
) -> FloatArray:
    """Remove the constant and the functions of covariates.

    Parameters
    ----------
    sums : (k, m, r + q) sums of k columns
    all_rows : (r + q, n) the target's rows and the removed rows
    n_removed : the number q of removed rows
    missing : (k, n) where values are missing

    Returns
    -------
    (k, m, r + m) sums of the projected rows, and of m orthonormal rows instead of the q removed
    ones, which have the same effect
    """
    k, m, width = sums.shape
    by_sample = np.ascontiguousarray(all_rows.T)
    every = all_rows[-n_removed:] @ by_sample
    column, sample = np.nonzero(missing)
    ends = np.searchsorted(column, np.arange(k + 1))
    out = np.empty((k, m, width - n_removed + m))
    for j in range(k):
        gone = by_sample[sample[ends[j] : ends[j + 1]]]
        out[j] = _projected_one(sums[j], every - gone[:, -n_removed:].T @ gone)
    return out


def _projected_one(sums: FloatArray, inner: FloatArray) -> FloatArray:
    r"""Project the rows of one column, given by sums (m, r + q).

    `inner` (q, r + q) has the inner products of the removed rows Q with all rows, on the observed
    samples: :math:`B = Q T^\top` and :math:`M = Q Q^\top`. The projected sums are
    :math:`S_T - S_Q M^{-1} B`. Orthonormal removed rows have sums R with
    :math:`R R^\top = S_Q M^{-1} S_Q^\top`; m of them are enough.
    """
    q = len(inner)
    target, removed = sums[:, :-q], sums[:, -q:]
    solved = _solved(inner[:, -q:], removed.T)
    values, vectors = np.linalg.eigh(removed @ solved)
    return np.concatenate(
        [target - solved.T @ inner[:, :-q], vectors * np.sqrt(np.maximum(values, 0.0))], axis=1
    )


def _solved(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Solve a system with a positive semi-definite matrix, whose null space is left out."""
    factor, failed = dpotrf(matrix)
    if not failed and np.square(factor.diagonal()).min() > _LEAST_PIVOT:
        return np.asarray(dpotrs(factor, right)[0])
    values, vectors = np.linalg.eigh(matrix)
    usable = values > _NULL
    return np.asarray(vectors[:, usable] / values[usable] @ (vectors[:, usable].T @ right))
