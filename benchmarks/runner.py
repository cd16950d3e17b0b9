"""Runs jobs in fresh processes, keeps medians, remembers what was measured."""

from dataclasses import asdict, dataclass, field
from statistics import median

from benchmarks.apart import call_apart, say
from benchmarks.job import Job

#: Columns of a table of measurements.
HEADER = (
    "method", "options", "data", "n", "d", "wall s", "CPU s", "peak MB", "added MB", "runs",
)  # fmt: skip


@dataclass(frozen=True)
class Measurement:
    """Medians over the repeats of a job; MB are 2**20 bytes, peaks the largest seen."""

    job: Job
    wall: float  #: seconds of the fit alone
    cpu: float  #: the same, of all threads
    peak_mb: float  #: peak resident memory during the fit: interpreter, libraries, data, all
    before_mb: float  #: resident memory just before the fit, with the data loaded
    data_mb: float  #: size of the table
    selected: list[int]  #: columns by decreasing weight
    weights: list[float]  #: their weights
    repeats: int

    @property
    def added_mb(self) -> float:
        """Peak minus what was resident before the fit."""
        return self.peak_mb - self.before_mb

    def cells(self) -> list[str]:
        """Return the line of the table."""
        job = self.job
        options = [f"{name}={value}" for name, value in job.options.items()]
        options += [f"without {name}" for name in job.without]
        columns = f"{job.d}" if job.columns is None else f"{job.columns} of {job.d}"
        times = [f"{self.wall:.3f}", f"{self.cpu:.3f}"]
        memory = [f"{self.peak_mb:.0f}", f"{self.added_mb:.0f}"]
        start = [job.method, ", ".join(options), job.data, f"{job.n}", columns]
        return [*start, *times, *memory, f"{self.repeats}"]


@dataclass
class Runner:
    """Measures jobs, each job once."""

    repeats: int = 3  #: fresh processes per job
    measured: dict[str, Measurement] = field(default_factory=dict)  #: by job, as they were made

    def measure(self, job: Job, *, repeats: int | None = None) -> Measurement:
        """Return the measurement of a job, from memory if it was made before."""
        if job.key() not in self.measured:
            times = range(repeats or self.repeats)
            say(f"{job.method} on {job.data}, n={job.n}, d={job.d} {job.options or ''}")
            runs = [call_apart("benchmarks.job", "perform", asdict(job))[0] for _ in times]
            self.measured[job.key()] = _summarise(job, runs)
            say(f"    {self.measured[job.key()].wall:.3f} s")
        return self.measured[job.key()]


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
