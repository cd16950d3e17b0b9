"""Station 2: feature -> factor F, FF' = centred Gram matrix."""

from hsiclasso.embedding.expand import ClosedForm, Embedding, Method
from hsiclasso.embedding.factor import (
    LEAST_STEP,
    TRIES,
    Factor,
    Reduction,
    Shrinkage,
    factor_columns,
)
from hsiclasso.embedding.features import Features, Matrix
from hsiclasso.embedding.hermite import BINS_PER_UNIT, BULK_SHARE, bases
from hsiclasso.embedding.kernels import (
    KERNEL_NAMES,
    Delta,
    Gaussian,
    Kernel,
    Laplace,
    Linear,
    Polynomial,
    Width,
    as_kernel,
    check_width_applies,
)
from hsiclasso.embedding.markov import LaplaceMatrix, laplace_matrix
from hsiclasso.embedding.samples import NOTHING, Samples
from hsiclasso.embedding.scale import median_distance, median_vector_distance
from hsiclasso.embedding.vectors import check_vector_kernel, vector_codes, vector_rows

__all__ = [
    "BINS_PER_UNIT",
    "BULK_SHARE",
    "KERNEL_NAMES",
    "LEAST_STEP",
    "NOTHING",
    "TRIES",
    "ClosedForm",
    "Delta",
    "Embedding",
    "Factor",
    "Features",
    "Gaussian",
    "Kernel",
    "Laplace",
    "LaplaceMatrix",
    "Linear",
    "Matrix",
    "Method",
    "Polynomial",
    "Reduction",
    "Samples",
    "Shrinkage",
    "Width",
    "as_kernel",
    "bases",
    "check_vector_kernel",
    "check_width_applies",
    "factor_columns",
    "laplace_matrix",
    "median_distance",
    "median_vector_distance",
    "vector_codes",
    "vector_rows",
]
