"""Memory, a folder for finished work, and a cluster: what a selection may use."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from hsiclasso._memory import as_bytes
from hsiclasso._options import Option
from hsiclasso.data import Source
from hsiclasso.data.dask import current_client
from hsiclasso.dependence import Runner, Threads
from hsiclasso.errors import InvalidInputError

__all__ = ["Resources", "as_resources"]


class Resources(Option):
    """What a selection may use beside the threads of this process.

    Parameters
    ----------
    memory_limit : int or str, default=None
        Bytes that a selection may use beside the libraries and a table that is in memory already,
        such as ``"2GB"``. None is half of the memory that is free.
    checkpoint : path-like, default=None
        Folder in which finished chunks of columns are kept. A selection that was interrupted
        continues there, with the same result. The folder is refused if the table, the target or the
        settings have changed.
    client : distributed.Client or str, default=None
        Dask cluster, or the address of its scheduler, that runs the pass over the table. Only
        results and the columns that may be selected come back. None is the current client of
        Dask if the table is a Dask collection, and threads of this process for other tables.

    Examples
    --------
    >>> from hsiclasso import HSICLasso, Resources
    >>> HSICLasso(20, resources=Resources(memory_limit="2GB", checkpoint="finished"))
    HSICLasso(n_features_to_select=20,
              resources=Resources(checkpoint='finished', memory_limit='2GB'))
    """

    def __init__(
        self,
        memory_limit: int | str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        client: Any = None,
    ) -> None:
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.client = client

    def check(self) -> Self:
        """Raise if a parameter breaks its rule."""
        if self.memory_limit is not None:
            as_bytes("memory_limit", self.memory_limit)
        if self.checkpoint is not None:
            if not isinstance(self.checkpoint, str | os.PathLike):
                raise InvalidInputError(
                    f"checkpoint={self.checkpoint!r} must be the path of a folder."
                )
            if Path(self.checkpoint).is_file():
                raise InvalidInputError(
                    f"checkpoint={str(self.checkpoint)!r} is a file: give the path of a folder."
                )
        return self

    def __sklearn_clone__(self) -> Self:
        # a client is a connection: copies share it
        return type(self)(self.memory_limit, self.checkpoint, self.client)

    @property
    def bytes_allowed(self) -> int | None:
        """Memory limit in bytes."""
        return None if self.memory_limit is None else as_bytes("memory_limit", self.memory_limit)

    def connected(self, source: Source) -> Any | None:
        """Return the client that runs the pass over a table; None if threads do."""
        if self.client is None:
            return current_client() if source.from_dask else None
        from hsiclasso.dependence.cluster import connect

        return connect(self.client)

    def runner(
        self, source: Source, n_threads: int, made_for: Mapping[str, str] | None = None
    ) -> Runner:
        """Return what runs the pass; `made_for` has the fingerprints for a checkpoint."""
        runner: Runner = Threads(n_threads)
        client = self.connected(source)
        if client is not None:
            from hsiclasso.dependence.cluster import Cluster

            runner = Cluster(client)
        if self.checkpoint is not None and made_for is not None:
            from hsiclasso.dependence.checkpoint import Checkpoint

            runner = Checkpoint(Path(self.checkpoint), runner, made_for)
        return runner


def as_resources(value: Any) -> Resources:
    """Return resources, checked; None stands for the default."""
    if value is not None and not isinstance(value, Resources):
        raise InvalidInputError(
            f"resources={value!r} must be an object such as Resources(memory_limit='2GB')."
        )
    return (value or Resources()).check()
