"""What FVM and QPFS share: the redundancies, the shift that makes them convex, the quadratic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.linalg.blas import dsymv
from scipy.sparse.linalg import LinearOperator, eigsh

from hsiclasso._checks import check_number
from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.baselines.dependency import Dependency, MeasuredBaseline, dependency_matrix
from hsiclasso.baselines.job import Choice, Job
from hsiclasso.errors import InvalidInputError
from hsiclasso.solvers import Certificate

__all__ = [
    "DenseQuadratic",
    "LowRankQuadratic",
    "Quadratic",
    "QuadraticBaseline",
    "lowest_eigenvalue",
    "make_convex",
    "matters",
]

#: Most features between which all dependences are held: 3 GB.
_MAX_FEATURES = 20_000
#: Margin of the lowest eigenvalue above zero, relative to the largest diagonal entry.
_MARGIN = 1e-8
#: Up to this size a matrix is reduced to three diagonals; beyond it a factor is faster.
_DIRECT = 2000
#: Relative accuracy of an eigenvalue and number of Lanczos vectors, for a guess and for the result.
_ROUGH, _FINE = (1e-3, 40), (1e-10, 8)
_EPS = float(np.finfo(np.float64).eps)
#: Dependences below this share of the largest are rounding errors.
_NOTHING = 1e-12
#: Rows of a matrix that are multiplied at once.
_ROWS = 512


@dataclass(frozen=True)
class DenseQuadratic:
    """A quadratic given by its matrix."""

    matrix: FloatArray  # (d, d), symmetric
    linear: FloatArray  # (d,)
    scale: float = 1.0  # factor of the matrix
    target_norm2: float = 0.0  # squared norm of the target, for solvers of least squares

    def diagonal(self, rows: IntArray) -> FloatArray:
        """Return the diagonal entries of some features."""
        return self.scale * self.matrix[rows, rows]

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the entries of features `rows` against features `cols`."""
        if rows.size > cols.size:  # gather the fewer rows, by symmetry
            return self.scale * self.matrix[cols][:, rows].T
        return self.scale * self.matrix[rows][:, cols]

    def times(self, features: IntArray, weights: FloatArray) -> FloatArray:
        """Return the columns of some features times weights."""
        product = np.zeros(self.linear.size)
        for start in range(0, features.size, _ROWS):
            part = slice(start, start + _ROWS)
            product += (self.scale * weights[part]) @ self.matrix[features[part]]
        return product


