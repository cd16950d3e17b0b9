"""The feature vector machine."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal

import numpy as np
from joblib import effective_n_jobs
from scipy.linalg import cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning

from hsiclasso._checks import check_number
from hsiclasso._types import FloatArray
from hsiclasso.baselines.base import ANY_TARGET, Choice, Job, Traits
from hsiclasso.baselines.dependency import Bins, MeasureName
from hsiclasso.baselines.quadratic import (
    DenseQuadratic,
    QuadraticBaseline,
    by_weight,
)
from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors.targets import MultiOutput, Task
from hsiclasso.solvers import Certificate, Path, Penalty, Status, Stop, solve_path

__all__ = ["FVM"]


class FVM(QuadraticBaseline):
    r"""Feature selection by the feature vector machine (FVM).

    The lasso between features in a space where their inner products are dependences
    :math:`D_{kl}`, those with the target :math:`d_k`,

    .. math:: \min_a \tfrac12 a^\top D a \qquad\text{subject to}\qquad
              |(Da - d)_k| \le \lambda / 2 \quad\text{for all } k.

    With multipliers :math:`u, v \ge 0` of the two sides the Lagrangian is least at
    :math:`a = w = v - u`, D being positive definite, and the dual is
    :math:`\max_w d^\top w - \tfrac12 w^\top D w - \tfrac\lambda2 \|w\|_1`. So a is the minimum of
    :math:`\tfrac12 a^\top D a - d^\top a + \tfrac\lambda2 \|a\|_1`, a lasso with free signs, which
    the package's coordinate descent solves. Features are ranked by :math:`|a_k|`.

    Mutual information is no kernel: D may have negative eigenvalues, and a constant is then
    added to its diagonal. All pairs of features are compared: D takes :math:`8d^2` bytes, and at
    most 20,000 columns are taken.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features; ten by default, or all if there are fewer. Those of the largest
        weights are taken; if too few are not zero, the most relevant ones are added.
    alpha : float, optional
        The penalty :math:`\lambda`. By default it falls until so many weights are not zero.
        Weights are all zero where no relevance exceeds half of it: the 1 of the HSIC Lasso paper
        asks for a mutual information of half a nat. One so small that a thousand weights and
        more are not zero takes minutes.
    measure : {"mi", "parzen", "correlation", "hsic", "nhsic", "nocco"}
        Mutual information of binned columns; with Parzen windows; the absolute correlation; or
        a kernel measure of `HSICLasso`.
    bins : {"peng", "quantile", "levels"}
        For ``"mi"``, as in `MRMR`: three states, cut at mean -+ `threshold` deviations; `n_bins`
        states of equal size; or every distinct value a state.
    threshold : float
        Deviations from the mean at which ``"peng"`` cuts.
    n_bins : int
        States of ``"quantile"``.
    x_width : float, optional
        Width of kernels or windows, in deviations.
    shift : float or "auto"
        Constant that is added to the diagonal of D. ``"auto"`` adds none if D is positive
        definite, and else minus its lowest eigenvalue and a margin for rounding errors.
    task, y_kernel, y_width, y_transform, multioutput
        How the target is understood, as in `HSICLasso`. States can be made of any values;
        targets of other kinds need a measure with kernels.
    n_jobs : int, optional
        Threads; -1 takes all cores.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights a, of either sign.
    scores_ : ndarray of shape (n_features,)
        Their absolute values.
    relevance_ : ndarray of shape (n_features,)
        Dependence of every feature on the target; it ranks features of equal weight.
    alpha_ : float
        Penalty at which the weights were found.
    min_eigenvalue_ : float
        Lowest eigenvalue of D before the shift. NaN if no column varies.
    shift_ : float
        What was added to the diagonal.
    certificate_ : Certificate
        Optimality of the weights.
    ranking_, selected_, result_
        Places of all features; columns selected, best first; the same with names.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Li, Yang and Xing (2005). From lasso regression to feature vector machine. NIPS 18.

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> from hsiclasso.baselines import FVM
    >>> X, y, causal = make_data1(500, 50, random_state=0)
    >>> selector = FVM(4, bins="quantile").fit(X, y)
    >>> set(selector.selected_) == set(causal)
    True
    >>> selector.certificate_.kkt_residual < 1e-12
    True
    """

    traits: ClassVar[Traits] = Traits(
        title="FVM",
        dependency="non-linear",
        optimization="convex after a shift",
        form="dual",
        scalability="low",
        tasks=ANY_TARGET,
        cost="n d^2 + d^3",
    )

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        alpha: float | None = None,
        measure: MeasureName = "mi",
        bins: Bins = "peng",
        threshold: float = 1.0,
        n_bins: int = 5,
        x_width: float | None = None,
        shift: Literal["auto"] | float = "auto",
        task: Task = "auto",
        y_kernel: Any = "auto",
        y_width: Any = None,
        y_transform: Literal["rank"] | None = None,
        multioutput: MultiOutput = "auto",
        n_jobs: int | None = -1,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.measure = measure
        self.bins = bins
        self.threshold = threshold
        self.n_bins = n_bins
        self.x_width = x_width
        self.shift = shift
        self.task = task
        self.y_kernel = y_kernel
        self.y_width = y_width
        self.y_transform = y_transform
        self.multioutput = multioutput
        self.n_jobs = n_jobs

    def _check(self) -> None:
        if self.alpha is not None:
            number = check_number("alpha", self.alpha, "None")
            if number is None or number <= 0:
                raise InvalidInputError(
                    f"alpha={self.alpha!r}, but the penalty must be > 0, or None for that with the "
                    "number of features asked for."
                )
        super()._check()

    def _choose(self, job: Job) -> Choice:
        self._check_size(job.varies, "Use QPFS with n_landmarks, HSICLasso or MRMR.")
        dependency = self._options().relate(job, effective_n_jobs(self.n_jobs))
        self.relevance_ = dependency.relevance
        matrix, features = self._redundancy(job, dependency)
        self._shift(job, matrix, strictly=True)
        self.coef_ = np.zeros(job.n_features)
        self.coef_[features] = self._weights(job, matrix, self.relevance_[features])
        order = by_weight(self.coef_, self.relevance_)[: job.n_wanted]
        scores = np.abs(self.coef_)
        return Choice(order, scores, dependency.task, self.relevance_, self._sentence())

    def _weights(self, job: Job, matrix: FloatArray, relevance: FloatArray) -> FloatArray:
        """Solve the lasso."""
        top = 2 * float(relevance.max(initial=0.0))
        self.alpha_, self.certificate_ = top, Certificate(0.0, 0.0, relevance.size)
        if self.alpha is not None:
            self.alpha_ = float(self.alpha)
        if top <= (self.alpha or 0.0):
            return np.zeros(relevance.size)
        # the squared norm of a target with these inner products, which gaps are relative to
        factor = cho_factor(matrix, lower=True, check_finite=False)
        norm2 = float(relevance @ cho_solve(factor, relevance, check_finite=False))
        stop = Stop(max_features=min(job.n_wanted, relevance.size))
        if self.alpha is not None:
            stop = Stop(alpha=0.5 * float(self.alpha))
        path = solve_path(
            DenseQuadratic(matrix, relevance, target_norm2=norm2),
            Penalty.lasso(relevance.size, signed=True),
            stop,
            report=lambda size: job.report("weights", size, relevance.size),
        )
        self.alpha_, self.certificate_ = 2 * path.alpha, path.certificate
        _warn_if_stalled(path)
        return path.coefficients()

    def _sentence(self) -> str:
        found = np.count_nonzero(self.coef_)
        if not found:
            return (
                f"At alpha={self.alpha_:.4g} all weights are zero, because no relevance exceeds "
                f"alpha / 2 (the largest is {self.relevance_.max(initial=0.0):.4g}): features are "
                "ranked by relevance."
            )
        words = f"{found} weights are not zero at alpha={self.alpha_:.4g}"
        if self.shift_ > 0:
            words += f", with {self.shift_:.3g} added to the diagonal of the redundancies"
        return f"{words}."


def _warn_if_stalled(path: Path) -> None:
    if path.status is Status.STALLED:
        warnings.warn(
            f"FVM: {path.status.value}. The duality gap is {path.certificate.duality_gap:.1e}.",
            ConvergenceWarning,
            stacklevel=6,
        )
