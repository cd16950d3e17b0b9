"""Stability selection on designs whose truth is known: what is found, copies, false selections.

``python -m experiments.stability [--runs 20] [--sets copies] [--methods "HSIC Lasso"] [--jobs 2]``

Each half-sample selects 20 of 500 features, and the threshold is the smallest at which the bound
allows one false selection. *Found* are causal features with a stable cluster, *copies* are stable
clusters of causal features that have one already, and *false* are stable clusters without a causal
feature or copy. In the chain, neighbours of causal features are false. Seeds are larger than those
that served to write the code. Results go to one tidy file, and runs that are in it are not
repeated; tables are written to ``docs/inference.md``.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.command import ROOT, Command, start
from experiments.contenders import CLASSES, REAL, Contender
from experiments.embedding import Drawn
from experiments.markdown import number, table
from experiments.runner import Request
from experiments.tidy import Row, Task, TidyFile, rows_of
from hsiclasso import (
    EmbeddingLasso,
    HSICLasso,
    NOCCOLasso,
    StabilityResult,
    StabilitySelection,
    make_copies,
    make_data1,
    make_data2,
)
from hsiclasso.inference.bounds import resolve_levels

PAGE = ROOT / "docs" / "inference.md"
FIRST_SEED = 900_000
#: Features selected on each half-sample, false selections allowed, and correlation in a chain.
SELECTED, ALLOWED, CHAIN = 20, 1.0, 0.7
#: What is reported: the assumption of the bound, and whether features are clustered.
RULES = {
    "r-concave": ("r-concave", True),
    "unimodal": ("unimodal", True),
    "none": ("none", True),
    "r-concave, no clusters": ("r-concave", False),
}
METRICS = ("found", "copies", "false", "threshold")


def _origin(causal: np.ndarray, d: int) -> np.ndarray:
    origin = np.full(d, -1)
    origin[causal] = np.arange(len(causal))
    return origin


def draw_chain(n: int, d: int, *, random_state: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw features in a chain, each correlated with the next, and the target of Data1."""
    rng = np.random.default_rng(random_state)
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = CHAIN * X[:, j - 1] + np.sqrt(1 - CHAIN**2) * X[:, j]
    causal = rng.choice(np.arange(5, d, 20), 4, replace=False)
    x1, x2, x3, x4 = X[:, causal].T
    signal_part = -2 * np.sin(2 * x1) + x2**2 + x3 + np.exp(-x4)
    return X, signal_part + rng.standard_normal(n), _origin(causal, d)


def _null(draw: Callable) -> Callable:
    """Return the same design with the target of other samples."""

    def drawn(n: int, d: int, *, random_state: int):
        X, y, origin = draw(n, d, random_state=random_state)
        mixed = np.random.default_rng([random_state, 1]).permutation(n)
        return X, y[mixed], np.full_like(origin, -1)

    return drawn


def _with_origin(draw: Callable) -> Callable:
    def drawn(n: int, d: int, *, random_state: int):
        X, y, causal = draw(n, d, random_state=random_state)
        return X, y, _origin(causal, d)

    return drawn


def _copies(n: int, d: int, *, random_state: int):
    return make_copies(n, d, n_copies=3, random_state=random_state)


def _classes(n: int, d: int, *, random_state: int):
    X, y, causal = make_data1(n, d, random_state=random_state)
    return X, (y > np.median(y)).astype(int), _origin(causal, d)


_SIZES = ((200, 500), (500, 500))
DESIGNS = {
    "copies": Drawn(_copies, _SIZES),
    "chain": Drawn(draw_chain, _SIZES),
    "Data1": Drawn(_with_origin(make_data1), _SIZES),
    "Data2": Drawn(_with_origin(make_data2), _SIZES),
    "Data1, two classes": Drawn(_classes, _SIZES, CLASSES),
    "null": Drawn(_null(_with_origin(make_data1)), _SIZES),
    "null, chain": Drawn(_null(draw_chain), _SIZES),
    "null, copies": Drawn(_null(_copies), _SIZES),
}


def _nothing(X, y, m: int, kind: str, seed: int) -> np.ndarray:
    raise NotImplementedError("this study calls its selectors itself")


#: Selectors with the number of draws if the user does not say.
SELECTORS = {"HSIC Lasso": HSICLasso, "NOCCO Lasso": NOCCOLasso, "Embedding Lasso": EmbeddingLasso}
METHODS = {
    "HSIC Lasso": Contender(_nothing, runs=60),
    "NOCCO Lasso": Contender(_nothing, runs=20),
    "Embedding Lasso": Contender(_nothing, runs=20),
}


