"""What the kernel models share: parameters, fitting with given or searched values, prediction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted, validate_data

from hsiclasso._checks import check_choice, check_flag, check_positive
from hsiclasso._types import AnyArray, FloatArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.evaluation.kernels import KERNELS, InputKernel, Inputs, KernelName, median_distance
from hsiclasso.evaluation.learners import Learner
from hsiclasso.evaluation.spectrum import Path, decompose
from hsiclasso.evaluation.tuning import Folds, Grid, check_folds, folds_of, grid_search

__all__ = ["GivenModel", "KernelModel", "SearchedModel", "Width"]

Width = float | Literal["median"]
#: Width, None for a kernel without one, and penalty; and how they are settled on the table, the
#: target and the comparison of the samples.
Settled = tuple[float | None, float]
Plan = Callable[[FloatArray, AnyArray, FloatArray], Settled]


class KernelModel(BaseEstimator):  # type: ignore[misc]
    """A model whose functions are kernels of the samples times `dual_coef_`, plus `intercept_`."""

    kernel: KernelName
    standardise: bool
    fit_intercept: bool
    inputs_: Inputs
    width_: float | None
    #: Coefficients (n, q) and intercepts (q,); without the last axis for a target of shape (n,).
    dual_coef_: FloatArray
    intercept_: Any

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
        for name, entry in cls._entries.items():
            cls.__doc__ = (cls.__doc__ or "").replace(f"%({name})s", entry)

    def _check(self) -> InputKernel:
        """Check the parameters; return how samples are compared."""
        check_choice("kernel", self.kernel, KERNELS)
        check_flag("standardise", self.standardise)
        check_flag("fit_intercept", self.fit_intercept)
        return InputKernel(self.kernel, bool(self.standardise))

    def _read(self, X: Any, y: Any) -> tuple[FloatArray, AnyArray]:
        """Check table and target, and return them as arrays."""
        raise NotImplementedError

    def _learner(self) -> Learner:
        """Return how a model is fitted and scored."""
        raise NotImplementedError

    def _check_folds(self, target: AnyArray, folds: Folds) -> None:
        """Raise if a model cannot be fitted to the training part of a fold."""

    def _keep(self, path: Path, target: AnyArray) -> None:
        """Set further attributes of the fitted model."""

    def _plan(self, kernel: InputKernel) -> Plan:
        """Check the parameters of width and penalty; return how these are settled on data."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model; a search chooses its width and penalty first.

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
        settle = self._plan(kernel)
        X, target = self._read(X, y)
        self.inputs_, comparison = kernel.learn(X)
        self.width_, alpha = settle(X, target, comparison)
        self._solve(self._learner(), comparison, target, alpha)
        return self

    def _solve(
        self, learner: Learner, comparison: FloatArray, target: AnyArray, alpha: float
    ) -> None:
        """Fit all samples, and set the fitted attributes."""
        gram = self.inputs_.kernel.gram(comparison, self.width_)
        spectrum = decompose(gram, bool(self.fit_intercept))
        path = learner.solve(spectrum, target, np.array([alpha]))
        dual, intercepts = spectrum.expand(path)
        self.dual_coef_, self.intercept_ = np.ascontiguousarray(dual[0].T), intercepts[0]
        self._keep(path, target)

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


class GivenModel(KernelModel):
    """A model with a given width and penalty."""

    alpha: float
    width: Width

    def _plan(self, kernel: InputKernel) -> Plan:
        _check_width(self.width, kernel)
        check_positive("alpha", self.alpha)

        def settle(X: FloatArray, target: AnyArray, comparison: FloatArray) -> Settled:
            if not kernel.has_width:
                return None, float(self.alpha)
            median = self.width == "median"
            width = median_distance(comparison) if median else float(self.width)
            return width, float(self.alpha)

        return settle


class SearchedModel(KernelModel):
    """A model whose width and penalty are chosen by cross-validation."""

    alphas: Sequence[float] | None
    widths: Sequence[float] | None
    width_factors: Sequence[float] | None
    cv: Any
    random_state: Any

    def _plan(self, kernel: InputKernel) -> Plan:
        check_folds(self.cv, self.random_state)
        grid = Grid.of(
            kernel,
            bool(self.fit_intercept),
            alphas=self.alphas,
            widths=self.widths,
            width_factors=self.width_factors,
        )

        def settle(X: FloatArray, target: AnyArray, comparison: FloatArray) -> Settled:
            folds = folds_of(self.cv, self.random_state, target, classifier=is_classifier(self))
            self._check_folds(target, folds)
            widths = grid.resolve(comparison)
            self.scores_ = grid_search(
                self._learner(), X, target, grid=grid, widths=widths, folds=folds
            )
            self.best_width_, self.best_alpha_, self.best_score_ = self.scores_.chosen
            return self.best_width_, self.best_alpha_

        return settle


def _check_width(width: Any, kernel: InputKernel) -> None:
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
