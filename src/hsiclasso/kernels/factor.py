r"""Columns -> centred factors of the smallest rank that the error allows.

The terms of a column are rows :math:`\Phi` (N x n). The centred matrix
:math:`\Phi\Gamma\Phi^\top` (N x N) has the same non-zero eigenvalues as the centred Gram matrix.
Multiplying the rows by its eigenvectors makes them orthogonal. With weights and covariates, the
projection of `hsiclasso.kernels.samples` replaces the centring matrix :math:`\Gamma`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.kernels.base import Kernel
from hsiclasso.kernels.measures import Measure
from hsiclasso.kernels.samples import NEGLIGIBLE, Samples

__all__ = [
    "Factor",
    "Refinement",
    "empty_factor",
    "factor_columns",
    "factor_rows",
    "orthogonal_factors",
]

#: Most rounds in which a column is expanded; each one leaves out less than the one before.
_ROUNDS = 6
#: Number of samples whose rows are turned at once.
_RUN = 4096
#: Smallest factor by which a round reduces the share that may be left out.
_LEAST_REDUCTION = 1e-6


@dataclass(frozen=True)
class Factor:
    """Centred low-rank factor: ``rows.T @ rows`` is the matrix of the feature."""

    #: Orthogonal rows, each with sum 0, shape (rank, n); the rank is 0 if the column does not vary.
    #: With weights, each entry contains the square root of its sample's weight as a factor.
    rows: FloatArray
    #: Squared norms of the rows, in decreasing order, shape (rank,).
    eigenvalues: FloatArray
    #: Bound on the Frobenius distance to the exact matrix, relative to its norm.
    error: float
    #: Share of the total weight on samples where the feature is not missing.
    observed: float = 1.0

    @property
    def norm(self) -> float:
        """Frobenius norm of the matrix."""
        return float(np.linalg.norm(self.eigenvalues))

    @property
    def nbytes(self) -> int:
        """Memory of the rows."""
        return self.rows.nbytes

    def scaled(self, scale: float) -> Self:
        """Return the factor of a multiple of the matrix."""
        if scale == 1.0:
            return self
        return replace(self, rows=self.rows * np.sqrt(scale), eigenvalues=self.eigenvalues * scale)

    def normalised(self) -> Self:
        """Return the factor of the matrix divided by its Frobenius norm."""
        return replace(self.scaled(1 / (self.norm or 1.0)), error=2 * self.error)

    def energy(self, rows: FloatArray) -> float:
        """Return the sum of ``f' A f`` over rows f of shape (r, n)."""
        return float(np.sum(np.square(rows @ self.rows.T)))


def empty_factor(n: int) -> Factor:
    """Return the factor of a feature that does not vary."""
    return Factor(np.zeros((0, n)), np.zeros(0), 0.0)


class Refinement:
    """Decides how much may be left out of columns until their errors are small enough.

    Parameters
    ----------
    size : int
        Number of columns.
    share : float
        Share of the trace that may be left out in the first round.
    error : float
        Largest relative error allowed.
    """

    def __init__(self, size: int, share: float, error: float) -> None:
        #: Bounds on the relative errors, shape (size,). The caller writes them in every round.
        self.errors = np.zeros(size)
        self._shares = np.full(size, share)
        self._error = error

    def rounds(self) -> Iterator[tuple[IntArray, FloatArray, int]]:
        """Yield the columns to expand, the shares that may be left out, and the round's number."""
        todo = np.arange(self.errors.size)
        for number in range(_ROUNDS):
            yield todo, self._shares[todo], number
            todo = np.flatnonzero(self.errors > self._error)
            if not todo.size:
                return
            finite = np.isfinite(self.errors[todo])
            known, unknown = todo[finite], todo[~finite]
            reduction = 0.5 * self._error / self.errors[known]
            self._shares[known] *= np.maximum(reduction, _LEAST_REDUCTION)
            if number > 0:  # the caller may bound the error more sharply in round 1
                self._shares[unknown] *= _LEAST_REDUCTION


