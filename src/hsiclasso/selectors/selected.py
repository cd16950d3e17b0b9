"""What is told about each selected feature: plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Cluster", "Member", "Neighbour", "Origin", "SelectedFeature", "SelectedGroup"]

#: Why a feature was selected: the path has it, the user keeps it, or it makes up the number.
Origin = Literal["path", "kept", "filled"]


@dataclass(frozen=True)
class Neighbour:
    """A feature that is similar to a selected one.

    Attributes
    ----------
    name : str
    index : int
        Column of the table.
    similarity : float
        Normalised HSIC (or NOCCO) with the selected feature, between 0 and 1.
    """

    name: str
    index: int
    similarity: float


@dataclass(frozen=True)
class SelectedFeature:
    """One selected feature.

    Attributes
    ----------
    name : str
    index : int
        Column of the table; the first of a joint feature. Numbers of interactions follow those of
        the columns.
    weight : float
        Weight in the solution; it may be 0 if the feature was kept or filled in.
    share : float
        Weight over the sum of all weights, by absolute values.
    relevance : float
        Dependence of the target on this feature alone.
    neighbours : tuple of Neighbour
        The most similar of all features, nearest first, as many as `n_neighbors`.
    origin : {"path", "kept", "filled"}
        ``"path"``: the path selects it. ``"kept"``: the user asked to keep it. ``"filled"``: the
        path ends before the number asked for, and relevant features that are unlike the others
        make up the number.
    group : str or None
        Label of its group.
    n_observed : int
        Samples on which it is not missing.
    columns : tuple of str
        Columns that it consists of: one, unless it is a joint feature or an interaction.
    members : tuple of str
        Features that an interaction joins; empty for other features.
    info : dict
        What the table knows about its column: chromosome and position of a variant.
    p_value, q_value, frequency : float or None
        What `hsiclasso.inference` finds out: how likely so much dependence is by chance, the rate
        of false discoveries up to here, and how often samples of the samples select it.
    classes : dict of str to float
        For a target of three classes or more, the part of the relevance that comes from telling
        each class from the rest; the parts add up to the relevance. Empty for other targets, and
        where covariates are subtracted.
    """

    name: str
    index: int
    weight: float
    share: float
    relevance: float
    neighbours: tuple[Neighbour, ...] = ()
    origin: Origin = "path"
    group: str | None = None
    n_observed: int = 0
    columns: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    info: dict[str, Any] = field(default_factory=dict)
    p_value: float | None = None
    q_value: float | None = None
    frequency: float | None = None
    classes: dict[str, float] = field(default_factory=dict)

    @property
    def main_class(self) -> str | None:
        """The class that it speaks for most; None without classes."""
        return max(self.classes, key=lambda name: self.classes[name]) if self.classes else None

    @property
    def main_class_share(self) -> float | None:
        """Part of the relevance that comes from that class, between 0 and 1."""
        if not self.classes:
            return None
        return max(self.classes.values()) / (sum(self.classes.values()) or 1.0)


@dataclass(frozen=True)
class SelectedGroup:
    """A group with a selected feature.

    Attributes
    ----------
    label : str
    norm : float
        Euclidean norm of its weights.
    size : int
        Features that belong to it.
    features : tuple of str
        Those that are selected, by decreasing weight.
    """

    label: str
    norm: float
    size: int
    features: tuple[str, ...]


@dataclass(frozen=True)
class Member:
    """A feature that was left out because it is too similar to a selected one.

    Attributes
    ----------
    name : str
    index : int
        Column of the table; the first of a joint feature.
    similarity : float
        Similarity to the representative, between 0 and 1: normalised HSIC, or its counterpart in
        the terms of the measure.
    """

    name: str
    index: int
    similarity: float


@dataclass(frozen=True)
class Cluster:
    """A selected feature, and those that carry the same information.

    The samples cannot tell which of them the target really depends on.

    Attributes
    ----------
    representative : str
        Name of the selected feature.
    index : int
        Its column.
    members : tuple of Member
        The others, most similar first.
    """

    representative: str
    index: int
    members: tuple[Member, ...] = ()
