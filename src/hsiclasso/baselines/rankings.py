"""Features one by one: the most dependent on the target, however much they repeat each other."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args

import numpy as np
from joblib import effective_n_jobs

from hsiclasso._checks import check_choice
from hsiclasso.baselines.base import ANY_TARGET, VALUE_TARGET, Choice, Job, Traits
from hsiclasso.baselines.dependency import Bins, MeasuredBaseline, MeasureOptions
from hsiclasso.selectors.targets import MultiOutput, Task

__all__ = ["HSICRanking", "MIRanking"]

KernelMeasure = Literal["hsic", "nhsic", "nocco"]
Information = Literal["mi", "parzen"]


class _Ranking(MeasuredBaseline):
    """What rankings share: everything but the measure."""

    n_jobs: int | None
    _measures: ClassVar[tuple[str, ...]]

    def _check(self) -> None:
        check_choice("measure", self.measure, self._measures)
        self._options()

    def _choose(self, job: Job) -> Choice:
        dependency = self._options().relate(job, effective_n_jobs(self.n_jobs))
        relevance = dependency.relevance
        order = np.argsort(-relevance, kind="stable")
        return Choice(order[job.varies[order]][: job.n_wanted], relevance, dependency.task)


class HSICRanking(_Ranking):
    r"""Features ranked by their dependence on the target in a kernel measure.

    The score of column k is :math:`\langle A_k, T\rangle`, HSIC for instance: the relevance of
    `HSICLasso`, without its regard for redundancy.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features; ten by default, or all if there are fewer.
    measure : {"hsic", "nhsic", "nocco"}
        HSIC, its normalised form (the centred alignment of the kernels), or NOCCO.
    x_width : float
        Width of the Gaussian kernels of numbers, in standard deviations. Booleans, categories and
        text have delta kernels.
    task, y_kernel, y_width, y_transform, multioutput
        How the target is understood, as in `HSICLasso`; any target is served.
    n_jobs : int, optional
        Threads; -1 takes all cores.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Dependence of every feature on the target.
    ranking_, selected_, result_
        Places of all features; columns selected, best first; the same with names.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Gretton, Bousquet, Smola and Schölkopf (2005). Measuring statistical dependence with
    Hilbert-Schmidt norms. ALT.

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> from hsiclasso.baselines import HSICRanking
    >>> X, y, causal = make_data1(300, 50, random_state=0)
    >>> set(HSICRanking(4).fit(X, y).selected_) == set(causal)
    True
    """

    traits: ClassVar[Traits] = Traits(
        title="HSIC ranking",
        dependency="non-linear",
        optimization="one by one",
        form="none",
        scalability="high",
        tasks=ANY_TARGET,
        cost="n d r^2",
    )

    _measures = get_args(KernelMeasure)

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        measure: KernelMeasure = "hsic",
        x_width: float = 1.0,
        task: Task = "auto",
        y_kernel: Any = "auto",
        y_width: Any = 1.0,
        y_transform: Literal["rank"] | None = None,
        multioutput: MultiOutput = "auto",
        n_jobs: int | None = -1,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.measure = measure
        self.x_width = x_width
        self.task = task
        self.y_kernel = y_kernel
        self.y_width = y_width
        self.y_transform = y_transform
        self.multioutput = multioutput
        self.n_jobs = n_jobs

    def _options(self) -> MeasureOptions:
        return MeasureOptions(
            self.measure,
            width=self.x_width,
            task=self.task,
            y_kernel=self.y_kernel,
            y_width=self.y_width,
            y_transform=self.y_transform,
            multioutput=self.multioutput,
        )


class MIRanking(_Ranking):
    """Features ranked by their mutual information with the target.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features; ten by default, or all if there are fewer.
    measure : {"mi", "parzen"}
        Mutual information of columns that are cut into few states; or with Parzen windows, which
        look at every pair of samples.
    bins : {"peng", "quantile", "levels"}
        For ``"binned"``: three states, cut at mean -+ `threshold` deviations; `n_bins` states of
        equal size; or every distinct value a state.
    threshold : float
        Deviations from the mean at which ``"peng"`` cuts.
    n_bins : int
        States of ``"quantile"``.
    x_width : float, optional
        For ``"parzen"``: width of windows in standard deviations; by default :math:`n^{-1/6}`,
        Silverman's rule in two dimensions.
    task, y_kernel, y_width, y_transform, multioutput
        How the target is understood, as in `HSICLasso`. With ``"parzen"``, the kernel of the
        target is its window, of the same default width: it must not be negative. It may be a
        matrix of affinities, that of a graph, or a function of two targets. Of several outputs
        that are averaged, so is the mutual information.
    n_jobs : int, optional
        Threads; -1 takes all cores.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Mutual information of every feature with the target, in nats.
    ranking_, selected_, result_
        Places of all features; columns selected, best first; the same with names.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Peng, Long and Ding (2005). Feature selection based on mutual information: criteria of
    max-dependency, max-relevance, and min-redundancy. IEEE PAMI 27(8).

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> from hsiclasso.baselines import MIRanking
    >>> X, y, causal = make_data1(300, 50, random_state=0)
    >>> set(MIRanking(4, measure="parzen").fit(X, y).selected_) == set(causal)
    True
    """

    traits: ClassVar[Traits] = Traits(
        title="MI ranking",
        dependency="non-linear",
        optimization="one by one",
        form="none",
        scalability="high",
        tasks=(*VALUE_TARGET, "structured"),
        cost="n d, or n^2 d with windows",
    )

    _measures = get_args(Information)

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        measure: Information = "mi",
        bins: Bins = "peng",
        threshold: float = 1.0,
        n_bins: int = 5,
        x_width: float | None = None,
        task: Task = "auto",
        y_kernel: Any = "auto",
        y_width: Any = None,
        y_transform: Literal["rank"] | None = None,
        multioutput: MultiOutput = "auto",
        n_jobs: int | None = -1,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.measure = measure
        self.bins = bins
        self.threshold = threshold
        self.n_bins = n_bins
        self.x_width = x_width
        self.task = task
        self.y_kernel = y_kernel
        self.y_width = y_width
        self.y_transform = y_transform
        self.multioutput = multioutput
        self.n_jobs = n_jobs
