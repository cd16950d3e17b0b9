"""What a method of the comparison returns: plain data."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from hsiclasso.errors import require

__all__ = ["Plain", "RankedFeature", "RankingResult"]


@dataclass(frozen=True)
class RankedFeature:
    """One selected feature."""

    name: str
    index: int  # column of the table
    score: float  # see `scores_` of the method
    #: "method" if the method chose it; "filled" if it chose fewer than were asked for, and this is
    #: the next by score.
    origin: Literal["method", "filled"] = "method"


@dataclass(frozen=True)
class Plain:
    """A dataclass of plain data, and how it is written out."""

    #: Names of the values of a record.
    columns: ClassVar[tuple[str, ...]]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries, lists and numbers."""
        return asdict(self)

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return everything as a JSON document."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return flat records."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """Return the records as a pandas DataFrame (needs the extra ``pandas``)."""
        return require("pandas", "pandas").DataFrame(self.to_rows(), columns=list(self.columns))


@dataclass(frozen=True)
class RankingResult(Plain):
    """Selected features, best first, and how the selection came about.

    Attributes
    ----------
    features : tuple of RankedFeature
    method : str
    target : str
        Kind of the target.
    n_samples, n_features : int
    n_requested : int or None
        Number of features asked for; None if the method chose it.
    message : str
        What the method says about this run.
    constant : tuple of str
        Names of columns that do not vary and were left out.
    """

    features: tuple[RankedFeature, ...]
    method: str
    target: str
    n_samples: int
    n_features: int
    n_requested: int | None
    message: str
    constant: tuple[str, ...]
    columns: ClassVar[tuple[str, ...]] = ("rank", "name", "index", "score", "origin")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the selected features, best first."""
        return tuple(feature.name for feature in self.features)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one flat record per selected feature, best first."""
        return [
            {"rank": rank} | asdict(feature) for rank, feature in enumerate(self.features, start=1)
        ]
