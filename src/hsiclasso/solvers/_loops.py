"""Compiled loops of the solvers; `tests/solvers` has a NumPy twin of each."""

from __future__ import annotations

import numpy as np

from hsiclasso._compile import compiled
from hsiclasso._types import FloatArray, IntArray

__all__ = ["descend"]

#: Proximal steps on a group before the next one is visited.
_GROUP_STEPS = 5


@compiled
def _soft(z: float, cut: float, signed: bool) -> float:
    if z > cut:
        return z - cut
    if signed and z < -cut:
        return z + cut
    return 0.0


@compiled
def _move(gram: FloatArray, k: int, change: float, c: FloatArray) -> None:
    row = gram[k]
    for i in range(c.size):
        c[i] -= change * row[i]


@compiled
def _group_step(
    gram: FloatArray, start: int, stop: int, top: float, cuts: FloatArray, unit_cut: float,
    signed: bool, a: FloatArray, c: FloatArray, fresh: FloatArray,
) -> float:  # fmt: skip
    """Take a proximal step on one group; returns how far it moved, squared."""
    norm2 = 0.0
    for k in range(start, stop):
        fresh[k] = _soft(a[k] + c[k] / top, cuts[k] / top, signed)
        norm2 += fresh[k] * fresh[k]
    norm = np.sqrt(norm2)
    shrink = max(1.0 - unit_cut / (top * norm), 0.0) if norm > 0.0 else 0.0
    moved = 0.0
    for k in range(start, stop):
        change = shrink * fresh[k] - a[k]
        if change != 0.0:
            a[k] = shrink * fresh[k]
            _move(gram, k, change, c)
            moved += change * change
    return moved


@compiled
def descend(
    gram: FloatArray, curvature: FloatArray, cuts: FloatArray, starts: IntArray,
    unit_cuts: FloatArray, signed: bool, a: FloatArray, c: FloatArray, epochs: int,
) -> None:  # fmt: skip
    """Cyclic descent over units, features one by one and groups by proximal steps.

    Parameters
    ----------
    gram : (m, m) symmetric G
    curvature : (u,) diagonal of G for a single feature, largest eigenvalue for a group
    cuts, unit_cuts : (m,), (u,) penalty times weights of features and of units
    starts : (u,) where units begin
    signed : whether weights may be negative
    a, c : (m,) weights and correlations ``b - G a``, updated in place
    epochs : visits of each unit
    """
    m = a.size
    fresh = np.empty(m)
    for _ in range(epochs):
        for u in range(starts.size):
            start = starts[u]
            stop = starts[u + 1] if u + 1 < starts.size else m
            top = curvature[u]
            if top <= 0.0:
                continue
            if stop - start == 1:
                cut = cuts[start] + unit_cuts[u]
                new = _soft(a[start] + c[start] / top, cut / top, signed)
                if new != a[start]:
                    _move(gram, start, new - a[start], c)
                    a[start] = new
                continue
            steps, moved = 0, 1.0
            while moved > 0.0 and steps < _GROUP_STEPS:
                moved = _group_step(
                    gram, start, stop, top, cuts, unit_cuts[u], signed, a, c, fresh
                )  # fmt: skip
                steps += 1
