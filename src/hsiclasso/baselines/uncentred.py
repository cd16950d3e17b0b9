r"""The quadratic problem of Gram matrices that are not centred.

A matrix K with row means m is, with their mean s and :math:`\tilde m = m - s 1`,

.. math:: K = \bar K + \tilde m 1^\top + 1 \tilde m^\top + s\, 1 1^\top, \qquad
    \langle K, L\rangle = \langle \bar K, \bar L\rangle + 2 n\, \tilde m^\top \tilde l + n^2 s t

for L with the means :math:`\tilde l` and t: to the inner products of centred matrices are added
those of the vectors :math:`(\sqrt{2n}\, \tilde m,\; n s)`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.dependence import Affinity, Censored, Graph, Pairwise, TargetData, Values
from hsiclasso.dependence.graphs import GraphOperator
from hsiclasso.dependence.pairwise import pairwise_gram
from hsiclasso.dependence.threads import run_threaded
from hsiclasso.embedding import Embedding, Features, Kernel, Laplace, vector_rows
from hsiclasso.embedding.laplace import laplace_product
from hsiclasso.selectors.targets import PreparedTarget
from hsiclasso.solvers import QuadraticProblem

__all__ = ["UncentredProblem", "evaluated"]

#: Columns whose means are computed together.
_STEP = 64


def evaluated(prepared: PreparedTarget) -> PreparedTarget:
    """Evaluate a function of two samples on all pairs, once and for all."""
    data = prepared.data
    if not isinstance(data, Pairwise):
        return prepared
    return replace(prepared, data=Affinity(pairwise_gram(data.items, data.function)))


class UncentredProblem:
    """A problem of centred Gram matrices, turned to that of the matrices as they are.

    Parameters
    ----------
    problem : QuadraticProblem
        That of the centred matrices.
    features : Features
        The features it is about.
    target : TargetData
        The target it is about.
    n_threads : int
    """

    def __init__(
        self, problem: QuadraticProblem, features: Features, target: TargetData, *, n_threads: int
    ) -> None:
        tol = features.tol
        self._problem = problem
        self._means = np.empty((features.n_features, features.n_samples + 1))

        def fill(part: slice) -> int:
            self._fill(features, np.arange(features.n_features)[part])
            return 0

        starts = range(0, features.n_features, _STEP)
        run_threaded(fill, [slice(start, start + _STEP) for start in starts], n_threads)
        mean = _vector(_target_means(target, features.n_samples, tol))
        self.linear: FloatArray = problem.linear + self._means @ mean
        self.target_norm2 = float(problem.target_norm2 + mean @ mean)

    def diagonal(self, rows: IntArray) -> FloatArray:
        """Return the squared Frobenius norms of the matrices of some features."""
        return np.asarray(self._problem.diagonal(rows) + np.square(self._means[rows]).sum(axis=1))

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the inner products of the matrices of features `rows` and `cols`."""
        return np.asarray(self._problem.block(rows, cols) + self._means[rows] @ self._means[cols].T)

    def _fill(self, features: Features, columns: IntArray) -> None:
        for embedding, places in features.by_embedding(columns):
            some = columns[places]
            for column, values in zip(some, features.source.block(some).T, strict=True):
                self._means[column] = _vector(_row_means(values, embedding))


def _vector(means: FloatArray) -> FloatArray:
    """Vector whose inner products are what centring takes away."""
    n = means.size
    whole = float(means.mean())
    return np.append(np.sqrt(2 * n) * (means - whole), n * whole)


def _row_means(values: FloatArray, embedding: Embedding) -> FloatArray:
    """Row means of the Gram matrix of a column; zeros if it does not vary."""
    n = values.size
    if isinstance(embedding.kernel, Laplace):
        scaled = values[None].copy()
        _, varying = embedding.prepare(scaled, 0.0)
        return np.asarray(laplace_product(scaled[0], np.full((1, n), varying.size / n))[0])
    rows, _ = embedding.expand(values, 0.1 * embedding.tol)
    return np.asarray(rows.mean(axis=1) @ rows)


def _target_means(data: TargetData, n: int, tol: float) -> FloatArray:
    """Row means of the matrix of a target."""
    if isinstance(data, Values):
        return _output_means(data, data.kernel, tol)
    if isinstance(data, Graph):
        operator = GraphOperator(sparse.csr_array(data.adjacency), data.kernel)
        return operator.product(np.full((n, 1), 1 / n))[:, 0]
    # functions of two samples are evaluated, and censored times not served
    assert not isinstance(data, Censored | Pairwise)
    return np.asarray(data.matrix @ np.full(n, 1 / n))


def _output_means(data: Values, kernel: Kernel, tol: float) -> FloatArray:
    if data.averaged or len(data.values) == 1:
        # the target's matrix is made tighter than those of features
        embedding = Embedding(kernel, max(0.1 * tol, 1e-12))
        return np.asarray(
            np.mean([_row_means(values, embedding) for values in data.values], axis=0)
        )
    rows, _ = vector_rows(data.values, kernel, 0.01 * tol)
    return np.asarray(rows.mean(axis=1) @ rows)
