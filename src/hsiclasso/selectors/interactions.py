"""Interactions: pairs of features, or more of them, that may be selected as one.

This file has the option that users give, and what it means for the features of a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, Literal, Self

import numpy as np

from hsiclasso._checks import check_choice, check_count, is_positive
from hsiclasso._options import Option
from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.dependence import Features
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Measure
from hsiclasso.selectors.columns import FeatureFinder
from hsiclasso.selectors.penalties import ResolvedPenalty
from hsiclasso.solvers import Penalty, SolutionPath
from hsiclasso.targets import Prepared, Values

__all__ = ["Interactions", "Offer", "as_interactions", "check_interactions", "resolve_offer"]

Hierarchy = Literal["none", "weak", "strong"]

_WORDS = ("all", "selected")
_HIERARCHIES = ("none", "weak", "strong")
_MEASURES = ("relevance", "spread")


class Interactions(Option):
    r"""Pairs of features that may be selected beside single ones.

    The kernel of a pair is the product :math:`\bar K^{(k)} \circ \bar K^{(l)}` of the centred
    kernels of its members: what both say together beyond what each says alone.

    Parameters
    ----------
    pairs : {"all", "selected"} or sequence of tuples of columns, default="all"
        ``"all"`` scans all pairs and offers the best ones to the path. ``"selected"`` offers all
        pairs of the features that are selected without pairs. A sequence such as
        ``[("gene1", "gene2")]`` offers these; a tuple may have three columns or more.
    hierarchy : {"none", "weak", "strong"}, default="none"
        ``"strong"``: a pair is selected only together with both of its members, ``"weak"``: with
        one of them. What matters only jointly is then not found.
    among : int, sequence or mapping of columns, default=None
        Scan pairs of some features only. A number takes the most relevant features, a sequence
        names the features, and a mapping names groups: pairs are formed within each group. None
        takes all.
    by : {"relevance", "spread"}, default="relevance"
        What a number in `among` goes by: the relevance of each feature for the target, or for its
        squared distance from the mean. Features that matter only jointly often change the spread
        of a target.
    weight : float > 0 or "auto", default="auto"
        Penalty of a pair, relative to the larger one of its members. The matrix of a pair is
        smaller than those of single features, and pairs are many. ``"auto"`` lets pairs and single
        features come first where they should: 0.55 for HSIC, 1.9 for normalised HSIC, 2 for NOCCO
        and 1 for `EmbeddingLasso`, found by simulation; 1 treats both alike.

    Examples
    --------
    >>> import numpy as np
    >>> from hsiclasso import HSICLasso, Interactions
    >>> X = np.random.default_rng(0).standard_normal((200, 30))
    >>> y = X[:, 3] * X[:, 7]
    >>> HSICLasso(1, interactions=Interactions(among=20, by="spread")).fit(X, y).result_.names
    ('x3 & x7',)
    """

    def __init__(
        self,
        pairs: Any = "all",
        hierarchy: Hierarchy = "none",
        among: Any = None,
        by: str = "relevance",
        weight: float | Literal["auto"] = "auto",
    ) -> None:
        self.pairs = pairs
        self.hierarchy = hierarchy
        self.among = among
        self.by = by
        self.weight = weight

    def check(self) -> Self:
        """Raise if a parameter breaks its rule, whatever the table."""
        if isinstance(self.pairs, str):
            check_choice("interactions", self.pairs, _WORDS)
        else:
            self._check_listed()
        check_choice("hierarchy", self.hierarchy, _HIERARCHIES)
        check_choice("by", self.by, _MEASURES)
        if self.among is not None and self.pairs != "all":
            raise InvalidInputError(
                f"among={self.among!r} chooses what is scanned, but only pairs='all' scans: leave "
                "it out."
            )
        if isinstance(self.among, str):
            raise InvalidInputError(f"among={self.among!r} is one text: pass a list of columns.")
        if self.among is not None and not isinstance(self.among, Iterable):
            check_count("among", self.among, least=2)
        if self.by != "relevance" and (self.among is None or isinstance(self.among, Iterable)):
            raise InvalidInputError(
                f"by={self.by!r} has no meaning without a number of features: pass among=1000."
            )
        if self.weight != "auto" and not is_positive(self.weight):
            raise InvalidInputError(
                f"weight={self.weight!r} must be a positive number, or 'auto': the penalty of a "
                "pair, relative to single features."
            )
        return self

    def weight_for(self, measure: Measure) -> float:
        """Return the relative penalty of a pair."""
        return measure.pair_weight if isinstance(self.weight, str) else float(self.weight)

    def _check_listed(self) -> None:
        if not isinstance(self.pairs, Sequence | np.ndarray) or not len(self.pairs):
            raise InvalidInputError(
                f"interactions={self.pairs!r} must be 'all', 'selected' or a list of tuples of "
                "columns, such as [('gene1', 'gene2')]."
            )
        for some in self.pairs:
            if isinstance(some, str) or not isinstance(some, Sequence | np.ndarray):
                raise InvalidInputError(
                    f"interactions has {some!r}, but each of them is a tuple of columns, such as "
                    "('gene1', 'gene2')."
                )
            if len(some) < 2:
                raise InvalidInputError(
                    f"interactions has {tuple(some)!r}, but an interaction has at least two "
                    "members."
                )


def as_interactions(value: Any) -> Interactions | None:
    """Return the object that a word or a list stands for, checked."""
    if value is None:
        return None
    return (value if isinstance(value, Interactions) else Interactions(value)).check()


def check_interactions(interactions: Any, n_interactions: Any) -> None:
    """Raise if the parameters of an estimator break their rules, whatever the table."""
    as_interactions(interactions)
    check_count("n_interactions", n_interactions, least=1)
    if interactions is None and n_interactions is not None:
        raise InvalidInputError(
            f"n_interactions={n_interactions} has no meaning without interactions: pass "
            "interactions='all', or leave it out."
        )


@dataclass(frozen=True)
class Offer:
    """The interactions that may be selected, in feature numbers."""

    option: Interactions
    #: Members of each, if they are listed.
    listed: tuple[tuple[int, ...], ...]
    #: Features whose pairs are scanned, one array for each group.
    groups: tuple[IntArray, ...]
    #: Most interactions that are selected.
    most: int | None

    @property
    def builds_on_selected(self) -> bool:
        """Whether what is offered depends on the features that are selected without it."""
        return self.option.pairs == "selected" or self.option.hierarchy != "none"

    @property
    def is_nested(self) -> bool:
        """Whether a smaller selection has the same interactions to choose from."""
        return not self.builds_on_selected and self.most is None

    def weights(
        self, penalty: Penalty, members: Sequence[tuple[int, ...]], measure: Measure
    ) -> Penalty:
        """Return the penalty with weights for interactions, relative to the largest of members'."""
        own = self._own_weights(penalty)
        added = np.array([own[list(some)].max() for some in members])
        return penalty.extended(self.option.weight_for(measure) * added)

    def least_weight(self, penalty: Penalty, measure: Measure) -> float:
        """Return a lower bound on the weight of any interaction."""
        own = self._own_weights(penalty)
        return self.option.weight_for(measure) * float(own.min(initial=np.inf))

    def _own_weights(self, penalty: Penalty) -> FloatArray:
        """Weights of single features; one that is not penalised counts as one that is."""
        own = np.where(penalty.weights == 0, 1.0, penalty.weights)
        if penalty.ridge:
            own = np.where(penalty.weights == 0, own[np.isfinite(own)].max(initial=1.0), own)
        return own

    def refused(self, path: SolutionPath, features: Features, kept: IntArray) -> IntArray:
        """Return the interactions that a solution may not have; the path is solved without them."""
        active, n_single = path.breakpoints[-1].indices, features.n_single
        pairs = active[active >= n_single].tolist()
        single = {*active[active < n_single].tolist(), *kept.tolist()}
        orphans = [k for k in pairs if not self._is_allowed(features.members(k), single)]
        if orphans or self.most is None or len(pairs) <= self.most:
            return np.array(orphans, dtype=np.int64)
        first = [k for k in path.entered.tolist() if k in set(pairs)][: self.most]
        return np.setdiff1d(np.arange(n_single, features.n_features), first)

    def needed(self, left: Sequence[int], features: Features) -> set[int]:
        """Return the features that interactions among those that are left may not lose."""
        found: set[int] = set()
        for k in left:
            own = [j for j in features.members(k) if j in left] if k >= features.n_single else []
            if self.option.hierarchy == "strong" or (
                self.option.hierarchy == "weak" and len(own) == 1
            ):
                found.update(own)
        return found

    def _is_allowed(self, members: tuple[int, ...], single: set[int]) -> bool:
        found = [k in single for k in members]
        hierarchy = self.option.hierarchy
        return hierarchy == "none" or (all(found) if hierarchy == "strong" else any(found))


