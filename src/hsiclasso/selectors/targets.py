"""Checking a target of any kind, and turning it into what is known of it with a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from scipy import sparse
from scipy.stats import rankdata
from sklearn.utils import assert_all_finite, column_or_1d

from hsiclasso._types import BoolArray, FloatArray
from hsiclasso.dependence import (
    Affinity,
    Censored,
    Diffusion,
    Graph,
    Pairwise,
    RegularisedLaplacian,
    TargetData,
    Values,
    check_adjacency,
    check_affinity,
)
from hsiclasso.embedding import (
    Delta,
    Gaussian,
    Kernel,
    as_kernel,
    check_vector_kernel,
    check_width_applies,
)
from hsiclasso.errors import InvalidInputError

__all__ = ["MultiOutput", "PreparedTarget", "TargetOptions", "Task", "prepare_target"]

Task = Literal[
    "auto", "classification", "regression", "ordinal", "counts", "multilabel", "survival"
]
MultiOutput = Literal["auto", "joint", "average"]

_Array = np.ndarray[Any, Any]
_GRAPHS: dict[str, Callable[[], Diffusion | RegularisedLaplacian]] = {
    "diffusion": Diffusion,
    "regularised_laplacian": RegularisedLaplacian,
}
#: A numeric target with more distinct whole numbers than this is taken for a real one.
_MAX_CLASSES = 50
_MIN_SAMPLES = 3


@dataclass(frozen=True)
class TargetOptions:
    """How a target is understood.

    Parameters
    ----------
    task : str
        ``"auto"``: text and booleans are classes, and so are whole numbers with at most 50
        distinct values that occur three times each on average; an ordered category is ordinal;
        several columns of zeros and ones are labels; a structured array is censored; all else
        is real. ``"ordinal"`` takes mid-ranks and ``"counts"`` Anscombe's square root, both
        with a Gaussian kernel; ``"survival"`` takes times and events.
    kernel : str, kernel object or callable
        ``"auto"``: delta for classes and labels, Gaussian otherwise. ``"precomputed"`` takes y
        as a matrix of affinities, ``"diffusion"`` and ``"regularised_laplacian"`` as links of a
        graph; a function of two targets is a kernel too.
    width : float, "median" or tuple
        Width of a kernel given by name.
    transform : {None, "rank"}
        ``"rank"`` replaces a real target by its ranks, which tames heavy tails.
    multioutput : {"auto", "joint", "average"}
        One kernel on all outputs together, or one for each, averaged; ``"auto"`` is together
        for real outputs, averaged for classes and labels.
    missing : {"error", "drop"}
        What to do with samples whose target is missing.
    """

    task: Task = "auto"
    kernel: Any = "auto"
    width: Any = 1.0
    transform: Literal["rank"] | None = None
    multioutput: MultiOutput = "auto"
    missing: Literal["error", "drop"] = "error"

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("task", self.task, get_args(Task)),
            ("y_transform", self.transform, (None, "rank")),
            ("multioutput", self.multioutput, get_args(MultiOutput)),
            ("missing_target", self.missing, ("error", "drop")),
        ):
            if value not in choices:
                words = [repr(choice) for choice in choices]
                raise InvalidInputError(
                    f"{name}={value!r} is unknown: choose {', '.join(words[:-1])} or {words[-1]}."
                )
        if self.matrix_kernel is None and not self.by_pairs and self.kernel != "auto":
            as_kernel(self.kernel, width=self.width, what="y_kernel")
        check_width_applies(self.kernel, self.width, "y")

    @property
    def by_pairs(self) -> bool:
        """Whether the kernel is a function of two targets."""
        return callable(self.kernel)

    @property
    def matrix_kernel(self) -> Any:
        """What is made of a matrix y: ``"precomputed"`` or a graph kernel; else None."""
        if isinstance(self.kernel, Diffusion | RegularisedLaplacian):
            return self.kernel
        if not isinstance(self.kernel, str):
            return None
        if self.kernel in _GRAPHS:
            return _GRAPHS[self.kernel]()
        return "precomputed" if self.kernel == "precomputed" else None

    def kernel_or(self, default: Kernel) -> Kernel:
        """Kernel that was asked for, or the default."""
        if self.kernel == "auto":
            return default
        return as_kernel(self.kernel, width=self.width, what="y_kernel")


@dataclass(frozen=True)
class PreparedTarget:
    """A target ready to be made into a matrix.

    Attributes
    ----------
    data : TargetData
    task : str
        As in `TargetOptions`, or ``"structured"``.
    rows : ndarray of bool of shape (n,) or None
        Samples that are used; None for all.
    """

    data: TargetData
    task: str
    rows: BoolArray | None = None


def prepare_target(
    y: Any, n_samples: int, options: TargetOptions, use: BoolArray | None = None
) -> PreparedTarget:
    """Check a target and choose its kernel.

    Parameters
    ----------
    y : array-like
        One entry per sample: numbers, booleans or text; a table of them; times and events; a
        matrix between samples; or any objects, if the kernel is a function of two of them.
    n_samples : int
        Number of rows of the table.
    options : TargetOptions
        How to understand it.
    use : ndarray of bool of shape (n_samples,), optional
        Samples to use, the others being left out.

    Returns
    -------
    PreparedTarget
    """
    if y is None:
        raise InvalidInputError(
            "requires y to be passed, but the target y is None: pass one value per sample."
        )
    form = _read(y, n_samples, options)
    _check_options(form, options)
    missing = form.missing()
    if missing.any() and options.missing == "error":
        raise InvalidInputError(
            f"Input y contains NaN or None, first in row {int(np.argmax(missing))} "
            f"({np.count_nonzero(missing)} in all): drop such rows, or pass "
            "missing_target='drop' to HSICLasso."
        )
    rows = ~missing if use is None else use & ~missing
    if np.count_nonzero(rows) < _MIN_SAMPLES:
        raise InvalidInputError(
            f"n_samples={np.count_nonzero(rows)} with a target and a positive weight, but "
            f"dependence can only be measured on {_MIN_SAMPLES} samples or more: add rows."
        )
    data, task = form.prepare(rows, options)
    return PreparedTarget(data, task, None if rows.all() else rows)


def _read(y: Any, n: int, options: TargetOptions) -> _Form:
    """Find out what form a target has."""
    if options.by_pairs:
        items = list(y)
        _check_length(len(items), n)
        return _Objects(items)
    if options.matrix_kernel is not None:
        return _Matrix(y, n)
    if options.task == "survival" or getattr(getattr(y, "dtype", None), "names", None):
        form = _read_survival(y)
        _check_length(form.time.size, n)
        return form
    columns = _columns(y)
    for column in columns:
        _check_length(len(column), n)
    if len(columns) == 1:
        return _Column(columns[0], _is_ordered(_output(y, 0) if hasattr(y, "columns") else y))
    return _Table(columns)


def _check_options(form: _Form, options: TargetOptions) -> None:
    """Raise if an option has no meaning for a target of this form."""
    values = isinstance(form, _Column | _Table | _Survival)
    given = {
        "task": options.task if not values else "auto",
        "y_transform": options.transform if not values else None,
        "multioutput": options.multioutput if not isinstance(form, _Table) else "auto",
    }
    defaults = {"task": "auto", "y_transform": None, "multioutput": "auto"}
    for name, value in given.items():
        if value != defaults[name]:
            raise InvalidInputError(
                f"{name}={value!r} has no meaning for {form.words}: leave it out."
            )


def _check_length(length: int, n: int) -> None:
    if length != n:
        raise InvalidInputError(
            f"y has {length} values and X has {n} samples: inconsistent numbers of samples; pass "
            "one target value per row of X."
        )


def _columns(y: Any) -> list[_Array]:
    """Outputs of a target, one array each."""
    if sparse.issparse(y):
        y = y.toarray()
    if hasattr(y, "columns") and hasattr(y, "dtypes"):  # a frame of pandas or polars
        columns = [_output(y, j) for j in range(y.shape[1])]
        return [_codes(column) if _is_ordered(column) else np.asarray(column) for column in columns]
    if _is_ordered(y):
        return [_codes(y)]
    values = np.asarray(y)
    if values.dtype.kind == "c":
        raise InvalidInputError(
            "Complex data not supported: y is complex; pass its real part or its modulus."
        )
    if values.ndim == 2 and values.shape[1] > 1:
        return list(values.T)
    return [column_or_1d(y, warn=True)]


def _output(y: Any, j: int) -> Any:
    """One column of a pandas or polars frame."""
    return y.iloc[:, j] if hasattr(y, "iloc") else y.to_series(j)


def _codes(y: Any) -> FloatArray:
    """Codes of an ordered category of pandas, NaN where it is missing."""
    codes = np.asarray(getattr(y, "cat", y).codes, dtype=np.float64)
    return np.where(codes < 0, np.nan, codes)


def _is_ordered(y: Any) -> bool:
    return bool(getattr(getattr(y, "dtype", None), "ordered", False))


class _Objects:
    """Objects of any sort, under a function of two of them."""

    words = "a target under a function of two of them"

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def missing(self) -> BoolArray:
        return np.array([_is_nothing(item) for item in self.items], dtype=bool)

    def prepare(self, rows: BoolArray, options: TargetOptions) -> tuple[TargetData, str]:
        items = [item for item, used in zip(self.items, rows, strict=True) if used]
        return Pairwise(items, options.kernel), "structured"


class _Matrix:
    """A matrix between samples: affinities, or the links of a graph."""

    words = "a matrix between samples"

    def __init__(self, matrix: Any, n: int) -> None:
        self.matrix = matrix if sparse.issparse(matrix) else np.asarray(matrix)
        self.n = n

    def missing(self) -> BoolArray:
        return np.zeros(self.n, dtype=bool)

    def prepare(self, rows: BoolArray, options: TargetOptions) -> tuple[TargetData, str]:
        graph = options.matrix_kernel != "precomputed"
        matrix = (check_adjacency if graph else check_affinity)(self.matrix, self.n)
        if not rows.all():
            matrix = matrix[rows][:, rows]
        if graph:
            return Graph(matrix, options.matrix_kernel), "structured"
        return Affinity(matrix), "structured"


@dataclass(frozen=True)
class _Survival:
    """Times until an event, or until observation ended."""

    time: FloatArray
    event: FloatArray
    words: ClassVar[str] = "times and events"

    def missing(self) -> BoolArray:
        return np.asarray(np.isnan(self.time) | np.isnan(self.event))

    def prepare(self, rows: BoolArray, options: TargetOptions) -> tuple[TargetData, str]:
        time, event = self.time[rows], self.event[rows]
        if not (np.isfinite(time).all() and (time >= 0).all()):
            raise InvalidInputError(
                f"y has the time {time[~(np.isfinite(time) & (time >= 0))][0]}, but times until an "
                "event are finite numbers >= 0."
            )
        if not np.isin(event, (0, 1)).all():
            raise InvalidInputError(
                f"y has the event {event[~np.isin(event, (0, 1))][0]}, but an event is 1 (it came) "
                "or 0 (observation ended before): pass time first and event second."
            )
        if not event.any():
            raise InvalidInputError(
                "y has no event: all times are censored, and nothing can be learnt from them."
            )
        if np.ptp(time) == 0:
            raise InvalidInputError(f"y has only one time ({time[0]}): times must differ.")
        if options.transform == "rank":
            time = rankdata(time)
        kernel = options.kernel_or(Gaussian(options.width))
        return Censored(time, event.astype(bool), kernel), "survival"


def _read_survival(y: Any) -> _Survival:
    """Read times and events from a structured array, a frame, two columns or a pair."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is None and hasattr(y, "columns"):
        names = list(y.columns)
    if names is not None:
        if len(names) != 2:
            raise InvalidInputError(
                f"y has the fields {list(names)}, but survival needs two: a time and an event."
            )
        first, second = (np.asarray(y[name]) for name in names)
        by_name = [str(name).lower() for name in names]
        swapped = first.dtype.kind == "b" or "time" in by_name[1] or "event" in by_name[0]
        time, event = (second, first) if swapped else (first, second)
    elif isinstance(y, tuple) and len(y) == 2:
        time, event = np.asarray(y[0]), np.asarray(y[1])
    else:
        values = np.asarray(y)
        if values.ndim != 2 or values.shape[1] != 2:
            raise InvalidInputError(
                f"y has shape {values.shape}, but survival needs two columns, time and event (1 if "
                "it came, 0 if observation ended before), or a structured array."
            )
        time, event = values.T
    time, event = _plain(time), _plain(event)
    if time.dtype.kind != "O" and event.dtype.kind != "O":
        return _Survival(time.astype(np.float64), event.astype(np.float64))
    raise InvalidInputError(
        "y holds times or events that are not numbers: pass times as numbers and events as 0 and 1."
    )


