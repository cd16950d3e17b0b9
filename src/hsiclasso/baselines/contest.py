"""How the methods of a comparison are put on one footing: covariates, and a downstream model."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data import Source
from hsiclasso.data.sources import ArraySource
from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors import HSICLasso
from hsiclasso.selectors.downstream import ModelTable, default_model, entries_of, model_target
from hsiclasso.selectors.prepare import prepare
from hsiclasso.targets import Values, as_target

__all__ = ["Folds", "residuals"]

#: A column is a function of the covariates if less than this share of it is left.
_NOTHING = 1e-8


@dataclass(frozen=True)
class Folds:
    """A downstream model, and the folds on which it is scored."""

    table: ModelTable
    #: Targets of the selectors and of the model.
    targets: tuple[Any, Any]
    model: Any
    scorer: Any
    splits: list[tuple[IntArray, IntArray]]

    @classmethod
    def of(cls, source: Source, y: Any, target: Any, *, cv: Any, estimator: Any = None) -> Folds:
        """Cut a table into folds; without an estimator, the model is a support vector machine."""
        known, prepared = y, as_target(target).prepare(y, source.n_samples)
        if estimator is None:
            estimator, known = default_model(prepared), model_target(prepared, y)
        scorer = check_scoring(estimator)
        rows = prepared.rows
        used = np.arange(source.n_samples) if rows is None else np.flatnonzero(rows)
        strata = None if isinstance(known, tuple) else entries_of(known, used)
        cutter = check_cv(cv, strata, classifier=is_classifier(estimator))
        cut = cutter.split(np.zeros(used.size), strata)
        splits = [(used[train], used[test]) for train, test in cut]
        return cls(ModelTable(source), (y, known), estimator, scorer, splits)

    def judged(self, select: Callable[[Source, Any], IntArray]) -> tuple[float, float, float]:
        """Select on the training part of each fold, and score the model on the other part.

        Returns
        -------
        score, error, stability : float
            Mean score and its standard error; mean share of common features (Jaccard) of the
            selections of two folds.
        """
        scores, selections = [], []
        for train, test in self.splits:
            inner, outer = self.table.rows(train), self.table.rows(test)
            with warnings.catch_warnings():  # about parts of the table
                warnings.simplefilter("ignore", UserWarning)
                columns = np.sort(select(inner.X, entries_of(self.targets[0], train)))
            selections.append(set(columns.tolist()))
            known, sought = (entries_of(self.targets[1], rows) for rows in (train, test))
            model = clone(self.model).fit(inner.columns(columns), known)
            scores.append(float(self.scorer(model, outer.columns(columns), sought)))
        pairs = [len(a & b) / max(1, len(a | b)) for a, b in combinations(selections, 2)]
        error = float(np.std(scores, ddof=min(1, len(scores) - 1))) / np.sqrt(len(scores))
        return float(np.mean(scores)), float(error), float(np.mean(pairs)) if pairs else 1.0


def residuals(source: Source, y: Any, covariates: Any, target: Any) -> tuple[Source, Any, IntArray]:
    """Remove functions of covariates from numbers, for methods that cannot do it themselves.

    Returns
    -------
    table : Source
        The columns that are no covariates, without these functions.
    y : array-like
        The target; numbers without these functions, classes as they are.
    columns : ndarray of int
        Positions of the columns in the whole table.
    """
    inputs = prepare(HSICLasso(covariates=covariates, target=target), source, y)
    columns, samples = inputs.features.first, inputs.features.samples
    kind, data = inputs.target.target, inputs.target.data
    if inputs.subtract:
        raise InvalidInputError("it has no kernel matrix from which covariates are subtracted.")
    if samples.n != source.n_samples:
        raise InvalidInputError("y has missing values, and samples without a target: drop them.")
    for j in columns.tolist():
        if source.kind(j) in ("category", "text"):
            raise InvalidInputError(
                f"column {source.name(j)!r} holds labels, from which no function of the covariates "
                "can be removed."
            )
    if not isinstance(data, Values) or len(data.raw) != 1 or kind.name not in ("real", "classes"):
        raise InvalidInputError(
            f"y is {kind.words}, from which no function of the covariates can be removed."
        )
    removed = samples.removed
    table = ArraySource(_without(source.block(columns).T, removed).T,
                        [source.name(j) for j in columns.tolist()])  # fmt: skip
    return table, y if kind.name == "classes" else _without(data.raw, removed)[0], columns


def _without(rows: FloatArray, removed: FloatArray) -> FloatArray:
    """Return rows (k, n) without some directions; what is rounding error becomes 0."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    left = centred - (centred @ removed.T) @ removed
    gone = np.linalg.norm(left, axis=1) <= _NOTHING * np.linalg.norm(centred, axis=1)
    left[gone] = 0.0
    return np.asarray(left)
