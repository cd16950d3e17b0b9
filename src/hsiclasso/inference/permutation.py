r"""The permutation null of :math:`T = \langle K, L\rangle`, without permuting.

If the samples of a feature and of a target are independent, every order of the target is equally
likely. Over all n! orders, the mean, the variance and the skewness of T are known in closed form
(`hsiclasso.inference.spectrum`). The shape of the tail is that of a random rotation: the
eigenvectors of K are rotated at random against those of L,

.. math:: \sum_{ij} \lambda_i \mu_j O_{ij}^2 .

For many samples this is :math:`\sum_{ij} \lambda_i\mu_j g_{ij}^2 / (n-1)`, the weighted sum of
chi-squares that is the asymptotic null of HSIC. For few samples its tail is shorter, as that of
permutations is. The p-value is the saddlepoint tail of this sum, moved and scaled to the exact mean
and variance.

If a few samples dominate K and a few dominate L, such as the carriers of a rare allele and the
samples of a rare class, T is large when they happen to meet. Rotations know nothing of that, but
the skewness does. The gamma distribution with the exact mean, variance and skewness, Pearson's type
III, then has the longer tail: the larger of the two p-values counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hsiclasso._types import BoolArray, FloatArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.inference.spectrum import Spectrum, permutation_moments, permutation_skewness

__all__ = [
    "CHECKED",
    "MIN_SAMPLES",
    "Spectrum",
    "gamma_tail",
    "permutation_moments",
    "permutation_p_value",
    "rotation_tail",
]

#: Fewest samples for which the variance over all permutations has a formula.
MIN_SAMPLES = 4
#: p-values above this are not compared with those of the gamma distribution.
CHECKED = 0.02
#: Eigenvalues below this share of the largest are pooled.
_POOLED = 0.02
#: A variance is zero if it is below this share of the squared mean.
_ZERO = 1e-12
#: With a smaller skewness, the gamma distribution is too near to the normal one for its formula.
_LEAST_SKEWNESS = 1e-4


def permutation_p_value(statistic: Any, feature: Spectrum, target: Spectrum, n: Any) -> Any:
    r"""Return the probability that a random order of the samples reaches a statistic.

    Parameters
    ----------
    statistic : float or ndarray of shape (k,) or (k, m)
        :math:`\langle K, L\rangle` of centred matrices; m values for each feature.
    feature : Spectrum
        That of K, or of the matrices of k features.
    target : Spectrum
        That of L; or k of them, such as those of the samples on which each feature is observed.
    n : int or ndarray of shape (k,)
        Number of samples, 4 or more.

    Returns
    -------
    float or ndarray
        p-values of the same shape as `statistic`; 1 where K or L is zero.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(2, 1, 100))
    >>> f, g = x - x.mean(), y - y.mean()
    >>> p = permutation_p_value(np.square(f @ g.T).sum(), Spectrum.of(f), Spectrum.of(g), 100)
    >>> from scipy.stats import pearsonr
    >>> bool(np.isclose(p, pearsonr(x[0], y[0]).pvalue, rtol=0.05))
    True
    """
    from scipy.special import gammaln

    statistic = np.asarray(statistic, dtype=np.float64)
    n = np.asarray(n, dtype=np.float64)
    if np.any(n < MIN_SAMPLES):
        raise InvalidInputError(
            f"n={int(np.min(n))}, but the variance over all permutations is known for "
            f"{MIN_SAMPLES} samples or more: add samples."
        )
    k = max(len(np.atleast_2d(feature.eigenvalues)), statistic.shape[0] if statistic.ndim else 1)
    z, varies = _standardised(statistic.reshape(k, -1), feature, target, n)
    out = rotation_tail(z, feature, target, n)
    small = (out < CHECKED) & varies
    if small.any() and feature.third is not None and target.third is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            skewness = np.broadcast_to(permutation_skewness(feature, target, n), k)
        gamma = gamma_tail(z[small], np.repeat(skewness[:, None], z.shape[1], axis=1)[small])
        # at most what is not compared, so that a larger statistic has no larger p-value
        out[small] = np.maximum(out[small], np.minimum(gamma, CHECKED))
    # one of n! orders is the least that can be; if all give the same value, each of them reaches it
    least = np.maximum(np.exp(-gammaln(n + 1)), np.finfo(np.float64).tiny)
    out = np.where(varies, np.maximum(out, np.broadcast_to(least, k)[:, None]), 1.0)
    out = out.reshape(statistic.shape)
    return out if out.ndim else float(out)


def _standardised(
    statistic: FloatArray, feature: Spectrum, target: Spectrum, n: Any
) -> tuple[FloatArray, BoolArray]:
    """Return statistics (k, m) less their mean over their deviation, and whether they vary."""
    mean, variance = permutation_moments(feature, target, n)
    mean, variance = (np.broadcast_to(part, len(statistic))[:, None] for part in (mean, variance))
    varies = variance > _ZERO * np.square(mean)
    z = (statistic - mean) / np.sqrt(np.where(varies, variance, 1.0))
    return np.ascontiguousarray(z), np.broadcast_to(varies, z.shape)


def rotation_tail(z: FloatArray, feature: Spectrum, target: Spectrum, n: Any) -> FloatArray:
    """Return the probability that a random rotation reaches z (k, m), in standard deviations."""
    from hsiclasso.inference._tail_loops import upper_tails

    values, out = np.atleast_2d(feature.eigenvalues), np.empty_like(z)
    upper_tails(
        z,
        np.ascontiguousarray(np.broadcast_to(values, (len(z), values.shape[1]))),
        np.ascontiguousarray(np.atleast_2d(target.eigenvalues)),
        np.atleast_1d(np.asarray(n, dtype=np.float64)),
        _POOLED,
        out,
    )
    return out


def gamma_tail(z: FloatArray, skewness: FloatArray) -> FloatArray:
    """Return the upper tail of gamma distributions with mean 0 and variance 1; 0 without skew."""
    from scipy.special import gammaincc

    skewed = skewness > _LEAST_SKEWNESS
    shape = 4 / np.square(np.where(skewed, skewness, 1.0))
    return np.where(skewed, gammaincc(shape, np.maximum(shape + z * np.sqrt(shape), 0.0)), 0.0)
