r"""How many features stability selection selects by chance: bounds, and thresholds that keep them.

Let q of p features be selected on each half of the samples, :math:`\theta = q/p`, and let a feature
be selected in the end if a share of at least :math:`\tau` of the 2B halves selects it. The bounds
are on the expected number of features that are selected in the end although a half selects them
with probability :math:`\theta` or less, that is, no more often than a feature picked blindly.

The halves come in B complementary pairs. Let X be the share of pairs in which *both* halves select
such a feature. Its mean is at most :math:`\theta^2`, and
:math:`\hat\Pi \ge \tau` implies :math:`X \ge 2\tau - 1`. What follows depends on what is assumed
about the distribution of X on {0, 1/B, ..., 1} (Shah and Samworth, 2013):

============  ===================================================================================
none          Markov's inequality: :math:`p\,\theta^2 / (2\tau - 1)`, the bound of Meinshausen and
              Bühlmann (2010)
unimodal      :math:`p\,\theta^2` times a constant: see `_unimodal_constant`
r-concave     the worst tail of all r-concave distributions with this mean, r = -1/2; and of all
              those of :math:`\hat\Pi` on {0, 1/2B, ..., 1} with mean :math:`\theta`, r = -1/4
============  ===================================================================================

A probability function f is r-concave, for r < 0, if :math:`f^r` is convex. The stronger the
assumption, the lower the threshold for the same number of false selections.

References
----------
Meinshausen and Bühlmann (2010). Stability selection. JRSS B 72(4).
Shah and Samworth (2013). Variable selection with error control: another look at stability
selection. JRSS B 75(1).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np

from hsiclasso._checks import check_choice, check_count, is_number, is_positive
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.errors import InvalidInputError

__all__ = [
    "Assumption",
    "StabilityLevels",
    "check_levels",
    "false_selections",
    "resolve_levels",
    "worst_tail",
]

Assumption = Literal["r-concave", "unimodal", "none"]

#: The r of the share of pairs that agree, and of the share of halves.
_R_PAIRS, _R_HALVES = -1 / 2, -1 / 4
#: Logarithms of the parameter of the worst distributions between which it is searched for.
_LEAST_LOG, _MOST_LOG = -25.0, 25.0
#: Steps of the two searches, and the smaller part of the golden section.
_BISECTIONS, _GOLDEN_STEPS, _GOLDEN = 64, 40, 0.5 * (np.sqrt(5.0) - 1)
#: Products of a threshold and a number of halves that differ by less are the same whole number.
_DIGITS = 9


@dataclass(frozen=True)
class StabilityLevels:
    """A threshold, the features selected on each half, and the false selections they allow.

    Attributes
    ----------
    threshold : float
        Share of the halves that must select a feature.
    n_features : float
        Features selected on each half; the mean, if the selector decides itself.
    expected_false : float or None
        Bound on the expected number of false selections; None if there is none, as for bootstrap.
    n_total : int
        Features to choose from.
    n_pairs : int
        Pairs of halves.
    assumption : {"r-concave", "unimodal", "none"}
        What is assumed about frequencies.
    """

    threshold: float
    n_features: float
    expected_false: float | None
    n_total: int
    n_pairs: int
    assumption: Assumption

    def to_dict(self) -> dict[str, Any]:
        """Return the fields."""
        return asdict(self)


def false_selections(
    n_features: float, n_total: int, threshold: float, n_pairs: int = 50,
    assumption: Assumption = "r-concave",
) -> float:  # fmt: skip
    """Bound the expected number of false selections.

    Parameters
    ----------
    n_features : float
        Number q of features selected on each half.
    n_total : int
        Number p of features to choose from.
    threshold : float
        Share of the halves that must select a feature. Frequencies are multiples of
        ``1 / (2 * n_pairs)``: between two of them the larger counts.
    n_pairs : int, default=50
        Number B of complementary pairs.
    assumption : {"r-concave", "unimodal", "none"}, default="r-concave"

    Returns
    -------
    float
        At most `n_total`. It is infinite nowhere: where a bound says nothing, it is `n_total`.

    Examples
    --------
    >>> round(false_selections(10, 100, 0.6), 4), round(false_selections(10, 100, 0.6, 50, "none"))
    (1.1413, 5)
    """
    share, count = n_features / n_total, _count(threshold, n_pairs)
    level = 2 * count / (2 * n_pairs) - 1  # 2 tau - 1
    tail = share**2 / level if level > 0 else 1.0
    if assumption == "unimodal":
        tail = min(tail, _unimodal_constant(count, n_pairs, share) * share**2)
    if assumption == "r-concave":
        both = worst_tail(share**2 * n_pairs, count - n_pairs, n_pairs, _R_PAIRS)
        single = worst_tail(share * 2 * n_pairs, count, 2 * n_pairs, _R_HALVES)
        tail = min(tail, both, single)
    return float(n_total * min(tail, 1.0))


def _count(threshold: float, n_pairs: int) -> int:
    """Return the number of halves that must select a feature."""
    return int(np.ceil(round(threshold * 2 * n_pairs, _DIGITS)))


def _unimodal_constant(count: int, n_pairs: int, share: float) -> float:
    r"""Return the factor of :math:`\theta^2` for unimodal X; infinite where there is none.

    .. math:: \frac{1}{2(2\tau - 1 - 1/(2B))} \text{ for } \tau \le \tfrac34, \qquad
              \frac{4(1 - \tau + 1/(2B))}{1 + 1/B} \text{ above}

    if :math:`\theta \le 1/\sqrt 3` and
    :math:`\tau > \tfrac12 + \min(\theta^2, \tfrac1{2B} + \tfrac34\theta^2)`.
    """
    threshold, step = count / (2 * n_pairs), 1 / (2 * n_pairs)
    if share > 1 / np.sqrt(3) or threshold <= 0.5 + min(share**2, step + 0.75 * share**2):
        return np.inf
    if threshold > 0.75:
        return 4 * (1 - threshold + step) / (1 + 2 * step)
    rest = 2 * threshold - 1 - step
    return 1 / (2 * rest) if rest > 0 else np.inf


@lru_cache(maxsize=4096)
def worst_tail(mean: float, least: int, size: int, r: float) -> float:
    r"""Return the largest :math:`P(X \ge \text{least})` of r-concave X on {0, ..., size}.

    X has a mean of at most `mean`. The worst distribution is
    :math:`f(i) \propto (a + i)^{1/r}` on {0, ..., k}, with the rest of the probability at k + 1.
    For each k, a lies between the values at which this rest is nothing and at which it continues
    the formula. The result is 1 where `least` is not well above twice the mean, because the formula
    says nothing there.

    Parameters
    ----------
    mean : float
    least, size : int
    r : float
        Below 0.

    Examples
    --------
    >>> worst_tail(1.0, 1, 10, -0.5), worst_tail(1.0, 11, 10, -0.5)
    (1.0, 0.0)
    """
    first = int(np.ceil(round(2 * mean, _DIGITS))) + 1
    if least < first:
        return 1.0
    if least > size:
        return 0.0
    # smaller supports than {0, ..., k + 1} do not reach `least`
    k = np.arange(max(first, least - 1), size + 1)
    ends = _ends(k, mean, r)
    if k.size == 1:  # the whole range, which the formula fills
        return float(_tails(ends, k, mean, least, r)[0])
    high, low, k = ends[:-1], ends[1:], k[:-1]
    for _ in range(_GOLDEN_STEPS):
        step = _GOLDEN * (high - low)
        rises = _tails(low + step, k, mean, least, r) > _tails(high - step, k, mean, least, r)
        low, high = np.where(rises, high - step, low), np.where(rises, high, low + step)
    inside = _tails(0.5 * (low + high), k, mean, least, r)
    at_ends = _tails(ends[1:], k, mean, least, r)
    return float(max(inside.max(), at_ends.max()))


def _ends(k: IntArray, mean: float, r: float) -> FloatArray:
    """Return log a for each k at which the formula on {0, ..., k} has the mean, by bisection."""
    i = np.arange(k[-1] + 1)
    within = i <= k[:, None]
    low, high = np.full(k.size, _LEAST_LOG), np.full(k.size, _MOST_LOG)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        above = (within * _formula(i, middle, r)) @ (i - mean) > 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.asarray(0.5 * (low + high))


def _formula(i: IntArray, log_a: FloatArray, r: float) -> FloatArray:
    """Return ((a + i) / a) ** (1 / r), which is 1 at 0, for each a."""
    return np.asarray((1 + i * np.exp(-log_a)[:, None]) ** (1 / r))


def _tails(log_a: FloatArray, k: IntArray, mean: float, least: int, r: float) -> FloatArray:
    """Return the tails of distributions with parameters a on {0, ..., k}, the rest at k + 1."""
    i = np.arange(k[-1] + 1)
    f = _formula(i, log_a, r)
    # the mean requires that the sum of (k + 1 - i) f(i) over i <= k be k + 1 - mean
    scale = (k + 1 - mean) / (np.maximum(k[:, None] + 1 - i, 0) * f).sum(axis=1)
    return np.asarray(1 - scale * f[:, :least].sum(axis=1), dtype=np.float64)


def check_levels(
    threshold: Any, n_features: Any, expected_false: Any, *, bounded: bool = True
) -> None:
    """Raise if a level breaks its rule, whatever the table.

    `bounded` says whether there is a bound on false selections: bootstrap samples have none.
    """
    check_count("n_features", n_features, least=1)
    if threshold is not None and not (is_number(threshold) and 0 < threshold <= 1):
        raise InvalidInputError(
            f"threshold={threshold!r}, but a share of the half-samples lies above 0 and is at most "
            "1, such as 0.75."
        )
    if expected_false is None:
        return
    if not is_positive(expected_false):
        raise InvalidInputError(
            f"expected_false={expected_false!r}, but the expected number of false selections is a "
            "finite number > 0, such as 1.0."
        )
    if not bounded:
        raise InvalidInputError(
            f"expected_false={expected_false!r}, but there is no bound on the false selections of "
            "bootstrap samples: give a threshold, or sampling='complementary_pairs'."
        )


def resolve_levels(
    n_total: int,
    n_pairs: int,
    assumption: Assumption = "r-concave",
    *,
    threshold: float | None = None,
    n_features: float | None = None,
    expected_false: float | None = None,
) -> StabilityLevels:
    """Find the third of threshold, features for each half and expected false selections.

    Parameters
    ----------
    n_total : int
        Number of features to choose from.
    n_pairs : int
        Number of complementary pairs of halves.
    assumption : {"r-concave", "unimodal", "none"}, default="r-concave"
    threshold, n_features, expected_false : float, default=None
        Two of them; or all three, which must then agree: the bound must not be above
        `expected_false`. A threshold that is found is the smallest that keeps the bound, and a
        number of features the largest.

    Returns
    -------
    StabilityLevels
        With the bound of these levels as `expected_false`.

    Examples
    --------
    >>> resolve_levels(200, 50, threshold=0.6, expected_false=0.2).n_features
    6
    >>> resolve_levels(200, 50, n_features=7, expected_false=0.2).threshold
    0.62
    """
    check_choice("bound", assumption, get_args(Assumption))
    check_levels(threshold, None, expected_false)
    given = [threshold, n_features, expected_false]
    if sum(value is not None for value in given) < 2:
        raise InvalidInputError(
            f"threshold={threshold!r}, n_features={n_features!r} and "
            f"expected_false={expected_false!r}: give two of them, and the third follows."
        )
    if n_features is not None and n_features > n_total:
        raise InvalidInputError(
            f"n_features={n_features:g} of each half-sample is greater than n_features={n_total} "
            "of the table: ask for fewer."
        )

    def bound(q: float, tau: float) -> float:
        return false_selections(q, n_total, tau, n_pairs, assumption)

    if n_features is None:
        assert threshold is not None
        assert expected_false is not None
        n_features = _most_features(bound, n_total, threshold, expected_false)
    elif threshold is None:
        assert expected_false is not None
        threshold = _least_threshold(bound, n_features, n_pairs, expected_false)
    reached = bound(n_features, threshold)
    if expected_false is not None and reached > expected_false:
        raise InvalidInputError(
            f"threshold={threshold:g}, n_features={n_features:g} and "
            f"expected_false={expected_false:g} do not agree: with {n_total} features the bound on "
            f"false selections is {reached:.3g}. Leave one of the three out, and it is found."
        )
    return StabilityLevels(
        float(threshold), n_features, reached, n_total, n_pairs, assumption
    )  # fmt: skip


def _most_features(bound: Any, n_total: int, threshold: float, expected_false: float) -> int:
    """Return the largest number of features whose bound is not above what is allowed."""
    if bound(1, threshold) > expected_false:
        raise InvalidInputError(
            f"threshold={threshold:g} and expected_false={expected_false:g} cannot be kept: even "
            f"with one of {n_total} features on each half-sample the bound on false selections is "
            f"{bound(1, threshold):.3g}. Raise one of the two."
        )
    low, high = 1, 2
    while high <= n_total and bound(high, threshold) <= expected_false:
        low, high = high, 2 * high
    high = min(high, n_total + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if bound(middle, threshold) <= expected_false:
            low = middle
        else:
            high = middle
    return low


def _least_threshold(bound: Any, n_features: float, n_pairs: int, expected_false: float) -> float:
    """Return the smallest share of the halves whose bound is not above what is allowed."""
    low, high = 0, 2 * n_pairs
    if bound(n_features, 1.0) > expected_false:
        raise InvalidInputError(
            f"n_features={n_features:g} and expected_false={expected_false:g} cannot be kept: even "
            f"at a threshold of 1 the bound on false selections is {bound(n_features, 1.0):.3g}. "
            "Select fewer features on each half-sample, allow more, or take more pairs."
        )
    while high - low > 1:
        middle = (low + high) // 2
        if bound(n_features, middle / (2 * n_pairs)) <= expected_false:
            high = middle
        else:
            low = middle
    return high / (2 * n_pairs)
