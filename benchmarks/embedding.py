"""What embedding a column costs, way by way, and how exact it is.

``python -m benchmarks.embedding [--columns K] [--out FILE]``

For columns of several distributions: the closed-form recurrence (``"auto"``, which hands the
columns it cannot serve to pivoted Cholesky), the table lookup (``"table"``), pivoted Cholesky
throughout (``"cholesky"``) and, for reference, the dense n x n matrix. One thread, best of seven.

- *embed*: nanoseconds per value to standardise the columns and evaluate their features;
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
from hsiclasso.dependence import Values, make_measure, make_target, scan_relevance
from hsiclasso.embedding import Embedding, Features, Samples, Shrinkage
from hsiclasso.errors import InvalidInputError

_OUT = ROOT / "benchmarks" / "results" / "embedding.md"
_TOLERANCES = (1e-6, 1e-10)
_METHODS = ("auto", "table", "cholesky")
_REPEATS = 7


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

    features: float
    closed: float
    embed: float
    whole_pass: float
    error: float

    def cells(self) -> list[str]:
        """Return the numbers as text."""
        counts = [f"{self.features:.1f}", f"{self.closed:.0%}"]
        return [*counts, f"{self.embed:.1f}", f"{self.whole_pass:.1f}", f"{self.error:.1e}"]


def embed(X, embedding: Embedding) -> tuple[list, float]:
    """Return the features of every column, and the share that the closed form serves."""
    block = np.array(X.T, order="C")
    share = Shrinkage().usual_share(embedding.tol, X.shape[0])
    closed, others = embedding.prepare(block, share)
    features = [closed.features(j) for j in range(closed.columns.size)]
    features += [embedding.rows(block[j], share)[0] for j in others]
    order = np.argsort(np.append(closed.columns, others))
    return [features[j] for j in order], closed.columns.size / X.shape[1]


def cost_of(X, embedding: Embedding) -> Cost:
    """Measure one way on the columns of X."""
    features, closed = embed(X, embedding)
    errors = [_error(phi, x) for phi, x in zip(features, X.T, strict=True)]
    measure, y = make_measure("hsic"), X[:, 0] + X[:, 1] ** 2
    samples = Samples(len(y))
    target = make_target(Values(y[None], Gaussian()), measure, samples)
    table_of = Features(as_source(X), (embedding,), samples)
    return Cost(
        features=float(np.mean([len(phi) for phi in features])),
        closed=closed,
        embed=_nanoseconds(lambda: embed(X, embedding), X.size),
        whole_pass=_nanoseconds(lambda: scan_relevance(table_of, target, measure), X.size),
        error=max(errors),
    )


def cost_of_dense(X) -> Cost:
    """Measure n x n Gram matrices, on the first few columns."""
    few = X[:, :10]
    target = _centred_gram(few[:, 0] + few[:, 1] ** 2)
    return Cost(
        features=X.shape[0],
        closed=0.0,
        embed=_nanoseconds(lambda: [_centred_gram(x) for x in few.T], few.size),
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
    """Relative Frobenius distance of the centred features' Gram matrix to the dense one."""
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
        for tol in _TOLERANCES:
            for method in _METHODS:
                start = [kind, f"{tol:.0e}", method]
                try:
                    found.append([*start, *cost_of(X, Embedding(tol=tol, method=method)).cells()])
                except InvalidInputError:
                    found.append([*start, *["not offered"] * 5])
        found.append([kind, "", "dense", *cost_of_dense(X).cells()])
    return found


def main() -> None:
    """Print the table and save it."""
    parser = argparse.ArgumentParser(description="Cost and error of embedding a column.")
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--out", type=Path, default=_OUT)
    chosen = parser.parse_args()
    header = ["column", "tol", "way", "features", "closed", "embed ns", "pass ns", "error"]
    with threadpool_limits(limits=1):
        made = table(header, rows(chosen.samples, chosen.columns))
    words = __doc__.split("\n\n", 2)[2].strip()
    text = f"# Embedding, n = {chosen.samples}, {chosen.columns} columns\n\n{words}\n\n{made}\n"
    print(text)
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(text)


if __name__ == "__main__":
    main()
