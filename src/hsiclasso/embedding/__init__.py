"""Station 2: column -> factor F, FF' = centred Gram matrix."""

from hsiclasso.embedding.expand import ClosedForm, Embedding, Method
from hsiclasso.embedding.factor import Factor, Shrinkage, factor_columns
from hsiclasso.embedding.hermite import BULK_SHARE, bases
from hsiclasso.embedding.kernels import Delta, Gaussian, Kernel, make_kernel, median_distance

__all__ = [
    "BULK_SHARE",
    "ClosedForm",
    "Delta",
    "Embedding",
    "Factor",
    "Gaussian",
    "Kernel",
    "Method",
    "Shrinkage",
    "bases",
    "factor_columns",
    "make_kernel",
    "median_distance",
]
