"""The solvers side by side, against peers on the explicit problem, and the cost of a grid.

``python -m benchmarks.solvers [--data NAME ...] [--repeats 3] [--small] [--out FILE]``

The problem is the non-negative lasso on the design A whose columns are centred Gram matrices of
the features, against that of the target. The design has a row for every pair of samples i <= j,
off-diagonal entries times the square root of 2: the same G and b as with all pairs, at half the
cost for the peers. The time to make it is never counted. A method is run with ever smaller
tolerances until the relative duality gap of its weights, computed here in one way for all, is at
most 1e-8; the time of that run alone counts. Every method has a process of its own for each data
set, which warms up on a few columns. Penalties are those at which the exact path has the given
number of features. Wall and CPU seconds are medians over the runs.

- *explicit*: from that design; for our solvers b = A't and those entries of G they ask for, for
  peers their whole fit, which checks the design;
- *raw*: our solver from the raw table: the pass for b, factors and entries of G, no design;
- *tol*: the peer's tolerance, or `gram_error` for *raw*: the largest power of ten with a
  gap of at most 1e-8;
- *gap*: (primal - dual) / half the squared norm of the target, over the dense design; for a grid
  the largest of its 50 solutions;
- *grid*: 50 penalties in geometric progression from the largest useful one down, *one*: a cold
  solve at the last, *scan*: the pass before either. The homotopy's path has all solutions: its
  grid is the path, read off at the penalties;
- BLAS has one thread, for all; *raw* uses all cores over columns, as the selectors do.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from statistics import median

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.apart import call_apart, say
from benchmarks.explicit import Explicit, Instance
from benchmarks.job import DATA, Job, load
from benchmarks.report import Measured, Page, Row
from benchmarks.timing import timed
from hsiclasso import solvers as hs

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
#: Columns that are kept for a quick look.
_FEW = 500
#: Columns that a process warms up on, and the features it selects of them.
_WARM_COLUMNS, _WARM_SIZE = 200, 3
#: Epochs allowed to scikit-learn and working sets to the others: the tolerance should stop them.
_MAX_EPOCHS, _MAX_SETS = 100_000, 1000
#: Seconds after which a process is given up.
_LIMIT = 240


@dataclass(frozen=True)
class Task:
    """What one process measures: a method on a data set, for every number of features."""

    data: str
    columns: int | None  #: how many random columns to keep; None for all
    way: str  #: "explicit", "raw" or "grid"
    method: str  #: one of our solvers or a peer
    repeats: int


@dataclass(frozen=True)
class Timing:
    """One line of the table: medians over the runs."""

    data: str
    d: int
    n_features: int
    method: str
    way: str
    tol: float | None  #: tolerance it ran with, if it takes one
    wall: float  #: seconds
    cpu: float  #: seconds of all threads
    gap: float | None = None  #: relative duality gap of the weights
    n_nonzero: int = 0  #: weights that are not zero
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


def _ours_explicit(solver: str) -> Callable:
    def fit(instance: Instance, alpha: float, tol: float | None):
        return instance.solve(Explicit(*instance.explicit), alpha, solver).coefficients()

    return fit


def _ours_raw(solver: str) -> Callable:
    def fit(instance: Instance, alpha: float, tol: float | None):
        return instance.solve(instance.problem(tol), alpha, solver).coefficients()

    return fit


def _peer(name: str) -> Callable:
    module = "sklearn.linear_model" if name == "scikit-learn" else name
    more = {"max_iter": _MAX_SETS}
    if name == "scikit-learn":
        more = {"max_iter": _MAX_EPOCHS, "precompute": False}

    def fit(instance: Instance, alpha: float, tol: float | None):
        design, target = instance.explicit
        options = {"positive": True, "fit_intercept": False, "tol": tol, **more}
        lasso = import_module(module).Lasso(alpha / len(target), **options)
        return lasso.fit(design, target).coef_

    return fit


def perform(given: dict) -> Iterator[Timing]:
    """Carry out a task, given as a dictionary; yield what was measured as soon as it is."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield from _perform(Task(**given))


def _perform(task: Task) -> Iterator[Timing]:
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
    if task.method in _PEERS:
        return _peer(task.method), _PEER_TOLS
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
        runs = [timed(fit, instance, alpha, tol)]
        weights = runs[0][0]
        found = Timing(
            task.data, instance.X.shape[1], size, task.method, task.way, tol, *runs[0][1:],
            instance.gap(weights, alpha), int(np.count_nonzero(weights)),
        )  # fmt: skip
        if not found.solved:
            yield found
            continue
        runs += [timed(fit, instance, alpha, tol) for _ in range(task.repeats - 1)]
        yield replace(found, **_medians(runs))
        return


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
            scans.append(timed(instance.problem))
            problem = scans[-1][0]
            solves[way].append(timed(_solve_grid, instance, problem, asked, task.method))
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


def run_apart(task: Task) -> list[Timing]:
    """Carry a task out in a process of its own, which is given up after a while."""
    say(f"{task.method}, {task.way}, on {task.data}")
    call = ("benchmarks.solvers", "perform", asdict(task))
    found = [Timing(**one) for one in call_apart(*call, limit=_LIMIT)]
    for one in found:
        say("    " + " | ".join(one.cells()[2:]))
    return found


def measure(chosen: argparse.Namespace) -> Iterator[list[Row | Measured]]:
    """Measure everything, one data set after the other."""
    for data in chosen.data:
        if data != "data2" and not (DATA / f"{data}.npz").exists():
            yield [Row(data, "all methods", note=f"skipped: {data}.npz is not in the data folder")]
            continue
        methods = [(way, solver) for way in (_EXPLICIT, _RAW, _GRID) for solver in _SOLVERS]
        methods += [(_EXPLICIT, peer) for peer in _installed()]
        columns = _FEW if chosen.small else None
        tasks = [Task(data, columns, *method, chosen.repeats) for method in methods]
        found = [timing for task in tasks for timing in run_apart(task)]
        # of a ladder of tolerances, the last
        last = {(t.n_features, t.method, t.way): t for t in found}
        yield [*_races(found), *_grids(found), *last.values()]


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
    """Ratio of two times to the gap: infinite if ours never reaches it, none if a peer does not."""
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
    """Return the last timing of a kind; if a tolerance sufficed, it is that one's."""
    alike = [t for t in found if (t.method, t.way, t.n_features) == (method, way, size)]
    return alike[-1] if alike else None


PAGE = Page(
    "Solvers", "solvers.json", __doc__, measure,
    ("data", "d", "features", "method", "way", "tol", "wall s", "CPU s", "gap", "not zero", "runs"),
    {"--data": {"nargs": "+", "choices": _SHAPES, "default": list(_SHAPES)}},
)  # fmt: skip

if __name__ == "__main__":
    raise SystemExit(PAGE.main())
