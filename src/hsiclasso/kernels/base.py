r"""What a kernel is: parameters, and all that it knows about itself.

A column goes through a kernel in two steps. `Kernel.scale` brings its values to the scale on which
the kernel looks at them. `Kernel.expand` then returns *terms*: rows :math:`\phi` with
:math:`\phi^\top \phi = K - E`, and a bound on the trace of E, which is positive semi-definite and
so no larger in any norm. Terms depend on the values alone: weights only say how much may be left
out. Weighting, centring and restricting to samples come later (`hsiclasso.kernels.samples`).
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
    "DistanceKernel",
    "Kernel",
    "ProductKernel",
    "Terms",
    "Width",
    "explicit_terms",
    "measured_widths",
]

Width = float | Literal["median"]

#: Share of the trace below which a residual is rounding.
ROUNDING = 1e-14


@dataclass(frozen=True)
class Product:
    """Rows of a target to be multiplied with terms, and where the products go.

    Attributes
    ----------
    target : ndarray of shape (runs, s, r)
        Rows of the target, cut into runs of samples; the last run may be padded.
    root : ndarray of shape (n,) or (0,)
        Square roots of the samples' weights, if they are not ones.
    buffer : ndarray
        Room for the rows of some columns on one run.
    out : ndarray of shape (c, n_rows, r)
        Sums to which the products of the c columns are added.
    gram : ndarray of shape (c, n_rows, n_rows) or (0, 0, 0)
        Sums to which products of the rows of a column with each other are added, if wanted.
    """

    target: FloatArray
    root: FloatArray
    buffer: FloatArray
    out: FloatArray
    gram: FloatArray


@dataclass(frozen=True)
class Terms:
    """Rows of some columns of a block; every column has the same number of them.

    Attributes
    ----------
    columns : ndarray of shape (c,)
        Positions of the columns within their block.
    n_rows, n_samples : int
        Rows of each column, and samples.
    left : ndarray of shape (c,)
        Bound on the weighted trace that the rows leave out of each Gram matrix.
    trace, rank : ndarray of shape (c,)
        Some `rank` dimensions of the rows hold at least this weighted trace, so that
        ``trace / sqrt(rank)`` bounds the norm of the Gram matrix from below.
    evaluate : callable
        ``evaluate(which, samples, out)`` writes the rows of some of the columns, a slice of
        `columns`, on some samples, a slice or an array of indices, to an array of shape
        (c, n_rows, s).
    multiply : callable or None
        ``multiply(samples, product)`` does a `Product` of all columns on all samples, or on an
        array of indices, without storing the rows; None if there is no such loop.
    """

    columns: IntArray
    n_rows: int
    n_samples: int
    left: FloatArray
    trace: FloatArray
    rank: IntArray
    evaluate: Callable[[slice, Columns, FloatArray], None]
    multiply: Callable[[Columns, Product], None] | None = None

    def on(self, which: slice, samples: Columns) -> FloatArray:
        """Return the rows of some of the columns on some samples: a fresh (c, n_rows, s)."""
        n = np.arange(self.n_samples)[samples].size
        out = np.empty((self.columns[which].size, self.n_rows, n))
        self.evaluate(which, samples, out)
        return out

    def rows(self, which: int = 0) -> FloatArray:
        """Return the rows of one column on all samples: (n_rows, n)."""
        return np.asarray(self.on(slice(which, which + 1), slice(None))[0])


def explicit_terms(column: int, rows: FloatArray, left: float, weights: FloatArray) -> Terms:
    """Return the terms of one column that are known as an array (r, n)."""
    trace = float(np.square(rows).sum(axis=0) @ weights)

    def evaluate(which: slice, samples: Columns, out: FloatArray) -> None:
        out[:] = rows[:, samples]

    made = np.array([left]), np.array([trace]), np.array([max(1, len(rows))])
    return Terms(np.array([column]), len(rows), rows.shape[1], *made, evaluate)


class Kernel(Option):
    """A kernel: its parameters, its scale, its terms and its values.

    Arrays are feature-major: (k, n) holds k columns of the table, (q, n) the q columns of one
    feature. `weights` of the samples are (1, n), or (k, n) where they differ by column.

    Attributes
    ----------
    name : str
        Name on the command line and in error messages.
    of_labels : bool
        Whether it compares labels, which have neither order nor distance.
    joins_columns : bool
        Whether it serves features of several columns.
    full_rank : bool
        Whether it has a row for each distinct value of a column.
    has_recursion : bool
        Whether products with its Gram matrix are exact recursions (see `LaplaceMatrix`), which
        serve where no factor of low rank exists.
    """

    name: ClassVar[str]
    of_labels: ClassVar[bool] = False
    joins_columns: ClassVar[bool] = True
    full_rank: ClassVar[bool] = False
    has_recursion: ClassVar[bool] = False

    @abstractmethod
    def scale(self, block: FloatArray, weights: FloatArray, *, joint: bool = False) -> Scaling:
        """Bring columns (k, n) to the scale of the kernel, in place; jointly, as one feature."""

    def expand(
        self, z: FloatArray, columns: IntArray, allowed: FloatArray, weights: FloatArray
    ) -> list[Terms]:
        """Expand some columns of a scaled block.

        Parameters
        ----------
        z : ndarray of shape (k, n)
            Scaled columns.
        columns : ndarray of shape (c,)
            Which of them.
        allowed : ndarray of shape (c,)
            Weighted trace that may be left out of each Gram matrix.
        weights : ndarray of shape (1, n) or (k, n)
            Weights in that trace.

        Returns
        -------
        list of Terms
            Each column is in one of them.
        """
        made = []
        for column, limit in zip(columns.tolist(), allowed.tolist(), strict=True):
            shares = weights[min(column, len(weights) - 1)]
            rows, left = self.expand_joint(z[column : column + 1], limit, shares)
            made.append(explicit_terms(column, rows, left, shares))
        return made

    def expand_joint(
        self, z: FloatArray, allowed: float, weights: FloatArray
    ) -> tuple[FloatArray, float]:
        """Expand the scaled columns (q, n) of one feature.

        Returns rows (r, n) and the weighted trace that they leave out, `allowed` at most.
        """
        diagonal = self.diagonal(z)
        # the trace may be much larger than the weight of the samples
        allowed = max(allowed, ROUNDING * float(weights @ diagonal))
        return pivoted_cholesky(
            diagonal, lambda pivot: self.between(z[:, pivot, None], z)[0], allowed, weights
        )

    def rows(self, z: FloatArray, allowed: float, weights: FloatArray) -> tuple[FloatArray, float]:
        """Expand one feature of one or several scaled columns (q, n), as `expand_joint` does."""
        if len(z) > 1:
            return self.expand_joint(z, allowed, weights)
        (terms,) = self.expand(z, np.zeros(1, dtype=np.int64), np.array([allowed]), weights[None])
        return terms.rows(), float(terms.left[0])

    @abstractmethod
    def between(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the kernel (m, p) of scaled samples (q, m) and (q, p) of one feature."""

    @abstractmethod
    def diagonal(self, z: FloatArray) -> FloatArray:
        """Return the kernel of each scaled sample of (q, n) with itself."""

    @abstractmethod
    def gram(self, z: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the Gram matrices (k, m, m) of a few scaled values (k, m) of each column."""

    def grid(self, reach: float) -> Grid | None:
        """Return a grid for scaled values up to some magnitude; None if the kernel has none.

        A kernel needs to be smooth for it, and to scale columns by one known width.
        """
        return None

    def learnt(self, z: FloatArray, weights: FloatArray) -> Kernel:
        """Return the kernel with what it takes from the scaled samples (q, n) filled in.

        Most kernels take nothing but the scale; others count values or measure distances.
        """
        return self

    def observed_scale(self, share: Any) -> Any:
        """Return the factor that makes up for missing values, beside that of the measure.

        It is 1 for a kernel whose value at two samples does not depend on the others.
        """
        return 1.0


class DistanceKernel(Kernel):
    r"""A kernel :math:`f(\|x - x'\|^2 / \sigma^2)` with :math:`f(0) = 1`.

    Of a feature of several columns, the squared distance is the mean over its standardised
    columns. A subclass has a constructor with a `width` and a method `of_squares`.
    """

    width: Any

    @abstractmethod
    def of_squares(self, squares: FloatArray) -> FloatArray:
        """Return the kernel at squared distances in units of the width."""

    @property
    def widths(self) -> tuple[Width, ...]:
        """All widths; several stand for the mean of their kernels."""
        return (self.width,)

    def check(self) -> Self:
        """Raise if the width is not positive, finite or ``"median"``."""
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
        """Return the kernel (m, p) of scaled samples (q, m) and (q, p) of one feature."""
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
    """Return the width of each standardised column of (k, n) in numbers; jointly, the same for all.

    ``"median"`` stands for the median distance of a column, or of vectors.
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

    Of a feature of several columns, the product is the mean over its columns. A subclass has a
    method `of_products`.
    """

    @abstractmethod
    def of_products(self, products: FloatArray) -> FloatArray:
        """Return the kernel at products of standardised values."""

    def scale(self, block: FloatArray, weights: FloatArray, *, joint: bool = False) -> Scaling:
        """Standardise columns (k, n), in place."""
        scaling = standardise(block, weights, at_mean=True)
        if not joint or len(block) == 1:
            return scaling
        block /= np.sqrt(len(block))
        return Scaling(scaling.shift, scaling.factor * np.sqrt(len(block)))

    def between(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the kernel (m, p) of scaled samples (q, m) and (q, p) of one feature."""
        return self.of_products(left.T @ right)

    def diagonal(self, z: FloatArray) -> FloatArray:
        """Return the kernel of each scaled sample of (q, n) with itself."""
        return self.of_products(np.square(z).sum(axis=0))

    def gram(self, z: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the Gram matrices (k, m, m) of a few scaled values (k, m) of each column."""
        return self.of_products(z[:, :, None] * z[:, None, :])
