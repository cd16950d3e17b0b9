"""Feature selection by a quadratic program on the simplex."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from joblib import effective_n_jobs
from scipy.linalg import eigh

from hsiclasso._checks import as_generator, check_count, check_number, check_random_state
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.base import ANY_TARGET, Choice, Job, Traits
from hsiclasso.baselines.dependency import Bins, Dependency, MeasureName
from hsiclasso.baselines.quadratic import (
    DenseQuadratic,
    LowRankQuadratic,
    QuadraticBaseline,
    by_weight,
    matters,
)
from hsiclasso.baselines.simplex import SimplexProblem, minimise_on_simplex
from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors.targets import MultiOutput, Task
from hsiclasso.solvers import Certificate

__all__ = ["QPFS"]

#: Eigenvalues of the landmarks' matrix below this share of the largest are left out.
_LEAST = 1e-10
#: Landmarks between which and all features dependences are computed between two reports.
_STEP = 256


class QPFS(QuadraticBaseline):
    r"""Quadratic programming feature selection (QPFS).

    With the dependence :math:`D_{kl}` between features and :math:`d_k` on the target, weights
    trade redundancy for relevance on the simplex,

    .. math:: \min_\theta \tfrac{1-\gamma}2 \theta^\top D\theta - \gamma\, d^\top\theta,
              \qquad \theta \ge 0,\; \textstyle\sum_k \theta_k = 1,

    and features are ranked by weight. Mutual information is no kernel: D may have negative
    eigenvalues, and a constant is then added to its diagonal. The program is solved exactly, by
    an active-set method, see `hsiclasso.baselines.simplex`.

    All pairs of features are compared: D takes :math:`8d^2` bytes, and at most 20,000 columns are
    taken. With `n_landmarks`, D is replaced by its Nystrom approximation
    :math:`C A_+^{-1} C^\top`, where C has the columns of D of random landmarks and :math:`A_+` is
    the positive part of D among them. It is positive semi-definite, and neither D nor its
    approximation is ever made. It understates the diagonal of D, so that weights are fewer.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features; ten by default, or all if there are fewer. Those of the largest
        weights are taken; if too few are positive, the most relevant ones are added.
    gamma : float or "auto"
        Weight of relevance, from 0, redundancy alone, to 1, the most relevant feature alone.
        ``"auto"`` balances the two as the method's authors propose,
        :math:`\bar D / (\bar D + \bar d)` with the means of all entries, those of D estimated from
        the landmarks if there are any.
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
    n_landmarks : int, optional
        Number of landmarks of the approximation; by default D is exact.
    random_state : int, Generator, RandomState or None
        Source of randomness of the landmarks.
    task, y_kernel, y_width, y_transform, multioutput
        How the target is understood, as in `HSICLasso`. States can be made of any values;
        targets of other kinds need a measure with kernels.
    n_jobs : int, optional
        Threads; -1 takes all cores.

    Attributes
    ----------
    coef_, scores_ : ndarray of shape (n_features,)
        The weights :math:`\theta`.
    relevance_ : ndarray of shape (n_features,)
        Dependence of every feature on the target; it ranks features of equal weight.
    gamma_ : float
        Weight of relevance that was used.
    min_eigenvalue_ : float
        Lowest eigenvalue of D before the shift; with landmarks, of D among them. NaN if no
        column varies.
    shift_ : float
        What was added to the diagonal.
    certificate_ : Certificate
        Optimality of the weights: the largest violation of the conditions, and the most by
        which the objective may exceed its minimum, relative to the largest entry of its terms.
    ranking_, selected_, result_
        Places of all features; columns selected, best first; the same with names.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Rodriguez-Lujan, Huerta, Elkan and Santa Cruz (2010). Quadratic programming feature
    selection. JMLR 11.

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> from hsiclasso.baselines import QPFS
    >>> X, y, causal = make_data1(500, 50, random_state=0)
    >>> selector = QPFS(4, bins="quantile").fit(X, y)
    >>> set(selector.selected_) == set(causal)
    True
    >>> round(float(selector.coef_.sum()), 6), selector.certificate_.kkt_residual < 1e-12
    (1.0, True)
    """

    traits: ClassVar[Traits] = Traits(
        title="QPFS",
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
        gamma: Literal["auto"] | float = 0.5,
        measure: MeasureName = "mi",
        bins: Bins = "peng",
        threshold: float = 1.0,
        n_bins: int = 5,
        x_width: float | None = None,
        shift: Literal["auto"] | float = "auto",
        n_landmarks: int | None = None,
        random_state: Any = None,
        task: Task = "auto",
        y_kernel: Any = "auto",
        y_width: Any = None,
        y_transform: Literal["rank"] | None = None,
        multioutput: MultiOutput = "auto",
        n_jobs: int | None = -1,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.gamma = gamma
        self.measure = measure
        self.bins = bins
        self.threshold = threshold
        self.n_bins = n_bins
        self.x_width = x_width
        self.shift = shift
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.task = task
        self.y_kernel = y_kernel
        self.y_width = y_width
        self.y_transform = y_transform
        self.multioutput = multioutput
        self.n_jobs = n_jobs

    def _check(self) -> None:
        number = check_number("gamma", self.gamma, "'auto'")
        if number is not None and not 0 <= number <= 1:
            raise InvalidInputError(
                f"gamma={self.gamma!r}, but the weight of relevance must lie between 0 "
                "(redundancy alone) and 1 (relevance alone), or be 'auto'."
            )
        check_count("n_landmarks", self.n_landmarks, least=1)
        check_random_state(self.random_state)
        super()._check()

    def _choose(self, job: Job) -> Choice:
        if self.n_landmarks is None:
            self._check_size(job.varies, "Pass n_landmarks=1000, or use HSICLasso or MRMR.")
        elif self.n_landmarks > job.n_features:
            raise InvalidInputError(
                f"n_landmarks={self.n_landmarks} is greater than n_features={job.n_features}: "
                "leave it out."
            )
        dependency = self._options().relate(job, effective_n_jobs(self.n_jobs))
        self.relevance_ = dependency.relevance
        self.coef_ = np.zeros(job.n_features)
        self.certificate_ = Certificate(0.0, 0.0, 0)
        make = self._exact if self.n_landmarks is None else self._approximate
        features, problem = make(job, dependency)
        if features.size:
            solution = minimise_on_simplex(
                problem, report=lambda size: job.report("weights", size, features.size)
            )
            self.coef_[features] = solution.weights
            self.certificate_ = solution.certificate
        order = by_weight(self.coef_, self.relevance_)[: job.n_wanted]
        return Choice(order, self.coef_, dependency.task, self.relevance_, self._sentence())

    def _exact(self, job: Job, dependency: Dependency) -> tuple[IntArray, SimplexProblem]:
        """Compare all features, and make the program convex; returns those that take part."""
        matrix, features = self._redundancy(job, dependency)
        relevance = dependency.relevance[features]
        self.gamma_ = self._balance(matrix, relevance)
        self._shift(job, matrix, strictly=False)
        return features, DenseQuadratic(matrix, self.gamma_ * relevance, 1.0 - self.gamma_)

    def _approximate(self, job: Job, dependency: Dependency) -> tuple[IntArray, SimplexProblem]:
        """Compare landmarks with all features; returns those that take part."""
        features = np.flatnonzero(job.varies)
        chosen = as_generator(self.random_state).permutation(features)[: self.n_landmarks]
        landmarks = np.sort(chosen)
        columns = np.empty((features.size, landmarks.size))
        for start in range(0, landmarks.size, _STEP):
            part = slice(start, start + _STEP)
            columns[:, part] = dependency.block(features, landmarks[part])
            job.report("redundancy", min(start + _STEP, landmarks.size), landmarks.size)
        among = columns[np.searchsorted(features, landmarks)]
        # what depends on no landmark would cost nothing at any weight
        kept = matters(columns.max(axis=1, initial=0.0))
        features, columns = features[kept], columns[kept]
        relevance = dependency.relevance[features]
        self.gamma_ = self._balance(columns, relevance)
        self.shift_ = 0.0 if self.shift == "auto" else float(self.shift)
        factor, self.min_eigenvalue_ = _nystrom(columns, among)
        linear = self.gamma_ * relevance
        return features, LowRankQuadratic(factor, linear, 1.0 - self.gamma_, self.shift_)

    def _balance(self, matrix: FloatArray, relevance: FloatArray) -> float:
        """Weight of relevance; `matrix` has all dependences, or a sample of their columns."""
        if self.gamma != "auto":
            return float(self.gamma)
        if not relevance.size:
            return 0.5
        redundancy, total = float(matrix.mean()), float(matrix.mean() + relevance.mean())
        return redundancy / total

    def _sentence(self) -> str:
        words = f"{np.count_nonzero(self.coef_)} features have a positive weight"
        if self.shift_ > 0:
            words += f", with {self.shift_:.3g} added to the diagonal of the redundancies"
        return f"{words}."


def _nystrom(columns: FloatArray, among: FloatArray) -> tuple[FloatArray, float]:
    r"""Return F with :math:`FF^\top = C A_+^{-1} C^\top`, and the lowest eigenvalue of A.

    Negative eigenvalues of A and tiny ones, by which one cannot divide, are left out.
    """
    if not columns.size:
        return columns, np.nan
    values, vectors = eigh(among, check_finite=False)
    kept = values > _LEAST * values[-1]
    return columns @ (vectors[:, kept] / np.sqrt(values[kept])), float(values[0])
