"""The last step of a selection: what is told about it, in names."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.dependence import Features, Problem, Progress
from hsiclasso.errors import ConstantFeatureWarning, FewerFeaturesWarning, FewObservedWarning
from hsiclasso.selectors.prepare import Inputs
from hsiclasso.selectors.result import (
    Cluster,
    DataSummary,
    Member,
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

__all__ = ["describe", "find_similar", "only_some", "warn_of_end", "warn_of_useless"]

#: Frames between a warning and the user's call of `fit`.
_STACK = 4
#: Most selected features that are compared with each other.
_MOST_COMPARED = 200


#: Features that are similar to each selected one, most similar first.
Similar = list[list[tuple[int, float]]]


def find_similar(
    problem: Problem, selected: IntArray, number: int, cap: float, progress: Progress | None
) -> Similar:
    """Find the nearest features of each selected one, and those above the cap, by one more pass."""
    if not (number and selected.size):
        return [[] for _ in selected]
    return problem.nearest(selected, number, progress, least=cap if cap < 1 else np.inf)


def describe(
    inputs: Inputs, problem: Problem, solved: Solved, similar: Similar, n_neighbors: int,
    useless: tuple[tuple[str, ...], tuple[str, ...]],
) -> SelectionResult:  # fmt: skip
    """Gather what is told about a selection."""
    features, goal, samples = inputs.features, inputs.goal, inputs.features.samples
    path = solved.path
    return SelectionResult(
        features=_selected_features(inputs, problem, solved, similar, n_neighbors),
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
            features.n_samples,
            features.source.n_features,
            features.n_single,
            inputs.n_dropped,
            *useless,
        ),
        solution=SolutionSummary(
            alpha=float(path.alpha),
            status=path.status.name,
            message=_sentence(path, goal, solved),
            certificate=path.certificate,
            gram_error=problem.error,
            n_requested=None if goal.criterion else goal.n_features,
        ),
        path=path.renumbered(
            features.numbers, features.source.n_features + len(features.interactions)
        ),
        clusters=_clusters(problem, solved, similar, inputs.cap),
        similarity=_among(problem, solved.selected),
    )


def only_some(result: SelectionResult, places: IntArray) -> SelectionResult:
    """Return what is told about some of the selected features; shares are those among them."""
    chosen = [result.features[i] for i in places.tolist()]
    total = sum(abs(feature.weight) for feature in chosen) or 1.0
    return replace(
        result,
        features=tuple(replace(one, share=abs(one.weight) / total) for one in chosen),
        groups=(),
        clusters=tuple(result.clusters[i] for i in places.tolist()),
        functions=(),
        similarity=None if result.similarity is None else result.similarity[np.ix_(places, places)],
    )


def _selected_features(
    inputs: Inputs, problem: Problem, solved: Solved, similar: Similar, n_neighbors: int
) -> tuple[SelectedFeature, ...]:
    features, labels = inputs.features, inputs.penalty.labels
    weights, numbers = solved.coefficients, features.numbers
    total = float(np.abs(weights).sum()) or 1.0

    def origin(feature: int) -> Origin:
        if feature in inputs.penalty.kept:
            return "kept"
        return "filled" if feature in solved.filled else "path"

    return tuple(
        SelectedFeature(
            name=features.name(k),
            index=int(numbers[k]),
            weight=float(weights[k]),
            share=abs(float(weights[k])) / total,
            relevance=float(problem.relevance[k]),
            neighbours=tuple(
                Neighbour(features.name(j), int(features.first[j]), value)
                for j, value in near[:n_neighbors]
            ),
            origin=origin(k),
            group=None if labels is None else str(labels[k]),
            members=_members(features, k),
            n_observed=int(problem.observed[k]),
            columns=tuple(features.source.name(int(j)) for j in features.columns_of(k)),
            info=_info(features, k),
        )
        for k, near in zip(solved.selected.tolist(), similar, strict=True)
    )


def _members(features: Features, feature: int) -> tuple[str, ...]:
    """Names of the features that an interaction joins."""
    members = features.members(feature)
    return tuple(map(features.name, members)) if len(members) > 1 else ()


def _info(features: Features, feature: int) -> dict[str, Any]:
    """Return what the table knows about the column of a feature that has one."""
    if feature in features.joint or feature >= features.n_single:
        return {}
    return features.source.column_info(int(features.first[feature]))


def _clusters(
    problem: Problem, solved: Solved, similar: Similar, cap: float
) -> tuple[Cluster, ...]:
    """List for each selected feature those that the path left out, and all that a pass found.

    A feature is listed once. If the path left it out because of a feature that is not selected in
    the end, it belongs to the selected feature that is most similar to it, unless none is.
    """
    features, selected = problem.features, solved.selected.tolist()
    numbers = features.numbers
    if cap >= 1:
        return tuple(Cluster(features.name(k), int(numbers[k])) for k in selected)
    best = {
        one.feature: (one.similarity, one.representative)
        for one in solved.path.closed
        if one.representative in selected
    }
    orphans = [one.feature for one in solved.path.closed if one.feature not in best]
    for k, values in zip(orphans, _similarity(problem, orphans, solved.selected), strict=True):
        best[k] = max(zip(values.tolist(), selected, strict=True), default=(0.0, -1))
    for representative, near in zip(selected, similar, strict=True):
        for k, value in near:
            best[k] = max(best.get(k, (0.0, -1)), (value, representative))
    members: dict[int, list[tuple[float, int]]] = {k: [] for k in selected}
    for k, (value, representative) in best.items():
        if value > cap and k not in members:
            members[representative].append((-value, k))
    return tuple(
        Cluster(
            features.name(k),
            int(numbers[k]),
            tuple(
                Member(features.name(j), int(numbers[j]), -value) for value, j in sorted(members[k])
            ),
        )
        for k in selected
    )


def _similarity(problem: Problem, some: list[int], others: IntArray) -> FloatArray:
    """Return the similarities (m, s) of some features with others."""
    rows = np.array(some, dtype=np.int64)
    if not rows.size:
        return np.zeros((0, others.size))
    norms2 = np.outer(problem.diagonal(rows), problem.diagonal(others))
    return np.asarray(problem.block(rows, others) / np.sqrt(norms2))


def _among(problem: Problem, selected: IntArray) -> FloatArray | None:
    """Return the similarities (s, s) of the selected features with each other, unless too many."""
    if selected.size > _MOST_COMPARED:
        return None
    varies = problem.diagonal(selected) > 0  # a feature that is kept may be constant
    found = np.eye(selected.size)
    some = selected[varies]
    found[np.ix_(varies, varies)] = _similarity(problem, some.tolist(), some)
    return np.clip(found, 0.0, 1.0)


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


def _left_out(path: SolutionPath) -> str:
    """Say how many features the path left out."""
    number = len(path.closed)
    if not number:
        return ""
    was = "One feature was" if number == 1 else f"{number} features were"
    return f" {was} left out, too similar to a selected one (max_redundancy)."


def _sentence(path: SolutionPath, goal: Goal, solved: Solved) -> str:
    n_selected, n_filled = solved.selected.size, solved.filled.size
    wanted = None if goal.criterion else goal.n_features
    found = f"{n_selected} feature{'' if n_selected == 1 else 's'} selected"
    asked = f" of {wanted} asked for" if wanted is not None and n_selected < wanted else ""
    last = "one has" if n_filled == 1 else f"{n_filled} have"
    filled = f" The last {last} weight 0: relevant, and unlike the others." if n_filled else ""
    on_path = n_selected + solved.n_dropped
    dropped = f" Of {on_path} features of the path, the least important were dropped."
    more = filled + (dropped if solved.n_dropped else "") + _left_out(path)
    ended = path.status.value
    if goal.criterion is not None and path.status is Status.ALPHA:
        ended = f"{goal.criterion.upper()} is least there"
    return f"{found}{asked} at penalty {path.alpha:.6g}: {ended}.{more}"
