"""The one pass over the data: relevance of every feature.

The pass is threaded over blocks of columns. A block is read, standardised and related to the
target by compiled code that holds no lock. Nothing of size n x n or d x d exists, and a feature
costs O(n r^2); small integers are counted by level, and of sparse columns only what is stored
is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.dependence.gaps import RelateGaps
from hsiclasso.dependence.levels import RelateLevels
from hsiclasso.dependence.measures import Measure
from hsiclasso.dependence.relate import Found, Relate
from hsiclasso.dependence.stored import RelateStored
from hsiclasso.dependence.target import Target
from hsiclasso.dependence.threads import run_threaded
from hsiclasso.embedding import Delta, Embedding, Features

__all__ = ["Progress", "Scan", "scan_relevance"]

#: Called with the name of the stage, the number of units done and the number in all.
Progress = Callable[[str, int, int], None]

#: Entries of the table in one block, if they are numbers of eight bytes.
_BLOCK = 1 << 18
#: The same if they are of one byte, for which tables are made once per block.
_BYTES = 1 << 24


@dataclass(frozen=True)
class Scan:
    """What the pass found.

    Attributes
    ----------
    relevance : ndarray of shape (d,)
        <A_k, T> of every feature.
    target_norm2 : float
        Squared Frobenius norm of T.
    varies : ndarray of bool of shape (d,)
        False for constant features, whose relevance is 0.
    observed : ndarray of int of shape (d,)
        Number of samples on which each feature is not missing.
    error : float
        Largest bound, over the features, on the relative error of A_k in the Frobenius norm.
    """

    relevance: FloatArray
    target_norm2: float
    varies: BoolArray
    observed: IntArray
    error: float


def scan_relevance(
    features: Features,
    target: Target,
    measure: Measure,
    *,
    n_threads: int = 1,
    progress: Progress | None = None,
) -> Scan:
    """Compute the relevance of every feature in one pass.

    Parameters
    ----------
    features : Features
        The table, with the kernels of its features.
    target : Target
        Factored target.
    measure : Measure
        Dependence measure.
    n_threads : int
        Threads of the pass. Call it with BLAS limited to one thread.
    progress : callable, optional
        Told how far the pass is.

    Returns
    -------
    Scan
    """
    n, d = features.n_samples, features.n_features
    found = Found.nothing(d, n)
    scan_part = _Pass(features, target, measure)
    width = max(1, min(d, scan_part.entries // n))

    def scan_block(start: int) -> int:
        part = slice(start, min(d, start + width))
        scan_part(part, found.part(part))
        return part.stop - start

    def scan_vectors(feature: int) -> int:
        scan_part.relate.vectors(feature, found.part(slice(feature, feature + 1)))
        return 1

    def report(done: int) -> None:
        if progress is not None:
            progress("relevance", done, d)

    run_threaded(scan_block, range(0, d, width), n_threads, report)
    run_threaded(scan_vectors, list(features.joint), n_threads)
    found.put(features.absorbed, Found.nothing(features.absorbed.size, n))
    found.varies[features.absorbed] = True
    error = float(found.error.max(initial=0.0))
    return Scan(found.relevance, target.norm2, found.varies, found.observed, error)


class _Pass:
    """Reads runs of columns in the cheapest way, and relates them."""

    def __init__(self, features: Features, target: Target, measure: Measure) -> None:
        self.features = features
        self.relate = Relate(features, target, measure)
        first = slice(0, 1)
        # both keep the target's rows in a form of their own
        one_byte = features.source.levels(first) is not None
        sparse = features.source.stored(first) is not None and target.product is None
        self.levels = RelateLevels(self.relate) if one_byte else None
        self.stored = RelateStored(self.relate) if sparse else None
        counted = any(isinstance(e.kernel, Delta) for e in features.embeddings)
        useful = (counted or features.least_observed) and target.product is None
        self.gaps = RelateGaps(self.relate) if useful else None
        self.entries = _BYTES if one_byte else _BLOCK
        if sparse:  # so many stored ones
            size = features.n_samples * features.n_features
            self.entries = min(_BYTES, _BLOCK * size // max(1, features.source.n_stored))

    def __call__(self, part: slice, found: Found) -> None:
        """Fill in what is found for a run of columns."""
        features, source = self.features, self.features.source
        small = source.levels(part) if self.levels else None
        stored = source.stored(part) if self.stored else None
        for embedding, places in features.by_embedding(np.arange(part.start, part.stop)):
            left = places
            if self.levels and small is not None and self.levels.serves(embedding):
                left = self.levels(small, places, embedding, found)
            elif self.stored and stored is not None:
                left = self.stored(stored, places, embedding, found)
            if left.size:
                self._dense(part, left, embedding, found)

    def _dense(self, part: slice, left: IntArray, embedding: Embedding, found: Found) -> None:
        """Relate columns as blocks of numbers."""
        features = self.features
        whole = left.size == part.stop - part.start
        width = max(1, _BLOCK // features.n_samples)
        for start in range(0, left.size, width):
            some = left[start : start + width]
            first, last = part.start + int(some[0]), part.start + int(some[-1])
            columns = slice(first, last + 1) if whole else part.start + some
            block = features.source.block(columns).T
            found.put(some, (self.gaps or self.relate.block)(block, embedding))
