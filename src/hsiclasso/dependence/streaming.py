"""The pass over a table that is not in memory: chunks of columns are read, related and forgotten.

A chunk is read once. Its features are related as those of a table in memory are, and the columns
that may be selected are returned with the results. Reading them again is therefore the exception.
The result of a chunk is a value: who reads the chunks, and in which order, changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data.stored import HeldColumns
from hsiclasso.dependence.features import Features
from hsiclasso.dependence.relevance import RelevancePass
from hsiclasso.dependence.screening import Screened, ScreeningPass

__all__ = ["ChunkResult", "StreamedPass", "can_be_streamed"]

#: Bytes of a chunk.
_CHUNK_BYTES = 32 * 2**20
#: Number of columns that are held, at least and for each relevance that will be exact.
_LEAST_HELD, _HELD_EACH = 256, 2
#: Largest size of the columns that are held, in bytes.
_HELD_BYTES = 256 * 2**20


@dataclass(frozen=True)
class ChunkResult:
    """Results of one chunk of columns."""

    found: Screened
    #: Columns of the table that are held, in ascending order, shape (h,).
    columns: IntArray
    #: Upper bounds on their relevance, shape (h,).
    upper: FloatArray
    #: Their values, shape (h, n).
    values: FloatArray


def can_be_streamed(features: Features) -> bool:
    """Return whether the table is not in memory and every feature has one column."""
    return not features.source.in_memory and not features.joint


class StreamedPass:
    """Relates the features of chunks of columns; an instance can be called from any thread.

    Parameters
    ----------
    work : RelevancePass or ScreeningPass
        Relates features that are in memory.
    n_exact : int
        Number of features whose exact relevance is probably needed.
    """

    def __init__(self, work: RelevancePass | ScreeningPass, n_exact: int) -> None:
        self.features = work.features
        self._work = work
        most = _HELD_BYTES // (8 * self.features.n_samples)
        self._n_held = max(1, min(most, max(_LEAST_HELD, _HELD_EACH * n_exact)))

    def blocks(self) -> list[slice]:
        """Cut the features into chunks, each of which is read at once."""
        chunks = self.features.source.chunks(_CHUNK_BYTES)
        ends = np.searchsorted(self.features.first, [chunk.stop for chunk in chunks]).tolist()
        parts = (slice(*ends_of) for ends_of in zip([0, *ends], ends, strict=False))
        return [part for part in parts if part.start < part.stop]

    def __call__(self, part: slice) -> ChunkResult:
        """Read a chunk and relate its features."""
        features, first = self.features, self.features.first[part]
        begin = int(first[0])
        own = replace(
            features,
            source=features.source.load(slice(begin, int(first[-1]) + 1)),
            first=first - begin,
            which=None if features.which is None else features.which[part],
        )
        work = self._work.on(own)
        found = Screened.together([Screened.of(work(block)) for block in work.blocks()])
        held = np.sort(np.argsort(-found.upper, kind="stable")[: self._n_held])
        return ChunkResult(
            found, first[held], found.upper[held], own.source.block(own.first[held]).T
        )

    def together(self, parts: Iterable[ChunkResult]) -> tuple[Screened, Features]:
        """Return the results of all chunks, and the features with the columns that are held."""
        found: list[Screened] = []
        bounds: dict[int, float] = {}
        held: dict[int, FloatArray] = {}
        for part in parts:
            found.append(part.found)
            columns = part.columns.tolist()
            values = dict(zip(columns, part.values, strict=True))
            bounds |= dict(zip(columns, part.upper.tolist(), strict=True))
            # forget the others at once, so that memory does not grow with the table
            best = sorted(bounds, key=bounds.__getitem__, reverse=True)[: self._n_held]
            held = {j: held[j] if j in held else values[j].copy() for j in best}
            bounds = {j: bounds[j] for j in best}
        source = HeldColumns(self.features.source, held)
        return Screened.together(found), replace(self.features, source=source)
