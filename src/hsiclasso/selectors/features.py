"""Turning what a user says about columns - kernels, vectors, missing values - into features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hsiclasso._types import IntArray
from hsiclasso.data import Kind, Source
from hsiclasso.embedding import (
    Delta,
    Embedding,
    Features,
    Gaussian,
    Kernel,
    Method,
    Samples,
    as_kernel,
    check_vector_kernel,
    check_width_applies,
)
from hsiclasso.errors import InvalidInputError
from hsiclasso.selectors.columns import ColumnFinder, close_matches

__all__ = ["FeatureOptions"]

#: Kinds of columns whose values have no order or distance.
_LABELS: tuple[Kind, ...] = ("category", "text")
_KINDS: tuple[Kind, ...] = ("number", "bool", "category", "text")
#: Labels of a column beyond which it is taken to identify samples.
_MAX_LABELS = 2000
#: Fewest observed samples on which dependence can be measured.
_MIN_OBSERVED = 3


@dataclass(frozen=True)
class FeatureOptions:
    """What a user may say about columns, before the table is known.

    Attributes
    ----------
    kernel : str, Kernel or mapping
        ``"auto"``: Gaussian for numbers, plain delta for booleans, categories and text. A
        mapping gives kernels by column, by kind (``"number"``, ``"bool"``, ``"category"``,
        ``"text"``) or by dtype, the more specific first; the others are as in ``"auto"``.
    width : float, "median" or tuple
        Width of kernels given by name.
    joint : mapping of str to columns, optional
        Features made of several columns.
    missing : {"error", "ignore"}
        Whether missing values are allowed.
    min_observed : float or int
        Samples on which a feature must be observed to count: a share of them, or a number.
    tol : float
    method : {"auto", "table", "cholesky"}
        As in `Embedding`.
    """

    kernel: Any = "auto"
    width: Any = 1.0
    joint: Mapping[str, Any] | None = None
    missing: Literal["error", "ignore"] = "error"
    min_observed: float = 0.5
    tol: float = 1e-6
    method: Method = "auto"

    def __post_init__(self) -> None:
        Embedding(self._numbers, self.tol, self.method)
        if self.missing not in ("error", "ignore"):
            raise InvalidInputError(
                f"missing={self.missing!r} is unknown: choose 'error' or 'ignore'."
            )
        if isinstance(self.kernel, Mapping):
            for key, value in self.kernel.items():
                self._named(value, f"x_kernel[{key!r}]")
        elif self.kernel != "auto":
            self._named(self.kernel, "x_kernel")
        check_width_applies(self.kernel, self.width, "x")
        number = isinstance(self.min_observed, int | float | np.number)
        if not number or isinstance(self.min_observed, bool) or not self.min_observed > 0:
            raise InvalidInputError(
                f"min_observed={self.min_observed!r}, but it must be a share of the samples "
                "between 0 and 1, or a whole number of them."
            )

    def resolve(self, source: Source, samples: Samples) -> Features:
        """Look columns up in a table, check everything, and say what the features are."""
        find = ColumnFinder(source)
        joint = self._joint(source, find)
        embeddings, which = self._embeddings(source, find, joint)
        least = self._least_observed(source.n_samples) if self.missing == "ignore" else 0
        return Features(source, embeddings, samples, which, joint, least)

    @property
    def _numbers(self) -> Kernel:
        return Gaussian(self.width)

    def _named(self, value: Any, what: str) -> Kernel:
        return as_kernel(value, width=self.width, what=what)

    def _least_observed(self, n: int) -> int:
        share = self.min_observed < 1 or isinstance(self.min_observed, float)
        if share and self.min_observed > 1:
            raise InvalidInputError(
                f"min_observed={self.min_observed!r} is no share of the samples: pass a number "
                "between 0 and 1, or a whole number of samples."
            )
        least = int(np.ceil(self.min_observed * n)) if share else int(self.min_observed)
        if least > n:
            raise InvalidInputError(
                f"min_observed={self.min_observed!r}, but there are {n} samples: ask for fewer."
            )
        return max(least, _MIN_OBSERVED)

    def _joint(self, source: Source, find: ColumnFinder) -> dict[int, tuple[str, IntArray]]:
        joint: dict[int, tuple[str, IntArray]] = {}
        owner: dict[int, str] = {}
        for name, wanted in (self.joint or {}).items():
            columns = find(f"joint[{name!r}]", wanted)
            if columns.size < 1:
                raise InvalidInputError(f"joint[{name!r}] has no columns: name one or more.")
            if (twin := find.position(str(name))) is not None and twin not in columns:
                raise InvalidInputError(
                    f"joint has a feature {name!r}, but a column has that name: choose another."
                )
            for column in columns.tolist():
                if column in owner:
                    raise InvalidInputError(
                        f"joint: column {source.name(column)!r} is in {owner[column]!r} and in "
                        f"{name!r}: a column belongs to one feature."
                    )
                owner[column] = str(name)
            joint[int(columns[0])] = (str(name), columns)
        return joint

    def _embeddings(
        self, source: Source, find: ColumnFinder, joint: Mapping[int, tuple[str, IntArray]]
    ) -> tuple[tuple[Embedding, ...], IntArray | None]:
        kind = source.uniform_kind
        simple = not joint and not isinstance(self.kernel, Mapping)
        if kind is not None and kind not in _LABELS and simple:
            return (self._embedding(self._by_kind(kind, "")),), None
        rules = _Rules(self, source, find, {name for name, _ in joint.values()})
        kernels = [rules(j) for j in range(source.n_features)]
        for first, (name, columns) in joint.items():
            kernels[first] = rules.joint(name, columns)
        distinct = list(dict.fromkeys(kernels))
        numbers = {kernel: i for i, kernel in enumerate(distinct)}
        which = np.array([numbers[kernel] for kernel in kernels], dtype=np.int64)
        return tuple(self._embedding(kernel) for kernel in distinct), which

    def _embedding(self, kernel: Kernel) -> Embedding:
        return Embedding(kernel, self.tol, self.method)

    def _by_kind(self, kind: Kind, column: str) -> Kernel:
        """Kernel of a column of a kind, if nothing more specific is said."""
        if self.kernel == "auto" or isinstance(self.kernel, Mapping):
            return self._numbers if kind == "number" else Delta(by_count=False)
        return _suited(self._named(self.kernel, "x_kernel"), kind, column)


class _Rules:
    """The kernel of each column, the most specific rule first."""

    def __init__(
        self, options: FeatureOptions, source: Source, find: ColumnFinder, joint: set[str]
    ) -> None:
        self.options = options
        self.source = source
        self.by_column: dict[int, Kernel] = {}
        self.by_joint: dict[str, Kernel] = {}
        self.by_type: dict[str, Kernel] = {}
        if not isinstance(options.kernel, Mapping):
            return
        types = {self.source.dtype_name(j) for j in range(self.source.n_features)}
        for key, value in options.kernel.items():
            kernel = as_kernel(value, width=options.width, what=f"x_kernel[{key!r}]")
            if isinstance(key, str) and key in joint:
                self.by_joint[key] = kernel
            elif isinstance(key, int | np.integer) or (
                isinstance(key, str) and find.position(key) is not None
            ):
                (column,) = find("x_kernel", [key])
                self.by_column[int(column)] = kernel
            elif (name := _type_name(key)) in (*_KINDS, *types):
                self.by_type[name] = kernel
            else:
                raise InvalidInputError(
                    f"x_kernel has {key!r}, which is no column, no kind ({', '.join(_KINDS)}) and "
                    f"no dtype of the table ({', '.join(sorted(types)[:6])}): "
                    f"{close_matches(key, find.names())}"
                )

    def __call__(self, column: int) -> Kernel:
        """Return the kernel of a column."""
        source = self.source
        kind, dtype, name = source.kind(column), source.dtype_name(column), source.name(column)
        if kind in _LABELS and len(source.categories(column) or ()) > _MAX_LABELS:
            raise InvalidInputError(
                f"column {name!r} has more than {_MAX_LABELS} labels: a column that tells samples "
                "apart says nothing about others; drop it, or merge its labels."
            )
        if column in self.by_column:
            return _suited(self.by_column[column], kind, name)
        for rule in (dtype, kind):
            if rule in self.by_type:
                return _suited(self.by_type[rule], kind, name)
        return self.options._by_kind(kind, name)

    def joint(self, name: str, columns: IntArray) -> Kernel:
        """Return the kernel of a feature of several columns."""
        kernel = self.by_joint.get(name)
        labels = [self.source.kind(int(j)) in _LABELS for j in columns]
        if kernel is None:
            kernel = self(int(columns[0])) if all(labels) else self.options._by_kind("number", name)
        if not isinstance(kernel, Delta) and any(labels):
            raise InvalidInputError(
                f"joint feature {name!r} has columns of labels, which only a delta kernel can "
                f"compare: pass x_kernel={{{name!r}: 'plain_delta'}}."
            )
        check_vector_kernel(kernel, f"joint feature {name!r}")
        return kernel


def _suited(kernel: Kernel, kind: Kind, column: str) -> Kernel:
    if kind in _LABELS and not isinstance(kernel, Delta):
        raise InvalidInputError(
            f"column {column!r} holds labels, which {kernel!r} cannot compare: use "
            "x_kernel='auto' or 'delta', or encode it as numbers."
        )
    return kernel


def _type_name(key: Any) -> str:
    """Name of a dtype that is given as a word, a type or a dtype."""
    numpy_type = isinstance(key, type) and issubclass(key, np.generic | int | float | bool | str)
    return str(np.dtype(key)) if numpy_type else str(key)
