r"""Rows of a target of many classes, each known by the samples of its class.

With heights :math:`h_c`, the delta kernel makes :math:`T = P (\sum_c u_c u_c^\top) P`, in which
:math:`u_c` is :math:`h_c \sqrt{w_i}` on the samples of class c and 0 elsewhere. A product of a
function with all rows :math:`P u_c` is a sum over the samples of each class: its cost does not
depend on the number of classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.kernels.samples import Samples

__all__ = ["ClassRows"]


@dataclass(frozen=True)
class ClassRows:
    """Rows F of a target, one for each class: ``F.T @ F`` is T."""

    #: Number of the class of each sample, shape (n,).
    codes: IntArray
    #: Value of the row of each class on its samples, before projection, shape (c,).
    heights: FloatArray
    #: Weights of the samples, and what is removed.
    samples: Samples

    @cached_property
    def removed(self) -> FloatArray:
        """Products of the removed rows with the rows before projection, shape (q, c)."""
        return self._sums(self.samples.removed)

    @cached_property
    def sizes(self) -> FloatArray:
        """Squared norms of the rows before projection, shape (c,)."""
        counts = np.bincount(self.codes, self.samples.shares[0], self.heights.size)
        return np.asarray(counts * np.square(self.heights))

    @cached_property
    def _indicators(self) -> Any:
        """The rows before projection, as a sparse matrix (c, n)."""
        n = self.codes.size
        values = self.heights[self.codes] * self.samples.root
        return sparse.csr_array((values, (self.codes, np.arange(n))), shape=(self.heights.size, n))

    def _sums(self, rows: FloatArray) -> FloatArray:
        return np.ascontiguousarray((self._indicators @ rows.T).T)

    def products(self, rows: FloatArray) -> FloatArray:
        """Return the products (r, c) of projected rows (r, n) with the rows of the target."""
        return self._sums(rows)

    def trace(self) -> float:
        """Return the trace of T."""
        return float(self.sizes.sum() - np.square(self.removed).sum())

    def norm2(self) -> float:
        """Return the squared Frobenius norm of T."""
        sizes, removed = self.sizes, self.removed
        cross = np.square(removed).sum(axis=0) @ sizes
        return float(sizes @ sizes - 2 * cross + np.square(removed @ removed.T).sum())

    def gram(self) -> FloatArray:
        """Return the inner products (c, c) of the rows."""
        return np.asarray(np.diag(self.sizes) - self.removed.T @ self.removed)

    def unsplit(self) -> FloatArray:
        """Return all rows in full: an array of shape (c, n)."""
        return self.samples.remove(self._indicators.toarray())

    def combined(self, weights: FloatArray) -> FloatArray:
        """Return combinations of all rows (m, n), with weights of shape (m, c)."""
        values = (weights * self.heights)[:, self.codes] * self.samples.root
        return self.samples.remove(values)

    def scaled(self, scale: float) -> ClassRows:
        """Return the rows of a multiple of T."""
        return ClassRows(self.codes, self.heights * np.sqrt(scale), self.samples)
