"""Vectors as one feature: several columns under one kernel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.embedding.expand import indicators
from hsiclasso.embedding.kernels import Delta, Gaussian, Kernel, Laplace, Linear, Polynomial, Width
from hsiclasso.embedding.scale import median_vector_distance, standardised
from hsiclasso.errors import InvalidInputError

__all__ = ["check_vector_kernel", "vector_codes", "vector_rows", "vector_scale"]


#: Share of the trace below which a residual is rounding.
_ROUNDING = 1e-15


def check_vector_kernel(kernel: Kernel, what: str) -> None:
    """Raise if a kernel is defined for single columns only."""
    if isinstance(kernel, Laplace):
        raise InvalidInputError(
            f"{what} has several columns, and the Laplace kernel is for single ones: take "
            "'gaussian', 'linear', 'polynomial' or 'delta' for it."
        )


def vector_rows(
    vectors: FloatArray, kernel: Kernel, share: float, weights: FloatArray | None = None
) -> tuple[FloatArray, float]:
    """Expand vectors, the columns of (q, n), under one kernel.

    Every entry is standardised, so that none counts more than another. Returns the features,
    shape (r, n), and the weighted trace that they leave out, at most `share` of the total.
    """
    if isinstance(kernel, Delta):
        return indicators(vector_codes(vectors), kernel, weights), 0.0
    scaled = vectors.copy()
    _, middle = standardised(scaled, weights)
    if isinstance(kernel, Linear | Polynomial):
        scaled += middle[:, None]
    scaled /= np.sqrt(len(scaled))
    if isinstance(kernel, Linear):
        return scaled, 0.0
    shares = np.ones(scaled.shape[1]) if weights is None else weights
    if isinstance(kernel, Polynomial):
        diagonal = (np.einsum("qi,qi->i", scaled, scaled) + kernel.offset) ** kernel.degree

        def products(pivot: int) -> FloatArray:
            return np.asarray((scaled[:, pivot] @ scaled + kernel.offset) ** kernel.degree)

        # the trace may be much larger than the weight of the samples
        allowed = max(share * float(shares.sum()), _ROUNDING * float(shares @ diagonal))
        return _cholesky(diagonal, products, allowed, shares)
    assert isinstance(kernel, Gaussian)  # others are refused by check_vector_kernel
    parts = [_gaussian_rows(scaled, width, share, shares) for width in kernel.widths]
    rows = np.concatenate([part for part, _ in parts]) / np.sqrt(len(parts))
    return rows, sum(left for _, left in parts) / len(parts)


def vector_scale(vectors: FloatArray, width: Width, weights: FloatArray | None = None) -> float:
    """Kernel width of scaled vectors: in root mean square deviations, or their median distance."""
    return median_vector_distance(vectors, weights) if width == "median" else float(width)


def vector_codes(vectors: FloatArray) -> FloatArray:
    """Number distinct vectors, the columns of (q, n)."""
    return np.unique(vectors, axis=1, return_inverse=True)[1].ravel().astype(np.float64)


def _gaussian_rows(
    scaled: FloatArray, width: Width, share: float, weights: FloatArray
) -> tuple[FloatArray, float]:
    z = scaled / vector_scale(scaled, width, weights)

    def products(pivot: int) -> FloatArray:
        return np.asarray(np.exp(-0.5 * np.square(z - z[:, pivot, None]).sum(axis=0)))

    return _cholesky(np.ones(z.shape[1]), products, share * float(weights.sum()), weights)


def _cholesky(
    diagonal: FloatArray, products: Callable[[int], FloatArray], allowed: float, weights: FloatArray
) -> tuple[FloatArray, float]:
    """Pivoted Cholesky of a Gram matrix that is given by its diagonal and its rows.

    Stops when the weighted trace of the rest is at most `allowed`; returns rows and that trace.
    """
    residual = diagonal.copy()
    rows = np.empty((16, diagonal.size))
    rank = 0
    left = float(weights @ residual)
    while left > allowed and rank < diagonal.size:
        pivot = int(np.argmax(residual))
        if rank == len(rows):
            rows = np.concatenate(
                [rows, np.empty((min(rank, diagonal.size - rank), rows.shape[1]))]
            )
        row = products(pivot) - rows[:rank, pivot] @ rows[:rank]
        rows[rank] = row / np.sqrt(residual[pivot])
        residual = np.maximum(residual - rows[rank] ** 2, 0.0)
        residual[pivot] = 0.0
        rank += 1
        left = float(weights @ residual)
    return rows[:rank], left
