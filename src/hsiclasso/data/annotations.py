"""Values of samples by name, which are read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from hsiclasso._types import IntArray

__all__ = ["Annotations", "GivenLabels", "RankedLabels", "as_labels", "rows_of"]

Array = np.ndarray[Any, Any]


class Annotations(Mapping[str, Array]):
    """Values of samples by name; each is read once, when it is asked for.

    Parameters
    ----------
    names : iterable of str
        All names.
    read : callable
        Returns the values of a name.

    Examples
    --------
    >>> notes = Annotations(["age", "sex"], {"age": np.arange(3)}.__getitem__)
    >>> list(notes), notes["age"].tolist()
    (['age', 'sex'], [0, 1, 2])
    """

    def __init__(self, names: Iterable[str], read: Callable[[str], Array]) -> None:
        self._names = dict.fromkeys(names)
        self._read = read
        self._known: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._known:
            self._known[name] = self._read(name)
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_known": {}}  # a process that needs values reads them itself


class RankedLabels(Array):
    """An array of labels that have an order; rows of it have the same order.

    Parameters
    ----------
    labels : ndarray of object of shape (n,)
        Labels, None where missing.
    order : sequence
        All labels, in their order.

    Examples
    --------
    >>> RankedLabels(np.array(["low", None, "high"], dtype=object), ["low", "high"])[[2, 1]].codes
    array([ 1., nan])
    """

    order: list[Any]

    def __new__(cls, labels: Array, order: Sequence[Any]) -> RankedLabels:
        """Give labels an order."""
        made = np.asarray(labels, dtype=object).view(cls)
        made.order = list(order)
        return made

    def __array_finalize__(self, parent: Any) -> None:
        self.order = getattr(parent, "order", [])

    @property
    def codes(self) -> Array:
        """Positions of the labels in their order, NaN where missing."""
        places = {label: float(place) for place, label in enumerate(self.order)}
        return np.array([places.get(label, np.nan) for label in self.tolist()])


class GivenLabels(Array):
    """An array of labels that a user or a file calls so: numbers among them are names."""


def as_labels(codes: Array, labels: Sequence[Any], *, ordered: bool = False) -> Array:
    """Return the text of labels that are given by codes; negative codes are missing.

    Examples
    --------
    >>> as_labels(np.array([1, -1, 0]), ["a", "b"]).tolist()
    ['b', None, 'a']
    """
    texts = [str(label) for label in labels]
    known = np.array([*texts, None], dtype=object)
    found = known[np.where(codes < 0, len(texts), codes).astype(np.int64)]
    return RankedLabels(found, texts) if ordered else found.view(GivenLabels)


def rows_of(notes: Mapping[str, Array], rows: IntArray) -> Annotations:
    """Return the annotations of some samples."""
    return Annotations(notes, partial(_take, notes, rows))


def _take(notes: Mapping[str, Array], rows: IntArray, name: str) -> Array:
    return notes[name][rows]
