"""The quadratic programs of QPFS and FVM: our solvers against clarabel, PIQP and OSQP.

``python -m benchmarks.quadratic_programs [--sizes D ...] [--limit SECONDS] [--out FILE]``

Mutual information (three states) between columns of warpAR10P, at 10,000 columns of orlraws10P,
shifted to be positive semi-definite:

- *QPFS*: min (1 - g)/2 t'Dt - g d't with t >= 0 of sum 1, g = 0.5 and, where weights are many, 0;
- *FVM*: min 1/2 a'Da - d'a + l/2 |a|_1 at the penalty l with 50 weights that are not zero.

A peer is run with ever smaller tolerances until no weight differs from ours by more than 1e-6,
and the time of that run counts: wall seconds from matrices in the form that the solver takes to
the weights; for our FVM that includes a Cholesky factor of D. Ours carry a certificate: *kkt* is
the largest violation of the optimality conditions, relative to the largest entry. Every run has
a process of its own and one thread, and is given up after the limit, for all tolerances
together. *shift* is the time for the lowest eigenvalue, before any of them.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from threadpoolctl import threadpool_limits

from benchmarks.job import Job, load
from benchmarks.report import environment, table
from benchmarks.runner import ROOT
from hsiclasso.baselines.binned import BinnedInformation, cut_columns
from hsiclasso.baselines.dependency import MeasureOptions, dependency_matrix
from hsiclasso.baselines.quadratic import DenseQuadratic, make_convex
from hsiclasso.baselines.simplex import minimise_on_simplex
from hsiclasso.solvers import Path as SolutionPath
from hsiclasso.solvers import Penalty, Stop, solve_path

_OUT = ROOT / "benchmarks" / "results" / "quadratic_programs.md"
_SIZES = (500, 1000, 2400, 10_000)
_IMAGES = {"warpAR10P": (130, 2400), "orlraws10P": (100, 10_304)}
_PEERS = ("clarabel", "piqp", "osqp")
_TOLERANCES = (1e-6, 1e-8, 1e-10, 1e-12)
_AGREE = 1e-6
_FVM_FEATURES = 50
_QPFS_5, _QPFS_0, _FVM = "QPFS g=0.5", "QPFS g=0", "FVM"
#: Iterations allowed to OSQP, a method of first order; the limit should stop it.
_MAX_ITERATIONS = 1_000_000


@dataclass(frozen=True)
class Program:
    """min x'Px/2 + c'x with Ax = b and Gx <= 0; the first d entries of x are the weights.

    FVM has d bounds s on the absolute weights beside them, of which P knows nothing.
    """

    P: np.ndarray
    c: np.ndarray
    A: np.ndarray
    b: np.ndarray
    d: int

    @property
    def on_simplex(self) -> bool:
        """Whether this is the program of QPFS, with x >= 0."""
        return self.b.size > 0

    @property
    def upper(self):
        """P as a sparse upper triangle."""
        weights = sparse.csc_matrix(np.triu(self.P))
        if self.on_simplex:
            return weights
        return sparse.block_diag([weights, sparse.csc_matrix((self.d, self.d))], format="csc")

    @property
    def G(self):  # noqa: N802
        """-x <= 0, or a - s <= 0 and -a - s <= 0."""
        one = sparse.identity(self.d, format="csc")
        if self.on_simplex:
            return -one
        return sparse.bmat([[one, -one], [-one, -one]], format="csc")


@dataclass(frozen=True)
class Line:
    """What one run found."""

    seconds: float | None = None
    tol: float | None = None
    off: float | None = None
    kkt: float | None = None
    note: str = ""

    def cells(self) -> list[str]:
        """Return the line as text."""
        shown = [
            "" if value is None else f"{value:{form}}"
            for value, form in (
                (self.seconds, ".3f"), (self.tol, ".0e"), (self.off, ".1e"), (self.kkt, ".1e"),
            )
        ]  # fmt: skip
        return [*shown, self.note]


def _clarabel(program: Program, tol: float) -> Callable:
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    G = program.G
    rows = sparse.vstack([sparse.csc_matrix(program.A), G], format="csc")
    cones = [clarabel.ZeroConeT(program.b.size)] * program.on_simplex
    cones += [clarabel.NonnegativeConeT(G.shape[0])]
    P, bounds = program.upper, np.append(program.b, np.zeros(G.shape[0]))

    def run():
        solver = clarabel.DefaultSolver(P, program.c, rows, bounds, cones, settings)
        return solver.solve().x

    return run


def _piqp(program: Program, tol: float) -> Callable:
    import piqp

    dense = program.on_simplex
    solver = piqp.DenseSolver() if dense else piqp.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = tol
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = tol
    size = program.c.size
    if dense:
        P, A = np.asfortranarray(program.P), np.asfortranarray(program.A)
        arguments = (P, program.c, A, program.b, None, None, None, np.zeros(size))
    else:
        G = program.G
        arguments = (program.upper, program.c, None, None, G, None, np.zeros(G.shape[0]))

    def run():
        solver.setup(*arguments)
        solver.solve()
        return solver.result.x

    return run


def _osqp(program: Program, tol: float) -> Callable:
    import osqp

    G = program.G
    rows = sparse.vstack([sparse.csc_matrix(program.A), G], format="csc")
    upper = np.append(program.b, np.zeros(G.shape[0]))
    lower = np.append(program.b, np.full(G.shape[0], -np.inf))
    P = program.upper
    options = {"eps_abs": tol, "eps_rel": tol, "max_iter": _MAX_ITERATIONS, "polishing": True}

    def run():
        solver = osqp.OSQP()
        solver.setup(P, program.c, rows, lower, upper, verbose=False, **options)
        return solver.solve(raise_error=False).x

    return run


_RUNS = {"clarabel": _clarabel, "piqp": _piqp, "osqp": _osqp}


def make_matrices(d: int):
    """Mutual information between d pixels, and of each with the person."""
    data = "warpAR10P" if d <= _IMAGES["warpAR10P"][1] else "orlraws10P"
    n, width = _IMAGES[data]
    X, y = load(Job("", n, width, data=data, columns=None if d == width else d))
    options = MeasureOptions()
    states = cut_columns(np.ascontiguousarray(X.T, dtype=float), options)
    classes = cut_columns(np.asarray(y, dtype=float)[None], options, labels=True)
    information = BinnedInformation(states, classes, "classes", 1)
    matrix = dependency_matrix(information, lambda *now: None)
    return matrix, information.relevance


def prepare(d: int, folder: Path) -> float:
    """Save the matrices of a size; returns the seconds that the shift took."""
    matrix, relevance = make_matrices(d)
    start = time.perf_counter()
    make_convex(matrix, "auto", strictly=True)
    seconds = time.perf_counter() - start
    np.save(folder / "matrix.npy", matrix)
    np.save(folder / "relevance.npy", relevance)
    return seconds


def ours(name: str, matrix, relevance, folder: Path) -> Line:
    """Solve with our solver, and leave weights and penalty for the peers."""
    if name == _FVM:
        path = _fvm(matrix, relevance, Stop(max_features=_FVM_FEATURES))
        alpha = path.alpha
        start = time.perf_counter()
        path = _fvm(matrix, relevance, Stop(alpha=alpha))
        seconds = time.perf_counter() - start
        weights, certificate = path.coefficients(), path.certificate
    else:
        gamma = _gamma(name)
        problem, alpha = DenseQuadratic(matrix, gamma * relevance, 1 - gamma), 0.0
        start = time.perf_counter()
        solution = minimise_on_simplex(problem)
        seconds = time.perf_counter() - start
        weights, certificate = solution.weights, solution.certificate
    np.savez(folder / f"{name}.npz", weights=weights, alpha=alpha)
    found = f"{np.count_nonzero(weights)} weights"
    return Line(seconds, kkt=certificate.kkt_residual, note=found)


def _fvm(matrix, relevance, stop: Stop) -> SolutionPath:
    """Solve the lasso as `FVM` does, the squared norm of its target included."""
    factor = cho_factor(matrix, lower=True, check_finite=False)
    norm2 = float(relevance @ cho_solve(factor, relevance))
    problem = DenseQuadratic(matrix, relevance, target_norm2=norm2)
    return solve_path(problem, Penalty.lasso(relevance.size, signed=True), stop)


def peer(name: str, method: str, matrix, relevance, folder: Path) -> Line:
    """Run a peer with ever smaller tolerances until it agrees with ours."""
    d = relevance.size
    with np.load(folder / f"{name}.npz") as stored:
        weights, alpha = stored["weights"], float(stored["alpha"])
    if name == _FVM:
        cost = np.append(-relevance, np.full(d, alpha))
        program = Program(matrix, cost, np.zeros((0, 2 * d)), np.zeros(0), d)
    else:
        gamma = _gamma(name)
        program = Program((1 - gamma) * matrix, -gamma * relevance, np.ones((1, d)), np.ones(1), d)
    line = Line()
    for tol in _TOLERANCES:
        run = _RUNS[method](program, tol)
        start = time.perf_counter()
        found = run()
        seconds = time.perf_counter() - start
        off = float(np.abs(np.array(found)[:d] - weights).max())
        line = Line(seconds, tol, off, note="" if off <= _AGREE else "does not reach 1e-6")
        if off <= _AGREE:
            break
    return line


def _gamma(name: str) -> float:
    return float(name.split("=")[1])


def perform(name: str, method: str, folder: Path) -> Line:
    """Carry out one run."""
    matrix, relevance = np.load(folder / "matrix.npy"), np.load(folder / "relevance.npy")
    with threadpool_limits(limits=1):
        if method == "ours":
            _warm_up()
            return ours(name, matrix, relevance, folder)
        return peer(name, method, matrix, relevance, folder)


def _warm_up() -> None:
    """Load compiled code."""
    problem = DenseQuadratic(np.eye(3), np.ones(3), target_norm2=3.0)
    solve_path(problem, Penalty.lasso(3, signed=True), Stop(alpha=0.5))


def run_apart(name: str, method: str, folder: Path, limit: float) -> Line:
    """Carry out one run in a process of its own."""
    if method != "ours" and find_spec(method) is None:
        return Line(note="not installed")
    arguments = ["-m", "benchmarks.quadratic_programs", "--run", name, method, str(folder)]
    try:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False,
            timeout=limit,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Line(note=f"no answer in {limit:.0f} s")
    if done.returncode:
        return Line(note=f"failed: {done.stderr.strip().splitlines()[-1:]}")
    return Line(**json.loads(done.stdout.strip().splitlines()[-1]))


def measure(sizes: list[int], limit: float) -> list[list[str]]:
    """Measure everything; returns the rows of the table."""
    rows = []
    for d in sizes:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            with threadpool_limits(limits=1):
                rows.append([f"{d}", "shift", "ours", *Line(prepare(d, folder)).cells()])
            for name in (_QPFS_5, _QPFS_0, _FVM):
                for method in ("ours", *_PEERS):
                    line = run_apart(name, method, folder, limit)
                    rows.append([f"{d}", name, method, *line.cells()])
                    print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    return rows


def main() -> None:
    """Print the table and save it."""
    parser = argparse.ArgumentParser(description="Quadratic programs, against peers.")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(_SIZES))
    parser.add_argument("--limit", type=float, default=240.0)
    parser.add_argument("--out", type=Path, default=_OUT)
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.run:
        name, method, folder = chosen.run
        print(json.dumps(asdict(perform(name, method, Path(folder)))))
        return
    header = ["d", "program", "solver", "seconds", "tol", "off", "kkt", "note"]
    made = table(header, measure(chosen.sizes, chosen.limit))
    facts = ", ".join(f"{key} {value}" for key, value in environment().items())
    words = __doc__.split("\n\n", 2)[2].strip()
    text = f"# Quadratic programs\n\n{facts}.\n\n{words}\n\n{made}\n"
    print(text)
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(text)


if __name__ == "__main__":
    main()
