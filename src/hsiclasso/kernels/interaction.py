r"""The kernel of an interaction: what several features say together beyond each of them alone.

The maps of the single features are centred before they are multiplied:

.. math:: K = \bar K_1 \circ \bar K_2 \circ \dots

is the Gram matrix of the tensor product of the centred feature maps. If one of the features is
independent of the others, no function of this product says anything about a target that depends on
these others only. K is positive semi-definite, as every elementwise product of such matrices is,
and an interaction is therefore a feature like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels.base import Kernel
from hsiclasso.kernels.scale import Scaling

__all__ = ["Interaction", "Member", "product_of_matrices", "products_of_rows", "turned"]

#: Most samples for which a matrix of all pairs is made.
_DENSE = 4000
#: Rows of a product for each sample, beyond which a matrix of all pairs needs less memory.
_ROWS = 4
#: Samples that are compared with all others at once, when the mean of a map is measured.
_AT_ONCE = 1024
#: Eigenvalues below this share of the largest one are rounding errors.
_ROUNDING = 1e-14


@dataclass(frozen=True)
class Member:
    """One of the features of an interaction."""

    kernel: Kernel
    #: Number of columns.
    size: int = 1
    #: Weights of the samples, 0 where the feature is missing, shape (n,); None if it is observed
    #: wherever the interaction is. Its scale and its centre come from these samples.
    shares: FloatArray | None = None
    #: Share of the total weight on samples where the feature is observed.
    observed: float = 1.0

    def weights(self, shared: FloatArray) -> FloatArray:
        """Return the weights of the feature's samples, given those of the interaction's."""
        return shared if self.shares is None else self.shares

    def rows(self, z: FloatArray, allowed: float, shared: FloatArray) -> tuple[FloatArray, float]:
        """Return centred rows of the scaled columns, and the trace that they leave out."""
        weights = self.weights(shared)
        scale = float(self.kernel.observed_scale(self.observed))
        rows, left_out = self.kernel.rows(z, allowed / scale, weights)
        rows = rows - (rows @ weights)[:, None] / weights.sum()
        return turned(np.sqrt(scale) * rows, weights), scale * left_out


class Interaction(Kernel):
    """Elementwise product of centred kernels.

    Parameters
    ----------
    members : tuple of Member
        The features.
    """

    name: ClassVar[str] = "interaction"

    def __init__(self, members: tuple[Member, ...]) -> None:
        self.members = members

    def parts(self, z: Any) -> list[Any]:
        """Return what belongs to the columns of each feature, views of (q, n)."""
        return np.split(z, np.cumsum([one.size for one in self.members])[:-1])

    def scale(self, block: FloatArray, weights: FloatArray, *, joint: bool = False) -> Scaling:
        """Bring the columns of each feature to the scale of its kernel, in place."""
        made = [
            one.kernel.scale(part, one.weights(weights[0])[None], joint=True)
            for one, part in zip(self.members, self.parts(block), strict=True)
        ]
        # a product with a feature that does not vary does not vary either
        varies = all((scaling.factor > 0).any() for scaling in made)
        factor = np.concatenate([scaling.factor for scaling in made])
        return Scaling(np.concatenate([scaling.shift for scaling in made]), factor * varies)

    def expand_joint(
        self, z: FloatArray, allowed: float, weights: FloatArray
    ) -> tuple[FloatArray, float]:
        """Multiply the centred rows of the features, and leave out products of little trace."""
        share = allowed / (2 * len(self.members))
        rows, left_out = self._centred_rows(z, share, weights)
        product, pruned = rows[0], 0.0
        for place, other in enumerate(rows[1:], start=1):
            product, rest = product_of_matrices(product, other, share, weights)
            # what is left out here is multiplied by the features that follow
            pruned += rest * float(np.prod([_largest(phi) for phi in rows[place + 1 :]]))
        return product, left_out + pruned

    def _centred_rows(
        self, z: FloatArray, share: float, weights: FloatArray
    ) -> tuple[list[FloatArray], float]:
        r"""Return centred rows of each feature, and a bound on the trace that products leave out.

        With :math:`K_k = \tilde K_k + E_k`, the product of the K minus that of the
        :math:`\tilde K` is a sum of products of one E with other matrices. The trace of such a
        product is at most the trace of E times the largest entries of the others' diagonals.
        """
        rows, traces, largest = [], [], []
        least = float(weights[weights > 0].min())
        for one, part in zip(self.members, self.parts(z), strict=True):
            phi, left = one.rows(part, share, weights)
            rows.append(phi)
            traces.append(left)
            largest.append(_largest(phi) + left / least)
        whole = float(np.prod(largest))
        bounds = [left * whole / most for left, most in zip(traces, largest, strict=True) if left]
        return rows, float(sum(bounds))

    def learnt(self, z: FloatArray, weights: FloatArray) -> Kernel:
        """Return the kernel with the centres of the features filled in."""
        centres = [
            _Centre.of(one, part, weights)
            for one, part in zip(self.members, self.parts(z), strict=True)
        ]
        return _Centred(self.members, tuple(centres))

    def between(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Raise: centres are needed, which `learnt` fills in."""
        raise NotImplementedError("an interaction knows its centres only when it is learnt")

    def diagonal(self, z: FloatArray) -> FloatArray:
        """Raise: centres are needed, which `learnt` fills in."""
        raise NotImplementedError("an interaction knows its centres only when it is learnt")

    def gram(self, z: FloatArray, weights: FloatArray) -> FloatArray:
        """Raise: an interaction has several columns."""
        raise NotImplementedError("an interaction has several columns")


