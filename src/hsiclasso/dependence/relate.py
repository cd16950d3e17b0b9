"""The seam: features and a target become the quadratic problem that solvers see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.dependence.entries import Entries
from hsiclasso.dependence.features import Features, Scaled
from hsiclasso.dependence.packed import PackedProducts, can_be_packed
from hsiclasso.dependence.products import FactorProducts, ScaledColumns
from hsiclasso.dependence.relevance import Found, RelevancePass
from hsiclasso.dependence.running import Runner, Threads
from hsiclasso.dependence.screening import Screened, ScreeningPass, can_be_screened
from hsiclasso.kernels import Factor, Measure
from hsiclasso.kernels.markov import LaplaceMatrix
from hsiclasso.targets.matrix import LaplaceTarget, TargetMatrix, together

__all__ = ["Problem", "Progress", "relate"]

#: Called with the name of the stage, the number of units done and the number in all.
Progress = Callable[[str, int, int], None]

#: Selected features that neighbours are looked for at once: rows of a target of the pass.
_AT_ONCE = 16
#: Relative error of the matrices whose similarity is found.
_SIMILARITY_ERROR = 1e-4


def relate(
    features: Features,
    target: TargetMatrix,
    measure: Measure,
    *,
    runner: Runner | None = None,
    n_threads: int = 1,
    screen: int = 0,
    progress: Progress | None = None,
) -> Problem:
    """Relate every feature to a target in one pass over the table.

    Parameters
    ----------
    features : Features
        The table, with the kernels of its features.
    target : TargetMatrix
        Matrix of the target, for the same measure and samples.
    measure : Measure
    runner : Runner, optional
        Who runs the blocks of the pass; by default threads.
    n_threads : int
        Threads of the default runner, and of large blocks of the redundancy. Call it with BLAS
        limited to one thread.
    screen : int, default=0
        If it is positive, an upper bound may stand for the relevance of all but about so many
        features, where that is faster. A path of non-negative weights needs no more, and
        `Problem.sharpen` makes relevances exact.
    progress : callable, optional
        Told how far the pass is.

    Returns
    -------
    Problem
        Relevance, and redundancy on demand.
    """
    work = RelevancePass(features, target, measure)
    runner = runner or Threads(n_threads)
    if screen and can_be_screened(features, target, measure):
        parts = list(_run(ScreeningPass(work), runner, progress, "relevance"))
        return Problem(work, Screened.together(parts), runner, n_threads, screen)
    found = Found.together(list(_run(work, runner, progress, "relevance")))
    return Problem(work, Screened.exactly(found), runner, n_threads)


def _run(work: Any, runner: Runner, progress: Progress | None, stage: str) -> Iterator[Any]:
    """Run the blocks of a pass over the table, and yield what they find."""
    done, blocks = 0, work.blocks()
    for part, found in zip(blocks, runner.map(work, blocks), strict=True):
        yield found
        done += part.stop - part.start
        if progress is not None:
            progress(stage, done, blocks[-1].stop)


class Problem:
    """Relevance and redundancy of the features of a table.

    Attributes
    ----------
    features : Features
    measure : Measure
    linear : ndarray of shape (d,)
        Relevance b of every feature; an upper bound on it where `exact` is False.
    relevance : ndarray of shape (d,)
        The same, with an estimate in place of an upper bound.
    exact : ndarray of bool of shape (d,)
        Whether the relevance of a feature is known to `features.gram_error`.
    target_norm2 : float
        Squared Frobenius norm of the target's matrix.
    varies : ndarray of bool of shape (d,)
        False for constant features, whose relevance is 0.
    observed : ndarray of int of shape (d,)
        Number of samples on which each feature is not missing.
    error : float
        Largest bound, over the features, on the relative error of A_k in the Frobenius norm.
    """

    def __init__(
        self, exact_pass: RelevancePass, screened: Screened, runner: Runner, n_threads: int,
        n_exact: int = 1,
    ) -> None:  # fmt: skip
        self.features = features = exact_pass.features
        self.measure = measure = exact_pass.measure
        self.linear: FloatArray = screened.upper
        self.relevance: FloatArray = screened.found.relevance[:, 0].copy()
        self.exact: BoolArray = screened.exact
        self.target_norm2 = exact_pass.target.norm2
        self.varies: BoolArray = screened.found.varies
        self.observed: IntArray = screened.found.observed
        self.error = float(screened.found.error.max(initial=0.0))
        self._pass = exact_pass
        self._runner = runner
        self._threads = Threads(n_threads)
        self._columns = ScaledColumns(features)
        products = PackedProducts if can_be_packed(features, measure) else FactorProducts
        self._products: PackedProducts | FactorProducts = products(
            self._columns, measure, n_threads
        )
        self._entries = Entries(features.n_features)
        self._sharpen_first(n_exact)

    def sharpen(self, wanted: IntArray) -> bool:
        """Make the relevance of some features exact; tell whether that of any was not."""
        rough = wanted[~self.exact[wanted]]
        if not rough.size:
            return False
        # as many again as there are, so that a path that goes far is solved a few times only
        self._sharpen(np.union1d(rough, self._largest(int(np.count_nonzero(self.exact)))))
        self._sharpen_first(1)
        return True

    def _sharpen_first(self, number: int) -> None:
        """Make the largest relevances exact, until the largest of all is certain."""
        while not self.exact.all():
            self._sharpen(self._largest(number))
            if self.linear[self.exact].max() >= self.linear[~self.exact].max(initial=-np.inf):
                return

    def _largest(self, number: int) -> IntArray:
        """Return the features with the largest bounds among those that are not exact."""
        rough = np.flatnonzero(~self.exact)
        if rough.size <= number:
            return rough
        return rough[np.argpartition(-self.linear[rough], number)[:number]]

    def _sharpen(self, rough: IntArray) -> None:
        parts = np.array_split(np.sort(rough), -(-rough.size // self._pass.width))

        def work(part: IntArray) -> Found:
            return self._pass.relate_scaled(self._columns(part))

        for part, found in zip(parts, self._threads.map(work, parts), strict=True):
            self.relevance[part] = self.linear[part] = found.relevance[:, 0]
            self.error = max(self.error, float(found.error.max()))
            self.exact[part] = True

    def diagonal(self, rows: IntArray) -> FloatArray:
        """Return G[k, k], the squared Frobenius norm of A_k."""
        return self._products.norms2(rows)

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        r"""Return :math:`G_{kl} = \langle A_k, A_l\rangle` for k in `rows` and l in `cols`.

        An entry is computed once. What was made of `cols`, which a solver asks for again and
        again, is kept.
        """
        out = self._entries.recall(rows, cols)
        if np.isnan(out).any():
            self._products.complete(rows, cols, out)
            self._entries.remember(rows, cols, out)
        return out

    def inner_products(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the same as `block`, for entries that are asked for once: nothing is kept."""
        return self._products.inner_products(rows, cols)

    def scaled(self, wanted: IntArray) -> list[Scaled]:
        """Return features on the scale of their kernels, read if they were not before."""
        return self._columns(wanted)

    def nearest(
        self, wanted: IntArray, number: int, progress: Progress | None = None
    ) -> list[list[tuple[int, float]]]:
        r"""Find the features that are most similar to some others, among all of them.

        The similarity of two features is :math:`G_{kl} / \sqrt{G_{kk} G_{ll}}`, here to an error
        of 1e-4. One more pass over the table compares every feature with the wanted ones: it
        costs as much as the pass for the relevance would if the target had eight rows or so for
        each wanted feature.

        Returns
        -------
        list of list of (int, float)
            For each wanted feature, `number` others with their similarities, nearest first.
        """
        found: list[list[tuple[int, float]]] = []
        for start in range(0, wanted.size, _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            for k, row in zip(some.tolist(), self._similarity(some, progress).T, strict=True):
                row[k] = -np.inf
                # ties go to the feature that comes first
                near = np.argsort(-row, kind="stable")[: min(number, row.size - 1)]
                found.append([(int(j), float(row[j])) for j in near])
        return found

    def _similarity(self, wanted: IntArray, progress: Progress | None) -> FloatArray:
        """Return the similarity (d, w) of every feature with the wanted ones."""
        measure = self.measure.similarity()
        features = replace(
            self.features, gram_error=max(_SIMILARITY_ERROR, self.features.gram_error)
        )
        matrices = features.matrices(self.scaled(wanted), measure)
        out = np.zeros((features.n_features, wanted.size))
        factored = [i for i, matrix in enumerate(matrices) if isinstance(matrix, Factor)]
        passes: list[tuple[list[int], TargetMatrix]] = [
            ([i], LaplaceTarget((matrix,), 1.0))
            for i, matrix in enumerate(matrices)
            if isinstance(matrix, LaplaceMatrix)
        ]
        if factored:
            rows = [matrix for matrix in matrices if isinstance(matrix, Factor)]
            passes.append((factored, together(rows)))
        for which, target in passes:
            work = RelevancePass(features, target, measure)
            parts = list(_run(work, self._runner, progress, "neighbours"))
            out[:, which] = Found.together(parts).relevance
        return out
