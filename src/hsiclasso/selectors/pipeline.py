"""The selection as plain functions: prepare, relate, solve, describe."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from hsiclasso._blas import single_threaded_blas
from hsiclasso._checks import check_choice, check_count, check_whole, is_number
from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.data import RowSubset, Source
from hsiclasso.dependence import Features, Problem, Progress, relate
from hsiclasso.errors import (
    ConstantFeatureWarning,
    FewerFeaturesWarning,
    FewObservedWarning,
    InvalidInputError,
)
from hsiclasso.kernels import HSIC, Measure, Samples, as_measure
from hsiclasso.selectors.covariates import Covariates, CovariateValues, as_covariates
from hsiclasso.selectors.features import check_gram_error, check_kernel, resolve_features
from hsiclasso.selectors.kernel import SelectedKernel, learn_kernel
from hsiclasso.selectors.missing import as_missing
from hsiclasso.selectors.penalties import ResolvedPenalty, as_penalty, resolve_penalty
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
from hsiclasso.selectors.search import Goal, Search, check_alpha, resolve_goal
from hsiclasso.solvers import SOLVERS, Path, Penalty, Status, choose_solver
from hsiclasso.targets import Prepared, as_target
from hsiclasso.targets.matrix import TargetMatrix

__all__ = ["Inputs", "Options", "Selection", "check_options", "prepare", "select"]


#: Relevances that are made exact before the path is solved: so many for each feature to select,
#: and so many more. If the path comes to need others, it is solved again.
_EXACT_EACH, _EXACT_MORE = 4, 64


class Options(Protocol):
    """The parameters of a selection: those of `HSICLasso`, which documents them."""

    n_features_to_select: Any
    alpha: Any
    measure: Any
    kernel: Any
    target: Any
    penalty: Any
    keep: Any
    exclude: Any
    joint: Any
    covariates: Any
    missing: Any
    solver: Any
    gram_error: Any
    n_neighbors: Any
    n_jobs: Any


@dataclass(frozen=True)
class Inputs:
    """What a selection starts from, all of it checked.

    Attributes
    ----------
    features : Features
        What the features are, on the samples that are used.
    target : Prepared
    covariates : CovariateValues
    subtract : bool
        Whether the covariates' kernel matrix is subtracted from the target's.
    measure : Measure
    penalty : ResolvedPenalty
    goal : Goal
        Where the path ends.
    solver : str
    n_dropped : int
        Samples that are not used.
    """

    features: Features
    target: Prepared
    covariates: CovariateValues
    subtract: bool
    measure: Measure
    penalty: ResolvedPenalty
    goal: Goal
    solver: str
    n_dropped: int


@dataclass(frozen=True)
class Selection:
    """Everything a selection found.

    Attributes
    ----------
    result : SelectionResult
    features : Features
        What the features are.
    problem : Problem
        Relevance of every feature, and how often it was observed.
    path : Path
        Solution path, in feature numbers.
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
    problem: Problem
    path: Path
    selected: IntArray
    coefficients: FloatArray
    kernel: SelectedKernel
    kept: IntArray


