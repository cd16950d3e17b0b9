"""Kernel target alignment: weights that bring a sum of kernels close to that of the target."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.base import ANY_TARGET, Baseline, Choice, Job, Traits
from hsiclasso.baselines.kernel import relate_features
from hsiclasso.baselines.uncentred import UncentredProblem, evaluated
from hsiclasso.dependence import Measure, make_measure
from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors.features import FeatureOptions
from hsiclasso.selectors.targets import MultiOutput, PreparedTarget, Task
from hsiclasso.solvers import Certificate, Path, Penalty, QuadraticProblem, Status, Stop, solve_path

__all__ = ["CKTA", "KTA"]

Method = Literal["alignf", "align"]

_HSIC: Measure = make_measure("hsic")


class _Alignment(Baseline):
    """What both alignments share: everything but the matrices."""

    certificate_: Certificate | None

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        method: Method = "alignf",
        x_kernel: Any = "auto",
        x_width: Any = 1.0,
        task: Task = "auto",
        y_kernel: Any = "auto",
        y_width: Any = 1.0,
        y_transform: Literal["rank"] | None = None,
        multioutput: MultiOutput = "auto",
        tol: float = 1e-6,
        n_jobs: int | None = -1,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.method = method
        self.x_kernel = x_kernel
        self.x_width = x_width
        self.task = task
        self.y_kernel = y_kernel
        self.y_width = y_width
        self.y_transform = y_transform
        self.multioutput = multioutput
        self.tol = tol
        self.n_jobs = n_jobs

    def _feature_options(self) -> FeatureOptions:
        return FeatureOptions(self.x_kernel, self.x_width, tol=self.tol)

    def _check(self) -> None:
        if self.method not in get_args(Method):
            raise InvalidInputError(
                f"method={self.method!r} is unknown: choose 'alignf' (weights that belong "
                "together) or 'align' (each for itself)."
            )
        self._feature_options()
        self._target_options()

    def _problem(self, job: Job, prepared: PreparedTarget) -> QuadraticProblem:
        """Inner products of the matrices of features and target."""
        raise NotImplementedError

    def _takes_labels(self) -> bool:
        return True

    def _choose(self, job: Job) -> Choice:
        prepared = job.target(self._target_options())
        problem = self._problem(job, prepared)
        self.certificate_ = None
        message = ""
        if self.method == "alignf":
            path = solve_path(
                problem,
                Penalty.lasso(job.n_features),
                Stop(alpha=0.0),
                report=lambda size: job.report("path", size, job.n_features),
            )
            self.certificate_ = path.certificate
            self.coef_ = path.coefficients()
            message = _sentence(path)
        self.alignment_ = _alignment(problem)
        if self.method == "align":
            self.coef_ = self.alignment_.copy()
        scores = self.coef_ / (np.linalg.norm(self.coef_) or 1.0)
        order = np.lexsort((-self.alignment_, -scores))
        order = order[(scores[order] > 0) & job.varies[order]]
        return Choice(order[: job.n_wanted], scores, prepared.task, self.alignment_, message)


class CKTA(_Alignment):
    r"""Feature selection by centred kernel target alignment (cKTA).

    The weighted sum of the centred Gram matrices of the columns that is closest in direction to
    that of the target,

    .. math:: \max_{a \ge 0}\;
        \frac{\langle \sum_k a_k \bar K^{(k)}, \bar L\rangle}
             {\|\sum_k a_k \bar K^{(k)}\|_F\, \|\bar L\|_F},
        \qquad\text{found by}\quad
        \min_{a \ge 0} \tfrac12 \Big\|\bar L - \sum_k a_k \bar K^{(k)}\Big\|_F^2

    up to the length of a. This is `HSICLasso` without penalty, and is solved by its homotopy
    with the same certificate. Where the matrices depend linearly on each other, as they do if
    there are more than n (n + 1) / 2 columns, it is the limit of the HSIC Lasso as the penalty
    goes to 0. The weight :math:`\gamma` that the paper puts on the second of the terms
    :math:`\tfrac{1-\gamma}2 a^\top G a - \gamma\, b^\top a` scales the solution by
    :math:`\gamma/(1-\gamma)` and changes no ranking: there is no such parameter.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features; ten by default, or all if there are fewer. Those of the largest
        weights are taken; if too few are positive, those of the largest alignment are added.
    method : {"alignf", "align"}
        ``"alignf"`` solves the problem above; ``"align"`` gives every column its own alignment
        :math:`\langle \bar K^{(k)}, \bar L\rangle / (\|\bar K^{(k)}\|_F \|\bar L\|_F)` as its
        weight.
    x_kernel : str, kernel object or mapping
        Kernel of the features, as in `HSICLasso`.
    x_width : float, "median" or tuple
        Width of kernels given by name, in standard deviations.
    task, y_kernel, y_width, y_transform, multioutput
        How the target is understood, as in `HSICLasso`; any target is served.
    tol : float
        Relative error of a feature's Gram matrix.
    n_jobs : int, optional
        Threads; -1 takes all cores.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The weights, scaled to Euclidean norm 1.
    coef_ : ndarray of shape (n_features,)
        The weights as they are: the least-squares solution a; with ``"align"`` the alignments.
    alignment_ : ndarray of shape (n_features,)
        Alignment of every column by itself, which ranks columns of equal weight.
    certificate_ : Certificate or None
        Optimality of the least-squares solution.
    ranking_, selected_, result_
        Places of all features; columns selected, best first; the same with names.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Cortes, Mohri and Rostamizadeh (2012). Algorithms for learning kernels based on centered
    alignment. JMLR 13.

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> from hsiclasso.baselines import CKTA
    >>> X, y, causal = make_data1(300, 50, random_state=0)
    >>> selector = CKTA(4).fit(X, y)
    >>> set(selector.selected_) == set(causal)
    True
    >>> selector.certificate_.duality_gap < 1e-8
    True
    """

    traits: ClassVar[Traits] = Traits(
        title="cKTA",
        dependency="non-linear",
        optimization="convex",
        form="dual",
        scalability="medium",
        tasks=ANY_TARGET,
        cost="n r^2 d m",
    )

    def _problem(self, job: Job, prepared: PreparedTarget) -> QuadraticProblem:
        n_threads = effective_n_jobs(self.n_jobs)
        relations = relate_features(
            job, prepared, self._feature_options(), _HSIC, n_threads=n_threads
        )
        return relations.problem


class KTA(_Alignment):
    r"""Feature selection by kernel target alignment (KTA), without centring.

    As `CKTA`, with the Gram matrices as they are,

    .. math:: \min_{a \ge 0} \tfrac12 \Big\|L - \sum_k a_k K^{(k)}\Big\|_F^2 .

    All kernels that are positive have much in common before they are centred, their mean: that
    makes alignments large whatever the column, and is why centring is preferred (Cortes et al.,
    2012). The means of all columns take as much memory as the table in double precision.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features; ten by default, or all if there are fewer. Those of the largest
        weights are taken; if too few are positive, those of the largest alignment are added.
    method : {"alignf", "align"}
        ``"alignf"`` solves the problem above; ``"align"`` gives every column its own alignment
        :math:`\langle K^{(k)}, L\rangle / (\|K^{(k)}\|_F \|L\|_F)` as its weight.
    x_kernel : str, kernel object or mapping
        Kernel of the features, as in `HSICLasso`.
    x_width : float, "median" or tuple
        Width of kernels given by name, in standard deviations.
    task, y_kernel, y_width, y_transform, multioutput
        How the target is understood, as in `HSICLasso`. Censored times have no matrix before it
        is centred.
    tol : float
        Relative error of a feature's Gram matrix.
    n_jobs : int, optional
        Threads; -1 takes all cores.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The weights, scaled to Euclidean norm 1.
    coef_ : ndarray of shape (n_features,)
        The weights as they are: the least-squares solution a; with ``"align"`` the alignments.
    alignment_ : ndarray of shape (n_features,)
        Alignment of every column by itself, which ranks columns of equal weight.
    certificate_ : Certificate or None
        Optimality of the least-squares solution.
    ranking_, selected_, result_
        Places of all features; columns selected, best first; the same with names.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Cristianini, Shawe-Taylor, Elisseeff and Kandola (2001). On kernel-target alignment. NIPS 14.

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> from hsiclasso.baselines import KTA
    >>> X, y, causal = make_data1(300, 50, random_state=0)
    >>> set(KTA(4).fit(X, y).selected_) == set(causal)
    True
    """

    traits: ClassVar[Traits] = Traits(
        title="KTA",
        dependency="non-linear",
        optimization="convex",
        form="dual",
        scalability="medium",
        tasks=tuple(task for task in ANY_TARGET if task != "survival"),
        cost="n r^2 d m",
    )

    def _problem(self, job: Job, prepared: PreparedTarget) -> QuadraticProblem:
        n_threads = effective_n_jobs(self.n_jobs)
        prepared = evaluated(prepared)
        relations = relate_features(
            job, prepared, self._feature_options(), _HSIC, n_threads=n_threads
        )
        return UncentredProblem(
            relations.problem, relations.features, prepared.data, n_threads=n_threads
        )


def _alignment(problem: QuadraticProblem) -> FloatArray:
    """Cosine between the matrix of each column and that of the target; 0 for a zero matrix."""
    features: IntArray = np.arange(problem.linear.size)
    norms = np.sqrt(problem.diagonal(features) * problem.target_norm2)
    return np.divide(problem.linear, norms, out=np.zeros_like(norms), where=norms > 0)


def _sentence(path: Path) -> str:
    """Say what came of least squares; warn if rounding errors were in the way."""
    positive = path.breakpoints[-1].indices.size
    certificate = path.certificate
    message = (
        f"Least squares gives {positive} of {path.n_features} kernels a positive weight, with a "
        f"duality gap of {certificate.duality_gap:.1e}."
    )
    if path.status is Status.STALLED:
        warnings.warn(f"{message} {path.status.value}", ConvergenceWarning, stacklevel=5)
    return message
