"""What columns of real tables often are in place of features, said before any long work.

Identifiers of samples, numbers that are written as text, dates, and numbers such as 999 that stand
for missing values. What would be wrong for certain is refused; what is likely to be gets a warning.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.data.base import Source
from hsiclasso.data.cells import as_number, is_nearly_number
from hsiclasso.data.dates import as_day
from hsiclasso.data.layout import drop_option, quoted
from hsiclasso.errors import InvalidInputError, SuspectColumnWarning

__all__ = ["check_columns", "missing_code"]

#: Labels or numbers whose distinct values exceed this share of the rows look like an identifier.
_IDENTIFIER = 0.9
#: Most labels of an identifier that gets only a warning: its Gram matrix has full rank.
_MOST_LABELS = 2000
#: If more than this share of the labels are numbers, they are meant to be numbers.
_MOSTLY = 0.5
#: Whole numbers as text are codes of labels if there are few of them.
_MOST_CODES = 50
#: Numbers that stand for missing values where nothing else is near.
_MISSING_CODES = np.array(
    [s * v for v in (9, 99, 999, 9999, 99999) for s in (1, -1)] + [-127, -128, -32768], float
)
#: Of fewer rows, numbers may count by chance.
_LEAST_ROWS = 10
#: Names of columns that number the samples.
_NAME = re.compile(
    r"(?:.*[^a-z])?(?:ids?|index|idx|barcode|(?:sample|subject|patient|record|row)[^a-z]*"
    r"(?:ids?|no|nr|nrs|num|number|index|key)?)"
)
#: Names that are looked at.
_NAMES = 1 << 17
#: Entries that are looked at: more of a large table would take as long as its relevance.
_LOOKED_AT = 1 << 20


def check_columns(source: Source, where: str) -> None:
    """Raise or warn if columns are hardly features.

    Parameters
    ----------
    source : Source
        The features. A table that is not in memory is not read to find out about its numbers.
    where : str
        What the table is called.

    Raises
    ------
    InvalidInputError
        If text holds numbers or dates, or a different value in almost every row of a long table.

    Warns
    -----
    SuspectColumnWarning
        If a column looks like an identifier, or some numbers like a code for missing values.
    """
    identifiers = []
    if source.uniform_kind != "number":
        identifiers = _check_text(source, where)
    if source.in_memory and not source.bytes_to_come:
        identifiers += _numbered(source)
        _warn_of_codes(source)
    if identifiers:
        one = len(identifiers) == 1
        warnings.warn(
            f"{_columns(identifiers)} {'has' if one else 'have'} a different value in almost every "
            f"row; {'it looks like an identifier' if one else 'they look like identifiers'}: leave "
            f"{'it' if one else 'them'} out with {drop_option(identifiers[0])}.",
            SuspectColumnWarning,
            stacklevel=4,
        )


def missing_code(values: FloatArray) -> tuple[float, int] | None:
    """Return a number that seems to stand for missing values, and how often it occurs.

    It is the least or largest of the values, occurs twice or more, and is farther from the others
    than these are from each other.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Numbers; NaN are left out.

    Examples
    --------
    >>> missing_code(np.array([0.0, 1, 2, -9, 1, -9])), missing_code(np.array([95.0, 99, 97, 99]))
    ((-9.0, 2), None)
    """
    known = values[np.isfinite(values)]
    for end in (known.min(), known.max()) if known.size else ():
        others = known[known != end]
        if end not in _MISSING_CODES or others.size in (0, known.size - 1, known.size):
            continue
        if np.abs(others - end).min() > np.ptp(others) > 0:
            return float(end), int(known.size - others.size)
    return None


def _check_text(source: Source, where: str) -> list[str]:
    """Raise for text that should be numbers; return the columns of identifiers."""
    numbers: dict[str, str] = {}
    identifiers = []
    for j in range(source.n_features):
        labels = source.categories(j) if source.kind(j) == "text" else None
        if not labels:
            continue
        example = _number_or_date(labels, source.n_samples)
        if example is not None and _is_mostly_so(source, j, labels):
            numbers[source.name(j)] = example
        elif len(labels) >= max(3, _IDENTIFIER * source.n_samples / 2):
            n_observed = np.count_nonzero(~np.isnan(source.block(slice(j, j + 1))))
            if len(labels) < _IDENTIFIER * n_observed:
                continue
            identifiers.append(source.name(j))
            if len(labels) > _MOST_LABELS:
                raise InvalidInputError(
                    f"column {identifiers[-1]!r} has {len(labels):,} different values in "
                    f"{n_observed:,} rows; it looks like an identifier: leave it out with "
                    f"{drop_option(identifiers[-1])}."
                )
    if numbers:
        one = len(numbers) == 1
        raise InvalidInputError(
            f"{_columns(list(numbers))} of {where} {'holds' if one else 'hold'} numbers or dates "
            f"as text, such as {next(iter(numbers.values()))!r}, which would be compared as "
            "labels: make them numbers (with a dot as the decimal mark; dates as days), leave "
            f"{'it' if one else 'them'} out with {drop_option(next(iter(numbers)))}, or, if these "
            "are labels, make them a category."
        )
    return identifiers


def _number_or_date(labels: Sequence[Any], n: int) -> str | None:
    """Return an example if labels are numbers or dates; codes, a few whole numbers, are not."""
    texts = [str(label) for label in labels]
    if as_day(texts[0]) is not None and all(as_day(text) is not None for text in texts):
        return texts[0]
    known = {text: number for text in texts if (number := as_number(text)) is not None}
    commas = [text for text in texts if is_nearly_number(text)]
    if len(known) + len(commas) <= _MOSTLY * len(texts):
        return None
    few = len(texts) <= max(2, min(_MOST_CODES, n // 3))
    if not commas and few and all(number.is_integer() for number in known.values()):
        return None
    return [*commas, *known][0]


def _is_mostly_so(source: Source, column: int, labels: Sequence[Any]) -> bool:
    """Whether most cells of a column, not only most of its labels, are numbers or dates."""
    codes = source.block(slice(column, column + 1))[:, 0]
    counts = np.bincount(codes[~np.isnan(codes)].astype(np.int64), minlength=len(labels))
    so = [
        as_number(text) is not None or is_nearly_number(text) or as_day(text) is not None
        for text in map(str, labels)
    ]
    return bool(counts[so].sum() > _MOSTLY * counts.sum())


def _numbered(source: Source) -> list[str]:
    """Return columns of whole numbers, all different, that seem to number the samples.

    Their names say so, or the first column counts the rows.
    """
    if not source.named:
        return []
    found = []
    for j in range(min(source.n_features, _NAMES)):
        if source.kind(j) != "number" or (j and not _NAME.fullmatch(source.name(j).lower())):
            continue
        values = source.block(slice(j, j + 1))[:, 0]
        known = values[np.isfinite(values)]
        if known.size < _LEAST_ROWS or (known != np.floor(known)).any():
            continue
        if j == 0 and not _NAME.fullmatch(source.name(j).lower()):
            counts = np.array_equal(known, known[0] + np.arange(known.size))
        else:
            counts = np.unique(known).size >= _IDENTIFIER * known.size
        if counts:
            found.append(source.name(j))
    return found


def _warn_of_codes(source: Source) -> None:
    found = []
    for j, values in _some_numbers(source):
        likely = missing_code(values)
        if likely is not None:
            found.append((source.name(j), *likely))
    if found:
        name, code, count = found[0]
        shown = f"{code:g}"
        warnings.warn(
            f"{_columns([name for name, *_ in found])}: {shown} occurs {count:,} times in "
            f"{name!r}, far from all other values, as a code for missing values does; if it is "
            f"one, replace it by NaN, or read the file with text=TextFormat(na=[{shown!r}]) "
            f"(--na {shown} on the command line).",
            SuspectColumnWarning,
            stacklevel=5,
        )


def _some_numbers(source: Source) -> Iterator[tuple[int, FloatArray]]:
    """Yield columns of numbers that have a code for missing values at an end."""
    n_columns = min(source.n_features, _LOOKED_AT // max(1, source.n_samples))
    for run in source.runs():
        if run.start >= n_columns:
            break
        run = slice(run.start, min(run.stop, n_columns))
        values = source.block(run)
        with np.errstate(invalid="ignore"):
            ends = np.fmin.reduce(values), np.fmax.reduce(values)
        likely = np.isin(ends[0], _MISSING_CODES) | np.isin(ends[1], _MISSING_CODES)
        for k in np.flatnonzero(likely).tolist():
            if source.kind(run.start + k) == "number":
                yield run.start + k, values[:, k]


def _columns(names: Sequence[str]) -> str:
    return f"{'column' if len(names) == 1 else 'columns'} {quoted(names)}"
