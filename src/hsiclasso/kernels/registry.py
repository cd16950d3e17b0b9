"""All kernels by name. A new kernel is a file beside this one, and a line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hsiclasso._options import as_option
from hsiclasso.kernels.base import Kernel
from hsiclasso.kernels.cauchy import Cauchy
from hsiclasso.kernels.delta import Delta
from hsiclasso.kernels.gaussian import Gaussian
from hsiclasso.kernels.laplace import Laplace
from hsiclasso.kernels.linear import Linear
from hsiclasso.kernels.matern import Matern
from hsiclasso.kernels.polynomial import Polynomial

__all__ = ["KERNELS", "as_kernel"]

#: What makes the kernel of each name, with its default parameters.
KERNELS: dict[str, Callable[[], Kernel]] = {
    "gaussian": Gaussian,
    "laplace": Laplace,
    "cauchy": Cauchy,
    "matern": Matern,
    "delta": Delta,
    "plain_delta": lambda: Delta(by_count=False),
    "linear": Linear,
    "polynomial": Polynomial,
}


def as_kernel(value: Any, what: str = "kernel") -> Kernel:
    """Return the kernel that a name stands for, or a checked kernel as it is.

    Parameters
    ----------
    value : str or Kernel
        A name of `KERNELS`, or an object.
    what : str, default="kernel"
        Name of the option in errors.

    Examples
    --------
    >>> as_kernel("laplace")
    Laplace()
    """
    return as_option(what, value, Kernel, KERNELS)
