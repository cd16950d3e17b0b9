r"""Targets that are a matrix of affinities between samples.

A positive semi-definite matrix has a factor, :math:`T = \sum_k f_k f_k^\top`. Any other symmetric
matrix has negative eigenvalues too: :math:`T = \sum_k s_k f_k f_k^\top` with signs
:math:`s_k = \pm 1`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from hsiclasso._types import BoolArray, FloatArray
from hsiclasso.data.structure import check_sparse
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Measure, Samples
from hsiclasso.kernels.samples import NEGLIGIBLE
from hsiclasso.targets.base import Target, TargetData
from hsiclasso.targets.matrix import DENSE, FactoredTarget, OperatorTarget, TargetMatrix
from hsiclasso.targets.split import dense_rows
from hsiclasso.targets.values import tighter

__all__ = [
    "Affinity",
    "MatrixTarget",
    "Similarity",
    "check_affinity",
    "check_symmetric",
    "eigen_rows",
    "eigen_target",
    "operator_target",
]

#: Largest difference allowed between a matrix and its transpose, as a share of the largest entry.
_ASYMMETRY = 1e-8
#: A matrix is constant if its entries differ by less than this share of the largest.
_CONSTANT = 1e-12
#: A squared norm is 0 if it is below this share of the norm before anything was removed.
_NORM2_ROUNDING = 1e-13
#: Typical number of rows per feature.
_USUAL_RANK = 12
#: Operations of an eigendecomposition, in units of n^3.
_EIGEN_COST = 10


@dataclass(frozen=True)
class Similarity:
    """A symmetric matrix between samples, positive semi-definite or not."""

    #: Dense or sparse, shape (n, n).
    values: Any

    def matrix(
        self, measure: Measure, samples: Samples, *, error: float, n_features: int
    ) -> TargetMatrix:
        """Make the matrix T: a factor where that pays, else its products."""
        if sparse.issparse(self.values):
            if measure.regularisation and samples.n <= DENSE:
                return eigen_target(self.values.toarray(), measure, samples, error)
            return self._operator("a sparse affinity", measure, samples)
        # a factor costs n^3 once, and saves each feature about n^2 times its rank
        if measure.regularisation or n_features * _USUAL_RANK >= _EIGEN_COST * samples.n / 2:
            return eigen_target(self.values, measure, samples, error)
        return self._operator("an affinity", measure, samples)

    def _operator(self, words: str, measure: Measure, samples: Samples) -> OperatorTarget:
        values, shares = self.values, samples.shares[0]
        squares = values.power(2) if sparse.issparse(values) else np.square(values)
        norm2 = float(shares @ (squares @ shares))
        return operator_target(lambda columns: values @ columns, norm2, words, measure, samples)


class MatrixTarget(Target):
    """A target that is a matrix between all samples, dense or sparse."""

    def absent(self, values: Any, n: int) -> BoolArray:
        """Return False for all samples: a missing entry is refused."""
        return np.zeros(n, dtype=bool)

    def make(self, values: Any, rows: BoolArray) -> tuple[TargetData, Target]:
        """Return the matrix between the samples that are used."""
        return self.data(values if rows.all() else values[rows][:, rows]), self

    @abstractmethod
    def data(self, matrix: Any) -> TargetData:
        """Return the data of a checked matrix."""


class Affinity(MatrixTarget):
    """A matrix of affinities between samples: y is (n, n), dense or sparse, and symmetric.

    It may have negative eigenvalues, except under NOCCO.

    Examples
    --------
    >>> Affinity().prepare([[1, 0, 2], [0, 1, 0], [2, 0, 1]], 3).data.values
    array([[1., 0., 2.],
           [0., 1., 0.],
           [2., 0., 1.]])
    """

    name: ClassVar[str] = "affinity"
    words: ClassVar[str] = "a matrix between samples"

    def read(self, y: Any, n: int) -> Any:
        """Return the matrix, checked."""
        return check_affinity(y if sparse.issparse(y) else np.asarray(y), n)

    def data(self, matrix: Any) -> Similarity:
        """Return the data of a checked matrix."""
        return Similarity(matrix)


def eigen_target(
    gram: FloatArray, measure: Measure, samples: Samples, error: float
) -> FactoredTarget:
    """Factor a dense matrix, positive semi-definite or not."""
    root = samples.root
    weighed = root[:, None] * gram * root
    size = float(np.linalg.norm(weighed))
    matrix = samples.remove(samples.remove(weighed).T.copy())
    if np.linalg.norm(matrix) <= NEGLIGIBLE * size:
        return FactoredTarget(dense_rows(np.zeros((0, samples.n))), np.zeros(0), 0.0)
    tol = tighter(error)
    # NOCCO multiplies the error by 1 / (epsilon n)
    rows, signs = eigen_rows(0.5 * (matrix + matrix.T), tol * (measure.regularisation or 1.0))
    eigenvalues = np.einsum("ri,ri->r", rows, rows)
    if measure.regularisation:
        negative = signs < 0
        if np.linalg.norm(eigenvalues[negative]) > tol * np.linalg.norm(eigenvalues):
            raise InvalidInputError(
                "NOCCO needs a positive semi-definite target, and this affinity has negative "
                "eigenvalues: use HSICLasso, or add a multiple of the identity."
            )
        rows, eigenvalues, signs = rows[~negative], eigenvalues[~negative], signs[~negative]
    mapped = measure.shrink(eigenvalues, samples.total)
    norm = float(np.linalg.norm(mapped))
    if measure.normalised:
        mapped, norm = mapped / norm, 1.0
    rows = rows * np.sqrt(mapped / eigenvalues)[:, None]
    return FactoredTarget(dense_rows(rows), signs, norm**2)


def operator_target(
    product: Callable[[FloatArray], FloatArray],
    norm2: float | None,
    words: str,
    measure: Measure,
    samples: Samples,
) -> OperatorTarget:
    """Make the target of a matrix that is known by its products with columns (n, m).

    `norm2` is the squared norm of the weighted matrix, if it is known; `words` name it in errors.
    """
    if measure.regularisation:
        raise InvalidInputError(
            f"NOCCO needs the eigenvalues of the target, and {words} of {samples.n} "
            f"samples is too large for that: use HSICLasso, or at most {DENSE} samples."
        )
    root, removed = samples.root, samples.removed

    def multiply(rows: FloatArray) -> FloatArray:
        return np.asarray(product((rows * root).T)).T * root

    if norm2 is None:
        norm2 = _norm2_by_products(multiply, samples.n)
    image = multiply(removed)
    # the norm of P B P, from that of B
    projected = float(norm2 - 2 * np.sum(image**2) + np.sum((image @ removed.T) ** 2))
    projected = projected if projected > _NORM2_ROUNDING * norm2 else 0.0
    scale = 1 / np.sqrt(projected) if measure.normalised and projected else 1.0
    return OperatorTarget(lambda rows: scale * multiply(rows), float(projected * scale**2))


def _norm2_by_products(multiply: Callable[[FloatArray], FloatArray], n: int) -> float:
    """Squared Frobenius norm of a matrix from its products, a block of unit vectors at a time."""
    total, step = 0.0, 256
    for start in range(0, n, step):
        units = np.zeros((min(step, n - start), n))
        units[np.arange(len(units)), start + np.arange(len(units))] = 1.0
        total += float(np.sum(np.square(multiply(units))))
    return total


def eigen_rows(matrix: FloatArray, tol: float) -> tuple[FloatArray, FloatArray]:
    r"""Factor a symmetric matrix by its eigenvalues of largest modulus.

    .. math:: T = \sum_k \lambda_k v_k v_k^\top \approx \sum_{k \le r} s_k f_k f_k^\top, \qquad
              f_k = \sqrt{|\lambda_k|}\, v_k, \quad s_k = \operatorname{sign} \lambda_k,

    with the least r for which :math:`\sum_{k>r} \lambda_k^2 \le tol^2 \|T\|_F^2`. No matrix of
    rank r is closer to T.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric matrix; only its lower triangle is read.
    tol : float
        Frobenius norm that may be left out, as a share of that of T.

    Returns
    -------
    rows : ndarray of shape (r, n)
        Orthogonal rows f, by decreasing squared norm.
    signs : ndarray of shape (r,)
        Signs s, 1.0 or -1.0: ``(rows.T * signs) @ rows`` is T up to the tolerance.

    Examples
    --------
    >>> rows, signs = eigen_rows(np.array([[0.0, 1.0], [1.0, 0.0]]), 1e-6)
    >>> sorted(signs.tolist()), ((rows.T * signs) @ rows).round(12).tolist()
    ([-1.0, 1.0], [[0.0, 1.0], [1.0, 0.0]])
    """
    eigenvalues, vectors = np.linalg.eigh(matrix)
    order = np.argsort(-np.abs(eigenvalues), kind="stable")
    kept = eigenvalues[order]
    # tails[r] is the norm of what rank r leaves out; eigh is exact to about n eps
    tails = np.sqrt(np.append(np.cumsum(kept[::-1] ** 2)[::-1], 0.0))
    tol = max(tol, len(kept) * float(np.finfo(np.float64).eps))
    rank = int(np.argmax(tails <= tol * tails[0]))
    kept = kept[:rank]
    rows = vectors[:, order[:rank]].T * np.sqrt(np.abs(kept))[:, None]
    return rows, np.sign(kept)


def check_affinity(matrix: Any, n: int) -> FloatArray | sparse.csr_array:
    """Return a matrix of similarities between n samples as `check_symmetric` does.

    It may be indefinite, but not constant.

    Examples
    --------
    >>> check_affinity([[2, 1], [1, 2]], 2)
    array([[2., 1.],
           [1., 2.]])
    """
    made: Any = check_symmetric(matrix, n, "affinity", "L")
    data = made.data if sparse.issparse(made) else made
    # entries that a sparse matrix does not store are zeros
    data = np.append(data, 0.0) if data.size < n * n else data
    if np.ptp(data) <= _CONSTANT * np.abs(data).max():
        raise InvalidInputError(
            f"affinity is {data.flat[0]:.6g} for all pairs of samples, and nothing can depend on "
            "similarities that do not vary: pass values that differ between pairs."
        )
    return made


def check_symmetric(matrix: Any, n: int, name: str, symbol: str) -> FloatArray | sparse.csr_array:
    """Return a finite symmetric (n, n) matrix, dense or CSR, in double precision.

    Errors call the matrix `name` and `symbol`. The result may be the caller's own array; if it is
    symmetric only up to rounding, it is averaged with its transpose.
    """
    try:
        made = _as_double(matrix, name)
    except InvalidInputError:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"{name} cannot be read as a matrix of real numbers ({error}): pass a numeric array "
            "or a SciPy sparse matrix."
        ) from error
    if made.shape != (n, n):
        raise InvalidInputError(
            f"{name} has shape {made.shape}, but it needs one row and one column for each of the "
            f"{n} samples: shape ({n}, {n})."
        )
    data = made.data if sparse.issparse(made) else made
    if not np.isfinite(data).all():
        value = data[~np.isfinite(data)][0]
        raise InvalidInputError(
            f"{name} contains {value}, but its entries must be finite: use 0 for pairs without "
            "a known value."
        )
    difference = abs(made - made.T)
    largest = difference.max()
    if largest == 0:
        return made
    if largest > _ASYMMETRY * np.abs(data).max():
        i, j = (int(index[0]) for index in (difference >= largest).nonzero())
        raise InvalidInputError(
            f"{name}[{i}, {j}]={made[i, j]:.6g} but {name}[{j}, {i}]={made[j, i]:.6g}, and it "
            f"must be symmetric: pass ({symbol} + {symbol}.T) / 2."
        )
    return (made + made.T) / 2


def _as_double(matrix: Any, name: str) -> Any:
    """Convert to a dense array or to CSR without duplicates; do not change the argument."""
    if np.iscomplexobj(matrix):
        raise TypeError("its entries are complex")
    if not sparse.issparse(matrix):
        return np.asarray(matrix, dtype=np.float64)
    made = sparse.csr_array(check_sparse(name, matrix), dtype=np.float64)
    if not made.has_canonical_format:
        made = made.copy()
        made.sum_duplicates()
    return made
