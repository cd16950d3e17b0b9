"""Chunks as tasks of a Dask cluster (needs the extra ``dask``).

The pass is the value of one task, and every chunk, or a few of them, another task that takes it. A
worker reads its chunk itself, or gets it from the tasks of a Dask collection. The latter are
submitted all at once: chunks of columns share blocks of rows, which are then computed once.
Everything can be made again from the graph: if a worker is lost, the scheduler has others repeat
what it held.
"""

from __future__ import annotations

import asyncio
import uuid
import warnings
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

from hsiclasso import __version__
from hsiclasso._blas import single_threaded_blas
from hsiclasso.data.sources import ArraySource
from hsiclasso.dependence.running import in_order
from hsiclasso.dependence.streaming import ChunkResult, StreamedPass
from hsiclasso.errors import ChunkFailedError, InvalidInputError, require

__all__ = ["Cluster", "connect"]

#: How often a chunk that fails is tried again.
_RETRIES = 3
#: Number of chunks that are submitted for each thread of the cluster.
_AHEAD = 3
#: Most chunks of a task. A task gets fewer chunks if otherwise fewer tasks than the second number
#: would be left for each thread of the cluster.
_MOST_CHUNKS, _LEAST_TASKS = 6, 3
#: Number of columns that a chunk may return which does not know what others returned: at least, and
#: times its share of those that are held in the end.
_LEAST_EACH, _TIMES_SHARE = 32, 8
#: Seconds until a scheduler must have answered.
_PATIENCE = 15
#: Clients that were made for addresses.
_CLIENTS: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()


def connect(client: Any) -> Any:
    """Return a client for the address of a scheduler, or the given client."""
    distributed = require("distributed", "dask")
    if isinstance(client, distributed.Client):
        return client
    if not isinstance(client, str):
        raise InvalidInputError(
            f"client={client!r} is no dask.distributed.Client and no address of a scheduler: pass "
            "one of them, such as 'tcp://10.0.0.1:8786'."
        )
    known = _CLIENTS.get(client)
    if known is not None and known.status == "running":
        return known
    try:
        with ThreadPoolExecutor(1) as thread:  # notebooks have a loop in this one
            thread.submit(asyncio.run, _answer(client)).result()
        _CLIENTS[client] = made = distributed.Client(
            client, timeout=_PATIENCE, set_as_default=False
        )
        return made
    except (OSError, ValueError, TimeoutError) as error:
        words = str(error) or f"nothing came within {_PATIENCE} s"
        raise InvalidInputError(
            f"No scheduler answers at {client!r} ({words}): check the address, and that the "
            "scheduler is running and can be reached from here."
        ) from error


async def _answer(address: str) -> None:
    """Shake hands with a scheduler; a client would wait for its answer without end."""
    distributed: Any = require("distributed", "dask")
    options = distributed.Security().get_connection_args("client")
    connecting = distributed.comm.connect(address, timeout=_PATIENCE, **options)
    (await asyncio.wait_for(connecting, _PATIENCE)).abort()


