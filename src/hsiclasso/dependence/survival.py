r"""Right-censored times -> rows of the kernel log-rank target.

A censored time is known only to exceed what was observed, so times cannot be compared with each
other. The log-rank statistic compares, at each event, the sample that had it with all that were
still at risk. Its kernel version (Fernandez, Gretton, Rindt and Sejdinovic, "A kernel log-rank
test of independence for right-censored data", JASA 2023) is the squared norm of

.. math:: v = \sum_i \delta_i\, \psi(t_i) \otimes \Bigl(\varphi(x_i) -
          \frac{1}{|R_i|} \sum_{j \in R_i} \varphi(x_j)\Bigr), \qquad R_i = \{j : t_j \ge t_i\},

with :math:`\psi` the features of times, :math:`\varphi` those of samples and :math:`\delta_i = 1`
for an event. It is linear in the kernel of the samples, :math:`\|v\|^2 = \langle K, M\rangle`:
M takes the place of the target's centred Gram matrix.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError

__all__ = ["log_rank_rows"]


def log_rank_rows(
    features: FloatArray,
    time: npt.ArrayLike,
    event: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
) -> FloatArray:
    r"""Rows B of the kernel log-rank target: ``B.T @ B`` is M.

    .. math:: M = W^{-1/2} (I-A)^\top D W L W D (I-A) W^{-1/2}, \qquad
              A_{ij} = \frac{w_j 1\{t_j \ge t_i\}}{\sum_{l:\, t_l \ge t_i} w_l},

    with :math:`L = \Psi^\top\Psi` the Gram matrix of the times, D the diagonal matrix of events
    and W that of weights. Column j of B is, by sorting and cumulative sums in O(n (r + log n)),

    .. math:: \sqrt{w_j}\, \bigl(\delta_j \psi(t_j) - H(t_j)\bigr), \qquad
              H(t) = \sum_{i:\, t_i \le t} \frac{w_i \delta_i \psi(t_i)}
              {\sum_{l:\, t_l \ge t_i} w_l}.

    For :math:`\psi = 1`, H is the Nelson-Aalen estimate of the cumulative hazard and B the row
    of martingale residuals. Samples with equal times are at risk together (Breslow). The rows
    are centred: ``B @ sqrt(w)`` is 0.

    Parameters
    ----------
    features : ndarray of shape (r, n)
        Features :math:`\Psi` of the times, not centred.
    time : array-like of shape (n,)
        Observed times, of events and of censoring.
    event : array-like of shape (n,)
        1 or True where the time is that of an event, 0 or False where it is censored.
    weights : array-like of shape (n,), optional
        Non-negative weights; ones by default. With whole numbers,
        :math:`\langle M, W^{1/2} K W^{1/2}\rangle` is the statistic of the data in which sample
        i is repeated :math:`w_i` times.

    Returns
    -------
    ndarray of shape (r, n)

    Examples
    --------
    >>> log_rank_rows(np.ones((1, 3)), [1.0, 2.0, 3.0], [1, 0, 1]).round(3)
    array([[ 0.667, -0.333, -0.333]])
    """
    n = features.shape[1]
    times = _checked("time", time, n)
    events = _checked("event", event, n)
    share = np.ones(n) if weights is None else _checked("weights", weights, n)
    _check_values(events, share)
    order = np.argsort(times, kind="stable")
    times, events, share = times[order], events[order], share[order]
    # Equal times share one risk set: from the first of them, and a hazard up to the last.
    at_risk = np.cumsum(share[::-1])[::-1][np.searchsorted(times, times, side="left")]
    # Whoever has an event and a weight is itself at risk: only 0/0 is left out.
    jumps = np.divide(share * events, at_risk, out=np.zeros(n), where=at_risk > 0)
    by_time = features[:, order]
    hazard = np.cumsum(by_time * jumps, axis=1)
    hazard = hazard[:, np.searchsorted(times, times, side="right") - 1]
    rows = np.empty_like(hazard)
    rows[:, order] = np.sqrt(share) * (events * by_time - hazard)
    return rows


def _checked(name: str, values: npt.ArrayLike, n: int) -> FloatArray:
    """Return one finite number per sample as an array."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (n,):
        raise InvalidInputError(
            f"{name} has shape {array.shape}, but one value per sample is needed: shape ({n},)."
        )
    if not np.isfinite(array).all():
        i = int(np.argmin(np.isfinite(array)))
        raise InvalidInputError(
            f"{name}[{i}]={array[i]}, but every value must be finite: leave that sample out."
        )
    return array


def _check_values(events: FloatArray, weights: FloatArray) -> None:
    other = (events != 0) & (events != 1)
    if other.any():
        i = int(np.argmax(other))
        raise InvalidInputError(
            f"event[{i}]={events[i]}, but it must be 1 (the event happened at that time) or 0 "
            "(censored). Codes such as 1 and 2 become that by event == 2."
        )
    if not events.any():
        raise InvalidInputError(
            "event is 0 for every sample, but the log-rank statistic sums over events: all times "
            "are censored. Check that 1 stands for the event and 0 for censoring."
        )
    if (weights < 0).any():
        i = int(np.argmax(weights < 0))
        raise InvalidInputError(
            f"weights[{i}]={weights[i]}, but a weight cannot be negative: 0 leaves a sample out."
        )
