"""Choosing the number of features by cross-validation of a downstream estimator."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from hsiclasso._checks import check_choice, check_jobs
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data import Source, as_source, check_finite, is_container
from hsiclasso.data.door import check_rows
from hsiclasso.errors import InvalidInputError, SuspectColumnWarning
from hsiclasso.selectors.auto import refuse_auto
from hsiclasso.selectors.estimators import ColumnSelector, HSICLasso
from hsiclasso.selectors.missing import as_missing
from hsiclasso.selectors.prepare import prepare
from hsiclasso.targets import Affinity, Graph, Target, as_target

__all__ = ["HSICLassoCV", "SizeScores"]

_SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50)


@dataclass(frozen=True)
class SizeScores:
    """Scores of each number of features.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of features.
    scores : ndarray of shape (n_sizes, n_folds)
        Score of the downstream estimator on the part that was left out.
    """

    sizes: tuple[int, ...]
    scores: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Mean score of each size."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of the mean of each size."""
        n_folds = self.scores.shape[1]
        return np.asarray(self.scores.std(axis=1, ddof=min(1, n_folds - 1)) / np.sqrt(n_folds))

    def best(self, rule: str) -> int:
        """Return the size that a rule chooses; among equals, the smallest."""
        if np.isnan(self.mean).all():
            raise InvalidInputError(
                "Every score is NaN: check the scoring, and that the estimator can be fitted to "
                "every fold."
            )
        top = int(np.nanargmax(self.mean))
        enough = self.mean[top] - (self.standard_error[top] if rule == "one_se" else 0.0)
        return min(size for size, mean in zip(self.sizes, self.mean, strict=True) if mean >= enough)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one record per size."""
        columns = (self.sizes, self.mean.tolist(), self.standard_error.tolist())
        return [
            {"n_features": size, "mean_score": mean, "standard_error": error}
            for size, mean, error in zip(*columns, strict=True)
        ]


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
        Estimator that is cross-validated; None is a support vector machine on standardised
        features, for classes or for a real target.
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

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, **params: Any) -> Self:
        """Choose the number of features, then select and fit on all samples.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            The table; its rows are cut into folds.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Target, as in `HSICLasso`, but no matrix between samples.
        groups : array-like of shape (n_samples,), optional
            Groups of samples, for splitters that keep them together.
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
        if not is_container(X) and not hasattr(X, "__array__"):
            raise InvalidInputError(
                f"X is a {type(X).__name__}, whose rows cannot be cut into folds: pass an array, a "
                "sparse matrix or a frame."
            )
        source = as_source(X)
        check_rows(X, source, y=y, **params)
        target = _check_target(y, source.n_samples, selector.target)
        # the kind of the target is the same in every fold, whatever values a fold has
        selector = clone(selector).set_params(target=target)
        sizes = self._check_sizes(source, y, selector, params)
        # before the folds: their errors would name rows of a part of the table
        check_finite(source, ignore=as_missing(selector.missing) is not None)
        validate_data(self, X, skip_check_array=True)
        (X,) = indexable(X)
        model = self.estimator
        if model is None:
            model = _default_model(target, y, _label(source))
        scorer = check_scoring(model, scoring=self.scoring)
        strata = None if isinstance(y, tuple) else y
        cv = check_cv(self.cv, strata, classifier=is_classifier(model))

        tasks = (
            delayed(_fold_scores)(selector, model, X, y, params, train, test, sizes, scorer)
            for train, test in cv.split(np.zeros(source.n_samples), strata, groups)
        )
        folds = Parallel(n_jobs=self.n_jobs)(tasks)
        self.scores_ = SizeScores(sizes, np.array(folds).T)
        self.n_features_ = self.scores_.best(self.rule)
        self.selector_ = clone(selector).set_params(n_features_to_select=self.n_features_)
        self.selector_.fit(X, y, **params)
        self.selected_ = self.selector_.selected_
        self.estimator_ = clone(model).fit(_columns(X, np.sort(self.selected_)), y)
        return self

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
        """Score the downstream estimator on the selected features."""
        columns = self._selected_columns(X)
        scorer = check_scoring(self.estimator_, scoring=self.scoring)
        return float(scorer(self.estimator_, columns, y))

    def _selected_columns(self, X: Any) -> Any:
        check_is_fitted(self)
        source = as_source(X, min_samples=1)
        validate_data(self, X, reset=False, skip_check_array=True)
        check_finite(source, ignore=as_missing(self.selector_.missing) is not None)
        return _columns(X, np.sort(self.selected_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        selector = HSICLasso() if self.selector is None else self.selector
        tags.input_tags = get_tags(selector).input_tags
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def _default_model(target: Target, y: Any, label: str | None) -> Any:
    """Support vector machine for classes or for one real target."""
    if label is not None:
        raise InvalidInputError(
            f"estimator=None is a support vector machine for numbers, but column {label!r} holds "
            "labels: pass an estimator that encodes them, such as a pipeline with a OneHotEncoder."
        )
    one_column = target.name not in ("objects", "survival") and not sparse.issparse(y)
    if not one_column or np.asarray(y).ndim > 1:
        raise InvalidInputError(
            "estimator=None is a support vector machine for one column of classes or numbers, but "
            f"y is {target.words} of another form: pass an estimator, and a scoring if it has no "
            "score."
        )
    return make_pipeline(StandardScaler(), SVC() if target.name == "classes" else SVR())


def _columns(X: Any, columns: IntArray) -> Any:
    """Some columns of any table: as an array of numbers, or as they are if there are labels."""
    source = as_source(X, min_samples=1)
    return source.block(columns) if _label(source) is None else _safe_indexing(X, columns, axis=1)


def _rows(y: Any, rows: IntArray) -> Any:
    """Some entries of a target of any form."""
    if isinstance(y, tuple):  # times and events
        return tuple(_rows(part, rows) for part in y)
    plain = hasattr(y, "__getitem__") or hasattr(y, "iloc")
    return _safe_indexing(y if plain else np.asarray(y), rows)


def _label(source: Source) -> str | None:
    """Name of the first column that holds labels, if there is one."""
    if source.uniform_kind in ("number", "bool"):
        return None
    kinds = ((j, source.kind(j)) for j in range(source.n_features))
    return next((source.name(j) for j, kind in kinds if kind in ("category", "text")), None)


def _check_target(y: Any, n_samples: int, target: Any) -> Target:
    """Return the kind of the target, if folds and downstream estimators can deal with it."""
    asked = as_target(target)
    if isinstance(asked, Affinity | Graph):
        raise InvalidInputError(
            f"target={asked!r} takes a matrix between all samples, which has no folds: "
            "select with HSICLasso, and choose the number of features by alpha='bic'."
        )
    if asked.missing == "drop":
        raise InvalidInputError(
            "missing='drop' of the target would leave samples that cannot be scored: drop them "
            "before."
        )
    return asked.prepare(y, n_samples).target


def _is_size(value: Any, least: int, most: int) -> bool:
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_integer and least <= value <= most


def _fold_scores(
    selector: Any, model: Any, X: Any, y: Any, params: dict[str, Any], train: IntArray,
    test: IntArray, sizes: tuple[int, ...], scorer: Any,
) -> list[float]:  # fmt: skip
    """Select on the training part, then fit and score the estimator for each size."""
    inner, outer = _safe_indexing(X, train), _safe_indexing(X, test)
    known, sought = _rows(y, train), _rows(y, test)
    given = {
        name: None if values is None else _safe_indexing(values, train)
        for name, values in params.items()
    }

    def select(size: int) -> Any:
        made = clone(selector).set_params(n_features_to_select=size)
        try:
            with warnings.catch_warnings():  # the table as a whole is judged once, not by its parts
                warnings.simplefilter("ignore", SuspectColumnWarning)
                return made.fit(inner, known, **given)
        except InvalidInputError as error:
            raise InvalidInputError(
                f"In the training part of a fold, {train.size} of {train.size + test.size} "
                f"samples: {error}"
            ) from error

    fitted = select(sizes[-1])
    if not fitted.selected_.size:
        raise InvalidInputError(
            "No feature depends on the target in the training part of a fold: take fewer folds, or "
            "a splitter that spreads the target evenly."
        )
    scores = []
    for size in sizes:
        if fitted.path_.exact:  # one path has the features of all sizes
            columns = fitted.selected_of_size(min(size, len(fitted.result_.features)))
        else:
            columns = select(size).selected_
        columns = np.sort(columns)
        copy = clone(model).fit(_columns(inner, columns), known)
        scores.append(float(scorer(copy, _columns(outer, columns), sought)))
    return scores
