"""Dependence between two columns, or a column and the target, in the measures of the methods."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import numpy as np

from hsiclasso._checks import check_choice, check_count, is_positive
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.base import Baseline, Job, Report
from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors.targets import MultiOutput, TargetOptions, Task

__all__ = [
    "Bins",
    "Dependency",
    "MeasureName",
    "MeasureOptions",
    "MeasuredBaseline",
    "dependency_matrix",
]

MeasureName = Literal["mi", "parzen", "f", "correlation", "hsic", "nhsic", "nocco"]
Bins = Literal["peng", "quantile", "levels"]

_KERNEL_MEASURES = ("hsic", "nhsic", "nocco")
#: Where the measures live; they are loaded when they are asked for.
_HOMES = {
    "mi": ("binned", "relate_binned"),
    "parzen": ("parzen", "relate_parzen"),
    "correlation": ("correlation", "relate_correlation"),
    "f": ("correlation", "relate_f_test"),
    "hsic": ("kernel", "relate_kernel"),
}
#: Most states of a column.
_MAX_BINS = 200
#: Columns of a matrix of dependences that are computed between two reports.
_STEP = 256


class Dependency(Protocol):
    """Dependence of every feature on the target, and of features on each other.

    All entries are >= 0, and those between features are symmetric.
    """

    @property
    def task(self) -> str:
        """Kind of the target."""

    @property
    def relevance(self) -> FloatArray:
        """Dependence of each feature on the target, shape (d,)."""

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the dependence of features `rows` on features `cols`."""


def dependency_matrix(
    dependency: Dependency, report: Report, features: IntArray | None = None
) -> FloatArray:
    """Return all dependences between features, (k, k).

    Parameters
    ----------
    dependency : Dependency
    report : callable
        Told how many columns are done.
    features : ndarray of int of shape (k,), optional
        All by default.
    """
    features = np.arange(dependency.relevance.size) if features is None else features
    d = features.size
    matrix = np.empty((d, d))
    for start in range(0, d, _STEP):
        stop = min(d, start + _STEP)
        # what lies above the diagonal is known from below
        part = dependency.block(features[start:], features[start:stop])
        square = part[: stop - start]
        square[:] = np.tril(square) + np.tril(square, -1).T  # to the last digit
        matrix[start:, start:stop] = part
        matrix[start:stop, start:] = part.T
        report("redundancy", stop, d)
    return matrix


@dataclass(frozen=True)
class MeasureOptions:
    """Which measure, and how it is estimated.

    Attributes
    ----------
    measure : str
        ``"mi"``: mutual information of binned columns; ``"parzen"``: mutual information with
        Parzen windows, eq. (2) of the paper; ``"correlation"``: the absolute correlation;
        ``"f"``: the same between features, and the F-test with the target;
        ``"hsic"``, ``"nhsic"``, ``"nocco"``: the kernel measures of the package.
    bins : {"peng", "quantile", "levels"}
        For ``"mi"``: three states at mean -+ `threshold` deviations; `n_bins` states of equal
        size; or every distinct value a state of its own. Classes and labels always are.
    threshold : float
        Deviations from the mean at which Peng's states are cut.
    n_bins : int
        Number of states of ``"quantile"``.
    width : float or None
        Width of kernels of ``"hsic"`` and the like, 1 by default; and of Parzen windows, in
        deviations, by default Silverman's rule for two dimensions, :math:`n^{-1/6}`.
    task, y_kernel, y_width, y_transform, multioutput
        How the target is understood, as in `hsiclasso.HSICLasso`. Kernels of the target serve
        the measures that have kernels.
    """

    measure: MeasureName = "mi"
    bins: Bins = "peng"
    threshold: float = 1.0
    n_bins: int = 5
    width: float | None = None
    task: Task = "auto"
    y_kernel: Any = "auto"
    y_width: Any = None
    y_transform: Literal["rank"] | None = None
    multioutput: MultiOutput = "auto"

    def __post_init__(self) -> None:
        check_choice("measure", self.measure, get_args(MeasureName))
        check_choice("bins", self.bins, get_args(Bins))
        check_count("n_bins", 0 if self.n_bins is None else self.n_bins, least=2)
        if self.n_bins > _MAX_BINS:
            raise InvalidInputError(
                f"n_bins={self.n_bins}, but states are counted: take at most {_MAX_BINS}."
            )
        for name, number in (("threshold", self.threshold), ("x_width", self.width)):
            if not is_positive(number) and not (name == "x_width" and number is None):
                raise InvalidInputError(f"{name}={number!r}, but it must be a number > 0.")
        self._check_applies()
        self.target  # noqa: B018  (checks itself)

    def _check_applies(self) -> None:
        """Raise if an option is given that the measure has no use for."""
        binned = self.measure == "mi"
        kernels = self.measure in (*_KERNEL_MEASURES, "parzen")
        for name, value, default, used in (
            ("bins", self.bins, "peng", binned),
            ("threshold", self.threshold, 1.0, binned and self.bins == "peng"),
            ("n_bins", self.n_bins, 5, binned and self.bins == "quantile"),
            ("x_width", self.width, None, kernels),
            ("y_width", self.y_width, None, kernels),
            ("y_kernel", self.y_kernel, "auto", kernels),
        ):
            if not used and not _is_default(value, default):
                raise InvalidInputError(
                    f"{name}={value!r} has no meaning with measure={self.measure!r}"
                    + (f", bins={self.bins!r}" if binned else "")
                    + ": leave it out."
                )

    @property
    def target(self) -> TargetOptions:
        """How the target is understood."""
        return TargetOptions(
            self.task,
            self.y_kernel,
            1.0 if self.y_width is None else self.y_width,
            self.y_transform,
            self.multioutput,
        )

    def relate(self, job: Job, n_threads: int) -> Dependency:
        """Measure the relevance of every feature, and be ready to relate features."""
        home, name = _HOMES.get(self.measure, _HOMES["hsic"])
        relate = getattr(importlib.import_module(f"hsiclasso.baselines.{home}"), name)
        related: Dependency = relate(job, self, n_threads)
        return related


class MeasuredBaseline(Baseline):
    """What methods that take any measure of dependence share."""

    measure: MeasureName
    bins: Bins
    threshold: float
    n_bins: int
    x_width: float | None

    def _options(self) -> MeasureOptions:
        """Return the measure, which is checked."""
        return MeasureOptions(
            self.measure,
            self.bins,
            self.threshold,
            self.n_bins,
            self.x_width,
            self.task,
            self.y_kernel,
            self.y_width,
            self.y_transform,
            self.multioutput,
        )

    def _takes_labels(self) -> bool:
        return self.measure not in ("f", "correlation")


def _is_default(value: Any, default: Any) -> bool:
    if isinstance(default, int | float) and isinstance(value, int | float | np.number):
        return bool(value == default)
    return value is default or (isinstance(value, str) and value == default)
