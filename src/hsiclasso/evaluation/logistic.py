"""Multi-class kernel logistic regression, by which the paper measures accuracy."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from hsiclasso._checks import check_choice, check_positive, check_whole
from hsiclasso._types import AnyArray, FloatArray, IntArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.evaluation.base import KernelModel, Width, check_width, width_of
from hsiclasso.evaluation.kernels import KernelName
from hsiclasso.evaluation.learners import SoftmaxLearner
from hsiclasso.evaluation.spectrum import decompose
from hsiclasso.evaluation.tuning import Folds, Grid, check_folds, folds_of, grid_search

__all__ = ["KernelLogisticRegression", "KernelLogisticRegressionCV"]

_SCORINGS = ("accuracy", "log_likelihood")


class _Classifier(ClassifierMixin, KernelModel):  # type: ignore[misc]
    """Classes by the softmax of functions."""

    tol: float
    max_iter: int

    def decision_function(self, X: Any) -> FloatArray:
        """Return the functions whose softmax are the probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features; for a precomputed kernel that with the samples of the fit.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            For two classes the logarithm of the odds of the second.
        """
        values = self._values(X)
        return values if self.classes_.size > 2 else values[:, 1] - values[:, 0]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return np.asarray(softmax(self._values(X), axis=1))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return np.asarray(log_softmax(self._values(X), axis=1))

    def predict(self, X: Any) -> AnyArray:
        """Return the most probable class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        chosen = self._values(X).argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def _read(self, X: Any, y: Any) -> tuple[FloatArray, IntArray]:
        """Return the table and the codes of the classes."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.size < 2:
            (only,) = self.classes_.tolist()
            raise InvalidInputError(
                f"y holds one class, {only!r}, but there is nothing to tell apart with fewer than "
                "two: check the labels."
            )
        return X, codes

    def _learner(self, scoring: str = "accuracy") -> SoftmaxLearner:
        check_positive("tol", self.tol)
        check_whole("max_iter", self.max_iter)
        return SoftmaxLearner(self.classes_.size, float(self.tol), int(self.max_iter), scoring)

    def _solve(
        self, learner: SoftmaxLearner, comparison: FloatArray, codes: IntArray, alpha: float
    ) -> None:
        """Fit all samples, and set what was found."""
        gram = self.inputs_.kernel.gram(comparison, self.width_)
        spectrum = decompose(gram, bool(self.fit_intercept))
        path = learner.solve(spectrum, codes, np.array([alpha]))
        dual, intercepts = spectrum.expand(path)
        self.dual_coef_, self.intercept_ = np.ascontiguousarray(dual[0].T), intercepts[0]
        self.n_iter_ = int(path.n_iter[0])
        self.gradient_norm_ = float(path.gradient_norms[0])
        if path.n_unsolved:
            warnings.warn(
                f"the gradient has the norm {self.gradient_norm_:.3g} after {self.n_iter_} Newton "
                f"steps, more than tol={self.tol} allows: raise max_iter, tol or the penalty.",
                ConvergenceWarning,
                stacklevel=3,
            )


class KernelLogisticRegression(_Classifier):
    r"""Multi-class kernel logistic regression with a squared penalty.

    .. math:: \min_{B, b} -\frac1n \sum_{i=1}^n \log p_{y_i}(x_i)
              + \frac\alpha2 \operatorname{tr}(B'KB), \qquad
              p(x) = \operatorname{softmax}\Big(\sum_i B_i k(x_i, x) + b\Big)

    with a coefficient for each of n samples and C classes, and the Gaussian kernel
    :math:`k(x, x') = e^{-\|x-x'\|^2/(2\sigma^2)}` of standardised features. The intercepts b are
    free of penalty. Solved by Newton's method in the coordinates of the eigenvectors of K.

    With ``kernel="linear"`` this is scikit-learn's ``LogisticRegression(C=1/(n * alpha))``, for two
    classes ``C=2/(n * alpha)``, as there the penalty is of the difference of the two functions.

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
        Whether there are intercepts.
    tol : float
        Newton's method ends when the norm of the gradient is at most this share of that of the
        penalty: about the relative error of the coefficients, in the norm of the kernel.
    max_iter : int
        Most Newton steps.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    dual_coef_ : ndarray of shape (n_samples, n_classes)
        Coefficients B of the samples; each row sums to 0.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts; they sum to 0.
    width_ : float or None
        Width of the kernel, if it has one.
    inputs_ : Inputs
        The samples of the fit, with the mean and scale of their features.
    gradient_norm_ : float
        Norm of the gradient of the objective in the kernel's space, 0 at the optimum. Intercepts
        count as coefficients of a constant feature, as high as the others are on average.
    n_iter_ : int
        Newton steps.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if X has string column names.

    References
    ----------
    J. Zhu and T. Hastie (2005). Kernel logistic regression and the import vector machine. Journal
    of Computational and Graphical Statistics 14, 185-205.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelLogisticRegression().fit(X[::2], y[::2])
    >>> model.predict_proba(X[1::50]).shape, model.score(X[1::2], y[1::2]) > 0.9
    ((3, 3), True)
    """

    def __init__(
        self,
        *,
        alpha: float = 1e-3,
        kernel: KernelName = "gaussian",
        width: Width = "median",
        standardise: bool = True,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 100,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.width = width
        self.standardise = standardise
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, or the matrix of a precomputed kernel.
        y : array-like of shape (n_samples,)
            Classes, as numbers or strings.

        Returns
        -------
        self
        """
        kernel = self._input_kernel()
        check_width(self.width, kernel)
        check_positive("alpha", self.alpha)
        X, codes = self._read(X, y)
        learner = self._learner()
        comparison = self._compare(X, kernel)
        self.width_ = width_of(self.width, kernel, comparison)
        self._solve(learner, comparison, codes, float(self.alpha))
        return self


class KernelLogisticRegressionCV(_Classifier):
    r"""Multi-class kernel logistic regression, its width and penalty chosen by cross-validation.

    As `KernelLogisticRegression`, whose score on the parts that are left out is looked at for
    every width and penalty: the evaluation of the paper. Each fold is standardised by its own
    training part, while the widths are the same in all.

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
        As for `KernelLogisticRegression`; those other than Gaussian have no widths.
    cv : int, splitter or iterable
        Number of stratified folds, shuffled; or as in scikit-learn.
    scoring : {"accuracy", "log_likelihood"}
        What is to be largest: the share of samples whose class is predicted, or the mean of the
        logarithm of its probability. The other one decides between equals, then the larger
        penalty, then the larger width.
    random_state : int, Generator, RandomState or None
        How samples are shuffled. Only for a number of folds.
    standardise, fit_intercept, tol, max_iter
        As for `KernelLogisticRegression`.

    Attributes
    ----------
    best_width_ : float or None
        Width chosen, if the kernel has one.
    best_alpha_ : float
        Penalty chosen.
    best_score_ : float
        Mean score over folds of these.
    scores_ : GridScores
        Scores of every width, penalty and fold.
    classes_, dual_coef_, intercept_, width_, inputs_, gradient_norm_, n_iter_
        Of the model with the chosen width and penalty on all samples.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if X has string column names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelLogisticRegressionCV(random_state=0).fit(X[::2], y[::2])
    >>> model.scores_.mean.shape, model.best_score_ > 0.9
    ((5, 8), True)
    >>> model.score(X[1::2], y[1::2]) > 0.9
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
        scoring: Literal["accuracy", "log_likelihood"] = "accuracy",
        random_state: Any = None,
        standardise: bool = True,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 100,
    ) -> None:
        self.alphas = alphas
        self.widths = widths
        self.width_factors = width_factors
        self.kernel = kernel
        self.cv = cv
        self.scoring = scoring
        self.random_state = random_state
        self.standardise = standardise
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the width and the penalty, then fit all samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, or the matrix of a precomputed kernel.
        y : array-like of shape (n_samples,)
            Classes, as numbers or strings.

        Returns
        -------
        self
        """
        check_choice("scoring", self.scoring, _SCORINGS)
        check_folds(self.cv, self.random_state)
        kernel = self._input_kernel()
        grid = Grid.of(
            kernel,
            bool(self.fit_intercept),
            alphas=self.alphas,
            widths=self.widths,
            width_factors=self.width_factors,
        )
        X, codes = self._read(X, y)
        learner = self._learner(self.scoring)
        folds = folds_of(self.cv, self.random_state, codes, classifier=True)
        self._check_classes(codes, folds)
        comparison = self._compare(X, kernel)
        self.scores_ = grid_search(
            learner, X, codes, grid=grid, widths=grid.resolve(comparison), folds=folds
        )
        self.best_width_, self.best_alpha_, self.best_score_ = self.scores_.chosen
        self.width_ = self.best_width_
        self._solve(learner, comparison, codes, self.best_alpha_)
        return self

    def _check_classes(self, codes: IntArray, folds: Folds) -> None:
        for train, _ in folds:
            seen = np.unique(codes[train])
            if seen.size < 2:
                only = self.classes_[seen].tolist()
                raise InvalidInputError(
                    f"the training part of a fold holds the classes {only}, but at least two are "
                    "needed: take other folds, or more samples of the other classes."
                )
