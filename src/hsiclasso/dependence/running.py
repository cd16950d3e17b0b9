"""Runners of independent pieces of work. The default runner uses threads of this process."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import BoundedSemaphore, Lock, Semaphore
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

from hsiclasso.dependence.budget import AHEAD

__all__ = ["Loading", "Runner", "Threads", "in_order"]

#: Whether to read ahead is decided when each thread has done this many pieces. Reading ahead does
#: not pay if threads are busy for at least this share of the time.
_TRIED, _BUSY = 2, 0.6

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

        If pieces have to be loaded and threads have to wait for them, one more is loaded than
        threads work on: reading and computing overlap. If a piece fails, or the user interrupts,
        pieces that have not begun are cancelled.
        """
        if isinstance(work, Loading) and len(pieces) > 1:
            n_workers = self.n_threads + AHEAD
            with ThreadPoolExecutor(n_workers) as pool:
                task = _ReadAhead(work, self.n_threads)
                yield from in_order(pool.submit, task, pieces, n_workers + 1)
        elif self.n_threads <= 1 or len(pieces) <= 1:
            yield from map(work, pieces)
        else:
            with ThreadPoolExecutor(self.n_threads) as pool:
                yield from in_order(pool.submit, work, pieces, len(pieces))


class _ReadAhead:
    """Loads pieces and works on them, more of them at a time if the processor is idle meanwhile.

    Where files are in memory already, reading ahead would only fill the caches of the processor.
    """

    def __init__(self, work: Loading, n_threads: int) -> None:
        self._work = work
        self._n_threads = n_threads
        self._working = BoundedSemaphore(n_threads)
        self._loaded = Semaphore(n_threads)
        self._lock = Lock()
        self._done = 0
        self._started = time.perf_counter(), time.process_time()

    def __call__(self, piece: Any) -> Any:
        """Load a piece and work on it."""
        with self._loaded:
            loaded = self._work.load(piece)
            with self._working:
                result = self._work.relate(piece, loaded)
        with self._lock:
            self._done += 1
            if self._done == _TRIED * self._n_threads and self._is_idle():
                for _ in range(AHEAD):
                    self._loaded.release()
        return result

    def _is_idle(self) -> bool:
        """Whether the threads of this process waited for a good part of the time."""
        wall, cpu = self._started
        busy = (time.process_time() - cpu) / max(time.perf_counter() - wall, 1e-9)
        return busy < _BUSY * self._n_threads


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