def resolve_offer(
    interactions: Any, n_interactions: int | None, features: Features, resolved: ResolvedPenalty,
    target: Prepared,
) -> Offer | None:  # fmt: skip
    """Find the features that are named, and check what is asked for against table and target."""
    option = as_interactions(interactions)
    if option is None:
        return None
    data = target.data
    if option.by == "spread" and (not isinstance(data, Values) or data.kernel.of_labels):
        raise InvalidInputError(
            f"by='spread', but the target ({target.target.name}) has no numbers whose spread could "
            "change: use by='relevance'."
        )
    penalty = resolved.penalty
    if penalty.grouped or penalty.signed:
        raise InvalidInputError(
            f"interactions: a {penalty.kind} has none, because a pair enters by itself and with a "
            "positive weight: use penalty='lasso' or 'elastic_net'."
        )
    find, allowed = FeatureFinder(features), np.isfinite(penalty.weights)
    if isinstance(option.pairs, str):
        offer = Offer(option, (), _groups(option.among, find, allowed), n_interactions)
        possible = sum(comb(group.size, 2) for group in offer.groups)
        if option.pairs == "all" and isinstance(option.among, int | np.integer):
            possible = min(possible, comb(int(option.among), 2))
    else:
        offer = Offer(option, _listed(option.pairs, find, allowed), (), n_interactions)
        possible = len(offer.listed)
    if n_interactions is not None and n_interactions > possible:
        raise InvalidInputError(
            f"n_interactions={n_interactions}, but {possible} interactions are possible: ask for "
            f"at most {possible}."
        )
    return offer


