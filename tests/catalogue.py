"""A catalogue of bad input: what goes wrong, through which door, and the class of answer expected.

`CASES` is data. `tests/test_catalogue.py` runs every case through Python, and those that the shell
can say through the shell as well. A new case is an entry of one of the tables below.
``python -m tests.catalogue`` prints how many there are.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import io, sparse

__all__ = ["CASES", "Case", "Given", "counts"]

N = 40


@dataclass(frozen=True)
class Given:
    """What a user passes: to `fit`, and to the shell if there is a file."""

    X: Any
    y: Any = "y"
    params: dict[str, Any] | None = None
    #: Words after ``hsiclasso select``; None if the shell has no such input.
    words: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class Case:
    """One defect behind one door."""

    door: str
    defect: str
    #: "refused" or "warned".
    answer: str
    #: What the message must say: the name, the value.
    says: tuple[str, ...]
    make: Callable[[Path], Given]

    def __str__(self) -> str:
        return f"{self.door}: {self.defect}"


# ----------------------------------------------------------------------- tables with a bad value

Frame = pd.DataFrame


def good(n: int = N) -> Frame:
    """A table of three features, and a target that depends on one of them."""
    rng = np.random.default_rng(0)
    frame = Frame(rng.standard_normal((n, 3)).round(3), columns=["a", "b", "c"])
    frame["y"] = (frame["a"] ** 2 + 0.1 * rng.standard_normal(n)).round(3)
    return frame


def _file(frame: Frame, path: Path, write: Callable[[Path], Any]) -> Given:
    write(path)
    return Given(path, "y", None, (path, "-t", "y"))


def _arrays(frame: Frame, folder: Path) -> Given:
    X, y = frame.drop(columns="y").to_numpy(), frame["y"].to_numpy()
    names = frame.columns.drop("y").to_numpy().astype(str)
    return _file(frame, folder / "t.npz", lambda f: np.savez(f, X=X, y=y, feature_names=names))


def _matlab(frame: Frame, folder: Path) -> Given:
    X, y = frame.drop(columns="y").to_numpy(), frame["y"].to_numpy()
    return _file(frame, folder / "t.mat", lambda f: io.savemat(f, {"X": X, "y": y}))


def _arrow(frame: Frame) -> Any:
    return pl.from_pandas(frame).to_arrow()


DOORS: dict[str, Callable[[Frame, Path], Given]] = {
    "pandas": lambda f, _: Given(f.drop(columns="y"), f["y"]),
    "pandas by name": lambda f, _: Given(f),
    "polars": lambda f, _: Given(pl.from_pandas(f.drop(columns="y")), f["y"].to_numpy()),
    "arrow": lambda f, _: Given(_arrow(f.drop(columns="y")), f["y"].to_numpy()),
    "array": lambda f, _: Given(f.drop(columns="y").to_numpy(), f["y"].to_numpy()),
    "lists": lambda f, _: Given(f.drop(columns="y").to_numpy().tolist(), f["y"].tolist()),
    "sparse": lambda f, _: Given(sparse.csr_array(f.drop(columns="y")), f["y"].to_numpy()),
    "csv": lambda f, p: _file(f, p / "t.csv", lambda file: f.to_csv(file, index=False)),
    "tsv": lambda f, p: _file(f, p / "t.tsv", lambda file: f.to_csv(file, index=False, sep="\t")),
    "csv.gz": lambda f, p: _file(f, p / "t.csv.gz", lambda file: f.to_csv(file, index=False)),
    "parquet": lambda f, p: _file(f, p / "t.parquet", f.to_parquet),
    "feather": lambda f, p: _file(f, p / "t.feather", f.to_feather),
    "npz": _arrays,
    "mat": _matlab,
}
TEXTS = ("csv", "tsv", "csv.gz")
FILES = (*TEXTS, "parquet", "feather")
FRAMES = ("pandas", "pandas by name", "polars", "arrow")
#: Doors of tables that are read at once: others are not read beforehand.
IN_MEMORY = ("pandas", "pandas by name", "polars", *FILES)
EVERY = tuple(DOORS)


def put(column: str, value: Any, row: int = 5) -> Callable[[Frame], Frame]:
    """Put a value into a cell."""

    def change(frame: Frame) -> Frame:
        values = frame[column].tolist()
        values[row] = value
        return frame.assign(**{column: values})

    return change


def fill(**columns: Callable[[int], Any]) -> Callable[[Frame], Frame]:
    """Replace columns, or add some, by a function of the row."""
    return lambda frame: frame.assign(
        **{name: [of(i) for i in range(len(frame))] for name, of in columns.items()}
    )


def first(n: int) -> Callable[[Frame], Frame]:
    return lambda frame: frame.head(n)


def first_column(name: str, of: Callable[[int], Any]) -> Callable[[Frame], Frame]:
    def change(frame: Frame) -> Frame:
        frame = frame.copy()
        frame.insert(0, name, [of(i) for i in range(len(frame))])
        return frame

    return change


def date(i: int) -> Any:
    return pd.Timestamp("2021-03-01") + pd.Timedelta(days=37 * i)


def comma(i: int) -> str:
    return f"{i % 17},{i % 10}"


#: Change of the good table, class of answer, words of the message, and doors.
TABLES: dict[str, tuple[Callable[[Frame], Frame], str, tuple[str, ...], tuple[str, ...]]] = {
    "an infinite value": (put("b", np.inf), "refused", ("inf",), EVERY),
    "a missing value": (put("b", np.nan), "refused", ("NaN",), EVERY),
    "a missing target": (put("y", np.nan), "refused", ("NaN", "first in row 5"), EVERY),
    "an infinite target": (put("y", np.inf), "refused", ("inf", "y"), EVERY),
    "a constant target": (fill(y=lambda i: 2.5), "refused", ("2.5", "constant"), EVERY),
    "two rows": (first(2), "refused", ("2", "3 samples"), EVERY),
    "one row": (first(1), "refused", ("1", "3 samples"), EVERY),
    "no row": (first(0), "refused", (), (*TEXTS, "pandas", "array", "parquet", "feather", "npz")),
    "only a target": (lambda f: f[["y"]], "refused", ("feature",),
                      (*FILES, "pandas", "pandas by name", "array")),
    "no target": (lambda f: f.drop(columns="y").assign(z=1), "refused", ("'y'",),
                  (*FILES, "pandas by name")),
    "decimal commas": (fill(b=comma), "refused", ("b", "0,0"), (*FRAMES, *FILES)),
    "two columns of commas": (fill(b=comma, c=comma), "refused", ("'b'", "'c'"),
                              (*FRAMES, *FILES)),
    "thousands": (fill(b=lambda i: f"{1000 + i:,}"), "refused", ("b", "1,0"), (*FRAMES, *FILES)),
    "numbers as text": (fill(b=lambda i: f"{i / 7:.3f}"), "refused", ("b", "as text"),
                        (*FRAMES, "parquet", "feather")),
    "ISO dates": (fill(b=lambda i: str(date(i).date())), "refused", ("b", "2021-03-01", "days"),
                  (*FRAMES, *FILES)),
    "dates": (fill(b=date), "refused", ("b",), (*FRAMES, "parquet", "feather", *TEXTS)),
    "a word among numbers": (put("b", "oops"), "refused", ("b", "oops"), TEXTS),
    "words and numbers": (put("b", "oops"), "refused", ("b",), ("pandas", "pandas by name")),
    "a word in an array": (put("b", "oops"), "refused", ("oops",), ("array", "lists")),
    "bytes": (put("b", b"x"), "refused", (), ("pandas", "array")),
    "lists in cells": (put("b", [1, 2]), "refused", (), ("pandas", "array", "lists")),
    "complex values": (fill(b=lambda i: i + 1j), "refused", ("omplex",),
                       ("pandas", "array", "npz")),
    "a complex target": (fill(y=lambda i: i + 1j), "refused", ("omplex",), ("pandas", "array")),
    "a target of commas": (fill(y=comma), "refused", ("0,0",), ("pandas", "lists", *TEXTS)),
    "thousands in the target": (fill(y=lambda i: f"{1000 + i:,}"), "refused", ("1,0",),
                                ("pandas", "polars", *TEXTS, "parquet")),
    "a word in the target": (put("y", "oops"), "refused", ("oops",), ("pandas", "lists", *TEXTS)),
    "names twice": (lambda f: f.set_axis(["a", "a", "c", "y"], axis=1), "refused", ("'a'",),
                    ("pandas", *TEXTS)),
    "a long identifier": (lambda f: fill(b=lambda i: f"s{i}")(good(2100)), "refused",
                          ("b", "2,100", "identifier"), ("pandas", "csv", "parquet")),
    "an identifier": (first_column("name", lambda i: f"s{i}"), "warned", ("'name'", "identifier"),
                      (*FRAMES, *FILES)),
    "a numeric identifier": (first_column("sample_id", lambda i: 1001 + i), "warned",
                             ("'sample_id'", "identifier"), (*IN_MEMORY, "npz")),
    "a code for missing values": (
        lambda f: f.assign(b=f["b"].where(np.arange(len(f)) % 9 > 0, -99)), "warned",
        ("b", "-99", "missing"), (*IN_MEMORY, "npz")),
    "a code in the target": (
        lambda f: f.assign(y=f["y"].where(np.arange(len(f)) % 9 > 0, 999)), "warned",
        ("y", "999", "missing"), EVERY),
    "a class for each sample": (fill(y=lambda i: f"s{i}"), "warned", ("y", "40 classes"),
                                ("pandas", "polars", "lists", *FILES)),
    "a constant feature": (fill(b=lambda i: 1.0), "warned", ("b",),
                           ("pandas", "polars", *FILES, "npz")),
}  # fmt: skip


def _table(door: str, change: Callable[[Frame], Frame]) -> Callable[[Path], Given]:
    return lambda folder: DOORS[door](change(good()), folder)


# -------------------------------------------------------------------------------- damaged files


def _hdf5(folder: Path) -> Path:
    import h5py

    with h5py.File(folder / "t.h5", "w") as file:
        file["X"], file["y"] = good()[["a", "b", "c"]].to_numpy(), good()["y"].to_numpy()
    return folder / "t.h5"


def _npy(folder: Path) -> Path:
    np.save(folder / "t.npy", good().to_numpy())
    return folder / "t.npy"


def _through(door: str) -> Callable[[Path], Path]:
    return lambda folder: Path(DOORS[door](good(), folder).X)


WHOLE: dict[str, Callable[[Path], Path]] = {
    **{door: _through(door) for door in (*FILES, "npz", "mat")},
    "h5": _hdf5,
    "npy": _npy,
}
#: What happens to the bytes of a file.
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut in half": lambda content: content[: len(content) // 2 - 3],
    "only its start": lambda content: content[:7],
    "zeros": lambda content: bytes(len(content)),
    "noise": lambda content: np.random.default_rng(1).bytes(len(content)),
    "another format": lambda content: b"%PDF-1.7\n1 0 obj\n<< >>\n",
}


def _damaged(door: str, damage: str) -> Callable[[Path], Given]:
    def make(folder: Path) -> Given:
        path = WHOLE[door](folder)
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
        return Given(path, "y", None, (path, "-t", "y"))

    return make


def _at(name: str, write: Callable[[Path], Any] = lambda path: None) -> Callable[[Path], Given]:
    """A path, and what is there."""

    def make(folder: Path) -> Given:
        write(folder / name)
        return Given(folder / name, "y", None, (folder / name, "-t", "y"))

    return make


def _claiming(path: Path) -> None:
    """An archive whose header claims a table of 8 TB."""
    import zipfile

    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }"
    header += b" " * (117 - len(header)) + b"\n"
    start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", start + bytes(80))
        archive.writestr("y.npy", start + bytes(80))


def _tokens(path: Path) -> None:
    """An archive whose header is no Python literal."""
    import zipfile

    header = b"{'descr': '<f8', 'shape': ((((((((" + b" " * 84
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)


def _pickled(path: Path) -> None:
    import pickle

    path.write_bytes(pickle.dumps({"X": np.eye(3)}))


def _text(content: str) -> Callable[[Path], Any]:
    return lambda path: path.write_text(content, encoding="utf-8")


def _broken_sparse(path: Path) -> None:
    made = sparse.csc_matrix(np.eye(N, 3))
    made.indices[1] = 7 * N
    io.savemat(path, {"X": made, "y": np.arange(float(N))})


FOUND: dict[tuple[str, str], tuple[Callable[[Path], Given], tuple[str, ...]]] = {
    **{(suffix, "absent"): (_at(f"no.{suffix}"), ("no.", "does not exist")) for suffix in
       ("csv", "parquet", "npz", "npy", "h5", "mat", "feather", "h5ad", "bed", "zarr")},
    **{(suffix, "a folder"): (_at(f"t.{suffix}", Path.mkdir), ("t.",)) for suffix in
       ("csv", "parquet", "npz", "npy", "h5", "mat")},
    ("xls", "an unknown suffix"): (_at("t.xls", _text("a,y\n1,2\n")), ("'.xls'", ".csv")),
    ("none", "no suffix"): (_at("table", _text("a,y\n1,2\n")), ("suffix", ".csv")),
    ("npz", "a header that claims 8 TB"): (_at("t.npz", _claiming), ("t.npz",)),
    ("npz", "a header that is no literal"): (_at("t.npz", _tokens), ("t.npz",)),
    ("npz", "a pickle"): (_at("t.npz", _pickled), ("t.npz",)),
    ("npz", "one array"): (
        _at("t.npz", lambda path: path.write_bytes(_npy(path.parent).read_bytes())),
        ("t.npz", ".npy")),
    ("npz", "no X"): (_at("t.npz", lambda path: np.savez(path, A=np.eye(3))), ("'X'", "'A'")),
    ("npz", "X of objects"): (
        _at("t.npz", lambda path: np.savez(path, X=np.array([[1, None]] * 5), y=np.ones(5))),
        ("t.npz",)),
    ("npz", "another length"): (
        _at("t.npz", lambda path: np.savez(path, X=np.eye(9), y=np.ones(4))), ("y", "9 rows")),
    ("npz", "too few names"): (
        _at("t.npz", lambda path: np.savez(path, X=np.eye(9), y=np.ones(9), feature_names=["a"])),
        ("feature_names", "9 columns")),
    ("npy", "objects"): (
        _at("t.npy", lambda path: np.save(path, np.array([[1, None]] * 5))), ("t.npy", "objects")),
    ("npy", "one dimension"): (_at("t.npy", lambda path: np.save(path, np.ones(5))), ("t.npy",)),
    ("mat", "an index out of range"): (_at("t.mat", _broken_sparse), ("index",)),
    ("csv", "a header only"): (_at("t.csv", _text("a,b,y\n")), ("t.csv", "no rows")),
    ("csv", "blank lines only"): (_at("t.csv", _text("\n \n\n")), ("blank",)),
    ("csv", "fewer cells in a row"): (
        _at("t.csv", _text("a,b,y\n1,2,3\n4,5\n6,7,8\n")), ("2 values", "row 2", "3 columns")),
    ("csv", "more cells in a row"): (
        _at("t.csv", _text("a,b,y\n1,2,3\n4,5,6,7\n6,7,8\n")), ("4 values", "row 2")),
    ("csv", "no header"): (_at("t.csv", _text("1,2,3\n4,5,6\n6,7,8\n")), ("header",)),
    ("csv", "no name for row labels"): (
        _at("t.csv", _text(",a,y\ns1,1,2\ns2,4,5\ns3,6,8\n")), ("column 1", "no name")),
    ("csv", "tabs"): (_at("t.csv", _text("a b\ty z\n1 2\t3 4\n" * 3)), ("'y'",)),
    ("csv", "Latin-1"): (
        _at("t.csv", lambda path: path.write_bytes(b"\xe4,y\n" + b"1,2\n" * 5)), ("UTF-8",)),
    ("csv", "an open quote"): (_at("t.csv", _text('a,y\n"1,2\n3,4\n5,6\n')), ("t.csv",)),
    ("csv.gz", "no gzip"): (_at("t.csv.gz", _text("a,y\n1,2\n")), ("t.csv.gz",)),
    ("csv.gz", "a bad block"): (
        _at("t.csv.gz", lambda path: path.write_bytes(
            (lambda packed: packed[:12] + b"\xff" * 20 + packed[32:])(
                gzip.compress(good().to_csv(index=False).encode())))), ("t.csv.gz",)),
}  # fmt: skip


# ------------------------------------------------------------------- parameters and other options


def _fit(params: dict[str, Any], *words: Any) -> Callable[[Path], Given]:
    def make(folder: Path) -> Given:
        path = DOORS["csv"](good(), folder).X
        return Given(path, "y", params, (path, "-t", "y", *words) if words else None)

    return make


#: Parameters of `HSICLasso`, the same in the shell if it can say them, and words of the message.
PARAMETERS: dict[str, tuple[dict[str, Any], tuple[Any, ...], tuple[str, ...]]] = {
    "no feature": ({"n_features_to_select": 0}, ("-k", 0), ("0", ">= 1")),
    "a negative number": ({"n_features_to_select": -3}, ("-k", -3), ("-3", ">= 1")),
    "too many features": ({"n_features_to_select": 9}, ("-k", 9), ("9", "at most 3")),
    "half a feature": ({"n_features_to_select": 1.5}, (), ("1.5", "whole number")),
    "a word": ({"n_features_to_select": "many"}, (), ("'many'", "whole number")),
    "an array": ({"n_features_to_select": np.array([1, 2])}, (), ("n_features_to_select",)),
    "a flag": ({"n_features_to_select": True}, (), ("True", "whole number")),
    "a negative penalty": ({"alpha": -1.0}, ("--alpha", "-1"), ("-1", ">= 0")),
    "no penalty at all": ({"alpha": float("nan")}, ("--alpha", "nan"), ("nan", "finite")),
    "an unknown criterion": ({"alpha": "cic"}, ("--alpha", "cic"), ("cic",)),
    "an array of penalties": ({"alpha": np.array([0.1, 0.2])}, (), ("alpha",)),
    "an unknown measure": ({"measure": "hsci"}, (), ("'hsci'", "hsic")),
    "an array of measures": ({"measure": np.array(["hsic"])}, (), ("measure",)),
    "an unknown kernel": ({"kernel": "rbf"}, ("--kernel", "rbf"), ("rbf", "gaussian")),
    "a kernel of no column": ({"kernel": {"zz": "linear"}}, ("--kernel", "zz=linear"), ("'zz'",)),
    "an unknown target": ({"target": "reel"}, ("--kind", "reel"), ("reel", "real")),
    "counts of reals": ({"target": "counts"}, ("--kind", "counts"), ("counts", "whole numbers")),
    "labels of one column": ({"target": "labels"}, ("--kind", "labels"), ("labels", "one column")),
    "an unknown penalty": ({"penalty": "ridge"}, ("--penalty", "ridge"), ("ridge",)),
    "an unknown solver": ({"solver": "fast"}, ("--solver", "fast"), ("fast",)),
    "an unknown way with missing": ({"missing": "drop"}, ("--missing", "drop"), ("drop",)),
    "keeping what is not there": ({"keep": ["zz"]}, ("--keep", "zz"), ("'zz'",)),
    "excluding what is not there": ({"exclude": ["zz"]}, ("--exclude", "zz"), ("'zz'",)),
    "a covariate that is not there": ({"covariates": ["zz"]}, ("--covariate", "zz"), ("'zz'",)),
    "all columns as covariates": (
        {"covariates": ["a", "b", "c"]}, ("--covariate", "a", "--covariate", "b", "--covariate",
        "c"), ("covariates",)),
    "a redundancy above 1": ({"max_redundancy": 1.5}, ("--max-redundancy", "1.5"), ("1.5",)),
    "a negative redundancy": ({"max_redundancy": -1}, ("--max-redundancy", "-1"), ("-1",)),
    "a loose error": ({"gram_error": 0.5}, ("--gram-error", "0.5"), ("0.5", "1e-12")),
    "no threads": ({"n_jobs": 0}, ("--n-jobs", 0), ("0", "whole number")),
    "threads as text": ({"n_jobs": "2"}, (), ("'2'", "whole number")),
    "half a thread": ({"n_jobs": 1.5}, (), ("1.5", "whole number")),
    "no neighbour": ({"n_neighbors": -1}, ("--neighbors", -1), ("-1", ">= 0")),
    "unknown interactions": ({"interactions": "most"}, ("--interactions", "most"), ("most",)),
    "a flag as text": ({"fill": "yes"}, (), ("'yes'", "True or False")),
    "a joint feature of nothing": ({"joint": {"j": []}}, (), ("j", "no columns")),
    "resources as text": ({"resources": "4GB"}, (), ("'4GB'",)),
}  # fmt: skip

#: Words of the shell alone, and what the message says.
SHELL: dict[str, tuple[tuple[Any, ...], tuple[str, ...]]] = {
    "a result in an unknown format": (("--out", "r.xlsx2"), ("r.xlsx2", ".csv")),
    "a result in no folder": (("--out", "no/r.csv"), ("no/r.csv", "does not exist")),
    "a figure in an unknown format": (("--plot", "r.gif"), ("r.gif", ".png")),
    "a report in an unknown format": (("--report", "r.txt"), ("r.txt", ".html")),
    "dropping what is not there": (("--drop", "zz"), ("'zz'", "not a column")),
    "dropping the target": (("--drop", "y"), ("'y'", "choose one")),
    "weights that are not there": (("--weights", "zz"), ("'zz'", "not a column")),
    "negative weights": (("--weights", "a"), (">= 0",)),
    "an identifier that is not there": (("--id", "zz"), ("'zz'", "not a column")),
    "a false discovery rate of 2": (("--fdr", "2"), ("2", "between 0 and 1")),
    "an odd number of halves": (("--stability", "7"), ("7", "even")),
    "a number and a rate": (("--fdr", "0.1", "-k", "2"), ("-k", "--fdr")),
    "a separator that is none": (("--sep", "ab"), ("ab", "one character")),
    "an unknown encoding": (("--encoding", "klingon"), ("klingon", "utf-8")),
    "a phenotype file that is absent": (("--phenotype", "no.csv"), ("no.csv", "does not exist")),
    "a target file as well": (("--target-file", "y.txt"), ("--target-file",)),
    "an affinity that is absent": (("--affinity", "no.npz"), ("--affinity",)),
    "memory that is no size": (("--memory-limit", "lots"), ("lots", "4GB")),
    "a group file that is absent": (("--groups", "no.csv"), ("no.csv",)),
    "an unknown method": (("--method", "lars"), ("lars",)),
    "an epsilon for HSIC": (("--epsilon", "0.1"), ("--epsilon", "leave it out")),
    "a tiny epsilon": (("--method", "nocco", "--epsilon", "1e-17"), ("1e-17", "1e-07")),
}


#: A file beside the table, the words that name it, and what the message says.
BESIDE: dict[str, tuple[str, bytes, tuple[Any, ...], tuple[str, ...]]] = {
    "an affinity of words": (
        "m.csv", b"1,2,3\n2,x,3\n3,3,1\n", ("--affinity", "m.csv"), ("'x'", "m.csv")),
    "an affinity that is not square": ("m.csv", b"1,2\n", ("--affinity", "m.csv"), ("square",)),
    "an affinity of two samples": ("m.csv", b"1,2\n2,1\n", ("--affinity", "m.csv"), ("(2, 2)",)),
    "an affinity of noise": ("m.npz", b"PK\x03\x04noise", ("--affinity", "m.npz"), ("m.npz",)),
    "an affinity of bytes": ("m.npy", b"noise", ("--affinity", "m.npy"), ("m.npy",)),
    "a graph that is empty": ("m.txt", b"", ("--graph", "m.txt"), ("m.txt",)),
    "a target of another length": ("y.txt", b"1\n2\n", ("--target-file", "y.txt"), ("40 rows",)),
    "a target of several columns": (
        "y.txt", b"1,2\n" * N, ("--target-file", "y.txt"), ("'1,2'", "several columns")),
    "a target of noise": ("y.npy", b"noise", ("--target-file", "y.npy"), ("y.npy",)),
    "a target that is constant": ("y.txt", b"7\n" * N, ("--target-file", "y.txt"), ("7",)),
    "a target with a word": (
        "y.txt", b"".join(b"%d.5\n" % i for i in range(N - 1)) + b"oops\n",
        ("--target-file", "y.txt"), ("'oops'",)),
    "samples of other names": (
        "p.csv", b"id,z\ns1,2\ns2,3\n", ("-t", "z", "--phenotype", "p.csv", "--id", "a"),
        ("no sample", "p.csv")),
    "a phenotype of noise": (
        "p.csv", b"\xff\xfe\x00\x01\x02", ("-t", "z", "--phenotype", "p.csv"), ("p.csv",)),
    "groups of no feature": (
        "g.csv", b"feature,group\nzz,1\n", ("-t", "y", "--groups", "g.csv"), ("'zz'",)),
    "groups that are empty": (
        "g.csv", b"feature,group\n", ("-t", "y", "--groups", "g.csv"), ("g.csv", "no feature")),
    "a feature in two groups": (
        "g.csv", b"feature,group\na,1\na,2\n", ("-t", "y", "--groups", "g.csv"), ("'a'",)),
    "groups in another encoding": (
        "g.csv", b"feature,group\n\xe4,1\n", ("-t", "y", "--groups", "g.csv"), ("g.csv", "UTF-8")),
    "a read-only result": ("r.csv", b"old", ("-t", "y", "--out", "r.csv"), ("r.csv", "read-only")),
    "a result that is the table": (
        "none", b"", ("-t", "y", "--out", "t.csv"), ("t.csv", "overwrite")),
}  # fmt: skip


def _beside(name: str, content: bytes, *words: Any) -> Callable[[Path], Given]:
    def make(folder: Path) -> Given:
        path = DOORS["csv"](good(), folder).X
        (folder / name).write_bytes(content)
        if name == "r.csv":
            (folder / name).chmod(0o444)
        return Given(None, None, None, (path, *words))

    return make


#: What happens to the three files of genotypes.
GENOTYPES = (
    "another magic", "by samples", "too short", "no bim", "no fam", "noise in bim", "noise in fam",
)  # fmt: skip


def _genotypes(damage: str) -> Callable[[Path], Given]:
    def make(folder: Path) -> Given:
        bed, content = folder / "t.bed", bytes(10 * 3)
        start = {"another magic": b"\x00\x1b\x01", "by samples": b"\x6c\x1b\x00"}
        bed.write_bytes(start.get(damage, b"\x6c\x1b\x01") + content)
        people = "".join(f"f s{i} 0 0 1 {i % 2 + 1}\n" for i in range(N))
        (folder / "t.fam").write_text(people)
        (folder / "t.bim").write_text("".join(f"1 rs{j} 0 {j} A C\n" for j in range(3)))
        if damage == "too short":
            bed.write_bytes(bed.read_bytes()[:-4])
        elif damage.startswith("no "):
            (folder / f"t.{damage[3:]}").unlink()
        elif damage.startswith("noise in "):
            (folder / f"t.{damage[9:]}").write_bytes(np.random.default_rng(0).bytes(300))
        return Given(bed, "phenotype", None, (bed, "-t", "phenotype"))

    return make


def _shell(*words: Any) -> Callable[[Path], Given]:
    def make(folder: Path) -> Given:
        path = DOORS["csv"](good(), folder).X
        return Given(None, None, None, (path, "-t", "y", *words))

    return make


# -------------------------------------------------------------------------------- bad objects


def _object(X: Any, y: Any = None, **params: Any) -> Callable[[Path], Given]:
    target = good()["y"].to_numpy() if y is None else y
    return lambda _: Given(X() if callable(X) else X, target, params or None)


def _sparse(form: str, index: int) -> Callable[[], Any]:
    def make() -> Any:
        made = sparse.random_array(
            (N, 3), density=0.5, random_state=np.random.default_rng(0)
        ).asformat(form)
        (made.row if form == "coo" else made.indices)[2] = index
        return made

    return make


A, Y = good()[["a", "b", "c"]].to_numpy(), good()["y"].to_numpy()
NAMED = good()[["a", "b", "c"]].set_axis([f"s{i}" for i in range(N)])
#: X and y as objects, and words of the message.
OBJECTS: dict[str, tuple[Callable[[Path], Given], tuple[str, ...]]] = {
    **{f"{form} with index {index}": (_object(_sparse(form, index)), ("sparse", str(index)))
       for form in ("csr", "csc", "coo") for index in (-1, 1000)},
    "a masked array": (_object(lambda: np.ma.array(A, mask=A > 2)), ("NaN",)),
    "a masked target": (_object(A, np.ma.array(Y, mask=Y > 2)), ("NaN", "first in row")),
    "None": (_object(lambda: None), ("NoneType",)),
    "a dictionary": (_object(lambda: {"a": 1}), ("dict",)),
    "a set": (_object(lambda: {1, 2}), ("set",)),
    "a number": (_object(lambda: 3.0), ("X",)),
    "one dimension": (_object(lambda: np.ones(N)), ()),
    "three dimensions": (_object(lambda: np.ones((N, 2, 2))), ()),
    "ragged lists": (_object(lambda: [[1, 2], [3]] * 20), ()),
    "text": (_object(lambda: np.full((N, 3), "x")), ("x",)),
    "no target": (lambda _: Given(A, None), ("y", "None")),
    "a lazy target": (_object(A, pl.LazyFrame({"y": Y})), ("LazyFrame", "y.collect()")),
    "a short target": (_object(A, Y[:-1]), ("39", "40 samples")),
    "a target for each column": (_object(A, Y[:3]), ("3 values", "X.T")),
    "a target of lists": (_object(A, [[1, 2], [3]] * 20), ("y",)),
    "a huge whole number": (_object(A, [10**400, *Y[1:].tolist()]), ("1.8e308", "divide")),
    "a target of dictionaries": (_object(A, [{"a": 1}] * N), ("y",)),
    "a target of three dimensions": (_object(A, np.ones((N, 2, 2))), ("y",)),
    "an unknown name": (_object(lambda: NAMED, "zz"), ("'zz'",)),
    "a name for an array": (_object(A, "y"), ("'y'", "ndarray")),
    "a shuffled index": (
        lambda _: Given(NAMED, pd.Series(Y, NAMED.index).sample(frac=1, random_state=1)),
        ("X and y", "order", "y.loc")),
    "another index": (
        lambda _: Given(NAMED, pd.Series(Y, [f"t{i}" for i in range(N)])), ("X and y", "'t0'")),
    "an asymmetric affinity": (
        _object(A, np.triu(np.ones((N, N))), target="affinity"), ("symmetric", "L.T")),
    "an affinity of another size": (_object(A, np.eye(3), target="affinity"), ("(3, 3)", "40")),
    "a graph without links": (_object(A, np.eye(N), target="graph"), ("no edge",)),
    "a graph with negative links": (
        _object(A, -np.ones((N, N)), target="graph"), ("-1", "negative")),
    "times without an event": (
        _object(A, (np.ones(N) + np.arange(N), np.zeros(N)), target="survival"), ("no event",)),
    "negative times": (_object(A, (np.arange(N) - 5.0, np.ones(N)), target="survival"), ("-5",)),
    "dates as times": (
        _object(A, (np.arange(N).astype("datetime64[D]"), np.ones(N)), target="survival"),
        ("time", "number")),
    "events that are none": (
        _object(A, (np.arange(N) + 1.0, np.arange(N)), target="survival"), ("2", "event")),
    "an order of classes": (
        _object(A, ["a", "b"] * 20, target="ordinal"), ("'a'", "ordered category")),
    "a column of an Enum of dates": (
        _object(lambda: pl.DataFrame({"d": [date(i) for i in range(N)]})), ("'d'", "days")),
    "durations": (_object(lambda: Frame({"d": [date(i) - date(0) for i in range(N)]})), ("'d'",)),
}  # fmt: skip


CASES: tuple[Case, ...] = (
    *(
        Case(door, defect, answer, says, _table(door, change))
        for defect, (change, answer, says, doors) in TABLES.items()
        for door in doors
    ),
    *(
        Case(door, damage, "refused", ("t.",), _damaged(door, damage))
        for door in WHOLE
        for damage in DAMAGES
    ),
    *(Case(door, defect, "refused", says, make) for (door, defect), (make, says) in FOUND.items()),
    *(
        Case("parameter", defect, "refused", says, _fit(params, *words))
        for defect, (params, words, says) in PARAMETERS.items()
    ),
    *(
        Case("shell", defect, "refused", says, _shell(*words))
        for defect, (words, says) in SHELL.items()
    ),
    *(
        Case("shell, two files", defect, "refused", says, _beside(name, content, *words))
        for defect, (name, content, words, says) in BESIDE.items()
    ),
    *(Case("bed", damage, "refused", ("t.",), _genotypes(damage)) for damage in GENOTYPES),
    *(Case("object", defect, "refused", says, make) for defect, (make, says) in OBJECTS.items()),
)


def counts() -> dict[str, Any]:
    """Return the number of cases, in all, by answer and by door."""
    answers, doors = Counter(case.answer for case in CASES), Counter(case.door for case in CASES)
    return {"cases": len(CASES), "answers": dict(answers), "doors": dict(sorted(doors.items()))}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(counts(), indent=2) + "\n")
