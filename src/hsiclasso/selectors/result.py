"""What a selection returns: plain data."""

from __future__ import annotations

import importlib
import json
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any, Literal

from hsiclasso._types import FloatArray
from hsiclasso.errors import require
from hsiclasso.solvers import Certificate, SolutionPath

__all__ = [
    "RECORD_FIELDS",
    "DataSummary",
    "FeatureFunction",
    "MethodSummary",
    "Neighbour",
    "Origin",
    "SelectedFeature",
    "SelectedGroup",
    "SelectionResult",
    "SolutionSummary",
]

#: Why a feature was selected: the path has it, the user keeps it, or it makes up the number.
Origin = Literal["path", "kept", "filled"]

#: Fields of a flat record of `SelectionResult.to_rows`.
RECORD_FIELDS = [
    "rank", "name", "index", "weight", "share", "relevance", "origin", "group", "n_observed",
    "columns", "neighbours",
]  # fmt: skip
#: Features that a short view shows.
_SHOWN = 20


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
        Column of the table; the first of a joint feature.
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
        path ends before the number asked for, and an elastic net makes up the number.
    group : str or None
        Label of its group.
    n_observed : int
        Samples on which it is not missing.
    columns : tuple of str
        Columns that it consists of: one, unless it is a joint feature.
    info : dict
        What the table knows about its column: chromosome and position of a variant.
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
    info: dict[str, Any] = field(default_factory=dict)


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
class MethodSummary:
    """How features were selected.

    Attributes
    ----------
    name : str
        ``"HSIC Lasso"``, ``"normalised HSIC Lasso"``, ``"NOCCO Lasso"`` or ``"Embedding Lasso"``.
    target : str
        Kind of the target: ``"real"``, ``"classes"``, ``"labels"``, ``"ordinal"``, ``"counts"``,
        ``"survival"``, ``"affinity"``, ``"graph"`` or ``"objects"``.
    penalty, solver : str
    covariates : tuple of str
        Names of the covariates.
    n_removed : int
        Functions of them that were removed from every feature and from the target.
    weighted : bool
        Whether samples had weights other than 1.
    """

    name: str
    target: str
    penalty: str
    solver: str
    covariates: tuple[str, ...] = ()
    n_removed: int = 0
    weighted: bool = False


@dataclass(frozen=True)
class DataSummary:
    """The table from which features were selected.

    Attributes
    ----------
    n_samples, n_columns : int
        Samples that were used, and columns of the table.
    n_dropped : int
        Samples that were not used: without a target, or with weight 0.
    constant : tuple of str
        Names of features that do not vary and were left out.
    few_observed : tuple of str
        Names of features that are missing on too many samples and were left out.
    """

    n_samples: int
    n_columns: int
    n_dropped: int = 0
    constant: tuple[str, ...] = ()
    few_observed: tuple[str, ...] = ()


@dataclass(frozen=True)
class SolutionSummary:
    """How the path ended.

    Attributes
    ----------
    alpha : float
        Penalty of the solution.
    status : str
        Name of the `Status` with which the path ended.
    message : str
        The same in a sentence, with numbers.
    certificate : Certificate
        Proof of global optimality over all features.
    gram_error : float
        Guaranteed bound on the relative error of any feature's Gram matrix.
    n_requested : int or None
        Number of features asked for.
    """

    alpha: float
    status: str
    message: str
    certificate: Certificate
    gram_error: float
    n_requested: int | None = None


@dataclass(frozen=True)
class FeatureFunction:
    """The fitted function of one selected feature: the shape of the dependence.

    Attributes
    ----------
    name : str
    index : int
        Column of the table.
    share : float
        Its share of what the selected features explain of the target's embedding.
    grid : ndarray of shape (g,)
        Values of the column, in its own unit, or its labels; empty for joint features.
    values : ndarray of shape (q, g)
        The function at these values, with mean 0 on the samples: what it adds to each output.
    outputs : tuple of str
        Names of the outputs: those of a real target, or one for each class.
    spread : ndarray of shape (q,)
        Standard deviation of the function on the samples, in the unit of the output.
    """

    name: str
    index: int
    share: float
    grid: Any
    values: FloatArray
    outputs: tuple[str, ...]
    spread: FloatArray

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists and numbers."""
        made = asdict(self)
        arrays = {name: getattr(self, name).tolist() for name in ("grid", "values", "spread")}
        return made | arrays


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
    functions : tuple of FeatureFunction
        The shape of each dependence, in the order of `features`; only of `EmbeddingLasso`.

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
    functions: tuple[FeatureFunction, ...] = field(default=(), compare=False)

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
        parts = ("features", "groups", "method", "data", "solution")
        made = {name: getattr(self, name) for name in parts}
        plain: dict[str, Any] = {
            name: [asdict(item) for item in part] if isinstance(part, tuple) else asdict(part)
            for name, part in made.items()
        }
        if self.functions:
            plain["functions"] = [function.to_dict() for function in self.functions]
        return plain

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return everything but the path as a JSON document."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @property
    def fields(self) -> list[str]:
        """Names of the values of a record: `RECORD_FIELDS`, and what is known about columns."""
        known = [name for feature in self.features for name in feature.info]
        return list(dict.fromkeys([*RECORD_FIELDS, *known]))

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one flat record per selected feature, by decreasing weight."""
        rows, names = [], self.fields[1:]
        for rank, feature in enumerate(self.features, start=1):
            row = {
                "rank": rank,
                **{name: getattr(feature, name, feature.info.get(name)) for name in names},
            }
            row["columns"] = "; ".join(feature.columns)
            row["neighbours"] = "; ".join(
                f"{other.name} ({other.similarity:.2f})" for other in feature.neighbours
            )
            rows.append(row)
        return rows

    def to_frame(self) -> Any:
        """Return the records as a pandas DataFrame (needs the extra ``pandas``)."""
        return require("pandas", "pandas").DataFrame(self.to_rows(), columns=self.fields)

    def groups_to_frame(self) -> Any:
        """Return the groups as a pandas DataFrame (needs the extra ``pandas``)."""
        rows = [asdict(group) | {"features": "; ".join(group.features)} for group in self.groups]
        columns = ["label", "norm", "size", "features"]
        return require("pandas", "pandas").DataFrame(rows, columns=columns)

    def plot(self) -> Any:
        """Draw weights, path and functions as a matplotlib figure (needs the extra ``plots``)."""
        # by name, because plots import results
        return importlib.import_module("hsiclasso.plots").draw_result(self)

    def __repr__(self) -> str:
        shown = self.features[:_SHOWN]
        width = max([len(feature.name) for feature in shown], default=4)
        lines = [self._headline()]
        lines += [
            f"{rank:4d}  {feature.name:<{width}}  {feature.weight:10.4g}  {feature.share:6.1%}"
            for rank, feature in enumerate(shown, start=1)
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
            f"{escape(', '.join(other.name for other in feature.neighbours))}</td></tr>"
            for rank, feature in enumerate(self.features, start=1)
        )
        head = "".join(
            f"<th>{word}</th>"
            for word in ("", "feature", "weight", "share", "relevance", "neighbours")
        )
        return (
            f"<p>{escape(self._headline())}</p><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table><p><small>{escape(self._proof())}</small></p>"
        )

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
        )
