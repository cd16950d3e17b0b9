"""Compiled loops of the Parzen windows; `tests/baselines/test_parzen.py` has a NumPy twin.

Single precision is enough: no term of a sum is negative, and no digits cancel.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from hsiclasso._compile import compiled, inlined, summing
from hsiclasso._types import FloatArray
from hsiclasso.kernels._loops import bits_as_float

__all__ = ["log_masses"]

Singles = npt.NDArray[np.float32]

#: Windows are cut off at 2^-60, which adds nothing to a mass of 1 or more. A product of two such
#: values is still a normal number: arithmetic with others is slow.
_FARTHEST = np.float32(60.0)
#: Coefficients of 2^-f for 0 <= f < 1, from the highest power down: 1e-8 off at most.
_C6, _C5, _C4, _C3, _C2, _C1, _C0 = (
    np.float32(1.14919950e-04),
    np.float32(-1.29163688e-03),
    np.float32(9.59703519e-03),
    np.float32(-5.54992296e-02),
    np.float32(2.40226091e-01),
    np.float32(-6.93147175e-01),
    np.float32(1.0),
)
_MANTISSA = np.int32(23)
#: Products that are added up in single precision, before their sum goes to a double.
_RUN = 4096


@inlined
def _halved(t: Any) -> Any:
    """2^-t for t >= 0 in single precision, in arithmetic that vectorises."""
    t = min(t, _FARTHEST)
    whole = np.int32(t)
    f = t - np.float32(whole)
    p = _C6
    p = p * f + _C5
    p = p * f + _C4
    p = p * f + _C3
    p = p * f + _C2
    p = p * f + _C1
    p = p * f + _C0
    # the difference of two int32 is an int64
    bits = np.int32((np.int32(127) - whole) << _MANTISSA)
    return p * bits_as_float(bits)  # type: ignore[call-arg]


@summing
def _window(points: Singles, i: int, out: Singles) -> None:
    """Window around sample i, on all samples: 2^-(squared distance) of `points` (q, n)."""
    first = points[0]
    centre = first[i]
    if points.shape[0] == 1:
        for j in range(out.size):
            difference = first[j] - centre
            out[j] = _halved(difference * difference)
        return
    out[:] = np.float32(0.0)
    for a in range(points.shape[0]):
        row = points[a]
        centre = row[i]
        for j in range(out.size):
            difference = row[j] - centre
            out[j] += difference * difference
    for j in range(out.size):
        out[j] = _halved(out[j])


@summing
def _dot(left: Singles, right: Singles) -> Any:
    total = np.float32(0.0)
    for j in range(left.size):
        total += left[j] * right[j]
    return total


@compiled
def log_masses(features: Singles, others: Singles, matrices: Singles, out: FloatArray) -> None:
    """Mean over the samples of the log mass of joint windows, `out` (k, m + p).

    The mass at sample i is the sum over samples j of the product of the windows of a feature and
    of another column around i, taken at j. Windows are ``2 ** -(squared distance)`` of `features`
    (k, n) and of `others` (m, q, n), which have q coordinates, and the rows of `matrices`
    (p, n, n).
    """
    k, n = features.shape
    m = others.shape[0]
    windows = np.empty((m + matrices.shape[0], n), dtype=np.float32)
    window = np.empty(n, dtype=np.float32)
    out[:] = 0.0
    for i in range(n):
        for v in range(m):
            _window(others[v], i, windows[v])
        for v in range(matrices.shape[0]):
            windows[m + v] = matrices[v, i]
        for u in range(k):
            _window(features[u : u + 1], i, window)
            for v in range(windows.shape[0]):
                mass = 0.0
                for start in range(0, n, _RUN):
                    mass += _dot(window[start : start + _RUN], windows[v, start : start + _RUN])
                out[u, v] += math.log(mass)
    out /= n
