"""Greedy selection by the HSIC of subsets, forward and backward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from hsiclasso._checks import check_choice, check_flag, check_positive, is_number
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.base import Baseline, check_unused
from hsiclasso.baselines.job import ANY_TARGET, Choice, Job, Report, Traits
from hsiclasso.baselines.joint import (
    Estimator,
    SubsetHSIC,
    check_samples,
    squared_distances,
    target_matrix,
)
from hsiclasso.errors import InvalidInputError

__all__ = ["GreedyHSIC"]

_MOST_SAMPLES = 10_000
_DROP = 0.1
#: A kernel matrix whose entries off the diagonal are all smaller is the identity to HSIC.
_IDENTITY = 1e-12


@dataclass(kw_only=True, eq=False, repr=False)
class GreedyHSIC(Baseline):
    r"""Greedy feature selection with HSIC: FOHSIC forward, BAHSIC backward.

    The features of a subset S share one Gaussian kernel on their standardised columns,

    .. math:: K_{il} = \exp\Big(-\frac{1}{2\sigma^2}\sum_{j \in S}(x_{ij} - x_{lj})^2\Big),
              \qquad \mathrm{HSIC}(S) = \frac{1}{(n-1)^2}\operatorname{tr}(K\Gamma L\Gamma)

    with the Gram matrix L of the target. Forward, each step adds the feature that makes HSIC
    largest. Backward, each round drops the features without which it stays largest. Unlike a
    ranking by the HSIC of single features, both see what features say together. Neither can undo a
    step.

    Parameters
    ----------
    %(n_features_to_select)s
    direction : {"forward", "backward"}, default="forward"
        ``"forward"`` starts from nothing and costs :math:`dn^2` for each feature selected;
        ``"backward"`` starts from all features and costs about :math:`d^2n^2 / 2` one by one,
        :math:`10dn^2` with the usual share.
    estimator : {"biased", "unbiased"}, default="biased"
        ``"unbiased"`` is the U-statistic of Song et al.,
        :math:`\frac{1}{n(n-3)}\big[\operatorname{tr}\tilde K\tilde L
        + \frac{1^\top\tilde K 1\, 1^\top\tilde L 1}{(n-1)(n-2)}
        - \frac{2}{n-2} 1^\top\tilde K\tilde L 1\big]` with zeroed diagonals. It needs 4 samples.
    width : float or "median", default=1.0
        :math:`\sigma` of a single feature, in standard deviations. ``"median"`` is the root of the
        median squared distance between samples, over all features that vary, divided by their
        number.
    retune_width : bool, default=True
        With True, :math:`\sigma` is the width times the root of the number of features in the
        subset: distances are means over features. With False, :math:`\sigma` is the width
        for every subset, and the kernel of many features is close to the identity.
    drop : float, default=0.1
        Backward only: share of the features that a round drops, at least one. A round never
        drops features that are wanted. 0 drops one by one.
    %(target)s
    %(n_jobs)s

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        What a feature adds to HSIC: the HSIC of the subset with it, less that without it, at the
        step that added or dropped it. A feature never added is scored as if the next step added
        it. A score is capped by the scores of features ranked higher.
    hsic_ : ndarray of shape (n_selected,)
        HSIC of the best feature, of the best two, and so on.
    width_ : float
        Width of a single feature.
    %(fitted)s

    Notes
    -----
    Two matrices of all pairs of samples are held, 16 bytes for each pair; at most 10,000 samples
    are taken. Forward, features are ranked in the order in which they are added; backward, a
    feature dropped later ranks higher. Ties go to the feature of the lower index.

    References
    ----------
    Song, Smola, Gretton, Bedo and Borgwardt (2012). Feature selection via dependence
    maximization. Journal of Machine Learning Research 13, 1393-1434.

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> from hsiclasso.baselines import GreedyHSIC
    >>> X, y, causal = make_data1(300, 50, random_state=0)
    >>> set(GreedyHSIC(4).fit(X, y).selected_) == set(causal)
    True
    """

    direction: Literal["forward", "backward"] = "forward"
    estimator: Estimator = "biased"
    width: float | Literal["median"] = 1.0
    retune_width: bool = True
    drop: float = _DROP
    n_jobs: int | None = -1

    traits = Traits("Greedy HSIC", "non-linear", "greedy", "none", "medium", ANY_TARGET, "n^2 d m")

    def _check(self) -> None:
        check_choice("direction", self.direction, ("forward", "backward"))
        check_choice("estimator", self.estimator, get_args(Estimator))
        check_flag("retune_width", self.retune_width)
        if isinstance(self.width, str) and self.width != "median":
            raise InvalidInputError(f"width={self.width!r} is unknown: pass a number or 'median'.")
        if not isinstance(self.width, str):
            check_positive("width", self.width)
        if not (is_number(self.drop) and 0 <= self.drop < 1):
            raise InvalidInputError(
                f"drop={self.drop!r}, but the share of features that a round drops lies between 0 "
                "(one by one) and 1."
            )
        if self.direction == "forward":
            check_unused("drop", self.drop, _DROP, "direction='forward'")

    def _choose(self, job: Job) -> Choice:
        check_samples(job, _MOST_SAMPLES)
        coupling = target_matrix(job.target.data, job.source.n_samples, self.estimator)
        columns, features = job.standardised().T, np.flatnonzero(job.varies)
        if self.width == "median":
            self.width_ = _median_width(columns[features], job.n_threads)
        else:
            self.width_ = float(self.width)
        hsic = SubsetHSIC(columns, coupling, self.width_, bool(self.retune_width), job.n_threads)
        n_wanted = min(job.n_wanted, features.size)
        if self.direction == "forward":
            ranked, gains, self.hsic_ = _forward(hsic, features, n_wanted, job.report)
        else:
            ranked, gains, self.hsic_ = _backward(hsic, features, n_wanted, job.report, self.drop)
        # scores fall along the ranking, and constant columns add nothing
        capped = np.minimum.accumulate(gains[ranked])
        scores = np.full(job.source.n_features, capped.min(initial=0.0))
        scores[ranked] = capped
        ties = np.zeros(job.source.n_features)
        ties[ranked] = -np.arange(ranked.size)
        return Choice(scores, ties, order=ranked[:n_wanted])


#: The features that vary, best first; what each of all features added to HSIC (d,); and the HSIC of
#: the best feature, of the best two, and so on.
_Found = tuple[IntArray, FloatArray, FloatArray]


def _forward(hsic: SubsetHSIC, features: IntArray, n_wanted: int, report: Report) -> _Found:
    """Add the feature that makes HSIC largest, again and again."""
    distances, left = np.zeros_like(hsic.coupling), features
    gains, sums = np.zeros(len(hsic.columns)), np.zeros(features.size)
    order: list[int] = []
    found: list[float] = []
    # one round more than features wanted, to rank the others
    for size in range(1, min(n_wanted + 1, features.size) + 1):
        sums = hsic.pair_sums(distances, size, left, 1)
        values = hsic.whole(sums)
        gains[left] = values - (found[-1] if found else 0.0)
        if size > n_wanted:
            break
        best = int(np.argmax(sums))
        order.append(int(left[best]))
        found.append(float(values[best]))
        hsic.add(distances, order[-1])
        left, sums = np.delete(left, best), np.delete(sums, best)
        report("features", size, n_wanted)
    rest = left[np.argsort(-sums, kind="stable")]
    return np.append(np.array(order, dtype=np.int64), rest), gains, np.array(found)


def _backward(
    hsic: SubsetHSIC, features: IntArray, n_wanted: int, report: Report, drop: float
) -> _Found:
    """Drop the features without which HSIC stays largest, until none is left."""
    left, gains, found = features, np.zeros(len(hsic.columns)), np.zeros(n_wanted)
    dropped: list[IntArray] = []
    while left.size:
        size = left.size
        distances = hsic.distances(left)
        if not dropped:
            _check_sight(hsic, distances, size)
        whole = hsic.of(distances, size)
        if size <= n_wanted:
            found[size - 1] = whole
        # HSIC of no feature is 0
        sums = hsic.pair_sums(distances, size - 1, left, -1) if size > 1 else np.zeros(1)
        gains[left] = whole - hsic.whole(sums) if size > 1 else whole
        # of ties the lower index stays
        first = np.lexsort((-left, -sums))[: _n_dropped(size, n_wanted, drop)]
        dropped.append(left[first])
        left = np.delete(left, first)
        report("features dropped", features.size - left.size, features.size)
    ranked = np.concatenate([np.zeros(0, dtype=np.int64), *dropped])[::-1]
    return ranked, gains, found


def _n_dropped(size: int, n_wanted: int, drop: float) -> int:
    """Number of features to drop out of `size`; wanted ones go one by one, to be ranked."""
    if size <= n_wanted:
        return 1
    return min(max(1, int(drop * size)), size - n_wanted)


def _check_sight(hsic: SubsetHSIC, distances: FloatArray, size: int) -> None:
    """Raise if the kernel of any two samples is 0: then all subsets have the same HSIC."""
    nearest = min(float(distances[i, :i].min()) for i in range(1, len(distances)))
    if hsic.gamma(size) * nearest > -np.log(_IDENTITY):
        raise InvalidInputError(
            f"width={hsic.width:.4g} is so small for {size} features together that the kernel of "
            "any two samples is 0 and HSIC the same for all subsets: pass retune_width=True, a "
            "larger width, or direction='forward'."
        )


def _median_width(columns: FloatArray, n_threads: int) -> float:
    """Width of one feature, from the median distance between samples in all columns (k, n)."""
    k, n = columns.shape
    distances = squared_distances(columns, n_threads)
    median = float(np.median(np.concatenate([distances[i, :i] for i in range(1, n)])))
    if k and not median > 0:
        raise InvalidInputError(
            "width='median', but more than half of the pairs of samples are equal: pass a number."
        )
    return float(np.sqrt(median / k)) if k else 1.0
