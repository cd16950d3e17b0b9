"""Reading which group each feature belongs to."""

from __future__ import annotations

import csv
from os import PathLike
from pathlib import Path

from hsiclasso.data.reading import reading
from hsiclasso.data.text import DELIMITERS, by_suffix
from hsiclasso.errors import InvalidInputError

__all__ = ["read_groups"]


def read_groups(path: str | PathLike[str]) -> dict[str, str]:
    r"""Read a file of features and their groups.

    Parameters
    ----------
    path : path-like
        ``.csv``, or ``.tsv`` or ``.txt`` (tab-separated), with a line of column names and then
        one feature and its group on each line; further columns are ignored.

    Returns
    -------
    dict
        Group by feature.

    Examples
    --------
    >>> file = Path("pathways.csv")
    >>> _ = file.write_text("gene,pathway\nTP53,apoptosis\nEGFR,growth\n")
    >>> read_groups(file)
    {'TP53': 'apoptosis', 'EGFR': 'growth'}
    """
    file = Path(path)
    delimiter = by_suffix(file, DELIMITERS)
    groups: dict[str, str] = {}
    with reading(file, "UTF-8 text"), file.open(newline="", encoding="utf-8-sig") as stream:
        lines = csv.reader(stream, delimiter=delimiter)
        next(lines, None)
        for number, line in enumerate(lines, start=2):
            if line:
                _add(groups, line, f"{file}, line {number}")
    if not groups:
        raise InvalidInputError(
            f"{file} names no feature: write a line of column names, then a feature and its group "
            "on each line."
        )
    return groups


def _add(groups: dict[str, str], line: list[str], where: str) -> None:
    feature, group = (cell.strip() for cell in [*line, ""][:2])
    if not feature or not group:
        raise InvalidInputError(f"{where}: {line!r} has no feature or no group; each needs both.")
    if groups.get(feature, group) != group:
        raise InvalidInputError(
            f"{where}: {feature!r} is in {groups[feature]!r} and in {group!r}, but a feature "
            "belongs to one group: remove one line."
        )
    groups[feature] = group
