r"""The rows of a target that a sum of functions of the features is to explain.

They are a factor F of the target's matrix, :math:`F^\top F = T`, divided by its norm. A target of
numbers has one more row for each output, the numbers that its kernel compares, such as normal
scores: the kernel's rows see any change of the distribution, and this row sees a change of the mean
with fewer samples.
"""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Measure, Samples
from hsiclasso.targets.base import TargetData
from hsiclasso.targets.gridded import GriddedTarget
from hsiclasso.targets.matrix import (
    DENSE,
    FactoredTarget,
    LaplaceTarget,
    OperatorTarget,
    TargetMatrix,
)
from hsiclasso.targets.split import dense_rows
from hsiclasso.targets.values import Values

__all__ = ["embedded_target", "target_rows"]

#: Norm of the row of numbers, beside rows of the kernel whose norm is 1.
LINEAR = 0.6
#: An eigenvalue is negative if it is below minus this share of the largest.
_NEGATIVE = 1e-8


def embedded_target(
    data: TargetData, matrix: TargetMatrix, measure: Measure, samples: Samples, error: float
) -> FactoredTarget:
    """Return the rows of a target, of which the matrix is known, as a target of the pass.

    Parameters
    ----------
    data : TargetData
    matrix : TargetMatrix
        Its matrix, on the same samples.
    measure : Measure
        The measure that made the matrix.
    samples : Samples
        Weights of the samples, and the directions that are removed.
    error : float
        Relative error that rows may have.
    """
    rows = target_rows(matrix, samples, error)
    parts = [rows / np.linalg.norm(rows)]
    if isinstance(data, Values) and not data.kernel.of_labels:
        numbers = samples.project(_standardised(data.compared(measure, samples.shares), samples))
        norm = np.linalg.norm(numbers)
        if norm > 0:
            parts.append(LINEAR / norm * numbers)
    together = np.concatenate(parts)
    norm2 = float(np.sum(np.square(together @ together.T)))
    return FactoredTarget(dense_rows(together), np.ones(len(together)), norm2)


def _standardised(values: FloatArray, samples: Samples) -> FloatArray:
    """Return values (q, n) with mean 0 and variance 1; a constant output is 0."""
    shares = samples.shares[0] / samples.total
    centred = values - (values @ shares)[:, None]
    spread = np.sqrt(np.square(centred) @ shares)[:, None]
    return np.asarray(np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0))


def target_rows(matrix: TargetMatrix, samples: Samples, error: float) -> FloatArray:
    """Return rows F (p, n) with ``F.T @ F`` equal to the matrix, which has no negative sign."""
    if isinstance(matrix, GriddedTarget):
        matrix = matrix.made
    if isinstance(matrix, FactoredTarget):
        rows, signs = matrix.whole
        if (signs < 0).any():
            _refuse_negative()
        return np.ascontiguousarray(rows)
    assert isinstance(matrix, LaplaceTarget | OperatorTarget)
    if samples.n > DENSE:
        raise InvalidInputError(
            f"n_samples={samples.n}, but a target without a factor of low rank has one row for "
            f"each sample here, and at most {DENSE} are possible: take a Gaussian kernel for a "
            "target of numbers, or HSICLasso."
        )
    dense = samples.remove(matrix.product(samples.remove(np.eye(samples.n))))
    eigenvalues, vectors = np.linalg.eigh(0.5 * (dense + dense.T))
    if eigenvalues[0] < -_NEGATIVE * eigenvalues[-1]:
        _refuse_negative()
    eigenvalues = np.maximum(eigenvalues, 0.0)
    left_out = np.sqrt(np.cumsum(np.square(eigenvalues)))
    kept = left_out > error * left_out[-1]
    return np.asarray((vectors[:, kept] * np.sqrt(eigenvalues[kept])).T)


def _refuse_negative() -> None:
    raise InvalidInputError(
        "the target's matrix has negative eigenvalues, but functions and tests need a positive "
        "semi-definite one: take another affinity, or HSICLasso alone, which needs no factor."
    )
