"""The feature vector machine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from hsiclasso._checks import check_positive
from hsiclasso._types import FloatArray
from hsiclasso.baselines.dependency import Dependency
from hsiclasso.baselines.job import ANY_TARGET, Job, Traits
from hsiclasso.baselines.quadratic import DenseQuadratic, QuadraticBaseline
from hsiclasso.solvers import Certificate, Penalty, SolutionPath, Status, Stop, solve_path

__all__ = ["FVM"]


@dataclass(kw_only=True, eq=False, repr=False)
class FVM(QuadraticBaseline):
    r"""Feature selection by the feature vector machine (FVM).

    The lasso in a space where the inner products of features are their dependences
    :math:`D_{kl}`, and those with the target :math:`d_k`,

    .. math:: \min_a \tfrac12 a^\top D a \qquad\text{subject to}\qquad
              |(Da - d)_k| \le \lambda / 2 \quad\text{for all } k.

    With multipliers :math:`u, v \ge 0` of the two sides the Lagrangian is least at
    :math:`a = w = v - u`, D being positive definite, and the dual is
    :math:`\max_w d^\top w - \tfrac12 w^\top D w - \tfrac\lambda2 \|w\|_1`. So a is the minimum of
    :math:`\tfrac12 a^\top D a - d^\top a + \tfrac\lambda2 \|a\|_1`, a lasso with free signs, which
    the package's coordinate descent solves. Features are ranked by :math:`|a_k|`.

    Mutual information is no kernel: D may have negative eigenvalues. If it has, a constant is
    added to its diagonal. All pairs of features are compared: D takes :math:`8d^2` bytes, and at
    most 20,000 columns are taken.

    Parameters
    ----------
    n_features_to_select : int, default=None
        Number of features; by default ten, or all if there are fewer. Features of the largest
        weights are taken; if too few weights are not zero, the most relevant features are added.
    alpha : float, default=None
        The penalty :math:`\lambda` > 0. By default it falls until the number of features is
        reached. All weights are zero if no relevance exceeds half of it: the 1 of the HSIC Lasso
        paper needs a mutual information of half a nat. A penalty at which more than a thousand
        weights are not zero takes minutes.
    %(measure)s
    %(shift)s
    %(measured)s

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights a, of either sign.
    scores_ : ndarray of shape (n_features,)
        Their absolute values; features of equal score are ranked by relevance.
    %(relevance_)s
    alpha_ : float
        Penalty at which the weights were found.
    %(shifted)s
    certificate_ : Certificate
        Optimality of the weights.
    %(fitted)s

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

    alpha: float | None = None

    traits = Traits(
        "FVM", "non-linear", "convex after a shift", "dual", "low", ANY_TARGET, "n d^2 + d^3"
    )
    _remedy = "Use QPFS with n_landmarks, HSICLasso or MRMR."

    def _check(self) -> None:
        if self.alpha is not None:
            check_positive("alpha", self.alpha)
        super()._check()

    def _weigh(self, job: Job, dependency: Dependency) -> str:
        matrix, features = self._redundancy(job, dependency)
        self._shift(job, matrix, strictly=True)
        relevance = self.relevance_[features]
        top = 2 * float(relevance.max(initial=0.0))
        self.alpha_ = top if self.alpha is None else float(self.alpha)
        self.certificate_ = Certificate(0.0, 0.0, relevance.size)
        if top <= (self.alpha or 0.0):  # all weights are zero
            return ""
        path = self._solve(job, matrix, relevance)
        self.coef_[features] = path.coefficients()
        self.alpha_, self.certificate_ = 2 * path.alpha, path.certificate
        if path.status is not Status.STALLED:
            return ""
        return f"FVM: {path.status.value}. The duality gap is {path.certificate.duality_gap:.1e}."

    def _solve(self, job: Job, matrix: FloatArray, relevance: FloatArray) -> SolutionPath:
        """Solve the lasso, at the penalty or down to the number of features."""
        # the squared norm of a target with these inner products: gaps are relative to it
        factor = cho_factor(matrix, lower=True, check_finite=False)
        norm2 = float(relevance @ cho_solve(factor, relevance, check_finite=False))
        stop = Stop(max_features=min(job.n_wanted, relevance.size))
        if self.alpha is not None:
            stop = Stop(alpha=0.5 * float(self.alpha))
        return solve_path(
            DenseQuadratic(matrix, relevance, target_norm2=norm2),
            Penalty.lasso(relevance.size, signed=True),
            stop,
            report=lambda size: job.report("weights", size, relevance.size),
        )

    def _words(self) -> str:
        found = np.count_nonzero(self.coef_)
        if found:
            return f"{found} weights are not zero at alpha={self.alpha_:.4g}"
        return (
            f"At alpha={self.alpha_:.4g} all weights are zero, because no relevance exceeds "
            f"alpha / 2 (the largest is {self.relevance_.max(initial=0.0):.4g}): features are "
            "ranked by relevance"
        )
