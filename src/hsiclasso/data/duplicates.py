"""Columns with the same name, such as several probes of one gene: told apart, or averaged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from hsiclasso._types import Columns, FloatArray
from hsiclasso.data.base import ListedSource, Source, WrappedSource, adjacent, as_positions
from hsiclasso.data.fingerprint import hash_of
from hsiclasso.errors import InvalidInputError

__all__ = ["AveragedColumns", "Duplicates", "RenamedColumns", "averaged", "unique_names"]

#: What to do with columns that have the same name.
Duplicates = Literal["error", "unique", "mean"]


def unique_names(names: Sequence[str]) -> list[str]:
    """Append .1, .2, ... to names that occurred before, but never make a name that exists.

    Examples
    --------
    >>> unique_names(["TP53", "TP53", "TP53.1", "TP53"])
    ['TP53', 'TP53.2', 'TP53.1', 'TP53.3']
    """
    taken, seen = set(names), set[str]()
    numbers: Counter[str] = Counter()
    unique = []
    for name in names:
        made = name
        while made in seen or (made in taken and made != name):
            numbers[name] += 1
            made = f"{name}.{numbers[name]}"
        seen.add(made)
        unique.append(made)
    return unique


class RenamedColumns(WrappedSource):
    """A table whose repeated names are made unique.

    Examples
    --------
    >>> from hsiclasso.data.sources import ArraySource
    >>> table = RenamedColumns(ArraySource(np.eye(3), ["a", "b", "a"]))
    >>> [table.name(j) for j in range(3)]
    ['a', 'b', 'a.1']
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._names = unique_names([source.name(j) for j in range(source.n_features)])

    def name(self, column: int) -> str:
        """Name of one column."""
        return self._names[column]

    def load(self, columns: slice) -> Source:
        """Read adjacent columns into memory, if they are not there: a table of these columns."""
        loaded = RenamedColumns(self._source.load(columns))
        loaded._names = self._names[columns]
        return loaded


class AveragedColumns(ListedSource):
    """A table in which columns of the same name are one, their mean.

    The mean is that of the values that are observed. Columns come in the order in which their
    names occur first.

    Examples
    --------
    >>> from hsiclasso.data.sources import ArraySource
    >>> array = np.array([[1.0, 5.0, 3.0], [2.0, 6.0, np.nan], [0.0, 7.0, 2.0]])
    >>> table = AveragedColumns(ArraySource(array, ["a", "b", "a"]))
    >>> table.n_features, table.block(slice(0, 1)).ravel().tolist()
    (2, [2.0, 2.0, 1.0])
    """

    def __init__(self, source: Source) -> None:
        places: dict[str, list[int]] = {}
        for j in range(source.n_features):
            places.setdefault(source.name(j), []).append(j)
        for name, columns in places.items():
            kinds = {source.kind(j) for j in columns}
            if len(columns) > 1 and kinds != {"number"}:
                raise InvalidInputError(
                    f"{len(columns)} columns are named {name!r} and are of the kind "
                    f"{' and '.join(sorted(kinds))}, of which there is no mean: rename them, leave "
                    "them out, or pass duplicates='unique'."
                )
        self._source = source
        self._places = [np.array(columns) for columns in places.values()]
        listed = [source.kind(columns[0]) for columns in places.values()]
        super().__init__(list(places), listed, source.n_samples)
        self.annotations, self.ids, self.named = source.annotations, source.ids, source.named
        self.in_memory, self.from_dask = source.in_memory, source.from_dask

    def categories(self, column: int) -> list[str] | None:
        """Labels of the codes of a column, None for columns without."""
        return self._source.categories(int(self._places[column][0]))

    @property
    def n_bytes(self) -> int:
        """Number of bytes that are read in one pass over the table."""
        return self._source.n_bytes

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""
        wanted = [self._places[j] for j in as_positions(columns, self.n_features).tolist()]
        places = np.concatenate([np.zeros(0, dtype=np.int64), *wanted])
        values = self._source.block(adjacent(places))
        sizes = np.array([some.size for some in wanted], dtype=np.int64)
        starts = np.cumsum(sizes) - sizes
        if places.size == sizes.size:
            return values
        out = np.asfortranarray(values[:, starts])
        for k in np.flatnonzero(sizes > 1):
            out[:, k] = _mean(values[:, starts[k] : starts[k] + sizes[k]])
        return out

    def load(self, columns: slice) -> Source:
        """Read adjacent columns into memory, if they are not there: a table of these columns."""
        if self.in_memory:
            return super().load(columns)
        from hsiclasso.data.sources import ArraySource

        return ArraySource(self.block(columns), self._names[columns])

    def limit_memory(self, limit: int | None) -> None:
        """Keep a table that loads itself within a number of bytes."""
        self._source.limit_memory(limit)
        self.in_memory = self._source.in_memory

    def use_client(self, client: Any) -> None:
        """Have a Dask client compute what is computed by Dask; None stands for the current one."""
        self._source.use_client(client)

    @property
    def bytes_to_come(self) -> int:
        """Number of bytes that a table which loads itself will still take in memory."""
        return self._source.bytes_to_come

    def identity(self) -> str:
        """Return a fingerprint of the table and of what was done to it."""
        return f"{self._source.identity()} averaged {hash_of(self._names)}"


def averaged(source: Source) -> Source:
    """Return a table in which columns of the same name are one, their mean."""
    found = AveragedColumns(source)
    return found if found.n_features < source.n_features else source


def _mean(block: FloatArray) -> FloatArray:
    """Mean of each row over what is observed, NaN where nothing is."""
    observed = ~np.isnan(block)
    count = observed.sum(axis=1)
    total = np.where(observed, block, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
