"""The solvers side by side, against peers on the explicit problem, and the cost of a grid.

``python -m benchmarks.solvers [--data NAME ...] [--repeats R] [--out FILE]``

The problem is the non-negative lasso on the design A whose columns are centred Gram matrices of
the features, against that of the target. A method is run with ever smaller tolerances until the
relative duality gap of its weights, computed here in one way for all, is at most 1e-8; the time
of that run alone counts. Every method has a process of its own for each data set, which warms up
on a few columns; see `_NOTES` for what is counted.
"""

import argparse
import contextlib
import io
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import threadpool_limits

from benchmarks.job import DATA, Job, load
from benchmarks.report import Row, environment, table
from benchmarks.runner import ROOT
from hsiclasso import as_source
from hsiclasso import solvers as hs
from hsiclasso.dependence import Features, Problem, relate
from hsiclasso.kernels import HSIC, Gaussian, Samples
from hsiclasso.targets import Auto

_OUT = ROOT / "benchmarks" / "results" / "solvers.json"
_SHAPES = {"data2": (100, 10_000), "orlraws10P": (100, 10_304)}
_SIZES = (10, 50)
_SOLVERS = ("homotopy", "cd", "dal")
_PEERS = {"scikit-learn": "sklearn", "celer": "celer", "skglm": "skglm"}
_EXPLICIT, _RAW, _GRID = "explicit", "raw", "grid"

#: Relative duality gap that counts as solved.
_GAP = 1e-8
_PEER_TOLS = tuple(float(f"1e-{k}") for k in range(3, 15))
_GRAM_ERRORS = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
_N_GRID = 50
#: Columns that a process warms up on, and the features it selects of them.
_WARM_COLUMNS, _WARM_SIZE = 200, 3
#: Epochs allowed to scikit-learn and working sets to the others: the tolerance should stop them.
_MAX_EPOCHS, _MAX_SETS = 100_000, 1000
#: Seconds after which a process is given up.
_LIMIT = 240

_NOTES = f"""\
Wall and CPU seconds, medians over the runs. The explicit design has a row for every pair of
samples i <= j, off-diagonal entries times the square root of 2: the same G and b as with all
pairs, at half the cost for the peers. Making it is counted for nobody. Penalties are those at
which the exact path has the given number of features.

- *explicit*: from that design; for our solvers b = A't and those entries of G they ask for, for
  peers their whole fit, which checks the design;
- *raw*: our solver from the raw table: the pass for b, factors and entries of G, no design;
- *tol*: the peer's tolerance, or `gram_error` for *raw*: the largest power of ten with a
  gap of at most {_GAP:g};
- *gap*: (primal - dual) / half the squared norm of the target, over the dense design; for a grid
  the largest of its {_N_GRID} solutions;
- *grid*: {_N_GRID} penalties in geometric progression from the largest useful one down, *one*: a
  cold solve at the last, *scan*: the pass before either. The homotopy's path has all solutions:
  its grid is the path, read off at the penalties;
- BLAS has one thread, for all; *raw* uses all cores over columns, as the selectors do."""


@dataclass(frozen=True)
class Task:
    """What one process measures: a method on a data set, for every number of features.

    Attributes
    ----------
    data : str
    columns : int or None
        Random columns to keep; None for all.
    way : str
        ``"explicit"``, ``"raw"`` or ``"grid"``.
    method : str
        One of our solvers or a peer.
    repeats : int
    """

    data: str
    columns: int | None
    way: str
    method: str
    repeats: int


@dataclass(frozen=True)
class Timing:
    """One line of the table: medians over the runs.

    Attributes
    ----------
    data : str
    d, n_features : int
    method, way : str
    tol : float or None
        Tolerance it ran with, if it takes one.
    wall, cpu : float
        Seconds; CPU seconds count every thread.
    gap : float or None
        Relative duality gap of the weights.
    n_nonzero : int
        Weights that are not zero.
    runs : int
    """

    data: str
    d: int
    n_features: int
    method: str
    way: str
    tol: float | None
    wall: float
    cpu: float
    gap: float | None = None
    n_nonzero: int = 0
    runs: int = 1

    @property
    def solved(self) -> bool:
        """Whether the gap is small enough."""
        return self.gap is not None and self.gap <= _GAP

    def cells(self) -> list[str]:
        """Return the line as text."""
        sizes = [self.data, f"{self.d}", f"{self.n_features}"]
        tol = "" if self.tol is None else f"{self.tol:.0e}"
        gap = "" if self.gap is None else f"{self.gap:.1e}"
        found = "" if self.gap is None else f"{self.n_nonzero}"
        times = [f"{self.wall:.3f}", f"{self.cpu:.3f}"]
        return [*sizes, self.method, self.way, tol, *times, gap, found, f"{self.runs}"]


