"""The last step of a selection: what is told about it, in names."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from hsiclasso._types import BoolArray, IntArray
from hsiclasso.dependence import Features, Problem, Progress
from hsiclasso.errors import ConstantFeatureWarning, FewerFeaturesWarning, FewObservedWarning
from hsiclasso.selectors.prepare import Inputs
from hsiclasso.selectors.result import (
    DataSummary,
    MethodSummary,
    Neighbour,
    Origin,
    SelectedFeature,
    SelectedGroup,
    SelectionResult,
    SolutionSummary,
)
from hsiclasso.selectors.search import Goal, Solved
from hsiclasso.solvers import SolutionPath, Status

__all__ = ["describe", "find_neighbours", "warn_of_end", "warn_of_useless"]

#: Frames between a warning and the user's call of `fit`.
_STACK = 4


def find_neighbours(
    problem: Problem, selected: IntArray, number: int, progress: Progress | None
) -> list[tuple[Neighbour, ...]]:
    """Nearest neighbours of each selected feature, by one more pass over the table."""
    if not (number and selected.size):
        return [()] * selected.size
    features = problem.features
    return [
        tuple(Neighbour(features.name(k), int(features.first[k]), value) for k, value in found)
        for found in problem.nearest(selected, number, progress)
    ]


def describe(
    inputs: Inputs, problem: Problem, solved: Solved, neighbours: list[tuple[Neighbour, ...]],
    useless: tuple[tuple[str, ...], tuple[str, ...]],
) -> SelectionResult:  # fmt: skip
    """Gather what is told about a selection."""
    features, goal, samples = inputs.features, inputs.goal, inputs.features.samples
    path = solved.path
    return SelectionResult(
        features=_selected_features(inputs, problem, solved, neighbours),
        groups=_selected_groups(inputs, solved),
        method=MethodSummary(
            name=inputs.measure.title,
            target=inputs.target.target.name,
            penalty=inputs.penalty.penalty.kind,
            solver=inputs.solver,
            covariates=inputs.covariates.names,
            n_removed=len(samples.removed) - 1,
            weighted=samples.weights is not None,
        ),
        data=DataSummary(
            features.n_samples, features.source.n_features, inputs.n_dropped, *useless
        ),
        solution=SolutionSummary(
            alpha=float(path.alpha),
            status=path.status.name,
            message=_sentence(path, goal, solved),
            certificate=path.certificate,
            gram_error=problem.error,
            n_requested=None if goal.criterion else goal.n_features,
        ),
        path=path.renumbered(features.first, features.source.n_features),
    )


def _selected_features(
    inputs: Inputs, problem: Problem, solved: Solved, neighbours: list[tuple[Neighbour, ...]]
) -> tuple[SelectedFeature, ...]:
    features, labels = inputs.features, inputs.penalty.labels
    weights = solved.coefficients
    total = float(np.abs(weights).sum()) or 1.0

    def origin(feature: int) -> Origin:
        if feature in inputs.penalty.kept:
            return "kept"
        return "filled" if feature in solved.filled else "path"

    return tuple(
        SelectedFeature(
            name=features.name(k),
            index=int(features.first[k]),
            weight=float(weights[k]),
            share=abs(float(weights[k])) / total,
            relevance=float(problem.relevance[k]),
            neighbours=near,
            origin=origin(k),
            group=None if labels is None else str(labels[k]),
            n_observed=int(problem.observed[k]),
            columns=tuple(features.source.name(int(j)) for j in features.columns_of(k)),
            info={} if k in features.joint else features.source.column_info(int(features.first[k])),
        )
        for k, near in zip(solved.selected.tolist(), neighbours, strict=True)
    )


def _selected_groups(inputs: Inputs, solved: Solved) -> tuple[SelectedGroup, ...]:
    labels, selected = inputs.penalty.labels, solved.selected
    if labels is None:
        return ()
    found = []
    for label in dict.fromkeys(labels[selected].tolist()):
        members = np.flatnonzero(labels == label)
        names = tuple(inputs.features.name(int(k)) for k in selected if labels[k] == label)
        norm = float(np.linalg.norm(solved.coefficients[members]))
        found.append(SelectedGroup(str(label), norm, members.size, names))
    return tuple(sorted(found, key=lambda group: -group.norm))


def warn_of_useless(problem: Problem) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Warn of features that cannot be judged; name those that are constant or rarely observed."""
    features = problem.features
    rare = problem.observed < features.least_observed
    constant = _names(features, ~problem.varies & ~rare)
    few_observed = _names(features, rare)
    if constant:
        warnings.warn(
            f"{len(constant)} of {features.source.n_features} columns do not vary and get weight "
            f"0: {_shown(constant)}",
            ConstantFeatureWarning,
            stacklevel=_STACK,
        )
    if few_observed:
        warnings.warn(
            f"{len(few_observed)} of {features.source.n_features} columns are observed on fewer "
            f"than {features.least_observed} samples (min_observed) and get weight 0: "
            f"{_shown(few_observed)}",
            FewObservedWarning,
            stacklevel=_STACK,
        )
    return constant, few_observed


def _names(features: Features, which: BoolArray) -> tuple[str, ...]:
    return tuple(features.name(int(k)) for k in np.flatnonzero(which))


def _shown(names: tuple[str, ...]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


def warn_of_end(result: SelectionResult, path: SolutionPath) -> None:
    """Warn if the path stalled, or ended before the number of features asked for."""
    if path.status is Status.STALLED:
        gap = f" The duality gap reached is {result.certificate.duality_gap:.1e}."
        warnings.warn(result.message + gap, ConvergenceWarning, stacklevel=_STACK)
    elif path.status is not Status.ALPHA and result.n_on_path < (result.solution.n_requested or 0):
        warnings.warn(result.message, FewerFeaturesWarning, stacklevel=_STACK)


def _sentence(path: SolutionPath, goal: Goal, solved: Solved) -> str:
    n_selected, n_filled = solved.selected.size, solved.filled.size
    wanted = None if goal.criterion else goal.n_features
    found = f"{n_selected} feature{'' if n_selected == 1 else 's'} selected"
    asked = f" of {wanted} asked for" if wanted is not None and n_selected < wanted else ""
    last, them = ("one has", "it") if n_filled == 1 else (f"{n_filled} have", "them")
    filled = f" The last {last} weight 0: an elastic net chose {them}." if n_filled else ""
    on_path = n_selected + solved.n_dropped
    dropped = f" Of {on_path} features of the path, the least important were dropped."
    more = filled + (dropped if solved.n_dropped else "")
    return f"{found}{asked} at penalty {path.alpha:.6g}: {path.status.value}.{more}"
