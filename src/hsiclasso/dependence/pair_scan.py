r"""The scan of all pairs of features, by blocks of pairs.

The relevance of the interaction of features k and l is a sum over all pairs of samples,

.. math:: b_{kl} = \sum_{ij} \bar K^{(k)}_{ij} \bar K^{(l)}_{ij} T_{ij}
          = \| H_k F_l^\top \|_F^2 ,

where :math:`F_l^\top F_l = \bar K^{(l)}` and the rows of :math:`H_k` are the products of those of
:math:`F_k` with those of the target, :math:`H_k^\top H_k = \bar K^{(k)} \circ T`. Stacked rows of
many features make this a product of large matrices in single precision. The scan takes the r
largest rows of each feature :math:`l` only, and bounds what they leave out. With the eigenvalues
:math:`\mu` of :math:`\bar K`, and :math:`\bar K = F^\top F + D`, all of them positive
semi-definite,

.. math:: \langle \bar K^{(k)} \circ D_l, T\rangle \le \min\Big(
          \mu_{r+1}^{(l)} \sum_i \bar K^{(k)}_{ii} T_{ii},\;
          \mu_1^{(k)} \sum_i D^{(l)}_{ii} T_{ii} \Big) .

The norm of the pair's matrix is bounded from below: with M the product of both Gram matrices of
the r largest rows, and Q the functions that are removed from it,
:math:`\|PMP\|_F \ge \|M\|_F - \operatorname{tr} QMQ^\top`.

If values are missing, the matrix is that of the samples S on which both features are observed. It
is centred there, and T is not: with :math:`s = 1_S / \sqrt{n_S}`,

.. math:: \langle P_S M P_S, T \rangle^{1/2} \le \langle M, T \rangle^{1/2}
          + (s^\top M s)^{1/2} (s^\top T s)^{1/2} .
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from hsiclasso._types import FloatArray, IntArray, SingleArray
from hsiclasso.data.fingerprint import hash_of
from hsiclasso.data.sources import ArraySource
from hsiclasso.dependence.features import Features
from hsiclasso.dependence.pair_rows import PairRows, RowMaker
from hsiclasso.dependence.pairs_found import Found, PairOptions, Pairs
from hsiclasso.dependence.running import Threads
from hsiclasso.kernels import Measure

__all__ = ["PairScan", "in_memory"]

#: Features whose pairs with all later ones are one piece of work, and features they are multiplied
#: with at once.
_WIDTH, _CHUNK = 32, 128
#: Features whose rows are made at once.
_READ = 128
#: Relative rounding error of sums in single precision, with a margin.
_SINGLE = 1e-4
#: Rows times those of the target leave out this part of what the rank leaves out; at least and at
#: most these shares of the trace.
_PART, _LEAST_SHARE, _MOST_SHARE = 0.15, 5e-4, 5e-3


@dataclass
class PairScan:
    """Scores pairs of features; pieces are blocks of first features.

    Parameters
    ----------
    features : Features
        Features, none of which is an interaction.
    target : ndarray of shape (p, n)
        Rows of the target's matrix, or of its positive part, largest first.
    measure : Measure
    pairs : Pairs
        Which pairs.
    options : PairOptions
        With a number as `rank`.
    n_threads : int
        Threads that make the rows of all features.
    """

    features: Features
    target: FloatArray
    measure: Measure
    pairs: Pairs
    options: PairOptions
    n_threads: int = 1
    _lock: Any = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    result_type: ClassVar[type[Found]] = Found
    #: What other workers know and this one does not: nothing.
    known: ClassVar[float] = 0.0

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made of the table: workers make it again, each on one thread."""
        names = ("features", "target", "measure", "pairs", "options")
        return {name: self.__dict__[name] for name in names} | {"n_threads": 1}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Read what `__getstate__` wrote."""
        self.__dict__.update(state, _lock=threading.Lock())

    @property
    def stage(self) -> str:
        """Name for a checkpoint, which may have the results of several scans."""
        return f"pairs {self.variant}"

    @property
    def variant(self) -> str:
        """What results depend on, beside the table, the target and the settings."""
        pairs = self.pairs
        return hash_of(pairs.members, pairs.n_first, pairs.within, repr(self.options))

    def blocks(self) -> list[slice]:
        """Cut the first features of pairs into pieces."""
        last = min(self.pairs.n_first, max(self.pairs.members.size - 1, 1))
        return [slice(k, min(k + _WIDTH, last)) for k in range(0, last, _WIDTH)]

    def words(self, piece: slice) -> str:
        """Name a piece of work."""
        first, last = (self.features.name(int(k)) for k in self.pairs.members[piece][[0, -1]])
        return f"The pairs of features {first!r} to {last!r}"

    def several(self, pieces: Sequence[slice], known: float) -> list[Found]:
        """Score several pieces, on a worker."""
        return [self(piece) for piece in pieces]

    @cached_property
    def _own(self) -> tuple[Features, IntArray]:
        """The features, with their columns in memory, and their numbers."""
        if self.features.source.in_memory:
            return self.features, self.pairs.members
        return in_memory(self.features, self.pairs.members), np.arange(self.pairs.members.size)

    @cached_property
    def _maker(self) -> RowMaker:
        return RowMaker(self._own[0], self.target)

    @cached_property
    def _stack(self) -> PairRows:
        """The rows of all features."""
        maker, numbers, options = self._maker, self._own[1], self.options
        assert options.rank is not None
        rank, by_p = options.rank, options.order == "p_value"
        squares = by_p or self.measure.needs_gram

        def make(start: int) -> PairRows:
            some = numbers[start : start + _READ]
            return maker.largest(some, rank, squares=squares, diagonals=by_p)

        starts = range(0, numbers.size, _READ)
        return PairRows.together(list(Threads(self.n_threads).map(make, starts)))

    @cached_property
    def target_share(self) -> float:
        """Share of the trace that rows times those of the target may leave out."""
        stack = self._stack
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = _PART * stack.next / stack.largest
        usual = float(np.median(shares[stack.largest > 0])) if stack.largest.any() else 0.0
        return float(np.clip(usual, _LEAST_SHARE, _MOST_SHARE))

    def prepared(self) -> PairRows:
        """Return the rows of all features; threads wait for the one that makes them."""
        with self._lock:
            return self._stack

    def __call__(self, piece: slice) -> Found:
        """Score the pairs of some features with later ones."""
        stack = self.prepared()
        block = _Block(self, stack, np.arange(self.pairs.members.size)[piece])
        upper = block.upper(self._maker)
        score = block.p_score() if self.options.order == "p_value" else block.score()
        return self._best(block, score, upper)

    def _best(self, block: _Block, score: FloatArray, upper: FloatArray) -> Found:
        """Return the best pairs of a block."""
        first, later = block.first, np.arange(block.start, block.start + score.shape[1])
        beyond = later > first[:, None]
        if not self.pairs.within:
            beyond &= later >= self.pairs.n_first
        rest = np.where(beyond, upper, 0.0).ravel()
        above = rest > self.options.above
        ranked = np.where(beyond, score, -np.inf).ravel()
        if np.isfinite(self.options.above):
            ranked = np.where(above, rest, -np.inf)
        number = min(self.options.n_kept, int(np.count_nonzero(np.isfinite(ranked) | above)))
        kept = np.argpartition(-ranked, number - 1)[:number] if number else np.zeros(0, int)
        kept = kept[rest[kept] > 0]
        bounds = rest[kept].copy()
        rest[kept] = 0.0
        places = np.array(np.unravel_index(kept, score.shape)).T
        numbers = np.column_stack([first[places[:, 0]], block.start + places[:, 1]])
        return Found(
            np.sort(self.pairs.members[numbers], axis=1), score.ravel()[kept], bounds,
            float(rest.max(initial=0.0)), int(np.count_nonzero(beyond)),
            int(np.count_nonzero(above)), int(self.options.rank or 0),
        )  # fmt: skip


class _Block:
    """Pairs of some features with later ones: arrays of shape (f, l).

    Parameters
    ----------
    work : PairScan
    stack : PairRows
        Rows of all features of the scan.
    first : ndarray of int of shape (f,)
        Places of the first features of pairs, which follow each other.
    """

    def __init__(self, work: PairScan, stack: PairRows, first: IntArray) -> None:
        self.first = first
        #: Place of the first of the later features.
        self.start = int(first[0]) if work.pairs.within else work.pairs.n_first
        self._work = work
        self._stack = stack
        self._ends = np.append(0, np.cumsum(stack.heights))
        self._square_ends = np.append(0, np.cumsum(stack.square_heights))
        self._samples = work.features.samples

    @cached_property
    def _own(self) -> slice:
        """Rows of the first features."""
        return slice(int(self._ends[self.first[0]]), int(self._ends[self.first[-1] + 1]))

    def _of_first(self, ends: IntArray) -> IntArray:
        """Return where the rows of the first features begin in a stack of their own."""
        places = ends[self.first[0] : self.first[-1] + 2]
        return np.asarray(places - places[0])

    def _energies(
        self, left: SingleArray, starts: IntArray, rows: SingleArray, ends: IntArray
    ) -> FloatArray:
        """Return squared norms of the products of rows with those of each later feature."""
        from hsiclasso.dependence._halves_loops import energies_of_pairs

        out = np.zeros((starts.size - 1, ends.size - 1 - self.start))
        for begin in range(self.start, ends.size - 1, _CHUNK):
            places = ends[begin : begin + _CHUNK + 1]
            part = np.zeros((len(out), places.size - 1))
            products = left @ rows[places[0] : places[-1]].T
            energies_of_pairs(products, starts, places - places[0], part)
            out[:, begin - self.start :][:, : places.size - 1] = part
        return out

    @cached_property
    def _with_target(self) -> tuple[FloatArray, FloatArray]:
        """Relevance of the products at the rank of the scan, and what it may lack."""
        maker, stack, first = self._work._maker, self._stack, self.first
        numbers = self._work._own[1][first]
        rows, dropped = maker.times_target(numbers, self._work.target_share)
        starts = np.append(0, np.cumsum([len(one) for one in rows]))
        energy = self._energies(np.concatenate(rows), starts, stack.rows, self._ends)
        later = slice(self.start, None)
        missed = np.minimum(
            np.outer(stack.with_target[first], stack.next[later]),
            np.outer(stack.largest[first], stack.left_out[later]),
        )
        missed += np.outer(dropped, stack.largest[later])
        missed += np.outer(stack.lost[first], stack.with_target[later])
        return energy, missed

    @cached_property
    def _common(self) -> FloatArray:
        """Weight of the samples on which both features are observed."""
        samples, seen = self._samples, self._stack.observed
        if not seen.size:
            return np.full((1, 1), samples.total)
        weighted = seen[self.first] * samples.shares[0].astype(np.float32)
        return np.asarray(weighted @ seen[self.start :].T, dtype=np.float64)

    @cached_property
    def _alike(self) -> FloatArray:
        """Inner products of the matrices of both features, at the rank of the scan."""
        starts = self._of_first(self._ends)
        return self._energies(self._stack.rows[self._own], starts, self._stack.rows, self._ends)

    @cached_property
    def _removed(self) -> FloatArray:
        """Trace that centring and covariates remove from the product."""
        if self._samples.covariates is None:
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.asarray(np.where(self._common > 0, self._alike / self._common, 0.0))
        out: Any = 0.0
        for function in self._samples.removed * self._work._maker.inverse:
            left = self._stack.rows[self._own] * function.astype(np.float32)
            out = out + self._energies(
                left, self._of_first(self._ends), self._stack.rows, self._ends
            )
        return np.asarray(out)

    @cached_property
    def _norms(self) -> tuple[FloatArray, FloatArray]:
        """Norm of the pair's matrix at the rank of the scan, and a lower bound on the exact one."""
        stack = self._stack
        ends = self._square_ends
        own = stack.squares[ends[self.first[0]] : ends[self.first[-1] + 1]]
        norm2 = self._energies(own, self._of_first(ends), stack.squares, ends)
        norm, rests = np.sqrt(norm2), stack.square_rests
        least = norm * (1 - _SINGLE) - self._removed * (1 + _SINGLE)
        if self._samples.covariates is not None and stack.observed.size:
            least = np.where(self._common < self._samples.total, 0.0, least)
        least = np.maximum(least, 0.0)
        # what rows of squares leave out is taken as diagonal, and what is removed as eigenvectors
        norm2 = norm2 + rests[self.first] @ rests[self.start :].T - np.square(self._removed)
        most = np.sqrt(np.maximum(norm2, 0.0))
        return (least + most) / 2, least

    def score(self) -> FloatArray:
        """Return the relevance at the rank of the scan."""
        return self._measured(self._with_target[0], 0)

    def upper(self, maker: RowMaker) -> FloatArray:
        """Return upper bounds on the relevance."""
        energy, missed = self._with_target
        upper = energy * (1 + _SINGLE) + missed
        if self._stack.observed.size:
            upper = self._with_gaps(upper, maker)
        return self._measured(upper, 1)

    def _with_gaps(self, upper: FloatArray, maker: RowMaker) -> FloatArray:
        """Return upper bounds where values are missing: the target is not centred there."""
        stack, first, later = self._stack, self.first, slice(self.start, None)
        gaps = self._common < self._samples.total * (1 - _SINGLE)
        if self._samples.covariates is not None:
            return np.where(gaps, np.inf, upper)
        target = (self._work.target * self._samples.root).astype(np.float32)
        rows = (stack.observed[first][:, None] * target).reshape(-1, target.shape[1])
        each = np.arange(len(first) + 1) * len(target)
        sums = self._energies(rows, each, stack.observed, np.arange(len(stack.observed) + 1))
        alike = self._alike * (1 + _SINGLE)
        alike += np.outer(stack.next[first], stack.trace[later])
        alike += np.outer(stack.trace[first], stack.next[later])
        with np.errstate(divide="ignore", invalid="ignore"):
            beside = np.sqrt(alike * sums) * (1 + _SINGLE) / self._common
        beside = np.where(gaps & (self._common > 0), beside, 0.0)
        return np.asarray(np.square(np.sqrt(upper) + beside))

    def _measured(self, energy: FloatArray, which: int) -> FloatArray:
        """Return the measure of pairs; by their norm (0), or by a lower bound on it (1)."""
        measure, common = self._work.measure, self._common
        if measure.normalised:
            norm = self._norms[which]
            filled = np.full(energy.shape, np.inf if which else 0.0)
            filled[energy == 0] = 0.0
            return np.asarray(np.divide(energy, norm, out=filled, where=norm > 0))
        scale = common * (measure.regularisation or 1 / self._samples.total)
        if measure.regularisation and not which:
            # were all eigenvalues the same, NOCCO would divide by their sum with the ridge
            scale = scale + self._norms[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            made = np.where(common > 0, energy / scale, 0.0)
        if measure.regularisation and which:  # its matrix is below the identity
            made = np.minimum(made, float(np.square(self._work.target).sum()))
        return np.asarray(made)

    def p_score(self) -> FloatArray:
        """Return normal scores of coarse p-values: the larger, the smaller the p-value.

        The permutation null is taken as a gamma distribution with its mean and variance; its cube
        root is nearly normal (Wilson and Hilferty).
        """
        n, stack, later = self._common, self._stack, slice(self.start, None)
        target = self._work._maker.target
        diagonal, gram = np.square(target).sum(axis=0), target @ target.T
        traces, squares = stack.diagonals, np.square(stack.diagonals)
        trace = traces[self.first] @ traces[later].T - self._removed
        norm2, diagonal2 = np.square(self._norms[0]), squares[self.first] @ squares[later].T
        own = np.trace(gram), np.square(gram).sum(), np.square(diagonal).sum()
        turned: Any = 1.0
        pointed: Any = 1.0
        for tr, two, dd in ((trace, norm2, diagonal2), own):
            turned = turned * ((n - 1) * two - tr**2)
            pointed = pointed * (n * (n + 1) * dd - (n - 1) * (tr**2 + 2 * two))
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = 2 * turned / ((n - 1) ** 2 * (n + 1) * (n - 2))
            variance = variance + pointed / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
            mean = trace * own[0] / (n - 1)
            shape = mean**2 / np.maximum(variance, 1e-12 * mean**2)
            root = np.cbrt(self._with_target[0] / mean)
            made = (root - 1 + 1 / (9 * shape)) * 3 * np.sqrt(shape)
        return np.where(np.isfinite(made), made, -np.inf)


def in_memory(features: Features, members: IntArray) -> Features:
    """Return some features, numbered from 0, with their columns in memory."""
    columns = np.unique(np.concatenate([features.columns_of(int(k)) for k in members]))
    parts = [columns[start : start + _READ] for start in range(0, columns.size, _READ)]
    values = np.concatenate([features.source.block(part).T for part in parts])
    names = [features.source.name(int(j)) for j in columns]
    joint = {
        place: (features.name(k), np.searchsorted(columns, features.columns_of(k)))
        for place, k in enumerate(members.tolist())
        if k in features.joint
    }
    return replace(
        features,
        source=ArraySource(np.ascontiguousarray(values).T, names),
        first=np.searchsorted(columns, features.first[members]),
        which=None if features.which is None else features.which[members],
        joint=joint,
        interactions=(),
    )
