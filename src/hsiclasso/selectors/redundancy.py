"""How similar two features of a path may be."""

from __future__ import annotations

from typing import Any

from hsiclasso._checks import is_number
from hsiclasso.errors import InvalidInputError
from hsiclasso.solvers import Penalty

__all__ = ["check_redundancy", "resolve_redundancy"]

#: Usual largest similarity, by measurement (`experiments/redundancy_cap.py`). It is that of two
#: normal columns with a correlation of 0.86 under HSIC, of 0.93 under NOCCO with epsilon 1e-3, and
#: of 0.90 under the measure of Embedding Lasso; of two zero/one columns, 0.77 under all of them.
_USUAL = 0.6


def check_redundancy(value: Any) -> None:
    """Raise unless a value is a similarity above 0, or ``"auto"``."""
    if isinstance(value, str) and value == "auto":
        return
    if not (is_number(value) and 0 < value <= 1):
        raise InvalidInputError(
            f"max_redundancy={value!r}, but the largest similarity of two selected features lies "
            "above 0 and is at most 1: 1.0 leaves nothing out, 'auto' is the usual value."
        )


def resolve_redundancy(value: Any, penalty: Penalty) -> float:
    """Return the cap for a penalty.

    Groups enter as a whole, and an elastic net is there to let similar features share weight:
    neither leaves anything out by default.
    """
    if value != "auto":
        if penalty.grouped and value < 1:
            raise InvalidInputError(
                f"max_redundancy={value!r}, but GroupLasso selects groups as a whole and cannot "
                "leave out similar features: pass max_redundancy=1.0 or 'auto'."
            )
        return float(value)
    return 1.0 if penalty.grouped or penalty.ridge else _USUAL
