"""What knockoffs say about every feature: plain data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hsiclasso._display import printable
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.errors import require

__all__ = ["KnockoffResult", "ranked"]


@dataclass(frozen=True, eq=False, repr=False)
class KnockoffResult:
    """What knockoffs say about every feature.

    Attributes
    ----------
    names : tuple of str
        Names of all d columns.
    selected : tuple of int
        Selected columns, by decreasing e-value and statistic.
    statistics : ndarray of shape (n_draws, d)
        W of each draw: weight of the feature less weight of its knockoff.
    thresholds : ndarray of shape (n_draws,)
        Least W that counts in each draw; infinite where none does.
    e_values : ndarray of shape (d,)
        Mean e-value over the draws.
    e_threshold : float
        Least e-value that is selected; infinite if nothing is.
    similarity : ndarray of shape (d,)
        Correlation of each column with its knockoff. Near 1 nothing can be found.
    q, draw_level : float
        Bound on the false discovery rate, and the level of each draw.
    method : str
    n_samples : int
    """

    names: tuple[str, ...]
    selected: tuple[int, ...]
    statistics: FloatArray
    thresholds: FloatArray
    e_values: FloatArray
    e_threshold: float
    similarity: FloatArray
    q: float
    draw_level: float
    method: str
    n_samples: int

    #: Names of the values of a record.
    columns: ClassVar[tuple[str, ...]] = (
        "name", "index", "selected", "e_value", "frequency", "statistic", "similarity"
    )  # fmt: skip

    @property
    def frequency(self) -> FloatArray:
        """Share of the draws in which each feature passed the threshold, shape (d,)."""
        passed = self.statistics >= self.thresholds[:, None]
        return np.asarray(passed.mean(axis=0))

    @property
    def selected_names(self) -> tuple[str, ...]:
        """Names of the selected columns."""
        return tuple(self.names[j] for j in self.selected)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one record per column, the selected ones first, then by e-value and statistic."""
        statistic, frequency = self.statistics.mean(axis=0), self.frequency
        order = ranked(self.e_values, statistic)
        return [
            {
                "name": self.names[j],
                "index": j,
                "selected": j in self.selected,
                "e_value": float(self.e_values[j]),
                "frequency": float(frequency[j]),
                "statistic": float(statistic[j]),
                "similarity": float(self.similarity[j]),
            }
            for j in order.tolist()
        ]

    @property
    def message(self) -> str:
        """What is found, in a sentence."""
        size = len(self.selected)
        found = f"{size:,} feature{'s'[: size != 1]}" if size else "Nothing"
        return f"{found} found at a false discovery rate of {self.q:g} (knockoffs, {self.method})."

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return everything as a JSON document."""
        return json.dumps(self.to_dict() | {"message": self.message}, indent=indent)

    def to_frame(self) -> Any:
        """Return the records as a pandas DataFrame (needs the extra ``pandas``)."""
        return require("pandas", "pandas").DataFrame(self.to_rows(), columns=list(self.columns))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists and numbers; None stands for an infinite threshold."""
        return {
            "features": self.to_rows(),
            "selected": list(self.selected_names),
            "thresholds": [_finite(value) for value in self.thresholds.tolist()],
            "e_threshold": _finite(self.e_threshold),
            "q": self.q,
            "draw_level": self.draw_level,
            "method": self.method,
            "n_samples": self.n_samples,
        }

    def __repr__(self) -> str:
        shown = ", ".join(map(printable, self.selected_names[:20])) or "nothing found at this level"
        more = len(self.selected) - 20
        return (
            f"Knockoffs ({self.method}, {len(self.statistics)} draw(s)), false discovery rate "
            f"<= {self.q:g}: {len(self.selected)} of {len(self.names):,} columns on "
            f"{self.n_samples:,} samples\n{shown}{f' ... and {more} more' if more > 0 else ''}"
        )


def ranked(values: FloatArray, statistic: FloatArray) -> IntArray:
    """Order features by e-value, then by statistic, then by number."""
    return np.lexsort((np.arange(values.size), -statistic, -values)).astype(np.int64)


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
