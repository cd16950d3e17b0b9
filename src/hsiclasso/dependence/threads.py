"""Running independent pieces of work on threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed

__all__ = ["run_threaded"]


def run_threaded(
    work: Callable[[int], int],
    pieces: Iterable[int],
    n_threads: int,
    report: Callable[[int], None],
) -> None:
    """Run ``work(piece)`` for every piece, and report the running sum of what it returns.

    The first error, or an interruption, cancels the pieces that have not begun.
    """
    done = 0
    with ThreadPoolExecutor(max_workers=max(1, n_threads)) as pool:
        futures = [pool.submit(work, piece) for piece in pieces]
        try:
            for future in as_completed(futures):
                done += future.result()
                report(done)
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