def select(
    options: Options,
    source: Source,
    y: Any,
    *,
    sample_weight: Any = None,
    covariates: Any = None,
    progress: Progress | None = None,
) -> Selection:
    """Select features.

    Parameters
    ----------
    options : Options
        An estimator, or anything with its parameters.
    source : Source
        The table.
    y : array-like
        Target: one entry per sample, or whatever the kind of target reads.
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
    inputs = prepare(options, source, y, sample_weight=sample_weight, covariates=covariates)
    with single_threaded_blas():
        problem = relate(
            inputs.features,
            _target_matrix(inputs),
            inputs.measure,
            n_threads=effective_n_jobs(options.n_jobs),
            screen=_n_exact(inputs),
            progress=progress,
        )
        useless = _warn_useless(problem)
        path, selected, filled, search = _solve(inputs, problem, progress)
        neighbours = _neighbours(problem, selected, options.n_neighbors, progress)
        result = _describe(inputs, problem, path, selected, filled, search, neighbours, useless)
        _warn_status(result, path)
        # of a group that was cut to the number asked for, or of ties, some may not be selected
        coefficients = np.zeros(problem.features.n_features)
        coefficients[selected] = path.coefficients()[selected]
        kernel = _learn(problem, selected, coefficients[selected])
    kept = inputs.penalty.kept
    return Selection(result, inputs.features, problem, path, selected, coefficients, kernel, kept)


def check_options(options: Options) -> None:
    """Raise if a parameter breaks its rule, whatever the table."""
    check_count("n_features_to_select", options.n_features_to_select, least=1)
    check_alpha(options.alpha)
    as_measure(options.measure)
    check_kernel(options.kernel)
    as_target(options.target)
    as_penalty(options.penalty)
    as_covariates(options.covariates)
    as_missing(options.missing)
    check_choice("solver", options.solver, ("auto", *SOLVERS))
    check_gram_error(options.gram_error)
    check_whole("n_neighbors", options.n_neighbors, least=0)
    if options.n_jobs is not None and (not is_number(options.n_jobs) or options.n_jobs == 0):
        raise InvalidInputError(
            f"n_jobs={options.n_jobs!r} must be a whole number of threads other than 0: -1 takes "
            "all cores."
        )


def prepare(
    options: Options, source: Source, y: Any, *, sample_weight: Any = None, covariates: Any = None
) -> Inputs:
    """Check everything, and say what is selected from."""
    check_options(options)
    weights = _check_weights(sample_weight, source.n_samples)
    use = None if weights is None else weights > 0
    target = as_target(options.target).prepare(y, source.n_samples, use)
    rows = target.rows
    used = source if rows is None else RowSubset(source, rows)
    weights = weights if weights is None or rows is None else weights[rows]
    if weights is not None and (weights == 1).all():
        weights = None
    asked = as_covariates(options.covariates)
    known = asked.resolve(used, covariates, rows)
    features = _features(options, used, weights, asked, known)
    penalty = resolve_penalty(as_penalty(options.penalty), features, options.keep, options.exclude)
    goal = resolve_goal(options.n_features_to_select, options.alpha, penalty, source.n_features)
    solver = choose_solver(options.solver, penalty.penalty, by_groups=goal.n_groups is not None)
    subtract = bool(known.names) and asked.method == "subtract"
    n_dropped = source.n_samples - used.n_samples
    return Inputs(
        features, target, known, subtract, as_measure(options.measure), penalty, goal, solver,
        n_dropped,
    )  # fmt: skip


def _features(
    options: Options, source: Source, weights: FloatArray | None, asked: Covariates,
    known: CovariateValues,
) -> Features:  # fmt: skip
    functions = known.functions(weights) if asked.method == "project" else None
    return resolve_features(
        source,
        Samples(source.n_samples, weights, functions),
        kernel=options.kernel,
        joint=options.joint,
        covariates=known.columns,
        missing=as_missing(options.missing),
        gram_error=options.gram_error,
    )


def _target_matrix(inputs: Inputs) -> TargetMatrix:
    """Make the matrix that features are compared with."""
    features, measure, samples = inputs.features, inputs.measure, inputs.features.samples
    target = inputs.target.data.matrix(
        measure, samples, error=features.gram_error, n_features=features.n_features
    )
    if inputs.subtract:
        target = target.minus(inputs.covariates.factor(measure, samples, features.gram_error))
    if not target.norm2 > 0:
        raise InvalidInputError(
            "Nothing of the target is left after centring and after what the covariates "
            "explain: nothing can depend on it."
        )
    return target


def _n_exact(inputs: Inputs) -> int:
    """Features whose exact relevance the path will probably need; 0 if it needs that of all."""
    if not inputs.penalty.penalty.alike:  # the largest relevance need not join first
        return 0
    return _EXACT_EACH * (inputs.goal.n_features or 0) + _EXACT_MORE


def _solve(
    inputs: Inputs, problem: Problem, progress: Progress | None
) -> tuple[Path, IntArray, IntArray, Search]:
    """Follow the path to the goal: the path, the features selected, and those that fill it up."""
    goal = inputs.goal

    def report(size: int) -> None:
        if progress is not None:
            progress("path", size, goal.n_features or size)

    search = Search(
        problem,
        _scaled(inputs.penalty.penalty, problem),
        inputs.solver,
        n_samples=inputs.features.samples.total,
        report=report,
    )
    path = search.path(goal)
    selected = _by_weight(path, inputs.penalty.kept, goal.n_features)
    filled = search.fill(path, selected, goal)
    return path, np.append(selected, filled), filled, search


def _scaled(penalty: Penalty, problem: Problem) -> Penalty:
    """Give the ridge part of an elastic net its scale, that of the most relevant feature."""
    if not penalty.ridge:
        return penalty
    # an excluded feature must have no influence on the others
    relevance = np.where(np.isinf(penalty.weights), -np.inf, problem.linear)
    top = np.array([int(np.argmax(relevance))])
    scale = float(np.sqrt(problem.diagonal(top)[0] / problem.target_norm2))
    return replace(penalty, ridge=penalty.ridge * scale) if scale > 0 else penalty


def _by_weight(path: Path, kept: IntArray, wanted: int | None) -> IntArray:
    """Features that are not zero and those kept, heaviest first.

    Where features tie, no more than wanted, and those that are kept rather than others.
    """
    last = path.breakpoints[-1]
    features = np.union1d(last.indices, kept)
    sizes = np.abs(path.coefficients()[features])
    if wanted is not None and features.size > wanted:
        first = np.lexsort((features, -sizes, ~np.isin(features, kept)))[:wanted]
        features, sizes = features[first], sizes[first]
    return features[np.lexsort((features, -sizes))]


def _neighbours(
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


def _learn(problem: Problem, selected: IntArray, weights: FloatArray) -> SelectedKernel:
    """Make the learnt kernel, with the factors that the measure multiplies kernels by."""
    scaled, measure = problem.scaled(selected), problem.measure
    restored = [measure.restoration(one.observed) for one in scaled]
    if measure.normalised:
        plain = HSIC()
        matrices = problem.features.matrices(scaled, plain)
        norms = [m.norm / plain.restoration(m.observed) or 1.0 for m in matrices]
        weights = weights / np.array(norms)
    return learn_kernel(problem.features, selected, weights * np.array(restored), scaled)


def _describe(
    inputs: Inputs, problem: Problem, path: Path, selected: IntArray, filled: IntArray,
    search: Search, neighbours: list[tuple[Neighbour, ...]],
    useless: tuple[tuple[str, ...], tuple[str, ...]],
) -> SelectionResult:  # fmt: skip
    """Gather what is told about a selection."""
    features, goal, samples = inputs.features, inputs.goal, inputs.features.samples
    return SelectionResult(
        features=_selected_features(inputs, problem, path, selected, filled, neighbours),
        groups=_selected_groups(inputs, path, selected),
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
            message=_sentence(path, goal, selected.size, filled.size),
            certificate=path.certificate,
            gram_error=problem.error,
            n_requested=None if goal.criterion else goal.n_features,
        ),
        path=path.renumbered(features.first, features.source.n_features),
    )


def _selected_features(
    inputs: Inputs, problem: Problem, path: Path, selected: IntArray, filled: IntArray,
    neighbours: list[tuple[Neighbour, ...]],
) -> tuple[SelectedFeature, ...]:  # fmt: skip
    features, labels = inputs.features, inputs.penalty.labels
    weights = path.coefficients()
    total = float(np.abs(weights[selected]).sum()) or 1.0

    def origin(feature: int) -> Origin:
        if feature in inputs.penalty.kept:
            return "kept"
        return "filled" if feature in filled else "path"

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
        )
        for k, near in zip(selected.tolist(), neighbours, strict=True)
    )


def _selected_groups(inputs: Inputs, path: Path, selected: IntArray) -> tuple[SelectedGroup, ...]:
    labels, weights = inputs.penalty.labels, path.coefficients()
    if labels is None:
        return ()
    found = []
    for label in dict.fromkeys(labels[selected].tolist()):
        members = np.flatnonzero(labels == label)
        names = tuple(inputs.features.name(int(k)) for k in selected if labels[k] == label)
        norm = float(np.linalg.norm(weights[members]))
        found.append(SelectedGroup(str(label), norm, members.size, names))
    return tuple(sorted(found, key=lambda group: -group.norm))


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


def _warn_useless(problem: Problem) -> tuple[tuple[str, ...], tuple[str, ...]]:
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
            stacklevel=4,
        )
    if few_observed:
        warnings.warn(
            f"{len(few_observed)} of {features.source.n_features} columns are observed on fewer "
            f"than {features.least_observed} samples (min_observed) and get weight 0: "
            f"{_shown(few_observed)}",
            FewObservedWarning,
            stacklevel=4,
        )
    return constant, few_observed


def _names(features: Features, which: BoolArray) -> tuple[str, ...]:
    return tuple(features.name(int(k)) for k in np.flatnonzero(which))


def _shown(names: tuple[str, ...]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


def _warn_status(result: SelectionResult, path: Path) -> None:
    if path.status is Status.STALLED:
        gap = f" The duality gap reached is {result.certificate.duality_gap:.1e}."
        warnings.warn(result.message + gap, ConvergenceWarning, stacklevel=4)
    elif path.status is not Status.ALPHA and result.n_on_path < (result.solution.n_requested or 0):
        warnings.warn(result.message, FewerFeaturesWarning, stacklevel=4)


def _sentence(path: Path, goal: Goal, n_selected: int, n_filled: int) -> str:
    wanted = None if goal.criterion else goal.n_features
    found = f"{n_selected} feature{'' if n_selected == 1 else 's'} selected"
    asked = f" of {wanted} asked for" if wanted is not None and n_selected < wanted else ""
    last, them = ("one has", "it") if n_filled == 1 else (f"{n_filled} have", "them")
    filled = f" The last {last} weight 0: an elastic net chose {them}." if n_filled else ""
    return f"{found}{asked} at penalty {path.alpha:.6g}: {path.status.value}.{filled}"
