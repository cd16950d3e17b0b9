"""Targets of one or several values per sample: their matrix, and what all their kinds share."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import ndtri

from hsiclasso._checks import check_choice
from hsiclasso._types import BoolArray, FloatArray
from hsiclasso.data.guards import missing_code
from hsiclasso.errors import InvalidInputError, SuspectColumnWarning
from hsiclasso.kernels import HSIC, Delta, Gaussian, Kernel, Measure, Samples, as_kernel
from hsiclasso.kernels.factor import factor_rows
from hsiclasso.kernels.markov import laplace_matrix
from hsiclasso.targets.base import (
    Array,
    MissingTarget,
    Target,
    TargetData,
    any_missing,
    finite,
    read_columns,
)
from hsiclasso.targets.class_rows import ClassRows
from hsiclasso.targets.gridded import GriddedTarget, line_of_nodes
from hsiclasso.targets.matrix import (
    DENSE,
    FactoredTarget,
    LaplaceTarget,
    TargetMatrix,
    factored_target,
)
from hsiclasso.targets.text import numbers_in

__all__ = [
    "Outputs",
    "Transform",
    "ValueTarget",
    "Values",
    "check_rank",
    "codes_of",
    "tail_weight",
    "target_kernel",
    "tighter",
    "transformed",
]

Outputs = Literal["auto", "joint", "average"]
Transform = Literal["auto", "rank", "normal"]

#: The measure that compares values as they are.
_PLAIN = HSIC()
#: Excess kurtosis above which tails are heavy: that of the Laplace distribution.
_HEAVY = 3.0
#: More classes than this share of the samples are hardly classes.
_MOST_CLASSES = 0.9
#: With this many classes or more, sums over the samples of each class replace products with rows.
MANY_CLASSES = 64
#: ... unless covariates leave a smaller share of the rows.
_LEAST_LEFT = 1e-3
#: With this many samples or more, a real target is put on a grid.
MANY_SAMPLES = 250_000


@dataclass(frozen=True)
class Values:
    """Values of a target, with their kernel."""

    #: Real values, or codes for a delta kernel, shape (q, n).
    values: FloatArray
    kernel: Kernel
    #: Whether each of several outputs has its own kernel and the kernels are averaged; otherwise
    #: all outputs share one kernel.
    averaged: bool = False
    #: The numbers as they were given, shape (q, n); codes of labels.
    raw: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    #: Labels of each output that has some, or its ordered levels.
    labels: tuple[Array, ...] = ()
    #: Transform that made the values of the numbers; ``"auto"`` leaves it to the measure.
    transform: str | None = None

    def compared(self, measure: Measure, weights: FloatArray) -> FloatArray:
        """Return the values (q, n) that the kernel compares, on samples with weights (1, n)."""
        transform = measure.transform if self.transform == "auto" else self.transform
        if transform is None:
            return self.values
        if transform == "tails":
            heavy = [tail_weight(numbers, weights[0]) > _HEAVY for numbers in self.raw]
            named = ["normal" if one else None for one in heavy]
        else:
            named = [transform] * len(self.raw)
        pairs = zip(self.raw, named, strict=True)
        return np.array([transformed(numbers, name, weights[0]) for numbers, name in pairs])

    def matrix(
        self, measure: Measure, samples: Samples, *, error: float, n_features: int
    ) -> TargetMatrix:
        """Make the matrix T."""
        parts = self.scaled(samples.shares, measure)
        varying = [z for z in parts if np.ptp(z, axis=1).any()]
        if self.kernel.has_recursion and not measure.regularisation:
            return self._by_recursion(varying, len(parts), measure, samples)
        for z in parts:
            if len(z) == 1:
                check_rank(z[0], self.kernel)

        def expand(allowed: float) -> tuple[FloatArray, float]:
            made = [self.kernel.rows(z, allowed, samples.shares[0]) for z in varying]
            if len(parts) == len(made) == 1:
                return made[0]
            rows = np.concatenate([np.zeros((0, samples.n)), *(part for part, _ in made)])
            return rows / np.sqrt(len(parts)), sum(left_out for _, left_out in made) / len(parts)

        if (classes := self._class_rows(parts, measure, samples)) is not None:
            return FactoredTarget(classes, np.ones(classes.heights.size), classes.norm2())

        def make() -> FactoredTarget:
            factor = factor_rows(expand, samples, measure, tighter(error))
            return factored_target(factor, samples, measure, error)

        usable = samples.covariates is None and not measure.regularisation
        if samples.n >= MANY_SAMPLES and usable and len(self.values) == 1:
            line = line_of_nodes(parts[0][0], self.kernel, samples, tighter(error))
            if line is not None:
                return GriddedTarget.of(line, samples, measure, make)
        return make()

    def scaled(self, weights: FloatArray, measure: Measure = _PLAIN) -> list[FloatArray]:
        """Return outputs (q, n) on the scale of their kernel: all together, or one by one."""
        parts = replace(self, values=self.compared(measure, weights)).parts()
        for z in parts:
            self.kernel.scale(z, weights, joint=True)
        return parts

    def parts(self) -> list[FloatArray]:
        """Return copies of the outputs (q, n) that share a kernel: all together, or one by one."""
        if len(self.values) > 1 and not self.averaged:
            return [self.values.copy()]
        return [values[None].copy() for values in self.values]

    def _class_rows(
        self, parts: list[FloatArray], measure: Measure, samples: Samples
    ) -> ClassRows | None:
        """Return a row for each of many classes; None if there are few, or T has no such rows."""
        is_plain = len(parts) == len(self.values) == 1 and type(self.kernel) is Delta
        if not is_plain or measure.regularisation:
            return None
        assert isinstance(self.kernel, Delta)
        codes, heights = self.kernel.coded(parts[0], samples.shares[0])
        numbers = np.cumsum(heights > 0) - 1  # samples of classes without weight may have any
        rows = ClassRows(np.maximum(numbers, 0)[codes], heights[heights > 0], samples)
        # few rows, orthogonal ones, are faster; what is almost removed would be cancelled
        if rows.heights.size < MANY_CLASSES or rows.trace() < _LEAST_LEFT * rows.sizes.sum():
            return None
        return rows.scaled(1 / np.sqrt(rows.norm2())) if measure.normalised else rows

    def _by_recursion(
        self, parts: list[FloatArray], n_outputs: int, measure: Measure, samples: Samples
    ) -> TargetMatrix:
        """Make the matrix of outputs with Laplace kernels, whose products are exact."""
        made = (laplace_matrix(z[0], samples) for z in parts)
        matrices = [matrix for matrix in made if matrix.norm > 0]
        norm2 = float(sum(a.norm**2 if a is b else a.inner(b) for a in matrices for b in matrices))
        scale = 1 / np.sqrt(norm2) if measure.normalised and norm2 else 1 / n_outputs
        scaled = tuple(matrix.scaled(scale) for matrix in matrices)
        return LaplaceTarget(scaled, float(norm2 * scale**2))


def tighter(error: float) -> float:
    """Return the error allowed to the target's matrix: less, because it enters every relevance."""
    return max(0.05 * error, 1e-12)


