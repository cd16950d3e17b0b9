r"""Columns on a grid: a value is interpolated between four nodes that all columns share.

With nodes at distance h and the cubic weights :math:`w_q(z)` of the four nodes around z, the
feature map of a smooth kernel is nearly :math:`\tilde\phi(z) = \sum_q w_q(z) \phi(g_q)`. Sums of a
target's rows over the samples then need one pass over a column with four additions per value, and
the kernel is only ever evaluated between nodes, once for all columns. That is the paper's lookup
table, used for sums instead of single values.

How far this is off is known for every z of a cell, because the kernel sees differences only:

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
#: Values within a cell at which the error of interpolation is measured.
_PROBES = 101


@dataclass(frozen=True)
class Grid:
    """Nodes that scaled values up to some magnitude are interpolated between.

    Attributes
    ----------
    step : float
        Distance of two nodes.
    reach : float
        Largest magnitude of a value.
    rows : ndarray of shape (r, m)
        Features of the nodes: ``rows.T @ rows`` is the kernel between them, but for `left_out`.
    error : float
        Bound on the distance between the feature map of a value and what is interpolated.
    left_out : float
        Bound on the squared norm that `rows` leave out of what is interpolated.
    """

    step: float
    reach: float
    rows: FloatArray
    error: float
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
        """The first node: one step beyond the reach, as all four nodes of a value must exist."""
        return -0.5 * self.step * (self.n_nodes - 1)


def cubic_weights(f: FloatArray) -> FloatArray:
    """Return the weights (..., 4) of nodes -1, 0, 1 and 2 for values 0 <= f < 1 between them.

    They interpolate polynomials of degree 3 exactly, and add up to 1.

    Examples
    --------
    >>> cubic_weights(np.array(0.5)).tolist()
    [-0.0625, 0.5625, 0.5625, -0.0625]
    """
    outer, inner = (f - 1) * (f - 2), (f + 1) * f
    parts = (-f * outer / 6, (f + 1) * outer / 2, -inner * (f - 2) / 2, inner * (f - 1) / 6)
    return np.stack(parts, axis=-1)


def make_grid(kernel: Any, reach: float, step: float) -> Grid:
    """Make the grid of a kernel of differences on which values up to `reach` are interpolated.

    `kernel` is called with distances.
    """
    half = int(np.ceil(reach / step)) + 2
    nodes = step * np.arange(-half, half + 1)
    values, vectors = np.linalg.eigh(kernel(nodes[:, None] - nodes))
    rows = (vectors * np.sqrt(np.maximum(values, 0.0))).T[::-1]
    left = kernel(np.zeros(1))[0] - np.cumsum(np.square(rows), axis=0)
    rank = int(np.argmax(np.append(left.max(axis=1), 0.0) <= _LEFT_OUT)) + 1
    f = np.linspace(0.0, 1.0, _PROBES)
    near, weights = step * np.arange(-1, 3), cubic_weights(f)
    square = (
        kernel(np.zeros(1))
        - 2 * np.einsum("fq,fq->f", weights, kernel(step * f[:, None] - near))
        + np.einsum("fq,fp,qp->f", weights, weights, kernel(near[:, None] - near))
    )
    # between two probes the error differs by a little; 1e-7 is the rounding of the square's root
    error = 1.01 * float(np.sqrt(square.max(initial=0.0))) + 1e-7
    return Grid(step, reach, np.ascontiguousarray(rows[:rank]), error, LEBESGUE**2 * _LEFT_OUT)
