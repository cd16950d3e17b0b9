"""The kernels a feature can be given, as plain descriptions.

What a kernel makes of a column is in `hsiclasso.embedding.expand`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from hsiclasso.errors import InvalidInputError

__all__ = [
    "KERNEL_NAMES",
    "Delta",
    "Gaussian",
    "Kernel",
    "Laplace",
    "Linear",
    "Polynomial",
    "Width",
    "as_kernel",
    "check_width_applies",
]

Width = float | Literal["median"]


@dataclass(frozen=True)
class Gaussian:
    r"""Gaussian kernel of the standardised column, :math:`e^{-(x-x')^2/(2\sigma^2)}`.

    Of a vector, the squared distance is the mean over its standardised entries.

    Parameters
    ----------
    width : float, "median" or tuple of these
        :math:`\sigma` in standard deviations of the column, or the median of the non-zero
        pairwise distances of each column. Several widths stand for the mean of their kernels.

    Examples
    --------
    >>> Gaussian((0.5, 1.0, 2.0)).widths
    (0.5, 1.0, 2.0)
    """

    width: Width | tuple[Width, ...] = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.width, list):
            object.__setattr__(self, "width", tuple(self.width))
        if not self.widths:
            raise InvalidInputError("width=() has no width: give one or more.")
        for width in self.widths:
            _check_width("Gaussian", width)

    @property
    def widths(self) -> tuple[Width, ...]:
        """All widths."""
        return self.width if isinstance(self.width, tuple) else (self.width,)


@dataclass(frozen=True)
class Laplace:
    r"""Laplace kernel of the standardised column, :math:`e^{-|x-x'|/\sigma}`.

    Universal like the Gaussian kernel but not smooth, so that its Gram matrix is not of low
    rank: products with it are taken exactly, by recursions over the sorted column.

    Parameters
    ----------
    width : float or "median"
        :math:`\sigma`, as that of `Gaussian`.
    """

    width: Width = 1.0

    def __post_init__(self) -> None:
        _check_width("Laplace", self.width)


@dataclass(frozen=True)
class Delta:
    r"""Delta kernel: :math:`1/n_x` if :math:`x = x'`, and 0 otherwise.

    Parameters
    ----------
    by_count : bool
        :math:`n_x` is the number of samples with that value, as in the paper; with False it is
        1, the plain delta kernel, on the scale of a Gaussian kernel.
    observed : float
        Share of the samples that are counted; the numbers are divided by it. Set where values
        are missing, so that the kernel is what it would be without.
    """

    by_count: bool = True
    observed: float = field(default=1.0, repr=False)


@dataclass(frozen=True)
class Linear:
    """Linear kernel of the standardised column; of a vector, the mean over its entries."""


@dataclass(frozen=True)
class Polynomial:
    r"""Polynomial kernel of the standardised column, :math:`(x x' + c)^p`.

    Parameters
    ----------
    degree : int
        :math:`p`, 1 to 10.
    offset : float
        :math:`c \ge 0`; above 0, all powers up to the degree count.
    """

    degree: int = 2
    offset: float = 1.0

    def __post_init__(self) -> None:
        whole = isinstance(self.degree, int | np.integer) and not isinstance(self.degree, bool)
        if not (whole and 1 <= self.degree <= 10):
            raise InvalidInputError(
                f"degree={self.degree!r}, but a polynomial kernel needs a whole number between 1 "
                "and 10: 2 is the default."
            )
        if not (np.isfinite(self.offset) and self.offset >= 0):
            raise InvalidInputError(
                f"offset={self.offset!r}, but a polynomial kernel needs a finite offset >= 0: 1 is "
                "the default."
            )


Kernel = Gaussian | Laplace | Delta | Linear | Polynomial

_NAMED: dict[str, Callable[[], Kernel]] = {
    "gaussian": Gaussian,
    "laplace": Laplace,
    "delta": Delta,
    "plain_delta": lambda: Delta(by_count=False),
    "linear": Linear,
    "polynomial": Polynomial,
}
KERNEL_NAMES = tuple(_NAMED)


def as_kernel(value: Any, *, width: Any = 1.0, what: str = "kernel") -> Kernel:
    """Return the kernel that a name stands for, or the kernel itself.

    Parameters
    ----------
    value : str or Kernel
        A name of `KERNEL_NAMES`, or an object, whose own parameters then count.
    width : float, "median" or tuple
        Width of a kernel given by name that has one.
    what : str
        What to call the option in an error.

    Examples
    --------
    >>> as_kernel("laplace", width=2.0)
    Laplace(width=2.0)
    """
    if isinstance(value, Kernel):
        return value
    if value == "gaussian":
        return Gaussian(width)
    if value == "laplace":
        return Laplace(width)
    if isinstance(value, str) and value in _NAMED:
        return _NAMED[value]()
    raise InvalidInputError(
        f"{what}={value!r} is unknown: choose one of {', '.join(map(repr, KERNEL_NAMES))}, or a "
        "kernel object such as Gaussian(0.5)."
    )


def check_width_applies(kernel: Any, width: Any, what: str) -> None:
    """Raise if a width is given beside a kernel that takes none of it.

    Parameters
    ----------
    kernel : str or object
        What was asked for.
    width : float, "median" or tuple
        Width given beside it; 1.0 is the default.
    what : str
        ``"x"`` or ``"y"``.
    """
    takes = isinstance(kernel, str) and kernel in ("auto", "gaussian", "laplace")
    if takes or isinstance(kernel, Mapping) or width == 1.0:
        return
    raise InvalidInputError(
        f"{what}_width={width!r} has no meaning beside {what}_kernel={kernel!r}: it is the width "
        "of a Gaussian or Laplace kernel given by name; leave it out, or give it to the object, as "
        "in Gaussian(0.5)."
    )


def _check_width(kernel: str, width: Any) -> None:
    if isinstance(width, str) and width == "median":
        return
    number = isinstance(width, int | float | np.number) and not isinstance(width, bool)
    if not (number and np.isfinite(width) and width > 0):
        raise InvalidInputError(
            f"width={width!r}, but a {kernel} kernel needs a positive finite width or 'median': "
            "1.0 is the paper's choice."
        )
