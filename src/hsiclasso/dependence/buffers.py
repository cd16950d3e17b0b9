"""Memory that a thread uses again and again: new memory for every block would take longer."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["thread_buffer"]

_buffers = threading.local()


def thread_buffer(
    name: str, shape: tuple[int, ...], dtype: npt.DTypeLike = np.float64
) -> np.ndarray[Any, Any]:
    """Return an array in the buffer of this name, which holds what was left there.

    A thread gets the same memory for the same name until it asks for more.

    Examples
    --------
    >>> first = thread_buffer("example", (2, 3))
    >>> np.shares_memory(first, thread_buffer("example", (4,), np.float32))
    True
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    known = _buffers.__dict__.get(name)
    if known is None or known.nbytes < size:
        known = np.empty(-(-size // 8))  # doubles, for their alignment
        setattr(_buffers, name, known)
    return known.view(dtype)[: math.prod(shape)].reshape(shape)
