r"""A real target with many samples: its values on a grid, in place of a factor with n columns.

The nodes of the grid are evenly spaced, and the kernel depends on differences only. All that an
inner product with a feature needs is therefore the table C of both columns, node by node
(`hsiclasso.dependence.tabulated`), and a convolution over the nodes of the target. The factor of a
heavy-tailed target with a million samples would have hundreds of rows; its grid has some thousand
nodes. A factor is made only for features that no grid serves.

The squared norm of the centred matrix comes from the weights c of the nodes alone:

.. math:: \|\Gamma L \Gamma\|_F^2 = c^\top (L \circ L) c - \frac2W \sum_q c_q (Lc)_q^2
          + \frac1{W^2} (c^\top L c)^2 .
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import fft

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.kernels import Factor, Grid, Kernel, Measure, Samples
from hsiclasso.kernels.grid import weights_of_nodes
from hsiclasso.kernels.markov import LaplaceMatrix
from hsiclasso.targets.class_rows import ClassRows
from hsiclasso.targets.matrix import FactoredTarget
from hsiclasso.targets.split import SplitRows

__all__ = ["GriddedTarget", "NodeLine", "line_of_nodes"]

#: The Gaussian kernel is 0 in double precision beyond this distance.
_REACH = 8.6
#: Number of nodes around a value.
_POINTS = 6
#: Number of samples that are put on nodes at once.
_RUN = 1 << 16
#: Error of interpolation that is tried first, as a share of the error of the matrix, and the
#: smallest one: below it, rounding errors count.
_FIRST_SHARE, _LEAST_INTERPOLATION = 0.025, 1e-12


@dataclass(frozen=True)
class NodeLine:
    """Values of a target on evenly spaced nodes, for a Gaussian kernel of width 1.

    Only nodes next to a value are kept. A heavy tail has long gaps between its values: these are
    closed, and the values beyond them are shifted by whole steps.
    """

    #: Scaled values, after gaps were closed, shape (n,).
    z: FloatArray
    #: Distance of two nodes, and the first node.
    step: float
    first: float
    #: Places of the nodes before gaps were closed, ascending, shape (n_nodes,).
    nodes: IntArray

    @classmethod
    def of(cls, z: FloatArray, grid: Grid) -> NodeLine:
        """Put values on nodes at the distance of those of a grid."""
        step = grid.step
        first = float(z.min()) - step * (_POINTS // 2 + 1)
        cells = np.floor((z - first) / step).astype(np.int64)
        used = np.zeros(int(cells.max()) + _POINTS, dtype=bool)
        # one node more on each side: rounding may put a shifted value into the next cell
        for q in range(-1, _POINTS + 1):
            used[np.unique(cells) + q - (_POINTS // 2 - 1)] = True
        place = np.cumsum(used) - 1
        return cls(z + step * (place[cells] - cells), step, first, np.flatnonzero(used))

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.nodes.size

    @cached_property
    def _size(self) -> int:
        """Length of transforms: the kernel spreads values beyond the last node."""
        spread = int(np.ceil(_REACH / self.step))
        return int(fft.next_fast_len(int(self.nodes[-1]) + 1 + spread, real=True))

    def _spread(self, rows: FloatArray) -> FloatArray:
        """Put rows (r, n_nodes) where their nodes were, for a transform."""
        out = np.zeros((len(rows), int(self.nodes[-1]) + 1))
        out[:, self.nodes] = rows
        return out

    @cached_property
    def spectrum(self) -> FloatArray:
        """Fourier transform of the kernel between nodes."""
        return self._transform(1.0)

    def _transform(self, sharpness: float) -> FloatArray:
        place = np.arange(self._size)
        away = self.step * np.minimum(place, self._size - place)
        kernel = np.where(away <= _REACH + self.step, np.exp(-0.5 * sharpness * away**2), 0.0)
        return np.asarray(np.maximum(fft.rfft(kernel).real, 0.0))

    def energy(self, rows: FloatArray) -> float:
        """Return the sum of ``m' L m`` over rows m (r, n_nodes), with L the kernel of nodes."""
        return self._energy(rows, self.spectrum)

    def _energy(self, rows: FloatArray, spectrum: FloatArray) -> float:
        size = self._size
        transformed = fft.rfft(self._spread(rows), size, axis=1)
        squares = np.square(np.abs(transformed)).sum(axis=0)
        # all frequencies but the first, and the last of an even number, stand for two
        twice = np.full(squares.size, 2.0)
        twice[0] = 1.0
        if size % 2 == 0:
            twice[-1] = 1.0
        return float((twice * squares) @ spectrum / size)

    def counts(self, shares: FloatArray) -> FloatArray:
        """Return the weight of the samples at each node."""
        out = np.zeros(self.n_nodes)
        for start in range(0, self.z.size, _RUN):  # the weights of all samples would be large
            run = slice(start, start + _RUN)
            place = (self.z[run] - self.first) / self.step
            cell = np.floor(place).astype(np.int64)
            weights = weights_of_nodes(place - cell, _POINTS) * shares[run, None]
            for q in range(_POINTS):
                nodes = cell + (q - (_POINTS // 2 - 1))
                out += np.bincount(nodes, weights[:, q], minlength=self.n_nodes)
        return out

    def norm2(self, shares: FloatArray) -> float:
        """Squared Frobenius norm of the centred Gram matrix."""
        counts, total = self.counts(shares), float(shares.sum())
        squared = self._energy(counts[None], self._transform(2.0))
        size, spread = self._size, self._spread(counts[None])[0]
        image = fft.irfft(fft.rfft(spread, size) * self.spectrum, size)[self.nodes]
        mean = float(counts @ image)
        return squared - 2 * float(counts @ np.square(image)) / total + (mean / total) ** 2


def line_of_nodes(z: FloatArray, kernel: Kernel, samples: Samples, error: float) -> NodeLine | None:
    """Put a scaled target (n,) on nodes so close that its matrix has a relative error.

    None if the kernel has no grid, or if nodes would have to be too close: that happens if hardly
    any sample differs from the others, and then a factor has few rows.
    """
    interpolation = _FIRST_SHARE * error
    for _ in range(2):
        grid = kernel.grid(1.0, interpolation, _POINTS)
        if grid is None:
            return None
        line = NodeLine.of(z, grid)
        # an interpolated Gram matrix is off by 2 e + e^2 times the total weight
        allowed = error * np.sqrt(max(line.norm2(samples.shares[0]), 0.0)) / samples.total
        if 2.1 * interpolation <= allowed:
            return line
        interpolation = 0.4 * allowed
        if interpolation < _LEAST_INTERPOLATION:
            return None
    return None


@dataclass(frozen=True)
class GriddedTarget:
    """The matrix of a real target on a grid; its factor is made when it is needed."""

    line: NodeLine
    #: Factor by which the centred Gram matrix is multiplied.
    scale: float
    #: Squared Frobenius norm of T.
    norm2: float
    #: Makes the same target from a factor.
    make: Callable[[], FactoredTarget]

    factored: ClassVar[bool] = True
    knows_recursions: ClassVar[bool] = True
    starts: ClassVar[tuple[int, ...]] = (0,)

    @classmethod
    def of(
        cls, line: NodeLine, samples: Samples, measure: Measure, make: Callable[[], FactoredTarget]
    ) -> GriddedTarget:
        """Return the target of values on nodes."""
        norm2 = line.norm2(samples.shares[0])
        scale = 1 / np.sqrt(norm2) if measure.normalised else 1.0
        return cls(line, float(scale), float(norm2 * scale**2), make)

    @cached_property
    def made(self) -> FactoredTarget:
        """The same target with a factor."""
        return self.make()

    @property
    def rows(self) -> SplitRows | ClassRows:
        """The rows of the factor."""
        return self.made.rows

    @property
    def signs(self) -> FloatArray:
        """The signs of the rows."""
        return self.made.signs

    def energy(self, rows: FloatArray) -> float:
        """Return the sum of ``f' T f`` over projected rows f of shape (r, n)."""
        return self.made.energy(rows)

    def inner(self, matrix: LaplaceMatrix) -> Any:
        """Return the inner product with a matrix known by its products."""
        return self.made.inner(matrix)

    def minus(self, factor: Factor) -> FactoredTarget:
        r"""Return :math:`T - \beta C`, with C in factored form."""
        return self.made.minus(factor)
