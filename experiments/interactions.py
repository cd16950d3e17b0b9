"""Interactions: whether pairs are found, how often wrongly, and whether they help on real data.

``python -m experiments.interactions [terms tests madelon splits] [--runs 30] [--jobs 2]``

- *terms*: targets that are sums of known terms, of single features and of pairs. The share of draws
  in which the right terms come first; in designs without pairs, in which no pair is among the first
  four.
- *tests*: pairs that `hsic_scan_pairs` finds at a false discovery rate of 0.1. A pair is false if
  one of its members has nothing to do with the target, or if nothing is there to be found.
- *madelon*: 80% of its samples, the features of the first pairs until there are twenty columns.
  The relevant columns are known: they are the only ones that resemble other columns.
- *splits*: real sets, 80% of the samples. A support vector machine (C = 10) and seven nearest
  neighbours, both on standardised columns, are fitted to the columns of the first features until
  there are 10 or 20 columns, and scored on the others. Pairs are those of the 1000 most relevant
  features at most.

Everything was set on other draws and splits: seeds here are larger than theirs. Results go to one
tidy file, and runs that are in it are not repeated. Tables are written to ``docs/interactions.md``.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments.command import ROOT, Command, start
from experiments.contenders import CLASSES, Contender
from experiments.datasets import MissingDataError
from experiments.embedding import REGRESSION_SETS, RealSet, read_set
from experiments.markdown import number, table
from experiments.redundancy_cap import REAL_SETS, Judge, OnSplits
from experiments.runner import Request, tell
from experiments.tidy import TASK_SECONDS, Row, Task, TidyFile, rows_of
from hsiclasso import (
    EmbeddingLasso,
    FewerFeaturesWarning,
    HSICLasso,
    Interactions,
    NOCCOLasso,
    hsic_scan_pairs,
)

PAGE = ROOT / "docs" / "interactions.md"
#: Seeds of the first draw and the first split; smaller ones served to choose.
FIRST_SEED, FIRST_SPLIT = 4_000_000, 4_900_000
LEVEL = 0.1
#: A term: the columns of its features.
Term = tuple[int, ...]


@dataclass(frozen=True)
class Design:
    """A sum of terms with noise."""

    #: Target without noise, of a table.
    signal: Callable[[np.ndarray], np.ndarray]
    #: Its terms.
    terms: tuple[Term, ...]
    #: Features among which all terms must be; with no pairs, none may be.
    first: int
    sizes: tuple[tuple[int, int], ...]
    noise: float = 1.0
    #: Makes the table of normal numbers.
    table: Callable[[np.ndarray], np.ndarray] = lambda Z: Z

    def draw(self, n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray, list[Term]]:
        """Draw a table, its target, and the terms in the order of the shuffled columns."""
        rng = np.random.default_rng(seed)
        X = self.table(rng.standard_normal((n, d)))
        y = self.signal(X) + self.noise * rng.standard_normal(n)
        order = rng.permutation(d)
        places = np.argsort(order)
        terms = [tuple(sorted(places[list(term)].tolist())) for term in self.terms]
        return X[:, order], y, terms

    @property
    def has_pairs(self) -> bool:
        """Whether some features matter only together."""
        return any(len(term) > 1 for term in self.terms)


def _genotypes(Z: np.ndarray) -> np.ndarray:
    """Return 0, 1 and 2 with frequencies of 10% to 50%."""
    rare = np.linspace(0.1, 0.5, Z.shape[1])[None]
    uniform = np.argsort(np.argsort(Z, axis=0), axis=0) / len(Z)
    return ((uniform > (1 - rare) ** 2) * 1.0) + (uniform > 1 - rare**2)


def _data1(X: np.ndarray) -> np.ndarray:
    return -2 * np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + X[:, 2] + np.exp(-X[:, 3])


DESIGNS: dict[str, Design] = {
    "exclusive or": Design(
        lambda X: np.sign(X[:, 0] * X[:, 1]), ((0, 1),), 1, ((100, 500), (200, 500))
    ),
    "product": Design(lambda X: X[:, 0] * X[:, 1], ((0, 1),), 1, ((100, 500), (200, 500))),
    "epistasis": Design(
        lambda X: 2.0 * ((X[:, 400] > 0) == (X[:, 450] > 0)), ((400, 450),), 1, ((200, 500),),
        table=_genotypes,
    ),
    "sine, line, product": Design(
        lambda X: np.sin(2 * X[:, 0]) * 2**0.5 + X[:, 1] + X[:, 2] * X[:, 3],
        ((0,), (1,), (2, 3)), 4, ((200, 500), (500, 500)), 0.5,
    ),
    "Data1": Design(_data1, ((0,), (1,), (2,), (3,)), 4, ((200, 500), (500, 500))),
    "lines": Design(
        lambda X: X[:, 0] + X[:, 1] - X[:, 2] + X[:, 3], ((0,), (1,), (2,), (3,)), 4, ((200, 500),)
    ),
}  # fmt: skip
#: Selectors, and how many draws each has; None for all.
SELECTORS: dict[str, Callable[..., object]] = {
    "HSIC Lasso": HSICLasso,
    "normalised HSIC Lasso": lambda size, **options: HSICLasso(size, measure="nhsic", **options),
    "NOCCO Lasso": NOCCOLasso,
    "Embedding Lasso": EmbeddingLasso,
}


def features_of(selector: object) -> list[Term]:
    """Return the columns of the selected features, heaviest first."""
    result = selector.result_
    number_of = {name: column for column, name in enumerate(_names(selector))}
    return [tuple(sorted(number_of[name] for name in one.columns)) for one in result.features]


def _names(selector: object) -> list[str]:
    return [f"x{column}" for column in range(selector.n_features_in_)]


TERM_METHODS = {name: Contender(lambda *_: None) for name in SELECTORS}


@dataclass(frozen=True, eq=False)
class Terms:
    """Whether the terms of a target are found."""

    name = "terms"
    methods = TERM_METHODS
    sets = tuple(DESIGNS)
    runs = 30
    timed = False

    def candidates(self, request: Request) -> Iterator[tuple[Task, str | None]]:
        """Yield every size of every design with every selector."""
        for data, design in DESIGNS.items():
            for n, d in design.sizes:
                for method in self.methods:
                    yield Task(self.name, data, method, n, d, 0), None

    def perform(self, task: Task, folder: Path) -> list[Row]:
        """Select from one draw, with pairs."""
        design, seed = DESIGNS[task.data], FIRST_SEED + 10 * (task.n + task.d) + 100_000 * task.run
        X, y, terms = design.draw(task.n, task.d, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerFeaturesWarning)
            selector = SELECTORS[task.method](design.first, interactions="all", n_jobs=1).fit(X, y)
        found = features_of(selector)[: design.first]
        if design.has_pairs:
            right = set(terms) <= set(found)
        else:
            right = all(len(term) == 1 for term in found)
        complete = selector.result_.interactions.complete
        return rows_of(
            task, seed, [(len(found), "right", right), (len(found), "complete", complete)]
        )


def _chained(Z: np.ndarray) -> np.ndarray:
    """Return columns of which neighbours have correlation .7."""
    X = Z.copy()
    for j in range(1, X.shape[1]):
        X[:, j] = 0.7 * X[:, j - 1] + 0.51**0.5 * Z[:, j]
    return X


_SMALL = ((200, 100),)
TEST_DESIGNS: dict[str, Design] = {
    "null": Design(lambda X: np.zeros(len(X)), (), 0, ((200, 100), (500, 300))),
    "AR(.7) null": Design(lambda X: np.zeros(len(X)), (), 0, _SMALL, table=_chained),
    "heavy-tailed null": Design(
        lambda X: np.zeros(len(X)), (), 0, _SMALL, table=lambda Z: np.sinh(1.5 * Z)
    ),
    "genotypes, null": Design(lambda X: np.zeros(len(X)), (), 0, _SMALL, table=_genotypes),
    "lines": Design(lambda X: X[:, 0] + X[:, 1] - X[:, 2] + X[:, 3],
                    ((0,), (1,), (2,), (3,)), 0, _SMALL),
    "lines, AR(.7)": Design(lambda X: X[:, 10] + X[:, 30] - X[:, 50] + X[:, 70],
                            ((10,), (30,), (50,), (70,)), 0, _SMALL, table=_chained),
    "Data1": Design(_data1, ((0,), (1,), (2,), (3,)), 0, _SMALL),
    "two products": Design(
        lambda X: X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3], ((0, 1), (2, 3)), 0, _SMALL
    ),
    "epistasis": Design(
        lambda X: 2.0 * ((X[:, 80] > 0) == (X[:, 90] > 0)), ((80, 90),), 0, _SMALL,
        table=_genotypes,
    ),
}  # fmt: skip


TEST_METHODS = {"tests of pairs": Contender(lambda *_: None)}


@dataclass(frozen=True, eq=False)
class Tests:
    """Pairs that tests find at a false discovery rate."""

    #: Not a class of tests.
    __test__ = False

    name = "tests"
    methods = TEST_METHODS
    sets = tuple(TEST_DESIGNS)
    runs = 40
    timed = False

    def candidates(self, request: Request) -> Iterator[tuple[Task, str | None]]:
        """Yield every size of every design."""
        for data, design in TEST_DESIGNS.items():
            for n, d in design.sizes:
                yield Task(self.name, data, "tests of pairs", n, d, 0), None

    def perform(self, task: Task, folder: Path) -> list[Row]:
        """Test all pairs of one draw."""
        design = TEST_DESIGNS[task.data]
        seed = FIRST_SEED + 20 * (task.n + task.d) + 100_000 * task.run
        X, y, terms = design.draw(task.n, task.d, seed)
        found = {
            tuple(sorted(pair)) for pair in hsic_scan_pairs(X, y, n_jobs=1).selected(LEVEL).tolist()
        }
        # a sum of two functions is an interaction for functions of the target that are not linear
        causes = {column for term in terms for column in term}
        false = [pair for pair in found if not set(pair) <= causes]
        values = [
            ("fdp", len(false) / max(1, len(found))),
            ("found", len(found)),
            ("pairs", len(found & set(terms))),
        ]
        return rows_of(task, seed, [(len(found), name, float(value)) for name, value in values])


def relevant_columns(X: np.ndarray) -> np.ndarray:
    """Return the columns of a table that resemble another one.

    In madelon these are the ones that carry its five causes.
    """
    correlation = np.abs(np.corrcoef(X.T))
    np.fill_diagonal(correlation, 0)
    return np.flatnonzero(correlation.max(axis=0) > 0.3)


MADELON = RealSet(2600, 500, CLASSES, read_set)
MADELON_OPTIONS: dict[str, dict[str, object] | None] = {
    "HSIC Lasso": {},
    "HSIC Lasso, pairs": {"interactions": "all"},
    "HSIC Lasso, pairs, copies too": {"interactions": "all", "max_redundancy": 1.0},
    "Embedding Lasso, pairs": {"interactions": "all"},
    "tests of pairs": None,
    "the relevant columns": None,
}
MADELON_METHODS = {name: Contender(lambda *_: None) for name in MADELON_OPTIONS}


@dataclass(frozen=True, eq=False)
class Madelon:
    """The features of the first pairs on random parts of madelon."""

    name = "madelon"
    methods = MADELON_METHODS
    sets = ("madelon",)
    runs = 5
    timed = False

    def candidates(self, request: Request) -> Iterator[tuple[Task, str | None]]:
        """Yield all methods, if the data are there."""
        try:
            MADELON.read(request.folder, "madelon")
        except MissingDataError as error:
            tell(f"madelon is left out. {error}")
            return
        for method in self.methods:
            yield Task(self.name, "madelon", method, MADELON.n, MADELON.d, 0), None

    def perform(self, task: Task, folder: Path) -> list[Row]:
        """Select on four fifths, and judge on the rest."""
        X, y = MADELON.read(folder, task.data)
        seed = FIRST_SPLIT + task.run
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = np.split(order, [round(0.8 * len(y))])
        begin = time.perf_counter()
        truth = relevant_columns(X)
        if task.method == "the relevant columns":
            columns = truth
        else:
            columns = first_columns(_madelon_features(task.method, X[train], y[train]), 20)
        seconds = time.perf_counter() - begin
        relevant = np.isin(columns, truth).sum()
        score = (
            _neighbours(CLASSES)
            .fit(X[train][:, columns], y[train])
            .score(X[test][:, columns], y[test])
        )
        values = [("relevant", relevant), ("accuracy", score), ("seconds", seconds)]
        return rows_of(task, seed, [(20, name, float(value)) for name, value in values])


def _madelon_features(method: str, X: np.ndarray, y: np.ndarray) -> list[Term]:
    """Return features, best first."""
    options = MADELON_OPTIONS[method]
    if options is None:
        return [tuple(pair) for pair in hsic_scan_pairs(X, y, n_jobs=1).index.tolist()]
    make = SELECTORS[method.partition(", ")[0]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        return features_of(make(20, n_jobs=1, target="classes", **options).fit(X, y))


def first_columns(features: list[Term], size: int) -> np.ndarray:
    """Return the columns of the first features until there are so many."""
    columns = list(dict.fromkeys(column for term in features for column in term))
    return np.array(columns[:size], dtype=np.int64)


def _neighbours(kind: str) -> object:
    """Return seven nearest neighbours on standardised columns."""
    model = KNeighborsClassifier if kind == CLASSES else KNeighborsRegressor
    return make_pipeline(StandardScaler(), model(7))


#: Most features whose pairs are scanned.
MOST_PAIRED = 1000
SPLIT_SIZES = (10, 20)
SPLIT_FAMILIES = ("HSIC Lasso", "Embedding Lasso")


class Splits(OnSplits):
    """Prediction from features that are selected with and without pairs."""

    def values(self, method: str, judge: Judge, seed: int) -> Iterator[tuple[int, str, float]]:
        """Judge the columns of the first features."""
        name, _, pairs = method.partition(", ")
        d = judge.X.shape[1]
        for m in (size for size in SPLIT_SIZES if size <= d):
            options: dict[str, object] = {"target": judge.kind, "n_jobs": 1}
            if pairs:
                among = MOST_PAIRED if d > MOST_PAIRED else None
                options["interactions"] = Interactions(among=among)
            selector = SELECTORS[name](m, **options).fit(judge.X, judge.y)
            features = features_of(selector)
            columns = first_columns(features, m)
            yield m, "SVM", judge(columns)
            model = _neighbours(judge.kind).fit(judge.X[:, columns], judge.y)
            yield m, "7-NN", model.score(judge.X_test[:, columns], judge.y_test)
            yield m, "pairs", sum(len(term) > 1 for term in features)


SPLITS = Splits(
    "splits",
    REAL_SETS | REGRESSION_SETS | {"madelon": MADELON},
    {
        name: Contender(lambda *_: None)
        for family in SPLIT_FAMILIES
        for name in (family, f"{family}, pairs")
    },
    5,
)
STUDIES = {"terms": Terms(), "tests": Tests(), "madelon": Madelon(), "splits": SPLITS}


def _frame(file: TidyFile, study: str) -> pd.DataFrame:
    frame = file.frame(study)
    return frame[frame["metric"] != TASK_SECONDS].astype({"value": float})


def _mean(values: pd.Series, digits: int = 2) -> str:
    """Return a mean with its standard error."""
    if not len(values):
        return "---"
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{number(values.mean(), digits)} ({number(error, digits)})"


def term_lines(file: TidyFile) -> list[str]:
    """Share of draws in which the right terms come first, and share of scans that are complete."""
    frame = _frame(file, "terms")
    if frame.empty:
        return []
    body = []
    for data, design in DESIGNS.items():
        for n, d in design.sizes:
            rows = frame[(frame["data"] == data) & (frame["n"] == n) & (frame["d"] == d)]
            if rows.empty:
                continue
            right = rows[rows["metric"] == "right"]
            cells = [_mean(right[right["method"] == name]["value"]) for name in SELECTORS]
            asked = (
                f"all {len(design.terms)} among {design.first}"
                if len(design.terms) > 1
                else ("first")
            )
            words = asked if design.has_pairs else f"no pair among {design.first}"
            body.append([f"{data}, {n} x {d}", words, *cells, right.groupby("method").size().max()])
    return table(["design, n x d", "right if", *SELECTORS, "draws"], body)


def test_lines(file: TidyFile) -> list[str]:
    """False discovery rate of tests of pairs, and how many they find."""
    frame = _frame(file, "tests")
    if frame.empty:
        return []
    body = []
    for data, design in TEST_DESIGNS.items():
        for n, d in design.sizes:
            rows = frame[(frame["data"] == data) & (frame["n"] == n) & (frame["d"] == d)]
            if rows.empty:
                continue
            values = rows.pivot(index="run", columns="metric", values="value")
            pairs = sum(len(term) > 1 for term in design.terms)
            power = f"{number(values['pairs'].mean(), 2)} of {pairs}" if pairs else "---"
            found = number(values["found"].mean(), 2)
            body.append([f"{data}, {n} x {d}", _mean(values["fdp"], 3), found, power, len(values)])
    return table(["design, n x d", "FDR (s.e.)", "found", "pairs that matter", "draws"], body)


def madelon_lines(file: TidyFile) -> list[str]:
    """What is found on madelon."""
    frame = _frame(file, "madelon")
    if frame.empty:
        return []
    body = []
    for method in MADELON_METHODS:
        rows = frame[frame["method"] == method]
        if rows.empty:
            continue
        by = rows.groupby("metric")["value"]
        relevant, seconds = by.get_group("relevant"), by.get_group("seconds").median()
        body.append([
            method, f"{number(relevant.mean(), 1)} (least {relevant.min():.0f})",
            _mean(by.get_group("accuracy"), 3), f"{seconds:.1f}", len(relevant),
        ])  # fmt: skip
    head = ["method", "relevant of 20 columns", "accuracy of 7-NN", "seconds, one core", "splits"]
    return table(head, body)


def split_lines(file: TidyFile) -> list[str]:
    """What pairs change on real sets: gains in standard errors, largest first."""
    frame = _frame(file, "splits")
    lines: list[str] = []
    for family in SPLIT_FAMILIES:
        own = frame[frame["method"].isin([family, f"{family}, pairs"])]
        body = [
            (gain, [data, *cells])
            for data, rows in own.groupby("data", sort=False)
            if (found := _gains(rows, family)) is not None
            for gain, cells in [found]
        ]
        if not body:
            continue
        body.sort(key=lambda one: -one[0])
        head = [f"{family}, columns: {' / '.join(map(str, SPLIT_SIZES))}", "SVM", "with pairs",
                "7-NN", "with pairs", "pairs", "splits"]  # fmt: skip
        lines += table(head, [cells for _, cells in body])
    return lines


def _gains(rows: pd.DataFrame, family: str) -> tuple[float, list[object]] | None:
    """Return the mean gain by pairs, and the cells of a set."""
    by = rows.pivot_table(index="run", columns=["method", "metric", "m"], values="value").dropna()
    if by.empty or by.columns.get_level_values("method").nunique() < 2:
        return None
    pairs, sizes = f"{family}, pairs", [m for m in SPLIT_SIZES if (family, "SVM", m) in by]
    cells: list[object] = []
    gains = []
    for judge in ("SVM", "7-NN"):
        apart = [by[pairs, judge, m] - by[family, judge, m] for m in sizes]
        gains += [one.mean() for one in apart]
        cells.append(" / ".join(number(by[family, judge, m].mean()) for m in sizes))
        cells.append(" / ".join(
            f"{one.mean():+.3f} ({number(one.std(ddof=1) / np.sqrt(len(one)))})" for one in apart
        ))  # fmt: skip
    cells.append(" / ".join(number(by[pairs, "pairs", m].mean(), 1) for m in sizes))
    return float(np.mean(gains)), [*cells, len(by)]


def blocks_of(file: TidyFile) -> dict[str, str]:
    """Return what is written to the page."""
    made = {
        "terms": term_lines(file),
        "pair tests": test_lines(file),
        "madelon": madelon_lines(file),
        "pairs on real sets": split_lines(file),
    }
    return {name: "\n".join(lines) for name, lines in made.items()}


main = Command("interactions", __doc__ or "", STUDIES, PAGE, blocks_of)


if __name__ == "__main__":
    start("experiments.interactions")
