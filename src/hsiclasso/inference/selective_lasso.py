r"""The lasso of a few features, and which values of a statistic select the same features.

.. math:: \min_{a \ge 0} \tfrac12 a^\top M a - H^\top a + \lambda \textstyle\sum_k a_k

with M and :math:`\lambda` fixed and H normal with covariance :math:`\Sigma`. For a statistic
:math:`T = \eta^\top H`, write :math:`H = Z + c T` with
:math:`c = \Sigma \eta / \eta^\top \Sigma \eta`. Then Z is independent of T. Given Z, the features
that are selected depend on T alone, and change finitely often along the line (Lee et al., 2016).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, solve, solve_triangular
from scipy.optimize import nnls

from hsiclasso._types import BoolArray, FloatArray

__all__ = ["Line", "selected_by_lasso"]

#: Most changes of the selected features that are followed in each direction.
_MOST_CHANGES = 1000


def selected_by_lasso(M: FloatArray, H: FloatArray, alpha: float) -> BoolArray:
    """Tell which features have a positive weight.

    Parameters
    ----------
    M : ndarray of shape (p, p)
        Positive definite.
    H : ndarray of shape (p,)
    alpha : float
        The penalty.

    Examples
    --------
    >>> selected_by_lasso(np.eye(3), np.array([3.0, 0.5, -1.0]), alpha=1.0)
    array([ True, False, False])
    """
    root = cholesky(M, lower=True)
    weights, _ = nnls(root.T, solve_triangular(root, H - alpha, lower=True))
    return np.asarray(weights > 0)


class Line:
    """The lasso with H = Z + c t, for all t.

    Parameters
    ----------
    M : ndarray of shape (p, p)
    Z, c : ndarray of shape (p,)
    alpha : float
    """

    def __init__(self, M: FloatArray, Z: FloatArray, c: FloatArray, alpha: float) -> None:
        self._M, self._Z, self._c, self._alpha = M, Z, c, alpha

    def same_model(self, active: BoolArray) -> FloatArray:
        """Return the t with which exactly these features are selected: one interval (1, 2)."""
        (low, _), (high, _) = self._ends(active)
        return np.array([[low, high]])

    def with_feature(self, feature: int, active: BoolArray) -> FloatArray:
        """Return the t with which a feature is selected, whatever else is: intervals (m, 2).

        `active` are the features that are selected at one of these t.
        """
        (low, low_change), (high, high_change) = self._ends(active)
        found = [(low, high)]
        for side, change, place in ((0, low_change, low), (1, high_change, high)):
            state = active.copy()
            for _ in range(_MOST_CHANGES):
                if change < 0:
                    break
                state[change] = not state[change]
                ends = self._ends(state)
                beyond, change = ends[side]
                if state[feature]:
                    found.append((beyond, place) if side == 0 else (place, beyond))
                place = beyond
        return _joined(np.array(found))

    def _ends(self, active: BoolArray) -> tuple[tuple[float, int], tuple[float, int]]:
        """Return both ends of the t that select these features, and what changes there, or -1."""
        # weights of the selected and slacks of the others, start + slope * t, must be positive
        M, rest = self._M, ~active
        start, slope = np.empty(active.size), np.empty(active.size)
        right = np.column_stack([self._Z - self._alpha, self._c])
        weights = solve(M[np.ix_(active, active)], right[active], assume_a="pos")
        start[active], slope[active] = weights.T
        slack = M[np.ix_(rest, active)] @ weights - right[rest]
        start[rest], slope[rest] = slack.T
        with np.errstate(divide="ignore", invalid="ignore"):
            zero = -start / slope
        lows = np.where(slope > 0, zero, -np.inf)
        highs = np.where(slope < 0, zero, np.inf)
        i, j = int(np.argmax(lows)), int(np.argmin(highs))
        return (
            (float(lows[i]), i if np.isfinite(lows[i]) else -1),
            (float(highs[j]), j if np.isfinite(highs[j]) else -1),
        )


def _joined(intervals: FloatArray) -> FloatArray:
    """Sort intervals (m, 2) and join those that touch."""
    intervals = intervals[np.argsort(intervals[:, 0])]
    made = [intervals[0].tolist()]
    for low, high in intervals[1:].tolist():
        if low <= made[-1][1]:
            made[-1][1] = max(made[-1][1], high)
        else:
            made.append([low, high])
    return np.array(made)
