"""Runs tasks on all cores: nothing is done twice, and an interrupt loses almost nothing."""

import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Protocol

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from experiments.contenders import Contender
from experiments.tidy import TASK_SECONDS, Row, Task, TidyFile, rows_of

_SAVE_EVERY = 20.0  # seconds
_TELL_EVERY = 10.0


@dataclass(frozen=True)
class Request:
    """What the user asked for.

    Attributes
    ----------
    runs
        How many draws or splits; None for as many as the study has by default.
    methods, data
        Only these; None for all.
    folder
        Where real data lie.
    sizes
        Only these samples and features; None for all.
    """

    runs: int | None
    methods: tuple[str, ...] | None
    data: tuple[str, ...] | None
    folder: Path
    sizes: tuple[tuple[int, int], ...] | None = None

    def wants(self, task: Task) -> bool:
        """Tell whether a task is among those asked for."""
        asked = (
            (self.methods, task.method),
            (self.data, task.data),
            (self.sizes, (task.n, task.d)),
        )
        return all(some is None or one in some for some, one in asked)


class Study(Protocol):
    """An experiment: its tasks, and how one is done.

    Attributes
    ----------
    name : str
    methods : mapping
        Contenders by name; one may have fewer `runs` than the study.
    sets : iterable of str
        Names of the data.
    runs : int
        Draws or splits, if the user does not say.
    timed : bool
        Whether the study measures times; its tasks then go one by one.
    """

    name: str
    methods: Mapping[str, Contender]
    runs: int
    timed: bool

    @property
    def sets(self) -> Iterable[str]:
        """Names of the data."""

    def candidates(self, request: Request) -> Iterable[tuple[Task, str | None]]:
        """Yield the first task of each group, with the reason why it cannot be done, or None."""

    def perform(self, task: Task, folder: Path) -> list[Row]:
        """Do one task; called in another process."""


def tasks_of(study: Study, request: Request) -> list[Task]:
    """List the tasks asked for, run by run, so that all methods keep pace.

    Reports what is left out, with the reason.
    """
    firsts: list[Task] = []
    left_out: dict[tuple[str, str], list[str]] = {}
    for task, reason in study.candidates(request):
        if not request.wants(task):
            continue
        if reason is None:
            firsts.append(task)
        else:
            left_out.setdefault((task.method, reason), []).append(task.where)
    for (method, reason), places in left_out.items():
        tell(f"{study.name}: {method} is left out on {', '.join(places)}: {reason}.")
    runs = [request.runs or study.methods[first.method].runs or study.runs for first in firsts]
    return [
        first._replace(run=run)
        for run in range(max(runs, default=0))
        for first, most in zip(firsts, runs, strict=True)
        if run < most
    ]


@dataclass(frozen=True)
class Failure:
    """A task that raised an error."""

    task: Task
    message: str


def perform(study: Study, task: Task, folder: Path) -> list[Row] | Failure:
    """Do a task and note how long it took; an error is returned, so that other tasks go on."""
    start = time.perf_counter()
    try:
        with threadpool_limits(1):
            rows = study.perform(task, folder)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return Failure(task, f"{type(error).__name__} at {where}: {error}")
    seconds = time.perf_counter() - start
    return rows + rows_of(task, rows[0].seed, [(rows[0].m, TASK_SECONDS, seconds)])


def tell(text: str) -> None:
    """Say something of the progress, apart from results."""
    print(text, file=sys.stderr, flush=True)


