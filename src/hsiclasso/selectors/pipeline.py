"""The selection as plain functions: prepare, relate, solve, describe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from hsiclasso._blas import single_threaded_blas
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data import Source
from hsiclasso.dependence import Features, Problem, Progress, relate
from hsiclasso.dependence.functions import FeatureFunctions
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import HSIC, Embedding
from hsiclasso.selectors.by_class import with_classes
from hsiclasso.selectors.describe import (
    describe,
    find_similar,
    only_some,
    warn_of_end,
    warn_of_useless,
)
from hsiclasso.selectors.embedding import FittedFunctions, curves_of, fit_model, solve_embedding
from hsiclasso.selectors.filling import fill
from hsiclasso.selectors.kernel import SelectedKernel, learn_kernel
from hsiclasso.selectors.offering import offer_interactions
from hsiclasso.selectors.prepare import Inputs, Options, prepare
from hsiclasso.selectors.result import SelectionResult
from hsiclasso.selectors.search import Search, Solved, by_weight
from hsiclasso.solvers import Penalty, SolutionPath
from hsiclasso.targets.embedded import embedded_target
from hsiclasso.targets.matrix import FactoredTarget, TargetMatrix

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
    #: What it started from.
    inputs: Inputs
    #: The matrix that features were compared with.
    target: TargetMatrix
    #: The fitted functions of the selected features; None unless the measure is an embedding.
    model: FittedFunctions | None = None
    #: p- and q-values of all features, shape (2, d); None unless features were tested.
    tested: FloatArray | None = None

    def only(self, places: IntArray) -> Selection:
        """Return the selection of some of the selected features, which are given by their places.

        Weights are those of the same solution; functions are fitted without the other features.
        """
        selected = self.selected[places]
        coefficients = np.zeros_like(self.coefficients)
        coefficients[selected] = self.coefficients[selected]
        kernel = replace(self.kernel, terms=tuple(self.kernel.terms[i] for i in places.tolist()))
        result, model = only_some(self.result, places), None
        if self.model is not None:
            assert isinstance(self.target, FactoredTarget)
            functions = FeatureFunctions(self.problem, self.target.whole[0])
            with single_threaded_blas():
                model = fit_model(self.inputs, self.problem, functions, kernel, selected)
            result = replace(result, functions=curves_of(model, result.features))
        return replace(
            self, result=result, selected=selected, coefficients=coefficients, kernel=kernel,
            model=model,
        )  # fmt: skip


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
        target = target_matrix(inputs)
        problem = relate(
            inputs.features,
            target,
            inputs.measure,
            runner=inputs.runner,
            screen=n_exact(inputs),
            budget=inputs.budget,
            progress=progress,
        )
        useless = warn_of_useless(problem)
        offered = None
        if inputs.offer is not None:
            solve_singles = partial(_solve, inputs, problem, target, progress)
            offered = offer_interactions(inputs, problem, solve_singles, progress)
            inputs, problem = offered.inputs, offered.problem
        solved = _solve(inputs, problem, target, progress)
        interactions = None
        if offered is not None:
            more, interactions = offered.completed(solved.path, progress)
            if more is not None:
                inputs, problem = more.inputs, more.problem
                solved = _solve(inputs, problem, target, progress)
                interactions = more.completed(solved.path, progress)[1]
        functions, selected = solved.functions, solved.selected
        n_neighbors = options.n_neighbors
        similar = find_similar(problem, selected, n_neighbors, inputs.cap, progress)
        result = describe(inputs, problem, solved, similar, n_neighbors, useless)
        result = replace(result, interactions=interactions)
        result = with_classes(result, inputs, problem, target, selected)
        warn_of_end(result, solved.path)
        weights = solved.coefficients[selected] if functions is None else np.ones(selected.size)
        kernel = _learn(problem, selected, weights)
        model = None
        if functions is not None:
            model = fit_model(inputs, problem, functions, kernel, selected)
            result = replace(result, functions=curves_of(model, result.features))
    return Selection(
        result, inputs.features, problem, solved.path, selected, solved.coefficients, kernel,
        inputs.penalty.kept, inputs, target, model,
    )  # fmt: skip


def target_matrix(inputs: Inputs) -> TargetMatrix:
    """Make the matrix that features are compared with."""
    features, measure, samples = inputs.features, inputs.measure, inputs.features.samples
    data, plain, error = inputs.target.data, measure.of_target(), features.gram_error
    target = data.matrix(plain, samples, error=error, n_features=features.n_features)
    if inputs.subtract:
        target = target.minus(inputs.covariates.factor(measure, samples, features.gram_error))
    if not target.norm2 > 0:
        raise InvalidInputError(
            "Nothing of the target is left after centring and after what the covariates "
            "explain: nothing can depend on it."
        )
    if isinstance(measure, Embedding):
        return embedded_target(data, target, plain, samples, error)
    return target


def n_exact(inputs: Inputs) -> int:
    """Features whose exact relevance the path will probably need; 0 if it needs that of all."""
    # the largest relevance need not join first; a correlation need not be below the relevance
    if not inputs.penalty.penalty.alike or isinstance(inputs.measure, Embedding):
        return 0
    return _EXACT_EACH * (inputs.goal.n_features or 0) + _EXACT_MORE


def _solve(
    inputs: Inputs, problem: Problem, target: TargetMatrix, progress: Progress | None
) -> Solved:
    """Follow the path to the goal, and choose the features."""
    goal = inputs.goal

    def report(size: int) -> None:
        if progress is not None:
            progress("path", size, goal.n_features or size)

    if isinstance(inputs.measure, Embedding):
        assert isinstance(target, FactoredTarget)
        functions = FeatureFunctions(problem, target.whole[0], progress)
        return solve_embedding(inputs, problem, functions, report)
    search = Search(
        problem,
        _scaled(inputs.penalty.penalty, problem),
        inputs.solver,
        cap=inputs.cap,
        n_samples=inputs.features.samples.total,
        report=report,
    )
    if inputs.offer is not None and problem.features.interactions:
        refused = inputs.offer.refused
        kept = inputs.penalty.kept
        search = replace(search, refused=lambda path: refused(path, problem.features, kept))
    path = search.path(goal)
    on_path = by_weight(path, inputs.penalty.kept, goal.n_features)
    filled = on_path[:0]
    if inputs.fill:
        filled = fill(problem, inputs.penalty.penalty, path, on_path, goal)
    selected = np.append(on_path, filled)
    # of a group that was cut to the number asked for, or of ties, some may not be selected
    coefficients = np.zeros(problem.features.n_features)
    coefficients[selected] = path.coefficients()[selected]
    return Solved(path, selected, coefficients, filled)


def _scaled(penalty: Penalty, problem: Problem) -> Penalty:
    """Give the ridge part of an elastic net its scale, that of the most relevant feature."""
    if not penalty.ridge:
        return penalty
    # an excluded feature must have no influence on the others
    relevance = np.where(np.isinf(penalty.weights), -np.inf, problem.linear)
    top = np.array([int(np.argmax(relevance))])
    scale = float(np.sqrt(problem.diagonal(top)[0] / problem.target_norm2))
    return replace(penalty, ridge=penalty.ridge * scale) if scale > 0 else penalty


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
