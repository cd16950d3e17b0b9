r"""What kernel ridge regression on the selected features leaves of the target's embedding.

The selected columns S share one Gaussian kernel, whose distances are means over them. With its
centred Gram matrix K and that of the target L, the smoother and what it leaves are

.. math:: H = K (K + \epsilon n I)^{-1}, \qquad R = (I - H) L (I - H)

and the error at a sample that is left out of the regression is known without another one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.parts import for_parts

__all__ = ["ConditionalHSIC", "Ridge", "RidgeCriterion"]

#: Entries of matrices between samples that are held together.
_ENTRIES = 1 << 17
#: Rows of such matrices that are held together.
_ROWS = 64
#: Eigenvalues of the target up to this share of the largest are left out.
_NEGLIGIBLE = 1e-10
#: Gains up to this are rounding errors.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Ridge:
    """Kernel ridge regression on standardised columns: width of one column, and epsilon."""

    width: float
    epsilon: float

    def gamma(self, size: int) -> float:
        """Return the factor of squared distances in the kernel of so many columns."""
        return 0.5 / (self.width**2 * size)


@dataclass(frozen=True)
class _Fit:
    """The regression on some columns."""

    distances: FloatArray  # squared, (n, n)
    kernel: FloatArray  # K (n, n)
    smoother: FloatArray  # H (n, n)
    size: int  # number of columns


class _Regression:
    """The target's embedding, regressed on the features added so far.

    Parameters
    ----------
    columns : ndarray of shape (d, n)
        Standardised, contiguous.
    gram : ndarray of shape (n, n)
        Gram matrix of the target.
    ridge : Ridge
    n_threads : int, default=1
    """

    def __init__(
        self, columns: FloatArray, gram: FloatArray, ridge: Ridge, *, n_threads: int = 1
    ) -> None:
        self._columns, self._ridge, self._n_threads = columns, ridge, n_threads
        self._n = len(gram)
        self._target = gram.copy()
        _centre(self._target)
        nothing = np.zeros_like(gram)
        self._fit = _Fit(nothing, nothing, nothing, 0)
        self._total = self._error(self._fit)
        #: Share of the target that is explained at samples left out of the regression.
        self.explained = 0.0

    def add(self, feature: int, gain: float) -> None:
        """Add a feature."""
        self._fit = self._with(feature)
        self.explained = self._share(self._fit)

    def _with(self, feature: int) -> _Fit:
        """Return the regression with one feature more."""
        distances, size = self._fit.distances.copy(), self._fit.size + 1
        distances += np.square(self._columns[feature][:, None] - self._columns[feature])
        kernel = np.exp(-self._ridge.gamma(size) * distances)
        _centre(kernel)
        smoother = np.linalg.solve(kernel + self._penalty(), kernel)
        return _Fit(distances, kernel, smoother.astype(np.float64, copy=False), size)

    def _penalty(self) -> FloatArray:
        return self._ridge.epsilon * self._n * np.eye(self._n)

    def _left(self, fit: _Fit) -> FloatArray:
        """Return R, what is left of the target's matrix."""
        less = self._target - fit.smoother @ self._target
        return np.asarray(less - less @ fit.smoother.T)

    def _error(self, fit: _Fit) -> float:
        """Sum of the squared errors at samples that are left out of the regression."""
        # the mean is not penalised: its smoother has 1 / n everywhere
        kept = 1.0 - np.diag(fit.smoother) - 1.0 / self._n
        return float(np.sum(np.diag(self._left(fit)) / np.square(kept)))

    def _share(self, fit: _Fit) -> float:
        """Return the share of the target that is explained at samples left out."""
        return 1.0 - self._error(fit) / self._total


