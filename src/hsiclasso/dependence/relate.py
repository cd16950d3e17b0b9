"""The seam: features and a target become the quadratic problem that solvers work on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.data import Source
from hsiclasso.dependence.budget import Budget
from hsiclasso.dependence.entries import Entries
from hsiclasso.dependence.features import Features, Scaled
from hsiclasso.dependence.packed import PackedProducts, can_be_packed
from hsiclasso.dependence.products import FactorProducts, ScaledColumns
from hsiclasso.dependence.relevance import PassResult, RelevancePass
from hsiclasso.dependence.running import Runner, Threads
from hsiclasso.dependence.screening import Screened, ScreeningPass, can_be_screened
from hsiclasso.dependence.streaming import Pass, StreamedPass
from hsiclasso.dependence.tables import TableProducts, can_be_tabulated
from hsiclasso.dependence.tabulated import TabulatedPass
from hsiclasso.kernels import Factor, Measure
from hsiclasso.kernels.markov import LaplaceMatrix
from hsiclasso.targets.gridded import GriddedTarget
from hsiclasso.targets.matrix import LaplaceTarget, TargetMatrix, together

__all__ = [
    "NEIGHBOURS_AT_ONCE",
    "Problem",
    "Progress",
    "each_result",
    "first_pass",
    "relate",
    "scan",
]

#: Called with the name of the stage, the number of features done and their total number.
Progress = Callable[[str, int, int], None]

#: Number of features whose neighbours are searched for in one pass, as targets of the pass.
NEIGHBOURS_AT_ONCE = 16
#: Number of samples that are many, and rows of G to ask for together with fewer, and with more.
_MANY_SAMPLES, _ROWS_OF_FEW, _ROWS_OF_MANY = 10_000, 16, 4
#: Interactions whose matrices are made at once.
_INTERACTIONS_AT_ONCE = 16
#: Relative error of the matrices whose similarity is computed.
_SIMILARITY_ERROR = 1e-4


def relate(
    features: Features,
    target: TargetMatrix,
    measure: Measure,
    *,
    runner: Runner | None = None,
    n_threads: int = 1,
    screen: int = 0,
    budget: Budget | None = None,
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
        Runs the blocks of the pass; by default threads.
    n_threads : int
        Number of threads of the default runner, and for large blocks of the redundancy. The caller
        should limit BLAS to one thread.
    screen : int, default=0
        If it is positive, about this many relevances are exact, and the others may be upper bounds
        where that is faster. Upper bounds are enough for a path of non-negative weights.
        `Problem.sharpen` makes them exact.
    budget : Budget, optional
        Memory that may be used.
    progress : callable, optional
        Called after every block of the pass.

    Returns
    -------
    Problem
        Relevance, and redundancy on demand.
    """
    runner, budget = runner or Threads(n_threads), budget or Budget(n_threads=n_threads)
    work = first_pass(features, target, measure, screen)
    found, features = scan(work, runner, progress, "relevance", max(1, screen), budget)
    is_screened = isinstance(work, ScreeningPass)
    exact = work if isinstance(work, RelevancePass) else work.exact
    return Problem(exact.on(features), found, runner, budget, screen if is_screened else 1)


def first_pass(features: Features, target: TargetMatrix, measure: Measure, screen: int) -> Pass:
    """Return the pass that finds the relevance, or bounds on it; see `relate`."""
    if isinstance(target, GriddedTarget):
        if can_be_tabulated(features, measure) and not _is_compact(features.source):
            return TabulatedPass(RelevancePass(features, target, measure))
        target = target.made
    exact = RelevancePass(features, target, measure)
    is_screened = screen > 0 and can_be_screened(features, target, measure)
    return ScreeningPass(exact) if is_screened else exact


def _is_compact(source: Source) -> bool:
    """Whether columns are small integers or sparse: these need fewer additions than a table."""
    nothing = slice(0, 0)
    return source.levels(nothing) is not None or source.stored(nothing) is not None


