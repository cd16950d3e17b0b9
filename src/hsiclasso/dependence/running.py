"""Runners of independent pieces of work. The default runner uses threads of this process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

__all__ = ["Runner", "Threads"]

Piece = TypeVar("Piece")
Result = TypeVar("Result")


class Runner(Protocol):
    """Runs a function on pieces of work."""

    def map(self, work: Callable[[Piece], Result], pieces: Sequence[Piece]) -> Iterator[Result]:
        """Yield ``work(piece)`` for every piece, in the order of the pieces."""


@dataclass(frozen=True)
class Threads:
    """Runs pieces of work on threads."""

    n_threads: int = 1

    def map(self, work: Callable[[Piece], Result], pieces: Sequence[Piece]) -> Iterator[Result]:
        """Yield ``work(piece)`` for every piece, in the order of the pieces.

        If a piece fails, or the user interrupts, pieces that have not begun are cancelled.
        """
        if self.n_threads <= 1 or len(pieces) <= 1:
            yield from map(work, pieces)
            return
        with ThreadPoolExecutor(max_workers=self.n_threads) as pool:
            futures = deque(pool.submit(work, piece) for piece in pieces)
            try:
                while futures:  # a result that was yielded is not kept
                    yield futures.popleft().result()
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
