r"""Columns on a grid: a value is interpolated between four nodes, and all columns share the nodes.

The nodes are evenly spaced. With the cubic weights :math:`w_q(z)` of the four nodes around z, the
feature map of a smooth kernel is nearly :math:`\tilde\phi(z) = \sum_q w_q(z) \phi(g_q)`. Sums of a
target's rows over the samples then need one pass over a column with four additions per value. The
kernel is evaluated between nodes only, once for all columns. This is the paper's lookup table,
used for sums instead of single values.

The kernel depends on differences only. The error is therefore the same in every cell, and known
for every z of a cell:

.. math:: \|\phi(z) - \tilde\phi(z)\|^2
    = k(z, z) - 2\sum_q w_q k(z, g_q) + \sum_{qp} w_q w_p k(g_q, g_p) .
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hsiclasso._types import FloatArray

__all__ = ["LEBESGUE", "Grid", "cubic_weights", "make_grid"]

#: Largest sum of the magnitudes of the four weights of a value.
LEBESGUE = 1.25
#: Squared norm that may be left out of the feature map of a node.
_LEFT_OUT = 1e-8
#: Number of values within a cell at which the error of interpolation is measured.
_PROBES = 101


@dataclass(frozen=True)
class Grid:
    """Nodes between which scaled values are interpolated."""

    #: Distance of two nodes.
    step: float
    #: Features of the m nodes, shape (r, m): ``rows.T @ rows`` is nearly the kernel between them.
    rows: FloatArray
    #: Bound on the distance between the feature map of a value and its interpolation.
    error: float
    #: Bound on the squared norm that `rows` leave out of an interpolated feature map.
    left_out: float

    @cached_property
    def single_rows(self) -> npt.NDArray[np.float32]:
        """The features of the nodes in single precision."""
        return self.rows.astype(np.float32)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.rows.shape[1])

    @property
    def first(self) -> float:
        """The first node, more than one step beyond the reach: every value needs four nodes."""
        return -0.5 * self.step * (self.n_nodes - 1)


def cubic_weights(f: FloatArray) -> FloatArray:
    """Return the weights (..., 4) of nodes -1, 0, 1 and 2 for values 0 <= f < 1 between them.

    The weights interpolate polynomials of degree 3 exactly, and their sum is 1.

    Examples
    --------
    >>> cubic_weights(np.array(0.5)).tolist()
    [-0.0625, 0.5625, 0.5625, -0.0625]
    """
    outer, inner = (f - 1) * (f - 2), (f + 1) * f
    parts = (-f * outer / 6, (f + 1) * outer / 2, -inner * (f - 2) / 2, inner * (f - 1) / 6)
    return np.stack(parts, axis=-1)


def make_grid(kernel: Any, reach: float, step: float) -> Grid:
    """Make a grid for values of magnitude up to `reach`.

    `kernel` maps an array of differences to the values of the kernel.
    """
    half = int(np.ceil(reach / step)) + 2
    nodes = step * np.arange(-half, half + 1)
    values, vectors = np.linalg.eigh(kernel(nodes[:, None] - nodes))
    rows = (vectors * np.sqrt(np.maximum(values, 0.0))).T[::-1]
    residual = kernel(np.zeros(1))[0] - np.cumsum(np.square(rows), axis=0)
    rank = int(np.argmax(np.append(residual.max(axis=1), 0.0) <= _LEFT_OUT)) + 1
    f = np.linspace(0.0, 1.0, _PROBES)
    near, weights = step * np.arange(-1, 3), cubic_weights(f)
    square = (
        kernel(np.zeros(1))
        - 2 * np.einsum("fq,fq->f", weights, kernel(step * f[:, None] - near))
        + np.einsum("fq,fp,qp->f", weights, weights, kernel(near[:, None] - near))
    )
    # 1 % covers values between two probes, and 1e-7 the rounding error of the square root
    error = 1.01 * float(np.sqrt(square.max(initial=0.0))) + 1e-7
    return Grid(step, np.ascontiguousarray(rows[:rank]), error, LEBESGUE**2 * _LEFT_OUT)
