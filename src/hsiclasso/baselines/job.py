"""What a method is, what it is asked to do, and what it found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.data import Source
from hsiclasso.errors import InvalidInputError
from hsiclasso.targets import Prepared, Values
from hsiclasso.targets.values import ValueTarget

__all__ = [
    "ANY_TARGET",
    "REAL_TARGET",
    "UNCENSORED",
    "VALUE_TARGET",
    "Choice",
    "Job",
    "Report",
    "Traits",
]

#: Called with the name of the stage, the number of units done and the number in all.
Report = Callable[[str, int, int], None]

#: Kinds of target: numbers; values of any kind; all but censored times; and all of them.
REAL_TARGET = ("real", "ordinal", "counts")
VALUE_TARGET = (*REAL_TARGET, "classes", "labels")
_MATRIX = ("affinity", "graph", "objects")
UNCENSORED = (*VALUE_TARGET, *_MATRIX)
ANY_TARGET = (*VALUE_TARGET, "survival", *_MATRIX)


Dependency = Literal["linear", "additive non-linear", "non-linear"]


@dataclass(frozen=True)
class Traits:
    """What a method is, in the terms of the paper's Table 1.

    Attributes
    ----------
    title : str
        Its usual name.
    dependency : str
        Dependence that it can find: linear, additive non-linear or non-linear.
    optimization : str
        How features are found: convex, non-convex, greedy or one by one.
    form : {"primal", "dual", "none"}
        Space in which an optimisation problem is solved.
    scalability : {"high", "medium", "low"}
        With respect to the number of features.
    targets : tuple of str
        Kinds of target that it serves.
    cost : str
        Order of operations for n samples, d features and m of them selected.
    """

    title: str
    dependency: Dependency
    optimization: Literal["convex", "convex after a shift", "non-convex", "greedy", "one by one"]
    form: Literal["primal", "dual", "none"]
    scalability: Literal["high", "medium", "low"]
    targets: tuple[str, ...]
    cost: str

    @property
    def structured(self) -> bool:
        """Whether targets other than a column of values are served."""
        return "affinity" in self.targets


@dataclass(frozen=True)
class Job:
    """A table and a target, both checked, and how many features to select."""

    source: Source  # without missing values
    target: Prepared  # of a kind that the method serves
    n_wanted: int  # features to select
    varies: BoolArray  # (d,), False for constant columns, which are never selected
    traits: Traits
    report: Report  # called with the progress of long work
    n_threads: int = 1

    @property
    def by_class(self) -> bool:
        """Whether the target has labels, which have neither order nor distance."""
        target = self.target.target
        return isinstance(target, ValueTarget) and target.by_class

    def outputs(self, problem: str) -> Values:
        """Return the values of the target, or raise: `problem` says why other kinds will not do."""
        if not isinstance(self.target.data, Values):
            raise InvalidInputError(
                f"y is a target of the kind {self.target.target.name!r}, {problem}"
            )
        return self.target.data

    def check_numbers(self) -> None:
        """Raise if a column holds labels, between which there are no distances."""
        if self.source.uniform_kind in ("number", "bool"):
            return
        for column in range(self.source.n_features):
            if self.source.kind(column) in ("category", "text"):
                raise InvalidInputError(
                    f"column {self.source.name(column)!r} holds labels, but {self.traits.title} "
                    "needs numbers here: encode it, leave it out, or use HSICLasso."
                )

    def standardised(self, columns: IntArray | None = None) -> FloatArray:
        """Return columns, by default all, as numbers of mean 0 and variance 1.

        They are (n, d) in Fortran order. Constant columns are zero.
        """
        self.check_numbers()
        every = slice(0, self.source.n_features)
        table = self.source.block(every if columns is None else columns)
        varies = self.varies if columns is None else self.varies[columns]
        table[:, ~varies] = 0.0
        # divide by the largest value first: squares of huge numbers overflow
        for _ in range(2):  # twice, because a large mean leaves rounding errors
            table /= np.where(varies, np.abs(table).max(axis=0), 1.0)
            table -= table.mean(axis=0)
        table /= np.where(varies, table.std(axis=0), 1.0)
        return table


@dataclass(frozen=True)
class Choice:
    """What a method found."""

    scores: FloatArray  # (d,), larger for better: features not selected are ranked by it
    ties: FloatArray | None = None  # (d,), ranks features of equal score
    message: str = ""  # what the method says about this run, in a sentence
    #: Selected features, best first, none twice. None for those with a score above 0, best first,
    #: at most `n_features_to_select` of them.
    order: IntArray | None = None
    fill: bool = True  # whether to add features by score if the method selects too few
    unsolved: str = ""  # what did not converge, and a remedy, in a sentence; empty if all did
