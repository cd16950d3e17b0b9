"""The first step of a selection: check everything, before any long work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from joblib import effective_n_jobs

from hsiclasso import __version__
from hsiclasso._checks import check_choice, check_count, check_flag, check_jobs, check_whole
from hsiclasso._types import FloatArray
from hsiclasso.data import RowSubset, Source
from hsiclasso.data.fingerprint import hash_of
from hsiclasso.data.structure import unmasked
from hsiclasso.dependence import Budget, Features, Runner
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Embedding, Measure, Samples, as_measure
from hsiclasso.selectors.auto import AUTO, check_auto, is_auto
from hsiclasso.selectors.covariates import Covariates, CovariateValues, as_covariates
from hsiclasso.selectors.features import check_gram_error, check_kernel, resolve_features
from hsiclasso.selectors.interactions import Offer, check_interactions, resolve_offer
from hsiclasso.selectors.missing import as_missing
from hsiclasso.selectors.penalties import ResolvedPenalty, as_penalty, resolve_penalty
from hsiclasso.selectors.redundancy import check_redundancy, resolve_redundancy
from hsiclasso.selectors.resources import as_resources
from hsiclasso.selectors.search import Goal, check_alpha, resolve_goal
from hsiclasso.solvers import SOLVERS, Penalty, choose_solver
from hsiclasso.targets import Prepared, Values, as_target

__all__ = ["Inputs", "Options", "check_options", "prepare"]

#: Rounding errors decide about weights beyond this, or below its inverse.
_LARGEST_WEIGHT = 1e9


class Options(Protocol):
    """The parameters of a selection: those of `HSICLasso`, which documents them."""

    n_features_to_select: Any
    alpha: Any
    max_redundancy: Any
    fill: Any
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
    interactions: Any
    n_interactions: Any
    n_neighbors: Any
    n_jobs: Any
    resources: Any


@dataclass(frozen=True)
class Inputs:
    """What a selection starts from, all of it checked."""

    #: What the features are, on the samples that are used.
    features: Features
    target: Prepared
    covariates: CovariateValues
    #: Whether the covariates' kernel matrix is subtracted from the target's.
    subtract: bool
    measure: Measure
    penalty: ResolvedPenalty
    #: Where the path ends.
    goal: Goal
    #: Largest similarity of two features of the path; 1 leaves nothing out.
    cap: float
    #: Whether to make up the number of features if the path ends before it.
    fill: bool
    solver: str
    #: Interactions that may be selected; None if there are none.
    offer: Offer | None
    #: Number of samples that are not used.
    n_dropped: int
    #: Memory that may be used, and what runs the pass over the table.
    budget: Budget
    runner: Runner


def check_options(options: Options) -> None:
    """Raise if a parameter breaks its rule, whatever the table."""
    _check_number(options)
    check_alpha(options.alpha)
    check_redundancy(options.max_redundancy)
    check_flag("fill", options.fill)
    as_measure(options.measure)
    check_kernel(options.kernel)
    as_target(options.target)
    as_penalty(options.penalty)
    as_covariates(options.covariates)
    as_missing(options.missing)
    check_choice("solver", options.solver, ("auto", *SOLVERS))
    check_gram_error(options.gram_error)
    check_interactions(options.interactions, options.n_interactions)
    check_whole("n_neighbors", options.n_neighbors, least=0)
    as_resources(options.resources)
    check_jobs(options.n_jobs)


def _check_number(options: Options) -> None:
    number = options.n_features_to_select
    if is_auto(options):
        check_auto(options)
    elif isinstance(number, str):
        raise InvalidInputError(
            f"n_features_to_select={number!r} must be a whole number >= 1, or {AUTO!r}, which "
            "finds it by tests."
        )
    else:
        check_count("n_features_to_select", number, least=1)


def prepare(
    options: Options, source: Source, y: Any, *, sample_weight: Any = None, covariates: Any = None
) -> Inputs:
    """Check everything, and say what is selected from."""
    check_options(options)
    resources, n_threads = as_resources(options.resources), effective_n_jobs(options.n_jobs)
    limit = resources.bytes_allowed
    source.limit_memory(None if limit is None else limit // 2)
    source.use_client(resources.connected(source))
    table = source.bytes_to_come  # before covariates are read, which may load it
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
    offer = resolve_offer(options.interactions, options.n_interactions, features, penalty, target)
    goal = resolve_goal(options.n_features_to_select, options.alpha, penalty, source.n_features)
    subtract = bool(known.names) and asked.method == "subtract"
    of_labels = isinstance(target.data, Values) and target.data.kernel.of_labels
    measure = as_measure(options.measure).suited(to_labels=of_labels)
    cap = resolve_redundancy(options.max_redundancy, penalty.penalty)
    if isinstance(measure, Embedding):
        _check_embedding(penalty.penalty, goal, subtract=subtract)
        solver = "block descent"
    else:
        by_groups = goal.n_groups is not None
        solver = choose_solver(options.solver, penalty.penalty, by_groups=by_groups)
    n_dropped = source.n_samples - used.n_samples
    if limit is None:  # free memory is measured now: count what is not loaded yet
        table = source.bytes_to_come
    budget = Budget.within(limit, used.n_samples, features.n_features, n_threads, table)
    made_for = None
    if resources.checkpoint is not None:
        made_for = _fingerprints(options, used, y, weights, known)
    return Inputs(
        features, target, known, subtract, measure, penalty, goal, cap, options.fill, solver,
        offer, n_dropped, budget,
        resources.runner(used, budget.n_threads, made_for),
    )  # fmt: skip


def _check_embedding(penalty: Penalty, goal: Goal, *, subtract: bool) -> None:
    """Raise if a sum of functions has no such penalty, stop or covariates."""
    if penalty.kind not in ("lasso", "group lasso"):
        raise InvalidInputError(
            f"penalty: EmbeddingLasso has no {penalty.kind}, because each feature or group has one "
            "norm: pass Lasso(weights), or GroupLasso(groups) with l1_ratio=0."
        )
    if goal.criterion is not None:
        raise InvalidInputError(
            f"alpha={goal.criterion!r}, but EmbeddingLasso has no information criterion: pass a "
            "number of features, or choose one by cross-validation with "
            "HSICLassoCV(EmbeddingLasso())."
        )
    if subtract:
        raise InvalidInputError(
            "Covariates(method='subtract') leaves a target that is not positive semi-definite, "
            "and has no functions: use method='project'."
        )


def _fingerprints(
    options: Options, source: Source, y: Any, weights: FloatArray | None, known: CovariateValues
) -> dict[str, str]:
    """Return what the results of the pass depend on, by what it is called in errors."""
    names = ("measure", "kernel", "target", "joint", "missing", "gram_error")
    settings = [getattr(options, name) for name in names]
    covariates = as_covariates(options.covariates)
    values = getattr(y, "codes", y)  # ordered labels
    return {
        "version of hsiclasso": __version__,
        "table": source.identity(),
        "target": hash_of(values if hasattr(values, "tocsr") else np.asarray(values)),
        "set of weights": hash_of(weights),
        "set of covariates": hash_of(known.names, known.values, covariates.method),
        "set of options": hash_of(*settings),
    }


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


def _check_weights(sample_weight: Any, n: int) -> FloatArray | None:
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(unmasked(sample_weight), dtype=np.float64)
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
    used = weights[weights > 0]
    if used.min() < 1 / _LARGEST_WEIGHT or used.max() > _LARGEST_WEIGHT:
        raise InvalidInputError(
            f"sample_weight has positive weights from {used.min():.3g} to {used.max():.3g}, but "
            f"they must lie between {1 / _LARGEST_WEIGHT:g} and {_LARGEST_WEIGHT:g}: divide them "
            "by their mean."
        )
    return weights
