"""Targets of any objects, compared by a function of two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np

from hsiclasso._types import BoolArray, FloatArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Measure, Samples
from hsiclasso.kernels.base import ROUNDING
from hsiclasso.kernels.cholesky import NotPositiveError, pivoted_cholesky
from hsiclasso.kernels.factor import factor_rows
from hsiclasso.targets.affinity import eigen_target
from hsiclasso.targets.base import MissingTarget, Target, TargetData, check_length, is_nothing
from hsiclasso.targets.matrix import FactoredTarget, TargetMatrix, factored_target
from hsiclasso.targets.values import tighter

__all__ = ["Objects", "Pairwise", "check_symmetry", "pairwise_gram"]

#: Items on which a function is tried in both orders, and how much it may differ, relatively.
_CHECKED, _ASYMMETRY = 24, 1e-6


@dataclass(frozen=True)
class Pairwise:
    """Objects, and a symmetric function of two of them.

    A positive semi-definite function is evaluated on few pairs: those of each object with a few
    pivots. If a value shows that it is not positive semi-definite, all pairs are evaluated.
    """

    items: Sequence[Any]
    #: ``function(a, b)`` is the similarity of two objects; only one order is evaluated.
    function: Callable[[Any, Any], float]

    def matrix(
        self, measure: Measure, samples: Samples, *, error: float, n_features: int
    ) -> TargetMatrix:
        """Make the matrix T."""
        value = cache(lambda i, j: pair_value(self.items, self.function, i, j))
        try:
            return self._factored(value, measure, samples, error)
        except NotPositiveError:
            # pairs that were not evaluated yet are evaluated in the order of the items
            gram = pairwise_gram(range(samples.n), value)
            return eigen_target(gram, measure, samples, error)

    def _factored(
        self, value: Callable[[int, int], float], measure: Measure, samples: Samples, error: float
    ) -> FactoredTarget:
        n, seen = samples.n, set[int]()
        diagonal = np.array([value(i, i) for i in range(n)])
        if diagonal.sum() <= 0:
            raise NotPositiveError
        weights = samples.shares[0]
        rounding = ROUNDING * float(weights @ diagonal)

        def row(pivot: int) -> FloatArray:
            # a pair with an earlier pivot was evaluated from the other side
            seen.add(pivot)
            return np.array(
                [value(j, pivot) if j in seen and j != pivot else value(pivot, j) for j in range(n)]
            )

        def expand(allowed: float) -> tuple[FloatArray, float]:
            seen.clear()
            return pivoted_cholesky(diagonal, row, max(allowed, rounding), weights)

        return factored_target(
            factor_rows(expand, samples, measure, tighter(error)), samples, measure, error
        )


class Objects(Target):
    """Objects of any sort - strings, trees, graphs - under a function of two of them.

    Parameters
    ----------
    function : callable
        Symmetric: ``function(a, b) == function(b, a)``, a finite number; it may be indefinite.
    missing : {"error", "drop"}, default="error"
        Whether samples without a target are refused or dropped.

    Examples
    --------
    >>> def same_length(a, b):
    ...     return float(len(a) == len(b))
    >>> Objects(same_length).prepare(["a", "bb", "cc"], 3).data.items
    ['a', 'bb', 'cc']
    """

    name: ClassVar[str] = "objects"
    words: ClassVar[str] = "objects compared by a function"

    def __init__(
        self, function: Callable[[Any, Any], float], missing: MissingTarget = "error"
    ) -> None:
        self.function = function
        self.missing = missing

    def check(self) -> Self:
        """Raise unless the function can be called."""
        if not callable(self.function):
            raise InvalidInputError(
                f"function={self.function!r} must be a function of two targets that returns their "
                "similarity."
            )
        return super().check()

    def read(self, y: Any, n: int) -> list[Any]:
        """Return the objects as a list."""
        items = list(y)
        check_length(len(items), n)
        return items

    def absent(self, values: list[Any], n: int) -> BoolArray:
        """Tell which objects are None or NaN."""
        return np.array([is_nothing(item) for item in values], dtype=bool)

    def make(self, values: list[Any], rows: BoolArray) -> tuple[TargetData, Target]:
        """Return the objects of the samples that are used."""
        items = [item for item, used in zip(values, rows, strict=True) if used]
        check_symmetry(items, self.function)
        return Pairwise(items, self.function), self


def pairwise_gram(items: Iterable[Any], function: Callable[[Any, Any], float]) -> FloatArray:
    """Evaluate a symmetric function on all pairs, in n (n + 1) / 2 calls.

    It is called as ``function(a, b)`` with a before b in the order of the n items, and returns a
    finite number, their similarity. It may be indefinite.

    Examples
    --------
    >>> pairwise_gram([1, 4, 6], lambda a, b: -abs(a - b))
    array([[ 0., -3., -5.],
           [-3.,  0., -2.],
           [-5., -2.,  0.]])
    """
    items = list(items)
    gram = np.empty((len(items), len(items)))
    for i in range(len(items)):
        gram[i, i:] = [pair_value(items, function, i, j) for j in range(i, len(items))]
        gram[i:, i] = gram[i, i:]
    return gram


def check_symmetry(items: Sequence[Any], function: Callable[[Any, Any], float]) -> None:
    """Raise unless a function gives the same in both orders, on pairs of some evenly spaced items.

    Examples
    --------
    >>> check_symmetry([1, 4], lambda a, b: a - b)
    Traceback (most recent call last):
        ...
    hsiclasso.errors.InvalidInputError: the function returned -3 for items 0 and 1 and 3 for items
    1 and 0, but a similarity does not depend on the order: pass lambda a, b: (f(a, b) + f(b, a)) /
    2.
    """
    some = np.unique(np.linspace(0, len(items) - 1, min(len(items), _CHECKED)).astype(int)).tolist()
    for place, i in enumerate(some):
        for j in some[:place]:
            one, other = pair_value(items, function, j, i), pair_value(items, function, i, j)
            if abs(one - other) > _ASYMMETRY * max(abs(one), abs(other)):
                raise InvalidInputError(
                    f"the function returned {one:g} for items {j} and {i} and {other:g} for items "
                    f"{i} and {j}, but a similarity does not depend on the order: pass "
                    "lambda a, b: (f(a, b) + f(b, a)) / 2."
                )


def pair_value(
    items: Sequence[Any], function: Callable[[Any, Any], float], i: int, j: int
) -> float:
    """Evaluate the function on a pair; raise unless the result is one finite number."""
    value = function(items[i], items[j])
    number = _number(value)
    if not np.isfinite(number):
        raise InvalidInputError(
            f"the function returned {value!r:.80} for the pair of items {i} and {j}, but a "
            "similarity must be one finite number: let it return a float for every pair."
        )
    return number


def _number(value: Any) -> float:
    """Return a scalar as a float, anything else as NaN."""
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str | bytes) or np.iscomplexobj(value):
        return np.nan
    if getattr(value, "ndim", 0) != 0:  # NumPy takes an array of one number for a number
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan
