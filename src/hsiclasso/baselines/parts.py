"""Work on many columns or samples, a slice at a time, on threads."""

from __future__ import annotations

from collections.abc import Callable

from hsiclasso.dependence import Threads

__all__ = ["Tell", "for_parts"]

Work = Callable[[slice], object]
#: Called with the number of items done; None if nobody asks for it.
Tell = Callable[[int], None] | None


def for_parts(work: Work, size: int, step: int, n_threads: int, report: Tell = None) -> None:
    """Run ``work(part)`` on threads, for slices of `step` out of `size` items."""
    parts = [slice(start, min(size, start + step)) for start in range(0, size, step)]
    for part, _ in zip(parts, Threads(n_threads).map(work, parts), strict=True):
        if report is not None:
            report(part.stop)
