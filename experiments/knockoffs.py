"""Knockoffs and p-values after selection: realised error rates and power.

``python -m experiments.knockoffs [knockoffs post-selection] [--runs 50] [--jobs 2]``

- *knockoffs*: false discovery rate and power at q = 0.1 and 0.2. 20 columns are causal unless the
  design says otherwise. knockpy's lasso statistic is there where the package is installed.
- *post-selection*: p-values of features that are independent of the target, and coverage of their
  intervals. 20 columns, four are asked for.

Defaults were chosen on other draws: seeds here are larger than theirs. Results go to one tidy file,
and runs that are in it are not repeated. Tables are written to ``docs/inference.md``.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm, t

from experiments.command import ROOT, Command, start
from experiments.contenders import REAL, Contender
from experiments.markdown import number, table
from experiments.runner import Request
from experiments.summary import counts
from experiments.tidy import Row, Task, TidyFile, rows_of
from hsiclasso import (
    EmbeddingLasso,
    HSICLasso,
    KnockoffSelection,
    KnockoffWarning,
    NOCCOLasso,
    post_selection_test,
)
from hsiclasso.inference.knockoff_filter import average_e_values, e_bh

PAGE = ROOT / "docs" / "inference.md"
#: Seed of the first draw; smaller ones served to choose defaults.
FIRST_SEED = 900_000
LEVELS = (0.1, 0.2)
#: Levels at which p-values are counted.
TAILS = (0.01, 0.05, 0.5)
Table = tuple[np.ndarray, np.ndarray, np.ndarray]

#: What causal columns do to the target, in turn.
_EFFECTS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    lambda x: x,
    lambda x: 1.3 * np.abs(x),
    lambda x: np.minimum(x**2, 9.0) / 1.2,
    lambda x: 1.4 * np.sin(2 * x),
)


def chain(n: int, d: int, rng: np.random.Generator, rho: float = 0.5) -> np.ndarray:
    """Draw normal columns with correlation rho^|i - j|."""
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


def target_of(
    X: np.ndarray, causal: np.ndarray, rng: np.random.Generator, *, linear: bool = False
) -> np.ndarray:
    """Add the effects of causal columns, and noise with half their standard deviation."""
    effects = _EFFECTS[:1] if linear else _EFFECTS
    parts = [effects[i % len(effects)](X[:, j]) for i, j in enumerate(causal)]
    y = np.sum(parts, axis=0) if parts else np.zeros(len(X))
    return y + rng.standard_normal(len(X)) * (0.5 * y.std() if parts else 1.0)


def draw_mixed(n: int, d: int, rng: np.random.Generator, n_causal: int = 20) -> Table:
    """Draw a chain with effects of four shapes."""
    X, causal = chain(n, d, rng), rng.permutation(d)[:n_causal]
    return X, target_of(X, causal, rng), causal


def draw_linear(n: int, d: int, rng: np.random.Generator) -> Table:
    """Draw a chain with linear effects."""
    X, causal = chain(n, d, rng), rng.permutation(d)[:20]
    return X, target_of(X, causal, rng, linear=True), causal


def draw_few(n: int, d: int, rng: np.random.Generator) -> Table:
    """Draw five causal columns: fewer than 1 / 0.1."""
    return draw_mixed(n, d, rng, n_causal=5)


def draw_null(n: int, d: int, rng: np.random.Generator) -> Table:
    """Draw a chain, and a target that it says nothing of."""
    return draw_mixed(n, d, rng, n_causal=0)


def draw_heavy(n: int, d: int, rng: np.random.Generator) -> Table:
    """Draw columns with t(3) tails that are monotone functions of a normal chain."""
    X, y, causal = draw_mixed(n, d, rng)
    return t.ppf(norm.cdf(X), 3), y, causal


def draw_common_scale(n: int, d: int, rng: np.random.Generator) -> Table:
    """Draw a multivariate t(5): the size of one column says something of that of all others."""
    X = chain(n, d, rng) * np.sqrt(5 / rng.chisquare(5, n))[:, None]
    causal = rng.permutation(d)[:20]
    return X, target_of(X, causal, rng), causal


def draw_levels(n: int, d: int, rng: np.random.Generator) -> Table:
    """Draw columns with three values, as genotypes have."""
    X = np.digitize(chain(n, d, rng), norm.ppf([0.5, 0.85])).astype(float)
    causal = rng.permutation(d)[:20]
    return X, target_of((X - 0.65) / 0.73, causal, rng, linear=True), causal


def draw_copies(n: int, d: int, rng: np.random.Generator) -> Table:
    """Draw a chain in which every causal column has a copy with correlation 0.99."""
    X, y, causal = draw_mixed(n, d, rng)
    others = rng.permutation(np.setdiff1d(np.arange(d), causal))[: causal.size]
    X[:, others] = 0.99 * X[:, causal] + np.sqrt(1 - 0.99**2) * rng.standard_normal(
        (n, causal.size)
    )
    return X, y, causal


@dataclass(frozen=True)
class Design:
    """How tables are drawn, their sizes, and the methods that are compared on them."""

    draw: Callable[[int, int, np.random.Generator], Table]
    sizes: tuple[tuple[int, int], ...]
    methods: tuple[str, ...]


OWN, SCALED, ADDITIVE = "HSIC Lasso", "NOCCO Lasso", "Embedding Lasso"
EQUAL, DRAWS, PEER = "HSIC Lasso, equicorrelated", "HSIC Lasso, 5 draws", "knockpy, lasso"
_MAIN = ((1000, 200),)

KNOCKOFF_DESIGNS = {
    "mixed effects": Design(draw_mixed, _MAIN, (OWN, SCALED, ADDITIVE, EQUAL, DRAWS, PEER)),
    "mixed effects, half the samples": Design(draw_mixed, ((500, 200),), (OWN, ADDITIVE, PEER)),
    "linear effects": Design(draw_linear, ((500, 200),), (OWN, ADDITIVE, PEER)),
    "null": Design(draw_null, ((500, 200),), (OWN, ADDITIVE)),
    "fewer samples than columns": Design(draw_linear, ((200, 400),), (OWN, ADDITIVE)),
    "t(3) columns": Design(draw_heavy, _MAIN, (OWN, PEER)),
    "three values": Design(draw_levels, _MAIN, (OWN,)),
    "five causal": Design(draw_few, _MAIN, (OWN,)),
    "copies": Design(draw_copies, _MAIN, (OWN,)),
    "common scale": Design(draw_common_scale, _MAIN, (OWN,)),
}


def own(selector: object, **options: object) -> Callable[..., np.ndarray]:
    """Return a function that gives the statistics (draws, d) of our knockoffs."""

    def statistics(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KnockoffWarning)
            fitted = KnockoffSelection(selector, random_state=seed, **options).fit(X, y)
        return fitted.result_.statistics

    return statistics


def knockpy_lasso(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return the statistics (1, d) of knockpy: the same knockoffs, differences of lasso weights."""
    import knockpy

    np.random.seed(seed)  # noqa: NPY002
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sifted = knockpy.KnockoffFilter(
            ksampler="gaussian", fstat="lasso", knockoff_kwargs={"method": "mvr"}
        )
        sifted.forward(X=X, y=y, fdr=0.1, shrinkage="ledoitwolf")
    return np.asarray(sifted.W)[None]


