"""Checking a target vector and turning it into numbers with a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata
from sklearn.utils import assert_all_finite, column_or_1d

from hsiclasso._types import FloatArray
from hsiclasso.embedding import Kernel, make_kernel
from hsiclasso.errors import InvalidInputError

__all__ = ["PreparedTarget", "TargetOptions", "prepare_target"]

Task = Literal["auto", "classification", "regression"]

#: A numeric target with more distinct whole numbers than this is taken for a real one.
_MAX_CLASSES = 50


@dataclass(frozen=True)
class TargetOptions:
    """How a target is understood.

    Parameters
    ----------
    task : {"auto", "classification", "regression"}
        ``"auto"``: text and booleans are classes, and so are whole numbers with at most 50
        distinct values that occur three times each on average; all else is real.
    kernel : {"auto", "gaussian", "delta"}
        ``"auto"``: delta for classes, Gaussian for real targets.
    width : float or "median"
        Width of the Gaussian kernel.
    transform : {None, "rank"}
        ``"rank"`` replaces a real target by its ranks, which tames heavy tails.
    """

    task: Task = "auto"
    kernel: Literal["auto", "gaussian", "delta"] = "auto"
    width: float | Literal["median"] = 1.0
    transform: Literal["rank"] | None = None

    def __post_init__(self) -> None:
        if self.task not in ("auto", "classification", "regression"):
            raise InvalidInputError(
                f"task={self.task!r} is unknown: choose 'auto', 'classification' or 'regression'."
            )
        if self.transform not in (None, "rank"):
            raise InvalidInputError(
                f"y_transform={self.transform!r} is unknown: choose None or 'rank'."
            )
        if self.kernel != "auto":
            make_kernel(self.kernel, self.width)


@dataclass(frozen=True)
class PreparedTarget:
    """A target ready to be factored.

    Attributes
    ----------
    values : ndarray of shape (n,)
        Real values, or codes 0, 1, ... of classes.
    kernel : Kernel
    task : str
        ``"classification"`` or ``"regression"``.
    """

    values: FloatArray
    kernel: Kernel
    task: str


def prepare_target(y: Any, n_samples: int, options: TargetOptions) -> PreparedTarget:
    """Check a target and choose its kernel.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Numbers, booleans or text.
    n_samples : int
        Number of rows of the table.
    options : TargetOptions
        How to understand it.
    """
    if y is None:
        raise InvalidInputError(
            "requires y to be passed, but the target y is None: pass one value per sample."
        )
    target = column_or_1d(y, warn=True)
    if target.shape[0] != n_samples:
        raise InvalidInputError(
            f"y has {target.shape[0]} values and X has {n_samples} samples: inconsistent numbers "
            "of samples; pass one target value per row of X."
        )
    target = _as_plain_array(target)
    classes, codes = np.unique(target, return_inverse=True)
    task = _resolve_task(options.task, target, classes.size)
    if classes.size < 2:
        what = "one class" if task == "classification" else "one value"
        raise InvalidInputError(
            f"y has only {what} ({classes[0]!r}), and nothing can depend on a constant: at least "
            "two distinct values are needed."
        )
    if task == "classification":
        if options.transform is not None:
            raise InvalidInputError(
                f"y_transform={options.transform!r} applies to real targets, but the task is "
                "classification: drop the option or pass task='regression'."
            )
        name = "delta" if options.kernel == "auto" else options.kernel
        return PreparedTarget(codes.astype(np.float64), make_kernel(name, options.width), task)
    values = target.astype(np.float64)
    if options.transform == "rank":
        values = rankdata(values)
    name = "gaussian" if options.kernel == "auto" else options.kernel
    return PreparedTarget(values, make_kernel(name, options.width), task)


def _as_plain_array(target: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return numbers as they are, checked to be finite, and all else as text."""
    if target.dtype.kind == "c":
        raise InvalidInputError(
            "Complex data not supported: y is complex; pass its real part or its modulus."
        )
    if target.dtype.kind in "biu":
        return target
    if target.dtype.kind != "f":
        try:
            target = target.astype(np.float64)
        except (TypeError, ValueError):
            missing = [i for i, value in enumerate(target) if value is None or value != value]
            if missing:
                raise InvalidInputError(
                    f"Input y contains NaN or None, first in row {missing[0]}: drop such rows."
                ) from None
            return target.astype(str)
    try:
        assert_all_finite(target, input_name="y")
    except ValueError as error:
        raise InvalidInputError(
            f"{str(error).splitlines()[0]} Every target value must be finite: drop such rows."
        ) from None
    return target


def _resolve_task(task: Task, target: np.ndarray[Any, Any], n_distinct: int) -> str:
    numeric = target.dtype.kind in "iuf"
    if task == "regression":
        if target.dtype.kind not in "biuf":
            raise InvalidInputError(
                f"task='regression' needs a numeric y, but y holds text such as {target[0]!r}: "
                "use task='classification' or encode it as numbers."
            )
        return task
    if task == "classification" or not numeric:
        return "classification"
    whole = target.dtype.kind in "iu" or bool(np.all(target == np.floor(target)))
    few = n_distinct <= max(2, min(_MAX_CLASSES, target.size // 3))
    return "classification" if whole and few else "regression"
