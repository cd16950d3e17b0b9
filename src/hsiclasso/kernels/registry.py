"""All kernels by name. To add a kernel, write a file beside this one and add a line here."""

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

#: Constructor of the kernel of each name, with default parameters.
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
    """Return the kernel that has a name; a kernel object is checked and returned unchanged.

    Parameters
    ----------
    value : str or Kernel
        A name in `KERNELS`, or a kernel object.
    what : str, default="kernel"
        Name of the option in error messages.

    Examples
    --------
    >>> as_kernel("laplace")
    Laplace()
    """
    return as_option(what, value, Kernel, KERNELS)
