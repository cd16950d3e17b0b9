"""What stability selection returns: plain data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from hsiclasso._display import printable
from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError, require
from hsiclasso.inference.bounds import StabilityLevels, check_levels, false_selections
from hsiclasso.inference.halves import Sampling
from hsiclasso.selectors.result import SelectionResult

__all__ = ["StabilityResult", "StableCluster", "StableFeature", "with_frequencies"]

#: What samples of the samples are called.
_SAMPLES = {"complementary_pairs": "half-samples", "bootstrap": "bootstrap samples"}
#: Clusters that a short view shows, and fields of a record.
_SHOWN = 20
_FIELDS = ["rank", "name", "index", "frequency", "selected", "own_frequency", "size", "cluster"]


@dataclass(frozen=True)
class StableFeature:
    """A feature that at least one half-sample selected.

    Attributes
    ----------
    name : str
    index : int
        Column of the table.
    frequency : float
        Share of the half-samples that selected it.
    similarity : float
        Normalised HSIC with the representative of its cluster.
    """

    name: str
    index: int
    frequency: float
    similarity: float = 1.0


@dataclass(frozen=True)
class StableCluster:
    """Features that carry the same information.

    Attributes
    ----------
    frequency : float
        Share of the half-samples that selected any of its features.
    selected : bool
        Whether that reaches the threshold.
    representative : StableFeature
        The feature that was selected most often.
    members : tuple of StableFeature
        The others, most often selected first.
    """

    frequency: float
    selected: bool
    representative: StableFeature
    members: tuple[StableFeature, ...] = ()

    @property
    def columns(self) -> tuple[int, ...]:
        """Columns of all its features, the representative first."""
        return (self.representative.index, *(member.index for member in self.members))


@dataclass(frozen=True, repr=False)
class StabilityResult:
    """How often half-samples selected each cluster of features, and which are stable.

    Attributes
    ----------
    clusters : tuple of StableCluster
        All clusters with a feature that was selected, most frequent first.
    levels : StabilityLevels
        Threshold, features for each half-sample, and the bound on false selections, which counts
        clusters: `n_total` is the number of features if each cluster counts as one.
    sampling : {"complementary_pairs", "bootstrap"}
    n_subsamples : int
        Number of half-samples.
    n_samples, n_columns : int
        Size of the table.
    selector : str
        Name of the selector.
    max_redundancy : float
        Mean similarity from which features belong to one cluster.
    frequencies : ndarray of shape (n_columns,)
        Share of the half-samples that selected each column; not part of `to_dict`.
    """

    clusters: tuple[StableCluster, ...]
    levels: StabilityLevels
    sampling: Sampling
    n_subsamples: int
    n_samples: int
    n_columns: int
    selector: str
    max_redundancy: float
    frequencies: FloatArray = field(compare=False)

    @property
    def selected(self) -> tuple[StableCluster, ...]:
        """The stable clusters."""
        return tuple(cluster for cluster in self.clusters if cluster.selected)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the representatives of the stable clusters."""
        return tuple(cluster.representative.name for cluster in self.selected)

    def at(self, threshold: float) -> StabilityResult:
        """Return the result at another threshold, without new half-samples."""
        check_levels(threshold, None, None)
        old = self.levels
        expected = None
        if old.expected_false is not None:
            expected = false_selections(
                old.n_features, old.n_total, threshold, old.n_pairs, old.assumption
            )
        levels = replace(old, threshold=float(threshold), expected_false=expected)
        clusters = tuple(
            replace(cluster, selected=is_stable(cluster.frequency, threshold))
            for cluster in self.clusters
        )
        return replace(self, clusters=clusters, levels=levels)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the frequencies as dictionaries, lists and numbers."""
        names = ("sampling", "n_subsamples", "n_samples", "n_columns", "selector", "max_redundancy")
        return {
            "clusters": [asdict(cluster) for cluster in self.clusters],
            "levels": self.levels.to_dict(),
            **{name: getattr(self, name) for name in names},
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return everything but the frequencies as a JSON document."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one flat record per cluster, most frequent first."""
        return [
            {
                "rank": rank,
                "name": cluster.representative.name,
                "index": cluster.representative.index,
                "frequency": cluster.frequency,
                "selected": cluster.selected,
                "own_frequency": cluster.representative.frequency,
                "size": 1 + len(cluster.members),
                "cluster": "; ".join(
                    f"{member.name} ({member.frequency:.2f})" for member in cluster.members
                ),
            }
            for rank, cluster in enumerate(self.clusters, start=1)
        ]

    def to_frame(self) -> Any:
        """Return the records as a pandas DataFrame (needs the extra ``pandas``)."""
        return require("pandas", "pandas").DataFrame(self.to_rows(), columns=_FIELDS)

    def __repr__(self) -> str:
        levels, shown = self.levels, self.clusters[:_SHOWN]
        names = [printable(cluster.representative.name) for cluster in shown]
        width = max(map(len, names), default=4)
        lines = [
            f"Stability selection with {self.selector}: {len(self.selected)} of "
            f"{len(self.clusters)} clusters in {levels.threshold:.0%} or more of "
            f"{self.n_subsamples} {_SAMPLES[self.sampling]}"
        ]
        lines += [
            f"{'*' if cluster.selected else ' '}{rank:4d}  "
            f"{name:<{width}}  {cluster.frequency:6.1%}"
            + (f"  and {len(cluster.members)} alike" if cluster.members else "")
            for rank, (name, cluster) in enumerate(zip(names, shown, strict=True), start=1)
        ]
        if len(self.clusters) > _SHOWN:
            lines.append(f"       ... and {len(self.clusters) - _SHOWN} more")
        return "\n".join([*lines, self.error_bound])

    @property
    def error_bound(self) -> str:
        """The bound on false selections, in a sentence."""
        levels = self.levels
        if levels.expected_false is None:
            return "Bootstrap samples have no bound on false selections."
        assumed = "" if levels.assumption == "none" else f", if frequencies are {levels.assumption}"
        return (
            f"With {levels.n_features:g} features for each half-sample, at most "
            f"{levels.expected_false:.2g} false selections are expected{assumed}."
        )


def is_stable(frequency: float, threshold: float) -> bool:
    """Whether a frequency reaches a threshold, but for rounding errors."""
    return bool(frequency >= threshold - 1e-9)


def with_frequencies(
    result: SelectionResult, stability: StabilityResult | Sequence[float]
) -> SelectionResult:
    """Join frequencies to the features of a selection.

    Parameters
    ----------
    result : SelectionResult
        A selection from the same table.
    stability : StabilityResult, or sequence of float with one frequency per column
        Of a result, each feature gets the frequency of its cluster: a half-sample that selects a
        copy of a feature speaks for it.

    Returns
    -------
    SelectionResult
        The same with `frequency` for each feature.
    """
    by_column: Any = stability
    n_columns = result.data.n_columns
    if isinstance(stability, StabilityResult):
        by_column = np.zeros(stability.n_columns)
        for cluster in stability.clusters:
            by_column[list(cluster.columns)] = cluster.frequency
    if len(by_column) != n_columns:
        raise InvalidInputError(
            f"stability has frequencies of {len(by_column)} columns, but the selection is from a "
            f"table with {n_columns}: give results of the same table."
        )
    features = tuple(
        replace(feature, frequency=float(by_column[feature.index])) for feature in result.features
    )
    return replace(result, features=features)
