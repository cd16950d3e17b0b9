"""``n_features_to_select="auto"``: tests of candidates say how many features there are.

The path of the candidates is an ordinary selection. `hsiclasso.inference.controlled` tests them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors.penalties import GroupLasso, as_penalty

if TYPE_CHECKING:
    from hsiclasso.selectors.estimators import LassoSelector

__all__ = [
    "AUTO", "candidates_of", "check_auto", "check_testable", "first_path", "inference", "is_auto",
    "refuse_auto",
]  # fmt: skip

AUTO = "auto"
#: Largest similarity of two candidates. It is lower than that of a plain selection, since a test
#: given a noisy copy cannot prove the original superfluous.
_DISTINCT = 0.2


def is_auto(options: Any) -> bool:
    """Whether tests are to say how many features are selected."""
    number = getattr(options, "n_features_to_select", None)
    return isinstance(number, str) and number == AUTO


def inference() -> Any:
    """Return the module that tests candidates; by name, because it imports the selectors."""
    return importlib.import_module("hsiclasso.inference.controlled")


def check_auto(options: Any) -> None:
    """Raise if an option contradicts ``n_features_to_select="auto"``."""
    who = f"n_features_to_select={AUTO!r}"
    if options.alpha is not None:
        raise InvalidInputError(
            f"alpha={options.alpha!r} says where the path ends, but {who} finds out how many "
            "features there are by tests: leave one of them out."
        )
    check_testable(options, who)


def check_testable(options: Any, who: str) -> None:
    """Raise if an option forces features into the selection; `who` tests them."""
    if options.interactions is not None:
        raise InvalidInputError(
            f"The selector has interactions, but {who} tests single features: leave them out; "
            "hsic_scan_pairs (hsiclasso test --pairs) gives p- and q-values of pairs."
        )
    if options.keep is not None and len(options.keep):
        raise InvalidInputError(
            f"keep has features that would be selected without a test, but {who} selects only "
            "what tests find: leave them out, or give them as covariates, whose influence is "
            "removed."
        )
    if isinstance(as_penalty(options.penalty), GroupLasso):
        raise InvalidInputError(
            f"The penalty has groups, which are selected as a whole, but {who} tests single "
            "features: leave the groups out, or give a number of features."
        )


def refuse_auto(options: Any, why: str) -> None:
    """Raise if tests are to say how many features are selected; `why` they cannot here."""
    if is_auto(options):
        raise InvalidInputError(
            f"selector has n_features_to_select={AUTO!r}, which finds the number by tests, but "
            f"{why}: give a number, or leave it out."
        )


def first_path(options: LassoSelector) -> LassoSelector:
    """Return the selector of the first path: that of candidates, if tests say how many there are.

    If more than half of the candidates are found, longer paths follow.
    """
    return candidates_of(options, None, options.max_redundancy) if is_auto(options) else options


def candidates_of(
    options: LassoSelector, number: int | None = None, max_redundancy: Any = AUTO
) -> LassoSelector:
    """Return a copy of a selector whose features are candidates for tests, by default ten."""
    cap = _DISTINCT if isinstance(max_redundancy, str) else max_redundancy
    used = {"n_features_to_select": number, "alpha": None, "max_redundancy": cap}
    if "fill" in options.get_params(deep=False):
        used["fill"] = False
    made: LassoSelector = clone(options).set_params(**used)
    return made
