"""What users say about columns - kernels, joint features, missing values - becomes features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hsiclasso._checks import check_positive, one_of
from hsiclasso._types import IntArray
from hsiclasso.data import Kind, Source
from hsiclasso.dependence import Features
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import KERNELS, Delta, Gaussian, Kernel, Samples, as_kernel
from hsiclasso.selectors.columns import ColumnFinder, close_matches
from hsiclasso.selectors.missing import Ignore

__all__ = ["check_gram_error", "check_kernel", "resolve_features"]

#: Kinds of columns whose values have no order or distance.
_LABELS: tuple[Kind, ...] = ("category", "text")
_KINDS: tuple[Kind, ...] = ("number", "bool", "category", "text")
#: Most labels of a column; one with more identifies samples.
_MAX_LABELS = 2000

_Joint = dict[str, IntArray]


def check_kernel(kernel: Any) -> None:
    """Raise unless a value is ``"auto"``, a kernel, or a mapping to kernels."""
    if isinstance(kernel, Mapping):
        for key, value in kernel.items():
            as_kernel(value, f"kernel[{key!r}]")
    elif not _is_auto(kernel):
        as_kernel(kernel)


def check_gram_error(error: Any) -> None:
    """Raise unless a value can be the relative error of a Gram matrix."""
    check_positive("gram_error", error)
    if not 1e-12 <= error <= 1e-2:
        raise InvalidInputError(
            f"gram_error={error!r}, but the relative error of a Gram matrix must lie between "
            "1e-12 and 1e-2: 1e-6 is the default, 1e-10 a tight choice."
        )


def resolve_features(
    source: Source,
    samples: Samples,
    *,
    kernel: Any,
    joint: Mapping[str, Any] | None,
    covariates: IntArray,
    missing: Ignore | None,
    gram_error: float,
) -> Features:
    """Look columns up in a table, check everything, and make the features.

    Parameters
    ----------
    source : Source
        The table, with the samples that are used.
    samples : Samples
        Weights of the samples, and the directions that are removed.
    kernel : str, Kernel or mapping
        ``"auto"``: Gaussian for numbers, plain delta for booleans, categories and text. A
        mapping gives kernels by column, by kind (``"number"``, ``"bool"``, ``"category"``,
        ``"text"``) or by dtype, the more specific first; the others are as in ``"auto"``.
    joint : mapping of str to columns, or None
        Features made of several columns.
    covariates : ndarray of int
        Columns that are covariates, and therefore not features.
    missing : Ignore or None
        How missing values are ignored; None if they are refused.
    gram_error : float
        Relative error allowed to the matrix of each feature.
    """
    find = ColumnFinder(source)
    vectors = _joint(joint, source, find, covariates)
    first, named = _numbering(source, vectors, covariates)
    kernels, which = _kernels(kernel, source, find, first, named)
    for candidate in kernels:
        if isinstance(candidate, Gaussian) and candidate.expansion == "table" and gram_error < 1e-6:
            raise InvalidInputError(
                f"expansion='table' cannot reach gram_error={gram_error!r}: cubic interpolation in "
                "4096 entries reaches 1e-6 at best. Use expansion='auto'."
            )
    least = 0 if missing is None else missing.least_observed(source.n_samples)
    return Features(source, kernels, samples, first, which, named, least, gram_error)


def _numbering(
    source: Source, vectors: _Joint, covariates: IntArray
) -> tuple[IntArray, dict[int, tuple[str, IntArray]]]:
    """Number the features by their first columns; return these, and the joint ones by number."""
    is_first = np.ones(source.n_features, dtype=bool)
    is_first[covariates] = False
    for columns in vectors.values():
        is_first[columns[1:]] = False
    first = np.flatnonzero(is_first)
    if not first.size:
        raise InvalidInputError(
            "All columns are covariates: leave at least one feature to choose from."
        )
    numbers = np.cumsum(is_first) - 1
    return first, {int(numbers[c[0]]): (name, c) for name, c in vectors.items()}


def _joint(
    joint: Mapping[str, Any] | None, source: Source, find: ColumnFinder, covariates: IntArray
) -> _Joint:
    """Columns of each joint feature, by name."""
    if joint is not None and not isinstance(joint, Mapping):
        raise InvalidInputError(
            f"joint={joint!r:.80} must map the name of each joint feature to its columns: pass "
            "joint={'position': ['x', 'y']}."
        )
    made: _Joint = {}
    owner: dict[int, str] = {}
    for name, wanted in (joint or {}).items():
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
        both = np.intersect1d(columns, covariates)
        if both.size:
            raise InvalidInputError(
                f"{source.name(int(both[0]))!r} is a covariate and part of a joint feature: take "
                "it out of one."
            )
        made[str(name)] = columns
    return made


def _is_auto(kernel: Any) -> bool:
    return isinstance(kernel, str) and kernel == "auto"


def _kernels(
    kernel: Any,
    source: Source,
    find: ColumnFinder,
    first: IntArray,
    named: Mapping[int, tuple[str, IntArray]],
) -> tuple[tuple[Kernel, ...], IntArray | None]:
    """The kernels that occur, and which of them each feature has."""
    rules = _Rules(kernel, source, find, dict(named.values()))
    kind = source.uniform_kind
    if kind is not None and kind not in _LABELS and not named and not isinstance(kernel, Mapping):
        return (rules.by_kind(kind, ""),), None
    kernels = [
        rules.joint(*named[k]) if k in named else rules(int(column))
        for k, column in enumerate(first)
    ]
    distinct = list(dict.fromkeys(kernels))
    numbers = {one: i for i, one in enumerate(distinct)}
    return tuple(distinct), np.array([numbers[one] for one in kernels], dtype=np.int64)


class _Rules:
    """The kernel of each column, the most specific rule first."""

    def __init__(self, kernel: Any, source: Source, find: ColumnFinder, joint: _Joint) -> None:
        self.source = source
        self.general: Kernel | None = None
        self.by_column: dict[int, Kernel] = {}
        self.by_joint: dict[str, Kernel] = {}
        self.by_type: dict[str, Kernel] = {}
        if not isinstance(kernel, Mapping):
            self.general = None if _is_auto(kernel) else as_kernel(kernel)
            return
        types = {source.dtype_name(j) for j in range(source.n_features)}
        owner = {int(column): name for name, columns in joint.items() for column in columns}
        for key, value in kernel.items():
            made = as_kernel(value, f"kernel[{key!r}]")
            if isinstance(key, str) and key in joint:
                self.by_joint[key] = made
            elif isinstance(key, int | np.integer) or (
                isinstance(key, str) and find.position(key) is not None
            ):
                column = find.one("kernel", key)
                if column in owner:
                    raise InvalidInputError(
                        f"kernel has {key!r}, which is part of the joint feature "
                        f"{owner[column]!r}: give a kernel for {owner[column]!r} instead."
                    )
                self.by_column[column] = made
            elif (name := _type_name(key)) in (*_KINDS, *types):
                self.by_type[name] = made
            else:
                raise InvalidInputError(
                    f"kernel has {key!r}, which is no column, no kind ({', '.join(_KINDS)}) and "
                    f"no dtype of the table ({', '.join(sorted(types)[:6])}): "
                    f"{close_matches(key, find.names())}"
                )

    def __call__(self, column: int) -> Kernel:
        """Return the kernel of a column."""
        source = self.source
        kind, dtype, name = source.kind(column), source.dtype_name(column), source.name(column)
        if kind in _LABELS and len(source.categories(column) or ()) > _MAX_LABELS:
            raise InvalidInputError(
                f"column {name!r} has more than {_MAX_LABELS} labels, and a label of few samples "
                "says nothing about others: drop the column, or merge its labels."
            )
        if column in self.by_column:
            return _suited(self.by_column[column], kind, name)
        for rule in (dtype, kind):
            if rule in self.by_type:
                return _suited(self.by_type[rule], kind, name)
        return self.by_kind(kind, name)

    def by_kind(self, kind: Kind, column: str) -> Kernel:
        """Return the kernel of a column of a kind if no rule is more specific."""
        if self.general is not None:
            return _suited(self.general, kind, column)
        return Gaussian() if kind == "number" else Delta(by_count=False)

    def joint(self, name: str, columns: IntArray) -> Kernel:
        """Return the kernel of a feature of several columns."""
        kernel = self.by_joint.get(name)
        labels = [self.source.kind(int(j)) in _LABELS for j in columns]
        if kernel is None and all(labels):
            kernel = self(int(columns[0]))
        elif kernel is None:
            types = {self.source.dtype_name(int(j)) for j in columns}
            rules = [*(types if len(types) == 1 else ()), "number"]
            known = [self.by_type[rule] for rule in rules if rule in self.by_type]
            kernel = known[0] if known else self.by_kind("number", name)
        if any(labels) and not kernel.of_labels:
            raise InvalidInputError(
                f"joint feature {name!r} has columns of labels, which only a delta kernel can "
                f"compare: pass kernel={{{name!r}: 'plain_delta'}}."
            )
        if len(columns) > 1 and not kernel.joins_columns:
            others = one_of(name for name, make in KERNELS.items() if make().joins_columns)
            raise InvalidInputError(
                f"joint feature {name!r} has several columns, and the {kernel.name} kernel takes "
                f"only one: use {others} for it."
            )
        return kernel


def _suited(kernel: Kernel, kind: Kind, column: str) -> Kernel:
    if kind in _LABELS and not kernel.of_labels:
        raise InvalidInputError(
            f"column {column!r} holds labels, which {kernel!r} cannot compare: use "
            "kernel='auto' or 'delta', or encode it as numbers."
        )
    return kernel


def _type_name(key: Any) -> str:
    """Name of a dtype that is given as a word, a type or a dtype."""
    numpy_type = isinstance(key, type) and issubclass(key, np.generic | int | float | bool | str)
    return str(np.dtype(key)) if numpy_type else str(key)
