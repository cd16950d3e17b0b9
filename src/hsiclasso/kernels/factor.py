r"""Columns -> centred factors of the least rank that the error allows.

From the rows :math:`\Phi` (N x n) of a column, the eigenvalues of the centred
:math:`\Phi\Gamma\Phi^\top` (N x N) are those of the centred Gram matrix, and its eigenvectors
turn the rows into ones that are orthogonal over the samples. With weights and covariates,
`hsiclasso.kernels.samples` has what takes the place of centring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.kernels.base import Kernel, Terms
from hsiclasso.kernels.measures import Measure
from hsiclasso.kernels.samples import NOTHING, Samples

__all__ = [
    "Factor",
    "Refinement",
    "empty_factor",
    "factor_columns",
    "factor_rows",
    "factor_terms",
    "turn",
]

#: How often a column is expanded again, more tightly each time.
_TRIES = 6
#: How much more tightly at most.
_LEAST_STEP = 1e-6


@dataclass(frozen=True)
class Factor:
    """Centred low-rank factor: ``rows.T @ rows`` is the matrix of the feature.

    Attributes
    ----------
    rows : ndarray of shape (rank, n)
        Orthogonal rows that each sum to zero; shape (0, n) for a column that does not vary.
        With weights, a row holds the square root of each sample's weight as a factor.
    eigenvalues : ndarray of shape (rank,)
        Squared norms of the rows, decreasing.
    error : float
        Bound on the Frobenius distance to the exact matrix, relative to its norm.
    observed : float
        Share of the total weight on samples where the feature is not missing.
    """

    rows: FloatArray
    eigenvalues: FloatArray
    error: float
    observed: float = 1.0

    @property
    def norm(self) -> float:
        """Frobenius norm of the matrix."""
        return float(np.linalg.norm(self.eigenvalues))

    @property
    def nbytes(self) -> int:
        """Memory it takes."""
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
    """Columns that are expanded more and more tightly until what is found is accurate enough.

    Parameters
    ----------
    size : int
        Number of columns.
    share : float
        Share of the trace to leave out at first.
    error : float
        Largest relative error.

    Attributes
    ----------
    errors : ndarray of shape (size,)
        Relative error bounds reached; whoever expands columns writes them here.
    """

    def __init__(self, size: int, share: float, error: float) -> None:
        self.errors = np.zeros(size)
        self._shares = np.full(size, share)
        self._error = error

    def rounds(self) -> Iterator[tuple[IntArray, FloatArray, int]]:
        """Yield the columns to be expanded, the shares that may be left out, and the round."""
        todo = np.arange(self.errors.size)
        for attempt in range(_TRIES):
            yield todo, self._shares[todo], attempt
            todo = np.flatnonzero(self.errors > self._error)
            if not todo.size:
                return
            finite = np.isfinite(self.errors[todo])
            near, far = todo[finite], todo[~finite]
            self._shares[near] *= np.maximum(0.5 * self._error / self.errors[near], _LEAST_STEP)
            if attempt > 0:  # an infinite bound says no more than: not yet
                self._shares[far] *= _LEAST_STEP


def factor_columns(
    z: FloatArray, kernel: Kernel, samples: Samples, measure: Measure, error: float
) -> list[Factor]:
    """Factor the matrices of scaled columns (k, n) that vary, one for each."""
    made = [empty_factor(samples.n)] * len(z)
    refinement = Refinement(len(z), measure.usual_share(error), error)
    for columns, shares, _ in refinement.rounds():
        for terms in kernel.expand(z, columns, shares * samples.total, samples.shares):
            factors = factor_terms(terms, samples, measure, error)
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
    """Factor one feature, given what expands it.

    `expand` takes the weighted trace that may be left out and returns rows (r, n), which are
    overwritten, and the trace that they do leave out.
    """
    factor = empty_factor(samples.n)
    refinement = Refinement(1, measure.usual_share(error), error)
    for _, shares, _ in refinement.rounds():
        rows, left = expand(float(shares[0]) * samples.total)
        if not len(rows):
            return factor
        trace = np.einsum("ri,ri,i->", rows, rows, samples.shares[0])
        bounds = np.array([left]), np.array([trace])
        # in place: the rows of a target with many samples are large
        (factor,) = turn(samples.project(rows[None]), *bounds, samples, measure, error)
        refinement.errors[0] = factor.error
    return factor


def factor_terms(terms: Terms, samples: Samples, measure: Measure, error: float) -> list[Factor]:
    """Turn terms to orthogonal rows and drop what is below the error: a factor for each column."""
    phi = terms.on(slice(None), slice(None))
    trace = np.einsum("cri,cri,i->c", phi, phi, samples.shares[0])
    return turn(samples.project(phi), terms.left, trace, samples, measure, error)


def turn(
    phi: FloatArray, left: FloatArray, trace: FloatArray, samples: Samples, measure: Measure,
    error: float,
) -> list[Factor]:  # fmt: skip
    """Turn rows (c, r, n) that are weighed and centred; `trace` (c,) is what they had before."""
    eigenvalues, vectors = np.linalg.eigh(phi @ phi.transpose(0, 2, 1))
    eigenvalues, vectors = np.maximum(eigenvalues[:, ::-1], 0.0), vectors[:, :, ::-1]
    mapped = measure.shrink(eigenvalues, samples.total)
    # tails[c, r] is the norm of what rank r leaves out
    squares = np.cumsum(np.square(mapped)[:, ::-1], axis=1)[:, ::-1]
    tails = np.sqrt(np.concatenate([squares, np.zeros((len(phi), 1))], axis=1))
    ranks = np.argmax(tails <= 0.5 * error * tails[:, :1], axis=1)
    gone = eigenvalues.sum(axis=1) <= NOTHING * trace
    lost = left > NOTHING * trace
    used = np.where(gone, 1.0, tails[:, 0])
    cut = (
        left * measure.lipschitz(samples.total) + np.take_along_axis(tails, ranks[:, None], 1)[:, 0]
    )
    # where nothing is left of a column, there is no error - unless it was left out
    bounds = np.where(gone, np.where(lost, np.inf, 0.0), cut / used)
    ranks = np.where(gone, 0, ranks)
    most = int(ranks.max(initial=0))
    scale = np.sqrt(mapped[:, :most] / np.where(eigenvalues > 0, eigenvalues, 1.0)[:, :most])
    rows = (vectors[:, :, :most] * scale[:, None, :]).transpose(0, 2, 1) @ phi
    return [
        # rows of several columns share an array, which one factor alone should not hold on to
        Factor(rows[c, :rank] if len(rows) == 1 else rows[c, :rank].copy(), mapped[c, :rank], bound)
        for c, (rank, bound) in enumerate(zip(ranks.tolist(), bounds.tolist(), strict=True))
    ]
