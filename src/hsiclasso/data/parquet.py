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


def read_parquet(file: Path, roles: Roles) -> tuple[CodedTable, Layout]:
    """Read the columns that are used; the index that pandas stores is not, unless it is named."""
    parquet = require("pyarrow.parquet", "parquet")
    with parquet.ParquetFile(file) as stored:
        schema = stored.schema_arrow
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        hidden = {name for name in index if isinstance(name, str)} & set(schema.names)
        hidden -= {*roles.others, *roles.category}
        layout = lay_out(file, list(schema.names), replace(roles, drop=roles.drop | hidden))
        if stored.metadata.num_rows == 0:
            raise InvalidInputError(f"{file} has no rows: add one row per sample.")
        kinds = {j: _parquet_kind(schema.names[j], schema.types[j]) for j in layout.used}
        table = CodedTable(np.zeros((stored.metadata.num_rows, len(schema.names)), order="F"))
        numbers = [j for j, kind in kinds.items() if kind in ("number", "bool")]
        table.kinds.update({j: kind for j, kind in kinds.items() if kind != "number"})
        start = 0
        for batch in stored.iter_batches(columns=[schema.names[j] for j in numbers]):
            stop = start + batch.num_rows
            for j in numbers:
                column = batch.column(schema.names[j]).cast("float64", safe=False)
                table.array[start:stop, j] = column.to_numpy(zero_copy_only=False)
            start = stop
        for j in set(kinds) - set(numbers):
            column = stored.read(columns=[schema.names[j]]).column(schema.names[j])
            _add_labels(table, j, schema.names[j], column)
        for j in layout.category.intersection(numbers):
            table.relabel(j)
    return table, layout


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
