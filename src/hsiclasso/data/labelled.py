"""A table in one array with codes for labels, and a target of such codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data.sources import ArraySource, Kind, UniformSource

__all__ = ["DTYPE_OF_KIND", "LabelledColumns", "LabelledSource", "OrderedLabels"]

#: What a frame would call the dtype of columns of a kind.
DTYPE_OF_KIND: dict[Kind, str] = {
    "number": "float64",
    "bool": "bool",
    "category": "category",
    "text": "str",
}


class LabelledColumns(UniformSource):
    """Columns of one dtype, some of which hold codes of labels, or booleans."""

    #: Kinds of the columns that are not what the dtype says, by position.
    _kinds: dict[int, Kind]
    #: Labels of category and text columns, by position.
    _labels: dict[int, list[Any]]

    def kind(self, column: int) -> Kind:
        """Kind of one column."""
        return self._kinds.get(column, super().kind(column))

    @property
    def uniform_kind(self) -> Kind | None:
        """Kind of all columns, or None if they differ."""
        kinds = set(self._kinds.values())
        if len(self._kinds) < self.n_features:
            kinds.add(super().kind(0))
        return kinds.pop() if len(kinds) == 1 else None

    def categories(self, column: int) -> list[Any] | None:
        """Labels of the codes of a category or text column, None for other kinds."""
        labels = self._labels.get(column)
        return None if labels is None else list(labels)


class LabelledSource(LabelledColumns, ArraySource):
    """Columns of one array of floats, some of which hold codes of labels.

    Parameters
    ----------
    array : ndarray of shape (n_samples, n_features)
        Numbers, booleans and codes 0, 1, ... of labels; NaN where missing. Never copied.
    names : sequence of str
        Column names.
    kinds : mapping of int to str
        Kinds of the columns that are not numbers.
    labels : mapping of int to list
        Labels of category and text columns.
    dtypes : sequence of str, optional
        Names of the dtypes that the columns had before.

    Examples
    --------
    >>> import numpy as np
    >>> array = np.array([[0.5, 1.0], [0.7, 0.0], [0.2, 1.0]])
    >>> table = LabelledSource(array, ["age", "sex"], {1: "text"}, {1: ["f", "m"]})
    >>> table.kind(0), table.kind(1), table.categories(1)
    ('number', 'text', ['f', 'm'])
    """

    def __init__(
        self,
        array: FloatArray,
        names: Sequence[str],
        kinds: Mapping[int, Kind],
        labels: Mapping[int, list[Any]],
        dtypes: Sequence[str] | None = None,
    ) -> None:
        super().__init__(array, names)
        self._kinds = dict(kinds)
        self._labels = dict(labels)
        self._dtypes = dtypes

    def dtype_name(self, column: int) -> str:
        """Name of the dtype that the column would have in a frame."""
        return DTYPE_OF_KIND[self.kind(column)] if self._dtypes is None else self._dtypes[column]


class OrderedLabels:
    """A target of ordered labels, with the attributes of pandas' ordered categories.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Positions of the labels in their order, NaN where missing.

    Attributes
    ----------
    codes : ndarray of int of shape (n,)
        The same with -1 where missing.
    dtype : object
        Its `ordered` is True.
    """

    dtype = SimpleNamespace(ordered=True)

    def __init__(self, codes: FloatArray) -> None:
        self.codes = np.where(np.isnan(codes), -1, codes).astype(np.int64)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: IntArray) -> OrderedLabels:
        return OrderedLabels(np.where(self.codes < 0, np.nan, self.codes)[rows])
