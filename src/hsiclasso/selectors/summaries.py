"""What a selection tells besides its features: method, table, solution, shapes of dependences."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.solvers import Certificate

__all__ = [
    "DataSummary",
    "FeatureFunction",
    "InteractionSummary",
    "MethodSummary",
    "PairFunction",
    "SizeScores",
    "SolutionSummary",
]


@dataclass(frozen=True)
class MethodSummary:
    """How features were selected.

    Attributes
    ----------
    name : str
        ``"HSIC Lasso"``, ``"normalised HSIC Lasso"``, ``"NOCCO Lasso"`` or ``"Embedding Lasso"``.
    target : str
        Kind of the target: ``"real"``, ``"classes"``, ``"labels"``, ``"ordinal"``, ``"counts"``,
        ``"survival"``, ``"affinity"``, ``"graph"`` or ``"objects"``.
    penalty, solver : str
    covariates : tuple of str
        Names of the covariates.
    n_removed : int
        Functions of them that were removed from every feature and from the target.
    weighted : bool
        Whether samples had weights other than 1.
    """

    name: str
    target: str
    penalty: str
    solver: str
    covariates: tuple[str, ...] = ()
    n_removed: int = 0
    weighted: bool = False


@dataclass(frozen=True)
class DataSummary:
    """The table from which features were selected.

    Attributes
    ----------
    n_samples, n_columns : int
        Samples that were used, and columns of the table.
    n_features : int
        Features that these make: without covariates, and joint features counted once.
    n_dropped : int
        Samples that were not used: without a target, or with weight 0.
    constant : tuple of str
        Names of features that do not vary and were left out.
    few_observed : tuple of str
        Names of features that are missing on too many samples and were left out.
    target : tuple of str
        Names of the columns of the target, if they are known.
    """

    n_samples: int
    n_columns: int
    n_features: int
    n_dropped: int = 0
    constant: tuple[str, ...] = ()
    few_observed: tuple[str, ...] = ()
    target: tuple[str, ...] = ()


@dataclass(frozen=True)
class InteractionSummary:
    """Which interactions could be selected, and whether another one could have been.

    Attributes
    ----------
    n_offered : int
        Interactions that competed with single features, and that the certificate covers.
    n_scanned : int
        Interactions from which these were chosen.
    rank : int or None
        Largest number of rows of a feature's factor in the scan; None without a scan.
    n_open : int
        Interactions that were not offered, although their relevance may exceed the penalty of the
        solution.
    complete : bool
        Whether there are none: the solution is then the optimum over all that were scanned.
    """

    n_offered: int
    n_scanned: int
    rank: int | None
    n_open: int
    complete: bool

    @property
    def message(self) -> str:
        """The same in a sentence."""
        if self.rank is None:
            number = f"{self.n_offered:,} interaction{'s'[: self.n_offered != 1]}"
            return f"{number} competed with single features."
        scanned = f"{self.n_scanned:,} pairs were scanned"
        if self.complete:
            return f"{scanned}: the solution is the optimum over all of them."
        return (
            f"{scanned} at rank {self.rank}, and the best {self.n_offered:,} competed with single "
            f"features; {self.n_open:,} of the others could not be excluded by their bounds."
        )


@dataclass(frozen=True)
class SolutionSummary:
    """How the path ended.

    Attributes
    ----------
    alpha : float
        Penalty of the solution.
    status : str
        Name of the `Status` with which the path ended.
    message : str
        The same in a sentence, with numbers.
    certificate : Certificate
        Proof of global optimality over all features.
    gram_error : float
        Guaranteed bound on the relative error of any feature's Gram matrix.
    n_requested : int or None
        Number of features asked for.
    """

    alpha: float
    status: str
    message: str
    certificate: Certificate
    gram_error: float
    n_requested: int | None = None


@dataclass(frozen=True)
class FeatureFunction:
    """The fitted function of one selected feature: the shape of the dependence.

    Attributes
    ----------
    name : str
    index : int
        Column of the table.
    share : float
        Its share of what the selected features explain of the target's embedding.
    grid : ndarray of shape (g,)
        Values of the column, in its own unit, or its labels; empty for joint features.
    values : ndarray of shape (q, g)
        The function at these values, with mean 0 on the samples: what it adds to each output.
    outputs : tuple of str
        Names of the outputs: those of a real target, or one for each class.
    spread : ndarray of shape (q,)
        Standard deviation of the function on the samples, in the unit of the output.
    """

    name: str
    index: int
    share: float
    grid: Any
    values: FloatArray
    outputs: tuple[str, ...]
    spread: FloatArray

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists and numbers."""
        made = asdict(self)
        arrays = {name: getattr(self, name).tolist() for name in ("grid", "values", "spread")}
        return made | arrays


