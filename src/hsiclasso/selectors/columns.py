"""Finding columns and features of a table by name or index."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from hsiclasso._checks import did_you_mean
from hsiclasso._types import IntArray
from hsiclasso.data import Source
from hsiclasso.dependence import Features
from hsiclasso.errors import InvalidInputError

__all__ = ["ColumnFinder", "FeatureFinder", "close_matches"]


class ColumnFinder:
    """Finds columns of a table by name or index."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._by_name: dict[str, int] | None = None

    def __call__(self, what: str, wanted: Iterable[Any] | None) -> IntArray:
        """Return the positions of the columns wanted, in their order."""
        if wanted is None:
            return np.zeros(0, dtype=np.int64)
        if isinstance(wanted, str) or not isinstance(wanted, Iterable):
            raise InvalidInputError(f"{what}={wanted!r} must be a list of columns: [{wanted!r}].")
        return np.array([self.one(what, item) for item in wanted], dtype=np.int64)

    def names(self) -> dict[str, int]:
        """Return all names, with their positions."""
        if self._by_name is None:
            self._by_name = {self.source.name(j): j for j in range(self.source.n_features)}
        return self._by_name

    def position(self, name: str) -> int | None:
        """Return the position of a name, if there is such a column."""
        return self.names().get(name)

    def one(self, what: str, item: Any) -> int:
        """Return the position of one column."""
        d = self.source.n_features
        if isinstance(item, str):
            position = self.position(item)
            if position is None:
                raise InvalidInputError(
                    f"{what} has {item!r}, but there is no such column: "
                    f"{close_matches(item, self.names())}"
                )
            return position
        if isinstance(item, bool | np.bool_) or not isinstance(item, int | np.integer):
            raise InvalidInputError(
                f"{what} has {item!r}, but columns are given by name or by index."
            )
        if not -d <= item < d:
            raise InvalidInputError(
                f"{what} has index {item}, but there are {d} columns: 0 to {d - 1}."
            )
        return int(item) % d


class FeatureFinder:
    """Finds features by their names, or by the name or index of their column."""

    def __init__(self, features: Features) -> None:
        self.features = features
        self._find = ColumnFinder(features.source)
        self._joint = {name: feature for feature, (name, _) in features.joint.items()}

    def __call__(self, what: str, wanted: Iterable[Any] | None) -> IntArray:
        """Return the numbers of the features wanted, in their order."""
        if isinstance(wanted, str) or not isinstance(wanted, Iterable):
            return self._find(what, wanted)
        return np.array([self._one(what, item) for item in wanted], dtype=np.int64)

    def by_column(self, what: str, values: Any) -> Any:
        """Return a value for each feature, that of its first column, from one for each column."""
        d = self.features.source.n_features
        if values.shape != (d,):
            raise InvalidInputError(
                f"{what} has shape {values.shape}, but there are {d} columns: give one entry for "
                "each."
            )
        return values[self.features.first]

    def _one(self, what: str, item: Any) -> int:
        if isinstance(item, str) and item in self._joint:
            return self._joint[item]
        column = self._find.one(what, item)
        place = int(np.searchsorted(self.features.first, column))
        single = place < self.features.n_features and self.features.first[place] == column
        if not single or place in self.features.joint:
            raise InvalidInputError(
                f"{what} has {self.features.source.name(column)!r}, which is a covariate or part "
                "of a joint feature: name the joint feature instead, or leave it out."
            )
        return place


def close_matches(name: Any, names: Iterable[str]) -> str:
    """Suggest names that are spelt alike, or a look at the spelling."""
    return did_you_mean(name, names).strip(" ()") or "check the spelling."
