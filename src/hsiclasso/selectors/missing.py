"""How missing values of features are treated."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from hsiclasso._checks import is_number
from hsiclasso._options import Option
from hsiclasso.errors import InvalidInputError

__all__ = ["Ignore", "as_missing"]

#: Fewest observed samples on which dependence can be measured.
_MIN_OBSERVED = 3


class Ignore(Option):
    """Judge each feature on the samples on which it is observed.

    Parameters
    ----------
    min_observed : float or int, default=0.5
        Share or number of samples on which a feature must be observed to be judged.
    """

    def __init__(self, min_observed: float = 0.5) -> None:
        self.min_observed = min_observed

    def check(self) -> Self:
        """Raise unless `min_observed` is a share or a number of samples."""
        least = self.min_observed
        if not is_number(least) or not least > 0 or (self._is_share and least > 1):
            raise InvalidInputError(
                f"min_observed={least!r}, but it must be a share of the samples between 0 and 1, "
                "or a whole number of them."
            )
        return self

    @property
    def _is_share(self) -> bool:
        return isinstance(self.min_observed, float) or self.min_observed < 1

    def least_observed(self, n: int) -> int:
        """Return the number of samples on which a feature must be observed, of n."""
        least = int(np.ceil(self.min_observed * n)) if self._is_share else int(self.min_observed)
        if least > n:
            raise InvalidInputError(
                f"min_observed={self.min_observed!r}, but there are {n} samples: ask for fewer."
            )
        return max(least, _MIN_OBSERVED)


def as_missing(value: Any) -> Ignore | None:
    """Return how missing values are ignored; None if they are refused."""
    if isinstance(value, Ignore):
        return value.check()
    if isinstance(value, str) and value in ("error", "ignore"):
        return Ignore() if value == "ignore" else None
    raise InvalidInputError(
        f"missing={value!r} is unknown: choose 'error' or 'ignore', or pass an object such as "
        "Ignore(min_observed=0.8)."
    )
