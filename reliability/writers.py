"""Everything the package writes: how, and whether what is there is complete."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hsiclasso import InvalidInputError, Resources, StabilitySelection
from hsiclasso.dependence import budget
from hsiclasso.inference.picks import load_picks

#: Rows and columns of the table.
N, D = 60, 12


@dataclass(frozen=True)
class Writer:
    """Writes into a folder that has the data.

    `write` returns a text: what was found, which is the same at every run. `made` are the paths it
    makes, `complete` says whether one of them is whole.
    """

    write: Callable[[Path], str]
    made: tuple[str, ...]
    complete: Callable[[Path], bool]


def make_data(folder: Path) -> None:
    """Write the table that is read: as text, and as AnnData where that is installed."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D)).round(4)
    y = (X[:, 3] + X[:, 7] ** 2).round(4)
    names = ",".join([*(f"g{j}" for j in range(D)), "y"])
    np.savetxt(folder / "t.csv", np.column_stack([X, y]), "%.4f", ",", header=names, comments="")
    with contextlib.suppress(ImportError), warnings.catch_warnings():
        import anndata
        import pandas as pd

        warnings.simplefilter("ignore")
        obs = pd.DataFrame({"y": y}, index=[f"c{i}" for i in range(N)])
        var = pd.DataFrame(index=[f"g{j}" for j in range(D)])
        anndata.AnnData(X, obs=obs, var=var).write_h5ad(folder / "t.h5ad")


def shell(*words: object) -> str:
    """Run a command; return what it printed. Its own errors are raised as they are."""
    from click.testing import CliRunner

    from hsiclasso.cli.app import app

    done = CliRunner().invoke(app, [*map(str, words)])
    if done.exit_code == 2:
        raise RefusedError(done.stderr)
    if done.exception is not None:
        raise done.exception
    return done.stdout


class RefusedError(Exception):
    """The shell ended with one line that says what is wrong."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        if "Traceback" in words or "Error: " not in words:
            raise AssertionError(words)


def _select(option: str, name: str, table: str = "t.csv") -> Callable[[Path], str]:
    def write(folder: Path) -> str:
        printed = shell(
            "select", folder / table, "-t", "y", "-k", 3, "--n-jobs", 1, "--json", option,
            folder / name,
        )  # fmt: skip
        return _features(printed)

    return write


def _features(printed: str) -> str:
    return json.dumps(json.loads(printed)["features"])


def _compare(folder: Path) -> str:
    words = ("--methods", "hsic_lasso,mrmr", "-k", 3, "--out", folder / "votes.csv", "-q")
    shell("compare", folder / "t.csv", "-t", "y", *words)
    return (folder / "votes.csv").read_text(encoding="utf-8")


def _parts(folder: Path) -> str:
    """Split, run and merge; what is there already is not done again."""
    work = folder / "work"
    if not (work / "job.json").exists():
        shell("split", folder / "t.csv", work, "--parts", 2, "-t", "y", "-k", 3)
    for number in (1, 2):
        shell("run", work, number, "-q")
    return _features(shell("merge", work, "--json"))


def _picks(folder: Path) -> str:
    """Knockoff statistics of several draws keep what each of them picked."""
    printed = shell("test", folder / "t.csv", "-t", "y", "--checkpoint", folder / "tests", "--json")
    return json.dumps(json.loads(printed), sort_keys=True)


def _halves(folder: Path) -> str:
    """Stability selection keeps what each half-sample selected."""
    from sklearn.feature_selection import SelectKBest

    rows = np.loadtxt(folder / "t.csv", delimiter=",", skiprows=1)
    kept = Resources(checkpoint=folder / "halves")
    stable = StabilitySelection(SelectKBest(k=2), n_pairs=3, random_state=0, resources=kept)
    try:
        stable.fit(rows[:, :-1], rows[:, -1] > 0)
    except (InvalidInputError, OSError) as error:
        raise RefusedError(f"Error: {error}") from error  # as the shell does
    return json.dumps(stable.frequencies_.tolist())


def _ends(*ends: bytes) -> Callable[[Path], bool]:
    return lambda file: file.read_bytes().rstrip().endswith(ends)


def _is_json(file: Path) -> bool:
    return bool(json.loads(file.read_text(encoding="utf-8")))


def _is_text(n_lines: int) -> Callable[[Path], bool]:
    return lambda file: (
        file.read_bytes().endswith(b"\n")
        and (len(file.read_text(encoding="utf-8").splitlines()) == n_lines)
    )


def _is_h5ad(file: Path) -> bool:
    import h5py

    with h5py.File(file) as made:
        return "hsiclasso" in made["uns"] and made["X"][:].shape == (N, D)


def _chunks(folder: Path) -> bool:
    """Every file of a checkpoint can be read to its end; temporary ones do not count."""
    for file in folder.rglob("*"):
        if file.suffix == ".npz":
            with np.load(file, allow_pickle=False) as arrays:
                _ = [arrays[name] for name in arrays.files]
        elif file.suffix == ".json":
            json.loads(file.read_text(encoding="utf-8"))
        elif file.suffix == ".txt":
            load_picks(file)
    return True


WRITERS = {
    "csv": Writer(_select("--out", "r.csv"), ("r.csv",), _is_text(4)),
    "tsv": Writer(_select("--out", "r.tsv"), ("r.tsv",), _is_text(4)),
    "json": Writer(_select("--out", "r.json"), ("r.json",), _is_json),
    "png": Writer(_select("--plot", "r.png"), ("r.png",), _ends(b"IEND\xaeB`\x82")),
    "svg": Writer(_select("--plot", "r.svg"), ("r.svg",), _ends(b"</svg>")),
    "pdf": Writer(_select("--plot", "r.pdf"), ("r.pdf",), _ends(b"%%EOF")),
    "report": Writer(_select("--report", "r.html"), ("r.html",), _ends(b"</html>")),
    "h5ad": Writer(_select("--out", "r.h5ad", "t.h5ad"), ("r.h5ad",), _is_h5ad),
    "compare": Writer(_compare, ("votes.csv",), _is_text(7)),
    "checkpoint": Writer(_select("--checkpoint", "kept"), ("kept",), _chunks),
    "tests": Writer(_picks, ("tests",), _chunks),
    "halves": Writer(_halves, ("halves",), _chunks),
    "parts": Writer(_parts, ("work",), _chunks),
}


def small_chunks(n: int = N) -> None:
    """Cut tables of so many rows into chunks of five columns."""
    budget._CHUNK = 5 * 8 * n


def result_of(selector: Any) -> str:
    """Return all that a selection found, as text."""
    return str(selector.result_.to_json())
