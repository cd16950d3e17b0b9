"""All pairs of features: time, memory and growth of the scan.

``python -m benchmarks.pairs [--draws 10] [--small] [--out FILE]``

Every measurement has a process of its own, which compiles its loops on a small table first. *Peak*
is all memory that was resident during the work, interpreter, libraries and table included. One
pair of the table makes the target, alone without effect (product, XOR, epistasis); *first* counts
the draws in which the scan puts it first.

- *real*: n = 500, d = 5000 numbers, 12.5 million pairs, two threads.
- *genotypes*: n = 2000, d = 5000 calls of 0, 1 and 2 as int8, minor alleles of 10 to 50 percent.
- *growth*: three rows for each feature, one thread, CPU seconds. A bar of 4.6 for twice the
  features and 2.3 for twice the samples: quadratic and linear, with 15 percent for the caches.
- *tests*: the scan by coarse p-values, and 1000 tests.
"""

import argparse
from collections.abc import Iterator

import numpy as np

from benchmarks.apart import call_apart, say
from benchmarks.memory import peak_mb, reset_peak
from benchmarks.report import Line, Page, Row
from benchmarks.timing import timed

#: The pair that matters.
_TRUE = (3, 8)


def make(kind: str, n: int, d: int, seed: int):
    """Draw a table whose target depends on one pair only."""
    rng = np.random.default_rng(seed)
    if kind == "genotypes":
        X = rng.binomial(2, rng.uniform(0.1, 0.5, d), (n, d)).astype(np.int8)
        a, b = ((X[:, k] > 0) - np.mean(X[:, k] > 0) for k in _TRUE)
        signal = a * b
    else:
        X = rng.standard_normal((n, d), dtype=np.float32)
        a, b = (X[:, k].astype(float) for k in _TRUE)
        signal = np.sign(a * b) if kind == "xor" else a * b
    signal = signal / signal.std()
    return X, signal + rng.standard_normal(n)


def scan(kind: str, measure: str, n: int, d: int, seed: int, threads: int, rank: int) -> dict:
    """Scan all pairs; rank 0 is chosen by the scan."""
    from hsiclasso import as_source
    from hsiclasso._blas import single_threaded_blas
    from hsiclasso.dependence import Features, Threads
    from hsiclasso.dependence.pairs import PairOptions, scan_pairs
    from hsiclasso.kernels import Gaussian, Samples, as_measure
    from hsiclasso.targets import Real

    how = as_measure(measure)

    def work(X, y):
        features = Features(as_source(X), (Gaussian(),), Samples(len(X)), np.arange(X.shape[1]))
        target = Real().prepare(y, len(X)).data.matrix(
            how, features.samples, error=1e-6, n_features=X.shape[1]
        )  # fmt: skip
        options = PairOptions(1000, rank or None)
        return scan_pairs(features, target, how, options=options, runner=Threads(threads))

    with single_threaded_blas():
        work(*make(kind, 100, 50, seed))
        X, y = make(kind, n, d, seed)
        reset_peak()
        found, wall, cpu = timed(lambda: work(X, y))
    first = tuple(found.pairs[0].tolist()) == _TRUE
    return {"wall": wall, "cpu": cpu, "peak": peak_mb(), "rank": found.rank, "first": first}


def test(n: int, d: int, seed: int) -> dict:
    """Scan all pairs by p-values, and test the best."""
    from hsiclasso import hsic_scan_pairs

    hsic_scan_pairs(*make("product", 100, 30, seed), n_jobs=2)
    X, y = make("product", n, d, seed)
    reset_peak()
    found, wall, cpu = timed(lambda: hsic_scan_pairs(X, y, n_jobs=2))
    first = tuple(found.index[0].tolist()) == _TRUE
    return {"wall": wall, "cpu": cpu, "peak": peak_mb(), "rank": found.rank, "first": first}


def apart(function: str, *arguments: object) -> dict:
    """Measure in a process of its own."""
    say(f"pairs: {function} {arguments}")
    return call_apart("benchmarks.pairs", function, *arguments)[0]


def judged(case: str, what: str, runs: list[dict], limit: float) -> list[Row]:
    """Rows of time, memory and whether the pair was found."""
    walls = sorted(run["wall"] for run in runs)
    rank = f"at most {runs[0]['rank']} rows for each feature"
    first = sum(run["first"] for run in runs)
    rows = [
        Row(case, f"{what}, longest", walls[-1], " s", None, limit, rank),
        Row(case, f"{what}, peak", max(run["peak"] for run in runs), " MB", None, 2048),
    ]
    least = np.ceil(0.9 * len(runs))
    return [*rows, Row(case, f"{what}, first", first, f" of {len(runs)}", least)]


def growth(small: bool) -> Iterator[list[Row | Line]]:
    """CPU seconds when d or n doubles."""
    part = 5 if small else 1
    for name, sizes, bar in (
        ("d", [(500, d // part) for d in (1000, 2000, 4000)], 4.6),
        ("n", [(n // part, 2000 // part) for n in (500, 1000, 2000)], 2.3),
    ):
        found = [apart("scan", "product", "nhsic", n, d, 0, 1, 3) for n, d in sizes]
        for (n, d), run in zip(sizes, found, strict=True):
            each = 1e6 * run["cpu"] / (d * (d - 1) / 2)
            texts = [f"{n:,}", f"{d:,}", f"{run['cpu']:.1f}", f"{each:.2f}", f"{run['peak']:.0f}"]
            yield [Line(texts)]
        ratio = found[2]["cpu"] / found[1]["cpu"]
        yield [Row("growth", f"twice as large {name}", ratio, " times", None, bar)]


def measure(chosen: argparse.Namespace) -> Iterator[list[Row | Line]]:
    """Measure all cases."""
    part = 10 if chosen.small else 1
    few = range(min(3, chosen.draws))
    for kind, how in (("product", "hsic"), ("product", "nhsic"), ("xor", "nhsic")):
        runs = [apart("scan", kind, how, 500, 5000 // part, s, 2, 0) for s in few]
        yield judged("real", f"{kind}, {how}", runs, 60)
    draws = range(chosen.draws)
    runs = [apart("scan", "genotypes", "nhsic", 2000, 5000 // part, s, 2, 0) for s in draws]
    yield judged("genotypes", "epistasis, nhsic", runs, 120)
    yield judged("tests", "product", [apart("test", 500, 2000 // part, s) for s in few], 60)
    yield from growth(chosen.small)


PAGE = Page(
    "Pairs", "pairs.md", __doc__, measure,
    ("n", "d", "CPU seconds", "microseconds per pair", "peak MB"),
    {"--draws": {"type": int, "default": 10, "help": "draws of genotypes"}},
)  # fmt: skip

if __name__ == "__main__":
    raise SystemExit(PAGE.main())
