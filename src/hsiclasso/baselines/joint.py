r"""HSIC of several columns together with a target, for methods that compare subsets.

Both estimators are linear in the Gram matrix K of the columns,

.. math:: \mathrm{HSIC} = \langle K, C\rangle = \sum_{i,l} K_{il} C_{il},

with a matrix C that depends on the target alone and is made once:

==========  ==========================================================================
biased      :math:`C = \Gamma L \Gamma / (n-1)^2`
unbiased    :math:`C_{il} = \big(L_{il} - \frac{r_i + r_l}{n-2} + \frac{s}{(n-1)(n-2)}\big)
            / (n(n-3))` for :math:`i \ne l`, and 0 on the diagonal
==========  ==========================================================================

where :math:`r_i` is the sum of row i of L without its diagonal, and s the sum of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.job import Job
from hsiclasso.baselines.kernel import centre_target, target_gram
from hsiclasso.baselines.parts import for_parts
from hsiclasso.errors import InvalidInputError
from hsiclasso.targets import TargetData

__all__ = ["Estimator", "SubsetHSIC", "check_samples", "squared_distances", "target_matrix"]

Estimator = Literal["biased", "unbiased"]

#: Rows of a matrix between samples that are made together.
_ROWS = 256
#: Columns that share a pass over the matrices between samples.
_COLUMNS = 16


def check_samples(job: Job, most: int) -> None:
    """Raise if a matrix of all pairs of samples would be too large."""
    n = job.source.n_samples
    if n > most:
        raise InvalidInputError(
            f"n_samples={n}, but {job.traits.title} holds matrices of all pairs of samples and "
            f"serves at most {most}: take some of the rows, or HSICLasso or HSICRanking, whose "
            "cost is linear in them."
        )


def target_matrix(data: TargetData, n: int, estimator: Estimator = "biased") -> FloatArray:
    r"""Make the symmetric matrix C (n, n) of a target; the unbiased estimator needs 4 samples."""
    if estimator == "unbiased" and n < 4:
        raise InvalidInputError(
            f"n_samples={n}, but the unbiased estimator needs 4 or more: add rows, or take "
            "estimator='biased'."
        )
    matrix = target_gram(data, n)
    # both estimators remove terms a_i + a_l: it does no harm to centre L first
    centre_target(matrix)
    if estimator == "biased":
        matrix /= (n - 1) ** 2
        return matrix
    np.fill_diagonal(matrix, 0.0)
    sums = matrix.sum(axis=0) / (n - 2)
    matrix -= sums
    matrix -= sums[:, None]
    matrix += sums.sum() / (n - 1)
    np.fill_diagonal(matrix, 0.0)
    matrix /= n * (n - 3)
    return matrix


def squared_distances(
    columns: FloatArray, n_threads: int, out: FloatArray | None = None
) -> FloatArray:
    """Add squared distances in contiguous columns (k, n) to `out` (n, n), by default to zeros.

    Only what lies below the diagonal is changed.
    """
    from hsiclasso.baselines._joint_loops import add_distances

    n = columns.shape[1]
    found = np.zeros((n, n)) if out is None else out

    def work(part: slice) -> None:
        add_distances(columns, part.start, part.stop, found)

    for_parts(work, n, _ROWS, n_threads)
    return found


@dataclass(frozen=True)
class SubsetHSIC:
    r"""HSIC of subsets of columns under one Gaussian kernel, with a target.

    .. math:: K_{il} = \exp\Big(-\frac{1}{2\sigma^2}\sum_{j \in S}(x_{ji} - x_{jl})^2\Big)
    """

    columns: FloatArray  # (d, n), standardised, contiguous
    coupling: FloatArray  # (n, n), the matrix C of the target
    width: float  # sigma of one column
    retune: bool  # whether sigma grows with the root of the size of the subset
    n_threads: int

    @cached_property
    def trace(self) -> float:
        """Part of any HSIC from samples paired with themselves, where the kernel is 1."""
        return float(np.trace(self.coupling))

    def gamma(self, size: int) -> float:
        """Return the factor of squared distances in the kernel of a subset of that size."""
        return 0.5 / (self.width**2 * (size if self.retune else 1))

    def distances(self, subset: IntArray) -> FloatArray:
        """Return squared distances (n, n) in a subset, below the diagonal."""
        return squared_distances(self.columns[subset], self.n_threads)

    def add(self, distances: FloatArray, feature: int) -> None:
        """Add to squared distances those in one more feature."""
        squared_distances(self.columns[feature : feature + 1], self.n_threads, distances)

    def pair_sums(
        self, distances: FloatArray, size: int, candidates: IntArray, sign: Literal[-1, 0, 1]
    ) -> FloatArray:
        """Return the part of HSIC from pairs of distinct samples, each pair once.

        The subset, of that size, is the one of the distances with one candidate more (sign 1) or
        less (-1). The whole HSIC is twice this part plus `trace`, which may hide small differences.
        """
        from hsiclasso.baselines._joint_loops import sum_over_candidates

        gamma = self.gamma(size)
        sums = np.empty(candidates.size)
        step = max(1, min(_COLUMNS, -(-candidates.size // self.n_threads)))

        def work(part: slice) -> None:
            columns = self.columns[candidates[part]]
            sum_over_candidates(columns, self.coupling, distances, float(sign), gamma, sums[part])

        for_parts(work, candidates.size, step, self.n_threads)
        return sums

    def whole(self, pair_sums: FloatArray) -> FloatArray:
        """Return HSIC from its part over pairs of distinct samples."""
        return 2 * pair_sums + self.trace

    def of(self, distances: FloatArray, size: int) -> float:
        """Return the HSIC of a subset of that size from its distances."""
        return float(self.whole(self.pair_sums(distances, size, np.zeros(1, dtype=np.int64), 0))[0])
