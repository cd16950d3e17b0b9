r"""The quadratic problem of Gram matrices that are not centred.

A matrix K with row means m is, with their mean s and :math:`\tilde m = m - s 1`,

.. math:: K = \bar K + \tilde m 1^\top + 1 \tilde m^\top + s\, 1 1^\top, \qquad
    \langle K, L\rangle = \langle \bar K, \bar L\rangle + 2 n\, \tilde m^\top \tilde l + n^2 s t

for L with the means :math:`\tilde l` and t. So the inner products of the vectors
:math:`(\sqrt{2n}\, \tilde m,\; n s)` are added to those of the centred matrices.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.parts import for_parts
from hsiclasso.dependence import Problem
from hsiclasso.kernels import Kernel
from hsiclasso.kernels.recursions import laplace_product
from hsiclasso.targets import Links, Similarity, TargetData, Values
from hsiclasso.targets.graph import GraphOperator

__all__ = ["UncentredProblem"]

#: Columns whose means are computed together.
_STEP = 64


class UncentredProblem:
    """The quadratic problem of Gram matrices as they are, from that of the centred ones."""

    def __init__(self, problem: Problem, target: TargetData, *, n_threads: int) -> None:
        features = problem.features
        n, d, error = features.n_samples, features.n_features, features.gram_error
        self._problem = problem
        self._means = np.empty((d, n + 1))

        def fill(part: slice) -> None:
            some = features.scaled(np.arange(d)[part])
            means = [
                _row_means(one.z, one.kernel, 0.1 * error) if one.varies else np.zeros(n)
                for one in some
            ]
            self._means[part] = _vectors(np.array(means))

        for_parts(fill, d, _STEP, n_threads)
        (mean,) = _vectors(_target_means(target, n, 0.01 * error)[None])
        self.linear: FloatArray = problem.linear + self._means @ mean
        self.target_norm2 = float(problem.target_norm2 + mean @ mean)

    def diagonal(self, rows: IntArray) -> FloatArray:
        """Return the squared Frobenius norms of the matrices of some features."""
        return np.asarray(self._problem.diagonal(rows) + np.square(self._means[rows]).sum(axis=1))

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the inner products of the matrices of features `rows` and `cols`."""
        return np.asarray(self._problem.block(rows, cols) + self._means[rows] @ self._means[cols].T)


def _target_means(data: TargetData, n: int, left: float) -> FloatArray:
    """Row means of the matrix of a target, up to a share of its trace."""
    if isinstance(data, Links):
        operator = GraphOperator(sparse.csr_array(data.adjacency), data.kernel)
        return operator.product(np.full((n, 1), 1 / n))[:, 0]
    if isinstance(data, Similarity):
        return np.asarray(data.values @ np.full(n, 1 / n))
    # functions of two objects are evaluated by now, and censored times are not served
    assert isinstance(data, Values)
    parts = data.scaled(np.ones((1, n)))
    means = [_row_means(z, data.kernel, left) for z in parts if np.ptp(z)]
    return np.asarray(np.sum(means, axis=0) / len(parts))


def _row_means(z: FloatArray, kernel: Kernel, left: float) -> FloatArray:
    """Row means of the Gram matrix of scaled columns (q, n), up to a share of its trace."""
    n = z.shape[1]
    if kernel.has_recursion:
        return np.asarray(laplace_product(z[0], np.full((1, n), 1 / n))[0])
    rows, _ = kernel.rows(z, left * n, np.ones(n))
    return np.asarray(rows.mean(axis=1) @ rows)


def _vectors(means: FloatArray) -> FloatArray:
    """Return vectors (k, n + 1) whose inner products are those that centring removes."""
    n = means.shape[1]
    whole = means.mean(axis=1, keepdims=True)
    return np.hstack([np.sqrt(2 * n) * (means - whole), n * whole])
