r"""Compiled saddlepoint tail of the rotation null; `tests/inference` has a NumPy twin.

The eigenvectors of one matrix are rotated at random against those of the other:

.. math:: T = \sum_i m_i \lambda_i R_i, \qquad
          R_i = \frac{\sum_j \mu_j g_{ij}^2}{\sum_j g_{ij}^2}, \quad j = 1, \dots, N

with independent normal :math:`g_{ij}`. Given the norms in the denominators, T is a sum of
chi-squares on a condition: the double saddlepoint approximation gives its tail. The saddlepoint is
the minimum of a convex function of :math:`\sigma` and :math:`x_i` with logarithmic barriers,

.. math:: F = -\tfrac N2 \sigma t + \sum_i m_i \Big[\tfrac N2 (x_i - 1)
          - \tfrac12 \sum_j \log(x_i - \sigma \lambda_i \mu_j)\Big].
"""

from __future__ import annotations

import math

import numpy as np

from hsiclasso._compile import compiled
from hsiclasso._types import FloatArray

__all__ = ["compress", "upper_tails"]

#: Newton steps at most; five to ten are usual.
_STEPS = 100
#: Squared Newton decrement at which the saddlepoint is found, and at which full steps are safe.
_SOLVED, _SAFE = 1e-16, 0.05
#: Closer to the mean, in standard deviations, r* is interpolated: its formula is 0/0 there.
_NEAR = 0.05
#: Share of the largest possible value that a threshold may reach.
_MOST = 1.0 - 1e-6


@compiled
def compress(values: FloatArray, share: float, out: FloatArray, counts: FloatArray) -> int:
    """Write distinct positive eigenvalues and their multiplicities; return how many they are.

    Eigenvalues below a share of the largest are pooled: they become one value with a multiplicity,
    which keep their sum and their sum of squares.
    """
    top = 0.0
    for value in values:
        top = max(top, value)
    size, total, squares = 0, 0.0, 0.0
    for value in values:
        if value > share * top:
            out[size] = value
            counts[size] = 1.0
            size += 1
        elif value > 0.0:
            total += value
            squares += value * value
    if squares > 1e-24 * top * top:
        out[size] = squares / total
        counts[size] = total * total / squares
        size += 1
    return size


@compiled
def _newton(
    lam: FloatArray, m: FloatArray, mu: FloatArray, c: FloatArray, half: float, t: float,
    sigma: float, x: FloatArray, work: FloatArray,
) -> tuple[float, float, float]:  # fmt: skip
    """Compute a Newton step; return that of sigma, the squared decrement, and the curvature.

    Parameters
    ----------
    lam, m : (r,) eigenvalues of the feature, and their multiplicities
    mu, c : (q,) those of the target
    half : N / 2
    t, sigma : threshold, and its dual
    x : (r,) :math:`x_i - 1`
    work : (4, r) receives the first, second and mixed derivatives by x_i, and the steps of x_i
    """
    gradient, curvature, reduced = -half * t, 0.0, 0.0
    rest = max(2.0 * half - c.sum(), 0.0)
    for i in range(lam.size):
        z = 1.0 + x[i]
        a = sigma * lam[i]
        s0, q0 = rest / z, rest / (z * z)
        s1, q1, q2 = 0.0, 0.0, 0.0
        for j in range(mu.size):
            u = 1.0 / (z - a * mu[j])
            w = c[j] * u
            s0 += w
            s1 += w * mu[j]
            w *= u
            q0 += w
            w *= mu[j]
            q1 += w
            q2 += w * mu[j]
        half_m = 0.5 * m[i]
        work[0, i] = half_m * (2.0 * half - s0)
        work[1, i] = half_m * q0
        work[2, i] = -half_m * lam[i] * q1
        gradient += half_m * lam[i] * s1
        curvature += half_m * lam[i] * lam[i] * (q2 - q1 * q1 / q0)
        reduced += work[2, i] * work[0, i] / work[1, i]
    step = (reduced - gradient) / curvature
    decrement = -gradient * step
    for i in range(lam.size):
        work[3, i] = -(work[0, i] + work[2, i] * step) / work[1, i]
        decrement -= work[0, i] * work[3, i]
    return step, decrement, curvature


@compiled
def _largest_change(
    lam: FloatArray, mu: FloatArray, sigma: float, x: FloatArray, step: float, steps: FloatArray
) -> float:
    """Largest relative change of the terms in the logarithms by a step."""
    most = 0.0
    for i in range(lam.size):
        z = 1.0 + x[i]
        most = max(most, abs(steps[i]) / z)
        for j in range(mu.size):
            change = steps[i] - step * lam[i] * mu[j]
            most = max(most, abs(change) / (z - sigma * lam[i] * mu[j]))
    return most


