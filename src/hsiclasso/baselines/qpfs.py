"""Feature selection by a quadratic program on the simplex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.linalg import eigh

from hsiclasso._checks import as_generator, check_count, check_number, check_random_state
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.dependency import Dependency
from hsiclasso.baselines.job import ANY_TARGET, Job, Traits
from hsiclasso.baselines.quadratic import (
    DenseQuadratic,
    LowRankQuadratic,
    Quadratic,
    QuadraticBaseline,
    matters,
)
from hsiclasso.baselines.simplex import minimise_on_simplex
from hsiclasso.errors import InvalidInputError

__all__ = ["QPFS"]

#: Eigenvalues of the landmarks' matrix below this share of the largest are left out.
_LEAST = 1e-10
#: Landmarks that are compared with all features between two reports.
_STEP = 256


@dataclass(kw_only=True, eq=False, repr=False)
class QPFS(QuadraticBaseline):
    r"""Quadratic programming feature selection (QPFS).

    :math:`D_{kl}` is the dependence between features, :math:`d_k` that on the target. Weights on
    the simplex balance redundancy and relevance,

    .. math:: \min_\theta \tfrac{1-\gamma}2 \theta^\top D\theta - \gamma\, d^\top\theta,
              \qquad \theta \ge 0,\; \textstyle\sum_k \theta_k = 1,

    and features are ranked by weight. Mutual information is no kernel: D may have negative
    eigenvalues. If it has, a constant is added to its diagonal. The program is solved exactly by
    an active-set method, see `hsiclasso.baselines.simplex`.

    All pairs of features are compared: D takes :math:`8d^2` bytes, and at most 20,000 columns
    are taken. With `n_landmarks`, D is replaced by its Nystrom approximation
    :math:`C A_+^{-1} C^\top`, where C has the columns of D of random landmarks and :math:`A_+` is
    the positive part of D among them. It is positive semi-definite, and neither D nor its
    approximation is ever made. It understates the diagonal of D, which leaves fewer weights.

    Parameters
    ----------
    n_features_to_select : int, default=None
        Number of features; by default ten, or all if there are fewer. Features of the largest
        weights are taken; if too few weights are positive, the most relevant features are added.
    gamma : float or "auto", default=0.5
        Weight of relevance, from 0 (redundancy alone) to 1 (the most relevant feature alone).
        ``"auto"`` balances the two as the method's authors propose,
        :math:`\bar D / (\bar D + \bar d)` with the means of all entries; with landmarks, the mean
        of D is estimated from their columns.
    %(measure)s
    %(shift)s
    n_landmarks : int, default=None
        Number of landmarks of the approximation; by default D is exact.
    random_state : int, Generator, RandomState or None, default=None
        Source of randomness of the landmarks.
    %(measured)s

    Attributes
    ----------
    coef_, scores_ : ndarray of shape (n_features,)
        The weights :math:`\theta`; features of equal weight are ranked by relevance.
    %(relevance_)s
    gamma_ : float
        Weight of relevance that was used.
    %(shifted)s
    certificate_ : Certificate
        Optimality of the weights: the largest violation of the conditions, and the most by
        which the objective may exceed its minimum, relative to the largest entry of its terms.
    %(fitted)s

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

    gamma: Literal["auto"] | float = 0.5
    n_landmarks: int | None = None
    random_state: Any = None

    traits = Traits(
        "QPFS", "non-linear", "convex after a shift", "dual", "low", ANY_TARGET, "n d^2 + d^3"
    )
    _remedy = "Pass n_landmarks=1000, or use HSICLasso or MRMR."

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

    def _check_size(self, job: Job) -> None:
        if self.n_landmarks is None:
            super()._check_size(job)
        elif self.n_landmarks > job.source.n_features:
            raise InvalidInputError(
                f"n_landmarks={self.n_landmarks} is greater than n_features={self.n_features_in_}: "
                "leave it out."
            )

    def _weigh(self, job: Job, dependency: Dependency) -> str:
        make = self._exact if self.n_landmarks is None else self._approximate
        features, problem = make(job, dependency)
        if features.size:
            solution = minimise_on_simplex(
                problem, report=lambda size: job.report("weights", size, features.size)
            )
            self.coef_[features] = solution.weights
            self.certificate_ = solution.certificate
        return ""

    def _exact(self, job: Job, dependency: Dependency) -> tuple[IntArray, Quadratic]:
        """Compare all features, and make the program convex; returns those that take part."""
        matrix, features = self._redundancy(job, dependency)
        relevance = dependency.relevance[features]
        self.gamma_ = self._balance(matrix, relevance)
        self._shift(job, matrix, strictly=False)
        return features, DenseQuadratic(matrix, self.gamma_ * relevance, 1.0 - self.gamma_)

    def _approximate(self, job: Job, dependency: Dependency) -> tuple[IntArray, Quadratic]:
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
        # a feature that depends on no landmark would cost nothing at any weight
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
        redundancy = float(matrix.mean())
        return redundancy / (redundancy + float(relevance.mean()))

    def _words(self) -> str:
        return f"{np.count_nonzero(self.coef_)} features have a positive weight"


def _nystrom(columns: FloatArray, among: FloatArray) -> tuple[FloatArray, float]:
    r"""Return F with :math:`FF^\top = C A_+^{-1} C^\top`, and the lowest eigenvalue of A.

    Negative and tiny eigenvalues of A are left out: one cannot divide by their roots.
    """
    if not columns.size:
        return columns, np.nan
    values, vectors = eigh(among, check_finite=False)
    kept = values > _LEAST * values[-1]
    return columns @ (vectors[:, kept] / np.sqrt(values[kept])), float(values[0])
