"""Parquet files -> a table of numbers and codes (needs the extra ``parquet``)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hsiclasso.data.base import Kind
from hsiclasso.data.cells import CodedTable
from hsiclasso.data.layout import Layout, Roles, drop_option, lay_out
from hsiclasso.errors import InvalidInputError, require

__all__ = ["read_parquet"]

#: Entries of the columns that are read at once, which bounds what is held beside the table.
_GROUP_ENTRIES = 1 << 21


def read_parquet(file: Path, roles: Roles) -> tuple[CodedTable, Layout]:
    """Read the columns that are used; the index that pandas stores is not, unless it is named."""
    parquet = require("pyarrow.parquet", "parquet")
    with parquet.ParquetFile(file) as stored:
        schema, n = stored.schema_arrow, stored.metadata.num_rows
        names, types = schema.names, schema.types  # pyarrow makes these lists anew each time
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        hidden = {name for name in index if isinstance(name, str)} & set(names)
        hidden -= {*roles.others, *roles.category}
        layout = lay_out(file, names, replace(roles, drop=roles.drop | hidden))
        if n == 0:
            raise InvalidInputError(f"{file} has no rows: add one row per sample.")
        kinds = {j: _parquet_kind(names[j], types[j]) for j in layout.used}
        table = CodedTable(np.zeros((n, len(names)), order="F"))
        numbers = [j for j, kind in kinds.items() if kind in ("number", "bool")]
        table.kinds.update({j: kind for j, kind in kinds.items() if kind != "number"})
        step = max(1, _GROUP_ENTRIES // n)
        for first in range(0, len(numbers), step):
            _add_numbers(table, stored, {names[j]: j for j in numbers[first : first + step]})
        for j in set(kinds) - set(numbers):
            column = stored.read(columns=[names[j]]).column(names[j])
            _add_labels(table, j, names[j], column)
        for j in layout.category.intersection(numbers):
            table.relabel(j)
    return table, layout


def _add_numbers(table: CodedTable, stored: Any, places: dict[str, int]) -> None:
    """Read columns of numbers into the table; `places` are their numbers there, by name."""
    start = 0
    for batch in stored.iter_batches(columns=list(places)):
        stop = start + batch.num_rows
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            values = column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
            table.array[start:stop, places[name]] = values
        start = stop


def _parquet_kind(name: str, kind: Any) -> Kind:
    """Return the kind of a column of a Parquet file."""
    types = require("pyarrow", "parquet").types
    if types.is_boolean(kind):
        return "bool"
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
    if any(is_kind(kind) for is_kind in tests):
        return "number"
    if types.is_dictionary(kind):
        return "category"
    if types.is_string(kind) or types.is_large_string(kind):
        return "text"
    raise InvalidInputError(
        f"column {name!r} is of type {kind}, but columns must be numbers, booleans or text: leave "
        f"it out with {drop_option(name)}, or convert it."
    )


def _add_labels(table: CodedTable, j: int, name: str, column: Any) -> None:
    """Code a column of text or of categories of a Parquet file."""
    coded = column.combine_chunks()
    if table.kinds[j] == "text":
        coded = coded.dictionary_encode()
    elif coded.type.ordered:
        table.ordered.add(j)
    if hasattr(coded, "chunks"):  # several dictionaries become one
        coded = coded.unify_dictionaries().combine_chunks()
    table.array[:, j] = coded.indices.cast("float64").to_numpy(zero_copy_only=False)
    table.labels[j] = [str(label) for label in coded.dictionary.to_pylist()]
    if table.kinds[j] == "text":  # in alphabetical order, as everywhere
        table.settle(j, name, table.labels[j], category=True)
        table.kinds[j] = "text"
