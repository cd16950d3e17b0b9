"""Text files whose rows are features and whose columns are samples, as in tables of genes."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.data.base import adjacent
from hsiclasso.data.cells import CodedTable, Coder, as_number, swap_marks
from hsiclasso.data.form import WHITESPACE
from hsiclasso.data.layout import Layout, Roles, lay_out, quoted
from hsiclasso.data.recognise import Form
from hsiclasso.data.text import mark_missing, read_numbers
from hsiclasso.errors import InvalidInputError

__all__ = ["TRANSPOSE", "hint_at_rows", "read_transposed"]

#: How a table of features in rows is read.
TRANSPOSE = "text=TextFormat(transpose=True) (--transpose on the command line)"
#: A table with more rows for each column than this may have features in its rows.
_TALL = 5


def read_transposed(form: Form, roles: Roles) -> tuple[CodedTable, Layout, list[str]]:
    """Read a table whose rows are features; return it turned, and the names of the samples.

    Names to drop may be those of rows or of columns. The first column that is left has the names
    of the features.
    """
    if roles.id is not None and roles.id not in roles.join_by:
        raise InvalidInputError(
            f"id names {roles.id!r}, but where rows are features, the header of {form.file} has "
            "the identifiers of samples: leave it out."
        )
    header = form.names
    if len(form.first) == len(header) + 1:  # R leaves out the name of the first column
        header = ["unnamed_1", *header]
    left = [j for j, name in enumerate(header) if name not in roles.drop]
    samples = np.array(left[1:], dtype=np.int64)
    if not samples.size:
        raise InvalidInputError(
            f"{form.file} has no column left for samples: the first column has the names of "
            "features, and each of the others is a sample."
        )
    ids = [header[j] for j in samples]
    columns = Layout(header, [], None, frozenset(), samples, left[0])
    names, table = _all_numbers(form, columns) or _any_rows(form, columns, roles)
    rest = roles.drop - (set(header) - set(names))
    layout = lay_out(form.file, names, replace(roles, drop=rest, id=None, join_by=()))
    for j in layout.category - table.labels.keys():
        table.relabel(j)
    return table, layout, ids


def _all_numbers(form: Form, columns: Layout) -> tuple[list[str], CodedTable] | None:
    """Read names and numbers at full speed; None if there are other cells."""
    found = read_numbers(form, columns)
    if found is None or columns.ids is None:
        return None
    names = [name or f"unnamed_{i}" for i, name in enumerate(found.values(columns.ids), start=1)]
    return names, CodedTable(found.array[:, adjacent(columns.kept)].T)


def _any_rows(form: Form, columns: Layout, roles: Roles) -> tuple[list[str], CodedTable]:
    """Read rows with missing cells and words, one after the other."""
    names: list[str] = []
    parts: list[FloatArray] = []
    coders: dict[int, Coder] = {}
    for i, row in enumerate(form.rows()):
        if len(row) != len(columns.names):
            raise InvalidInputError(
                f"{form.file} has {len(row)} values in data row {i + 1}, but {len(columns.names)} "
                "columns: every row must have one value per column; correct it."
            )
        names.append(row[columns.ids or 0].strip() or f"unnamed_{i + 1}")
        cells = [row[j] for j in columns.kept]
        if names[-1] in roles.drop:
            parts.append(np.zeros(len(cells)))
            continue
        numbers = None if names[-1] in roles.category else _numbers(cells, form)
        if numbers is None:
            coders[i] = Coder(form.text.marks)
            numbers = np.array([coders[i][cell] for cell in cells])
        parts.append(numbers)
    table = CodedTable(np.array(parts).T)
    ids = [columns.names[j] for j in columns.kept]
    for i, coder in coders.items():
        category = names[i] in roles.category
        table.settle(
            i, names[i], coder.labels, category=category, decimal=form.decimal, samples=ids
        )
    return names, table


def _numbers(cells: list[str], form: Form) -> FloatArray | None:
    """Read a row of numbers, None if there are other cells."""
    if form.decimal == ",":
        cells = [swap_marks(cell) for cell in cells]
    if any("_" in cell for cell in cells):  # 1_000 is a number in Python only
        return None
    try:
        numbers = np.array(list(map(float, cells)))
    except ValueError:
        return None
    mark_missing(numbers[:, None], form)
    return numbers


def hint_at_rows(form: Form, target: str) -> None:
    """Raise if the target is no column, and the rows of the file look like features."""
    sep = None if form.sep == WHITESPACE else form.sep
    lines = (line.split(sep, 1) for line in form.lines())
    firsts = [parts[0].strip(' "') for parts in lines if len(parts) > 1]
    distinct = len(set(firsts)) == len(firsts) > 0
    if distinct and target in firsts:
        _refuse(form, target, f"is a row of {form.file}, not a column")
    words = all(as_number(name) is None for name in firsts)
    numbers = all(as_number(cell) is not None for cell in form.first[1:])
    if distinct and words and numbers and len(firsts) > _TALL * len(form.names):
        _refuse(
            form,
            target,
            f"the target, is not a column of {form.file}, whose rows {quoted(firsts[:2])} and "
            f"{len(firsts) - 2:,} more look like features",
        )


def _refuse(form: Form, target: str, why: str) -> NoReturn:
    raise InvalidInputError(
        f"{target!r}{'' if why.startswith('is') else ','} {why}: if its rows are features and its "
        f"columns {quoted(form.names[1:3])} and so on are samples, pass {TRANSPOSE}."
    )
