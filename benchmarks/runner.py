"""Runs jobs in fresh processes, keeps medians, remembers what was measured."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.job import Job

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Measurement:
    """Medians over the repeats of a job; MB are 2**20 bytes, peaks the largest seen.

    Attributes
    ----------
    job : Job
    wall, cpu : float
        Seconds of the fit alone; CPU seconds count every thread.
    peak_mb : float
        Peak resident memory during the fit: interpreter, libraries, data, all.
    before_mb : float
        Resident memory just before the fit, with the data loaded.
    data_mb : float
        Size of the table.
    selected, weights : list
        Columns by decreasing weight, and their weights.
    repeats : int
    """

    job: Job
    wall: float
    cpu: float
    peak_mb: float
    before_mb: float
    data_mb: float
    selected: list[int]
    weights: list[float]
    repeats: int

    @property
    def added_mb(self) -> float:
        """Peak minus what was resident before the fit."""
        return self.peak_mb - self.before_mb


@dataclass
class Runner:
    """Measures jobs, each job once.

    Attributes
    ----------
    repeats : int
        Fresh processes per job.
    measured : dict
        Measurements by the key of their job, in the order they were made.
    """

    repeats: int = 3
    measured: dict[str, Measurement] = field(default_factory=dict)

    def measure(self, job: Job, *, repeats: int | None = None) -> Measurement:
        """Return the measurement of a job, from memory if it was made before."""
        if job.key() not in self.measured:
            times = repeats or self.repeats
            _say(f"{job.method} on {job.data}, n={job.n}, d={job.d} {job.options or ''}")
            runs = [json.loads(run_python("-m", "benchmarks.job", job.key())) for _ in range(times)]
            self.measured[job.key()] = _summarise(job, runs)
            _say(f"    {self.measured[job.key()].wall:.3f} s")
        return self.measured[job.key()]


def run_python(*arguments: str, **variables: str) -> str:
    """Run this interpreter at the root of the project; return its output.

    `variables` are added to the environment.
    """
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONWARNINGS": "ignore", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout


def _summarise(job: Job, runs: list[dict]) -> Measurement:
    return Measurement(
        job=job,
        wall=median(run["wall"] for run in runs),
        cpu=median(run["cpu"] for run in runs),
        peak_mb=max(run["peak_mb"] for run in runs),
        before_mb=median(run["before_mb"] for run in runs),
        data_mb=runs[0]["data_mb"],
        selected=runs[0]["selected"],
        weights=runs[0]["weights"],
        repeats=len(runs),
    )


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)
