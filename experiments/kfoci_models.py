"""The five models of KFOCI's simulations: who finds exactly the three features that matter.

``python -m experiments.kfoci_models [--runs 30] [--methods KFOCI FOCI] [--sets LM GAM] [--jobs 2]``

Of 10 or 1000 independent normal features, n = 200, the first three matter (Huang, Deb and Sen,
2022). Methods decide themselves how many features they select; Embedding Lasso, which has no such
rule, selects ten features or pairs. Nothing was tuned on these draws. Results go to one tidy file,
and runs that are in it are not repeated. Tables are written to ``experiments/README.md``.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.command import ROOT, Command, start
from experiments.markdown import number, table
from experiments.runner import Request
from experiments.tidy import Row, Task, rows_of
from hsiclasso import (
    ControlledSelection,
    EmbeddingLasso,
    HSICLasso,
    SelectByTest,
    hsic_scan_pairs,
)
from hsiclasso.baselines import ForwardSelection

PAGE = ROOT / "experiments" / "README.md"
FIRST_SEED = 2_000_000
N_SAMPLES, SIZES, N_CAUSAL = 200, (10, 1000), 3

#: Target of the columns and of noise: normal, and uniform.
Model = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

MODELS: dict[str, Model] = {
    "LM": lambda X, e, u: 3 * X[:, 0] + 2 * X[:, 1] - X[:, 2] + e,
    "GAM": lambda X, e, u: np.sin(X[:, 0]) + 2 * np.cos(X[:, 1]) + np.exp(X[:, 2]) + e,
    "Nonlin1": lambda X, e, u: X[:, 0] * X[:, 1] + np.sin(X[:, 0] * X[:, 2]),
    "Nonlin2": lambda X, e, u: (
        2 * np.log(X[:, 0] ** 2 + X[:, 1] ** 4) / (np.cos(X[:, 0]) + np.sin(X[:, 2])) + e
    ),
    "Nonlin3": lambda X, e, u: np.abs(X[:, 0] + u) ** np.sin(X[:, 1] - X[:, 2]),
}


def draw(model: str, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a table and a target."""
    rng = np.random.default_rng(seed)
    X, e = rng.standard_normal((N_SAMPLES, d)), rng.standard_normal(N_SAMPLES)
    return X, MODELS[model](X, e, rng.uniform(size=N_SAMPLES))


@dataclass(frozen=True)
class Method:
    """A way to select features."""

    make: Callable[[int], object]  # of a seed
    runs: int | None = None  # draws; None for as many as the study has

    def missing(self, kind: str) -> str | None:
        """Serve every kind of target."""
        return None


class TestedPairs:
    """Features that tests find alone or in a pair, each at a false discovery rate of 0.1."""

    #: Not a class of tests.
    __test__ = False
    selected_: list[int]

    def fit(self, X: np.ndarray, y: np.ndarray) -> "TestedPairs":
        """Test all features and all pairs; sets `selected_`."""
        single = SelectByTest(mode="fdr", level=0.1, n_jobs=1).fit(X, y).selected_
        pairs = hsic_scan_pairs(X, y, n_jobs=1).selected(0.1)
        self.selected_ = list(dict.fromkeys([*single.tolist(), *pairs.ravel().tolist()]))
        return self


def forward(**options: object) -> Callable[[int], object]:
    """Return what makes a forward selection that stops by itself."""
    return lambda seed: ForwardSelection(n_jobs=1, random_state=seed, **options)


METHODS = {
    "KFOCI": Method(forward()),
    "KFOCI, 1 neighbour": Method(forward(n_neighbors=1)),
    "FOCI": Method(forward(criterion="foci")),
    "KPC by regression": Method(forward(criterion="kpc-rkhs"), runs=10),
    "conditional HSIC": Method(forward(criterion="hsic-conditional"), runs=10),
    "HSIC Lasso, BIC": Method(lambda _: HSICLasso(alpha="bic", n_jobs=1)),
    "Embedding Lasso": Method(lambda _: EmbeddingLasso(n_jobs=1)),
    "Embedding Lasso, pairs": Method(
        lambda _: EmbeddingLasso(interactions="all", n_jobs=1), runs=10
    ),
    "tests of features and pairs": Method(lambda _: TestedPairs(), runs=10),
    "HSIC Lasso, FDR .1": Method(
        lambda _: ControlledSelection(HSICLasso(n_jobs=1), 0.1, n_jobs=1), runs=20
    ),
    "Embedding Lasso, FDR .1": Method(
        lambda _: ControlledSelection(EmbeddingLasso(n_jobs=1), 0.1, n_jobs=1), runs=20
    ),
}


def judged(selected: np.ndarray) -> list[tuple[str, float]]:
    """Return whether the three are selected alone, among others, and first; and how many are."""
    causal, chosen = set(range(N_CAUSAL)), selected.tolist()
    return [
        ("exact", float(set(chosen) == causal)),
        ("all", float(causal <= set(chosen))),
        ("first", float(set(chosen[:N_CAUSAL]) == causal)),
        ("size", float(len(chosen))),
    ]


@dataclass(frozen=True, eq=False)
class KFOCIModels:
    """Methods on draws of the models."""

    name = "KFOCI's models"
    methods = METHODS
    sets = tuple(MODELS)
    runs = 30
    timed = False

    def candidates(self, request: Request) -> Iterator[tuple[Task, str | None]]:
        """Yield every size of every model with every method."""
        for data in MODELS:
            for d in SIZES:
                for method in self.methods:
                    yield Task(self.name, data, method, N_SAMPLES, d, 0), None

    def perform(self, task: Task, folder: Path) -> list[Row]:
        """Select on one draw, and judge."""
        seed = FIRST_SEED + 1000 * SIZES.index(task.d) + task.run
        X, y = draw(task.data, task.d, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # fewer features than asked for
            found = self.methods[task.method].make(seed).fit(X, y).selected_
        values = judged(np.asarray(found))
        return rows_of(task, seed, [(len(found), name, value) for name, value in values])


STUDY = KFOCIModels()


def lines_of(frame: pd.DataFrame) -> list[str]:
    """Tables of the page: one for each number of features."""
    lines: list[str] = []
    for d in SIZES if len(frame) else ():
        rows = frame[frame["d"] == d]
        shown = [name for name in METHODS if name in set(rows["method"])]
        body = [
            [name, rows[rows["method"] == name]["run"].nunique()]
            + [_cell(rows[(rows["method"] == name) & (rows["data"] == model)]) for model in MODELS]
            for name in shown
        ]
        lines += [
            f"{d:,} features. Share of draws with exactly the three (standard error) / with all "
            "three among those selected / with them as the first three; mean number selected:",
            "",
            *table(["method", "draws", *MODELS], body),
        ]
    return lines


def _cell(rows: pd.DataFrame) -> str:
    if rows.empty:
        return "---"
    values = rows.astype({"value": float}).groupby("metric")["value"]
    mean, exact = values.mean(), values.get_group("exact")
    error = exact.std(ddof=1) / np.sqrt(len(exact)) if len(exact) > 1 else np.nan
    shares = f"{number(mean['all'], 2)} / {number(mean['first'], 2)}"
    return f"{number(mean['exact'], 2)} ({number(error, 2)}) / {shares}; {mean['size']:.1f}"


main = Command(
    "kfoci_models",
    __doc__ or "",
    {STUDY.name: STUDY},
    PAGE,
    lambda file: {"kfoci": "\n".join(lines_of(file.frame(STUDY.name)))},
)


if __name__ == "__main__":
    start("experiments.kfoci_models")