def scan(
    work: Pass, runner: Runner, progress: Progress | None, stage: str,
    n_exact: int, budget: Budget,
) -> tuple[Screened, Features]:  # fmt: skip
    """Pass over the table; return the results, and the features with columns that are held."""
    streamed = None
    if runner.by_chunks or not work.features.source.in_memory:
        streamed = StreamedPass(work, stage, n_exact, budget)
    unit: Any = streamed or work
    blocks, name, found = unit.blocks(), stage.partition(" ")[0], []
    for block, result in zip(blocks, runner.map(unit, blocks), strict=True):
        found.append(streamed.hold(result) if streamed else Screened.of(result))
        if progress is not None:
            progress(name, block.stop, blocks[-1].stop)
    return Screened.together(found), streamed.held() if streamed else work.features


def each_result(
    work: Pass, runner: Runner, progress: Progress | None, stage: str, budget: Budget
) -> Iterator[PassResult]:
    """Pass over the table and yield the results of each part, in order; none are kept."""
    streamed = runner.by_chunks or not work.features.source.in_memory
    unit: Any = StreamedPass(work, stage, 0, budget) if streamed else work
    blocks, name = unit.blocks(), stage.partition(" ")[0]
    for block, result in zip(blocks, runner.map(unit, blocks), strict=True):
        yield Screened.of(result.found if streamed else result).result
        if progress is not None:
            progress(name, block.stop, blocks[-1].stop)


def _products(
    features: Features, measure: Measure
) -> type[PackedProducts | TableProducts | FactorProducts]:
    """Return how inner products are best computed, which depends on the number of samples."""
    if can_be_packed(features, measure):
        return PackedProducts
    return TableProducts if can_be_tabulated(features, measure) else FactorProducts


