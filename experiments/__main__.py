"""The paper, reproduced from one command.

``python -m experiments all`` runs every table and figure, ``python -m experiments table3 figure5``
some of them; ``--runs 3`` gives a first look. Results go to one tidy file. Runs that are in it are
not repeated, so you can interrupt at any time and continue with the same command. Figures and the
page with our numbers beside the printed ones are written at the end; ``python -m experiments page``
writes them from the results that are there.
"""

import argparse
import signal
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from joblib import cpu_count

from experiments.blocks import BLOCKS
from experiments.classification import EPSILON, FIGURE3, FIGURE4, TABLES
from experiments.datasets import WrongDataError, add_data_option
from experiments.figure1 import RECOVERY, TIME_D, TIME_N
from experiments.figures import write_figures
from experiments.nocco_epsilon import NOCCO_EPSILON
from experiments.page import write_page
from experiments.regression import FIGURE5, FIGURE5_WIDTHS
from experiments.runner import Failure, Request, Study, announce, plan, run, tell
from experiments.tidy import TidyFile

OUT = Path(__file__).resolve().parent / "results"
PAGE = OUT.parent / "README.md"

#: What can be asked for: studies, and which of their methods are needed (None: all).
TARGETS = {
    "figure1": [(RECOVERY, None), (TIME_D, None), (TIME_N, None)],
    "figure1ab": [(RECOVERY, None)],
    "figure1c": [(TIME_D, None)],
    "figure1d": [(TIME_N, None)],
    "nocco_epsilon": [(RECOVERY, ("HSIC Lasso", "NOCCO Lasso")), (NOCCO_EPSILON, None)],
    "table3": [(TABLES, None)],
    "table4": [(TABLES, None), (EPSILON, None)],
    "figure2": [(TABLES, None)],
    "figure3": [(TABLES, ("HSIC Lasso",)), (FIGURE3, None)],
    "figure4": [(TABLES, ("HSIC Lasso",)), (FIGURE4, None)],
    "figure5": [(FIGURE5, None), (FIGURE5_WIDTHS, None)],
    "blocks": [(BLOCKS, None)],
    "page": [],
}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description=__doc__.split("\n\n")[0]
    )
    parser.add_argument("targets", nargs="+", choices=[*TARGETS, "all"], metavar="TARGET",
                        help="all, or some of " + ", ".join(TARGETS))  # fmt: skip
    parser.add_argument("--runs", type=int, help="draws or splits (default: the paper's 30 or 100)")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="only these methods")
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="only these data sets")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of results and figures")
    parser.add_argument("--jobs", type=int, default=cpu_count(), help="processes")
    add_data_option(parser)
    chosen = parser.parse_args(arguments)
    studies = [study for study, _ in wanted(["all"])]
    for option in ("methods", "sets"):
        known = list(dict.fromkeys(name for study in studies for name in getattr(study, option)))
        for name in getattr(chosen, option) or ():
            if name not in known:
                parser.error(f"--{option} {name!r} does not exist; there are {'; '.join(known)}.")
    for option in ("runs", "jobs"):
        value = getattr(chosen, option)
        if value is not None and value < 1:
            parser.error(f"--{option} {value} must be at least 1.")
    return chosen


def wanted(targets: list[str]) -> list[tuple[Study, tuple[str, ...] | None]]:
    """List studies, each once, with the methods needed of it."""
    needed: dict[Study, tuple[str, ...] | None] = {}
    for name in TARGETS if "all" in targets else targets:
        for study, methods in TARGETS[name]:
            before = needed.get(study, ())
            needed[study] = None if None in (before, methods) else (*before, *methods)
    return list(needed.items())


def main(arguments: list[str] | None = None) -> int:
    """Run what is missing; return 1 on a failure, 2 for bad data or folder, 130 if interrupted."""
    chosen = parse(arguments)
    try:
        # before any work: what cannot be saved is not begun
        chosen.out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=chosen.out).close()
        file = TidyFile(chosen.out / "paper.csv.gz")
    except (OSError, ValueError) as error:
        tell(f"--out {chosen.out}: {error}")
        return 2
    methods = tuple(chosen.methods) if chosen.methods else None
    sets = tuple(chosen.sets) if chosen.sets else None
    request = Request(chosen.runs, methods, sets, chosen.data)
    failures: list[Failure] = []
    code = 0
    try:
        works = [
            plan(study, replace(request, methods=methods or needed), file)
            for study, needed in wanted(chosen.targets)
        ]
        announce(works, file, chosen.jobs)
        for work in works:
            failures += run(work, file, chosen.jobs)
    except WrongDataError as error:
        tell(str(error))
        return 2
    except KeyboardInterrupt:
        tell("interrupted; what is done is saved. The same command goes on from here.")
        code = 130
    show(file, chosen.out)
    return code or (1 if failures else 0)


def show(file: TidyFile, out: Path) -> None:
    """Draw the figures and write the page: this folder's, or a copy of it beside other results."""
    page = PAGE
    if out.resolve() != OUT:
        page = out / PAGE.name
        page.write_text(PAGE.read_text().replace("](results/", "]("))
    write_figures(file, out)
    write_page(file, page)
    tell(f"figures are in {out}, numbers beside the printed ones in {page}.")


if __name__ == "__main__":
    # a batch system that ends a job is an interrupt too: what is done is saved
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
