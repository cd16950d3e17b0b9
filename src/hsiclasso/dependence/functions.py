r"""Features as sums of functions: the rows of each, and a pass that compares them with a residual.

The functions of feature k are the rows of the factor of
:math:`\bar K_k(\bar K_k + \epsilon n I)^{-1}`, the matrix of NOCCO. They are orthogonal and no
longer than 1. The squared norm of their products with the rows of a residual R is the relevance of
the feature for the target :math:`R^\top R`: the pass over the table finds it.
"""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.dependence.budget import Budget
from hsiclasso.dependence.features import Features
from hsiclasso.dependence.products import FactorProducts, ScaledColumns
from hsiclasso.dependence.relate import Progress, scan
from hsiclasso.dependence.relevance import RelevancePass
from hsiclasso.dependence.running import Runner, Threads
from hsiclasso.kernels import NOCCO, Factor
from hsiclasso.targets.matrix import FactoredTarget
from hsiclasso.targets.split import dense_rows

__all__ = ["FeatureFunctions"]


class FeatureFunctions:
    """The functions of the features of a table, and a target of several rows.

    Parameters
    ----------
    features : Features
        The table, with the kernels of its features.
    target : ndarray of shape (p, n)
        Rows of the target on the same samples, weighted and projected as those of a factor are.
    epsilon : float
        How smooth the functions are: see `NOCCO`.
    runner : Runner, optional
        Runs the blocks of a pass; by default threads.
    budget : Budget, optional
        Memory and threads that may be used.
    progress : callable, optional
        Called after every block of a pass.
    """

    def __init__(
        self,
        features: Features,
        target: FloatArray,
        epsilon: float,
        *,
        runner: Runner | None = None,
        budget: Budget | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.target = target
        self.n_features = features.n_features
        self._features = features
        self._measure = NOCCO(epsilon).check()
        self._budget = budget or Budget()
        self._runner = runner or Threads(self._budget.n_threads)
        self._progress = progress
        self._n_passes = 0
        columns = ScaledColumns(features, self._budget)
        self._products = FactorProducts(columns, self._measure, self._budget.n_threads)

    def factors(self, features: IntArray) -> list[FloatArray]:
        """Return the rows (r, n) of some features."""
        matrices = self._products.matrices(features)
        # NOCCO gives kernels with recursions a factor too
        return [matrix.rows for matrix in matrices if isinstance(matrix, Factor)]

    def correlations(self, residual: FloatArray) -> FloatArray:
        """Return the norm of the products of each feature's rows with those of a residual: (d,)."""
        self._n_passes += 1
        target = FactoredTarget(dense_rows(residual), np.ones(len(residual)), np.nan)
        work = RelevancePass(self._features, target, self._measure)
        stage = f"correlation {self._n_passes}"
        found, _ = scan(work, self._runner, self._progress, stage, 0, self._budget)
        return np.asarray(np.sqrt(np.maximum(found.result.relevance[:, 0], 0.0)))
