"""Files that describe samples - phenotypes, covariates - joined to a table by identifiers."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from hsiclasso._checks import did_you_mean
from hsiclasso._types import IntArray
from hsiclasso.data.base import Source
from hsiclasso.data.compressed import COMPRESSED
from hsiclasso.data.dataset import Dataset, as_ids, assemble, join_targets
from hsiclasso.data.form import WHITESPACE, TextFormat
from hsiclasso.data.labelled import OrderedLabels
from hsiclasso.data.layout import Roles, lay_out, quoted
from hsiclasso.data.recognise import recognise
from hsiclasso.data.rows import RowSubset
from hsiclasso.data.text import DELIMITERS, by_suffix, read_cells, reading
from hsiclasso.data.transposed import TRANSPOSE
from hsiclasso.errors import InvalidInputError

__all__ = ["Described", "Phenotype", "PhenotypeFiles", "as_phenotype", "describe"]

Array = np.ndarray[Any, Any]
PathLike = str | os.PathLike[str]

#: Columns of PLINK's files without a header, below family and individual; the last name is counted.
_HEADLESS = {
    ".fam": ("father", "mother", "sex", "phenotype"),
    ".psam": ("father", "mother", "sex", "phenotype"),
    ".pheno": ("PHENO1",),
    ".phen": ("PHENO1",),
    ".cov": ("COVAR1",),
    ".covar": ("COVAR1",),
    ".eigenvec": ("PC1",),
}
_FAMILY, _INDIVIDUAL = "FID", "IID"
#: What PLINK writes for a missing phenotype.
_PLINK_MISSING = "-9"


@dataclass(frozen=True)
class Phenotype:
    """Files that describe samples.

    Parameters
    ----------
    files : path-like, or list of path-like
        Text with a line of column names: ``.csv``, ``.tsv``, ``.txt``, also with ``.gz`` or
        ``.zst``. Or files in PLINK's manner, separated by spaces or tabs: ``.pheno``, ``.phen``,
        ``.cov``, ``.covar``, ``.eigenvec``, ``.fam``, ``.psam``. The first line of these is a
        header if it starts with FID or IID. In all of them but ``.eigenvec``, -9 is missing, and in
        a ``.fam`` without a header also an unknown sex or state, 0.
    id : str, optional
        Column of identifiers. By default that of the table, if the file has one of this name, else
        IID, else the first.
    text : TextFormat, optional
        How the files are written. By default as the table is, with a separator and a decimal mark
        of their own.
    """

    files: PathLike | Sequence[PathLike] = ()
    id: str | None = None
    text: TextFormat | None = None


#: How files that describe samples may be given.
PhenotypeFiles = PathLike | Phenotype | Sequence[PathLike]


@dataclass(frozen=True)
class _Table:
    """What one file says of samples."""

    file: Path
    #: Name of the column of identifiers.
    key: str
    ids: list[str]
    #: Families of the samples, which tell apart those with the same identifier.
    families: list[str] | None
    columns: dict[str, Array]


@dataclass(frozen=True)
class Described:
    """Roles of columns of a table, and of columns of files that describe its samples."""

    roles: Roles
    tables: tuple[_Table, ...]

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
        return replace(
            roles,
            targets=tuple(filter(wanted, roles.targets)),
            weights=roles.weights if roles.weights is not None and wanted(roles.weights) else None,
            drop=frozenset(filter(wanted, roles.drop)),
            category=frozenset(filter(wanted, roles.category)),
            join_by=tuple(dict.fromkeys(table.key for table in self.tables)),
            elsewhere=tuple(self.columns),
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
        own = replace(own, id=None, join_by=(), duplicates="error")
        if not own.others:
            return data
        found = assemble(where, data.source, own)
        weights = data.weights if own.weights is None else found.weights
        y = found.y
        if data.target and own.targets:
            y = _in_order(self.roles.targets, data, found)
        return Dataset(found.source, y if own.targets else data.y, self.roles.targets, weights)


def as_phenotype(given: PhenotypeFiles, text: TextFormat) -> Phenotype:
    """Return the files that describe samples, with how they are written."""
    chosen = given if isinstance(given, Phenotype) else Phenotype(given)
    usual = replace(text, sep=None, decimal=None, transpose=False)
    return Phenotype(_paths(chosen.files), chosen.id, (chosen.text or usual).check())


def _paths(given: Any) -> tuple[PathLike, ...]:
    return (given,) if isinstance(given, str | os.PathLike) else tuple(given)


def describe(phenotype: Phenotype, roles: Roles) -> Described:
    """Read the files that describe samples."""
    tables: list[_Table] = []
    for path in _paths(phenotype.files):
        table = _read(Path(path), phenotype, roles)
        for before in tables:
            both = [name for name in table.columns if name in before.columns]
            if both:
                raise InvalidInputError(
                    f"{quoted(both)} is in {before.file} and in {table.file}: rename or remove one."
                )
        tables.append(table)
    return Described(roles, tuple(tables))


def _read(file: Path, phenotype: Phenotype, roles: Roles) -> _Table:
    """Read one file."""
    plain = DELIMITERS | dict.fromkeys(_HEADLESS, WHITESPACE)
    packed = {f"{suffix}{end}": sep for suffix, sep in plain.items() for end in COMPRESSED}
    usual, text = by_suffix(file, plain | packed), phenotype.text or TextFormat()
    suffix = next((part for part in reversed(file.suffixes) if part.lower() in plain), "").lower()
    if suffix in _HEADLESS and suffix != ".eigenvec":
        text = replace(text, na=(*text.own_marks, _PLINK_MISSING))
    headless = False

    def names_of(row: list[str]) -> list[str] | None:
        nonlocal headless
        start = row[0].lstrip("#").strip().upper()
        headless = suffix in _HEADLESS and start not in (_FAMILY, _INDIVIDUAL)
        return _plink_names(suffix, len(row)) if headless else None

    with reading(file, "text", text.encoding):
        form = recognise(file, usual, text, names_of)
        family = _named(form.names, _FAMILY)
        key = _key(file, form.names, phenotype.id, roles.id)
        labels = roles.category.intersection(form.names)
        if family is not None and family != key:
            labels |= {family}
        layout = lay_out(
            file,
            form.names,
            Roles(id=key, category=labels, drop=roles.drop.intersection(form.names) - {key}),
        )
        table = read_cells(form, layout)
    columns = {layout.names[j]: table.values(j) for j in layout.kept.tolist()}
    families = columns.pop(family, None) if family is not None else None
    if headless and suffix == ".fam":
        _forget_unknown(columns)
    ids = as_ids(file, table.values(layout.ids or 0))
    return _Table(file, key, ids, None if families is None else families.tolist(), columns)


def _plink_names(suffix: str, width: int) -> list[str]:
    """Names of the columns of a file without a header."""
    names = [_FAMILY, _INDIVIDUAL, *_HEADLESS[suffix]]
    last = names.pop()
    more = [last, *(f"{last.rstrip('1')}{k}" for k in range(2, width + 1))]
    return [*names, *more][:width]


def _named(names: Iterable[str], wanted: str) -> str | None:
    return next((name for name in names if name.upper() == wanted), None)


def _key(file: Path, names: list[str], own: str | None, of_table: str | None) -> str:
    """Column of identifiers of a file."""
    if own is not None and own not in names:
        raise InvalidInputError(
            f"id names {own!r}, which is not a column of {file}{did_you_mean(own, names)}: give "
            "the name of one of its columns."
        )
    if own is None and of_table in names:
        own = of_table
    return own or _named(names, _INDIVIDUAL) or names[0]


def _forget_unknown(columns: dict[str, Array]) -> None:
    """Mark what a .fam file calls unknown: sex 0, and state 0 of cases (2) and controls (1)."""
    for name in ("sex", "phenotype"):
        values = columns.get(name)
        if values is None or values.dtype.kind != "f":
            continue
        known = set(values[~np.isnan(values)].tolist())
        if known <= {0.0, 1.0, 2.0} and (name == "sex" or 2.0 in known):
            values[values == 0] = np.nan


def _match(where: str, source: Source, table: _Table) -> IntArray:
    """Return the row of each sample in a file that describes samples, -1 where it has none."""
    if source.ids is None:
        _refuse_ids(where, source, table, "it is not known how the samples are called")
    own: Sequence[Hashable] = source.ids
    keys: Sequence[Hashable] = table.ids
    families = next(
        (values for name, values in source.annotations.items() if name.upper() == _FAMILY), None
    )
    twice = _twice(keys) or _twice(own)
    if twice and families is not None and table.families is not None:
        own = list(zip(map(str, families), own, strict=True))
        keys = list(zip(table.families, keys, strict=True))
    if _twice(keys):
        raise InvalidInputError(
            f"{table.file} describes {quoted(_twice(keys))} more than once, in its column "
            f"{table.key!r}: keep one row for each sample, or name another column with id."
        )
    index = {key: row for row, key in enumerate(keys)}
    rows = np.array([index.get(key, -1) for key in own], dtype=np.int64)
    if (rows < 0).all():
        _refuse_ids(where, source, table, f"its samples are {quoted(list(map(str, own)))}")
    _tell(where, table, own, keys, rows)
    return rows


def _twice(keys: Sequence[Hashable]) -> list[str]:
    return [str(key) for key, count in Counter(keys).items() if count > 1]


def _refuse_ids(where: str, source: Source, table: _Table, why: str) -> NoReturn:
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
    table: _Table,
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
    return join_targets([parts[name] for name in targets])