@dataclass(frozen=True)
class LowRankQuadratic:
    r"""A quadratic with the matrix :math:`c\,(FF^\top + sI)`, which is never made."""

    factor: FloatArray  # F (d, r)
    linear: FloatArray  # (d,)
    scale: float = 1.0  # c
    shift: float = 0.0  # s

    def diagonal(self, rows: IntArray) -> FloatArray:
        """Return the diagonal entries of some features."""
        squares = np.einsum("ij,ij->i", self.factor[rows], self.factor[rows])
        return np.asarray(self.scale * (squares + self.shift))

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the entries of features `rows` against features `cols`."""
        product = self.factor[rows] @ self.factor[cols].T
        return np.asarray(self.scale * (product + self.shift * (rows[:, None] == cols)))

    def times(self, features: IntArray, weights: FloatArray) -> FloatArray:
        """Return the columns of some features times weights."""
        product = self.factor @ (weights @ self.factor[features])
        product[features] += self.shift * weights
        return np.asarray(self.scale * product)


#: A quadratic, whose matrix need not exist.
Quadratic = DenseQuadratic | LowRankQuadratic


def lowest_eigenvalue(matrix: FloatArray) -> tuple[float, float]:
    r"""Return the lowest eigenvalue of a symmetric matrix without negative entries, and its error.

    A matrix of more than 2000 rows takes inverse iteration with a Cholesky factor of
    :math:`D + lI`, where l is large enough for the factor to exist.

    Examples
    --------
    >>> round(lowest_eigenvalue(np.array([[1.0, 2.0], [2.0, 1.0]]))[0], 12)
    -1.0
    """
    if len(matrix) <= _DIRECT:
        value = eigh(matrix, eigvals_only=True, subset_by_index=[0, 0], check_finite=False)[0]
        return float(value), len(matrix) * _EPS * float(np.abs(matrix).max())
    start = np.random.default_rng(0).standard_normal(len(matrix))
    margin = _MARGIN * float(np.diag(matrix).max())
    # an indefinite matrix mostly shows it in its first rows
    hopeful = _factor(matrix[:_DIRECT, :_DIRECT], margin) is not None
    factor = _factor(matrix, margin) if hopeful else None
    lift = 0.0
    while factor is None:  # about the least lift that works
        lift = 2 * lift or max(_guess_lift(matrix, start), 2 * margin)
        factor = _factor(matrix, lift)

    def invert(vector: FloatArray) -> FloatArray:
        return np.asarray(cho_solve(factor, vector.ravel(), check_finite=False))

    return _extreme(matrix, invert, _FINE, start)


def _factor(matrix: FloatArray, lift: float) -> tuple[FloatArray, bool] | None:
    """Cholesky factor of a matrix with a constant on its diagonal; None if it has none."""
    diagonal = np.diag(matrix).copy()
    places = np.diag_indices_from(matrix)
    matrix[places] = diagonal + lift
    try:
        # LAPACK wants columns: the transpose of a symmetric matrix is copied without reordering
        factor: tuple[FloatArray, bool] = cho_factor(matrix.T, lower=True, check_finite=False)
    except LinAlgError:
        return None
    finally:
        matrix[places] = diagonal
    return factor


def _guess_lift(matrix: FloatArray, start: FloatArray) -> float:
    """Estimate by Lanczos' method the constant that lifts the lowest eigenvalue to zero."""
    top = float(matrix.sum(axis=1).max())  # no eigenvalue is larger

    def reverse(vector: FloatArray) -> FloatArray:
        # reads one triangle only
        return np.asarray(dsymv(-1.0, matrix.T, vector.ravel(), top, vector.ravel()))

    value, error = _extreme(matrix, reverse, _ROUGH, start)
    return error - value


def _extreme(
    matrix: FloatArray,
    operator: Callable[[FloatArray], FloatArray],
    accuracy: tuple[float, int],
    start: FloatArray,
) -> tuple[float, float]:
    """Eigenvalue, and its error, of the vector that `operator` stretches most.

    The operator is a function of the matrix: both have the same eigenvectors.
    """
    linear = LinearOperator(matrix.shape, operator, dtype=np.float64)
    tol, n_vectors = accuracy
    _, vectors = eigsh(linear, k=1, which="LA", tol=tol, v0=start, ncv=n_vectors)
    vector = vectors[:, 0]
    product = matrix @ vector
    value = float(vector @ product)
    return value, float(np.linalg.norm(product - value * vector))


def make_convex(
    matrix: FloatArray, shift: Literal["auto"] | float, *, strictly: bool
) -> tuple[float, float]:
    r"""Add a constant to the diagonal of (d, d), in place, that leaves no negative eigenvalue.

    ``"auto"`` adds nothing if the matrix is positive definite, and else :math:`-\lambda_{\min}`
    with a margin for rounding errors. A given constant must make the matrix positive semi-definite,
    or positive definite if `strictly`. Returns the constant, and the lowest eigenvalue before, NaN
    if there is no feature.
    """
    if not matrix.size:
        return 0.0, np.nan
    lowest, error = lowest_eigenvalue(matrix)
    margin = _MARGIN * float(np.diag(matrix).max()) + error
    least = max(margin - lowest, 0.0)
    if shift == "auto":
        shift = 0.0 if lowest > margin else least
    elif shift < (least if strictly else least - 2 * margin):
        word = "definite" if strictly else "semi-definite"
        raise InvalidInputError(
            f"shift={shift!r}, but the matrix of redundancies has the eigenvalue "
            f"{lowest:.6g}, and must be positive {word}: take shift='auto', or at least "
            f"{least:.6g}."
        )
    matrix[np.diag_indices_from(matrix)] += shift
    return float(shift), lowest


