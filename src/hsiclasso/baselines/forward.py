"""Forward selection by conditional dependence: what a feature says beyond those selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import numpy as np

from hsiclasso._checks import (
    as_generator,
    check_choice,
    check_count,
    check_positive,
    check_random_state,
    is_number,
)
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.base import Baseline, check_unused, score_outside
from hsiclasso.baselines.job import ANY_TARGET, REAL_TARGET, Choice, Job, Report, Traits
from hsiclasso.baselines.joint import check_samples
from hsiclasso.baselines.kernel import KernelDependency, centre_target, target_gram
from hsiclasso.baselines.neighbours import NeighbourCriterion, rank_gram
from hsiclasso.baselines.ridge import ConditionalHSIC, Ridge, RidgeCriterion
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import HSIC
from hsiclasso.targets import Values

__all__ = ["ForwardSelection"]

Criterion = Literal["kpc", "kpc-rkhs", "foci", "hsic-conditional"]

_GRAPH = ("kpc", "foci")
_MOST_SAMPLES = 5000
_WIDTH, _RIDGE, _LEVEL, _POOL = 1.0, 1e-3, 0.05, 5000
#: With k neighbours by default, at most so many, and a share of the samples.
_MOST_NEIGHBORS, _SHARE = 20, 20


class _Steps(Protocol):
    """A criterion, and the features added so far."""

    explained: float

    def gains(self, candidates: IntArray) -> FloatArray:
        """Return what each candidate would add."""

    def worth(self, candidates: IntArray, gains: FloatArray) -> bool:
        """Tell whether the best candidate is to be added."""

    def add(self, feature: int, gain: float) -> None:
        """Add a feature."""


@dataclass(kw_only=True, eq=False, repr=False)
class ForwardSelection(Baseline):
    r"""Forward selection by conditional dependence: KFOCI, FOCI, and by conditional HSIC.

    Each step adds the feature on which the target depends most, given the features S selected
    before. Features are compared jointly with S, so those that matter only together with it are
    seen. The first feature must show by itself. The selection stops by itself when no feature adds
    anything, unless a number of features is asked for.

    Parameters
    ----------
    n_features_to_select : int, default=None
        Number of features; by default the selection stops by itself.
    criterion : {"kpc", "kpc-rkhs", "foci", "hsic-conditional"}, default="kpc"
        ``"kpc"`` is KFOCI: the kernel partial correlation
        :math:`(T(S \cup j) - T(S)) / (T_1 - T(S))`, where T(S) is the mean of the target's kernel
        between samples and their nearest neighbours in S, and :math:`T_1` that between samples and
        themselves. It stops when T does not increase.

        ``"foci"`` is FOCI: the same with the kernel :math:`\min(R_i, R_j)` of the ranks of a real
        target, and one neighbour.

        ``"kpc-rkhs"`` estimates the same correlation by kernel ridge regression on S. It stops when
        the error at samples that are left out does not decrease.

        ``"hsic-conditional"`` takes the HSIC of a feature with what the regression on S leaves of
        the target: alone, and as an interaction with all of S together. It stops when the best
        feature does not exceed the best of each of :math:`1/\text{level} - 1` tables with permuted
        samples.
    n_neighbors : int, default=None
        Number of neighbours with ``"kpc"`` and ``"foci"``. By default 1 for ``"foci"``, else n / 20
        and at most 20.
    width : float, default=1.0
        Width of the Gaussian kernel of a single feature with the last two criteria, in standard
        deviations. That of m features is :math:`\sqrt m` times as wide.
    ridge : float, default=1e-3
        :math:`\epsilon` of the regression with the last two criteria; the penalty is
        :math:`\epsilon n`.
    level : float, default=0.05
        Level of the test that stops ``"hsic-conditional"``.
    pool : int, default=5000
        Consider only this many features, those of the largest HSIC with the target. None for all.
    %(target)s
    random_state : int, Generator, RandomState or None, default=None
        Source of randomness of the permutations of ``"hsic-conditional"``.
    %(n_jobs)s

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Value of the criterion: for a selected feature when it was chosen, for the others at the
        end. Features outside of the pool have lower ones, by their HSIC.
    explained_ : ndarray of shape (n_selected,)
        Share of the target's variation in its feature space that the first feature explains, the
        first two, and so on: :math:`(T(S) - T_0) / (T_1 - T_0)`, where :math:`T_0` is the mean
        between any two samples; with regression, the share at samples that are left out.
    %(fitted)s

    Notes
    -----
    With neighbours, a step costs at most :math:`n^2` for each candidate. A search ends early,
    because distances only grow. The first step sorts columns. A step of ``"kpc-rkhs"`` costs
    :math:`n^3` for each candidate, one of ``"hsic-conditional"`` :math:`n^2 / \text{level}`. At
    most 5000 samples are taken. Ties between neighbours count by their mean, where the authors
    break them at random.

    The test of ``"hsic-conditional"`` is exact for the first feature. Later, it takes what is left
    of the target as exchangeable and the candidates as independent of S.

    A real target with heavy tails is compared by normal scores, as in `HSICLasso`.

    References
    ----------
    Huang, Deb and Sen (2022). Kernel partial correlation coefficient - a measure of conditional
    dependence. Journal of Machine Learning Research 23(216).

    Azadkia and Chatterjee (2021). A simple measure of conditional dependence. Annals of Statistics
    49(6).

    Examples
    --------
    >>> from hsiclasso.baselines import ForwardSelection
    >>> X = np.random.default_rng(0).standard_normal((200, 50))
    >>> y = X[:, 0] * X[:, 1] + np.sin(X[:, 0] * X[:, 2])
    >>> sorted(ForwardSelection().fit(X, y).selected_.tolist())
    [0, 1, 2]
    """

    criterion: Criterion = "kpc"
    n_neighbors: int | None = None
    width: float = _WIDTH
    ridge: float = _RIDGE
    level: float = _LEVEL
    pool: int | None = _POOL
    random_state: Any = None
    n_jobs: int | None = -1

    traits = Traits(
        "Forward selection", "non-linear", "greedy", "none", "medium", ANY_TARGET, "n^2 d m"
    )

    def _check(self) -> None:
        check_choice("criterion", self.criterion, get_args(Criterion))
        check_count("n_neighbors", self.n_neighbors, least=1)
        check_count("pool", self.pool, least=1)
        check_positive("width", self.width)
        check_positive("ridge", self.ridge)
        check_random_state(self.random_state)
        if not (is_number(self.level) and 0 < self.level < 1):
            raise InvalidInputError(
                f"level={self.level!r}, but a level lies between 0 and 1: 0.05 is usual."
            )
        wanted, beside = self.n_features_to_select, f"criterion={self.criterion!r}"
        if self.pool is not None and wanted is not None and self.pool < wanted:
            raise InvalidInputError(
                f"pool={self.pool} is less than n_features_to_select={wanted}: there would be too "
                "few candidates."
            )
        if self.criterion in _GRAPH:
            check_unused("width", self.width, _WIDTH, beside)
            check_unused("ridge", self.ridge, _RIDGE, beside)
        else:
            check_unused("n_neighbors", self.n_neighbors, None, beside)
        if self.criterion != "hsic-conditional":
            check_unused("level", self.level, _LEVEL, beside)

    def _without_kernel(self) -> str:
        return "criterion='foci'" if self.criterion == "foci" else super()._without_kernel()

    def _choose(self, job: Job) -> Choice:
        n, wanted = job.source.n_samples, self.n_features_to_select
        check_samples(job, _MOST_SAMPLES)
        n_neighbors, (gram, unrelated) = self._neighbors(n), self._gram(job)
        candidates, relevance = self._candidates(job)
        columns = np.ascontiguousarray(job.standardised(candidates).T)
        if self.criterion in _GRAPH:
            steps: _Steps = NeighbourCriterion(
                columns, gram, n_neighbors, unrelated=unrelated, n_threads=job.n_threads
            )
        else:
            steps = self._by_regression(columns, gram, job.n_threads)
        order, gains, self.explained_ = _forward(steps, candidates.size, wanted, job.report)
        scores = np.zeros(job.source.n_features)
        scores[candidates] = gains
        message = f"The features explain {self.explained_[-1]:.1%} of the target." if order else ""
        if relevance is not None:
            score_outside(scores, candidates, relevance)
            message += f" Only the {self.pool} features of the largest HSIC were considered."
        chosen = candidates[np.array(order, dtype=np.int64)]
        return Choice(scores, relevance, message.strip(), order=chosen, fill=wanted is not None)

    def _candidates(self, job: Job) -> tuple[IntArray, FloatArray | None]:
        """Return the features that are considered, and the relevance of all if it chose them."""
        candidates = np.flatnonzero(job.varies)
        if self.pool is None or candidates.size <= self.pool:
            return candidates, None
        relevance = KernelDependency(job, "hsic", "auto").relevance
        first = np.argsort(-relevance[candidates], kind="stable")[: self.pool]
        return np.sort(candidates[first]), relevance

    def _by_regression(self, columns: FloatArray, gram: FloatArray, n_threads: int) -> _Steps:
        """Return one of the two criteria that regress the target on the features."""
        ridge = Ridge(float(self.width), float(self.ridge))
        if self.criterion == "kpc-rkhs":
            return RidgeCriterion(columns, gram, ridge, n_threads=n_threads)
        rng = as_generator(self.random_state)
        return ConditionalHSIC(columns, gram, ridge, level=self.level, rng=rng, n_threads=n_threads)

    def _gram(self, job: Job) -> tuple[FloatArray, float | None]:
        """Return the Gram matrix of the target, and with ranks its mean."""
        data = job.target.data
        if self.criterion == "foci":
            kind = job.target.target.name
            if kind not in REAL_TARGET or not isinstance(data, Values) or len(data.raw) > 1:
                raise InvalidInputError(
                    f"y is a target of the kind {kind!r}, but criterion='foci' needs one number "
                    "for each sample: take criterion='kpc', which serves any target."
                )
            return rank_gram(data.raw[0])
        gram = target_gram(data, job.source.n_samples, HSIC().of_target())
        centre_target(gram.copy())
        return gram, None

    def _neighbors(self, n: int) -> int:
        """Return the number of neighbours."""
        if self.n_neighbors is None:
            return 1 if self.criterion == "foci" else min(-(-n // _SHARE), _MOST_NEIGHBORS)
        if self.n_neighbors >= n:
            raise InvalidInputError(
                f"n_neighbors={self.n_neighbors}, but a sample has only {n - 1} others: pass a "
                f"number < n_samples={n}."
            )
        return int(self.n_neighbors)


def _forward(
    steps: _Steps, n_candidates: int, wanted: int | None, report: Report
) -> tuple[list[int], FloatArray, FloatArray]:
    """Add the best candidate, again and again.

    Returns the candidates added, the gain of each when it was added or at the end, and the share
    that is explained after each step.
    """
    left, found = np.arange(n_candidates), np.zeros(n_candidates)
    order: list[int] = []
    explained: list[float] = []
    while left.size:
        gains = steps.gains(left)
        found[left] = gains
        # the gains beside a full selection rank the others
        if len(order) == wanted or (wanted is None and not steps.worth(left, gains)):
            break
        best = int(np.argmax(gains))
        order.append(int(left[best]))
        steps.add(order[-1], float(gains[best]))
        explained.append(steps.explained)
        left = np.delete(left, best)
        report("features", len(order), wanted or 0)
    return order, found, np.array(explained)
