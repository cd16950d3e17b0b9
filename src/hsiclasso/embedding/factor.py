r"""Column -> centred factor of the least rank that the tolerance allows.

From the features :math:`\Phi` (N x n) of a column, the eigenvalues of the centred
:math:`\Phi\Gamma\Phi^\top` (N x N) are those of the centred Gram matrix, and its eigenvectors
turn the features into rows that are orthogonal over the samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.embedding.expand import Embedding

__all__ = ["Factor", "Shrinkage", "factor_columns"]


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

    def usual_share(self, tol: float, n: int) -> float:
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
    eigenvalues : ndarray of shape (rank,)
        Squared norms of the rows, decreasing.
    error : float
        Bound on the Frobenius distance to the exact matrix, relative to its norm.
    """

    rows: FloatArray
    eigenvalues: FloatArray
    error: float

    @property
    def norm(self) -> float:
        """Frobenius norm of the matrix."""
        return float(np.linalg.norm(self.eigenvalues))

    def normalised(self) -> Factor:
        """Return the factor of the matrix divided by its Frobenius norm."""
        norm = self.norm or 1.0
        return Factor(self.rows / np.sqrt(norm), self.eigenvalues / norm, 2 * self.error)


def factor_columns(
    block: FloatArray, embedding: Embedding, shrinkage: Shrinkage | None = None
) -> list[Factor]:
    """Factor the columns of a block.

    Parameters
    ----------
    block : ndarray of shape (k, n)
        One column of the table per row; overwritten.
    embedding : Embedding
        Kernel and tolerance.
    shrinkage : Shrinkage, optional
        Map of the eigenvalues; none by default.

    Returns
    -------
    list of Factor
        One for each row of `block`.
    """
    k, n = block.shape
    shrinkage = shrinkage or Shrinkage()
    factors = [Factor(np.zeros((0, n)), np.zeros(0), 0.0)] * k
    share = shrinkage.usual_share(embedding.tol, n)
    closed, others = embedding.prepare(block, share)
    for j, position in enumerate(closed.columns):
        factor = _rotate(closed.features(j), closed.left, shrinkage, embedding.tol)
        if factor.error > embedding.tol:
            factor = _adapt(block[position], embedding, shrinkage, share)
        factors[position] = factor
    for position in others:
        factors[position] = _adapt(block[position], embedding, shrinkage, share)
    return factors


def _adapt(column: FloatArray, embedding: Embedding, shrinkage: Shrinkage, share: float) -> Factor:
    """Factor a prepared column by explicit rows, tighter than usual if it needs that."""
    factor = _rotate(*embedding.rows(column, share), shrinkage, embedding.tol)
    if factor.error > embedding.tol:
        share = 0.25 * embedding.tol * factor.norm / (shrinkage.lipschitz * column.size)
        factor = _rotate(*embedding.rows(column, share), shrinkage, embedding.tol)
    return factor


def _rotate(phi: FloatArray, left: float, shrinkage: Shrinkage, tol: float) -> Factor:
    """Turn the features of a column to orthogonal rows and drop what is below `tol`.

    The features are centred in place.
    """
    phi -= phi.mean(axis=1, keepdims=True)
    eigenvalues, vectors = np.linalg.eigh(phi @ phi.T)
    eigenvalues = np.maximum(eigenvalues[::-1], 0.0)
    mapped = shrinkage(eigenvalues)
    # tails[r] is the norm of what rank r leaves out
    tails = np.sqrt(np.append(np.cumsum(mapped[::-1] ** 2)[::-1], 0.0))
    rank = int(np.argmax(tails <= 0.5 * tol * tails[0]))
    scale = np.sqrt(mapped[:rank] / eigenvalues[:rank])
    rows = (vectors[:, ::-1][:, :rank] * scale).T @ phi
    error = (left * shrinkage.lipschitz + tails[rank]) / tails[0]
    return Factor(rows, mapped[:rank], float(error))
