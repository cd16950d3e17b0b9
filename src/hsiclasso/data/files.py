"""Tables from files, by suffix: text, Parquet, Feather, genotypes, and arrays in many formats."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hsiclasso._checks import check_choice
from hsiclasso._types import IntArray
from hsiclasso.data.anndata import read_anndata
from hsiclasso.data.arrays import read_hdf5, read_npy, read_zarr, says_anndata, split_inside
from hsiclasso.data.cells import CodedTable
from hsiclasso.data.compressed import COMPRESSED
from hsiclasso.data.dataset import Dataset, as_ids, as_weights, join_targets
from hsiclasso.data.duplicates import Duplicates, averaged
from hsiclasso.data.feather import read_feather
from hsiclasso.data.form import TextFormat
from hsiclasso.data.guards import check_columns
from hsiclasso.data.join import describe
from hsiclasso.data.labelled import LabelledSource, OrderedLabels
from hsiclasso.data.layout import Layout, Roles, lay_out
from hsiclasso.data.mat import read_mat
from hsiclasso.data.npz import read_npz
from hsiclasso.data.parquet import read_parquet
from hsiclasso.data.phenotype import Phenotype, PhenotypeFiles, as_phenotype
from hsiclasso.data.plink import read_plink, refuse_other_genotypes
from hsiclasso.data.recognise import recognise
from hsiclasso.data.sources import ArraySource, Source
from hsiclasso.data.text import DELIMITERS, by_suffix, plain_suffix, read_cells, reading_text
from hsiclasso.data.transposed import hint_at_rows, read_transposed
from hsiclasso.errors import InvalidInputError

__all__ = ["Dataset", "Phenotype", "TextFormat", "own_target", "read_table"]

Array = np.ndarray[Any, Any]

#: Formats whose array y is the target.
_WITH_TARGET = (".npz", ".mat", ".h5", ".hdf5")
#: Entries moved in one step.
_CHUNK = 1 << 20


def read_table(
    path: str | os.PathLike[str],
    target: str | Iterable[str],
    *,
    drop: str | Iterable[str] = (),
    weights: str | None = None,
    category: str | Iterable[str] = (),
    id: str | None = None,  # noqa: A002
    phenotype: PhenotypeFiles = (),
    duplicates: Duplicates = "error",
    text: TextFormat | None = None,
    layer: str | None = None,
) -> Dataset:
    r"""Read features, target and weights from a file.

    Columns may be numbers, booleans (``true``, ``false``) or text. Cells may be missing: empty,
    ``NA``, ``NaN``, ``null`` and all else that pandas reads as missing.

    Parameters
    ----------
    path : path-like
        ``.csv``, ``.tsv`` or ``.txt`` (tab-separated), each also with ``.gz`` or ``.zst`` (needs
        the extra ``zstd``); ``.parquet`` (needs the extra ``parquet``), ``.feather`` or ``.arrow``
        (the same); ``.npz`` with arrays ``X``, ``y`` and, optionally, ``feature_names``; ``.npy``;
        ``.mat``, ``.h5`` or ``.hdf5`` (extra ``hdf5``), ``.zarr`` or a ``.zip`` of it (extra
        ``zarr``), with the same arrays; ``.h5ad`` and ``.zarr`` of AnnData, whose target is a
        column of `obs` or a gene; ``.bed`` with ``.bim`` and ``.fam`` beside it, genotypes of PLINK
        (extra ``plink``). ``FILE.h5:/path/to/X`` names an array of a file. Text files start with a
        line of column names.
    target : str or iterable of str
        Names of the target columns, if any; for NPZ, names of arrays or of `feature_names`; for
        genotypes, ``phenotype``, ``sex`` or ``family``.
    drop : str or iterable of str
        Columns to leave out, such as sample identifiers. The index that pandas stores in a
        Parquet file is left out in any case.
    weights : str, optional
        Column of sample weights, found like a target.
    category : str or iterable of str
        Columns to read as labels even if they are numbers, such as codes.
    id : str, optional
        Column of sample identifiers, which is no feature.
    phenotype : path-like, list of path-like, or Phenotype
        Files that describe the samples, joined by their identifiers. Their columns may be target,
        weights or covariates. Samples that they do not describe are left out.
    duplicates : {"error", "unique", "mean"}
        What to do with features of the same name: refuse them, append ``.1``, ``.2``, ..., or
        average them.
    text : TextFormat, optional
        How a text file is written, where it is not the usual way.
    layer : str, optional
        Layer of an AnnData file, in place of X; ``"raw"`` is its raw matrix.

    Returns
    -------
    Dataset

    Raises
    ------
    InvalidInputError
        If the file, the names or a value break a rule; the message says which and where. Examples
        are a column of numbers with a few words, dates as text, and an identifier in a long table.

    Warns
    -----
    SuspectColumnWarning
        If a column looks like an identifier, or some of its numbers like a code for missing values.
    UserWarning
        If samples of the table and of the phenotype files do not all match.

    Examples
    --------
    >>> file = Path("table.csv")
    >>> _ = file.write_text("id,a,sex,kind\ns1,1,f,x\ns2,,m,y\ns3,5,f,x\n")
    >>> table = read_table(file, "kind", drop=["id"])
    >>> [table.source.kind(j) for j in range(2)], table.y.tolist()
    (['number', 'text'], ['x', 'y', 'x'])
    >>> table.source.block(slice(0, 1)).ravel()
    array([ 1., nan,  5.])
    """
    (file, inside), form = split_inside(path), (text or TextFormat()).check()
    check_choice("duplicates", duplicates, ("error", "unique", "mean"))
    is_text = plain_suffix(file) in DELIMITERS
    notes = as_phenotype(phenotype, replace(form, sep=None, decimal=None) if is_text else form)
    read, what = _reader(file, form)
    if layer is not None and read is not read_anndata:
        raise InvalidInputError(
            f"layer={layer!r} is a part of AnnData files, and {file} is none: leave it out."
        )
    if inside:
        read = partial(read, inside=inside)
    if not is_text and (form.transpose or (form != TextFormat() and not notes.paths)):
        raise InvalidInputError(
            f"{file} is {what}, and options of text files have no meaning for it: leave out {form}."
        )
    roles = Roles(
        _names(target), weights, frozenset(_names(drop)), frozenset(_names(category)), id,
        duplicates=duplicates, layer=layer,
    )  # fmt: skip
    found = describe(notes, roles)
    with reading_text(file, what, form.encoding):
        table = read(file, found.of_table)
        if duplicates == "mean":
            table = replace(table, source=averaged(table.source))
    table = found.join(str(file), table)
    _check_size(file, table.source)
    check_columns(table.source, str(file))
    return table


def own_target(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the name of the target that a file of arrays has, if no other is named.

    Examples
    --------
    >>> own_target("table.npz"), own_target("table.csv")
    (('y',), ())
    """
    return ("y",) if split_inside(path)[0].suffix.lower() in _WITH_TARGET else ()


