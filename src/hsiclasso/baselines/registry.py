"""The methods by name, and what the package's own selectors are in the same terms."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hsiclasso.baselines.alignment import CKTA, KTA
from hsiclasso.baselines.base import Baseline
from hsiclasso.baselines.forward import ForwardSelection
from hsiclasso.baselines.fvm import FVM
from hsiclasso.baselines.greedy import GreedyHSIC
from hsiclasso.baselines.hsfs import HSFS
from hsiclasso.baselines.job import ANY_TARGET, Dependency, Traits
from hsiclasso.baselines.lasso import LassoPath
from hsiclasso.baselines.mrmr import MRMR
from hsiclasso.baselines.qpfs import QPFS
from hsiclasso.baselines.rankings import HSICRanking, MIRanking
from hsiclasso.baselines.spam import SpAM
from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors import EmbeddingLasso, HSICLasso, NOCCOLasso

__all__ = ["BASELINES", "METHODS", "traits_of"]

#: The methods that the package's own are compared with, by name.
BASELINES: Mapping[str, type[Baseline]] = MappingProxyType(
    {
        "lasso": LassoPath,
        "mrmr": MRMR,
        "greedy_hsic": GreedyHSIC,
        "forward_selection": ForwardSelection,
        "hsfs": HSFS,
        "fvm": FVM,
        "qpfs": QPFS,
        "kta": KTA,
        "ckta": CKTA,
        "spam": SpAM,
        "hsic_ranking": HSICRanking,
        "mi_ranking": MIRanking,
    }
)

#: The same with the package's own selectors in front.
METHODS: Mapping[str, type[Any]] = MappingProxyType(
    {
        "embedding_lasso": EmbeddingLasso,
        "hsic_lasso": HSICLasso,
        "nocco_lasso": NOCCOLasso,
        **BASELINES,
    }
)

_OWN_METHODS: tuple[tuple[str, str, Dependency], ...] = (
    ("embedding_lasso", "Embedding Lasso", "additive non-linear"),
    ("hsic_lasso", "HSIC Lasso", "non-linear"),
    ("nocco_lasso", "NOCCO Lasso", "non-linear"),
)
_OWN = {
    name: Traits(title, dependence, "convex", "primal", "high", ANY_TARGET, "n r^2 (d + c m)")
    for name, title, dependence in _OWN_METHODS
}


def traits_of(name: str) -> Traits:
    """Return what a method of `METHODS` is.

    Parameters
    ----------
    name : str

    Examples
    --------
    >>> traits_of("spam").structured, traits_of("hsic_lasso").optimization
    (False, 'convex')
    """
    if name not in METHODS:
        raise InvalidInputError(f"method {name!r} is unknown: there are {', '.join(METHODS)}.")
    return _OWN[name] if name in _OWN else BASELINES[name].traits
