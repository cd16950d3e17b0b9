r"""The dependence measures, as what each does to a centred Gram matrix.

=====================  ==================================================
HSIC                   :math:`A = \bar K`
normalised HSIC        :math:`A = \bar K / \|\bar K\|_F`
NOCCO                  :math:`A = \bar K(\bar K + \epsilon n I)^{-1}`
=====================  ==================================================

The dependence of two columns is :math:`\langle A, A'\rangle`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsiclasso.embedding import Factor, Shrinkage
from hsiclasso.errors import InvalidInputError

__all__ = ["Measure", "make_measure"]


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

    def shrinkage(self, n_samples: int) -> Shrinkage:
        """Return what the measure does to eigenvalues, before any normalisation."""
        return Shrinkage(self.epsilon * n_samples)

    def finish(self, factor: Factor) -> Factor:
        """Return the factor of A from that of the shrunk Gram matrix."""
        return factor.normalised() if self.normalised else factor

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