def stable_sets(result: StabilityResult, d: int, rule: str) -> tuple[list[list[int]], float]:
    """Return the stable clusters, or features, and the threshold by one of the rules."""
    assumption, clustered = RULES[rule]
    total = result.levels.n_total if clustered else d
    threshold = resolve_levels(
        total, result.levels.n_pairs, assumption, n_features=SELECTED, expected_false=ALLOWED
    ).threshold
    if clustered:
        clusters = result.at(threshold).selected
        return [list(cluster.columns) for cluster in clusters], threshold
    return [[k] for k in np.flatnonzero(result.frequencies >= threshold - 1e-9)], threshold


def count(sets: list[list[int]], origin: np.ndarray) -> tuple[int, int, int]:
    """Count causal features that are found, further sets of the same ones, and false sets."""
    origins = [max(origin[columns].tolist()) for columns in sets]
    true = [k for k in origins if k >= 0]
    return len(set(true)), len(true) - len(set(true)), len(origins) - len(true)


@dataclass(frozen=True, eq=False)
class StabilityStudy:
    """Stability selection on draws of designs."""

    designs: dict[str, Drawn]
    methods: dict[str, Contender]
    name: str = "stability"
    runs: int = 60
    timed = False

    @property
    def sets(self) -> list[str]:
        """Names of the designs."""
        return list(self.designs)

    def candidates(self, request: Request) -> Iterator[tuple[Task, str | None]]:
        """Yield every size of every design with every selector."""
        for data, design in self.designs.items():
            for n, d in design.sizes:
                for method in self.methods:
                    yield Task(self.name, data, method, n, d, 0), None

    def perform(self, task: Task, folder: Path) -> list[Row]:
        """Select on the half-samples of one draw, and count by all rules."""
        design, seed = self.designs[task.data], FIRST_SEED + 1000 * (task.n + task.d) + task.run
        X, y, origin = design.draw(task.n, task.d, random_state=seed)
        kind = "classes" if design.kind == CLASSES else REAL
        selector = SELECTORS[task.method](SELECTED, target=kind, n_jobs=1)
        result = StabilitySelection(selector, threshold=0.75, random_state=seed).fit(X, y).result_
        values = []
        for rule in RULES:
            sets, threshold = stable_sets(result, task.d, rule)
            numbers = (*count(sets, origin), threshold)
            values += [
                (SELECTED, f"{metric}: {rule}", value)
                for metric, value in zip(METRICS, numbers, strict=True)
            ]
        return rows_of(task, seed, values)


STUDY = StabilityStudy(DESIGNS, METHODS)


def lines_of(file: TidyFile) -> list[str]:
    """Means and standard errors of what is found, copies and false selections, by rule."""
    frame = file.frame(STUDY.name)
    lines = []
    for method in (name for name in METHODS if name in set(frame["method"])):
        own = frame[frame["method"] == method].astype({"value": float})
        values = {key: rows["value"] for key, rows in own.groupby(["data", "n", "metric"])}
        cells = [(data, n) for data, design in DESIGNS.items() for n, _ in design.sizes]
        body = []
        for data, n in (cell for cell in cells if (*cell, "found: none") in values):
            counted = [
                " / ".join(_mean(values[data, n, f"{metric}: {rule}"]) for metric in METRICS[:3])
                for rule in RULES
            ]
            draws = len(values[data, n, "found: none"])
            body.append([f"{data}, n = {n}", *counted, draws])
        shown = [
            f"{rule}, {number(own[own['metric'] == f'threshold: {rule}']['value'].median(), 2)}"
            for rule in RULES
        ]
        lines += [f"{method}; in each cell found / copies / false:", ""]
        lines += table(["bound and threshold", *shown, "draws"], body)
    return lines


def _mean(values: pd.Series) -> str:
    """Return a mean with its standard error; a number that never changes has none."""
    if values.nunique() == 1:
        return number(values.iloc[0], 0)
    return f"{number(values.mean(), 2)} ({number(values.std(ddof=1) / np.sqrt(len(values)), 2)})"


main = Command(
    "stability",
    __doc__ or "",
    {"stability": STUDY},
    PAGE,
    lambda file: {"stability": "\n".join(lines_of(file))},
)


if __name__ == "__main__":
    start("experiments.stability")
