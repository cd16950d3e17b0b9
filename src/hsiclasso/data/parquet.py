"""Parquet files, read by groups of columns (needs the extra ``parquet``)."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hsiclasso.data.arrow import ArrowSource, read_arrow
from hsiclasso.data.dataset import Dataset
from hsiclasso.data.fingerprint import file_state
from hsiclasso.data.layout import Roles
from hsiclasso.data.reading import reading
from hsiclasso.errors import require

__all__ = ["ParquetFile", "ParquetSource", "read_parquet"]


class ParquetFile:
    """Columns of a Parquet file.

    The footer, which describes every column, is parsed once. Each thread has a file handle of its
    own. A pickle holds the path only.
    """

    form = "Parquet"

    def __init__(self, file: str | Path) -> None:
        self.where = str(file)
        self._handles = threading.local()
        with reading(file, self.form):
            opened = require("pyarrow.parquet", "parquet").ParquetFile(file)
        self._handles.file = opened
        self._metadata = opened.metadata
        self.schema, self.n_rows = opened.schema_arrow, opened.metadata.num_rows

    def __reduce__(self) -> tuple[Any, ...]:
        return ParquetFile, (self.where,)

    def fetch(self, names: list[str]) -> Iterable[Any]:
        """Yield record batches with these columns, and those whose names begin so: ``a``, ``a.b``.

        Row groups are read one after the other.
        """
        if not hasattr(self._handles, "file"):
            parquet = require("pyarrow.parquet", "parquet")
            self._handles.file = parquet.ParquetFile(self.where, metadata=self._metadata)
        return self._handles.file.iter_batches(columns=names)  # type: ignore[no-any-return]

    def has_nulls(self, names: list[str]) -> bool:
        """Whether a value of these columns may be missing, by the statistics of the footer."""
        wanted = set(names)
        for i in range(self._metadata.num_row_groups):
            group = self._metadata.row_group(i)
            for j in range(group.num_columns):
                column = group.column(j)
                if column.path_in_schema not in wanted:
                    continue
                known = column.statistics
                if known is None or not known.has_null_count or known.null_count:
                    return True
        return False

    def identity(self) -> str | None:
        """Return a fingerprint of the file."""
        return file_state(self.where)


class ParquetSource(ArrowSource):
    """Columns of a Parquet file, read when they are needed.

    Parameters
    ----------
    file : path-like
        The file.

    Examples
    --------
    >>> import pyarrow, pyarrow.parquet
    >>> file = Path("table.parquet")
    >>> pyarrow.parquet.write_table(pyarrow.table({"a": [1, 2, 3], "b": [4, 5, 6]}), file)
    >>> ParquetSource(file).block(slice(1, 2)).ravel()
    array([4., 5., 6.])
    """

    def __init__(self, file: str | Path) -> None:
        super().__init__(ParquetFile(file))


def read_parquet(file: Path, roles: Roles) -> Dataset:
    """Read a Parquet file: at once if it is small, else when columns are needed."""
    return read_arrow(ParquetFile(file), roles)
