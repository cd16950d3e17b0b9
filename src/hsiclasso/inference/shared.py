"""Half-samples that share one pass over the table: paths of HSIC Lasso on each of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hsiclasso._blas import single_threaded_blas
from hsiclasso._memory import free_bytes
from hsiclasso._types import IntArray
from hsiclasso.data import Source
from hsiclasso.dependence import Progress, Threads
from hsiclasso.dependence.halves import (
    RelatedHalves,
    can_share_halves,
    least_share,
    relate_halves,
)
from hsiclasso.selectors import HSICLasso
from hsiclasso.selectors.auto import is_auto
from hsiclasso.selectors.pipeline import target_matrix
from hsiclasso.selectors.prepare import Inputs, prepare
from hsiclasso.selectors.resources import as_resources
from hsiclasso.selectors.search import by_weight
from hsiclasso.solvers import Stop, solve_path
from hsiclasso.solvers.short import first_features
from hsiclasso.targets.matrix import FactoredTarget

__all__ = ["shared_picks"]

#: Relevances that are exact on each half before its path is solved: so many for each feature to
#: select, and so many more.
_EXACT_EACH, _EXACT_MORE = 5, 20
#: If the target varies less on a half, relative to what is expected, each half needs its own scale.
_LEAST_SHARE = 0.5
#: Most samples: with more, many targets have no rows.
_MOST_SAMPLES = 4000
#: A smaller error of Gram matrices is a request for exact ones.
_USUAL_ERROR = 1e-6
#: Bytes for each feature and half.
_BYTES = 8


def shared_picks(
    selector: Any,
    source: Source,
    y: Any,
    parts: list[IntArray],
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **params: Any,
) -> Iterator[IntArray] | None:
    """Return the columns that a selector picks on each half, or None if it must be fitted to each.

    Parameters
    ----------
    selector : selector
        Only `HSICLasso` with its own measure, the lasso and a number of features shares a pass.
    source : Source
    y : array-like
    parts : list of ndarray
        Rows of the halves, in complementary pairs.
    n_jobs : int, optional
        Threads.
    progress : callable, optional
    **params
        Other arguments of `fit`; if there are any, the selector must be fitted to each half.
    """
    if not isinstance(selector, HSICLasso) or any(v is not None for v in params.values()):
        return None
    if is_auto(selector) or not _fits(selector, source, len(parts)):
        return None
    options = selector.get_params(deep=False) | {"n_jobs": n_jobs}
    inputs = prepare(HSICLasso(**options), source, y)
    goal, penalty = inputs.goal, inputs.penalty.penalty
    simple = goal.n_features is not None and goal.alpha is None and goal.alpha_ratio is None
    if not simple or goal.criterion is not None or goal.n_groups is not None:
        return None
    if penalty.kind != "lasso" or penalty.signed or inputs.solver != "homotopy":
        return None
    if inputs.n_dropped or inputs.subtract:
        return None
    with single_threaded_blas():
        target = target_matrix(inputs)
        if not can_share_halves(inputs.features, target, inputs.measure):
            return None
        assert isinstance(target, FactoredTarget)
        if least_share(target, parts) < _LEAST_SHARE:
            return None
        related = relate_halves(
            inputs.features, target, parts,
            n_exact=_EXACT_EACH * (goal.n_features or 0) + _EXACT_MORE,
            budget=inputs.budget, progress=progress,
        )  # fmt: skip
    return _solve(inputs, related, progress)


def _fits(selector: HSICLasso, source: Source, n_parts: int) -> bool:
    """Whether the table is in memory, and what is found on each half fits there too."""
    resources = as_resources(selector.resources)
    limit = resources.bytes_allowed or free_bytes()
    return (
        source.in_memory
        and source.n_samples <= _MOST_SAMPLES
        and selector.gram_error >= _USUAL_ERROR
        and resources.connected(source) is None
        and _BYTES * source.n_features * n_parts <= limit // 2
    )


def _solve(inputs: Inputs, related: RelatedHalves, progress: Progress | None) -> Iterator[IntArray]:
    """Follow the path on each half, and yield the columns it selects."""
    penalty, kept, wanted = inputs.penalty.penalty, inputs.penalty.kept, inputs.goal.n_features or 0
    cap = float(getattr(inputs, "cap", 1.0))
    options: dict[str, Any] = {} if cap == 1 else {"cap": cap}
    plain = bool((penalty.weights == 1).all())

    def picks(number: int) -> IntArray:
        problem = related.problem(number)
        while plain and (found := first_features(problem, wanted, cap=cap)) is not None:
            if not problem.sharpen(found[1]):
                return found[0]
        while True:
            path = solve_path(problem, penalty, Stop(wanted), solver="homotopy", **options)
            if not problem.sharpen(path.candidates):
                return by_weight(path, kept, wanted)

    numbers = range(len(related))
    with single_threaded_blas():
        for number, chosen in enumerate(Threads(inputs.budget.n_threads).map(picks, numbers)):
            if progress is not None:
                progress("half-samples", number + 1, len(related))
            yield inputs.features.first[chosen]
