r"""Estimates of HSIC that are asymptotically normal, with their covariance.

The unbiased estimate of HSIC on all samples is not normal if HSIC is 0. Means over small sets of
samples are. Blocks are disjoint sets; an incomplete U-statistic takes random sets of four, several
for each sample (Lim et al., 2020; Freidling et al., 2021).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.kernels import Kernel
from hsiclasso.kernels.delta import vector_codes

__all__ = ["HSICEstimate", "estimate_hsic", "gram_matrices", "random_sets", "unbiased_hsic"]


@dataclass(frozen=True)
class HSICEstimate:
    """Estimated HSIC of p features with a target.

    Attributes
    ----------
    mean : ndarray of shape (p,)
    covariance : ndarray of shape (p, p)
        Of the mean.
    n_sets : int
        Sets of samples that were averaged.
    """

    mean: FloatArray
    covariance: FloatArray
    n_sets: int


def random_sets(n: int, size: int, n_partitions: int, rng: np.random.Generator) -> IntArray:
    """Cut n samples into disjoint sets of a size, in random order, as often as asked for.

    Samples that are left over in a partition are not used in it.

    Returns
    -------
    ndarray of shape (n_partitions * (n // size), size)

    Examples
    --------
    >>> random_sets(6, 3, 1, np.random.default_rng(0)).shape
    (2, 3)
    """
    each = n // size
    parts = [rng.permutation(n)[: each * size].reshape(each, size) for _ in range(n_partitions)]
    return np.concatenate(parts)


def unbiased_hsic(K: FloatArray, L: FloatArray) -> FloatArray:
    r"""Return the unbiased estimate of HSIC of each pair of Gram matrices (Song et al., 2012).

    With the diagonals of K and L set to 0 and B samples,

    .. math:: \frac{1}{B(B-3)} \Big[ \operatorname{tr} KL
              + \frac{1^\top K 1 \; 1^\top L 1}{(B-1)(B-2)}
              - \frac{2}{B-2} 1^\top K L 1 \Big]

    Parameters
    ----------
    K, L : ndarray of shape (m, B, B)
        B is at least 4.

    Returns
    -------
    ndarray of shape (m,)
    """
    B = K.shape[-1]
    K, L = (np.where(np.eye(B, dtype=bool), 0.0, matrix) for matrix in (K, L))
    rows_K, rows_L = K.sum(axis=2), L.sum(axis=2)
    both = np.einsum("mij,mij->m", K, L)
    apart = rows_K.sum(axis=1) * rows_L.sum(axis=1) / ((B - 1) * (B - 2))
    chained = 2 / (B - 2) * np.einsum("mi,mi->m", rows_K, rows_L)
    return np.asarray((both + apart - chained) / (B * (B - 3)))


def gram_matrices(kernel: Kernel, z: FloatArray, sets: IntArray) -> FloatArray:
    """Return the Gram matrices (m, B, B) of scaled samples (q, n) on sets (m, B) of them."""
    if kernel.of_labels:
        codes = vector_codes(z)
        firsts = np.unique(codes, return_index=True)[1]
        table = kernel.between(z[:, firsts], z[:, firsts])
        return np.asarray(table[codes[sets][:, :, None], codes[sets][:, None, :]])
    if len(z) == 1:
        return kernel.gram(z[0][sets], np.ones((1, sets.shape[1])))
    return np.array([kernel.between(z[:, own], z[:, own]) for own in sets])


def estimate_hsic(values: FloatArray, sets: IntArray, n: int) -> HSICEstimate:
    r"""Average estimates over sets, and estimate the covariance of the mean.

    Two sets are dependent if they share samples. With :math:`e_q` the estimates on set q less
    their mean, the covariance is estimated by the sum of :math:`e_q e_r^\top` over all pairs of
    sets that share a sample, each pair as often as it shares one, divided by the squared number
    of sets. For disjoint sets this is the usual covariance of a mean.

    Parameters
    ----------
    values : ndarray of shape (m, p)
        Unbiased HSIC of each feature on each set.
    sets : ndarray of shape (m, B)
        Samples of each set.
    n : int
        Number of samples.
    """
    m, size = sets.shape
    centred = values - values.mean(axis=0)
    by_sample = np.zeros((n, values.shape[1]))
    np.add.at(by_sample, sets.ravel(), np.repeat(centred, size, axis=0))
    # a set shares all its samples with itself, but counts once
    covariance = by_sample.T @ by_sample - (size - 1) * centred.T @ centred
    values_, vectors = np.linalg.eigh(covariance / (m * (m - 1)))
    least = 1e-3 * float(np.abs(values_).mean())  # differences of sums may fall below 0
    covariance = (vectors * np.maximum(values_, least)) @ vectors.T
    return HSICEstimate(values.mean(axis=0), covariance, m)
