"""Targets of every kind -> the matrix T that every feature is compared with.

Most targets are factors, ``T = sum_r sign_r f_r f_r'``. One that has none of low rank - links
between samples, a large graph, the Laplace kernel - is known by its products with rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from hsiclasso._types import FloatArray
from hsiclasso.dependence.graphs import Diffusion, GraphOperator, RegularisedLaplacian, graph_gram
from hsiclasso.dependence.measures import Measure
from hsiclasso.dependence.pairwise import eigen_rows, pair_value, pairwise_gram, pairwise_rows
from hsiclasso.dependence.split import SplitRows, split_rows
from hsiclasso.dependence.survival import log_rank_rows
from hsiclasso.embedding import (
    NOTHING,
    Delta,
    Embedding,
    Factor,
    Kernel,
    Laplace,
    LaplaceMatrix,
    Reduction,
    Samples,
    laplace_matrix,
    vector_rows,
)
from hsiclasso.errors import InvalidInputError

__all__ = [
    "DENSE",
    "Affinity",
    "Censored",
    "Graph",
    "Pairwise",
    "Target",
    "TargetData",
    "Values",
    "make_target",
    "subtract",
]

#: Samples up to which a matrix of all pairs is cheap.
DENSE = 4000
#: Share of a squared norm that is rounding, where all of a target is removed.
_NORM2_ROUNDING = 1e-13
#: The same where one factored matrix is taken from another.
_NORM2_LEFT = 1e-10
#: A feature has about so many rows.
_USUAL_RANK = 12
#: An eigendecomposition takes about so many n^3 operations.
_EIGEN_COST = 10


@dataclass(frozen=True)
class Values:
    """A target of one value per sample, or several.

    Attributes
    ----------
    values : ndarray of shape (q, n)
        Real values, or codes for a delta kernel.
    kernel : Kernel
    averaged : bool
        Whether several outputs have a kernel each, which are averaged, instead of one together.
    """

    values: FloatArray
    kernel: Kernel
    averaged: bool = False


@dataclass(frozen=True)
class Censored:
    """Times until an event, some of them cut short.

    Attributes
    ----------
    time : ndarray of shape (n,)
    event : ndarray of bool of shape (n,)
        False where the event had not come when observation ended.
    kernel : Kernel
        Kernel of the times.
    """

    time: FloatArray
    event: Any
    kernel: Kernel


@dataclass(frozen=True)
class Affinity:
    """A symmetric matrix of affinities between samples, positive semi-definite or not.

    Attributes
    ----------
    matrix : ndarray or sparse array of shape (n, n)
    """

    matrix: Any


@dataclass(frozen=True)
class Graph:
    """Links between samples, and the kernel that is made of them.

    Attributes
    ----------
    adjacency : ndarray or sparse array of shape (n, n)
    kernel : Diffusion or RegularisedLaplacian
    """

    adjacency: Any
    kernel: Diffusion | RegularisedLaplacian


@dataclass(frozen=True)
class Pairwise:
    """Objects of any sort, and a function of two of them.

    Attributes
    ----------
    items : sequence of n objects
    function : callable
        Symmetric: ``function(a, b) == function(b, a)``.
    """

    items: Sequence[Any]
    function: Callable[[Any, Any], float]


TargetData = Values | Censored | Affinity | Graph | Pairwise


@dataclass(frozen=True)
class Target:
    """The target's matrix T.

    Attributes
    ----------
    rows : SplitRows
        Rows F with ``F.T @ diag(signs) @ F`` equal to T; without rows if there is a product.
    signs : ndarray of shape (r,)
        Signs of the rows, those of the split ones first.
    norm2 : float
        Squared Frobenius norm of T.
    product : callable or None
        Maps rows (m, n), which are weighed and have lost what is to be removed, to rows whose
        inner products with them are those with T between.
    laplace : tuple of LaplaceMatrix
        Matrices whose sum is T, if they have Laplace kernels.
    """

    rows: SplitRows
    signs: FloatArray
    norm2: float
    product: Callable[[FloatArray], FloatArray] | None = None
    laplace: tuple[LaplaceMatrix, ...] = ()


def make_target(
    data: TargetData,
    measure: Measure,
    samples: Samples,
    *,
    tol: float = 1e-6,
    n_features: int = 0,
) -> Target:
    """Make the matrix of a target.

    Parameters
    ----------
    data : TargetData
        What is known of the target.
    measure : Measure
        Dependence measure.
    samples : Samples
        Weights of the samples, and what is removed.
    tol : float
        Tolerance of the features. The target's matrix is made tighter, since its error enters
        the relevance of every feature.
    n_features : int
        Number of features it will be compared with, which tells whether factoring pays.

    Returns
    -------
    Target
    """
    return _Maker(measure, samples, tol, n_features).make(data)


@dataclass(frozen=True)
class _Maker:
    measure: Measure
    samples: Samples
    tol: float
    n_features: int

    def make(self, data: TargetData) -> Target:
        if isinstance(data, Values):
            return self.values(data)
        if isinstance(data, Censored):
            return self.censored(data)
        if isinstance(data, Pairwise):
            return self.pairwise(data)
        if isinstance(data, Graph):
            return self.graph(data)
        return self.affinity(data.matrix)

    @property
    def reduction(self) -> Reduction:
        shrinkage = self.measure.shrinkage(self.samples.total)
        return Reduction(self.samples, shrinkage, max(0.2 * self.tol, 1e-12))

    def values(self, data: Values) -> Target:
        weights, kernel = self.samples.weights, data.kernel
        embedding = Embedding(kernel, self.reduction.tol)
        if len(data.values) > 1 and not data.averaged:
            return self.factored(
                self.reduction.adapt(lambda share: vector_rows(data.values, kernel, share, weights))
            )
        if isinstance(kernel, Laplace) and not self.measure.epsilon:
            return self.laplace(data.values, embedding)

        for values in data.values:
            _check_rank(values, kernel)

        def expand(share: float) -> tuple[FloatArray, float]:
            parts = [embedding.expand(values, share, weights) for values in data.values]
            rows = np.concatenate([part for part, _ in parts]) / np.sqrt(len(parts))
            return rows, sum(left for _, left in parts) / len(parts)

        return self.factored(self.reduction.adapt(expand))

    def laplace(self, values: FloatArray, embedding: Embedding) -> Target:
        """Make the target of outputs (q, n) with Laplace kernels, whose products are exact."""
        scaled = values.copy()
        _, varying = embedding.prepare(scaled, 0.0, self.samples.weights)
        made = (laplace_matrix(scaled[j], self.samples) for j in varying)
        parts = [matrix for matrix in made if matrix.norm > 0]
        norm2 = float(sum(a.norm**2 if a is b else a.inner(b) for a in parts for b in parts))
        scale = 1 / np.sqrt(norm2) if self.measure.normalised and norm2 else 1 / len(values)
        matrices = tuple(part.scaled(scale) for part in parts)
        none = _dense_rows(np.zeros((0, self.samples.n)))

        def product(rows: FloatArray) -> FloatArray:
            return sum((matrix.product(rows) for matrix in matrices), np.zeros_like(rows))

        return Target(none, np.zeros(0), float(norm2 * scale**2), product, matrices)

    def censored(self, data: Censored) -> Target:
        weights = self.samples.weights
        _check_rank(data.time, data.kernel)
        features, left = Embedding(data.kernel, self.tol).expand(data.time, 1e-13, weights)
        rows = log_rank_rows(features, data.time, data.event, weights)
        size = float(np.sum(np.square(rows)))
        # averages over risk sets have norm 2 at most (Hardy), and I - A one of 3
        return self.factored(self.reduction.turn(self.samples.remove(rows), 9 * left, size))

    def pairwise(self, data: Pairwise) -> Target:
        n, most = self.samples.n, float(self.samples.root.max()) ** 2
        value = cache(lambda i, j: data.function(data.items[i], data.items[j]))
        diagonal = sum(pair_value(range(n), value, i, i) for i in range(n))

        def expand(share: float) -> tuple[FloatArray, float]:
            # of the trace, where the share is one of the weight
            found = pairwise_rows(range(n), value, share * self.samples.total / (most * diagonal))
            if found is None:
                raise _IndefiniteError
            return found[0], most * found[1]

        try:
            if diagonal <= 0:
                raise _IndefiniteError
            return self.factored(self.reduction.adapt(expand))
        except _IndefiniteError:
            return self.eigen(pairwise_gram(range(n), value))

    def graph(self, data: Graph) -> Target:
        if self.samples.n <= DENSE or not sparse.issparse(data.adjacency):
            return self.affinity(graph_gram(data.adjacency, data.kernel))
        return self.operator(GraphOperator(data.adjacency, data.kernel).product, "a graph")

    def affinity(self, matrix: Any) -> Target:
        n = self.samples.n
        if sparse.issparse(matrix):
            if self.measure.epsilon and n <= DENSE:
                return self.eigen(matrix.toarray())
            return self.operator(lambda columns: matrix @ columns, "a sparse affinity", matrix)
        # a factor costs n^3 once, and spares each feature about n^2 times its rank
        if self.measure.epsilon or self.n_features * _USUAL_RANK >= _EIGEN_COST * n / 2:
            return self.eigen(matrix)
        return self.operator(lambda columns: matrix @ columns, "an affinity", matrix)

    def eigen(self, gram: FloatArray) -> Target:
        """Factor a dense matrix, positive semi-definite or not."""
        root = self.samples.root
        weighed = root[:, None] * gram * root
        size = float(np.linalg.norm(weighed))
        matrix = self.samples.remove(self.samples.remove(weighed).T.copy())
        if np.linalg.norm(matrix) <= NOTHING * size:
            return Target(_dense_rows(np.zeros((0, self.samples.n))), np.zeros(0), 0.0)
        tol = self.reduction.tol
        # what NOCCO leaves out grows by 1 / (epsilon n)
        rows, signs = eigen_rows(0.5 * (matrix + matrix.T), tol * (self.measure.epsilon or 1.0))
        eigenvalues = np.einsum("ri,ri->r", rows, rows)
        if self.measure.epsilon:
            negative = signs < 0
            if np.linalg.norm(eigenvalues[negative]) > tol * np.linalg.norm(eigenvalues):
                raise InvalidInputError(
                    "NOCCO needs a positive semi-definite target, and this affinity has negative "
                    "eigenvalues: use HSICLasso, or add a multiple of the identity."
                )
            rows, eigenvalues = rows[~negative], eigenvalues[~negative]
            signs = signs[~negative]
        mapped = self.measure.shrinkage(self.samples.total)(eigenvalues)
        norm = float(np.linalg.norm(mapped))
        if self.measure.normalised:
            mapped = mapped / norm
            norm = 1.0
        rows = rows * np.sqrt(mapped / eigenvalues)[:, None]
        return Target(_dense_rows(rows), signs, norm**2)

    def operator(
        self, product: Callable[[FloatArray], FloatArray], what: str, matrix: Any = None
    ) -> Target:
        """Keep a matrix as what multiplies columns (n, m); its entries too if they are known."""
        if self.measure.epsilon:
            raise InvalidInputError(
                f"NOCCO needs the eigenvalues of the target, and {what} of {self.samples.n} "
                f"samples is too large for that: use HSICLasso, or at most {DENSE} samples."
            )
        root, removed = self.samples.root, self.samples.removed

        def multiply(rows: FloatArray) -> FloatArray:
            return np.asarray(product((rows * root).T)).T * root

        if matrix is None:
            whole = _norm2_by_products(multiply, self.samples.n)
        else:
            squares = matrix.power(2) if sparse.issparse(matrix) else np.square(matrix)
            whole = float(np.square(root) @ (squares @ np.square(root)))
        image = multiply(removed)
        # of P B P, from that of B
        norm2 = float(whole - 2 * np.sum(image**2) + np.sum((image @ removed.T) ** 2))
        norm2 = norm2 if norm2 > _NORM2_ROUNDING * whole else 0.0
        scale = 1 / np.sqrt(norm2) if self.measure.normalised and norm2 else 1.0
        none = _dense_rows(np.zeros((0, self.samples.n)))
        norm2 = float(norm2 * scale**2)
        return Target(none, np.zeros(0), norm2, lambda rows: scale * multiply(rows))

    def factored(self, factor: Factor) -> Target:
        factor = self.measure.finish(factor)
        plain = self.samples.plain
        rows = split_rows(factor, 0.1 * self.tol) if plain else _dense_rows(factor.rows)
        return Target(rows, np.ones(len(factor.rows)), factor.norm**2)


class _IndefiniteError(Exception):
    """A function of two samples is not positive semi-definite."""


def subtract(target: Target, factor: Factor) -> Target:
    r"""Take from T what another matrix C explains of it, :math:`T - \beta C`.

    :math:`\beta = \langle T, C\rangle / \|C\|^2` is the least-squares coefficient.
    """
    rows = factor.rows
    if not len(rows):
        return target
    if target.product is None:
        whole = target.rows.unsplit()
        signs = np.roll(target.signs, -target.rows.offset.size)  # in the order of `unsplit`
        inner = float(signs @ np.square(whole @ rows.T).sum(axis=1))
    else:
        inner = float(np.sum(rows * target.product(rows)))
    beta = inner / factor.norm**2
    norm2 = target.norm2 - beta * inner
    norm2 = norm2 if norm2 > _NORM2_LEFT * target.norm2 else 0.0
    less = np.sqrt(abs(beta)) * rows
    if target.product is None:
        both = np.concatenate([whole, less])
        return Target(
            _dense_rows(both), np.append(signs, np.full(len(less), -np.sign(beta))), norm2
        )
    product = target.product
    return replace(
        target,
        norm2=norm2,
        laplace=(),
        product=lambda others: product(others) - beta * (others @ rows.T) @ rows,
    )


def _check_rank(values: FloatArray, kernel: Kernel) -> None:
    """Raise if a kernel has a factor of one row per distinct value, and these are too many."""
    full = isinstance(kernel, Delta | Laplace)
    if full and (n_distinct := np.unique(values).size) > DENSE:
        raise InvalidInputError(
            f"y has {n_distinct} distinct values, and {kernel!r} needs a row for each here: take a "
            f"Gaussian kernel, HSICLasso instead of NOCCO, or at most {DENSE} of them."
        )


def _norm2_by_products(multiply: Callable[[FloatArray], FloatArray], n: int) -> float:
    """Squared Frobenius norm of a matrix from its products, a block of unit vectors at a time."""
    total, step = 0.0, 256
    for start in range(0, n, step):
        units = np.zeros((min(step, n - start), n))
        units[np.arange(len(units)), start + np.arange(len(units))] = 1.0
        total += float(np.sum(np.square(multiply(units))))
    return total


def _dense_rows(rows: FloatArray) -> SplitRows:
    return SplitRows(rows, np.zeros(0, dtype=np.int64), np.zeros((0, 0)), np.zeros(0))
