"""Comparing samples, standardised or not: by distances, products or a given matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.spatial.distance import cdist

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.errors import InvalidInputError

__all__ = ["KERNELS", "InputKernel", "Inputs", "KernelName", "median_distance"]

KernelName = Literal["gaussian", "linear", "precomputed"]
KERNELS = ("gaussian", "linear", "precomputed")


@dataclass(frozen=True)
class InputKernel:
    """A kernel between samples, apart from its width."""

    name: KernelName = "gaussian"
    standardise: bool = True  # scale features to mean 0 and variance 1 on the samples of the fit

    @property
    def has_width(self) -> bool:
        """Whether there is a width to choose."""
        return self.name == "gaussian"

    @property
    def precomputed(self) -> bool:
        """Whether tables are kernel matrices already."""
        return self.name == "precomputed"

    def learn(self, X: FloatArray) -> tuple[Inputs, FloatArray]:
        """Return the samples of a table (n, d), ready to be compared with others, and a comparison.

        The comparison (n, n) of the samples with each other has squared distances, products, or the
        precomputed kernel matrix.
        """
        n, d = X.shape
        if self.precomputed:
            _check_symmetric(X)
            return Inputs(self, np.empty((0, d)), np.zeros(d), np.ones(d)), X
        mean, scale = np.zeros(d), np.ones(d)
        if self.standardise:
            # squares of huge numbers overflow, those of tiny ones vanish; powers of two are exact
            power = np.frexp(np.abs(X).max(axis=0))[1]
            unit = np.ldexp(X, -power)
            mean, deviation = unit.mean(axis=0), unit.std(axis=0)
            # rounding errors are no variation
            varies = deviation > n * np.finfo(np.float64).eps * np.abs(mean)
            mean = np.ldexp(mean, power)
            scale = np.where(varies, np.ldexp(deviation, power), 1.0)
        inputs = Inputs(self, _shifted(X, mean, scale), mean, scale)
        with np.errstate(over="ignore", invalid="ignore"):
            comparison = inputs.compare(X)
        if not np.isfinite(comparison).all() or (np.ptp(X, axis=0).any() and not comparison.any()):
            raise InvalidInputError(
                f"X has values up to {np.abs(X).max():.3g}, whose squares are too large or too "
                "small for a number: pass standardise=True, or divide the features by their size."
            )
        return inputs, comparison

    def part(self, X: FloatArray, rows: IntArray, samples: IntArray) -> FloatArray:
        """Return rows of a table; of a kernel matrix, only its columns for some samples."""
        return X[np.ix_(rows, samples)] if self.precomputed else X[rows]

    def gram(self, comparison: FloatArray, width: float | None) -> FloatArray:
        """Return the kernel matrix of a comparison: squared distances, products or the matrix."""
        if width is None:
            return comparison
        return np.asarray(np.exp(comparison * (-0.5 / width**2)))


@dataclass(frozen=True)
class Inputs:
    """Samples of a fit, and how they were brought to one scale.

    Attributes
    ----------
    kernel : InputKernel
    vectors : ndarray of shape (n_samples, n_features)
        The samples, standardised if the kernel asks for it; none for a precomputed kernel.
    mean, scale : ndarray of shape (n_features,)
        Subtracted from the features; then they were divided by the scale.
    """

    kernel: InputKernel
    vectors: FloatArray
    mean: FloatArray
    scale: FloatArray

    def compare(self, X: FloatArray) -> FloatArray:
        """Return (m, n) squared distances or products of new samples with those of the fit."""
        if self.kernel.precomputed:
            return X
        vectors = _shifted(X, self.mean, self.scale)
        if self.kernel.has_width:
            return np.asarray(cdist(vectors, self.vectors, "sqeuclidean"))
        return np.asarray(vectors @ self.vectors.T)


def _shifted(X: FloatArray, mean: FloatArray, scale: FloatArray) -> FloatArray:
    """Return features less their means, over their scales; halves do not overflow."""
    return np.asarray((0.5 * X - 0.5 * mean) / (0.5 * scale))


def median_distance(squares: FloatArray) -> float:
    """Median of the non-zero distances, of a matrix (n, n) of squared ones; 1 if there is none.

    Examples
    --------
    >>> median_distance(np.array([[0.0, 0.0, 4.0], [0.0, 0.0, 9.0], [4.0, 9.0, 0.0]]))
    2.5
    """
    above = squares[np.triu_indices(len(squares), 1)]
    apart = np.sqrt(above[above > 0])
    return float(np.median(apart)) if apart.size else 1.0


def _check_symmetric(X: FloatArray) -> None:
    n, d = X.shape
    if n != d:
        raise InvalidInputError(
            f"kernel='precomputed', but X has the shape {X.shape}: pass the square matrix of the "
            "kernel between all samples of the fit."
        )
    if not np.allclose(X, X.T, rtol=1e-7, atol=1e-7 * np.abs(X).max()):
        raise InvalidInputError(
            "kernel='precomputed', but X is not symmetric: pass the matrix of a kernel, where "
            "K[i, j] = K[j, i]."
        )
