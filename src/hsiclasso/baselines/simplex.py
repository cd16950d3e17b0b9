r"""Quadratic programs on the simplex, solved exactly.

.. math:: \min_\theta \tfrac12 \theta^\top Q \theta - q^\top \theta, \qquad
          \theta \ge 0,\; 1^\top \theta = 1

The optimum has a :math:`\mu` with :math:`z = Q\theta - q + \mu 1 \ge 0`, and :math:`z_k = 0` where
:math:`\theta_k > 0`. On a given support S this is :math:`\theta_S = u - \mu v` with
:math:`Q_{SS}u = q_S`, :math:`Q_{SS}v = 1` and :math:`\mu = (1^\top u - 1) / 1^\top v`: one Cholesky
factor. The support is found by block principal pivoting (Judice and Pires, 1994): features of
negative weight leave it and those of negative z enter, all at once. If that does not lower their
number, features enter and leave one by one. The objective then falls, which always ends.

Pivoting takes place on a working set that at most doubles from round to round. Few factors are
needed, none larger than twice the support. If Q is singular, a small ridge around the last
solution makes it definite, and vanishes as solutions settle (the proximal point method).

The solution is also a point of the path of the non-negative lasso,
`hsiclasso.solvers.nonnegative_lasso_path`, for the relevance q plus a constant: the point whose
weights sum to 1. The tests compare the two, which agree to 3e-16. This module exists for two
reasons. The path needs a matrix without negative entries, but a Nystrom approximation may have
some. And the path takes a step for every feature, which is far slower. Seconds on one thread for
the program of QPFS with the weight :math:`\gamma` of relevance, on mutual information between
columns of warpAR10P and orlraws10P:

=====  ==============  =======  =======  ==========
d      :math:`\gamma`  weights  here     lasso path
=====  ==============  =======  =======  ==========
100    0.5             10       0.002    0.04
2400   0.5             55       0.01     0.4
2400   0.1             369      0.11     22
10000  0.3             631      0.16     49
=====  ==============  =======  =======  ==========
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.baselines.parts import Tell
from hsiclasso.baselines.quadratic import Quadratic
from hsiclasso.solvers import Certificate

__all__ = ["SimplexSolution", "minimise_on_simplex"]

#: Ridge of a step, relative to the diagonal, and its growth if Q is not quite positive
#: semi-definite; a diagonal entry counts as at least this share of the largest.
_RIDGE = 1e-8
_GROWTH = 100.0
#: Steps around the last solution, and the relative violation that ends them.
_MAX_STEPS = 50
_SOLVED = 1e-13
#: Violation of a condition, relative to the entries of Q and q, that counts.
_VIOLATION = 1e-13
#: Least number of features that enter the working set.
_ENTER = 32
_MAX_ROUNDS = 200
#: Pivots of many features that may fail to lower the number of offenders.
_PATIENCE = 3
#: Features that may enter or leave one by one.
_MAX_PIVOTS = 10_000


@dataclass(frozen=True)
class SimplexSolution:
    r"""A minimum.

    In the certificate, `kkt_residual` is the largest violation of the optimality conditions, and
    `duality_gap` the most by which the objective may exceed its minimum, :math:`-\min_k z_k`; both
    are relative to the largest entry of the diagonal of Q and of q.
    """

    weights: FloatArray  # theta (d,): non-negative, of sum 1
    certificate: Certificate
    n_factors: int  # Cholesky factors that were computed


def minimise_on_simplex(problem: Quadratic, *, report: Tell = None) -> SimplexSolution:
    """Minimise a convex quadratic over the simplex.

    The entries of its matrix may have either sign; if it is far from positive semi-definite, a
    LinAlgError is raised. `report` is told the size of the support after every round.

    Examples
    --------
    >>> import numpy as np
    >>> from hsiclasso.baselines.quadratic import DenseQuadratic
    >>> problem = DenseQuadratic(np.diag([1.0, 2.0, 4.0]), np.array([1.0, 1.0, 0.0]))
    >>> minimise_on_simplex(problem).weights.round(6).tolist()
    [0.666667, 0.333333, 0.0]
    """
    solver = _Simplex(problem, report)
    centre = np.zeros(problem.linear.size)
    best, lowest, certificate = centre, np.inf, Certificate(np.inf, np.inf, centre.size)
    for _ in range(_MAX_STEPS):
        centre = solver.step(centre)
        found = solver.certify(centre)
        if found.kkt_residual < lowest:
            best, certificate = centre, found
        # the ridge has vanished, or rounding errors are all that is left
        if found.kkt_residual <= _SOLVED or found.kkt_residual > 0.5 * lowest:
            break
        lowest = found.kkt_residual
    return SimplexSolution(best, certificate, solver.n_factors)


class _Simplex:
    """A problem, the ridge that it needs, and the features that take part."""

    def __init__(self, problem: Quadratic, report: Tell) -> None:
        linear = problem.linear
        diagonal = problem.diagonal(np.arange(linear.size))
        self.problem = problem
        self.report = report
        self.n_factors = 0
        size = float(diagonal.max())
        self.scale = max(size, float(np.abs(linear).max())) or 1.0
        self.ridge = _RIDGE * np.maximum(diagonal, _RIDGE * size if size > 0 else self.scale)
        self.tolerance = _VIOLATION * self.scale
        by_vertex = np.argsort(0.5 * diagonal - linear, kind="stable")
        self.working: IntArray = np.sort(by_vertex[:_ENTER])
        self.weights = np.zeros(linear.size)
        self.weights[by_vertex[0]] = 1.0

    def step(self, centre: FloatArray) -> FloatArray:
        """Minimise with a ridge around `centre`."""
        while True:
            try:
                return self._step(centre)
            except LinAlgError:
                if self.ridge.max() > self.scale:
                    raise
                self.ridge *= _GROWTH

    def _step(self, centre: FloatArray) -> FloatArray:
        problem, ridge = self.problem, self.ridge
        linear = problem.linear + ridge * centre
        for _ in range(_MAX_ROUNDS):
            gram = problem.block(self.working, self.working)
            gram[np.diag_indices_from(gram)] += ridge[self.working]
            small = _Small(gram, linear[self.working], self.tolerance)
            found, multiplier = small.solve(self.weights[self.working])
            self.n_factors += small.n_factors
            support = self.working[found > 0]
            self.weights = np.zeros(linear.size)
            self.weights[support] = found[found > 0] / found[found > 0].sum()
            if self.report is not None:
                self.report(support.size)
            slack = problem.times(support, self.weights[support]) - linear + multiplier
            slack[self.working] = 0.0  # these are optimal among themselves
            entering = np.flatnonzero(slack < -self.tolerance)
            if not entering.size:
                break
            worst = np.argsort(slack[entering], kind="stable")[: max(_ENTER, support.size)]
            self.working = np.union1d(support, entering[worst])
        return self.weights

    def certify(self, weights: FloatArray) -> Certificate:
        """Measure the optimality conditions, without any ridge."""
        support = np.flatnonzero(weights)
        slack = self.problem.times(support, weights[support]) - self.problem.linear
        slack -= float(slack[support] @ weights[support])
        gap = max(0.0, -float(slack.min())) / self.scale
        within = float(np.abs(slack[support]).max()) / self.scale
        return Certificate(max(gap, within), gap, weights.size)


class _Small:
    """A problem small enough to hold, on which pivoting takes place."""

    def __init__(self, gram: FloatArray, linear: FloatArray, tolerance: float) -> None:
        self.gram = gram
        self.linear = linear
        self.tolerance = tolerance
        self.n_factors = 0

    def solve(self, start: FloatArray) -> tuple[FloatArray, float]:
        """Return weights and multiplier; `start` is feasible."""
        inside = np.ones(start.size, dtype=bool)
        fewest, patience = start.size + 1, _PATIENCE
        while patience > 0:
            weights, multiplier = self._on_support(inside)
            slack = self._slack(weights, multiplier)
            wrong = np.where(inside, weights < 0, slack < -self.tolerance)
            count = int(np.count_nonzero(wrong))
            if not count:
                return weights, multiplier
            patience = _PATIENCE if count < fewest else patience - 1
            fewest = min(count, fewest)
            inside ^= wrong  # never empties it: weights have sum 1
        return self._one_by_one(start)

    def _one_by_one(self, weights: FloatArray) -> tuple[FloatArray, float]:
        """Let the worst offender enter, and let features that reach zero weight leave."""
        inside = weights > 0
        multiplier = 0.0
        for _ in range(_MAX_PIVOTS):
            goal, multiplier = self._on_support(inside)
            if (goal >= 0).all():
                weights = goal
                slack = np.where(inside, 0.0, self._slack(weights, multiplier))
                worst = int(np.argmin(slack))
                if slack[worst] >= -self.tolerance:
                    break
                inside[worst] = True
                continue
            falling = np.flatnonzero(goal < 0)
            reach = weights[falling] / (weights[falling] - goal[falling])
            weights = weights + reach.min() * (goal - weights)
            weights[falling[reach <= reach.min()]] = 0.0
            inside[falling[reach <= reach.min()]] = False
        return weights, multiplier

    def _slack(self, weights: FloatArray, multiplier: float) -> FloatArray:
        return self.gram @ weights - self.linear + multiplier

    def _on_support(self, inside: BoolArray) -> tuple[FloatArray, float]:
        """Minimise over weights of sum 1 and any sign that are zero outside a support."""
        support = np.flatnonzero(inside)
        gram = self.gram if inside.all() else self.gram[np.ix_(support, support)]
        factor = cho_factor(gram, lower=True, check_finite=False)
        self.n_factors += 1
        ones = cho_solve(factor, np.ones(support.size), check_finite=False)
        x, multiplier = np.zeros(support.size), 0.0
        for _ in range(2):  # the second time restores the digits that the conditioning costs
            rest = self.linear[support] - multiplier - gram @ x
            change = cho_solve(factor, rest, check_finite=False)
            raised = float((x.sum() + change.sum() - 1.0) / ones.sum())
            x = x + change - raised * ones
            multiplier += raised
        weights = np.zeros(inside.size)
        weights[support] = x
        return weights, multiplier