#: Columns that the explicit problem can keep together; more than any solver asks for here.
_MOST_KEPT = 2000


class Explicit:
    """The explicit problem, as a solver sees it: entries of G = A'A when asked for.

    Parameters
    ----------
    design : ndarray of shape (n_pairs, d), in Fortran order
    target : ndarray of shape (n_pairs,)
    """

    def __init__(self, design, target) -> None:
        self._columns = design.T  # contiguous, one after the other
        self._diagonal: dict[int, float] = {}
        self._place: dict[int, int] = {}
        self._kept = np.empty((min(_MOST_KEPT, design.shape[1]), design.shape[0]))
        self.linear = self._columns @ target
        self.target_norm2 = float(target @ target)

    def diagonal(self, rows):
        """Return G[k, k] for the given k."""
        for k in set(rows.tolist()) - self._diagonal.keys():
            self._diagonal[k] = float(self._columns[k] @ self._columns[k])
        return np.array([self._diagonal[k] for k in rows.tolist()])

    def block(self, rows, cols):
        """Return G[rows][:, cols].

        A solver asks for the same `cols` again and again: they are kept together, uncopied.
        """
        for k in cols.tolist():
            if k not in self._place:
                self._place[k] = len(self._place)
                self._kept[self._place[k]] = self._columns[k]
        places = np.array([self._place[k] for k in cols.tolist()])
        in_a_row = (np.diff(places) == 1).all()
        kept = self._kept[places[0] : places[-1] + 1] if in_a_row else self._kept[places]
        return self._columns[rows] @ kept.T


class Instance:
    """A data set with the problems that are made of it."""

    def __init__(self, X, y) -> None:
        self.X, self.y = X, y
        self.prepared = Auto().prepare(y, len(X))
        self.penalty = hs.Penalty.lasso(X.shape[1])

    def problem(self, gram_error: float = 1e-6) -> Problem:
        """Make the problem from the raw table, as the selectors do."""
        measure, samples, d = HSIC(), Samples(len(self.X)), self.X.shape[1]
        source = as_source(self.X)
        features = Features(source, (Gaussian(),), samples, np.arange(d), gram_error=gram_error)
        target = self.prepared.data.matrix(measure, samples, error=gram_error, n_features=d)
        return relate(features, target, measure, n_threads=effective_n_jobs(-1))

    def solve(self, problem, alpha: float, solver: str, alphas=None) -> hs.Path:
        """Solve a problem down to a penalty."""
        stop = hs.Stop(alpha=alpha)
        return hs.solve_path(problem, self.penalty, stop, solver=solver, alphas=alphas)

    def alpha(self, n_features: int) -> float:
        """Penalty at which the exact path has so many features."""
        stop = hs.Stop(max_features=n_features)
        return float(hs.solve_path(self.problem(), self.penalty, stop, solver="homotopy").alpha)

    def few(self, n_columns: int) -> "Instance":
        """Return the data set with its first columns only."""
        return Instance(self.X[:, :n_columns], self.y)

    @cached_property
    def explicit(self):
        """The explicit design, of shape (n_pairs, d) in Fortran order, and its target."""
        columns = np.array([_half(_gaussian_gram(x)) for x in self.X.T.astype(float)])
        if self.prepared.target.name == "classes":
            same = self.y[:, None] == self.y
            return columns.T, _half(same / same.sum(axis=1))
        return columns.T, _half(_gaussian_gram(self.prepared.data.values[0]))

    def gap(self, weights, alpha: float) -> float:
        """Duality gap of the positive lasso, relative to half the target's squared norm.

        The dual point is the residual, scaled so that no correlation exceeds the penalty.
        """
        design, target = self.explicit
        residual = target - design @ weights
        scale = min(1.0, alpha / float((design.T @ residual).max()))
        primal = 0.5 * residual @ residual + alpha * weights.sum()
        missed = target - scale * residual
        dual = 0.5 * target @ target - 0.5 * missed @ missed
        return max(float((primal - dual) / (0.5 * target @ target)), 0.0)


def _gaussian_gram(x):
    spread = x.std()
    z = (x - x.mean()) / spread if spread > 0 else np.zeros_like(x)
    return np.exp(-0.5 * (z[:, None] - z) ** 2)


