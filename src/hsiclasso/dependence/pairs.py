"""All pairs of features against a target: the best of them, and what can be said of the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hsiclasso._memory import free_bytes, in_words
from hsiclasso._types import IntArray
from hsiclasso.dependence.features import Features
from hsiclasso.dependence.pair_rows import RowMaker, positive_rows
from hsiclasso.dependence.pair_scan import PairScan, in_memory
from hsiclasso.dependence.pairs_found import Found, PairOptions, Pairs
from hsiclasso.dependence.relate import Progress
from hsiclasso.dependence.running import Runner, Threads
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Measure
from hsiclasso.targets.matrix import TargetMatrix

__all__ = ["Coverage", "Found", "PairOptions", "Pairs", "certify", "rank_of_scan", "scan_pairs"]

#: Least and most rows of a feature, and the floating-point operations that a scan may take with
#: more than the least: less than a minute on two cores.
_LEAST_RANK, _MOST_RANK, _OPERATIONS = 3, 10, 3e12
#: Products for the norm of a pair, times the square of the number of rows; and the share of the
#: trace that rows times those of the target usually leave out.
_NORM_PRODUCTS, _USUAL_SHARE = 3, 1e-3
#: Features of which the number of rows is estimated.
_SOME = 32
#: Most pairs that `certify` returns as further candidates.
_MOST_CANDIDATES = 4000


def scan_pairs(
    features: Features,
    target: TargetMatrix,
    measure: Measure,
    pairs: Pairs | None = None,
    options: PairOptions | None = None,
    *,
    runner: Runner | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Found:
    """Scan pairs of features for those on which the target may depend jointly.

    Parameters
    ----------
    features : Features
        Interactions among them are left out.
    target : TargetMatrix
        Matrix of the target, as for `relate`.
    measure : Measure
    pairs : Pairs, optional
        Which pairs: ``Pairs.of(features)`` (all pairs, the default), ``Pairs.of(d, first=[...])``
        (at least one member among these), ``Pairs.between(left, right)``.
    options : PairOptions, optional
        How many are kept, how many rows each feature has, what pairs are ordered by.
    runner : Runner, optional
        Runs the blocks of pairs: threads, a cluster, a checkpoint around one of them.
    limit : int, optional
        Bytes that the rows of all features may take; by default half of the memory that is free.
    progress : callable, optional
        Called with ``"pairs"``, the pairs that are done and all pairs.

    Returns
    -------
    Found
        The best pairs, and an upper bound on the relevance of all others.

    Examples
    --------
    >>> from hsiclasso.data import as_source
    >>> from hsiclasso.kernels import HSIC, Gaussian, Samples
    >>> from hsiclasso.targets import Real
    >>> X = np.random.default_rng(0).normal(size=(200, 20))
    >>> features = Features(as_source(X), (Gaussian(),), Samples(200), np.arange(20))
    >>> y = Real().prepare(np.sign(X[:, 3] * X[:, 8]), 200)
    >>> target = y.data.matrix(HSIC(), features.samples, error=1e-6, n_features=20)
    >>> scan_pairs(features, target, HSIC()).pairs[0]
    array([3, 8])
    """
    runner, features = runner or Threads(), features.singles
    pairs = pairs or Pairs.of(features.n_features)
    options = options or PairOptions()
    if getattr(runner, "by_chunks", False) and features.source.from_dask:
        # workers could not compute a collection: they get the columns, which are less than rows
        members = pairs.members
        features = in_memory(features, members)
        own = replace(pairs, members=np.arange(members.size))
        found = scan_pairs(
            features, target, measure, own, options, runner=runner, limit=limit, progress=progress
        )
        return replace(found, pairs=np.sort(members[found.pairs], axis=1))
    rows = positive_rows(target, features.samples)
    maker = RowMaker(features, rows)
    heights, width = _sizes(maker, pairs.members)
    if options.rank is None:
        by_norm = measure.needs_gram or options.order == "p_value"
        rank = rank_of_scan(features.n_samples, pairs.number, heights, width, normalised=by_norm)
        options = replace(options, rank=rank)
    _check_memory(features, pairs, options, heights, limit)
    work = PairScan(features, rows, measure, pairs, options, getattr(runner, "n_threads", 1))
    return run(work, runner, progress)


def run(work: PairScan, runner: Runner, progress: Progress | None = None) -> Found:
    """Score all pieces of a scan; only the best pairs so far are kept."""
    blocks, found = work.blocks(), None
    for block, part in zip(blocks, runner.map(work, blocks), strict=True):
        found = Found.together([part] if found is None else [found, part], work.options)
        if progress is not None:
            progress("pairs", work.pairs.before(block.stop), work.pairs.number)
    assert found is not None
    return found


def rank_of_scan(
    n_samples: int, n_pairs: float, heights: IntArray, width: float, *, normalised: bool
) -> int:
    """Return how many rows of each feature a scan of so many pairs should take.

    Parameters
    ----------
    n_samples : int
    n_pairs : float
    heights : ndarray of int
        Numbers of rows that some of the features have: genotypes have two.
    width : float
        Mean number of rows of a feature's matrix times the target's.
    normalised : bool
        Whether norms are needed too.

    Examples
    --------
    >>> smooth = np.full(10, 12)
    >>> rank_of_scan(500, 1e6, smooth, 30, normalised=False)
    10
    >>> rank_of_scan(500, 1e8, smooth, 30, normalised=False)
    3
    >>> rank_of_scan(500, 1e8, np.full(10, 2), 10, normalised=False)
    10
    """
    for rank in range(_MOST_RANK, _LEAST_RANK, -1):
        rows = float(np.minimum(heights, rank).mean())
        products = rows * width + (_NORM_PRODUCTS * rows**2 if normalised else 0.0)
        if 2.0 * n_samples * n_pairs * products <= _OPERATIONS:
            return rank
    return _LEAST_RANK


def _sizes(maker: RowMaker, members: IntArray) -> tuple[IntArray, float]:
    """Return the numbers of rows of some features, and the mean number of rows with the target."""
    places = np.unique(np.linspace(0, members.size - 1, min(members.size, _SOME)).astype(int))
    some = np.sort(members[places])
    heights = np.array([len(factor.rows) for factor in maker.factors(some)[0]])
    rows, _ = maker.times_target(some, _USUAL_SHARE)
    return heights, float(np.mean([len(one) for one in rows]))


def _check_memory(
    features: Features, pairs: Pairs, options: PairOptions, heights: IntArray, limit: int | None
) -> None:
    """Raise if the rows of all features need more memory than is allowed."""
    limit = free_bytes() // 2 if limit is None else limit
    by_p = options.order == "p_value"
    each = 4.0 * features.n_samples * (np.minimum(heights, options.rank or 1).mean() + by_p)
    if not features.source.in_memory:
        each += 8.0 * features.n_samples
    needed = pairs.members.size * each
    if needed > limit:
        most = int(limit // each)
        raise InvalidInputError(
            f"interactions: all pairs of {pairs.members.size:,} features need {in_words(needed)} "
            f"of memory, and {in_words(limit)} may be used for them: pass "
            f"Interactions(among={most}), which takes pairs of the {most:,} most relevant "
            "features, name groups of features, or allow more memory."
        )


@dataclass(frozen=True)
class Coverage:
    """What is known of the pairs that are not on a path."""

    #: Pairs that were scanned.
    n_pairs: int
    #: Most rows of each feature in the scan.
    rank: int
    #: Pairs that might be on the path, and were not candidates.
    n_open: int
    #: Further candidates, with bounds; none if there are too many.
    candidates: Found | None = None

    @property
    def complete(self) -> bool:
        """Whether no other pair can be on the path."""
        return self.n_open == 0

    @property
    def message(self) -> str:
        """What is known, in words.

        Examples
        --------
        >>> Coverage(4950, 3, 0).message
        'complete over all 4,950 pairs'
        >>> Coverage(4950, 3, 17).message
        'complete at rank 3: 17 of 4,950 pairs could not be excluded'
        """
        if self.complete:
            return f"complete over all {self.n_pairs:,} pairs"
        return (
            f"complete at rank {self.rank}: {self.n_open:,} of {self.n_pairs:,} pairs could not "
            "be excluded"
        )


def certify(
    features: Features,
    target: TargetMatrix,
    measure: Measure,
    found: Found,
    alpha: float,
    pairs: Pairs | None = None,
    *,
    most: int = _MOST_CANDIDATES,
    **scanning: Any,
) -> Coverage:
    """Find the pairs that might be on a path which ends at a penalty, but were not candidates.

    A pair whose upper bound is at most the penalty cannot be on the path. If bounds of others
    exceed it, a second scan counts them.

    Parameters
    ----------
    features, target, measure, pairs
        As for the scan.
    found : Found
        What it found; all of these pairs were candidates of the path.
    alpha : float
        Penalty at which the path has ended.
    most : int
        If no more pairs than this might be on the path, they are returned as candidates: the path
        must be solved again with them.
    **scanning
        As for `scan_pairs`.

    Returns
    -------
    Coverage
    """
    if found.excludes(alpha):
        return Coverage(found.n_pairs, found.rank, 0)
    options = PairOptions(most + len(found.pairs), found.rank, above=alpha)
    again = scan_pairs(features, target, measure, pairs, options, **scanning)
    tried = set(map(tuple, found.pairs.tolist()))
    fresh = np.array([pair not in tried for pair in map(tuple, again.pairs.tolist())], dtype=bool)
    n_known = int(np.count_nonzero(found.upper > alpha))
    n_open = again.n_above - n_known
    if n_open > most:
        return Coverage(found.n_pairs, found.rank, n_open)
    more = replace(
        again, pairs=again.pairs[fresh], score=again.score[fresh], upper=again.upper[fresh]
    )
    return Coverage(found.n_pairs, found.rank, n_open, more)