@dataclass(frozen=True)
class _Centre:
    """A feature with the mean of its map on the samples."""

    #: Kernel with the parameters that it learns from the samples.
    kernel: Kernel
    #: Scaled columns on the samples that have a weight, shape (q, n).
    z: FloatArray
    #: Weights of these samples, with sum 1.
    shares: FloatArray
    #: Squared norm of the mean.
    norm2: float
    #: Factor of the kernel that compensates for missing values.
    scale: float

    @classmethod
    def of(cls, member: Member, z: FloatArray, shared: FloatArray) -> _Centre:
        """Measure the mean of scaled samples (q, n)."""
        weights = member.weights(shared)
        kernel, used = member.kernel.learnt(z, weights), weights > 0
        z, shares = np.ascontiguousarray(z[:, used]), weights[used] / weights.sum()
        made = cls(kernel, z, shares, 0.0, float(member.kernel.observed_scale(member.observed)))
        return replace(made, norm2=float(made.products(z) @ shares))

    def products(self, values: FloatArray) -> FloatArray:
        """Return the products (m,) of the maps of scaled values (q, m) with the mean."""
        out = np.zeros(values.shape[1])
        for start in range(0, out.size, _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            out[some] = self.kernel.between(values[:, some], self.z) @ self.shares
        return out

    def between(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the centred kernel (m, p) between scaled samples (q, m) and (q, p)."""
        beside = self.products(left)[:, None] + self.products(right)
        return np.asarray(self.scale * (self.kernel.between(left, right) - beside + self.norm2))

    def diagonal(self, z: FloatArray) -> FloatArray:
        """Return the centred kernel of each scaled sample of (q, n) with itself."""
        return self.scale * (self.kernel.diagonal(z) - 2 * self.products(z) + self.norm2)


class _Centred(Interaction):
    """An interaction whose features have known centres."""

    def __init__(self, members: tuple[Member, ...], centres: tuple[_Centre, ...]) -> None:
        super().__init__(members)
        self.centres = centres

    def between(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the kernel (m, p) between scaled samples (q, m) and (q, p)."""
        sides = zip(self.centres, self.parts(left), self.parts(right), strict=True)
        return reduce(np.multiply, [centre.between(a, b) for centre, a, b in sides])

    def diagonal(self, z: FloatArray) -> FloatArray:
        """Return the kernel of each scaled sample of (q, n) with itself."""
        sides = zip(self.centres, self.parts(z), strict=True)
        return reduce(np.multiply, [centre.diagonal(part) for centre, part in sides])

    def learnt(self, z: FloatArray, weights: FloatArray) -> Kernel:
        """Return the kernel itself, because its centres are known."""
        return self


def _largest(rows: FloatArray) -> float:
    """Return the largest entry of the diagonal of the matrix of rows (r, n)."""
    return float(np.square(rows).sum(axis=0).max(initial=0.0))


def turned(rows: FloatArray, weights: FloatArray) -> FloatArray:
    """Return orthogonal rows (weighted by the samples) of the same matrix, largest first.

    Few of the products of such rows are large.
    """
    eigenvalues, vectors = np.linalg.eigh((rows * weights) @ rows.T)
    used = eigenvalues > _ROUNDING * eigenvalues[-1:].max(initial=0.0)
    return np.asarray(vectors[:, used][:, ::-1].T @ rows)


def product_of_matrices(
    left: FloatArray, right: FloatArray, allowed: float, weights: FloatArray
) -> tuple[FloatArray, float]:
    """Return rows of the elementwise product of the matrices of rows, as `products_of_rows`.

    If these are many, they come from the matrix of all pairs of samples.
    """
    if len(left) * len(right) <= _ROWS * left.shape[1]:
        return products_of_rows(left, right, allowed, weights)
    return _product_of_grams(left, right), 0.0


def products_of_rows(
    left: FloatArray, right: FloatArray, allowed: float, weights: FloatArray
) -> tuple[FloatArray, float]:
    """Multiply each row (n,) of one matrix by each of another, sample by sample.

    The products with the least trace are left out, as long as their traces add up to at most
    `allowed`.

    Returns
    -------
    rows : ndarray of shape (r, n)
        Products, largest trace first.
    left_out : float
        Weighted trace that they leave out.

    Examples
    --------
    >>> rows = np.array([[2.0, 1.0], [0.1, 0.0]])
    >>> products_of_rows(rows, np.ones((1, 2)), 0.02, np.ones(2))
    (array([[2., 1.]]), 0.01...)
    """
    traces = (np.square(left) * weights) @ np.square(right).T
    order = np.argsort(-traces, axis=None, kind="stable")
    tails = np.cumsum(traces.ravel()[order][::-1])[::-1]
    number = int(np.count_nonzero(tails > allowed))
    first, second = np.unravel_index(order[:number], traces.shape)
    left_out = float(tails[number]) if number < tails.size else 0.0
    return left[first] * right[second], left_out


def _product_of_grams(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return rows of the product of two matrices of high rank, by the matrix of all pairs."""
    n = left.shape[1]
    if n > _DENSE:
        raise InvalidInputError(
            f"An interaction of features with rough kernels needs a matrix of all pairs of "
            f"samples, and there are {n}: use a smooth kernel such as 'gaussian', or at most "
            f"{_DENSE} samples."
        )
    eigenvalues, vectors = np.linalg.eigh((left.T @ left) * (right.T @ right))
    used = eigenvalues > _ROUNDING * eigenvalues[-1]
    return np.asarray((vectors[:, used] * np.sqrt(eigenvalues[used])).T)