def _half(gram):
    """Centred matrix as a vector of its upper half, with the inner products of the whole."""
    mean = gram.mean(axis=0)
    centred = gram - mean - mean[:, None] + mean.mean()
    pairs, scales = _pairs(len(gram))
    return centred.ravel()[pairs] * scales


@cache
def _pairs(n: int):
    """Positions of the upper half of an n x n matrix, and the scales of its entries."""
    i, j = np.triu_indices(n)
    return n * i + j, np.where(i == j, 1.0, np.sqrt(2.0))


def _ours_explicit(solver: str) -> Callable:
    def fit(instance: Instance, alpha: float, tol: float | None):
        return instance.solve(Explicit(*instance.explicit), alpha, solver).coefficients()

    return fit


def _ours_raw(solver: str) -> Callable:
    def fit(instance: Instance, alpha: float, tol: float | None):
        return instance.solve(instance.problem(tol), alpha, solver).coefficients()

    return fit


def _sklearn(instance: Instance, alpha: float, tol: float | None):
    from sklearn.linear_model import Lasso

    design, target = instance.explicit
    options = {"positive": True, "fit_intercept": False, "precompute": False}
    peer = Lasso(alpha / len(target), tol=tol, max_iter=_MAX_EPOCHS, **options)
    return peer.fit(design, target).coef_


def _celer(instance: Instance, alpha: float, tol: float | None):
    from celer import Lasso

    design, target = instance.explicit
    options = {"positive": True, "fit_intercept": False, "max_iter": _MAX_SETS}
    peer = Lasso(alpha / len(target), tol=tol, **options)
    return peer.fit(design, target).coef_


def _skglm(instance: Instance, alpha: float, tol: float | None):
    from skglm import Lasso

    design, target = instance.explicit
    options = {"positive": True, "fit_intercept": False, "max_iter": _MAX_SETS}
    peer = Lasso(alpha / len(target), tol=tol, **options)
    return peer.fit(design, target).coef_


_PEER_FITS = {"scikit-learn": _sklearn, "celer": _celer, "skglm": _skglm}


def perform(task: Task) -> Iterator[Timing]:
    """Carry a task out, yielding what was measured as soon as it is."""
    n, d = _SHAPES[task.data]
    instance = Instance(*load(Job("", n, d, data=task.data, columns=task.columns)))
    if task.way == _GRID:
        yield from _perform_grid(task, instance)
        return
    fit, tols = _fit_of(task)
    small = instance.few(_WARM_COLUMNS)
    fit(small, small.alpha(_WARM_SIZE), tols[0])
    for size in _SIZES:
        yield from _climb_down(task, instance, size, fit, tols)


def _fit_of(task: Task) -> tuple[Callable, tuple[float | None, ...]]:
    """Return a function of instance, penalty and tolerance, and the tolerances to try."""
    if task.method in _PEER_FITS:
        return _PEER_FITS[task.method], _PEER_TOLS
    if task.way == _RAW:
        return _ours_raw(task.method), _GRAM_ERRORS
    return _ours_explicit(task.method), (None,)


def _climb_down(
    task: Task, instance: Instance, size: int, fit: Callable, tols: tuple[float | None, ...]
) -> Iterator[Timing]:
    """Lower the tolerance until the gap is small enough; that run is repeated."""
    alpha = instance.alpha(size)
    _ = instance.explicit  # making it is counted for nobody
    for tol in tols:
        runs = [_timed(fit, instance, alpha, tol)]
        weights = runs[0][0]
        found = Timing(
            task.data, instance.X.shape[1], size, task.method, task.way, tol, *runs[0][1:],
            instance.gap(weights, alpha), int(np.count_nonzero(weights)),
        )  # fmt: skip
        if not found.solved:
            yield found
            continue
        runs += [_timed(fit, instance, alpha, tol) for _ in range(task.repeats - 1)]
        yield replace(found, **_medians(runs))
        return


