"""Kernel target alignment: a weighted sum of kernels that is close to that of the target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from hsiclasso._checks import check_choice
from hsiclasso.baselines.base import Baseline
from hsiclasso.baselines.job import ANY_TARGET, UNCENSORED, Choice, Job, Traits
from hsiclasso.baselines.kernel import relate_features, target_gram
from hsiclasso.baselines.uncentred import UncentredProblem
from hsiclasso.kernels import HSIC
from hsiclasso.selectors.features import check_gram_error, check_kernel
from hsiclasso.solvers import Certificate, Penalty, QuadraticProblem, Status, Stop, solve_path
from hsiclasso.targets import Pairwise, Similarity

__all__ = ["CKTA", "KTA"]

Method = Literal["alignf", "align"]


@dataclass(kw_only=True, eq=False, repr=False)
class _Alignment(Baseline):
    """A weighted sum of kernels; the subclasses say of which matrices."""

    method: Method = "alignf"
    kernel: Any = "auto"
    gram_error: float = 1e-6
    n_jobs: int | None = -1

    _entries = Baseline._entries | {
        "weighted": """\
n_features_to_select : int, default=None
        Number of features; by default ten, or all if there are fewer. Features of the largest
        weights are taken; if too few weights are positive, those of the largest alignment are
        added.""",
        "shared": f"""\
kernel : str, Kernel or mapping, default="auto"
        Kernel of the features, as in `HSICLasso`.
    {Baseline._entries["target"]}
    gram_error : float, default=1e-6
        Relative error allowed to the Gram matrix of each feature.
    {Baseline._entries["n_jobs"]}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The weights, scaled to Euclidean norm 1.
    coef_ : ndarray of shape (n_features,)
        The weights as they are: the least-squares solution a; with ``"align"`` the alignments.
    alignment_ : ndarray of shape (n_features,)
        Alignment of every column by itself; it ranks columns of equal weight.
    certificate_ : Certificate or None
        Optimality of the least-squares solution; None with ``"align"``.
    {Baseline._entries["fitted"]}""",
    }

    def _check(self) -> None:
        check_choice("method", self.method, get_args(Method))
        check_kernel(self.kernel)
        check_gram_error(self.gram_error)

    def _problem(self, job: Job) -> QuadraticProblem:
        """Return the inner products of the matrices of features and target, here centred."""
        return relate_features(job, self.kernel, HSIC(), self.gram_error)

    def _takes_labels(self) -> bool:
        return True

    def _choose(self, job: Job) -> Choice:
        problem, d = self._problem(job), job.source.n_features
        norms = np.sqrt(problem.diagonal(np.arange(d)) * problem.target_norm2)
        # the cosine between the matrices of a column and of the target; 0 for a zero matrix
        self.alignment_ = np.divide(problem.linear, norms, out=np.zeros(d), where=norms > 0)
        self.coef_ = self.alignment_.copy()
        self.certificate_: Certificate | None = None
        message = unsolved = ""
        if self.method == "alignf":
            path = solve_path(
                problem,
                Penalty.lasso(d),
                Stop(alpha=0.0),
                report=lambda size: job.report("path", size, d),
            )
            self.coef_, self.certificate_ = path.coefficients(), path.certificate
            message = (
                f"Least squares gives {path.breakpoints[-1].indices.size} of {d} kernels a "
                f"positive weight, with a duality gap of {path.certificate.duality_gap:.1e}."
            )
            if path.status is Status.STALLED:
                unsolved = f"{message} {path.status.value}"
        scores = self.coef_ / (np.linalg.norm(self.coef_) or 1.0)
        return Choice(scores, self.alignment_, message, unsolved=unsolved)


class CKTA(_Alignment):
    r"""Feature selection by centred kernel target alignment (cKTA).

    The weighted sum of the centred Gram matrices of the columns that is closest in direction to
    that of the target,

    .. math:: \max_{a \ge 0}\;
        \frac{\langle \sum_k a_k \bar K^{(k)}, \bar L\rangle}
             {\|\sum_k a_k \bar K^{(k)}\|_F\, \|\bar L\|_F},
        \qquad\text{found by}\quad
        \min_{a \ge 0} \tfrac12 \Big\|\bar L - \sum_k a_k \bar K^{(k)}\Big\|_F^2

    up to the length of a. This is `HSICLasso` without penalty, and is solved by its homotopy
    with the same certificate. Where the matrices depend linearly on each other, as they do if
    there are more than n (n + 1) / 2 columns, it is the limit of the HSIC Lasso as the penalty
    goes to 0. The weight :math:`\gamma` that the paper puts on the second of the terms
    :math:`\tfrac{1-\gamma}2 a^\top G a - \gamma\, b^\top a` scales the solution by
    :math:`\gamma/(1-\gamma)` and changes no ranking: there is no such parameter.

    Parameters
    ----------
    %(weighted)s
    method : {"alignf", "align"}, default="alignf"
        ``"alignf"`` solves the problem above. With ``"align"``, the weight of a column is its own
        alignment, :math:`\langle \bar K^{(k)}, \bar L\rangle / (\|\bar K^{(k)}\|_F
        \|\bar L\|_F)`.
    %(shared)s

    References
    ----------
    Cortes, Mohri and Rostamizadeh (2012). Algorithms for learning kernels based on centered
    alignment. JMLR 13.

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> from hsiclasso.baselines import CKTA
    >>> X, y, causal = make_data1(300, 50, random_state=0)
    >>> selector = CKTA(4).fit(X, y)
    >>> set(selector.selected_) == set(causal)
    True
    >>> selector.certificate_.duality_gap < 1e-8
    True
    """

    traits = Traits("cKTA", "non-linear", "convex", "dual", "medium", ANY_TARGET, "n r^2 d m")


class KTA(_Alignment):
    r"""Feature selection by kernel target alignment (KTA), without centring.

    As `CKTA`, with the Gram matrices as they are,

    .. math:: \min_{a \ge 0} \tfrac12 \Big\|L - \sum_k a_k K^{(k)}\Big\|_F^2 .

    Before centring, positive kernels have a large part in common: their mean. It makes alignments
    large for any column, which is why centring is preferred (Cortes et al., 2012). The means of all
    columns take as much memory as the table in double precision. Censored times are not served:
    they have no matrix before centring.

    Parameters
    ----------
    %(weighted)s
    method : {"alignf", "align"}, default="alignf"
        ``"alignf"`` solves the problem above. With ``"align"``, the weight of a column is its own
        alignment, :math:`\langle K^{(k)}, L\rangle / (\|K^{(k)}\|_F \|L\|_F)`.
    %(shared)s

    References
    ----------
    Cristianini, Shawe-Taylor, Elisseeff and Kandola (2001). On kernel-target alignment. NIPS 14.

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> from hsiclasso.baselines import KTA
    >>> X, y, causal = make_data1(300, 50, random_state=0)
    >>> selector = KTA(4).fit(X, y)
    >>> set(selector.selected_) == set(causal), selector.alignment_.shape
    (True, (50,))
    """

    traits = Traits("KTA", "non-linear", "convex", "dual", "medium", UNCENSORED, "n r^2 d m")

    def _problem(self, job: Job) -> QuadraticProblem:
        if isinstance(job.target.data, Pairwise):  # it would be evaluated twice
            gram = Similarity(target_gram(job.target.data, job.source.n_samples))
            job = replace(job, target=replace(job.target, data=gram))
        centred = relate_features(job, self.kernel, HSIC(), self.gram_error)
        return UncentredProblem(centred, job.target.data, n_threads=job.n_threads)
