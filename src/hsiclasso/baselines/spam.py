"""Sparse additive models (SpAM)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from hsiclasso._checks import check_choice, check_positive, check_whole
from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.backfitting import AdditiveFit, Backfitting, Screen, rms
from hsiclasso.baselines.base import Baseline, by_score, check_unused
from hsiclasso.baselines.descent import descend, falling
from hsiclasso.baselines.job import REAL_TARGET, Choice, Job, Traits
from hsiclasso.baselines.smoothers import Bandwidth, SmootherBank, kernel_smoother, spline_smoother
from hsiclasso.errors import InvalidInputError

__all__ = ["SpAM", "SpAMPath"]

_N_KNOTS = 5
#: Smoothed targets below this share of the target are rounding errors.
_NOTHING = 1e-12


@dataclass(frozen=True)
class SpAMPath:
    r"""Sparse additive models at falling penalties.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
        Penalties, largest first.
    n_active : ndarray of int of shape (n_alphas,)
        Features with a function other than 0.
    features : ndarray of int of shape (n_features,)
        Features that are active anywhere on the path, in the order in which they come.
    norms : ndarray of shape (n_alphas, n_features)
        :math:`\|f_j\|/\sqrt n` of these features.
    residual_variances : ndarray of shape (n_alphas,)
        :math:`\|y - \sum_j f_j\|^2/n`.
    degrees : ndarray of shape (n_alphas,)
        Degrees of freedom, :math:`\sum_j \operatorname{tr} S_j` over the active features.
    noise_variance : float
        :math:`\hat\sigma^2`: the squared residual of the last model, the least penalised, over
        :math:`n - 1 - \sum_j \operatorname{tr}(S_j)\,\|f_j\|/(\|f_j\| + \lambda\sqrt n)`. Degrees
        of freedom count by the share that shrinking leaves of a function (Yuan and Lin, 2006).
    cp : ndarray of shape (n_alphas,)
        :math:`C_p`: residual variance plus :math:`2\hat\sigma^2/n` times the degrees of freedom.
    n_iter : ndarray of int of shape (n_alphas,)
        Cycles of backfitting.
    """

    alphas: FloatArray
    n_active: IntArray
    features: IntArray
    norms: FloatArray
    residual_variances: FloatArray
    degrees: FloatArray
    noise_variance: float
    cp: FloatArray
    n_iter: IntArray


@dataclass(kw_only=True, eq=False, repr=False)
class SpAM(Baseline):
    r"""Feature selection by sparse additive models.

    The target is a sum of smooth functions of single features, few of which are not zero:

    .. math:: \min_{f_1, \dots, f_d} \frac{1}{2n}\Big\|y - \bar y - \sum_j f_j\Big\|^2
              + \lambda \sum_j \frac{\|f_j\|}{\sqrt n}

    by backfitting with a smoother :math:`S_j` for each feature: the residual
    :math:`R_j = y - \sum_{k\ne j} f_k` is smoothed, :math:`P_j = S_j R_j`, and shrunk,
    :math:`f_j = [1 - \lambda\sqrt n/\|P_j\|]_+ P_j`, centred, until nothing changes. The penalty
    falls until there are as many features as wanted. A feature that acts only together with
    others, as in a product, is not found.

    Parameters
    ----------
    n_features_to_select : int, default=None
        Number of features; by default ten, or all if there are fewer. With `alpha` or
        `criterion`, the most features to select; by default any number.
    smoother : {"kernel", "spline"}, default="kernel"
        ``"kernel"``: local means under a Gaussian kernel (Nadaraya-Watson), as in the authors'
        experiments. ``"spline"``: least squares on cubic splines, by which the model is exactly a
        group lasso.
    bandwidth : float or "plugin", default="plugin"
        Width of the kernel in standard deviations of the feature; ``"plugin"`` is
        :math:`0.6\,n^{-1/5}`.
    n_knots : int, default=5
        Knots of the splines, at evenly spaced quantiles: a function has ``n_knots + 1`` degrees
        of freedom, or fewer if the feature has few distinct values.
    alpha : float, default=None
        Penalty :math:`\lambda > 0` at which to stop, in the units of the target. From
        `alpha_max_` on no feature is selected.
    criterion : {None, "cp"}, default=None
        ``"cp"`` chooses the penalty by the authors' :math:`C_p`, see `SpAMPath`, and with it the
        number of features. The path then goes on while the degrees of freedom that shrinking
        leaves are at most half the number of samples. Its last model gives the variance of the
        noise.
    %(target)s
        A kernel of the target is refused. ``"auto"`` takes whole numbers with few distinct values
        for classes, which SpAM does not serve: pass ``"real"`` to treat them as numbers.
    n_alphas : int, default=100
        Penalties between the largest and `alpha_ratio_min` times the largest, evenly spaced on
        the logarithmic scale.
    alpha_ratio_min : float, default=1e-3
        Share of the largest penalty at which the path ends.
    tol : float, default=1e-6
        Backfitting ends when a cycle moves no function by more than this share of the target's
        standard deviation (in the root of the mean square).
    max_iter : int, default=1000
        Most cycles at one penalty.
    %(n_jobs)s

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        :math:`\|f_j\|/\sqrt n`; features without a function are ranked by :math:`s_j =
        \|S_j r\|/\sqrt n` with the residual r.
    functions_ : ndarray of shape (n, n_samples)
        Fitted functions at the samples, of the features that the model chose, as in `selected_`.
    alpha_ : float
        Penalty of the model.
    alpha_max_ : float
        Least penalty at which no feature is selected.
    path_ : SpAMPath
        Models at the penalties up to there.
    n_iter_ : int
        Most cycles that a penalty took.
    %(fitted)s

    See Also
    --------
    hsiclasso.HSICLasso : Finds features that act together, too.

    Notes
    -----
    A kernel smoother is kept as a factor of rank r, about 50 for 200 samples, to an error of
    1e-9: a smoothing costs O(n r) operations, and no n x n matrix exists. A feature that is not in
    use is smoothed again only where a bound does not rule it out.

    References
    ----------
    P. Ravikumar, J. Lafferty, H. Liu and L. Wasserman (2009). Sparse additive models. Journal of
    the Royal Statistical Society B 71, 1009-1030.

    M. Yuan and Y. Lin (2006). Model selection and estimation in regression with grouped
    variables. Journal of the Royal Statistical Society B 68, 49-67.

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> X, y, causal = make_data1(200, 50, random_state=0)
    >>> selector = SpAM(4).fit(X, y)
    >>> sorted(selector.selected_.tolist()) == sorted(causal.tolist())
    True
    >>> selector.functions_.shape
    (4, 200)
    """

    smoother: Literal["kernel", "spline"] = "kernel"
    bandwidth: Bandwidth = "plugin"
    n_knots: int = _N_KNOTS
    alpha: float | None = None
    criterion: Literal["cp"] | None = None
    n_alphas: int = 100
    alpha_ratio_min: float = 1e-3
    tol: float = 1e-6
    max_iter: int = 1000
    n_jobs: int | None = -1

    traits = Traits(
        "SpAM", "additive non-linear", "convex", "primal", "medium", REAL_TARGET, "n d r per sweep"
    )

    def _check(self) -> None:
        self._check_smoother()
        if self.alpha is not None:
            check_positive("alpha", self.alpha)
        check_choice("criterion", self.criterion, (None, "cp"))
        if self.criterion is not None and self.alpha is not None:
            raise InvalidInputError(
                f"criterion={self.criterion!r} chooses the penalty: leave out alpha={self.alpha!r}."
            )
        for name in ("alpha_ratio_min", "tol"):
            share = getattr(self, name)
            check_positive(name, share)
            if share >= 1:
                raise InvalidInputError(f"{name}={share!r} is a share, and must be below 1.")
        for name, least in (("n_alphas", 2), ("max_iter", 1)):
            check_whole(name, getattr(self, name), least)

    def _check_smoother(self) -> None:
        check_choice("smoother", self.smoother, ("kernel", "spline"))
        check_whole("n_knots", self.n_knots, 2)
        if not (isinstance(self.bandwidth, str) and self.bandwidth == "plugin"):
            check_positive("bandwidth", self.bandwidth)
        if self.smoother == "spline":
            check_unused("bandwidth", self.bandwidth, "plugin", "smoother='spline'")
        else:
            check_unused("n_knots", self.n_knots, _N_KNOTS, "smoother='kernel'")

    def _choose(self, job: Job) -> Choice:
        target = _centred(job)
        job.check_numbers()
        make = partial(spline_smoother, n_knots=self.n_knots)
        if self.smoother == "kernel":
            make = partial(kernel_smoother, bandwidth=self.bandwidth)
        bank = SmootherBank(job.source, make, n_threads=job.n_threads)
        total = int(np.count_nonzero(job.varies))
        screen = Screen(
            bank, job.varies, target, lambda done: job.report("features smoothed", done, total)
        )
        self.alpha_max_ = float(screen.strengths.max())
        fits = [AdditiveFit(self.alpha_max_, target)]
        if self.alpha_max_ > _NOTHING * rms(target):
            solver = Backfitting(bank, screen, target, tol=self.tol, max_iter=self.max_iter)
            fits = self._descend(solver, job)
        self.path_ = _summary(fits, job.source.n_features)
        fit = fits[self._chosen()]
        self.n_iter_ = max(1, *(fit.n_iter for fit in fits))
        scores = fit.sizes(job.source.n_features)
        strengths = screen.all_strengths(fit.residual)
        fill = self.alpha is None and self.criterion is None
        order = by_score(scores, strengths)[: job.n_wanted if fill else self.n_features_to_select]
        self.alpha_ = fit.alpha
        functions = [fit.functions[int(k)] for k in order]
        self.functions_ = np.reshape(functions, (order.size, job.source.n_samples))
        message = f"{fit.n_active} features have a function at penalty {fit.alpha:.4g}."
        unsolved = self._unsolved(fits)
        return Choice(scores, strengths, message, order, fill=fill, unsolved=unsolved)

    def _descend(self, solver: Backfitting, job: Job) -> list[AdditiveFit]:
        """Solve along the path to where it is to end."""
        largest, share = self.alpha_max_, self.alpha_ratio_min
        step = share ** (1 / (self.n_alphas - 1))
        last = largest * share if self.alpha is None else self.alpha
        most = self.n_features_to_select if self.alpha is not None else job.n_wanted

        def solve(alpha: float, start: AdditiveFit | None) -> AdditiveFit:
            fit = solver.solve(alpha, start)
            job.report("features in use", fit.n_active, job.n_wanted)
            return fit

        alphas = falling(largest, step, last)
        if self.criterion is None:
            return descend(solve, alphas, most=most)
        return descend(solve, alphas, stop=lambda fit: fit.effective > 0.5 * job.source.n_samples)

    def _chosen(self) -> int:
        """Place of the model on the path."""
        if self.criterion is None:
            return -1
        allowed = self.path_.n_active <= (self.n_features_to_select or np.inf)
        return int(np.argmin(np.where(allowed, self.path_.cp, np.inf)))

    def _unsolved(self, fits: list[AdditiveFit]) -> str:
        """Say at which penalties backfitting did not converge."""
        failed = [fit.alpha for fit in fits if not fit.converged]
        if not failed:
            return ""
        return (
            f"backfitting did not converge within max_iter={self.max_iter} cycles at "
            f"{len(failed)} of {len(fits)} penalties, first at {failed[0]:.4g}: raise max_iter or "
            "tol, or select fewer features."
        )


def _centred(job: Job) -> FloatArray:
    """Return the target of mean 0."""
    values = job.outputs("which is not additive.").values
    if len(values) > 1:
        raise InvalidInputError(
            f"y has {len(values)} outputs, but SpAM serves one: fit it to each of them, or use "
            "HSICLasso or LassoPath, which serve several together."
        )
    return np.asarray(values[0] - values[0].mean())


def _summary(fits: list[AdditiveFit], n_features: int) -> SpAMPath:
    """Describe the models of a path."""
    n = fits[0].residual.size
    features = np.array(list(dict.fromkeys(k for fit in fits for k in fit.functions)), np.int64)
    variances = np.array([rms(fit.residual) ** 2 for fit in fits])
    degrees = np.array([fit.degrees for fit in fits])
    noise = float(variances[-1] * n / max(1.0, n - 1 - fits[-1].effective))
    return SpAMPath(
        alphas=np.array([fit.alpha for fit in fits]),
        n_active=np.array([fit.n_active for fit in fits]),
        features=features,
        norms=np.array([fit.sizes(n_features)[features] for fit in fits]),
        residual_variances=variances,
        degrees=degrees,
        noise_variance=noise,
        cp=variances + 2 * noise / n * degrees,
        n_iter=np.array([fit.n_iter for fit in fits]),
    )
