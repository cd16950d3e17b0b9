"""The selection as one plain function: make factors, take inner products, solve."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from hsiclasso._checks import check_count
from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.data import RowSubset, Source, check_finite
from hsiclasso.dependence import (
    DependenceProblem,
    Measure,
    Progress,
    Scan,
    make_target,
    scan_relevance,
    subtract,
)
from hsiclasso.embedding import Features, Samples
from hsiclasso.errors import (
    ConstantFeatureWarning,
    FewerFeaturesWarning,
    FewObservedWarning,
    InvalidInputError,
)
from hsiclasso.selectors.covariates import CovariateOptions, Covariates
from hsiclasso.selectors.features import FeatureOptions
from hsiclasso.selectors.kernel import SelectedKernel, learn_kernel
from hsiclasso.selectors.penalties import PenaltyOptions, ResolvedPenalty
from hsiclasso.selectors.result import (
    Neighbour,
    Origin,
    SelectedFeature,
    SelectedGroup,
    SelectionResult,
)
from hsiclasso.selectors.search import Goal, Search, StopOptions
from hsiclasso.selectors.targets import PreparedTarget, TargetOptions, prepare_target
from hsiclasso.solvers import Path, Penalty, Ridged, Status, choose_solver

__all__ = ["Selection", "Settings", "select"]

_PLAIN = PenaltyOptions()
_NO_COVARIATES = CovariateOptions()
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
    features : FeatureOptions
        Kernels of the features, and how missing values are treated.
    target : TargetOptions
    covariates : CovariateOptions
    n_neighbors : int
        Redundant neighbours listed for each selected feature.
    n_jobs : int or None
        Threads.
    """

    stop: StopOptions
    measure: Measure
    features: FeatureOptions
    target: TargetOptions
    penalty: PenaltyOptions = _PLAIN
    covariates: CovariateOptions = _NO_COVARIATES
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
    features : Features
        What the features are; a joint one stands in the place of its first column.
    scan : Scan
        Relevance of every feature, and how often it was observed.
    path : Path
    selected : ndarray
        Features by decreasing weight.
    coefficients : ndarray of shape (d,)
        Weights of the selected features, zero elsewhere.
    kernel : SelectedKernel
        The kernel that was learnt.
    kept : ndarray
        Features that were to be kept.
    """

    result: SelectionResult
    features: Features
    scan: Scan
    path: Path
    selected: IntArray
    coefficients: FloatArray
    kernel: SelectedKernel
    kept: IntArray


def select(
    source: Source,
    y: Any,
    settings: Settings,
    *,
    sample_weight: Any = None,
    covariates: Any = None,
    progress: Progress | None = None,
) -> Selection:
    """Select features.

    Parameters
    ----------
    source : Source
        The table.
    y : array-like
        Target: one entry per sample, or whatever `TargetOptions` describes.
    settings : Settings
        All choices.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the samples.
    covariates : table of shape (n_samples, c), optional
        Covariates that are no columns of the table.
    progress : callable, optional
        Called with a stage, units done and units in all.

    Returns
    -------
    Selection
    """
    weights = _check_weights(sample_weight, source.n_samples)
    use = None if weights is None else weights > 0
    prepared = prepare_target(y, source.n_samples, settings.target, use)
    rows = prepared.rows
    used = source if rows is None else RowSubset(source, rows)
    weights = weights if weights is None or rows is None else weights[rows]
    if weights is not None and (weights == 1).all():
        weights = None
    known = settings.covariates.resolve(used, covariates, rows)
    projects = settings.covariates.method == "project"
    functions = known.functions(weights) if projects else None
    features = settings.features.resolve(used, Samples(used.n_samples, weights, functions))
    resolved = settings.penalty.resolve(features, known.columns)
    goal = settings.stop.resolve(source.n_features, resolved)
    choose_solver(settings.solver, resolved.penalty, by_groups=goal.n_groups is not None)
    check_finite(used, missing=settings.features.missing)

    # Matrices are small and many: threads pay over columns, not inside BLAS.
    with threadpool_limits(limits=1, user_api="blas"):
        job = _Job(features, prepared, known, resolved, goal, settings, progress)
        return job.run(source.n_samples - used.n_samples)


@dataclass(frozen=True)
class _Job:
    """A selection whose input is checked."""

    features: Features
    prepared: PreparedTarget
    covariates: Covariates
    resolved: ResolvedPenalty
    goal: Goal
    settings: Settings
    progress: Progress | None

    def run(self, n_dropped: int) -> Selection:
        """Make factors, take inner products, solve, describe."""
        settings, features, goal = self.settings, self.features, self.goal
        scan, problem = self._relate()
        constant, few_observed = _warn_useless(features, scan)
        ridge = settings.penalty.ridge * problem.target_norm2
        search = Search(
            Ridged(problem, ridge) if ridge else problem,
            self.resolved.penalty,
            settings.solver,
            n_samples=features.samples.total,
            ridge=ridge,
            report=self._report,
        )
        path = search.path(goal)
        selected = _by_weight(path, self.resolved.kept, goal.n_features)
        filled = search.fill(path, selected, goal)
        table = _Table(features, scan, problem, path, self.resolved, self.no_features, filled)
        selected = np.append(selected, filled)
        result = SelectionResult(
            features=table.features(selected, settings.n_neighbors),
            groups=table.groups(selected),
            method=_METHODS[settings.measure.name],
            penalty=_penalty_name(self.resolved.penalty, ridge),
            solver=search.solver_name(goal),
            task=self.prepared.task,
            n_samples=features.n_samples,
            n_features=features.n_features,
            n_requested=None if goal.criterion else goal.n_features,
            alpha=float(path.alpha),
            status=path.status.name,
            message=_sentence(path, goal, selected.size, filled.size),
            certificate=path.certificate,
            embedding_error=scan.error,
            constant=constant,
            few_observed=few_observed,
            n_dropped=n_dropped,
            covariates=self.covariates.names,
            n_removed=len(features.samples.removed) - 1,
            weighted=features.samples.weights is not None,
        )
        _warn_status(result, path)
        # of a group that was cut to the number asked for, or of ties, some may not be selected
        coefficients = np.zeros(features.n_features)
        coefficients[selected] = path.coefficients()[selected]
        weights = coefficients[selected] * self._kernel_scales(selected)
        kernel = learn_kernel(features, selected, weights)
        return Selection(
            result, features, scan, path, selected, coefficients, kernel, self.resolved.kept
        )

    def _relate(self) -> tuple[Scan, DependenceProblem]:
        """Pass over the data once; entries of G are computed when the problem is asked for them."""
        features, measure = self.features, self.settings.measure
        n_threads = effective_n_jobs(self.settings.n_jobs)
        target = make_target(
            self.prepared.data,
            measure,
            features.samples,
            tol=features.tol,
            n_features=features.n_features,
        )
        if self.covariates.names and self.settings.covariates.method == "subtract":
            factor = self.covariates.factor(measure, features.samples, features.tol)
            target = subtract(target, factor)
        if not target.norm2 > 0:
            raise InvalidInputError(
                "Nothing of the target is left after centring and after what the covariates "
                "explain: nothing can depend on it."
            )
        scan = scan_relevance(
            features, target, measure, n_threads=n_threads, progress=self.progress
        )
        return scan, DependenceProblem(features, scan, measure, n_threads=n_threads)

    @property
    def no_features(self) -> IntArray:
        """Columns that are covariates, or part of a joint feature but its first."""
        return np.union1d(self.features.absorbed, self.covariates.columns)

    def _report(self, size: int) -> None:
        if self.progress is not None:
            self.progress("path", size, self.goal.n_features or size)

    def _kernel_scales(self, selected: IntArray) -> FloatArray:
        """By what the measure multiplies the kernels of features."""
        measure, features = self.settings.measure, self.features
        if not (measure.normalised or features.least_observed):
            return np.ones(selected.size)
        matrices = features.matrices(selected, 0.0)
        norms = [m.norm or 1.0 if measure.normalised else 1.0 for m in matrices]
        restored = [measure.restoration(m.observed) for m in matrices]
        return np.divide(restored, norms)


def _check_weights(sample_weight: Any, n: int) -> FloatArray | None:
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"sample_weight holds values that are not numbers (a {type(sample_weight).__name__}): "
            "pass one weight per row."
        ) from None
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise InvalidInputError(
            f"sample_weight has shape {weights.shape}, but X has {n} samples: pass one weight per "
            "row."
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise InvalidInputError(
            "sample_weight must hold finite weights >= 0 that are not all zero: 2 counts a sample "
            "twice, 0 leaves it out."
        )
    return weights


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

    table: Features
    scan: Scan
    problem: DependenceProblem
    path: Path
    resolved: ResolvedPenalty
    no_features: IntArray
    filled: IntArray

    def features(self, selected: IntArray, n_neighbors: int) -> tuple[SelectedFeature, ...]:
        others = np.setdiff1d(self.path.candidates, self.no_features, assume_unique=True)
        weights = self.path.coefficients()
        similarity = np.zeros((selected.size, others.size))
        if n_neighbors and selected.size and others.size:
            norms = self.problem.diagonal(selected)[:, None] * self.problem.diagonal(others)
            entries = self.problem.block(others, selected).T
            similarity = entries / np.sqrt(np.where(norms > 0, norms, 1.0))
        described = []
        for k, row in zip(selected.tolist(), similarity, strict=True):
            order = np.argsort(-row, kind="stable")
            nearest = order[others[order] != k][:n_neighbors]
            neighbours = (
                Neighbour(self.table.name(int(others[j])), int(others[j]), float(row[j]))
                for j in nearest
            )
            described.append(
                SelectedFeature(
                    self.table.name(k),
                    k,
                    float(weights[k]),
                    float(self.problem.linear[k]),
                    tuple(neighbours),
                    self._origin(k),
                    None if self.resolved.labels is None else str(self.resolved.labels[k]),
                    int(self.scan.observed[k]),
                    tuple(self.table.source.name(int(j)) for j in self.table.columns_of(k)),
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
            members = np.setdiff1d(np.flatnonzero(labels == label), self.table.absorbed)
            names = tuple(self.table.name(int(k)) for k in selected if labels[k] == label)
            norm = float(np.linalg.norm(weights[members]))
            found.append(SelectedGroup(str(label), norm, members.size, names))
        return tuple(sorted(found, key=lambda group: -group.norm))


def _warn_useless(features: Features, scan: Scan) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Warn of features that cannot be judged; name those that are constant or rarely observed."""
    rare = scan.observed < features.least_observed
    constant = _names(features, ~scan.varies & ~rare)
    few_observed = _names(features, rare)
    if constant:
        warnings.warn(
            f"{len(constant)} of {features.n_features} columns do not vary and get weight 0: "
            f"{_shown(constant)}",
            ConstantFeatureWarning,
            stacklevel=6,
        )
    if few_observed:
        warnings.warn(
            f"{len(few_observed)} of {features.n_features} columns are observed on fewer than "
            f"{features.least_observed} samples (min_observed) and get weight 0: "
            f"{_shown(few_observed)}",
            FewObservedWarning,
            stacklevel=6,
        )
    return constant, few_observed


def _names(features: Features, which: BoolArray) -> tuple[str, ...]:
    return tuple(features.name(int(k)) for k in np.flatnonzero(which))


def _shown(names: tuple[str, ...]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


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
    last, them = ("one has", "it") if n_filled == 1 else (f"{n_filled} have", "them")
    filled = f" The last {last} weight 0: an elastic net chose {them}." if n_filled else ""
    return f"{found}{asked} at penalty {path.alpha:.6g}: {path.status.value}.{filled}"
