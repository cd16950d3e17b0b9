"""What a selection will cost, before it is done."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from hsiclasso._blas import single_threaded_blas
from hsiclasso._memory import in_words, resident_bytes
from hsiclasso.data import as_dataset
from hsiclasso.data.preparation import Preparation
from hsiclasso.dependence import first_pass
from hsiclasso.dependence.relate import NEIGHBOURS_AT_ONCE
from hsiclasso.dependence.streaming import StreamedPass
from hsiclasso.kernels import Embedding
from hsiclasso.selectors.auto import first_path, is_auto
from hsiclasso.selectors.pipeline import n_exact, target_matrix
from hsiclasso.selectors.prepare import Inputs, prepare
from hsiclasso.selectors.resources import as_resources

__all__ = ["Plan", "plan"]

#: Number of chunks that are tried.
_TRIED = 3
#: Chunks of a table that must be prepared may be large: at most this many usual chunks are tried.
_MOST_TIMES = 4
#: Passes that a sum of functions usually takes: the first one, and those with the residual.
_EMBEDDING_PASSES = 3
#: A pass that takes longer should be kept in a folder, or run on several machines.
_LONG = 600.0
#: If reading takes more than this share of the time, a smaller store would help.
_MOSTLY_READING = 0.5
#: Said if tests find the number of features.
_TESTED = (
    "The tests of candidates come after it. If more than half of them are found, another pass and "
    "a longer path follow."
)


@dataclass(frozen=True)
class Plan:
    """What a selection will read, how much memory it needs, and about how long it takes."""

    n_samples: int
    n_features: int
    #: Passes over the table: one, or usually three for EmbeddingLasso, those that look for
    #: neighbours, and two that scan pairs of features.
    n_passes: int
    #: Chunks of columns of one pass.
    n_chunks: int
    #: Bytes that are read in all passes, and those that preparing the table reads and writes.
    bytes_read: int
    #: Most bytes that the process will use: what it uses now, the target, and the selection.
    memory_bound: int
    #: Estimated seconds of all passes with the threads that there are, without the path.
    seconds: float
    #: Share of this time that is spent on reading.
    reading_share: float
    #: Threads that work on chunks, those of a cluster included.
    n_threads: int
    #: What would make it cheaper.
    advice: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all fields by name."""
        return asdict(self)

    def __str__(self) -> str:
        passes = f"{self.n_passes} pass" + ("es" if self.n_passes > 1 else "")
        size = in_words(self.bytes_read)
        lines = [
            f"{self.n_samples:,} samples x {self.n_features:,} features",
            f"{passes} over {self.n_chunks:,} chunks of columns: {size} to read",
            f"at most {in_words(self.memory_bound)} of memory",
            f"about {_duration(self.seconds)} with {self.n_threads} thread"
            f"{'s'[: self.n_threads != 1]} ({self.reading_share:.0%} of it reading), and the "
            "solution path after it",
            *self.advice,
        ]
        return "\n".join(lines)


def plan(
    selector: Any, X: Any, y: Any = None, *, sample_weight: Any = None, covariates: Any = None
) -> Plan:
    """Find out what fitting a selector will cost; nothing is selected.

    A few chunks of columns are read and related, and the time is scaled to the whole table. If a
    store must be re-chunked first, only a few of its chunks are read.

    Parameters
    ----------
    selector : HSICLasso
        The estimator, with its parameters.
    X, y, sample_weight, covariates
        As in its `fit`.

    Returns
    -------
    Plan

    Examples
    --------
    >>> from hsiclasso import HSICLasso, make_data1, plan
    >>> X, y, _ = make_data1(200, 1000, random_state=0)
    >>> plan(HSICLasso(10), X, y).n_passes
    1
    """
    data = as_dataset(X, y)
    weights = data.weights if sample_weight is None else sample_weight
    tested, selector = is_auto(selector), first_path(selector)
    inputs = prepare(selector, data.source, data.y, sample_weight=weights, covariates=covariates)
    source, n_threads = inputs.features.source, _n_threads(selector, inputs)
    needed = source.preparation(inputs.budget.chunk)
    with single_threaded_blas():
        one_pass = _try_pass(inputs, needed)
    once = _EMBEDDING_PASSES if isinstance(inputs.measure, Embedding) else 1
    n_passes = once + _neighbour_passes(selector, inputs) + _scan_passes(inputs)
    first, first_bytes = (0.0, 0) if needed is None else (needed.once.seconds, needed.once.n_bytes)
    reading = first + n_passes * one_pass.reading / n_threads
    seconds = reading + n_passes * one_pass.relating / n_threads
    share = reading / max(seconds, 1e-12)
    advice = _advice(selector, inputs, seconds, share > _MOSTLY_READING)
    if tested:
        advice.append(_TESTED)
    if needed is not None:
        advice.insert(0, f"{needed.sentence} With this, reading takes about {_duration(reading)}.")
    return Plan(
        source.n_samples,
        inputs.features.n_features,
        n_passes,
        one_pass.n_chunks,
        first_bytes + n_passes * one_pass.n_bytes,
        resident_bytes()
        + source.bytes_to_come
        + inputs.budget.bound(source.n_samples, inputs.features.n_features),
        seconds,
        share,
        n_threads,
        tuple(advice),
    )


