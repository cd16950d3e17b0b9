"""Following solutions down a path of penalties until there are as many features as wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np

from hsiclasso._types import FloatArray

__all__ = ["Solution", "descend", "falling"]

#: The search between two penalties ends at this relative distance.
_CLOSE = 1e-6


class Solution(Protocol):
    """A solution at one penalty."""

    @property
    def alpha(self) -> float:
        """Penalty."""

    @property
    def n_active(self) -> int:
        """Number of features that it uses."""


Found = TypeVar("Found", bound=Solution)
Solve = Callable[[float, Found | None], Found]


def falling(largest: float, step: float, last: float) -> FloatArray:
    """Return penalties that fall from the largest by a factor `step` < 1, and end at `last`.

    Examples
    --------
    >>> falling(1.0, 0.5, 0.2)
    array([1.  , 0.5 , 0.25, 0.2 ])
    >>> falling(1.0, 0.5, 2.0)
    array([2.])
    """
    if last >= largest:
        return np.array([last])
    # a tiny last step is left out
    count = int(np.ceil(np.log(last / largest) / np.log(step) - 1e-9))
    return np.append(largest * step ** np.arange(count), last)


def descend(
    solve: Solve[Found],
    alphas: FloatArray,
    *,
    most: int | None = None,
    stop: Callable[[Found], bool] | None = None,
) -> list[Found]:
    """Solve at falling penalties, each from the solution before; return all solutions.

    The path ends at `most` features. If a penalty gives more, penalties between the last two are
    tried. If several features join at once, the last solution has more. The path also ends before
    the first solution for which ``stop(solution)`` is true, but has one solution at least.
    """
    found: list[Found] = []
    for alpha in alphas:
        point = solve(float(alpha), found[-1] if found else None)
        if found and stop is not None and stop(point):
            break
        if found and most is not None and point.n_active > most:
            return [*found, *_close_in(solve, found[-1], point, most)]
        found.append(point)
        if most is not None and point.n_active >= most:
            break
    return found


def _close_in(solve: Solve[Found], above: Found, below: Found, most: int) -> list[Found]:
    """Solutions between one with fewer features than wanted and one with more."""
    passed: list[Found] = []
    while below.n_active > most and above.alpha > below.alpha * (1 + _CLOSE):
        middle = solve(float(np.sqrt(above.alpha * below.alpha)), above)
        if middle.n_active < most:
            above = middle
            passed.append(middle)
        else:
            below = middle
    return [*passed, below]
