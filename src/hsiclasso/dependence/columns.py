"""Columns as a block of numbers, and the target's rows that the block is multiplied with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from hsiclasso._types import BoolArray, Columns, FloatArray, IntArray
from hsiclasso.dependence.buffers import thread_buffer
from hsiclasso.dependence.statistic import Moments
from hsiclasso.kernels import Kernel, Samples, Terms
from hsiclasso.kernels.base import Product, explicit_terms
from hsiclasso.targets.class_rows import ClassRows
from hsiclasso.targets.gridded import GriddedTarget
from hsiclasso.targets.matrix import FactoredTarget, TargetMatrix
from hsiclasso.targets.split import dense_rows

__all__ = ["DenseColumns", "JointColumns", "TargetRows"]

#: Number of samples whose terms are evaluated at once, and number of values of terms, which then
#: stay in the cache.
_RUN, _PIECE = 512, 1 << 19


@dataclass(frozen=True)
class TargetRows:
    """Rows of a factored target, and the rows that are removed from every feature.

    Some rows of the target may be split: they are constant on all samples but those of a tail.
    """

    #: The p rows of the target that are not split, then the q removed rows; the constant is the
    #: first removed row. Shape (p + q, n).
    dense: FloatArray
    #: Samples on which the split rows vary, shape (t,).
    tail: IntArray
    #: The split rows on the tail minus `offset`, shape (s, t).
    sparse: FloatArray
    #: The values of the split rows outside the tail, shape (s,).
    offset: FloatArray
    #: Signs of the target's rows, the split rows first, shape (s + p,).
    signs: FloatArray
    #: First row of each target.
    starts: tuple[int, ...]
    #: Square roots of the samples' weights, shape (n,); shape (0,) if all weights are 1.
    root: FloatArray
    #: Number q of removed rows.
    n_removed: int
    #: Rows of the target that are known by classes; it has no others then.
    classes: ClassRows | None = None

    @classmethod
    def of(cls, target: TargetMatrix, samples: Samples) -> TargetRows:
        """Gather the rows of a factored target."""
        assert isinstance(target, FactoredTarget | GriddedTarget)
        split, removed = target.rows, samples.removed
        root = np.empty(0) if samples.weights is None else samples.root
        if isinstance(split, ClassRows):
            none = dense_rows(np.zeros((0, samples.n)))
            return cls(
                removed, none.tail, none.sparse, none.offset, target.signs, target.starts, root,
                len(removed), split,
            )  # fmt: skip
        return cls(
            np.concatenate([split.dense, removed]), split.tail, split.sparse, split.offset,
            target.signs, target.starts, root, len(removed),
        )  # fmt: skip

    @property
    def width(self) -> int:
        """Number of dense rows."""
        return len(self.dense)

    @cached_property
    def all_rows(self) -> FloatArray:
        """All rows of the target, the split rows first, and the removed rows: (s + p + q, n)."""
        split = np.tile(self.offset[:, None], (1, self.dense.shape[1]))
        split[:, self.tail] += self.sparse
        split = split if self.classes is None else self.classes.unsplit()
        return np.concatenate([split, self.dense])

    @property
    def total(self) -> float:
        """Total weight of the samples."""
        return float(self.root @ self.root) if self.root.size else float(self.dense.shape[1])


@dataclass(frozen=True)
class DenseColumns:
    """Columns of numbers."""

    #: Shape (k, n).
    values: FloatArray
    #: Weights of the samples, shape (1, n); shape (k, n) if values are missing.
    weights: FloatArray
    #: Where values are observed, shape (k, n); None if no value is missing.
    known: BoolArray | None = None
    #: Whether the values are already on the scale of their kernel, and vary.
    scaled: bool = False

    #: Whether products of terms with each other cost little, because a column has few values.
    cheap_gram: ClassVar[bool] = False
    #: Whether a column has so few values that it is related exactly, without terms.
    needs_no_terms: ClassVar[bool] = False

    def totals(self) -> FloatArray:
        """Weight of the samples on which each column is observed, shape (k,)."""
        return np.broadcast_to(self.weights.sum(axis=1), len(self.values))

    def tolerance(self) -> FloatArray:
        """Factor of the trace that may be left out of each column, shape (k,)."""
        return np.ones(len(self.values))

    def scale(self, kernel: Kernel) -> BoolArray:
        """Bring the columns to the scale of their kernel in place; return which of them vary."""
        if self.scaled:
            return np.ones(self.totals().size, dtype=bool)
        return np.asarray(kernel.scale(self.values, self.weights).factor > 0)

    def expand(self, kernel: Kernel, which: IntArray, allowed: FloatArray) -> list[Terms]:
        """Expand some of the scaled columns."""
        return kernel.expand(self.values, which, allowed, self.weights)

    def samples_of(self, column: int, samples: Samples) -> Samples:
        """Return the samples on which a column is observed."""
        return samples if self.known is None else samples.only(self.known[column])

    def moments(self, terms: Terms, rows: TargetRows, with_gram: bool) -> Moments:
        """Multiply the terms of columns with the target's rows and with each other."""
        c, size = terms.columns.size, terms.n_rows
        both = np.zeros((c, size, rows.width))
        gram = np.zeros((c, size, size) if with_gram else (c, 0, 0))
        multiply = terms.multiply
        if multiply is None or self.known is not None:
            multiply = partial(self._multiply, terms)
        multiply(slice(None), Product(rows.dense, rows.root, both, gram))
        cross, removed = both[:, :, : -rows.n_removed], both[:, :, -rows.n_removed :]
        if rows.offset.size:
            split = np.zeros((c, size, rows.offset.size))
            none = np.zeros((c, 0, 0))
            multiply(rows.tail, Product(rows.sparse, rows.root, split, none))
            # rows are split only if there are no weights: the constant row is then 1 / sqrt(n)
            split += np.sqrt(self.values.shape[1]) * removed[:, :, :1] * rows.offset
            cross = np.concatenate([split, cross], axis=2)
        if rows.classes is not None:
            sums = self._class_sums(terms, rows.classes, rows.root)
            cross = sums * rows.classes.heights - removed @ rows.classes.removed
        if self.known is not None:
            cross, removed = self._centred(cross, removed, self.known[terms.columns], rows)
        removed_trace = np.einsum("cnq,cnq->c", removed, removed)
        if with_gram:
            gram -= removed @ removed.transpose(0, 2, 1)
        return Moments(
            cross, gram if with_gram else None, removed_trace, terms.left_out, terms.bulk_trace,
            terms.bulk_rank,
        )  # fmt: skip

    def products(self, terms: Terms, target: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Multiply the terms of complete columns with rows (r, n) and with each other.

        Returns arrays of shapes (c, n_rows, r) and (c, n_rows, n_rows); nothing is centred.
        """
        c, size = terms.columns.size, terms.n_rows
        out, gram = np.zeros((c, size, len(target))), np.zeros((c, size, size))
        self._multiply(terms, slice(None), Product(target, np.empty(0), out, gram))
        return out, gram

    def _multiply(self, terms: Terms, samples: Columns, product: Product) -> None:
        """Add the products of terms, evaluated run by run, with a target and with each other."""
        from hsiclasso.kernels._products import multiply_terms

        every = np.arange(self.values.shape[1])[samples]
        c, step = len(product.out), max(1, _PIECE // (_RUN * max(1, terms.n_rows)))
        for first in range(0, every.size, _RUN):
            some: Columns = slice(first, min(every.size, first + _RUN))
            some = some if isinstance(samples, slice) else every[some]
            for start in range(0, c, step):
                piece = slice(start, min(c, start + step))
                phi = self._evaluated(terms, piece, some, product.root)
                out, gram = product.out[piece], product.gram[piece]
                multiply_terms(phi, phi.shape[2], product.target, first, out, gram)

    def _class_sums(self, terms: Terms, classes: ClassRows, root: FloatArray) -> FloatArray:
        """Return the sums of terms over the samples of each class: (c, n_rows, classes)."""
        from hsiclasso.dependence._loops import add_by_class

        c, n = terms.columns.size, self.values.shape[1]
        sums = np.zeros((c, terms.n_rows, classes.heights.size))
        step = max(1, _PIECE // (_RUN * max(1, terms.n_rows)))
        for start in range(0, c, step):
            piece = slice(start, min(c, start + step))
            for first in range(0, n, _RUN):
                some = slice(first, min(n, first + _RUN))
                phi = self._evaluated(terms, piece, some, root)
                if root.size:  # terms have one square root of the weights, and rows another
                    phi *= root[some]
                add_by_class(phi, classes.codes[some], sums[piece])
        return sums

    def _evaluated(
        self, terms: Terms, piece: slice, samples: Columns, root: FloatArray
    ) -> FloatArray:
        """Evaluate the terms of a piece of the columns on some samples, and weight them."""
        size = samples.stop - samples.start if isinstance(samples, slice) else samples.size
        phi = thread_buffer("terms", (piece.stop - piece.start, terms.n_rows, size))
        terms.evaluate(piece, samples, phi)
        if self.known is not None:
            phi *= np.sqrt(self.weights[terms.columns[piece]][:, None, samples])
        elif root.size:
            phi *= root[samples]
        return phi

    @staticmethod
    def _centred(
        cross: FloatArray, removed: FloatArray, known: BoolArray, rows: TargetRows
    ) -> tuple[FloatArray, FloatArray]:
        """Project on the orthogonal complement of the removed rows on the observed samples.

        On the observed samples only, the removed rows Q are not orthonormal. Let M be their Gram
        matrix there: the rows :math:`M^{-1/2} Q` are orthonormal.
        """
        q = rows.all_rows[-rows.n_removed :]
        pairs = (q[:, None, :] * rows.all_rows[None]).reshape(-1, q.shape[1])
        inner = (known.astype(np.float64) @ pairs.T).reshape(len(known), rows.n_removed, -1)
        eigenvalues, vectors = np.linalg.eigh(inner[:, :, -rows.n_removed :])
        usable = eigenvalues > 1e-10
        roots = np.where(usable, 1 / np.sqrt(np.where(usable, eigenvalues, 1.0)), 0.0)
        whiten = vectors * roots[:, None, :]
        removed = removed @ whiten
        shift = whiten.transpose(0, 2, 1) @ inner[:, :, : -rows.n_removed]
        return cross - removed @ shift, removed


@dataclass(frozen=True)
class JointColumns(DenseColumns):
    """One feature of several scaled columns (q, n)."""

    def totals(self) -> FloatArray:
        """Weight of the samples on which the feature is observed, shape (1,)."""
        return np.asarray(self.weights.sum(axis=1))

    def tolerance(self) -> FloatArray:
        """Factor of the trace that may be left out, shape (1,)."""
        return np.ones(1)

    def expand(self, kernel: Kernel, which: IntArray, allowed: FloatArray) -> list[Terms]:
        """Expand the feature."""
        rows, left_out = kernel.expand_joint(self.values, float(allowed[0]), self.weights[0])
        return [explicit_terms(0, rows, left_out, self.weights[0])]
