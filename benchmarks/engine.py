"""Speed and memory of the selectors, against peers, in one run.

``python -m benchmarks.engine [--cases NAME ...] [--repeats 3] [--small] [--out FILE]``

Wall and CPU seconds of the fit alone, medians over the runs, each in a fresh process. *Peak MB* is
all that was resident during the fit, with interpreter, libraries and data; *added MB* is the peak
minus what was resident just before the fit. `benchmarks.cases` has the cases and their bars.
"""

import argparse
from collections.abc import Iterator, Sequence

from benchmarks.cases import CASES, SCALES
from benchmarks.job import Job
from benchmarks.report import Measured, Page, Row
from benchmarks.runner import HEADER, Runner


def measure(chosen: argparse.Namespace) -> Iterator[Sequence[Row | Measured]]:
    """Run some cases; yield the rows of each and what was measured for them."""
    runner, scale = Runner(chosen.repeats), SCALES["small" if chosen.small else "full"]
    _compile()
    for name in chosen.cases:
        before = len(runner.measured)
        rows = list(CASES[name](runner, scale))
        yield [*rows, *list(runner.measured.values())[before:]]


def _compile() -> None:
    """Fill the compile cache, so that no measurement pays for compiling."""
    warm = Runner(repeats=1)
    normalised = {"measure": "nhsic"}
    for method, options in (("HSICLasso", normalised), ("NOCCOLasso", {}), ("EmbeddingLasso", {})):
        warm.measure(Job(method, 60, 40, 3, options=options))


PAGE = Page(
    "Engine", "engine.json", __doc__, measure, HEADER,
    {"--cases": {"nargs": "+", "choices": CASES, "default": list(CASES)}},
)  # fmt: skip

if __name__ == "__main__":
    raise SystemExit(PAGE.main())
