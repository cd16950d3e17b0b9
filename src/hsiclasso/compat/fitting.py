"""One exact fit with the settings of pyHSICLasso, and what its methods ask of it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from hsiclasso._blas import single_threaded_blas
from hsiclasso._checks import check_choice, check_flag, check_whole
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.compat.errors import BlocksWarning
from hsiclasso.compat.kernels import OneScaleGaussian, SubtractedCovariates
from hsiclasso.compat.tables import Table
from hsiclasso.data import Source
from hsiclasso.data.atomic import replacing
from hsiclasso.dependence import Problem, relate
from hsiclasso.errors import FewerFeaturesWarning, InvalidInputError
from hsiclasso.kernels import Delta
from hsiclasso.selectors import HSICLasso
from hsiclasso.selectors.describe import warn_of_useless
from hsiclasso.selectors.pipeline import n_exact, target_matrix
from hsiclasso.selectors.prepare import Inputs, prepare
from hsiclasso.selectors.search import Search, by_weight
from hsiclasso.solvers import SolutionPath, Status
from hsiclasso.targets import Classes, Real, Target

__all__ = ["Fit", "Settings", "compared", "fit", "similarity_rows", "write_similarities"]

#: More neighbours than asked for are looked at exactly: those of the pass have small errors.
_SPARE = 5
#: Digits to which similarities must agree to be the same.
_DIGITS = 9
#: Fewest samples that tell dependence from chance agreement.
_LEAST_SAMPLES = 3
#: Frames between a warning and the user's call of `regression` or `classification`.
_STACK = 4
#: Rows of the matrix of similarities that are computed together.
_ROWS = 256


@dataclass(frozen=True)
class Settings:
    """The arguments of `regression` and `classification`."""

    num_feat: int
    B: int
    M: int
    discrete_x: bool
    max_neighbors: int
    n_jobs: int | None
    covars: Any
    covars_kernel: str

    def check(self) -> None:
        """Raise if an argument breaks its rule."""
        check_whole("num_feat", self.num_feat)
        check_whole("B", self.B, least=0)
        check_whole("M", self.M)
        check_flag("discrete_x", self.discrete_x)
        check_whole("max_neighbors", self.max_neighbors, least=0)
        check_choice("covars_kernel", self.covars_kernel, ("Gaussian", "Delta"))

    @property
    def has_covariates(self) -> bool:
        """Whether there are covariates; an empty array stands for none."""
        return self.covars is not None and np.size(self.covars) > 0


@dataclass(frozen=True)
class Fit:
    """A solution, and the similarities of its features."""

    #: Selected columns by decreasing weight.
    index: list[int]
    #: Weights of all columns, shape (d,).
    weights: FloatArray
    path: SolutionPath
    #: Kernel of the features.
    kernel: str
    #: For each selected column itself and the most similar others, and these similarities.
    neighbours: list[list[int]]
    similarities: list[FloatArray]

    @property
    def scores(self) -> FloatArray:
        """Weights of the selected features, in units of the largest."""
        weights = self.weights[self.index]
        return weights / (weights.max(initial=0.0) or 1.0)

    def weights_along_path(self) -> FloatArray:
        """Return the weights (d, n_steps) at every breakpoint."""
        steps = range(len(self.path.breakpoints))
        return np.column_stack([self.path.coefficients(step) for step in steps])


def fit(table: Table, settings: Settings, *, classes: bool) -> Fit:
    """Select features without blocks, whatever `B` says."""
    settings.check()
    n, d = table.source.n_samples, table.source.n_features
    if n < _LEAST_SAMPLES:
        raise InvalidInputError(
            f"n_samples={n}, but dependence can only be measured on {_LEAST_SAMPLES} samples or "
            "more: add rows, or transpose X if samples are columns."
        )
    if 0 < settings.B < n:
        warnings.warn(
            f"B={settings.B}: no blocks are made. The fit is exact on all {n} samples, as with "
            "B=0, which also silences this warning.",
            BlocksWarning,
            stacklevel=_STACK,
        )
    table.check_values(classes=classes)
    found = _solve(table, settings, classes=classes)
    if found.path.status is Status.STALLED:
        warnings.warn(f"{found.path.status.value}.", ConvergenceWarning, stacklevel=_STACK)
    if len(found.index) < settings.num_feat:
        warnings.warn(
            f"num_feat={settings.num_feat}, but only {len(found.index)} of {d} features get a "
            "positive weight: ask for fewer, or use hsiclasso.HSICLasso, which makes up the "
            "number.",
            FewerFeaturesWarning,
            stacklevel=_STACK,
        )
    return found


def _solve(table: Table, settings: Settings, *, classes: bool) -> Fit:
    """Follow the path, and find the neighbours of its features."""
    d = table.source.n_features
    covariates = settings.covars if settings.has_covariates else None
    options = _options(settings, d, classes=classes)
    inputs = prepare(options, table.source, table.y, covariates=covariates)
    with single_threaded_blas():
        problem = _relate(inputs)
        warn_of_useless(problem)
        n_samples = inputs.features.samples.total
        search = Search(problem, inputs.penalty.penalty, inputs.solver, inputs.cap, n_samples)
        path = _cut(search.path(inputs.goal), settings.num_feat)
        index = by_weight(path, np.zeros(0, dtype=np.int64), settings.num_feat)
        near = _neighbours(problem, index, min(settings.max_neighbors, d - 1))
    weights = np.zeros(d)
    weights[index] = path.coefficients()[index]
    return Fit(
        index.tolist(), weights, path, options.kernel,
        [[k, *(j for j, _ in others)] for k, others in zip(index.tolist(), near, strict=True)],
        [np.array([1.0, *(value for _, value in others)]) for others in near],
    )  # fmt: skip


def _relate(inputs: Inputs) -> Problem:
    """Compare the features with the target."""
    return relate(
        inputs.features,
        target_matrix(inputs),
        inputs.measure,
        runner=inputs.runner,
        screen=n_exact(inputs),
        budget=inputs.budget,
    )


def _cut(path: SolutionPath, number: int) -> SolutionPath:
    """Return the path up to where a further feature joins so many.

    pyHSICLasso stops there. `hsiclasso.HSICLasso` stops on the first segment with so many
    features, which is another one if a feature leaves at its end.
    """
    for step, point in enumerate(path.breakpoints):
        # of features that join at the same time, none has a weight yet
        if point.indices.size >= number and np.union1d(point.indices, point.joined).size > number:
            return replace(path, breakpoints=path.breakpoints[: step + 1])
    return path


def _options(settings: Settings, d: int, *, classes: bool) -> HSICLasso:
    """Return the settings in the words of this package.

    What pyHSICLasso does not have is off: the transform of heavy-tailed targets, the cap on
    redundancy, and features that make up the number where the path ends early.
    """
    target: Target = Classes() if classes else Real(OneScaleGaussian(), transform=None)
    covariates = None
    if settings.has_covariates:
        is_delta = settings.covars_kernel == "Delta"
        covariates = SubtractedCovariates(Delta() if is_delta else OneScaleGaussian())
    # one more than asked for, because the path goes on until that joins; or to its end
    number = settings.num_feat + 1 if settings.num_feat < d else None
    return HSICLasso(
        number,
        alpha=None if number else 0.0,
        measure="nhsic",
        max_redundancy=1.0,
        fill=False,
        kernel="delta" if settings.discrete_x else "auto",
        target=target,
        covariates=covariates,
        n_jobs=settings.n_jobs,
    )


def _neighbours(problem: Problem, index: IntArray, number: int) -> list[list[tuple[int, float]]]:
    """Find the features that are most similar to each selected one; ties go to the first column."""
    if not number or not index.size:
        return [[] for _ in index]
    found = []
    for k, near in zip(index.tolist(), problem.nearest(index, number + _SPARE), strict=True):
        others = np.array([j for j, _ in near])
        values = similarity_rows(problem, np.array([k]), others)[0]
        order = np.lexsort((others, -values.round(_DIGITS)))[:number]
        found.append(list(zip(others[order].tolist(), values[order].tolist(), strict=True)))
    return found


def similarity_rows(problem: Problem, rows: IntArray, columns: IntArray) -> FloatArray:
    """Return the similarities of some features with others; 0 for features that do not vary."""
    products = problem.inner_products(rows, columns)
    norms = np.sqrt(np.outer(problem.diagonal(rows), problem.diagonal(columns)))
    return np.asarray(np.divide(products, norms, out=np.zeros_like(products), where=norms > 0))


def compared(source: Source, kernel: str) -> Problem:
    """Compare the features of a table with each other.

    A target has no influence on their similarities: numbers that all differ stand for it.
    """
    options = HSICLasso(1, measure="nhsic", kernel=kernel, target=Real(transform=None))
    with single_threaded_blas():
        return _relate(prepare(options, source, np.arange(source.n_samples)))


def write_similarities(table: Table, filename: str) -> None:
    """Write the similarities of all features as CSV, a few rows at a time."""
    problem, everything = compared(table.source, "auto"), np.arange(table.source.n_features)
    with single_threaded_blas(), replacing(filename) as part, part.open("w") as file:
        for start in range(0, everything.size, _ROWS):
            some = everything[start : start + _ROWS]
            np.savetxt(file, similarity_rows(problem, some, everything), "%.7f", ",")
