"""What a selection was asked for: file, target, settings and versions, to run it again."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from hsiclasso import __version__
from hsiclasso.selectors.result import SelectionResult

__all__ = ["Asked", "settings_of", "versions"]

#: Packages whose versions may change a number.
_PACKAGES = ("numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Asked:
    """What only the caller of a report knows.

    Parameters
    ----------
    file : str, default=""
        File from which features were selected.
    target : tuple of str, default=()
        Names of the columns of the target.
    command : str, default=""
        Command that makes the report again.
    seed : int, optional
        Seed of random numbers, if any were drawn.

    Examples
    --------
    >>> Asked("genes.csv", ("tumour",)).called
    'tumour'
    """

    file: str = ""
    target: tuple[str, ...] = ()
    command: str = ""
    seed: int | None = None

    @property
    def called(self) -> str:
        """What the target is called in sentences."""
        return ", ".join(self.target[:3]) + (", ..." if len(self.target) > 3 else "")


def settings_of(result: SelectionResult, selector: Any, asked: Asked) -> dict[str, str]:
    """Return what was asked, by name."""
    method, solution = result.method, result.solution
    number = "" if solution.n_requested is None else f"{solution.n_requested:,}"
    control = result.error_control
    seed = asked.seed
    if seed is None and isinstance(getattr(selector, "random_state", None), int):
        seed = selector.random_state
    found: dict[str, str] = {
        "File": asked.file,
        "Target": f"{asked.called} ({method.target})" if asked.target else method.target,
        "Method": method.name,
        "Features asked for": number,
        "False discovery rate": "" if control is None else f"{control.level:g}",
        "Penalty": f"{method.penalty}, {solution.alpha:.4g}",
        "Solver": method.solver,
        "Covariates": ", ".join(method.covariates),
        "Samples": "weighted" if method.weighted else "",
        "Seed": "" if seed is None else str(seed),
        "Versions": versions(),
        "In Python": "" if selector is None or asked.command else repr(selector),
        "To run it again": asked.command,
    }
    return {name: text for name, text in found.items() if text}


def versions() -> str:
    """Return the versions of the packages that may change a number."""
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    return f"hsiclasso {__version__}, Python {platform.python_version()}, {packages}"
