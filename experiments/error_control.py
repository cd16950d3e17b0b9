"""False discoveries and power of `ControlledSelection` beside tests of single features.

``python -m experiments.error_control [--runs 100] [--sets copies] [--sizes 200x500] [--jobs 2]``

Each design of `experiments.designs` has known causes. A found cluster is right if one of its
members carries a cause that no other found cluster carries; a second one is a *copy*, and one
without any cause is *false*. Both count as false discoveries. Settings were chosen on other seeds.
Other methods that bound an error (`experiments.error_rivals`) have the first draws of three
designs, where their packages are installed (``pip install -r experiments/requirements.txt``).
Results go to one tidy file, and runs that are in it are not repeated. Tables are written to
``docs/inference.md``.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.command import ROOT, Command, start
from experiments.designs import DESIGNS, Draw, counted
from experiments.error_rivals import LEVEL, RIVALS, Rival
from experiments.markdown import number, table
from experiments.runner import Request
from experiments.summary import counts
from experiments.tidy import TASK_SECONDS, Row, Task, TidyFile, rows_of
from hsiclasso import (
    ControlledSelection,
    EmbeddingLasso,
    HSICLasso,
    NOCCOLasso,
    SelectByTest,
)

PAGE = ROOT / "docs" / "inference.md"
#: Seed of the first draw; smaller ones served to choose settings.
FIRST_SEED = 1_000_000
#: Finds clusters of columns.
Finder = Callable[[Draw], list[list[int]]]


@dataclass(frozen=True)
class Method:
    """A way to select with a bound on false discoveries."""

    find: Finder
    #: Draws; None for as many as the study has.
    runs: int | None = None
    #: Designs; None for all.
    sets: tuple[str, ...] | None = None
    #: Sizes; None for those of the designs.
    sizes: tuple[tuple[int, int], ...] | None = None

    @property
    def missing(self) -> str | None:
        """Say which package is not installed, if one is needed."""
        return self.find.missing() if isinstance(self.find, Rival) else None


@dataclass(frozen=True)
class Controlled:
    """`ControlledSelection` around a selector."""

    selector: Callable[..., object]

    def __call__(self, draw: Draw) -> list[list[int]]:
        """Return the found clusters."""
        own = ControlledSelection(self.selector(n_jobs=1), LEVEL, n_jobs=1).fit(draw.X, draw.y)
        clusters = own.result_.clusters
        return [[one.index, *(member.index for member in one.members)] for one in clusters]


def marginal(draw: Draw) -> list[list[int]]:
    """Benjamini-Hochberg on the test of each feature alone."""
    found = SelectByTest(mode="fdr", level=LEVEL, n_jobs=1).fit(draw.X, draw.y).selected_
    return [[int(k)] for k in found]


_FEW = ((200, 500),)
_MORE = ((200, 500), (100, 500), (500, 500), (1000, 500), (200, 5000))
SIZES = dict.fromkeys(DESIGNS, _FEW) | {"AR(.5) null": _MORE, "copies": _MORE}
#: Designs on which the others are compared.
SHARED = ("null", "copies", "AR(.7) chain")
OWN, SINGLE = ("HSIC Lasso", "NOCCO Lasso", "Embedding Lasso"), "each feature alone"
METHODS = {
    "HSIC Lasso": Method(Controlled(HSICLasso)),
    "NOCCO Lasso": Method(Controlled(NOCCOLasso), runs=20),
    "Embedding Lasso": Method(Controlled(EmbeddingLasso)),
    SINGLE: Method(marginal, runs=40),
} | {name: Method(rival, 10, SHARED, _FEW) for name, rival in RIVALS.items()}


@dataclass(frozen=True, eq=False)
class ErrorStudy:
    """Methods on draws of the designs."""

    name = "error control"
    methods = METHODS
    sets = tuple(DESIGNS)
    runs = 100
    timed = False

    def candidates(self, request: Request) -> Iterator[tuple[Task, str | None]]:
        """Yield every size of every design with every method."""
        for data, sizes in SIZES.items():
            for n, d in sizes:
                for name, method in self.methods.items():
                    served = method.sets is None or data in method.sets
                    served &= (n, d) in (method.sizes or sizes)
                    if served:
                        yield Task(self.name, data, name, n, d, 0), method.missing

    def perform(self, task: Task, folder: Path) -> list[Row]:
        """Select on one draw, and count."""
        seed = FIRST_SEED + 10 * (task.n + task.d) + 100_000 * task.run
        draw = DESIGNS[task.data](task.n, task.d, np.random.default_rng(seed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # fewer features than asked for
            found = self.methods[task.method].find(draw)
        result = counted(draw.origin, found)
        values = [
            ("distinct", result.distinct),
            ("copies", result.copies),
            ("false", result.false),
            ("fdp", result.fdp),
        ]
        return rows_of(task, seed, [(len(found), name, float(value)) for name, value in values])


STUDY = ErrorStudy()


def lines_of(frame: pd.DataFrame) -> list[str]:
    """Table of the page: false discovery rate, and what is found; then which bounds are broken."""
    frame = frame[frame["method"].isin([*OWN, SINGLE])].astype({"value": float})
    if frame.empty:
        return []
    methods = [name for name in METHODS if name in set(frame["method"])]
    body = []
    for data, n, d, rows in _cells(frame):
        cells = [_cell(rows[rows["method"] == name]) for name in methods]
        body.append([f"{data}, {n} x {d:,}", _causes(data), *cells])
    words = (
        f"False discovery rate (standard error) / distinct causes found + copies; level {LEVEL}:"
    )
    head = [
        "design, n x d",
        "causes",
        *(f"{name}, {_draws(frame, name)} draws" for name in methods),
    ]
    return [words, "", *table(head, body), *_bounds(frame)]


def rival_lines(frame: pd.DataFrame) -> list[str]:
    """Table of the other methods, and ours on the same draws."""
    others = frame[frame["method"].isin(list(RIVALS))]
    if others.empty:
        return []
    methods = [*OWN[::2], *(name for name in RIVALS if name in set(others["method"]))]
    runs = others.groupby("method")["run"].max().min()
    frame = frame[frame["method"].isin(methods) & frame["data"].isin(SHARED)]
    frame = frame[(frame["run"] <= runs) & (frame["n"] == 200) & (frame["d"] == 500)]
    frame = frame.astype({"value": float})
    designs = list(_cells(frame))
    body = [
        [
            name,
            *(_cell(rows[rows["method"] == name]) for *_, rows in designs),
            _seconds(frame, name),
        ]
        for name in methods
    ]
    draws = counts(frame.groupby(["data", "method"])["run"].nunique())
    words = (
        f"The same figures, level {LEVEL}, {draws} draws, all methods on the same; median seconds "
        "of a draw on one core, of a machine that did other work:"
    )
    head = ["method", *(f"{data}, {n} x {d}" for data, n, d, _ in designs), "seconds"]
    return [words, "", *table(head, body)]


def _cells(frame: pd.DataFrame) -> Iterator[tuple[str, int, int, pd.DataFrame]]:
    """Yield the results of every design and size that has any."""
    for data in DESIGNS:
        for n, d in SIZES[data]:
            rows = frame[(frame["data"] == data) & (frame["n"] == n) & (frame["d"] == d)]
            if len(rows):
                yield data, n, d, rows


def _draws(frame: pd.DataFrame, method: str) -> str:
    return counts(frame[frame["method"] == method].groupby(["data", "n", "d"])["run"].nunique())


def _seconds(frame: pd.DataFrame, method: str) -> str:
    rows = frame[(frame["method"] == method) & (frame["metric"] == TASK_SECONDS)]
    return f"{rows['value'].median():.2g}"


def _bounds(frame: pd.DataFrame) -> list[str]:
    """Say where the false discovery rate is above its bound, and how often copies are resolved."""
    broken, clean = [], []
    for data, n, d, rows in _cells(frame):
        for name in OWN:
            values = _values(rows[rows["method"] == name])
            if values.empty:
                continue
            fdp = values["fdp"]
            if len(fdp) > 1 and fdp.mean() > LEVEL + 2 * fdp.std(ddof=1) / np.sqrt(len(fdp)):
                broken.append(f"{name} on {data}, {n} x {d:,}")
            if data == "copies" and (n, d) == (500, 500):
                perfect = (values["distinct"] == 4) & (values["fdp"] == 0)
                clean.append(f"{name} {perfect.sum()} of {len(perfect)}")
    lines = [
        f"False discovery rate of our selectors above {LEVEL} by more than two standard errors: "
        f"{'; '.join(broken) or 'nowhere'}."
    ]
    if clean:
        lines.append(
            "Draws of the copies, 500 x 500, with all four causes and nothing else: "
            f"{', '.join(clean)}."
        )
    return lines


def _values(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one line for each draw, and a column for each number."""
    return rows.pivot(index="run", columns="metric", values="value")


def _cell(rows: pd.DataFrame) -> str:
    if rows.empty:
        return "---"
    values = _values(rows)
    fdp, mean = values["fdp"], values.mean()
    error = fdp.std(ddof=1) / np.sqrt(len(fdp)) if len(fdp) > 1 else np.nan
    found = f"{number(mean['distinct'], 2)} + {number(mean['copies'], 2)}"
    return f"{number(mean['fdp'], 3)} ({number(error, 3)}) / {found}"


def _causes(data: str) -> str:
    origin = DESIGNS[data](30, 500, np.random.default_rng(0)).origin
    return str(np.unique(origin[origin >= 0]).size)


def blocks_of(file: TidyFile) -> dict[str, str]:
    """Everything that is written to the page."""
    frame = file.frame(STUDY.name)
    return {
        "error control": "\n".join(lines_of(frame)),
        "error control, others": "\n".join(rival_lines(frame)),
    }


main = Command("error_control", __doc__ or "", {STUDY.name: STUDY}, PAGE, blocks_of)


if __name__ == "__main__":
    start("experiments.error_control")
