r"""The one pass over the table: relevance :math:`b_k = \langle A_k, T\rangle` of every feature.

The pass reads a block of columns, brings it to the scale of its kernel, expands it into terms and
multiplies the terms with the target's rows. It returns a result for each block; blocks share
nothing. Kernels receive columns as values with weights, and a missing value has weight 0. Columns
of small integers and most sparse columns have few distinct values. They need only the sums of the
target's rows over the samples of each value (`hsiclasso.dependence.atoms`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

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
from hsiclasso.targets.matrix import DENSE, FactoredTarget, TargetMatrix

__all__ = ["PassResult", "RelevancePass"]

#: Columns in one of their two forms.
AnyColumns = DenseColumns | AtomColumns

#: Number of entries of the table in one block of eight-byte numbers.
_BLOCK = 1 << 18
#: Entries that a column counts for at least: choosing its terms needs as many numbers.
_LEAST_ENTRIES = 64
#: The same for one-byte integers. It is larger, because some tables are computed for every block.
_INTEGER_BLOCK = 1 << 24
#: Largest number of samples whose genotypes are decoded at once, if a block is as wide as usual.
_DECODED = 1 << 14
#: A small table is cut into this many blocks ...
_MIN_BLOCKS = 4
#: ... as long as each block has at least this many features.
_MIN_FEATURES = 256
#: Fewest features in a block, even if there are many samples: every block takes some Python steps.
_LEAST_WIDTH = 4
#: If an error bound exceeds the allowed error by this factor, the exact norm is computed.
_FAR_TOO_LARGE = 100.0


@dataclass(frozen=True)
class PassResult:
    """Results of the pass for some features."""

    #: Inner products of A_k with the matrices of m targets, shape (k, m).
    relevance: FloatArray
    #: Bound on the relative error of A_k, shape (k,).
    error: FloatArray
    #: Whether a feature varies, shape (k,).
    varies: BoolArray
    #: Number of samples on which a feature is not missing, shape (k,).
    observed: IntArray

    @classmethod
    def empty(cls, size: int, n_targets: int, n_samples: int) -> PassResult:
        """Return a result of zeros, to be filled in."""
        varies = np.zeros(size, dtype=bool)
        return cls(np.zeros((size, n_targets)), np.zeros(size), varies, np.full(size, n_samples))

    @classmethod
    def together(cls, parts: list[PassResult]) -> PassResult:
        """Concatenate the results of blocks."""
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def take(self, which: IntArray) -> PassResult:
        """Return the results of some of the features."""
        return PassResult(*(getattr(self, field.name)[which] for field in fields(self)))


class RelevancePass:
    """Relates blocks of features to a target; an instance can be called from any thread.

    A subclass may make other numbers of a column than its relevance, `n_targets` of them: it
    overrides `_by_terms` and `_by_atoms`.
    """

    #: Whether columns with missing values may become atoms, which forget where values are missing.
    gaps_as_atoms: ClassVar[bool] = True

    def __init__(self, features: Features, target: TargetMatrix, measure: Measure) -> None:
        self.features = features
        self.target = target
        self.measure = measure
        self.samples = features.samples
        self.n_targets = len(getattr(target, "starts", (0,)))
        self._check_recursions()
        no_columns = slice(0, 0)  # ask for the storage only, read nothing
        self.has_levels = target.factored and features.source.levels(no_columns) is not None
        self.is_sparse = target.factored and features.source.stored(no_columns) is not None

    def on(self, features: Features) -> RelevancePass:
        """Return the same pass for other features on the same samples."""
        # what is made of the target is made once, before the copy; that of a grid may not be needed
        _ = self.rows if isinstance(self.target, FactoredTarget) else None
        _ = self.atoms if self.has_levels or self.is_sparse else None
        made = copy(self)
        made.features = features
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made of the target on first use: it is made again where it is used."""
        return {
            name: value for name, value in self.__dict__.items() if name not in ("rows", "atoms")
        }

    def _check_recursions(self) -> None:
        """Raise if a Laplace kernel would need factors of full rank for too many samples."""
        n = self.samples.n
        full = [k for k in self.features.kernels if k.has_recursion and not self._by_recursion(k)]
        if full and n > DENSE:
            raise InvalidInputError(
                "Laplace kernels of features need a matrix of all pairs of samples with NOCCO or "
                f"with affinities, and there are {n} samples: use HSICLasso and a target with "
                f"values, another kernel, or at most {DENSE} samples."
            )

    def _by_recursion(self, kernel: Kernel) -> bool:
        """Whether the recursions of a kernel replace its terms."""
        usable = self.target.knows_recursions and not self.measure.regularisation
        return kernel.has_recursion and usable

    @cached_property
    def rows(self) -> TargetRows:
        """The target's rows, in the form for products with blocks of numbers."""
        return TargetRows.of(self.target, self.samples)

    @cached_property
    def atoms(self) -> Atoms:
        """The target's rows, in the form for sums over the samples of each value."""
        return Atoms(self.rows, self.samples)

    @property
    def width(self) -> int:
        """Number of columns of numbers that are related at once."""
        return max(_LEAST_WIDTH, _BLOCK // max(_LEAST_ENTRIES, self.samples.n))

    def blocks(self) -> list[slice]:
        """Cut the features into blocks; each block is read at once."""
        n, d = max(_LEAST_ENTRIES, self.features.n_samples), self.features.n_features
        entries = _INTEGER_BLOCK if self.has_levels else _BLOCK
        if self.features.source.missing_level is not None:
            n = min(n, _DECODED)
        if self.is_sparse:  # count stored entries only
            stored = max(1, self.features.source.n_stored)
            entries = min(_INTEGER_BLOCK, _BLOCK * n * self.features.source.n_features // stored)
        # a small table gets a few blocks too, for several threads; all blocks have similar sizes
        n_blocks = -(-d // max(entries // n, _LEAST_WIDTH))
        n_blocks = max(n_blocks, min(_MIN_BLOCKS, d // _MIN_FEATURES), 1)
        width = -(-d // n_blocks)
        return [slice(start, min(d, start + width)) for start in range(0, d, width)]

    def __call__(self, part: slice) -> PassResult:
        """Relate a block of features."""
        numbers = np.arange(part.start, part.stop)
        result = PassResult.empty(numbers.size, self.n_targets, self.samples.n)
        try:
            for kernel, places in self.features.by_kernel(numbers):
                for columns, some in self._stored(kernel, numbers, places, result):
                    self._relate(kernel, columns, some, result)
        except InvalidInputError:
            # report the first bad column; another kernel's features may contain an earlier one
            self.features.check_in_order(part)
            raise
        for feature in self.features.joint:
            if part.start <= feature < part.stop:
                self._joint(self.features.scaled_joint(feature), feature - part.start, result)
        return result

    def relate_values(
        self, kernel: Kernel, values: FloatArray, places: IntArray, result: PassResult
    ) -> None:
        """Relate columns (k, n) of numbers and write the results at `places`.

        The columns are overwritten.
        """
        for columns, some in self._numbers(kernel, values, places, result):
            self._relate(kernel, columns, some, result)

    def relate_scaled(self, scaled: list[Scaled]) -> PassResult:
        """Relate scaled features of one column each, all of which vary."""
        result = PassResult.empty(len(scaled), self.n_targets, self.samples.n)
        columns = DenseColumns(
            np.concatenate([one.z for one in scaled]), self.samples.shares, scaled=True
        )
        result.varies[:] = True
        self._relate(scaled[0].kernel, columns, np.arange(len(scaled)), result)
        return result

    def _stored(
        self, kernel: Kernel, numbers: IntArray, places: IntArray, result: PassResult
    ) -> Iterator[tuple[AnyColumns, IntArray]]:
        """Yield columns in the form that is cheapest for their storage, with their places.

        `numbers` are the features of the block. The columns are those of ``numbers[places]``.
        """
        source, chosen = self.features.source, self.features.columns(numbers[places])
        rest = np.arange(places.size)
        if not places.size:
            return
        if self._by_recursion(kernel) or not (self.has_levels or self.is_sparse):
            yield from self._dense(kernel, rest, places, result, numbers, None)
            return
        if self.has_levels and source.missing_level is not None:
            least = self.features.least_observed
            with_gaps = least if self.gaps_as_atoms else 0
            observed, genotypes = self.atoms.of_calls(source, chosen, with_gaps)
            self.features.check_observed(observed, self.features.first[numbers[places]])
            result.observed[places] = observed
            yield from ((columns, places[which]) for which, columns in genotypes)
            if least and not self.gaps_as_atoms:
                partial = rest[observed < self.samples.n]
                yield from self._dense(kernel, partial, places, result, numbers, None)
            return
        if self.has_levels:
            codes: Any = source.levels(chosen)
            counted = self.atoms.of_integers(codes, always=kernel.full_rank)
        else:
            stored: Any = source.stored(chosen)
            codes = sparse.csc_array(
                (stored[2], stored[1], stored[0]), shape=(self.samples.n, places.size)
            )
            finite = math.isfinite(np.vdot(stored[2], stored[2]))
            counted = self.atoms.of_stored_integers(stored) if finite else []
        for which, columns in counted:
            yield columns, places[which]
            rest = np.setdiff1d(rest, which, assume_unique=True)
        if self.is_sparse and finite and not kernel.full_rank:
            for which, columns in self.atoms.of_stored(stored, rest):
                yield columns, places[rest[which]]
            rest = rest[self.atoms.too_long(stored, rest)]
        yield from self._dense(kernel, rest, places, result, numbers, codes)

    def _dense(
        self, kernel: Kernel, rest: IntArray, places: IntArray, result: PassResult,
        numbers: IntArray, table: Any,
    ) -> Iterator[tuple[AnyColumns, IntArray]]:  # fmt: skip
        """Yield some of the columns as blocks of numbers, from `table` or read from the source."""
        for start in range(0, rest.size, self.width):
            some = rest[start : start + self.width]
            if table is None:
                values = self.features.block(numbers[places[some]], buffer="values")
            else:
                part = table[:, some]
                part = part.toarray() if sparse.issparse(part) else part
                values = np.ascontiguousarray(part.T, dtype=np.float64)
                self.features.check_values(values, self.features.first[numbers[places[some]]])
            yield from self._numbers(kernel, values, places[some], result)

    def _numbers(
        self, kernel: Kernel, values: FloatArray, places: IntArray, result: PassResult
    ) -> Iterator[tuple[AnyColumns, IntArray]]:
        """Yield columns (k, n) of numbers in three forms.

        Columns of few whole numbers become atoms. Columns with and without missing values are
        separate blocks.
        """
        known = ~np.isnan(values) if self.features.least_observed else None
        gaps: BoolArray = np.zeros(len(values), dtype=bool)
        if known is not None:
            gaps = np.asarray(~np.all(known, axis=1))
            result.observed[places] = known.sum(axis=1)
        few = np.zeros(len(values), dtype=bool)
        if self.target.factored and not self._by_recursion(kernel):
            # with covariates, atoms need complete columns: only then are removed rows orthonormal
            known_by_atoms = self.gaps_as_atoms and self.samples.covariates is None
            counted = np.where(gaps, known_by_atoms, kernel.full_rank)
            few[counted] = few_whole_numbers(values[counted])
        enough = result.observed[places] >= self.features.least_observed
        for which in (few & enough & gaps, few & ~gaps):
            if which.any():
                yield self.atoms.of_whole_numbers(values[which]), places[which]
        complete = ~few & ~gaps
        if complete.any():
            some = values if complete.all() else values[complete]
            yield DenseColumns(some, self.samples.shares), places[complete]
        partial = ~few & gaps & enough
        if known is not None and partial.any():
            seen, some = known[partial], values[partial]
            fill_missing(some)
            yield DenseColumns(some, self.samples.shares * seen, seen), places[partial]

    def _joint(self, one: Scaled, place: int, result: PassResult) -> None:
        """Relate a feature of several columns."""
        result.observed[place] = np.count_nonzero(one.samples.shares)
        if one.varies:
            known = None if one.samples is self.samples else one.samples.shares > 0
            columns = JointColumns(one.z, one.samples.shares, known, scaled=True)
            self._relate(one.kernel, columns, np.array([place]), result)

    def _relate(
        self, kernel: Kernel, columns: AnyColumns, places: IntArray, result: PassResult
    ) -> None:
        """Relate columns by their terms; expand again those whose error is too large."""
        if columns.needs_no_terms:
            assert isinstance(columns, AtomColumns)
            result.varies[places], result.relevance[places] = self._by_atoms(kernel, columns)
            return
        varying = np.flatnonzero(columns.scale(kernel))
        result.varies[places[varying]] = True
        if self._by_recursion(kernel):
            for j in varying.tolist():
                result.relevance[places[j]] = self._recursion(columns, j)
            return
        totals, error = columns.totals(), self.features.gram_error
        limits = (totals * columns.tolerance())[varying]
        refinement = Refinement(varying.size, self.measure.usual_share(error), error)
        for which, shares, number in refinement.rounds():
            # a bound from the trace may be far too large: then the exact norm is worth its cost
            by_norm = refinement.errors[which] > _FAR_TOO_LARGE * error
            by_norm |= columns.cheap_gram or number > 1
            for exact in np.unique(by_norm):
                some = which[by_norm == exact]
                allowed = (shares * limits[which])[by_norm == exact]
                for terms in columns.expand(kernel, varying[some], allowed):
                    relevance, bounds = self._by_terms(
                        kernel, columns, terms, totals[terms.columns], exact
                    )
                    result.relevance[places[terms.columns]] = relevance
                    result.error[places[terms.columns]] = bounds
            refinement.errors[which] = result.error[places[varying[which]]]

    def _by_atoms(self, kernel: Kernel, columns: AtomColumns) -> tuple[BoolArray, FloatArray]:
        """Return whether columns vary (k,), and their relevance (k, m), exactly."""
        return columns.relevance(kernel, self.measure, self.rows)

    def _by_terms(
        self, kernel: Kernel, columns: AnyColumns, terms: Terms, total: FloatArray, exact: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Return relevance and error bounds of columns; `exact` asks for the exact norm."""
        observed = total / self.samples.total
        scale = kernel.observed_scale(observed)
        if self.target.factored:
            # if covariates may explain a column completely, only its exact norm tells
            explained = self.samples.covariates is not None and not terms.left_out.any()
            with_gram = bool(exact or explained or self.measure.needs_gram)
            moments = columns.moments(terms, self.rows, with_gram).scaled(scale)
            relevance, bounds = relevance_and_error(
                moments, self.measure, total, self.rows.signs, self.rows.starts
            )
        else:
            relevance, bounds = self._by_energy(columns, terms, scale)
        return relevance * np.asarray(self.measure.restoration(observed))[..., None], bounds

    def _recursion(self, columns: Any, j: int) -> Any:
        """Return the exact relevance of a scaled column with a Laplace kernel."""
        samples = columns.samples_of(j, self.samples)
        matrix = laplace_matrix(columns.values[j], samples, samples.total / self.samples.total)
        # only covariates can make the matrix of a column that varies zero
        if samples.covariates is not None and not matrix.norm > 0:
            return 0.0
        return self.target.inner(self.measure.finish(matrix))

    def _by_energy(self, columns: Any, terms: Terms, scale: Any) -> tuple[FloatArray, FloatArray]:
        """Relate columns to a target that has no factor, one by one, by its method `energy`."""
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
            if np.trace(gram[0]) > moments.negligible()[0]:
                energy = self.target.energy(rows)
                norm = float(np.linalg.norm(gram)) if self.measure.normalised else 1.0
                relevance[j] = energy / norm
        return relevance, bound
