r"""Moments of terms -> relevance: the one place where the statistics are computed.

With the projected rows :math:`\Phi` (N x n) of a column, and the target's rows t with signs s:

=====================  ===================================================================
HSIC                   :math:`\sum_r s_r \|\Phi t_r\|^2`
normalised HSIC        HSIC divided by :math:`\|\Phi\Phi^\top\|_F`
NOCCO                  :math:`\sum_r s_r\, (\Phi t_r)^\top(\Phi\Phi^\top + \epsilon n I)^{-1}
                       (\Phi t_r)`
=====================  ===================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.kernels import Measure
from hsiclasso.kernels.samples import NEGLIGIBLE

__all__ = ["Moments", "relevance_and_error"]


@dataclass(frozen=True)
class Moments:
    """Inner products of the terms of some columns: everything that a statistic needs."""

    #: Projected rows of each column times the target's rows, shape (c, N, r).
    cross: FloatArray
    #: Projected rows times each other, shape (c, N, N); None if they are not needed.
    gram: FloatArray | None
    #: Weighted trace of the rows that the projection removes, shape (c,).
    removed_trace: FloatArray
    #: Weighted trace of each Gram matrix that the rows leave out, shape (c,).
    left_out: FloatArray
    #: As in `Terms`, before the projection, shape (c,).
    bulk_trace: FloatArray
    #: As in `Terms`, shape (c,).
    bulk_rank: IntArray

    def scaled(self, scale: Any) -> Moments:
        """Return the moments of the matrices times factors (c,), or times 1.0."""
        if np.ndim(scale) == 0:
            return self
        return replace(
            self,
            cross=self.cross * np.sqrt(scale)[:, None, None],
            gram=None if self.gram is None else self.gram * scale[:, None, None],
            removed_trace=self.removed_trace * scale,
            left_out=self.left_out * scale,
            bulk_trace=self.bulk_trace * scale,
        )

    def negligible(self) -> FloatArray:
        """Trace of projected rows up to which it is only rounding error, shape (c,)."""
        assert self.gram is not None
        kept = np.trace(self.gram, axis1=1, axis2=2)
        return np.asarray(NEGLIGIBLE * (kept + self.removed_trace))


def relevance_and_error(
    moments: Moments, measure: Measure, total: FloatArray, signs: FloatArray,
    starts: tuple[int, ...],
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Return the relevance (c, m) of c columns, and bounds (c,) on their relative errors.

    `total` (c,) is the total weight of the samples of each column. `signs` (r,) are the signs of
    the target's rows, and `starts` are the first rows of the m targets.
    """
    cross, gram = moments.cross, moments.gram
    if gram is None:
        bound = _bound(
            moments, measure, moments.bulk_trace - moments.removed_trace, moments.bulk_rank, total
        )
        return _by_target(np.einsum("cnr,cnr->cr", cross, cross) * signs, starts), bound
    kept = np.trace(gram, axis1=1, axis2=2)
    norm = np.sqrt(np.einsum("cnm,cnm->c", gram, gram))
    is_zero = kept <= moments.negligible()
    if measure.regularisation:
        energy = _shrunk_energy(gram, cross, measure.regularisation * total)
        if measure.normalised:
            ridged = gram + (measure.regularisation * total)[:, None, None] * np.eye(gram.shape[1])
            shrunk = np.linalg.solve(ridged, gram)
            norm = np.sqrt(np.einsum("cnm,cmn->c", shrunk, shrunk))
        bound = _bound(moments, measure, kept, np.array(gram.shape[1]), total)
    else:
        energy = np.einsum("cnr,cnr->cr", cross, cross)
        bound = moments.left_out / np.maximum(norm, np.finfo(float).tiny)
    if measure.normalised:
        energy = energy / np.where(norm > 0, norm, 1.0)[:, None]
    # a zero matrix has no relevance, unless the part that is not zero may have been left out
    incomplete = moments.left_out > moments.negligible()
    bound = np.where(is_zero, np.where(incomplete, np.inf, 0.0), bound)
    energy = np.where(is_zero[:, None], 0.0, energy)
    return _by_target(energy * signs, starts), bound


def _shrunk_energy(gram: FloatArray, cross: FloatArray, ridge: FloatArray) -> FloatArray:
    r"""Return :math:`t^\top(G + \rho I)^{-1} t` for each column t of `cross` (c, N, r): (c, r)."""
    from hsiclasso.dependence._loops import shrunk_energies

    energy = np.empty((len(gram), cross.shape[2]))
    shrunk_energies(gram.copy(), cross.copy(), np.broadcast_to(ridge, len(gram)).copy(), energy)
    return energy


def _by_target(energy: FloatArray, starts: tuple[int, ...]) -> FloatArray:
    """Sum energies (c, r) of rows over the rows of each target."""
    if not energy.shape[1]:
        return np.zeros((len(energy), len(starts)))
    if len(starts) == 1:
        return np.asarray(energy.sum(axis=1, keepdims=True))
    return np.asarray(np.add.reduceat(energy, starts, axis=1))


def _bound(
    moments: Moments, measure: Measure, trace: FloatArray, rank: Any,
    total: FloatArray,
) -> FloatArray:  # fmt: skip
    """Bound the relative error of matrices: the part left out over a lower bound on the norm."""
    error = moments.left_out * measure.lipschitz(total)
    with np.errstate(divide="ignore", invalid="ignore"):
        known = error / measure.least_norm(np.maximum(trace, 0.0), rank, total)
    return np.where(moments.left_out > 0, np.where(trace > 0, known, np.inf), 0.0)
