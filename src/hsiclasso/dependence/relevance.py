r"""The one pass over the table: relevance :math:`b_k = \langle A_k, T\rangle` of every feature.

A block of columns is read, brought to the scale of its kernel, expanded into terms and compared
with the target; what is found is returned, and nothing is shared between blocks. Columns reach
their kernel as values with weights. Where a column has few distinct values, as small integers and
most sparse columns do, only sums of the target's rows over the samples of each value are needed
(`hsiclasso.dependence.atoms`). A missing value is one without weight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.dependence.atoms import AtomColumns, Atoms, few_whole_numbers
from hsiclasso.dependence.columns import DenseColumns, JointColumns, TargetRows
from hsiclasso.dependence.features import Features, Scaled, fill_missing
from hsiclasso.dependence.statistic import Moments, relevance_and_error
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Kernel, Measure, Terms
from hsiclasso.kernels.factor import Refinement
from hsiclasso.kernels.markov import laplace_matrix
from hsiclasso.targets.matrix import DENSE, TargetMatrix

__all__ = ["Found", "RelevancePass"]

#: Columns in one of the forms in which they are stored.
AnyColumns = DenseColumns | AtomColumns

#: Entries of the table in one block, if they are numbers of eight bytes.
_BLOCK = 1 << 18
#: The same if they are of one byte, for which tables are made once per block.
_BYTES = 1 << 24
#: Blocks that a small table is cut into, if each has so many features.
_FEWEST, _NARROW = 4, 256
#: Fewest features in a block of many samples, for each of which some steps are in Python.
_LEAST = 4
#: Bounds that exceed the error so many times call for exact norms.
_HOPELESS = 100.0


@dataclass(frozen=True)
class Found:
    """What the pass finds for some features.

    Attributes
    ----------
    relevance : ndarray of shape (k, m)
        Inner products with each of m targets.
    error : ndarray of shape (k,)
        Bound on the relative error of A_k.
    varies : ndarray of bool of shape (k,)
    observed : ndarray of int of shape (k,)
        Samples on which a feature is not missing.
    """

    relevance: FloatArray
    error: FloatArray
    varies: BoolArray
    observed: IntArray

    @classmethod
    def nothing(cls, size: int, n_targets: int, n_samples: int) -> Found:
        """Return results to be filled in."""
        varies = np.zeros(size, dtype=bool)
        return cls(np.zeros((size, n_targets)), np.zeros(size), varies, np.full(size, n_samples))

    @classmethod
    def together(cls, parts: list[Found]) -> Found:
        """Join the results of blocks."""
        fields = ("relevance", "error", "varies", "observed")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in fields))


class RelevancePass:
    """Relates blocks of features to a target; an instance can be called from any thread.

    Parameters
    ----------
    features : Features
    target : TargetMatrix
    measure : Measure
    """

    def __init__(self, features: Features, target: TargetMatrix, measure: Measure) -> None:
        self.features = features
        self.target = target
        self.measure = measure
        self.samples = features.samples
        self.n_targets = len(getattr(target, "starts", (0,)))
        self._check_recursions()
        first = slice(0, 0)  # nothing is read
        self.small = target.factored and features.source.levels(first) is not None
        self.sparse = target.factored and features.source.stored(first) is not None

    def _check_recursions(self) -> None:
        """Raise if kernels that have recursions would need factors of full rank too large."""
        n = self.samples.n
        full = [k for k in self.features.kernels if k.has_recursion and not self._by_recursion(k)]
        if full and n > DENSE:
            raise InvalidInputError(
                "Laplace kernels of features need a matrix of all pairs of samples with NOCCO or "
                f"with affinities, and there are {n} samples: use HSICLasso and a target with "
                f"values, another kernel, or at most {DENSE} samples."
            )

    def _by_recursion(self, kernel: Kernel) -> bool:
        usable = self.target.knows_recursions and not self.measure.regularisation
        return kernel.has_recursion and usable

    @cached_property
    def rows(self) -> TargetRows:
        """The target's rows in the form in which blocks are multiplied with them."""
        return TargetRows.of(self.target, self.samples)

    @cached_property
    def atoms(self) -> Atoms:
        """The target's rows in the form in which they are summed by value."""
        return Atoms(self.rows, self.samples)

    @property
    def width(self) -> int:
        """Columns of numbers that are related at once."""
        return max(_LEAST, _BLOCK // self.samples.n)

    def blocks(self) -> list[slice]:
        """Cut the features into blocks that are read at once."""
        n, d = self.features.n_samples, self.features.n_features
        entries = _BYTES if self.small else _BLOCK
        if self.sparse:  # so many stored ones
            stored = max(1, self.features.source.n_stored)
            entries = min(_BYTES, _BLOCK * n * self.features.source.n_features // stored)
        # blocks of even size, and of small tables as many as keep a few threads busy
        n_blocks = max(-(-d // max(entries // n, _LEAST)), min(_FEWEST, d // _NARROW), 1)
        width = -(-d // n_blocks)
        return [slice(start, min(d, start + width)) for start in range(0, d, width)]

    def __call__(self, part: slice) -> Found:
        """Relate a block of features."""
        numbers = np.arange(part.start, part.stop)
        found = Found.nothing(numbers.size, self.n_targets, self.samples.n)
        try:
            for kernel, places in self.features.by_kernel(numbers):
                for columns, some in self._stored(kernel, numbers, places, found):
                    self._relate(kernel, columns, some, found)
        except InvalidInputError:
            # features of one kernel are read together: another may have the first bad column
            self.features.check_in_order(part)
            raise
        for feature in self.features.joint:
            if part.start <= feature < part.stop:
                self._joint(self.features.scaled_joint(feature), feature - part.start, found)
        return found

    def relate_values(
        self, kernel: Kernel, values: FloatArray, places: IntArray, found: Found
    ) -> None:
        """Relate columns (k, n) of numbers, which are overwritten, as features at some places."""
        for columns, some in self._numbers(kernel, values, places, found):
            self._relate(kernel, columns, some, found)

    def relate_scaled(self, scaled: list[Scaled]) -> Found:
        """Relate features of one column each that were read, scaled and seen to vary."""
        found = Found.nothing(len(scaled), self.n_targets, self.samples.n)
        columns = DenseColumns(
            np.concatenate([one.z for one in scaled]), self.samples.shares, scaled=True
        )
        found.varies[:] = True
        self._relate(scaled[0].kernel, columns, np.arange(len(scaled)), found)
        return found

    def _stored(
        self, kernel: Kernel, numbers: IntArray, places: IntArray, found: Found
    ) -> Iterator[tuple[AnyColumns, IntArray]]:
        """Yield columns in the cheapest form in which they are stored, with their places.

        `numbers` are the features of the block; the columns are those at `places` among them.
        """
        source, chosen = self.features.source, self.features.columns(numbers[places])
        rest = np.arange(places.size)
        if not places.size:
            return
        if self._by_recursion(kernel) or not (self.small or self.sparse):
            yield from self._dense(kernel, rest, places, found, numbers, None)
            return
        if self.small:
            codes: Any = source.levels(chosen)
            counted = self.atoms.of_integers(codes, always=kernel.full_rank)
        else:
            stored: Any = source.stored(chosen)
            codes = sparse.csc_array(
                (stored[2], stored[1], stored[0]), shape=(self.samples.n, places.size)
            )
            whole = math.isfinite(np.vdot(stored[2], stored[2]))
            counted = self.atoms.of_stored_integers(stored) if whole else []
        for which, columns in counted:
            yield columns, places[which]
            rest = np.setdiff1d(rest, which, assume_unique=True)
        if self.sparse and whole and not kernel.full_rank:
            for which, columns in self.atoms.of_stored(stored, rest):
                yield columns, places[rest[which]]
            rest = rest[self.atoms.too_long(stored, rest)]
        yield from self._dense(kernel, rest, places, found, numbers, codes)

    def _dense(
        self, kernel: Kernel, rest: IntArray, places: IntArray, found: Found, numbers: IntArray,
        table: Any,
    ) -> Iterator[tuple[AnyColumns, IntArray]]:  # fmt: skip
        """Yield some of the columns as blocks of numbers, read anew or from what was read."""
        for start in range(0, rest.size, self.width):
            some = rest[start : start + self.width]
            if table is None:
                values = self.features.block(numbers[places[some]])
            else:
                part = table[:, some]
                part = part.toarray() if sparse.issparse(part) else part
                values = np.ascontiguousarray(part.T, dtype=np.float64)
                self.features.check_values(values, self.features.first[numbers[places[some]]])
            yield from self._numbers(kernel, values, places[some], found)

    def _numbers(
        self, kernel: Kernel, values: FloatArray, places: IntArray, found: Found
    ) -> Iterator[tuple[AnyColumns, IntArray]]:
        """Yield columns (k, n) of numbers: few whole ones counted, incomplete ones apart."""
        known = ~np.isnan(values) if self.features.least_observed else None
        gaps: BoolArray = np.zeros(len(values), dtype=bool)
        if known is not None:
            gaps = np.asarray(~np.all(known, axis=1))
            found.observed[places] = known.sum(axis=1)
        few = np.zeros(len(values), dtype=bool)
        if self.target.factored and not self._by_recursion(kernel):
            # removed functions are orthonormal on all samples only, unless it is the constant
            counted = np.where(gaps, self.samples.covariates is None, kernel.full_rank)
            few[counted] = few_whole_numbers(values[counted])
        enough = found.observed[places] >= self.features.least_observed
        for which in (few & enough & gaps, few & ~gaps):
            if which.any():
                every = np.ones(np.count_nonzero(which), dtype=bool)
                for _, columns in self.atoms.of_numbers(values[which], every):
                    yield columns, places[which]
        complete = ~few & ~gaps
        if complete.any():
            some = values if complete.all() else values[complete]
            yield DenseColumns(some, self.samples.shares), places[complete]
        partial = ~few & gaps & enough
        if known is not None and partial.any():
            seen, some = known[partial], values[partial]
            fill_missing(some)
            yield DenseColumns(some, self.samples.shares * seen, seen), places[partial]

    def _joint(self, one: Scaled, place: int, found: Found) -> None:
        """Relate a feature of several columns."""
        found.observed[place] = np.count_nonzero(one.samples.shares)
        if one.varies:
            known = None if one.samples is self.samples else one.samples.shares > 0
            columns = JointColumns(one.z, one.samples.shares, known, scaled=True)
            self._relate(one.kernel, columns, np.array([place]), found)

    def _relate(self, kernel: Kernel, columns: AnyColumns, places: IntArray, found: Found) -> None:
        """Relate columns by their terms, longer ones for those that need them."""
        if columns.few:
            assert isinstance(columns, AtomColumns)
            varies, relevance = columns.relevance(kernel, self.measure, self.rows)
            found.varies[places], found.relevance[places] = varies, relevance
            return
        varying = np.flatnonzero(columns.scale(kernel))
        found.varies[places[varying]] = True
        if self._by_recursion(kernel):
            for j in varying.tolist():
                found.relevance[places[j]] = self._recursion(columns, j)
            return
        totals, error = columns.totals(), self.features.gram_error
        limits = (totals * columns.spread())[varying]
        refinement = Refinement(varying.size, self.measure.usual_share(error), error)
        for which, shares, attempt in refinement.rounds():
            # where a bound from the trace alone is hopeless, the norm itself is worth its price
            hopeless = refinement.errors[which] > _HOPELESS * error
            hopeless |= columns.small or attempt > 1
            for exact in np.unique(hopeless):
                some = which[hopeless == exact]
                allowed = (shares * limits[which])[hopeless == exact]
                for terms in columns.expand(kernel, varying[some], allowed):
                    total = totals[terms.columns]
                    observed = total / self.samples.total
                    scale = kernel.observed_scale(observed)
                    if self.target.factored:
                        moments = columns.moments(terms, self.rows, self._with_gram(terms, exact))
                        relevance, bounds = relevance_and_error(
                            moments.scaled(scale), self.measure, total, self.rows.signs,
                            self.rows.starts,
                        )  # fmt: skip
                    else:
                        relevance, bounds = self._by_products(columns, terms, scale)
                    relevance = (
                        relevance * np.asarray(self.measure.restoration(observed))[..., None]
                    )
                    found.relevance[places[terms.columns]] = relevance
                    found.error[places[terms.columns]] = bounds
            refinement.errors[which] = found.error[places[varying[which]]]

    def _with_gram(self, terms: Terms, exact: bool) -> bool:
        """Tell whether products of the terms with each other are needed."""
        # of terms that leave nothing out, only the norm tells what covariates explain wholly
        explained = self.samples.covariates is not None and not terms.left_out.any()
        return bool(exact or explained or self.measure.needs_gram)

    def _recursion(self, columns: Any, j: int) -> Any:
        """Relevance of a scaled column with a Laplace kernel, exactly."""
        samples = columns.samples_of(j, self.samples)
        matrix = laplace_matrix(columns.values[j], samples, samples.total / self.samples.total)
        # only covariates can leave nothing of a column that varies
        if samples.covariates is not None and not matrix.norm > 0:
            return 0.0
        return self.target.inner(self.measure.finish(matrix))

    def _by_products(self, columns: Any, terms: Terms, scale: Any) -> tuple[FloatArray, FloatArray]:
        """Relate columns to a target that is known by its products."""
        size = terms.columns.size
        scales = np.broadcast_to(scale, size)
        relevance, bound = np.zeros((size, 1)), np.zeros(size)
        for j in range(size):
            samples = columns.samples_of(int(terms.columns[j]), self.samples)
            phi = terms.rows(j) * np.sqrt(scales[j])
            trace = float(np.square(phi).sum(axis=0) @ samples.shares[0])
            rows = samples.project(phi)
            gram = (rows @ rows.T)[None]
            moments = Moments(
                np.zeros((1, len(rows), 0)), gram, np.array([trace - np.trace(gram[0])]),
                terms.left_out[[j]] * scales[j], np.array([trace]), terms.bulk_rank[[j]],
            )  # fmt: skip
            _, bound[j : j + 1] = relevance_and_error(
                moments, self.measure, np.array([samples.total]), np.zeros(0), (0,)
            )
            if np.trace(gram[0]) > moments.nothing()[0]:
                energy = self.target.energy(rows)
                norm = float(np.linalg.norm(gram)) if self.measure.normalised else 1.0
                relevance[j] = energy / norm
        return relevance, bound