class Clock:
    """What remains to be done, in seconds, from what tasks of the same kind took."""

    def __init__(self, todo: Iterable[Task], known: dict[tuple, list[float]], jobs: int) -> None:
        self._known = {group: list(seconds) for group, seconds in known.items()}
        self._left = dict.fromkeys(todo)
        self._jobs = jobs

    def done(self, task: Task, seconds: float | None) -> None:
        """Take a task off, and learn from it."""
        del self._left[task]
        if seconds is not None:
            self._known.setdefault(task.group, []).append(seconds)

    def estimate(self) -> tuple[float, int]:
        """Return the seconds that remain on all cores, and the groups never measured so far."""
        typical = {group: median(s) for group, s in self._known.items() if s}
        groups = [task.group for task in self._left]
        unknown = {group for group in groups if group not in typical}
        seconds = sum(typical.get(group, 0.0) for group in groups)
        return seconds / self._jobs, len(unknown)

    def words(self) -> str:
        """Return the estimate as a sentence part."""
        seconds, unknown = self.estimate()
        text = f"{len(self._left)} tasks left, about {duration(seconds)}"
        if unknown:
            text += f", and {unknown} kinds of task not timed yet"
        return text


def duration(seconds: float) -> str:
    """Return a time for people: ``"40 s"``, ``"12 min"``, ``"3 h 20 min"``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


@dataclass(frozen=True)
class Work:
    """Tasks that a study lacks, how many were asked for, and where its data lie."""

    study: Study
    todo: list[Task]
    asked: int
    folder: Path

    def clock(self, file: TidyFile, jobs: int) -> Clock:
        """Return the estimate of its time, from what the file has of the same kind."""
        return Clock(self.todo, file.task_seconds(), 1 if self.study.timed else jobs)


def plan(study: Study, request: Request, file: TidyFile) -> Work:
    """List what is asked for and not in the file; report what is left out."""
    tasks = tasks_of(study, request)
    todo = [task for task in tasks if task not in file]
    return Work(study, todo, len(tasks), request.folder)


def announce(works: Iterable[Work], file: TidyFile, jobs: int) -> None:
    """Tell how long everything will take, as far as it is known."""
    clocks = [work.clock(file, jobs) for work in works if work.todo]
    for work, clock in zip((work for work in works if work.todo), clocks, strict=True):
        tell(f"{work.study.name}: {clock.words()}.")
    estimates = [clock.estimate() for clock in clocks]
    if len(estimates) > 1:
        seconds, unknown = (sum(column) for column in zip(*estimates, strict=True))
        more = f", and {unknown} kinds of task not timed yet" if unknown else ""
        tell(f"in all about {duration(seconds)}{more}, on {jobs} core{'s' * (jobs > 1)}.")


def run(work: Work, file: TidyFile, jobs: int) -> list[Failure]:
    """Do the work. The file is saved as results come, and if the work is interrupted."""
    study = work.study
    if not work.todo:
        words = "everything is done already" if work.asked else "there is nothing that can be run"
        tell(f"{study.name}: {words}.")
        return []
    clock = work.clock(file, jobs)
    failures = []
    save = _every(_SAVE_EVERY, file.save)
    told = _every(_TELL_EVERY, lambda: tell(f"{study.name}: {clock.words()}."))
    try:
        for outcome in _outcomes(work, 1 if study.timed else jobs):
            if isinstance(outcome, Failure):
                failures.append(outcome)
                clock.done(outcome.task, None)
                tell(f"failed: {outcome.task}: {outcome.message}")
            else:
                file.add(outcome)
                clock.done(outcome[0].task, outcome[-1].value)
            save()
            told()
    finally:
        file.save()
    return failures


def _outcomes(work: Work, jobs: int) -> Iterator[list[Row] | Failure]:
    if jobs == 1:
        yield from (perform(work.study, task, work.folder) for task in work.todo)
        return
    with parallel_config(backend="loky", inner_max_num_threads=1), warnings.catch_warnings():
        # after an interrupt, which is told of elsewhere
        warnings.filterwarnings("ignore", r"\d+ tasks which were still being processed")
        yield from Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")(
            delayed(perform)(work.study, task, work.folder) for task in work.todo
        )


def _every(seconds: float, action: Callable[[], None]) -> Callable[[], None]:
    """Return a function that does the action at most once in a number of seconds."""
    last = time.monotonic()

    def maybe() -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            action()
            last = time.monotonic()

    return maybe
