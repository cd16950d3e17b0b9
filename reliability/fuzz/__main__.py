"""``python -m reliability.fuzz``; see the package."""

import argparse
import sys
import time
from pathlib import Path

from reliability import records
from reliability.fuzz.readers import READERS
from reliability.fuzz.run import Tally, run

#: Cases of each reader that one child runs.
_ROUND = 25


def main() -> int:
    """Run rounds of all readers until the time is over; return whether there are defects."""
    parser = argparse.ArgumentParser(prog="python -m reliability.fuzz")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--readers", nargs="*", choices=list(READERS), default=list(READERS))
    parser.add_argument("--save", type=Path, help="folder that keeps the files of defects")
    parser.add_argument("--record", action="store_true", help="write the record of the page")
    asked = parser.parse_args()
    start, tally, first = time.monotonic(), Tally(), 0
    while time.monotonic() - start < 60 * asked.minutes:
        numbers = range(first, first + _ROUND)
        cases = [(name, number) for name in asked.readers for number in numbers]
        _merge(tally, run(asked.seed, cases, asked.save))
        first += _ROUND
    found = tally.to_dict()
    for name, counts in found["answers"].items():
        print(f"{name:16}", "  ".join(f"{answer} {count}" for answer, count in counts.items()))
    for words, count in found["defects"].items():
        print(f"{count:6} x {words}")
    for one in tally.defects[:20]:
        print(one)
    print(f"slowest case: {found['slowest_seconds']} s")
    if asked.record:
        minutes = round((time.monotonic() - start) / 60, 1)
        records.save("fuzz", {"seed": asked.seed, "minutes": minutes, **found})
    return int(bool(tally.defects))


def _merge(tally: Tally, more: Tally) -> None:
    for name, counts in more.answers.items():
        tally.answers.setdefault(name, counts.__class__()).update(counts)
    tally.defects += more.defects
    tally.slowest = max(tally.slowest, more.slowest)


if __name__ == "__main__":
    sys.exit(main())