@dataclass(kw_only=True, eq=False, repr=False)
class QuadraticBaseline(MeasuredBaseline):
    """A quadratic program over the dependences between all features."""

    shift: Literal["auto"] | float = "auto"
    #: What to do if there are too many features.
    _remedy: ClassVar[str]

    _entries = MeasuredBaseline._entries | {
        "shift": """\
shift : float or "auto", default="auto"
        Constant to add to the diagonal of D. ``"auto"`` adds none if D is positive definite, and
        else minus its lowest eigenvalue plus a margin for rounding errors.""",
        "shifted": """\
min_eigenvalue_ : float
        Lowest eigenvalue of D before the shift; with landmarks, of D among them. NaN if no column
        varies.
    shift_ : float
        Constant that was added to the diagonal.""",
    }

    def _check(self) -> None:
        number = check_number("shift", self.shift, "'auto'")
        if number is not None and number < 0:
            raise InvalidInputError(
                f"shift={self.shift!r}, but the constant added to the diagonal must be >= 0, or "
                "'auto'."
            )
        super()._check()
        if self.measure == "f":
            raise InvalidInputError(
                f"measure='f' mixes an F-test with correlations, but {self.traits.title} weighs "
                "relevance against redundancy on one scale: take measure='correlation'."
            )

    def _choose(self, job: Job) -> Choice:
        self._check_size(job)
        dependency = self._options().relate(job)
        self.relevance_ = dependency.relevance
        self.coef_ = np.zeros(job.source.n_features)
        self.certificate_ = Certificate(0.0, 0.0, 0)
        unsolved = self._weigh(job, dependency)
        words = self._words()
        if self.shift_ > 0 and self.coef_.any():
            words += f", with {self.shift_:.3g} added to the diagonal of the redundancies"
        scores = np.abs(self.coef_)
        return Choice(scores, self.relevance_, f"{words}.", unsolved=unsolved)

    def _weigh(self, job: Job, dependency: Dependency) -> str:
        """Set the weights and what belongs to them; return what did not converge."""
        raise NotImplementedError

    def _words(self) -> str:
        """Say how many weights there are."""
        raise NotImplementedError

    def _check_size(self, job: Job) -> None:
        """Raise if there are too many features for a matrix between all of them."""
        d = int(np.count_nonzero(job.varies))
        if d > _MAX_FEATURES:
            raise InvalidInputError(
                f"X has {d} columns that vary, but {self.traits.title} holds a dependence for "
                f"every pair of them, which would take {8e-9 * d * d:.0f} GB, and more than once: "
                f"at most {_MAX_FEATURES} are taken. {self._remedy}"
            )

    def _redundancy(self, job: Job, dependency: Dependency) -> tuple[FloatArray, IntArray]:
        """All dependences between the features that have any, and which these are."""
        features = np.flatnonzero(job.varies)
        matrix = dependency_matrix(dependency, job.report, features)
        # a column that is cut into a single state would cost nothing at any weight
        kept = np.flatnonzero(matters(np.diag(matrix)))
        if kept.size == features.size:
            return matrix, features
        return matrix[np.ix_(kept, kept)], features[kept]

    def _shift(self, job: Job, matrix: FloatArray, *, strictly: bool) -> None:
        """Make a matrix positive (semi-)definite, in place."""
        job.report("shift", 0, 1)
        self.shift_, self.min_eigenvalue_ = make_convex(matrix, self.shift, strictly=strictly)
        job.report("shift", 1, 1)


def matters(dependence: FloatArray) -> BoolArray:
    """Tell which dependences are more than rounding errors."""
    return np.asarray(dependence > _NOTHING * dependence.max(initial=0.0))
