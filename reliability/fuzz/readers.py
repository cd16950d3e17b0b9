"""Readers: small valid files of every kind, and the way from each to a selection."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_selection import SelectKBest

from hsiclasso import HSICLasso, Resources, StabilitySelection, TextFormat, read_table
from hsiclasso.data.groups import read_groups
from hsiclasso.data.matrices import read_matrix
from hsiclasso.data.vectors import read_target
from hsiclasso.errors import InvalidInputError
from hsiclasso.targets import Affinity, Graph
from tests.data import test_doors as doors
from tests.genotypes import draw_calls

#: Few neighbours would take another pass; one thread keeps the order of work.
_SELECTOR: dict[str, Any] = {"n_features_to_select": 2, "n_jobs": 1, "missing": "ignore"}


@dataclass(frozen=True)
class Reader:
    """Writes valid files into a folder, and reads them as far as a selection."""

    make: Callable[[Path], None]
    read: Callable[[Path], None]


def _numbers() -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((doors.N, doors.D)).round(3)
    X[:, ::2] *= rng.random((doors.N, 9)) < 0.4
    return X, (X[:, 4] * X[:, 11] + np.abs(X[:, 8])).round(3)


def _genotypes() -> tuple[Any, Any]:
    rng = np.random.default_rng(6)
    calls = draw_calls(rng, doors.N, doors.D, 0.1)
    return calls, (calls[:, 4] % 3 + rng.standard_normal(doors.N)).round(3)


def _labelled() -> Any:
    rng = np.random.default_rng(4)
    names = [f"g{j}" for j in range(3)]
    frame = doors.pandas_frame(_numbers()[0])[names]
    site = rng.choice(["north", "south", "west"], doors.N)
    return frame.assign(site=site, ill=rng.random(doors.N) < 0.5, y=_numbers()[1])


def _select(folder: Path, name: str, target: str | None = "y", **options: Any) -> None:
    """Read a table and select from it, as the shell does; without a target, as `fit` does."""
    file = f"{folder}/{name}"
    if target is None:
        HSICLasso(**_SELECTOR).fit(file, _numbers()[1])
        return
    table = read_table(file, target, **options)
    HSICLasso(**_SELECTOR).fit(table.source, table.y, sample_weight=table.weights)


def _door(door: str, name: str, target: str | None = "y") -> Reader:
    def make(folder: Path) -> None:
        doors.DOORS[door](*_numbers(), folder)

    return Reader(make, partial(_select, name=name, target=target))


def _two_files(transpose: bool) -> Reader:
    def make(folder: Path) -> None:
        doors.two_files(*_numbers(), folder, transpose=transpose)

    def read(folder: Path) -> None:
        form = TextFormat(transpose=transpose)
        _select(folder, "t.tsv", phenotype=folder / "people.csv", text=form)

    return Reader(make, read)


def _labels(door: str, name: str) -> Reader:
    def make(folder: Path) -> None:
        doors.LABELLED[door](_labelled(), folder)

    return Reader(make, partial(_select, name=name))


def _plink() -> Reader:
    def make(folder: Path) -> None:
        doors.bed(*_genotypes(), folder)

    return Reader(make, partial(_select, name="t.bed", target="phenotype"))


def _similarities() -> Any:
    X = _numbers()[0]
    return np.exp(-((X[:, None, :3] - X[None, :, :3]) ** 2).sum(axis=2)).round(3)


def _matrix(name: str, save: Callable[[Path], None], target: Callable[[Any], Any]) -> Reader:
    def read(folder: Path) -> None:
        y = read_matrix(folder / name)
        HSICLasso(**_SELECTOR, target=target(y)).fit(_numbers()[0], y)

    return Reader(lambda folder: save(folder / name), read)


def _links(file: Path) -> None:
    links = _similarities()
    sparse.save_npz(file, sparse.csr_matrix(np.where(links > 0.3, links, 0)))


def _vector(name: str) -> Reader:
    def make(folder: Path) -> None:
        y = _numbers()[1]
        (np.save if name.endswith("npy") else np.savetxt)(folder / name, y)

    def read(folder: Path) -> None:
        HSICLasso(**_SELECTOR).fit(_numbers()[0], read_target(folder / name, doors.N))

    return Reader(make, read)


def _groups() -> Reader:
    def make(folder: Path) -> None:
        lines = ["gene,pathway", *(f"x{j},p{j % 4}" for j in range(doors.D))]
        (folder / "groups.csv").write_text("\n".join(lines))

    return Reader(make, lambda folder: _use(read_groups(folder / "groups.csv")))


def _use(groups: dict[str, str]) -> None:
    from hsiclasso import GroupLasso

    HSICLasso(**_SELECTOR, penalty=GroupLasso(groups)).fit(
        doors.pandas_frame(_numbers()[0])
        .add_prefix("")
        .set_axis([f"x{j}" for j in range(doors.D)], axis=1),
        _numbers()[1],
    )


def _checkpoint() -> Reader:
    """Finished chunks: a damaged one may be computed again, but must not change the result."""

    def selected(folder: Path) -> Any:
        kept = Resources(checkpoint=folder / "kept", memory_limit="300MB")
        found = HSICLasso(**_SELECTOR, resources=kept).fit(*_numbers())
        return found.result_.to_json()

    def make(folder: Path) -> None:
        (folder / "expected.json").write_text(selected(folder))

    def read(folder: Path) -> None:
        expected = (folder.parent / "valid" / "expected.json").read_text()
        assert selected(folder) == expected, "the result is another"

    return Reader(make, read)


def _picks() -> Reader:
    """What finished half-samples selected: nothing else may be read in its place."""
    X, y = _numbers()

    def found(folder: Path) -> Any:
        stable = StabilitySelection(
            SelectKBest(k=2), n_pairs=2, random_state=0, resources=Resources(checkpoint=folder)
        )
        return stable.fit(X, y > np.median(y)).frequencies_.tolist()

    def read(folder: Path) -> None:
        assert found(folder) == found(folder.parent / "valid"), "the result is another"

    return Reader(lambda folder: found(folder) and None, read)


def _parts() -> Reader:
    """A job in parts, through the shell: its description and its chunks are damaged."""
    from click.testing import CliRunner

    from hsiclasso.cli.app import app

    def run(*words: Any) -> Any:
        return CliRunner().invoke(app, [*map(str, words)])

    def make(folder: Path) -> None:
        table, _ = doors.text(*_numbers(), folder.parent, "parts.csv")
        done = [
            run("split", table, folder, "--parts", 2, "-t", "y", "-k", 2),
            *(run("run", folder, number) for number in (1, 2)),
        ]
        assert not any(one.exit_code for one in done), done

    def read(folder: Path) -> None:
        job = folder / "job.json"
        if job.exists() and _asks_for_much(job):
            raise InvalidInputError("not run: it would read other files, or work for long")
        done = run("merge", folder)
        if isinstance(done.exception, SystemExit):
            raise InvalidInputError(done.stderr)  # the shell's one line
        if done.exception is not None:
            raise done.exception

    return Reader(make, read)


def _asks_for_much(job: Path) -> bool:
    """Whether a damaged job names a scheduler, which a reader would wait for."""
    try:
        return bool(json.loads(job.read_text())["chosen"]["scheduler"])
    except (ValueError, KeyError, TypeError):
        return False


READERS: dict[str, Reader] = {
    "csv": _door("csv", "t.csv"),
    "csv_gz": _door("csv.gz", "t.csv.gz"),
    "csv_zst": _door("csv.zst", "t.csv.zst"),
    "csv_semicolons": _door("csv, semicolons", "t.csv"),
    "csv_labels": _labels("csv", "t.csv"),
    "tsv": _door("tsv", "t.tsv"),
    "tsv_phenotype": _two_files(transpose=False),
    "tsv_transposed": _two_files(transpose=True),
    "parquet": _door("parquet", "t.parquet"),
    "parquet_groups": _door("parquet, row groups", "t.parquet"),
    "parquet_labels": _labels("parquet, categories", "t.parquet"),
    "feather": _door("feather", "t.feather"),
    "feather_labels": _labels("feather", "t.feather"),
    "arrow": _door("arrow file", "t.arrow"),
    "npz": _door("npz", "t.npz"),
    "npy_rows": _door("npy, rows", "X.npy", None),
    "npy_columns": _door("npy, columns", "X.npy", None),
    "mat_5": _door("mat 5", "t.mat"),
    "mat_73": _door("mat 7.3", "t.mat"),
    "hdf5": _door("hdf5", "t.h5"),
    "hdf5_chunks": _door("hdf5, chunks", "t.h5"),
    "hdf5_group": _door("hdf5, group", "t.h5:/run/2/X"),
    "zarr_columns": _door("zarr, columns", "t.zarr"),
    "zarr_rows": _door("zarr, rows", "t.zarr"),
    "zarr_archive": _door("zarr, archive", "t.zip"),
    "zarr_array": _door("zarr, array", "t.zarr", None),
    "h5ad_dense": _door("anndata, h5ad, dense", "t.h5ad"),
    "h5ad_csr": _door("anndata, h5ad, csr", "t.h5ad"),
    "h5ad_csc": _door("anndata, h5ad, csc", "t.h5ad"),
    "h5ad_zarr_csr": _door("anndata, zarr, csr", "t.zarr"),
    "plink": _plink(),
    "affinity_npy": _matrix(
        "A.npy", lambda file: np.save(file, _similarities()), lambda _: Affinity()
    ),
    "affinity_csv": _matrix(
        "A.csv", lambda file: np.savetxt(file, _similarities(), "%.3f", ","), lambda _: Affinity()
    ),
    "graph_npz": _matrix("L.npz", _links, lambda _: Graph()),
    "target_npy": _vector("y.npy"),
    "target_txt": _vector("y.txt"),
    "groups": _groups(),
    "checkpoint": _checkpoint(),
    "parts": _parts(),
    "picks": _picks(),
}  # fmt: skip
