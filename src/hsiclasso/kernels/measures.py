r"""The dependence measures. Each one maps a centred Gram matrix to a matrix A.

=====================  ==================================================
HSIC                   :math:`A = \bar K`
normalised HSIC        :math:`A = \bar K / \|\bar K\|_F`
NOCCO                  :math:`A = \bar K(\bar K + \epsilon n I)^{-1}`
embedding              that of NOCCO for features, that of HSIC for the target
=====================  ==================================================

The dependence of two columns is :math:`\langle A, A'\rangle`. If values are missing, A is made
from the observed samples, is zero elsewhere, and is multiplied by `Measure.restoration`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar

import numpy as np

from hsiclasso._checks import is_positive
from hsiclasso._options import Option, as_option
from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError

__all__ = ["HSIC", "MEASURES", "NHSIC", "NOCCO", "Embedding", "Measure", "as_measure"]


#: Usual regularisation of functions, by measurement. The eigenvalues of a Gaussian Gram matrix over
#: n do not depend on n and fall geometrically: the best value hardly changes with n.
_USUAL_EPSILON, _LABELS_EPSILON = 0.02, 0.1
#: Smallest regularisation: below it, rounding errors decide.
_LEAST_EPSILON = 1e-7


class _Matrix(Protocol):
    """What a measure needs of a feature's matrix, which is a `Factor` or a `LaplaceMatrix`."""

    @property
    def observed(self) -> float: ...

    def normalised(self) -> Self: ...

    def scaled(self, scale: float) -> Self: ...


AnyMatrix = TypeVar("AnyMatrix", bound=_Matrix)


class Measure(Option):
    """A dependence measure.

    Attributes
    ----------
    name, title : str
        Name of the option, and title of the lasso with this measure.
    normalised : bool
        Whether matrices are divided by their Frobenius norm.
    regularisation : float
        NOCCO's epsilon; 0 for the others.
    transform : str or None
        Transform of a real target if the user leaves it to the measure; ``"tails"`` are normal
        scores if its tails are heavy.
    pair_weight : float
        Penalty of a pair of features, relative to single ones, if the user leaves it to the
        measure. It was found by simulation (`experiments.interactions`).
    """

    name: ClassVar[str]
    title: ClassVar[str]
    normalised: ClassVar[bool] = False
    regularisation: float = 0.0
    transform: ClassVar[str | None] = None
    pair_weight: ClassVar[float] = 1.0

    def suited(self, *, to_labels: bool) -> Measure:
        """Return the measure for a target of labels, or for another target."""
        return self

    def of_target(self) -> Measure:
        """Return the measure that makes the target's matrix."""
        return self

    @property
    def needs_gram(self) -> bool:
        """Whether relevance needs the N x N matrix of inner products of a column's N rows."""
        return self.normalised or self.regularisation > 0

    def similarity(self) -> Measure:
        """Return the measure for similarities: two equal features have similarity 1."""
        return NHSIC()

    def shrink(self, eigenvalues: FloatArray, total: Any) -> FloatArray:
        r"""Map eigenvalues of a centred Gram matrix: :math:`\lambda/(\lambda + \epsilon n)`."""
        if not self.regularisation:
            return eigenvalues
        return np.asarray(eigenvalues / (eigenvalues + self.regularisation * total))

    def lipschitz(self, total: Any) -> Any:
        r"""Return the largest factor by which the map f increases an error of the Gram matrix.

        With :math:`\rho = \epsilon n`,
        :math:`f(A) - f(B) = \rho (B+\rho)^{-1}(A-B)(A+\rho)^{-1}`. The factor, in the Frobenius
        norm, is therefore at most :math:`1/\rho`.
        """
        return 1 / (self.regularisation * total) if self.regularisation else 1.0

    def least_norm(self, trace: FloatArray, rank: Any, total: Any) -> FloatArray:
        """Return a lower bound on the Frobenius norm of A, from a trace within a rank."""
        if self.regularisation:
            return self.shrink(trace / rank, total)
        return np.asarray(trace / np.sqrt(rank))

    def usual_share(self, error: float) -> float:
        """Return the share of the trace that may be left out of most columns.

        A then has at most the relative error `error`, because the norm of a centred Gram matrix
        is usually above n/10, and the norm of a shrunk one above 1.
        """
        return 0.5 * error * (self.regularisation or 0.1)

    def finish(self, matrix: AnyMatrix) -> AnyMatrix:
        """Make A from the shrunk Gram matrix: normalise it, and compensate for missing values."""
        if self.normalised:
            matrix = matrix.normalised()
        return matrix.scaled(self.restoration(matrix.observed))

    def restoration(self, observed: Any) -> Any:
        r"""Return the factor of A that compensates for missing values.

        With this factor, A has the same norm as without missing values. If a share q of the
        samples is observed, the norm of a centred Gram matrix is q times as large, and the factor
        is 1/q. The norm of normalised and shrunk matrices does not depend on q: the factor is 1.

        The relevance of an unrelated feature is then the same on average, whether it is complete
        or not. The relevance of a related feature is q times as large, because a missing value
        contributes nothing.
        """
        return 1.0 if self.needs_gram else 1 / observed


