"""Feather and Arrow IPC files, read by groups of columns (needs the extra ``parquet``)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hsiclasso.data.arrow import GROUP_ENTRIES, read_arrow
from hsiclasso.data.dataset import Dataset
from hsiclasso.data.fingerprint import file_state
from hsiclasso.data.layout import Roles
from hsiclasso.data.reading import reading
from hsiclasso.errors import require

__all__ = ["FeatherFile", "read_feather"]


class FeatherFile:
    """Columns of a Feather or Arrow IPC file; only those that are asked for are decoded."""

    form = "Feather"

    def __init__(self, file: str | Path) -> None:
        self.where = str(file)
        with reading(file, self.form):
            self.schema = self._open([]).schema
            self._place = {name: j for j, name in enumerate(self.schema.names)}
            opened = self._open([0])  # one column tells the number of rows
            self._n_batches = opened.num_record_batches
            self.n_rows = sum(opened.get_batch(i).num_rows for i in range(self._n_batches))

    def _open(self, fields: list[int]) -> Any:
        """Open the file to read some columns; no fields stand for all."""
        pa, ipc = require("pyarrow", "parquet"), require("pyarrow.ipc", "parquet")
        options = ipc.IpcReadOptions(included_fields=fields)
        return ipc.open_file(pa.memory_map(self.where), options=options)

    def fetch(self, names: list[str]) -> Iterable[Any]:
        """Yield record batches with these columns."""
        opened = self._open([self._place[name] for name in names])
        return (_valid(opened.get_batch(i)) for i in range(self._n_batches))

    def has_nulls(self, names: list[str]) -> bool:
        """Whether a value of these columns is missing, which is found by reading them."""
        step = max(1, GROUP_ENTRIES // max(1, self.n_rows))
        return any(
            column.null_count
            for first in range(0, len(names), step)
            for batch in self.fetch(names[first : first + step])
            for column in batch.columns
        )

    def identity(self) -> str | None:
        """Return a fingerprint of the file."""
        return file_state(self.where)


def _valid(batch: Any) -> Any:
    """Return a batch of which every offset and index is within bounds.

    The file has no checksum, and Arrow trusts what it maps into memory: it would read elsewhere.
    """
    batch.validate(full=True)
    return batch


def read_feather(file: Path, roles: Roles) -> Dataset:
    """Read a Feather or Arrow IPC file: at once if it is small, else when columns are needed."""
    return read_arrow(FeatherFile(file), roles)
