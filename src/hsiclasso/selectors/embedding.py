"""Selecting by a sum of functions of the features that explains the target's embedding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.dependence import Problem
from hsiclasso.dependence.functions import FeatureFunctions
from hsiclasso.selectors.additive import AdditiveModel, fit_additive, rank_functions
from hsiclasso.selectors.kernel import KernelTerm, SelectedKernel
from hsiclasso.selectors.prepare import Inputs
from hsiclasso.selectors.result import FeatureFunction, SelectedFeature
from hsiclasso.selectors.search import Solved
from hsiclasso.solvers import Stop
from hsiclasso.solvers.additive import solve_additive
from hsiclasso.targets import Prepared, Target, Values

__all__ = ["FittedFunctions", "curves_of", "fit_model", "solve_embedding"]

#: The path goes on until it has this many features more than asked for. It does not go below this
#: share of the largest penalty, because functions follow the noise there. Then the least important
#: features are dropped.
_MORE, _LEAST_SHARE = 5, 0.03
#: Points at which a function is evaluated for its curve.
_GRID = 101
#: A column with at most so many different values has its curve at these values.
_FEW = 20


def solve_embedding(
    inputs: Inputs, functions: FeatureFunctions, report: Callable[[int], None]
) -> Solved:
    """Follow the path of the additive problem to the goal, and choose features."""
    goal, penalty, kept = inputs.goal, inputs.penalty.penalty, inputs.penalty.kept
    available, spare = int(np.isfinite(penalty.weights).sum()), 0
    if goal.n_features is not None and not penalty.grouped:
        spare = min(_MORE, available - goal.n_features)
    stop = Stop(goal.n_features, goal.n_groups, goal.alpha or 0.0)
    solution = solve_additive(
        functions,
        penalty,
        stop,
        alpha_ratio=goal.alpha_ratio or 0.0,
        spare=(spare, _LEAST_SHARE),
        cap=inputs.cap,
        report=report,
    )
    features = np.union1d(solution.features, kept).astype(np.int64)
    left = features.size if goal.n_features is None else min(features.size, goal.n_features)
    ranking = rank_functions(features, functions.matrices(features), functions.target, kept, left)
    coefficients = np.zeros(functions.n_features)
    coefficients[ranking.features] = ranking.sizes
    nothing = np.zeros(0, dtype=np.int64)
    return Solved(solution.path, ranking.features, coefficients, nothing, features.size - left)


@dataclass(frozen=True)
class FittedFunctions:
    """The functions of the selected features, fitted to the target itself."""

    model: AdditiveModel
    #: Kind of the target.
    target: Target
    #: Names of the outputs that are fitted.
    outputs: tuple[str, ...]
    #: Labels or levels of the columns of the target, if it has any.
    labels: tuple[Any, ...]
    #: Whether covariates were removed from features and target.
    adjusted: bool


def fit_model(
    inputs: Inputs, problem: Problem, functions: FeatureFunctions, kernel: SelectedKernel,
    selected: IntArray,
) -> FittedFunctions:  # fmt: skip
    """Fit the functions of selected features to the target: its numbers, or its classes."""
    samples = inputs.features.samples
    response, outputs, labels = _response(inputs.target, functions.target, samples.root)
    model = fit_additive(
        kernel, functions.matrices(selected), problem.scaled(selected), response, samples,
        problem.measure.regularisation,
    )  # fmt: skip
    return FittedFunctions(model, inputs.target.target, outputs, labels, len(samples.removed) > 1)


def _response(
    target: Prepared, rows: FloatArray, root: FloatArray
) -> tuple[FloatArray, tuple[str, ...], tuple[Any, ...]]:
    """Return the outputs (q, n) that functions are fitted to, their names, and labels.

    They are the numbers of a target, an indicator of each of its labels, or, if it has neither,
    the row of its embedding that varies most.
    """
    data = target.data
    if not isinstance(data, Values):
        _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
        first = sizes[0] * basis[:1] / np.where(root > 0, root, 1.0)
        largest = first[0, np.argmax(np.abs(first[0]))]  # its sign is arbitrary
        return first * np.sign(largest), ("first component",), ()
    if data.kernel.of_labels:
        columns = zip(data.raw, data.labels, strict=True)
        made = [codes == c for codes, own in columns for c in range(len(own))]
        names = tuple(str(label) for own in data.labels for label in own)
        return np.array(made, dtype=np.float64), names, data.labels
    names = ("y",) if len(data.raw) == 1 else tuple(f"y{j}" for j in range(len(data.raw)))
    return data.raw, names, data.labels


def curves_of(
    fitted: FittedFunctions, features: tuple[SelectedFeature, ...]
) -> tuple[FeatureFunction, ...]:
    """Evaluate the functions of the selected features on grids."""
    made = []
    for i, (term, feature) in enumerate(zip(fitted.model.kernel.terms, features, strict=True)):
        values, shown = _grid(term)
        made.append(
            FeatureFunction(
                feature.name,
                feature.index,
                feature.share,
                shown,
                fitted.model.at(i, values).T,
                fitted.outputs,
                fitted.model.spreads[i],
            )
        )
    return tuple(made)


def _grid(term: KernelTerm) -> tuple[FloatArray, Any]:
    """Return values at which a curve is drawn, scaled (c, g), and in the column's unit (g,)."""
    if len(term.columns) > 1:
        return np.zeros((len(term.columns), 0)), np.zeros(0)
    known = term.samples[0][~np.isnan(term.samples[0])]
    values = np.unique(known)
    if values.size > _FEW:
        values = np.linspace(values[0], values[-1], _GRID)
    if term.labels[0] is not None:
        return values[None], np.array([term.labels[0][int(code)] for code in values], dtype=object)
    if term.kernel.of_labels:
        return values[None], values
    shown = values * term.scaling.factor[0] + term.scaling.shift[0]
    digit = (np.ptp(shown) or 1.0) * 1e-12  # so that 0 is 0, and not 1e-16
    return values[None], np.round(shown / digit) * digit
