r"""The dependence measures, as what each does to a centred Gram matrix.

=====================  ==================================================
HSIC                   :math:`A = \bar K`
normalised HSIC        :math:`A = \bar K / \|\bar K\|_F`
NOCCO                  :math:`A = \bar K(\bar K + \epsilon n I)^{-1}`
=====================  ==================================================

The dependence of two columns is :math:`\langle A, A'\rangle`. Where values are missing, A is
that of the observed samples, zero elsewhere, and scaled by `Measure.restoration`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

import numpy as np

from hsiclasso.embedding import Shrinkage
from hsiclasso.errors import InvalidInputError

__all__ = ["Measure", "make_measure"]


class _Matrix(Protocol):
    """What `Factor` and `LaplaceMatrix` have in common."""

    @property
    def observed(self) -> float: ...

    def normalised(self) -> Self: ...

    def scaled(self, scale: float) -> Self: ...


AnyMatrix = TypeVar("AnyMatrix", bound=_Matrix)


@dataclass(frozen=True)
class Measure:
    """A dependence measure.

    Attributes
    ----------
    name : str
        ``"hsic"``, ``"nhsic"`` or ``"nocco"``.
    epsilon : float
        NOCCO's regularisation; 0 for the others.
    normalised : bool
        Whether matrices are divided by their Frobenius norm.
    """

    name: str
    epsilon: float = 0.0
    normalised: bool = False

    def shrinkage(self, n_samples: float) -> Shrinkage:
        """Return what the measure does to eigenvalues, before any normalisation."""
        return Shrinkage(self.epsilon * n_samples)

    def finish(self, matrix: AnyMatrix) -> AnyMatrix:
        """Return A from the shrunk Gram matrix, factored or known by its products."""
        if self.normalised:
            matrix = matrix.normalised()
        return matrix.scaled(self.restoration(matrix.observed))

    def restoration(self, observed: float) -> float:
        r"""Return the factor by which A makes up for missing values.

        With a share q of the samples observed, the norm of a centred Gram matrix is q times
        what it would be, while normalised and shrunk matrices have theirs whatever q is. With
        this factor A has the norm that it would have without missing values. The relevance of
        an unrelated feature is then the same on average, so that no feature is preferred or
        put back for being incomplete; that of a related one is q times as large, since a
        missing value contributes nothing.
        """
        return 1.0 if self.needs_gram else 1 / observed

    @property
    def needs_gram(self) -> bool:
        """Whether relevance needs the N x N Gram matrix of a column's features."""
        return self.normalised or self.epsilon > 0


def make_measure(name: str, epsilon: float = 1e-3) -> Measure:
    """Return the measure of a given name.

    Examples
    --------
    >>> make_measure("nocco", 1e-3).shrinkage(100).ridge
    0.1
    """
    if name == "hsic":
        return Measure("hsic")
    if name == "nhsic":
        return Measure("nhsic", normalised=True)
    if name == "nocco":
        if not (np.isfinite(epsilon) and epsilon > 0):
            raise InvalidInputError(
                f"epsilon={epsilon!r}, but NOCCO needs a positive finite regularisation: "
                "1e-3 is the paper's choice."
            )
        return Measure("nocco", epsilon=float(epsilon))
    raise InvalidInputError(f"measure={name!r} is unknown: choose 'hsic' or 'nhsic'.")
