r"""Second-order Gaussian knockoffs: copies of a table that know nothing of the target.

Let the rows of Z have mean 0 and correlation matrix C. Knockoffs have the same moments, also
together with Z: swapping a column with its knockoff changes no covariance. For a diagonal S,

.. math:: G = \mathrm{cov}[Z, \tilde Z] = \begin{pmatrix} C & C - S \\ C - S & C \end{pmatrix}

is a covariance matrix if and only if :math:`0 \preceq S \preceq 2C`, because its eigenvalues are
those of S and of 2C - S. A larger s_j makes a knockoff less similar to its original.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.linalg import blas, cho_factor, cho_solve, eigh
from sklearn.covariance import ledoit_wolf

from hsiclasso._blas import single_threaded_blas
from hsiclasso._checks import as_generator, check_choice, check_random_state
from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError

__all__ = [
    "KnockoffModel",
    "Method",
    "equicorrelated",
    "minimum_reconstructability",
    "shrunk_correlation",
]

Method = Literal["mvr", "equicorrelated"]

#: Sweeps of the coordinate descent; it usually takes 5 to 15.
_MAX_SWEEPS = 100
#: The descent stops if no s_j moves by more.
_TOLERANCE = 1e-6
#: Room that equicorrelated s leave below the largest possible one.
_MARGIN = 1e-6


def shrunk_correlation(Z: FloatArray) -> FloatArray:
    r"""Estimate a correlation matrix, shrunk towards the identity (Ledoit and Wolf, 2004).

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Columns with mean 0 and variance 1.

    Returns
    -------
    ndarray of shape (d, d)
        :math:`(1 - \delta) Z^\top Z / n + \delta I`. It is positive definite, also if d > n.
    """
    shrunk, _ = ledoit_wolf(Z, assume_centered=True)
    correlation: FloatArray = np.asarray(shrunk)
    return correlation


def equicorrelated(C: FloatArray) -> FloatArray:
    r"""Return the largest :math:`s_1 = \dots = s_d \le 1` with :math:`S \preceq 2C`.

    Examples
    --------
    >>> equicorrelated(np.array([[1.0, 0.8], [0.8, 1.0]])).round(3)
    array([0.4, 0.4])
    """
    least = float(eigh(C, eigvals_only=True, subset_by_index=[0, 0])[0])
    return np.full(len(C), (1 - _MARGIN) * min(1.0, 2 * least))


def minimum_reconstructability(C: FloatArray) -> FloatArray:
    r"""Return the s with which knockoffs say least about their originals, given all others.

    Minimises the sum of the reciprocal conditional variances (Spector and Janson, 2022),

    .. math:: \tfrac12 \operatorname{tr} G^{-1}
              = \tfrac12 \sum_j \frac{1}{s_j} + \tfrac12 \operatorname{tr} (2C - S)^{-1},

    which is convex in s. Let P be the inverse of 2C - S. Adding :math:`\delta` to s_j changes P
    by a matrix of rank one, and the best :math:`\delta` is
    :math:`(1 - s_j \|P e_j\|) / (P_{jj} + \|P e_j\|)`, which stays inside the constraints.
    A sweep over all j costs O(d^3).

    Parameters
    ----------
    C : ndarray of shape (d, d)
        A positive definite correlation matrix.

    Returns
    -------
    ndarray of shape (d,)

    Examples
    --------
    >>> minimum_reconstructability(np.eye(3))
    array([1., 1., 1.])
    """
    s = np.full(len(C), float(eigh(C, eigvals_only=True, subset_by_index=[0, 0])[0]))
    for _ in range(_MAX_SWEEPS):
        # made anew in every sweep, so that rounding errors do not add up
        P = np.asfortranarray(cho_solve(cho_factor(2 * C - np.diag(s)), np.eye(s.size)))
        before = s.copy()
        with single_threaded_blas():  # threads wait for each other in updates that are so short
            for j in range(s.size):
                p = P[:, j].copy()
                size = float(np.linalg.norm(p))
                step = (1 - s[j] * size) / (p[j] + size)
                s[j] += step
                P = blas.dger(step / (1 - step * p[j]), p, p, a=P, overwrite_a=True)
        if np.abs(s - before).max() <= _TOLERANCE:
            break
    return s


_METHODS = {"mvr": minimum_reconstructability, "equicorrelated": equicorrelated}


@dataclass(frozen=True)
class KnockoffModel:
    r"""The law of Gaussian knockoffs given their originals.

    For rows with mean 0 and covariance C,
    :math:`\tilde z \mid z \sim N(z - S C^{-1} z,\; 2S - S C^{-1} S)`.

    Attributes
    ----------
    correlation : ndarray of shape (d, d)
        C, the covariance matrix of the columns.
    s : ndarray of shape (d,)
        The diagonal of S: 1 less the correlation of each column with its knockoff.
    coefficients : ndarray of shape (d, d)
        :math:`C^{-1} S`: Z times it is what knockoffs lack of Z.
    root : ndarray of shape (d, d)
        The symmetric square root of the conditional covariance :math:`2S - S C^{-1} S`.
    """

    correlation: FloatArray
    s: FloatArray
    coefficients: FloatArray
    root: FloatArray

    @classmethod
    def of(cls, C: FloatArray, method: Method = "mvr") -> KnockoffModel:
        """Choose s for a positive definite correlation matrix.

        Parameters
        ----------
        C : ndarray of shape (d, d)
        method : {"mvr", "equicorrelated"}, default="mvr"
        """
        check_choice("method", method, tuple(_METHODS))
        s = _METHODS[method](C)
        coefficients = cho_solve(cho_factor(C), np.diag(s))
        conditional = 2 * np.diag(s) - s[:, None] * coefficients
        values, vectors = eigh(0.5 * (conditional + conditional.T))
        # the symmetric root: others depend on how rounding turns equal eigenvectors
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return cls(C, s, coefficients, root)

    def sample(self, Z: FloatArray, random_state: Any = None) -> FloatArray:
        """Draw knockoffs of the rows of a table.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            Rows with mean 0 and covariance `correlation`.
        random_state : int, Generator or None, default=None

        Returns
        -------
        ndarray of shape (n, d)

        Examples
        --------
        >>> Z = np.random.default_rng(0).standard_normal((500, 2))
        >>> model = KnockoffModel.of(shrunk_correlation(Z))
        >>> model.sample(Z, random_state=1).shape
        (500, 2)
        """
        check_random_state(random_state)
        if Z.ndim != 2 or Z.shape[1] != self.s.size:
            raise InvalidInputError(
                f"Z has shape {Z.shape}, but the knockoffs are of {self.s.size} columns: pass the "
                "columns that the model was made for."
            )
        noise = as_generator(random_state).standard_normal(Z.shape)
        return np.asarray(Z - Z @ self.coefficients + noise @ self.root)
