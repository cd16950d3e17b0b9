"""Compiled loops of the additive problem; `tests/solvers` has a NumPy twin of each."""

from __future__ import annotations

import numpy as np

from hsiclasso._compile import compiled
from hsiclasso._types import FloatArray, IntArray

__all__ = ["descend_functions"]

#: Most steps for the norm of one unit, and the relative change at which they end.
_ROOT_STEPS, _LAST_DIGIT = 60, 1e-15


@compiled
def _norm_of_unit(energy: FloatArray, curvature: FloatArray, cut: float) -> float:
    r"""Return the norm t > 0 of a unit: the root of the secular equation.

    .. math:: \sum_i \frac{s_i^2}{(h_i t + c)^2} = 1

    The inverse square root of the left side is concave in t and almost linear: Newton's method on
    it, kept within bounds, takes a few steps.
    """
    total, least, most = 0.0, curvature[0], curvature[0]
    for i in range(energy.size):
        total += energy[i]
        least, most = min(least, curvature[i]), max(most, curvature[i])
    low, high = (np.sqrt(total) - cut) / most, (np.sqrt(total) - cut) / least
    t = low
    for _ in range(_ROOT_STEPS):
        value, slope = 0.0, 0.0
        for i in range(energy.size):
            size = curvature[i] * t + cut
            part = energy[i] / (size * size)
            value += part
            slope += part * curvature[i] / size
        if value > 1.0:
            low = t
        else:
            high = t
        new = t + value * (np.sqrt(value) - 1.0) / slope
        if not low <= new <= high:
            new = 0.5 * (low + high)
        done = abs(new - t) <= _LAST_DIGIT * t
        t = new
        if done:
            break
    return float(t)


@compiled
def _replace(
    products: FloatArray, i: int, curvature: float, factor: float, s: FloatArray,
    weights: FloatArray, c: FloatArray,
) -> None:  # fmt: skip
    """Set the weights of row i to a multiple of s, and update the correlations of all rows."""
    changed = False
    for j in range(s.size):
        new = factor * s[j]
        s[j] = new - weights[i, j]
        weights[i, j] = new
        changed = changed or s[j] != 0.0
    if not changed:
        return
    for row in range(products.size):
        # the curvature is the squared norm of the row and its ridge part
        product = curvature if row == i else products[row]
        for j in range(s.size):
            c[row, j] -= product * s[j]


@compiled
def descend_functions(
    gram: FloatArray, curvature: FloatArray, cuts: FloatArray, starts: IntArray,
    weights: FloatArray, c: FloatArray, sweeps: int,
) -> None:  # fmt: skip
    r"""Descend over units, each of which is minimised exactly; `weights` and `c` are overwritten.

    Within a unit the rows are orthogonal. With S the correlations of its rows with the target less
    all other units, and h the curvature, its weights are :math:`S_i / (h_i + c/t)`, or 0 if
    :math:`\|S\| \le c`.

    Parameters
    ----------
    gram : ndarray of shape (M, M)
        Inner products of the rows of all units.
    curvature : ndarray of shape (M,)
        Squared norm of each row, plus its ridge part.
    cuts : ndarray of shape (u,)
        Penalty of each unit.
    starts : ndarray of shape (u + 1,)
        First row of each unit, and the number of rows.
    weights : ndarray of shape (M, p)
    c : ndarray of shape (M, p)
        Minus the gradient of the smooth part.
    sweeps : int
    """
    s = np.empty_like(weights)
    energy = np.empty(weights.shape[0])
    for _ in range(sweeps):
        for unit in range(cuts.size):
            first, last, cut = starts[unit], starts[unit + 1], cuts[unit]
            total = 0.0
            for i in range(first, last):
                energy[i] = 0.0
                for j in range(weights.shape[1]):
                    s[i, j] = c[i, j] + curvature[i] * weights[i, j]
                    energy[i] += s[i, j] * s[i, j]
                total += energy[i]
            more, scale = 0.0, 1.0  # the weights are scale * s / (curvature + more)
            if cut > 0.0:
                if np.sqrt(total) <= cut:
                    scale = 0.0
                else:
                    more = cut / _norm_of_unit(energy[first:last], curvature[first:last], cut)
            for i in range(first, last):
                _replace(gram[i], i, curvature[i], scale / (curvature[i] + more), s[i], weights, c)
