"""False discoveries and power of `ControlledSelection` beside tests of single features.

``python -m experiments.error_control [--runs 100] [--sets copies "AR(.7) chain"] [--jobs 2]``

Each design of `experiments.designs` has known causes. A found cluster is right if one of its
members carries a cause that no other found cluster carries; a second one is a *copy*, and one
without any cause is *false*. Both count as false discoveries. Settings were chosen on other seeds.
Results go to one tidy file, and runs that are in it are not repeated. Tables are written to
``docs/inference.md``.
"""

import argparse
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import cpu_count

from experiments.datasets import add_data_option
from experiments.designs import DESIGNS, Draw, counted
from experiments.markdown import fill, number, table
from experiments.runner import Request, announce, plan, run, tell
from experiments.tidy import Row, Task, TidyFile, rows_of
from hsiclasso import (
    ControlledSelection,
    EmbeddingLasso,
    HSICLasso,
    NOCCOLasso,
    SelectByTest,
)

ROOT = Path(__file__).resolve().parents[1]
OUT, PAGE = ROOT / "experiments" / "results", ROOT / "docs" / "inference.md"
#: Seed of the first draw; smaller ones served to choose settings.
FIRST_SEED = 1_000_000
LEVEL = 0.1

#: Finds clusters of columns.
Finder = Callable[[Draw], list[list[int]]]


@dataclass(frozen=True)
class Method:
    """A way to select with a bound on false discoveries."""

    find: Finder
    #: Draws; None for as many as the study has.
    runs: int | None = None

    def missing(self, kind: str) -> str | None:
        """Serve every kind of target."""
        return None


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


METHODS = {
    "HSIC Lasso": Method(Controlled(HSICLasso)),
    "NOCCO Lasso": Method(Controlled(NOCCOLasso), runs=20),
    "Embedding Lasso": Method(Controlled(EmbeddingLasso)),
    "each feature alone": Method(marginal, runs=40),
}
_FEW, _MORE = ((200, 500),), ((200, 500), (100, 500), (500, 500), (200, 5000))
SIZES = dict.fromkeys(DESIGNS, _FEW) | {"AR(.5) null": _MORE, "copies": _MORE}


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
                for method in self.methods:
                    yield Task(self.name, data, method, n, d, 0), None

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
    """Tables of the page: false discovery rate, and what is found."""
    if frame.empty:
        return []
    frame = frame.astype({"value": float})
    methods = [name for name in METHODS if name in set(frame["method"])]
    head, body = ["design, n x d", "causes", *methods], []
    for data in DESIGNS:
        for n, d in SIZES[data]:
            rows = frame[(frame["data"] == data) & (frame["n"] == n) & (frame["d"] == d)]
            if rows.empty:
                continue
            cells = [_cell(rows[rows["method"] == name]) for name in methods]
            body.append([f"{data}, {n} x {d:,}", _causes(data), *cells])
    draws = frame.groupby(["data", "method", "n", "d"])["run"].nunique()
    words = (
        f"False discovery rate (standard error) / distinct causes found + copies; level {LEVEL}, "
        f"{draws.min()} to {draws.max()} draws:"
    )
    return [words, "", *table(head, body)]


def _cell(rows: pd.DataFrame) -> str:
    if rows.empty:
        return "---"
    mean = rows.groupby("metric")["value"].mean()
    fdp = rows[rows["metric"] == "fdp"]["value"]
    error = fdp.std(ddof=1) / np.sqrt(len(fdp)) if len(fdp) > 1 else np.nan
    found = f"{number(mean['distinct'], 2)} + {number(mean['copies'], 2)}"
    return f"{number(mean['fdp'], 3)} ({number(error, 3)}) / {found}"


def _causes(data: str) -> str:
    origin = DESIGNS[data](30, 500, np.random.default_rng(0)).origin
    return str(np.unique(origin[origin >= 0]).size)


def main(arguments: list[str] | None = None) -> int:
    """Run what is missing, and write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.error_control", description=__doc__.split("\n\n")[0]
    )
    parser.add_argument("--runs", type=int, help="draws (default: 100)")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="only these methods")
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="only these designs")
    parser.add_argument("--jobs", type=int, default=cpu_count(), help="processes")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the results")
    parser.add_argument("--page", type=Path, default=PAGE, help="page that gets the tables")
    add_data_option(parser)
    chosen = parser.parse_args(arguments)
    chosen.out.mkdir(parents=True, exist_ok=True)
    file = TidyFile(chosen.out / "error_control.csv.gz")
    methods, sets = (tuple(x) if x else None for x in (chosen.methods, chosen.sets))
    failures, code = [], 0
    try:
        work = plan(STUDY, Request(chosen.runs, methods, sets, chosen.data), file)
        announce([work], file, chosen.jobs)
        failures = run(work, file, chosen.jobs)
    except KeyboardInterrupt:
        tell("interrupted; what is done is saved. The same command goes on from here.")
        code = 130
    fill(chosen.page, {"error control": "\n".join(lines_of(file.frame(STUDY.name)))})
    return code or (1 if failures else 0)


if __name__ == "__main__":
    from experiments.error_control import main as run_from_module  # for other processes

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(run_from_module())
