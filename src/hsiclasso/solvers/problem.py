r"""What a solver sees of a problem: a convex quadratic, no kernels.

.. math:: \min_{a \ge 0} \tfrac12 a^\top G a - b^\top a + \lambda \|a\|_1

with :math:`G_{kl} = \langle A_k, A_l\rangle \ge 0` and :math:`b_k = \langle A_k, T\rangle`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hsiclasso._types import FloatArray, IntArray

__all__ = ["Among", "ExplicitProblem", "QuadraticProblem", "Ridged"]


class QuadraticProblem(Protocol):
    """The quadratic; entries of G are computed when asked for, never as a d x d matrix."""

    @property
    def linear(self) -> FloatArray:
        """Relevance b, shape (d,)."""

    @property
    def target_norm2(self) -> float:
        """Squared norm of the target, the constant of the least-squares form."""

    def diagonal(self, rows: IntArray) -> FloatArray:
        """Return G[k, k] for the given k."""

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return G[rows][:, cols]. All entries must be non-negative.

        Entries may be asked for more than once: keep them if they are expensive.
        """


@dataclass(frozen=True)
class ExplicitProblem:
    """A problem given by its matrices, for tests and small data."""

    #: G, with non-negative entries, shape (d, d).
    gram: FloatArray
    #: b, shape (d,).
    linear: FloatArray
    #: Squared norm of the target.
    target_norm2: float

    def diagonal(self, rows: IntArray) -> FloatArray:
        """Return G[k, k] for the given k."""
        return self.gram[rows, rows]

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return G[rows][:, cols]."""
        return self.gram[rows[:, None], cols]


@dataclass(frozen=True)
class _Derived:
    """A problem made from another one with the same target."""

    problem: QuadraticProblem

    @property
    def linear(self) -> FloatArray:
        """Relevance b."""
        return self.problem.linear

    @property
    def target_norm2(self) -> float:
        """Squared norm of the target."""
        return self.problem.target_norm2


@dataclass(frozen=True)
class Ridged(_Derived):
    r"""A problem with a fixed ridge part :math:`\tfrac12\rho\|a\|^2`.

    The ridge part of `Penalty.elastic_net` grows with the penalty; this one does not.
    """

    #: :math:`\rho`, added to the diagonal of G.
    ridge: float

    def diagonal(self, rows: IntArray) -> FloatArray:
        """Return G[k, k] + ridge."""
        return self.problem.diagonal(rows) + self.ridge

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return G[rows][:, cols], with the ridge where row and column are the same."""
        return np.asarray(self.problem.block(rows, cols) + self.ridge * (rows[:, None] == cols))


@dataclass(frozen=True)
class Among(_Derived):
    """A problem restricted to some of its features."""

    features: IntArray

    @property
    def linear(self) -> FloatArray:
        """Relevance b of these features."""
        return self.problem.linear[self.features]

    def diagonal(self, rows: IntArray) -> FloatArray:
        """Return G[k, k]."""
        return self.problem.diagonal(self.features[rows])

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return G[rows][:, cols]."""
        return self.problem.block(self.features[rows], self.features[cols])
