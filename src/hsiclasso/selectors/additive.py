r"""Additive kernel ridge regression on selected features: ranking them, and predicting.

With :math:`\bar K = \sum_k \bar K_k` over the selected features, the residual R of a response Y
solves

.. math:: (\bar K + \rho n I) R = \rho n Y, \qquad f_k = \bar K_k R / (\rho n) .

So every function is a sum of kernels between a new value and the samples, with the residual as
coefficients. In terms of the features' rows :math:`\Phi` (:math:`\Phi^\top\Phi = \bar K`),
:math:`R = Y - \Phi^\top(\Phi\Phi^\top + \rho n I)^{-1}\Phi Y`: nothing of size n x n is formed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data import Source
from hsiclasso.data.sources import refuse_value
from hsiclasso.dependence import Scaled
from hsiclasso.kernels import Factor, Samples
from hsiclasso.selectors.kernel import SelectedKernel

__all__ = ["AdditiveModel", "Ranking", "fit_additive", "least_ridge", "rank_functions"]

#: Penalties rho that are tried, relative to the mean eigenvalue of the kernel matrix over n.
_RIDGES = np.logspace(-4, 4, 49)
#: Price of a degree of freedom in generalised cross-validation. A price above 1 prevents functions
#: that follow the noise (Kim and Gu, 2004). So does the robust form of the criterion (Lukas, 2006),
#: which mixes it with the variance of the fit: this is the share of the plain form.
_PRICE, _PLAIN_SHARE = 1.4, 0.3
#: Share of the degrees of freedom that must be left.
_LEAST_REST = 0.1
#: Entries of a kernel matrix between new and old samples that are computed at once.
_AT_ONCE = 1 << 22
#: Left out of the kernel matrix of a feature when the mean of its function is computed.
_LEFT_OUT = 1e-10


@dataclass(frozen=True)
class Ranking:
    """Features by what their functions explain together."""

    #: Features that are left, most important first, shape (k,).
    features: IntArray
    #: Norm of the part of the target that each explains, shape (k,).
    sizes: FloatArray


def rank_functions(
    features: IntArray, factors: list[Factor], target: FloatArray, kept: IntArray, wanted: int,
    needed: Callable[[list[int]], set[int]] | None = None,
) -> Ranking:  # fmt: skip
    r"""Fit functions of all features together, drop the least important, and rank the others.

    The fit is kernel ridge regression: :math:`W = H^{-1} Q F^\top` with
    :math:`H = QQ^\top + I - E`. Without a feature its objective grows by
    :math:`\tfrac12\,\mathrm{tr}\,W_k^\top [(H^{-1})_{kk}]^{-1} W_k`: the feature with the least
    growth is dropped, then the next. Those that are left are ranked by dropping them further: the
    first m of a ranking are those that are left if m are wanted.

    Parameters
    ----------
    features : ndarray of shape (m,)
    factors : list of Factor
        Their rows Q, shrunk as those of NOCCO.
    target : ndarray of shape (p, n)
        Rows F of the target.
    kept : ndarray of int
        Features that are never dropped.
    wanted : int
        Number of features that are left.
    needed : callable, optional
        Tells which features may not be dropped before others of those that are left.
    """
    rows = np.concatenate([np.zeros((0, target.shape[1])), *(factor.rows for factor in factors)])
    ends = np.cumsum([0, *(len(factor.rows) for factor in factors)])
    own = [np.arange(first, last) for first, last in pairwise(ends)]
    gram, cross = rows @ rows.T, rows @ target.T
    energies = np.diag(gram)
    inverse = np.linalg.inv(gram + np.diag(1 - energies))
    weights = inverse @ cross
    left, protected = list(range(len(own))), set(np.flatnonzero(np.isin(features, kept)).tolist())
    sizes, dropped = np.zeros(len(own)), []

    def may_drop(i: int, needs: set[int]) -> bool:
        return i not in protected and int(features[i]) not in needs

    def growth(i: int) -> float:
        part = weights[own[i]]
        return float(np.vdot(part, np.linalg.solve(inverse[np.ix_(own[i], own[i])], part)))

    while left:
        if len(left) == wanted:  # from here on, dropping only ranks
            norms = np.square(weights).sum(axis=1) * energies
            sizes, protected = np.sqrt([norms[part].sum() for part in own]), set()
        needs = needed(features[left].tolist()) if needed is not None else set()
        worst = min((i for i in left if may_drop(i, needs)), key=growth)
        left.remove(worst)
        dropped.append(worst)
        # the inverse of a part of a matrix, from that of the whole; dropped rows become zero
        beside = inverse[:, own[worst]]
        turned = np.linalg.solve(inverse[np.ix_(own[worst], own[worst])], beside.T)
        weights = weights - turned.T @ weights[own[worst]]
        inverse = inverse - beside @ turned
    ranked = dropped[::-1][:wanted]
    return Ranking(features[ranked], sizes[ranked])


@dataclass(frozen=True)
class AdditiveModel:
    """A sum of functions of the selected features, for one or several outputs."""

    #: Kernels of the features, with weights 1.
    kernel: SelectedKernel
    #: Coefficients of the kernels with the samples, for each feature: (q, n).
    coefficients: tuple[FloatArray, ...]
    #: Mean of each function on the samples, which is subtracted, shape (k, q).
    means: FloatArray
    #: Means of the outputs, shape (q,).
    intercept: FloatArray
    #: Penalty rho that was chosen.
    ridge: float
    #: Standard deviation of each function on the samples, shape (k, q).
    spreads: FloatArray

    def __call__(self, source: Source, *, ignore_missing: bool = True) -> FloatArray:
        """Return the predicted outputs (m, q) of a table."""
        total = np.tile(self.intercept, (source.n_samples, 1))
        for part in self.parts(source, ignore_missing):
            total += part
        return total

    def parts(self, source: Source, ignore_missing: bool = True) -> Iterator[FloatArray]:
        """Yield the function (m, q) of each feature at the values of a table."""
        for i, term in enumerate(self.kernel.terms):
            values = term.take(source)
            missing = np.isnan(values).any(axis=0)
            if missing.any() and not ignore_missing and not any(term.labels):
                refuse_value(source.name(int(term.columns[0])), np.nan, ignore=False)
            yield self.at(i, values)

    def at(self, i: int, values: FloatArray) -> FloatArray:
        """Return the function (m, q) of one feature at scaled values (c, m); 0 where missing."""
        term, missing = self.kernel.terms[i], np.isnan(values).any(axis=0)
        made = np.empty((values.shape[1], self.intercept.size))
        step = max(1, _AT_ONCE // term.samples.shape[1])
        for start in range(0, len(made), step):
            run = slice(start, start + step)
            between = term.between(values[:, run], term.samples)
            made[run] = term.weight * between @ self.coefficients[i].T - self.means[i]
        made[missing] = 0.0
        return made


def fit_additive(
    kernel: SelectedKernel,
    factors: list[Factor],
    scaled: list[Scaled],
    response: FloatArray,
    samples: Samples,
    epsilon: float,
) -> AdditiveModel:
    """Fit additive kernel ridge regression, its penalty chosen by generalised cross-validation.

    Parameters
    ----------
    kernel : SelectedKernel
        Kernels of the features, with weights 1.
    factors : list of Factor
        Their rows, shrunk as those of NOCCO.
    scaled : list of Scaled
        The same features on the scale of their kernels.
    response : ndarray of shape (q, n)
        Outputs on the samples.
    samples : Samples
    epsilon : float
        NOCCO's epsilon, which shrank the rows.
    """
    shares, n = samples.shares[0], samples.total
    intercept = response @ shares / n
    y = samples.project(response - intercept[:, None])
    rows = [_unshrunk(*pair, epsilon) for pair in zip(factors, scaled, strict=True)]
    phi = np.concatenate([np.zeros((0, samples.n)), *rows])
    gram, cross = phi @ phi.T, phi @ y.T
    ridge = _choose_ridge(gram, cross, y, n, len(samples.removed))
    residual = y.copy()
    weights = np.zeros_like(cross)
    if len(phi):
        weights = cho_solve(cho_factor(gram + ridge * n * np.eye(len(gram))), cross)
        residual -= weights.T @ phi
    coefficients, means = [], []
    for term, one in zip(kernel.terms, scaled, strict=True):
        own, root = residual, one.samples.root
        if one.samples is not samples:  # functions are centred on the samples that are not missing
            own = one.samples.remove(residual * (root > 0))
        made = own * root / (ridge * n)
        coefficients.append(made)
        means.append(_mean(one, made) * term.weight)
    ends = np.cumsum([len(factor.rows) for factor in factors])[:-1]
    fitted = [
        np.sqrt(np.square(part.T @ rows).sum(axis=1) / n)
        for part, rows in zip(np.split(weights, ends), np.split(phi, ends), strict=True)
    ]
    k, q = len(kernel.terms), len(response)
    return AdditiveModel(
        kernel, tuple(coefficients), np.array(means).reshape(k, q), intercept, ridge,
        np.array(fitted[:k]).reshape(k, q),
    )  # fmt: skip


def _unshrunk(factor: Factor, one: Scaled, epsilon: float) -> FloatArray:
    r"""Return rows of the centred Gram matrix: :math:`\lambda = \epsilon n \mu / (1 - \mu)`."""
    rest = 1 - factor.eigenvalues
    return factor.rows * np.sqrt(epsilon * one.samples.total / rest)[:, None]


def _choose_ridge(
    gram: FloatArray, cross: FloatArray, y: FloatArray, n: float, n_removed: int
) -> float:
    """Return the penalty of additive kernel ridge regression, from products of its rows."""
    eigenvalues, vectors = np.linalg.eigh(gram)
    eigenvalues = np.maximum(eigenvalues, 0.0)
    sizes = np.square(y).sum(axis=1)
    used = sizes > 0
    if not eigenvalues.sum() > 0 or not used.any():
        return 1.0
    # every output counts the same, whatever its unit
    energies = (np.square(vectors.T @ cross)[:, used] / sizes[used]).sum(axis=1)
    return least_ridge(eigenvalues, energies, float(used.sum()), n, n_removed)


def least_ridge(
    eigenvalues: FloatArray, energies: FloatArray, size: float, n: float, n_removed: int
) -> float:
    r"""Return the penalty with the least robust generalised cross-validation score.

    With the smoother S, the score is
    :math:`\frac{\|Y - SY\|^2}{(1 - 1.4\,\mathrm{tr} S / n)^2}
    (\gamma + (1 - \gamma)\,\mathrm{tr} S^2 / n)`.

    Parameters
    ----------
    eigenvalues : ndarray of shape (r,)
        Those of the kernel matrix, with a positive sum.
    energies : ndarray of shape (r,)
        Squared norm of the products of the response with each of its eigenvectors, times the
        eigenvalue.
    size : float
        Squared norm of the response.
    n : float
        Number of samples.
    n_removed : int
        Functions that were removed from the response before.
    """
    ridges, scores = eigenvalues.sum() / n**2 * _RIDGES, []
    for ridge in ridges:
        shrunk = 1 / (eigenvalues + ridge * n)
        fit = float(energies @ (2 * shrunk - eigenvalues * shrunk**2))
        kept = eigenvalues * shrunk
        rest = 1 - _PRICE * (kept.sum() + n_removed) / n
        variance = _PLAIN_SHARE + (1 - _PLAIN_SHARE) * (np.square(kept).sum() + n_removed) / n
        # functions with about as many degrees of freedom as samples could fit anything
        enough = rest > _LEAST_REST
        score = max(size - fit, 0.0) / rest**2 * variance
        scores.append(score if enough else np.inf)
    return float(ridges[int(np.argmin(scores))])


def _mean(one: Scaled, coefficients: FloatArray) -> FloatArray:
    """Return the mean (q,) on the observed samples of a sum of kernels."""
    shares = one.samples.shares[0]
    if not one.varies:
        return np.zeros(len(coefficients))
    rows, _ = one.kernel.rows(one.z, _LEFT_OUT * one.samples.total, shares)
    return np.asarray((coefficients @ rows.T) @ (rows @ shares) / one.samples.total)
