"""The kernel measures of the package, as the methods of the comparison use them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.base import Job
from hsiclasso.baselines.dependency import MeasureOptions
from hsiclasso.dependence import (
    DependenceProblem,
    Measure,
    make_measure,
    make_target,
    scan_relevance,
)
from hsiclasso.embedding import Features, Samples
from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors.features import FeatureOptions
from hsiclasso.selectors.targets import PreparedTarget

__all__ = ["KernelDependency", "KernelRelations", "relate_features", "relate_kernel"]


@dataclass(frozen=True)
class KernelRelations:
    """Matrices of features and target, and their inner products on demand.

    Attributes
    ----------
    features : Features
    problem : DependenceProblem
        Relevance and redundancy of the features.
    """

    features: Features
    problem: DependenceProblem


def relate_features(
    job: Job,
    prepared: PreparedTarget,
    options: FeatureOptions,
    measure: Measure,
    *,
    n_threads: int,
) -> KernelRelations:
    """Give features and target their kernels, and measure the relevance of every feature.

    Parameters
    ----------
    job : Job
    prepared : PreparedTarget
        The target, as `job` has read it.
    options : FeatureOptions
        Kernels of the features.
    measure : Measure
    n_threads : int

    Returns
    -------
    KernelRelations
    """
    features = options.resolve(job.source, Samples(job.n_samples))
    target = make_target(
        prepared.data, measure, features.samples, tol=features.tol, n_features=job.n_features
    )
    if not target.norm2 > 0:
        raise InvalidInputError(
            "Nothing of the target is left after centring: nothing can depend on it."
        )
    scan = scan_relevance(features, target, measure, n_threads=n_threads, progress=job.report)
    problem = DependenceProblem(features, scan, measure, n_threads=n_threads)
    return KernelRelations(features, problem)


def relate_kernel(job: Job, options: MeasureOptions, n_threads: int) -> KernelDependency:
    """Measure the dependence of every feature on the target by HSIC, normalised HSIC or NOCCO.

    Parameters
    ----------
    job : Job
    options : MeasureOptions
    n_threads : int

    Returns
    -------
    KernelDependency
    """
    prepared = job.target(options.target)
    kernels = FeatureOptions(width=1.0 if options.width is None else options.width)
    relations = relate_features(
        job, prepared, kernels, make_measure(options.measure), n_threads=n_threads
    )
    return KernelDependency(relations, prepared.task)


class KernelDependency:
    r"""Kernel dependence :math:`\langle A, A'\rangle` of features on the target and each other.

    It is never negative, except with a target whose affinities are indefinite: a negative
    relevance counts as none.

    Parameters
    ----------
    relations : KernelRelations
    task : str
        Kind of the target.
    """

    def __init__(self, relations: KernelRelations, task: str) -> None:
        self.task = task
        self.relevance: FloatArray = np.maximum(relations.problem.linear, 0.0)
        self._problem = relations.problem

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the dependence of features `rows` on features `cols`."""
        return np.maximum(self._problem.inner_products(rows, cols), 0.0)
