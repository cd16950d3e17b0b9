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
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from benchmarks.apart import call_apart
from benchmarks.report import Page, Row
from benchmarks.timing import in_turns

_N, _N_PACKED, _FIRST_COLUMNS, _FIRST_FEATURES = 300, 100, 200, 10
_WARM_COLUMNS, _WARM_FEATURES, _NEIGHBOURS = 2000, 20, 5
_WARM_MS = 30.0


@dataclass(frozen=True)
class First:
    """A first fit."""

    n: int = _N  #: samples
    bar: float | None = 4.0  #: CPU seconds that it may take
    classes: bool = False  #: whether the target is three classes
    integers: bool = False  #: whether columns are small integers
    options: tuple[tuple[str, object], ...] = ()  #: arguments of the selector

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
                call = ("benchmarks.startup", "measure_first", name)
                runs += call_apart(*call, NUMBA_CACHE_DIR=cache)
        fit, process = (median(run[part] for run in runs) for part in ("fit", "process"))
        note = f"{process:.1f} s of the whole process"
        rows.append(Row("first", name, fit, " CPU s", at_most=case.bar, note=note))
    return rows


def warm_fits(d: int, repeats: int) -> list[Row]:
    """Measure fits whose code is loaded, with and without neighbours, in turns."""
    from hsiclasso import HSICLasso, make_data2

    X, y, _ = make_data2(_N, d, random_state=0)
    works = {
        "plain": lambda: HSICLasso(_WARM_FEATURES).fit(X, y),
        "near": lambda: HSICLasso(_WARM_FEATURES, n_neighbors=_NEIGHBOURS).fit(X, y),
    }
    plain, near = in_turns(works, repeats).values()
    what = f"n = {_N}, d = {d}, {_WARM_FEATURES} features"
    note = f"{1e3 * near:.1f} ms against {1e3 * plain:.1f} ms"
    return [
        Row("warm", what, 1e3 * plain, " ms", at_most=_WARM_MS, note=f"median of {repeats}"),
        Row("warm", f"n_neighbors={_NEIGHBOURS} / without", near / plain, "x", note=note),
    ]


def measure(chosen: argparse.Namespace) -> Iterator[list[Row]]:
    """Measure warm and first fits."""
    yield warm_fits(_WARM_COLUMNS // (10 if chosen.small else 1), 5 if chosen.small else 20)
    yield first_fits(1 if chosen.small else chosen.repeats)


PAGE = Page("First fits", "startup.md", __doc__, measure)

if __name__ == "__main__":
    raise SystemExit(PAGE.main())
