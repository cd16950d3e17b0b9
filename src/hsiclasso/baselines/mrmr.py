"""Minimum redundancy, maximum relevance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from hsiclasso._checks import check_choice, check_count
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.base import score_outside
from hsiclasso.baselines.dependency import Dependency, MeasuredBaseline
from hsiclasso.baselines.job import ANY_TARGET, Choice, Job, Traits
from hsiclasso.errors import InvalidInputError

__all__ = ["MRMR"]

#: Least redundancy by which a relevance is divided.
_FLOOR = 1e-3
#: Correlation of a column with a multiple of itself.
_COPY = 1 - 1e-12


@dataclass(kw_only=True, eq=False, repr=False)
class MRMR(MeasuredBaseline):
    r"""Feature selection by minimum redundancy and maximum relevance (mRMR).

    Features are chosen one by one. The next feature is the one with the largest

    .. math:: I(x_j; y) - \frac1{|S|}\sum_{s \in S} I(x_j; x_s)

    (``"difference"``, MID) or the largest quotient of the two terms (``"quotient"``, MIQ), where S
    is the set of features chosen so far. Each choice updates the mean: m features cost m
    comparisons of one column with all.

    Parameters
    ----------
    %(n_features_to_select)s
    scheme : {"difference", "quotient"}, default="difference"
        MID or MIQ.
    measure : {"mi", "parzen", "f", "correlation", "hsic", "nhsic", "nocco"}, default="mi"
        ``"mi"``: mutual information of binned columns. ``"parzen"``: mutual information with
        Parzen windows. ``"f"``: the F-test with the target and the absolute correlation between
        features, as in the package mrmr_selection; ``"correlation"`` takes the correlation with
        the target too. The others are the kernel measures of `HSICLasso`.
    pool : int, default=None
        Consider only this many features, those of the largest relevance. No more are selected
        unless `n_features_to_select` says so. By default all features are considered.
    %(measured)s

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Value of the criterion: for a selected feature when it was chosen, for the others at the
        end.
    %(relevance_)s
    %(fitted)s

    References
    ----------
    Peng, Long and Ding (2005). Feature selection based on mutual information: criteria of
    max-dependency, max-relevance, and min-redundancy. IEEE PAMI 27(8).

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> from hsiclasso.baselines import MRMR
    >>> X, y, causal = make_data1(500, 50, random_state=0)
    >>> len(set(MRMR(4, bins="quantile").fit(X, y).selected_) & set(causal))
    4
    """

    scheme: Literal["difference", "quotient"] = "difference"
    pool: int | None = None

    traits = Traits("mRMR", "non-linear", "greedy", "none", "high", ANY_TARGET, "n d m")

    def _check(self) -> None:
        check_choice("scheme", self.scheme, ("difference", "quotient"))
        check_count("pool", self.pool, least=1)
        wanted = self.n_features_to_select
        if self.pool is not None and wanted is not None and self.pool < wanted:
            raise InvalidInputError(
                f"pool={self.pool} is less than n_features_to_select={wanted}: there would be too "
                "few candidates."
            )
        super()._check()

    def _choose(self, job: Job) -> Choice:
        dependency = self._options().relate(job)
        relevance = dependency.relevance
        candidates = np.flatnonzero(job.varies)
        if self.pool is not None:
            first = np.argsort(-relevance[candidates], kind="stable")[: self.pool]
            candidates = np.sort(candidates[first])
        self.relevance_ = relevance
        order, scores = self._search(job, dependency, relevance, candidates)
        score_outside(scores, candidates, relevance)
        fill = self.n_features_to_select is not None or self.pool is None
        return Choice(scores, relevance, order=order, fill=fill)

    def _search(
        self, job: Job, dependency: Dependency, relevance: FloatArray, candidates: IntArray
    ) -> tuple[IntArray, FloatArray]:
        """Choose features one by one; returns them, and the score of every feature."""
        scores = np.zeros(relevance.size)
        redundancy = np.zeros(candidates.size)
        open_ = np.ones(candidates.size, dtype=bool)
        n_wanted = min(job.n_wanted, candidates.size)
        order = np.empty(n_wanted, dtype=np.int64)
        current = relevance[candidates]
        for step in range(n_wanted):
            place = int(np.argmax(np.where(open_, current, -np.inf)))
            order[step], open_[place] = candidates[place], False
            scores[order[step]] = current[place]
            job.report("features", step + 1, n_wanted)
            if open_.any() and (step + 1 < n_wanted or n_wanted < relevance.size):
                rest = candidates[open_]
                redundancy[open_] += self._floored(dependency.block(rest, order[step : step + 1]))
                current = self._criterion(relevance[candidates], redundancy / (step + 1))
        scores[candidates[open_]] = current[open_]
        return order, scores

    def _floored(self, redundancy: FloatArray) -> FloatArray:
        """Redundancy with one feature; correlations are floored as in mrmr_selection."""
        floored = self.scheme == "quotient" and self.measure in ("f", "correlation")
        return np.maximum(redundancy[:, 0], _FLOOR if floored else 0.0)

    def _criterion(self, relevance: FloatArray, redundancy: FloatArray) -> FloatArray:
        if self.scheme == "difference":
            return relevance - redundancy
        score = relevance / np.maximum(redundancy, _FLOOR)
        # as in mrmr_selection, a copy of all chosen features has score 0
        return np.where(redundancy > _COPY, 0.0, score) if self.measure == "f" else score
