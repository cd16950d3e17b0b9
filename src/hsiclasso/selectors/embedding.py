"""Selecting by a sum of functions of the features that explains the target's embedding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import gammaincinv

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.dependence import Problem
from hsiclasso.dependence.functions import FeatureFunctions
from hsiclasso.kernels.samples import NEGLIGIBLE
from hsiclasso.selectors.additive import AdditiveModel, fit_additive, rank_functions
from hsiclasso.selectors.filling import fill
from hsiclasso.selectors.kernel import KernelTerm, SelectedKernel
from hsiclasso.selectors.prepare import Inputs
from hsiclasso.selectors.result import FeatureFunction, PairFunction, SelectedFeature
from hsiclasso.selectors.search import Solved
from hsiclasso.solvers import Penalty, Stop
from hsiclasso.solvers.additive import AdditiveSolution, solve_additive
from hsiclasso.targets import Prepared, Target, Values

__all__ = ["FittedFunctions", "curves_of", "fit_model", "solve_embedding"]

#: The path goes on until it has this many features more than asked for. It does not go below this
#: share of the largest penalty, because functions follow the noise there. Then the least important
#: features are dropped.
_MORE, _LEAST_SHARE = 5, 0.03
#: Share of the noise level at which the path ends for labels if the number may be made up, and the
#: number of features that stand for all in it. Chosen on splits of real sets (`docs/embedding.md`).
_SHARE_OF_NOISE, _TYPICAL = 0.7, 32
#: Points at which a function is evaluated for its curve, and on each side of a surface.
_GRID, _SIDE = 101, 31
#: Labels on a side of a surface, and samples that are drawn on it.
_MOST_LABELS, _DOTS = 30, 500
#: A column with at most so many different values has its curve at these values.
_FEW = 20


def solve_embedding(
    inputs: Inputs, problem: Problem, functions: FeatureFunctions, report: Callable[[int], None]
) -> Solved:
    """Follow the path of the additive problem to the goal, and choose features."""
    goal, kept, offer = inputs.goal, inputs.penalty.kept, inputs.offer
    end = 0.0
    if inputs.fill and goal.n_features is not None and _of_labels(inputs.target):
        end = _SHARE_OF_NOISE * noise_level(problem, functions)
    solution = _follow(inputs, functions, inputs.penalty.penalty, end, report)
    features = np.union1d(solution.features, kept).astype(np.int64)
    left = features.size if goal.n_features is None else min(features.size, goal.n_features)
    needed = None if offer is None else partial(offer.needed, features=inputs.features)
    ranking = rank_functions(
        features, functions.matrices(features), functions.target, kept, left, needed
    )
    coefficients = np.zeros(functions.n_features)
    coefficients[ranking.features] = ranking.sizes
    filled = ranking.features[:0]
    if inputs.fill:
        filled = fill(problem, inputs.penalty.penalty, solution.path, ranking.features, goal)
    selected = np.append(ranking.features, filled)
    return Solved(solution.path, selected, coefficients, filled, features.size - left, functions)


def _follow(
    inputs: Inputs,
    functions: FeatureFunctions,
    penalty: Penalty,
    end: float,
    report: Callable[[int], None],
) -> AdditiveSolution:
    """Follow the path to the goal; if it has interactions that it may not have, without them."""
    goal, offer, spare = inputs.goal, inputs.offer, 0
    if goal.n_features is not None and not penalty.grouped:
        spare = min(_MORE, int(np.isfinite(penalty.weights).sum()) - goal.n_features)
    solution = solve_additive(
        functions,
        penalty,
        Stop(goal.n_features, goal.n_groups, goal.alpha or 0.0),
        alpha_ratio=goal.alpha_ratio or 0.0,
        end=end,
        spare=(spare, _LEAST_SHARE),
        cap=inputs.cap,
        report=report,
    )
    if offer is not None:
        refused = offer.refused(solution.path, inputs.features, inputs.penalty.kept)
        if refused.size:
            return _follow(inputs, functions, penalty.without(refused), end, report)
    return solution


def noise_level(problem: Problem, functions: FeatureFunctions) -> float:
    r"""Return the largest correlation that d features would have with an unrelated target.

    If the samples of the target are permuted, the squared correlation :math:`\mathrm{tr} A_k L` of
    a feature has the mean :math:`\mathrm{tr} A\, \mathrm{tr} L / (n-1)` and nearly the variance
    :math:`2 v(A) v(L) / (n-1)^2` with :math:`v(A) = \|A\|^2 - (\mathrm{tr} A)^2 / (n-1)`. It is
    taken as a gamma variable, and the quantile at :math:`1 - 1/(d+1)` is returned as a correlation.
    The most relevant features say what trace and norm are typical.
    """
    n = functions.target.shape[1] - 1
    typical = np.argsort(-problem.relevance, kind="stable")[:_TYPICAL]
    spectra = [factor.eigenvalues for factor in functions.matrices(np.sort(typical))]
    own = np.square(np.linalg.svd(functions.target, compute_uv=False))
    trace, norm2 = (np.median([np.sum(s**p) for s in spectra]) for p in (1, 2))
    mean = trace * own.sum() / n
    spreads = [max(q - t**2 / n, NEGLIGIBLE) for t, q in ((trace, norm2), (own.sum(), own @ own))]
    variance = 2 * spreads[0] * spreads[1] / n**2
    quantile = gammaincinv(mean**2 / variance, 1 - 1 / (problem.features.n_features + 1))
    return float(np.sqrt(quantile * variance / mean))


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


def _of_labels(target: Prepared) -> bool:
    return isinstance(target.data, Values) and target.data.kernel.of_labels


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
    if _of_labels(target):
        columns = zip(data.raw, data.labels, strict=True)
        made = [codes == c for codes, own in columns for c in range(len(own))]
        names = tuple(str(label) for own in data.labels for label in own)
        return np.array(made, dtype=np.float64), names, data.labels
    names = ("y",) if len(data.raw) == 1 else tuple(f"y{j}" for j in range(len(data.raw)))
    return data.raw, names, data.labels


def curves_of(
    fitted: FittedFunctions, features: tuple[SelectedFeature, ...]
) -> tuple[FeatureFunction | PairFunction, ...]:
    """Evaluate the functions of the selected features on grids."""
    curve, made = _Curves(fitted), []
    for i, (term, feature) in enumerate(zip(fitted.model.kernel.terms, features, strict=True)):
        is_pair = len(feature.members) == len(term.columns) == 2
        made.append(curve.surface(i, feature) if is_pair else curve(i, feature))
    return tuple(made)


@dataclass(frozen=True)
class _Curves:
    """Evaluates fitted functions on grids."""

    fitted: FittedFunctions

    def __call__(self, i: int, feature: SelectedFeature) -> FeatureFunction:
        """Return the curve of a feature; one of several columns has none."""
        model, term = self.fitted.model, self.fitted.model.kernel.terms[i]
        if len(term.columns) > 1:
            values, grid = np.zeros((len(term.columns), 0)), np.zeros(0)
        else:
            values = _grid(term, 0, _GRID)[None]
            grid = _shown(term, 0, values[0])
        return FeatureFunction(
            feature.name, feature.index, feature.share, grid, model.at(i, values).T,
            self.fitted.outputs, model.spreads[i],
        )  # fmt: skip

    def surface(self, i: int, feature: SelectedFeature) -> PairFunction:
        """Return the surface of a pair of features that have one column each."""
        model, term = self.fitted.model, self.fitted.model.kernel.terms[i]
        first, second = (_grid(term, place, _SIDE, _MOST_LABELS) for place in (0, 1))
        points = np.array([np.repeat(first, second.size), np.tile(second, first.size)])
        values = model.at(i, points).T.reshape(-1, first.size, second.size)
        known = term.samples[:, ~np.isnan(term.samples).any(axis=0)]
        some = known[:, :: -(-known.shape[1] // _DOTS)]
        return PairFunction(
            feature.name, feature.index, feature.share, feature.members,
            (_shown(term, 0, first), _shown(term, 1, second)), values, self.fitted.outputs,
            model.spreads[i], (_shown(term, 0, some[0]), _shown(term, 1, some[1])),
        )  # fmt: skip


def _grid(term: KernelTerm, place: int, points: int, most_labels: int | None = None) -> FloatArray:
    """Return scaled values of one column at which a function is evaluated, in ascending order."""
    known = term.samples[place][~np.isnan(term.samples[place])]
    values, counts = np.unique(known, return_counts=True)
    if term.labels[place] is not None:  # of many labels those with the most samples
        return np.sort(values[np.argsort(-counts, kind="stable")[:most_labels]])
    return values if values.size <= _FEW else np.linspace(values[0], values[-1], points)


def _shown(term: KernelTerm, place: int, values: FloatArray) -> Any:
    """Return scaled values of one column in its own unit, or the labels that they stand for."""
    labels = term.labels[place]
    if labels is not None:
        return np.array([labels[int(code)] for code in values], dtype=object)
    shift, factor = term.scaling.shift[place], term.scaling.factor[place] or 1.0
    if shift == 0 and factor == 1:
        return values
    shown = values * factor + shift
    digit = (np.ptp(shown) or 1.0) * 1e-12  # so that 0 is 0, and not 1e-16
    return np.round(shown / digit) * digit
