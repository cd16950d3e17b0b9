"""Rows with a bar, and how a run is printed and saved."""

import json
import os
import platform
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from benchmarks.runner import Measurement

_PEERS = ("pyHSICLasso", "mrmr_selection")
_PACKAGES = ("hsiclasso", "numpy", "scipy", "scikit-learn", "numba", *_PEERS)


@dataclass(frozen=True)
class Row:
    """One finding.

    Attributes
    ----------
    case, what : str
    value : float or None
        None if the row is only a sentence.
    unit : str
    at_least, at_most : float or None
        The bar.
    note : str
    """

    case: str
    what: str
    value: float | None = None
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

    def cells(self, judged: bool) -> list[str]:
        """Return the row as text."""
        bar = "" if self.at_least is None else f">= {self.at_least:g}"
        bar = bar if self.at_most is None else f"<= {self.at_most:g}"
        verdict = {True: "pass", False: "FAIL", None: ""}[self.passed if judged else None]
        return [self.case, self.what, _number(self.value, self.unit), bar, verdict, self.note]


def environment() -> dict[str, str]:
    """Describe what the benchmark ran on."""
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "absent"
    system = {"python": platform.python_version(), "system": platform.system()}
    return {**system, "machine": platform.machine(), "cores": str(os.cpu_count()), **versions}


def as_markdown(rows: list[Row], measured: list[Measurement], judged: bool) -> str:
    """Return the two tables of a run: bars, and every measurement."""
    facts = ", ".join(f"{name} {value}" for name, value in environment().items())
    bars = table(
        ["case", "what", "value", "bar", "verdict", "note"], [row.cells(judged) for row in rows]
    )
    header = [
        "method",
        "options",
        "data",
        "n",
        "d",
        "wall s",
        "CPU s",
        "peak MB",
        "added MB",
        "runs",
    ]
    times = table(header, [_measurement_cells(one) for one in measured])
    warning = "" if judged else "\nSmall sizes: the bars are not judged.\n"
    return (
        f"# Engine\n\n{facts}.\n{warning}\n## Bars\n\n{bars}\n\n## Measurements\n\n"
        "Wall and CPU seconds of the fit alone, medians over the runs, each in a fresh process. "
        "Peak MB is all that was resident during the fit (interpreter, libraries and data "
        "included), added MB the peak minus what was resident just before it.\n\n"
        f"{times}\n"
    )


def save(path: Path, rows: list[Row], measured: list[Measurement], judged: bool) -> None:
    """Write a run as JSON, and beside it as Markdown."""
    content = {
        "environment": environment(),
        "judged": judged,
        "rows": [{**asdict(row), "passed": row.passed} for row in rows],
        "measurements": [asdict(one) for one in measured],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n")
    path.with_suffix(".md").write_text(as_markdown(rows, measured, judged))


def publish(title: str, words: str, rows: list[Row], out: Path, judged: bool) -> int:
    """Print rows under some words, save them as Markdown, and return 1 if a bar is missed."""
    header = ["case", "what", "value", "bar", "verdict", "note"]
    facts = ", ".join(f"{name} {value}" for name, value in environment().items())
    made = table(header, [row.cells(judged) for row in rows])
    text = f"# {title}\n\n{facts}.\n\n{words}\n\n{made}\n"
    print(text)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text)
    return int(judged and any(row.passed is False for row in rows))


def table(header: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table whose columns line up."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    rule = ["-" * max(width, 3) for width in widths]
    lines = [header, rule, *rows]
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    )


def _measurement_cells(one: Measurement) -> list[str]:
    job = one.job
    options = ", ".join(f"{name}={value}" for name, value in job.options.items())
    columns = f"{job.d}" if job.columns is None else f"{job.columns} of {job.d}"
    numbers = [f"{one.wall:.3f}", f"{one.cpu:.3f}", f"{one.peak_mb:.0f}", f"{one.added_mb:.0f}"]
    return [job.method, options, job.data, f"{job.n}", columns, *numbers, f"{one.repeats}"]


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    text = f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
    return f"{text}{unit}"
