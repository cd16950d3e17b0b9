"""Measures of dependence that the paper has no formula for, in slow, plain NumPy.

Nothing here imports the package.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls


def class_conditional_information(K, classes):
    """Mean log of p(x | class) / p(x), each a mean of windows."""
    classes = np.asarray(classes)
    within = [K[i, classes == c].mean() for i, c in enumerate(classes)]
    return np.mean(np.log(np.array(within) / K.mean(axis=1)))


def correlation_ratio(x, classes):
    """Square root of 1 - SS_within / SS_total."""
    x, classes = np.asarray(x, dtype=float), np.asarray(classes)
    within = sum(np.sum((x[classes == c] - x[classes == c].mean()) ** 2) for c in set(classes))
    return np.sqrt(1 - within / np.sum((x - x.mean()) ** 2))


def multiple_correlation(x, outputs):
    """Correlation of x with its least-squares fit by a constant and the columns of (n, q)."""
    design = np.column_stack([np.ones(len(x)), outputs])
    fit = design @ np.linalg.lstsq(design, x, rcond=None)[0]
    return np.sqrt(np.sum((fit - x.mean()) ** 2) / np.sum((x - x.mean()) ** 2))


def aligned_weights(matrices, target):
    """Least squares with weights >= 0, on the matrices as vectors."""
    design = np.array([np.ravel(K) for K in matrices]).T
    return nnls(design, np.ravel(target), maxiter=100 * len(matrices))[0]
