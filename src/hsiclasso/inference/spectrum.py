r"""Moments of :math:`\langle K, L\rangle` over all orders of the samples of L.

A sum over samples is split by which of its indices are equal. For different indices, every order
gives every choice of samples equally often. The expectation of a power of
:math:`T = \sum_{ij} k_{ij} l_{\pi(i)\pi(j)}` is therefore

.. math:: E\,T^m = \sum_p \frac{S_p(K)\, S_p(L)}{n (n-1) \cdots (n - |p| + 1)}

where p runs over the partitions of the 2m indices into blocks of equal ones, and :math:`S_p` is the
sum over different values of the blocks. For centred matrices all :math:`S_p` with m = 3 follow from
eight sums. For m = 2 this gives the variance of Kazi-Aoual, Hitier, Sabatier and Lebreton (1995).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np

from hsiclasso._types import FloatArray, IntArray

__all__ = ["Spectrum", "permutation_moments", "permutation_skewness", "third_sums"]

#: Vertices and loops of the graph that each of the eight sums stands for; see `_third_sums`.
_GRAPHS = ((3, 3), (3, 1), (3, 0), (2, 3), (1, 3), (2, 0), (2, 1), (2, 2))


@dataclass(frozen=True)
class Spectrum:
    """What the permutation null needs of a centred matrix K, or of k of them."""

    #: Eigenvalues, padded with zeros, shape (r,) or (k, r).
    eigenvalues: FloatArray
    #: Sum of all eigenvalues, also of those that `eigenvalues` leaves out; shape () or (k,).
    trace: Any
    #: Sum of their squares: the squared Frobenius norm.
    norm2: Any
    #: Sum of the squared diagonal entries of the matrix.
    diagonal2: Any
    #: Sums of third order, see `third_sums`; shape (4,) or (k, 4). With those of both matrices,
    #: p-values are right for heavy tails too.
    third: FloatArray | None = None

    @classmethod
    def of(cls, rows: FloatArray) -> Self:
        r"""Return the spectrum of :math:`K = F^\top F`.

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
        return cls.of_gram(gram, np.square(diagonal).sum(axis=-1), third_sums(rows, gram))

    @classmethod
    def of_gram(cls, gram: FloatArray, diagonal2: Any, third: FloatArray | None = None) -> Self:
        r"""Return the spectrum from :math:`F F^\top`, which has the same eigenvalues.

        Parameters
        ----------
        gram : ndarray of shape (r, r) or (k, r, r)
        diagonal2, third
            As in the result.
        """
        eigenvalues = np.maximum(np.linalg.eigvalsh(gram)[..., ::-1], 0.0)
        trace, norm2 = eigenvalues.sum(axis=-1), np.square(eigenvalues).sum(axis=-1)
        return cls(eigenvalues, trace, norm2, diagonal2, third)


