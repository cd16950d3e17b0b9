"""Readings of the redundancy rate (RED), to find out which one gives the paper's Table 4.

The paper prints RED = 1 / (m (m - 1)) sum over k > l of |rho_kl|; a mean over the m (m - 1) / 2
pairs is twice that. The readings here are means. They differ in what is correlated: features over
samples, as the text says, or samples over features, which is what ``corrcoef`` gives in MATLAB for
a features x samples matrix, the paper's X; and in the samples that are used.
"""

import numpy as np

from hsiclasso.evaluation import redundancy_rate


def redundancies(X: np.ndarray, train: np.ndarray, test: np.ndarray) -> dict[str, float]:
    """Return the readings besides that of features over training samples.

    `X` has the selected columns of all samples. Samples are compared by the features as they are
    and by features in units of their standard deviation.
    """
    deviations = X[train].std(axis=0)
    scaled = X / np.where(deviations > 0, deviations, 1.0)
    return {
        "features, test": redundancy_rate(X[test]),
        "samples, test": redundancy_rate(X[test].T),
        "scaled samples, test": redundancy_rate(scaled[test].T),
    }