METHODS = {
    OWN: Contender(own(HSICLasso(n_jobs=1))),
    SCALED: Contender(own(NOCCOLasso(n_jobs=1))),
    ADDITIVE: Contender(own(EmbeddingLasso(n_jobs=1))),
    EQUAL: Contender(own(HSICLasso(n_jobs=1), method="equicorrelated")),
    DRAWS: Contender(own(HSICLasso(n_jobs=1), n_draws=5)),
    PEER: Contender(knockpy_lasso, package="knockpy"),
}


def selected(statistics: np.ndarray, q: float) -> np.ndarray:
    """Select as `KnockoffSelection` does by default."""
    level = q if len(statistics) == 1 else q / 2
    return e_bh(average_e_values(statistics, level)[1], q)[0]


@dataclass(frozen=True, eq=False)
class KnockoffStudy:
    """False discovery proportion and power of knockoffs on draws of designs."""

    name: str
    designs: dict[str, Design]
    methods: dict[str, Contender]
    runs: int
    timed = False

    @property
    def sets(self) -> list[str]:
        """Names of the designs."""
        return list(self.designs)

    def candidates(self, request: Request) -> Iterator[tuple[Task, str | None]]:
        """Yield every size of every design with its methods."""
        for data, design in self.designs.items():
            for n, d in design.sizes:
                for method in design.methods:
                    yield Task(self.name, data, method, n, d, 0), self.methods[method].missing(REAL)

    def perform(self, task: Task, folder: Path) -> list[Row]:
        """Select on one draw, at every level."""
        seed = FIRST_SEED + 1000 * (task.n + task.d) + task.run
        X, y, causal = self.designs[task.data].draw(task.n, task.d, np.random.default_rng(seed))
        W = self.methods[task.method].rank(X, y, seed)
        values = []
        for q in LEVELS:
            found = selected(W, q)
            false = np.setdiff1d(found, causal).size
            right = found.size - false
            values.append((causal.size, f"fdp {q}", false / max(1, found.size)))
            values.append((causal.size, f"power {q}", right / max(1, causal.size)))
        return rows_of(task, seed, values)


