"""A table as features: the columns, the kernel and the samples of each feature.

Feature numbers are not column numbers. Most features have one column and joint features have
several; the column of a covariate is no feature. `Features` maps features to columns, and
`Features.on_columns` maps results back. Interactions, whose members are features, are numbered
after them. A pass over the table leaves them out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hsiclasso._types import BoolArray, Columns, FloatArray, IntArray
from hsiclasso.data import Source
from hsiclasso.data.sources import refuse_value
from hsiclasso.dependence.buffers import thread_buffer
from hsiclasso.kernels import Factor, Kernel, Measure, Samples
from hsiclasso.kernels.factor import empty_factor, factor_columns, factor_rows
from hsiclasso.kernels.interaction import Interaction, Member
from hsiclasso.kernels.markov import LaplaceMatrix, laplace_matrix
from hsiclasso.kernels.scale import Scaling

__all__ = ["INTERACTION", "Features", "Matrix", "Scaled", "fill_missing"]

#: Between the names of the members, in the name of an interaction.
INTERACTION = " & "
#: The matrix of a feature.
Matrix = Factor | LaplaceMatrix


@dataclass(frozen=True)
class Scaled:
    """One feature on the scale of its kernel."""

    #: Scaled columns, shape (q, n); any finite number where the feature is missing.
    z: FloatArray
    #: How values were scaled.
    scaling: Scaling
    kernel: Kernel
    #: Weights of the samples, 0 where the feature is missing, and the removed functions.
    samples: Samples
    #: Share of the total weight on samples where the feature is not missing.
    observed: float = 1.0
    #: Whether the feature varies and is observed on enough samples.
    varies: bool = True


@dataclass(frozen=True)
class Features:
    """The features of a table."""

    #: The table.
    source: Source
    #: All kernels of the features.
    kernels: tuple[Kernel, ...]
    #: Weights of the samples, and the functions removed from every feature.
    samples: Samples
    #: First column of each feature, shape (d,); in ascending order, but for interactions.
    first: IntArray
    #: Number of each feature's kernel, shape (d,); None if all features have the first kernel.
    which: IntArray | None = None
    #: Names and columns of the features that have several columns, by feature number.
    joint: Mapping[int, tuple[str, IntArray]] = field(default_factory=dict)
    #: Least number of samples on which a feature must be observed; 0 if no value may be missing.
    least_observed: int = 0
    #: Largest relative error allowed for the matrix of each feature.
    gram_error: float = 1e-6
    #: Members of the interactions, which are the last features.
    interactions: tuple[tuple[int, ...], ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        """Write columns that follow each other as a range: workers get the features of a pass."""
        state, first = self.__dict__.copy(), self.first
        if first.size and not self.interactions and first[-1] - first[0] + 1 == first.size:
            state["first"] = range(int(first[0]), int(first[-1]) + 1)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Read what `__getstate__` wrote."""
        self.__dict__.update(state, first=np.asarray(state["first"], dtype=np.int64))

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.source.n_samples

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.first.size

    @property
    def n_single(self) -> int:
        """Number of features that are no interactions."""
        return self.first.size - len(self.interactions)

    @property
    def singles(self) -> Features:
        """The features that are no interactions."""
        if not self.interactions:
            return self
        return replace(self, first=self.first[: self.n_single], interactions=())

    def with_interactions(self, members: Sequence[tuple[int, ...]]) -> Features:
        """Return the features that are no interactions, with interactions of `members` added."""
        singles = self.singles
        first = np.array([singles.first[some[0]] for some in members], dtype=np.int64)
        return replace(singles, first=np.append(singles.first, first), interactions=tuple(members))

    def members(self, feature: int) -> tuple[int, ...]:
        """Features that one feature consists of: itself, or the members of an interaction."""
        place = feature - self.n_single
        return (feature,) if place < 0 else self.interactions[place]

    def name(self, feature: int) -> str:
        """Name of one feature."""
        if feature >= self.n_single:
            return INTERACTION.join(map(self.name, self.members(feature)))
        if feature in self.joint:
            return self.joint[feature][0]
        return self.source.name(int(self.first[feature]))

    def columns_of(self, feature: int) -> IntArray:
        """Columns of one feature."""
        if feature >= self.n_single:
            return np.concatenate([self.columns_of(k) for k in self.members(feature)])
        return self.joint[feature][1] if feature in self.joint else self.first[[feature]]

    def kernel(self, feature: int) -> Kernel:
        """Kernel of one feature."""
        if feature >= self.n_single:
            members = self.members(feature)
            return Interaction(
                tuple(Member(self.kernel(k), self.columns_of(k).size) for k in members)
            )
        return self.kernels[0 if self.which is None else int(self.which[feature])]

    def by_kernel(self, features: IntArray) -> Iterator[tuple[Kernel, IntArray]]:
        """Yield each kernel with the positions, among `features`, of its one-column features."""
        single = np.arange(features.size)
        if self.joint or self.interactions:
            joint = np.isin(features, list(self.joint)) | (features >= self.n_single)
            single = np.flatnonzero(~joint)
        if self.which is None or len(self.kernels) == 1:
            yield self.kernels[0], single
            return
        numbers = self.which[features[single]]
        for number in np.unique(numbers):
            yield self.kernels[number], single[numbers == number]

    def columns(self, features: IntArray) -> Columns:
        """Columns of features that have one column each: a slice if they are adjacent."""
        columns = self.first[features]
        if columns.size and columns[-1] - columns[0] + 1 == columns.size:
            return slice(int(columns[0]), int(columns[-1]) + 1)
        return columns

    def block(self, features: IntArray, buffer: str | None = None) -> FloatArray:
        """Read features that have one column each: (k, n), with NaN for missing values.

        With the name of a buffer of the thread, the array is valid until the next such call.
        """
        columns = self.columns(features)
        if buffer is None:
            values = self.source.block(columns).T
        else:
            values = thread_buffer(buffer, (features.size, self.n_samples))
            self.source.read_into(columns, values.T)
        self.check_values(values, self.first[features])
        return values

    def check_values(self, values: FloatArray, columns: IntArray) -> None:
        """Raise if values (k, n) of columns are infinite, or missing although none may be."""
        # a quick test: if the sum of squares is finite, so are all values
        if math.isfinite(np.vdot(values, values)):
            return
        bad = np.isinf(values) if self.least_observed else ~np.isfinite(values)
        if bad.any():
            place, row = np.argwhere(bad)[0]
            ignore = bool(self.least_observed)
            refuse_value(self.source.name(int(columns[place])), float(values[place, row]), ignore)

    def check_observed(self, observed: IntArray, columns: IntArray) -> None:
        """Raise if columns are not observed on all samples although no value may be missing."""
        gaps = np.flatnonzero(observed < self.n_samples)
        if gaps.size and not self.least_observed:
            refuse_value(self.source.name(int(columns[gaps[0]])), np.nan, ignore=False)

    def check_in_order(self, features: slice) -> None:
        """Check the values of some features one by one; the error names the first bad column."""
        for feature in range(features.start, features.stop):
            columns = self.columns_of(feature)
            self.check_values(self.source.block(columns).T, columns)

    @property
    def numbers(self) -> IntArray:
        """Number of each feature outside: its first column; interactions follow the columns."""
        own = self.first[: self.n_single]
        return np.append(own, self.source.n_features + np.arange(len(self.interactions)))

    def on_columns(self, values: Any, fill: Any) -> Any:
        """Copy the value of each feature to its columns; columns of no feature get `fill`."""
        out = np.full(self.source.n_features, fill, dtype=np.asarray(values).dtype)
        out[self.first[: self.n_single]] = values[: self.n_single]
        for feature, (_, columns) in self.joint.items():
            out[columns] = values[feature]
        return out

    def scaled(self, features: IntArray) -> list[Scaled]:
        """Read features and bring each to the scale of its kernel."""
        made: list[Scaled | None] = [None] * features.size
        for kernel, places in self.by_kernel(features):
            if not places.size:
                continue
            order = places[np.argsort(self.first[features[places]], kind="stable")]
            for place, one in zip(order, self._columns(features[order], kernel), strict=True):
                made[place] = one
        return [
            self.scaled_joint(int(feature)) if one is None else one
            for feature, one in zip(features, made, strict=True)
        ]

    def _columns(self, features: IntArray, kernel: Kernel) -> list[Scaled]:
        """Read features that have one column each, and scale them."""
        values = self.block(features)
        known = fill_missing(values) if self.least_observed else None
        if known is None:
            scaling = kernel.scale(values, self.samples.shares)
            return [
                Scaled(
                    values[j : j + 1], scaling.take(j), kernel, self.samples, varies=bool(varies)
                )
                for j, varies in enumerate(scaling.factor > 0)
            ]
        return [self._one(values[j : j + 1], known[j], kernel) for j in range(len(values))]

    def scaled_joint(self, feature: int) -> Scaled:
        """Read a feature of several columns and bring it to the scale of its kernel."""
        columns = self.columns_of(feature)
        values = self.source.block(columns).T
        self.check_values(values, columns)
        known = fill_missing(values) if self.least_observed else None
        kernel = self.kernel(feature)
        # a sample is missing if any of its columns is
        seen = np.ones(self.n_samples, dtype=bool)
        if known is not None:
            seen = np.asarray(np.all(known, axis=0))
        if isinstance(kernel, Interaction) and known is not None:
            return self._interaction(values, known, seen, kernel)
        return self._one(values, seen, kernel)

    def _interaction(
        self, values: FloatArray, known: BoolArray, seen: BoolArray, kernel: Interaction
    ) -> Scaled:
        """Scale an interaction that is observed on some samples, each member on its own ones."""
        owns = [
            self._one(part, np.asarray(np.all(there, axis=0)), one.kernel)
            for one, part, there in zip(
                kernel.members, kernel.parts(values), kernel.parts(known), strict=True
            )
        ]
        members = tuple(
            replace(one, shares=own.samples.shares[0], observed=own.observed)
            for one, own in zip(kernel.members, owns, strict=True)
        )
        scaling = Scaling(
            np.concatenate([own.scaling.shift for own in owns]),
            np.concatenate([own.scaling.factor for own in owns]),
        )
        samples = self.samples.only(seen)
        enough = np.count_nonzero(seen) >= max(1, self.least_observed)
        return Scaled(
            values, scaling, Interaction(members), samples, samples.total / self.samples.total,
            bool(enough) and all(own.varies for own in owns),
        )  # fmt: skip

    def _one(self, values: FloatArray, seen: BoolArray, kernel: Kernel) -> Scaled:
        """Scale one feature (q, n) that is observed on some samples."""
        samples = self.samples if seen.all() else self.samples.only(seen)
        enough = bool(np.count_nonzero(seen) >= max(1, self.least_observed))
        if not seen.all():  # fill values must not widen the range
            values[:, ~seen] = values[:, [int(np.argmax(seen))]]
        scaling = kernel.scale(values, samples.shares, joint=True)
        share = samples.total / self.samples.total
        varies = enough and bool((scaling.factor > 0).any())
        return Scaled(values, scaling, kernel, samples, share, varies)

    def matrices(self, scaled: list[Scaled], measure: Measure) -> list[Matrix]:
        """Make the matrices of some features for a measure.

        With NOCCO, the matrix of a Laplace kernel is a factor of full rank.
        """
        made: list[Matrix] = [empty_factor(self.n_samples)] * len(scaled)
        by_kernel: dict[int, list[int]] = {}
        for place, one in enumerate(scaled):
            if not one.varies:
                continue
            if one.kernel.has_recursion and not measure.regularisation:
                matrix = laplace_matrix(one.z[0], one.samples, one.observed)
                if matrix.norm > 0:
                    made[place] = measure.finish(matrix)
            elif len(one.z) == 1 and one.samples is self.samples:
                by_kernel.setdefault(id(one.kernel), []).append(place)
            else:
                made[place] = measure.finish(factor_scaled(one, measure, self.gram_error))
        for places in by_kernel.values():
            z = np.concatenate([scaled[place].z for place in places])
            kernel = scaled[places[0]].kernel
            factors = factor_columns(z, kernel, self.samples, measure, self.gram_error)
            for place, factor in zip(places, factors, strict=True):
                made[place] = measure.finish(factor)
        return made


def factor_scaled(one: Scaled, measure: Measure, error: float) -> Factor:
    """Factor the matrix of a single feature."""
    scale = np.sqrt(one.kernel.observed_scale(one.observed))

    def expand(allowed: float) -> tuple[FloatArray, float]:
        rows, left_out = one.kernel.rows(one.z, allowed, one.samples.shares[0])
        return rows * scale, left_out * scale**2

    factor = factor_rows(expand, one.samples, measure, error)
    return replace(factor, observed=one.observed)


def fill_missing(values: FloatArray) -> BoolArray | None:
    """Replace missing values of (k, n) in place by an observed value of the same row.

    Returns where values are observed; None if no value is missing.
    """
    missing = np.isnan(values)
    if not missing.any():
        return None
    some = values[np.arange(len(values)), np.argmin(missing, axis=1)]
    np.copyto(values, np.where(np.isnan(some), 0.0, some)[:, None], where=missing)
    return ~missing
