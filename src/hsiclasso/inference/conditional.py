r"""Does the target depend on a feature, given some others? A distilled randomisation test.

Let Z be the other features, F (p x n) the rows of the target, and A the matrix of the feature with
rows :math:`\Phi` (r x n), :math:`A = \Phi^\top\Phi`.

1. *Distil*: additive kernel ridge regression on Z explains F; R is what it leaves.
2. *Statistic*: :math:`t = \langle A, R^\top R\rangle = \|\Phi R^\top\|_F^2`.
3. *Redraw*: additive kernel ridge regression on Z explains the normal scores of the feature. A
   redrawn feature has the fitted scores plus permuted residuals. The values of the feature itself
   are then put in the order of these sums: a redrawn feature is the feature with its samples in
   another order :math:`\pi`, and its rows are :math:`\Phi_\pi`. If Z explains nothing, every order
   is equally likely, and this is the permutation test.
4. *Tail*: under the null, t is distributed as :math:`\|\Phi_\pi R^\top\|_F^2`, of which there are
   draws. Three p-values are made of them, and the largest counts. One has the mean and the variance
   of the draws, and the shape that the eigenvalues of A and :math:`R^\top R` give. One, by the
   gamma distribution, has their skewness too. If any draw reaches t, their share is
   the third. The first is the most precise, but it does not see that single samples may be far out
   in both matrices, as happens with NOCCO: the other two do.

The test is exact if step 3 draws from the distribution of the feature given Z (Candes, Fan, Janson
and Lv, 2018; distilled: Liu, Katsevich, Janson and Ramdas, 2022). If it does not, errors of the two
regressions matter only by their product. How well the level is kept with estimated regressions is
known by simulation only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import ndtri
from scipy.stats import rankdata, skew

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.inference.permutation import Spectrum, gamma_tail, rotation_tail
from hsiclasso.kernels import Samples
from hsiclasso.selectors.additive import least_ridge

__all__ = ["Examined", "Others", "conditional_p_value"]

#: Draws of a first round. If the p-value is above this one then, it is precise enough.
_FIRST_DRAWS, _CLEARLY_NULL = 199, 0.2
#: Least probability of a label that some sample has, as a share of its frequency.
_LEAST_PROBABILITY = 1e-3
#: Entries of permuted rows that are multiplied at once.
_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class Examined:
    """A feature as it is tested, on n samples."""

    #: Values or codes of labels, shape (q, n); several rows for a joint feature.
    values: FloatArray
    #: Rows of its matrix A, weighted and projected, shape (r, n).
    rows: FloatArray
    #: Whether values are codes of labels, which have no order.
    of_labels: bool = False

    @cached_property
    def scores(self) -> FloatArray:
        """Normal scores of the values, shape (q, n)."""
        ranks = rankdata(self.values, axis=1)
        return np.asarray(ndtri(ranks / (self.values.shape[1] + 1)))


class Others:
    """Additive kernel ridge regression on some features: what they explain of a response.

    Parameters
    ----------
    rows : iterable of ndarray of shape (r, n)
        Rows of the matrices of the features; there may be none.
    samples : Samples
        n samples of equal weight, and the functions that are always removed.
    """

    def __init__(self, rows: Iterable[FloatArray], samples: Samples) -> None:
        together = np.concatenate([np.zeros((0, samples.n)), *rows])
        _, sizes, self._basis = np.linalg.svd(together, full_matrices=False)
        self._eigenvalues = np.square(sizes)
        self.samples = samples

    def explained(self, response: FloatArray) -> FloatArray:
        """Return the fit (q, n) of a projected response (q, n)."""
        eigenvalues, n = self._eigenvalues, self.samples.total
        products = response @ self._basis.T
        size = float(np.square(response).sum())
        if not (eigenvalues.sum() > 0 and size > 0):
            return np.zeros_like(response)
        energies = eigenvalues * np.square(products).sum(axis=0)
        ridge = least_ridge(eigenvalues, energies, size, n, len(self.samples.removed))
        return np.asarray((products * (eigenvalues / (eigenvalues + ridge * n))) @ self._basis)

    def split(self, response: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return all that explains a response (q, n), removed functions included, and the rest."""
        inner = self.samples.project(response.copy())
        rest = inner - self.explained(inner)
        return response - rest, rest