def check_rank(values: FloatArray, kernel: Kernel) -> None:
    """Raise if a kernel needs a row for each distinct value, and there are too many."""
    if kernel.full_rank and (n_distinct := np.unique(values).size) > DENSE:
        raise InvalidInputError(
            f"y has {n_distinct} distinct values, and {kernel!r} needs a row for each here: take a "
            f"Gaussian kernel, HSICLasso instead of NOCCO, or at most {DENSE} distinct values."
        )


def target_kernel(kernel: Any, usual: Kernel) -> Kernel:
    """Return the kernel that a user gave for a target; ``"auto"`` is the usual one of its kind."""
    if isinstance(kernel, str) and kernel == "auto":
        return usual
    return as_kernel(kernel, "kernel of the target")


class ValueTarget(Target):
    """What all targets of values share.

    Attributes
    ----------
    kernel : str or Kernel
        ``"auto"`` takes the usual kernel of the kind.
    outputs : {"auto", "joint", "average"}
        One kernel on several outputs together, or one for each, averaged.
    """

    #: Whether values are labels, which have neither order nor distance.
    by_class: ClassVar[bool] = False
    #: Whether values are levels, which have an order and no distance.
    ordered: ClassVar[bool] = False
    #: Transform of the numbers; see `Real`.
    transform: Any = None
    kernel: Any
    outputs: Outputs

    def __init__(
        self, kernel: Any = "auto", outputs: Outputs = "auto", missing: MissingTarget = "error"
    ) -> None:
        self.kernel = kernel
        self.outputs = outputs
        self.missing = missing

    def check(self) -> Self:
        """Raise if a parameter breaks its rule."""
        check_choice("outputs", self.outputs, ("auto", "joint", "average"))
        self._kernel()
        return super().check()

    def read(self, y: Any, n: int) -> tuple[list[Array], bool]:
        """Return one array for each output, and whether they are one ordered category."""
        return read_columns(y, n)

    def absent(self, values: tuple[list[Array], bool], n: int) -> BoolArray:
        """Tell on which samples some output is missing."""
        return any_missing(values[0])

    def make(self, values: tuple[list[Array], bool], rows: BoolArray) -> tuple[TargetData, Target]:
        """Return the values of the samples that are used, with their kernel."""
        columns = [np.asarray(finite(column[rows])) for column in values[0]]
        self._check_outputs(len(columns))
        if all((column == column[0]).all() for column in columns):
            self._refuse_constant(columns)
        _warn_of_codes(columns)
        scores = np.array([self.scores(column) for column in columns])
        raw = np.array([codes_of(c) if self.by_class else self.numbers(c) for c in columns])
        labels = tuple(np.unique(c) for c in columns) if self.by_class or self.ordered else ()
        if self.by_class:
            _warn_of_many(max(map(len, labels)), len(columns[0]))
        kernel = self._kernel()
        averaged = self.outputs == "average" or (self.outputs == "auto" and self.by_class)
        if len(columns) > 1 and not averaged and not kernel.joins_columns:
            raise InvalidInputError(
                f"y has several columns, and the {kernel.name} kernel takes only one: pass "
                "outputs='average', or another kernel."
            )
        return Values(scores, kernel, averaged, raw, labels, self.transform), self

    @abstractmethod
    def scores(self, column: Array) -> FloatArray:
        """Return the numbers that the kernel compares; raise if values are not of the kind."""

    def _kernel(self) -> Kernel:
        return target_kernel(self.kernel, Delta() if self.by_class else Gaussian())

    def _check_outputs(self, n_outputs: int) -> None:
        if self.outputs != "auto" and n_outputs == 1:
            raise InvalidInputError(
                f"outputs={self.outputs!r} has no meaning for a target of one column: leave it out."
            )

    def _refuse_constant(self, columns: list[Array]) -> None:
        if len(columns) > 1:
            raise InvalidInputError(
                f"y has {len(columns)} columns and none varies: nothing can depend on constants."
            )
        what = "one class" if self.by_class else "one value"
        raise InvalidInputError(
            f"y has only {what} ({columns[0][0].item()!r}), and nothing can depend on a "
            "constant: at least two distinct values are needed."
        )

    def numbers(self, column: Array) -> FloatArray:
        """Return a column as numbers; raise if it holds other text."""
        column = numbers_in(column)
        if column.dtype.kind not in "biuf":
            raise InvalidInputError(
                f"target={self.name!r} needs a numeric y, but y holds text such as "
                f"{str(column[0])!r}: use target='classes', or encode it as numbers or as an "
                "ordered category."
            )
        return column.astype(np.float64)