class Problem:
    """Relevance and redundancy of the features of a table.

    Attributes
    ----------
    features : Features
    measure : Measure
    linear : ndarray of shape (d,)
        Relevance b of every feature, or an upper bound on it where `exact` is False.
    relevance : ndarray of shape (d,)
        Relevance b of every feature, or an estimate of it where `exact` is False.
    exact : ndarray of bool of shape (d,)
        Whether the error of a feature's relevance is at most `features.gram_error`.
    target_norm2 : float
        Squared Frobenius norm of the target's matrix.
    varies : ndarray of bool of shape (d,)
        False for constant features, whose relevance is 0.
    observed : ndarray of int of shape (d,)
        Number of samples on which each feature is not missing.
    columns : ScaledColumns
        The columns that were read last, on the scale of their kernels.
    rows_at_once : int
        Rows of G that should be asked for together: a request has a fixed cost, and with many
        samples every row takes much longer than that.
    """

    def __init__(
        self, exact_pass: RelevancePass, screened: Screened, runner: Runner, budget: Budget,
        n_exact: int = 1,
    ) -> None:  # fmt: skip
        self.features = features = exact_pass.features
        self.measure = measure = exact_pass.measure
        self.linear: FloatArray = screened.upper
        self.relevance: FloatArray = screened.result.relevance[:, 0].copy()
        self.exact: BoolArray = screened.exact
        self.target_norm2 = exact_pass.target.norm2
        self.varies: BoolArray = screened.result.varies
        self.observed: IntArray = screened.result.observed
        is_tall = features.n_samples >= _MANY_SAMPLES
        self.rows_at_once = _ROWS_OF_MANY if is_tall else _ROWS_OF_FEW
        self._error = float(screened.result.error.max(initial=0.0))
        self._pass = exact_pass
        self._runner = runner
        self._budget = budget
        self._threads = Threads(budget.n_threads)
        self.columns = ScaledColumns(features, budget)
        self._products = _products(features, measure)(self.columns, measure, budget.n_threads)
        self._entries = Entries(features.n_features)
        self._n_sharpened = 0
        self._sharpen(self._largest(n_exact), n_exact)

    def with_interactions(
        self, members: Sequence[tuple[int, ...]], bounds: FloatArray | None = None
    ) -> Problem:
        """Return the problem with interactions as further features, numbered after the others.

        Parameters
        ----------
        members : sequence of tuple of int
            Features that each of them joins; interactions of this problem are replaced.
        bounds : ndarray of shape (m,), optional
            Upper bounds on their relevance, which is made exact where a path asks for it. By
            default it is made exact at once.
        """
        made, number = copy(self), len(members)
        made.features = features = self.features.with_interactions(members)
        d = features.n_single
        upper = np.zeros(number) if bounds is None else bounds
        made.linear = np.append(self.linear[:d], upper)
        made.relevance = np.append(self.relevance[:d], upper)
        made.exact = np.append(self.exact[:d], np.zeros(number, dtype=bool))
        made.varies = np.append(self.varies[:d], np.ones(number, dtype=bool))
        made.observed = np.append(self.observed[:d], np.full(number, features.n_samples))
        made.columns = ScaledColumns(features, self._budget)
        made._products = FactorProducts(made.columns, self.measure, self._budget.n_threads)
        made._entries = Entries(features.n_features)
        made._n_sharpened = 0
        if bounds is None:
            made._sharpen_all(np.arange(d, d + number))
        return made

    @property
    def target(self) -> TargetMatrix:
        """Matrix of the target."""
        return self._pass.target

    def sharpen(self, wanted: IntArray) -> bool:
        """Make the relevance of some features exact; return whether any was only a bound."""
        bounded = wanted[~self.exact[wanted]]
        if not bounded.size:
            return False
        # add as many as were made exact: a path that goes far is then solved only a few times
        more = self._largest(self._n_sharpened)
        self._sharpen(np.union1d(bounded, more), 1)
        return True

    def _largest(self, number: int) -> IntArray:
        """Return the features with the largest bounds among those that are not exact."""
        bounded = np.flatnonzero(~self.exact)
        if bounded.size <= number:
            return bounded
        return bounded[np.argpartition(-self.linear[bounded], number)[:number]]

    def _sharpen(self, bounded: IntArray, number: int) -> None:
        """Replace the bounds of some features by their exact relevance.

        Then do the same with the largest bounds, `number` at a time, until the largest value is
        exact.
        """
        while bounded.size:
            self._sharpen_all(bounded)
            if self.linear[self.exact].max() >= self.linear[~self.exact].max(initial=-np.inf):
                return
            bounded = self._largest(number)

    def _sharpen_all(self, bounded: IntArray) -> None:
        """Replace the bounds of some features by their exact relevance."""
        self._n_sharpened += bounded.size
        n_single = self.features.n_single
        singles, others = (np.sort(bounded[w]) for w in (bounded < n_single, bounded >= n_single))
        for some, work, width in (
            (singles, self._relate_singles, self._pass.width),
            (others, self._relate_interactions, _INTERACTIONS_AT_ONCE),
        ):
            parts = np.array_split(some, -(-some.size // width)) if some.size else []
            for part, result in zip(parts, self._threads.map(work, parts), strict=True):
                self.relevance[part] = self.linear[part] = result.relevance[:, 0]
                self._error = max(self._error, float(result.error.max()))
                self.observed[part] = result.observed
                self.varies[part] = result.varies
                self.exact[part] = True

    def _relate_singles(self, part: IntArray) -> PassResult:
        return self._pass.relate_scaled(self.columns(part))

    def _relate_interactions(self, part: IntArray) -> PassResult:
        """Relate interactions by their matrices, which the path will need again."""
        assert isinstance(self._products, FactorProducts)
        matrices = self._products.matrices(part)
        scaled = self.columns(part)
        # dividing a Gram matrix by its norm has doubled the bound on its error
        doubled = 2 if self.measure.normalised else 1
        return PassResult(
            np.array(
                [[self.target.energy(m.rows)] for m in matrices if not isinstance(m, LaplaceMatrix)]
            ),
            np.array([matrix.error / doubled for matrix in matrices]),
            np.array([one.varies for one in scaled]),
            np.array([np.count_nonzero(one.samples.shares) for one in scaled]),
        )

    @property
    def error(self) -> float:
        """Largest bound on the relative error of the Gram matrices that were used."""
        return max(self._error, self._products.error)

    def diagonal(self, rows: IntArray) -> FloatArray:
        """Return G[k, k], the squared Frobenius norm of A_k."""
        return self._products.norms2(rows)

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        r"""Return :math:`G_{kl} = \langle A_k, A_l\rangle` for k in `rows` and l in `cols`.

        An entry is computed only once. The matrices of `cols` are kept, because a solver asks for
        the same columns again and again.
        """
        out = self._entries.recall(rows, cols)
        if np.isnan(out).any():
            self._products.complete(rows, cols, out)
            self._entries.remember(rows, cols, out)
        return out

    def inner_products(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the same as `block`, but keep nothing: for entries that are needed once."""
        return self._products.inner_products(rows, cols)

    def scaled(self, wanted: IntArray) -> list[Scaled]:
        """Return features on the scale of their kernels; read those that are not in memory."""
        return self.columns(wanted)

    def nearest(
        self,
        wanted: IntArray,
        number: int,
        progress: Progress | None = None,
        *,
        least: float = np.inf,
    ) -> list[list[tuple[int, float]]]:
        r"""Find the features of the table that are most similar to each wanted feature.

        The similarity of two features is :math:`G_{kl} / \sqrt{G_{kk} G_{ll}}`, with an error of at
        most 1e-4. Another pass over the table compares every feature with the wanted ones. It
        takes as long as the pass for a target with about eight rows for each wanted feature.

        Parameters
        ----------
        wanted : ndarray of int
        number : int
            Number of others for each of them.
        progress : callable, optional
        least : float, default=inf
            Others that are more similar than this are found too, however many there are.

        Returns
        -------
        list of list of (int, float)
            For each wanted feature, the others with their similarities, most similar first.
        """
        neighbours: list[list[tuple[int, float]]] = []
        for start in range(0, wanted.size, NEIGHBOURS_AT_ONCE):
            some = wanted[start : start + NEIGHBOURS_AT_ONCE]
            for k, row in zip(some.tolist(), self._similarity(some, progress).T, strict=True):
                if k < row.size:
                    row[k] = -np.inf
                # ties go to the feature that comes first
                found = max(number, int(np.count_nonzero(row > least)))
                near = np.argsort(-row, kind="stable")[: min(found, row.size - 1)]
                neighbours.append([(int(j), float(row[j])) for j in near])
        return neighbours

    def scan(
        self, target: TargetMatrix, stage: str, progress: Progress | None = None
    ) -> FloatArray:
        """Return the relevance (d,) of every feature for another target, by one more pass."""
        work = RelevancePass(self.features.singles, target, self.measure)
        found, _ = scan(work, self._runner, progress, stage, 0, self._budget)
        return np.asarray(found.result.relevance[:, 0])

    def relate_some(self, target: TargetMatrix, wanted: IntArray) -> FloatArray:
        """Return the relevance of some features for another target.

        The features must have one column each, without missing values, and the same kernel.
        """
        work = RelevancePass(self.features, target, self.measure)
        parts = np.array_split(wanted, -(-wanted.size // work.width))
        found = self._threads.map(lambda part: work.relate_scaled(self.columns(part)), parts)
        return np.concatenate([result.relevance[:, 0] for result in found])

    def _similarity(self, wanted: IntArray, progress: Progress | None) -> FloatArray:
        """Return the similarity (d, w) of every feature with the wanted ones."""
        measure = self.measure.similarity()
        features = replace(
            self.features.singles, gram_error=max(_SIMILARITY_ERROR, self.features.gram_error)
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
            stage = f"neighbours of {', '.join(str(wanted[i]) for i in which)}"
            found, _ = scan(work, self._runner, progress, stage, 0, self._budget)
            out[:, which] = found.result.relevance
        return out
