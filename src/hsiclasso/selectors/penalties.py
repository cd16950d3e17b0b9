"""Turning what a user says about features - keep, exclude, weights, groups - into a penalty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.embedding import Features
from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors.columns import ColumnFinder, close_matches
from hsiclasso.solvers import Penalty

__all__ = ["PenaltyOptions", "ResolvedPenalty"]


@dataclass(frozen=True)
class ResolvedPenalty:
    """A penalty on the columns of one table.

    Attributes
    ----------
    penalty : Penalty
    kept : ndarray of int
        Columns that are to be kept: on the list, or without penalty.
    labels : ndarray of str of shape (d,) or None
        Label of each column's group.
    """

    penalty: Penalty
    kept: IntArray
    labels: Any


@dataclass(frozen=True)
class PenaltyOptions:
    """What a user may say about features, before the table is known.

    Attributes
    ----------
    weights : array-like of shape (d,) or mapping, optional
        Penalty weights of features; a mapping by name or index leaves the others at 1.
    keep, exclude : sequence of str or int, optional
        Columns that are never penalised and always selected, and columns never selected.
    groups : array-like of shape (d,), mapping or pandas Series, optional
        Label of each feature's group. With a mapping or a series indexed by names, columns that
        are not mentioned are groups of their own.
    group_weights : mapping, optional
        Penalty weight of a group by label; by default the square root of its size.
    l1_ratio : float
        Share of the l1 part where there are groups.
    ridge : float
        Ridge part of the elastic net, relative to the squared norm of the target's matrix.
    positive : bool
        Whether weights must not be negative.
    """

    weights: Any = None
    keep: Any = None
    exclude: Any = None
    groups: Any = None
    group_weights: Mapping[Any, float] | None = None
    l1_ratio: float = 0.0
    ridge: float = 0.0
    positive: bool = True

    def __post_init__(self) -> None:
        if not (np.isfinite(self.ridge) and self.ridge >= 0):
            raise InvalidInputError(
                f"ridge={self.ridge!r}, but the ridge part must be a finite number >= 0: 0 is the "
                "plain lasso, 0.01 a mild elastic net."
            )
        if self.groups is None:
            for name, default in (("l1_ratio", 0.0), ("group_weights", None)):
                if getattr(self, name) != default:
                    raise InvalidInputError(
                        f"{name}={getattr(self, name)!r} is for groups of features: give groups "
                        "too, or leave it out."
                    )
        elif not self.positive:
            raise InvalidInputError(
                "positive=False is for the lasso without groups: leave out groups, or keep the "
                "weights non-negative."
            )

    def resolve(self, features: Features, covariates: IntArray | None = None) -> ResolvedPenalty:
        """Look names up among features, check everything, and make the penalty.

        Columns that are `covariates` are never selected, and neither are those that are part
        of a feature of several columns but its first, which stands for it.
        """
        find = ColumnFinder(features)
        keep = np.unique(find("keep", self.keep))
        exclude = np.unique(find("exclude", self.exclude))
        both = np.intersect1d(keep, exclude)
        if both.size:
            raise InvalidInputError(
                f"{features.name(int(both[0]))!r} is both in keep and in exclude: take it out of "
                "one."
            )
        no_feature = np.union1d(features.absorbed, [] if covariates is None else covariates)
        no_feature = no_feature.astype(np.int64)
        for option, columns in (("keep", keep), ("exclude", exclude)):
            wrong = np.intersect1d(columns, no_feature)
            if wrong.size:
                raise InvalidInputError(
                    f"{option} has {features.name(int(wrong[0]))!r}, which is a covariate or part "
                    "of a joint feature: name the joint feature, or take it out."
                )
        members = np.union1d(features.absorbed, list(features.joint))
        if covariates is not None and (both := np.intersect1d(members, covariates)).size:
            raise InvalidInputError(
                f"{features.source.name(int(both[0]))!r} is a covariate and part of a joint "
                "feature: take it out of one."
            )
        exclude = np.union1d(exclude, no_feature)
        weights = self._weights(find)
        keep = np.union1d(keep, np.setdiff1d(np.flatnonzero(weights == 0), exclude))
        weights[keep] = 0.0
        weights[exclude] = np.inf
        if np.isinf(weights).all():
            raise InvalidInputError("All features are excluded: leave at least one to choose from.")
        if self.groups is None:
            if not self.positive and (weights == 0).any():
                raise InvalidInputError(
                    "positive=False needs a penalty on every feature: leave out keep, and weights "
                    "of 0."
                )
            penalty = Penalty.lasso(weights, signed=not self.positive)
            return ResolvedPenalty(penalty, keep, None)
        if self.l1_ratio == 0 and (np.isfinite(weights) & (weights > 0) & (weights != 1)).any():
            raise InvalidInputError(
                "penalty_weights other than 0, 1 and infinity weigh the l1 part, and l1_ratio=0 "
                "leaves none of it: give l1_ratio > 0, or group_weights."
            )
        labels = self._labels(find)
        return ResolvedPenalty(
            self._grouped(labels, weights, keep, features.absorbed), keep, labels
        )

    def _weights(self, find: ColumnFinder) -> FloatArray:
        d = find.table.n_features
        if self.weights is None:
            return np.ones(d)
        if isinstance(self.weights, Mapping):
            weights = np.ones(d)
            weights[find("penalty_weights", list(self.weights))] = list(self.weights.values())
        else:
            weights = np.array(self.weights, dtype=np.float64)
            _check_length("penalty_weights", weights, d)
        bad = np.flatnonzero(np.isnan(weights) | (weights < 0))
        if bad.size:
            raise InvalidInputError(
                f"penalty_weights of {find.table.name(int(bad[0]))!r} is {weights[bad[0]]}, but "
                "weights must be >= 0: 0 leaves a feature unpenalised, infinity excludes it."
            )
        return weights

    def _labels(self, find: ColumnFinder) -> Any:
        """Return a text label for each column."""
        d, groups = find.table.n_features, self.groups
        index = getattr(groups, "index", None)
        if index is not None and not callable(index) and hasattr(groups, "to_dict"):
            by_name = any(isinstance(key, str) for key in index)
            groups = groups.to_dict() if by_name else groups.to_numpy()
        if isinstance(groups, Mapping):
            groups = {key: label for key, label in groups.items() if not _is_missing(label)}
            taken = {str(label) for label in groups.values()}
            # a column that is not mentioned is a group of its own, under its own name
            names = [find.table.name(j) for j in range(d)]
            alone = [f"{name} (alone)" if name in taken else name for name in names]
            labels = np.array(alone, dtype=object)
            labels[find("groups", list(groups))] = [str(label) for label in groups.values()]
            return labels.astype(str)
        labels = np.asarray(groups)
        _check_length("groups", labels, d)
        missing = [j for j, label in enumerate(labels.tolist()) if _is_missing(label)]
        if missing:
            raise InvalidInputError(
                f"groups[{missing[0]}] is missing: give every feature a label, or pass a mapping "
                "with only those that belong to a group."
            )
        return labels.astype(str)

    def _grouped(
        self, labels: Any, weights: FloatArray, keep: IntArray, absorbed: IntArray
    ) -> Penalty:
        names, codes = np.unique(labels, return_inverse=True)
        # a joint feature counts once
        sizes = np.bincount(np.delete(codes, absorbed), minlength=names.size)
        group_weights = np.sqrt(np.maximum(sizes, 1))
        for label, weight in (self.group_weights or {}).items():
            place = np.flatnonzero(names == str(label))
            if not place.size:
                raise InvalidInputError(
                    f"group_weights has {label!r}, but there is no such group: "
                    f"{close_matches(label, names)}"
                )
            if not (np.isfinite(weight) and weight >= 0):
                raise InvalidInputError(
                    f"group_weights of {label!r} is {weight!r}, but the weight of a group must be "
                    "a finite number >= 0: exclude its features to leave a group out."
                )
            group_weights[place] = weight
        penalty = Penalty.group(
            codes, l1_ratio=self.l1_ratio, weights=weights, group_weights=group_weights
        )
        if not keep.size:
            return penalty
        # what is kept leaves its group, lest the group's norm should penalise it
        codes = penalty.groups.copy()
        codes[keep] = names.size + np.arange(keep.size)
        return Penalty(
            penalty.weights, codes, np.append(penalty.group_weights, np.zeros(keep.size))
        )


def _is_missing(label: Any) -> bool:
    """Whether a label is None, NaN or pandas' NA, which is not even equal to itself."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float) and np.isnan(label)


def _check_length(name: str, values: Any, d: int) -> None:
    if values.shape != (d,):
        raise InvalidInputError(
            f"{name} has shape {values.shape}, but there are {d} features: give one entry for each."
        )
