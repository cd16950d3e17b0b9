"""The role of each column of a file: feature, target, weights or none."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

import numpy as np

from hsiclasso._checks import did_you_mean
from hsiclasso._types import IntArray
from hsiclasso.data.base import repeated
from hsiclasso.data.cells import as_number
from hsiclasso.data.duplicates import Duplicates, unique_names
from hsiclasso.data.form import text_option
from hsiclasso.errors import InvalidInputError

__all__ = ["Layout", "Roles", "drop_option", "lay_out", "quoted"]


@dataclass(frozen=True)
class Roles:
    """The roles of columns as the user gives them, by name."""

    targets: tuple[str, ...] = ()
    #: Column of sample weights.
    weights: str | None = None
    #: Columns to leave out.
    drop: frozenset[str] = frozenset()
    #: Columns of labels, even if they look like numbers.
    category: frozenset[str] = frozenset()
    #: Column of sample identifiers.
    id: str | None = None
    #: Names that other files give to the identifiers: look for such a column if `id` is None.
    join_by: tuple[str, ...] = ()
    #: Names of what describes the samples without being a feature, in other files or the table.
    elsewhere: tuple[str, ...] = ()
    #: What to do with features that have the same name.
    duplicates: Duplicates = "error"
    #: Layer of an AnnData file to read in place of X; "raw" is its raw matrix.
    layer: str | None = None

    @property
    def others(self) -> tuple[str, ...]:
        """Columns that are read but are not features."""
        single = (self.weights, self.id)
        return (*self.targets, *(name for name in single if name is not None))

    def with_id(self, names: Collection[str]) -> Roles:
        """Say which of these columns has the identifiers, if none is named and one is likely."""
        if self.id is not None and (self.id in names or self.id not in self.join_by):
            return self
        likely = (name for name in (*self.join_by, "unnamed_1") if name in names)
        return replace(self, id=next(likely, None) if self.join_by else None)


@dataclass(frozen=True)
class Layout:
    """The role of each column of a file, by position."""

    #: All columns.
    names: list[str]
    #: Columns of the target.
    targets: list[int]
    #: Column of sample weights.
    weights: int | None
    #: Columns of labels, even if they look like numbers.
    category: frozenset[int]
    #: Columns of the features, ascending.
    kept: IntArray
    #: Column of sample identifiers.
    ids: int | None = None
    #: What the table is called in errors.
    where: str = "the table"

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        return [self.names[j] for j in self.kept]

    @property
    def used(self) -> list[int]:
        """All columns that are read."""
        single = [j for j in (self.weights, self.ids) if j is not None]
        return [*self.kept.tolist(), *self.targets, *single]


def lay_out(file: Path | str, names: list[str], roles: Roles) -> Layout:
    """Check the roles against the columns of a file, and find these."""
    if roles.duplicates == "unique":
        names = unique_names(names)
    known = set(names)
    roles = roles.with_id(known)
    for target in roles.targets:
        if target not in known:
            _refuse_target(file, names, target, roles.elsewhere)
    for what, wanted in (
        ("drop", sorted(roles.drop.difference(roles.elsewhere))),
        ("weights", [] if roles.weights is None else [roles.weights]),
        ("category", sorted(roles.category)),
        ("id", [] if roles.id is None else [roles.id]),
    ):
        for name in wanted:
            if name not in known:
                raise InvalidInputError(
                    f"{what} names {name!r}, which is not a column of {file}"
                    f"{did_you_mean(name, names)}: give the name of one of its columns."
                )
    _check_roles(roles)
    _check_unique(file, names, roles)
    position = {name: j for j, name in enumerate(names)}
    no_features = roles.drop.union(roles.others)
    kept = [j for j, name in enumerate(names) if name not in no_features]
    for j in kept:
        if names[j] == f"unnamed_{j + 1}":
            raise InvalidInputError(
                f"column {j + 1} of {file} has no name, and may contain row labels: leave it out "
                f"with {drop_option(names[j])}, or name it."
            )
    return Layout(
        names,
        [position[name] for name in roles.targets],
        None if roles.weights is None else position[roles.weights],
        frozenset(position[name] for name in roles.category),
        np.array(kept, dtype=np.int64),
        None if roles.id is None else position[roles.id],
        str(file),
    )


def _check_roles(roles: Roles) -> None:
    """Raise if a column has two roles."""
    parts = [(name, "the target") for name in roles.targets]
    parts += [] if roles.weights is None else [(roles.weights, "the weights")]
    parts += [] if roles.id is None else [(roles.id, "the identifier of samples")]
    taken: dict[str, str] = {}
    for name, part in parts:
        if name in taken:
            both = "twice the target" if part == taken[name] else f"both {taken[name]} and {part}"
            raise InvalidInputError(f"{name!r} is {both}: choose one.")
        taken[name] = part
    for name in sorted(roles.drop & (set(taken) | roles.category)):
        part = taken.get(name, "a category")
        raise InvalidInputError(f"{name!r} is both {part} and to be dropped: choose one.")


def _check_unique(file: Path | str, names: list[str], roles: Roles) -> None:
    twice = [name for name in repeated(names) if name not in roles.drop]
    used = [name for name in twice if name in roles.others or name in roles.category]
    if roles.duplicates == "mean" and not used:
        return
    if twice:
        raise InvalidInputError(
            f"{file} has several columns named {quoted(used or twice)}, and names must be unique: "
            f"rename them, leave them out with {drop_option((used or twice)[0])}, or read them as "
            "'a', 'a.1' and so on with duplicates='unique' (--duplicates unique on the command "
            "line), or as one feature, their mean, with duplicates='mean' (--duplicates mean on "
            "the command line)."
        )


def _refuse_target(
    file: Path | str, names: Sequence[str], target: str, elsewhere: Sequence[str]
) -> NoReturn:
    if all(as_number(name) is not None for name in names):
        raise InvalidInputError(
            f"{file} starts with numbers ({quoted(names)}), but its first line must contain the "
            "column names: add a header."
        )
    if len(names) == 1 and re.search(r"[\t;,]", names[0]):
        raise InvalidInputError(
            f"{file} has a single column named {names[0][:60]!r}: its suffix seems to "
            "be wrong; use .csv if commas separate the columns, .tsv for tabs, or say what does "
            f"with {text_option('sep', ';')}."
        )
    described = f", whose samples are described by {quoted(elsewhere)}" if elsewhere else ""
    raise InvalidInputError(
        f"{target!r}, the target, is not a column of {file}{described}"
        f"{did_you_mean(target, [*names, *elsewhere])}: give the name of one of "
        f"{'these' if elsewhere else 'its'} columns."
    )


def quoted(names: Sequence[str]) -> str:
    """Return the first few names in quotes."""
    shown = ", ".join(repr(str(name)) for name in names[:5])
    return shown + (", ..." if len(names) > 5 else "")


def drop_option(name: str) -> str:
    """Say how a column is left out."""
    return f"drop=[{name!r}] (--drop {name!r} on the command line)"
