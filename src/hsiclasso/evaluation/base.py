"""What the kernel models share: parameters, the fit, prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted, validate_data

from hsiclasso._checks import check_choice, check_flag, check_positive, is_positive
from hsiclasso._types import AnyArray, FloatArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.evaluation.kernels import KERNELS, InputKernel, KernelName
from hsiclasso.evaluation.spectrum import Path, Spectrum, decompose
from hsiclasso.evaluation.tuning import Folds, Grid, check_folds, folds_of, grid_search

__all__ = ["GivenModel", "KernelModel", "SearchedModel"]


@dataclass(kw_only=True, eq=False, repr=False)
class KernelModel(BaseEstimator):  # type: ignore[misc]
    """A model whose functions are kernels of the samples times `dual_coef_`, plus `intercept_`."""

    kernel: KernelName = "gaussian"
    standardise: bool = True
    fit_intercept: bool = True

    #: Entries that the docstrings of several models have in common.
    _entries: ClassVar[dict[str, str]] = {
        "kernel": """\
kernel : {"gaussian", "linear", "precomputed"}, default="gaussian"
        ``"precomputed"``: X is the kernel matrix, between all samples in `fit`, and between new
        samples and those of the fit in `predict`.
    width : float or "median", default="median"
        :math:`\\sigma` of the Gaussian kernel; ``"median"`` is the median of the non-zero distances
        between the samples.
    standardise : bool, default=True
        Whether to scale features to mean 0 and variance 1 first. A precomputed kernel is left as
        it is.
    fit_intercept : bool, default=True
        Whether to fit an intercept.""",
        "grid": """\
alphas : sequence of float, default=None
        Penalties to try; by default 1e-7, 1e-6 and so on to 1.
    widths : sequence of float, default=None
        Widths to try.
    width_factors : sequence of float, default=None
        Widths to try, as multiples of the median of the non-zero distances between all samples;
        by default 0.25, 0.5, 1, 2 and 4.
    kernel : {"gaussian", "linear", "precomputed"}, default="gaussian"
        Only the Gaussian kernel has a width.
    cv : int, splitter or iterable, default=3
        Number of shuffled folds, stratified for classes; or any value that scikit-learn takes.
    random_state : int, Generator, RandomState or None, default=None
        How to shuffle the samples. Only if `cv` is a number.""",
        "fitted": """\
width_ : float or None
        Width of the kernel; None for a kernel without one.
    inputs_ : Inputs
        The samples of the fit, with the mean and scale of their features.""",
        "chosen": """\
best_width_ : float or None
        Width chosen; None for a kernel without one.
    best_alpha_ : float
        Penalty chosen.
    best_score_ : float
        Their mean score over folds.
    scores_ : GridScores
        Scores of every width, penalty and fold.""",
        "names": """\
n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if X has string column names.""",
    }

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__doc__ = (cls.__doc__ or "") % cls._entries

    def _check(self) -> InputKernel:
        """Check the parameters; return how samples are compared."""
        check_choice("kernel", self.kernel, KERNELS)
        check_flag("standardise", self.standardise)
        check_flag("fit_intercept", self.fit_intercept)
        return InputKernel(self.kernel, bool(self.standardise))

    def _grid(self, kernel: InputKernel) -> Grid:
        """Check the widths and penalties; return what to try."""
        raise NotImplementedError

    def _read(self, X: Any, y: Any) -> tuple[FloatArray, AnyArray]:
        """Check table and target, and return them as arrays."""
        raise NotImplementedError

    def _path(self, spectrum: Spectrum, target: AnyArray, alphas: FloatArray) -> Path:
        """Fit a model for each penalty."""
        raise NotImplementedError

    def _scores(self, values: FloatArray, target: AnyArray) -> FloatArray:
        """Return scores (n_alphas, 2) of functions (n_alphas, q, m) at samples left out.

        Larger is better, and the second decides where the first is equal.
        """
        raise NotImplementedError

    def _check_folds(self, target: AnyArray, folds: Folds) -> None:
        """Raise if a model cannot be fitted to the training part of a fold."""

    def _keep(self, path: Path, target: AnyArray) -> None:
        """Set further attributes of the fitted model."""

    def _settle(
        self, grid: Grid, X: FloatArray, target: AnyArray, comparison: FloatArray
    ) -> tuple[float | None, float]:
        """Return the width, None for a kernel without one, and the penalty."""
        return grid.resolve(comparison)[0], float(grid.alphas[0])

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model, after a search for its width and penalty if it has one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, or a precomputed kernel matrix.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Target. A classifier takes one column of classes, numbers or strings.

        Returns
        -------
        self
        """
        kernel = self._check()
        grid = self._grid(kernel)
        X, target = self._read(X, y)
        self.inputs_, comparison = kernel.learn(X)
        self.width_, alpha = self._settle(grid, X, target, comparison)
        spectrum = decompose(kernel.gram(comparison, self.width_), bool(self.fit_intercept))
        path = self._path(spectrum, target, np.array([alpha]))
        dual, intercepts = spectrum.expand(path)
        # (n, q) and (q,); `_keep` drops the last axis for a real target of shape (n,)
        self.dual_coef_, self.intercept_ = np.ascontiguousarray(dual[0].T), intercepts[0]
        self._keep(path, target)
        return self

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


@dataclass(kw_only=True, eq=False, repr=False)
class GivenModel(KernelModel):
    """A model with a given width and penalty."""

    alpha: float = 1e-3
    width: float | Literal["median"] = "median"

    def _grid(self, kernel: InputKernel) -> Grid:
        check_positive("alpha", self.alpha)
        alphas = np.array([self.alpha], dtype=np.float64)
        if isinstance(self.width, str) and self.width == "median":
            return Grid(kernel, alphas, None, np.ones(1) if kernel.has_width else None)
        if not kernel.has_width:
            raise InvalidInputError(
                f"width={self.width!r}, but kernel={kernel.name!r} has no width: leave it out, or "
                "take kernel='gaussian'."
            )
        if not is_positive(self.width):
            raise InvalidInputError(
                f"width={self.width!r} must be a finite number > 0, or 'median'."
            )
        return Grid(kernel, alphas, np.array([self.width], dtype=np.float64), None)


@dataclass(kw_only=True, eq=False, repr=False)
class SearchedModel(KernelModel):
    """A model whose width and penalty are chosen by cross-validation."""

    alphas: Sequence[float] | None = None
    widths: Sequence[float] | None = None
    width_factors: Sequence[float] | None = None
    cv: Any = 3
    random_state: Any = None

    def _grid(self, kernel: InputKernel) -> Grid:
        check_folds(self.cv, self.random_state)
        return Grid.of(kernel, self.alphas, self.widths, self.width_factors)

    def _settle(
        self, grid: Grid, X: FloatArray, target: AnyArray, comparison: FloatArray
    ) -> tuple[float | None, float]:
        folds = folds_of(self.cv, self.random_state, target, classifier=is_classifier(self))
        self._check_folds(target, folds)
        self.scores_ = grid_search(self, X, target, grid, grid.resolve(comparison), folds)
        self.best_width_, self.best_alpha_, self.best_score_ = self.scores_.chosen
        return self.best_width_, self.best_alpha_