class _Column:
    """One value per sample."""

    words = "a target of one column"

    def __init__(self, values: _Array, ordered: bool = False) -> None:
        self.values = _plain(values)
        self.ordered = ordered

    def missing(self) -> BoolArray:
        return _missing(self.values)

    def prepare(self, rows: BoolArray, options: TargetOptions) -> tuple[TargetData, str]:
        values = _finite(self.values[rows])
        classes, codes = np.unique(values, return_inverse=True)
        asked = "ordinal" if self.ordered and options.task == "auto" else options.task
        task = _resolve_task(asked, values, classes.size)
        if classes.size < 2:
            what = "one class" if task == "classification" else "one value"
            raise InvalidInputError(
                f"y has only {what} ({classes[0].item()!r}), and nothing can depend on a "
                "constant: at least two distinct values are needed."
            )
        if task == "multilabel":
            raise InvalidInputError(
                "task='multilabel' needs a table of zeros and ones, one column per label, but y "
                "has one column: use task='classification'."
            )
        _check_transform(options, task)
        if task == "classification":
            kernel = options.kernel_or(Delta())
            return Values(codes.astype(np.float64)[None], kernel), task
        kernel = options.kernel_or(Gaussian(options.width))
        return Values(_scores(values, task, options)[None], kernel), task


