"""What a selection returns: plain data."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from hsiclasso.errors import require
from hsiclasso.solvers import Certificate

__all__ = [
    "RECORD_FIELDS",
    "Neighbour",
    "Origin",
    "SelectedFeature",
    "SelectedGroup",
    "SelectionResult",
]

#: Why a feature was selected: by the path, because it was to be kept, or to make up the number.
Origin = Literal["path", "kept", "filled"]

#: Fields of a flat record of `SelectionResult.to_rows`.
RECORD_FIELDS = [
    "rank", "name", "index", "weight", "relevance", "origin", "group", "n_observed",
    "columns", "neighbours",
]  # fmt: skip


@dataclass(frozen=True)
class Neighbour:
    """A feature that carries much of the same information as a selected one.

    Attributes
    ----------
    name : str
    index : int
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
        Column of the table.
    weight : float
        Weight in the solution; 0 if the feature was kept or filled in without need.
    relevance : float
        Dependence on the target by itself.
    neighbours : tuple of Neighbour
        Most similar among the features that came near to being selected, nearest first.
    origin : {"path", "kept", "filled"}
        By the path; because it was to be kept; or, where the path ends before the number asked
        for, by an elastic net that makes up the number.
    group : str or None
        Label of its group.
    n_observed : int
        Samples on which it is not missing.
    columns : tuple of str
        Columns that it is made of: its own name, unless it is a joint feature.
    """

    name: str
    index: int
    weight: float
    relevance: float
    neighbours: tuple[Neighbour, ...]
    origin: Origin = "path"
    group: str | None = None
    n_observed: int = 0
    columns: tuple[str, ...] = ()


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
class SelectionResult:
    """Selected features, by decreasing weight, and how the selection came about.

    Attributes
    ----------
    features : tuple of SelectedFeature
    groups : tuple of SelectedGroup
        Groups with a selected feature, by decreasing norm; empty without groups.
    method : str
        ``"HSIC Lasso"``, ``"normalised HSIC Lasso"`` or ``"NOCCO Lasso"``.
    penalty, solver : str
        Penalty and solver that were used.
    task : str
        ``"classification"``, ``"regression"``, ``"ordinal"``, ``"counts"``, ``"multilabel"``,
        ``"survival"`` or ``"structured"``.
    n_samples, n_features : int
        Samples that were used, and columns of the table.
    n_dropped : int
        Samples that were not: without a target, or of weight 0.
    covariates : tuple of str
        Names of the covariates.
    n_removed : int
        Functions of them that were removed from every feature and from the target.
    weighted : bool
        Whether samples had weights other than 1.
    n_requested : int or None
        Number of features asked for.
    alpha : float
        Penalty of the solution.
    status : str
        Name of the `Status` with which the path ended.
    message : str
        The same in a sentence, with numbers.
    certificate : Certificate
        Proof of global optimality over all features.
    embedding_error : float
        Guaranteed bound on the relative error of any feature's Gram matrix.
    constant : tuple of str
        Names of features that do not vary and were left out.
    few_observed : tuple of str
        Names of features that are missing on too many samples and were left out.
    """

    features: tuple[SelectedFeature, ...]
    groups: tuple[SelectedGroup, ...]
    method: str
    penalty: str
    solver: str
    task: str
    n_samples: int
    n_features: int
    n_requested: int | None
    alpha: float
    status: str
    message: str
    certificate: Certificate
    embedding_error: float
    constant: tuple[str, ...]
    few_observed: tuple[str, ...] = ()
    n_dropped: int = 0
    covariates: tuple[str, ...] = ()
    n_removed: int = 0
    weighted: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the selected features, by decreasing weight."""
        return tuple(feature.name for feature in self.features)

    @property
    def n_on_path(self) -> int:
        """Number of selected features that were not filled in to make up the number."""
        return sum(feature.origin != "filled" for feature in self.features)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries, lists and numbers."""
        return asdict(self)

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return everything as a JSON document."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one flat record per selected feature, by decreasing weight."""
        return [
            {
                "rank": rank,
                "name": feature.name,
                "index": feature.index,
                "weight": feature.weight,
                "relevance": feature.relevance,
                "origin": feature.origin,
                "group": feature.group,
                "n_observed": feature.n_observed,
                "columns": "; ".join(feature.columns),
                "neighbours": "; ".join(
                    f"{other.name} ({other.similarity:.2f})" for other in feature.neighbours
                ),
            }
            for rank, feature in enumerate(self.features, start=1)
        ]

    def to_frame(self) -> Any:
        """Return the records as a pandas DataFrame (needs the extra ``pandas``)."""
        return require("pandas", "pandas").DataFrame(self.to_rows(), columns=RECORD_FIELDS)

    def groups_to_frame(self) -> Any:
        """Return the groups as a pandas DataFrame (needs the extra ``pandas``)."""
        rows = [asdict(group) | {"features": "; ".join(group.features)} for group in self.groups]
        columns = ["label", "norm", "size", "features"]
        return require("pandas", "pandas").DataFrame(rows, columns=columns)