def draw_independent(n: int, d: int, rng: np.random.Generator) -> Table:
    """Draw independent columns and a target that they say nothing of."""
    return rng.standard_normal((n, d)), rng.standard_normal(n), np.arange(0)


def draw_t2(n: int, d: int, rng: np.random.Generator) -> Table:
    """Draw independent columns and a target with t(2) tails."""
    return rng.standard_normal((n, d)), rng.standard_t(2, n), np.arange(0)


def draw_two(n: int, d: int, rng: np.random.Generator) -> Table:
    """Draw a target of two columns; the others are correlated, and independent of both."""
    X = np.column_stack([rng.standard_normal((n, 2)), chain(n, d - 2, rng)])
    return X, np.abs(X[:, 0]) + X[:, 1] + 0.5 * rng.standard_normal(n), np.arange(2)


def draw_classes(n: int, d: int, rng: np.random.Generator) -> Table:
    """Draw three classes that depend on two columns."""
    X, y, causal = draw_two(n, d, rng)
    return X, np.digitize(y, np.quantile(y, [0.3, 0.6])).astype(str), causal


TESTS = ("hsic, incomplete", "partial, incomplete", "hsic, block", "partial, block")
_SIZES = ((200, 20), (500, 20), (2000, 20))
TEST_DESIGNS = {
    "null": Design(draw_independent, _SIZES, TESTS),
    "null, t(2) target": Design(draw_t2, _SIZES, TESTS),
    "two causal": Design(draw_two, _SIZES, TESTS),
    "two causal, classes": Design(draw_classes, _SIZES, TESTS),
}


@dataclass(frozen=True, eq=False)
class PostSelectionStudy:
    """P-values of selected features on draws of designs."""

    name: str
    designs: dict[str, Design]
    methods: dict[str, Contender]
    runs: int
    timed = False

    @property
    def sets(self) -> list[str]:
        """Names of the designs."""
        return list(self.designs)

    def candidates(self, request: Request) -> Iterator[tuple[Task, str | None]]:
        """Yield every size of every design with its tests; small samples have too few blocks."""
        for data, design in self.designs.items():
            for n, d in design.sizes:
                for method in design.methods:
                    if n > 500 or "block" not in method:
                        yield Task(self.name, data, method, n, d, 0), None

    def perform(self, task: Task, folder: Path) -> list[Row]:
        """Test on one draw. The p-values of all selected features without effect are counted."""
        seed = FIRST_SEED + 1000 * (task.n + task.d) + task.run
        X, y, causal = self.designs[task.data].draw(task.n, task.d, np.random.default_rng(seed))
        quantity, estimator = task.method.split(", ")
        found = post_selection_test(
            HSICLasso(4, n_jobs=1), X, y, quantity=quantity, estimator=estimator, random_state=seed
        ).features
        nulls = [feature for feature in found if feature.index not in causal]
        values: list[tuple[int, str, float]] = [(4, "nulls", len(nulls))]
        for level in TAILS:
            below = sum(feature.p_value <= level for feature in nulls)
            values.append((4, f"p <= {level}", below))
        values.append((4, "covered", sum(one.low <= 0 <= one.high for one in nulls)))
        if causal.size:
            small = [feature.index for feature in found if feature.p_value <= 0.05]
            values.append((4, "power", np.isin(causal, small).mean()))
        return rows_of(task, seed, values)


