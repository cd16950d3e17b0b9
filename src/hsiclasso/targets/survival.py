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

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from hsiclasso._checks import check_choice
from hsiclasso._types import BoolArray, FloatArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Gaussian, Kernel, Measure, Samples
from hsiclasso.kernels.factor import orthogonal_factors
from hsiclasso.targets.base import Array, MissingTarget, Target, TargetData, check_length, plain
from hsiclasso.targets.matrix import TargetMatrix, factored_target
from hsiclasso.targets.values import check_rank, target_kernel, tighter, transformed

__all__ = ["Censored", "Survival", "log_rank_rows"]


@dataclass(frozen=True)
class Censored:
    """Times until an event, some of them censored, with the kernel of the times."""

    time: FloatArray
    #: 1.0 where the event was observed, 0.0 where the time is censored, shape (n,).
    event: FloatArray
    kernel: Kernel

    def matrix(
        self, measure: Measure, samples: Samples, *, error: float, n_features: int
    ) -> TargetMatrix:
        """Make the matrix T."""
        check_rank(self.time, self.kernel)
        z = self.time[None].copy()
        self.kernel.scale(z, samples.shares)
        features, rest = self.kernel.rows(z, 1e-13 * samples.total, samples.shares[0])
        rows = log_rank_rows(features, self.time, self.event, samples.weights)
        size = np.array([np.sum(np.square(rows))])
        # an average over risk sets has a norm of at most 2 (Hardy), and I - A one of at most 3
        bound = np.array([9 * rest])
        phi = samples.remove(rows)[None]
        (factor,) = orthogonal_factors(phi, bound, size, samples, measure, tighter(error))
        return factored_target(factor, samples, measure, error)


class Survival(Target):
    """Right-censored times until an event, under the kernel log-rank statistic.

    y is a structured array or a frame of two fields, two columns, or a pair: times, and events
    that are 1 if the event was observed, 0 if the time is censored.

    Parameters
    ----------
    kernel : str or Kernel, default="auto"
        Kernel of the times; ``"auto"`` is the Gaussian kernel of width 1.
    transform : {None, "rank", "normal"}, default=None
        ``"rank"`` replaces the times by their ranks, ``"normal"`` by their normal scores.
    missing : {"error", "drop"}, default="error"
        Whether samples without a target are refused or dropped.

    Examples
    --------
    >>> Survival().prepare(([2.0, 5.0, 3.0], [1, 0, 1]), 3).data.event
    array([1., 0., 1.])
    """

    name: ClassVar[str] = "survival"
    words: ClassVar[str] = "times and events"

    def __init__(
        self,
        kernel: Any = "auto",
        transform: Literal["rank", "normal"] | None = None,
        missing: MissingTarget = "error",
    ) -> None:
        self.kernel = kernel
        self.transform = transform
        self.missing = missing

    def check(self) -> Self:
        """Raise if a parameter breaks its rule."""
        check_choice("transform", self.transform, (None, "rank", "normal"))
        target_kernel(self.kernel, Gaussian())
        return super().check()

    def read(self, y: Any, n: int) -> tuple[FloatArray, FloatArray]:
        """Return times and events."""
        time, event = (plain(part, dates=False) for part in _time_and_event(y))
        if time.dtype.kind == "O" or event.dtype.kind == "O":
            raise InvalidInputError(
                "y has times or events that are not numbers: pass the time from the start to the "
                "event as a number (of days between two dates), and 0 and 1 as events."
            )
        check_length(time.size, n)
        check_length(event.size, n)
        return time.astype(np.float64), event.astype(np.float64)

    def absent(self, values: tuple[FloatArray, FloatArray], n: int) -> BoolArray:
        """Tell on which samples the time or the event is missing."""
        return np.asarray(np.isnan(values[0]) | np.isnan(values[1]))

    def make(
        self, values: tuple[FloatArray, FloatArray], rows: BoolArray
    ) -> tuple[TargetData, Target]:
        """Return the times and events of the samples that are used, with their kernel."""
        time, event = values[0][rows], values[1][rows]
        good = np.isfinite(time) & (time >= 0)
        if not good.all():
            raise InvalidInputError(
                f"y has the time {time[~good][0]}, but times until an event are finite numbers "
                ">= 0: correct or drop such rows."
            )
        if not np.isin(event, (0, 1)).all():
            raise InvalidInputError(
                f"y has the event {event[~np.isin(event, (0, 1))][0]}, but an event is 1 (it was "
                "observed) or 0 (the time is censored): pass time first and event second."
            )
        if not event.any():
            raise InvalidInputError(
                "y has no event: all times are censored, and nothing can be learnt from them; pass "
                "1 where the event was observed."
            )
        if np.ptp(time) == 0:
            raise InvalidInputError(f"y has only one time ({time[0]}): times must differ.")
        time = transformed(time, self.transform)
        return Censored(time, event, target_kernel(self.kernel, Gaussian())), self


def _time_and_event(y: Any) -> tuple[Array, Array]:
    """Read times and events from a structured array, a frame, two columns or a pair."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is None and hasattr(y, "columns"):
        names = list(y.columns)
    if names is not None:
        if len(names) != 2:
            raise InvalidInputError(
                f"y has the fields {', '.join(map(str, names))}, but survival needs two: a time "
                "and an event."
            )
        first, second = (np.asarray(y[name]) for name in names)
        by_name = [str(name).lower() for name in names]
        swapped = first.dtype.kind == "b" or "time" in by_name[1] or "event" in by_name[0]
        return (second, first) if swapped else (first, second)
    if isinstance(y, tuple) and len(y) == 2:
        return np.asarray(y[0]), np.asarray(y[1])
    values = np.asarray(y)
    if values.ndim != 2 or values.shape[1] != 2:
        raise InvalidInputError(
            f"y has shape {values.shape}, but survival needs two columns, time and event (1 if the "
            "event was observed, 0 if the time is censored), or a structured array."
        )
    return values[:, 0], values[:, 1]


def log_rank_rows(
    features: FloatArray,
    time: FloatArray,
    event: FloatArray,
    weights: FloatArray | None = None,
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
    time : ndarray of shape (n,)
        Observed times, of events and of censoring.
    event : ndarray of shape (n,)
        1 where the event was observed at that time, 0 where it is censored.
    weights : ndarray of shape (n,), optional
        Non-negative weights; ones by default. With whole numbers,
        :math:`\langle M, W^{1/2} K W^{1/2}\rangle` is the statistic of the data in which sample
        i is repeated :math:`w_i` times.

    Returns
    -------
    ndarray of shape (r, n)

    Examples
    --------
    >>> log_rank_rows(np.ones((1, 3)), np.array([1.0, 2, 3]), np.array([1.0, 0, 1])).round(3)
    array([[ 0.667, -0.333, -0.333]])
    """
    n = features.shape[1]
    share = np.ones(n) if weights is None else weights
    order = np.argsort(time, kind="stable")
    times, events, share = time[order], event[order], share[order]
    # Equal times share one risk set, which starts at the first of them, and one hazard.
    at_risk = np.cumsum(share[::-1])[::-1][np.searchsorted(times, times, side="left")]
    # A sample with an event and a weight is itself at risk: `where` only avoids 0 / 0.
    jumps = np.divide(share * events, at_risk, out=np.zeros(n), where=at_risk > 0)
    by_time = features[:, order]
    hazard = np.cumsum(by_time * jumps, axis=1)
    hazard = hazard[:, np.searchsorted(times, times, side="right") - 1]
    rows = np.empty_like(hazard)
    rows[:, order] = np.sqrt(share) * (events * by_time - hazard)
    return rows
