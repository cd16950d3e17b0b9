"""Dependences between features and the target by kernels, and the Gram matrix of a target."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.job import Job
from hsiclasso.dependence import Problem, relate
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import HSIC, Measure, Samples, as_measure
from hsiclasso.kernels.samples import NEGLIGIBLE
from hsiclasso.selectors.features import resolve_features
from hsiclasso.targets import (
    Censored,
    FactoredTarget,
    Links,
    Pairwise,
    Similarity,
    TargetData,
    Values,
)
from hsiclasso.targets.graph import GraphOperator, graph_gram
from hsiclasso.targets.matrix import DENSE
from hsiclasso.targets.objects import pairwise_gram

__all__ = ["NOTHING_LEFT", "KernelDependency", "centre_target", "relate_features", "target_gram"]

#: The error of a target that does not vary.
NOTHING_LEFT = "Nothing of the target is left after centring: nothing can depend on it."
#: The measure that takes the values of a target as they are.
_PLAIN = HSIC()
#: Relative error of the features' matrices.
_GRAM_ERROR = 1e-6
#: Relative error of the matrix of censored times.
_TARGET_ERROR = 1e-9
#: Rows of the target's matrix that are computed together.
_ROWS = 256


def relate_features(job: Job, kernel: Any, measure: Measure, gram_error: float) -> Problem:
    """Give the features their kernels, and measure the relevance of every feature.

    `kernel` is as in `HSICLasso`; `gram_error` bounds the relative error of each Gram matrix.
    """
    features = resolve_features(
        job.source,
        Samples(job.source.n_samples),
        kernel=kernel,
        joint=None,
        covariates=np.zeros(0, dtype=np.int64),
        missing=None,
        gram_error=gram_error,
    )
    target = job.target.data.matrix(
        measure, features.samples, error=gram_error, n_features=features.n_features
    )
    if not target.norm2 > 0:
        raise InvalidInputError(NOTHING_LEFT)
    return relate(features, target, measure, n_threads=job.n_threads, progress=job.report)


class KernelDependency:
    r"""Kernel dependence :math:`\langle A, A'\rangle` of features on the target and each other.

    The measure is HSIC, normalised HSIC or NOCCO. It is never negative, except with a target whose
    affinities are indefinite: a negative relevance counts as 0.
    """

    def __init__(self, job: Job, measure: str, kernel: Any) -> None:
        self._problem = relate_features(job, kernel, as_measure(measure), _GRAM_ERROR)
        self.relevance: FloatArray = np.maximum(self._problem.linear, 0.0)

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the dependence of features `rows` on features `cols`."""
        return np.maximum(self._problem.inner_products(rows, cols), 0.0)


def target_gram(data: TargetData, n: int, measure: Measure = _PLAIN) -> FloatArray:
    """Return a new array (n, n): the Gram matrix of a target.

    That of censored times is known only after centring. The measure decides how a real target is
    transformed if the user leaves it open.
    """
    if isinstance(data, Values):
        return _values_gram(data, n, measure)
    if isinstance(data, Pairwise):
        return pairwise_gram(data.items, data.function)
    if isinstance(data, Links):
        if n <= DENSE or not sparse.issparse(data.adjacency):
            return graph_gram(data.adjacency, data.kernel)
        return GraphOperator(data.adjacency, data.kernel).product(np.eye(n))
    if isinstance(data, Similarity):
        return np.array(data.values.toarray() if sparse.issparse(data.values) else data.values)
    assert isinstance(data, Censored)
    target = data.matrix(measure, Samples(n), error=_TARGET_ERROR, n_features=1)
    assert isinstance(target, FactoredTarget)
    rows, signs = target.whole
    return np.asarray((rows * signs[:, None]).T @ rows)


def centre_target(gram: FloatArray) -> None:
    """Centre the Gram matrix of a target in place; raise if nothing is left of it."""
    size = float(np.linalg.norm(gram))
    gram -= gram.mean(axis=0)
    gram -= gram.mean(axis=1)[:, None]
    if np.linalg.norm(gram) <= NEGLIGIBLE * size:
        raise InvalidInputError(NOTHING_LEFT)


def _values_gram(data: Values, n: int, measure: Measure) -> FloatArray:
    """Gram matrix of values; the mean over outputs that have a kernel each."""
    gram, parts = np.zeros((n, n)), data.scaled(np.ones((1, n)), measure)
    for z in parts:
        kernel = data.kernel.learnt(z, np.ones(n))
        for start in range(0, n, _ROWS):
            rows = slice(start, start + _ROWS)
            gram[rows] += kernel.between(z[:, rows], z) / len(parts)
    return gram
