r"""The permutation null of :math:`T = \langle K, L\rangle`, without permuting.

If the samples of a feature and of a target are independent, every order of the target is equally
likely. Over all n! orders, the mean and the variance of T are known in closed form (Kazi-Aoual,
Hitier, Sabatier and Lebreton, 1995). The shape of the tail is that of a random rotation: the
eigenvectors of K are rotated at random against those of L,

.. math:: \sum_{ij} \lambda_i \mu_j O_{ij}^2 .

For many samples this is :math:`\sum_{ij} \lambda_i\mu_j g_{ij}^2 / (n-1)`, the weighted sum of
chi-squares that is the asymptotic null of HSIC. For few samples its tail is shorter, as that of
permutations is. The p-value is the saddlepoint tail of this sum, moved and scaled to the exact mean
and variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError

__all__ = [
    "MIN_SAMPLES",
    "Spectrum",
    "permutation_moments",
    "permutation_p_value",
    "tail_probability",
]

#: Fewest samples for which the variance over all permutations has a formula.
MIN_SAMPLES = 4
#: Eigenvalues below this share of the largest are pooled.
_POOLED = 0.02
#: A matrix is zero, or a variance, if it is below this share of what it is made of.
_ZERO = 1e-12


@dataclass(frozen=True)
class Spectrum:
    """What the permutation null needs of a centred matrix, or of k of them."""

    #: Eigenvalues, padded with zeros, shape (r,) or (k, r).
    eigenvalues: FloatArray
    #: Sum of all eigenvalues, also of those that `eigenvalues` leaves out; shape () or (k,).
    trace: Any
    #: Sum of their squares: the squared Frobenius norm.
    norm2: Any
    #: Sum of the squared diagonal entries of the matrix.
    diagonal2: Any

    @classmethod
    def of(cls, rows: FloatArray) -> Self:
        r"""Return the spectrum of :math:`F^\top F`.

        Parameters
        ----------
        rows : ndarray of shape (r, n) or (k, r, n)
            Rows F, each with sum 0. They need not be orthogonal.

        Examples
        --------
        >>> float(Spectrum.of(np.array([[1.0, -1.0, 0.0, 0.0]])).diagonal2)
        2.0
        """
        gram = rows @ np.swapaxes(rows, -1, -2)
        diagonal = np.square(rows).sum(axis=-2)
        return cls.of_gram(gram, np.square(diagonal).sum(axis=-1))

    @classmethod
    def of_gram(cls, gram: FloatArray, diagonal2: Any) -> Self:
        r"""Return the spectrum from :math:`F F^\top`, which has the same eigenvalues.

        Parameters
        ----------
        gram : ndarray of shape (r, r) or (k, r, r)
        diagonal2 : float or ndarray of shape (k,)
            Sum of the squared diagonal entries of :math:`F^\top F`.
        """
        eigenvalues = np.maximum(np.linalg.eigvalsh(gram)[..., ::-1], 0.0)
        trace, norm2 = eigenvalues.sum(axis=-1), np.square(eigenvalues).sum(axis=-1)
        return cls(eigenvalues, trace, norm2, diagonal2)


def permutation_moments(feature: Spectrum, target: Spectrum, n: Any) -> tuple[Any, Any]:
    r"""Return mean and variance of :math:`\langle K, L\rangle` over all n! orders of the samples.

    .. math::
        E &= \frac{\operatorname{tr} K \operatorname{tr} L}{n - 1}, \qquad
        V = \frac{2 A_K A_L}{(n-1)^2 (n+1)(n-2)}
            + \frac{B_K B_L}{(n+1) n (n-1)(n-2)(n-3)}, \\
        A_K &= (n-1) \|K\|^2 - (\operatorname{tr} K)^2, \qquad
        B_K = n(n+1) \sum_i k_{ii}^2 - (n-1)\big[(\operatorname{tr} K)^2 + 2 \|K\|^2\big]

    Parameters
    ----------
    feature, target : Spectrum
        Those of the centred matrices K and L, or of k of them.
    n : int or ndarray of shape (k,)
        Number of samples, 4 or more.

    Examples
    --------
    >>> one = Spectrum.of(np.array([[1.0, -1.0, 0.0, 0.0]]))
    >>> mean, variance = permutation_moments(one, one, 4)
    >>> float(mean), round(float(variance), 12)  # <K, L> is 4, 0 or 1
    (1.3333333333333333, 1.555555555556)
    """
    n = np.asarray(n, dtype=np.float64)
    mean = feature.trace * target.trace / (n - 1)
    turned, pointed = 1.0, 1.0
    for one in (feature, target):
        trace2 = np.square(one.trace)
        turned = turned * ((n - 1) * one.norm2 - trace2)
        pointed = pointed * (n * (n + 1) * one.diagonal2 - (n - 1) * (trace2 + 2 * one.norm2))
    variance = 2 * turned / ((n - 1) ** 2 * (n + 1) * (n - 2))
    return mean, variance + pointed / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))


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
    n = np.asarray(n, dtype=np.float64)
    if np.any(n < MIN_SAMPLES):
        raise InvalidInputError(
            f"n={int(np.min(n))}, but the variance over all permutations is known for "
            f"{MIN_SAMPLES} samples or more: add samples."
        )
    mean, variance = permutation_moments(feature, target, n)
    return tail_probability(statistic, (mean, variance), feature, target, n)


def tail_probability(
    statistic: Any, moments: tuple[Any, Any], feature: Spectrum, target: Spectrum, n: Any
) -> Any:
    """Return the same probability if the null has another mean and variance, shape () or (k,)."""
    from scipy.special import gammaln

    from hsiclasso.inference._tail_loops import upper_tails

    statistic = np.asarray(statistic, dtype=np.float64)
    n, (mean, variance) = np.asarray(n, dtype=np.float64), moments
    values = np.atleast_2d(feature.eigenvalues)
    k = max(len(values), statistic.shape[0] if statistic.ndim else 1)
    flat = statistic.reshape(k, -1)
    mean, variance, least = (
        np.broadcast_to(part, k)[:, None] for part in (mean, variance, _ZERO * np.square(mean))
    )
    varies = variance > least
    z = (flat - mean) / np.sqrt(np.where(varies, variance, 1.0))
    out = np.empty_like(z)
    upper_tails(
        np.ascontiguousarray(z),
        np.ascontiguousarray(np.broadcast_to(values, (k, values.shape[1]))),
        np.ascontiguousarray(np.atleast_2d(target.eigenvalues)),
        np.atleast_1d(n),
        _POOLED,
        out,
    )
    # one of n! orders is the least that can be; if all give the same value, each of them reaches it
    least = np.maximum(np.exp(-gammaln(n + 1)), np.finfo(np.float64).tiny)
    out = np.where(varies, np.maximum(out, np.broadcast_to(least, k)[:, None]), 1.0)
    out = out.reshape(statistic.shape)
    return out if out.ndim else float(out)
