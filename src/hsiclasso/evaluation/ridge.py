"""Kernel ridge regression, by which the paper measures errors of real targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from hsiclasso._checks import check_positive
from hsiclasso._types import FloatArray
from hsiclasso.evaluation.base import KernelModel, Width, check_width, width_of
from hsiclasso.evaluation.kernels import KernelName
from hsiclasso.evaluation.learners import RidgeLearner
from hsiclasso.evaluation.spectrum import decompose
from hsiclasso.evaluation.tuning import Grid, check_folds, folds_of, grid_search

__all__ = ["KernelRidgeRegression", "KernelRidgeRegressionCV"]


class _Regressor(RegressorMixin, KernelModel):  # type: ignore[misc]
    """Real targets by functions."""

    def predict(self, X: Any) -> FloatArray:
        """Predict the target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features; for a precomputed kernel that with the samples of the fit.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return self._values(X)

    def _read(self, X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
        """Return the table and the target as numbers."""
        X, y = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, multi_output=True, ensure_min_samples=2
        )
        return X, np.asarray(y, dtype=np.float64)

    def _solve(self, comparison: FloatArray, y: FloatArray, alpha: float) -> None:
        """Fit all samples, and set what was found."""
        gram = self.inputs_.kernel.gram(comparison, self.width_)
        spectrum = decompose(gram, bool(self.fit_intercept))
        dual, intercepts = spectrum.expand(RidgeLearner().solve(spectrum, y, np.array([alpha])))
        self.dual_coef_, self.intercept_ = np.ascontiguousarray(dual[0].T), intercepts[0]
        if y.ndim == 1:
            self.dual_coef_, self.intercept_ = self.dual_coef_[:, 0], float(intercepts[0, 0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class KernelRidgeRegression(_Regressor):
    r"""Kernel ridge regression with an intercept.

    .. math:: \min_{\beta, b} \frac{1}{2n} \|y - K\beta - b1\|^2 + \frac\alpha2 \beta'K\beta,
              \qquad K_{ij} = e^{-\|x_i-x_j\|^2/(2\sigma^2)}

    of standardised features. The intercept b is free of penalty: with :math:`H = I - 11'/n`, the
    coefficients are :math:`\beta = (HKH + n\alpha I)^{-1} (y - \bar y)`.

    Without intercept this is scikit-learn's ``KernelRidge(alpha=n * alpha)``, and with
    ``kernel="linear"`` its ``Ridge(alpha=n * alpha)``.

    Parameters
    ----------
    alpha : float
        Penalty > 0.
    kernel : {"gaussian", "linear", "precomputed"}
        ``"precomputed"`` takes the matrix of a kernel, between all samples in `fit`, and between
        new samples and those of the fit later.
    width : float or "median"
        :math:`\sigma` of the Gaussian kernel; ``"median"`` is the median of the non-zero distances
        between the samples.
    standardise : bool
        Whether features are brought to mean 0 and variance 1 first. Nothing is done to a
        precomputed kernel.
    fit_intercept : bool
        Whether there is an intercept.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Coefficients :math:`\beta` of the samples.
    intercept_ : float or ndarray of shape (n_outputs,)
    width_ : float or None
        Width of the kernel, if it has one.
    inputs_ : Inputs
        The samples of the fit, with the mean and scale of their features.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if X has string column names.

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

    def __init__(
        self,
        *,
        alpha: float = 1e-3,
        kernel: KernelName = "gaussian",
        width: Width = "median",
        standardise: bool = True,
        fit_intercept: bool = True,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.width = width
        self.standardise = standardise
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, or the matrix of a precomputed kernel.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Real targets.

        Returns
        -------
        self
        """
        kernel = self._input_kernel()
        check_width(self.width, kernel)
        check_positive("alpha", self.alpha)
        X, y = self._read(X, y)
        comparison = self._compare(X, kernel)
        self.width_ = width_of(self.width, kernel, comparison)
        self._solve(comparison, y, float(self.alpha))
        return self


class KernelRidgeRegressionCV(_Regressor):
    """Kernel ridge regression, its width and penalty chosen by cross-validation.

    As `KernelRidgeRegression`, whose mean squared error on the parts that are left out is looked
    at for every width and penalty: the evaluation of the paper. Each fold is standardised by its
    own training part, while the widths are the same in all.

    Parameters
    ----------
    alphas : sequence of float, optional
        Penalties to try; by default 1e-7, 1e-6 and so on to 1.
    widths : sequence of float, optional
        Widths to try.
    width_factors : sequence of float, optional
        Widths to try, in medians of the non-zero distances between all samples; by default 0.25,
        0.5, 1, 2 and 4.
    kernel : {"gaussian", "linear", "precomputed"}
        As for `KernelRidgeRegression`; those other than Gaussian have no widths.
    cv : int, splitter or iterable
        Number of folds, shuffled; or as in scikit-learn.
    random_state : int, Generator, RandomState or None
        How samples are shuffled. Only for a number of folds.
    standardise, fit_intercept
        As for `KernelRidgeRegression`.

    Attributes
    ----------
    best_width_ : float or None
        Width chosen, if the kernel has one. Among equals the larger penalty is chosen, then the
        larger width.
    best_alpha_ : float
        Penalty chosen.
    best_score_ : float
        Minus the mean squared error of these, a mean over folds.
    scores_ : GridScores
        The same of every width, penalty and fold.
    dual_coef_, intercept_, width_, inputs_
        Of the model with the chosen width and penalty on all samples.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if X has string column names.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2))
    >>> y = np.sin(X[:, 0]) + np.tanh(X[:, 1])
    >>> model = KernelRidgeRegressionCV(random_state=0).fit(X[:100], y[:100])
    >>> model.score(X[100:], y[100:]) > 0.9
    True
    """

    def __init__(
        self,
        *,
        alphas: Sequence[float] | None = None,
        widths: Sequence[float] | None = None,
        width_factors: Sequence[float] | None = None,
        kernel: KernelName = "gaussian",
        cv: Any = 3,
        random_state: Any = None,
        standardise: bool = True,
        fit_intercept: bool = True,
    ) -> None:
        self.alphas = alphas
        self.widths = widths
        self.width_factors = width_factors
        self.kernel = kernel
        self.cv = cv
        self.random_state = random_state
        self.standardise = standardise
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the width and the penalty, then fit all samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, or the matrix of a precomputed kernel.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Real targets.

        Returns
        -------
        self
        """
        check_folds(self.cv, self.random_state)
        kernel = self._input_kernel()
        grid = Grid.of(
            kernel,
            bool(self.fit_intercept),
            alphas=self.alphas,
            widths=self.widths,
            width_factors=self.width_factors,
        )
        X, y = self._read(X, y)
        folds = folds_of(self.cv, self.random_state, y, classifier=False)
        comparison = self._compare(X, kernel)
        self.scores_ = grid_search(
            RidgeLearner(), X, y, grid=grid, widths=grid.resolve(comparison), folds=folds
        )
        self.best_width_, self.best_alpha_, self.best_score_ = self.scores_.chosen
        self.width_ = self.best_width_
        self._solve(comparison, y, self.best_alpha_)
        return self
