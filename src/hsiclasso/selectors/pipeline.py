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
from hsiclasso.embedding import Embedding
from hsiclasso.errors import ConstantFeatureWarning, FewerFeaturesWarning, InvalidInputError
from hsiclasso.selectors.result import Neighbour, SelectedFeature, SelectionResult
from hsiclasso.selectors.targets import PreparedTarget, TargetOptions, prepare_target
from hsiclasso.solvers import Path, Status, nonnegative_lasso_path

__all__ = ["Selection", "Settings", "select"]

_METHODS = {"hsic": "HSIC Lasso", "nhsic": "normalised HSIC Lasso", "nocco": "NOCCO Lasso"}


@dataclass(frozen=True)
class Settings:
    """All choices of a selection.

    Attributes
    ----------
    n_features : int or None
        Features to select; with None and no `alpha`, ten or all if there are fewer.
    alpha : float or None
        Penalty at which to stop.
    measure : Measure
    embedding : Embedding
        Kernel and tolerance of the features.
    target : TargetOptions
    n_neighbors : int
        Redundant neighbours listed for each selected feature.
    n_jobs : int or None
        Threads.
    """

    n_features: int | None
    alpha: float | None
    measure: Measure
    embedding: Embedding
    target: TargetOptions
    n_neighbors: int = 5
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        _check_count("n_features_to_select", self.n_features, least=1)
        _check_count("n_neighbors", self.n_neighbors, least=0)
        if self.alpha is not None and not (np.isfinite(self.alpha) and self.alpha >= 0):
            raise InvalidInputError(
                f"alpha={self.alpha!r}, but the penalty must be a finite number >= 0: pass None "
                "to stop at a number of features instead."
            )

    def wanted(self, n_features: int) -> int | None:
        """Return the number of features at which to stop, checked against the table."""
        if self.n_features is None:
            return min(10, n_features) if self.alpha is None else None
        if self.n_features > n_features:
            raise InvalidInputError(
                f"n_features_to_select={self.n_features} is greater than n_features={n_features}: "
                f"ask for at most {n_features}."
            )
        return self.n_features


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
    """

    result: SelectionResult
    relevance: FloatArray
    path: Path
    selected: IntArray


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
    wanted = settings.wanted(source.n_features)
    prepared = prepare_target(y, source.n_samples, settings.target)
    check_finite(source)

    # Matrices are small and many: threads pay over columns, not inside BLAS.
    with threadpool_limits(limits=1, user_api="blas"):
        return _select(source, prepared, wanted, settings, progress)


def _select(
    source: Source,
    prepared: PreparedTarget,
    wanted: int | None,
    settings: Settings,
    progress: Progress | None,
) -> Selection:
    """Make factors, take inner products, solve, describe."""
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
    constant = _warn_constant(source, scan)
    problem = DependenceProblem(source, scan, measure, embedding, n_threads=n_threads)

    def report(size: int) -> None:
        if progress is not None:
            progress("path", size, wanted or size)

    path = nonnegative_lasso_path(
        problem, max_features=wanted, alpha_min=settings.alpha or 0.0, report=report
    )
    selected = _by_weight(path, wanted)
    result = SelectionResult(
        features=_describe(source, problem, path, selected, settings.n_neighbors),
        method=_METHODS[measure.name],
        task=prepared.task,
        n_samples=source.n_samples,
        n_features=source.n_features,
        n_requested=wanted,
        alpha=float(path.alpha),
        status=path.status.name,
        message=_sentence(path, wanted, selected.size),
        certificate=path.certificate,
        embedding_error=scan.error,
        constant=constant,
    )
    _warn_status(result, path)
    return Selection(result, scan.relevance, path, selected)


def _by_weight(path: Path, wanted: int | None) -> IntArray:
    """Columns with positive weight, heaviest first; where features tie, no more than wanted."""
    last = path.breakpoints[-1]
    order = np.lexsort((last.indices, -last.weights))
    return last.indices[order][:wanted]


def _describe(
    source: Source, problem: DependenceProblem, path: Path, selected: IntArray, n_neighbors: int
) -> tuple[SelectedFeature, ...]:
    weights = path.coefficients()
    others = path.candidates
    similarity = np.zeros((selected.size, others.size))
    if n_neighbors and selected.size:
        norms = np.sqrt(np.outer(problem.diagonal(selected), problem.diagonal(others)))
        similarity = problem.entries(others, selected).T / np.where(norms > 0, norms, 1.0)
    described = []
    for k, row in zip(selected.tolist(), similarity, strict=True):
        nearest = [j for j in np.argsort(-row, kind="stable") if others[j] != k][:n_neighbors]
        neighbours = (
            Neighbour(source.name(int(others[j])), int(others[j]), float(row[j])) for j in nearest
        )
        described.append(
            SelectedFeature(
                source.name(k), k, float(weights[k]), float(problem.linear[k]), tuple(neighbours)
            )
        )
    return tuple(described)


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
    elif path.status is not Status.ALPHA and len(result.features) < (result.n_requested or 0):
        warnings.warn(result.message, FewerFeaturesWarning, stacklevel=5)


def _sentence(path: Path, wanted: int | None, n_selected: int) -> str:
    found = f"{n_selected} feature{'' if n_selected == 1 else 's'} selected"
    asked = f" of {wanted} asked for" if wanted is not None and n_selected < wanted else ""
    return f"{found}{asked} at penalty {path.alpha:.6g}: {path.status.value}."


def _check_count(name: str, value: Any, least: int) -> None:
    if value is None:
        return
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise InvalidInputError(f"{name}={value!r} must be a whole number >= {least}.")
    if value < least:
        raise InvalidInputError(f"{name}={value} must be a whole number >= {least}.")
