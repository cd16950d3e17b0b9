r"""Penalties of the quadratic problem.

All are of one form, over :math:`a \ge 0` unless signs are free,

.. math:: \Omega(a) = \sum_k w_k |a_k| + \sum_g v_g \|a_g\|_2
          + \tfrac12 \sum_k r_k a_k^2, \qquad r_k = r w_k .

A *unit* enters as one: a group, or a feature that belongs to no group. The ridge part,
which makes an elastic net, keeps no feature at zero. At one size :math:`\lambda` of the penalty it
adds :math:`\lambda r_k` to the diagonal of G: all solvers then solve a problem without it. A ridge
part that does not grow with the penalty belongs to the quadratic (`Ridged`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.errors import InvalidInputError

__all__ = ["Penalty", "UnitPenalty"]

#: Newton steps for the critical penalty of a unit, which converge monotonically.
_NEWTON_STEPS = 50
_LAST_DIGIT = 1e-15


@dataclass(frozen=True)
class Penalty:
    """A penalty on d features.

    Examples
    --------
    >>> penalty = Penalty.group(np.array(["b", "a", "b"]))
    >>> penalty.group_weights.round(3).tolist(), penalty.kind
    ([1.0, 1.414], 'group lasso')
    """

    #: Weights w of the absolute values, shape (d,): 0 does not penalise a feature, infinity
    #: excludes it.
    weights: FloatArray
    #: Group of each feature, numbered from 0, shape (d,).
    groups: IntArray
    #: Weights v of the groups' norms, shape (n_groups,).
    group_weights: FloatArray
    #: Whether weights of features may be negative.
    signed: bool = False
    #: Ridge part r of the elastic net, per unit of the weights w.
    ridge: float = 0.0

    @property
    def alike(self) -> bool:
        """Whether weights are not negative and all features that may enter cost the same."""
        used = self.weights[np.isfinite(self.weights)]
        same = bool((used > 0).all()) and np.ptp(used) == 0 if used.size else False
        return same and not self.signed and not self.grouped

    @classmethod
    def lasso(cls, weights: int | FloatArray, *, signed: bool = False) -> Penalty:
        """Return the l1 penalty on d features, or with a weight for each of them."""
        weights = np.ones(weights) if isinstance(weights, int) else np.asarray(weights, float)
        _check_weights("weights", weights)
        return cls(weights, np.arange(weights.size), np.zeros(weights.size), signed)

    @classmethod
    def elastic_net(
        cls,
        weights: int | FloatArray,
        *,
        l1_ratio: float,
        scale: float = 1.0,
        signed: bool = False,
    ) -> Penalty:
        r"""Return the penalty of the elastic net in scikit-learn's meaning.

        .. math:: \Omega(a) = \sum_k w_k\big(\rho |a_k| + \tfrac12 (1 - \rho) s\, a_k^2\big)

        Parameters
        ----------
        weights : int or ndarray of shape (d,)
            Number of features, or a weight for each of them.
        l1_ratio : float
            Share :math:`\rho` of the l1 part: 1 is the lasso. With 0 no feature would be zero.
        scale : float
            Factor s of the ridge part. It makes the effect of `l1_ratio` independent of the scale
            of G.
        signed : bool
            Whether weights of features may be negative.

        Examples
        --------
        >>> penalty = Penalty.elastic_net(2, l1_ratio=0.5, scale=3.0)
        >>> penalty.kind, penalty.weights.tolist(), penalty.ridge
        ('elastic net', [0.5, 0.5], 3.0)
        """
        if not 0 < l1_ratio <= 1:
            raise InvalidInputError(
                f"l1_ratio={l1_ratio!r}, but the share of the l1 part must be at most 1 (lasso) "
                "and greater than 0, because only the l1 part keeps features at zero."
            )
        if not (np.isfinite(scale) and scale > 0):
            raise InvalidInputError(
                f"scale={scale!r}, but the scale of the ridge part must be a finite number > 0."
            )
        lasso = cls.lasso(weights, signed=signed)
        return cls(
            l1_ratio * lasso.weights,
            lasso.groups,
            lasso.group_weights,
            signed,
            ridge=(1 - l1_ratio) / l1_ratio * scale,
        )

    @classmethod
    def none(cls, n_features: int) -> Penalty:
        """Return the penalty that is zero: non-negative least squares."""
        return cls.lasso(np.zeros(n_features))

    @classmethod
    def group(
        cls,
        labels: Any,
        *,
        l1_ratio: float = 0.0,
        weights: FloatArray | None = None,
        group_weights: FloatArray | None = None,
    ) -> Penalty:
        """Return the (sparse) group lasso penalty.

        Parameters
        ----------
        labels : array-like of shape (d,)
            A label for each feature, of any kind that can be sorted.
        l1_ratio : float
            Share of the l1 part, from 0, the group lasso, to 1, the lasso.
        weights : ndarray of shape (d,), optional
            Weights of the l1 part; ones by default.
        group_weights : ndarray of shape (n_groups,), optional
            Weights of the groups, in the order of the sorted labels; by default the square
            roots of their sizes.
        """
        if not 0 <= l1_ratio <= 1:
            raise InvalidInputError(
                f"l1_ratio={l1_ratio!r}, but the share of the l1 part must lie between 0 (group "
                "lasso) and 1 (lasso)."
            )
        _, codes, sizes = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)
        weights = np.ones(codes.size) if weights is None else np.asarray(weights, dtype=float)
        if group_weights is None:
            group_weights = np.sqrt(sizes)
        _check_weights("weights", weights)
        _check_weights("group_weights", group_weights)
        scaled = weights.copy()
        scaled[np.isfinite(weights)] *= l1_ratio  # an excluded feature stays excluded
        return cls(scaled, codes, (1 - l1_ratio) * np.asarray(group_weights, dtype=float))

    def without(self, features: Any) -> Penalty:
        """Return the penalty that excludes some features."""
        weights = self.weights.copy()
        weights[features] = np.inf
        return replace(self, weights=weights)

    def of_first(self, number: int) -> Penalty:
        """Return the penalty on the first features only; the others belong to no group."""
        return replace(
            self,
            weights=self.weights[:number],
            groups=self.groups[:number],
            group_weights=self.group_weights[: self.group_weights.size - self.groups.size + number],
        )

    def extended(self, weights: FloatArray) -> Penalty:
        """Return the penalty on more features, which belong to no group."""
        number, groups = weights.size, self.group_weights.size
        return replace(
            self,
            weights=np.append(self.weights, weights),
            groups=np.append(self.groups, groups + np.arange(number)),
            group_weights=np.append(self.group_weights, np.zeros(number)),
        )

    @property
    def n_features(self) -> int:
        """Number of features, d."""
        return self.weights.size

    @property
    def grouped(self) -> bool:
        """Whether some norm of a group is penalised."""
        return bool((self.group_weights > 0).any())

    @property
    def kind(self) -> str:
        """Name of the penalty, for messages."""
        if self.grouped:
            finite = self.weights[np.isfinite(self.weights)]
            return "sparse group lasso" if (finite > 0).any() else "group lasso"
        name = "elastic net" if self.ridge else "lasso"
        return f"signed {name}" if self.signed else name

    @property
    def free(self) -> IntArray:
        """Features that are not penalised at all."""
        return np.flatnonzero((self.weights == 0) & (self.group_weights[self.groups] == 0))

    def take(self, features: IntArray) -> UnitPenalty:
        """Return the penalty on some features, in which the members of a unit are adjacent."""
        codes = self.groups[features]
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        return UnitPenalty(
            self.weights[features],
            starts,
            self.group_weights[codes[starts]],
            self.signed,
            self.ridge,
        )


def _check_weights(name: str, weights: FloatArray) -> None:
    if np.isnan(weights).any() or (weights < 0).any():
        bad = int(np.flatnonzero(np.isnan(weights) | (weights < 0))[0])
        raise InvalidInputError(
            f"{name}[{bad}]={weights[bad]!r}, but penalty weights must be >= 0: 0 keeps a feature "
            "unpenalised, infinity excludes it."
        )


@dataclass(frozen=True)
class UnitPenalty:
    """A penalty on an ordered list of m features, unit after unit."""

    #: Weights w of the absolute values, shape (m,).
    weights: FloatArray
    #: Where each unit begins, shape (u,).
    starts: IntArray
    #: Weights v of the units' norms, shape (u,).
    unit_weights: FloatArray
    #: Whether weights of features may be negative.
    signed: bool
    #: Ridge part r, per unit of the weights w.
    ridge: float = 0.0

    @cached_property
    def sizes(self) -> IntArray:
        """Number of features of each unit."""
        return np.diff(self.starts, append=self.weights.size)

    @cached_property
    def unit_of(self) -> IntArray:
        """Unit of each feature, shape (m,)."""
        return np.repeat(np.arange(self.starts.size), self.sizes)

    @cached_property
    def ridges(self) -> FloatArray:
        """Ridge part of each feature, shape (m,); 0 for excluded ones."""
        return np.where(np.isfinite(self.weights), self.weights, 0.0) * self.ridge

    @cached_property
    def free(self) -> BoolArray:
        """Which features are not penalised."""
        return np.asarray((self.weights == 0) & (self.unit_weights == 0)[self.unit_of])

    def norms(self, x: FloatArray) -> FloatArray:
        """Euclidean norm of each unit's part of `x`, shape (u,)."""
        if not self.starts.size:
            return np.zeros(0)
        return np.asarray(np.sqrt(np.add.reduceat(np.square(x), self.starts)))

    def value(self, a: FloatArray) -> float:
        """Return the penalty of `a` without its ridge part."""
        used = a != 0
        return float(self.weights[used] @ np.abs(a[used]) + self.unit_weights @ self.norms(a))

    def threshold(self, z: FloatArray, amount: float) -> FloatArray:
        """Apply the l1 part and the sign constraint: ``max(z - amount * w, 0)``."""
        # an excluded feature is thresholded to zero whatever the amount
        cut = np.where(np.isinf(self.weights), np.inf, amount * np.minimum(self.weights, 1e300))
        if self.signed:
            return np.asarray(np.sign(z) * np.maximum(np.abs(z) - cut, 0.0))
        return np.maximum(z - cut, 0.0)

    def excess(self, c: FloatArray, alpha: float) -> FloatArray:
        """Excess of each unit's correlations over the penalty that keeps it at zero, shape (u,)."""
        return self.norms(self.threshold(c, alpha)) - alpha * self.unit_weights

    def critical(self, c: FloatArray) -> FloatArray:
        """Smallest penalty at which correlations `c` keep each unit at zero, shape (u,).

        It is the root of the excess, convex and falling in the penalty: Newton's method runs
        up to it from below. Infinite for a unit without penalty that has positive correlation.
        """
        size = np.abs(c) if self.signed else np.maximum(c, 0.0)
        open_ = np.isfinite(self.weights)
        size = np.where(open_, size, 0.0)
        weights = np.where(open_, self.weights, 0.0)
        if not self.unit_weights.any() and self.starts.size == c.size:
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.asarray(np.where(size > 0, size / weights, 0.0))
        unit_of = self.unit_of
        unbounded = np.logical_or.reduceat(self.free & (size > 0), self.starts)
        size = np.where(unbounded[unit_of], 0.0, size)
        root = np.zeros(self.starts.size)
        for _ in range(_NEWTON_STEPS):
            rest = np.maximum(size - root[unit_of] * weights, 0.0)
            norm = self.norms(rest)
            slope = np.add.reduceat(rest * weights, self.starts) + norm * self.unit_weights
            step = np.zeros(root.size)
            np.divide(norm * (norm - root * self.unit_weights), slope, out=step, where=slope > 0)
            root += np.maximum(step, 0.0)
            if not (step > _LAST_DIGIT * root).any():
                break
        return np.where(unbounded, np.inf, root)

    def prox(self, z: FloatArray, amount: float) -> FloatArray:
        """Minimise ``|x - z|^2 / 2 + amount * penalty(x)``."""
        y = self.threshold(z, amount)
        if not self.unit_weights.any():
            return y
        norms = self.norms(y)
        with np.errstate(divide="ignore", invalid="ignore"):
            keep = np.where(norms > 0, np.maximum(1 - amount * self.unit_weights / norms, 0.0), 0.0)
        return np.asarray(y * keep[self.unit_of])
