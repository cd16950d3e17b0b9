"""Kernel ridge regression, by which the paper measures errors of real targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from hsiclasso._types import AnyArray, FloatArray
from hsiclasso.evaluation.base import GivenModel, KernelModel, SearchedModel
from hsiclasso.evaluation.spectrum import Path, Spectrum

__all__ = ["KernelRidgeRegression", "KernelRidgeRegressionCV", "ridge_path"]


def ridge_path(spectrum: Spectrum, targets: FloatArray, alphas: FloatArray) -> Path:
    r"""Solve kernel ridge regression for each penalty, from one decomposition.

    .. math:: \min_{w, b} \frac{1}{2n} \|y - b1 - Z'w\|^2 + \frac\alpha2 \|w\|^2

    for the features Z of the spectrum, with or without an intercept b, and each column of
    `targets` (n, q). The weights are :math:`w_j = \sqrt{s_j} u_j'(y - \bar y) / (s_j + n\alpha)`.
    """
    n, q = targets.shape
    means = targets.mean(axis=0) if spectrum.has_intercept else np.zeros(q)
    parts = (spectrum.features @ (targets - means)).T
    weights = parts / (spectrum.values + n * alphas[:, None])[:, None, :]
    return Path(weights, np.broadcast_to(means, (alphas.size, q)))


def _columns(target: AnyArray) -> FloatArray:
    """Return one or more real targets as columns (n, q)."""
    return target.reshape(len(target), -1).astype(np.float64)


class _Regressor(RegressorMixin, KernelModel):  # type: ignore[misc]
    """Prediction of real targets."""

    def predict(self, X: Any) -> FloatArray:
        """Predict the target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, or the precomputed kernel between these samples and those of the fit.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return self._values(X)

    def _read(self, X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
        X, y = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, multi_output=True, ensure_min_samples=2
        )
        return X, np.asarray(y, dtype=np.float64)

    def _path(self, spectrum: Spectrum, target: AnyArray, alphas: FloatArray) -> Path:
        return ridge_path(spectrum, _columns(target), alphas)

    def _scores(self, values: FloatArray, target: AnyArray) -> FloatArray:
        """Return minus the mean squared error over samples and outputs."""
        error = np.square(values - _columns(target).T).mean(axis=(1, 2))
        return np.column_stack([-error, np.zeros_like(error)])

    def _keep(self, path: Path, target: AnyArray) -> None:
        if target.ndim == 1:
            self.dual_coef_, self.intercept_ = self.dual_coef_[:, 0], float(self.intercept_[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class KernelRidgeRegression(_Regressor, GivenModel):
    r"""Kernel ridge regression with an intercept.

    .. math:: \min_{\beta, b} \frac{1}{2n} \|y - K\beta - b1\|^2 + \frac\alpha2 \beta'K\beta,
              \qquad K_{ij} = e^{-\|x_i-x_j\|^2/(2\sigma^2)}

    of standardised features. The intercept b has no penalty: with :math:`H = I - 11'/n`, the
    coefficients are :math:`\beta = (HKH + n\alpha I)^{-1} (y - \bar y)`.

    Without intercept this is scikit-learn's ``KernelRidge(alpha=n * alpha)``, and with
    ``kernel="linear"`` its ``Ridge(alpha=n * alpha)``.

    Parameters
    ----------
    alpha : float, default=1e-3
        Penalty > 0.
    %(kernel)s

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Coefficients :math:`\beta` of the samples.
    intercept_ : float or ndarray of shape (n_outputs,)
        Intercept b.
    %(fitted)s
    %(names)s

    References
    ----------
    B. Schoelkopf and A. J. Smola (2002). Learning with Kernels. MIT Press.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2))
    >>> y = np.sin(X[:, 0]) + np.tanh(X[:, 1])
    >>> model = KernelRidgeRegression().fit(X[:100], y[:100])
    >>> model.score(X[100:], y[100:]) > 0.9
    True
    """


class KernelRidgeRegressionCV(_Regressor, SearchedModel):
    """Kernel ridge regression, its width and penalty chosen by cross-validation.

    Every width and penalty is scored by minus the mean squared error on the samples left out, as
    in the paper. Each fold is standardised by its own training part; the widths are the same in
    all folds. Among equal scores the larger penalty is chosen, then the larger width.

    Parameters
    ----------
    %(grid)s
    standardise, fit_intercept : bool, default=True
        As for `KernelRidgeRegression`.

    Attributes
    ----------
    %(chosen)s
    dual_coef_, intercept_, width_, inputs_
        The model with the chosen width and penalty, fitted to all samples.
    %(names)s

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2))
    >>> y = np.sin(X[:, 0]) + np.tanh(X[:, 1])
    >>> model = KernelRidgeRegressionCV(random_state=0).fit(X[:100], y[:100])
    >>> model.score(X[100:], y[100:]) > 0.9
    True
    """
