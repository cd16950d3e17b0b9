r"""Normal variables that are known to lie in a union of intervals: p-values, confidence intervals.

If T is normal with mean :math:`\mu`, then, given that T lies in the union, the probability of
:math:`T \ge t` increases with :math:`\mu`. Inverting it gives confidence intervals.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, logsumexp

from hsiclasso._types import FloatArray

__all__ = ["confidence_interval", "survival"]

#: A bound is infinite if it is more than about 2^_DOUBLINGS standard deviations away.
_DOUBLINGS = 14


def survival(t: float, mean: float, sd: float, intervals: FloatArray) -> float:
    r"""Return :math:`P(T \ge t \mid T \in U)` for normal T.

    Parameters
    ----------
    t, mean, sd : float
    intervals : ndarray of shape (m, 2)
        Disjoint intervals whose union is U; ends may be infinite.

    Examples
    --------
    >>> round(survival(1.0, 0.0, 1.0, np.array([[0.5, np.inf]])), 3)
    0.514
    """
    ends = (intervals - mean) / sd
    start = (t - mean) / sd
    above = ends[ends[:, 1] > start]
    if not above.size:
        return 0.0
    above = np.column_stack([np.maximum(above[:, 0], start), above[:, 1]])
    share = logsumexp(_log_masses(above)) - logsumexp(_log_masses(ends))
    return float(np.exp(min(share, 0.0)))


def _log_masses(ends: FloatArray) -> FloatArray:
    """Logarithms of the standard normal probabilities of intervals (m, 2), also far out."""
    # in the upper half by symmetry, where differences of small numbers are exact
    flipped = ends[:, :1] > 0
    low, high = np.where(flipped, -ends[:, ::-1], ends).T
    with np.errstate(divide="ignore", invalid="ignore"):
        below = np.nan_to_num(log_ndtr(low) - log_ndtr(high), nan=0.0, neginf=-np.inf)
        return np.asarray(log_ndtr(high) + np.log1p(-np.exp(np.minimum(below, 0.0))))


def confidence_interval(
    t: float, sd: float, intervals: FloatArray, confidence: float
) -> tuple[float, float]:
    r"""Return an interval for the mean of T, valid given that T lies in the union.

    Its ends are the means with which :math:`P(T \ge t \mid T \in U)` is :math:`\alpha/2` and
    :math:`1 - \alpha/2`, where :math:`1 - \alpha` is the confidence. They may be infinite.

    Examples
    --------
    >>> low, high = confidence_interval(2.0, 1.0, np.array([[-np.inf, np.inf]]), 0.95)
    >>> round(low, 2), round(high, 2)
    (0.04, 3.96)
    """
    tail = (1 - confidence) / 2
    return _mean_with(tail, t, sd, intervals), _mean_with(1 - tail, t, sd, intervals)


def _mean_with(wanted: float, t: float, sd: float, intervals: FloatArray) -> float:
    """Return the mean with which the survival at t has a value; infinite if it is too far."""

    def excess(mean: float) -> float:
        return survival(t, mean, sd, intervals) - wanted

    reach = sd * np.exp2(np.arange(_DOUBLINGS + 1))
    low = next((t - r for r in reach if excess(t - r) <= 0), None)
    high = next((t + r for r in reach if excess(t + r) >= 0), None)
    if low is None:
        return -float("inf")
    if high is None:
        return float("inf")
    return float(brentq(excess, low, high, xtol=1e-10 * sd))
