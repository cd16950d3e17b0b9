"""Choosing the width of a kernel and the penalty by cross-validation.

The kernel matrix of a width and a fold is decomposed once for all penalties. The distances of a
fold are computed once for all widths.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from hsiclasso._checks import check_random_state, check_whole, is_positive
from hsiclasso._types import AnyArray, FloatArray, IntArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.evaluation.kernels import InputKernel, median_distance
from hsiclasso.evaluation.spectrum import decompose

if TYPE_CHECKING:
    from hsiclasso.evaluation.base import KernelModel

__all__ = ["Folds", "Grid", "GridScores", "check_folds", "folds_of", "grid_search"]

#: Widths to try, in medians of the distance between samples, and penalties.
_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
_ALPHAS = tuple(10.0**power for power in range(-7, 1))
#: Means of the same scores in another order agree in this many digits.
_DIGITS = 12

Folds = list[tuple[IntArray, IntArray]]
#: None alone for a kernel without width.
Widths = tuple[float | None, ...]


@dataclass(frozen=True)
class Grid:
    """What a search tries, and the kernel between samples."""

    kernel: InputKernel
    alphas: FloatArray  # penalties, ascending
    widths: FloatArray | None  # ascending
    factors: FloatArray | None  # widths in medians of the distance between samples

    @staticmethod
    def of(kernel: InputKernel, alphas: Any, widths: Any, width_factors: Any) -> Grid:
        """Check the grid that the user gives."""
        given = {"widths": widths, "width_factors": width_factors}
        asked = [name for name, value in given.items() if value is not None]
        if asked and not kernel.has_width:
            raise InvalidInputError(
                f"{asked[0]}={given[asked[0]]!r}, but kernel={kernel.name!r} has no width: leave "
                "it out, or take kernel='gaussian'."
            )
        if len(asked) == 2:
            raise InvalidInputError(
                f"widths={widths!r} and width_factors={width_factors!r} both set the widths: give "
                "one of them."
            )
        if kernel.has_width and not asked:
            width_factors = _FACTORS
        return Grid(
            kernel,
            positive_grid("alphas", _ALPHAS if alphas is None else alphas),
            None if widths is None else positive_grid("widths", widths),
            None if width_factors is None else positive_grid("width_factors", width_factors),
        )

    def resolve(self, comparison: FloatArray) -> Widths:
        """Return the widths for samples with these squared distances."""
        if self.widths is not None:
            return tuple(self.widths.tolist())
        if self.factors is not None:
            return tuple((median_distance(comparison) * self.factors).tolist())
        return (None,)


@dataclass(frozen=True)
class GridScores:
    """Scores of every width and penalty, larger for better.

    Attributes
    ----------
    widths : tuple of float or None
        Widths; None alone for a kernel without width.
    alphas : tuple of float
        Penalties.
    scores : ndarray of shape (n_widths, n_alphas, n_folds)
        Score on the part that was left out.
    ties : ndarray of shape (n_widths, n_alphas, n_folds)
        Decide between equal scores.
    """

    widths: Widths
    alphas: tuple[float, ...]
    scores: FloatArray
    ties: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Mean score (n_widths, n_alphas) over folds."""
        return np.asarray(self.scores.mean(axis=2))

    @property
    def best(self) -> tuple[int, int]:
        """Place of the best width and penalty.

        Among equal scores the better tie decides, then the larger penalty, then the larger width.
        """
        rows, columns = np.indices(self.mean.shape)
        keys = (rows, columns, self.ties.mean(axis=2).round(_DIGITS), self.mean.round(_DIGITS))
        last = np.lexsort([key.ravel() for key in keys])[-1]
        return int(rows.flat[last]), int(columns.flat[last])

    @property
    def chosen(self) -> tuple[float | None, float, float]:
        """The best width and penalty, and their mean score."""
        width, alpha = self.best
        return self.widths[width], self.alphas[alpha], float(self.mean[width, alpha])

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one record per width and penalty."""
        return [
            {"width": width, "alpha": alpha, "mean_score": float(self.mean[i, j])}
            for i, width in enumerate(self.widths)
            for j, alpha in enumerate(self.alphas)
        ]


def check_folds(cv: Any, random_state: Any) -> None:
    """Raise unless `cv` and `random_state` define folds."""
    check_random_state(random_state)
    if isinstance(cv, int | np.integer):
        check_whole("cv", cv, least=2)
    elif isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise InvalidInputError(
            f"cv={cv!r} must be a whole number >= 2, a splitter, or a list of training and test "
            "parts."
        )
    elif random_state is not None:
        raise InvalidInputError(
            f"random_state={random_state!r} shuffles the folds if cv is a number, but cv gives "
            "them itself: leave it out."
        )


def folds_of(cv: Any, random_state: Any, y: AnyArray, classifier: bool) -> Folds:
    """Return training and test parts: shuffled folds for a number, or those of a splitter."""
    if isinstance(cv, int | np.integer):
        if isinstance(random_state, np.random.Generator):
            random_state = int(random_state.integers(2**31))
        kind = StratifiedKFold if classifier else KFold
        splitter = kind(int(cv), shuffle=True, random_state=random_state)
    else:
        splitter = check_cv(cv, y, classifier=classifier)
    parts = splitter.split(np.zeros((len(y), 1)), y)
    return [(np.asarray(train), np.asarray(test)) for train, test in parts]


def grid_search(
    model: KernelModel, X: FloatArray, y: AnyArray, grid: Grid, widths: Widths, folds: Folds
) -> GridScores:
    """Score every width and penalty on every fold."""
    found = np.empty((len(widths), grid.alphas.size, len(folds), 2))
    kernel, unsolved = grid.kernel, 0
    for fold, (train, test) in enumerate(folds):
        inputs, inner = kernel.learn(kernel.part(X, train, train))
        outer = inputs.compare(kernel.part(X, test, train))
        for place, width in enumerate(widths):
            spectrum = decompose(kernel.gram(inner, width), bool(model.fit_intercept))
            path = model._path(spectrum, y[train], grid.alphas)
            dual, intercepts = spectrum.expand(path)
            values = dual @ kernel.gram(outer, width).T + intercepts[:, :, None]
            found[place, :, fold] = model._scores(values, y[test])
            unsolved += path.n_unsolved
    if unsolved:
        warnings.warn(
            f"{unsolved} of {found[..., 0].size} models of the search did not converge: raise "
            "max_iter, tol or the penalties.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return GridScores(widths, tuple(grid.alphas.tolist()), found[..., 0], found[..., 1])


def positive_grid(name: str, values: Any) -> FloatArray:
    """Return different numbers above 0 in ascending order, or raise."""
    listed = isinstance(values, Iterable) and not isinstance(values, str)
    numbers = list(values) if listed else []
    if not numbers or not all(is_positive(value) for value in numbers):
        raise InvalidInputError(
            f"{name}={values!r} must be a list of one or more finite numbers > 0."
        )
    return np.unique(np.array(numbers, dtype=np.float64))