def factor_columns(
    z: FloatArray, kernel: Kernel, samples: Samples, measure: Measure, error: float
) -> list[Factor]:
    """Return a factor for each of some scaled columns (k, n), all of which vary."""
    made = [empty_factor(samples.n)] * len(z)
    refinement = Refinement(len(z), measure.usual_share(error), error)
    for columns, shares, _ in refinement.rounds():
        for terms in kernel.expand(z, columns, shares * samples.total, samples.shares):
            phi = terms.on(slice(None), slice(None))
            trace = np.einsum("cri,cri,i->c", phi, phi, samples.shares[0])
            factors = orthogonal_factors(
                samples.project(phi), terms.left_out, trace, samples, measure, error
            )
            for column, factor in zip(terms.columns.tolist(), factors, strict=True):
                made[column] = factor
                refinement.errors[column] = factor.error
    return made


def factor_rows(
    expand: Callable[[float], tuple[FloatArray, float]],
    samples: Samples,
    measure: Measure,
    error: float,
) -> Factor:
    """Factor one feature, given a function that expands it.

    `expand` takes the weighted trace that may be left out. It returns rows (r, n), which are
    overwritten here, and the weighted trace that they leave out.
    """
    factor = empty_factor(samples.n)
    refinement = Refinement(1, measure.usual_share(error), error)
    for _, shares, _ in refinement.rounds():
        rows, left_out = expand(float(shares[0]) * samples.total)
        if not len(rows):
            return factor
        trace = np.einsum("ri,ri,i->", rows, rows, samples.shares[0])
        # project in place, because the rows of a target with many samples are large
        (factor,) = orthogonal_factors(
            samples.project(rows[None]), np.array([left_out]), np.array([trace]), samples, measure,
            error,
        )  # fmt: skip
        refinement.errors[0] = factor.error
    return factor


def orthogonal_factors(
    phi: FloatArray, left_out: FloatArray, trace: FloatArray, samples: Samples, measure: Measure,
    error: float,
) -> list[Factor]:  # fmt: skip
    """Make factors of the smallest rank that `error` allows, with orthogonal rows.

    They are made of projected rows (c, r, n), which are overwritten.
    `left_out` (c,) is the trace that the rows leave out, and `trace` (c,) the trace of the rows
    before they were projected.
    """
    eigenvalues, vectors = np.linalg.eigh(phi @ phi.transpose(0, 2, 1))
    eigenvalues, vectors = np.maximum(eigenvalues[:, ::-1], 0.0), vectors[:, :, ::-1]
    mapped = measure.shrink(eigenvalues, samples.total)
    # tails[c, r] is the norm of the part that rank r leaves out
    squares = np.cumsum(np.square(mapped)[:, ::-1], axis=1)[:, ::-1]
    tails = np.sqrt(np.concatenate([squares, np.zeros((len(phi), 1))], axis=1))
    ranks = np.argmax(tails <= 0.5 * error * tails[:, :1], axis=1)
    is_zero = eigenvalues.sum(axis=1) <= NEGLIGIBLE * trace
    incomplete = left_out > NEGLIGIBLE * trace
    norms = np.where(is_zero, 1.0, tails[:, 0])
    cut = np.take_along_axis(tails, ranks[:, None], 1)[:, 0]
    errors = (left_out * measure.lipschitz(samples.total) + cut) / norms
    # a zero matrix is exact, unless the part that is not zero may have been left out
    bounds = np.where(is_zero, np.where(incomplete, np.inf, 0.0), errors)
    ranks = np.where(is_zero, 0, ranks)
    scale = np.sqrt(mapped / np.where(eigenvalues > 0, eigenvalues, 1.0))
    turns = (vectors * scale[:, None, :]).transpose(0, 2, 1)
    made = []
    for c, rank in enumerate(ranks.tolist()):
        # a single feature, such as a target with many samples, is turned in place, run by run,
        # unless many rows would be kept in memory for nothing
        in_place = len(phi) == 1 and 4 * rank >= 3 * phi.shape[1]
        rows = phi[c, :rank] if in_place else np.empty((rank, phi.shape[2]))
        for start in range(0, phi.shape[2], _RUN):
            run = slice(start, start + _RUN)
            rows[:, run] = turns[c, :rank] @ phi[c, :, run]
        made.append(Factor(rows, mapped[c, :rank], float(bounds[c])))
    return made