class Cluster:
    """Runs the chunks of a pass as tasks of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
    """

    by_chunks: ClassVar[bool] = True

    def __init__(self, client: Any) -> None:
        self._client = client

    def map(self, work: Any, pieces: Sequence[slice]) -> Iterator[Any]:
        """Yield the results of all chunks, in order."""
        self._check_workers()
        if work.features.source.from_dask:
            futures = self._submit_all(work, pieces)
            yield from in_order(lambda *_: futures.popleft(), work, pieces, len(pieces))
            return
        shared = self._share(work)
        n_threads = sum(self._client.nthreads().values())

        def submit(_: Any, some: Sequence[slice]) -> Any:
            options = {"retries": _RETRIES, "pure": False}
            task = self._client.submit(_several, shared, some, work.known, **options)
            return _NamedFuture(task, work, slice(some[0].start, some[-1].stop))

        run: Any = work
        for results in in_order(submit, run, _tasks(pieces, n_threads), _AHEAD * n_threads):
            yield from results

    def _submit_all(self, work: StreamedPass, pieces: Sequence[slice]) -> deque[Any]:
        """Submit the chunks of a Dask collection; return their futures."""
        shared = self._share(work.without_source())
        relate = require("dask", "dask").delayed(_relate, pure=False)
        most = max(_LEAST_EACH, _TIMES_SHARE * work.n_held // max(1, len(pieces)))
        values = [_task_of(work, piece) for piece in pieces]
        tasks = [
            relate(shared, piece, task, most)
            for piece, task in zip(pieces, values, strict=True)
            if task is not None
        ]
        submitted = deque(self._client.compute(tasks, retries=_RETRIES))
        return deque(
            _Here(work, piece) if task is None else _NamedFuture(submitted.popleft(), work, piece)
            for piece, task in zip(pieces, values, strict=True)
        )

    def _share(self, work: Any) -> Any:
        """Make the pass the value of a task, which any worker can carry out again."""
        pickle = require("cloudpickle", "dask")
        with warnings.catch_warnings():
            # the rows of a target with many samples are large, and every worker needs them
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            key = f"hsiclasso-pass-{uuid.uuid4().hex}"
            return self._client.submit(pickle.loads, pickle.dumps(work), key=key)

    def _check_workers(self) -> None:
        """Raise if there are no workers, or if one has another version of this package."""
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except (TimeoutError, OSError) as error:
            raise InvalidInputError(
                f"{self._client!r} has no workers after {_PATIENCE} s: start some, then try again."
            ) from error
        for worker, found in self._client.run(_version, on_error="return").items():
            if found != __version__:
                what = f"version {found}" if isinstance(found, str) else f"({found})"
                raise InvalidInputError(
                    f"The worker at {worker} has hsiclasso {what}, but this process has version "
                    f"{__version__}: install the same version everywhere."
                )


class _Here:
    """A chunk that is loaded and related in this process, when its result is wanted."""

    def __init__(self, work: StreamedPass, piece: slice) -> None:
        self._work, self._piece = work, piece

    def result(self) -> ChunkResult:
        """Load the chunk and relate it."""
        return self._work(self._piece)

    def cancel(self) -> None:
        """Give the chunk up, which has not begun."""


class _NamedFuture:
    """The future of a chunk, or of several, which knows the words for them."""

    def __init__(self, future: Any, work: Any, piece: slice) -> None:
        self._future = future
        self._words = work.words(piece)

    def result(self) -> Any:
        """Wait for the result; an error names the chunk."""
        try:
            found = self._future.result()
        except InvalidInputError:
            raise
        except Exception as error:
            raise ChunkFailedError(
                f"{self._words} failed {_RETRIES + 1} times on the cluster "
                f"({type(error).__name__}: {error}): see the logs of its workers."
            ) from error
        return found

    def cancel(self) -> None:
        """Give the chunk up."""
        self._future.cancel()


def _version() -> str:
    return __version__


def _task_of(work: StreamedPass, piece: slice) -> Any | None:
    """Return the task that makes the columns of a chunk; None if they are best loaded here."""
    if any(k in range(piece.start, piece.stop) for k in work.features.joint):
        return None  # columns of a joint feature are in several chunks
    return work.features.source.delayed(work.columns(piece))


def _tasks(pieces: Sequence[slice], n_threads: int) -> list[Sequence[slice]]:
    """Divide chunks into tasks.

    A task takes the process of the client some milliseconds. Therefore several of many chunks share
    one. The last tasks are small, so that all workers finish at about the same time.

    Examples
    --------
    >>> [len(task) for task in _tasks([slice(k, k + 1) for k in range(30)], n_threads=2)]
    [5, 4, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    """
    tasks, start = [], 0
    while start < len(pieces):
        left = len(pieces) - start
        stop = start + min(_MOST_CHUNKS, max(1, left // (_LEAST_TASKS * n_threads)))
        tasks.append(pieces[start:stop])
        start = stop
    return tasks


def _several(work: Any, some: Sequence[slice], known: Any) -> list[Any]:
    with single_threaded_blas():
        return list(work.several(some, known))


def _relate(work: StreamedPass, piece: slice, values: Any, most_held: int) -> ChunkResult:
    columns = work.columns(piece)
    names = [work.features.source.name(j) for j in range(columns.start, columns.stop)]
    with single_threaded_blas():
        return work.relate(piece, ArraySource(values, names), most_held=most_held)
