"""The target's matrix T, as features are compared with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.kernels.base import TILE
from hsiclasso.kernels.factor import Factor
from hsiclasso.kernels.markov import LaplaceMatrix
from hsiclasso.kernels.measures import Measure
from hsiclasso.kernels.samples import Samples
from hsiclasso.targets.class_rows import ClassRows
from hsiclasso.targets.split import SplitRows, dense_rows, split_rows

__all__ = [
    "DENSE",
    "FactoredTarget",
    "LaplaceTarget",
    "OperatorTarget",
    "TargetMatrix",
    "factored_target",
    "together",
]

#: Samples up to which a matrix of all pairs is cheap.
DENSE = 4000
#: A difference of two matrices is 0 if its squared norm is below this share of the first's.
_NO_DIFFERENCE = 1e-10


class TargetMatrix(Protocol):
    """The matrix T of a target."""

    @property
    def norm2(self) -> float:
        """Squared Frobenius norm of T."""

    #: Whether it is a `FactoredTarget`, with which blocks of features are compared at once.
    factored: ClassVar[bool]
    #: Whether it has `inner`.
    knows_recursions: ClassVar[bool]

    def energy(self, rows: FloatArray) -> float:
        """Return the sum of ``f' T f`` over projected rows f of shape (r, n)."""

    def inner(self, matrix: LaplaceMatrix) -> Any:
        """Return the inner product of T with a matrix that is known by its products."""

    def minus(self, factor: Factor) -> TargetMatrix:
        r"""Return :math:`T - \beta C`, with C in factored form.

        :math:`\beta = \langle T, C\rangle / \|C\|^2` is the least-squares coefficient.
        """


@dataclass(frozen=True)
class FactoredTarget:
    """One target, or several at once: ``T = sum_r sign_r f_r f_r'``."""

    #: The rows f.
    rows: SplitRows | ClassRows
    #: Signs of the rows, those of the split ones first, shape (r,).
    signs: FloatArray
    #: Squared Frobenius norm of T.
    norm2: float
    #: First row of each of m targets, shape (m,).
    starts: tuple[int, ...] = (0,)

    factored: ClassVar[bool] = True
    knows_recursions: ClassVar[bool] = True

    @cached_property
    def whole(self) -> tuple[FloatArray, FloatArray]:
        """All rows (r, n), stored sample by sample, and their signs."""
        if isinstance(self.rows, ClassRows):
            return np.asfortranarray(self.rows.unsplit()), self.signs
        return np.asfortranarray(self.rows.unsplit()), np.roll(self.signs, -self.rows.offset.size)

    def energy(self, rows: FloatArray) -> float:
        """Return the sum of ``f' T f`` over projected rows f of shape (r, n)."""
        if isinstance(self.rows, ClassRows):
            return float(np.square(self.rows.products(rows)).sum())
        whole, signs = self.whole
        return float(np.sum(np.square(rows @ whole.T) @ signs))

    def inner(self, matrix: LaplaceMatrix) -> Any:
        """Return the inner products of the targets with a matrix known by its products."""
        whole, signs = self.whole
        return np.add.reduceat(signs * matrix.energies(whole), self.starts)

    def minus(self, factor: Factor) -> FactoredTarget:
        r"""Return :math:`T - \beta C`, with C in factored form."""
        if not len(factor.rows):
            return self
        whole, signs = self.whole
        beta, norm2 = _coefficient(self.energy(factor.rows), self.norm2, factor)
        both = np.concatenate([whole, np.sqrt(abs(beta)) * factor.rows])
        less = np.full(len(factor.rows), -np.sign(beta))
        return FactoredTarget(dense_rows(both), np.append(signs, less), norm2)


@dataclass(frozen=True)
class OperatorTarget:
    """A target without a factor of low rank, known by its products."""

    #: Multiplies projected rows (r, n) by T; the result may still have to be projected.
    product: Callable[[FloatArray], FloatArray]
    #: Squared Frobenius norm of T.
    norm2: float

    factored: ClassVar[bool] = False
    knows_recursions: ClassVar[bool] = False

    def energy(self, rows: FloatArray) -> float:
        """Return the sum of ``f' T f`` over projected rows f of shape (r, n)."""
        return float(np.sum(rows * self.product(rows)))

    def inner(self, matrix: LaplaceMatrix) -> float:
        """Raise: features are expanded into rows instead."""
        raise NotImplementedError

    def minus(self, factor: Factor) -> OperatorTarget:
        r"""Return :math:`T - \beta C`, with C in factored form."""
        if not len(factor.rows):
            return self
        rows, product = factor.rows, self.product
        beta, norm2 = _coefficient(self.energy(rows), self.norm2, factor)
        return OperatorTarget(
            lambda others: product(others) - beta * (others @ rows.T) @ rows, norm2
        )


@dataclass(frozen=True)
class LaplaceTarget:
    """A sum of matrices with Laplace kernels, whose products are exact."""

    matrices: tuple[LaplaceMatrix, ...]
    #: Squared Frobenius norm of the sum.
    norm2: float

    factored: ClassVar[bool] = False
    knows_recursions: ClassVar[bool] = True

    def product(self, rows: FloatArray) -> FloatArray:
        """Multiply projected rows (r, n) by T; the result may still have to be projected."""
        return sum((matrix.product(rows) for matrix in self.matrices), np.zeros_like(rows))

    def energy(self, rows: FloatArray) -> float:
        """Return the sum of ``f' T f`` over projected rows f of shape (r, n)."""
        return float(np.sum(rows * self.product(rows)))

    def inner(self, matrix: LaplaceMatrix) -> float:
        """Return the inner product of T with a matrix that is known by its products."""
        return sum(matrix.inner(other) for other in self.matrices)

    def minus(self, factor: Factor) -> OperatorTarget:
        r"""Return :math:`T - \beta C`, with C in factored form."""
        return OperatorTarget(self.product, self.norm2).minus(factor)


def factored_target(
    factor: Factor, samples: Samples, measure: Measure, error: float
) -> FactoredTarget:
    """Return the target of a factor, its rows split where that makes products cheaper."""
    factor = measure.finish(factor)
    rows = split_rows(factor, 0.1 * error, TILE[1]) if samples.plain else dense_rows(factor.rows)
    return FactoredTarget(rows, np.ones(len(factor.rows)), factor.norm**2)


def together(factors: list[Factor]) -> FactoredTarget:
    """Return several factored matrices as targets of one pass."""
    # the factor of a constant column has no rows: a row of zeros stands for it
    parts = [f.rows if len(f.rows) else np.zeros((1, f.rows.shape[1])) for f in factors]
    starts = tuple(np.cumsum([0, *(len(part) for part in parts[:-1])]).tolist())
    rows = np.concatenate(parts)
    return FactoredTarget(dense_rows(rows), np.ones(len(rows)), np.nan, starts)


def _coefficient(inner: float, norm2: float, factor: Factor) -> tuple[float, float]:
    """Return the least-squares coefficient of a factor, and the squared norm of the difference."""
    beta = inner / factor.norm**2
    rest = norm2 - beta * inner
    return beta, rest if rest > _NO_DIFFERENCE * norm2 else 0.0
