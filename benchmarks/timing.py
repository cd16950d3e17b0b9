"""Times of pieces of work."""

import time
from collections.abc import Callable
from statistics import median


def timed(work: Callable, *arguments: object) -> tuple:
    """Return what some work returns, its wall seconds, and its CPU seconds over all threads."""
    wall, cpu = time.perf_counter(), time.process_time()
    outcome = work(*arguments)
    return outcome, time.perf_counter() - wall, time.process_time() - cpu


def wall_times(work: Callable[[], object], repeats: int) -> list[float]:
    """Wall seconds of every repeat."""
    return [timed(work)[1] for _ in range(repeats)]


def in_turns(works: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median wall seconds of each piece of work, run in turns after one run each to warm up."""
    rounds = [{name: timed(work)[1] for name, work in works.items()} for _ in range(repeats + 1)]
    return {name: median(each[name] for each in rounds[1:]) for name in works}
