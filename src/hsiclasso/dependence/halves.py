r"""One target on many half-samples: features are expanded once for all of them.

Let :math:`\Phi` be the terms of a column on all samples, F the rows of the target, and let the
diagonal matrix D take the samples of a half H and C centre on them. The column's relevance on the
half is

.. math:: b_k^H = \|\Phi D C D F^\top\|_F^2 = \Big\|\sum_{i \in H} \phi_i f_i^\top
          - \frac1{|H|}\sum_{i \in H}\phi_i \sum_{i \in H} f_i^\top\Big\|_F^2 ,

because centring the target's rows on H is enough. A product of the terms with the rows on one half
of each pair is all that the pass has to compute: the sums over the other half are those over all
samples minus these. The pass is in single precision, and with short rows. It says which features
may matter on each half. For these `half_problem` finds the relevance, with all rows of the target,
and the redundancy.

Columns and target are on the scale of all samples: a column is standardised once, not on each half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hsiclasso._types import FloatArray, IntArray, SingleArray
from hsiclasso.dependence.budget import Budget
from hsiclasso.dependence.features import Features
from hsiclasso.dependence.half_problem import COLUMN_SHARE, HalfProblem, SharedTerms
from hsiclasso.dependence.relate import Progress
from hsiclasso.dependence.running import Threads
from hsiclasso.kernels import Factor, Kernel, Measure
from hsiclasso.targets.matrix import FactoredTarget, TargetMatrix
from hsiclasso.targets.split import SplitRows, split_rows

__all__ = [
    "RelatedHalves",
    "can_share_halves",
    "least_share",
    "relate_halves",
]

#: Share of the trace of the target that the pass leaves out, and the relative error of the target's
#: rows where they are split.
_TARGET_SHARE, _SPLIT_ERROR = 1e-2, 1e-3
#: What the pass leaves out of the relevance of a feature is about these shares of that of an
#: unrelated one. Added are a share of its own, and a larger one of the mean over all features.
_MARGIN, _NOISE = 0.01, 0.04
#: Values of terms in one block.
_BLOCK = 1 << 19
#: Most labels of a column.
_MOST_LABELS = 16


def can_share_halves(features: Features, target: TargetMatrix, measure: Measure) -> bool:
    """Return whether half-samples can share a pass.

    The measure must be HSIC, and the target a sum of rows. There must be no missing values, no
    covariates, no weights, no joint features, and no kernel that is used without terms.
    """
    return (
        not measure.needs_gram
        and isinstance(target, FactoredTarget)
        and len(target.starts) == 1
        and bool((target.signs > 0).all())
        and features.samples.plain
        and not features.joint
        and not features.least_observed
        and not any(kernel.has_recursion for kernel in features.kernels)
        and _has_few_labels(features)
    )


def least_share(target: FactoredTarget, parts: Sequence[IntArray]) -> float:
    r"""Return the smallest :math:`2\|T_H\|_F / \|T\|_F` of some halves H.

    It is about 1, and much smaller if what varies in the target is a few far values that a half
    does not have: then the scale of all samples does not suit that half.
    """
    whole, _ = target.whole
    norms = []
    for part in parts:
        rows = whole[:, part]
        rows = rows - rows.mean(axis=1, keepdims=True)
        norms.append(float(np.linalg.norm(rows @ rows.T)))
    return 2 * min(norms) / float(np.sqrt(target.norm2))


def _has_few_labels(features: Features) -> bool:
    """Return whether no kernel needs many terms, one for each value of a column."""
    for number, kernel in enumerate(features.kernels):
        if not kernel.full_rank or features.source.uniform_kind == "bool":
            continue
        which = features.which
        mine = features.first if which is None else features.first[which == number]
        for column in mine.tolist():
            labels = features.source.categories(column)
            if features.source.kind(column) != "bool" and (
                labels is None or len(labels) > _MOST_LABELS
            ):
                return False
    return True


@dataclass(frozen=True)
class _Rows:
    """Rows of a target and the halves they are summed over, in single precision."""

    #: Samples on which the rows are not zero.
    samples: slice | IntArray
    #: Rows times the first half of each pair, and their indicators last, shape (s, b * (r + 1)).
    firsts: SingleArray
    #: Rows, and ones last, shape (s, r + 1).
    whole: SingleArray
    #: Rows, and ones last, of the sample that is left by each pair, shape (b, r + 1).
    left: SingleArray
    #: Means on each half, shape (2b, r).
    means: SingleArray


class Halves:
    """Pairs of halves, and the target's rows on them.

    Parameters
    ----------
    target : FactoredTarget
    parts : sequence of ndarray
        Rows of the halves. Two that follow each other have no sample in common and leave at most
        one.
    """

    def __init__(self, target: FactoredTarget, parts: Sequence[IntArray]) -> None:
        self.parts = parts
        whole, _ = target.whole
        #: The target's rows (r, n).
        self.target = whole
        n = whole.shape[1]
        self.inside = np.zeros((len(parts), n), dtype=bool)
        for part, row in zip(parts, self.inside, strict=True):
            row[part] = True
        missed = ~(self.inside[::2] | self.inside[1::2])
        if (self.inside[::2] & self.inside[1::2]).any() or missed.sum(axis=1).max() > 1:
            raise ValueError("halves of a pair share a sample, or leave more than one")
        #: The sample that each pair leaves, shape (b,); None if there is none.
        self.left: IntArray | None = np.argmax(missed, axis=1) if missed.any() else None
        short = _short(target)
        self.rows = [self._gather(short.dense, slice(None))]
        if short.offset.size:
            self.rows.append(self._gather(short.sparse, short.tail))

    def _gather(self, rows: FloatArray, samples: slice | IntArray) -> _Rows:
        """Multiply rows (r, s) that are zero on all but some samples with the halves."""
        ones = np.concatenate([rows, np.ones((1, rows.shape[1]))]).T
        firsts = self.inside[::2, samples].T[:, :, None] * ones[:, None, :]
        sums = self.inside[:, samples].astype(np.float64) @ rows.T
        means = sums / np.array([part.size for part in self.parts])[:, None]
        left = np.zeros((0, 0))
        if self.left is not None:
            everywhere = np.zeros((self.inside.shape[1], ones.shape[1]))
            everywhere[samples] = ones
            everywhere[:, -1] = 1.0
            left = everywhere[self.left]
        made = (firsts.reshape(len(firsts), -1), ones, left, means)
        return _Rows(samples, *(np.ascontiguousarray(a, dtype=np.float32) for a in made))


def _short(target: FactoredTarget) -> SplitRows:
    """Return the leading rows of a target, split where that helps."""
    eigenvalues, vectors = np.linalg.eigh(target.rows.gram())
    eigenvalues, vectors = np.maximum(eigenvalues[::-1], 0.0), vectors[:, ::-1]
    shares = np.cumsum(eigenvalues) / eigenvalues.sum()
    rank = 1 + int(np.argmax(shares >= 1 - _TARGET_SHARE))
    main = target.rows.combined(vectors[:, :rank].T)
    return split_rows(Factor(main, eigenvalues[:rank], 0.0), _SPLIT_ERROR, 1)


class _HalvesPass:
    """Estimates the relevance of blocks of features on all halves; can be called from any thread.

    Returns an array (k, 2b) for each block.
    """

    def __init__(self, features: Features, halves: Halves) -> None:
        self.features = features
        self.halves = halves

    def blocks(self) -> list[slice]:
        """Cut the features into blocks."""
        n, d = self.features.n_samples, self.features.n_features
        width = max(1, min(-(-d // 4), _BLOCK // (12 * n)))
        return [slice(start, min(d, start + width)) for start in range(0, d, width)]

    def __call__(self, part: slice) -> SingleArray:
        """Relate a block of features."""
        numbers = np.arange(part.start, part.stop)
        out = np.zeros((numbers.size, len(self.halves.parts)))
        for kernel, places in self.features.by_kernel(numbers):
            if places.size:
                values = np.array(self.features.block(numbers[places]), order="C")
                self._relate(kernel, values, places, out)
        return out.astype(np.float32)

    def _relate(
        self, kernel: Kernel, values: FloatArray, places: IntArray, out: FloatArray
    ) -> None:
        """Write the relevance of columns (k, n) of numbers, which are overwritten."""
        shares = self.features.samples.shares
        varying = np.flatnonzero(kernel.scale(values, shares).factor > 0)
        allowed = np.full(varying.size, COLUMN_SHARE * self.features.samples.total)
        for terms in kernel.expand(values, varying, allowed, shares):
            step = max(1, _BLOCK // (terms.n_rows * terms.n_samples))
            for start in range(0, terms.columns.size, step):
                which = slice(start, start + step)
                phi = terms.on(which, slice(None)).astype(np.float32)
                found = self._energies(phi)
                out[places[terms.columns[which]]] = found

    def _energies(self, phi: SingleArray) -> FloatArray:
        """Return the relevance (k, 2b) of columns by their terms (k, N, n)."""
        from hsiclasso.dependence._halves_loops import energies_of_halves

        k, height, n = phi.shape
        halves = self.halves
        b = len(halves.parts) // 2
        out = np.zeros((k, 2 * b))
        ones: SingleArray = np.empty(0, dtype=np.float32)
        flat = phi.reshape(-1, n)
        for rows in halves.rows:
            some = flat if isinstance(rows.samples, slice) else flat[:, rows.samples]
            cross = (some @ rows.firsts).reshape(k, height, b, -1)
            whole = (some @ rows.whole).reshape(k, height, -1)
            if not ones.size:  # the first rows are those on all samples
                ones = np.ascontiguousarray(cross[..., -1])
                every = np.ascontiguousarray(whole[..., -1])
            whole[..., -1] = every
            left = np.zeros((0, 0, 0, 0), dtype=np.float32)
            if halves.left is not None:
                left = phi[:, :, halves.left, None] * rows.left
            energies_of_halves(cross, ones, rows.means, whole, left, out)
        return out


class RelatedHalves:
    """Relevance of every feature on many halves, and what is needed for the redundancy.

    Attributes
    ----------
    estimates : ndarray of shape (d, 2b)
        Relevance on each half, without what short rows leave out.
    """

    def __init__(
        self, terms: SharedTerms, halves: Halves, estimates: SingleArray, n_exact: int
    ) -> None:
        self.estimates = estimates
        self._terms = terms
        self._halves = halves
        self._n_exact = n_exact = min(n_exact, len(estimates))
        # most terms that will be needed are made at once, which takes less time
        top = [np.argpartition(-found, n_exact - 1)[:n_exact] for found in estimates.T]
        terms.prepare(np.unique(np.concatenate(top)))

    def __len__(self) -> int:
        return len(self._halves.parts)

    def problem(self, number: int) -> HalfProblem:
        """Return the problem of one half."""
        rows, found = self._halves.parts[number], self.estimates[:, number]
        noise = _NOISE * float(found.mean(dtype=np.float64))
        bounds = np.where(found > 0, (1 + _MARGIN) * found + noise, 0.0)
        return HalfProblem(self._terms, self._halves.target, rows, bounds, self._n_exact)


def relate_halves(
    features: Features,
    target: FactoredTarget,
    parts: Sequence[IntArray],
    *,
    n_exact: int,
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> RelatedHalves:
    """Relate every feature to a target on many half-samples, in one pass over the table.

    Parameters
    ----------
    features : Features
        The table, on all samples; see `can_share_halves`.
    target : FactoredTarget
        Matrix of the target on all samples.
    parts : sequence of ndarray
        Rows of the halves, in complementary pairs.
    n_exact : int
        Features of each half whose exact relevance is probably needed.
    budget : Budget, optional
        Threads, and memory for factors.
    progress : callable, optional
        Called after every block of the pass.

    Returns
    -------
    RelatedHalves
        A problem for each half.
    """
    budget = budget or Budget()
    halves = Halves(target, parts)
    work = _HalvesPass(features, halves)
    blocks, found = work.blocks(), []
    for part, result in zip(blocks, Threads(budget.n_threads).map(work, blocks), strict=True):
        found.append(result)
        if progress is not None:
            progress("relevance", part.stop, features.n_features)
    terms = SharedTerms(features, budget.factors)
    return RelatedHalves(terms, halves, np.concatenate(found), n_exact)
