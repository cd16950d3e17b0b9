"""What a selection returns: plain data."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from hsiclasso.errors import require
from hsiclasso.solvers import Certificate

__all__ = ["RECORD_FIELDS", "Neighbour", "SelectedFeature", "SelectionResult"]

#: Fields of a flat record of `SelectionResult.to_rows`.
RECORD_FIELDS = ["rank", "name", "index", "weight", "relevance", "neighbours"]


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
        Weight in the solution, positive.
    relevance : float
        Dependence on the target by itself.
    neighbours : tuple of Neighbour
        Most similar among the features that came near to being selected, nearest first.
    """

    name: str
    index: int
    weight: float
    relevance: float
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True)
class SelectionResult:
    """Selected features, by decreasing weight, and how the selection came about.

    Attributes
    ----------
    features : tuple of SelectedFeature
    method : str
        ``"HSIC Lasso"``, ``"normalised HSIC Lasso"`` or ``"NOCCO Lasso"``.
    task : str
        ``"classification"`` or ``"regression"``.
    n_samples, n_features : int
        Size of the table.
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
    """

    features: tuple[SelectedFeature, ...]
    method: str
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

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the selected features, by decreasing weight."""
        return tuple(feature.name for feature in self.features)

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
                "neighbours": "; ".join(
                    f"{other.name} ({other.similarity:.2f})" for other in feature.neighbours
                ),
            }
            for rank, feature in enumerate(self.features, start=1)
        ]

    def to_frame(self) -> Any:
        """Return the records as a pandas DataFrame (needs the extra ``pandas``)."""
        return require("pandas", "pandas").DataFrame(self.to_rows(), columns=RECORD_FIELDS)
