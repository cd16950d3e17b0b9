"""What a path solver returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from hsiclasso._types import FloatArray, IntArray

__all__ = ["Breakpoint", "Certificate", "Closed", "SolutionPath", "Status"]

#: Penalties whose relative difference is below this are the same.
_SAME = 1e-12


class Status(Enum):
    """How a solve ended; the value is a sentence."""

    N_FEATURES = "the path reached the number of features asked for"
    N_GROUPS = "the path reached the number of groups asked for"
    ALPHA = "the path reached the penalty asked for"
    PATH_END = (
        "the path ended: at penalty 0 no further feature can lower the objective with a "
        "positive weight"
    )
    LEAST_ALPHA = "the path ended: at smaller penalties, functions follow the noise"
    NOTHING_RELEVANT = "no feature depends on the target: every relevance is zero"
    STALLED = "the path stopped early because rounding errors prevent further progress"


@dataclass(frozen=True)
class Breakpoint:
    """A point where the path bends.

    Attributes
    ----------
    alpha : float
        Penalty.
    indices : ndarray
        Features with positive weight just above this penalty, in order of entry.
    weights : ndarray
        Their weights at this penalty.
    joined, dropped : tuple of int
        Features that enter and leave here.
    """

    alpha: float
    indices: IntArray
    weights: FloatArray
    joined: tuple[int, ...]
    dropped: tuple[int, ...]


@dataclass(frozen=True)
class Certificate:
    """Proof that a solution is the global optimum, over all features.

    Attributes
    ----------
    kkt_residual : float
        Largest violation of the optimality conditions, relative to the largest relevance.
    duality_gap : float
        Objective minus a lower bound on the optimum, relative to half the squared target norm.
    n_candidates : int
        Features for which entries of G were computed. The others are certified by their
        relevance alone: it bounds their correlation with any residual of the path.
    """

    kkt_residual: float
    duality_gap: float
    n_candidates: int


@dataclass(frozen=True)
class Closed:
    """A feature that a path left out: see `hsiclasso.solvers.distinct`.

    Attributes
    ----------
    feature : int
    representative : int
        The most similar of the features that joined before it.
    similarity : float
        Of the two, between 0 and 1.
    """

    feature: int
    representative: int
    similarity: float


@dataclass(frozen=True)
class SolutionPath:
    """A solution path, largest penalty first.

    Attributes
    ----------
    breakpoints : tuple of Breakpoint
        Where the path bends, or, if it is not exact, some points of it; the last one is the
        solution.
    status : Status
        Why the path ended where it did.
    certificate : Certificate
        Optimality of the solution.
    n_features : int
        Number of features of the problem, d.
    candidates : ndarray
        Features for which entries of G were computed, by decreasing relevance.
    exact : bool
        Whether the path is linear between the breakpoints.
    closed : tuple of Closed
        Features that were left out on the way, because one that joined is too similar to them.
        The problem is solved, and the solution certified, without them.
    """

    breakpoints: tuple[Breakpoint, ...]
    status: Status
    certificate: Certificate
    n_features: int
    candidates: IntArray
    exact: bool = True
    closed: tuple[Closed, ...] = ()

    @property
    def alphas(self) -> FloatArray:
        """Penalties at the breakpoints, shape (n_breakpoints,)."""
        return np.array([point.alpha for point in self.breakpoints])

    @property
    def alpha(self) -> float:
        """Penalty of the solution."""
        return self.breakpoints[-1].alpha

    @property
    def entered(self) -> IntArray:
        """Features in the order in which they first got a positive weight."""
        order = [k for point in self.breakpoints for k in point.joined]
        return np.array(list(dict.fromkeys(order)), dtype=np.int64)

    def coefficients(self, step: int = -1) -> FloatArray:
        """Return the weights at a breakpoint as a dense vector of shape (d,)."""
        point = self.breakpoints[step]
        dense = np.zeros(self.n_features)
        dense[point.indices] = point.weights
        return dense

    def renumbered(self, numbers: IntArray, n_features: int) -> SolutionPath:
        """Return the path with other numbers for its features.

        Parameters
        ----------
        numbers : ndarray of shape (d,)
            New number of each feature.
        n_features : int
            Number of features in the new numbering.
        """
        if numbers.size == n_features:
            return self
        points = tuple(
            replace(
                point,
                indices=numbers[point.indices],
                joined=tuple(numbers[list(point.joined)].tolist()),
                dropped=tuple(numbers[list(point.dropped)].tolist()),
            )
            for point in self.breakpoints
        )
        closed = tuple(
            Closed(int(numbers[one.feature]), int(numbers[one.representative]), one.similarity)
            for one in self.closed
        )
        return replace(
            self, breakpoints=points, n_features=n_features, candidates=numbers[self.candidates],
            closed=closed,
        )  # fmt: skip

    def selected_of_size(self, size: int, kept: IntArray) -> IntArray | None:
        """Return the features where an exact path first has `size` of them; None if it never has.

        The path would have stopped there for that number: at the end of the first segment that has
        it, or in its middle if the segment ends because a feature is dropped.

        Parameters
        ----------
        size : int
            Number of features.
        kept : ndarray of int
            Features that count whatever their weight.
        """
        for step, point in enumerate(self.breakpoints[:-1]):
            following = self.breakpoints[step + 1]
            active = np.union1d(np.append(point.indices, point.joined), kept).astype(np.int64)
            if active.size < size or following.alpha >= point.alpha * (1 - _SAME):
                continue
            weights = self.coefficients(step + 1)
            if following.dropped:
                weights = 0.5 * (self.coefficients(step) + weights)
            order = np.lexsort((active, -weights[active], ~np.isin(active, kept)))[:size]
            chosen = active[order]
            return chosen[np.lexsort((chosen, -weights[chosen]))]
        return None
