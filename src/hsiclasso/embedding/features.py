"""A table as features: which columns make each, under which kernel, on which samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.data import Source
from hsiclasso.embedding.expand import Embedding
from hsiclasso.embedding.factor import Factor, empty_factor, factor_columns, factor_vectors
from hsiclasso.embedding.kernels import Laplace
from hsiclasso.embedding.markov import LaplaceMatrix, laplace_matrix
from hsiclasso.embedding.samples import Samples

__all__ = ["Features", "Matrix"]

#: The matrix of a feature.
Matrix = Factor | LaplaceMatrix


@dataclass(frozen=True)
class Features:
    """The features of a table: one for each column, or one for several columns.

    A feature of several columns takes the place of its first; the other columns are then no
    features of their own.

    Attributes
    ----------
    source : Source
        The table.
    embeddings : tuple of Embedding
        The embeddings that occur.
    samples : Samples
        Weights of the samples, and what is removed from every feature.
    which : ndarray of shape (d,) or None
        Number of the embedding of each feature; None if all have the first.
    joint : mapping of int to (str, ndarray of int)
        Names and columns of features of several columns, by the first.
    least_observed : int
        Samples on which a feature must be observed to count; 0 if nothing is missing.
    """

    source: Source
    embeddings: tuple[Embedding, ...]
    samples: Samples
    which: IntArray | None = None
    joint: Mapping[int, tuple[str, IntArray]] = field(default_factory=dict)
    least_observed: int = 0

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.source.n_samples

    @property
    def n_features(self) -> int:
        """Number of columns, each a feature or part of one."""
        return self.source.n_features

    @property
    def tol(self) -> float:
        """Relative error allowed to each feature."""
        return self.embeddings[0].tol

    @property
    def absorbed(self) -> IntArray:
        """Columns that are part of a feature but not its first."""
        parts = [columns[1:] for _, columns in self.joint.values()]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    def name(self, feature: int) -> str:
        """Name of one feature."""
        return self.joint[feature][0] if feature in self.joint else self.source.name(feature)

    def columns_of(self, feature: int) -> IntArray:
        """Columns of one feature."""
        return self.joint[feature][1] if feature in self.joint else np.array([feature])

    def embedding(self, feature: int) -> Embedding:
        """Embedding of one feature."""
        return self.embeddings[0 if self.which is None else int(self.which[feature])]

    def by_embedding(self, features: IntArray) -> Iterator[tuple[Embedding, IntArray]]:
        """Yield the embeddings of some features, each with the positions of its features."""
        if self.which is None or len(self.embeddings) == 1:
            yield self.embeddings[0], np.arange(features.size)
            return
        numbers = self.which[features]
        for number in np.unique(numbers):
            yield self.embeddings[number], np.flatnonzero(numbers == number)

    def vectors(self, feature: int) -> FloatArray:
        """Return the columns of a feature of several as an array of shape (q, n)."""
        return self.source.block(self.columns_of(feature)).T

    def observed(self, block: FloatArray) -> BoolArray | None:
        """Tell where the rows of a (k, n) block are not missing; None if they never are."""
        if not self.least_observed:
            return None
        known = ~np.isnan(block)
        return None if known.all() else known

    def matrices(self, features: IntArray, epsilon: float) -> list[Matrix]:
        """Make the matrices of some features, with eigenvalues shrunk if `epsilon` is not 0.

        Those of Laplace kernels are then factors of full rank.
        """
        made: list[Matrix] = [empty_factor(self.n_samples)] * features.size
        alone = np.flatnonzero(~np.isin(features, list(self.joint)))
        for embedding, places in self.by_embedding(features[alone]):
            positions = alone[places]
            block = self.source.block(features[positions]).T
            found = self._columns(block, embedding, epsilon)
            for place, matrix in zip(positions, found, strict=True):
                made[place] = matrix
        for place in np.setdiff1d(np.arange(features.size), alone):
            feature = int(features[place])
            made[place] = self._vectors(self.vectors(feature), self.embedding(feature), epsilon)
        return made

    def _columns(self, block: FloatArray, embedding: Embedding, epsilon: float) -> list[Matrix]:
        known = self.observed(block)
        if known is None:
            return complete_columns(block, embedding, self.samples, epsilon)
        whole = np.all(known, axis=1)
        made = iter(complete_columns(block[whole], embedding, self.samples, epsilon))
        return [
            next(made) if complete else self._incomplete(column[None], seen, embedding, epsilon)
            for complete, column, seen in zip(whole, block, known, strict=True)
        ]

    def _vectors(self, vectors: FloatArray, embedding: Embedding, epsilon: float) -> Matrix:
        known = self.observed(vectors)
        if known is None:
            return factor_vectors(vectors, embedding, self.samples, epsilon)
        # a vector with a missing entry is missing
        return self._incomplete(vectors, np.all(known, axis=0), embedding, epsilon)

    def _incomplete(
        self, values: FloatArray, seen: BoolArray, embedding: Embedding, epsilon: float
    ) -> Matrix:
        """Make the matrix of a feature, (q, n), that is observed on some samples only."""
        if np.count_nonzero(seen) < self.least_observed:
            return empty_factor(seen.size)
        samples = self.samples.restrict(seen)
        share = samples.total / self.samples.total
        embedding = embedding.on_observed(share)
        if len(values) > 1:
            return factor_vectors(values[:, seen], embedding, samples, epsilon).spread(seen, share)
        (matrix,) = complete_columns(values[:, seen], embedding, samples, epsilon)
        if isinstance(matrix, LaplaceMatrix):
            return laplace_matrix(matrix.z, samples, seen, share)
        return matrix.spread(seen, share)


def complete_columns(
    block: FloatArray, embedding: Embedding, samples: Samples, epsilon: float
) -> list[Matrix]:
    """Make the matrices of columns (k, n) without missing values; overwrites them."""
    if not isinstance(embedding.kernel, Laplace) or epsilon:
        return list(factor_columns(block, embedding, samples, epsilon))
    _, others = embedding.prepare(block, 0.0, samples.weights)
    made: list[Matrix] = [empty_factor(samples.n)] * len(block)
    for j in others:
        matrix = laplace_matrix(block[j], samples)
        if matrix.norm > 0:
            made[j] = matrix
    return made