def _names(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


_Read = Callable[..., Dataset]


def _reader(file: Path, form: TextFormat) -> tuple[_Read, str]:
    """Choose the reader for a file that exists, and the name of its format."""
    text = {
        f"{suffix}{end}": (
            partial(_read_text, usual=sign, text=form),
            f"{'comma' if sign == ',' else 'tab'}-separated text",
        )
        for end in ("", *COMPRESSED)
        for suffix, sign in DELIMITERS.items()
    }
    readers: dict[str, tuple[_Read, str]] = {
        **text,
        ".parquet": (read_parquet, "Parquet"),
        **dict.fromkeys((".feather", ".arrow"), (read_feather, "Feather")),
        ".npz": (_read_npz, "an NPZ archive"),
        ".npy": (read_npy, "a NumPy array"),
        ".mat": (read_mat, "a MATLAB file"),
        ".h5ad": (read_anndata, "an AnnData file"),
        ".bed": (read_plink, "a PLINK 1 file"),
        **dict.fromkeys((".h5", ".hdf5"), (read_hdf5, "HDF5")),
        **dict.fromkeys((".zarr", ".zip"), (read_zarr, "Zarr")),
    }
    refuse_other_genotypes(file)
    chosen = by_suffix(file, readers)
    if chosen[0] in (read_hdf5, read_zarr) and says_anndata(file):
        chosen = readers[".h5ad"]
    if file.stat().st_size == 0:
        raise InvalidInputError(f"{file} is empty (0 bytes): write a table into it first.")
    return chosen


def _read_text(file: Path, roles: Roles, *, usual: str, text: TextFormat) -> Dataset:
    form = recognise(file, usual, text)
    if text.transpose:
        table, layout, ids = read_transposed(form, roles)
        data = _dataset(table, layout)
        data.source.ids = ids
        return data
    lost = [name for name in roles.targets if name not in form.names]
    if lost:
        hint_at_rows(form, lost[0])
    layout = lay_out(file, form.names, roles)
    return _dataset(read_cells(form, layout), layout)


def _read_npz(file: Path, roles: Roles) -> Dataset:
    return _dataset(*read_npz(file, roles))


def _take(array: Array, kept: IntArray) -> Array:
    """Keep some columns, in ascending order, of an array that nobody else uses, without a copy."""
    if kept.size == 0 or kept[-1] - kept[0] + 1 == kept.size:
        return array[:, kept[0] : kept[-1] + 1] if kept.size else array[:, :0]
    step = max(1, _CHUNK // array.shape[1])
    for start in range(0, array.shape[0], step):
        rows = array[start : start + step]
        rows[:, : kept.size] = rows[:, kept]
    return array[:, : kept.size]


def _dataset(table: CodedTable, layout: Layout, own: Mapping[str, Array] | None = None) -> Dataset:
    """Gather features, target and weights; `own` are arrays that are not in the table."""
    own = own or {}

    def values(j: int) -> Array:
        name = layout.names[j]
        return own[name] if name in own else table.values(j)

    parts = [values(j) for j in layout.targets]
    y: Any = join_targets(parts) if parts else None
    if len(parts) == 1 and layout.targets[0] in table.ordered:
        y = OrderedLabels(y)
    weights = None if layout.weights is None else values(layout.weights)
    if weights is not None:
        weights = as_weights(layout.names[layout.weights or 0], weights)
    X, names = _take(table.array, layout.kept), layout.features
    place = {int(j): k for k, j in enumerate(layout.kept)}
    kinds = {place[j]: kind for j, kind in table.kinds.items() if j in place}
    source: Source = ArraySource(X, names)
    if kinds:
        labels = {place[j]: texts for j, texts in table.labels.items() if j in place}
        source = LabelledSource(X, names, kinds, labels)
    if layout.ids is not None:
        source.ids = as_ids(layout.where, values(layout.ids))
    target = tuple(layout.names[j] for j in layout.targets)
    return Dataset(source, y, target, weights)


def _check_size(file: Path, source: Source) -> None:
    if source.n_features < 1:
        raise InvalidInputError(
            f"{file} has no column left besides the target and those dropped: add features."
        )
    if source.n_samples < 3:
        raise InvalidInputError(
            f"{file} has {source.n_samples} data row(s), but dependence can only be measured on "
            "3 samples or more: add rows."
        )