@compiled
def _objective(
    lam: FloatArray, m: FloatArray, mu: FloatArray, c: FloatArray, half: float, t: float,
    sigma: float, x: FloatArray,
) -> float:  # fmt: skip
    value = -half * sigma * t
    for i in range(lam.size):
        logs = 0.0
        for j in range(mu.size):
            logs += c[j] * math.log1p(-sigma * lam[i] * mu[j] / (1.0 + x[i]))
        value += m[i] * (half * (x[i] - math.log1p(x[i])) - 0.5 * logs)
    return value


@compiled
def _signed_root(
    lam: FloatArray, m: FloatArray, mu: FloatArray, c: FloatArray, half: float, t: float,
    x: FloatArray, work: FloatArray,
) -> float:  # fmt: skip
    """Return Barndorff-Nielsen's r* = r + log(u/r)/r at a threshold t."""
    sigma, curvature = 0.0, 0.0
    x[:] = 0.0
    for _ in range(_STEPS):
        step, decrement, curvature = _newton(lam, m, mu, c, half, t, sigma, x, work)
        if decrement < _SOLVED:
            break
        length = 1.0
        if decrement > _SAFE:
            # a step of this length stays in the domain and always decreases the function
            length /= 1.0 + _largest_change(lam, mu, sigma, x, step, work[3])
        sigma += length * step
        for i in range(lam.size):
            x[i] += length * work[3, i]
    r = math.sqrt(max(-2.0 * _objective(lam, m, mu, c, half, t, sigma, x), 1e-300))
    logs = 0.5 * math.log(curvature) + math.log(abs(sigma))
    for i in range(lam.size):
        logs += 0.5 * m[i] * math.log(work[1, i] / (m[i] * half))
    shift = (logs - math.log(r)) / r
    return r + shift if sigma > 0.0 else -r - shift


@compiled
def _tail(
    lam: FloatArray, m: FloatArray, mu: FloatArray, c: FloatArray, half: float, t: float,
    mean: float, deviation: float, x: FloatArray, work: FloatArray,
) -> float:  # fmt: skip
    """Return P(T >= t)."""
    if t <= 0.0:
        return 1.0
    most = 0.0
    for i in range(lam.size):
        most += m[i] * lam[i] * mu[0]
    t = min(t, _MOST * most)
    near = _NEAR * min(deviation, mean)
    if abs(t - mean) >= near:
        root = _signed_root(lam, m, mu, c, half, t, x, work)
    else:
        above = _signed_root(lam, m, mu, c, half, mean + near, x, work)
        below = _signed_root(lam, m, mu, c, half, mean - near, x, work)
        root = below + (above - below) * (t - mean + near) / (2.0 * near)
    return 0.5 * math.erfc(root * math.sqrt(0.5))


@compiled
def upper_tails(
    z: FloatArray, values: FloatArray, targets: FloatArray, n: FloatArray, share: float,
    out: FloatArray,
) -> None:  # fmt: skip
    """Write P(T >= E T + z sd T) for k features.

    Parameters
    ----------
    z : (k, m) thresholds
    values : (k, r) eigenvalues of the features
    targets : (1, q) or (k, q) eigenvalues of the targets
    n : (1,) or (k,) samples; rotations are in N = n - 1 dimensions
    share : eigenvalues below this share of the largest are pooled
    out : (k, m)
    """
    lam, m = np.empty(values.shape[1] + 1), np.empty(values.shape[1] + 1)
    mu, c = np.empty(targets.shape[1] + 1), np.empty(targets.shape[1] + 1)
    x, work = np.empty(lam.size), np.empty((4, lam.size))
    r, q = 0, 0
    for k in range(len(z)):
        r = compress(values[k], share, lam, m)
        if k == 0 or len(targets) > 1:
            q = compress(targets[min(k, len(targets) - 1)], share, mu, c)
        if r == 0 or q == 0:
            out[k] = 1.0
            continue
        size = n[min(k, n.size - 1)] - 1.0
        traces, norms2 = 0.0, 0.0
        for i in range(r):
            traces += m[i] * lam[i]
            norms2 += m[i] * lam[i] * lam[i]
        trace, norm2 = 0.0, 0.0
        for j in range(q):
            trace += c[j] * mu[j]
            norm2 += c[j] * mu[j] * mu[j]
        mean = traces * trace / size
        deviation = math.sqrt(2.0 * norms2 * (size * norm2 - trace * trace) / (size + 2.0)) / size
        for s in range(z.shape[1]):
            out[k, s] = _tail(
                lam[:r], m[:r], mu[:q], c[:q], 0.5 * size, mean + z[k, s] * deviation, mean,
                deviation, x[:r], work[:, :r],
            )  # fmt: skip
