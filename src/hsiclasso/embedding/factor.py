r"""Column -> centred factor of the least rank that the tolerance allows.

From the features :math:`\Phi` (N x n) of a column, the eigenvalues of the centred
:math:`\Phi\Gamma\Phi^\top` (N x N) are those of the centred Gram matrix, and its eigenvectors
turn the features into rows that are orthogonal over the samples. With weights and covariates,
`hsiclasso.embedding.samples` has what takes the place of centring.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.embedding.expand import Embedding
from hsiclasso.embedding.samples import NOTHING, Samples
from hsiclasso.embedding.vectors import vector_rows

__all__ = [
    "LEAST_STEP",
    "TRIES",
    "Factor",
    "Reduction",
    "Shrinkage",
    "empty_factor",
    "factor_columns",
    "factor_vectors",
]

#: How often an odd feature is expanded again, more tightly each time.
TRIES = 5
#: How much more tightly at most.
LEAST_STEP = 1e-6


@dataclass(frozen=True)
class Shrinkage:
    r"""Map of the eigenvalues of a centred Gram matrix, :math:`\lambda/(\lambda + \rho)`.

    Parameters
    ----------
    ridge : float
        :math:`\rho`; 0 stands for no shrinkage, the identity map.
    """

    ridge: float = 0.0

    def __call__(self, eigenvalues: FloatArray) -> FloatArray:
        """Map eigenvalues."""
        return eigenvalues / (eigenvalues + self.ridge) if self.ridge else eigenvalues

    @property
    def lipschitz(self) -> float:
        r"""How much an error of the Gram matrix can grow in the Frobenius norm.

        :math:`f(A) - f(B) = \rho (B+\rho)^{-1}(A-B)(A+\rho)^{-1}`, so at most by 1/ridge.
        """
        return 1 / self.ridge if self.ridge else 1.0

    def usual_share(self, tol: float, n: float) -> float:
        """Trace, as a share of n, that a column without oddities may lose at tolerance `tol`.

        The norm of a centred Gram matrix is usually above n/10, that of a shrunk one above 1.
        """
        return 0.5 * tol * (self.ridge / n if self.ridge else 0.1)

    def least_norm(self, trace: FloatArray, rank: IntArray) -> FloatArray:
        """Lower bound on the Frobenius norm of the mapped matrix, from its trace and rank."""
        return self(trace / rank) if self.ridge else trace / np.sqrt(rank)


@dataclass(frozen=True)
class Factor:
    """Centred low-rank factor: ``rows.T @ rows`` is the matrix of the column.

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

    def spread(self, observed: BoolArray, share: float) -> Factor:
        """Return the factor on all samples of one on those observed: zero for the others."""
        rows = np.zeros((len(self.rows), observed.size))
        rows[:, observed] = self.rows
        return replace(self, rows=rows, observed=share)

    def normalised(self) -> Self:
        """Return the factor of the matrix divided by its Frobenius norm."""
        return replace(self.scaled(1 / (self.norm or 1.0)), error=2 * self.error)


def factor_columns(
    block: FloatArray, embedding: Embedding, samples: Samples | None = None, epsilon: float = 0.0
) -> list[Factor]:
    """Factor columns without missing values.

    Parameters
    ----------
    block : ndarray of shape (k, n)
        One column of the table per row; overwritten.
    embedding : Embedding
        Kernel and tolerance.
    samples : Samples, optional
        Weights of the samples and what is removed; by default only the constant is.
    epsilon : float
        NOCCO's regularisation, or 0.

    Returns
    -------
    list of Factor
        One for each row of `block`.
    """
    k, n = block.shape
    samples = samples or Samples(n)
    reduce = Reduction(samples, Shrinkage(epsilon * samples.total), embedding.tol)
    factors = [empty_factor(n)] * k
    closed, others = embedding.prepare(block, reduce.share, samples.weights)
    for j, position in enumerate(closed.columns):
        factor = reduce(closed.features(j), closed.left)
        if factor.error > embedding.tol:
            factor = reduce.adapt(partial(_rows, embedding, block[position], samples))
        factors[position] = factor
    for position in others:
        factors[position] = reduce.adapt(partial(_rows, embedding, block[position], samples))
    return factors


def factor_vectors(
    vectors: FloatArray, embedding: Embedding, samples: Samples, epsilon: float = 0.0
) -> Factor:
    """Factor vectors without missing values, the columns of (q, n), as one feature."""
    reduce = Reduction(samples, Shrinkage(epsilon * samples.total), embedding.tol)
    if not (np.ptp(vectors, axis=1) > 0).any():
        return empty_factor(vectors.shape[1])
    return reduce.adapt(
        lambda share: vector_rows(vectors, embedding.kernel, share, samples.weights)
    )


def empty_factor(n: int) -> Factor:
    """Return the factor of a feature that does not vary."""
    return Factor(np.zeros((0, n)), np.zeros(0), 0.0)


def _rows(
    embedding: Embedding, column: FloatArray, samples: Samples, share: float
) -> tuple[FloatArray, float]:
    return embedding.rows(column, share, samples.weights)


@dataclass(frozen=True)
class Reduction:
    """Turns features to orthogonal rows and drops what is below the tolerance.

    Attributes
    ----------
    samples : Samples
    shrinkage : Shrinkage
    tol : float
        Relative error of the mapped matrix.
    """

    samples: Samples
    shrinkage: Shrinkage
    tol: float

    @property
    def share(self) -> float:
        """Share of the trace that a column without oddities may lose."""
        return self.shrinkage.usual_share(self.tol, self.samples.total)

    def adapt(self, expand: Callable[[float], tuple[FloatArray, float]]) -> Factor:
        """Factor what `expand` makes for a share of the trace, tighter if it needs that."""
        share = self.share
        for _ in range(TRIES):
            factor = self(*expand(share))
            if factor.error <= self.tol:
                break
            share *= max(0.25 * self.tol / factor.error, LEAST_STEP)
        return factor

    def __call__(self, phi: FloatArray, left: float) -> Factor:
        """Reduce features (r, n), which are overwritten, that leave out a trace of `left`."""
        rows, trace = self.samples.project(phi)
        return self.turn(rows, left, trace)

    def turn(self, rows: FloatArray, left: float, trace: float) -> Factor:
        """Reduce rows (r, n) that are weighed and centred; `trace` is what they had before."""
        eigenvalues, vectors = np.linalg.eigh(rows @ rows.T)
        eigenvalues = np.maximum(eigenvalues[::-1], 0.0)
        if eigenvalues.sum() <= NOTHING * trace:
            # nothing is left, unless it was left out
            error = np.inf if left > NOTHING * trace else 0.0
            return replace(empty_factor(rows.shape[1]), error=error)
        mapped = self.shrinkage(eigenvalues)
        # tails[r] is the norm of what rank r leaves out
        tails = np.sqrt(np.append(np.cumsum(mapped[::-1] ** 2)[::-1], 0.0))
        rank = int(np.argmax(tails <= 0.5 * self.tol * tails[0]))
        scale = np.sqrt(mapped[:rank] / eigenvalues[:rank])
        rows = (vectors[:, ::-1][:, :rank] * scale).T @ rows
        error = (left * self.shrinkage.lipschitz + tails[rank]) / tails[0]
        return Factor(rows, mapped[:rank], float(error))
