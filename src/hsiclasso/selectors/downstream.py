"""A model that predicts the target from selected features: its table, its target, its folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils import _safe_indexing

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data import RowSubset, Source, as_source
from hsiclasso.data.labelled import OrderedLabels
from hsiclasso.errors import InvalidInputError
from hsiclasso.targets import Prepared, Values

__all__ = ["ModelTable", "default_model", "entries_of", "first_label", "model_target"]

#: Labels of a column, in the order of the columns that stand for them.
Labels = tuple[Any, ...]


@dataclass(frozen=True)
class ModelTable:
    """A table whose rows are cut into folds, and whose columns a model is fitted to.

    A frame or an array gives its columns as they are. A `Source` gives numbers, with a column of
    zeros and ones for each label; the labels are those of the whole table, also in a fold.
    """

    X: Any
    #: Labels of columns, where they are not those of the table itself.
    labels: Mapping[int, Labels] = field(default_factory=dict)

    def rows(self, rows: IntArray) -> ModelTable:
        """Return some rows."""
        if isinstance(self.X, Source):
            return ModelTable(RowSubset(self.X, rows), self.labels)
        return ModelTable(_safe_indexing(self.X, rows))

    def columns(self, columns: IntArray) -> Any:
        """Return some columns, as a model takes them."""
        if isinstance(self.X, Source):
            if first_label(self.X) is None:
                return self.X.block(columns)
            parts = [self._encoded(j) for j in columns.tolist()]
            return np.concatenate([np.zeros((self.X.n_samples, 0)), *parts], axis=1)
        source = as_source(self.X, min_samples=1)
        if first_label(source) is None:
            return source.block(columns)
        return _safe_indexing(self.X, columns, axis=1)

    def labels_of(self, columns: IntArray) -> dict[int, Labels]:
        """Return the labels of columns, for a table that numbers them anew."""
        if not isinstance(self.X, Source):
            return {}
        named = ((j, self.X.categories(j)) for j in columns.tolist())
        return {j: tuple(labels) for j, labels in named if labels is not None}

    def _encoded(self, column: int) -> FloatArray:
        """Return one column as numbers; labels that were never seen, or are missing, have none."""
        values = self.X.block(np.array([column]))
        own = self.X.categories(column)
        if own is None:
            return np.asarray(values)
        place = {label: code for code, label in enumerate(own)}
        codes = [place.get(label, -1) for label in self.labels.get(column, own)]
        return np.asarray(values == np.array(codes), dtype=np.float64)


def default_model(target: Prepared, *, gaps: bool = False) -> Any:
    """Return a support vector machine for classes or for one column of numbers.

    With `gaps`, missing numbers are replaced by the median.
    """
    data, kind = target.data, target.target
    if not isinstance(data, Values) or len(data.raw) != 1:
        raise InvalidInputError(
            "the usual model is a support vector machine for one column of classes or numbers, but "
            f"y is {kind.words} of another form: pass an estimator, and a scoring if it has no "
            "score."
        )
    model = SVC() if kind.name == "classes" else SVR()
    return make_pipeline(*([_filled()] if gaps else []), StandardScaler(), model)


def _filled() -> Any:
    return SimpleImputer(strategy="median", keep_empty_features=True)


def model_target(target: Prepared, y: Any) -> Any:
    """Return the target of the usual model: labels of classes, or numbers, NaN where missing."""
    assert isinstance(target.data, Values)
    if target.target.name == "classes":
        return np.asarray(y).ravel()
    if target.rows is None:
        return target.data.raw[0]
    numbers = np.full(target.rows.size, np.nan)
    numbers[target.rows] = target.data.raw[0]
    return numbers


def entries_of(y: Any, rows: IntArray) -> Any:
    """Return some entries of a target of any form."""
    if isinstance(y, tuple):  # times and events
        return tuple(entries_of(part, rows) for part in y)
    if isinstance(y, OrderedLabels):
        return y[rows]
    plain = hasattr(y, "__getitem__") or hasattr(y, "iloc")
    return _safe_indexing(y if plain else np.asarray(y), rows)


def first_label(source: Source) -> str | None:
    """Return the name of the first column that holds labels, if there is one."""
    if source.uniform_kind in ("number", "bool"):
        return None
    kinds = ((j, source.kind(j)) for j in range(source.n_features))
    return next((source.name(j) for j, kind in kinds if kind in ("category", "text")), None)
