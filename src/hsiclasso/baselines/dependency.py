"""Measures of dependence between two columns, or a column and the target, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Protocol, get_args

import numpy as np

from hsiclasso._checks import check_choice, check_positive, check_whole
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.base import Baseline, check_unused
from hsiclasso.baselines.binned import MAX_STATES, relate_binned
from hsiclasso.baselines.correlation import Correlation
from hsiclasso.baselines.job import Job, Report
from hsiclasso.baselines.kernel import KernelDependency
from hsiclasso.baselines.parzen import ParzenInformation, silverman_width
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Gaussian, as_kernel
from hsiclasso.selectors.features import check_kernel

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

#: Columns of a matrix of dependences that are computed between two reports.
_STEP = 256


class Dependency(Protocol):
    """Dependence of every feature on the target, and of features on each other.

    All entries are >= 0, and those between features are symmetric.
    """

    @property
    def relevance(self) -> FloatArray:
        """Dependence of each feature on the target, shape (d,)."""

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the dependence of features `rows` on features `cols`."""


def dependency_matrix(
    dependency: Dependency, report: Report, features: IntArray | None = None
) -> FloatArray:
    """Return all dependences (k, k) between features; by default, between all of them."""
    features = np.arange(dependency.relevance.size) if features is None else features
    d = features.size
    matrix = np.empty((d, d))
    for start in range(0, d, _STEP):
        stop = min(d, start + _STEP)
        # by symmetry, only entries on and below the diagonal are computed
        part = dependency.block(features[start:], features[start:stop])
        square = part[: stop - start]
        square[:] = np.tril(square) + np.tril(square, -1).T  # symmetric to the last digit
        matrix[start:, start:stop] = part
        matrix[start:stop, start:] = part.T
        report("redundancy", stop, d)
    return matrix


@dataclass(frozen=True)
class MeasureOptions:
    """Which measure, and how it is estimated; `MeasuredBaseline` documents the parameters."""

    measure: MeasureName = "mi"
    bins: Bins = "peng"
    threshold: float = 1.0
    n_bins: int = 5
    kernel: Any = "auto"

    def __post_init__(self) -> None:
        check_choice("measure", self.measure, get_args(MeasureName))
        check_choice("bins", self.bins, get_args(Bins))
        check_whole("n_bins", self.n_bins, least=2)
        check_positive("threshold", self.threshold)
        if self.n_bins > MAX_STATES:
            raise InvalidInputError(
                f"n_bins={self.n_bins}, but states are counted: take at most {MAX_STATES}."
            )
        if self.has_kernels:
            check_kernel(self.kernel)
        if self.measure == "parzen":
            self.window(1)
        binned = self.measure == "mi"
        used = {
            "bins": binned,
            "threshold": binned and self.bins == "peng",
            "n_bins": binned and self.bins == "quantile",
            "kernel": self.has_kernels,
        }
        for option in fields(self)[1:]:
            if not used[option.name]:
                check_unused(option.name, getattr(self, option.name), option.default, self.words)

    @property
    def has_kernels(self) -> bool:
        """Whether features and target have kernels or windows."""
        return self.measure in ("hsic", "nhsic", "nocco", "parzen")

    @property
    def words(self) -> str:
        """The measure as the user gives it, for messages."""
        bins = f", bins={self.bins!r}" if self.measure == "mi" else ""
        return f"measure={self.measure!r}{bins}"

    def window(self, n_samples: int) -> Gaussian:
        """Return the kernel of a Parzen window."""
        if isinstance(self.kernel, str) and self.kernel == "auto":
            return Gaussian(silverman_width(n_samples))
        kernel = None if isinstance(self.kernel, Mapping) else as_kernel(self.kernel)
        if not isinstance(kernel, Gaussian) or len(kernel.widths) != 1:
            raise InvalidInputError(
                f"kernel={self.kernel!r}, but the window of columns is a Gaussian kernel of one "
                "width: pass one such as Gaussian(0.3), or leave it out."
            )
        return kernel

    def relate(self, job: Job) -> Dependency:
        """Measure the relevance of every feature, and be ready to relate features."""
        if self.measure == "mi":
            return relate_binned(job, self)
        if self.measure == "parzen":
            return ParzenInformation(job, self.window(job.source.n_samples))
        if self.measure in ("f", "correlation"):
            return Correlation(job, f_test=self.measure == "f")
        return KernelDependency(job, self.measure, self.kernel)


@dataclass(kw_only=True, eq=False, repr=False)
class MeasuredBaseline(Baseline):
    """A method that takes any measure of dependence."""

    measure: MeasureName = "mi"
    bins: Bins = "peng"
    threshold: float = 1.0
    n_bins: int = 5
    kernel: Any = "auto"
    n_jobs: int | None = -1

    #: Measures that the method takes.
    _measures: ClassVar[tuple[str, ...]] = get_args(MeasureName)

    _entries = Baseline._entries | {
        "measure": """\
measure : {"mi", "parzen", "correlation", "hsic", "nhsic", "nocco"}, default="mi"
        Mutual information of binned columns; mutual information with Parzen windows; the absolute
        correlation; or a kernel measure of `HSICLasso`.""",
        "measured": f"""\
bins : {{"peng", "quantile", "levels"}}, default="peng"
        For ``"mi"``: three states, cut at the mean -+ `threshold` standard deviations as in Peng's
        program; `n_bins` states of equal size; or a state for every distinct value. A column with
        no more values than states keeps them, and so do classes and labels. A real target is cut
        like the columns; with ``"levels"`` it is cut as with ``"peng"`` if it has many values.
    threshold : float, default=1.0
        Standard deviations from the mean at which ``"peng"`` cuts.
    n_bins : int, default=5
        Number of states of ``"quantile"``.
    kernel : str, Kernel or mapping, default="auto"
        Kernel of the features, as in `HSICLasso`. For ``"parzen"`` it is a Gaussian kernel of one
        width, the window: ``"auto"`` has the width :math:`n^{{-1/6}}` in standard deviations,
        Silverman's rule in two dimensions.
    target : str or Target, default="auto"
        What the target is, as in `HSICLasso`. ``"mi"`` and correlations serve values of any kind,
        and refuse a kernel of the target; other targets need a measure with kernels. With
        ``"parzen"``, the kernel of the target is its window: ``"auto"`` has the same width as the
        windows of columns. A window is never negative. It may be a matrix of affinities, that of a
        graph, or a function of two targets. If several outputs are averaged, so is the mutual
        information.
    {Baseline._entries["n_jobs"]}""",
    }

    def _check(self) -> None:
        check_choice("measure", self.measure, self._measures)
        self._options()

    def _options(self) -> MeasureOptions:
        """Return the measure, which is checked."""
        names = [option.name for option in fields(MeasureOptions)]
        return MeasureOptions(**{name: getattr(self, name) for name in names})

    def _without_kernel(self) -> str:
        options = self._options()
        return "" if options.has_kernels else options.words

    def _takes_labels(self) -> bool:
        return self.measure not in ("f", "correlation")
