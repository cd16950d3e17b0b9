"""What all methods of the comparison share: parameters, the steps of a fit, results."""

from __future__ import annotations

import logging
import warnings
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from hsiclasso._blas import single_threaded_blas
from hsiclasso._checks import check_count, check_jobs
from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.baselines.job import Choice, Job, Report, Traits
from hsiclasso.baselines.result import RankedFeature, RankingResult
from hsiclasso.data import RowSubset, Source, as_dataset, check_finite
from hsiclasso.errors import ConstantFeatureWarning, FewerFeaturesWarning, InvalidInputError
from hsiclasso.selectors.estimators import ColumnSelector
from hsiclasso.targets import Auto, Prepared, Target, as_target
from hsiclasso.targets.values import ValueTarget

__all__ = ["Baseline", "by_score", "check_unused", "n_wanted", "score_outside"]

_DEFAULT_FEATURES = 10
#: Entries of the table that are looked at together.
_BLOCK = 1 << 21
#: Functions between `warnings.warn` and the caller of `fit`.
_STACK = 5

_log = logging.getLogger("hsiclasso")


@dataclass(eq=False, repr=False)
class Baseline(ColumnSelector):
    """A method of the comparison; subclasses declare their parameters and write `_choose`."""

    n_features_to_select: int | None = None
    _: KW_ONLY
    target: str | Target = "auto"

    traits: ClassVar[Traits]
    #: Whether matrix products may use several threads.
    _many_blas_threads: ClassVar[bool] = False

    #: Entries that the docstrings of several methods have in common.
    _entries: ClassVar[dict[str, str]] = {
        "n_features_to_select": """\
n_features_to_select : int, default=None
        Number of features; by default ten, or all if there are fewer.""",
        "target": """\
target : str or Target, default="auto"
        What the target is, as in `hsiclasso.HSICLasso`: a name such as ``"classes"``, or an object
        such as ``Real(transform="rank")``.""",
        "n_jobs": """\
n_jobs : int, default=-1
        Number of threads; -1 for all cores.""",
        "fitted": """\
selected_ : ndarray of int
        Selected columns, best first.
    ranking_ : ndarray of int of shape (n_features,)
        Rank of every column; 1 is best.
    result_ : RankingResult
        Selected features by name.
    n_features_in_, feature_names_in_
        As in scikit-learn.""",
        "relevance_": """\
relevance_ : ndarray of shape (n_features,)
        Dependence of every feature on the target.""",
    }

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__doc__ = (cls.__doc__ or "") % cls._entries

    def fit(self, X: Any, y: Any = None) -> Self:
        """Select features.

        Parameters
        ----------
        X : array-like, sparse matrix, pandas or polars DataFrame of shape (n_samples, n_features)
            The table. It is not changed.
        y : array-like
            The target.

        Returns
        -------
        self
        """
        title = self.traits.title
        return self._fit(X, y, lambda *done: _log.debug("%s: %s %d of %d", title, *done))

    def fit_reporting(self, X: Any, y: Any, report: Report) -> Self:
        """Select features, as `fit` does, and report the progress of long work.

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
        n_jobs = getattr(self, "n_jobs", 1)
        check_jobs(n_jobs)
        self._check()
        kind = self._checked_target()
        data = as_dataset(X, y)
        if data.weights is not None:
            raise InvalidInputError(
                f"X has sample weights, which {type(self).__name__} cannot use: read the table "
                "without them."
            )
        source = data.source
        self._set_names(X, source)
        target = self._served(kind.prepare(data.y, source.n_samples))
        wanted = n_wanted(self.n_features_to_select, source.n_features)
        if target.rows is not None:
            source = RowSubset(source, target.rows)
        check_finite(source)
        n_threads = effective_n_jobs(n_jobs)
        job = Job(source, target, wanted, _varying(source), self.traits, report, n_threads)
        # loops over columns have threads of their own, and small products do not pay for threads
        with nullcontext() if self._many_blas_threads else single_threaded_blas():
            choice = self._choose(job)
        self._conclude(job, choice)
        return self

    def _check(self) -> None:
        """Check the parameters, before any work."""

    def _checked_target(self) -> Target:
        """Return the target that the user gives; raise if it has a kernel that is not used."""
        target = as_target(self.target)
        if isinstance(target, ValueTarget | Auto) and (beside := self._without_kernel()):
            check_unused("the target's kernel", target.kernel, "auto", beside)
        return target

    def _without_kernel(self) -> str:
        """Return what makes a kernel of the target meaningless, in words; "" if nothing does."""
        return "" if self.traits.structured else self.traits.title

    def _served(self, target: Prepared) -> Prepared:
        """Raise if the method does not serve a target of this kind."""
        kind, served, title = target.target.name, self.traits.targets, self.traits.title
        if kind not in served:
            raise InvalidInputError(
                f"y is a target of the kind {kind!r}, but {title} serves only "
                f"{', '.join(served)}: use HSICLasso, which serves any target, or set `target` if "
                "the kind was guessed wrongly."
            )
        return target

    def _takes_labels(self) -> bool:
        """Tell whether columns may hold labels, between which there are no distances."""
        return False

    def _choose(self, job: Job) -> Choice:
        raise NotImplementedError

    def _conclude(self, job: Job, choice: Choice) -> None:
        """Rank all features, and set the fitted attributes."""
        source, d = job.source, job.source.n_features
        order = choice.order
        if order is None:
            order = by_score(choice.scores, choice.ties)[: self.n_features_to_select]
        order = order[job.varies[order]]
        n_selected = order.size
        if choice.fill:
            order = order[: job.n_wanted]
            n_selected = min(job.n_wanted, int(np.count_nonzero(job.varies)))
        everything = _sorted(choice.scores, choice.ties, last=~job.varies)
        ranked = np.append(order, everything[~np.isin(everything, order)]).astype(np.int64)
        counted = self.n_features_to_select is None and not choice.fill
        self.scores_ = np.nan_to_num(choice.scores, nan=np.nan)  # JSON has no infinite numbers
        self.ranking_ = np.empty(d, dtype=np.int64)
        self.ranking_[ranked] = np.arange(1, d + 1)
        self.selected_ = ranked[:n_selected]
        constant = tuple(source.name(int(k)) for k in np.flatnonzero(~job.varies))
        origins = np.where(np.isin(self.selected_, order), "method", "filled").tolist()
        self.result_ = RankingResult(
            features=tuple(
                RankedFeature(source.name(k), k, float(self.scores_[k]), origin)
                for k, origin in zip(self.selected_.tolist(), origins, strict=True)
            ),
            method=self.traits.title,
            target=job.target.target.name,
            n_samples=job.source.n_samples,
            n_features=d,
            n_requested=None if counted else job.n_wanted,
            message=choice.message,
            constant=constant,
        )
        self._warn(job, choice.unsolved, order.size, constant)

    def _warn(self, job: Job, unsolved: str, n_by_method: int, constant: tuple[str, ...]) -> None:
        if unsolved:
            warnings.warn(unsolved, ConvergenceWarning, stacklevel=_STACK)
        if constant:
            warnings.warn(
                f"{len(constant)} of {self.n_features_in_} columns do not vary and are not "
                f"selected: {', '.join(constant[:5])}{', ...' if len(constant) > 5 else ''}",
                ConstantFeatureWarning,
                stacklevel=_STACK,
            )
        missing = self.selected_.size - n_by_method
        if missing > 0:
            warnings.warn(
                f"{self.traits.title} chose {n_by_method} features where {job.n_wanted} were "
                f"asked for: {missing} more are taken by their score alone. {self.result_.message}",
                FewerFeaturesWarning,
                stacklevel=_STACK,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = "labels" in self.traits.targets
        tags.input_tags.categorical = self._takes_labels()
        return tags


def by_score(scores: FloatArray, ties: FloatArray | None = None) -> IntArray:
    """Return the features with a score above 0, best first; `ties` rank those of equal score."""
    order = _sorted(scores, ties, last=~(scores > 0))
    return order[: np.count_nonzero(scores > 0)]


def check_unused(name: str, value: Any, default: Any, beside: str) -> None:
    """Raise if a parameter is given that another one makes meaningless.

    Examples
    --------
    >>> check_unused("drop", 0.5, 0.1, "direction='forward'")
    Traceback (most recent call last):
        ...
    hsiclasso.errors.InvalidInputError: drop=0.5 has no meaning with direction='forward': leave \
