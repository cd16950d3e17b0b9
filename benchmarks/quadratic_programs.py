"""The quadratic programs of QPFS and FVM: our solvers against clarabel, PIQP and OSQP.

``python -m benchmarks.quadratic_programs [--sizes D ...] [--limit SECONDS] [--small] [--out FILE]``

D holds the mutual information (three states) between columns of warpAR10P, or of orlraws10P for
10,000 columns, and is shifted to be positive semi-definite; d is that of each with the classes.

- *QPFS*: min (1 - g)/2 t'Dt - g d't with t >= 0 of sum 1, g = 0.5 and, where weights are many, 0;
- *FVM*: min 1/2 a'Da - d'a + l/2 |a|_1 at the penalty l with 50 weights that are not zero.

A peer is run with ever smaller tolerances until no weight differs from ours by more than 1e-6, and
the time of that run counts. The wall seconds begin with matrices in the form that the solver takes
and end with the weights; for our FVM they include a Cholesky factor of D. Our solutions carry a
certificate: *kkt* is the largest violation of the optimality conditions, relative to the largest
entry. Every run has a process of its own and one thread. It is given up when all its tolerances
together have taken longer than the limit. *shift* is the time for the lowest eigenvalue, which is
needed before any of them.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from threadpoolctl import threadpool_limits

from benchmarks.apart import call_apart, say
from benchmarks.job import DATA, Job, load
from benchmarks.report import Line, Page
from benchmarks.timing import timed
from hsiclasso.baselines.binned import BinnedInformation, cut_columns
from hsiclasso.baselines.dependency import MeasureOptions, dependency_matrix
from hsiclasso.baselines.quadratic import DenseQuadratic, make_convex
from hsiclasso.baselines.simplex import minimise_on_simplex
from hsiclasso.solvers import Penalty, SolutionPath, Stop, solve_path

_SIZES, _SMALL = (500, 1000, 2400, 10_000), (60,)
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

    In FVM, d bounds s on the absolute weights follow them; P is zero there.
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
class Outcome:
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


def _images(d: int) -> str:
    """Name of the image set that has d columns."""
    return "warpAR10P" if d <= _IMAGES["warpAR10P"][1] else "orlraws10P"


def make_matrices(d: int):
    """Mutual information between d pixels, and of each with the person."""
    data = _images(d)
    n, width = _IMAGES[data]
    X, y = load(Job("", n, width, data=data, columns=None if d == width else d))
    options = MeasureOptions()
    states = cut_columns(np.ascontiguousarray(X.T, dtype=float), options)
    classes = cut_columns(np.asarray(y, dtype=float)[None], options, labels=True)
    information = BinnedInformation(states, classes, 1)
    matrix = dependency_matrix(information, lambda *now: None)
    return matrix, information.relevance


def prepare(d: int, folder: Path) -> float:
    """Save the matrices of a size; return the seconds that the shift took."""
    matrix, relevance = make_matrices(d)
    _, seconds, _ = timed(lambda: make_convex(matrix, "auto", strictly=True))
    np.save(folder / "matrix.npy", matrix)
    np.save(folder / "relevance.npy", relevance)
    return seconds


def ours(name: str, matrix, relevance, folder: Path) -> Outcome:
    """Solve with our solver, and leave weights and penalty for the peers."""
    if name == _FVM:
        alpha = _fvm(matrix, relevance, Stop(max_features=_FVM_FEATURES)).alpha
        path, seconds, _ = timed(_fvm, matrix, relevance, Stop(alpha=alpha))
        weights, certificate = path.coefficients(), path.certificate
    else:
        gamma = _gamma(name)
        problem, alpha = DenseQuadratic(matrix, gamma * relevance, 1 - gamma), 0.0
        solution, seconds, _ = timed(minimise_on_simplex, problem)
        weights, certificate = solution.weights, solution.certificate
    np.savez(folder / f"{name}.npz", weights=weights, alpha=alpha)
    found = f"{np.count_nonzero(weights)} weights"
    return Outcome(seconds, kkt=certificate.kkt_residual, note=found)


def _fvm(matrix, relevance, stop: Stop) -> SolutionPath:
    """Solve the lasso as `FVM` does, the squared norm of its target included."""
    factor = cho_factor(matrix, lower=True, check_finite=False)
    norm2 = float(relevance @ cho_solve(factor, relevance))
    problem = DenseQuadratic(matrix, relevance, target_norm2=norm2)
    return solve_path(problem, Penalty.lasso(relevance.size, signed=True), stop)


def peer(name: str, method: str, matrix, relevance, folder: Path) -> Outcome:
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
    for tol in _TOLERANCES:
        found, seconds, _ = timed(_RUNS[method](program, tol))
        off = float(np.abs(np.array(found)[:d] - weights).max())
        if off <= _AGREE:
            return Outcome(seconds, tol, off)
    return Outcome(seconds, tol, off, note="does not reach 1e-6")


def _gamma(name: str) -> float:
    return float(name.split("=")[1])


def perform(name: str, method: str, place: str) -> Outcome:
    """Carry out one run; the matrices are in a folder."""
    folder = Path(place)
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


def run_apart(name: str, method: str, folder: Path, limit: float) -> Outcome:
    """Carry out one run in a process of its own."""
    if method != "ours" and find_spec(method) is None:
        return Outcome(note="not installed")
    call = ("benchmarks.quadratic_programs", "perform", name, method, str(folder))
    try:
        found = call_apart(*call, limit=limit)
    except RuntimeError as error:
        return Outcome(note=f"failed: {str(error).splitlines()[-1]}")
    return Outcome(**found[0]) if found else Outcome(note=f"no answer in {limit:.0f} s")


def measure(chosen: argparse.Namespace) -> Iterator[list[Line]]:
    """Measure every program with every solver."""
    for d in _SMALL if chosen.small else chosen.sizes:
        if not (DATA / f"{_images(d)}.npz").exists():
            note = f"skipped: {_images(d)}.npz is not in the data folder"
            yield [Line([f"{d}", "all", "all", *Outcome(note=note).cells()])]
            continue
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            with threadpool_limits(limits=1):
                yield [Line([f"{d}", "shift", "ours", *Outcome(prepare(d, folder)).cells()])]
            for name in (_QPFS_5, _QPFS_0, _FVM):
                for method in ("ours", *_PEERS):
                    cells = run_apart(name, method, folder, chosen.limit).cells()
                    yield [Line([f"{d}", name, method, *cells])]
                    say(" | ".join([f"{d}", name, method, *cells]))


PAGE = Page(
    "Quadratic programs", "quadratic_programs.md", __doc__, measure,
    ("d", "program", "solver", "seconds", "tol", "off", "kkt", "note"),
    {"--sizes": {"type": int, "nargs": "+", "default": _SIZES},
     "--limit": {"type": float, "default": 240.0}},
)  # fmt: skip

if __name__ == "__main__":
    raise SystemExit(PAGE.main())