def _timed(work: Callable, *arguments) -> tuple:
    """Return what some work returns, its wall seconds and its CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    outcome = work(*arguments)
    return outcome, time.perf_counter() - wall, time.process_time() - cpu


def _medians(runs: list[tuple]) -> dict[str, float]:
    wall, cpu = median(run[1] for run in runs), median(run[2] for run in runs)
    return {"wall": wall, "cpu": cpu, "runs": len(runs)}


def _perform_grid(task: Task, instance: Instance) -> Iterator[Timing]:
    """Measure the pass, a grid after it, and one cold solve at the grid's end after it."""
    size = _SIZES[-1]
    alpha = instance.alpha(size)
    top = hs.largest_alpha(instance.problem(), instance.penalty)
    grid = np.geomspace(top, alpha, _N_GRID)
    grid[-1] = alpha
    penalties = {"grid": grid, "one": grid[-1:]}
    small = instance.few(_WARM_COLUMNS)
    small.solve(small.problem(), small.alpha(_WARM_SIZE), task.method)
    scans, solves = [], {way: [] for way in penalties}
    for _ in range(task.repeats):
        for way, asked in penalties.items():
            scans.append(_timed(instance.problem))
            problem = scans[-1][0]
            solves[way].append(_timed(_solve_grid, instance, problem, asked, task.method))
    start = Timing(task.data, instance.X.shape[1], size, task.method, "scan", None, 0.0, 0.0)
    yield replace(start, **_medians(scans))
    for way, runs in solves.items():
        solutions = runs[0][0]
        gap = max(map(instance.gap, solutions, penalties[way]))
        found = {"way": way, "gap": gap, "n_nonzero": int(np.count_nonzero(solutions[-1]))}
        yield replace(start, **found, **_medians(runs))


def _solve_grid(instance: Instance, problem, grid, solver: str) -> list:
    """Return the solutions at falling penalties."""
    path = instance.solve(problem, float(grid[-1]), solver, alphas=grid)
    if not path.exact:
        return [path.coefficients(step) for step in range(len(grid))]
    alphas = path.alphas
    below = np.clip(np.searchsorted(-alphas, -grid), 1, alphas.size - 1)
    lengths = alphas[below - 1] - alphas[below]
    shares = (alphas[below - 1] - grid) / np.where(lengths > 0, lengths, 1.0)
    return [
        (1 - share) * path.coefficients(step - 1) + share * path.coefficients(step)
        for step, share in zip(below, shares, strict=True)
    ]


def measure(task: Task) -> list[Timing]:
    """Carry a task out in a process of its own, which is given up after a while."""
    print(f"{task.method}, {task.way}, on {task.data}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "benchmarks.solvers", "--task", json.dumps(asdict(task))]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, check=False, timeout=_LIMIT, text=True
        )
    except subprocess.TimeoutExpired as late:
        lines = (late.stdout or b"").decode().splitlines()
    else:
        if done.returncode:
            raise RuntimeError(f"{command} failed:\n{done.stderr}")
        lines = done.stdout.splitlines()
    found = [Timing(**json.loads(line)) for line in lines]
    for one in found:
        print("    " + " | ".join(one.cells()[2:]), file=sys.stderr, flush=True)
    return found


