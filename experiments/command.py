"""The command of a study with a page of its own: what it takes, runs, saves and writes."""

import argparse
import importlib
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from joblib import cpu_count

from experiments.datasets import add_data_option
from experiments.markdown import fill
from experiments.runner import Request, Study, announce, plan, run, tell
from experiments.tidy import TidyFile

__all__ = ["RESULTS", "ROOT", "Command", "start"]

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "experiments" / "results"


@dataclass(frozen=True)
class Command:
    """Runs studies, and writes their tables.

    Attributes
    ----------
    name : str
        Name of the module, without ``experiments``, and of the file of results.
    words : str
        Its docstring.
    studies : mapping
        Studies by name; a user may choose some if there are several.
    page : Path
        Page that gets the tables.
    blocks : callable
        Makes the blocks of the page from the file of results.
    """

    name: str
    words: str
    studies: Mapping[str, Study]
    page: Path
    blocks: Callable[[TidyFile], dict[str, str]]

    @property
    def file_name(self) -> str:
        """Name of the file of results."""
        return f"{self.name}.csv.gz"

    def __call__(self, arguments: list[str] | None = None) -> int:
        """Run what is missing, and write the page; return the exit code."""
        chosen = self._parser().parse_args(arguments)
        file = TidyFile(chosen.out / self.file_name)
        parts = (chosen.methods, chosen.sets, chosen.sizes)
        methods, sets, sizes = (tuple(part) if part else None for part in parts)
        request = Request(chosen.runs, methods, sets, chosen.data, sizes)
        failures, code = [], 0
        try:
            studies = [self.studies[name] for name in chosen.studies or self.studies]
            works = [plan(study, request, file) for study in studies]
            announce(works, file, chosen.jobs)
            for work in works:
                failures += run(work, file, chosen.jobs)
        except KeyboardInterrupt:
            tell("interrupted; what is done is saved. The same command goes on from here.")
            code = 130
        fill(chosen.page, self.blocks(file))
        return code or (1 if failures else 0)

    def _parser(self) -> argparse.ArgumentParser:
        parser = argparse.ArgumentParser(
            prog=f"python -m experiments.{self.name}", description=self.words.split("\n\n")[0]
        )
        if len(self.studies) > 1:
            parser.add_argument("studies", nargs="*", choices=[*self.studies, []], metavar="STUDY",
                                help="some of " + ", ".join(self.studies))  # fmt: skip
        else:
            parser.set_defaults(studies=[])
        parser.add_argument("--runs", type=int, help="draws or splits (default: all of the study)")
        parser.add_argument("--methods", nargs="+", metavar="NAME", help="only these methods")
        parser.add_argument("--sets", nargs="+", metavar="NAME", help="only these designs or sets")
        parser.add_argument("--sizes", nargs="+", type=_size, metavar="NxD", help="only these")
        parser.add_argument("--jobs", type=int, default=cpu_count(), help="processes")
        parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
        parser.add_argument("--page", type=Path, default=self.page, help="page of the tables")
        add_data_option(parser)
        return parser


def _size(text: str) -> tuple[int, int]:
    n, d = text.split("x")
    return int(n), int(d)


def start(module: str) -> None:
    """Run the command of a module, which is imported by name so that other processes find it."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(importlib.import_module(module).main())
