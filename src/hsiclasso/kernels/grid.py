r"""Columns on a grid: a value is interpolated between four nodes, and all columns share the nodes.

The nodes are evenly spaced. With the cubic weights :math:`w_q(z)` of the four nodes around z, the
feature map of a smooth kernel is nearly :math:`\tilde\phi(z) = \sum_q w_q(z) \phi(g_q)`. Sums of a
target's rows over the samples then need one pass over a column with four additions per value. The
kernel is evaluated between nodes only, once for all columns. This is the paper's lookup table,
used for sums instead of single values.

The feature map is a smooth curve, so the remainder of cubic interpolation bounds the error: with
nodes at distance h it is at most :math:`h^4 \|\phi^{(4)}\| \max_f |(f+1) f (f-1) (f-2)| / 24`,
and :math:`\|\phi^{(4)}\|^2 = k^{(8)}(0)` for a kernel of differences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hsiclasso._types import FloatArray

__all__ = ["LEBESGUE", "Grid", "cubic_weights", "make_grid"]

#: Largest sum of the magnitudes of the four weights of a value.
LEBESGUE = 1.25
#: Squared norm that may be left out of the feature map of a node.
_LEFT_OUT = 1e-8
#: Largest value of |(f + 1) f (f - 1) (f - 2)| / 24 between two nodes: the remainder of cubic
#: interpolation per unit of the fourth derivative.
_REMAINDER = 0.5625 / 24


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


def make_grid(
    kernel: Callable[[FloatArray], FloatArray], roughness: float, reach: float, error: float
) -> Grid:
    r"""Make a grid for values of magnitude up to `reach`.

    Parameters
    ----------
    kernel : callable
        Maps an array of differences to the values of the kernel, which is 1 at 0.
    roughness : float
        Norm of the fourth derivative of the feature map, :math:`\sqrt{k^{(8)}(0)}`.
    reach : float
        Largest magnitude of a value.
    error : float
        Largest distance between the feature map of a value and its interpolation. It sets the
        distance of the nodes.
    """
    step = (error / (_REMAINDER * roughness)) ** 0.25
    half = int(np.ceil(reach / step)) + 2
    nodes = step * np.arange(-half, half + 1)
    values, vectors = np.linalg.eigh(kernel(nodes[:, None] - nodes))
    rows = (vectors * np.sqrt(np.maximum(values, 0.0))).T[::-1]
    residual = 1 - np.cumsum(np.square(rows), axis=0)
    rank = int(np.argmax(np.append(residual.max(axis=1), 0.0) <= _LEFT_OUT)) + 1
    return Grid(step, np.ascontiguousarray(rows[:rank]), error, LEBESGUE**2 * _LEFT_OUT)
