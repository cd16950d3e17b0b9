"""What all methods of the comparison share: their interface, and what they say of themselves."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from hsiclasso._checks import check_count
from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.baselines.result import RankedFeature, RankingResult
from hsiclasso.data import Source, as_source, check_finite
from hsiclasso.errors import ConstantFeatureWarning, FewerFeaturesWarning, InvalidInputError
from hsiclasso.selectors.targets import (
    MultiOutput,
    PreparedTarget,
    TargetOptions,
    Task,
    prepare_target,
)

__all__ = [
    "ANY_TARGET",
    "REAL_TARGET",
    "VALUE_TARGET",
    "Baseline",
    "Choice",
    "Job",
    "Report",
    "Traits",
    "n_wanted",
]

#: Called with the name of the stage, the number of units done and the number in all.
Report = Callable[[str, int, int], None]

#: Tasks of a real target; of values of any kind; and of any target.
REAL_TARGET = ("regression", "ordinal", "counts")
VALUE_TARGET = (*REAL_TARGET, "classification", "multilabel")
ANY_TARGET = (*VALUE_TARGET, "survival", "structured")

_DEFAULT_FEATURES = 10
#: Entries of the table that are looked at together.
_BLOCK = 1 << 21

_log = logging.getLogger("hsiclasso")


@dataclass(frozen=True)
class Traits:
    """What a method is, in the terms of the paper's Table 1.

    Attributes
    ----------
    title : str
        Its usual name.
    dependency : str
        Dependence that it can find: linear, additive non-linear or non-linear.
    optimization : str
        How features are found: convex, non-convex, greedy or one by one.
    form : {"primal", "dual", "none"}
        Space in which an optimisation problem is solved.
    scalability : {"high", "medium", "low"}
        With respect to the number of features.
    tasks : tuple of str
        Targets that it serves, as in `hsiclasso.selectors.targets.TargetOptions`.
    cost : str
        Order of operations for n samples, d features and m of them selected.
    """

    title: str
    dependency: Literal["linear", "additive non-linear", "non-linear"]
    optimization: Literal["convex", "convex after a shift", "non-convex", "greedy", "one by one"]
    form: Literal["primal", "dual", "none"]
    scalability: Literal["high", "medium", "low"]
    tasks: tuple[str, ...]
    cost: str

    @property
    def structured(self) -> bool:
        """Whether targets other than a column of values are served."""
        return "structured" in self.tasks


@dataclass(frozen=True)
class Job:
    """What a method is asked to do, the table being checked.

    Attributes
    ----------
    source : Source
        The table, without missing values.
    y : array-like
        The target as it was given: read it by `target`.
    n_wanted : int
        Features to select.
    varies : ndarray of bool of shape (d,)
        False for constant columns, which are never selected.
    traits : Traits
        Those of the method.
    report : callable
        To be told how far long work is.
    """

    source: Source
    y: Any
    n_wanted: int
    varies: BoolArray
    traits: Traits
    report: Report

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.source.n_samples

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.source.n_features

    def target(self, options: TargetOptions) -> PreparedTarget:
        """Read the target, or raise if the method has no use for its kind."""
        prepared = prepare_target(self.y, self.n_samples, options)
        served = self.traits.tasks
        if prepared.task not in served:
            title = self.traits.title
            raise InvalidInputError(
                f"y is a target of the kind {prepared.task!r}, but {title} serves only "
                f"{', '.join(served)}: use HSICLasso, which serves any target, or set the task if "
                "the kind was guessed wrongly."
            )
        return prepared

    def check_numbers(self) -> None:
        """Raise if a column holds labels, between which there are no distances."""
        if self.source.uniform_kind in ("number", "bool"):
            return
        for column in range(self.n_features):
            if self.source.kind(column) in ("category", "text"):
                raise InvalidInputError(
                    f"column {self.source.name(column)!r} holds labels, but {self.traits.title} "
                    "needs numbers here: encode it, leave it out, or use HSICLasso."
                )

    def standardised(self) -> FloatArray:
        """Return the table as numbers, (n, d) in Fortran order, columns of mean 0 and variance 1.

        Constant columns are zero.
        """
        self.check_numbers()
        table = self.source.block(slice(0, self.n_features))
        table[:, ~self.varies] = 0.0
        # huge numbers must not overflow when they are added or squared
        for _ in range(2):  # once more for what is left of large means
            table /= np.where(self.varies, np.abs(table).max(axis=0), 1.0)
            table -= table.mean(axis=0)
        table /= np.where(self.varies, table.std(axis=0), 1.0)
        return table


@dataclass(frozen=True)
class Choice:
    """What a method found.

    Attributes
    ----------
    order : ndarray of int
        Features that it selects, best first, none twice.
    scores : ndarray of shape (d,)
        Score of every feature, larger for better: those not selected are ranked by it.
    task : str
        Kind of the target.
    ties : ndarray of shape (d,) or None
        What ranks features of equal score.
    message : str
        What the method has to say of this run, in a sentence.
    fill : bool
        Whether features are to be taken by score where the method selects fewer than wanted.
        With False the method has counted itself, and `order` is taken as it is.
    """

    order: IntArray
    scores: FloatArray
    task: str
    ties: FloatArray | None = None
    message: str = ""
    fill: bool = True


class Baseline(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """A method of the comparison: `_choose` is all that it has to write."""

    traits: ClassVar[Traits]
    n_features_to_select: int | None
    #: How the target is understood, of methods that give it a kernel.
    task: Task
    y_kernel: Any
    y_width: Any
    y_transform: Literal["rank"] | None
    multioutput: MultiOutput

    def fit(self, X: Any, y: Any = None) -> Self:
        """Select features.

        Parameters
        ----------
        X : array-like, sparse matrix, pandas or polars DataFrame of shape (n_samples, n_features)
            The table. Not written to.
        y : array-like
            The target.

        Returns
        -------
        self
        """
        return self._fit(X, y, _log_progress(self.traits.title))

    def fit_reporting(self, X: Any, y: Any, report: Report) -> Self:
        """Select features, as `fit`, and report how far long work is.

        Parameters
        ----------
        X, y
            As for `fit`.
        report : callable
            Called with the name of the stage, the number of units done and the number in all.

        Returns
        -------
        self
        """
        return self._fit(X, y, report)

    def _fit(self, X: Any, y: Any, report: Report) -> Self:
        check_count("n_features_to_select", self.n_features_to_select, least=1)
        if getattr(self, "n_jobs", None) == 0:
            raise InvalidInputError("n_jobs=0 leaves no thread: pass 1 or more, or -1 for all.")
        self._check()
        source = as_source(X)
        validate_data(self, X, skip_check_array=True)
        if y is None:
            prepare_target(y, source.n_samples, TargetOptions())  # raises
        wanted = n_wanted(self.n_features_to_select, source.n_features)
        check_finite(source)
        job = Job(source, y, wanted, _varying(source), self.traits, report)
        # loops over columns are threaded, and small products do not pay for threads in BLAS
        with threadpool_limits(limits=self._blas_threads(), user_api="blas"):
            choice = self._choose(job)
        self._conclude(job, choice)
        return self

    def _check(self) -> None:
        """Raise if a parameter has no meaning, before any work."""

    def _target_options(self) -> TargetOptions:
        """How the target is understood, which is checked."""
        return TargetOptions(
            self.task, self.y_kernel, self.y_width, self.y_transform, self.multioutput
        )

    def _blas_threads(self) -> int | None:
        """Threads of matrix products: one, or None for all."""
        return 1

    def _takes_labels(self) -> bool:
        """Whether columns may hold labels, between which there are no distances."""
        return False

    def _choose(self, job: Job) -> Choice:
        raise NotImplementedError

    def _conclude(self, job: Job, choice: Choice) -> None:
        """Rank all features, and set what was found."""
        source, d = job.source, job.n_features
        order = choice.order[job.varies[choice.order]]
        n_selected = order.size
        if choice.fill:
            order = order[: job.n_wanted]
            n_selected = min(job.n_wanted, int(np.count_nonzero(job.varies)))
        ranked = _ranked(order, choice, job.varies)
        counted = self.n_features_to_select is None and not choice.fill
        self.scores_ = np.nan_to_num(choice.scores, nan=np.nan)  # not infinite, for files
        self.ranking_ = np.empty(d, dtype=np.int64)
        self.ranking_[ranked] = np.arange(1, d + 1)
        self.selected_ = ranked[:n_selected]
        constant = tuple(source.name(int(k)) for k in np.flatnonzero(~job.varies))
        self.result_ = RankingResult(
            features=tuple(
                RankedFeature(
                    source.name(int(k)),
                    int(k),
                    float(self.scores_[k]),
                    "method" if place < order.size else "filled",
                )
                for place, k in enumerate(self.selected_)
            ),
            method=self.traits.title,
            task=choice.task,
            n_samples=job.n_samples,
            n_features=d,
            n_requested=None if counted else job.n_wanted,
            message=choice.message,
            constant=constant,
        )
        self._warn(job, order.size, constant)

    def _warn(self, job: Job, n_by_method: int, constant: tuple[str, ...]) -> None:
        if constant:
            warnings.warn(
                f"{len(constant)} of {job.n_features} columns do not vary and are not selected: "
                f"{', '.join(constant[:5])}{', ...' if len(constant) > 5 else ''}",
                ConstantFeatureWarning,
                stacklevel=5,
            )
        missing = self.selected_.size - n_by_method
        if missing > 0:
            warnings.warn(
                f"{self.traits.title} chose {n_by_method} features where {job.n_wanted} were "
                f"asked for: {missing} more are taken by their score alone. {self.result_.message}",
                FewerFeaturesWarning,
                stacklevel=5,
            )

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self, "selected_")
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = "multilabel" in self.traits.tasks
        tags.input_tags.categorical = self._takes_labels()
        return tags


def _ranked(order: IntArray, choice: Choice, varies: BoolArray) -> IntArray:
    """Return all features: those selected, then the others by score, constant ones last."""
    ties = np.zeros(varies.size) if choice.ties is None else choice.ties
    by_score = np.lexsort((np.arange(varies.size), -ties, -choice.scores, ~varies))
    rest = by_score[~np.isin(by_score, order)]
    return np.append(order, rest).astype(np.int64)


def n_wanted(asked: int | None, n_features: int) -> int:
    """Return how many features to select: as asked, or ten, or all if there are fewer."""
    if asked is None:
        return min(_DEFAULT_FEATURES, n_features)
    if asked > n_features:
        raise InvalidInputError(
            f"n_features_to_select={asked} is greater than n_features={n_features}: ask for at "
            f"most {n_features}."
        )
    return int(asked)


def _varying(source: Source) -> BoolArray:
    """Tell which columns are not constant."""
    step = max(1, _BLOCK // source.n_samples)
    found = np.empty(source.n_features, dtype=bool)
    for start in range(0, source.n_features, step):
        part = slice(start, min(source.n_features, start + step))
        block = source.block(part)
        found[part] = np.any(block != block[0], axis=0)
    return found


def _log_progress(title: str) -> Report:
    def report(stage: str, done: int, total: int) -> None:
        _log.debug("%s: %s %d of %d", title, stage, done, total)

    return report
