"""The delta kernel, which tells whether two values are equal."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hsiclasso._checks import check_flag
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.kernels.base import Kernel
from hsiclasso.kernels.scale import Scaling

__all__ = ["Delta"]


class Delta(Kernel):
    r"""Delta kernel: :math:`1/n_x` if :math:`x = x'`, and 0 otherwise.

    Parameters
    ----------
    by_count : bool, default=True
        If True, :math:`n_x` is the number of samples with that value, as in the paper. If False,
        it is 1: this plain delta kernel has the same scale as a Gaussian kernel.

    Examples
    --------
    >>> Delta().gram(np.array([[0.0, 0.0, 1.0]]), np.ones((1, 3)))[0]
    array([[0.5, 0.5, 0. ],
           [0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """

    name: ClassVar[str] = "delta"
    full_rank: ClassVar[bool] = True
    of_labels: ClassVar[bool] = True

    def __init__(self, by_count: bool = True) -> None:
        self.by_count = by_count

    def check(self) -> Self:
        """Raise if `by_count` is neither True nor False."""
        check_flag("by_count", self.by_count)
        return self

    def scale(self, block: FloatArray, weights: FloatArray, *, joint: bool = False) -> Scaling:
        """Leave columns (k, n) unchanged; a factor of 0 marks those that do not vary."""
        varies = np.ptp(block, axis=1) > 0
        return Scaling(np.zeros(len(block)), varies.astype(np.float64))

    def expand_joint(
        self, z: FloatArray, allowed: float, weights: FloatArray
    ) -> tuple[FloatArray, float]:
        """Return one indicator row for each distinct value, divided by sqrt(n_x) if counted."""
        codes, heights = self.coded(z, weights)
        rows = np.zeros((heights.size, codes.size))
        rows[codes, np.arange(codes.size)] = heights[codes]
        # a value without weight gets no row: for example, the fill value of missing entries
        return rows[heights > 0], 0.0

    def coded(self, z: FloatArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the number of the value of each sample (n,), and the height of each row (v,)."""
        codes = vector_codes(z)
        sizes = np.bincount(codes, weights)
        with np.errstate(divide="ignore"):
            heights = 1 / np.sqrt(sizes) if self.by_count else np.ones(sizes.size)
        return codes, np.where(sizes > 0, heights, 0.0)

    def between(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return 1.0 where samples (q, m) and (q, p) are equal, the plain kernel; else 0.0."""
        equal = np.all(left[:, :, None] == right[:, None, :], axis=0)
        return np.asarray(equal, dtype=np.float64)

    def diagonal(self, z: FloatArray) -> FloatArray:
        """Return ones."""
        return np.ones(z.shape[1])

    def gram(self, z: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the Gram matrices (k, m, m) of a few values (k, m) of each column."""
        equal = np.asarray(z[:, :, None] == z[:, None, :], dtype=np.float64)
        if not self.by_count:
            return equal
        sizes = equal @ np.broadcast_to(weights, z.shape)[:, :, None]
        return np.asarray(np.divide(equal, sizes, out=np.zeros_like(equal), where=sizes > 0))

    def learnt(self, z: FloatArray, weights: FloatArray) -> Kernel:
        """Return the kernel with the number of samples of each value filled in."""
        if not self.by_count:
            return self
        values, codes = np.unique(z, axis=1, return_inverse=True)
        return _Counted(values, np.asarray(np.bincount(codes.ravel(), weights), dtype=np.float64))

    def observed_scale(self, share: Any) -> Any:
        """Return the share of observed samples: 1/n_x is larger if fewer samples are counted."""
        return share if self.by_count else 1.0


class _Counted(Delta):
    """Delta kernel with known weights (v,) of the distinct values (q, v)."""

    def __init__(self, values: FloatArray, sizes: FloatArray) -> None:
        super().__init__()
        self.values = values
        self.sizes = sizes

    def between(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return 1/n_x where both samples are x; values that were not counted give 0."""
        return np.asarray(self._heights(left) @ super().between(self.values, right))

    def diagonal(self, z: FloatArray) -> FloatArray:
        """Return 1/n_x of each sample."""
        return np.asarray(self._heights(z).sum(axis=1))

    def learnt(self, z: FloatArray, weights: FloatArray) -> Kernel:
        """Return the kernel itself, because it has counted already."""
        return self

    def _heights(self, left: FloatArray) -> FloatArray:
        """Return an array of shape (m, v): 1/n_x where a sample of (q, m) equals x, else 0."""
        heights = np.zeros_like(self.sizes)
        np.divide(1.0, self.sizes, out=heights, where=self.sizes > 0)
        return super().between(left, self.values) * heights


def vector_codes(vectors: FloatArray) -> Any:
    """Number the distinct vectors among the columns of (q, n): an array of int of shape (n,)."""
    if len(vectors) == 1:
        return np.unique(vectors[0], return_inverse=True)[1]
    return np.unique(vectors, axis=1, return_inverse=True)[1].ravel()
