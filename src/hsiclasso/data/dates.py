"""Dates and durations as days, so that they are numbers."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from hsiclasso._types import FloatArray

__all__ = ["as_day", "dates_as_days", "durations_as_days"]

Array = np.ndarray[Any, Any]

_DAY = np.timedelta64(1, "D")
_FIRST = datetime(1970, 1, 1)
#: A date as ISO 8601 writes it, with a time or without.
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")


def dates_as_days(values: Array) -> FloatArray | None:
    """Return dates as days since 1970, NaN where missing; None if they are not dates.

    Parameters
    ----------
    values : ndarray of shape (n,)
        ``datetime64`` of any unit, or objects: dates, times of pandas, periods (their start).
        Missing objects are None.

    Examples
    --------
    >>> dates_as_days(np.array(["1970-01-03T12", "NaT"], dtype="datetime64[h]"))
    array([2.5, nan])
    """
    if values.dtype.kind == "M":
        return np.asarray((values - np.datetime64(0, "s")) / _DAY)
    return _each(values, date, _since_first)


def durations_as_days(values: Array) -> FloatArray | None:
    """Return durations as days, NaN where missing; None if they are not durations.

    Examples
    --------
    >>> durations_as_days(np.array([36, 12], dtype="timedelta64[h]"))
    array([1.5, 0.5])
    """
    if values.dtype.kind == "m":
        return np.asarray(values / _DAY)
    return _each(values, timedelta, lambda value: value / timedelta(days=1))


def as_day(text: str) -> float | None:
    """Return the day since 1970 of a date such as ``2024-03-01``; None if it is none.

    Examples
    --------
    >>> as_day("1970-01-02"), as_day("1970-01-01 06:00"), as_day("1970-13-01")
    (1.0, 0.25, None)
    """
    if not _ISO.fullmatch(text.strip()):
        return None
    try:
        return _since_first(datetime.fromisoformat(text.strip()))
    except ValueError:
        return None


def _each(values: Array, kind: type, convert: Any) -> FloatArray | None:
    """Convert objects of a kind one by one; None if one of them is of another kind."""
    if values.dtype.kind != "O":
        return None
    known = [getattr(value, "start_time", value) for value in values]  # of a period
    if not all(value is None or isinstance(value, kind) for value in known):
        return None
    return np.array([np.nan if value is None else convert(value) for value in known])


def _since_first(value: Any) -> float:
    """Days from 1970 to a date; times without a zone are taken as they are."""
    if not isinstance(value, datetime):
        return float(value.toordinal() - _FIRST.toordinal())
    if value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return float((value - _FIRST) / timedelta(days=1))
