"""Multi-class kernel logistic regression, by which the paper measures accuracy."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from hsiclasso._checks import check_choice, check_positive, check_whole
from hsiclasso._types import AnyArray, FloatArray, IntArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.evaluation.base import GivenModel, KernelModel, SearchedModel
from hsiclasso.evaluation.kernels import InputKernel
from hsiclasso.evaluation.softmax import SoftmaxPath, softmax_path
from hsiclasso.evaluation.spectrum import Path, Spectrum
from hsiclasso.evaluation.tuning import Folds

__all__ = ["KernelLogisticRegression", "KernelLogisticRegressionCV"]

#: Least logarithm of a probability that counts, as in scikit-learn.
_LEAST_LOG = float(np.log(np.finfo(np.float64).eps))


@dataclass(kw_only=True, eq=False, repr=False)
class _Classifier(ClassifierMixin, KernelModel):  # type: ignore[misc]
    """Prediction of classes, by the softmax of functions.

    All methods take X of shape (n_samples, n_features): features, or the precomputed kernel
    between these samples and those of the fit.
    """

    tol: float = 1e-4
    max_iter: int = 100

    def decision_function(self, X: Any) -> FloatArray:
        """Return the functions (n_samples, n_classes) whose softmax are the probabilities.

        With two classes, return the log-odds (n_samples,) of the second one.
        """
        values = self._values(X)
        return values if self.classes_.size > 2 else values[:, 1] - values[:, 0]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class, shape (n_samples, n_classes)."""
        return np.asarray(softmax(self._values(X), axis=1))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the log-probability of each class, shape (n_samples, n_classes)."""
        return np.asarray(log_softmax(self._values(X), axis=1))

    def predict(self, X: Any) -> AnyArray:
        """Return the most probable class of each sample, shape (n_samples,)."""
        chosen = self._values(X).argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def _check(self) -> InputKernel:
        check_positive("tol", self.tol)
        check_whole("max_iter", self.max_iter)
        return super()._check()

    def _read(self, X: Any, y: Any) -> tuple[FloatArray, IntArray]:
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.size < 2:
            (only,) = self.classes_.tolist()
            raise InvalidInputError(
                f"y has one class, {only!r}, but a classifier needs at least two: check the labels."
            )
        return X, codes

    def _path(self, spectrum: Spectrum, target: AnyArray, alphas: FloatArray) -> SoftmaxPath:
        """Fit a model for each penalty to the classes that the target has."""
        n_classes = self.classes_.size
        present, codes = np.unique(target, return_inverse=True)
        path = softmax_path(
            spectrum, codes, alphas, tol=float(self.tol), max_iter=int(self.max_iter)
        )
        if present.size == n_classes:
            return path
        # a class without samples has a probability of 0
        k, _, r = path.weights.shape
        weights, offsets = np.zeros((k, n_classes, r)), np.full((k, n_classes), -np.inf)
        weights[:, present], offsets[:, present] = path.weights, path.offsets
        return replace(path, weights=weights, offsets=offsets)

    def _scores(self, values: FloatArray, target: AnyArray) -> FloatArray:
        """Return the accuracy and the mean log-likelihood, first the one to maximise."""
        accuracy = (values.argmax(axis=1) == target).mean(axis=1)
        chosen = log_softmax(values, axis=1)[:, target, np.arange(target.size)]
        likelihood = np.maximum(chosen, _LEAST_LOG).mean(axis=1)
        both = [accuracy, likelihood]
        return np.column_stack(both if self.scoring == "accuracy" else both[::-1])

    def _check_folds(self, target: AnyArray, folds: Folds) -> None:
        for train, _ in folds:
            seen = np.unique(target[train])
            if seen.size < 2:
                only = self.classes_[seen].tolist()
                raise InvalidInputError(
                    f"the training part of a fold has the classes {only}, but at least two are "
                    "needed: take other folds, or more samples of the other classes."
                )

    def _keep(self, path: Path, target: AnyArray) -> None:
        assert isinstance(path, SoftmaxPath)
        self.n_iter_ = int(path.n_iter[0])
        self.gradient_norm_ = float(path.gradient_norms[0])
        if path.n_unsolved:
            warnings.warn(
                f"the gradient has the norm {self.gradient_norm_:.3g} after {self.n_iter_} Newton "
                f"steps, more than tol={self.tol} allows: raise max_iter, tol or the penalty.",
                ConvergenceWarning,
                stacklevel=3,
            )


@dataclass(kw_only=True, eq=False, repr=False)
class KernelLogisticRegression(_Classifier, GivenModel):
    r"""Multi-class kernel logistic regression with a squared penalty.

    .. math:: \min_{B, b} -\frac1n \sum_{i=1}^n \log p_{y_i}(x_i)
              + \frac\alpha2 \operatorname{tr}(B'KB), \qquad
              p(x) = \operatorname{softmax}\Big(\sum_i B_i k(x_i, x) + b\Big)

    with a coefficient for each of n samples and C classes, and the Gaussian kernel
    :math:`k(x, x') = e^{-\|x-x'\|^2/(2\sigma^2)}` of standardised features. The intercepts b have
    no penalty. Solved by Newton's method in the coordinates of the eigenvectors of K.

    With ``kernel="linear"`` this is scikit-learn's ``LogisticRegression(C=1/(n * alpha))``; for two
    classes ``C=2/(n * alpha)``, because there the penalty is on the difference of the functions.

    Parameters
    ----------
    alpha : float, default=1e-3
        Penalty > 0.
    %(kernel)s
    tol : float, default=1e-4
        Newton's method ends when the norm of the gradient is at most this share of the norm of
        the penalty's gradient. This is about the relative error of the coefficients, in the norm
        of the kernel.
    max_iter : int, default=100
        Most Newton steps.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    dual_coef_ : ndarray of shape (n_samples, n_classes)
        Coefficients B of the samples; each row sums to 0.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts; they sum to 0.
    %(fitted)s
    gradient_norm_ : float
        Norm of the gradient of the objective in the kernel's space, 0 at the optimum. Intercepts
        count as coefficients of a constant feature with the mean size of the others.
    n_iter_ : int
        Newton steps.
    %(names)s

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


@dataclass(kw_only=True, eq=False, repr=False)
class KernelLogisticRegressionCV(_Classifier, SearchedModel):
    r"""Multi-class kernel logistic regression, its width and penalty chosen by cross-validation.

    Every width and penalty is scored on the samples left out, as in the paper. Each fold is
    standardised by its own training part; the widths are the same in all folds.

    Parameters
    ----------
    %(grid)s
    scoring : {"accuracy", "log_likelihood"}, default="accuracy"
        Score to maximise: the share of samples whose class is predicted, or the mean
        log-probability of the true class. Among equal scores the other score decides, then the
        larger penalty, then the larger width.
    standardise, fit_intercept : bool, default=True
    tol : float, default=1e-4
    max_iter : int, default=100
        As for `KernelLogisticRegression`.

    Attributes
    ----------
    %(chosen)s
    classes_, dual_coef_, intercept_, width_, inputs_, gradient_norm_, n_iter_
        The model with the chosen width and penalty, fitted to all samples.
    %(names)s

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

    scoring: Literal["accuracy", "log_likelihood"] = "accuracy"

    def _check(self) -> InputKernel:
        check_choice("scoring", self.scoring, ("accuracy", "log_likelihood"))
        return super()._check()
