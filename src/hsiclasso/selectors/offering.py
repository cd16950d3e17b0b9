r"""Offering interactions to a path: which of all pairs become features of the problem.

A pair whose relevance is at most the penalty at which the path ends cannot be on it: its
correlation never exceeds its relevance. The scan bounds the relevance of every pair from above. If
the bounds of all pairs that were not offered are below that penalty, the solution is the optimum
over all pairs, and the result says so. Otherwise pairs with larger bounds are offered too, as long
as they are not too many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.dependence import Problem, Progress
from hsiclasso.dependence.pairs import Coverage, Found, PairOptions, Pairs, certify, scan_pairs
from hsiclasso.selectors.interactions import Offer
from hsiclasso.selectors.prepare import Inputs
from hsiclasso.selectors.search import Solved
from hsiclasso.selectors.summaries import InteractionSummary
from hsiclasso.solvers import SolutionPath
from hsiclasso.targets import Values, as_target

__all__ = ["Offered", "offer_interactions"]

#: Pairs of a scan that are offered to the path, and most of them that are offered after it.
_OFFERED, _OFFERED_LATER = 1000, 2000
#: Pairs that are offered if the matrices are those of NOCCO. Their bounds exclude hardly any pair,
#: and the relevance of all is made exact.
_OFFERED_EXACT = 200


@dataclass(frozen=True)
class Scanned:
    """The pairs of a scan, and what it found."""

    pairs: Pairs
    found: Found


@dataclass(frozen=True)
class Offered:
    """A problem with interactions as further features."""

    #: The same inputs, on these features.
    inputs: Inputs
    problem: Problem
    #: Scans by which the interactions were chosen.
    scans: tuple[Scanned, ...] = ()

    @classmethod
    def make(
        cls, inputs: Inputs, problem: Problem, members: list[tuple[int, ...]],
        bounds: FloatArray | None = None, scans: tuple[Scanned, ...] = (),
    ) -> Offered:  # fmt: skip
        """Add interactions to a problem, whose relevance is bounded or yet to be found."""
        assert inputs.offer is not None
        problem = problem.with_interactions(members, bounds)
        plain = inputs.penalty.penalty.of_first(problem.features.n_single)
        penalty = inputs.offer.weights(plain, members, problem.measure)
        made = replace(
            inputs,
            features=problem.features,
            penalty=replace(inputs.penalty, penalty=penalty),
        )
        return cls(made, problem, scans)

    @classmethod
    def of_scans(cls, inputs: Inputs, problem: Problem, scans: tuple[Scanned, ...]) -> Offered:
        """Add the best pairs of some scans."""
        bounds: dict[tuple[int, ...], float] = {}
        for one in scans:
            pairs = map(tuple, one.found.pairs.tolist())
            bounds |= dict(zip(pairs, one.found.upper.tolist(), strict=True))
        upper = None if problem.measure.regularisation else np.array(list(bounds.values()))
        return cls.make(inputs, problem, list(bounds), upper, scans)

    def completed(
        self, path: SolutionPath, progress: Progress | None
    ) -> tuple[Offered | None, InteractionSummary]:
        """Find out whether other pairs could be on a path.

        Returns what to solve again with, if there are such pairs and they are not too many; and
        what is known if it is not solved again.
        """
        number = len(self.problem.features.interactions)
        if not self.scans:
            return None, InteractionSummary(number, number, None, 0, complete=True)
        coverage = [self._coverage(one, path.alpha, progress) for one in self.scans]
        summary = InteractionSummary(
            number,
            sum(one.n_pairs for one in coverage),
            max(one.rank for one in coverage),
            sum(one.n_open for one in coverage),
            complete=all(one.complete for one in coverage),
        )
        if summary.complete or any(one.candidates is None for one in coverage if one.n_open):
            return None, summary
        scans = tuple(
            one if more.candidates is None else replace(one, found=_joined(one.found, more))
            for one, more in zip(self.scans, coverage, strict=True)
        )
        return Offered.of_scans(self.inputs, self.problem, scans), summary

    def _coverage(self, scan: Scanned, alpha: float, progress: Progress | None) -> Coverage:
        """Return what is known of the other pairs of a scan."""
        found, problem = scan.found, self.problem
        if problem.measure.regularisation:
            # to count those that bounds exclude would take as long as the scan; and a pair may
            # correlate more with what functions of other features leave than with the target
            return Coverage(found.n_pairs, found.rank, found.n_pairs - len(found.pairs))
        offer, penalty = self.inputs.offer, self.inputs.penalty.penalty
        assert offer is not None
        plain = penalty.of_first(problem.features.n_single)
        least = alpha * offer.least_weight(plain, problem.measure)
        return certify(
            problem.features.singles, problem.target, problem.measure, found, least, scan.pairs,
            most=_OFFERED_LATER, **_running(self.inputs, progress),
        )  # fmt: skip


def _joined(found: Found, more: Any) -> Found:
    """Add the pairs that might be on a path; the bounds of all others do not exceed its penalty."""
    parts = (found, more.candidates)
    pairs, score, upper = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("pairs", "score", "upper")
    )
    return replace(
        found, pairs=pairs, score=score, upper=upper, others=min(part.others for part in parts)
    )


def _running(inputs: Inputs, progress: Progress | None) -> dict[str, Any]:
    """Return what runs a scan."""
    return {"runner": inputs.runner, "limit": inputs.budget.stacked, "progress": progress}


def offer_interactions(
    inputs: Inputs,
    problem: Problem,
    solve_singles: Callable[[], Solved],
    progress: Progress | None,
) -> Offered:
    """Choose the interactions that the path may take.

    Parameters
    ----------
    inputs : Inputs
        With an offer.
    problem : Problem
        The features without interactions.
    solve_singles : callable
        Selects among these.
    progress : callable or None
        Called after every piece of a scan.
    """
    offer = inputs.offer
    assert offer is not None
    if offer.listed:
        return Offered.make(inputs, problem, list(offer.listed))
    first = solve_singles().selected if offer.builds_on_selected else None
    if first is not None and offer.option.hierarchy != "weak":
        return Offered.make(inputs, problem, _pairs_of(offer, first))
    is_loose = problem.measure.regularisation > 0
    options, scans = PairOptions(_OFFERED_EXACT if is_loose else _OFFERED), []
    for group in _most_relevant(inputs, problem, offer, progress):
        own = None if first is None else np.intersect1d(first, group)
        pairs = Pairs.of(group, own)
        if not pairs.number:
            continue
        found = scan_pairs(
            problem.features, problem.target, problem.measure, pairs, options,
            **_running(inputs, progress),
        )  # fmt: skip
        scans.append(Scanned(pairs, found))
    return Offered.of_scans(inputs, problem, tuple(scans))


def _pairs_of(offer: Offer, selected: IntArray) -> list[tuple[int, ...]]:
    """Return the pairs of selected features that are in one group."""
    parts = [np.intersect1d(group, selected).tolist() for group in offer.groups]
    return list(dict.fromkeys(pair for part in parts for pair in combinations(part, 2)))


def _most_relevant(
    inputs: Inputs, problem: Problem, offer: Offer, progress: Progress | None
) -> tuple[IntArray, ...]:
    """Return the features to pair: of one group, perhaps the most relevant ones only."""
    number = offer.option.among
    if not isinstance(number, int | np.integer):
        return offer.groups
    relevance = problem.relevance
    if offer.option.by == "spread":
        relevance = _relevance_for_spread(inputs, problem, progress)
    (group,) = offer.groups
    order = np.argsort(-relevance[group], kind="stable")
    return (np.sort(group[order[:number]]),)


def _relevance_for_spread(
    inputs: Inputs, problem: Problem, progress: Progress | None
) -> FloatArray:
    """Return the relevance of every feature for the squared distance of the target to its mean."""
    data, samples = inputs.target.data, problem.features.samples
    assert isinstance(data, Values)
    shares = samples.shares[0] / samples.total
    squares = np.square(data.raw - (data.raw @ shares)[:, None]).T
    squares = squares[:, 0] if squares.shape[1] == 1 else squares
    spread = as_target("real").prepare(squares, len(squares), None).data
    matrix = spread.matrix(
        problem.measure.of_target(), samples,
        error=problem.features.gram_error, n_features=problem.features.n_features,
    )  # fmt: skip
    return problem.scan(matrix, "relevance for the spread", progress)