class _Table:
    """Several values per sample: outputs or labels."""

    words = "a target of several columns"

    def __init__(self, columns: list[_Array]) -> None:
        self.columns = [_plain(column) for column in columns]

    def missing(self) -> BoolArray:
        return np.asarray(np.any([_missing(column) for column in self.columns], axis=0))

    def prepare(self, rows: BoolArray, options: TargetOptions) -> tuple[TargetData, str]:
        columns = [_finite(column[rows]) for column in self.columns]
        task = self._task(columns, options.task)
        _check_transform(options, task)
        if all(np.unique(column).size < 2 for column in columns):
            raise InvalidInputError(
                f"y has {len(columns)} columns and none varies: nothing can depend on constants."
            )
        by_class = task in ("classification", "multilabel")
        if by_class:
            values = [np.unique(c, return_inverse=True)[1].astype(np.float64) for c in columns]
            kernel = options.kernel_or(Delta())
        else:
            values = [_scores(column, task, options) for column in columns]
            kernel = options.kernel_or(Gaussian(options.width))
        averaged = options.multioutput == "average" or (options.multioutput == "auto" and by_class)
        if not averaged:
            check_vector_kernel(kernel, "y")
        return Values(np.array(values), kernel, averaged), task

    @staticmethod
    def _task(columns: list[_Array], task: str) -> str:
        numeric = all(column.dtype.kind in "biuf" for column in columns)
        binary = numeric and all(np.isin(column, (0, 1)).all() for column in columns)
        if task == "multilabel" and not binary:
            raise InvalidInputError(
                "task='multilabel' needs zeros and ones, one column per label: use "
                "task='classification' for several classes in a column."
            )
        if task in ("regression", "ordinal", "counts") and not numeric:
            raise InvalidInputError(
                f"task={task!r} needs numeric columns, but y holds text: use "
                "task='classification' or encode it as numbers."
            )
        if task != "auto":
            return task
        if binary:
            return "multilabel"
        return "regression" if numeric else "classification"


