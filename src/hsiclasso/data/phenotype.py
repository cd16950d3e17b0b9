"""Files that describe samples: phenotypes and covariates, also in PLINK's manner."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hsiclasso._checks import did_you_mean
from hsiclasso.data.compressed import COMPRESSED
from hsiclasso.data.dataset import as_ids
from hsiclasso.data.form import WHITESPACE, TextFormat
from hsiclasso.data.layout import Roles, lay_out
from hsiclasso.data.recognise import recognise
from hsiclasso.data.text import DELIMITERS, by_suffix, plain_suffix, read_cells, reading_text
from hsiclasso.errors import InvalidInputError

__all__ = ["Phenotype", "PhenotypeFiles", "SampleTable", "as_phenotype", "read_phenotype"]

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
#: Names of parents, which say nothing about the sample itself.
_PARENTS = ("FATHER", "MOTHER", "PAT", "MAT")
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
        a ``.fam`` also an unknown sex or state, 0.
    id : str, optional
        Column of identifiers. By default that of the table, if the file has one of this name, else
        IID, else the first.
    text : TextFormat, optional
        How the files are written. By default as is said of the table; but if that is text as well,
        separator and decimal mark are recognised for each file.
    """

    files: PathLike | Sequence[PathLike] = ()
    id: str | None = None
    text: TextFormat | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files."""
        if isinstance(self.files, str | os.PathLike):
            return (Path(self.files),)
        return tuple(map(Path, self.files))


#: How files that describe samples may be given.
PhenotypeFiles = PathLike | Phenotype | Sequence[PathLike]


@dataclass(frozen=True)
class SampleTable:
    """What one file says of samples."""

    file: Path
    #: Name of the column of identifiers.
    key: str
    ids: list[str]
    #: Families of the samples, which tell apart those with the same identifier.
    families: list[str] | None
    columns: dict[str, Array]
    #: Columns that were left out.
    dropped: frozenset[str] = frozenset()


def as_phenotype(given: PhenotypeFiles, text: TextFormat) -> Phenotype:
    """Return the files that describe samples; they are written like `text` if nothing is said."""
    chosen = given if isinstance(given, Phenotype) else Phenotype(given)
    return replace(chosen, text=(chosen.text or text).check())


def read_phenotype(file: Path, phenotype: Phenotype, roles: Roles) -> SampleTable:
    """Read one file; `roles` say which columns hold labels or identifiers, and which to drop."""
    plain = DELIMITERS | dict.fromkeys(_HEADLESS, WHITESPACE)
    packed = {f"{suffix}{end}": sep for suffix, sep in plain.items() for end in COMPRESSED}
    usual, text = by_suffix(file, plain | packed), phenotype.text or TextFormat()
    suffix = plain_suffix(file)
    if suffix in _HEADLESS and suffix != ".eigenvec":
        text = replace(text, na=(*text.own_marks, _PLINK_MISSING))
    with reading_text(file, "text", text.encoding):
        form = recognise(file, usual, text, partial(_plink_names, suffix))
        names = set(form.names)
        key = _key(file, form.names, phenotype.id, roles.id)
        family = _named(names - {key}, _FAMILY)
        labels = roles.category & names | ({family} if family else set())
        dropped = roles.drop & names - {key}
        parents = {name for name in names if suffix in _HEADLESS and name.upper() in _PARENTS}
        layout = lay_out(
            file, form.names, Roles(id=key, category=labels - dropped, drop=dropped | parents)
        )
        table = read_cells(form, layout)
    columns = {layout.names[j]: table.values(j) for j in layout.kept.tolist()}
    families = columns.pop(family).tolist() if family in columns else None
    if suffix == ".fam":
        _forget_unknown(columns)
    ids = as_ids(file, table.values(form.names.index(key)))
    return SampleTable(file, key, ids, families, columns, dropped)


def _plink_names(suffix: str, row: list[str]) -> list[str] | None:
    """Names of the columns of one of PLINK's files, unless its first row is a header."""
    if suffix not in _HEADLESS or row[0].lstrip("#").strip().upper() in (_FAMILY, _INDIVIDUAL):
        return None
    names = [_FAMILY, _INDIVIDUAL, *_HEADLESS[suffix]]
    more = [f"{names[-1].rstrip('1')}{k}" for k in range(2, len(row) + 1)]
    return [*names, *more][: len(row)]


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
