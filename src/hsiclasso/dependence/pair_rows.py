r"""Few rows of each feature, stacked, for the scan of all pairs; and what they leave out.

The Gram matrix of a feature, centred on the samples on which it is observed, is
:math:`\bar K = F^\top F + D` with its r largest rows F. D is positive semi-definite, and so is all
else that is left out: the bounds of `hsiclasso.dependence.pair_scan` rest on that.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from hsiclasso._types import FloatArray, IntArray, SingleArray
from hsiclasso.dependence.features import Features, Scaled, factor_scaled
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import HSIC, Factor, Samples
from hsiclasso.kernels.interaction import products_of_rows, turned
from hsiclasso.targets.gridded import GriddedTarget
from hsiclasso.targets.matrix import DENSE, FactoredTarget, TargetMatrix

__all__ = ["PairRows", "RowMaker", "positive_rows"]

#: Relative error of the Gram matrix of a feature, before its largest rows are taken.
_GRAM_ERROR = 1e-4
#: Most rows of the target, and the share of its trace that others may have.
_MOST_TARGET, _REST = 32, 1e-4
#: Mean share of the diagonal that rows of squared entries may leave out.
_SQUARES_SHARE = 0.1


class _Unrestored(HSIC):
    """HSIC that does not compensate for missing values, which is done for the pair."""

    def restoration(self, observed: Any) -> Any:
        """Return 1."""
        return 1.0


def positive_rows(target: TargetMatrix, samples: Samples) -> FloatArray:
    """Return rows of the positive part of a target's matrix, largest first.

    A pair's relevance for the matrix is at most that for its positive part.
    """
    target = target.made if isinstance(target, GriddedTarget) else target
    if isinstance(target, FactoredTarget):
        whole, signs = target.whole
        basis, upper = np.linalg.qr(whole.T)
        values, vectors = np.linalg.eigh((upper * signs) @ upper.T)
        vectors = basis @ vectors
    else:
        if samples.n > DENSE:
            raise InvalidInputError(
                f"interactions: the target has a matrix without a factor of low rank, and a scan "
                f"of pairs then takes at most {DENSE} samples, not {samples.n}: take a smooth "
                "kernel of the target, or name the pairs."
            )
        product: Any = target
        matrix = samples.remove(product.product(samples.remove(np.eye(samples.n))))
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    used = values > 1e-12 * values[-1:].max(initial=0.0)
    return np.asarray((vectors[:, used] * np.sqrt(values[used])).T[::-1])


@dataclass(frozen=True)
class PairRows:
    """The largest rows of some features, and what the bounds need."""

    #: Rows of all features, one below the other.
    rows: SingleArray
    #: Number of rows of each feature, shape (k,).
    heights: IntArray
    #: Rows of the squared entries of the matrices of these rows, or none.
    squares: SingleArray
    square_heights: IntArray
    #: Diagonal of what they leave out of the squared entries, shape (k, n), or none.
    square_rests: SingleArray
    #: Diagonal of each matrix, shape (k, n), or none.
    diagonals: SingleArray
    #: 1 where a feature is observed, shape (k, n), or none if no value is missing anywhere.
    observed: SingleArray
    #: Largest eigenvalue, a bound on the first one left out, and one on those never computed.
    largest: FloatArray
    next: FloatArray
    lost: FloatArray
    #: Trace of the matrix.
    trace: FloatArray
    #: Sums of the diagonals of the matrix, and of what is left out, times that of the target.
    with_target: FloatArray
    left_out: FloatArray

    @classmethod
    def together(cls, parts: list[PairRows]) -> PairRows:
        """Stack the rows of several parts."""
        names = [one.name for one in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    @property
    def n_bytes(self) -> int:
        """Memory of all arrays."""
        return sum(int(getattr(self, one.name).nbytes) for one in fields(self))


class RowMaker:
    """Makes the rows of features, alone and times those of a target.

    Parameters
    ----------
    features : Features
        Features, none of which is an interaction. Their covariates are not removed here: they are
        removed from products.
    target : ndarray of shape (p, n)
        Rows of the target's matrix, largest first.
    """

    def __init__(self, features: Features, target: FloatArray) -> None:
        plain = Samples(features.n_samples, features.samples.weights)
        error = max(_GRAM_ERROR, features.gram_error)
        self.features = replace(features.singles, samples=plain, gram_error=error)
        root = plain.root
        #: One over the roots of the weights of the samples.
        self.inverse = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
        number = min(_MOST_TARGET, _n_leading(target, _REST))
        every = target * self.inverse
        #: Largest rows of the target, without the roots of the weights.
        self.target = every[:number]
        self.diagonal = np.square(every).sum(axis=0)
        self._rest = np.square(every[number:]).sum(axis=0)

    def factors(self, numbers: IntArray) -> tuple[list[Factor], list[Scaled]]:
        """Return the factors of features, and the features on the scale of their kernels."""
        features, measure = self.features, _Unrestored()
        scaled = features.scaled(numbers)
        # kernels with recursions have no factor of low rank
        made = [
            matrix
            if isinstance(matrix, Factor)
            else factor_scaled(one, measure, features.gram_error)
            for one, matrix in zip(scaled, features.matrices(scaled, measure), strict=True)
        ]
        return made, scaled

    def largest(self, numbers: IntArray, rank: int, *, squares: bool, diagonals: bool) -> PairRows:
        """Return the `rank` largest rows of each feature; squares and diagonals if wanted."""
        n = self.features.n_samples
        factors, scaled = self.factors(numbers)
        rows = [factor.rows[:rank].astype(np.float32) for factor in factors]
        nothing = np.zeros((0, n), dtype=np.float32)
        others = (
            [self._squares(one) for one in rows] if squares else [(nothing, nothing)] * len(rows)
        )
        sums = np.zeros((len(rows), n), dtype=np.float32)[: len(rows) if diagonals else 0]
        for j in range(len(sums)):
            sums[j] = np.square(factors[j].rows).sum(axis=0)
        seen = nothing
        if self.features.least_observed:
            seen = np.array([one.samples.shares[0] > 0 for one in scaled], dtype=np.float32)
        return PairRows(
            np.concatenate([nothing, *rows]), np.array([len(one) for one in rows]),
            np.concatenate([nothing, *(one for one, _ in others)]),
            np.array([len(one) for one, _ in others]),
            np.concatenate([nothing, *(rest for _, rest in others)]),
            sums, seen, *self._numbers(factors, rank),
        )  # fmt: skip

    def _numbers(self, factors: list[Factor], rank: int) -> FloatArray:
        """Return what the bounds need of some factors, shape (6, k)."""
        n, made = self.features.n_samples, np.zeros((6, len(factors)))
        highest = self.diagonal.max(initial=0.0)
        for j, factor in enumerate(factors):
            values, lost = factor.eigenvalues, factor.error * factor.norm
            # a matrix of n samples with this norm has at most this trace
            lost_trace = np.sqrt(n) * lost
            after = float(values[rank]) if values.size > rank else 0.0
            every = np.square(factor.rows) @ self.diagonal
            made[:, j] = (
                values[:1].sum() + lost, after + lost, lost, values.sum() + lost_trace,
                every.sum() + lost_trace * highest, every[rank:].sum() + lost_trace * highest,
            )  # fmt: skip
        return made

    def _squares(self, rows: SingleArray) -> tuple[SingleArray, SingleArray]:
        """Return few rows of the squared entries of the matrix of rows (r, n).

        They are products of all pairs of rows; a pair of different rows occurs twice. The second
        result (1, n) is the diagonal of what they leave out.
        """
        i, j = np.triu_indices(len(rows))
        scale = np.where(i == j, 1.0, np.sqrt(2.0))
        products = rows[i] * rows[j] * (scale[:, None] * self.inverse)
        made = turned(products, np.ones(rows.shape[1]))
        # a share at each sample, because a single far value may have nearly all of the trace
        rests = np.cumsum(np.square(made)[::-1], axis=0)[::-1]
        whole = np.maximum(rests[:1], np.finfo(np.float32).tiny)
        number = int(np.count_nonzero((rests / whole).mean(axis=1) > _SQUARES_SHARE))
        rest = rests[number : number + 1] if number < len(rests) else np.zeros((1, rows.shape[1]))
        return made[:number].astype(np.float32), rest.astype(np.float32)

    def times_target(self, numbers: IntArray, share: float) -> tuple[list[SingleArray], FloatArray]:
        """Return the rows of each feature's matrix times that of the target, entry by entry.

        They may leave out twice a share of the trace. The second result (k,) has what they do.
        """
        ones, made, dropped = np.ones(self.inverse.size), [], []
        for factor in self.factors(numbers)[0]:
            every = np.square(factor.rows).sum(axis=0)
            allowed = share * float(every @ self.diagonal)
            rows, lost = products_of_rows(factor.rows, self.target, allowed, ones)
            kept, more = _leading(turned(rows, ones), share)
            made.append(kept)
            dropped.append(lost + more + float(every @ self._rest))
        return made, np.array(dropped)


def _leading(rows: FloatArray, share: float) -> tuple[SingleArray, float]:
    """Return the first of orthogonal rows, which leave out a share of the trace, and how much."""
    number = _n_leading(rows, share)
    return rows[:number].astype(np.float32), float(np.square(rows[number:]).sum())


def _n_leading(rows: FloatArray, share: float) -> int:
    """Return how many of orthogonal rows must be kept to leave out a share of the trace."""
    tails = np.cumsum(np.square(rows).sum(axis=1)[::-1])[::-1]
    return int(np.count_nonzero(tails > share * tails[:1]))
