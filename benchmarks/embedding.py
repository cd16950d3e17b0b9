"""What expanding a column costs, way by way, and how exact it is.

``python -m benchmarks.embedding [--repeats 7] [--small] [--out FILE]``

For 200 columns of each of several distributions, n = 1000, the ways of ``Gaussian(expansion=...)``:
the closed-form recurrence (``"auto"``, which hands the columns it cannot serve to pivoted
Cholesky), the table lookup (``"table"``), pivoted Cholesky throughout (``"cholesky"``) and, for
reference, the dense n x n matrix. One thread, best of seven.

- *rows*: mean number of rows of a column's factor;
- *expand*: nanoseconds per value to standardise the columns and evaluate these rows;
- *pass*: nanoseconds per value of the whole pass that relates the columns to a target;
- *error*: largest relative Frobenius error of a centred Gram matrix, against the dense one;
- *closed*: share of the columns that the closed form or its table serves.
"""

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.explicit import centred, gaussian_gram
from benchmarks.report import Line, Page
from benchmarks.timing import wall_times
from hsiclasso import Gaussian, as_source
from hsiclasso.dependence import Features, relate
from hsiclasso.kernels import HSIC, Samples
from hsiclasso.targets import Real

_GRAM_ERRORS = (1e-6, 1e-10)
#: Least error for which the selectors accept the table.
_TABLE_ERROR = 1e-6
_EXPANSIONS = ("auto", "table", "cholesky")
_N, _COLUMNS, _SMALL = 1000, 200, 20
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


def cost_of(X, kernel: Gaussian, gram_error: float, repeats: int) -> list[str]:
    """Measure one way on the columns of X."""
    rows_of, closed = expand(X, kernel, gram_error)
    errors = [_error(phi, x) for phi, x in zip(rows_of, X.T, strict=True)]
    measure, y, d = HSIC(), X[:, 0] + X[:, 1] ** 2, X.shape[1]
    samples = Samples(len(y))
    data = Real().prepare(y, len(y)).data
    target = data.matrix(measure, samples, error=gram_error, n_features=d)
    features = Features(as_source(X), (kernel,), samples, np.arange(d), gram_error=gram_error)
    works = (lambda: expand(X, kernel, gram_error), lambda: relate(features, target, measure))
    times = [f"{_nanoseconds(work, X.size, repeats):.1f}" for work in works]
    rows = np.mean([len(phi) for phi in rows_of])
    return [f"{rows:.1f}", f"{closed:.0%}", *times, f"{max(errors):.1e}"]


def cost_of_dense(X, repeats: int) -> list[str]:
    """Measure n x n Gram matrices, on the first few columns."""
    few = X[:, :10]
    target = _centred_gram(few[:, 0] + few[:, 1] ** 2)
    works = (
        lambda: [_centred_gram(x) for x in few.T],
        lambda: [np.vdot(_centred_gram(x), target) for x in few.T],
    )
    times = [f"{_nanoseconds(work, few.size, repeats):.1f}" for work in works]
    return [f"{X.shape[0]:.1f}", "0%", *times, "0.0e+00"]


def _centred_gram(x):
    return centred(gaussian_gram(x))


def _error(phi, x) -> float:
    """Relative Frobenius distance of the centred rows' Gram matrix to the dense one."""
    centred, exact = phi - phi.mean(axis=1, keepdims=True), _centred_gram(x)
    return float(np.linalg.norm(centred.T @ centred - exact) / np.linalg.norm(exact))


def _nanoseconds(work: Callable[[], object], values: int, repeats: int) -> float:
    """Least time of a piece of work per value, which other work on the machine disturbs least."""
    return 1e9 * min(wall_times(work, repeats)) / values


def measure(chosen: argparse.Namespace) -> Iterator[list[Line]]:
    """Measure every way on every kind of column."""
    shape = (_N, _SMALL if chosen.small else _COLUMNS)
    with threadpool_limits(limits=1):
        for kind, draw in COLUMNS.items():
            X = np.asfortranarray(draw(np.random.default_rng(0), shape))
            for error in _GRAM_ERRORS:
                for expansion in _EXPANSIONS:
                    cells = ["not offered"] * 5
                    if expansion != "table" or error >= _TABLE_ERROR:
                        kernel = Gaussian(expansion=expansion)
                        cells = cost_of(X, kernel, error, chosen.repeats)
                    yield [Line([kind, f"{error:.0e}", expansion, *cells])]
            yield [Line([kind, "", "dense", *cost_of_dense(X, chosen.repeats)])]


PAGE = Page(
    "Expanding a column", "embedding.md", __doc__, measure,
    ("column", "gram_error", "way", "rows", "closed", "expand ns", "pass ns", "error"), repeats=7,
)  # fmt: skip

if __name__ == "__main__":
    raise SystemExit(PAGE.main())