_Form = _Objects | _Matrix | _Survival | _Column | _Table


def _check_transform(options: TargetOptions, task: str) -> None:
    if options.transform is not None and task != "regression":
        raise InvalidInputError(
            f"y_transform={options.transform!r} applies to real targets, but the task is "
            f"{task}: drop the option or pass task='regression'."
        )


def _scores(values: _Array, task: str, options: TargetOptions) -> FloatArray:
    """Numbers that a Gaussian kernel compares."""
    numbers = values.astype(np.float64)
    if task == "counts":
        if (numbers < 0).any() or (numbers != np.floor(numbers)).any():
            bad = numbers[(numbers < 0) | (numbers != np.floor(numbers))][0]
            raise InvalidInputError(
                f"y has the value {bad}, but counts are whole numbers >= 0: use task='regression'."
            )
        return np.asarray(2 * np.sqrt(numbers + 0.375))  # Anscombe: deviation about 1
    if task == "ordinal" or options.transform == "rank":
        return np.asarray(rankdata(numbers), dtype=np.float64)
    return numbers


def _plain(values: _Array) -> _Array:
    """Return numbers as numbers, and all else as objects."""
    if values.dtype.kind in "biuf":
        return values
    objects = values.astype(object)
    known = [value for value in objects if not _is_nothing(value)]
    if not all(isinstance(value, int | float | np.number | np.bool_) for value in known):
        return objects
    return np.array([np.nan if _is_nothing(value) else value for value in objects], dtype=float)


def _missing(values: _Array) -> BoolArray:
    """Tell which values are NaN, None or NA."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind != "O":
        return np.zeros(values.size, dtype=bool)
    return np.array([_is_nothing(value) for value in values], dtype=bool)


def _is_nothing(value: Any) -> bool:
    """Whether an object is None, NaN or pandas' NA, which is not even equal to itself."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and np.isnan(value)


def _finite(values: _Array) -> _Array:
    """Return finite numbers as they are, and objects as text."""
    if values.dtype.kind == "O":
        return values.astype(str)
    try:
        assert_all_finite(values, input_name="y")
    except ValueError as error:
        raise InvalidInputError(
            f"{str(error).splitlines()[0]} Every target value must be finite: drop such rows."
        ) from None
    return values


def _resolve_task(task: str, target: _Array, n_distinct: int) -> str:
    if task in ("regression", "ordinal", "counts"):
        if target.dtype.kind not in "biuf":
            raise InvalidInputError(
                f"task={task!r} needs a numeric y, but y holds text such as {target[0]!r}: "
                "use task='classification' or encode it as numbers (an ordered category will do)."
            )
        return task
    if task == "multilabel":
        return task
    if task == "classification" or target.dtype.kind not in "iuf":
        return "classification"
    whole = target.dtype.kind in "iu" or bool(np.all(target == np.floor(target)))
    few = n_distinct <= max(2, min(_MAX_CLASSES, target.size // 3))
    return "classification" if whole and few else "regression"
