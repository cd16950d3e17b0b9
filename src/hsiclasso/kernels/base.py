r"""What a kernel is: its parameters, and everything that the package needs to know about it.

A column goes through a kernel in two steps. `Kernel.scale` brings its values to the scale of the
kernel. `Kernel.expand` then returns *terms*: rows :math:`\phi` with
:math:`\phi^\top \phi = K - E`, and a bound on the trace of E. This trace bounds the error in every
norm, because E is positive semi-definite. Terms depend on the values only; the weights of the
samples decide how large the trace of E may be. Weighting, centring and restricting to samples
come later (`hsiclasso.kernels.samples`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from hsiclasso._checks import is_positive
from hsiclasso._options import Option
from hsiclasso._types import BoolArray, Columns, FloatArray, IntArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels.cholesky import pivoted_cholesky
from hsiclasso.kernels.grid import Grid
from hsiclasso.kernels.scale import (
    Scaling,
    median_distance,
    median_vector_distance,
    standardise,
)

__all__ = [
    "ROUNDING",
    "TILE",
    "DistanceKernel",
    "Kernel",
    "ProductKernel",
    "Terms",
    "Width",
    "explicit_terms",
    "measured_widths",
]

Width = float | Literal["median"]

#: A residual below this share of the trace is only rounding error.
ROUNDING = 1e-14
#: Rows of a column, and rows of a target, that are multiplied at once.
TILE = (3, 4)


@dataclass(frozen=True)
class Product:
    """Rows of a target that terms are multiplied by, and the arrays that receive the products."""

    #: Rows of the target, shape (r, n).
    target: FloatArray
    #: Square roots of the samples' weights, shape (n,); shape (0,) if all weights are 1.
    root: FloatArray
    #: Receives the sums of terms times target rows, shape (c, n_rows, r).
    out: FloatArray
    #: Receives the sums of terms times terms of the same column, shape (c, n_rows, n_rows);
    #: shape (c, 0, 0) if they are not needed.
    gram: FloatArray


@dataclass(frozen=True)
class Terms:
    """Rows of some columns of a block; every column has the same number of rows."""

    #: Positions of the columns within their block, shape (c,).
    columns: IntArray
    #: Number of rows of each column.
    n_rows: int
    n_samples: int
    #: Bound on the weighted trace of each Gram matrix that the rows leave out, shape (c,).
    left_out: FloatArray
    #: Lower bound on the weighted trace in some `bulk_rank` dimensions of the rows, shape (c,).
    #: The norm of the Gram matrix is therefore at least ``bulk_trace / sqrt(bulk_rank)``.
    bulk_trace: FloatArray
    #: Number of dimensions that `bulk_trace` is about, shape (c,).
    bulk_rank: IntArray
    #: ``evaluate(which, samples, out)`` writes rows to an array of shape (c, n_rows, s): those of
    #: the columns ``columns[which]``, on samples given as a slice or as an array of indices.
    evaluate: Callable[[slice, Columns, FloatArray], None]
    #: ``multiply(samples, product)`` computes a `Product` for all columns without storing the rows,
    #: on all samples or on an array of indices. None if the kernel has no loop for it.
    multiply: Callable[[Columns, Product], None] | None = None
    #: The rows (n_rows, n) of the only column, if they are already computed.
    computed: FloatArray | None = None

    def on(self, which: slice, samples: Columns) -> FloatArray:
        """Return the rows of some of the columns on some samples: a fresh (c, n_rows, s)."""
        n = np.arange(self.n_samples)[samples].size
        out = np.empty((self.columns[which].size, self.n_rows, n))
        self.evaluate(which, samples, out)
        return out

    def rows(self, which: int = 0) -> FloatArray:
        """Return the rows of one column on all samples: (n_rows, n)."""
        if self.computed is not None:
            return self.computed
        return np.asarray(self.on(slice(which, which + 1), slice(None))[0])


def explicit_terms(column: int, rows: FloatArray, left_out: float, weights: FloatArray) -> Terms:
    """Return the terms of one column whose rows (r, n) are already computed."""
    trace = float(np.einsum("ri,ri->i", rows, rows) @ weights)

    def evaluate(which: slice, samples: Columns, out: FloatArray) -> None:
        out[:] = rows[:, samples]

    bounds = np.array([left_out]), np.array([trace]), np.array([max(1, len(rows))])
    return Terms(
        np.array([column]), len(rows), rows.shape[1], *bounds, evaluate, computed=rows
    )  # fmt: skip


class Kernel(Option):
    """A kernel: its parameters, its scale, its terms and its values.

    Arrays are feature-major: (k, n) holds k columns of the table, (q, n) the q columns of one
    feature. `weights` of the samples have shape (1, n), or (k, n) if they differ by column.

    Attributes
    ----------
    name : str
        Name on the command line and in error messages.
    of_labels : bool
        Whether it compares labels, which have neither order nor distance.
    joins_columns : bool
        Whether a feature of several columns can have this kernel.
    full_rank : bool
        Whether its terms have one row for each distinct value of a column.
    has_recursion : bool
        Whether exact recursions compute products with its Gram matrix (see `LaplaceMatrix`). They
        are used because the matrix has no factor of low rank.
    """

    name: ClassVar[str]
    of_labels: ClassVar[bool] = False
    joins_columns: ClassVar[bool] = True
    full_rank: ClassVar[bool] = False
    has_recursion: ClassVar[bool] = False

    @abstractmethod
    def scale(self, block: FloatArray, weights: FloatArray, *, joint: bool = False) -> Scaling:
        """Bring columns (k, n), or one `joint` feature, to the scale of the kernel, in place."""

    def expand(
        self, z: FloatArray, columns: IntArray, allowed: FloatArray, weights: FloatArray
    ) -> list[Terms]:
        """Expand some columns of a scaled block.

        Parameters
        ----------
        z : ndarray of shape (k, n)
            Scaled columns.
        columns : ndarray of shape (c,)
            Positions of the columns to expand.
        allowed : ndarray of shape (c,)
            Weighted trace that the terms may leave out of each Gram matrix.
        weights : ndarray of shape (1, n) or (k, n)
            Weights of the samples in that trace.

        Returns
        -------
        list of Terms
            Each column is in exactly one of them.
        """
        made = []
        for column, limit in zip(columns.tolist(), allowed.tolist(), strict=True):
            shares = weights[min(column, len(weights) - 1)]
            rows, left_out = self.expand_joint(z[column : column + 1], limit, shares)
            made.append(explicit_terms(column, rows, left_out, shares))
        return made

    def expand_joint(
        self, z: FloatArray, allowed: float, weights: FloatArray
    ) -> tuple[FloatArray, float]:
        """Expand the scaled columns (q, n) of one feature.

        Returns rows (r, n) and the weighted trace that they leave out, at most `allowed`.
        """
        diagonal = self.diagonal(z)
        # rounding errors grow with the trace, which may be much larger than the total weight
        allowed = max(allowed, ROUNDING * float(weights @ diagonal))
        return pivoted_cholesky(
            diagonal, lambda pivot: self.between(z[:, pivot, None], z)[0], allowed, weights
        )

    def rows(self, z: FloatArray, allowed: float, weights: FloatArray) -> tuple[FloatArray, float]:
        """Expand one feature of one or several scaled columns (q, n).

        Returns the same as `expand_joint`.
        """
        if len(z) > 1:
            return self.expand_joint(z, allowed, weights)
        (terms,) = self.expand(z, np.zeros(1, dtype=np.int64), np.array([allowed]), weights[None])
        return terms.rows(), float(terms.left_out[0])

    @abstractmethod
    def between(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the kernel (m, p) between scaled samples (q, m) and (q, p) of one feature."""

    @abstractmethod
    def diagonal(self, z: FloatArray) -> FloatArray:
        """Return the kernel of each scaled sample of (q, n) with itself."""

    @abstractmethod
    def gram(self, z: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the Gram matrices (k, m, m) of a few scaled values (k, m) of each column."""

    def grid(self, reach: float, error: float, points: int = 4) -> Grid | None:
        """Return a grid for scaled values up to `reach`, or None if the kernel has no grid.

        The kernel must be smooth and scale every column by one known width. `error` is the
        largest distance between the feature map of a value and its interpolation between 4 or 6
        `points`.
        """
        return None

    def learnt(self, z: FloatArray, weights: FloatArray) -> Kernel:
        """Return a kernel that no longer depends on the scaled samples (q, n).

        Most kernels depend on the samples only through the scale. Others count values or measure
        distances; the returned kernel has these numbers filled in.
        """
        return self

    def observed_scale(self, share: Any) -> Any:
        """Return the factor by which the kernel compensates for missing values.

        `share` is the share of the samples that are observed. The factor comes in addition to
        `Measure.restoration`. It is 1 if the kernel of two samples does not depend on the others.
        """
        return 1.0


class DistanceKernel(Kernel):
    r"""A kernel :math:`f(\|x - x'\|^2 / \sigma^2)` with :math:`f(0) = 1`.

    For a feature of several columns, the squared distance is the mean over its standardised
    columns. A subclass needs a method `of_squares`.
    """

    width: Any

    def __init__(self, width: Width = 1.0) -> None:
        self.width = width

    @abstractmethod
    def of_squares(self, squares: FloatArray) -> FloatArray:
        """Return the kernel at squared distances, which are in units of the squared width."""

    @property
    def widths(self) -> tuple[Width, ...]:
        """All widths; the kernel is the mean of one kernel for each width."""
        return (self.width,)

    def check(self) -> Self:
        """Raise unless every width is a positive finite number or ``"median"``."""
        for width in self.widths:
            if isinstance(width, str) and width == "median":
                continue
            if not is_positive(width):
                raise InvalidInputError(
                    f"width={width!r}, but a {self.name} kernel needs a positive finite width or "
                    "'median': 1.0 is the paper's choice."
                )
        return self

    def scale(self, block: FloatArray, weights: FloatArray, *, joint: bool = False) -> Scaling:
        """Standardise columns (k, n) and divide them by the width, if there is one width."""
        scaling = standardise(block, weights)
        factor = scaling.factor
        if joint and len(block) > 1:
            block /= np.sqrt(len(block))
            factor = factor * np.sqrt(len(block))
        if len(self.widths) == 1 and self.widths[0] != 1.0:
            widths = measured_widths(self.widths[0], block, weights, factor > 0, joint=joint)
            block /= widths[:, None]
            factor = factor * widths
        return Scaling(scaling.shift, factor)

    def between(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the kernel (m, p) between scaled samples (q, m) and (q, p) of one feature."""
        squares = np.zeros((left.shape[1], right.shape[1]))
        for a, b in zip(left, right, strict=True):
            squares += np.square(a[:, None] - b)
        return self.of_squares(squares)

    def diagonal(self, z: FloatArray) -> FloatArray:
        """Return ones: the kernel of each scaled sample of (q, n) with itself."""
        return np.ones(z.shape[1])

    def gram(self, z: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the Gram matrices (k, m, m) of a few scaled values (k, m) of each column."""
        return self.of_squares(np.square(z[:, :, None] - z[:, None, :]))


def measured_widths(
    width: Width, z: FloatArray, weights: FloatArray, varies: BoolArray, *, joint: bool = False
) -> FloatArray:
    """Return the width of each standardised column of (k, n) as a number.

    ``"median"`` means the median distance between the values of a column. If the columns are one
    feature, `joint`, it means the median distance between vectors, the same for all columns.
    """
    if width != "median":
        return np.full(len(z), float(width))
    if joint and len(z) > 1:
        return np.full(len(z), median_vector_distance(z, weights[0]))
    widths = np.ones(len(z))
    for j in np.flatnonzero(varies).tolist():
        widths[j] = median_distance(z[j], weights[min(j, len(weights) - 1)])
    return widths


class ProductKernel(Kernel):
    r"""A kernel :math:`f(x x')` of standardised columns with mean 0.

    For a feature of several columns, the product is the mean over its columns. A subclass needs
    a method `of_products`.
    """

    @abstractmethod
    def of_products(self, products: FloatArray) -> FloatArray:
        """Return the kernel at products of standardised values."""

    def scale(self, block: FloatArray, weights: FloatArray, *, joint: bool = False) -> Scaling:
        """Standardise columns (k, n) in place."""
        scaling = standardise(block, weights, at_mean=True)
        if not joint or len(block) == 1:
            return scaling
        block /= np.sqrt(len(block))
        return Scaling(scaling.shift, scaling.factor * np.sqrt(len(block)))

    def between(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the kernel (m, p) between scaled samples (q, m) and (q, p) of one feature."""
        return self.of_products(left.T @ right)

    def diagonal(self, z: FloatArray) -> FloatArray:
        """Return the kernel of each scaled sample of (q, n) with itself."""
        return self.of_products(np.square(z).sum(axis=0))

    def gram(self, z: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the Gram matrices (k, m, m) of a few scaled values (k, m) of each column."""
        return self.of_products(z[:, :, None] * z[:, None, :])
