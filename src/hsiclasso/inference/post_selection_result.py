"""What tests after a selection say: plain data."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.errors import require

__all__ = ["FeatureTest", "PostSelectionResult"]


@dataclass(frozen=True)
class FeatureTest:
    """A selected feature with its p-value.

    Attributes
    ----------
    name : str
    index : int
        Column of the table.
    estimate, standard_error : float
        Of the quantity that was tested, before the selection is accounted for.
    p_value : float
        One-sided: small if the quantity is above 0.
    low, high : float
        Confidence interval; its ends may be infinite.
    """

    name: str
    index: int
    estimate: float
    standard_error: float
    p_value: float
    low: float
    high: float


@dataclass(frozen=True)
class PostSelectionResult:
    """Selected features with p-values that account for the selection.

    Attributes
    ----------
    features : tuple of FeatureTest
        By increasing p-value; empty if nothing is selected on the second part.
    screened : tuple of str
        Features that the first part let through.
    quantity, estimator : str
    confidence : float
        Of the intervals.
    alpha : float
        Penalty, chosen on the first part; HSIC is a mean over pairs of samples here.
    n_first, n_second, n_sets : int
        Samples of both parts, and sets of samples on the second.
    """

    features: tuple[FeatureTest, ...]
    screened: tuple[str, ...]
    quantity: str
    estimator: str
    confidence: float
    alpha: float
    n_first: int
    n_second: int
    n_sets: int

    #: Names of the values of a record.
    columns: ClassVar[tuple[str, ...]] = tuple(field.name for field in fields(FeatureTest))

    @property
    def message(self) -> str:
        """What was selected and tested, in a sentence."""
        if not self.features:
            return "Nothing selected on the second part of the samples."
        k = len(self.features)
        what = "dependence" if self.quantity == "hsic" else "coefficient beside the others"
        return (
            f"{k} feature{'s'[: k != 1]} selected from {len(self.screened)}, each tested for its "
            f"{what}, given the selection; intervals have a confidence of {self.confidence:.3g}."
        )

    @property
    def p_values(self) -> FloatArray:
        """P-values, smallest first."""
        return np.array([feature.p_value for feature in self.features])

    def to_frame(self) -> Any:
        """Return the features as a pandas DataFrame (needs the extra ``pandas``)."""
        rows = [asdict(feature) for feature in self.features]
        return require("pandas", "pandas").DataFrame(rows, columns=list(self.columns))

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a flat record for each feature; None stands for an infinite end."""
        return list(self.to_dict()["features"])

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return everything as a JSON document; null stands for an infinite end."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists and numbers; None stands for an infinite end."""
        made = asdict(self)
        for row in made["features"]:
            for end in ("low", "high"):
                row[end] = row[end] if np.isfinite(row[end]) else None
        return made
