r"""Features as sums of functions: the rows of each, and a pass that compares them with a residual.

The functions of feature k are the rows of the factor of
:math:`\bar K_k(\bar K_k + \epsilon n I)^{-1}`, the matrix of NOCCO. They are orthogonal and no
longer than 1. The squared norm of their products with the rows of a residual R is the relevance of
the feature for the target :math:`R^\top R`: the pass over the table finds it.
"""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data.fingerprint import hash_of
from hsiclasso.dependence.products import FactorProducts
from hsiclasso.dependence.relate import Problem, Progress
from hsiclasso.dependence.running import Threads
from hsiclasso.kernels import Factor
from hsiclasso.targets.matrix import FactoredTarget
from hsiclasso.targets.split import dense_rows

__all__ = ["FeatureFunctions"]

#: Number of samples from which rows of many features would take too much memory.
_LONG = 5000
#: Features whose rows are made at once.
_AT_ONCE = 16


class FeatureFunctions:
    """The functions of the features of a table, and a target of several rows.

    Parameters
    ----------
    problem : Problem
        The features related to the target, with NOCCO as measure.
    target : ndarray of shape (p, n)
        Rows of the same target, weighted and projected as those of a factor are.
    progress : callable, optional
        Called after every block of a pass.
    """

    def __init__(
        self, problem: Problem, target: FloatArray, progress: Progress | None = None
    ) -> None:
        self.target = target
        self.n_features = problem.features.n_features
        self._problem = problem
        self._progress = progress
        n_threads = problem.columns.budget.n_threads
        self._products = FactorProducts(problem.columns, problem.measure, n_threads, sparse=False)
        self._threads = Threads(n_threads)

    def factors(self, features: IntArray) -> list[FloatArray]:
        """Return the rows (r, n) of some features."""
        return [matrix.rows for matrix in self.matrices(features)]

    def matrices(self, features: IntArray) -> list[Factor]:
        """Return the factors of the matrices of some features."""
        matrices = self._products.matrices(features)
        # NOCCO gives kernels with recursions a factor too
        return [matrix for matrix in matrices if isinstance(matrix, Factor)]

    def correlations(self, residual: FloatArray, some: IntArray | None = None) -> FloatArray:
        """Return the norm of the products of each feature's rows with those of a residual: (d,).

        If `some` features are given, the norms of these only: from their rows or, with many
        samples, by relating their columns again, because long rows take too much memory.
        """
        squares, features = self._problem.relevance, self._problem.features
        plain = not (features.joint or features.interactions or features.least_observed)
        plain &= len(features.kernels) == 1
        if some is not None and (residual.shape[1] < _LONG or not plain):
            squares = self._squares(residual, some)
        elif some is not None:
            squares = self._problem.relate_some(_target(residual), some)
        elif residual is not self.target:
            # other options may lead to another residual: a checkpoint tells them apart
            stage = f"correlation with {hash_of(residual)}"
            squares = self._problem.scan(_target(residual), stage, self._progress)
            pairs = np.arange(features.n_single, features.n_features)
            squares = np.append(squares, self._squares(residual, pairs))
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))

    def _squares(self, residual: FloatArray, some: IntArray) -> FloatArray:
        """Return the same for some features, squared, by their rows."""

        def energies(part: IntArray) -> list[float]:
            return [float(np.square(rows @ residual.T).sum()) for rows in self.factors(part)]

        parts = np.split(some, range(_AT_ONCE, some.size, _AT_ONCE))
        return np.concatenate([np.array(found) for found in self._threads.map(energies, parts)])


def _target(residual: FloatArray) -> FactoredTarget:
    """Return the rows of a residual as the target of a pass."""
    return FactoredTarget(dense_rows(residual), np.ones(len(residual)), np.nan)
