"""The tidy file of results: one row for each number, and which tasks it already holds."""

import csv
import gzip
import io
import os
import zlib
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import pandas as pd

#: Wall seconds of a whole task, on one thread; the estimates of later runs are made from it.
TASK_SECONDS = "task_seconds"


@dataclass(frozen=True, order=True)
class Task:
    """One method on one draw or split: the smallest piece of work.

    Attributes
    ----------
    study, data, method
        Names.
    n, d
        Samples and features the method is given.
    run
        Which draw or split, from 0.
    """

    study: str
    data: str
    method: str
    n: int
    d: int
    run: int

    @property
    def group(self) -> tuple[str, str, str, int, int]:
        """What runs are repeated of."""
        return self.study, self.data, self.method, self.n, self.d

    @property
    def where(self) -> str:
        """Data and size, in words."""
        return f"{self.data} ({self.n} x {self.d})"


@dataclass(frozen=True, order=True)
class Row:
    """A number that a task gave.

    Attributes
    ----------
    study, data, method, n, d, run
        The task.
    seed
        Of the draw or split, and of the method if it needs one.
    m
        Selected features that the number is about.
    metric, value
        What was measured.
    """

    study: str
    data: str
    method: str
    n: int
    d: int
    run: int
    seed: int
    m: int
    metric: str
    value: float

    @property
    def task(self) -> Task:
        """The task that gave it."""
        return Task(self.study, self.data, self.method, self.n, self.d, self.run)


def rows_of(task: Task, seed: int, values: Iterable[tuple[int, str, float]]) -> list[Row]:
    """Make the rows of a task from (m, metric, value)."""
    head = (task.study, task.data, task.method, task.n, task.d, task.run, seed)
    return [Row(*head, m, metric, round(float(value), 5)) for m, metric, value in values]


class TidyFile:
    """Rows in a compressed CSV. A task is in it wholly or not at all.

    Parameters
    ----------
    path : Path
        Where the file is or will be; its folder is made when it is first saved.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows: dict[Task, list[Row]] = {}
        if path.exists():
            try:
                self._read()
            except (EOFError, OSError, TypeError, zlib.error) as error:
                raise ValueError(
                    f"{path} cannot be read as results ({error}). Move it away to begin anew."
                ) from error

    def _read(self) -> None:
        kinds = [field.type for field in fields(Row)]
        with gzip.open(self.path, "rt", newline="") as stream:
            lines = csv.reader(stream)
            if next(lines) != [field.name for field in fields(Row)]:
                raise ValueError(f"{self.path} is no file of results: its first line is another.")
            for line in lines:
                row = Row(*(kind(cell) for kind, cell in zip(kinds, line, strict=True)))
                self._rows.setdefault(row.task, []).append(row)

    def __contains__(self, task: Task) -> bool:
        return task in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, rows: list[Row]) -> None:
        """Add all rows of one task; what it had before is replaced."""
        self._rows[rows[0].task] = rows

    def save(self) -> None:
        """Write the file, sorted; another file of the same name stays whole until it is done."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_name(self.path.name + ".new")
        with (
            new.open("wb") as raw,
            # without the time of writing, so that equal results are equal files
            gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed,
            io.TextIOWrapper(packed, newline="") as stream,
        ):
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(field.name for field in fields(Row))
            for task in sorted(self._rows):
                writer.writerows(map(astuple, self._rows[task]))
        os.replace(new, self.path)

    def frame(self, study: str) -> pd.DataFrame:
        """Rows of one study as a table, in the order of the file, whatever came first."""
        tasks = sorted(task for task in self._rows if task.study == study)
        rows = [row for task in tasks for row in self._rows[task]]
        return pd.DataFrame(rows, columns=[field.name for field in fields(Row)])

    def task_seconds(self) -> dict[tuple, list[float]]:
        """Seconds that the tasks of each group took."""
        seconds: dict[tuple, list[float]] = {}
        for task, rows in self._rows.items():
            found = [row.value for row in rows if row.metric == TASK_SECONDS]
            seconds.setdefault(task.group, []).extend(found)
        return seconds
