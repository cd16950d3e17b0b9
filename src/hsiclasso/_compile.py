"""How the package compiles its loops: nogil, cached on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

__all__ = ["compiled", "inlined", "summing"]

Function = TypeVar("Function", bound=Callable[..., Any])

# Contraction (a*b + c in one instruction) is the only liberty taken with IEEE arithmetic:
# reassociation would break the compensated steps of `_exp`.
_OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"contract"}, "error_model": "numpy"}


def compiled(function: Function) -> Function:
    """Compile a loop, cached where a cache folder can be written to."""
    return _compile(function, _OPTIONS)


def summing(function: Function) -> Function:
    """Compile a loop whose sums and extrema may be taken in any order, and so in vector lanes.

    It must not meet NaN.
    """
    return _compile(function, _OPTIONS | {"fastmath": {"contract", "reassoc", "nsz", "nnan"}})


def inlined(function: Function) -> Function:
    """Compile a helper into its callers."""
    loop: Function = numba.njit(inline="always", **_OPTIONS)(function)
    return loop


def _compile(function: Function, options: dict[str, Any]) -> Function:
    try:
        loop: Function = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba finds neither a writable package folder nor a home
        loop = numba.njit(**options)(function)
    return loop
