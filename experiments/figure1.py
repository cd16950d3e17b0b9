"""Figure 1: features recovered on the paper's designs, and what that takes.

Panels (a) and (b): the share of the d* causal features of Data1 and Data2 among the d* best of a
method, against the number of samples. Panel (c): seconds against the number of features. Panel
(d): seconds of HSIC Lasso against the number of samples, with the lookup table and without.

For HSIC Lasso and NOCCO Lasso the paper chooses the penalty "so that the number of non-zero
coefficients is in {d*, ..., d* + 10}" and takes the d* heaviest features. Several penalties
satisfy this rule. Here the path is followed until d* + 10 weights are positive, or to its end, and
the last solution is taken: it has the smallest of these penalties, so its weights are shrunk least.
The lowest and the highest share over all breakpoints that satisfy the rule are kept beside it. Of
SpAM the paper says only that coefficients rank its features, not at which penalty; SpAM and the
other lassos follow the same rule. All others give the d* best of their ranking.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.contenders import CONTENDERS, REAL, Contender, Rank, Selector
from experiments.runner import Request
from experiments.tidy import Row, Task, rows_of
from hsiclasso import Gaussian, HSICLasso, make_data1, make_data2
from hsiclasso.baselines import FVM
from hsiclasso.solvers import SolutionPath

SPARE = 10
LOOKUP = "HSIC Lasso, lookup table"
FVM_COUNTED = "FVM, d* + 10 weights"
DESIGNS = {"Data1": make_data1, "Data2": make_data2}

#: Name of a design, samples, features.
Case = tuple[str, int, int]


def heaviest(rank: Rank) -> Rank:
    """Give a lasso 10 features more than wanted, and take those of the largest weights."""

    def cut(X, y, m: int, kind: str, seed: int) -> np.ndarray:
        return rank(X, y, m + SPARE, kind, seed)[:m]

    return cut


#: Selectors whose solutions are examined along the whole path.
PATHS = (
    "HSIC Lasso", "NOCCO Lasso", "nHSIC Lasso", "HSIC Lasso, ranks", "NOCCO Lasso, ranks"
)  # fmt: skip
_LASSOS = ("SpAM", "Lasso", "pyHSICLasso")

METHODS: dict[str, Contender] = {
    name: replace(contender, rank=heaviest(contender.rank)) if name in _LASSOS else contender
    for name, contender in CONTENDERS.items()
} | {
    # at the paper's penalty all weights of FVM are zero on these designs, and relevance ranks
    FVM_COUNTED: Contender(heaviest(Selector(FVM))),
}


@dataclass(frozen=True, eq=False)
class DrawStudy:
    """Methods on draws of the paper's designs.

    Attributes
    ----------
    name : str
    cases : tuple
        Designs, samples and features.
    methods : dict
        Contenders by name.
    paths : tuple of str
        Methods whose whole path is examined.
    runs : int
        Draws, if the user does not say.
    timed : bool
        Whether only times count; no two tasks then run side by side.
    """

    name: str
    cases: tuple[Case, ...]
    methods: dict[str, Contender]
    paths: tuple[str, ...] = ()
    runs: int = 30
    timed: bool = False

    @property
    def sets(self) -> set[str]:
        """Names of the designs."""
        return {data for data, _, _ in self.cases}

    def candidates(self, request: Request) -> Iterator[tuple[Task, str | None]]:
        """Yield every case with every method."""
        for data, n, d in self.cases:
            for method, contender in self.methods.items():
                yield Task(self.name, data, method, n, d, 0), contender.missing(REAL)

    def perform(self, task: Task, folder: Path) -> list[Row]:
        """Fit a method to one draw; the clock does not count the loading of compiled loops."""
        seed = 1000 * task.n + task.run
        X, y, causal = DESIGNS[task.data](task.n, task.d, random_state=seed)
        self._warm(task.method)
        start = time.perf_counter()
        found = self._fit(task.method, X, y, len(causal), seed)
        values = {"seconds": time.perf_counter() - start}
        if not self.timed:
            values |= shares(found, causal)
        return rows_of(task, seed, [(len(causal), *value) for value in values.items()])

    def _fit(self, method: str, X, y, m: int, seed: int) -> SolutionPath | np.ndarray:
        rank = self.methods[method].rank
        if method in self.paths:
            return rank.fit(X, y, m + SPARE, REAL).path_
        return rank(X, y, m, REAL, seed)

    def _warm(self, method: str) -> None:
        """Fit a small table, once in a process, on which no method gives up early."""
        if (self.name, method) not in _warmed:
            X = np.random.default_rng(0).standard_normal((60, 20))
            # so like its first column that FVM has weights at the paper's penalty
            self._fit(method, X, X[:, 0] + 0.1 * X[:, 1:5].sum(axis=1), 3, 0)
            _warmed.add((self.name, method))


#: Studies and methods whose compiled loops are in this process.
_warmed: set[tuple[str, str]] = set()


def shares(found: SolutionPath | np.ndarray, causal: np.ndarray) -> dict[str, float]:
    """Share of the causal features among the d* best of a ranking, or d* heaviest of a path.

    For a path, also the lowest and the highest share over the breakpoints that satisfy the paper's
    rule; if no breakpoint has d* positive weights, the last is taken as it is.
    """
    if not isinstance(found, SolutionPath):
        return {"fraction": _share(found, causal)}
    m, last = len(causal), found.breakpoints[-1]
    admitted = [
        point for point in found.breakpoints if m <= (point.weights > 0).sum() <= m + SPARE
    ] or [last]
    each = [_share(_by_weight(point), causal) for point in admitted]
    fraction = _share(_by_weight(last), causal)
    return {"fraction": fraction, "lowest": min(each), "highest": max(each)}


def _by_weight(point) -> np.ndarray:
    return point.indices[np.argsort(-point.weights, kind="stable")]


def _share(ranked: np.ndarray, causal: np.ndarray) -> float:
    return float(np.isin(causal, ranked[: len(causal)]).mean())


def recovery_table(frame: pd.DataFrame, data: str, metric: str = "fraction") -> pd.DataFrame:
    """Means over the runs on one design: a row for each method, in the order of METHODS, by n."""
    rows = frame[(frame["data"] == data) & (frame["metric"] == metric)]
    means = rows.pivot_table(index="method", columns="n", values="value", aggfunc="mean")
    order = [*METHODS, *sorted(set(means.index) - set(METHODS))]
    return means.reindex([method for method in order if method in means.index])


_TIMED = {name: c for name, c in METHODS.items() if c.printed or name == FVM_COUNTED}

RECOVERY = DrawStudy(
    "figure1",
    tuple(("Data1", n, 256) for n in range(50, 401, 50))
    + tuple(("Data2", n, 1000) for n in range(100, 601, 100)),
    METHODS,
    PATHS,
)
TIME_D = DrawStudy(
    "figure1c", tuple(("Data2", 100, d) for d in range(100, 1001, 100)), _TIMED, PATHS, timed=True
)
TIME_N = DrawStudy(
    "figure1d",
    tuple(("Data2", n, 1000) for n in (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)),
    {
        "HSIC Lasso": METHODS["HSIC Lasso"],
        LOOKUP: Contender(Selector(HSICLasso, kernel=Gaussian(expansion="table"))),
    },
    ("HSIC Lasso", LOOKUP),
    timed=True,
)
