"""Stability selection: 100 half-samples against one fit, and against ipss.

``python -m benchmarks.stability [--repeats 5] [--small] [--out FILE]``

Data2 with 500 samples of 5000 features, its raw target and two classes; 10, 20 and 50 features are
selected on each half-sample, as by the fit (bar: 15 times as long). One thread, CPU seconds; a fit
and the half-samples take turns, and medians are compared. For ipss, which has to be installed, the
same table with 20 features is compared (bar: 50 times faster); it runs once, with its defaults.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from statistics import median

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.report import Page, Row
from hsiclasso import HSICLasso, StabilitySelection, make_data2

_SIZES, _PEER_SIZE = (10, 20, 50), 20
_RATIO, _FASTER = 15.0, 50.0


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    before = time.process_time()
    work()
    return time.process_time() - before


def taking_turns(first: Callable, second: Callable, repeats: int) -> tuple[float, float]:
    """Median CPU seconds of two pieces of work that take turns; each runs once before."""
    first(), second()
    times = [(cpu_seconds(first), cpu_seconds(second)) for _ in range(repeats)]
    return median(t for t, _ in times), median(t for _, t in times)


def against_one_fit(n: int, d: int, repeats: int) -> list[Row]:
    """100 half-samples against one fit."""
    X, y, _ = make_data2(n, d, random_state=0)
    rows = []
    for name, target in (("real target", y), ("two classes", (y > np.median(y)).astype(int))):
        for size in _SIZES:
            fit = HSICLasso(size, n_jobs=1)
            stable = StabilitySelection(fit, threshold=0.75, random_state=0)
            one, all_halves = taking_turns(
                lambda fit=fit, target=target: fit.fit(X, target),
                lambda stable=stable, target=target: stable.fit(X, target),
                repeats,
            )
            note = f"{all_halves:.2f} s against {one:.3f} s"
            label = f"{name}, {size} features"
            rows.append(Row("one fit", label, all_halves / one, " times", None, _RATIO, note))
    return rows


def against_ipss(n: int, d: int, repeats: int) -> list[Row]:
    """100 half-samples against ipss."""
    try:
        from ipss import ipss
    except ImportError:
        return [Row("ipss", "20 features", note="ipss is not installed")]
    X, y, _ = make_data2(n, d, random_state=0)
    stable = StabilitySelection(HSICLasso(_PEER_SIZE, n_jobs=1), threshold=0.75, random_state=0)
    stable.fit(X, y)
    own = median(cpu_seconds(lambda: stable.fit(X, y)) for _ in range(repeats))
    peer = cpu_seconds(lambda: ipss(X, y, n_jobs=1))
    note = f"{peer:.0f} s against {own:.2f} s"
    return [Row("ipss", "20 features", peer / own, " times", _FASTER, None, note)]


def measure(chosen: argparse.Namespace) -> Iterator[list[Row]]:
    """Measure both cases."""
    part = 10 if chosen.small else 1
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        yield against_one_fit(500, 5000 // part, chosen.repeats)
        yield against_ipss(500, 5000 // part, chosen.repeats)


PAGE = Page("Stability selection", "stability.md", __doc__, measure, repeats=5)

if __name__ == "__main__":
    raise SystemExit(PAGE.main())