def _warn_of_codes(columns: list[Array]) -> None:
    """Warn if a number seems to stand for missing values."""
    numeric = (column.astype(np.float64) for column in columns if column.dtype.kind in "iuf")
    for found in filter(None, map(missing_code, numeric)):
        warnings.warn(
            f"y has the value {found[0]:g} {found[1]:,} times, far from all others, as a code for "
            "missing values is: if it is one, replace it by NaN, and leave these samples out with "
            "target=Real(missing='drop') (--missing-target drop on the command line).",
            SuspectColumnWarning,
            stacklevel=2,
        )


def _warn_of_many(n_classes: int, n: int) -> None:
    """Warn if nearly every sample is a class of its own, which features cannot explain."""
    if n_classes > _MOST_CLASSES * n:
        warnings.warn(
            f"y has {n_classes:,} classes in {n:,} samples: nearly every sample is a class of its "
            "own, as if y were an identifier; check which column is the target, or pass "
            "target='real' if these are numbers.",
            SuspectColumnWarning,
            stacklevel=2,
        )


def codes_of(column: Array) -> FloatArray:
    """Number the distinct values of a column."""
    return np.unique(column, return_inverse=True)[1].astype(np.float64)


def tail_weight(column: FloatArray, weights: FloatArray) -> float:
    r"""Return the excess kurtosis, :math:`E(x - \bar x)^4 / (E(x - \bar x)^2)^2 - 3`.

    It is 0 for normal values, negative for bounded ones, and 3 for the Laplace distribution.

    Examples
    --------
    >>> tail_weight(np.array([-1.0, 0.0, 1.0, 0.0]), np.ones(4))
    -1.0
    """
    shares = weights / weights.sum()
    centred = column - shares @ column
    squares = np.square(centred / (np.abs(centred).max() or 1.0))
    variance = float(shares @ squares)
    return float(shares @ np.square(squares)) / variance**2 - 3.0 if variance > 0 else 0.0


def transformed(
    column: FloatArray, transform: str | None, weights: FloatArray | None = None
) -> FloatArray:
    """Return numbers, their ranks or their normal scores, the normal quantiles of their ranks.

    Equal numbers share the mean of their ranks. A number with weight 2 counts as two numbers.

    Examples
    --------
    >>> transformed(np.array([1.0, 500.0, 7.0]), "rank")
    array([1., 3., 2.])
    >>> transformed(np.array([1.0, 500.0, 7.0]), "normal").round(2)
    array([-0.97,  0.97,  0.  ])
    """
    if transform in (None, "auto"):
        return column
    distinct, codes = np.unique(column, return_inverse=True)
    sizes = np.bincount(codes, weights, distinct.size)
    middles = (np.cumsum(sizes) - 0.5 * sizes)[codes]  # mean ranks less 1/2
    if transform == "rank":
        return middles + 0.5
    return np.asarray(ndtri(middles / sizes.sum()))
