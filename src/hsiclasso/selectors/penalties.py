"""Penalties as users give them, and as the solvers need them for the features of one table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from hsiclasso._checks import check_count, check_flag, is_number
from hsiclasso._options import Option, as_option
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.dependence import Features
from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors.columns import FeatureFinder, close_matches
from hsiclasso.solvers import Penalty
from hsiclasso.targets.base import is_nothing

__all__ = [
    "PENALTIES",
    "ElasticNet",
    "GroupLasso",
    "Lasso",
    "PenaltyOption",
    "ResolvedPenalty",
    "as_penalty",
    "resolve_penalty",
]


@dataclass(frozen=True)
class ResolvedPenalty:
    """A penalty on the features of one table."""

    penalty: Penalty
    #: Features that are always selected: the user keeps them, or they have no penalty.
    kept: IntArray
    #: Label of each feature's group, shape (d,).
    labels: Any = None
    #: Number of groups at which to stop.
    n_groups: int | None = None


class PenaltyOption(Option):
    """A penalty, before the table is known.

    Attributes
    ----------
    name : str
        Name as an option.
    weights : array-like of shape (n_features,) or mapping, or None
        Factor of the penalty of each feature.
    """

    name: ClassVar[str]
    weights: Any

    @abstractmethod
    def resolve(self, find: FeatureFinder, weights: FloatArray, kept: IntArray) -> ResolvedPenalty:
        """Make the penalty on the features of a table.

        Parameters
        ----------
        find : FeatureFinder
            The features by name.
        weights : ndarray of shape (d,)
            Factors of the penalty: 0 for features that are kept, infinity for excluded ones.
        kept : ndarray of int
            Features that are kept.
        """


class Lasso(PenaltyOption):
    r"""The l1 penalty, :math:`\lambda \sum_k w_k |a_k|`.

    Parameters
    ----------
    weights : array-like of shape (n_features,) or mapping, default=None
        Factor :math:`w_k` of the penalty of each feature: 0 leaves it unpenalised, infinity
        excludes it. A mapping by name or index leaves the others at 1.
    positive : bool, default=True
        With False, weights may be negative. A negative weight has no meaning as a dependence, and
        the sum of kernels is no longer a kernel. There is no bound that excludes features early:
        the cost grows with the number of features times the number selected.
    """

    name: ClassVar[str] = "lasso"

    def __init__(self, weights: Any = None, positive: bool = True) -> None:
        self.weights = weights
        self.positive = positive

    def check(self) -> Self:
        """Raise if `positive` is neither True nor False."""
        check_flag("positive", self.positive)
        return self

    def resolve(self, find: FeatureFinder, weights: FloatArray, kept: IntArray) -> ResolvedPenalty:
        """Make the penalty on the features of a table."""
        if not self.positive and (weights == 0).any():
            raise InvalidInputError(
                "positive=False needs a penalty on every feature: leave out keep, and weights of 0."
            )
        return ResolvedPenalty(Penalty.lasso(weights, signed=not self.positive), kept)


class ElasticNet(PenaltyOption):
    r"""The elastic net: redundant features share weight instead of the first taking it all.

    .. math:: \lambda \sum_k w_k \Big(r a_k + \tfrac{1-r}{2}\, s\, a_k^2\Big)

    with r the `l1_ratio`, as in scikit-learn. The factor s makes the effect of r independent of the
    scale of the kernels. It is the norm of the most relevant feature's matrix over that of the
    target's, which is 1 if matrices are normalised (``measure="nhsic"``).

    Parameters
    ----------
    l1_ratio : float, default=0.5
        Share r of the l1 part, above 0 and at most 1.
    weights : array-like of shape (n_features,) or mapping, default=None
        Factor :math:`w_k` of the penalty of each feature, as in `Lasso`.
    """

    name: ClassVar[str] = "elastic_net"

    def __init__(self, l1_ratio: float = 0.5, weights: Any = None) -> None:
        self.l1_ratio = l1_ratio
        self.weights = weights

    def check(self) -> Self:
        """Raise unless the share of the l1 part lies above 0 and is at most 1."""
        if not is_number(self.l1_ratio) or not 0 < self.l1_ratio <= 1:
            raise InvalidInputError(
                f"l1_ratio={self.l1_ratio!r}, but the share of the l1 part of an elastic net lies "
                "above 0 and is at most 1, such as 0.5."
            )
        return self

    def resolve(self, find: FeatureFinder, weights: FloatArray, kept: IntArray) -> ResolvedPenalty:
        """Make the penalty on the features of a table."""
        return ResolvedPenalty(Penalty.elastic_net(weights, l1_ratio=self.l1_ratio), kept)


class GroupLasso(PenaltyOption):
    r"""The (sparse) group lasso, which selects whole groups of features.

    .. math:: \lambda \Big(r \sum_k w_k a_k + (1-r) \sum_g v_g \|a_g\|_2\Big)

    Parameters
    ----------
    groups : array-like of shape (n_features,), mapping or pandas Series
        Group of each feature. A mapping, or a series indexed by names, need not have all columns;
        each of the others is a group by itself.
    l1_ratio : float, default=0.0
        Share r of the l1 part: above 0, features within groups are selected too.
    group_weights : mapping, default=None
        Weight :math:`v_g` by label; by default the square root of the group's size.
    weights : array-like of shape (n_features,) or mapping, default=None
        Factors of the l1 part, as in `Lasso`.
    n_groups : int, default=None
        Number of groups at which to stop.
    """

    name: ClassVar[str] = "group_lasso"

    def __init__(
        self,
        groups: Any,
        l1_ratio: float = 0.0,
        group_weights: Mapping[Any, float] | None = None,
        weights: Any = None,
        n_groups: int | None = None,
    ) -> None:
        self.groups = groups
        self.l1_ratio = l1_ratio
        self.group_weights = group_weights
        self.weights = weights
        self.n_groups = n_groups

    def check(self) -> Self:
        """Raise if a parameter breaks its rule."""
        check_count("n_groups", self.n_groups, least=1)
        if not is_number(self.l1_ratio) or not 0 <= self.l1_ratio <= 1:
            raise InvalidInputError(
                f"l1_ratio={self.l1_ratio!r}, but the share of the l1 part must lie between 0 "
                "(group lasso) and 1 (lasso)."
            )
        if self.groups is None:
            raise InvalidInputError(
                "groups=None, but a group lasso needs the group of each feature: give a label for "
                "each, or a mapping of names to labels."
            )
        if not isinstance(self.group_weights, Mapping | None):
            raise InvalidInputError(
                f"group_weights={self.group_weights!r}, but weights of groups are given by label: "
                "pass a mapping such as {'pathway': 2.0}."
            )
        return self

    def resolve(self, find: FeatureFinder, weights: FloatArray, kept: IntArray) -> ResolvedPenalty:
        """Make the penalty on the features of a table."""
        if self.l1_ratio == 0 and (np.isfinite(weights) & (weights > 0) & (weights != 1)).any():
            raise InvalidInputError(
                "weights other than 0, 1 and infinity apply to the l1 part, and with l1_ratio=0 "
                "there is no l1 part: give l1_ratio > 0, or group_weights."
            )
        labels = self._labels(find)
        n_groups = np.unique(labels).size
        if self.n_groups is not None and self.n_groups > n_groups:
            raise InvalidInputError(
                f"n_groups={self.n_groups}, but there are {n_groups} groups: ask for at most "
                f"{n_groups}."
            )
        return ResolvedPenalty(self._penalty(labels, weights, kept), kept, labels, self.n_groups)

    def _labels(self, find: FeatureFinder) -> Any:
        """Return a text label for each feature."""
        groups, index = self.groups, getattr(self.groups, "index", None)
        if index is not None and not callable(index) and hasattr(groups, "to_dict"):
            by_name = any(isinstance(key, str) for key in index)
            groups = groups.to_dict() if by_name else groups.to_numpy()
        if isinstance(groups, Mapping):
            groups = {key: label for key, label in groups.items() if not is_nothing(label)}
            taken = {str(label) for label in groups.values()}
            # a feature that is not mentioned is a group by itself, under its own name
            names = [find.features.name(k) for k in range(find.features.n_features)]
            alone = [f"{name} (alone)" if name in taken else name for name in names]
            labels = np.array(alone, dtype=object)
            labels[find("groups", list(groups))] = [str(label) for label in groups.values()]
            return labels.astype(str)
        labels = find.by_column("groups", np.asarray(groups))
        missing = [k for k, label in enumerate(labels.tolist()) if is_nothing(label)]
        if missing:
            raise InvalidInputError(
                f"groups[{missing[0]}] is missing: give every feature a label, or pass a mapping "
                "with only those that belong to a group."
            )
        return labels.astype(str)

    def _penalty(self, labels: Any, weights: FloatArray, kept: IntArray) -> Penalty:
        names, codes = np.unique(labels, return_inverse=True)
        group_weights = np.sqrt(np.maximum(np.bincount(codes, minlength=names.size), 1))
        for label, weight in (self.group_weights or {}).items():
            place = np.flatnonzero(names == str(label))
            if not place.size:
                raise InvalidInputError(
                    f"group_weights has {label!r}, but there is no such group: "
                    f"{close_matches(label, names)}"
                )
            if not (is_number(weight) and weight >= 0):
                raise InvalidInputError(
                    f"group_weights of {label!r} is {weight!r}, but the weight of a group must be "
                    "a finite number >= 0: exclude its features to leave a group out."
                )
            group_weights[place] = weight
        penalty = Penalty.group(
            codes, l1_ratio=self.l1_ratio, weights=weights, group_weights=group_weights
        )
        if not kept.size:
            return penalty
        # kept features leave their groups, because a group's norm would penalise them
        codes = penalty.groups.copy()
        codes[kept] = names.size + np.arange(kept.size)
        return Penalty(
            penalty.weights, codes, np.append(penalty.group_weights, np.zeros(kept.size))
        )


#: Constructor of the penalty of each name. `GroupLasso` needs groups and therefore has no name.
PENALTIES: dict[str, Callable[[], PenaltyOption]] = {"lasso": Lasso, "elastic_net": ElasticNet}


def as_penalty(value: Any) -> PenaltyOption:
    """Return the penalty that a name stands for, or a checked object as it is."""
    return as_option("penalty", value, PenaltyOption, PENALTIES)


def resolve_penalty(
    option: PenaltyOption, features: Features, keep: Any, exclude: Any
) -> ResolvedPenalty:
    """Make the penalty; `keep` and `exclude` name features that are always or never selected."""
    find = FeatureFinder(features)
    kept, excluded = np.unique(find("keep", keep)), np.unique(find("exclude", exclude))
    both = np.intersect1d(kept, excluded)
    if both.size:
        raise InvalidInputError(
            f"{features.name(int(both[0]))!r} is both in keep and in exclude: take it out of one."
        )
    weights = _weights(option.weights, find)
    kept = np.union1d(kept, np.setdiff1d(np.flatnonzero(weights == 0), excluded))
    weights[kept] = 0.0
    weights[excluded] = np.inf
    if np.isinf(weights).all():
        raise InvalidInputError("All features are excluded: leave at least one to choose from.")
    return option.resolve(find, weights, kept)


def _weights(given: Any, find: FeatureFinder) -> FloatArray:
    weights = np.ones(find.features.n_features)
    if given is None:
        return weights
    mapped = isinstance(given, Mapping)
    try:
        values = np.array(list(given.values()) if mapped else given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(
            "weights of the penalty must be numbers: 0 leaves a feature unpenalised, infinity "
            "excludes it."
        ) from None
    if mapped:
        weights[find("weights", list(given))] = values
    else:
        weights = find.by_column("weights", values)
    bad = np.flatnonzero(np.isnan(weights) | (weights < 0))
    if bad.size:
        raise InvalidInputError(
            f"the penalty weight of {find.features.name(int(bad[0]))!r} is {weights[bad[0]]}, but "
            "weights must be >= 0: 0 leaves a feature unpenalised, infinity excludes it."
        )
    return weights
