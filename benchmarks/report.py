"""Pages of results: the command line of every benchmark, findings with their bars, and tables."""

import argparse
import json
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

from benchmarks.apart import ROOT

_PEERS = ("pyHSICLasso", "mrmr_selection", "celer", "skglm", "clarabel", "piqp", "osqp")
_PACKAGES = ("hsiclasso", "numpy", "scipy", "scikit-learn", "numba", *_PEERS)
_BARS = ("case", "what", "value", "bar", "verdict", "note")


class Measured(Protocol):
    """A dataclass that knows its line of a table."""

    def cells(self) -> list[str]:
        """Return the line as text."""


@dataclass(frozen=True)
class Line:
    """A measurement that is only text."""

    texts: list[str]

    def cells(self) -> list[str]:
        """Return the line as text."""
        return self.texts


@dataclass(frozen=True)
class Row:
    """One finding, with the bar it has to clear."""

    case: str
    what: str
    value: float | None = None  #: None if the row is only a sentence
    unit: str = ""
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""

    @property
    def passed(self) -> bool | None:
        """Whether the bar is met; None without a bar."""
        if self.value is None or (self.at_least is None and self.at_most is None):
            return None
        if self.at_least is not None:
            return self.value >= self.at_least
        return self.value <= self.at_most

    def cells(self, judged: bool = True) -> list[str]:
        """Return the row as text."""
        bar = "" if self.at_least is None else f">= {self.at_least:g}"
        bar = bar if self.at_most is None else f"<= {self.at_most:g}"
        verdict = {True: "pass", False: "FAIL", None: ""}[self.passed if judged else None]
        return [self.case, self.what, _number(self.value, self.unit), bar, verdict, self.note]


@dataclass(frozen=True)
class Page:
    """A page of results."""

    title: str
    #: Name in benchmarks/results, with .md, or with .json to save both.
    file: str
    #: Docstring of the benchmark: a first sentence, how it is called, and the words of the page.
    doc: str
    #: Yields lists of findings, given the arguments of the command.
    measure: Callable[[argparse.Namespace], Iterator[Sequence[Row | Measured]]]
    header: Sequence[str] = ()  #: names of the columns of the measurements
    #: More arguments of the command, as `ArgumentParser.add_argument` takes them.
    options: dict[str, dict[str, Any]] | None = None
    repeats: int = 3  #: default of the command

    def main(self) -> int:
        """Measure, print and save; return 1 if a bar is missed."""
        parser = argparse.ArgumentParser(description=self.doc.split("\n")[0])
        for flag, how in (self.options or {}).items():
            parser.add_argument(flag, **how)
        parser.add_argument("--repeats", type=int, default=self.repeats)
        parser.add_argument("--small", action="store_true", help="small sizes; not judged")
        out = ROOT / "benchmarks" / "results" / self.file
        parser.add_argument("--out", type=Path, default=out)
        chosen = parser.parse_args()
        judged = not chosen.small
        rows: list[Row] = []
        measured: list[Measured] = []
        for findings in self.measure(chosen):
            for one in findings:
                (rows if isinstance(one, Row) else measured).append(one)
            self.save(chosen.out, rows, measured, judged)
        print(self.text(rows, measured, judged))
        return int(judged and any(row.passed is False for row in rows))

    def text(self, rows: list[Row], measured: list[Measured], judged: bool) -> str:
        """Return the page as Markdown."""
        facts = ", ".join(f"{name} {value}" for name, value in environment().items())
        parts = [f"# {self.title}", f"{facts}.", self.doc.split("\n\n", 2)[2].strip()]
        parts += [] if judged else ["Small sizes: the bars are not judged."]
        tables = {
            "## Bars": table(_BARS, [row.cells(judged) for row in rows]),
            "## Measurements": table(self.header, [one.cells() for one in measured]),
        }
        for title, lines in tables.items():
            parts += [title] * bool(rows and measured) + [lines] * bool(lines)
        return "\n\n".join(parts) + "\n"

    def save(self, path: Path, rows: list[Row], measured: list[Measured], judged: bool) -> None:
        """Write a run, as JSON too if the path says so."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".json":
            content = {
                "environment": environment(),
                "judged": judged,
                "rows": [{**asdict(row), "passed": row.passed} for row in rows],
                "measurements": [asdict(one) for one in measured],
            }
            path.write_text(json.dumps(content, indent=1) + "\n")
        path.with_suffix(".md").write_text(self.text(rows, measured, judged))


def environment() -> dict[str, str]:
    """Describe what the benchmark runs on."""
    facts = {"python": platform.python_version(), "system": platform.system()}
    facts |= {"machine": platform.machine(), "cores": str(os.cpu_count())}
    for name in _PACKAGES:
        try:
            facts[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return facts


def table(header: Sequence[str], rows: list[list[str]]) -> str:
    """Return a Markdown table whose columns line up; nothing if there are no rows."""
    if not rows:
        return ""
    widths = [max(3, *map(len, column)) for column in zip(header, *rows, strict=True)]
    rule = ["-" * width for width in widths]
    lines = [header, rule, *rows]
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    )


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    text = f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
    return f"{text}{unit}"