def conditional_p_value(
    feature: Examined, target: FloatArray, others: Others, n_draws: int, rng: np.random.Generator
) -> float:
    """Return how likely it is that a redrawn feature is as close to the target as a feature.

    Parameters
    ----------
    feature : Examined
    target : ndarray of shape (p, n)
        Rows of the target's matrix, projected.
    others : Others
        The features that are given.
    n_draws : int
        Number of redrawn features; fewer if the feature is clearly not needed.
    rng : Generator
    """
    residual = target - others.explained(target)
    statistic = float(np.square(feature.rows @ residual.T).sum())
    shape = Spectrum.of(feature.rows), Spectrum.of(residual)
    drawn, p = np.zeros(0), 1.0
    for number in (min(_FIRST_DRAWS, n_draws), n_draws - _FIRST_DRAWS):
        if number <= 0 or (drawn.size and p > _CLEARLY_NULL):
            break
        orders = redraw(feature, others, number, rng)
        drawn = np.append(drawn, _statistics(feature.rows, residual, orders))
        p = _upper_tail(statistic, drawn, shape, target.shape[1])
    return p


def _upper_tail(
    statistic: float, drawn: FloatArray, shape: tuple[Spectrum, Spectrum], n: int
) -> float:
    """Return the probability that a statistic is reached, from draws of it and its shape."""
    deviation = float(drawn.std(ddof=1))
    if not deviation > 0:
        return 1.0
    z = np.array([[(statistic - drawn.mean()) / deviation]])
    by_shape = float(rotation_tail(z, *shape, n)[0, 0])
    by_skewness = float(gamma_tail(z[0], np.array([skew(drawn)]))[0])
    n_reached = int(np.count_nonzero(drawn >= statistic))
    by_count = (n_reached + 1) / (drawn.size + 1) if n_reached else 0.0
    return max(by_shape, by_skewness, by_count)


def redraw(feature: Examined, others: Others, n_draws: int, rng: np.random.Generator) -> IntArray:
    """Return the samples (B, n) whose values the redrawn features have.

    The values of a feature of numbers are put in another order. Labels without an order are drawn
    by their probabilities, and for joint features the nearest of the observed vectors is taken.
    """
    n = feature.values.shape[1]
    if feature.of_labels and len(feature.values) == 1 and np.ptp(feature.values) > 1:
        return _redraw_labels(feature.values[0], others, n_draws, rng)
    fitted, residual = others.split(feature.scores)
    orders = np.empty((n_draws, n), dtype=np.int64)
    nearest = cKDTree(feature.scores.T) if len(feature.values) > 1 else None
    by_value = np.argsort(feature.values[0], kind="stable")
    for order in orders:
        drawn = fitted + residual[:, rng.permutation(n)]
        if nearest is not None:
            order[:] = nearest.query(drawn.T)[1]
            continue
        shuffled = rng.permutation(n)  # equal sums in random order
        order[shuffled[np.argsort(drawn[0, shuffled], kind="stable")]] = by_value
    return orders


def _redraw_labels(
    codes: FloatArray, others: Others, n_draws: int, rng: np.random.Generator
) -> IntArray:
    """Draw labels of each sample by their fitted probabilities; return samples with these."""
    _, first, label = np.unique(codes, return_index=True, return_inverse=True)
    indicators = (label == np.arange(first.size)[:, None]).astype(np.float64)
    fitted, _ = others.split(indicators)
    least = _LEAST_PROBABILITY * indicators.mean(axis=1, keepdims=True)
    upto = np.cumsum(np.maximum(fitted, least), axis=0)
    uniform = rng.random((n_draws, codes.size)) * upto[-1]
    drawn = np.zeros(uniform.shape, dtype=np.int64)
    for bound in upto[:-1]:
        drawn += uniform > bound
    return np.asarray(first[drawn])


def _statistics(rows: FloatArray, residual: FloatArray, orders: IntArray) -> FloatArray:
    """Return the statistic (B,) for the samples in each of some orders (B, n)."""
    by_sample = np.ascontiguousarray(rows.T)
    step = max(1, _AT_ONCE // rows.size)
    parts = [
        np.square(residual @ by_sample[orders[start : start + step]]).sum(axis=(1, 2))
        for start in range(0, len(orders), step)
    ]
    return np.concatenate(parts)
