"""How loops are compiled, and what is said about it."""

from __future__ import annotations

import subprocess
import sys

import numba

CODE = """
import numba
import hsiclasso._compile
from hsiclasso._compile import compiled

def other(x):
    return x + 1

other.__module__ = {other!r}
assert numba.njit(other)(1) == 2

def own(x):
    return x + 2

own.__module__ = "hsiclasso.somewhere"
for loop in (numba.njit(own), numba.njit(own)):
    assert loop(1) == 3
"""


def said(other):
    """What is logged if a function of another module, then two of ours are compiled."""
    code = [sys.executable, "-c", CODE.format(other=other)]
    return subprocess.run(code, capture_output=True, text=True, check=True).stderr


def test_compilation_is_announced_once_and_only_ours():
    for other in ("elsewhere", None):  # functions made by other packages may have no module
        assert said(other).count("Compiling loops for this machine") == 1


NOWHERE = """
import numba

njit = numba.njit

def without_a_place(*functions, cache=False, **options):
    if cache:
        raise RuntimeError("cannot cache function: no locator available for file")
    return njit(*functions, **options)

numba.njit = without_a_place
from hsiclasso._compile import compiled

def own(x):
    return x + 2

own.__module__ = "hsiclasso.somewhere"
assert compiled(own)(1) == 3
"""


def test_what_cannot_be_stored_is_explained():
    """A read-only package without a home compiles at every start: the user learns how to end it."""
    code = [sys.executable, "-c", NOWHERE]
    words = subprocess.run(code, capture_output=True, text=True, check=True).stderr
    assert words.count("Compiling loops for this machine") == 1
    assert "at every start" in words
    assert "NUMBA_CACHE_DIR" in words


def test_compiled_functions_release_the_lock():
    from hsiclasso.kernels._loops import standardise

    assert isinstance(standardise, numba.core.dispatcher.Dispatcher)
    assert standardise.targetoptions["nogil"]