class RidgeCriterion(_Regression):
    r"""The RKHS estimate of the kernel partial correlation of candidates.

    With the smoothers of S and of S with a candidate j, it is

    .. math:: \tilde\rho^2 = \frac{\operatorname{tr}\big((H_{S \cup j} - H_S) L
              (H_{S \cup j} - H_S)\big)}{\operatorname{tr}\big((I - H_S) L (I - H_S)\big)} .
    """

    def gains(self, candidates: IntArray) -> FloatArray:
        """Return the partial correlation of each candidate with the target."""
        rows, penalty = self._rows(), self._penalty()
        base, left = self._fit.smoother @ rows, float(np.trace(self._left(self._fit)))
        gamma, found = self._ridge.gamma(self._fit.size + 1), np.empty(candidates.size)

        def work(part: slice) -> None:
            z = self._columns[candidates[part]]
            kernels = _squares(z, z)
            kernels += self._fit.distances
            _gaussian(kernels, gamma)
            _centre(kernels)
            kernels += penalty
            # K (K + eps n I)^-1 F = F - eps n (K + eps n I)^-1 F
            smoothed = rows - penalty[0, 0] * np.linalg.solve(kernels, rows[None])
            found[part] = np.square(smoothed - base).sum(axis=(1, 2))

        for_parts(work, candidates.size, max(1, _ENTRIES // self._n**2), self._n_threads)
        return found / left if left > 0 else np.zeros_like(found)

    def worth(self, candidates: IntArray, gains: FloatArray) -> bool:
        """Tell whether samples left out are explained better with the best candidate."""
        best = int(candidates[np.argmax(gains)])
        return self._share(self._with(best)) > self.explained + _ROUNDING

    def _rows(self) -> FloatArray:
        """Return F (n, p) with F F' the centred matrix of the target."""
        values, vectors = np.linalg.eigh(self._target)
        kept = values > _NEGLIGIBLE * values[-1]
        return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


class ConditionalHSIC(_Regression):
    r"""HSIC of candidates with what is left of the target, alone and together with S.

    With the centred Gram matrices :math:`K_j` of a candidate and :math:`K_S` of all added features
    together, scaled to a mean diagonal of 1, it is

    .. math:: \frac1{(n-1)^2} \big\langle K_j + K_j \circ K_S, R \big\rangle

    where the second matrix is that of interactions between the candidate and S.

    Parameters
    ----------
    columns, gram, ridge, n_threads
        As for any regression.
    level : float
        Level of the permutation test that ends the selection.
    rng : numpy.random.Generator
    """

    def __init__(
        self,
        columns: FloatArray,
        gram: FloatArray,
        ridge: Ridge,
        *,
        level: float,
        rng: np.random.Generator,
        n_threads: int = 1,
    ) -> None:
        super().__init__(columns, gram, ridge, n_threads=n_threads)
        self._rng, self._n_permutations = rng, int(np.ceil(1 / level - 1e-9)) - 1

    def gains(self, candidates: IntArray) -> FloatArray:
        """Return the conditional HSIC of each candidate."""
        return self._hsic(candidates, [np.arange(self._n)])[:, 0]

    def worth(self, candidates: IntArray, gains: FloatArray) -> bool:
        """Tell whether the best candidate exceeds the best of each of some permutations."""
        orders = [self._rng.permutation(self._n) for _ in range(self._n_permutations)]
        return bool(gains.max() > max(0.0, self._hsic(candidates, orders).max()))

    def _coupling(self) -> FloatArray:
        """Return the matrix whose inner product with a candidate's Gram matrix is its HSIC."""
        left = self._left(self._fit)
        if self._fit.size:
            left *= 1.0 + self._fit.kernel * (self._n / np.trace(self._fit.kernel))
        _centre(left)
        return left / (self._n - 1) ** 2

    def _hsic(self, candidates: IntArray, orders: list[IntArray]) -> FloatArray:
        """Return the conditional HSIC of candidates, with R in each of some orders of samples."""
        coupling, sums = self._coupling(), np.zeros((candidates.size, len(orders)))
        step = max(1, _ENTRIES // (_ROWS * self._n))
        for start in range(0, self._n, _ROWS):
            rows = slice(start, start + _ROWS)
            weights = np.array([coupling[np.ix_(order[rows], order)].ravel() for order in orders])

            def work(part: slice, rows: slice = rows, weights: FloatArray = weights) -> None:
                z = self._columns[candidates[part]]
                kernels = _squares(z[:, rows], z)
                # the coupling is centred, so the kernels of candidates need not be
                _gaussian(kernels, self._ridge.gamma(1))
                sums[part] += kernels.reshape(len(z), -1) @ weights.T

            for_parts(work, candidates.size, step, self._n_threads)
        return sums


# These work in place, because matrices of many candidates are costly to allocate.


def _squares(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return squared differences between the entries of rows, (k, n) and (k, m), as (k, n, m)."""
    made = a[:, :, None] - b[:, None]
    return np.square(made, out=made)


def _gaussian(squares: FloatArray, gamma: float) -> None:
    """Turn squared distances into values of the kernel."""
    squares *= -gamma
    np.exp(squares, out=squares)


def _centre(matrices: FloatArray) -> None:
    """Remove the means of rows and columns of matrices (..., n, n)."""
    matrices -= matrices.mean(axis=-1, keepdims=True)
    matrices -= matrices.mean(axis=-2, keepdims=True)
