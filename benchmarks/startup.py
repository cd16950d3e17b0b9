"""What the first fit costs where nothing is compiled yet, and what a small fit costs afterwards.

``python -m benchmarks.startup [--repeats 3] [--small] [--out FILE]``

- *first*: the first fit in a new environment, n = 300, d = 200, 10 features: a new process whose
  compile cache is an empty folder. CPU seconds of the fit, compiling included, and beside them
  those of the whole process with its imports. One case for each part of the compiled code: a real
  target and classes (bar: 4 s), NOCCO and small integers (bar: 8 s), and n = 100, where Gram
  matrices are packed.
- *warm*: milliseconds of a fit whose code is loaded, n = 300, d = 2000, 20 features, median of 20
  (bar: 30 ms), and the same with ``n_neighbors=5`` as a multiple of it.

CPU seconds count every thread; cold processes are repeated, and medians taken.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.report import Row, publish
from benchmarks.runner import ROOT, run_python

_OUT = ROOT / "benchmarks" / "results" / "startup.md"
_N, _N_PACKED, _FIRST_COLUMNS, _FIRST_FEATURES = 300, 100, 200, 10
_WARM_COLUMNS, _WARM_FEATURES, _NEIGHBOURS = 2000, 20, 5
_WARM_MS = 30.0


@dataclass(frozen=True)
class First:
    """A first fit.

    Attributes
    ----------
    n : int
        Samples.
    bar : float or None
        CPU seconds that it may take.
    classes, integers : bool
        Whether the target is three classes, and whether columns are small integers.
    options : tuple of pairs
        Arguments of the selector.
    """

    n: int = _N
    bar: float | None = 4.0
    classes: bool = False
    integers: bool = False
    options: tuple[tuple[str, object], ...] = ()

    def fit(self) -> None:
        """Make the data and fit; what is imported and compiled on the way is part of it."""
        import numpy as np

        from hsiclasso import HSICLasso, make_data2

        X, y, _ = make_data2(self.n, _FIRST_COLUMNS, random_state=0)
        if self.integers:
            X = np.random.default_rng(0).binomial(2, 0.3, X.shape).astype(np.int8)
        if self.classes:
            y = np.digitize(y, [-1.0, 1.0])
        HSICLasso(_FIRST_FEATURES, **dict(self.options)).fit(X, y)


FIRST = {
    "numbers, real target": First(),
    "numbers, classes": First(classes=True),
    "NOCCO": First(bar=8.0, options=(("measure", "nocco"),)),
    "small integers": First(bar=8.0, integers=True),
    f"n = {_N_PACKED}, packed": First(n=_N_PACKED, bar=None),
}


def measure_first(name: str) -> dict[str, float]:
    """Fit in this process; return CPU seconds of the fit and of the process."""
    import sklearn.feature_selection  # noqa: F401 - what every user of a selector has loaded

    import hsiclasso.selectors  # noqa: F401

    start = time.process_time()
    FIRST[name].fit()
    now = time.process_time()
    return {"fit": now - start, "process": now}


def first_fits(repeats: int) -> list[Row]:
    """Measure every first fit in processes of their own, with empty compile caches."""
    rows = []
    for name, case in FIRST.items():
        runs = []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as cache:
                printed = run_python(
                    "-m", "benchmarks.startup", "--first", name, NUMBA_CACHE_DIR=cache
                )
            runs.append(json.loads(printed))
        fit, process = (median(run[part] for run in runs) for part in ("fit", "process"))
        note = f"{process:.1f} s of the whole process"
        rows.append(Row("first", name, fit, " CPU s", at_most=case.bar, note=note))
    return rows


def warm_fits(d: int, repeats: int) -> list[Row]:
    """Measure fits whose code is loaded, with and without neighbours, in turns."""
    from hsiclasso import HSICLasso, make_data2

    X, y, _ = make_data2(_N, d, random_state=0)
    seconds: dict[int, list[float]] = {0: [], _NEIGHBOURS: []}
    for repeat in range(repeats + 1):
        for number, times in seconds.items():
            selector = HSICLasso(_WARM_FEATURES, n_neighbors=number)
            took = _seconds(lambda selector=selector: selector.fit(X, y))
            times += [took] if repeat else []  # the first loads the code
    plain, near = median(seconds[0]), median(seconds[_NEIGHBOURS])
    what = f"n = {_N}, d = {d}, {_WARM_FEATURES} features"
    note = f"{1e3 * near:.1f} ms against {1e3 * plain:.1f} ms"
    return [
        Row("warm", what, 1e3 * plain, " ms", at_most=_WARM_MS, note=f"median of {repeats}"),
        Row("warm", f"n_neighbors={_NEIGHBOURS} / without", near / plain, "x", note=note),
    ]


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> int:
    """Print the table and save it; fail if a bar is missed."""
    parser = argparse.ArgumentParser(description="Cost of the first fit, and of a small one.")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="one run of each; not judged")
    parser.add_argument("--out", type=Path, default=_OUT)
    parser.add_argument("--first", choices=FIRST, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.first:
        print(json.dumps(measure_first(chosen.first)))
        return 0
    rows = [
        *warm_fits(_WARM_COLUMNS // (10 if chosen.small else 1), 5 if chosen.small else 20),
        *first_fits(1 if chosen.small else chosen.repeats),
    ]
    words = __doc__.split("\n\n", 2)[2].strip()
    return publish("First fits", words, rows, chosen.out, judged=not chosen.small)


if __name__ == "__main__":
    raise SystemExit(main())