it out.
    """
    plain = isinstance(value, str | int | float | np.number)  # others may be equal in parts
    if value is not default and not (plain and value == default):
        raise InvalidInputError(f"{name}={value!r} has no meaning with {beside}: leave it out.")


def score_outside(scores: FloatArray, candidates: IntArray, relevance: FloatArray) -> None:
    """Give features that were no candidates scores below all others, by their relevance."""
    outside = np.setdiff1d(np.arange(scores.size), candidates)
    if outside.size and candidates.size:
        least = min(scores[candidates].min(), 0.0) - 1.0
        scores[outside] = least + relevance[outside] / (1.0 + relevance.max())


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


def _sorted(scores: FloatArray, ties: FloatArray | None, last: BoolArray) -> IntArray:
    """Sort all features by score, then by ties, then by index; those in `last` come at the end."""
    ties = np.zeros(scores.size) if ties is None else ties
    return np.lexsort((np.arange(scores.size), -ties, -scores, last))


def _varying(source: Source) -> BoolArray:
    """Tell which columns are not constant."""
    step = max(1, _BLOCK // source.n_samples)
    found = np.empty(source.n_features, dtype=bool)
    for start in range(0, source.n_features, step):
        part = slice(start, min(source.n_features, start + step))
        block = source.block(part)
        found[part] = np.any(block != block[0], axis=0)
    return found
