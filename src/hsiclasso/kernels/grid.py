r"""Columns on a grid: a value is interpolated between p nodes, and all columns share the nodes.

The nodes are evenly spaced. With the weights :math:`w_q(z)` of the p nodes around z, the feature
map of a smooth kernel is nearly :math:`\tilde\phi(z) = \sum_q w_q(z) \phi(g_q)`. Sums of a target's
rows over the samples then need one pass over a column with p additions per value. The kernel is
evaluated between nodes only, once for all columns. This is the paper's lookup table, used for
sums instead of single values.

The feature map is a smooth curve, so the remainder of interpolation bounds the error. With four
nodes at distance h it is at most :math:`h^4 \|\phi^{(4)}\| \max_f |(f+1) f (f-1) (f-2)| / 24`,
and :math:`\|\phi^{(p)}\|^2 = |k^{(2p)}(0)|` for a kernel of differences. Six nodes allow a much
larger distance where the error must be small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hsiclasso._types import FloatArray

__all__ = ["LEBESGUE", "Grid", "make_grid", "shortened", "weights_of_nodes"]

#: Largest sum of the magnitudes of the weights of a value, by the number of nodes around it.
LEBESGUE = {4: 1.25, 6: 1.390625}
#: Remainder of interpolation half-way between two nodes, where it is largest, per unit of the
#: derivative: of |(f + 1) f (f - 1) (f - 2)| / 24, and likewise for six nodes.
_REMAINDER = {4: 0.5625 / 24, 6: 3.515625 / 720}
#: Largest squared norm that may be left out of the feature map of a node.
_LEFT_OUT = 1e-8


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
    def gram_error(self) -> float:
        """Bound on the error of an interpolated Gram matrix, as a share of the total weight."""
        return 2 * self.error + self.error**2 + self.left_out

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.rows.shape[1])

    @property
    def first(self) -> float:
        """The first node. It lies beyond the reach, because every value needs nodes around it."""
        return -0.5 * self.step * (self.n_nodes - 1)


def shortened(grid: Grid, left_out: float) -> Grid:
    """Return a grid with the fewest rows that leave out at most `left_out` of a node's norm."""
    residual = 1 - np.cumsum(np.square(grid.rows), axis=0)
    enough = np.flatnonzero(residual.max(axis=1) <= left_out)
    if not enough.size:
        return grid
    # a bound on what is left out of interpolated values, as in `make_grid`
    rows = np.ascontiguousarray(grid.rows[: enough[0] + 1])
    return replace(grid, rows=rows, left_out=max(grid.left_out, LEBESGUE[6] ** 2 * left_out))


def weights_of_nodes(f: FloatArray, points: int = 4) -> FloatArray:
    """Return the weights (..., points) of the nodes around values 0 <= f < 1.

    Four nodes are -1, 0, 1 and 2. The weights interpolate polynomials of a degree below their
    number exactly, and their sum is 1.

    Examples
    --------
    >>> weights_of_nodes(np.array(0.5)).tolist()
    [-0.0625, 0.5625, 0.5625, -0.0625]
    """
    nodes = np.arange(points) - (points // 2 - 1)
    away = f[..., None] - nodes
    parts = [
        np.prod(np.delete(away, q, axis=-1) / np.delete(nodes[q] - nodes, q), axis=-1)
        for q in range(points)
    ]
    return np.stack(parts, axis=-1)


def make_grid(
    kernel: Callable[[FloatArray], FloatArray], roughness: float, reach: float, error: float,
    points: int = 4,
) -> Grid:  # fmt: skip
    r"""Make a grid for values of magnitude up to `reach`.

    Parameters
    ----------
    kernel : callable
        Maps an array of differences to the values of the kernel, which is 1 at 0.
    roughness : float
        Norm of the p-th derivative of the feature map, :math:`\sqrt{|k^{(2p)}(0)|}`.
    reach : float
        Largest magnitude of a value.
    error : float
        Largest distance between the feature map of a value and its interpolation. It sets the
        distance of the nodes.
    points : {4, 6}
        Number p of nodes around a value.
    """
    step = (error / (_REMAINDER[points] * roughness)) ** (1 / points)
    half = int(np.ceil(reach / step)) + points // 2
    nodes = step * np.arange(-half, half + 1)
    values, vectors = np.linalg.eigh(kernel(nodes[:, None] - nodes))
    rows = (vectors * np.sqrt(np.maximum(values, 0.0))).T[::-1]
    residual = 1 - np.cumsum(np.square(rows), axis=0)
    allowed = min(_LEFT_OUT, error)
    rank = int(np.argmax(np.append(residual.max(axis=1), 0.0) <= allowed)) + 1
    left_out = LEBESGUE[points] ** 2 * allowed
    return Grid(step, np.ascontiguousarray(rows[:rank]), error, left_out)
