"""The two kinds of model, as a search over penalties sees them: how to fit, how to score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.special import log_softmax

from hsiclasso._types import AnyArray, FloatArray
from hsiclasso.evaluation.softmax import SoftmaxPath, softmax_path
from hsiclasso.evaluation.spectrum import Path, Spectrum

__all__ = ["Learner", "RidgeLearner", "SoftmaxLearner", "ridge_path"]

#: Least logarithm of a probability that counts, as in scikit-learn.
_LEAST_LOG = float(np.log(np.finfo(np.float64).eps))


class Learner(Protocol):
    """A kind of model, as the search sees it."""

    def solve(self, spectrum: Spectrum, target: AnyArray, alphas: FloatArray) -> Path:
        """Fit a model for each penalty."""
        ...

    def score(self, values: FloatArray, target: AnyArray) -> FloatArray:
        """Return scores (n_alphas, 2) of functions (n_alphas, q, m) at samples left out.

        Larger is better, and the second decides where the first is equal.
        """
        ...


@dataclass(frozen=True)
class SoftmaxLearner:
    """Logistic regression of classes, whose codes are the target."""

    n_classes: int
    tol: float
    max_iter: int
    scoring: str

    def solve(self, spectrum: Spectrum, target: AnyArray, alphas: FloatArray) -> SoftmaxPath:
        """Fit a model for each penalty to the classes that are there."""
        present, codes = np.unique(target, return_inverse=True)
        path = softmax_path(
            spectrum,
            codes,
            alphas,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        if present.size == self.n_classes:
            return path
        # a class without samples has a probability of 0
        k, _, r = path.weights.shape
        weights = np.zeros((k, self.n_classes, r))
        offsets = np.full((k, self.n_classes), -np.inf)
        weights[:, present], offsets[:, present] = path.weights, path.offsets
        return replace(path, weights=weights, offsets=offsets)

    def score(self, values: FloatArray, target: AnyArray) -> FloatArray:
        """Return the accuracy and the mean log-likelihood, first what is to be largest."""
        codes = target.astype(np.int64)
        accuracy = (values.argmax(axis=1) == codes).mean(axis=1)
        chosen = log_softmax(values, axis=1)[:, codes, np.arange(codes.size)]
        likelihood = np.maximum(chosen, _LEAST_LOG).mean(axis=1)
        both = [accuracy, likelihood]
        return np.column_stack(both if self.scoring == "accuracy" else both[::-1])


@dataclass(frozen=True)
class RidgeLearner:
    """Ridge regression of one or more real targets."""

    def solve(self, spectrum: Spectrum, target: AnyArray, alphas: FloatArray) -> Path:
        """Fit a model for each penalty."""
        columns = target.reshape(len(target), -1).astype(np.float64)
        return ridge_path(spectrum, columns, alphas)

    def score(self, values: FloatArray, target: AnyArray) -> FloatArray:
        """Return minus the mean squared error over samples and outputs."""
        columns = target.reshape(len(target), -1).astype(np.float64)
        error = np.square(values - columns.T).mean(axis=(1, 2))
        return np.column_stack([-error, np.zeros_like(error)])


def ridge_path(spectrum: Spectrum, targets: FloatArray, alphas: FloatArray) -> Path:
    r"""Solve kernel ridge regression for each penalty, from one decomposition.

    .. math:: \min_{w, b} \frac{1}{2n} \|y - b1 - Z'w\|^2 + \frac\alpha2 \|w\|^2

    for the features Z of the spectrum has the weights
    :math:`w_j = \sqrt{s_j} u_j'(y - \bar y) / (s_j + n\alpha)`.

    Parameters
    ----------
    spectrum : Spectrum
        Features of n samples, with intercept b or without.
    targets : ndarray of shape (n, q)
        Targets, each on its own.
    alphas : ndarray of shape (n_alphas,)
        Penalties > 0.

    Returns
    -------
    Path
    """
    n, q = targets.shape
    means = targets.mean(axis=0) if spectrum.has_intercept else np.zeros(q)
    parts = (spectrum.features @ (targets - means)).T
    weights = parts / (spectrum.values + n * alphas[:, None])[:, None, :]
    return Path(weights, np.broadcast_to(means, (alphas.size, q)))
