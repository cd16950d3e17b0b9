"""Speed and memory of the selectors, against peers, in one run.

``python -m benchmarks.engine [--cases NAME ...] [--repeats R] [--out FILE]``

Every measurement runs in a fresh process with the interpreter that runs the benchmark; see
`benchmarks.job` for what is timed and `benchmarks.cases` for the cases and their bars.
"""

import argparse
from pathlib import Path

from benchmarks.cases import CASES, SCALES
from benchmarks.job import Job
from benchmarks.report import Row, as_markdown, save
from benchmarks.runner import ROOT, Runner

_OUT = ROOT / "benchmarks" / "results" / "engine.json"


def run(cases: list[str], repeats: int, scale: str, out: Path) -> list[Row]:
    """Run some cases, saving after each; return the rows."""
    runner, rows, judged = Runner(repeats), [], scale == "full"
    _compile()
    for name in cases:
        rows += CASES[name](runner, SCALES[scale])
        save(out, rows, list(runner.measured.values()), judged)
    print(as_markdown(rows, list(runner.measured.values()), judged))
    return rows


def _compile() -> None:
    """Fill the compile cache, so that no measurement pays for compiling."""
    warm = Runner(repeats=1)
    for method, options in (("HSICLasso", {"measure": "nhsic"}), ("NOCCOLasso", {})):
        warm.measure(Job(method, 60, 40, 3, options=options))


def main() -> int:
    """Parse the arguments; the exit code is 1 if a bar was missed."""
    parser = argparse.ArgumentParser(description="Speed and memory, against peers, in one run.")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=_OUT)
    parser.add_argument("--scale", choices=SCALES, default="full", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    rows = run(chosen.cases, chosen.repeats, chosen.scale, chosen.out)
    return int(chosen.scale == "full" and any(row.passed is False for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
