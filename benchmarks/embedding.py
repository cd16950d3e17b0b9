"""What expanding a column costs, way by way, and how exact it is.

``python -m benchmarks.embedding [--columns K] [--out FILE]``

For columns of several distributions, the ways of ``Gaussian(expansion=...)``: the closed-form
recurrence (``"auto"``, which hands the columns it cannot serve to pivoted Cholesky), the table
lookup (``"table"``), pivoted Cholesky throughout (``"cholesky"``) and, for reference, the dense
n x n matrix. One thread, best of seven.

- *rows*: mean number of rows of a column's factor;
- *expand*: nanoseconds per value to standardise the columns and evaluate these rows;
- *pass*: nanoseconds per value of the whole pass that relates the columns to a target;
- *error*: largest relative Frobenius error of a centred Gram matrix, against the dense one;
- *closed*: share of the columns that the closed form or its table serves.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.report import table
from benchmarks.runner import ROOT
from hsiclasso import Gaussian, as_source
from hsiclasso.dependence import Features, relate
from hsiclasso.kernels import HSIC, Samples
from hsiclasso.targets import Real

_OUT = ROOT / "benchmarks" / "results" / "embedding.md"
_GRAM_ERRORS = (1e-6, 1e-10)
#: Least error for which the selectors accept the table.
_TABLE_ERROR = 1e-6
_EXPANSIONS = ("auto", "table", "cholesky")
_REPEATS = 7
#: Class that evaluates closed forms and tables; other terms are pivoted Cholesky factors.
_CLOSED = "_ClosedForm"


def _genotypes(rng: np.random.Generator, shape: tuple[int, int]):
    return rng.binomial(2, rng.uniform(0.05, 0.5, shape[1]), shape).astype(float)


COLUMNS: dict[str, Callable] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "uniform": lambda rng, shape: rng.uniform(size=shape),
    "log-normal": lambda rng, shape: rng.lognormal(size=shape),
    "Student-t(3)": lambda rng, shape: rng.standard_t(3, size=shape),
    "genotype": _genotypes,
}


@dataclass(frozen=True)
class Cost:
    """What one way costs on one kind of column; times in nanoseconds per value."""

    rows: float
    closed: float
    expand: float
    whole_pass: float
    error: float

    def cells(self) -> list[str]:
        """Return the numbers as text."""
        counts = [f"{self.rows:.1f}", f"{self.closed:.0%}"]
        return [*counts, f"{self.expand:.1f}", f"{self.whole_pass:.1f}", f"{self.error:.1e}"]


def expand(X, kernel: Gaussian, gram_error: float) -> tuple[list, float]:
    """Return the rows of every column, and the share that the closed form serves."""
    z, weights = np.array(X.T, order="C"), np.ones((1, X.shape[0]))
    kernel.scale(z, weights)
    allowed = np.full(len(z), HSIC().usual_share(gram_error) * X.shape[0])
    rows, closed = {}, 0
    for terms in kernel.expand(z, np.arange(len(z)), allowed, weights):
        every = slice(None)
        rows |= dict(zip(terms.columns.tolist(), terms.on(every, every), strict=True))
        closed += terms.columns.size * (_CLOSED in terms.evaluate.__qualname__)
    return [rows[j] for j in range(len(z))], closed / len(z)


def cost_of(X, kernel: Gaussian, gram_error: float) -> Cost:
    """Measure one way on the columns of X."""
    rows_of, closed = expand(X, kernel, gram_error)
    errors = [_error(phi, x) for phi, x in zip(rows_of, X.T, strict=True)]
    measure, y, d = HSIC(), X[:, 0] + X[:, 1] ** 2, X.shape[1]
    samples = Samples(len(y))
    data = Real().prepare(y, len(y)).data
    target = data.matrix(measure, samples, error=gram_error, n_features=d)
    features = Features(as_source(X), (kernel,), samples, np.arange(d), gram_error=gram_error)
    return Cost(
        rows=float(np.mean([len(phi) for phi in rows_of])),
        closed=closed,
        expand=_nanoseconds(lambda: expand(X, kernel, gram_error), X.size),
        whole_pass=_nanoseconds(lambda: relate(features, target, measure), X.size),
        error=max(errors),
    )


def cost_of_dense(X) -> Cost:
    """Measure n x n Gram matrices, on the first few columns."""
    few = X[:, :10]
    target = _centred_gram(few[:, 0] + few[:, 1] ** 2)
    return Cost(
        rows=X.shape[0],
        closed=0.0,
        expand=_nanoseconds(lambda: [_centred_gram(x) for x in few.T], few.size),
        whole_pass=_nanoseconds(
            lambda: [np.vdot(_centred_gram(x), target) for x in few.T], few.size
        ),
        error=0.0,
    )


def _centred_gram(x):
    z = (x - x.mean()) / x.std()
    gram = np.exp(-0.5 * (z[:, None] - z) ** 2)
    mean = gram.mean(axis=0)
    return gram - mean - mean[:, None] + mean.mean()


def _error(phi, x) -> float:
    """Relative Frobenius distance of the centred rows' Gram matrix to the dense one."""
    centred, exact = phi - phi.mean(axis=1, keepdims=True), _centred_gram(x)
    return float(np.linalg.norm(centred.T @ centred - exact) / np.linalg.norm(exact))


def _nanoseconds(work: Callable[[], object], values: int) -> float:
    """Least time of a piece of work per value, which other work on the machine disturbs least."""
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1e9 * min(times) / values


def rows(n: int, n_columns: int) -> list[list[str]]:
    """Measure every way on every kind of column."""
    found = []
    for kind, draw in COLUMNS.items():
        X = np.asfortranarray(draw(np.random.default_rng(0), (n, n_columns)))
        for error in _GRAM_ERRORS:
            for expansion in _EXPANSIONS:
                start = [kind, f"{error:.0e}", expansion]
                if expansion == "table" and error < _TABLE_ERROR:
                    found.append([*start, *["not offered"] * 5])
                else:
                    kernel = Gaussian(expansion=expansion)
                    found.append([*start, *cost_of(X, kernel, error).cells()])
        found.append([kind, "", "dense", *cost_of_dense(X).cells()])
    return found


def main() -> None:
    """Print the table and save it."""
    parser = argparse.ArgumentParser(description="Cost and error of expanding a column.")
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--out", type=Path, default=_OUT)
    chosen = parser.parse_args()
    header = ["column", "gram_error", "way", "rows", "closed", "expand ns", "pass ns", "error"]
    with threadpool_limits(limits=1):
        made = table(header, rows(chosen.samples, chosen.columns))
    words = __doc__.split("\n\n", 2)[2].strip()
    title = f"Expanding a column, n = {chosen.samples}, {chosen.columns} columns"
    text = f"# {title}\n\n{words}\n\n{made}\n"
    print(text)
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(text)


if __name__ == "__main__":
    main()
