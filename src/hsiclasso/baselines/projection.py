r"""HSIC of linear combinations of columns, and its maximum under an l1 / l-infinity penalty.

.. math:: \min_W -\mathrm{HSIC}(WX, y) + \lambda \sum_j \|w_j\|_\infty

over matrices W (q, d) with columns :math:`w_j`. It is solved as a smooth problem with bounds,
:math:`W_{ij} = t_j u_{ij}`, :math:`t_j \ge 0`, :math:`|u_{ij}| \le 1`, with the penalty
:math:`\lambda \sum_j t_j`: the stationary points with :math:`t_j > 0` are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import Bounds, minimize

from hsiclasso._types import FloatArray

__all__ = ["ProjectedHSIC", "Solution", "maximise", "stationarity"]

#: Corrections that L-BFGS keeps.
_MEMORY = 10
#: The first step of L-BFGS, relative to the largest weight.
_FIRST_STEP = 0.1
#: How often L-BFGS is begun again, from columns that were held at 0 and to a smaller slope.
_ATTEMPTS = 8


@dataclass(frozen=True)
class ProjectedHSIC:
    r"""HSIC of linear combinations of columns, :math:`Z = WX`, with a target.

    With A the entrywise product of C and the Gaussian Gram matrix of Z, its gradient is
    :math:`-\frac{2}{\sigma^2} Z(\mathrm{diag}(A1) - A)X^\top`.
    """

    columns: FloatArray  # X (d, n), standardised, contiguous
    coupling: FloatArray  # (n, n), the matrix C of the target
    width: float  # sigma

    @cached_property
    def _trace(self) -> float:
        return float(np.trace(self.coupling))

    def __call__(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """Return HSIC at W (q, d) and its gradient, of the same shape."""
        from hsiclasso.baselines._joint_loops import project_pairs

        gamma = 0.5 / self.width**2
        projected = weights @ self.columns
        pull = np.empty_like(projected)
        pairs = project_pairs(projected, self.coupling, gamma, pull)
        return 2 * pairs + self._trace, (-4 * gamma) * (pull @ self.columns.T)


@dataclass(frozen=True)
class Solution:
    """A stationary point, or the last point before iterations ended."""

    weights: FloatArray  # W (q, d)
    gradient: FloatArray  # (q, d), gradient of HSIC at W
    alpha: float  # penalty
    objective: float
    n_iter: int

    @cached_property
    def sizes(self) -> FloatArray:
        """Largest absolute weight of each column, (d,)."""
        return np.asarray(np.abs(self.weights).max(axis=0))

    @property
    def n_active(self) -> int:
        """Number of columns that have weights."""
        return int(np.count_nonzero(self.sizes))

    @property
    def stationarity(self) -> float:
        """Violation of the conditions of a stationary point, relative to the penalty."""
        return stationarity(self.weights, self.gradient, self.alpha)


def stationarity(weights: FloatArray, gradient: FloatArray, alpha: float) -> float:
    r"""Tell how far a point is from being stationary, relative to its largest weight.

    A point W is stationary if and only if a proximal step leaves it where it is,
    :math:`W = \mathrm{prox}(W + s\nabla\mathrm{HSIC})`, for any s > 0. Here s is the largest
    weight divided by the penalty, so that the difference has no unit.

    Examples
    --------
    >>> gradient = np.array([[0.5, 0.1], [0.5, -0.2]])
    >>> stationarity(np.array([[2.0, 0.0], [2.0, 0.0]]), gradient, 1.0)
    0.0
    """
    largest = float(np.abs(weights).max(initial=0.0))
    if not largest:
        return max(0.0, float(np.abs(gradient).sum(axis=0).max(initial=0.0)) / alpha - 1)
    moved = weights + (largest / alpha) * gradient
    # Moreau: the proximal step of the maximum leaves what the l1 ball does not hold
    left = moved - _project_l1(moved, largest)
    return float(np.abs(weights - left).max()) / largest


def _project_l1(vectors: FloatArray, radius: float) -> FloatArray:
    """Project the columns of (q, d) on the l1 ball."""
    sizes = np.sort(np.abs(vectors), axis=0)[::-1]
    ranks = np.arange(1, len(sizes) + 1)[:, None]
    thresholds = (np.cumsum(sizes, axis=0) - radius) / ranks
    last = np.count_nonzero(sizes > thresholds, axis=0) - 1
    threshold = np.maximum(thresholds[last, np.arange(sizes.shape[1])], 0.0)
    return np.asarray(np.sign(vectors) * np.maximum(np.abs(vectors) - threshold, 0.0))


def maximise(
    hsic: ProjectedHSIC, weights: FloatArray, alpha: float, *, max_iter: int, tol: float
) -> Solution:
    """Find a stationary point at a penalty > 0, from given weights.

    W = 0 is stationary: it is never left. `tol` bounds the violation of the conditions of a
    stationary point, relative to the penalty.
    """
    value, gradient = hsic(weights)
    n_iter = 0
    for attempt in range(_ATTEMPTS):
        if not weights.any():
            break
        # small weights hide their violations: the slope in u has their size as a factor
        closer = tol * 0.1**attempt
        weights, done = _minimise(hsic, weights, gradient, alpha, max_iter - n_iter, closer)
        n_iter += done
        value, gradient = hsic(weights)
        if stationarity(weights, gradient, alpha) <= tol or n_iter >= max_iter:
            break
    penalty = alpha * float(np.abs(weights).max(axis=0).sum())
    return Solution(weights, gradient, alpha, penalty - value, n_iter)


def _minimise(
    hsic: ProjectedHSIC,
    weights: FloatArray,
    gradient: FloatArray,
    alpha: float,
    max_iter: int,
    tol: float,
) -> tuple[FloatArray, int]:
    """Solve the problem with bounds; columns that are 0 start in the direction of the gradient."""
    q, d = weights.shape
    sizes = np.abs(weights).max(axis=0)
    directions = np.where(sizes > 0, weights / np.where(sizes > 0, sizes, 1.0), np.sign(gradient))

    # the first step is as long as the slope: units of the penalty times a size keep it from leading
    # to W = 0 at once
    unit = alpha / (_FIRST_STEP * float(sizes.max()))

    def objective(point: FloatArray) -> tuple[float, FloatArray]:
        t, u = point[:d], point[d:].reshape(q, d)
        value, rise = hsic(t * u)
        by_size = alpha - np.sum(rise * u, axis=0)
        slope = np.concatenate([by_size, -(rise * t).ravel()]) / unit
        return float(alpha * t.sum() - value) / unit, slope

    bounds = Bounds(
        np.append(np.zeros(d), np.full(q * d, -1.0)), np.append(np.full(d, np.inf), np.ones(q * d))
    )
    start = np.append(sizes, directions)
    options = {"maxiter": max_iter, "gtol": tol * alpha / unit, "ftol": 0.0, "maxcor": _MEMORY}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return found.x[:d] * found.x[d:].reshape(q, d), int(found.nit)
