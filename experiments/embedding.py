"""Embedding Lasso beside other methods: recovery of causal features, and real data.

``python -m experiments.embedding [recovery blocks regression classes] [--runs 5] [--jobs 2]``

- *recovery*: Data1, Data2 and Data1 with two noisy copies of each causal feature, with 50, 100 and
  200 samples of 1000 features. A method is asked for as many features as are causal.
- *blocks*: the recovery tables of Block HSIC Lasso (`experiments.blocks`), with the same rule.
- *regression*, *classes*: the paper's protocol (`experiments.splits`) on real sets. Methods are
  ranked set by set, by their mean score, and the ranks are averaged.

Defaults were chosen on other draws and splits: seeds here are larger than theirs. Results go to one
tidy file, and runs that are in it are not repeated. Tables are written to ``docs/embedding.md``.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.blocks import DESIGNS as BLOCK_DESIGNS
from experiments.blocks import SELECTED, fraction
from experiments.command import ROOT, Command, start
from experiments.contenders import CLASSES, CONTENDERS, REAL, Contender, Selector
from experiments.datasets import MissingDataError, data_file
from experiments.figure1 import heaviest
from experiments.markdown import number, table
from experiments.runner import Request, tell
from experiments.splits import judge, split
from experiments.summary import counts
from experiments.tidy import Row, Task, TidyFile, rows_of
from hsiclasso import EmbeddingLasso, HSICLasso, Real, make_copies, make_data1, make_data2

PAGE = ROOT / "docs" / "embedding.md"
#: Seeds of the first draw and the first split; smaller ones served to choose defaults.
FIRST_SEED, FIRST_SPLIT = 700_000, 800_000
#: Numbers of features that are judged on real data.
SIZES = (10, 20, 50)
OWN = "Embedding Lasso"

_SHARED = {
    OWN: Contender(Selector(EmbeddingLasso)),
    "HSIC Lasso": CONTENDERS["HSIC Lasso"],
    "Lasso": CONTENDERS["Lasso"],
    "mRMR": CONTENDERS["mRMR, 5 quantiles"],
    "random forest": CONTENDERS["random forest"],
}
RECOVERY_METHODS = {
    OWN: _SHARED[OWN],
    # of ten features more than wanted the heaviest, as in the paper
    "HSIC Lasso": Contender(heaviest(Selector(HSICLasso))),
    "HSIC Lasso, normal scores": Contender(
        heaviest(Selector(HSICLasso, target=Real(transform="normal")))
    ),
    "SpAM": Contender(heaviest(CONTENDERS["SpAM"].rank)),
    "mRMR": _SHARED["mRMR"],
    "random forest": _SHARED["random forest"],
}
BLOCK_METHODS = {OWN: _SHARED[OWN], "HSIC Lasso": CONTENDERS["HSIC Lasso"]}


def draw_copies(n: int, d: int, *, random_state: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw Data1 with two noisy copies of each causal feature; the originals are causal."""
    X, y, _ = make_copies(n, d, n_copies=2, shuffle=False, random_state=random_state)
    order = np.random.default_rng(random_state).permutation(d)
    return X[:, order], y, np.flatnonzero(order < 4)


@dataclass(frozen=True)
class Drawn:
    """A design: how it is drawn, its sizes, its target, and how many features are asked for."""

    draw: Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]]
    sizes: tuple[tuple[int, int], ...]
    kind: str = REAL
    #: Number of features that a method is asked for; None is the number of causal ones.
    asked: int | None = None


_SIZES = ((50, 1000), (100, 1000), (200, 1000))
RECOVERY_DESIGNS = {
    "Data1": Drawn(make_data1, _SIZES),
    "Data2": Drawn(make_data2, _SIZES),
    "copies": Drawn(draw_copies, _SIZES),
}


