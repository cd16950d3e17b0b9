"""Readings of the redundancy rate (RED), to find out which one gives the paper's Table 4.

The paper prints RED = 1 / (m (m - 1)) sum over k > l of |rho_kl|; a mean over the m (m - 1) / 2
pairs is twice that. The readings here are means. They differ in the samples that are used, and in
what is correlated:

- features over samples, as the text says;
- samples over features, which is what ``corrcoef`` gives in MATLAB for the paper's X, whose
  columns are samples;
- features centred (or standardised) *across*, then the cosine of two features. ``X - mean(X)`` and
  ``zscore(X)`` go down the columns of that X: they subtract from each sample its mean over the
  selected features, instead of from each feature its mean over the samples.
"""

import numpy as np

from hsiclasso.evaluation import redundancy_rate

#: The reading that gives the printed numbers.
ACROSS = "features centred across, test"


def redundancies(X: np.ndarray, train: np.ndarray, test: np.ndarray) -> dict[str, float]:
    """Return the readings besides that of features over training samples.

    `X` has the selected columns of all samples. Samples are compared by the features as they are
    and by features in units of their standard deviation.
    """
    scaled = X / _divisor(X[train], 0)
    centred = X - X.mean(axis=1, keepdims=True)
    return {
        "features, test": redundancy_rate(X[test]),
        "samples, test": redundancy_rate(X[test].T),
        "scaled samples, test": redundancy_rate(scaled[test].T),
        ACROSS: _mean_cosine(centred[test]),
        "features standardised across, test": _mean_cosine((centred / _divisor(X, 1))[test]),
    }


def _divisor(X: np.ndarray, axis: int) -> np.ndarray:
    deviations = X.std(axis=axis, keepdims=True)
    return np.where(deviations > 0, deviations, 1.0)


def _mean_cosine(X: np.ndarray) -> float:
    """Mean |cosine| of two columns."""
    return redundancy_rate(np.vstack([X, -X]))
