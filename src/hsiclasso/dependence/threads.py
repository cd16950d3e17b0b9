"""Running independent pieces of work on threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

__all__ = ["run_threaded"]

Piece = TypeVar("Piece")


def run_threaded(
    work: Callable[[Piece], int],
    pieces: Sequence[Piece],
    n_threads: int,
    report: Callable[[int], None] | None = None,
) -> None:
    """Run ``work(piece)`` for every piece, and report the running sum of what it returns.

    The first error, or an interruption, cancels the pieces that have not begun.
    """
    done = 0
    if n_threads <= 1 or len(pieces) <= 1:
        for piece in pieces:
            done += work(piece)
            if report is not None:
                report(done)
        return
    with ThreadPoolExecutor(max_workers=n_threads) as pool:
        futures = [pool.submit(work, piece) for piece in pieces]
        try:
            for future in as_completed(futures):
                done += future.result()
                if report is not None:
                    report(done)
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
