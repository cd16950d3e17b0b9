"""What kernel models share: a function of samples that is a sum of kernels."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from hsiclasso._checks import check_choice, check_flag, check_positive
from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.evaluation.kernels import KERNELS, InputKernel, Inputs, KernelName, median_distance

__all__ = ["KernelModel", "Width", "check_width", "width_of"]

Width = float | Literal["median"]


class KernelModel(BaseEstimator):  # type: ignore[misc]
    """A model whose functions are kernels of the samples times `dual_coef_`, and `intercept_`."""

    kernel: KernelName
    standardise: bool
    fit_intercept: bool
    inputs_: Inputs
    width_: float | None
    #: Coefficients (n, q) and intercepts (q,); of a single real output without the last axis.
    dual_coef_: FloatArray
    intercept_: Any

    def _input_kernel(self) -> InputKernel:
        """Return how samples are compared, which is checked."""
        check_choice("kernel", self.kernel, KERNELS)
        check_flag("standardise", self.standardise)
        check_flag("fit_intercept", self.fit_intercept)
        return InputKernel(self.kernel, bool(self.standardise))

    def _compare(self, X: FloatArray, kernel: InputKernel) -> FloatArray:
        """Learn how samples are compared, and compare those of the fit with each other."""
        self.inputs_, comparison = kernel.learn(X)
        return comparison

    def _values(self, X: Any) -> FloatArray:
        """Return the functions (m, q) at new samples."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        gram = self.inputs_.kernel.gram(self.inputs_.compare(X), self.width_)
        return np.asarray(gram @ self.dual_coef_ + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def check_width(width: Any, kernel: InputKernel) -> None:
    """Raise unless a width has a meaning for the kernel."""
    if isinstance(width, str) and width == "median":
        return
    if not kernel.has_width:
        raise InvalidInputError(
            f"width={width!r}, but kernel={kernel.name!r} has no width: leave it out, or take "
            "kernel='gaussian'."
        )
    if isinstance(width, str):
        raise InvalidInputError(f"width={width!r} must be a finite number > 0, or 'median'.")
    check_positive("width", width)


def width_of(width: Width, kernel: InputKernel, comparison: FloatArray) -> float | None:
    """Return the width in numbers for samples that are compared; None where there is none."""
    if not kernel.has_width:
        return None
    return median_distance(comparison) if width == "median" else float(width)
