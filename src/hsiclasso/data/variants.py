"""The text files of PLINK: variants (``.bim``) and samples (``.fam``)."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.data.cells import MISSING, as_number
from hsiclasso.errors import InvalidInputError

__all__ = ["People", "Variants", "read_people", "read_variants"]

#: Fields of a line.
_PERSON = "family, person, father, mother, sex and phenotype"
_VARIANT = "chromosome, name, position in centimorgans, position in base pairs and two alleles"
#: A variant without a name.
_NO_NAME = "."
#: Codes of a missing phenotype: of any, and of a disease, whose other codes are 1 and 2.
_MISSING, _MISSING_STATUS = -9.0, (-9.0, 0.0)
_STATUS = (-9.0, 0.0, 1.0, 2.0)
_SEX = {"1": "male", "2": "female"}


@dataclass(frozen=True)
class People:
    """The samples of a ``.fam`` file."""

    #: Identifiers of persons.
    ids: list[str]
    #: ``phenotype``, ``sex`` and ``family``, each of shape (n,).
    annotations: Mapping[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Variants:
    """The variants of a ``.bim`` file."""

    #: Names, which are unique.
    names: list[str]
    chromosomes: list[str]
    #: Positions in base pairs, shape (d,).
    positions: IntArray
    #: First alleles, which are counted, and second ones.
    alleles: tuple[list[str], list[str]]
    #: Names that are not those of the file.
    renamed: list[str]

    def info(self, column: int) -> dict[str, Any]:
        """Place and alleles of one variant."""
        return {
            "chromosome": self.chromosomes[column],
            "position": int(self.positions[column]),
            "counted_allele": self.alleles[0][column],
            "other_allele": self.alleles[1][column],
        }


def read_people(file: Path) -> People:
    """Read a ``.fam`` file."""
    lines = [fields for _, fields in _lines(file, _PERSON)]
    if not lines:
        raise InvalidInputError(f"{file} has no samples: it needs a line for each of them.")
    families, ids, _, _, sexes, phenotypes = zip(*lines, strict=True)
    annotations = {
        "phenotype": read_phenotype(phenotypes),
        "sex": np.array([_SEX.get(code) for code in sexes], dtype=object),
        "family": np.array(families, dtype=object),
    }
    return People(list(ids), annotations)


def read_phenotype(cells: Sequence[str]) -> np.ndarray[Any, Any]:
    """Read phenotypes by the rules of PLINK.

    If there are no other numbers than 1 (control), 2 (case), 0 and -9, the last two are missing.
    Otherwise -9 is missing. Words such as ``NA`` are missing too; other words make all of them
    labels.

    Examples
    --------
    >>> read_phenotype(["1", "2", "0", "-9"])
    array([ 1.,  2., nan, nan])
    >>> read_phenotype(["0.5", "2", "0", "-9"])
    array([0.5, 2. , 0. , nan])
    >>> read_phenotype(["red", "blue", "NA"])
    array(['red', 'blue', None], dtype=object)
    """
    numbers = [np.nan if cell in MISSING else as_number(cell) for cell in cells]
    if any(number is None for number in numbers):
        gone = {*MISSING, "-9"}
        return np.array([None if cell in gone else cell for cell in cells], dtype=object)
    values: FloatArray = np.array(numbers, dtype=np.float64)
    is_status = bool(np.isin(values[~np.isnan(values)], _STATUS).all())
    values[np.isin(values, _MISSING_STATUS if is_status else _MISSING)] = np.nan
    return values


def read_variants(file: Path) -> Variants:
    """Read a ``.bim`` file; make its names unique."""
    names: list[str] = []
    chromosomes: list[str] = []
    positions: list[int] = []
    first: list[str] = []
    second: list[str] = []
    for number, (chromosome, name, _, position, one, two) in _lines(file, _VARIANT):
        try:
            positions.append(int(position))
        except ValueError:
            raise InvalidInputError(
                f"line {number} of {file} has the position {position!r}, which is no whole "
                f"number: the fields of a line are {_VARIANT}."
            ) from None
        names.append(name)
        # there are few chromosomes and alleles: each text is kept once
        chromosomes.append(sys.intern(chromosome))
        first.append(sys.intern(one))
        second.append(sys.intern(two))
    if not names:
        raise InvalidInputError(f"{file} has no variants: it needs a line for each of them.")
    places = np.array(positions, dtype=np.int64)
    renamed = _rename(names, chromosomes, places, (first, second))
    return Variants(names, chromosomes, places, (first, second), renamed)


def _rename(
    names: list[str], chromosomes: list[str], positions: IntArray,
    alleles: tuple[list[str], list[str]],
) -> list[str]:  # fmt: skip
    """Give variants that share a name, or have none, their place as a name; return the new ones."""
    taken = set(names)
    if len(taken) == len(names) and _NO_NAME not in taken:
        return []
    counts = Counter(names)
    renamed = []
    for j, name in enumerate(names):
        if counts[name] > 1 or name == _NO_NAME:
            place = f"{chromosomes[j]}:{positions[j]}:{alleles[0][j]}:{alleles[1][j]}"
            unique, copy = place, 1
            while unique in taken:
                copy += 1
                unique = f"{place}:{copy}"
            taken.add(unique)
            names[j] = unique
            renamed.append(unique)
    return renamed


def _lines(file: Path, what: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the six fields of each line that is not blank."""
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                fields = line.split()
                if len(fields) == 6:
                    yield number, fields
                elif fields:
                    raise InvalidInputError(
                        f"line {number} of {file} has {len(fields)} fields, but a line has 6: "
                        f"{what}."
                    )
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{file} is not UTF-8 text ({error.reason} at byte {error.start}): save it as UTF-8."
        ) from error
