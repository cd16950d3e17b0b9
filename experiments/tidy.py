"""The tidy file of results: one row for each number, and which tasks it already holds."""

import csv
import gzip
import io
import os
import zlib
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pandas as pd

#: Wall seconds of a whole task, on one thread; the estimates of later runs are made from it.
TASK_SECONDS = "task_seconds"


class Task(NamedTuple):
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
        """What all runs of a method on a data set share."""
        return self[:5]

    @property
    def where(self) -> str:
        """Data and size, in words."""
        return f"{self.data} ({self.n} x {self.d})"


class Row(NamedTuple):
    """A number that a task gave.

    Attributes
    ----------
    task
        The task.
    seed
        Of the draw or split, and of the method if it needs one.
    m
        Selected features that the number is about.
    metric, value
        What was measured.
    """

    task: Task
    seed: int
    m: int
    metric: str
    value: float


#: Columns of the file: those of the task, then those of the number.
COLUMNS = (*Task._fields, *Row._fields[1:])


def rows_of(task: Task, seed: int, values: Iterable[tuple[int, str, float]]) -> list[Row]:
    """Make the rows of a task from (m, metric, value)."""
    return [Row(task, seed, m, metric, round(float(value), 5)) for m, metric, value in values]


def flat(rows: Iterable[Row]) -> list[tuple]:
    """Return rows as they stand in the file."""
    return [(*row.task, *row[1:]) for row in rows]


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
        self._frames: dict[str, pd.DataFrame] = {}
        if path.exists():
            try:
                self._read()
            except (EOFError, OSError, TypeError, zlib.error) as error:
                raise ValueError(
                    f"{path} cannot be read as results ({error}). Move it away to begin anew."
                ) from error

    def _read(self) -> None:
        with gzip.open(self.path, "rt", newline="") as stream:
            lines = csv.reader(stream)
            if next(lines) != list(COLUMNS):
                raise ValueError(f"{self.path} is no file of results: its first line is another.")
            # the rows of a task come one after the other: their names and sizes are read once
            for (study, data, method, n, d, run), rows in groupby(lines, lambda line: line[:6]):
                task = Task(study, data, method, int(n), int(d), int(run))
                self._rows.setdefault(task, []).extend(
                    Row(task, int(seed), int(m), metric, float(value))
                    for *_, seed, m, metric, value in rows
                )

    def __contains__(self, task: Task) -> bool:
        return task in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, rows: list[Row]) -> None:
        """Add all rows of one task; what it had before is replaced."""
        self._rows[rows[0].task] = rows
        self._frames.pop(rows[0].task.study, None)

    def save(self) -> None:
        """Write the file, sorted; an older file of the same name stays whole until then."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_name(self.path.name + ".new")
        with (
            new.open("wb") as raw,
            # without the time of writing, so that equal results are equal files
            gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed,
            io.TextIOWrapper(packed, newline="") as stream,
        ):
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(COLUMNS)
            for task in sorted(self._rows):
                writer.writerows(flat(self._rows[task]))
        os.replace(new, self.path)

    def frame(self, study: str) -> pd.DataFrame:
        """Rows of one study as a table, in the order of the file."""
        if study not in self._frames:
            tasks = sorted(task for task in self._rows if task.study == study)
            rows = [row for task in tasks for row in flat(self._rows[task])]
            self._frames[study] = pd.DataFrame(rows, columns=list(COLUMNS))
        return self._frames[study].copy()

    def task_seconds(self) -> dict[tuple, list[float]]:
        """Seconds that the tasks of each group took."""
        seconds: dict[tuple, list[float]] = {}
        for task, rows in self._rows.items():
            found = [row.value for row in rows if row.metric == TASK_SECONDS]
            seconds.setdefault(task.group, []).extend(found)
        return seconds
