r"""From statistics of originals and knockoffs to a selection with few false discoveries.

:math:`W_j` is large if feature j matters more than its knockoff. For a feature that is independent
of the target given all others, the sign of :math:`W_j` is that of a fair coin. The number of
:math:`W_j \le -t` therefore estimates how many of the :math:`W_j \ge t` are false.
"""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray, IntArray

__all__ = ["average_e_values", "e_bh", "e_values", "knockoff_threshold"]


def knockoff_threshold(W: FloatArray, level: float, *, stop_early: bool = False) -> float:
    r"""Return the threshold of knockoff+ (Barber and Candes, 2015).

    .. math:: \tau = \min\Big\{t > 0 :
              \frac{1 + |\{j : W_j \le -t\}|}{|\{j : W_j \ge t\}|} \le q\Big\}

    Parameters
    ----------
    W : ndarray of shape (d,)
        Statistics.
    level : float
        The level q. Fewer than 1/q features are never selected.
    stop_early : bool, default=False
        Also stop where fewer than 1/q features are left, so that the e-values of a draw that
        selects nothing are not all zero (Ren and Barber, 2024).

    Returns
    -------
    float
        Infinite if there is no such t.

    Examples
    --------
    >>> knockoff_threshold(np.array([5.0, 4.0, 3.0, 2.0, -1.0]), level=0.25)
    2.0
    """
    sizes = np.unique(np.abs(W[W != 0]))
    ordered = np.sort(W)
    above = W.size - np.searchsorted(ordered, sizes, side="left")
    below = np.searchsorted(ordered, -sizes, side="right")
    stops = 1 + below <= level * above
    if stop_early:
        stops |= level * above < 1
    return float(sizes[np.argmax(stops)]) if stops.any() else float("inf")


def e_values(W: FloatArray, threshold: float) -> FloatArray:
    r"""Return the e-value of every feature in one draw of knockoffs.

    .. math:: e_j = \frac{d \, 1\{W_j \ge \tau\}}{1 + |\{k : W_k \le -\tau\}|}

    The e-values of the false features have expectations that add up to at most d. So have means
    over several draws.

    Examples
    --------
    >>> e_values(np.array([5.0, 4.0, 3.0, -2.0, 1.0]), threshold=2.0)
    array([2.5, 2.5, 2.5, 0. , 0. ])
    """
    return W.size * (threshold <= W) / (1.0 + np.count_nonzero(-threshold >= W))


def average_e_values(statistics: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the threshold of each draw, and the mean e-values.

    With one draw, `e_bh` at the same level selects what knockoff+ selects.

    Parameters
    ----------
    statistics : ndarray of shape (n_draws, d)
        W of each draw.
    level : float
        Level of each draw.

    Returns
    -------
    thresholds : ndarray of shape (n_draws,)
    values : ndarray of shape (d,)
    """
    several = len(statistics) > 1
    found = [knockoff_threshold(W, level, stop_early=several) for W in statistics]
    values = [e_values(W, threshold) for W, threshold in zip(statistics, found, strict=True)]
    return np.array(found), np.mean(values, axis=0)


def e_bh(values: FloatArray, q: float) -> tuple[IntArray, float]:
    r"""Select by e-values with false discovery rate q (Wang and Ramdas, 2022).

    Selects the features with the k largest e-values, for the largest k with
    :math:`e_{(k)} \ge d / (q k)`.

    Parameters
    ----------
    values : ndarray of shape (d,)
    q : float

    Returns
    -------
    selected : ndarray of int
        Features by decreasing e-value.
    threshold : float
        The least e-value that is selected; infinite if none is.

    Examples
    --------
    >>> e_bh(np.array([0.0, 30.0, 25.0, 1.0]), q=0.1)
    (array([1, 2]), 20.0)
    """
    d = values.size
    order = np.argsort(-values, kind="stable")
    # a sum of reciprocals may miss the bound by rounding
    enough = values[order] * np.arange(1, d + 1) * q >= d * (1 - 1e-12)
    if not enough.any():
        return order[:0].astype(np.int64), float("inf")
    k = int(np.flatnonzero(enough)[-1]) + 1
    return order[:k].astype(np.int64), d / (q * k)
