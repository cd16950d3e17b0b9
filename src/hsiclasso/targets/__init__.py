"""Station 3: y -> the target's matrix. One file for each kind of target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hsiclasso._options import as_option
from hsiclasso.targets.affinity import Affinity, Similarity
from hsiclasso.targets.auto import Auto
from hsiclasso.targets.base import Prepared, Target, TargetData
from hsiclasso.targets.classes import Classes
from hsiclasso.targets.counts import Counts
from hsiclasso.targets.graph import Diffusion, Graph, Links, RegularisedLaplacian
from hsiclasso.targets.labels import Labels
from hsiclasso.targets.matrix import FactoredTarget, TargetMatrix
from hsiclasso.targets.objects import Objects, Pairwise
from hsiclasso.targets.ordinal import Ordinal
from hsiclasso.targets.real import Real
from hsiclasso.targets.survival import Censored, Survival
from hsiclasso.targets.values import Values

__all__ = [
    "TARGETS",
    "Affinity",
    "Auto",
    "Censored",
    "Classes",
    "Counts",
    "Diffusion",
    "FactoredTarget",
    "Graph",
    "Labels",
    "Links",
    "Objects",
    "Ordinal",
    "Pairwise",
    "Prepared",
    "Real",
    "RegularisedLaplacian",
    "Similarity",
    "Survival",
    "Target",
    "TargetData",
    "TargetMatrix",
    "Values",
    "as_target",
]

#: Constructor of the target of each name. `Objects` needs a function and therefore has no name.
TARGETS: dict[str, Callable[[], Target]] = {
    "auto": Auto,
    "real": Real,
    "classes": Classes,
    "labels": Labels,
    "ordinal": Ordinal,
    "counts": Counts,
    "survival": Survival,
    "affinity": Affinity,
    "graph": Graph,
}


def as_target(value: Any) -> Target:
    """Return the target that a name stands for, or the given object, checked.

    Examples
    --------
    >>> as_target("survival")
    Survival()
    """
    return as_option("target", value, Target, TARGETS)
