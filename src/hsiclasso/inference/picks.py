"""What a selector picks on some of the samples: any selector, cloned and fitted to these rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from hsiclasso._types import IntArray
from hsiclasso.data import RowSubset, Source
from hsiclasso.data.fingerprint import hash_of
from hsiclasso.dependence.checkpoint import keep
from hsiclasso.errors import InvalidInputError

__all__ = ["Picker", "check_selects", "load_picks", "own_size", "rows_of", "with_size"]

#: Parameters by which selectors are told how many features to select.
_SIZES = ("n_features_to_select", "k", "max_features")


def check_selects(selector: Any) -> None:
    """Raise unless an object can be cloned, fitted, and asked which features it selected."""
    if isinstance(selector, type) or not all(
        hasattr(selector, name) for name in ("fit", "get_params", "get_support")
    ):
        raise InvalidInputError(
            f"selector={selector!r:.80} does not select features: pass an object with fit and "
            "get_support, such as HSICLasso(20) or SelectFromModel(Lasso())."
        )


def own_size(selector: Any) -> int | None:
    """Return how many features a selector is told to select, if it is told a whole number."""
    name = _size_name(selector)
    size: Any = None if name is None else selector.get_params(deep=False)[name]
    is_whole = isinstance(size, int | np.integer) and not isinstance(size, bool)
    return int(size) if is_whole and size > 0 else None


def with_size(selector: Any, size: int) -> Any:
    """Return a copy of a selector that selects a number of features."""
    name = _size_name(selector)
    if name is None:
        raise InvalidInputError(
            f"{type(selector).__name__} cannot be told to select {size} features: it has no "
            f"parameter {', '.join(_SIZES[:-1])} or {_SIZES[-1]}. Give a threshold or expected_"
            "false alone; the number for each half-sample is then counted."
        )
    return clone(selector).set_params(**{name: size})


def _size_name(selector: Any) -> str | None:
    known = selector.get_params(deep=False)
    return next((name for name in _SIZES if name in known), None)


def rows_of(values: Any, rows: IntArray, *, between: bool = False) -> Any:
    """Return some rows of a table or target of any form; `between` takes columns too."""
    if values is None:
        return None
    if isinstance(values, Source):
        return RowSubset(values, rows)
    if isinstance(values, tuple):  # times and events
        return tuple(rows_of(part, rows) for part in values)
    plain = hasattr(values, "__getitem__") or hasattr(values, "iloc")
    some = _safe_indexing(values if plain else np.asarray(values), rows)
    return some[:, rows] if between else some


@dataclass(frozen=True)
class Picker:
    """Fits a selector to rows of a table.

    Parameters
    ----------
    selector : estimator
    X : table or Source
    y : array-like
    params : mapping
        Other arguments of its `fit`, with one entry per sample.
    between : bool
        Whether the target is a matrix between samples.
    """

    selector: Any
    X: Any
    y: Any
    params: Mapping[str, Any]
    between: bool = False

    def __call__(self, rows: IntArray) -> IntArray:
        """Return the columns that the selector picks on some rows."""
        given = {name: rows_of(value, rows) for name, value in self.params.items()}
        with warnings.catch_warnings():
            # what is constant, or too few, on half of the samples says nothing about the table
            warnings.simplefilter("ignore")
            fitted = clone(self.selector).fit(
                rows_of(self.X, rows), rows_of(self.y, rows, between=self.between), **given
            )
        return np.flatnonzero(fitted.get_support())

    def run(self, parts: list[IntArray], n_jobs: int | None) -> Iterator[IntArray]:
        """Yield the picks on each of some sets of rows, in order."""
        if n_jobs in (None, 1):
            yield from map(self, parts)
            return
        alone = self
        if "n_jobs" in self.selector.get_params(deep=False):
            alone = replace(self, selector=clone(self.selector).set_params(n_jobs=1))
        yield from Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(alone)(part) for part in parts
        )

    def resume(
        self, parts: list[IntArray], n_jobs: int | None, folder: Path | None
    ) -> Iterator[IntArray]:
        """Do the same, but read what a folder has, and keep there what is done."""
        if folder is None:
            yield from self.run(parts, n_jobs)
            return
        place = folder / f"stability-{self._fingerprint()[:16]}"
        place.mkdir(parents=True, exist_ok=True)
        files = [place / f"{hash_of(part)[:16]}.txt" for part in parts]
        kept = {k: load_picks(file) for k, file in enumerate(files) if file.exists()}
        fresh = self.run([part for k, part in enumerate(parts) if k not in kept], n_jobs)
        for k, file in enumerate(files):
            if k in kept:
                yield kept[k]
            else:
                picked = next(fresh)
                keep(folder, file, _content(file, picked))
                yield picked

    def _fingerprint(self) -> str:
        """Return what picks depend on beside the rows."""
        table = self.X.identity() if isinstance(self.X, Source) else _as_array(self.X)
        given = [_as_array(value) for _, value in sorted(self.params.items())]
        params = {
            name: value
            for name, value in self.selector.get_params().items()
            if name not in ("n_jobs", "resources")
        }
        return hash_of(type(self.selector), params, table, _as_array(self.y), *given)


def _content(file: Path, picked: IntArray) -> bytes:
    """Return what a file says: a digest of its name and of the columns, then the columns."""
    columns = " ".join(map(str, picked.tolist()))
    return f"{hash_of(file.parent.name, file.name, columns)} {columns}".encode()


def load_picks(file: Path) -> IntArray:
    """Return the columns that a file says, or raise if it is not as it was written."""
    problem = "it is not what was written there"
    try:
        content = file.read_bytes()
        picked = np.array(content.split()[1:], dtype=np.int64)
        if content == _content(file, picked):
            return picked
    except OSError as error:
        problem = str(error.strerror)
    except (ValueError, OverflowError):  # no numbers
        pass
    raise InvalidInputError(
        f"{file} cannot be used ({problem}): it must hold what a half-sample selected; delete it, "
        "and start again to continue."
    )


def _as_array(values: Any) -> Any:
    """Return values in a form that has a fingerprint."""
    if values is None or hasattr(values, "tocsr"):
        return values
    return np.asarray(values)
