"""The pass over the table that finds a p-value for every feature: blocks in, results out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.dependence import Features
from hsiclasso.dependence.atoms import AtomColumns
from hsiclasso.dependence.relevance import RelevancePass
from hsiclasso.inference.permutation import CHECKED, permutation_p_value
from hsiclasso.inference.spectrum import Spectrum, third_sums
from hsiclasso.kernels import HSIC, Kernel, Terms
from hsiclasso.targets.matrix import FactoredTarget

__all__ = ["NullPass"]

#: Number of values of rows that are held at once: more would leave the cache of the processor.
_PIECE = 1 << 18


@dataclass(frozen=True)
class _Block:
    """What is known about c features; N rows make the matrix K of each."""

    #: Products of the centred rows with those of the targets, shape (c, N, r).
    cross: FloatArray
    #: Products of the centred rows with each other, shape (c, N, N).
    gram: FloatArray
    #: Sum of the squared diagonal entries of K, shape (c,).
    diagonal2: FloatArray
    #: Returns the sums of third order of some of the features.
    third: Callable[[IntArray], FloatArray]
    #: Number of samples on which each feature is observed, shape (1,) or (c,).
    n: FloatArray
    #: The target on these samples.
    target: Spectrum


class NullPass(RelevancePass):
    """Finds the statistic <K, L> of every feature, and its p-value over orders of the samples.

    The results of a feature are m statistics, then m p-values, for m targets. Several targets must
    be one target in several orders, and no value of a feature may be missing then.

    Parameters
    ----------
    features : Features
        Without weights and covariates.
    target : FactoredTarget
        Its signs are positive.
    """

    gaps_as_atoms: ClassVar[bool] = False

    def __init__(self, features: Features, target: FactoredTarget) -> None:
        super().__init__(features, target, HSIC())
        self.starts = target.starts
        self.n_targets = 2 * len(target.starts)
        rows = np.ascontiguousarray(target.whole[0])
        first = slice(0, target.starts[1] if len(target.starts) > 1 else None)
        self._null = Spectrum.of(rows[first])
        # products with a row of ones are sums over the samples
        self._with_ones = np.concatenate([rows, np.ones((1, rows.shape[1]))])

    def _by_recursion(self, kernel: Kernel) -> bool:
        """Whether a kernel is known by its products only: no, its eigenvalues are needed."""
        return False

    def _by_atoms(self, kernel: Kernel, columns: AtomColumns) -> tuple[BoolArray, FloatArray]:
        """Return whether columns of few values vary, and their results."""
        k, m = columns.weights.shape
        varies, found = np.zeros(k, dtype=bool), np.zeros((k, self.n_targets))
        step = max(1, _PIECE // (m * m))
        for start in range(0, k, step):
            some = slice(start, min(k, start + step))
            part = columns.take(np.arange(some.start, some.stop))
            z = _present(part)
            varies[some] = kernel.scale(z, part.weights).factor > 0
            rows = _atom_rows(kernel.gram(z, part.weights), part.weights)
            found[some], _ = self._judged(self._of_atoms(rows, part))
        return varies, found

    def _by_terms(
        self, kernel: Kernel, columns: Any, terms: Terms, total: FloatArray, exact: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Return the results of columns, and bounds on the errors of their matrices."""
        found, norms = np.zeros((total.size, self.n_targets)), np.zeros(total.size)
        for part, block in self._blocks(columns, terms):
            found[part], norms[part] = self._judged(block)
        # p-values do not depend on the scale of K; the statistic compensates for missing values
        observed = total / self.samples.total
        scale = kernel.observed_scale(observed) * self.measure.restoration(observed)
        found[:, : len(self.starts)] *= np.broadcast_to(scale, total.shape)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            bounds = np.where(terms.left_out > 0, terms.left_out / norms, 0.0)
        return found, bounds

    def _blocks(self, columns: Any, terms: Terms) -> Iterator[tuple[slice, _Block]]:
        """Yield what is known about columns, all at once or, with missing values, one by one."""
        if isinstance(columns, AtomColumns):
            part = columns.take(terms.columns)
            rows = terms.on(slice(None), slice(None))
            rows -= (rows @ part.weights[:, :, None]) / part.totals()[:, None, None]
            yield slice(None), self._of_atoms(rows, part)
        elif columns.known is None:
            yield slice(None), self._complete(columns, terms)
        else:
            for j, column in enumerate(terms.columns.tolist()):
                seen = columns.known[column]
                rows = terms.on(slice(j, j + 1), slice(None))[:, :, seen]
                yield slice(j, j + 1), self._observed(rows, seen)

    def _complete(self, columns: Any, terms: Terms) -> _Block:
        """Return what is known about columns without missing values."""
        from hsiclasso.inference._sum_loops import add_squared_diagonals

        n = terms.n_samples
        both, gram = columns.products(terms, self._with_ones)
        means = both[:, :, -1] / n
        gram -= n * means[:, :, None] * means[:, None, :]
        diagonal2, step = np.zeros(terms.columns.size), max(1, _PIECE // terms.n_rows)
        for start in range(0, n, step):
            samples = slice(start, min(n, start + step))
            many = max(1, step // (samples.stop - start))
            for first in range(0, diagonal2.size, many):
                some = slice(first, min(diagonal2.size, first + many))
                add_squared_diagonals(terms.on(some, samples), means[some], diagonal2[some])

        def third(some: IntArray) -> FloatArray:
            made = []
            for j in some.tolist():
                rows = terms.on(slice(j, j + 1), slice(None)) - means[j][:, None]
                made.append(third_sums(rows[0], gram[j]))
            return np.array(made)

        return _Block(
            both[:, :, :-1], gram, diagonal2, third, np.array([float(n)]), self._null
        )  # fmt: skip

    def _observed(self, rows: FloatArray, seen: BoolArray) -> _Block:
        """Return what is known about a column, from its rows (1, N, s) on the observed samples."""
        rows -= rows.mean(axis=2, keepdims=True)
        target = self._with_ones[:-1, seen]
        target -= target.mean(axis=1, keepdims=True)
        gram = rows @ rows.transpose(0, 2, 1)
        squares = np.square(np.square(rows).sum(axis=1)).sum(axis=1)
        return _Block(
            rows @ target.T, gram, squares, lambda some: third_sums(rows[some], gram[some]),
            np.array([float(rows.shape[2])]), Spectrum.of(target),
        )  # fmt: skip

    def _of_atoms(self, rows: FloatArray, part: AtomColumns) -> _Block:
        """Return what is known about columns, from centred rows (c, N, m) at their values."""
        weighted = rows * part.weights[:, None, :]
        gram = weighted @ rows.transpose(0, 2, 1)
        squares = np.square(np.square(rows).sum(axis=1))
        return _Block(
            rows @ part.sums[:, :, : -part.n_removed],
            gram,
            (squares * part.weights).sum(axis=1),
            lambda some: third_sums(rows[some], gram[some], part.weights[some]),
            part.totals(),
            self._null,
        )

    def _judged(self, block: _Block) -> tuple[FloatArray, FloatArray]:
        """Return the results (c, 2m) of a block, and the norms (c,) of its matrices."""
        squares = np.square(block.cross).sum(axis=1)
        statistic = np.add.reduceat(squares, self.starts, axis=1)
        feature = Spectrum.of_gram(block.gram, block.diagonal2)
        p = permutation_p_value(statistic, feature, block.target, block.n)
        # the sums of third order take long, and only small p-values need them
        some = np.flatnonzero((p < CHECKED).any(axis=1))
        if some.size:
            n = block.n[some] if block.n.size > 1 else block.n
            with_third = replace(_take(feature, some), third=block.third(some))
            p[some] = permutation_p_value(statistic[some], with_third, block.target, n)
        return np.concatenate([statistic, p], axis=1), np.sqrt(feature.norm2)


def _take(many: Spectrum, some: IntArray) -> Spectrum:
    """Return some of many spectra."""
    return Spectrum(
        many.eigenvalues[some], many.trace[some], many.norm2[some], many.diagonal2[some]
    )


def _present(columns: AtomColumns) -> FloatArray:
    """Return the values (k, m) of columns; one that does not occur must not widen the range."""
    present = columns.weights > 0
    first = np.take_along_axis(columns.values, np.argmax(present, axis=1)[:, None], 1)
    return np.where(present, columns.values, first)


def _atom_rows(gram: FloatArray, weights: FloatArray) -> FloatArray:
    """Return rows (k, m, m) of centred matrices at atoms, from kernels (k, m, m) between them."""
    roots = np.sqrt(weights)
    unit = roots / np.sqrt(weights.sum(axis=1))[:, None]
    matrix = gram * roots[:, :, None] * roots[:, None, :]
    matrix -= (matrix @ unit[:, :, None]) * unit[:, None, :]
    matrix -= unit[:, :, None] * (unit[:, None, :] @ matrix)
    values, vectors = np.linalg.eigh(matrix)
    heights = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
    rows = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :] * heights[:, :, None]
    return np.ascontiguousarray(rows.transpose(0, 2, 1))
