"""Runners of independent pieces of work. The default runner uses threads of this process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

from hsiclasso.dependence.budget import AHEAD

__all__ = ["Loading", "Runner", "Threads", "in_order"]

Piece = TypeVar("Piece")
Result = TypeVar("Result")


@runtime_checkable
class Loading(Protocol):
    """Work on pieces of data that have to be loaded first: ``relate(piece, load(piece))``."""

    def load(self, piece: Any) -> Any:
        """Load the data of a piece."""

    def relate(self, piece: Any, loaded: Any) -> Any:
        """Work on a piece whose data are loaded."""


class Runner(Protocol):
    """Runs a function on pieces of work."""

    #: Whether the pieces must be chunks that are loaded one by one, even of a table in memory.
    by_chunks: ClassVar[bool]

    def map(self, work: Any, pieces: Sequence[Any]) -> Iterator[Any]:
        """Yield ``work(piece)`` for every piece, in the order of the pieces."""


@dataclass(frozen=True)
class Threads:
    """Runs pieces of work on threads."""

    n_threads: int = 1

    by_chunks: ClassVar[bool] = False

    def map(self, work: Callable[[Piece], Result], pieces: Sequence[Piece]) -> Iterator[Result]:
        """Yield ``work(piece)`` for every piece, in the order of the pieces.

        If pieces have to be loaded, one more is loaded than threads work on: reading and computing
        overlap. If a piece fails, or the user interrupts, pieces that have not begun are cancelled.
        """
        if isinstance(work, Loading) and len(pieces) > 1:
            turns, n_workers = BoundedSemaphore(self.n_threads), self.n_threads + AHEAD

            def load_and_relate(piece: Piece) -> Any:
                loaded = work.load(piece)
                with turns:
                    return work.relate(piece, loaded)

            with ThreadPoolExecutor(n_workers) as pool:
                yield from in_order(pool.submit, load_and_relate, pieces, n_workers + 1)
        elif self.n_threads <= 1 or len(pieces) <= 1:
            yield from map(work, pieces)
        else:
            with ThreadPoolExecutor(self.n_threads) as pool:
                yield from in_order(pool.submit, work, pieces, len(pieces))


def in_order(
    submit: Callable[..., Future[Result]],
    work: Callable[[Piece], Result],
    pieces: Sequence[Piece],
    window: int,
) -> Iterator[Result]:
    """Submit pieces of work and yield their results in order.

    At most `window` pieces are submitted whose results were not yielded: this bounds the memory of
    results that wait for an earlier one.
    """
    waiting: deque[Future[Result]] = deque()
    try:
        for piece in pieces:
            waiting.append(submit(work, piece))
            if len(waiting) >= window:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
