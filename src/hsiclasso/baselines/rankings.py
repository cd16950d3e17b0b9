"""Rankings: each feature by itself, by its dependence on the target."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from hsiclasso.baselines.base import ANY_TARGET, MATRIX_TARGET, VALUE_TARGET, Choice, Job, Traits
from hsiclasso.baselines.dependency import Bins, MeasuredBaseline
from hsiclasso.targets import Target

__all__ = ["HSICRanking", "MIRanking"]

KernelMeasure = Literal["hsic", "nhsic", "nocco"]
Information = Literal["mi", "parzen"]


class _Ranking(MeasuredBaseline):
    """What rankings share: everything but the measures."""

    def _choose(self, job: Job) -> Choice:
        relevance = self._options().relate(job).relevance
        # a relevance of 0 has a place too
        order = np.argsort(-relevance, kind="stable")
        return Choice(relevance, order=order)


class HSICRanking(_Ranking):
    r"""Features ranked by their dependence on the target in a kernel measure.

    The score of column k is :math:`\langle A_k, T\rangle`, HSIC for instance: the relevance of
    `HSICLasso`. Redundancy between columns plays no part.

    Parameters
    ----------
    %(n_features_to_select)s
    measure : {"hsic", "nhsic", "nocco"}, default="hsic"
        HSIC, its normalised form (the centred alignment of the kernels), or NOCCO.
    kernel : str, Kernel or mapping, default="auto"
        Kernel of the features, as in `HSICLasso`.
    %(target)s
    %(n_jobs)s

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Dependence of every feature on the target.
    %(fitted)s

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

    traits = Traits(
        "HSIC ranking", "non-linear", "one by one", "none", "high", ANY_TARGET, "n d r^2"
    )

    _measures = get_args(KernelMeasure)

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        measure: KernelMeasure = "hsic",
        kernel: Any = "auto",
        target: str | Target = "auto",
        n_jobs: int | None = -1,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.measure = measure
        self.kernel = kernel
        self.target = target
        self.n_jobs = n_jobs


class MIRanking(_Ranking):
    """Features ranked by their mutual information with the target.

    Parameters
    ----------
    %(n_features_to_select)s
    measure : {"mi", "parzen"}, default="mi"
        Mutual information of columns that are cut into few states; or with Parzen windows, which
        compare every pair of samples.
    %(bins)s
    %(measured target)s
    %(n_jobs)s

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Mutual information of every feature with the target, in nats.
    %(fitted)s

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

    traits = Traits(
        "MI ranking",
        "non-linear",
        "one by one",
        "none",
        "high",
        (*VALUE_TARGET, *MATRIX_TARGET),
        "n d, or n^2 d with windows",
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
        kernel: Any = "auto",
        target: str | Target = "auto",
        n_jobs: int | None = -1,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.measure = measure
        self.bins = bins
        self.threshold = threshold
        self.n_bins = n_bins
        self.kernel = kernel
        self.target = target
        self.n_jobs = n_jobs
