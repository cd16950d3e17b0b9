"""What columns of other kinds than dense numbers cost, against the same columns as dense numbers.

``python -m benchmarks.columns [--repeats 3] [--small] [--out FILE]``

- *levels*: genotypes 0, 1, 2 as int8 against the same table as float32, n = 10,000, d = 100,000;
  Gaussian and delta kernel, a real target and classes. The pass over the data, all cores.
- *sparse*: counts at 5% density as compressed columns against the same as a dense array,
  n = 10,000, d = 20,000: the pass, and the whole selection of 20 features with its memory.
- *more*: what sample weights, covariates, missing values and other kernels cost, as a multiple of
  the plain pass on dense numbers, n = 1000, d = 5000.

Both sides of a ratio are measured in one process, in turns, and medians are compared. The bars:
5 times faster for levels and for sparse tables.
"""

import argparse
from collections.abc import Iterator

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks.memory import peak_mb, reset_peak, rss_mb
from benchmarks.report import Page, Row
from benchmarks.timing import in_turns
from hsiclasso import Delta, Gaussian, HSICLasso, Laplace, Linear, Real, as_source
from hsiclasso.dependence import Features, relate
from hsiclasso.kernels import HSIC, Samples
from hsiclasso.targets import as_target

_BAR = 5.0


def scan(X, y, kernel, *, kind: str = "real", samples: Samples | None = None, **features):
    """Return a function that passes over a table once, all cores."""
    measure, samples, d = HSIC(), samples or Samples(len(y)), X.shape[1]
    table = Features(as_source(X), (kernel,), samples, np.arange(d), **features)
    data = as_target(kind).prepare(y, len(y)).data
    target = data.matrix(measure, samples, error=table.gram_error, n_features=d)
    return lambda: relate(table, target, measure, n_threads=effective_n_jobs(-1)).linear


def levels(n: int, d: int, repeats: int) -> list[Row]:
    """Genotypes as small integers against the same as numbers."""
    rng = np.random.default_rng(0)
    small = rng.binomial(2, rng.uniform(0.05, 0.5, d).astype(np.float32), (n, d)).astype(np.int8)
    numbers = small.astype(np.float32)
    y = small[:, 0] * 1.0 + small[:, 1] ** 2 + rng.standard_normal(n)
    rows = []
    for kernel in (Gaussian(), Delta(), Delta(by_count=False)):
        for what, target in (("real target", y), ("4 classes", np.digitize(y, [0, 1, 3]) * 1.0)):
            kind = "real" if what == "real target" else "classes"
            works = {
                "int8": scan(small, target, kernel, kind=kind),
                "float32": scan(numbers, target, kernel, kind=kind),
            }
            difference = _difference(works["int8"](), works["float32"]())
            seconds = in_turns(works, repeats)
            name = type(kernel).__name__ + ("" if getattr(kernel, "by_count", True) else ", plain")
            note = (
                f"{seconds['int8']:.2f} s against {seconds['float32']:.2f} s; "
                f"{1e9 * seconds['int8'] / (n * d):.2f} ns per value; "
                f"largest difference {difference:.0e} of the largest relevance"
            )
            ratio = seconds["float32"] / seconds["int8"]
            rows.append(Row("levels", f"{name}, {what}", ratio, "x", at_least=_BAR, note=note))
    return rows


def sparse_counts(n: int, d: int, repeats: int) -> list[Row]:
    """Counts at 5% density, compressed against dense."""
    rng = np.random.default_rng(0)
    made = sparse.random_array(
        (n, d), density=0.05, format="csc", rng=rng, data_sampler=lambda size: _counts(rng, size)
    )
    dense = made.toarray(order="F")
    y = dense[:, 0] + np.sqrt(dense[:, 1]) + 0.5 * rng.standard_normal(n)
    works = {"sparse": scan(made, y, Gaussian()), "dense": scan(dense, y, Gaussian())}
    difference = _difference(works["sparse"](), works["dense"]())
    seconds = in_turns(works, repeats)
    ratio = seconds["dense"] / seconds["sparse"]
    note = (
        f"{seconds['sparse']:.2f} s against {seconds['dense']:.2f} s; "
        f"largest difference {difference:.0e} of the largest relevance"
    )
    rows = [Row("sparse", "the pass", ratio, "x", at_least=_BAR, note=note)]
    fits = {
        "sparse": lambda: HSICLasso(20, target=Real(transform=None)).fit(made, y),
        "dense": lambda: HSICLasso(20, target=Real(transform=None)).fit(dense, y),
    }
    seconds = in_turns(fits, repeats)
    note = f"{seconds['sparse']:.2f} s against {seconds['dense']:.2f} s"
    ratio = seconds["dense"] / seconds["sparse"]
    rows.append(Row("sparse", "selection of 20 features", ratio, "x", at_least=_BAR, note=note))
    before = rss_mb()
    reset_peak()
    fits["sparse"]()
    stored = (made.data.nbytes + made.indices.nbytes) / 2**20
    note = f"the stored entries take {stored:.0f} MB, the dense table {dense.nbytes / 2**20:.0f} MB"
    rows.append(
        Row("sparse", "memory added by the selection", peak_mb() - before, " MB", note=note)
    )
    return rows


def _difference(found, expected) -> float:
    return float(np.abs(found - expected).max() / expected.max())


def _counts(rng: np.random.Generator, size: int):
    """Counts above 0 with a tail, as in single cells."""
    return 1.0 + rng.negative_binomial(1, 0.4, size)


def more(n: int, d: int, repeats: int) -> list[Row]:
    """Other options, as multiples of the plain pass."""
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.standard_normal((n, d)))
    y = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.standard_normal(n)
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    works = {
        "plain": scan(X, y, Gaussian()),
        "sample weights": scan(X, y, Gaussian(), samples=Samples(n, rng.uniform(0.5, 2, n))),
        "10 functions of covariates": scan(
            X, y, Gaussian(), samples=Samples(n, None, rng.standard_normal((10, n)))
        ),
        "10% missing": scan(holes, y, Gaussian(), least_observed=n // 2),
        "three widths": scan(X, y, Gaussian((0.5, 1.0, 2.0))),
        "median width": scan(X, y, Gaussian("median")),
        "Laplace kernel": scan(X, y, Laplace()),
        "linear kernel": scan(X, y, Linear()),
    }
    seconds = in_turns(works, repeats)
    return [
        Row("more", name, seconds[name] / seconds["plain"], "x", note=f"{seconds[name]:.3f} s")
        for name in works
    ]


def measure(chosen: argparse.Namespace) -> Iterator[list[Row]]:
    """Measure all three cases."""
    part = 10 if chosen.small else 1
    with threadpool_limits(limits=1, user_api="blas"):
        yield more(1000, 5000 // part, chosen.repeats)
        yield sparse_counts(10_000, 20_000 // part, chosen.repeats)
        yield levels(10_000, 100_000 // part, chosen.repeats)


PAGE = Page("Columns of other kinds", "columns.md", __doc__, measure)

if __name__ == "__main__":
    raise SystemExit(PAGE.main())
