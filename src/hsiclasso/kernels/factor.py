r"""Columns -> centred factors of the least rank that the error allows.

From the rows :math:`\Phi` (N x n) of a column, the eigenvalues of the centred
:math:`\Phi\Gamma\Phi^\top` (N x N) are those of the centred Gram matrix, and its eigenvectors
turn the rows into ones that are orthogonal over the samples. With weights and covariates,
`hsiclasso.kernels.samples` has what takes the place of centring.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.kernels.base import Kernel, Terms, explicit_terms
from hsiclasso.kernels.measures import Measure
from hsiclasso.kernels.samples import NOTHING, Samples

__all__ = ["Factor", "empty_factor", "factor_columns", "factor_rows", "factor_terms", "refine"]

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


def refine(
    visit: Callable[[IntArray, FloatArray, int], FloatArray], size: int, share: float, error: float
) -> FloatArray:
    """Expand columns more and more tightly until what is found is accurate enough.

    Parameters
    ----------
    visit : callable
        ``visit(columns, shares, attempt)`` expands some of the columns, leaving out at most
        these shares of their traces, and returns the relative error bound of each.
    size : int
        Number of columns.
    share : float
        Share of the trace to leave out at first.
    error : float
        Largest relative error.

    Returns
    -------
    ndarray of shape (size,)
        The bounds that were reached.
    """
    todo, shares, errors = np.arange(size), np.full(size, share), np.zeros(size)
    for attempt in range(_TRIES):
        errors[todo] = visit(todo, shares[todo], attempt)
        todo = np.flatnonzero(errors > error)
        if not todo.size:
            break
        finite = todo[np.isfinite(errors[todo])]  # otherwise all that is known is: not yet
        shares[finite] *= np.maximum(0.5 * error / errors[finite], _LEAST_STEP)
        if attempt > 0:
            shares[np.setdiff1d(todo, finite)] *= _LEAST_STEP
    return errors


def factor_columns(
    z: FloatArray, kernel: Kernel, samples: Samples, measure: Measure, error: float
) -> list[Factor]:
    """Factor the matrices of scaled columns (k, n) that vary, one for each."""
    made = [empty_factor(samples.n)] * len(z)

    def visit(columns: IntArray, shares: FloatArray, attempt: int) -> FloatArray:
        bounds = np.zeros(len(z))
        for terms in kernel.expand(z, columns, shares * samples.total, samples.shares):
            for column, factor in zip(
                terms.columns.tolist(), factor_terms(terms, samples, measure, error), strict=True
            ):
                made[column] = factor
                bounds[column] = factor.error
        return bounds[columns]

    refine(visit, len(z), measure.usual_share(error), error)
    return made


def factor_rows(
    expand: Callable[[float], tuple[FloatArray, float]],
    samples: Samples,
    measure: Measure,
    error: float,
) -> Factor:
    """Factor one feature, given what expands it.

    `expand` takes the weighted trace that may be left out and returns rows (r, n) and the trace
    that they do leave out.
    """
    made = [empty_factor(samples.n)]

    def visit(_: IntArray, shares: FloatArray, attempt: int) -> FloatArray:
        rows, left = expand(float(shares[0]) * samples.total)
        if not len(rows):
            return np.zeros(1)
        terms = explicit_terms(0, rows, left, samples.shares[0])
        made[:] = factor_terms(terms, samples, measure, error)
        return np.array([made[0].error])

    refine(visit, 1, measure.usual_share(error), error)
    return made[0]


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
    lipschitz = measure.lipschitz(samples.total)
    made = []
    for c, rank in enumerate(ranks.tolist()):
        if eigenvalues[c].sum() <= NOTHING * trace[c]:
            # nothing is left of the column, unless it was left out
            bound = np.inf if left[c] > NOTHING * trace[c] else 0.0
            made.append(replace(empty_factor(samples.n), error=bound))
            continue
        scale = np.sqrt(mapped[c, :rank] / eigenvalues[c, :rank])
        rows = (vectors[c, :, :rank] * scale).T @ phi[c]
        bound = float((left[c] * lipschitz + tails[c, rank]) / tails[c, 0])
        made.append(Factor(rows, mapped[c, :rank], bound))
    return made
