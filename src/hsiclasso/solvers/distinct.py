r"""Leaving features out of a path that are too similar to one that joined before.

The similarity of two features is :math:`s_{kl} = G_{kl} / \sqrt{G_{kk} G_{ll}}`, the cosine of the
angle between their matrices, between 0 and 1. Where the path comes to the penalty at which a
feature would join, the feature is compared with all that joined before it. If a similarity exceeds
the *cap*, the feature is *closed*: it is excluded from there on, and the path goes on as if it had
never been there. No two features that ever joined are more similar than the cap.

A closed feature has had weight 0 at all larger penalties, where it could not have had another. The
path is therefore, from its first point to its last, that of the same convex problem on the
features that are not closed, and its certificate holds for this problem.

A feature stays closed if the one that closed it leaves the path later: what that one carried is
then carried by others. Features without penalty count as joined from the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Self

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.solvers.path import Closed
from hsiclasso.solvers.penalty import Penalty
from hsiclasso.solvers.problem import QuadraticProblem

__all__ = ["Distinct", "Similarity", "cosines", "refuse_groups", "similarity_in"]

#: Similarities of a feature with some others.
Similarity = Callable[[int, IntArray], FloatArray]


def similarity_in(problem: QuadraticProblem) -> Similarity:
    """Return the function that finds similarities in a quadratic problem.

    Examples
    --------
    >>> from hsiclasso.solvers import ExplicitProblem
    >>> problem = ExplicitProblem(np.array([[4.0, 1.0], [1.0, 1.0]]), np.ones(2), 1.0)
    >>> similarity_in(problem)(0, np.array([0, 1])).tolist()
    [1.0, 0.5]
    """

    def similarity(feature: int, others: IntArray) -> FloatArray:
        one = np.array([feature])
        products = problem.block(one, others)[0]
        norms2 = problem.diagonal(others) * problem.diagonal(one)
        return cosines(products, norms2)

    return similarity


def cosines(products: FloatArray, norms2: FloatArray) -> FloatArray:
    """Divide inner products by norms, whose squares are multiplied; 0 where a norm is 0."""
    found = np.zeros(products.size)
    np.divide(products, np.sqrt(norms2), out=found, where=norms2 > 0)
    return found


def refuse_groups(penalty: Penalty, cap: float) -> None:
    """Raise if a cap is given and features enter in groups."""
    if penalty.grouped and cap < 1:
        raise InvalidInputError(
            f"cap={cap!r}, but groups enter as a whole and cannot leave similar features out: pass "
            "1, which leaves nothing out."
        )


class Distinct:
    """The features that joined a path, and those that were closed because of them.

    Parameters
    ----------
    similarity : callable
        Similarities of a feature with some others.
    cap : float
        Largest similarity of two features that may both join.
    kept : iterable of int
        Features that count as joined from the start, and are never closed.

    Attributes
    ----------
    joined : list of int
        Features in the order in which they joined.
    closed : dict of int to Closed
    """

    def __init__(self, similarity: Similarity, cap: float, kept: Iterable[int] = ()) -> None:
        self.similarity = similarity
        self.cap = cap
        self.joined = list(kept)
        self.closed: dict[int, Closed] = {}

    def copy(self) -> Self:
        """Return the present state."""
        made = type(self)(self.similarity, self.cap, self.joined)
        made.closed = dict(self.closed)
        return made

    def admit(self, feature: int) -> bool:
        """Close a feature that would join if it is too similar to one that joined.

        Returns whether it may join. This does not yet make it one that joined.
        """
        if not self.joined or feature in self.joined:
            return True
        found = self.nearest(feature, self.joined)
        if found.similarity > self.cap:
            self.closed[feature] = found
        return found.similarity <= self.cap

    def nearest(self, feature: int, others: list[int]) -> Closed:
        """Return the most similar of some features; of equal ones, the first."""
        values = self.similarity(feature, np.array(others))
        best = int(np.argmax(values))
        return Closed(feature, others[best], min(float(values[best]), 1.0))

    def join(self, feature: int) -> None:
        """Note that a feature joined."""
        if feature not in self.joined:
            self.joined.append(feature)

    def clash(self, features: list[int]) -> bool:
        """Return whether two of some features are too similar."""
        return any(
            self.nearest(one, features[:i]).similarity > self.cap
            for i, one in enumerate(features)
            if i
        )
