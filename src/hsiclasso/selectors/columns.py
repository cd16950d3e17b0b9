"""Finding columns of a table by name or index."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from hsiclasso._types import IntArray
from hsiclasso.errors import InvalidInputError

__all__ = ["ColumnFinder", "close_matches"]


class Named(Protocol):
    """Anything with named columns: a source, or the features of one."""

    @property
    def n_features(self) -> int:
        """Number of columns."""

    def name(self, feature: int, /) -> str:
        """Name of one column."""


class ColumnFinder:
    """Finds columns by name or index.

    Parameters
    ----------
    table : Named
        A source, or the features of one.
    """

    def __init__(self, table: Named) -> None:
        self.table = table
        self._by_name: dict[str, int] | None = None

    def __call__(self, what: str, wanted: Iterable[Any] | None) -> IntArray:
        """Return the positions of the columns wanted, in their order."""
        if wanted is None:
            return np.zeros(0, dtype=np.int64)
        if isinstance(wanted, str):
            raise InvalidInputError(f"{what}={wanted!r} must be a list of columns: [{wanted!r}].")
        return np.array([self._one(what, item) for item in wanted], dtype=np.int64)

    def names(self) -> dict[str, int]:
        """Return all names, with their positions."""
        if self._by_name is None:
            self._by_name = {self.table.name(j): j for j in range(self.table.n_features)}
        return self._by_name

    def position(self, name: str) -> int | None:
        """Return the position of a name, if there is such a column."""
        return self.names().get(name)

    def _one(self, what: str, item: Any) -> int:
        d = self.table.n_features
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


def close_matches(name: Any, names: Iterable[str]) -> str:
    """Suggest names that are spelt alike."""
    close = difflib.get_close_matches(str(name), [str(other) for other in names], n=3)
    return f"did you mean {', '.join(map(repr, close))}?" if close else "check the spelling."
