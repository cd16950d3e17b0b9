r"""The one pass over the table: relevance :math:`b_k = \langle A_k, T\rangle` of every feature.

A block of columns is read, brought to the scale of its kernel, expanded into terms and compared
with the target; what is found is returned, and nothing is shared between blocks. Columns reach
their kernel as values with weights. Where a column has few distinct values, as small integers and
most sparse columns do, only sums of the target's rows over the samples of each value are needed
(`hsiclasso.dependence.atoms`). A missing value is one without weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.dependence.atoms import AtomColumns, Atoms, few_whole_numbers
from hsiclasso.dependence.columns import DenseColumns, TargetRows
from hsiclasso.dependence.features import Features, Scaled, fill_missing
from hsiclasso.dependence.statistic import Moments, relevance_and_error
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Kernel, Measure, Terms
from hsiclasso.kernels.base import explicit_terms
from hsiclasso.kernels.factor import refine
from hsiclasso.kernels.markov import laplace_matrix
from hsiclasso.targets.matrix import DENSE, TargetMatrix

__all__ = ["Found", "RelevancePass"]

#: Entries of the table in one block, if they are numbers of eight bytes.
_BLOCK = 1 << 18
#: The same if they are of one byte, for which tables are made once per block.
_BYTES = 1 << 24
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

    def blocks(self) -> list[slice]:
        """Cut the features into blocks that are read at once."""
        n, d = self.features.n_samples, self.features.n_features
        entries = _BYTES if self.small else _BLOCK
        if self.sparse:  # so many stored ones
            stored = max(1, self.features.source.n_stored)
            entries = min(_BYTES, _BLOCK * n * self.features.source.n_features // stored)
        width = max(1, min(d, entries // n))
        return [slice(start, min(d, start + width)) for start in range(0, d, width)]

    def __call__(self, part: slice) -> Found:
        """Relate a block of features."""
        numbers = np.arange(part.start, part.stop)
        found = Found.nothing(numbers.size, self.n_targets, self.samples.n)
        for kernel, places in self.features.by_kernel(numbers):
            rest = self._compact(kernel, numbers, places, found)
            width = max(1, _BLOCK // self.samples.n)
            for start in range(0, rest.size, width):
                some = rest[start : start + width]
                self._dense(kernel, numbers[some], some, found)
        for feature in self.features.joint:
            if part.start <= feature < part.stop:
                self._joint(self.features.scaled_joint(feature), feature - part.start, found)
        return found

    def _compact(
        self, kernel: Kernel, numbers: IntArray, places: IntArray, found: Found
    ) -> IntArray:
        """Relate columns that are stored as small integers or sparse; return the others."""
        if not places.size or not (self.small or self.sparse) or self._by_recursion(kernel):
            return places
        columns = self.features.columns(numbers[places])
        if self.small:
            codes = self.features.source.levels(columns)
            assert codes is not None
            many = kernel.full_rank
            counted = self.atoms.of_integers(codes, always=many)
            return self._levels(kernel, counted, places, found)
        stored = self.features.source.stored(columns)
        assert stored is not None
        if not np.isfinite(stored[2].sum()):  # missing and infinite values are told apart there
            return places
        rest = self._levels(kernel, self.atoms.of_stored_integers(stored), places, found)
        if kernel.full_rank:
            return rest
        position = {int(place): j for j, place in enumerate(places)}
        where = np.array([position[int(place)] for place in rest], dtype=np.int64)
        for which, atoms in self.atoms.of_stored(stored, where):
            self._terms(kernel, atoms, places[where[which]], found)
        return rest[self.atoms.too_long(stored, where)]

    def _levels(
        self, kernel: Kernel, counted: list[tuple[IntArray, AtomColumns]], places: IntArray,
        found: Found,
    ) -> IntArray:  # fmt: skip
        """Relate columns of few values, given sums over the samples of each; return the others."""
        rest = np.ones(places.size, dtype=bool)
        for which, columns in counted:
            rest[which] = False
            varies, relevance = columns.relevance(kernel, self.measure, self.rows)
            found.varies[places[which]] = varies
            found.relevance[places[which]] = relevance
            if columns.n_observed is not None:
                found.observed[places[which]] = columns.n_observed
        return places[rest]

    def _dense(self, kernel: Kernel, numbers: IntArray, places: IntArray, found: Found) -> None:
        """Relate columns as a block of numbers."""
        values = self.features.block(numbers)
        known = np.isnan(values) if self.features.least_observed else None
        if known is not None and known.any():
            places, values = self._incomplete(kernel, values, places, found)
        if not places.size:
            return
        if kernel.full_rank and self.target.factored and not self._by_recursion(kernel):
            few = few_whole_numbers(values)
            self._levels(kernel, self.atoms.of_numbers(values, few), places, found)
            places, values = places[~few], values[~few]
            if not places.size:
                return
        self._terms(kernel, DenseColumns(values, self.samples.shares), places, found)

    def _incomplete(
        self, kernel: Kernel, values: FloatArray, places: IntArray, found: Found
    ) -> tuple[IntArray, FloatArray]:
        """Relate the columns of (k, n) that have missing values; return the complete ones."""
        known = ~np.isnan(values)
        gaps = ~known.all(axis=1)
        complete = places[~gaps], values[~gaps]
        n_observed = known[gaps].sum(axis=1)
        found.observed[places[gaps]] = n_observed
        enough = n_observed >= self.features.least_observed
        places, values, known = places[gaps][enough], values[gaps][enough], known[gaps][enough]
        if self.target.factored and self.samples.covariates is None:
            few = few_whole_numbers(values)
            counted = [] if self._by_recursion(kernel) else self.atoms.of_numbers(values, few)
            rest = self._levels(kernel, counted, places, found)
            left = np.isin(places, rest)
            places, values, known = places[left], values[left], known[left]
        if places.size:
            fill_missing(values)
            shares = self.samples.shares * known
            columns = DenseColumns(values, shares, known)
            self._terms(kernel, columns, places, found)
        return complete

    def _joint(self, one: Scaled, place: int, found: Found) -> None:
        """Relate a feature of several columns."""
        found.observed[place] = np.count_nonzero(one.samples.shares)
        found.varies[place] = one.varies
        if not one.varies:
            return
        known = None if one.samples is self.samples else one.samples.shares > 0
        shares = one.samples.shares
        columns = DenseColumns(one.z[:1], shares, known)

        def expand(_: IntArray, allowed: FloatArray) -> list[Terms]:
            rows, left = one.kernel.expand_joint(one.z, float(allowed[0]), shares[0])
            return [explicit_terms(0, rows, left, shares[0])]

        self._refine(one.kernel, columns, expand, np.array([place]), found)

    def _terms(self, kernel: Kernel, columns: Any, places: IntArray, found: Found) -> None:
        """Scale columns and relate them by their terms."""
        scaling = kernel.scale(columns.values, columns.weights)
        varying = np.flatnonzero(scaling.factor > 0)
        found.varies[places[varying]] = True
        if self._by_recursion(kernel):
            for j in varying.tolist():
                found.relevance[places[j]] = self._recursion(columns, j)
            return

        def expand(which: IntArray, allowed: FloatArray) -> list[Terms]:
            return kernel.expand(columns.values, varying[which], allowed, columns.weights)

        self._refine(kernel, columns, expand, places, found, varying)

    def _recursion(self, columns: DenseColumns, j: int) -> Any:
        """Relevance of a scaled column with a Laplace kernel, exactly."""
        samples = columns.samples_of(j, self.samples)
        matrix = laplace_matrix(columns.values[j], samples, samples.total / self.samples.total)
        # only covariates can leave nothing of a column that varies
        if samples.covariates is not None and not matrix.norm > 0:
            return 0.0
        return self.target.inner(self.measure.finish(matrix))

    def _refine(
        self, kernel: Kernel, columns: Any, expand: Callable[[IntArray, FloatArray], list[Terms]],
        places: IntArray, found: Found, varying: IntArray | None = None,
    ) -> None:  # fmt: skip
        """Relate columns by terms, longer ones for those that need them."""
        varying = np.arange(1) if varying is None else varying
        error, share = self.features.gram_error, self.measure.usual_share(self.features.gram_error)
        totals = columns.totals()
        limits = (totals * columns.spread())[varying]

        def visit(which: IntArray, shares: FloatArray, attempt: int) -> FloatArray:
            # where a bound from the trace alone is hopeless, the norm itself is worth its price
            hopeless = found.error[places[varying[which]]] > _HOPELESS * error
            hopeless |= attempt > 1 or columns.small or self.samples.covariates is not None
            for exact in (False, True):
                some = np.flatnonzero(hopeless == exact)
                if not some.size:
                    continue
                for terms in expand(which[some], (shares * limits[which])[some]):
                    place, total = places[terms.columns], totals[terms.columns]
                    found.relevance[place], found.error[place] = self._relate(
                        kernel, columns, terms, total, exact
                    )
            return found.error[places[varying[which]]]

        refine(visit, varying.size, share, error)

    def _relate(
        self, kernel: Kernel, columns: Any, terms: Terms, total: FloatArray, exact: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Relevance (c, m) and relative error bound (c,) of the columns of terms."""
        observed = total / self.samples.total
        scale = kernel.observed_scale(observed)
        if self.target.factored:
            with_gram = exact or self.measure.needs_gram
            moments = columns.moments(terms, self.rows, with_gram=with_gram).scaled(scale)
            relevance, bound = relevance_and_error(
                moments, self.measure, total, self.rows.signs, self.rows.starts
            )
        else:
            relevance, bound = self._by_products(columns, terms, scale)
        return relevance * np.asarray(self.measure.restoration(observed))[..., None], bound

    def _by_products(
        self, columns: DenseColumns, terms: Terms, scale: Any
    ) -> tuple[FloatArray, FloatArray]:
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
                terms.left[[j]] * scales[j], np.array([trace]), terms.rank[[j]],
            )  # fmt: skip
            _, bound[j : j + 1] = relevance_and_error(
                moments, self.measure, np.array([samples.total]), np.zeros(0), (0,)
            )
            if np.trace(gram[0]) > moments.nothing()[0]:
                energy = self.target.energy(rows)
                norm = float(np.linalg.norm(gram)) if self.measure.normalised else 1.0
                relevance[j] = energy / norm
        return relevance, bound
