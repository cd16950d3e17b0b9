"""Choosing the number of features by cross-validation of a downstream estimator."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from hsiclasso._checks import check_choice, check_jobs
from hsiclasso._types import IntArray
from hsiclasso.data import Source, as_dataset, check_finite, is_container
from hsiclasso.data.door import check_rows
from hsiclasso.dependence import Progress
from hsiclasso.errors import (
    ConstantFeatureWarning,
    FewerFeaturesWarning,
    FewObservedWarning,
    InvalidInputError,
    SuspectColumnWarning,
)
from hsiclasso.selectors.auto import refuse_auto
from hsiclasso.selectors.downstream import (
    ModelTable,
    default_model,
    entries_of,
    first_label,
    model_target,
)
from hsiclasso.selectors.estimators import ColumnSelector, HSICLasso, values_of, with_target_names
from hsiclasso.selectors.missing import as_missing
from hsiclasso.selectors.prepare import prepare
from hsiclasso.selectors.summaries import SizeScores
from hsiclasso.targets import Affinity, Graph, Prepared, as_target

__all__ = ["HSICLassoCV", "SizeScores", "usual_sizes"]

_SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50)
#: Warnings about parts of a table: those about the whole follow.
_OF_PARTS = (
    ConstantFeatureWarning, FewerFeaturesWarning, FewObservedWarning, SuspectColumnWarning,
)  # fmt: skip


def _predicts(name: str) -> Any:
    """Whether the downstream estimator has a method, before and after the fit."""

    def check(self: HSICLassoCV) -> bool:
        model = getattr(self, "estimator_", self.estimator)
        if model is not None:
            getattr(model, name)  # raises AttributeError with the estimator's own words
        return True

    return check


class HSICLassoCV(MetaEstimatorMixin, ColumnSelector):  # type: ignore[misc]
    """Feature selection with the number of features chosen by cross-validation.

    In every fold the features are selected from the training part alone. For each size, the
    downstream estimator is fitted to them and scored on the part that was left out. One path per
    fold gives the features of all sizes.

    Parameters
    ----------
    selector : HSICLasso, NOCCOLasso or EmbeddingLasso, default=None
        Selector; None is ``HSICLasso()``. Its `n_features_to_select` is not used
        and must not be ``"auto"``.
    estimator : estimator, default=None
        Estimator that is cross-validated. None is a support vector machine on standardised
        features, for classes or for one column of numbers: labels of a feature become columns of
        zeros and ones, and missing numbers the median. An estimator of yours gets the columns as
        they are, those of a file as that machine does.
    sizes : sequence of int, default=None
        Numbers of features to try; None is 1, 2, 3, 5, 8, 12, 20, 30 and 50, up to the number of
        features.
    cv : int, splitter or iterable, default=5
        As in scikit-learn; an integer means stratified folds for classes.
    scoring : str or callable, default=None
        As in scikit-learn; None is the estimator's own score.
    rule : {"best", "one_se"}, default="best"
        ``"one_se"`` takes the smallest size within one standard error of the best score.
    n_jobs : int, default=None
        Processes over folds; None is one.

    Attributes
    ----------
    n_features_ : int
        Number of features chosen.
    scores_ : SizeScores
        Scores of every size and fold.
    selector_ : HSICLasso, NOCCOLasso or EmbeddingLasso
        Fitted to all samples, with that number of features.
    estimator_ : estimator
        Fitted to the selected features of all samples.
    selected_ : ndarray
        Selected columns by decreasing weight.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if X has string column names.

    Examples
    --------
    >>> from hsiclasso import HSICLassoCV, make_data1
    >>> X, y, causal = make_data1(200, 30, random_state=0)
    >>> search = HSICLassoCV(sizes=[1, 2, 4, 8], cv=3).fit(X, y)
    >>> search.n_features_, search.transform(X).shape
    (4, (200, 4))
    """

    def __init__(
        self,
        selector: Any = None,
        estimator: Any = None,
        *,
        sizes: Sequence[int] | None = None,
        cv: Any = 5,
        scoring: Any = None,
        rule: Literal["best", "one_se"] = "best",
        n_jobs: int | None = None,
    ) -> None:
        self.selector = selector
        self.estimator = estimator
        self.sizes = sizes
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        groups: Any = None,
        progress: Progress | None = None,
        **params: Any,
    ) -> Self:
        """Choose the number of features, then select and fit on all samples.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            As in `HSICLasso.fit`, also a file; its rows are cut into folds.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), or str
            Target, as in `HSICLasso`, but no matrix between samples. Samples that a target with
            ``missing="drop"`` drops are in no fold.
        groups : array-like of shape (n_samples,), optional
            Groups of samples, for splitters that keep them together.
        progress : callable, optional
            Called with ``"folds"``, the number of folds done and the number in all.
        **params
            Other arguments of the selector's `fit`, ``sample_weight`` or ``covariates``, with one
            entry per sample.

        Returns
        -------
        self
        """
        selector = HSICLasso() if self.selector is None else self.selector
        refuse_auto(selector, "HSICLassoCV finds it by cross-validation")
        check_jobs(self.n_jobs)
        data = as_dataset(X, y)
        source, y = data.source, data.y
        if data.weights is not None:
            params.setdefault("sample_weight", data.weights)
        check_rows(X, source, **params)
        target = _check_target(y, source.n_samples, selector.target)
        # the kind of the target is the same in every fold, whatever values a fold has
        selector = clone(selector).set_params(target=target.target)
        sizes = self._check_sizes(source, y, selector, params)
        # before the folds: their errors would name rows of a part of the table
        gaps = as_missing(selector.missing) is not None
        check_finite(source, ignore=gaps)
        self._set_names(X, source)
        X = self._columns_of_fit(X)  # a frame may have the target
        model, known = self.estimator, y
        is_usual = model is None
        if is_usual:
            model, known = default_model(target, gaps=gaps), model_target(target, y)
        if is_container(X) and not (is_usual and first_label(source)):
            (X,) = indexable(X)
            table = ModelTable(X)
        else:
            table = ModelTable(source)
        scorer = check_scoring(model, scoring=self.scoring)
        used = np.arange(source.n_samples) if target.rows is None else np.flatnonzero(target.rows)
        strata = None if isinstance(known, tuple) else entries_of(known, used)
        cv = check_cv(self.cv, strata, classifier=is_classifier(model))
        together = None if groups is None else entries_of(groups, used)

        fold = _Fold(selector, model, table, (y, known), params, sizes, scorer)
        cut = cv.split(np.zeros(used.size), strata, together)
        splits = [(used[train], used[test]) for train, test in cut]
        folds = []
        for scores in _each(fold, splits, self.n_jobs):
            folds.append(scores)
            if progress is not None:
                progress("folds", len(folds), len(splits))
        found = SizeScores(sizes, np.array(folds).T)
        self.n_features_ = found.best(self.rule)
        self.scores_ = replace(found, chosen=self.n_features_)
        usable = table if target.rows is None else table.rows(used)
        self._refit(selector, model, (table, y), (usable, entries_of(known, used)), params)
        result = with_target_names(self.selector_.result_, data.target_names)
        self.selector_.result_ = result
        return self

    def _refit(
        self, selector: Any, model: Any, whole: tuple[ModelTable, Any],
        usable: tuple[ModelTable, Any], params: dict[str, Any],
    ) -> None:  # fmt: skip
        """Select from the whole table, and fit the model to the samples that have a target."""
        table, y = whole
        self.selector_ = clone(selector).set_params(n_features_to_select=self.n_features_)
        self.selector_.fit(table.X, y, **params)
        self.selector_.result_ = replace(self.selector_.result_, validation=self.scores_)
        self.selected_ = self.selector_.selected_
        columns = np.sort(self.selected_)
        self._labels = table.labels_of(columns)
        self._is_encoded = isinstance(table.X, Source)
        rows, known = usable
        self.estimator_ = clone(model).fit(rows.columns(columns), known)

    def _check_sizes(
        self, source: Source, y: Any, selector: Any, params: dict[str, Any]
    ) -> tuple[int, ...]:
        check_choice("rule", self.rule, ("best", "one_se"))
        any_number = clone(selector).set_params(n_features_to_select=None)
        given = {name: params.get(name) for name in ("sample_weight", "covariates")}
        resolved = prepare(any_number, source, y, **given).penalty
        least, most = max(1, resolved.kept.size), int(np.isfinite(resolved.penalty.weights).sum())
        if self.sizes is None:
            return tuple(size for size in _SIZES if least <= size <= most) or (most,)
        asked: Any = self.sizes
        sizes: list[Any] = list(asked) if isinstance(asked, Iterable) else [None]
        if not sizes or not all(_is_size(size, least, most) for size in sizes):
            raise InvalidInputError(
                f"sizes={self.sizes!r} must be whole numbers between {least} and "
                f"n_features={most}: not fewer than are kept, not more than there are."
            )
        return tuple(sorted({int(size) for size in sizes}))

    @available_if(_predicts("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """Predict with the downstream estimator from the selected features."""
        columns = self._selected_columns(X)
        return self.estimator_.predict(columns)

    @available_if(_predicts("score"))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any) -> float:
        """Score the downstream estimator on the selected features; y may be a column's name."""
        columns = self._selected_columns(X)
        scorer = check_scoring(self.estimator_, scoring=self.scoring)
        return float(scorer(self.estimator_, columns, values_of(X, y)))

    def _selected_columns(self, X: Any) -> Any:
        check_is_fitted(self)
        source = self._source(X)
        check_finite(source, ignore=as_missing(self.selector_.missing) is not None)
        if self._is_encoded:
            table = ModelTable(source, self._labels)
        else:
            table = ModelTable(self._columns_of_fit(X))
        return table.columns(np.sort(self.selected_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        selector = HSICLasso() if self.selector is None else self.selector
        tags.input_tags = get_tags(selector).input_tags
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def _check_target(y: Any, n_samples: int, target: Any) -> Prepared:
    """Return the target, if folds and downstream estimators can deal with it."""
    asked = as_target(target)
    if isinstance(asked, Affinity | Graph):
        raise InvalidInputError(
            f"target={asked!r} takes a matrix between all samples, which has no folds: "
            "select with HSICLasso, and choose the number of features by alpha='bic'."
        )
    return asked.prepare(y, n_samples)


def _is_size(value: Any, least: int, most: int) -> bool:
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_integer and least <= value <= most


def usual_sizes(most: int) -> list[int]:
    """Return the sizes that are usually tried, up to one that is tried too.

    Examples
    --------
    >>> usual_sizes(10)
    [1, 2, 3, 5, 8, 10]
    """
    return [size for size in _SIZES if size < most] + [most]


class _Fold:
    """Selects on the training part, then fits and scores the estimator for each size."""

    def __init__(
        self, selector: Any, model: Any, table: ModelTable, targets: tuple[Any, Any],
        params: dict[str, Any], sizes: tuple[int, ...], scorer: Any,
    ) -> None:  # fmt: skip
        self.selector = selector
        self.model = model
        self.table = table
        #: Target of the selector, and that of the model.
        self.targets = targets
        self.params = params
        self.sizes = sizes
        self.scorer = scorer

    def __call__(self, train: IntArray, test: IntArray) -> list[float]:
        """Return the score of each size."""
        inner, outer = self.table.rows(train), self.table.rows(test)
        known, sought = (entries_of(self.targets[1], rows) for rows in (train, test))
        select = partial(self._select, inner, train, train.size + test.size)
        fitted = select(self.sizes[-1])
        if not fitted.selected_.size:
            raise InvalidInputError(
                "No feature depends on the target in the training part of a fold: take fewer "
                "folds, or a splitter that spreads the target evenly."
            )
        scores = []
        for size in self.sizes:
            if fitted.path_.exact:  # one path has the features of all sizes
                columns = fitted.selected_of_size(min(size, len(fitted.result_.features)))
            else:
                columns = select(size).selected_
            columns = np.sort(columns)
            model = clone(self.model).fit(inner.columns(columns), known)
            scores.append(float(self.scorer(model, outer.columns(columns), sought)))
        return scores

    def _select(self, inner: ModelTable, train: IntArray, total: int, size: int) -> Any:
        given = {
            name: None if values is None else _safe_indexing(values, train)
            for name, values in self.params.items()
        }
        selector = clone(self.selector).set_params(n_features_to_select=size)
        with warnings.catch_warnings():
            for kind in _OF_PARTS:
                warnings.simplefilter("ignore", kind)
            try:
                return selector.fit(inner.X, entries_of(self.targets[0], train), **given)
            except InvalidInputError as error:
                raise InvalidInputError(
                    f"In the training part of a fold, {train.size} of {total} samples: {error}"
                ) from error


def _each(fold: _Fold, splits: list[Any], n_jobs: int | None) -> Iterator[list[float]]:
    """Yield the scores of each fold."""
    if n_jobs in (None, 1):
        yield from (fold(train, test) for train, test in splits)
    else:
        yield from Parallel(n_jobs=n_jobs)(delayed(fold)(train, test) for train, test in splits)
