"""The selection as one plain function: make factors, take inner products, solve."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data import Source, check_finite
from hsiclasso.dependence import (
    DependenceProblem,
    Measure,
    Progress,
    Scan,
    make_target,
    scan_relevance,
)
from hsiclasso.embedding import Embedding, factor_columns
from hsiclasso.errors import ConstantFeatureWarning, FewerFeaturesWarning
from hsiclasso.selectors.penalties import PenaltyOptions, ResolvedPenalty
from hsiclasso.selectors.result import (
    Neighbour,
    Origin,
    SelectedFeature,
    SelectedGroup,
    SelectionResult,
)
from hsiclasso.selectors.search import Goal, Search, StopOptions, check_count
from hsiclasso.selectors.targets import PreparedTarget, TargetOptions, prepare_target
from hsiclasso.solvers import Path, Penalty, Ridged, Status, choose_solver

__all__ = ["Selection", "Settings", "select"]

_PLAIN = PenaltyOptions()
_METHODS = {"hsic": "HSIC Lasso", "nhsic": "normalised HSIC Lasso", "nocco": "NOCCO Lasso"}


@dataclass(frozen=True)
class Settings:
    """All choices of a selection.

    Attributes
    ----------
    stop : StopOptions
        Where the path ends.
    penalty : PenaltyOptions
        What is said about features.
    solver : str
        ``"auto"``, ``"homotopy"``, ``"cd"`` or ``"dal"``.
    measure : Measure
    embedding : Embedding
        Kernel and tolerance of the features.
    target : TargetOptions
    n_neighbors : int
        Redundant neighbours listed for each selected feature.
    n_jobs : int or None
        Threads.
    """

    stop: StopOptions
    measure: Measure
    embedding: Embedding
    target: TargetOptions
    penalty: PenaltyOptions = _PLAIN
    solver: str = "auto"
    n_neighbors: int = 5
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check_count("n_neighbors", self.n_neighbors, least=0)


@dataclass(frozen=True)
class Selection:
    """Everything a selection found.

    Attributes
    ----------
    result : SelectionResult
    relevance : ndarray of shape (d,)
    path : Path
    selected : ndarray
        Columns by decreasing weight.
    coefficients : ndarray of shape (d,)
        Weights of the selected columns, zero elsewhere.
    kernel_weights : ndarray
        Their weights in the learnt kernel.
    kept : ndarray
        Columns that were to be kept.
    """

    result: SelectionResult
    relevance: FloatArray
    path: Path
    selected: IntArray
    coefficients: FloatArray
    kernel_weights: FloatArray
    kept: IntArray


def select(
    source: Source, y: Any, settings: Settings, *, progress: Progress | None = None
) -> Selection:
    """Select features.

    Parameters
    ----------
    source : Source
        The table.
    y : array-like of shape (n_samples,)
        Target.
    settings : Settings
        All choices.
    progress : callable, optional
        Called with a stage, units done and units in all.

    Returns
    -------
    Selection
    """
    resolved = settings.penalty.resolve(source)
    goal = settings.stop.resolve(source.n_features, resolved)
    choose_solver(settings.solver, resolved.penalty, by_groups=goal.n_groups is not None)
    prepared = prepare_target(y, source.n_samples, settings.target)
    check_finite(source)

    # Matrices are small and many: threads pay over columns, not inside BLAS.
    with threadpool_limits(limits=1, user_api="blas"):
        return _select(source, prepared, resolved, goal, settings, progress)


def _select(
    source: Source,
    prepared: PreparedTarget,
    resolved: ResolvedPenalty,
    goal: Goal,
    settings: Settings,
    progress: Progress | None,
) -> Selection:
    """Make factors, take inner products, solve, describe."""
    embedding, measure = settings.embedding, settings.measure
    scan, problem = _relate(source, prepared, settings, progress)
    constant = _warn_constant(source, scan)

    def report(size: int) -> None:
        if progress is not None:
            progress("path", size, goal.n_features or size)

    ridge = settings.penalty.ridge * problem.target_norm2
    search = Search(
        Ridged(problem, ridge) if ridge else problem,
        resolved.penalty,
        settings.solver,
        n_samples=source.n_samples,
        ridge=ridge,
        report=report,
    )
    path = search.path(goal)
    selected = _by_weight(path, resolved.kept, goal.n_features)
    filled = search.fill(path, selected, goal)
    table = _Table(source, problem, path, resolved, filled)
    selected = np.append(selected, filled)
    result = SelectionResult(
        features=table.features(selected, settings.n_neighbors),
        groups=table.groups(selected),
        method=_METHODS[measure.name],
        penalty=_penalty_name(resolved.penalty, ridge),
        solver=search.solver_name(goal),
        task=prepared.task,
        n_samples=source.n_samples,
        n_features=source.n_features,
        n_requested=None if goal.criterion else goal.n_features,
        alpha=float(path.alpha),
        status=path.status.name,
        message=_sentence(path, goal, selected.size, filled.size),
        certificate=path.certificate,
        embedding_error=scan.error,
        constant=constant,
    )
    _warn_status(result, path)
    # of a group that was cut to the number asked for, or of ties, some may not be selected
    coefficients = np.zeros(source.n_features)
    coefficients[selected] = path.coefficients()[selected]
    weights = coefficients[selected]
    if measure.normalised:
        weights = weights / _gram_norms(source, selected, embedding)
    return Selection(result, scan.relevance, path, selected, coefficients, weights, resolved.kept)


def _relate(
    source: Source, prepared: PreparedTarget, settings: Settings, progress: Progress | None
) -> tuple[Scan, DependenceProblem]:
    """Pass over the data once; entries of G are computed when the problem is asked for them."""
    embedding, measure = settings.embedding, settings.measure
    n_threads = effective_n_jobs(settings.n_jobs)
    # the target's factor may be large, and is of no use after the pass
    scan = scan_relevance(
        source,
        make_target(prepared.values, Embedding(prepared.kernel, embedding.tol), measure),
        measure,
        embedding,
        n_threads=n_threads,
        progress=progress,
    )
    return scan, DependenceProblem(source, scan, measure, embedding, n_threads=n_threads)


def _gram_norms(source: Source, columns: IntArray, embedding: Embedding) -> FloatArray:
    """Frobenius norms of the centred Gram matrices of some columns."""
    factors = factor_columns(source.block(columns).T, embedding)
    return np.array([factor.norm or 1.0 for factor in factors])


def _penalty_name(penalty: Penalty, ridge: float) -> str:
    return f"{penalty.kind} with ridge {ridge:.6g}" if ridge else penalty.kind


def _by_weight(path: Path, kept: IntArray, wanted: int | None) -> IntArray:
    """Columns that are not zero and those kept, heaviest first.

    Where features tie, no more than wanted, and those that are kept rather than others.
    """
    last = path.breakpoints[-1]
    columns = np.union1d(last.indices, kept)
    sizes = np.abs(path.coefficients()[columns])
    if wanted is not None and columns.size > wanted:
        first = np.lexsort((columns, -sizes, ~np.isin(columns, kept)))[:wanted]
        columns, sizes = columns[first], sizes[first]
    return columns[np.lexsort((columns, -sizes))]


@dataclass(frozen=True)
class _Table:
    """What is told about the features and groups that were selected."""

    source: Source
    problem: DependenceProblem
    path: Path
    resolved: ResolvedPenalty
    filled: IntArray

    def features(self, selected: IntArray, n_neighbors: int) -> tuple[SelectedFeature, ...]:
        others, weights = self.path.candidates, self.path.coefficients()
        similarity = np.zeros((selected.size, others.size))
        if n_neighbors and selected.size and others.size:
            norms = self.problem.diagonal(selected)[:, None] * self.problem.diagonal(others)
            entries = self.problem.entries(others, selected).T
            similarity = entries / np.sqrt(np.where(norms > 0, norms, 1.0))
        described = []
        for k, row in zip(selected.tolist(), similarity, strict=True):
            nearest = [j for j in np.argsort(-row, kind="stable") if others[j] != k][:n_neighbors]
            neighbours = (
                Neighbour(self.source.name(int(others[j])), int(others[j]), float(row[j]))
                for j in nearest
            )
            described.append(
                SelectedFeature(
                    self.source.name(k),
                    k,
                    float(weights[k]),
                    float(self.problem.linear[k]),
                    tuple(neighbours),
                    self._origin(k),
                    None if self.resolved.labels is None else str(self.resolved.labels[k]),
                )
            )
        return tuple(described)

    def _origin(self, column: int) -> Origin:
        if column in self.resolved.kept:
            return "kept"
        return "filled" if column in self.filled else "path"

    def groups(self, selected: IntArray) -> tuple[SelectedGroup, ...]:
        labels = self.resolved.labels
        if labels is None:
            return ()
        weights = self.path.coefficients()
        found = []
        for label in dict.fromkeys(labels[selected].tolist()):
            members = np.flatnonzero(labels == label)
            names = tuple(self.source.name(int(k)) for k in selected if labels[k] == label)
            norm = float(np.linalg.norm(weights[members]))
            found.append(SelectedGroup(str(label), norm, members.size, names))
        return tuple(sorted(found, key=lambda group: -group.norm))


def _warn_constant(source: Source, scan: Scan) -> tuple[str, ...]:
    names = tuple(source.name(int(k)) for k in np.flatnonzero(~scan.varies))
    if names:
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        warnings.warn(
            f"{len(names)} of {source.n_features} columns do not vary and get weight 0: {shown}",
            ConstantFeatureWarning,
            stacklevel=5,
        )
    return names


def _warn_status(result: SelectionResult, path: Path) -> None:
    if path.status is Status.STALLED:
        gap = f" The duality gap reached is {result.certificate.duality_gap:.1e}."
        warnings.warn(result.message + gap, ConvergenceWarning, stacklevel=5)
    elif path.status is not Status.ALPHA and result.n_on_path < (result.n_requested or 0):
        warnings.warn(result.message, FewerFeaturesWarning, stacklevel=5)


def _sentence(path: Path, goal: Goal, n_selected: int, n_filled: int) -> str:
    wanted = None if goal.criterion else goal.n_features
    found = f"{n_selected} feature{'' if n_selected == 1 else 's'} selected"
    asked = f" of {wanted} asked for" if wanted is not None and n_selected < wanted else ""
    last = "The last one has" if n_filled == 1 else f"The last {n_filled} have"
    filled = f" {last} weight 0: an elastic net chose them." if n_filled else ""
    return f"{found}{asked} at penalty {path.alpha:.6g}: {path.status.value}.{filled}"
