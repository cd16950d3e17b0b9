"""Columns of Arrow tables - Parquet, Feather, tables in memory - read by groups of columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NoReturn, Protocol

import numpy as np

from hsiclasso._types import Columns, FloatArray
from hsiclasso.data.base import Kind, ListedSource, Source, as_positions, enumerated
from hsiclasso.data.cells import CodedTable
from hsiclasso.data.dataset import Dataset, as_ids, as_weights, join_targets
from hsiclasso.data.fingerprint import hash_of
from hsiclasso.data.labelled import DTYPE_OF_KIND, LabelledSource, OrderedLabels
from hsiclasso.data.layout import Roles, drop_option, lay_out
from hsiclasso.data.reading import package_of, reading
from hsiclasso.data.sources import ArraySource
from hsiclasso.data.stored import even_chunks
from hsiclasso.errors import InvalidInputError, require

__all__ = [
    "GROUP_ENTRIES",
    "ArrowColumns",
    "ArrowSource",
    "TableColumns",
    "is_arrow",
    "read_arrow",
]

Array = np.ndarray[Any, Any]

#: Entries of the columns that are read at once, which bounds what is held beside the table.
GROUP_ENTRIES = 1 << 21
#: Kinds that are read as codes of labels.
_CODED = ("category", "text")
#: Tables of at most this many bytes are read at once.
_SMALL_BYTES = 256 * 2**20


class ArrowColumns(Protocol):
    """Where the columns of an Arrow table come from. Several threads may fetch at a time."""

    #: The schema of the table.
    schema: Any
    #: Number of rows.
    n_rows: int
    #: What the table is called in errors, and its format.
    where: str
    form: str

    def fetch(self, names: list[str]) -> Iterable[Any]:
        """Yield record batches with at least these columns: all rows, in order."""

    def has_nulls(self, names: list[str]) -> bool:
        """Whether a value of these columns may be missing."""

    def identity(self) -> str | None:
        """Return a fingerprint of the file, None if there is none."""


def is_arrow(X: Any) -> bool:
    """Whether an object is a `pyarrow.Table` or a `pyarrow.dataset.Dataset`."""
    return package_of(X) == "pyarrow" and hasattr(X, "schema") and hasattr(X, "take")


class ArrowSource(ListedSource):
    """Columns of an Arrow table that are read when they are needed.

    Parameters
    ----------
    columns : ArrowColumns
        Reads columns by name.
    names : sequence of str, optional
        Features; all columns by default.
    category : collection of str
        Columns of labels, even if they are numbers.

    Notes
    -----
    Columns of one dtype are loaded with it, columns of several as float64. Booleans and integers of
    8 bits stay what they are if no value is missing in the whole table: how a feature is treated
    does not depend on its neighbours.
    """

    def __init__(
        self,
        columns: ArrowColumns,
        names: Sequence[str] | None = None,
        category: frozenset[str] = frozenset(),
    ) -> None:
        all_names, all_types = columns.schema.names, columns.schema.types  # made anew each time
        if names is None:
            names = all_names
            if len(set(names)) < len(names):
                lay_out(columns.where, all_names, Roles())  # says which name occurs twice
        types = dict(zip(all_names, all_types, strict=True))
        kind_of = cache(_kind_of)
        self._from = columns
        self._names: list[str] = list(names)
        found = {name: kind_of(types[name]) for name in self._names}
        if bad := [name for name, own in found.items() if own is None]:
            _refuse(bad, types)
        self._own = [own for name in self._names if (own := found[name]) is not None]
        self._category = frozenset(
            name
            for name, (kind, _) in zip(self._names, self._own, strict=True)
            if name in category and kind in ("number", "bool")
        )
        kinds: list[Kind] = [
            "category" if name in self._category else kind
            for name, (kind, _) in zip(self._names, self._own, strict=True)
        ]
        super().__init__(self._names, kinds, columns.n_rows)
        self.in_memory = False
        self._labels: dict[int, list[str]] = {}
        self._dtype = self._common(range(self.n_features))
        if self._dtype is not None and self._dtype.kind != "f" and columns.has_nulls(self._names):
            self._dtype = None

    def dtype_name(self, column: int) -> str:
        """Name of NumPy's dtype for numbers, else what a frame would call the column."""
        kind = self._kinds[column]
        return str(self._own[column][1].name) if kind == "number" else DTYPE_OF_KIND[kind]

    def categories(self, column: int) -> list[Any] | None:
        """Labels of the codes 0, 1, ... of a category or text column, None for other kinds."""
        if self._kinds[column] not in _CODED:
            return None
        if column not in self._labels:  # read what is near it too: the next question is about it
            step = max(1, GROUP_ENTRIES // self.n_samples)
            near = range(column, min(self.n_features, column + step))
            labelled = [j for j in near if self._kinds[j] in _CODED]
            self._labels.update(self._table(labelled).labels_by_column(labelled))
        return list(self._labels[column])

    def block(self, columns: Columns) -> FloatArray:
        """Return the columns as a fresh (n_samples, k) float64 array in Fortran order."""
        places = as_positions(columns, self.n_features).tolist()
        return self._read(places, np.dtype(np.float64)).array

    def read(self, columns: Columns) -> Array:
        """Return the columns (n_samples, k) with their dtype, if they have only one."""
        places = as_positions(columns, self.n_features).tolist()
        return self._read(places, self._dtype_of(places)).array

    def levels(self, columns: Columns) -> Array | None:
        """Return columns of 8 bits as they are, booleans as uint8, else None."""
        if self._dtype not in (np.int8, np.uint8, np.bool_):
            return None
        return ArraySource(self.read(columns)).levels(slice(None))

    @property
    def n_bytes(self) -> int:
        """Number of bytes that are read in one pass over the table."""
        return self.n_samples * sum(self._dtype_of([j]).itemsize for j in range(self.n_features))

    def chunks(self, size: int) -> list[slice]:
        """Cut the columns into chunks of about `size` bytes."""
        return even_chunks(self.n_features, size * self.n_features // max(1, self.n_bytes))

    def load(self, columns: slice) -> Source:
        """Read adjacent columns into memory, with their dtype if they have only one."""
        places = list(range(*columns.indices(self.n_features)))
        names, dtype = [self._names[j] for j in places], self._dtype_of(places)
        table = self._read(places, dtype)
        kinds = {k: self._kinds[j] for k, j in enumerate(places) if self._kinds[j] != "number"}
        if not kinds or dtype == np.bool_:
            return ArraySource(table.array, names)
        dtypes = [self.dtype_name(j) for j in places]
        return LabelledSource(table.array, names, kinds, table.labels, dtypes)

    def identity(self) -> str:
        """Return a fingerprint of the file, or of the values if there is none."""
        found = self._from.identity()
        if found is None:
            return super().identity()
        return f"{found} {self.n_samples} x {hash_of(self._names, sorted(self._category))}"

    def values(self, column: int) -> tuple[Array, bool]:
        """Return one column: numbers, booleans or labels; and whether these have an order."""
        table = self._table([column])
        return table.values(0), 0 in table.ordered

    def _common(self, places: Iterable[int]) -> np.dtype[Any] | None:
        """Dtype of columns that are numbers or booleans, None if they have several."""
        if not self._kinds or any(kind in _CODED for kind in self._kinds_of(places)):
            return None
        dtypes = {self._own[j][1] for j in places}
        return dtypes.pop() if len(dtypes) == 1 else None

    def _kinds_of(self, places: Iterable[int]) -> Iterator[Kind]:
        return (self._kinds[j] for j in places)

    def _dtype_of(self, places: Sequence[int]) -> np.dtype[Any]:
        """Dtype with which columns are loaded."""
        if self._dtype is not None:
            return self._dtype
        dtype = self._common(places)
        return dtype if dtype is not None and dtype.kind == "f" else np.dtype(np.float64)

    def _table(self, places: Sequence[int]) -> _Codes:
        return self._read(places, np.dtype(np.float64))

    def _read(self, places: Sequence[int], dtype: np.dtype[Any]) -> _Codes:
        """Read columns into one array of numbers and codes, group by group."""
        table = _Codes(np.empty((self.n_samples, len(places)), dtype=dtype, order="F"))
        step = max(1, GROUP_ENTRIES // self.n_samples)
        with reading(self._from.where, self._from.form):
            for first in range(0, len(places), step):
                self._read_group(table, places, range(first, min(first + step, len(places))))
        return table

    def _read_group(self, table: _Codes, places: Sequence[int], group: range) -> None:
        """Read some of the columns."""
        homes: dict[str, list[int]] = {}
        for k in group:
            homes.setdefault(self._names[places[k]], []).append(k)
        labels: dict[str, list[Any]] = {
            name: [] for name, (k, *_) in homes.items() if self._own[places[k]][0] in _CODED
        }
        n_rows = table.add_batches(self._from.fetch(list(homes)), homes, labels)
        if n_rows != self.n_samples:
            raise ValueError(f"{n_rows} rows found where {self.n_samples} are announced")
        for k in group:
            name, (kind, _) = self._names[places[k]], self._own[places[k]]
            if name in labels:
                table.add_labels(k, name, kind, labels[name])
            elif name in self._category:
                table.relabel(k)
            elif kind == "bool":
                table.kinds[k] = "bool"


class _Codes(CodedTable):
    """A table of numbers and codes that is filled from Arrow."""

    def add_batches(
        self,
        batches: Iterable[Any],
        homes: Mapping[str, Sequence[int]],
        labels: Mapping[str, list[Any]],
    ) -> int:
        """Copy columns of numbers to their places, and collect columns of labels; count rows."""
        start = 0
        for batch in batches:
            stop = start + batch.num_rows
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                if name in labels:
                    labels[name].append(column)
                elif name in homes:
                    values = _numbers(column, self.array.dtype)
                    for k in homes[name]:
                        self.array[start:stop, k] = values
            start = stop
        return start

    def add_labels(self, k: int, name: str, kind: Kind, parts: list[Any]) -> None:
        """Code a column of text or of categories, given in parts."""
        pa = require("pyarrow", "parquet")
        self.kinds[k] = kind
        column = pa.chunked_array(parts)
        if kind == "text":
            column = column.dictionary_encode()
        elif column.type.ordered:
            self.ordered.add(k)
        coded = column.unify_dictionaries().combine_chunks()
        if hasattr(coded, "chunks"):  # older releases return a chunked array
            coded = coded.chunk(0)
        self.array[:, k] = coded.indices.cast("float64").to_numpy(zero_copy_only=False)
        self.labels[k] = [str(label) for label in coded.dictionary.to_pylist()]
        if kind == "text":  # in alphabetical order, as everywhere
            self.settle(k, name, self.labels[k], category=True)
            self.kinds[k] = "text"

    def labels_by_column(self, columns: Sequence[int]) -> Mapping[int, list[str]]:
        """Return the labels by the numbers that columns have elsewhere."""
        return {column: self.labels[k] for k, column in enumerate(columns)}


def _kind_of(kind: Any) -> tuple[Kind, np.dtype[Any]] | None:
    """Return the kind of columns of an Arrow type, and the dtype of their numbers."""
    types = require("pyarrow", "parquet").types
    as_float = np.dtype(np.float64)
    if types.is_boolean(kind):
        return "bool", np.dtype(np.bool_)
    if types.is_integer(kind) or types.is_float32(kind):
        return "number", np.dtype(kind.to_pandas_dtype())
    if types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        return "number", as_float
    if types.is_dictionary(kind):
        return "category", as_float
    if any(
        getattr(types, test, lambda kind: False)(kind)
        for test in ("is_string", "is_large_string", "is_string_view")
    ):
        return "text", as_float
    return None


def _refuse(names: Sequence[str], types: Mapping[str, Any]) -> NoReturn:
    """Raise for columns whose type is not supported."""
    name, *others = names
    more = f"; likewise {enumerated(list(map(repr, others)))}" if others else ""
    raise InvalidInputError(
        f"column {name!r} is of type {types[name]}{more}, but columns must be numbers, booleans or "
        f"text: leave {'them' if others else 'it'} out with {drop_option(name)}, or convert "
        f"{'them' if others else 'it'}, dates to days since some day for example."
    )


def _numbers(column: Any, dtype: np.dtype[Any]) -> Array:
    """Values of a column of numbers or booleans, NaN where one is missing."""
    pa = require("pyarrow", "parquet")
    wanted = pa.from_numpy_dtype(dtype)
    if column.type != wanted:
        column = column.cast(wanted, safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False))


class TableColumns:
    """Columns of a `pyarrow.Table`, or of a `pyarrow.dataset.Dataset`."""

    form = "an Arrow table"

    def __init__(self, table: Any) -> None:
        self._table = table
        self.where = f"X ({type(table).__name__})"
        self.schema = table.schema
        self._dataset = hasattr(table, "count_rows")
        self.n_rows = table.count_rows() if self._dataset else table.num_rows

    def fetch(self, names: list[str]) -> Iterable[Any]:
        """Yield record batches with these columns."""
        part = self._table.to_table(columns=names) if self._dataset else self._table.select(names)
        return part.to_batches()  # type: ignore[no-any-return]

    def has_nulls(self, names: list[str]) -> bool:
        """Whether a value of these columns may be missing; a dataset is not read to find out."""
        return self._dataset or any(self._table.column(name).null_count for name in names)

    def identity(self) -> str | None:
        """Return None: the values are the fingerprint."""
        return None


def read_arrow(columns: ArrowColumns, roles: Roles) -> Dataset:
    """Give columns their roles; small tables are read at once.

    The index that pandas stores is left out, unless a role names it.
    """
    where, names = columns.where, columns.schema.names
    roles = roles.with_id(set(names))
    index = (columns.schema.pandas_metadata or {}).get("index_columns", [])
    hidden = {name for name in index if isinstance(name, str)} & set(names)
    hidden -= {*roles.others, *roles.category}
    layout = lay_out(where, names, replace(roles, drop=roles.drop | hidden))
    if columns.n_rows == 0:
        raise InvalidInputError(f"{where} has no rows: add one row per sample.")
    source: Source = ArrowSource(columns, layout.features, roles.category)
    others = ArrowSource(columns, roles.others, roles.category)
    parts = {name: others.values(k) for k, name in enumerate(roles.others)}
    targets = [parts[name] for name in roles.targets]
    y: Any = join_targets([values for values, _ in targets]) if targets else None
    if len(targets) == 1 and targets[0][1]:
        y = OrderedLabels(y)
    weights = None
    if roles.weights is not None:
        weights = as_weights(roles.weights, parts[roles.weights][0])
    if source.n_features and source.n_bytes <= _SMALL_BYTES:
        source = source.load(slice(0, source.n_features))
    if roles.id is not None:
        source.ids = as_ids(where, parts[roles.id][0])
    return Dataset(source, y, roles.targets, weights)
