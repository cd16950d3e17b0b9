"""Compiled loop of short paths; `tests/solvers/test_short.py` compares it with the homotopy."""

from __future__ import annotations

import math

import numpy as np

from hsiclasso._compile import compiled
from hsiclasso._types import FloatArray, IntArray

__all__ = ["COLUMN", "DONE", "FAILED", "ROWS", "follow"]

#: What `follow` ends with: it is done, needs a column or more rows, or leaves it to the homotopy.
DONE, COLUMN, ROWS, FAILED = 0, 1, 2, 3
#: What candidates are marked with: they joined, or are too similar to one that did.
FREE, JOINED, CLOSED = 0, 1, 2
#: Penalties that differ by less, relative to the largest one, are a tie.
_TIE = 1e-10
#: A feature depends on the active ones if so little of its norm is left; the share by which its
#: correlation must fall slower than the penalty.
_DEPENDENT, _PARALLEL = 1e-6, 1e-9
#: Steps for each feature that is asked for.
_STEPS = 20


@compiled
def _append(lower: FloatArray, row: FloatArray, n: int) -> bool:
    """Add a row of n + 1 entries to a Cholesky factor. False if it depends on the others."""
    pivot = row[n]
    for i in range(n):
        value = row[i]
        for k in range(i):
            value -= lower[i, k] * lower[n, k]
        value /= lower[i, i]
        lower[n, i] = value
        pivot -= value * value
    if pivot <= _DEPENDENT * row[n]:
        return False
    lower[n, n] = math.sqrt(pivot)
    return True


@compiled
def _solve(lower: FloatArray, n: int, x: FloatArray) -> None:
    """Solve in place with a Cholesky factor of n rows."""
    for i in range(n):
        value = x[i]
        for k in range(i):
            value -= lower[i, k] * x[k]
        x[i] = value / lower[i, i]
    for i in range(n - 1, -1, -1):
        value = x[i]
        for k in range(i + 1, n):
            value -= lower[k, i] * x[k]
        x[i] = value / lower[i, i]


@compiled
def _put(gram: FloatArray, slots: IntArray, active: IntArray, n: int, lower: FloatArray) -> bool:
    """Add the last of n + 1 active candidates to the Cholesky factor."""
    row = np.empty(n + 1)
    for k in range(n + 1):
        row[k] = gram[active[n], slots[active[k]]]
    return _append(lower, row, n)


@compiled
def _is_copy(
    gram: FloatArray, slots: IntArray, marks: IntArray, candidate: int, cap: float
) -> bool:
    """Whether a candidate is more similar than the cap to one that joined before."""
    if cap >= 1.0:
        return False
    own = gram[candidate, slots[candidate]]
    for k in range(marks.size):
        if marks[k] == JOINED:
            product = gram[candidate, slots[k]]
            if product * product > cap * cap * own * gram[k, slots[k]]:
                return True
    return False


@compiled
def _find_joins(
    gram: FloatArray, linear: FloatArray, columns: IntArray, taken: IntArray, alpha: float,
    v: FloatArray, u: FloatArray, joins: FloatArray,
) -> int:  # fmt: skip
    """Write the penalty at which each candidate joins, -1 for none; return the first one to join.

    On the segment below `alpha` the weights of `columns` are ``v - alpha * u``. Candidates that are
    `taken` cannot join.
    """
    joining = -1
    for i in range(linear.size):
        joins[i] = -1.0
        if taken[i] != FREE:
            continue
        p, r = linear[i], 0.0
        for k in range(columns.size):
            entry = gram[i, columns[k]]
            p -= entry * v[k]
            r += entry * u[k]
        if 1.0 - r > _PARALLEL:
            joins[i] = min(p / (1.0 - r), alpha)
            if joining < 0 or joins[i] > joins[joining]:
                joining = i
    return joining


@compiled
def _second(joins: FloatArray, joining: int) -> float:
    """Return the penalty at which the second candidate joins."""
    second = -1.0
    for i in range(joins.size):
        if i != joining:
            second = max(second, joins[i])
    return second


@compiled
def _find_leaving(v: FloatArray, u: FloatArray) -> int:
    """Return the active feature whose weight ``v - alpha * u`` reaches 0 first; -1 if none does."""
    leaving = -1
    for k in range(v.size):
        if u[k] < 0.0 and (leaving < 0 or v[k] / u[k] > v[leaving] / u[leaving]):
            leaving = k
    return leaving


@compiled
def _drop(
    gram: FloatArray, slots: IntArray, active: IntArray, n: int, leaving: int, lower: FloatArray
) -> bool:
    """Take one of n active candidates out, also of the Cholesky factor."""
    for k in range(leaving, n - 1):
        active[k] = active[k + 1]
        if not _put(gram, slots, active, k, lower):
            return False
    return True


@compiled
def follow(
    gram: FloatArray, linear: FloatArray, slots: IntArray, marks: IntArray, limits: FloatArray,
    wanted: int, active: IntArray, state: FloatArray, lower: FloatArray, joins: FloatArray,
) -> int:  # fmt: skip
    """Continue the path of the non-negative lasso until `wanted` features are active.

    Candidates are sorted by their relevance `linear` (c,), and ``limits[0]`` is the largest one of
    the features that are no candidates. ``gram[i, slots[j]]`` is the entry of candidates i and j;
    ``slots[j]`` is -1 if that column is not known. The first ``state[0]`` of `active` are active at
    the penalty ``state[1]``, and `lower` is the Cholesky factor of their entries. A feature whose
    column is needed is left in ``state[2]``, and the penalties at which candidates join in `joins`.
    `marks` say which candidates ever joined, and which are left out because one that joined before
    is more similar to them than ``limits[1]``.
    """
    tie, taken = _TIE * linear[0], np.where(marks == CLOSED, CLOSED, FREE)
    taken[active[: int(state[0])]] = JOINED
    for _ in range(_STEPS * wanted):
        n, alpha = int(state[0]), state[1]
        if n == wanted:
            return DONE
        v, u = linear[active[:n]], np.ones(n)
        _solve(lower, n, v)
        _solve(lower, n, u)
        joining = _find_joins(gram, linear, slots[active[:n]], taken, alpha, v, u, joins)
        leaving = _find_leaving(v, u)
        best = joins[joining] if joining >= 0 else -1.0
        zero = v[leaving] / u[leaving] if leaving >= 0 else -1.0
        reached = max(best, zero)
        if reached < limits[0]:
            return ROWS
        # ties, and a path that ends: the homotopy knows about these
        second = max(_second(joins, joining), min(best, zero))
        if min(reached, reached - second) <= tie:
            return FAILED
        if zero > best:
            taken[active[leaving]] = FREE
            state[0], state[1] = n - 1, min(zero, alpha)
            if _drop(gram, slots, active, n, leaving, lower):
                continue
            return FAILED
        if slots[joining] < 0:
            state[2] = joining
            return COLUMN
        if marks[joining] != JOINED and _is_copy(gram, slots, marks, joining, limits[1]):
            marks[joining] = taken[joining] = CLOSED
            continue
        active[n] = joining
        if not _put(gram, slots, active, n, lower):
            return FAILED
        marks[joining] = taken[joining] = JOINED
        state[0], state[1] = n + 1, best
    return FAILED
