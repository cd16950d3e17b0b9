"""Compiled loop of short paths; `tests/solvers/test_short.py` compares it with the homotopy."""

from __future__ import annotations

import math

import numpy as np

from hsiclasso._compile import compiled
from hsiclasso._types import FloatArray, IntArray

__all__ = ["COLUMN", "DONE", "FAILED", "ROWS", "follow"]

#: What `follow` ends with: it is done, needs a column or more rows, or leaves it to the homotopy.
DONE, COLUMN, ROWS, FAILED = 0, 1, 2, 3
#: Penalties that differ by less, relative to the largest one, are a tie.
_TIE = 1e-10
#: A feature depends on the active ones if so little of its norm is left; the share by which its
#: correlation must fall slower than the penalty.
_DEPENDENT, _PARALLEL = 1e-6, 1e-9
#: Steps for each feature that is asked for.
_STEPS = 20


@compiled
def _append(lower: FloatArray, row: FloatArray, n: int) -> bool:
    """Add a row to a Cholesky factor; `row` has its n + 1 entries. False if it depends on others."""
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
def _put(
    gram: FloatArray, slots: IntArray, active: IntArray, n: int, lower: FloatArray
) -> bool:
    """Add the last of n + 1 active candidates to the Cholesky factor."""
    row = np.empty(n + 1)
    for k in range(n + 1):
        row[k] = gram[active[n], slots[active[k]]]
    return _append(lower, row, n)


@compiled
def follow(
    gram: FloatArray, linear: FloatArray, slots: IntArray, limit: float, wanted: int,
    active: IntArray, state: FloatArray, lower: FloatArray, joins: FloatArray,
) -> int:  # fmt: skip
    """Continue the path of the non-negative lasso until `wanted` features are active.

    Candidates are sorted by their relevance `linear` (c,), and `limit` is the largest one of the
    features that are no candidates. ``gram[i, slots[j]]`` is the entry of candidates i and j;
    ``slots[j]`` is -1 if that column is not known. The first ``state[0]`` of `active` are active at
    the penalty ``state[1]``, and `lower` is the Cholesky factor of their entries. A feature whose
    column is needed is left in ``state[2]``, and the penalties at which candidates join in `joins`.
    """
    n, alpha, tie = int(state[0]), state[1], _TIE * linear[0]
    v, u = np.empty(wanted), np.empty(wanted)
    is_active = np.zeros(linear.size, dtype=np.bool_)
    for k in range(n):
        is_active[active[k]] = True
    for _ in range(_STEPS * wanted):
        if n == wanted:
            state[0], state[1] = n, alpha
            return DONE
        for k in range(n):
            v[k], u[k] = linear[active[k]], 1.0
        _solve(lower, n, v)
        _solve(lower, n, u)
        best, second, joining = -1.0, -1.0, -1
        for i in range(linear.size):
            joins[i] = -1.0
            if is_active[i]:
                continue
            p, r = linear[i], 0.0
            for k in range(n):
                entry = gram[i, slots[active[k]]]
                p -= entry * v[k]
                r += entry * u[k]
            if 1.0 - r > _PARALLEL:
                joins[i] = min(p / (1.0 - r), alpha)
                if joins[i] > best:
                    best, second, joining = joins[i], best, i
                elif joins[i] > second:
                    second = joins[i]
        leaving, zero = -1, -1.0
        for k in range(n):
            if u[k] < 0.0 and v[k] / u[k] > zero:
                leaving, zero = k, v[k] / u[k]
        reached = max(best, zero)
        state[0], state[1] = n, alpha
        if reached < limit:
            return ROWS
        # ties, and a path that ends: the homotopy knows about these
        if reached <= tie or abs(best - zero) <= tie or (best >= zero and best - second <= tie):
            return FAILED
        if zero > best:
            alpha = min(zero, alpha)
            is_active[active[leaving]] = False
            for k in range(leaving, n - 1):
                active[k] = active[k + 1]
            n -= 1
            for k in range(leaving, n):
                if not _put(gram, slots, active, k, lower):
                    return FAILED
            continue
        if slots[joining] < 0:
            state[2] = joining
            return COLUMN
        active[n] = joining
        if not _put(gram, slots, active, n, lower):
            return FAILED
        is_active[joining] = True
        n += 1
        alpha = best
    return FAILED
