"""Numbers behind the pictures: a smooth curve through samples, and curves of survival."""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray, IntArray

__all__ = ["MOST_DOTS", "central_range", "last_time", "smooth", "survival_curve", "thin"]

#: Most samples that are drawn, and points of a curve.
MOST_DOTS, _POINTS = 400, 41
#: Share of the samples near a point that count for it, and least number of them.
_NEAR, _LEAST = 0.4, 12
#: Values are far if the range of the others is so much smaller; share at either end.
_FAR, _CENTRAL = 2.5, 0.02
#: The last times are far if they are so much later than the first 95%.
_LATE = 2.0


def thin(n: int, most: int = MOST_DOTS) -> IntArray:
    """Return which of n samples are drawn: all, or a random part, always the same.

    Examples
    --------
    >>> thin(3).tolist(), thin(10_000).size
    ([0, 1, 2], 400)
    """
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def smooth(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a curve through samples: a straight line near each point, by weighted least squares.

    Parameters
    ----------
    x, y : ndarray of shape (n,)

    Returns
    -------
    points, values : ndarray of shape (p,)
        Empty if x has fewer than three different values.

    Examples
    --------
    >>> x = np.linspace(0, 1, 50)
    >>> points, values = smooth(x, 2 * x)
    >>> bool(np.allclose(values, 2 * points))
    True
    """
    if np.unique(x).size < 3:
        return np.zeros(0), np.zeros(0)
    some = thin(x.size, 4000)
    x, y = x[some], y[some]
    points = np.unique(np.quantile(x, np.linspace(0.01, 0.99, _POINTS)))
    apart = x[:, None] - points
    number = min(x.size, max(_LEAST, int(_NEAR * x.size)))
    reach = np.partition(np.abs(apart), number - 1, axis=0)[number - 1]
    reach = np.maximum(1.0001 * reach, 0.02 * np.ptp(x))
    weights = np.clip(1 - np.abs(apart / reach) ** 3, 0, None) ** 3
    total = weights.sum(axis=0)
    centre = (weights * apart).sum(axis=0) / total
    moved = apart - centre
    slope = (weights * moved * y[:, None]).sum(axis=0)
    spread = (weights * moved**2).sum(axis=0)
    slope = np.divide(slope, spread, out=np.zeros_like(slope), where=spread > 1e-12 * total)
    return points, (weights * y[:, None]).sum(axis=0) / total - slope * centre


def survival_curve(time: FloatArray, event: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the Kaplan-Meier estimate: times of events, and the share that is left after each.

    Parameters
    ----------
    time : ndarray of shape (n,)
    event : ndarray of shape (n,)
        1 where the event was observed, 0 where the time is censored.

    Examples
    --------
    >>> survival_curve(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 1.0]))[1].round(3)
    array([1.   , 0.667, 0.   ])
    """
    times = np.unique(time[event > 0])
    at_risk = time.size - np.searchsorted(np.sort(time), times, side="left")
    fell = np.searchsorted(np.sort(time[event > 0]), times, side="right") - np.searchsorted(
        np.sort(time[event > 0]), times, side="left"
    )
    left = np.cumprod(1 - fell / at_risk) if times.size else np.zeros(0)
    return np.append(0.0, times), np.append(1.0, left)


def last_time(time: FloatArray) -> float:
    """Return where the curves end: where few samples are left, if the last times are far away."""
    last, most = float(time.max()), float(np.quantile(time, 0.95))
    return most if last > _LATE * most > 0 else last


def central_range(values: FloatArray) -> tuple[float, float]:
    """Return the ends of an axis for numbers; a few far ones do not make all others small.

    Examples
    --------
    >>> central_range(np.append(np.arange(100.0), 1e6))
    (0.0, 146.0)
    """
    low = np.quantile(values, _CENTRAL, method="higher")
    high = np.quantile(values, 1 - _CENTRAL, method="lower")
    least, most = float(values.min()), float(values.max())
    if most - least > _FAR * (high - low) > 0:
        gap = 0.5 * float(high - low)
        return max(float(low) - gap, least), min(float(high) + gap, most)
    return least, most
