"""Which pairs of features are scanned, how, and what is found."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, Self

import numpy as np

from hsiclasso._types import FloatArray, IntArray

__all__ = ["Found", "PairOptions", "Pairs"]


@dataclass(frozen=True)
class Pairs:
    """Pairs of features that are scanned.

    Examples
    --------
    >>> Pairs.of(4).number, Pairs.of(4, first=[1]).number, Pairs.between([0, 1], [2, 3]).number
    (6, 3, 4)
    """

    #: Features, the first members of pairs before the others.
    members: IntArray
    #: Number of features that are paired with all later ones.
    n_first: int
    #: Whether two first members are a pair.
    within: bool = True

    @classmethod
    def of(cls, features: Any, first: Any = None) -> Self:
        """Return all pairs of some features, given by their numbers or as a number of them.

        With `first`, only pairs with at least one member among these.
        """
        members = np.arange(features) if np.ndim(features) == 0 else np.unique(features)
        if first is None:
            return cls(members, members.size)
        first = np.unique(np.asarray(first, dtype=np.int64))
        return cls(np.append(first, np.setdiff1d(members, first)), first.size)

    @classmethod
    def between(cls, left: Any, right: Any) -> Self:
        """Return the pairs of one feature of each of two lists that share none."""
        left, right = np.unique(left), np.unique(right)
        if right.size < left.size:
            left, right = right, left
        return cls(np.append(left, right), left.size, within=False)

    @property
    def number(self) -> int:
        """Number of pairs."""
        m, d = self.n_first, self.members.size
        return m * (d - m) + (m * (m - 1) // 2 if self.within else 0)

    def before(self, stop: int) -> int:
        """Return the number of pairs whose first member is among the first `stop`."""
        d = self.members.size
        if not self.within:
            return stop * (d - self.n_first)
        return stop * d - stop * (stop + 1) // 2


@dataclass(frozen=True)
class PairOptions:
    """How pairs are scanned."""

    #: Number of pairs that are kept.
    n_kept: int = 1000
    #: Most rows of each feature; None takes as many as some seconds allow.
    rank: int | None = None
    #: What pairs are ordered by: their relevance at this rank, or a coarse p-value.
    order: Literal["score", "p_value"] = "score"
    #: Pairs are kept, by their bounds, whose bounds exceed this; by default the best are kept.
    above: float = np.inf


@dataclass(frozen=True)
class Found:
    """The best pairs of a scan or a part of it, and what is known of all others."""

    #: Numbers of the features of each pair, shape (m, 2).
    pairs: IntArray
    #: What pairs are ordered by: their relevance at the rank of the scan, over the norm of the
    #: matrix if it is normalised; or the normal score of a coarse p-value; shape (m,).
    score: FloatArray
    #: Upper bound on the exact relevance, shape (m,).
    upper: FloatArray
    #: Upper bound on the relevance of every other pair.
    others: float
    #: Number of pairs that were scored.
    n_pairs: int
    #: Number of pairs whose bound exceeds `PairOptions.above`.
    n_above: int
    #: Most rows of each feature.
    rank: int

    @classmethod
    def together(cls, parts: list[Self], options: PairOptions) -> Self:
        """Return the best pairs of several parts; ties go to the first features."""
        arrays = ("pairs", "score", "upper")
        pairs, score, upper = (
            np.concatenate([getattr(part, name) for part in parts]) for name in arrays
        )
        by = upper if np.isfinite(options.above) else score
        order = np.lexsort((pairs[:, 1], pairs[:, 0], -by))
        kept, rest = order[: options.n_kept], order[options.n_kept :]
        others = max([part.others for part in parts] + [float(upper[rest].max(initial=0.0))])
        n_pairs, n_above = (sum(getattr(part, k) for part in parts) for k in ("n_pairs", "n_above"))
        return cls(
            pairs[kept], score[kept], upper[kept], others, n_pairs, n_above, parts[0].rank
        )  # fmt: skip

    def to_arrays(self) -> dict[str, Any]:
        """Return all fields as arrays by name, for a file."""
        return {one.name: np.asarray(getattr(self, one.name)) for one in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Any) -> Self:
        """Return the result that `to_arrays` was called on."""
        made = {one.name: arrays[one.name] for one in fields(cls)}
        return cls(**{name: one if one.ndim else one.item() for name, one in made.items()})

    def excludes(self, alpha: float) -> bool:
        """Whether no pair that was not kept can join a path that ends at a penalty."""
        return self.others <= alpha
