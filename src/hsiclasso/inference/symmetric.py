"""Selectors that treat all columns alike, and that select columns one by one."""

from __future__ import annotations

from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors.estimators import LassoSelector
from hsiclasso.selectors.penalties import as_penalty

__all__ = ["check_single", "check_symmetric"]

#: Options that treat some columns unlike others, or refer to them by name.
_BY_COLUMN = ("keep", "exclude", "joint", "covariates")


def check_symmetric(selector: LassoSelector) -> None:
    """Raise if a selector has options for some of the columns."""
    params = selector.get_params(deep=False)
    found = [name for name in _BY_COLUMN if params.get(name) is not None]
    if hasattr(params["kernel"], "keys"):
        found.append("kernel")
    penalty = as_penalty(params["penalty"])
    if any(getattr(penalty, name, None) is not None for name in ("weights", "groups")):
        found.append("penalty")
    if found:
        raise InvalidInputError(
            f"selector has {', '.join(found)} for some of the columns, but all must be treated "
            "alike here: leave it out, and drop the columns that you do not want from the table."
        )


def check_single(selector: LassoSelector) -> None:
    """Raise if a selector may select interactions, which have no column of their own."""
    interactions = selector.get_params(deep=False).get("interactions")
    if interactions is not None:
        raise InvalidInputError(
            "The selector has interactions, but only single features are judged here: leave them "
            "out; hsic_scan_pairs (hsiclasso test --pairs) gives p- and q-values of pairs."
        )
