"""Columns as a block of numbers, and the target's rows as they are multiplied with it."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from hsiclasso._types import BoolArray, Columns, FloatArray, IntArray
from hsiclasso.dependence.statistic import Moments
from hsiclasso.kernels import Kernel, Samples, Terms
from hsiclasso.kernels.base import Product, explicit_terms
from hsiclasso.targets.matrix import FactoredTarget, TargetMatrix

__all__ = ["DenseColumns", "JointColumns", "TargetRows"]

#: Samples whose terms are evaluated at once, so that they stay in cache.
_RUN = 1024
#: Multiply-adds of one product: up to about so many, BLAS does not repack its operands.
_PIECE = 1_000_000
_room = threading.local()


@dataclass(frozen=True)
class TargetRows:
    """Rows of a factored target and the removed rows.

    Attributes
    ----------
    dense : ndarray of shape (p + q, n)
        Rows of the target that vary everywhere, then q removed rows, the constant first.
    tail : ndarray of shape (t,)
        Samples on which the other rows of the target vary.
    sparse : ndarray of shape (s, t)
        The other rows on the tail, beyond `offset`.
    offset : ndarray of shape (s,)
        The other rows elsewhere.
    signs : ndarray of shape (s + p,)
        Signs of the target's rows, those on the tail first.
    starts : tuple of int
        First row of each target.
    root : ndarray of shape (n,) or None
        Square roots of the samples' weights, if they are not ones.
    n_removed : int
        q.
    """

    dense: FloatArray
    tail: IntArray
    sparse: FloatArray
    offset: FloatArray
    signs: FloatArray
    starts: tuple[int, ...]
    root: FloatArray | None
    n_removed: int

    @classmethod
    def of(cls, target: TargetMatrix, samples: Samples) -> TargetRows:
        """Gather the rows of a factored target."""
        assert isinstance(target, FactoredTarget)
        split, removed = target.rows, samples.removed
        return cls(
            np.concatenate([split.dense, removed]), split.tail, split.sparse, split.offset,
            target.signs, target.starts, None if samples.weights is None else samples.root,
            len(removed),
        )  # fmt: skip

    @property
    def width(self) -> int:
        """Rows that each sample is multiplied with."""
        return len(self.dense)

    @cached_property
    def runs(self) -> FloatArray:
        """The dense rows, cut into runs of samples: (runs, s, p + q)."""
        return _cut(self.dense)

    @cached_property
    def tail_runs(self) -> FloatArray:
        """The other rows on the tail, cut into runs of samples: (runs, t, s)."""
        return _cut(self.sparse)

    @cached_property
    def whole(self) -> FloatArray:
        """All rows of the target, those on the tail first, and the removed rows: (s + p + q, n)."""
        others = np.tile(self.offset[:, None], (1, self.dense.shape[1]))
        others[:, self.tail] += self.sparse
        return np.concatenate([others, self.dense])


@dataclass(frozen=True)
class DenseColumns:
    """Columns of numbers.

    Attributes
    ----------
    values : ndarray of shape (k, n)
    weights : ndarray of shape (1, n) or (k, n)
        Weights of the samples; by column where values are missing.
    known : ndarray of bool of shape (k, n) or None
        Where values are observed; None if all are.
    scaled : bool
        Whether the values are on the scale of their kernel already, and vary.
    """

    values: FloatArray
    weights: FloatArray
    known: BoolArray | None = None
    scaled: bool = False

    #: Whether there are few values, so that the Gram matrix of terms is cheap.
    small: ClassVar[bool] = False
    #: Whether there are so few that the kernel between them is all that is needed.
    few: ClassVar[bool] = False

    def totals(self) -> FloatArray:
        """Weight of the samples on which each column is observed, shape (k,)."""
        return np.broadcast_to(self.weights.sum(axis=1), len(self.values))

    def spread(self) -> FloatArray:
        """Factor of what may be left out of each column, shape (k,)."""
        return np.ones(len(self.values))

    def scale(self, kernel: Kernel) -> BoolArray:
        """Bring the columns to the scale of their kernel, in place; tell which vary."""
        if self.scaled:
            return np.ones(self.totals().size, dtype=bool)
        return np.asarray(kernel.scale(self.values, self.weights).factor > 0)

    def expand(self, kernel: Kernel, which: IntArray, allowed: FloatArray) -> list[Terms]:
        """Expand some of the columns, which are scaled."""
        return kernel.expand(self.values, which, allowed, self.weights)

    def samples_of(self, column: int, samples: Samples) -> Samples:
        """Return the samples on which a column is observed."""
        return samples if self.known is None else samples.only(self.known[column])

    def moments(self, terms: Terms, rows: TargetRows, with_gram: bool) -> Moments:
        """Multiply the terms of columns with the target's rows and with each other."""
        c, size = terms.columns.size, terms.n_rows
        both = np.zeros((c, size, rows.width))
        gram = np.zeros((c, size, size) if with_gram else (0, 0, 0))
        self._multiply(terms, slice(None), rows.runs, rows, both, gram)
        cross, removed = both[:, :, : -rows.n_removed], both[:, :, -rows.n_removed :]
        if rows.offset.size:
            others = np.zeros((c, size, rows.offset.size))
            self._multiply(terms, rows.tail, rows.tail_runs, rows, others, gram[:0])
            # there are no weights where rows are split: the constant row is 1 / sqrt(n)
            others += np.sqrt(self.values.shape[1]) * removed[:, :, :1] * rows.offset
            cross = np.concatenate([others, cross], axis=2)
        if self.known is not None:
            cross, removed = self._centred(cross, removed, self.known[terms.columns], rows)
        mass = np.einsum("cnq,cnq->c", removed, removed)
        if with_gram:
            gram -= removed @ removed.transpose(0, 2, 1)
        made = cross, gram if with_gram else None, mass
        return Moments(*made, terms.left_out, terms.bulk_trace, terms.bulk_rank)

    def _multiply(
        self, terms: Terms, samples: Columns, target: FloatArray, rows: TargetRows, out: FloatArray,
        gram: FloatArray,
    ) -> None:  # fmt: skip
        """Add products of terms on some samples with rows (runs, s, r), and with each other."""
        run, width = target.shape[1:]
        size = terms.n_rows
        step = min(len(out), max(1, _PIECE // max(1, run * width * size)))
        if terms.multiply is not None and self.known is None:
            root = np.empty(0) if rows.root is None else rows.root
            product = Product(target, root, _scratch(0, (step * size * run,)), out, gram)
            terms.multiply(samples, product)
            return
        every = np.arange(self.values.shape[1])[samples]
        for start in range(0, len(out), step):
            piece = slice(start, min(len(out), start + step))
            for t, first in enumerate(range(0, every.size, run)):
                some: Columns = slice(first, min(every.size, first + run))
                some = some if isinstance(samples, slice) else every[some]
                phi = self._evaluated(terms, piece, some, rows)
                products = phi.reshape(-1, phi.shape[2]) @ target[t, : phi.shape[2]]
                out[piece] += products.reshape(out[piece].shape)
                if len(gram):
                    # a matrix times its own transpose would take a slower routine of BLAS
                    twin = _scratch(1, phi.shape)
                    np.copyto(twin, phi)
                    gram[piece] += phi @ twin.transpose(0, 2, 1)

    def _evaluated(
        self, terms: Terms, piece: slice, samples: Columns, rows: TargetRows
    ) -> FloatArray:
        """Evaluate and weigh the terms of a piece of the columns on some samples."""
        size = samples.stop - samples.start if isinstance(samples, slice) else samples.size
        phi = _scratch(0, (piece.stop - piece.start, terms.n_rows, size))
        terms.evaluate(piece, samples, phi)
        if self.known is not None:
            phi *= np.sqrt(self.weights[terms.columns[piece]][:, None, samples])
        elif rows.root is not None:
            phi *= rows.root[samples]
        return phi

    @staticmethod
    def _centred(
        cross: FloatArray, removed: FloatArray, known: BoolArray, rows: TargetRows
    ) -> tuple[FloatArray, FloatArray]:
        """Project on what is orthogonal to the removed rows on the observed samples.

        Restricted to some samples, the removed rows Q are orthonormal no more: with their Gram
        matrix M there, and L its inverse root, L Q are.
        """
        q = rows.whole[-rows.n_removed :]
        pairs = (q[:, None, :] * rows.whole[None]).reshape(-1, q.shape[1])
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
    """One feature of several columns (q, n), which are scaled."""

    def totals(self) -> FloatArray:
        """Weight of the samples on which the feature is observed, shape (1,)."""
        return np.asarray(self.weights.sum(axis=1))

    def spread(self) -> FloatArray:
        """Factor of what may be left out, shape (1,)."""
        return np.ones(1)

    def expand(self, kernel: Kernel, which: IntArray, allowed: FloatArray) -> list[Terms]:
        """Expand the feature."""
        rows, left = kernel.expand_joint(self.values, float(allowed[0]), self.weights[0])
        return [explicit_terms(0, rows, left, self.weights[0])]


def _cut(rows: FloatArray) -> FloatArray:
    """Cut rows (r, n) into runs of at most `_RUN` samples, zero-padded: (runs, s, r)."""
    r, n = rows.shape
    n_runs = max(1, -(-n // _RUN))
    run = -(-n // n_runs)
    padded = np.zeros((n_runs * run, r))
    padded[:n] = rows.T
    return padded.reshape(n_runs, run, r)


def _scratch(which: int, shape: tuple[int, ...]) -> FloatArray:
    """Return room for an array, the same each time in a thread: fresh memory would cost more."""
    size = math.prod(shape)
    rooms = _room.__dict__.setdefault("rooms", [np.empty(0), np.empty(0)])
    if rooms[which].size < size:
        rooms[which] = np.empty(size)
    return np.asarray(rooms[which][:size].reshape(shape))
