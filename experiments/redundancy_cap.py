"""How similar selected features may be, and how a number is made up: what the defaults rest on.

``python -m experiments.redundancy_cap [recovery caps filling] [--runs 5] [--jobs 2]``

- *recovery*: Data1, Data2 and Data1 with ten noisy copies of each causal feature, 100 and 200
  samples of 1000 features, with caps from 1 (nothing is left out) to 0.3. A method is asked for as
  many features as are causal; in the design with copies, an original or any of its copies counts.
- *caps*: the same caps on real sets. A support vector machine (C = 10, standardised columns) is
  fitted to the best 10, 20 and 50 features on 80% of the samples and scored on the others.
- *filling*: on real sets where the path ends before 50 features, four ways to make up the number,
  with the cap of 0.6 and without one: that of the library, random features (the mean of ten draws),
  the most relevant ones, and an elastic net.

The cap and the way of filling were chosen on other draws and splits: seeds here are larger than
theirs. Results go to one tidy file, and runs that are in it are not repeated. Tables are written to
``docs/choosing.md``.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from experiments.command import ROOT, Command, start
from experiments.contenders import CLASSES, REAL, Contender
from experiments.datasets import MissingDataError
from experiments.embedding import CLASS_SETS, REGRESSION_SETS, RealSet
from experiments.markdown import MISSING, number, table
from experiments.runner import Request, tell
from experiments.tidy import Row, Task, TidyFile, rows_of
from hsiclasso import (
    EmbeddingLasso,
    FewerFeaturesWarning,
    HSICLasso,
    NOCCOLasso,
    make_copies,
    make_data1,
    make_data2,
)
from hsiclasso.data import as_dataset
from hsiclasso.selectors.filling import fill_up
from hsiclasso.selectors.pipeline import Selection, select
from hsiclasso.selectors.search import Goal, Search, by_weight
from hsiclasso.solvers import Penalty, Ridged, Stop, solve_path

PAGE = ROOT / "docs" / "choosing.md"
#: Seeds of the first draw and the first split; smaller ones served to choose.
FIRST_SEED, FIRST_SPLIT = 2_900_000, 2_950_000
CAPS = (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
FEW_CAPS = (1.0, 0.8, 0.6, 0.4)
CHOSEN = 0.6
SIZES = (10, 20, 50)
#: Most samples that are trained on.
MOST = 500
FAMILIES: dict[str, Callable] = {
    "HSIC Lasso": HSICLasso,
    "NOCCO Lasso": NOCCOLasso,
    "Embedding Lasso": EmbeddingLasso,
}
NOTHING = np.zeros(0, dtype=np.int64)

MORE_CLASSES = {
    name: replace(CLASS_SETS["colon"], n=n, d=d)
    for name, (n, d) in {
        "Isolet": (1560, 617), "USPS_test2007": (2007, 256), "COIL20": (1440, 1024),
        "ORL": (400, 1024), "PCMAC": (1943, 3289), "BASEHOCK": (1993, 4862),
    }.items()
}  # fmt: skip
REAL_SETS: dict[str, RealSet] = REGRESSION_SETS | CLASS_SETS | MORE_CLASSES
#: Where the path ends before 50 features, in some splits, with the chosen cap.
SHORT_SETS = {
    name: REAL_SETS[name]
    for name in ("cookie_nir_fat", "blood_brain", "rat_eye_flare200", "diabetes", "colon",
                 "Prostate_GE", "warpAR10P", "warpPIE10P", "leukemia", "GLIOMA")
}  # fmt: skip


def _names(*methods: str) -> dict[str, Contender]:
    """Return methods by name; the studies here do not call them."""
    return {name: Contender(lambda *_: NOTHING) for name in methods}


def _draw_copies(n: int, d: int, *, random_state: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return make_copies(n, d, random_state=random_state)


def _draw(make: Callable) -> Callable:
    """Return the draws of a design with the number of each causal feature, -1 for the others."""

    def draw(n: int, d: int, *, random_state: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X, y, causal = make(n, d, random_state=random_state)
        origin = np.full(d, -1)
        origin[causal] = np.arange(len(causal))
        return X, y, origin

    return draw


@dataclass(frozen=True, eq=False)
class Recovery:
    """Share of the causal features that are found, by cap."""

    name: str
    methods: dict[str, Contender]
    runs: int
    sizes: tuple[tuple[int, int], ...] = ((100, 1000), (200, 1000))
    timed = False

    @property
    def designs(self) -> dict[str, Callable]:
        """How each design is drawn."""
        return {"Data1": _draw(make_data1), "Data2": _draw(make_data2), "copies": _draw_copies}

    @property
    def sets(self) -> list[str]:
        """Names of the designs."""
        return list(self.designs)

    def candidates(self, request: Request) -> Iterator[tuple[Task, str | None]]:
        """Yield every size of every design with every method."""
        for data in self.designs:
            for n, d in self.sizes:
                for method in self.methods:
                    yield Task(self.name, data, method, n, d, 0), None

    def perform(self, task: Task, folder: Path) -> list[Row]:
        """Select from one draw with every cap."""
        seed = FIRST_SEED + 1000 * task.n + task.run
        X, y, origin = self.designs[task.data](task.n, task.d, random_state=seed)
        wanted, values = int(origin.max()) + 1, []
        for cap in FEW_CAPS if task.method == "Embedding Lasso" else CAPS:
            selector = FAMILIES[task.method](wanted, max_redundancy=cap, n_jobs=1).fit(X, y)
            found = set(origin[selector.selected_].tolist()) - {-1}
            values.append((wanted, f"fraction, cap {cap}", len(found) / wanted))
        return rows_of(task, seed, values)


@dataclass(frozen=True, eq=False)
class OnSplits:
    """Real sets, split at random: what all studies of them share."""

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
            if request.data is not None and name not in request.data:
                continue
            try:
                entry.read(request.folder, name)
            except (MissingDataError, ImportError) as error:
                tell(f"{name} is left out. {error}")
                continue
            for method in self.methods:
                yield Task(self.name, name, method, entry.n, entry.d, 0), None

    def perform(self, task: Task, folder: Path) -> list[Row]:
        """Select on one split and judge what was selected."""
        entry, seed = self.real[task.data], FIRST_SPLIT + task.run
        X, y = entry.read(folder, task.data)
        train, test = halves(y, entry.kind, seed)
        X = X[:, np.ptp(X[train], axis=0) > 0]
        judge = Judge(X[train], y[train], X[test], y[test], entry.kind)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerFeaturesWarning)
            return rows_of(task, seed, self.values(task.method, judge, seed))

    def values(self, method: str, judge: "Judge", seed: int) -> Iterator[tuple[int, str, float]]:
        """Yield the number of features, what was measured, and its value."""
        raise NotImplementedError


def halves(y: np.ndarray, kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows to train and to test on: 80% and 20%, of each class if there are classes."""
    rng, groups = np.random.default_rng(seed), np.zeros(len(y)) if kind == REAL else y
    train, test = [], []
    for label in np.unique(groups):
        rows = rng.permutation(np.flatnonzero(groups == label))
        first = min(max(1, round(0.8 * rows.size)), max(1, rows.size - 1))
        train.append(rows[:first])
        test.append(rows[first:])
    chosen = rng.permutation(np.concatenate(train))
    return chosen[:MOST], np.concatenate([*test, chosen[MOST:]])[: 2 * MOST]


