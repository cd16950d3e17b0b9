r"""Graph on the samples -> Gram matrix of its nodes.

Both kernels are functions of the symmetrically normalised Laplacian
:math:`L = I - D^{-1/2} A D^{-1/2}` of an undirected weighted graph, whose eigenvalues lie in
[0, 2]; the row of a node without edges is 0. `graph_gram` makes the Gram matrix of a small graph;
`GraphOperator` multiplies with that of a large sparse one without forming it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import ive

from hsiclasso._checks import is_positive
from hsiclasso._options import Option, as_option
from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Measure, Samples
from hsiclasso.targets.affinity import MatrixTarget, Similarity, check_symmetric, operator_target
from hsiclasso.targets.matrix import DENSE, TargetMatrix

__all__ = [
    "Diffusion",
    "Graph",
    "GraphKernel",
    "GraphOperator",
    "Links",
    "RegularisedLaplacian",
    "check_adjacency",
    "graph_gram",
]

#: Most nodes of a sparse graph that get a dense Gram matrix.
_DENSE_NODES = DENSE
#: Error that a truncated Chebyshev series may have anywhere on [0, 2].
_SERIES_ERROR = 1e-14
#: Largest beta: beyond it, all nodes of a connected component are almost equally similar.
_LARGEST_BETA = 1e6


class GraphKernel(Option):
    """A kernel of the nodes of a graph.

    Parameters
    ----------
    beta : float, default=1.0
        How far it reaches over the edges.
    """

    def __init__(self, beta: float = 1.0) -> None:
        self.beta = beta

    def check(self) -> Self:
        """Raise if beta is not positive, or too large."""
        if not (is_positive(self.beta) and self.beta <= _LARGEST_BETA):
            raise InvalidInputError(
                f"beta={self.beta!r}, but a graph kernel needs a number above 0 and up to "
                f"{_LARGEST_BETA:g}: 1.0 is the default, a larger one reaches further."
            )
        return self

    @abstractmethod
    def response(self, eigenvalues: FloatArray) -> FloatArray:
        """Map eigenvalues of L."""

    @abstractmethod
    def series(self) -> FloatArray:
        """Coefficients of the response in Chebyshev polynomials of L - I."""


class Diffusion(GraphKernel):
    r"""Diffusion kernel, :math:`e^{-\beta L}` (Kondor and Lafferty, 2002).

    Parameters
    ----------
    beta : float, default=1.0
        For how long heat spreads over the edges.
    """

    def response(self, eigenvalues: FloatArray) -> FloatArray:
        r"""Map eigenvalues of L: :math:`e^{-\beta\lambda}`."""
        return np.exp(-self.beta * eigenvalues)

    def series(self) -> FloatArray:
        r"""Coefficients c of the response in Chebyshev polynomials of L - I.

        .. math:: e^{-\beta(1+y)} = e^{-\beta} \Bigl(I_0(\beta) +
                  2 \sum_{k\ge1} (-1)^k I_k(\beta) T_k(y)\Bigr)

        with modified Bessel functions :math:`I_k`; about :math:`10 + 8\sqrt{\beta}` terms matter.
        """
        orders = np.arange(30 + int(np.ceil(10 * np.sqrt(self.beta))))
        return _truncated(ive(orders, self.beta))


class RegularisedLaplacian(GraphKernel):
    r"""Regularised Laplacian kernel, :math:`(I + \beta L)^{-1}` (Smola and Kondor, 2003).

    Parameters
    ----------
    beta : float, default=1.0
        How strongly neighbours are alike.
    """

    def response(self, eigenvalues: FloatArray) -> FloatArray:
        r"""Map eigenvalues of L: :math:`1/(1 + \beta\lambda)`."""
        return 1 / (1 + self.beta * eigenvalues)

    def series(self) -> FloatArray:
        r"""Coefficients c of the response in Chebyshev polynomials of L - I.

        .. math:: \frac{1}{1+\beta(1+y)} = \frac{1}{\sqrt{1+2\beta}} \Bigl(1 +
                  2 \sum_{k\ge1} (-q)^k T_k(y)\Bigr), \qquad
                  q = \frac{\beta}{1 + \beta + \sqrt{1+2\beta}};

        about :math:`24 \sqrt{1+\beta}` terms matter.
        """
        root = np.sqrt(1 + 2 * self.beta)
        ratio = self.beta / (1 + self.beta + root)
        length = 2 + int(np.ceil(np.log(1e-3 * _SERIES_ERROR) / np.log(ratio)))
        return _truncated(ratio ** np.arange(length) / root)


GRAPH_KERNELS: dict[str, Callable[[], GraphKernel]] = {
    "diffusion": Diffusion,
    "regularised_laplacian": RegularisedLaplacian,
}


@dataclass(frozen=True)
class Links:
    """Links between samples, with the kernel of their graph."""

    #: Dense or sparse, shape (n, n).
    adjacency: Any
    kernel: GraphKernel

    def matrix(
        self, measure: Measure, samples: Samples, *, error: float, n_features: int
    ) -> TargetMatrix:
        """Make the matrix T."""
        if samples.n <= DENSE or not sparse.issparse(self.adjacency):
            similarity = Similarity(graph_gram(self.adjacency, self.kernel))
            return similarity.matrix(measure, samples, error=error, n_features=n_features)
        product = GraphOperator(self.adjacency, self.kernel).product
        return operator_target(product, None, "a graph", measure, samples)


class Graph(MatrixTarget):
    """Links between samples: y is an (n, n) matrix of edge weights, dense or sparse.

    Parameters
    ----------
    kernel : {"diffusion", "regularised_laplacian"} or object, default="diffusion"
        Kernel made of the links; an object such as ``Diffusion(beta=2.0)``.

    Examples
    --------
    >>> Graph(Diffusion(2.0)).prepare([[0, 1, 0], [1, 0, 1], [0, 1, 0]], 3).data.kernel
    Diffusion(beta=2.0)
    """

    name: ClassVar[str] = "graph"
    words: ClassVar[str] = "links between samples"

    def __init__(self, kernel: Any = "diffusion") -> None:
        self.kernel = kernel

    def check(self) -> Self:
        """Raise if the kernel is unknown or breaks its rule."""
        as_option("kernel of the graph", self.kernel, GraphKernel, GRAPH_KERNELS)
        return super().check()

    def read(self, y: Any, n: int) -> Any:
        """Return the edge weights, checked."""
        return check_adjacency(y if sparse.issparse(y) else np.asarray(y), n)

    def data(self, matrix: Any) -> Links:
        """Return checked links with their kernel."""
        kernel = as_option("kernel of the graph", self.kernel, GraphKernel, GRAPH_KERNELS)
        return Links(matrix, kernel)


def _truncated(decreasing: FloatArray) -> FloatArray:
    """Turn positive terms into the series c_0, -2c_1, 2c_2, ... and cut it short."""
    series = 2 * decreasing
    series[0] /= 2
    # a Chebyshev polynomial is at most 1: the terms left out bound the error
    tails = np.append(np.cumsum(series[::-1])[::-1], 0.0)
    series[1::2] *= -1
    return series[: max(1, int(np.argmax(tails <= _SERIES_ERROR)))]


def check_adjacency(matrix: Any, n: int) -> FloatArray | sparse.csr_array:
    """Return the edge weights of an undirected graph on n samples as `check_symmetric` does.

    They are non-negative. The diagonal, loops from a node to itself, becomes 0.

    Examples
    --------
    >>> check_adjacency([[5, 2], [2, 0]], 2)
    array([[0., 2.],
           [2., 0.]])
    """
    made: Any = check_symmetric(matrix, n, "adjacency", "A")
    if (lowest := made.min()) < 0:
        raise InvalidInputError(
            f"adjacency contains {lowest:.6g}, but the weight of an edge cannot be negative: "
            "pass weights >= 0, or a matrix of both signs as an affinity."
        )
    if sparse.issparse(made):
        made = sparse.csr_array(made - sparse.diags_array(made.diagonal(), format="csr"))
        made.eliminate_zeros()
        n_edges = made.nnz
    else:
        made = np.where(np.eye(n, dtype=np.bool_), 0.0, made)
        n_edges = np.count_nonzero(made)
    if n_edges == 0:
        raise InvalidInputError(
            f"adjacency has no edge between two of the {n} samples, and nothing can depend on "
            "a graph without edges: pass a matrix with a positive entry off the diagonal."
        )
    return made


def graph_gram(adjacency: FloatArray | sparse.csr_array, kernel: GraphKernel) -> FloatArray:
    r"""Gram matrix of the nodes of a graph, :math:`\sum_k f(\lambda_k) v_k v_k^\top`.

    Takes O(n^3) time and O(n^2) memory for the eigenvalues :math:`\lambda` of the Laplacian.

    Parameters
    ----------
    adjacency : ndarray or csr_array of shape (n, n)
        What `check_adjacency` returns; a sparse graph of up to 4000 nodes.
    kernel : Diffusion or RegularisedLaplacian
        Kernel, with response f.

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric and positive semi-definite.

    Examples
    --------
    >>> graph_gram(np.array([[0.0, 1.0], [1.0, 0.0]]), RegularisedLaplacian())
    array([[0.66666667, 0.33333333],
           [0.33333333, 0.66666667]])
    """
    n = adjacency.shape[0]
    if sparse.issparse(adjacency) and n > _DENSE_NODES:
        raise InvalidInputError(
            f"adjacency has {n} nodes, but a sparse graph gets a dense Gram matrix only up to "
            f"{_DENSE_NODES}: use GraphOperator."
        )
    dense = sparse.csr_array(adjacency).toarray() if sparse.issparse(adjacency) else adjacency
    scale = _inverse_roots(dense.sum(axis=1))
    laplacian = -dense * scale[:, None] * scale
    laplacian[np.diag_indices(n)] += scale > 0
    eigenvalues, vectors = np.linalg.eigh(laplacian)
    # rounding may make an eigenvalue 0 negative, but no response exceeds f(0) = 1
    half = vectors * np.sqrt(kernel.response(np.maximum(eigenvalues, 0.0)))
    return np.asarray(half @ half.T)


def _inverse_roots(degrees: FloatArray) -> FloatArray:
    """Return 1/sqrt of the degrees, and 0 for nodes without edges."""
    return np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)


class GraphOperator:
    r"""Products with the Gram matrix K of a large sparse graph, which is never formed.

    A product is a Chebyshev series in the Laplacian, cut where its error is below 1e-14 (in the
    2-norm, where that of K is 1): :math:`K V = \sum_k c_k T_k(L - I) V` by the recurrence
    :math:`T_{k+1} = 2 (L-I) T_k - T_{k-1}`, each term at the cost of one sparse product. A factor
    of the Laplacian would fill up on graphs without small separators; the series needs no more
    memory than V.

    Parameters
    ----------
    adjacency : csr_array of shape (n, n)
        What `check_adjacency` returns for a sparse matrix.
    kernel : Diffusion or RegularisedLaplacian
        Kernel of the nodes.

    Examples
    --------
    >>> path = sparse.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> GraphOperator(path, Diffusion(0.5)).product(np.ones((3, 1))).round(3).ravel()
    array([0.907, 1.131, 0.907])
    """

    def __init__(self, adjacency: sparse.csr_array, kernel: GraphKernel) -> None:
        self.n: int = adjacency.shape[0]
        self.kernel = kernel
        scale = _inverse_roots(np.asarray(adjacency.sum(axis=1)).ravel())
        scaling = sparse.diags_array(scale)
        isolated = sparse.diags_array((scale == 0).astype(np.float64))
        # L - I: the diagonal of L is 1, except that it is 0 for nodes without edges
        self._shifted = sparse.csr_array(-(scaling @ adjacency @ scaling) - isolated)
        self._series = kernel.series()

    def product(self, V: FloatArray) -> FloatArray:
        """Multiply with the Gram matrix.

        Parameters
        ----------
        V : ndarray of shape (n, m)
            Vectors, one per column.

        Returns
        -------
        ndarray of shape (n, m)
            K V, in O(nnz m) per term of the series.
        """
        before, term, total = V, V, self._series[0] * V
        for k, coefficient in enumerate(self._series[1:]):
            following = self._shifted @ term
            if k:
                following *= 2
                following -= before
            total += coefficient * following
            before, term = term, following
        return np.asarray(total)
