"""Minimum redundancy, maximum relevance."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from joblib import effective_n_jobs

from hsiclasso._checks import check_choice, check_count
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.base import ANY_TARGET, Choice, Job, Traits
from hsiclasso.baselines.dependency import Bins, Dependency, MeasuredBaseline, MeasureName
from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors.targets import MultiOutput, Task

__all__ = ["MRMR"]

#: Least redundancy by which a relevance is divided.
_FLOOR = 1e-3
#: Correlation of a column with a multiple of itself.
_COPY = 1 - 1e-12


class MRMR(MeasuredBaseline):
    r"""Feature selection by minimum redundancy and maximum relevance (mRMR).

    Features are chosen one by one: the next is that with the largest

    .. math:: I(x_j; y) - \frac1{|S|}\sum_{s \in S} I(x_j; x_s)

    (``"difference"``, MID) or the quotient of the two terms (``"quotient"``, MIQ), S being the
    features chosen so far. The mean is updated by the feature chosen last, so that m features
    cost m comparisons of one column with all.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features; ten by default, or all if there are fewer.
    scheme : {"difference", "quotient"}
        MID or MIQ.
    measure : {"mi", "parzen", "f", "correlation", "hsic", "nhsic", "nocco"}
        ``"mi"``: mutual information of binned columns. ``"parzen"``: mutual information with
        Parzen windows. ``"f"``: the F-test with the target and the absolute correlation between
        features, as in the package mrmr_selection; ``"correlation"`` takes the correlation with
        the target too. The others are the kernel measures of `HSICLasso`.
    bins : {"peng", "quantile", "levels"}
        For ``"mi"``: three states, cut at mean -+ `threshold` deviations as in Peng's program;
        `n_bins` states of equal size; or every distinct value a state. A column with no more
        values than states keeps them, and so do classes and labels; a real target is cut like
        the columns, with ``"levels"`` as with ``"peng"`` if it has many values.
    threshold : float
        Deviations from the mean at which ``"peng"`` cuts.
    n_bins : int
        States of ``"quantile"``.
    x_width : float, optional
        Width of kernels or windows, in deviations.
    pool : int, optional
        Only so many features of the largest relevance are candidates, and no more are selected
        unless `n_features_to_select` says so; all by default.
    task, y_kernel, y_width, y_transform, multioutput
        How the target is understood, as in `HSICLasso`. States can be made of any values;
        targets of other kinds need a measure with kernels.
    n_jobs : int, optional
        Threads; -1 takes all cores.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Value of the criterion: of a selected feature when it was chosen, of the others at the
        end.
    relevance_ : ndarray of shape (n_features,)
        Dependence of every feature on the target.
    ranking_, selected_, result_
        Places of all features; columns selected, best first; the same with names.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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

    traits: ClassVar[Traits] = Traits(
        title="mRMR",
        dependency="non-linear",
        optimization="greedy",
        form="none",
        scalability="high",
        tasks=ANY_TARGET,
        cost="n d m",
    )

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        scheme: Literal["difference", "quotient"] = "difference",
        measure: MeasureName = "mi",
        bins: Bins = "peng",
        threshold: float = 1.0,
        n_bins: int = 5,
        x_width: float | None = None,
        pool: int | None = None,
        task: Task = "auto",
        y_kernel: Any = "auto",
        y_width: Any = None,
        y_transform: Literal["rank"] | None = None,
        multioutput: MultiOutput = "auto",
        n_jobs: int | None = -1,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.scheme = scheme
        self.measure = measure
        self.bins = bins
        self.threshold = threshold
        self.n_bins = n_bins
        self.x_width = x_width
        self.pool = pool
        self.task = task
        self.y_kernel = y_kernel
        self.y_width = y_width
        self.y_transform = y_transform
        self.multioutput = multioutput
        self.n_jobs = n_jobs

    def _check(self) -> None:
        check_choice("scheme", self.scheme, ("difference", "quotient"))
        check_count("pool", self.pool, least=1)
        wanted = self.n_features_to_select
        if self.pool is not None and wanted is not None and self.pool < wanted:
            raise InvalidInputError(
                f"pool={self.pool} is less than n_features_to_select={wanted}: there would be too "
                "few candidates."
            )
        self._options()

    def _choose(self, job: Job) -> Choice:
        dependency = self._options().relate(job, effective_n_jobs(self.n_jobs))
        relevance = dependency.relevance
        candidates = np.flatnonzero(job.varies)
        if self.pool is not None:
            first = np.argsort(-relevance[candidates], kind="stable")[: self.pool]
            candidates = np.sort(candidates[first])
        self.relevance_ = relevance
        order, scores = self._search(job, dependency, relevance, candidates)
        outside = np.setdiff1d(np.arange(relevance.size), candidates)
        if outside.size and candidates.size:
            # below every candidate, by their relevance
            least = min(scores[candidates].min(), 0.0) - 1.0
            scores[outside] = least + relevance[outside] / (1.0 + relevance.max())
        fill = self.n_features_to_select is not None or self.pool is None
        return Choice(order, scores, dependency.task, relevance, fill=fill)

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
        # as in mrmr_selection, what says the same as all chosen features is worth nothing
        return np.where(redundancy > _COPY, 0.0, score) if self.measure == "f" else score