def _work(task: Task) -> None:
    """Carry a task out in this process, printing a line of JSON for everything measured."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        warnings.catch_warnings(),
        threadpool_limits(limits=1, user_api="blas"),
    ):
        warnings.simplefilter("ignore")
        for found in perform(task):
            print(json.dumps(asdict(found)), file=sys.__stdout__, flush=True)


def run(data: str, columns: int | None, repeats: int) -> tuple[list[Row], list[Timing]]:
    """Measure everything on one data set."""
    if data != "data2" and not (DATA / f"{data}.npz").exists():
        return [Row(data, "all methods", note=f"skipped: {data}.npz is not in the data folder")], []
    tasks = [Task(data, columns, way, solver, repeats)
             for way in (_EXPLICIT, _RAW, _GRID) for solver in _SOLVERS]  # fmt: skip
    tasks += [Task(data, columns, _EXPLICIT, peer, repeats) for peer in _installed()]
    found = [timing for task in tasks for timing in measure(task)]
    return [*_races(found), *_grids(found)], found


def _installed() -> list[str]:
    return [peer for peer, module in _PEERS.items() if find_spec(module) is not None]


def _races(found: list[Timing]) -> Iterator[Row]:
    """Our solvers against every peer; the bar is to be ahead on the explicit problem."""
    installed = _installed()
    for size in _SIZES:
        case = _case(found, size)
        for peer in _PEERS:
            if peer not in installed:
                note = f"skipped: {peer} is not installed for this interpreter"
                yield Row(case, peer, note=note)
                continue
            theirs = _last(found, peer, _EXPLICIT, size)
            for way in (_EXPLICIT, _RAW):
                for solver in _SOLVERS:
                    what = f"{solver}, {way} / {peer}, wall"
                    row = _race(case, what, _last(found, solver, way, size), theirs)
                    # from the raw table is for information: the peers are given the design
                    yield row if way == _EXPLICIT else replace(row, at_most=None)


def _race(case: str, what: str, ours: Timing | None, theirs: Timing | None) -> Row:
    """Ratio of two times to the gap, infinite if ours never gets there, none if a peer does not."""
    if ours is None or not ours.solved:
        return Row(case, what, np.inf, "x", at_most=1, note=f"ours ended at {_reached(ours)}")
    if theirs is None or not theirs.solved:
        return Row(case, what, note=f"the peer ended at {_reached(theirs)}")
    return Row(case, what, ours.wall / theirs.wall, "x", at_most=1, note=_by_cpu(ours, theirs))


def _by_cpu(ours: Timing, theirs: Timing) -> str:
    """Ratio of CPU seconds, which other work on the machine disturbs less."""
    return f"CPU {ours.cpu / theirs.cpu:.2g}x"


def _reached(timing: Timing | None) -> str:
    return f"no result in {_LIMIT} s" if timing is None else f"a gap of {timing.gap:.1e}"


def _grids(found: list[Timing]) -> Iterator[Row]:
    """What a grid costs beside one solve at its end."""
    size = _SIZES[-1]
    for solver in _SOLVERS:
        scan, grid, one = (_last(found, solver, way, size) for way in ("scan", "grid", "one"))
        case, what = _case(found, size), f"{solver}, grid of {_N_GRID} / one solve at its end, wall"
        if scan is None or grid is None or one is None:
            yield Row(case, what, np.inf, "x", at_most=3, note=_reached(None))
            continue
        yield Row(case, what, grid.wall / one.wall, "x", at_most=3, note="scan in neither")
        whole = (scan.wall + grid.wall) / (scan.wall + one.wall)
        yield Row(case, what, whole, "x", at_most=3, note="scan in both")


def _case(found: list[Timing], size: int) -> str:
    data, d = found[0].data, found[0].d
    return f"{data}: n={_SHAPES[data][0]}, d={d}, {size} features"


def _last(found: list[Timing], method: str, way: str, size: int) -> Timing | None:
    """Return the last timing of a kind: with the tolerance that sufficed, if one did."""
    alike = [t for t in found if (t.method, t.way, t.n_features) == (method, way, size)]
    return alike[-1] if alike else None


def facts() -> dict[str, str]:
    """Describe what the benchmark ran on."""
    versions = {peer: metadata.version(peer) for peer in _installed()}
    return {**environment(), **versions}


def as_markdown(rows: list[Row], timings: list[Timing], judged: bool) -> str:
    """Return the two tables of a run: bars, and the time of every method."""
    stated = ", ".join(f"{name} {value}" for name, value in facts().items())
    bars = table(
        ["case", "what", "value", "bar", "verdict", "note"], [row.cells(judged) for row in rows]
    )
    sizes = ["data", "d", "features"]
    header = [*sizes, "method", "way", "tol", "wall s", "CPU s", "gap", "not zero", "runs"]
    # of a ladder of tolerances, the last
    last = {(t.data, t.n_features, t.method, t.way): t for t in timings}
    times = table(header, [timing.cells() for timing in last.values()])
    warning = "" if judged else "\nSome columns only: the bars are not judged.\n"
    return (
        f"# Solvers\n\n{stated}.\n{warning}\n## Bars\n\n{bars}\n\n## Measurements\n\n"
        f"{_NOTES}\n\n{times}\n"
    )


def save(path: Path, rows: list[Row], timings: list[Timing], judged: bool) -> None:
    """Write a run as JSON, and beside it as Markdown."""
    content = {
        "environment": facts(),
        "judged": judged,
        "rows": [{**asdict(row), "passed": row.passed} for row in rows],
        "measurements": [asdict(timing) for timing in timings],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n")
    path.with_suffix(".md").write_text(as_markdown(rows, timings, judged))


def main() -> int:
    """Parse the arguments; the exit code is 1 if a bar was missed."""
    parser = argparse.ArgumentParser(description="The solvers against peers, and along a grid.")
    parser.add_argument("--data", nargs="+", choices=_SHAPES, default=list(_SHAPES))
    parser.add_argument("--features", type=int, help="random columns to keep, for a quick look")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=_OUT)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.task:
        _work(Task(**json.loads(chosen.task)))
        return 0
    rows, timings, judged = [], [], chosen.features is None
    for data in chosen.data:
        new_rows, new_timings = run(data, chosen.features, chosen.repeats)
        rows, timings = rows + new_rows, timings + new_timings
        save(chosen.out, rows, timings, judged)
    print(as_markdown(rows, timings, judged))
    return int(judged and any(row.passed is False for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
