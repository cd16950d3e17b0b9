"""Parquet files -> a grid of numbers and codes (needs the extra ``parquet``)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hsiclasso.data.cells import Grid, settle
from hsiclasso.data.layout import Layout, Roles, lay_out, refuse_type
from hsiclasso.data.sources import Kind
from hsiclasso.errors import InvalidInputError, require

__all__ = ["read_parquet"]


def read_parquet(file: Path, roles: Roles) -> tuple[Grid, Layout]:
    """Read the columns that have a use; the index that pandas stores has none unless named."""
    parquet = require("pyarrow.parquet", "parquet")
    with parquet.ParquetFile(file) as stored:
        schema = stored.schema_arrow
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        hidden = {name for name in index if isinstance(name, str)} & set(schema.names)
        hidden -= {*roles.apart, *roles.category}
        layout = lay_out(file, list(schema.names), replace(roles, drop=roles.drop | hidden))
        if stored.metadata.num_rows == 0:
            raise InvalidInputError(f"{file} has no rows: add one row per sample.")
        kinds = {j: _parquet_kind(schema.names[j], schema.types[j]) for j in layout.used}
        grid = Grid(np.zeros((stored.metadata.num_rows, len(schema.names)), order="F"))
        numbers = [j for j, kind in kinds.items() if kind in ("number", "bool")]
        grid.kinds.update({j: kind for j, kind in kinds.items() if kind != "number"})
        start = 0
        for batch in stored.iter_batches(columns=[schema.names[j] for j in numbers]):
            stop = start + batch.num_rows
            for j in numbers:
                column = batch.column(schema.names[j]).cast("float64", safe=False)
                grid.array[start:stop, j] = column.to_numpy(zero_copy_only=False)
            start = stop
        for j in set(kinds) - set(numbers):
            column = stored.read(columns=[schema.names[j]]).column(schema.names[j])
            _add_labels(grid, j, schema.names[j], column)
        for j in layout.category.intersection(numbers):
            grid.relabel(j)
    return grid, layout


def _parquet_kind(name: str, kind: Any) -> Kind:
    """Say what a column of a Parquet file holds."""
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
    refuse_type(name, kind)


def _add_labels(grid: Grid, j: int, name: str, column: Any) -> None:
    """Code a column of text or of categories of a Parquet file."""
    coded = column.combine_chunks()
    if grid.kinds[j] == "text":
        coded = coded.dictionary_encode()
    elif coded.type.ordered:
        grid.ordered.add(j)
    if hasattr(coded, "chunks"):  # several dictionaries become one
        coded = coded.unify_dictionaries().combine_chunks()
    grid.array[:, j] = coded.indices.cast("float64").to_numpy(zero_copy_only=False)
    labels: list[str] | None = [str(label) for label in coded.dictionary.to_pylist()]
    if grid.kinds[j] == "text":  # in alphabetical order, as everywhere
        _, labels = settle(name, grid.array[:, j], labels or [], category=True)
    grid.labels[j] = labels or []