class HSIC(Measure):
    """The Hilbert-Schmidt independence criterion of the paper."""

    name = "hsic"
    title = "HSIC Lasso"
    pair_weight = 0.55

    def of_target(self) -> Measure:
        """Return HSIC of normal scores if the target's tails are heavy."""
        return _TailedHSIC()


class NHSIC(Measure):
    """HSIC of Gram matrices that are divided by their Frobenius norms, as in pyHSICLasso."""

    name = "nhsic"
    title = "normalised HSIC Lasso"
    pair_weight = 1.9
    normalised = True

    def of_target(self) -> Measure:
        """Return the same of normal scores if the target's tails are heavy."""
        return _TailedNHSIC()


class _TailedHSIC(HSIC):
    """HSIC of a target that may have heavy tails."""

    transform = "tails"


class _TailedNHSIC(NHSIC):
    """Normalised HSIC of a target that may have heavy tails."""

    transform = "tails"


class NOCCO(Measure):
    r"""Normalised cross-covariance operator: :math:`\bar K(\bar K + \epsilon n I)^{-1}`.

    Parameters
    ----------
    epsilon : float, default=1e-3
        Regularisation of the inverse, 1e-7 or more.

    Examples
    --------
    >>> NOCCO(0.1).shrink(np.array([10.0, 90.0]), 100)
    array([0.5, 0.9])
    """

    name = "nocco"
    title = "NOCCO Lasso"
    pair_weight = 2.0

    def __init__(self, epsilon: float = 1e-3) -> None:
        self.epsilon = epsilon

    def check(self) -> Self:
        """Raise unless epsilon is a finite number that is not too small."""
        if not is_positive(self.epsilon) or self.epsilon < _LEAST_EPSILON:
            raise InvalidInputError(
                f"epsilon={self.epsilon!r}, but NOCCO needs a positive finite regularisation of "
                f"{_LEAST_EPSILON:g} or more: 1e-3 is the paper's choice."
            )
        return self

    @property
    def regularisation(self) -> float:  # type: ignore[override]
        """NOCCO's epsilon."""
        return float(self.epsilon)

    def similarity(self) -> Measure:
        """Return the measure for similarities: two equal features have similarity 1."""
        return _NormalisedNOCCO(self.epsilon)

    def of_target(self) -> Measure:
        """Return NOCCO of ranks.

        The inverse gives all directions of a kernel nearly the same size. Values in the tails have
        directions of their own, which hide the others; ranks have no tails.
        """
        return _RankedNOCCO(self.epsilon)


class _RankedNOCCO(NOCCO):
    """NOCCO of ranks."""

    transform = "rank"


class _EmbeddedTarget(HSIC):
    """HSIC of normal scores: the target's side of `Embedding`."""

    transform = "normal"


class Embedding(NOCCO):
    """NOCCO's matrices of features beside HSIC's matrix of the target.

    Parameters
    ----------
    epsilon : float or "auto", default="auto"
        Regularisation of the features; ``"auto"`` is 0.1 for classes and labels, else 0.02.
    """

    name = "embedding"
    title = "Embedding Lasso"
    pair_weight = 1.0
    transform = "normal"

    epsilon: Any

    def __init__(self, epsilon: float | Literal["auto"] = "auto") -> None:
        self.epsilon = epsilon

    def check(self) -> Self:
        """Raise unless epsilon is ``"auto"`` or a finite number that is not too small."""
        if isinstance(self.epsilon, str) and self.epsilon == "auto":
            return self
        if not is_positive(self.epsilon) or self.epsilon < _LEAST_EPSILON:
            raise InvalidInputError(
                f"epsilon={self.epsilon!r}, but functions need a finite regularisation of "
                f"{_LEAST_EPSILON:g} or more, such as 0.01, or 'auto'."
            )
        return self

    def suited(self, *, to_labels: bool) -> Measure:
        """Return the measure with a number as epsilon."""
        usual = _LABELS_EPSILON if to_labels else _USUAL_EPSILON
        return Embedding(usual) if self.epsilon == "auto" else self

    def of_target(self) -> Measure:
        """Return HSIC of normal scores."""
        return _EmbeddedTarget()


class _NormalisedNOCCO(NOCCO):
    """NOCCO of matrices that are divided by their Frobenius norms."""

    normalised = True


#: Constructor of the measure of each name, with default parameters.
MEASURES: dict[str, Callable[[], Measure]] = {"hsic": HSIC, "nhsic": NHSIC, "nocco": NOCCO}


def as_measure(value: Any) -> Measure:
    """Return the measure that has a name; a measure object is checked and returned unchanged.

    Examples
    --------
    >>> as_measure("nocco").title
    'NOCCO Lasso'
    """
    return as_option("measure", value, Measure, MEASURES)
