r"""Factors of columns that are mostly zero, such as counts: only other samples are stored.

All samples at zero have the same entries :math:`c` (r,) in the rows of a factor. With the
deviations D (r, m) of the m other samples from c, the rows of a column of n samples are
:math:`F = c 1^\top + D`. Their sums are zero, and therefore

.. math:: F_k F_l^\top = D_k D_l^\top - n c_k c_l^\top ,

where only samples count at which neither column is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.dependence.features import Features, Matrix, Scaled
from hsiclasso.kernels import Factor, Measure, Samples
from hsiclasso.kernels.factor import factor_columns

__all__ = ["SparseFactor", "make_matrices", "sparse_energies"]

#: Largest share of other values for which a factor is stored by them.
_DENSITY = 0.25
#: Fewest samples: with fewer, dense factors are as fast.
_LEAST_SAMPLES = 1000


@dataclass(frozen=True)
class SparseFactor:
    """Centred low-rank factor of a column that is mostly zero."""

    #: Number of samples.
    n: int
    #: Samples at other values than zero, shape (m,).
    places: IntArray
    #: What their entries differ from those at zero, shape (m, r).
    deviations: FloatArray
    #: Entries of the samples at zero, shape (r,).
    at_zero: FloatArray
    #: Frobenius norm of the matrix.
    norm: float
    #: Bound on the Frobenius distance to the exact matrix, relative to its norm.
    error: float

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return self.places.nbytes + self.deviations.nbytes

    @property
    def rows(self) -> FloatArray:
        """The rows of the factor, shape (r, n)."""
        rows = np.repeat(self.at_zero[:, None], self.n, axis=1)
        rows[:, self.places] += self.deviations.T
        return rows

    def energy(self, rows: FloatArray) -> float:
        """Return the sum of ``f' A f`` over rows f of shape (r, n)."""
        product = rows[:, self.places] @ self.deviations
        return float(np.square(product + np.outer(rows.sum(axis=1), self.at_zero)).sum())


def make_matrices(
    features: Features, scaled: list[Scaled], measure: Measure
) -> list[Matrix | SparseFactor]:
    """Make the matrices of some features for a measure, sparse ones where columns allow it."""
    made: dict[int, Matrix | SparseFactor] = {}
    if features.samples.plain and features.n_samples >= _LEAST_SAMPLES:
        by_kernel: dict[int, dict[int, Scaled]] = {}
        for place, one in enumerate(scaled):
            if _may_be_sparse(one, features.samples, measure):
                by_kernel.setdefault(id(one.kernel), {})[place] = one
        for some in by_kernel.values():
            made |= _sparse_factors(some, measure, features.gram_error)
    rest = [place for place in range(len(scaled)) if place not in made]
    dense = features.matrices([scaled[place] for place in rest], measure)
    made |= zip(rest, dense, strict=True)
    return [made[place] for place in range(len(scaled))]


def _may_be_sparse(one: Scaled, samples: Samples, measure: Measure) -> bool:
    """Whether a feature is one complete column of a kernel with terms."""
    by_recursion = one.kernel.has_recursion and not measure.regularisation
    return one.varies and len(one.z) == 1 and one.samples is samples and not by_recursion


def _sparse_factors(
    columns: dict[int, Scaled], measure: Measure, error: float
) -> dict[int, SparseFactor]:
    """Make factors of those columns that are mostly zero; all columns have the same kernel.

    The samples at zero become one sample with a weight. Columns with fewer other values than the
    others leave some samples at zero as they are, so that all have the same number of samples.
    """
    few: dict[int, tuple[FloatArray, float, IntArray]] = {}
    for key, one in columns.items():
        z, zero = one.z[0], _zero(one)
        places = np.flatnonzero(z != zero)
        if places.size <= _DENSITY * z.size:
            few[key] = z, zero, places
    if not few:
        return {}
    first = next(iter(columns.values()))
    n, most = first.z.size, max(places.size for _, _, places in few.values())
    short = np.empty((len(few), most + 1))
    for row, (z, zero, places) in zip(short, few.values(), strict=True):
        row[: places.size], row[places.size :] = z[places], zero
    samples = Samples(most + 1, np.append(np.ones(most), n - most))
    factors = factor_columns(short, first.kernel, samples, measure, error)
    root = float(samples.root[-1])
    return {
        key: _by_places(n, places, measure.finish(factor), root)
        for (key, (_, _, places)), factor in zip(few.items(), factors, strict=True)
    }


def _zero(one: Scaled) -> float:
    """Return what zero became on the scale of a column's kernel, rounded as it was there."""
    z, zero = one.z[0], one.scaling.apply(np.zeros((1, 1)))[0, 0]
    return float(z[np.argmin(np.abs(z - zero))])


def _by_places(n: int, places: IntArray, factor: Factor, root: float) -> SparseFactor:
    """Make a sparse factor of one whose last sample stands for the samples at zero."""
    at_zero = factor.rows[:, -1] / root
    deviations = np.ascontiguousarray(factor.rows[:, : places.size].T) - at_zero
    return SparseFactor(n, places.astype(np.int32), deviations, at_zero, factor.norm, factor.error)


def sparse_energies(left: Sequence[SparseFactor], right: Sequence[SparseFactor]) -> FloatArray:
    """Return the squared Frobenius norms of ``F_k F_l'`` for k in `left` and l in `right`."""
    from hsiclasso.dependence._loops import multiply_sparse

    places = np.concatenate([one.places for one in right])
    deviations = np.concatenate([one.deviations.ravel() for one in right])
    at_zero = np.concatenate([one.at_zero for one in right])
    sizes = np.array([one.deviations.shape for one in right], dtype=np.int64)
    out = np.empty((len(left), len(right)))
    for one, energies in zip(left, out, strict=True):
        multiply_sparse(
            one.n, one.places, one.deviations, one.at_zero, places, deviations, at_zero, sizes,
            energies,
        )  # fmt: skip
    return out