@dataclass(frozen=True)
class PairFunction:
    """The fitted function of a selected pair of features: a surface over both.

    Attributes
    ----------
    name : str
    index : int
        Number of the pair, after those of the columns.
    share : float
        Its share of what the selected features explain of the target's embedding.
    members : tuple of str
        Names of the two features.
    grids : tuple of ndarray of shape (g,) and (h,)
        Values of each of them, in its own unit, or its labels, at most 30 of them.
    values : ndarray of shape (q, g, h)
        The function at these values, with mean 0 on the samples: what it adds to each output,
        beside the functions of single features.
    outputs : tuple of str
        Names of the outputs, as in `FeatureFunction`.
    spread : ndarray of shape (q,)
        Standard deviation of the function on the samples, in the unit of the output.
    samples : tuple of ndarray of shape (m,) and (m,)
        Values of both features on samples, at most 500, to be drawn; not part of `to_dict`.
    """

    name: str
    index: int
    share: float
    members: tuple[str, ...]
    grids: tuple[Any, Any]
    values: FloatArray
    outputs: tuple[str, ...]
    spread: FloatArray
    samples: tuple[Any, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the samples as lists and numbers."""
        made = {one.name: getattr(self, one.name) for one in fields(self)}
        del made["samples"]
        grids = [grid.tolist() for grid in self.grids]
        return made | {
            "grids": grids, "values": self.values.tolist(), "spread": self.spread.tolist()
        }  # fmt: skip


@dataclass(frozen=True)
class CandidateTest:
    """How sure it is that the target depends on one candidate.

    Attributes
    ----------
    name : str
    index : int
        Column of the table; the first of a joint feature.
    weight : float
        Weight on the path of the candidates.
    marginal_p : float
        p-value of the dependence of the target on this feature, given the covariates if any.
    conditional_p : float
        p-value of the dependence given the other candidates too.
    q_value : float
        Smallest level at which it is found.
    found : bool
        Whether it is found at the level asked for.
    """

    name: str
    index: int
    weight: float
    marginal_p: float
    conditional_p: float
    q_value: float
    found: bool

    @property
    def p_value(self) -> float:
        """The larger p-value."""
        return max(self.marginal_p, self.conditional_p)


@dataclass(frozen=True)
class ErrorControl:
    """Which error a selection bounds, and the tests behind it.

    Attributes
    ----------
    level : float
        Bound on the false discovery rate.
    method : {"bh", "by"}
        Procedure of Benjamini and Hochberg or of Benjamini and Yekutieli.
    n_tests : int
        Features that could have been found: the p-values of those that are no candidates are 1.
    n_samples : int
        Samples of the tests: those on which all candidates are observed.
    candidates : tuple of CandidateTest
        All candidates, by decreasing weight.
    """

    level: float
    method: str
    n_tests: int
    n_samples: int
    candidates: tuple[CandidateTest, ...]


@dataclass(frozen=True)
class SizeScores:
    """Scores of each number of features in a cross-validation.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of features.
    scores : ndarray of shape (n_sizes, n_folds)
        Score of the downstream estimator on the part that was left out.
    chosen : int or None
        Number of features that was chosen.
    """

    sizes: tuple[int, ...]
    scores: FloatArray
    chosen: int | None = None

    @property
    def mean(self) -> FloatArray:
        """Mean score of each size."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of the mean of each size."""
        n_folds = self.scores.shape[1]
        return np.asarray(self.scores.std(axis=1, ddof=min(1, n_folds - 1)) / np.sqrt(n_folds))

    @property
    def message(self) -> str:
        """What was chosen, in a sentence."""
        place = self.sizes.index(self.chosen or self.sizes[0])
        tried = ", ".join(map(str, self.sizes))
        return (
            f"Cross-validation in {self.scores.shape[1]} folds chose {self.sizes[place]} features, "
            f"of {tried}: score {self.mean[place]:.3f}, standard error "
            f"{self.standard_error[place]:.3f}."
        )

    def best(self, rule: str) -> int:
        """Return the size that a rule chooses; among equals, the smallest."""
        if np.isnan(self.mean).all():
            raise InvalidInputError(
                "Every score is NaN: check the scoring, and that the estimator can be fitted to "
                "every fold."
            )
        top = int(np.nanargmax(self.mean))
        enough = self.mean[top] - (self.standard_error[top] if rule == "one_se" else 0.0)
        return min(size for size, mean in zip(self.sizes, self.mean, strict=True) if mean >= enough)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one record per size."""
        columns = (self.sizes, self.mean.tolist(), self.standard_error.tolist())
        return [
            {"n_features": size, "mean_score": mean, "standard_error": error}
            for size, mean, error in zip(*columns, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists and numbers; a score that is NaN is None."""
        plain = [[None if np.isnan(v) else v for v in row] for row in self.scores.tolist()]
        return {"sizes": list(self.sizes), "scores": plain, "chosen": self.chosen}