STUDIES = {
    "knockoffs": KnockoffStudy("knockoffs", KNOCKOFF_DESIGNS, METHODS, 50),
    "post-selection": PostSelectionStudy(
        "post-selection", TEST_DESIGNS, dict.fromkeys(TESTS, Contender(post_selection_test)), 200
    ),
}


def _mean(values: pd.Series) -> str:
    if not len(values):
        return "---"
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{number(values.mean(), 2)} ({number(error, 2)})"


def _groups(
    frame: pd.DataFrame, designs: dict[str, Design]
) -> Iterator[tuple[str, str, dict[str, pd.Series]]]:
    """Yield each design with its size, and each method, with its values by metric."""
    found = dict(list(frame.groupby(["data", "n", "d", "method"])))
    for data, design in designs.items():
        for n, d in design.sizes:
            for method in design.methods:
                rows = found.get((data, n, d, method))
                if rows is not None:
                    metrics = rows.groupby("metric")["value"]
                    yield (
                        f"{data}, {n} x {d}",
                        method,
                        {metric: values.astype(float) for metric, values in metrics},
                    )


def knockoff_lines(frame: pd.DataFrame) -> list[str]:
    """Realised false discovery rate and power: mean and standard error."""
    body, runs = [], []
    none = pd.Series(dtype=float)
    for design, method, values in _groups(frame, KNOCKOFF_DESIGNS):
        cells = [_mean(values[f"fdp {q}"]) for q in LEVELS]
        null = design.startswith("null")
        cells += [_mean(none if null else values[f"power {q}"]) for q in LEVELS]
        body.append([design, method, *cells])
        runs.append(len(values["fdp 0.1"]))
    if not body:
        return []
    head = ["design", "method", "FDR, q = .1", "FDR, q = .2", "power, .1", "power, .2"]
    return [f"{counts(runs)} draws of each:", "", *table(head, body)]


def share(counts_: pd.Series, totals: pd.Series) -> str:
    """Sum of counts over sum of totals, with the standard error of a ratio of means over draws."""
    if not totals.sum():
        return "---"
    rate = counts_.sum() / totals.sum()
    error = np.sqrt(np.square(counts_.to_numpy() - rate * totals.to_numpy()).sum()) / totals.sum()
    return f"{number(rate, 3)} ({number(error, 3)})"


def p_value_lines(frame: pd.DataFrame) -> list[str]:
    """Shares of null p-values below some levels, coverage and power."""
    body, runs = [], []
    for design, method, values in _groups(frame, TEST_DESIGNS):
        names = [*(f"p <= {level}" for level in TAILS), "covered"]
        cells = [share(values[name], values["nulls"]) for name in names]
        power = _mean(values.get("power", pd.Series(dtype=float)))
        body.append([design, method, *cells, power])
        runs.append(len(values["nulls"]))
    if not body:
        return []
    head = ["design", "test", "p <= .01", "p <= .05", "p <= .5", "90% interval", "power at .05"]
    return [f"{counts(runs)} draws of each:", "", *table(head, body)]


def blocks_of(file: TidyFile) -> dict[str, str]:
    """Everything that is written to the page."""
    return {
        "knockoffs": "\n".join(knockoff_lines(file.frame("knockoffs"))),
        "post-selection": "\n".join(p_value_lines(file.frame("post-selection"))),
    }


main = Command("knockoffs", __doc__ or "", STUDIES, PAGE, blocks_of)


if __name__ == "__main__":
    start("experiments.knockoffs")
