"""What the user chose about the selection, and the settings that it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hsiclasso.cli.parse import Width
from hsiclasso.errors import InvalidInputError

if TYPE_CHECKING:
    from hsiclasso.selectors import Settings

__all__ = ["NO_WIDTH", "Choices"]

#: Kernels that have no width.
NO_WIDTH = ("delta", "plain_delta", "linear", "polynomial")


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
    x_kernel : str or mapping
    x_width : float, "median", tuple of these or None
        1.0 if None.
    joint : mapping of str to list of str
    missing : {"error", "ignore"}
    min_observed : float, int or None
        Only for ``missing="ignore"``; 0.5 if None.
    covariates : tuple of str
    covariate_method : {"project", "subtract"} or None
        Only with covariates; ``"project"`` if None.
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
    x_kernel: str | Mapping[str, str] = "auto"
    x_width: Width | tuple[Width, ...] | None = None
    joint: Mapping[str, list[str]] | None = None
    missing: Literal["error", "ignore"] = "error"
    min_observed: float | None = None
    covariates: tuple[str, ...] = ()
    covariate_method: Literal["project", "subtract"] | None = None
    epsilon: float | None = None
    tol: float = 1e-6
    neighbors: int = 3
    n_jobs: int = -1

    def settings(self, target: Any = None) -> Settings:
        """Return the settings, which checks the choices.

        Parameters
        ----------
        target : TargetOptions, optional
            How the target is understood.
        """
        from hsiclasso.data.groups import read_groups
        from hsiclasso.dependence import make_measure
        from hsiclasso.selectors import (
            FeatureOptions,
            PenaltyOptions,
            Settings,
            StopOptions,
            TargetOptions,
        )
        from hsiclasso.selectors.covariates import CovariateOptions

        self._check()
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
            features=FeatureOptions(
                self.x_kernel,
                width=1.0 if self.x_width is None else self.x_width,
                joint=self.joint,
                missing=self.missing,
                min_observed=0.5 if self.min_observed is None else self.min_observed,
                tol=self.tol,
            ),
            target=target or TargetOptions(),
            covariates=CovariateOptions(self.covariates, self.covariate_method or "project"),
            n_neighbors=self.neighbors,
            n_jobs=self.n_jobs,
        )

    def _check(self) -> None:
        """Raise if two choices contradict each other."""
        if self.epsilon is not None and self.method != "nocco":
            raise InvalidInputError(
                f"--epsilon {self.epsilon:g} has no meaning for --method {self.method}: it is "
                "NOCCO's regularisation; leave it out or choose --method nocco."
            )
        if self.min_observed is not None and self.missing != "ignore":
            raise InvalidInputError(
                f"--min-observed {self.min_observed} is for tables with missing values: add "
                "--missing ignore, or leave it out."
            )
        if self.covariate_method is not None and not self.covariates:
            raise InvalidInputError(
                f"--covariate-method {self.covariate_method} needs a covariate: name one with "
                "--covariate, or leave it out."
            )
        if self.x_width is not None and self.x_kernel in NO_WIDTH:
            raise InvalidInputError(
                f"--x-width has no meaning for --x-kernel {self.x_kernel}, which has no width: "
                "leave one of them out."
            )