def _listed(listed: Any, find: FeatureFinder, allowed: BoolArray) -> tuple[tuple[int, ...], ...]:
    """Return the members of listed interactions, each of them once."""
    found: dict[tuple[int, ...], None] = {}
    for some in listed:
        numbers = [int(k) for k in find("interactions", list(some))]
        members = tuple(sorted(numbers))
        if len(set(members)) < len(members):
            raise InvalidInputError(
                f"interactions has {tuple(some)!r}, which names a feature twice: a feature has no "
                "interaction with itself."
            )
        excluded = [k for k in members if not allowed[k]]
        if excluded:
            raise InvalidInputError(
                f"interactions has {tuple(some)!r}, but {find.features.name(excluded[0])!r} is "
                "excluded: take it out of one."
            )
        found[members] = None
    return tuple(found)


def _groups(among: Any, find: FeatureFinder, allowed: BoolArray) -> tuple[IntArray, ...]:
    """Return the features whose pairs are scanned, one array for each group."""
    if among is None or not isinstance(among, Iterable):
        groups = [np.flatnonzero(allowed)]
        if among is not None and among > groups[0].size:
            raise InvalidInputError(
                f"among={among}, but there are {groups[0].size} features: ask for at most that "
                "many, or leave it out."
            )
    else:
        named = among.values() if isinstance(among, Mapping) else [among]
        groups = [np.unique(find("among", list(some))) for some in named]
        groups = [group[allowed[group]] for group in groups]
    if not any(group.size > 1 for group in groups):
        raise InvalidInputError(
            "interactions: fewer than two features are left to pair: name more in among, or "
            "exclude fewer."
        )
    return tuple(group for group in groups if group.size > 1)
