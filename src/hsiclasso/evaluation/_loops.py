"""Compiled loops of the evaluation; `tests/evaluation` has a NumPy twin of each."""

from __future__ import annotations

import numpy as np

from hsiclasso._compile import summing
from hsiclasso._types import FloatArray

__all__ = ["newton_direction"]


@summing
def _curve(probabilities: FloatArray, flow: FloatArray, sums: FloatArray) -> None:
    """Multiply the column (C,) of each sample with diag(p) - pp', over n, in place."""
    n_classes, n = flow.shape
    sums[:] = 0.0
    for c in range(n_classes):
        for i in range(n):
            flow[c, i] *= probabilities[c, i]
            sums[i] += flow[c, i]
    for c in range(n_classes):
        for i in range(n):
            flow[c, i] = (flow[c, i] - probabilities[c, i] * sums[i]) / n


@summing
def _dot(first: FloatArray, second: FloatArray) -> float:
    total = 0.0
    for c in range(first.shape[0]):
        for j in range(first.shape[1]):
            total += first[c, j] * second[c, j]
    return total


@summing
def newton_direction(
    design: FloatArray, transposed: FloatArray, probabilities: FloatArray, penalty: FloatArray,
    inverse: FloatArray, gradient: FloatArray, accuracy: float,
) -> FloatArray:  # fmt: skip
    """Return the Newton direction (C, r), by preconditioned conjugate gradients.

    The features of the samples are `design` (r, n) and `transposed` (n, r), the `probabilities`
    are (C, n). `penalty` (r,) is on the diagonal of the Hessian, `inverse` (r,) inverts the
    preconditioner. In its norm, the relative residual ends at `accuracy`.
    """
    n_classes, r = gradient.shape
    direction, residual = np.zeros((n_classes, r)), -gradient
    along = residual * inverse
    norm = _dot(residual, along)
    goal = accuracy * accuracy * norm
    flow, image = np.empty(probabilities.shape), np.empty((n_classes, r))
    sums = np.empty(probabilities.shape[1])
    for _ in range(gradient.size):
        np.dot(along, design, flow)
        _curve(probabilities, flow, sums)
        np.dot(flow, transposed, image)
        image += along * penalty
        bend = _dot(along, image)
        if bend <= 0.0:  # only rounding errors are left
            break
        step = norm / bend
        last, norm = norm, 0.0
        for c in range(n_classes):
            for j in range(r):
                direction[c, j] += step * along[c, j]
                residual[c, j] -= step * image[c, j]
                norm += residual[c, j] * residual[c, j] * inverse[j]
        if norm <= goal:
            break
        for c in range(n_classes):
            for j in range(r):
                along[c, j] = residual[c, j] * inverse[j] + (norm / last) * along[c, j]
    return direction
