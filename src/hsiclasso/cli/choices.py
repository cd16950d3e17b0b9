"""The options of a selection, and the settings they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from hsiclasso.errors import InvalidInputError

if TYPE_CHECKING:
    from hsiclasso.selectors import Settings

__all__ = ["Choices", "nonzero", "width"]

Width = float | Literal["median"]


@dataclass(frozen=True)
class Choices:
    """What the user chose; None where the default depends on another choice.

    Attributes
    ----------
    n_features, n_groups : int or None
    alpha, alpha_ratio : float or None
    criterion : {"aic", "bic"} or None
    keep, exclude : tuple of str
        Columns by name.
    groups : path or None
        File with two columns, feature and group.
    l1_ratio, ridge : float
    solver : {"auto", "homotopy", "cd", "dal"}
    method : {"hsic", "nhsic", "nocco"}
    task : {"auto", "classification", "regression"}
    y_transform : {"none", "rank"}
    x_width, y_width : float or "median"
    epsilon : float or None
        Only for NOCCO; 1e-3 if None.
    tol : float
    neighbors : int
    n_jobs : int
    """

    n_features: int | None = None
    n_groups: int | None = None
    alpha: float | None = None
    alpha_ratio: float | None = None
    criterion: Literal["aic", "bic"] | None = None
    keep: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    groups: Path | None = None
    l1_ratio: float = 0.0
    ridge: float = 0.0
    solver: str = "auto"
    method: Literal["hsic", "nhsic", "nocco"] = "hsic"
    task: Literal["auto", "classification", "regression"] = "auto"
    y_transform: Literal["none", "rank"] = "none"
    x_width: Width = 1.0
    y_width: Width = 1.0
    epsilon: float | None = None
    tol: float = 1e-6
    neighbors: int = 3
    n_jobs: int = -1

    def settings(self) -> Settings:
        """Return the settings, which checks the choices."""
        from hsiclasso.data import read_groups
        from hsiclasso.dependence import make_measure
        from hsiclasso.embedding import Embedding, make_kernel
        from hsiclasso.selectors import PenaltyOptions, Settings, StopOptions, TargetOptions

        if self.epsilon is not None and self.method != "nocco":
            raise InvalidInputError(
                f"--epsilon {self.epsilon:g} has no meaning for --method {self.method}: it is "
                "NOCCO's regularisation; leave it out or choose --method nocco."
            )
        transform: Literal["rank"] | None = "rank" if self.y_transform == "rank" else None
        return Settings(
            stop=StopOptions(
                self.n_features, self.n_groups, self.alpha, self.alpha_ratio, self.criterion
            ),
            penalty=PenaltyOptions(
                keep=self.keep,
                exclude=self.exclude,
                groups=None if self.groups is None else read_groups(self.groups),
                l1_ratio=self.l1_ratio,
                ridge=self.ridge,
            ),
            solver=self.solver,
            measure=make_measure(self.method, self.epsilon or 1e-3),
            embedding=Embedding(make_kernel("gaussian", self.x_width), self.tol),
            target=TargetOptions(self.task, width=self.y_width, transform=transform),
            n_neighbors=self.neighbors,
            n_jobs=self.n_jobs,
        )


def width(ctx: click.Context, param: click.Parameter, value: str) -> Width:
    """Return a kernel width: a positive number, or the word ``median``."""
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


def nonzero(ctx: click.Context, param: click.Parameter, value: int) -> int:
    """Refuse 0, which is no number of threads."""
    if value == 0:
        raise click.BadParameter("0 threads can do no work: -1 takes all cores.", ctx, param)
    return value
