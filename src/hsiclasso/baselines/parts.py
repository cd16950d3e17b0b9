"""Work on many columns or samples, a slice at a time, on threads."""

from __future__ import annotations

from collections.abc import Callable

from hsiclasso.dependence import Threads

__all__ = ["for_parts"]


def for_parts(
    work: Callable[[slice], object],
    size: int,
    step: int,
    n_threads: int,
    report: Callable[[int], None] | None = None,
) -> None:
    """Run ``work(part)`` on threads, for slices of `step` out of `size` items.

    `report` is told how many items are done.
    """
    parts = [slice(start, min(size, start + step)) for start in range(0, size, step)]
    for part, _ in zip(parts, Threads(n_threads).map(work, parts), strict=True):
        if report is not None:
            report(part.stop)
