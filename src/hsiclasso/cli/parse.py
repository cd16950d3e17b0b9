"""What is written behind an option -> the value that it stands for."""

from __future__ import annotations

import difflib
from typing import Literal

import click

__all__ = ["METHODS", "Width", "joint", "kernels", "methods", "nonzero", "observed", "width"]

Width = float | Literal["median"]

#: Those of `hsiclasso.baselines.METHODS`, which takes too long to load for a help text.
METHODS = (
    "hsic_lasso", "nocco_lasso", "lasso", "mrmr", "greedy_hsic", "hsfs", "fvm", "qpfs", "kta",
    "ckta", "spam", "hsic_ranking", "mi_ranking",
)  # fmt: skip
_KERNELS = ("gaussian", "laplace", "delta", "plain_delta", "linear", "polynomial")


def width(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> Width | tuple[Width, ...] | None:
    """Return a kernel width, a positive number or the word ``median``; several with commas."""
    if value is None:
        return None
    widths = tuple(_one_width(ctx, param, part.strip()) for part in value.split(","))
    return widths[0] if len(widths) == 1 else widths


def _one_width(ctx: click.Context, param: click.Parameter, value: str) -> Width:
    if value == "median":
        return "median"
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise click.BadParameter(
            f"{value!r} is neither a positive number nor 'median'.", ctx, param
        )
    return number


def kernels(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> str | dict[str, str]:
    """Return the name of one kernel for all columns, or kernels by column or kind."""
    rules: dict[str, str] = {}
    for item in value:
        key, sign, name = item.rpartition("=")
        if name not in _KERNELS and (sign or name != "auto"):
            raise click.BadParameter(
                f"{name!r} is not one of {', '.join(map(repr, _KERNELS))}.", ctx, param
            )
        if not sign and len(value) > 1:
            raise click.BadParameter(
                f"{name!r} is for all columns, so that it must be the only one; COLUMN={name} is "
                f"for one column and number={name} for all numbers.",
                ctx,
                param,
            )
        if not sign:
            return name
        if not key or key in rules:
            what = f"{key!r} is given two kernels." if key else f"{item!r} names no column."
            raise click.BadParameter(what, ctx, param)
        rules[key] = name
    return rules or "auto"


def joint(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> dict[str, list[str]]:
    """Return the columns of each feature that is made of several."""
    features: dict[str, list[str]] = {}
    for item in value:
        name, _, columns = item.partition("=")
        parts = [column.strip() for column in columns.split(",")]
        if not name.strip() or not all(parts):
            raise click.BadParameter(
                f"{item!r} does not read NAME=COLUMN,COLUMN, as in place=east,north.", ctx, param
            )
        if name.strip() in features:
            raise click.BadParameter(f"{name.strip()!r} is given twice.", ctx, param)
        features[name.strip()] = parts
    return features


def methods(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    """Return names of methods, which are written with commas; None for all."""
    if value is None:
        return None
    names = tuple(name.strip() for name in value.split(","))
    for name in names:
        if name not in METHODS:
            close = difflib.get_close_matches(name.lower(), METHODS, n=1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            raise click.BadParameter(
                f"there is no method {name!r}{hint}: choose among {', '.join(METHODS)}.", ctx, param
            )
        if names.count(name) > 1:
            raise click.BadParameter(f"{name!r} is given twice.", ctx, param)
    return names


def observed(ctx: click.Context, param: click.Parameter, value: str | None) -> float | int | None:
    """Return a share of the samples, or a number of them if it is written as a whole number."""
    if value is None:
        return None
    try:
        number: float | int = int(value) if value.strip().isdigit() else float(value)
    except ValueError:
        number = 0
    if not number > 0 or (isinstance(number, float) and number > 1):
        raise click.BadParameter(
            f"{value!r} is neither a share of the samples, such as 0.5, nor a number of them, "
            "such as 30.",
            ctx,
            param,
        )
    return number


def nonzero(ctx: click.Context, param: click.Parameter, value: int) -> int:
    """Refuse 0, which is no number of threads."""
    if value == 0:
        raise click.BadParameter("0 threads can do no work: -1 takes all cores.", ctx, param)
    return value