@dataclass(frozen=True)
class _OnePass:
    """What one pass over the table takes, in one thread."""

    n_chunks: int
    n_bytes: int
    reading: float
    relating: float


def _try_pass(inputs: Inputs, needed: Preparation | None) -> _OnePass:
    """Load and relate a few chunks; those of a table that must be prepared are made up."""
    features = inputs.features
    if needed is not None:
        features = replace(features, source=needed.stand_in)
    work = first_pass(features, target_matrix(inputs), inputs.measure, n_exact(inputs))
    streamed = StreamedPass(work, "plan", max(1, n_exact(inputs)), inputs.budget)
    chunks = streamed.blocks()
    source, n_chunks = features.source, len(chunks)
    if needed is None:
        loading, relating = _try_chunks(streamed, chunks)
        return _OnePass(n_chunks, source.n_bytes, n_chunks * loading, n_chunks * relating)
    most = _MOST_TIMES * inputs.budget.chunk * source.n_features // max(1, source.n_bytes)
    tried = [slice(part.start, min(part.stop, part.start + max(1, most))) for part in chunks]
    _, relating = _try_chunks(streamed, tried)
    times = features.n_features / sum(part.stop - part.start for part in tried)
    cost = needed.each_pass
    return _OnePass(n_chunks, cost.n_bytes, cost.seconds, n_chunks * relating * times)


def _try_chunks(streamed: StreamedPass, chunks: list[slice]) -> tuple[float, float]:
    """Return the seconds that loading and relating a chunk take, as medians over a few chunks."""
    tried = np.unique(np.linspace(0, len(chunks) - 1, _TRIED).astype(int)).tolist()
    streamed(chunks[tried[0]])  # compiles loops and fills buffers
    loading, relating = [], []
    for number in tried:
        start = time.perf_counter()
        loaded = streamed.load(chunks[number])
        middle = time.perf_counter()
        streamed.relate(chunks[number], loaded)
        loading.append(middle - start)
        relating.append(time.perf_counter() - middle)
    return float(np.median(loading)), float(np.median(relating))


def _n_threads(selector: Any, inputs: Inputs) -> int:
    client = as_resources(selector.resources).connected(inputs.features.source)
    if client is None:
        return inputs.budget.n_threads
    return max(1, int(sum(client.nthreads().values())))


def _neighbour_passes(selector: Any, inputs: Inputs) -> int:
    """Number of passes that look for the neighbours of selected features."""
    wanted = inputs.goal.n_features or inputs.features.n_features
    return -(-wanted // NEIGHBOURS_AT_ONCE) if selector.n_neighbors else 0


def _scan_passes(inputs: Inputs) -> int:
    """Number of times that a scan of pairs reads the table: for their rows, and with the target."""
    offer = inputs.offer
    scans = offer is not None and not offer.listed and offer.option.hierarchy != "strong"
    return 2 if scans and offer is not None and offer.option.pairs == "all" else 0


def _advice(selector: Any, inputs: Inputs, seconds: float, mostly_reading: bool) -> list[str]:
    """Return what would make a selection cheaper."""
    advice, source, resources = [], inputs.features.source, as_resources(selector.resources)
    if selector.n_neighbors:
        advice.append("n_neighbors=0 saves the passes that look for neighbours.")
    if mostly_reading and not source.in_memory:
        per_value = source.n_bytes / (source.n_samples * source.n_features)
        if per_value > 4:
            advice.append("Most of the time is reading: a store of float32 is half as large.")
        else:
            advice.append("Most of the time is reading: a faster disk or less compression helps.")
    if seconds > _LONG and resources.checkpoint is None:
        advice.append("A checkpoint keeps what is finished, should the work be interrupted.")
    if seconds > _LONG and resources.client is None:
        advice.append("A Dask cluster, or parts in a job array, share the work.")
    return advice


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