@dataclass(eq=False)
class Judge:
    """Scores of a support vector machine on selected columns; none is computed twice."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    kind: str

    def __post_init__(self) -> None:
        self._known: dict[tuple[int, ...], float] = {}

    def __call__(self, columns: np.ndarray) -> float:
        """Return the accuracy, or R^2, on the samples that were held out."""
        key = tuple(sorted(columns.tolist()))
        if key not in self._known:
            shift, scale = (0, 1) if self.kind == CLASSES else (self.y.mean(), self.y.std())
            machine = SVC(C=10) if self.kind == CLASSES else SVR(C=10, epsilon=0.05)
            model = make_pipeline(StandardScaler(), machine)
            some = list(key)
            model.fit(self.X[:, some], (self.y - shift) / scale if scale != 1 else self.y)
            truth = (self.y_test - shift) / scale if scale != 1 else self.y_test
            self._known[key] = model.score(self.X_test[:, some], truth)
        return self._known[key]

    def fit(self, family: str, size: int, **options: object) -> Selection:
        """Select from the training samples."""
        selector = FAMILIES[family](size, **{"n_jobs": 1, "target": self.kind, **options})
        return select(selector, as_dataset(self.X, self.y).source, self.y)

    @property
    def sizes(self) -> list[int]:
        """Numbers of features that there are."""
        return [m for m in SIZES if m <= self.X.shape[1]]


class Caps(OnSplits):
    """Prediction from the features that are selected with each cap."""

    def values(self, method: str, judge: Judge, seed: int) -> Iterator[tuple[int, str, float]]:
        """Judge the features of every cap and number."""
        if method == "Embedding Lasso":  # there is no exact path that has all numbers
            for cap in FEW_CAPS:
                for m in judge.sizes[:2]:
                    made = judge.fit(method, m, max_redundancy=cap)
                    yield m, f"score, cap {cap}", judge(made.selected)
                    yield m, f"on path, cap {cap}", made.selected.size
            return
        most = judge.sizes[-1]
        made = judge.fit(method, most, max_redundancy=1.0, fill=False)
        problem, everything = made.problem, np.ones(judge.X.shape[1], dtype=bool)
        penalty, goal = Penalty.lasso(everything.size), Goal(most, None, None, None, None)
        for cap in CAPS:
            path = Search(problem, penalty, "homotopy", cap, float(len(judge.y))).path(goal)
            end = by_weight(path, NOTHING, most)
            more = fill_up(problem, end, most - end.size, everything)
            for m in judge.sizes:
                found = path.selected_of_size(m, NOTHING)
                columns = np.append(end, more)[:m] if found is None else found
                yield m, f"score, cap {cap}", judge(columns)
                yield m, f"on path, cap {cap}", min(m, end.size)


class Filling(OnSplits):
    """Prediction from features with which the number is made up in several ways."""

    def values(self, method: str, judge: Judge, seed: int) -> Iterator[tuple[int, str, float]]:
        """Judge the features of every way and number, where the path ends before."""
        cap = 1.0 if method == "without a cap" else CHOSEN
        most = judge.sizes[-1]
        made = judge.fit("HSIC Lasso", most, max_redundancy=cap, fill=False)
        start = by_weight(made.path, NOTHING, None)
        ways = {} if start.size >= most else _ways(made, start, most, seed)
        for m in judge.sizes:
            if m <= max(point.indices.size for point in made.path.breakpoints):
                continue
            for way, orders in ways.items():
                scores = [judge(np.append(start, order)[:m]) for order in orders]
                yield m, f"score, {way}", float(np.mean(scores))
        yield most, "on path", start.size


def _ways(made: Selection, start: np.ndarray, most: int, seed: int) -> dict[str, list[np.ndarray]]:
    """Return features with which the number is made up, in order, by way; several if by chance."""
    d = made.features.n_features
    rest = np.setdiff1d(np.arange(d), start)
    rng = np.random.default_rng(seed)
    lacking = most - start.size
    return {
        "relevant and unlike": [fill_up(made.problem, start, lacking, np.ones(d, dtype=bool))],
        "random": [rng.permutation(rest)[:lacking] for _ in range(10)],
        "most relevant": [rest[np.argsort(-made.problem.relevance[rest], kind="stable")]],
        "elastic net": [_by_elastic_net(made, start, most)],
    }


def _by_elastic_net(made: Selection, start: np.ndarray, most: int) -> np.ndarray:
    """Return features in the order in which they enter a path with a ridge part."""
    problem = made.problem
    for share in (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0):
        ridged = Ridged(problem, share * problem.target_norm2)
        path = solve_path(ridged, Penalty.lasso(problem.linear.size), Stop(max_features=most))
        entered = path.entered[np.isin(path.entered, path.breakpoints[-1].indices)]
        found = entered[~np.isin(entered, start)]
        if found.size >= most - start.size:
            break
    return found


STUDIES = {
    "recovery": Recovery("recovery", _names(*FAMILIES), 40),
    "caps": Caps("caps", REAL_SETS, _names(*FAMILIES), 5),
    "filling": Filling("filling", SHORT_SETS, _names("without a cap", "cap 0.6"), 10),
}


def _parts(file: TidyFile, study: str, words: str) -> pd.DataFrame:
    """Return the values of a study whose metric begins with some words, the rest as `of`."""
    frame = file.frame(study)
    frame = frame[frame["metric"].str.startswith(words)].astype({"value": float})
    return frame.assign(of=frame["metric"].str[len(words) :])


def recovery_lines(file: TidyFile) -> list[str]:
    """Share of the causal features that are found, by cap, with the largest standard error."""
    found = _parts(file, "recovery", "fraction, cap ")
    if found.empty:
        return []
    body = []
    for (method, data, n), rows in found.groupby(["method", "data", "n"], sort=False):
        by_cap = rows.groupby("of")["value"]
        runs = int(by_cap.size().min())
        error = (by_cap.std() / np.sqrt(by_cap.size())).max()
        means = [number(by_cap.mean().get(str(cap), np.nan), 2) for cap in CAPS]
        body.append([f"{method}, {data}, n = {n}", *means, number(error, 2), runs])
    return table(["found, by cap", *(f"{cap:g}" for cap in CAPS), "s.e.", "draws"], body)


def cap_lines(file: TidyFile) -> list[str]:
    """Difference from no cap: the mean over sets with its standard error, and the worst set."""
    found = _parts(file, "caps", "score, cap ")
    if found.empty:
        return []
    kinds = {name: entry.kind for name, entry in REAL_SETS.items()}
    means = found.groupby(["method", "m", "data", "of"])["value"].mean().unstack()
    gains = means.sub(means["1.0"], axis=0)
    body = []
    for method in dict.fromkeys(found["method"]):
        for kind, words in ((CLASSES, "accuracy"), (REAL, "R^2")):
            for m in SIZES:
                if (method, m) not in means.index:
                    continue
                own = gains.loc[(method, m)]
                own = own[[kinds[data] == kind for data in own.index]]
                if own.empty:
                    continue
                cells = []
                for cap in CAPS[1:]:
                    values = own[str(cap)].dropna()
                    if values.empty:
                        cells.append(MISSING)
                        continue
                    error = values.std(ddof=1) / np.sqrt(len(values))
                    cells.append(f"{values.mean():+.3f} ({error:.3f})")
                body.append([f"{method}, {words}, {m} of {len(own)} sets", *cells])
    return table(["gain over no cap", *(f"{cap:g}" for cap in CAPS[1:])], body)


def set_lines(file: TidyFile) -> list[str]:
    """Scores of HSIC Lasso set by set, with some caps."""
    found = _parts(file, "caps", "score, cap ")
    found = found[found["method"] == "HSIC Lasso"]
    if found.empty:
        return []
    shown = (1.0, 0.8, 0.6, 0.4)
    means = found.groupby(["data", "m", "of"])["value"].mean().unstack()
    body = []
    for data in dict.fromkeys(found["data"]):
        rows = means.loc[data]
        cells = [" / ".join(number(v) for v in rows[str(cap)]) for cap in shown]
        body.append([data, *cells])
    lines = ["<details><summary>HSIC Lasso, set by set, with 10 / 20 / 50 features</summary>", ""]
    lines += table(["set, by cap", *(f"{cap:g}" for cap in shown)], body)
    return [*lines, "</details>", ""]


def filling_lines(file: TidyFile) -> list[str]:
    """Scores by way; for each, the difference from random in standard errors of the splits."""
    found = _parts(file, "filling", "score, ")
    if found.empty:
        return []
    ways = list(dict.fromkeys(found["of"]))
    body = []
    for (data, method, m), rows in found.groupby(["data", "method", "m"], sort=False):
        by_way = rows.pivot(index="run", columns="of", values="value")
        cells = []
        for way in ways:
            apart = by_way[way] - by_way["random"]
            error = apart.std(ddof=1) / np.sqrt(len(apart))
            beside = "" if way == "random" else f" ({apart.mean():+.3f} ± {error:.3f})"
            cells.append(number(by_way[way].mean()) + beside)
        body.append([f"{data}, {m}, {method}", *cells, len(by_way)])
    return table(["set and number", *ways, "splits"], body)


def blocks_of(file: TidyFile) -> dict[str, str]:
    """Return what is written to the page."""
    caps = [*recovery_lines(file), *cap_lines(file), *set_lines(file)]
    return {"redundancy cap": "\n".join(caps), "filling": "\n".join(filling_lines(file))}


main = Command("redundancy_cap", __doc__ or "", STUDIES, PAGE, blocks_of)


if __name__ == "__main__":
    start("experiments.redundancy_cap")
