"""Which column of a file is what, and how a name or a value that breaks a rule is refused."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from hsiclasso._types import IntArray
from hsiclasso.errors import InvalidInputError

__all__ = ["Layout", "lay_out", "quoted", "refuse_target_value", "refuse_value"]


@dataclass(frozen=True)
class Layout:
    """Which column of a file is what.

    Attributes
    ----------
    names : list of str
        All columns.
    target : int
        Column of the target.
    kept : ndarray
        Columns of the features, ascending.
    """

    names: list[str]
    target: int
    kept: IntArray

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        return [self.names[j] for j in self.kept]


def lay_out(file: Path, names: list[str], target: str, drop: frozenset[str]) -> Layout:
    """Find the target and the features among the columns of a file."""
    if target not in names:
        _refuse_target(file, names, target)
    for name in sorted(drop - set(names)):
        raise InvalidInputError(
            f"drop names {name!r}, which is not a column of {file}{_similar(name, names)}: every "
            "name to drop must be one of its columns."
        )
    if target in drop:
        raise InvalidInputError(f"{target!r} is both the target and to be dropped: choose one.")
    twice = [name for name, count in Counter(names).items() if count > 1 and name not in drop]
    if twice:
        raise InvalidInputError(
            f"{file} has several columns named {quoted(twice)}, and names must be unique: rename "
            f"them, or leave them out with {_drop(twice[0])}."
        )
    position = names.index(target)
    kept = [j for j, name in enumerate(names) if j != position and name not in drop]
    for j in kept:
        if names[j] == f"unnamed_{j + 1}":
            raise InvalidInputError(
                f"column {j + 1} of {file} has no name, and may hold row labels: leave it out "
                f"with {_drop(names[j])}, or name it."
            )
    return Layout(names, position, np.array(kept, dtype=np.int64))


def _refuse_target(file: Path, names: Sequence[str], target: str) -> NoReturn:
    if all(map(_is_number, names)):
        raise InvalidInputError(
            f"{file} starts with numbers ({quoted(names)}), and its first line must hold the "
            "column names: add a header."
        )
    if len(names) == 1 and re.search(r"[\t;,]", names[0]):
        raise InvalidInputError(
            f"{file} has a single column named {names[0][:60]!r}: its fields seem to be "
            "separated otherwise than its suffix says; .csv stands for commas, .tsv for tabs."
        )
    raise InvalidInputError(
        f"target={target!r} is not a column of {file}{_similar(target, names)}: give the name "
        "of one of its columns."
    )


def refuse_value(name: str, value: str, row: int, *, missing: bool) -> NoReturn:
    """Refuse a feature's value, given in quotes, in a row counted from 1."""
    if missing:
        raise InvalidInputError(
            f"column {name!r} has a missing value ({value}) in data row {row}, and every value "
            f"must be a number: fill it in, drop the row, or leave the column out with "
            f"{_drop(name)}."
        )
    raise InvalidInputError(
        f"column {name!r} holds {value} in data row {row}, and features must be numbers: leave "
        f"the column out with {_drop(name)}, or encode it as numbers."
    )


def refuse_target_value(name: str, value: Any, row: int) -> NoReturn:
    """Refuse a missing value of the target, in a row counted from 1."""
    raise InvalidInputError(
        f"target {name!r} has a missing value ({value!r}) in data row {row}, and every sample "
        "needs one: fill it in or drop the row."
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _similar(name: str, names: Sequence[str]) -> str:
    """Suggest names that are spelled alike."""
    lower = [other for other in names if other.lower() == name.lower()]
    close = lower or difflib.get_close_matches(name, names, n=3)
    return f" (did you mean {' or '.join(map(repr, close[:3]))}?)" if close else ""


def quoted(names: Sequence[str]) -> str:
    """Return the first few names in quotes."""
    shown = ", ".join(repr(str(name)) for name in names[:5])
    return shown + (", ..." if len(names) > 5 else "")


def _drop(name: str) -> str:
    return f"drop=[{name!r}] (--drop {name!r} on the command line)"
