"""The pass by chunks of columns, which are loaded, related and forgotten.

It serves tables that are not in memory, and runners whose workers share no memory. A chunk is read
once. Its features are related as those of a table in memory are, and the columns that may be
selected are returned with the results. Reading them again is therefore the exception. The result of
a chunk is a value: who reads the chunks, and in which order, changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data import Source
from hsiclasso.data.sources import ArraySource
from hsiclasso.data.stored import HeldColumns, Outline
from hsiclasso.dependence.budget import Budget
from hsiclasso.dependence.features import Features
from hsiclasso.dependence.relevance import PassResult, RelevancePass
from hsiclasso.dependence.screening import Screened, ScreeningPass
from hsiclasso.dependence.tabulated import TabulatedPass

__all__ = ["ChunkResult", "Pass", "StreamedPass"]

#: A pass over features that are in memory.
Pass = RelevancePass | ScreeningPass | TabulatedPass

#: Least number of columns that are held, and their number for each relevance that will be exact.
_LEAST_HELD, _HELD_EACH = 256, 2


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

    def to_arrays(self) -> dict[str, Any]:
        """Return all arrays by name, for a file."""
        result = self.found.result
        arrays = {field.name: getattr(result, field.name) for field in fields(result)}
        arrays |= {"bound": self.found.upper, "exact": self.found.exact}
        return arrays | {"columns": self.columns, "upper": self.upper, "values": self.values}

    def above(self, least: float) -> Self:
        """Return the result with only those columns whose bounds reach a value."""
        best = self.upper >= least
        if best.all():
            return self
        return replace(
            self, columns=self.columns[best], upper=self.upper[best], values=self.values[best]
        )

    @classmethod
    def from_arrays(cls, arrays: Any) -> Self:
        """Return the result that `to_arrays` was called on."""
        result = PassResult(*(arrays[field.name] for field in fields(PassResult)))
        found = Screened(result, arrays["bound"], arrays["exact"])
        return cls(found, arrays["columns"], arrays["upper"], arrays["values"])


class StreamedPass:
    """Relates the features of chunks of columns; an instance can be used by any thread.

    Parameters
    ----------
    work : RelevancePass, ScreeningPass or TabulatedPass
        Relates features that are in memory.
    stage : str
        Name of the pass, for a checkpoint.
    n_exact : int
        Number of features whose exact relevance is probably needed; 0 if no column will be.
    budget : Budget
        Sizes of a chunk and of the columns that are held.
    """

    result_type: ClassVar[type[ChunkResult]] = ChunkResult

    def __init__(self, work: Pass, stage: str, n_exact: int, budget: Budget) -> None:
        self.stage = stage
        #: What results depend on, beside the table, the target and the settings.
        self.variant = isinstance(work, ScreeningPass)
        self.features = work.features
        self._work = work
        self._chunk_bytes = budget.chunk
        most = budget.held // (8 * self.features.n_samples)
        #: Upper bound on the relevance below which no column is worth holding any more.
        self.least_held = -np.inf
        #: Most columns that are held.
        self.n_held = min(most, max(_LEAST_HELD, _HELD_EACH * n_exact)) if n_exact else 0
        #: Values of the columns that are held, and upper bounds on their relevance.
        self._held: dict[int, FloatArray] = {}
        self._bounds: dict[int, float] = {}
        #: Largest bounds of the chunks that were noted.
        self._noted = np.zeros(0)

    def blocks(self) -> list[slice]:
        """Cut the features into chunks, each of which is read at once."""
        chunks = self.features.source.chunks(self._chunk_bytes)
        ends = np.searchsorted(self.features.first, [chunk.stop for chunk in chunks]).tolist()
        parts = (slice(*ends_of) for ends_of in zip([0, *ends], ends, strict=False))
        return [part for part in parts if part.start < part.stop]

    def __call__(self, part: slice) -> ChunkResult:
        """Load a chunk and relate its features."""
        return self.relate(part, self.load(part))

    def load(self, part: slice) -> Source:
        """Read the columns of a chunk, from the first to the last of its features."""
        return self.features.source.load(self.columns(part))

    def columns(self, part: slice) -> slice:
        """Return the columns that are loaded for a chunk."""
        first = self.features.first[part]
        return slice(int(first[0]), int(first[-1]) + 1)

    def relate(
        self,
        part: slice,
        loaded: Source,
        least_held: float | None = None,
        most_held: int | None = None,
    ) -> ChunkResult:
        """Relate the features of a chunk that is in memory.

        Of its columns, those whose bounds exceed `least_held` are returned, by default what is
        known from earlier chunks; and of these the best `most_held`, by default all that fit.
        """
        least = self.least_held if least_held is None else least_held
        features, single = self.features, np.arange(part.start, part.stop)
        joint = [k for k in features.joint if part.start <= k < part.stop]
        if joint:
            single = np.setdiff1d(single, joint, assume_unique=True)
        own = self._on(part, single, loaded)
        found = [self._relate(own)] if single.size else []
        found += [self._relate(self._joint(k)) for k in joint]
        together = Screened.together(found)
        if joint:
            together = together.take(np.argsort(np.append(single, joint), kind="stable"))
        upper = together.upper[single - part.start]
        held = np.flatnonzero(upper > least)
        best = np.argsort(-upper[held], kind="stable")
        held = held[best[: self.n_held if most_held is None else min(self.n_held, most_held)]]
        held.sort()
        values = own.source.block(own.first[held]).T
        return ChunkResult(together, features.first[single[held]], upper[held], values)

    def _on(self, part: slice, single: IntArray, loaded: Source) -> Features:
        """Return the features of one column of a chunk that is in memory."""
        features = self.features
        return replace(
            features,
            source=loaded,
            first=features.first[single] - self.columns(part).start,
            which=None if features.which is None else features.which[single],
            joint={},
        )

    def _joint(self, feature: int) -> Features:
        """Read a feature of several columns, which other chunks may have."""
        features, columns = self.features, self.features.columns_of(feature)
        names = [features.source.name(int(j)) for j in columns]
        return replace(
            features,
            source=ArraySource(features.source.block(columns), names),
            first=np.zeros(1, dtype=np.int64),
            which=None if features.which is None else features.which[[feature]],
            joint={0: (features.name(feature), np.arange(columns.size))},
        )

    def _relate(self, own: Features) -> Screened:
        work = self._work.on(own)
        return Screened.together([Screened.of(work(block)) for block in work.blocks()])

    @property
    def known(self) -> float:
        """What chunks that are related elsewhere should know."""
        return self.least_held

    def words(self, part: slice) -> str:
        """Name a chunk, or several."""
        first, last = (self.features.name(k) for k in (part.start, part.stop - 1))
        return f"The chunk from feature {first!r} to {last!r}"

    def several(self, parts: Sequence[slice], known: float) -> list[ChunkResult]:
        """Relate chunks on a worker; return the columns that it and the client know to be good."""
        results: list[ChunkResult] = []
        for part in parts:
            results.append(self.relate(part, self.load(part), max(self.least_held, known)))
        # a worker carries out many tasks with the same pass, which remembers what was found
        self.note(results, known)
        return [result.above(self.least_held) for result in results]

    def note(self, found: Iterable[ChunkResult], least_held: float) -> None:
        """Raise `least_held` by what some chunks returned, and by what others know already."""
        bounds = np.concatenate([self._noted, *(result.upper for result in found)])
        if 0 < self.n_held <= bounds.size:
            bounds = np.partition(bounds, -self.n_held)[-self.n_held :]
            least_held = max(least_held, float(bounds[0]))
        self._noted, self.least_held = bounds, max(self.least_held, least_held)

    def without_source(self) -> StreamedPass:
        """Return the pass without the table, for workers that get their chunks in another way."""
        made = copy(self)
        made.features = replace(self.features, source=Outline(self.features.source))
        made._work = self._work.on(made.features)
        return made

    def hold(self, chunk: ChunkResult) -> Screened:
        """Hold the best of the columns so far and of a chunk; return the results of the chunk."""
        columns = chunk.columns.tolist()
        values = dict(zip(columns, chunk.values, strict=True))
        bounds = self._bounds | dict(zip(columns, chunk.upper.tolist(), strict=True))
        # forget the others at once, so that memory does not grow with the table
        best = sorted(bounds, key=bounds.__getitem__, reverse=True)[: self.n_held]
        self._held = {j: self._held[j] if j in self._held else values[j].copy() for j in best}
        self._bounds = {j: bounds[j] for j in best}
        if best and len(best) == self.n_held:
            self.least_held = bounds[best[-1]]
        return chunk.found

    def held(self) -> Features:
        """Return the features with the columns that are held."""
        return replace(self.features, source=HeldColumns(self.features.source, self._held))