def third_sums(rows: FloatArray, gram: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    r"""Return four sums of third order of :math:`K = F^\top F`.

    Parameters
    ----------
    rows : ndarray of shape (r, n) or (k, r, n)
        Rows F.
    gram : ndarray of shape (r, r) or (k, r, r)
        :math:`F F^\top`.
    weights : ndarray of shape (n,) or (k, n), optional
        How often each column of F occurs, also in `gram`.

    Returns
    -------
    ndarray of shape (4,) or (k, 4)
        :math:`\sum_i k_{ii}^3`, :math:`\sum_{ij} k_{ij}^3`, :math:`\sum_{ij} k_{ii} k_{ij}^2` and
        :math:`\sum_{ij} k_{ii} k_{ij} k_{jj}`.
    """
    r, n = rows.shape[-2:]
    times = np.ones(n) if weights is None else weights
    diagonal = np.square(rows).sum(axis=-2)
    weighted = (times * diagonal)[..., None, :] * rows
    if r * r <= 6 * n:
        cubes = _cubes_by_triples(rows, times)
    else:
        matrix = np.swapaxes(rows, -1, -2) @ rows
        cubes = np.einsum("...ij,...i,...j->...", matrix**3, times, times, optimize=True)
    sums = (
        (times * diagonal**3).sum(axis=-1),
        cubes,
        np.einsum("...ai,...bi,...ab->...", weighted, rows, gram, optimize=True),
        np.square(weighted.sum(axis=-1)).sum(axis=-1),
    )
    return np.stack(sums, axis=-1)


def _cubes_by_triples(rows: FloatArray, weights: FloatArray) -> FloatArray:
    r"""Return :math:`\sum_{ij} k_{ij}^3 = \sum_{abc} (\sum_i f_{ai} f_{bi} f_{ci})^2`."""
    from hsiclasso.inference._sum_loops import triple_sums

    r, n = rows.shape[-2:]
    flat = np.ascontiguousarray(rows.reshape(-1, r, n))
    out = np.empty(len(flat))
    triple_sums(flat, np.ascontiguousarray(weights.reshape(-1, n)), out)
    return out.reshape(rows.shape[:-2])


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


def permutation_skewness(feature: Spectrum, target: Spectrum, n: Any) -> Any:
    """Return the skewness of <K, L> over all orders; both spectra must have sums of third order.

    Examples
    --------
    >>> one = Spectrum.of(np.array([[1.0, -1.0, 0.0, 0.0]]))
    >>> values = np.repeat([4.0, 0.0, 1.0], [1, 1, 4])  # <K, L>, as often as it occurs
    >>> from scipy.stats import skew
    >>> bool(np.isclose(permutation_skewness(one, one, 4), skew(values)))
    True
    """
    n = np.asarray(n, dtype=np.float64)
    # sums of a million samples to the third power differ by far: take both with trace 1
    products = np.einsum("...a,bac,...c->...b", _sums(feature), _coefficients(), _sums(target))
    raw: Any = 0.0
    choices: Any = 1.0
    for size in range(1, 7):
        choices = choices * (n - size + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            raw = raw + np.where(n >= size, products[..., size - 1] / choices, 0.0)
    mean, variance = permutation_moments(feature, target, n)
    scale = feature.trace * target.trace
    mean, variance = mean / scale, variance / np.square(scale)
    return (raw - 3 * mean * variance - mean**3) / variance**1.5


def _sums(one: Spectrum) -> FloatArray:
    """Return the eight sums of third order of a matrix over its trace, in the order of `_GRAPHS`.

    A sum over products of three entries is a graph: samples are vertices, entries are edges, and
    diagonal entries are loops.
    """
    assert one.third is not None
    trace = np.asarray(one.trace)
    tripled = (one.eigenvalues**3).sum(axis=-1)
    sums = (trace**3, trace * one.norm2, tripled, trace * one.diagonal2)
    first = np.stack(np.broadcast_arrays(*sums), axis=-1)
    every = np.concatenate([first, one.third], axis=-1)
    return np.asarray(every / (trace**3)[..., None])


def _partitions(size: int) -> list[tuple[int, ...]]:
    """List the partitions of a set: the number of the block of each element."""
    made: list[tuple[int, ...]] = [()]
    for _ in range(size):
        made = [(*blocks, block) for blocks in made for block in range(max(blocks, default=-1) + 2)]
    return made


@cache
def _coefficients() -> FloatArray:
    r"""Return :math:`\sum_{|p| = b} S_p(K) S_p(L)` as a bilinear form (6, 8, 8) of the eight sums.

    Sums over different indices follow from free ones by Moebius inversion: merging g blocks has the
    factor :math:`(-1)^{g-1} (g-1)!`. A free sum over an index that occurs once is 0, because the
    matrix is centred.
    """
    forms = np.zeros((6, 8, 8))
    for blocks in _partitions(6):
        form = np.zeros(8)
        for merged in _partitions(max(blocks) + 1):
            ends: IntArray = np.array(merged)[list(blocks)]
            if np.bincount(ends).min() < 2:
                continue
            loops = int(np.count_nonzero(ends[::2] == ends[1::2]))
            sizes = np.bincount(merged).tolist()
            sign = math.prod((-1) ** (g - 1) * math.factorial(g - 1) for g in sizes)
            form[_GRAPHS.index((int(ends.max()) + 1, loops))] += sign
        forms[max(blocks)] += np.outer(form, form)
    return forms
