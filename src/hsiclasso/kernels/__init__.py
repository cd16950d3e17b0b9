"""Station 2: one or several columns -> rows F with F'F equal to the Gram matrix, to a tolerance."""

from hsiclasso.kernels.base import Kernel, Terms, Width
from hsiclasso.kernels.cauchy import Cauchy
from hsiclasso.kernels.delta import Delta
from hsiclasso.kernels.factor import Factor
from hsiclasso.kernels.gaussian import Gaussian
from hsiclasso.kernels.grid import Grid
from hsiclasso.kernels.laplace import Laplace
from hsiclasso.kernels.linear import Linear
from hsiclasso.kernels.matern import Matern
from hsiclasso.kernels.measures import HSIC, NHSIC, NOCCO, Embedding, Measure, as_measure
from hsiclasso.kernels.polynomial import Polynomial
from hsiclasso.kernels.registry import KERNELS, as_kernel
from hsiclasso.kernels.samples import Samples

__all__ = [
    "HSIC",
    "KERNELS",
    "NHSIC",
    "NOCCO",
    "Cauchy",
    "Delta",
    "Embedding",
    "Factor",
    "Gaussian",
    "Grid",
    "Kernel",
    "Laplace",
    "Linear",
    "Matern",
    "Measure",
    "Polynomial",
    "Samples",
    "Terms",
    "Width",
    "as_kernel",
    "as_measure",
]
