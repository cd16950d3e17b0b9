"""Keeping BLAS on one thread while the package's own threads work.

There are many small matrices: threads over columns are faster than threads inside BLAS. Overlapping
limits of two threads could leave BLAS limited for good. The process therefore has one limit, which
lasts as long as any thread needs it. threadpoolctl 3.8 lets only the first thread that sets a limit
of OpenBLAS change it again, and ignores others: here, each thread that must takes over.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import threadpoolctl
from threadpoolctl import ThreadpoolController

__all__ = ["single_threaded_blas"]

_lock = threading.Lock()
_users = 0
_limit: Any = None
#: Finding the libraries takes milliseconds; they are loaded by the time of the first use.
_controller: ThreadpoolController | None = None


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS to one thread inside the context."""
    global _users, _limit, _controller
    with _lock:
        _users += 1
        if _users == 1:
            _controller = _controller or ThreadpoolController()
            _take_over()
            _limit = _controller.limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _take_over()
                _limit.restore_original_limits()
                _take_over()


def _take_over() -> None:
    """Let any thread set limits of OpenBLAS."""
    openblas: Any = getattr(threadpoolctl, "OpenBLASController", None)
    if hasattr(openblas, "clear_controlling_thread"):
        openblas.clear_controlling_thread(force=True)
