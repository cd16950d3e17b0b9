"""The instance-wise non-linear lasso, which selects samples, not features."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.utils.validation import check_is_fitted, validate_data

from hsiclasso._checks import check_positive, check_whole
from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels.scale import median_vector_distance

__all__ = ["InstanceWiseLasso"]

_ALPHA_RATIO = 0.01


@dataclass(kw_only=True, eq=False, repr=False)
class InstanceWiseLasso(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Regression by the instance-wise non-linear lasso.

    .. math:: \min_{\beta \in \mathbb{R}^n} \frac{1}{2n}\|y - b - A\beta\|^2
              + \alpha \|\beta\|_1, \qquad A_{ij} = e^{-\|x_i - x_j\|^2/(2\sigma^2)}

    with the mean squared difference of the d standardised features for
    :math:`\|x_i - x_j\|^2`, and an intercept b. The penalty of the paper is
    :math:`\lambda = n\alpha`.

    A coefficient belongs to a sample, not to a feature: the model keeps few samples, but compares
    others with them in all features. It selects no features, as the second example shows.

    Parameters
    ----------
    alpha : float, default=None
        Penalty > 0, on the scale of scikit-learn.
    alpha_ratio : float, default=None
        Penalty as a share of the least one at which all coefficients are 0; 0.01 if neither is
        given.
    width : float or "median", default="median"
        :math:`\sigma` on the scale of one standardised feature; ``"median"`` is the median of the
        non-zero distances between the samples, of evenly spaced ones if there are more than 2000.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    tol : float, default=1e-6
        Duality gap at which coordinate descent ends, relative to the squared norm of the target.
    max_iter : int, default=100000
        Most sweeps of coordinate descent.

    Attributes
    ----------
    coef_ : ndarray of shape (n_samples,)
        Coefficient of each sample of the fit.
    support_ : ndarray of int
        Samples that are kept: those with a coefficient.
    support_vectors_ : ndarray of shape (n_support, n_features)
        Their standardised features.
    intercept_ : float
    alpha_ : float
        Penalty.
    width_ : float
        Width of the kernel.
    mean_, scale_ : ndarray of shape (n_features,)
        Mean and standard deviation of the features; a constant feature has the deviation 1.
    n_features_in_ : int
    n_iter_ : int
        Sweeps of coordinate descent.

    References
    ----------
    V. Roth (2004). The generalized LASSO. IEEE Transactions on Neural Networks 15, 16-28.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3))
    >>> y = np.sin(X[:, 0]) + X[:, 1] ** 2
    >>> model = InstanceWiseLasso().fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.support_.size < 100
    (True, True)

    Few samples are kept, and the third feature does not matter to y. Yet the prediction changes
    with each of the three, because it depends on distances in all of them:

    >>> [bool(np.ptp(model.predict(np.eye(3)[[k]] * [[-1], [1]])) > 1e-3) for k in range(3)]
    [True, True, True]
    """

    alpha: float | None = None
    alpha_ratio: float | None = None
    width: float | Literal["median"] = "median"
    fit_intercept: bool = True
    tol: float = 1e-6
    max_iter: int = 100_000

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Target.

        Returns
        -------
        self
        """
        self._check()
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        self.mean_ = X.mean(axis=0)
        deviation = X.std(axis=0)
        self.scale_ = np.where(deviation > 0, deviation, 1.0)
        vectors = self._standardised(X)
        if self.width == "median":
            self.width_ = median_vector_distance(vectors.T) / np.sqrt(X.shape[1])
        else:
            self.width_ = float(self.width)
        gram = self._gram(vectors, vectors)
        self.alpha_ = self._penalty(gram, y)
        lasso = Lasso(
            self.alpha_, fit_intercept=self.fit_intercept, tol=self.tol, max_iter=self.max_iter
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            lasso.fit(gram, y)
        self.coef_ = lasso.coef_
        self.intercept_ = float(lasso.intercept_)
        self.support_ = np.flatnonzero(self.coef_)
        self.support_vectors_ = vectors[self.support_]
        self.n_iter_ = int(lasso.n_iter_)
        if caught:
            warnings.warn(
                f"coordinate descent did not converge within max_iter={self.max_iter} sweeps: "
                "raise max_iter, tol or the penalty.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def predict(self, X: Any) -> FloatArray:
        """Predict the target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        gram = self._gram(self._standardised(X), self.support_vectors_)
        return np.asarray(gram @ self.coef_[self.support_] + self.intercept_)

    def _check(self) -> None:
        for name, value in (("alpha", self.alpha), ("alpha_ratio", self.alpha_ratio)):
            if value is not None:
                check_positive(name, value)
        if self.alpha_ratio is not None and self.alpha_ratio > 1:
            raise InvalidInputError(
                f"alpha_ratio={self.alpha_ratio!r}, but a share of the largest penalty is at most "
                "1: 0.01 is the default."
            )
        if self.alpha is not None and self.alpha_ratio is not None:
            raise InvalidInputError(
                f"alpha={self.alpha!r} and alpha_ratio={self.alpha_ratio!r} both set the penalty: "
                "give one of them."
            )
        if not (isinstance(self.width, str) and self.width == "median"):
            check_positive("width", self.width)
        check_positive("tol", self.tol)
        check_whole("max_iter", self.max_iter)

    def _standardised(self, X: FloatArray) -> FloatArray:
        return np.asarray((X - self.mean_) / self.scale_)

    def _gram(self, first: FloatArray, second: FloatArray) -> FloatArray:
        distances = cdist(first, second, "sqeuclidean") / self.n_features_in_
        return np.asarray(np.exp(-0.5 * distances / self.width_**2))

    def _penalty(self, gram: FloatArray, y: FloatArray) -> float:
        if self.alpha is not None:
            return float(self.alpha)
        share = _ALPHA_RATIO if self.alpha_ratio is None else self.alpha_ratio
        target = y - y.mean() if self.fit_intercept else y
        # A is symmetric; centring the target is centring both
        largest = float(np.abs(gram @ target).max()) / y.size
        # a target without variation is fitted by the intercept, whatever the penalty
        return share * largest or 1.0
