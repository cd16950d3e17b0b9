"""How the package compiles its loops: without the GIL, and cached on disk if possible."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import event

__all__ = ["compiled", "inlined", "summing"]

Function = TypeVar("Function", bound=Callable[..., Any])

# Contraction (a*b + c in one instruction) is the only liberty taken with IEEE arithmetic:
# reassociation would break the compensated steps of `_exp`.
_OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"contract"}, "error_model": "numpy"}


class _Announcement(event.Listener):
    """Tells the user once that loops are being compiled, because this takes a while."""

    said = False

    def on_start(self, compilation: Any) -> None:
        """Note the first compilation of a loop of the package."""
        # functions of other packages come here too, and some of them belong to no module
        function = getattr(compilation.data["dispatcher"], "py_func", None)
        if not self.said and str(getattr(function, "__module__", "")).startswith("hsiclasso"):
            self.said = True
            logging.getLogger("hsiclasso").warning(
                "Compiling loops for this machine; this happens once and takes a few seconds.",
                extra={"stage": "compile"},
            )

    def on_end(self, compilation: Any) -> None:
        """Do nothing."""


event.register("numba:compile", _Announcement())  # type: ignore[no-untyped-call]


def compiled(function: Function) -> Function:
    """Compile a loop, cached where a cache folder can be written to."""
    return _compile(function, _OPTIONS)


def summing(function: Function) -> Function:
    """Compile a loop whose sums and extrema may be taken in any order, which allows vector code.

    Its data must not contain NaN.
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
