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


_ONCE = "Compiling loops for this machine; this happens once and takes a few seconds."
_ALWAYS = (
    "Compiling loops for this machine; this takes up to a minute at every start, because neither "
    "the folder of the package nor a home can be written to: set the environment variable "
    "NUMBA_CACHE_DIR to a folder of yours, and the next start will be fast."
)


class _Announcement(event.Listener):
    """Tells the user once that loops are being compiled, because this takes a while."""

    said = False
    #: Whether what is compiled can be stored.
    stored = True

    def on_start(self, compilation: Any) -> None:
        """Note the first compilation of a loop of the package."""
        # functions of other packages come here too, and some of them belong to no module
        function = getattr(compilation.data["dispatcher"], "py_func", None)
        if not self.said and str(getattr(function, "__module__", "")).startswith("hsiclasso"):
            self.said = True
            logging.getLogger("hsiclasso").warning(
                _ONCE if self.stored else _ALWAYS, extra={"stage": "compile"}
            )

    def on_end(self, compilation: Any) -> None:
        """Do nothing."""


_announcement = _Announcement()
event.register("numba:compile", _announcement)  # type: ignore[no-untyped-call]


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
        _announcement.stored = False
        loop = numba.njit(**options)(function)
    return loop
