"""Rankings: each feature by itself, by its dependence on the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hsiclasso._checks import check_choice
from hsiclasso._types import FloatArray
from hsiclasso.baselines.base import Baseline
from hsiclasso.baselines.dependency import MeasuredBaseline
from hsiclasso.baselines.job import ANY_TARGET, UNCENSORED, Choice, Job, Traits
from hsiclasso.baselines.kernel import KernelDependency
from hsiclasso.selectors.features import check_kernel

__all__ = ["HSICRanking", "MIRanking"]

_MI_COST = "n d, or n^2 d with windows"


def _ranking(relevance: FloatArray) -> Choice:
    """Rank features by relevance; one of 0 has a place too."""
    return Choice(relevance, order=np.argsort(-relevance, kind="stable"))


@dataclass(kw_only=True, eq=False, repr=False)
class HSICRanking(Baseline):
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
    scores_ : ndarray of shape (n_features,)
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

    measure: Literal["hsic", "nhsic", "nocco"] = "hsic"
    kernel: Any = "auto"
    n_jobs: int | None = -1

    traits = Traits(
        "HSIC ranking", "non-linear", "one by one", "none", "high", ANY_TARGET, "n d r^2"
    )

    def _check(self) -> None:
        check_choice("measure", self.measure, ("hsic", "nhsic", "nocco"))
        check_kernel(self.kernel)

    def _takes_labels(self) -> bool:
        return True

    def _choose(self, job: Job) -> Choice:
        return _ranking(KernelDependency(job, self.measure, self.kernel).relevance)


class MIRanking(MeasuredBaseline):
    """Features ranked by their mutual information with the target.

    Parameters
    ----------
    %(n_features_to_select)s
    measure : {"mi", "parzen"}, default="mi"
        Mutual information of columns that are cut into few states; or with Parzen windows, which
        compare every pair of samples.
    %(measured)s

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Mutual information of every feature with the target, in nats.
    %(fitted)s

    References
    ----------
    Peng, Long and Ding (2005), as for `MRMR`.

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> from hsiclasso.baselines import MIRanking
    >>> X, y, causal = make_data1(300, 50, random_state=0)
    >>> set(MIRanking(4, measure="parzen").fit(X, y).selected_) == set(causal)
    True
    """

    traits = Traits("MI ranking", "non-linear", "one by one", "none", "high", UNCENSORED, _MI_COST)

    _measures = ("mi", "parzen")

    def _choose(self, job: Job) -> Choice:
        return _ranking(self._options().relate(job).relevance)
