"""A table and what files say about its samples, joined by identifiers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from hsiclasso._types import IntArray
from hsiclasso.data.base import Source, repeated
from hsiclasso.data.dataset import Dataset, assemble, join_targets
from hsiclasso.data.labelled import OrderedLabels
from hsiclasso.data.layout import Roles, quoted
from hsiclasso.data.phenotype import Phenotype, SampleTable, read_phenotype
from hsiclasso.data.rows import RowSubset
from hsiclasso.data.transposed import TRANSPOSE
from hsiclasso.errors import InvalidInputError

__all__ = ["Described", "describe"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Described:
    """Roles of columns of a table, and of columns of files that describe its samples."""

    roles: Roles
    tables: tuple[SampleTable, ...]

    @cached_property
    def columns(self) -> dict[str, Array]:
        """All columns that describe samples."""
        return {name: values for table in self.tables for name, values in table.columns.items()}

    @property
    def of_table(self) -> Roles:
        """Roles of columns of the table itself."""
        return self._part(lambda name: name not in self.columns)

    def _part(self, wanted: Callable[[str], bool]) -> Roles:
        """Roles of the columns whose names are wanted."""
        roles = self.roles
        dropped = {name for table in self.tables for name in table.dropped}
        return replace(
            roles,
            targets=tuple(filter(wanted, roles.targets)),
            weights=roles.weights if roles.weights is not None and wanted(roles.weights) else None,
            category=frozenset(filter(wanted, roles.category)),
            join_by=tuple(dict.fromkeys(table.key for table in self.tables)),
            elsewhere=(*self.columns, *dropped),
        )

    def join(self, where: str, data: Dataset) -> Dataset:
        """Add what is known about the samples of a table; leave out those that are not described.

        `where` names the table in errors.
        """
        if not self.tables:
            return data
        source = data.source
        rows = [_match(where, source, table) for table in self.tables]
        kept = np.flatnonzero(np.min(rows, axis=0) >= 0)
        if not kept.size:
            raise InvalidInputError(
                f"no sample of {where} is in all of {quoted([str(t.file) for t in self.tables])}: "
                "give files that describe the same samples."
            )
        whole = kept.size == source.n_samples
        source = source if whole else RowSubset(source, kept)
        source.annotations = dict(source.annotations) | {
            name: values[row[kept]]
            for table, row in zip(self.tables, rows, strict=True)
            for name, values in table.columns.items()
        }
        weights = data.weights if data.weights is None else data.weights[kept]
        data = replace(data, source=source, y=_rows_of(data.y, kept), weights=weights)
        return self._with_roles(where, data)

    def _with_roles(self, where: str, data: Dataset) -> Dataset:
        """Take target and weights out of the annotations."""
        own = self._part(self.columns.__contains__)
        own = replace(own, id=None, join_by=(), drop=frozenset(), duplicates="error")
        if not own.others:
            return data
        found = assemble(where, data.source, own)
        weights = data.weights if own.weights is None else found.weights
        y = found.y
        if data.target and own.targets:
            y = _in_order(self.roles.targets, data, found)
        return Dataset(found.source, y if own.targets else data.y, self.roles.targets, weights)


def describe(phenotype: Phenotype, roles: Roles) -> Described:
    """Read the files that describe samples."""
    tables: list[SampleTable] = []
    for file in phenotype.paths:
        table = read_phenotype(file, phenotype, roles)
        for before in tables:
            both = [name for name in table.columns if name in before.columns]
            if both:
                raise InvalidInputError(
                    f"{quoted(both)} is in {before.file} and in {table.file}: rename or remove one."
                )
        tables.append(table)
    return Described(roles, tuple(tables))


def _match(where: str, source: Source, table: SampleTable) -> IntArray:
    """Return the row of each sample in a file that describes samples, -1 where it has none."""
    if source.ids is None:
        _refuse_ids(where, source, table, "the table has no identifiers of samples")
    own: Sequence[Hashable] = source.ids
    keys: Sequence[Hashable] = table.ids
    families = next(
        (
            values
            for name, values in source.annotations.items()
            if name.upper() in ("FID", "FAMILY")
        ),
        None,
    )
    twice = repeated(keys) or repeated(own)
    if twice and families is not None and table.families is not None:
        own = list(zip(map(str, families), own, strict=True))
        keys = list(zip(table.families, keys, strict=True))
    if repeated(keys):
        raise InvalidInputError(
            f"{table.file} describes {quoted(repeated(keys))} more than once, in its column "
            f"{table.key!r}: keep one row for each sample, or name another column with id."
        )
    index = {key: row for row, key in enumerate(keys)}
    rows = np.array([index.get(key, -1) for key in own], dtype=np.int64)
    if (rows < 0).all():
        _refuse_ids(where, source, table, f"its samples are {quoted(list(map(str, own)))}")
    _tell(where, table, own, keys, rows)
    return rows


def _refuse_ids(where: str, source: Source, table: SampleTable, why: str) -> NoReturn:
    """Raise because no sample is described; say how it may be meant."""
    known = set(table.ids)
    if any(source.name(j) in known for j in range(source.n_features)):
        remedy = (
            f"columns of {where} have such names, so its rows may be features; if so, pass "
            f"{TRANSPOSE}"
        )
    else:
        remedy = (
            "name the column of identifiers of the table with id='...' (--id on the command "
            "line), and that of the file with Phenotype(files, id='...') if it has another name"
        )
    raise InvalidInputError(
        f"no sample of {where} is in {table.file}: {why}, and column {table.key!r} of the latter "
        f"has {quoted(table.ids)}: {remedy}."
    )


def _tell(
    where: str,
    table: SampleTable,
    own: Sequence[Hashable],
    keys: Collection[Hashable],
    rows: IntArray,
) -> None:
    """Warn if some samples are not described, or some rows describe no sample."""
    here = set(own)
    lost = [str(key) for key, row in zip(own, rows.tolist(), strict=True) if row < 0]
    unused = [str(key) for key in keys if key not in here]
    parts = [f"{len(own) - len(lost):,} of {len(own):,} samples of {where} are in {table.file}"]
    if lost:
        parts.append(f"samples left out ({len(lost):,}): {quoted(lost)}")
    if unused:
        parts.append(f"rows without a sample ({len(unused):,}): {quoted(unused)}")
    if len(parts) > 1:
        warnings.warn("; ".join(parts) + ".", UserWarning, stacklevel=2)


def _rows_of(y: Any, rows: IntArray) -> Any:
    """Some rows of a target."""
    if isinstance(y, OrderedLabels):
        return OrderedLabels(np.where(y.codes < 0, np.nan, y.codes)[rows])
    return y if y is None else y[rows]


def _in_order(targets: Sequence[str], data: Dataset, found: Dataset) -> Array:
    """Join targets of the table and of files that describe samples, in the order of the user."""
    parts: dict[str, Array] = {}
    for one in (data, found):
        columns = one.y.reshape(len(one.y), -1).T
        if len(columns) != len(one.target):
            raise InvalidInputError(
                f"{quoted(one.target)} has {len(columns)} columns, which cannot be joined with "
                "targets from another file: put all targets into one."
            )
        parts |= dict(zip(one.target, columns, strict=True))
    return np.asarray(join_targets([parts[name] for name in targets]))
