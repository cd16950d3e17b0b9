"""The selection as plain functions: prepare, relate, solve, describe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hsiclasso._blas import single_threaded_blas
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data import Source
from hsiclasso.dependence import Features, Problem, Progress, relate
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import HSIC
from hsiclasso.selectors.describe import (
    describe,
    find_neighbours,
    warn_of_end,
    warn_of_useless,
)
from hsiclasso.selectors.kernel import SelectedKernel, learn_kernel
from hsiclasso.selectors.prepare import Inputs, Options, prepare
from hsiclasso.selectors.result import SelectionResult
from hsiclasso.selectors.search import Search
from hsiclasso.solvers import Penalty, SolutionPath
from hsiclasso.targets.matrix import TargetMatrix

__all__ = ["Selection", "n_exact", "select", "target_matrix"]

#: Relevances that are made exact before the path is solved: so many for each feature to select,
#: and so many more. If the path comes to need others, it is solved again.
_EXACT_EACH, _EXACT_MORE = 4, 64


@dataclass(frozen=True)
class Selection:
    """Everything a selection found."""

    result: SelectionResult
    #: What the features are.
    features: Features
    #: Relevance of every feature, and how often it was observed.
    problem: Problem
    #: Solution path, in feature numbers.
    path: SolutionPath
    #: Features by decreasing weight.
    selected: IntArray
    #: Weights of the selected features, zero elsewhere, shape (d,).
    coefficients: FloatArray
    #: The kernel that was learnt.
    kernel: SelectedKernel
    #: Features that were to be kept.
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
            target_matrix(inputs),
            inputs.measure,
            runner=inputs.runner,
            screen=n_exact(inputs),
            budget=inputs.budget,
            progress=progress,
        )
        useless = warn_of_useless(problem)
        path, selected, filled = _solve(inputs, problem, progress)
        neighbours = find_neighbours(problem, selected, options.n_neighbors, progress)
        result = describe(inputs, problem, path, selected, filled, neighbours, useless)
        warn_of_end(result, path)
        # of a group that was cut to the number asked for, or of ties, some may not be selected
        coefficients = np.zeros(problem.features.n_features)
        coefficients[selected] = path.coefficients()[selected]
        kernel = _learn(problem, selected, coefficients[selected])
    kept = inputs.penalty.kept
    return Selection(result, inputs.features, problem, path, selected, coefficients, kernel, kept)


def target_matrix(inputs: Inputs) -> TargetMatrix:
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


def n_exact(inputs: Inputs) -> int:
    """Features whose exact relevance the path will probably need; 0 if it needs that of all."""
    if not inputs.penalty.penalty.alike:  # the largest relevance need not join first
        return 0
    return _EXACT_EACH * (inputs.goal.n_features or 0) + _EXACT_MORE


def _solve(
    inputs: Inputs, problem: Problem, progress: Progress | None
) -> tuple[SolutionPath, IntArray, IntArray]:
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
    return path, np.append(selected, filled), filled


def _scaled(penalty: Penalty, problem: Problem) -> Penalty:
    """Give the ridge part of an elastic net its scale, that of the most relevant feature."""
    if not penalty.ridge:
        return penalty
    # an excluded feature must have no influence on the others
    relevance = np.where(np.isinf(penalty.weights), -np.inf, problem.linear)
    top = np.array([int(np.argmax(relevance))])
    scale = float(np.sqrt(problem.diagonal(top)[0] / problem.target_norm2))
    return replace(penalty, ridge=penalty.ridge * scale) if scale > 0 else penalty


def _by_weight(path: SolutionPath, kept: IntArray, wanted: int | None) -> IntArray:
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