@dataclass(frozen=True, eq=False)
class DrawStudy:
    """Methods on draws of designs; the share of the causal features among the first is counted."""

    name: str
    designs: dict[str, Drawn]
    methods: dict[str, Contender]
    runs: int
    timed = False

    @property
    def sets(self) -> list[str]:
        """Names of the designs."""
        return list(self.designs)

    def candidates(self, request: Request) -> Iterator[tuple[Task, str | None]]:
        """Yield every size of every design with every method."""
        for data, design in self.designs.items():
            for n, d in design.sizes:
                for method, contender in self.methods.items():
                    task = Task(self.name, data, method, n, d, 0)
                    yield task, contender.missing(design.kind)

    def perform(self, task: Task, folder: Path) -> list[Row]:
        """Select on one draw."""
        design, seed = self.designs[task.data], FIRST_SEED + 1000 * (task.n + task.d) + task.run
        X, y, causal = design.draw(task.n, task.d, random_state=seed)
        wanted = design.asked or len(causal)
        ranked = self.methods[task.method].rank(X, y, wanted, design.kind, seed)
        return rows_of(task, seed, [(len(causal), "fraction", fraction(ranked, causal))])


@dataclass(frozen=True)
class RealSet:
    """A real set: its size, its target, and how it is read from the folder of data."""

    n: int
    d: int
    kind: str
    read: Callable[[Path, str], tuple[np.ndarray, np.ndarray]]


