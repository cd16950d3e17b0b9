"""What a selection returns: plain data."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

from hsiclasso._display import printable
from hsiclasso._types import FloatArray
from hsiclasso.errors import require
from hsiclasso.selectors.selected import (
    Cluster,
    Member,
    Neighbour,
    Origin,
    SelectedFeature,
    SelectedGroup,
)
from hsiclasso.selectors.summaries import (
    DataSummary,
    ErrorControl,
    FeatureFunction,
    InteractionSummary,
    MethodSummary,
    PairFunction,
    SizeScores,
    SolutionSummary,
)
from hsiclasso.solvers import Certificate, SolutionPath

__all__ = [
    "RECORD_FIELDS",
    "Cluster",
    "DataSummary",
    "FeatureFunction",
    "InteractionSummary",
    "Member",
    "MethodSummary",
    "Neighbour",
    "Origin",
    "PairFunction",
    "SelectedFeature",
    "SelectedGroup",
    "SelectionResult",
    "SolutionSummary",
]

#: Fields of a flat record of `SelectionResult.to_rows`.
RECORD_FIELDS = [
    "rank", "name", "index", "weight", "share", "relevance", "origin", "group", "n_observed",
    "columns", "neighbours", "cluster",
]  # fmt: skip
#: Fields of a record that are left out where no feature has them.
_OPTIONAL = ("main_class", "main_class_share", "p_value", "q_value", "frequency")
#: Features that a short view shows.
_SHOWN = 20


@dataclass(frozen=True, repr=False)
class SelectionResult:
    """Selected features, most important first, and how they were selected.

    Features are in the order of their weights; those of `EmbeddingLasso` in the order in which
    they would be dropped, last first.

    Attributes
    ----------
    features : tuple of SelectedFeature
    groups : tuple of SelectedGroup
        Groups with a selected feature, by decreasing norm; empty without groups.
    method : MethodSummary
        Measure, kind of target, penalty, solver and covariates.
    data : DataSummary
        Sizes of the table, and the samples and features that were left out.
    solution : SolutionSummary
        Penalty, status, certificate and error bound.
    path : SolutionPath
        The solution path, in columns of the table; not part of `to_dict`.
    functions : tuple of FeatureFunction or PairFunction
        The shape of each dependence, in the order of `features`; only of `EmbeddingLasso`.
    clusters : tuple of Cluster
        For each feature, in the same order, those that were left out because of it.
    error_control : ErrorControl or None
        The tests of all candidates, if a `ControlledSelection` bounds the false discoveries.
    interactions : InteractionSummary or None
        Which interactions could be selected, if any.
    similarity : ndarray of shape (s, s) or None
        How similar the selected features are to each other, in their order: normalised HSIC, or
        its counterpart in the terms of the measure. None if more than 200 are selected; not part
        of `to_dict`.
    validation : SizeScores or None
        Scores of each number of features, if `HSICLassoCV` chose the number.

    Examples
    --------
    >>> from hsiclasso import HSICLasso, make_data1
    >>> X, y, causal = make_data1(100, 20, random_state=0)
    >>> print(HSICLasso(2).fit(X, y).result_)  # doctest: +SKIP
    """

    features: tuple[SelectedFeature, ...]
    groups: tuple[SelectedGroup, ...]
    method: MethodSummary
    data: DataSummary
    solution: SolutionSummary
    path: SolutionPath = field(compare=False)
    functions: tuple[FeatureFunction | PairFunction, ...] = field(default=(), compare=False)
    clusters: tuple[Cluster, ...] = ()
    error_control: ErrorControl | None = None
    interactions: InteractionSummary | None = None
    similarity: FloatArray | None = field(default=None, compare=False)
    validation: SizeScores | None = field(default=None, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the selected features, by decreasing weight."""
        return tuple(feature.name for feature in self.features)

    @property
    def n_on_path(self) -> int:
        """Number of selected features that were not filled in to make up the number."""
        return sum(feature.origin != "filled" for feature in self.features)

    @property
    def certificate(self) -> Certificate:
        """Proof of global optimality over all features."""
        return self.solution.certificate

    @property
    def status(self) -> str:
        """Name of the `Status` with which the path ended."""
        return self.solution.status

    @property
    def message(self) -> str:
        """How the path ended, in a sentence."""
        return self.solution.message

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the path as dictionaries, lists and numbers."""
        parts = ("features", "groups", "clusters", "method", "data", "solution")
        made = {name: getattr(self, name) for name in parts}
        plain: dict[str, Any] = {
            name: [asdict(item) for item in part] if isinstance(part, tuple) else asdict(part)
            for name, part in made.items()
        }
        if self.error_control is not None:
            plain["error_control"] = asdict(self.error_control)
        if self.interactions is not None:
            plain["interactions"] = asdict(self.interactions)
        if self.validation is not None:
            plain["validation"] = self.validation.to_dict()
        if self.functions:
            plain["functions"] = [function.to_dict() for function in self.functions]
        return plain

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return everything but the path as a JSON document."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @property
    def fields(self) -> list[str]:
        """Names of the values of a record: `RECORD_FIELDS`, and what is known beyond them."""
        some = [
            name for name in _OPTIONAL if any(getattr(f, name) is not None for f in self.features)
        ]
        known = [name for feature in self.features for name in feature.info]
        return list(dict.fromkeys([*RECORD_FIELDS, *some, *known]))

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one flat record per selected feature, by decreasing weight."""
        rows, names, members = [], self.fields[1:], self._members()
        for rank, feature in enumerate(self.features, start=1):
            row = {
                "rank": rank,
                **{name: getattr(feature, name, feature.info.get(name)) for name in names},
            }
            row["columns"] = "; ".join(feature.columns)
            row["neighbours"] = _listed(feature.neighbours)
            row["cluster"] = _listed(members[rank - 1])
            rows.append(row)
        return rows

    def to_frame(self) -> Any:
        """Return the records as a pandas DataFrame (needs the extra ``pandas``)."""
        return require("pandas", "pandas").DataFrame(self.to_rows(), columns=self.fields)

    def classes_to_frame(self, *, weights: bool = False) -> Any:
        """Return which classes each feature speaks for, as a pandas DataFrame (extra ``pandas``).

        Parameters
        ----------
        weights : bool, default=False
            Whether to split the weight of each feature among the classes, not its relevance.

        Returns
        -------
        DataFrame of shape (n_selected, n_classes)
            Rows are features and columns classes; without classes there are no columns.
        """
        rows = []
        for one in self.features:
            scale = one.weight / (one.relevance or 1.0) if weights else 1.0
            rows.append({name: scale * part for name, part in one.classes.items()})
        return require("pandas", "pandas").DataFrame(rows, index=list(self.names))

    def groups_to_frame(self) -> Any:
        """Return the groups as a pandas DataFrame (needs the extra ``pandas``)."""
        rows = [asdict(group) | {"features": "; ".join(group.features)} for group in self.groups]
        columns = ["label", "norm", "size", "features"]
        return require("pandas", "pandas").DataFrame(rows, columns=columns)

    def plot(self) -> Any:
        """Draw weights, path and functions as a matplotlib figure (needs the extra ``plots``)."""
        # by name, because plots import results
        return importlib.import_module("hsiclasso.plots").draw_result(self)

    def to_html(self, file: str | os.PathLike[str], X: Any = None, y: Any = None) -> None:
        """Write a report as one HTML file that opens offline.

        Parameters
        ----------
        file : path-like
            File to write, ``.html``.
        X, y : table and target, optional
            Those of the fit; with them the report shows how the target depends on each feature.
            `hsiclasso.report.write_report` also takes the selector, for its settings.

        Examples
        --------
        >>> from hsiclasso import HSICLasso, make_data1
        >>> X, y, causal = make_data1(100, 20, random_state=0)
        >>> HSICLasso(2).fit(X, y).result_.to_html("report.html", X, y)
        """
        importlib.import_module("hsiclasso.report").write_report(self, file, X, y)

    def __repr__(self) -> str:
        shown = self.features[:_SHOWN]
        names = [printable(feature.name) for feature in shown]
        width = max(map(len, names), default=4)
        lines = [self._headline()]
        lines += [
            f"{rank:4d}  {name:<{width}}  {feature.weight:10.4g}  {feature.share:6.1%}"
            for rank, (name, feature) in enumerate(zip(names, shown, strict=True), start=1)
        ]
        if len(self.features) > _SHOWN:
            lines.append(f"      ... and {len(self.features) - _SHOWN} more")
        return "\n".join([*lines, self._proof()])

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        rows = "".join(
            f"<tr><td>{rank}</td><td style='text-align:left'>{escape(feature.name)}</td>"
            f"<td>{feature.weight:.4g}</td>"
            "<td><div style='background:#4477AA;height:.7em;display:inline-block;"
            f"width:{6 * feature.share:.2f}em'></div> {feature.share:.1%}</td>"
            f"<td>{feature.relevance:.4g}</td><td style='text-align:left'>"
            f"{escape(', '.join(other.name for other in feature.neighbours))}</td>"
            f"<td title='{escape(_listed(others), quote=True)}'>{len(others) or ''}</td></tr>"
            for rank, (feature, others) in enumerate(
                zip(self.features, self._members(), strict=True), start=1
            )
        )
        head = "".join(
            f"<th>{word}</th>"
            for word in ("", "feature", "weight", "share", "relevance", "neighbours", "left out")
        )
        return (
            f"<p>{escape(self._headline())}</p><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table><p><small>{escape(self._proof())}</small></p>"
        )

    def _members(self) -> list[tuple[Member, ...]]:
        """Members of the cluster of each feature."""
        if not self.clusters:
            return [()] * len(self.features)
        return [cluster.members for cluster in self.clusters]

    def _headline(self) -> str:
        count, data, method = len(self.features), self.data, self.method
        return (
            f"{method.name}: {count} feature{'' if count == 1 else 's'} selected from "
            f"{data.n_columns:,} columns on {data.n_samples:,} samples, target: {method.target}"
        )

    def _proof(self) -> str:
        proof = self.certificate
        reached = "Stopped before the optimum" if self.status == "STALLED" else "Global optimum"
        return (
            f"{reached} at penalty {self.solution.alpha:.4g}: KKT residual "
            f"{proof.kkt_residual:.1e}, duality gap {proof.duality_gap:.1e} over all features."
            + ("" if self.interactions is None else f" {printable(self.interactions.message)}")
        )


def _listed(others: Iterable[Neighbour | Member]) -> str:
    """Return names and similarities as text."""
    return "; ".join(f"{other.name} ({other.similarity:.2f})" for other in others)