def read_set(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    place = folder if (folder / f"{name}.npz").exists() else folder / "extra"
    with np.load(data_file(place, f"{name}.npz", "a public collection"), allow_pickle=False) as f:
        return f["X"].astype(float), f["y"]


def _diabetes(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Ten measurements, their squares and products: the 64 features of the LARS paper."""
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True, scaled=False)
    i, j = np.triu_indices(10)
    pairs = X[:, i] * X[:, j]
    varies = ~((i == j) & (i == 1))  # the square of sex is sex
    return np.column_stack([X, pairs[:, varies]]), y


def _cells(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Share of mitochondrial counts of a cell from the expression of 765 genes."""
    import h5py

    file = data_file(folder / "formats" / "anndata", "pbmc68k_reduced.h5ad", "scanpy")
    with h5py.File(file) as store:
        return np.asarray(store["X"], dtype=float), np.asarray(store["obs"]["percent_mito"], float)


def _sets(kind: str, **sizes: tuple[int, int]) -> dict[str, RealSet]:
    return {name: RealSet(n, d, kind, read_set) for name, (n, d) in sizes.items()}


REGRESSION_SETS = _sets(
    REAL, rat_eye_trim32=(120, 18975), rat_eye_flare200=(120, 200), cookie_nir_fat=(72, 700),
    blood_brain=(208, 134), hiv_nrti_azt=(630, 292),
) | {
    "diabetes": RealSet(442, 64, REAL, _diabetes),
    "pbmc_mito": RealSet(700, 765, REAL, _cells),
}  # fmt: skip
CLASS_SETS = _sets(
    CLASSES, warpAR10P=(130, 2400), warpPIE10P=(210, 2420), pixraw10P=(100, 10000),
    orlraws10P=(100, 10304), TOX_171=(171, 5748), MLL_leukemia=(72, 11225), ALLAML=(72, 7129),
    GLIOMA=(50, 4434), Prostate_GE=(102, 5966), Yale=(165, 1024), arcene=(200, 10000),
    colon=(62, 2000), leukemia=(72, 7070), lung_discrete=(73, 325), lymphoma=(96, 4026),
    nci9=(60, 9712),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class RealStudy:
    """Methods on random splits of real sets, by the paper's protocol."""

    name: str
    real: dict[str, RealSet]
    methods: dict[str, Contender]
    runs: int
    timed = False

    @property
    def sets(self) -> list[str]:
        """Names of the sets."""
        return list(self.real)

    def candidates(self, request: Request) -> Iterator[tuple[Task, str | None]]:
        """Yield every set with every method; a set that is not there is left out."""
        for name, entry in self.real.items():
            try:
                _stored(name, entry, request.folder)
            except (MissingDataError, ImportError) as error:
                tell(f"{name} is left out. {error}")
                continue
            for method, contender in self.methods.items():
                yield (
                    Task(self.name, name, method, entry.n, entry.d, 0),
                    contender.missing(entry.kind),
                )

    def perform(self, task: Task, folder: Path) -> list[Row]:
        """Select on one split and judge what was selected."""
        entry, seed = self.real[task.data], FIRST_SPLIT + task.run
        X, y = _stored(task.data, entry, folder)
        train, test = split(len(y), seed)
        rank = self.methods[task.method].rank
        ranked = rank(X[train], y[train], min(SIZES[-1], entry.d), entry.kind, seed)
        values: list[tuple[int, str, float]] = [(SIZES[-1], "selected", len(ranked))]
        for m in SIZES:
            chosen = X[:, ranked[:m]]
            scores = judge(chosen[train], y[train], chosen[test], y[test], seed, entry.kind)
            if entry.kind == REAL:
                scores["r2"] = 1 - scores["mse"] / float(np.var(y[test]))
            values += [(m, metric, value) for metric, value in scores.items()]
        return rows_of(task, seed, values)


@lru_cache(maxsize=2)
def _stored(name: str, entry: RealSet, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    X, y = entry.read(folder, name)
    if X.shape != (entry.n, entry.d):
        raise ValueError(f"{name} has the shape {X.shape} instead of {(entry.n, entry.d)}.")
    return X, y


_BLOCKS = {
    name: Drawn(design.draw, design.sizes, design.kind, SELECTED)
    for name, design in BLOCK_DESIGNS.items()
}
STUDIES = {
    "recovery": DrawStudy("recovery", RECOVERY_DESIGNS, RECOVERY_METHODS, 60),
    "blocks": DrawStudy("blocks", _BLOCKS, BLOCK_METHODS, 10),
    "regression": RealStudy("regression", REGRESSION_SETS, _SHARED, 25),
    "classes": RealStudy("classes", CLASS_SETS, _SHARED, 25),
}


def recovery_lines(frame: pd.DataFrame) -> list[str]:
    """Share of the causal features found: mean and standard error, and draws."""
    found = frame[frame["metric"] == "fraction"].astype({"value": float})
    if found.empty:
        return []
    lines = []
    for data, rows in found.groupby("data", sort=False):
        sizes = sorted({(n, d) for n, d in zip(rows["n"], rows["d"], strict=True)})
        body = []
        for method in dict.fromkeys(rows["method"]):
            own = rows[rows["method"] == method]
            cells = [own[(own["n"] == n) & (own["d"] == d)]["value"] for n, d in sizes]
            draws = [len(cell) for cell in cells if len(cell)]
            body.append([method, *(_mean(cell) for cell in cells), counts(draws)])
        lines += table([data, *(f"{n} x {d:,}" for n, d in sizes), "draws"], body)
    return lines


def _mean(values: pd.Series) -> str:
    if not len(values):
        return "---"
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{number(values.mean(), 2)} ({number(error, 2)})"


def rank_lines(frame: pd.DataFrame, metric: str, words: str) -> list[str]:
    """Scores by set, and the mean ranks of the methods."""
    found = frame[frame["metric"] == metric].astype({"value": float})
    if found.empty:
        return []
    lines = []
    methods = [name for name in _SHARED if name in set(found["method"])]
    scores = found.groupby(["m", "data", "method"])["value"].mean().unstack()[methods]
    runs = found.groupby(["data", "method"])["run"].nunique().min()
    ranks = scores.round(6).rank(axis=1, ascending=False)
    body = [[f"{m} features", *(f"{value:.2f}" for value in ranks.loc[m].mean())] for m in SIZES]
    n_sets = scores.index.get_level_values("data").nunique()
    lines += [f"Mean rank over {n_sets} sets, by {words} (1 is best; {runs} splits or more):", ""]
    lines += table(["", *methods], body)
    lines += [f"<details><summary>{words}, set by set, with 10 / 20 / 50 features</summary>", ""]
    body = []
    for data in dict.fromkeys(found["data"]):
        cells = [
            " / ".join(number(scores.loc[(m, data), method]) for m in SIZES) for method in methods
        ]
        body.append([data, *cells])
    return [*lines, *table(["set", *methods], body), "</details>", ""]


def lines_of(file: TidyFile) -> list[str]:
    """Everything that is written to the page."""
    return [
        *recovery_lines(file.frame("recovery")),
        "The tables of Block HSIC Lasso; 50 features asked for, the first C counted:",
        "",
        *recovery_lines(file.frame("blocks")),
        *rank_lines(file.frame("regression"), "r2", "R^2 of kernel regression"),
        *rank_lines(file.frame("classes"), "accuracy", "accuracy of kernel logistic regression"),
    ]


def blocks_of(file: TidyFile) -> dict[str, str]:
    """Return what is written to the page."""
    return {"embedding": "\n".join(lines_of(file))}


main = Command("embedding", __doc__ or "", STUDIES, PAGE, blocks_of)


if __name__ == "__main__":
    start("experiments.embedding")
