r"""Mutual information of columns that are cut into few states.

With :math:`c_{ab}` the number of samples in state a of one column and b of the other,

.. math:: I = \log n + \frac1n\Big(\sum_{ab} f(c_{ab}) - \sum_a f(c_a) - \sum_b f(c_b)\Big),
          \qquad f(c) = c \log c

in nats. Counts are whole numbers: f is a table. Its values are rounded so that their sums are exact
and f(ab) = a f(b) + b f(a): columns of equal information tie on every machine. For one column
against all, pairs of states are counted. For many against many, counts are products of zeros and
ones, exact in single precision.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.job import Job
from hsiclasso.baselines.parts import for_parts
from hsiclasso.errors import InvalidInputError

if TYPE_CHECKING:
    from hsiclasso.baselines.dependency import MeasureOptions

__all__ = ["MAX_STATES", "BinnedInformation", "States", "cut_columns", "relate_binned"]

CodeArray = npt.NDArray[np.uint8]

#: Most states of a column.
MAX_STATES = 200
#: Entries of the table that are cut together.
_BLOCK = 1 << 20
#: Products are faster than counting for at least this many columns, of at most this many states.
#: Their counts are exact below this many samples.
_PRODUCT, _FEW_STATES, _EXACT = 8, 8, 1 << 24
#: Most states on each side of a product, and most zeros and ones that stand for them.
_SIDE, _ONES = 1024, 1 << 23


@dataclass(frozen=True)
class States:
    """Columns as states."""

    codes: CodeArray  # (k, n), state of each sample in each column
    sizes: IntArray  # (k,), number of states of each column

    def take(self, columns: IntArray) -> States:
        """Return some of the columns."""
        return States(self.codes[columns], self.sizes[columns])

    def indicators(self) -> npt.NDArray[np.float32]:
        """Return a row of zeros and ones for each state of each column, (sum of sizes, n)."""
        from hsiclasso.baselines._binned_loops import fill_indicators

        out = np.zeros((int(self.sizes.sum()), self.codes.shape[1]), dtype=np.float32)
        fill_indicators(self.codes, self.starts, out)
        return out

    @property
    def starts(self) -> IntArray:
        """Where the states of each column begin if they are listed one after the other."""
        return np.cumsum(self.sizes) - self.sizes


def cut_columns(columns: FloatArray, options: MeasureOptions, *, labels: bool = False) -> States:
    """Cut columns (k, n) into states; each label is a state.

    Columns with no more distinct values than there would be states keep them all.
    """
    from hsiclasso.baselines._binned_loops import cut, few_levels

    codes = np.empty(columns.shape, dtype=np.uint8)
    sizes = np.zeros(len(columns), dtype=np.int64)
    levels = labels or options.bins == "levels"
    few = {"peng": 3, "quantile": options.n_bins, "levels": MAX_STATES}[options.bins]
    few_levels(columns, MAX_STATES if levels else few, codes, sizes)
    many = np.flatnonzero(sizes == 0)
    if not many.size or levels:
        return States(codes, sizes)
    some = columns[many]
    if options.bins == "peng":
        # squares of huge numbers overflow, those of tiny ones vanish; powers of two are exact
        some = np.ldexp(some, -np.frexp(np.abs(some).max(axis=1, keepdims=True))[1])
        edges = _peng_edges(some, options.threshold)
    else:
        edges = _quantile_edges(some, options.n_bins)
    cut(some, many, np.ascontiguousarray(edges), codes, sizes)
    return States(codes, sizes)


def _peng_edges(columns: FloatArray, threshold: float) -> FloatArray:
    """Mean -+ some deviations, (k, 2)."""
    mean, spread = columns.mean(axis=1), threshold * columns.std(axis=1, ddof=1)
    # a value at either edge is in the middle state
    return np.column_stack([np.nextafter(mean - spread, -np.inf), mean + spread])


def _quantile_edges(columns: FloatArray, n_bins: int) -> FloatArray:
    """Values that divide a column into states of equal size, (k, n_bins - 1)."""
    ordered = np.sort(columns, axis=1)
    edges = ordered[:, np.arange(1, n_bins) * (columns.shape[1] - 1) // n_bins]
    # no value exceeds the largest: an edge there is lowered, so that its samples are a state
    largest = ordered[:, -1:]
    return np.where(edges == largest, np.nextafter(largest, -np.inf), edges)


def relate_binned(job: Job, options: MeasureOptions) -> BinnedInformation:
    """Cut table and target into states, and compare every feature with the target."""
    target = _target_states(job, options)
    return BinnedInformation(_table_states(job, options), target, job.n_threads)


class BinnedInformation:
    """Mutual information of features with the target, and between features.

    The relevance is averaged over the columns of `target`.
    """

    def __init__(self, features: States, target: States, n_threads: int) -> None:
        self._features = features
        self._n_threads = n_threads
        self._logs = _exact_logs(features.codes.shape[1])
        self._own = self._sum_logs(features)
        everything = np.arange(len(features.codes))
        self.relevance = self._count(everything, target).mean(axis=1)

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the mutual information of features `rows` with features `cols`."""
        sizes, n = self._features.sizes, self._features.codes.shape[1]
        n_states = int(max(sizes[rows].max(initial=1), sizes[cols].max(initial=1)))
        others = self._features.take(cols)
        if cols.size < _PRODUCT or n_states > _FEW_STATES or n >= _EXACT:
            return self._count(rows, others)
        return self._multiply(rows, others, max(1, min(_SIDE, _ONES // n) // n_states))

    def _sum_logs(self, states: States) -> FloatArray:
        """Sum c log c over the states of each column."""
        from hsiclasso.baselines._binned_loops import sum_logs

        out = np.empty((len(states.codes), 2))
        sum_logs(states.codes, states.sizes, self._logs, out)
        return out

    def _count(self, rows: IntArray, others: States) -> FloatArray:
        """Mutual information by counting pairs of states."""
        from hsiclasso.baselines._binned_loops import count_information

        out, others_own = np.empty((rows.size, len(others.codes))), self._sum_logs(others)

        def fill(part: slice) -> None:
            some = rows[part]
            for j, (codes, size) in enumerate(zip(others.codes, others.sizes, strict=True)):
                count_information(
                    self._features.codes, self._features.sizes, self._own, some, codes, size,
                    others_own[j], self._logs, out[part, j],
                )  # fmt: skip

        step = max(1, _BLOCK // self._features.codes.shape[1])
        for_parts(fill, rows.size, step, self._n_threads)
        return out

    def _multiply(self, rows: IntArray, others: States, step: int) -> FloatArray:
        """Mutual information by products of zeros and ones, `step` columns at a time."""
        from hsiclasso.baselines._binned_loops import information_from_counts

        out, others_own = np.empty((rows.size, len(others.codes))), self._sum_logs(others)

        def fill(part: slice) -> None:
            some = self._features.take(rows[part])
            ones = some.indicators()
            for start in range(0, len(others.codes), step):
                side = slice(start, start + step)
                chosen = States(others.codes[side], others.sizes[side])
                information_from_counts(
                    ones @ chosen.indicators().T, some.starts, some.sizes, self._own[rows[part]],
                    chosen.starts, chosen.sizes, others_own[side], self._logs, out[part, side],
                )  # fmt: skip

        for_parts(fill, rows.size, step, self._n_threads)
        return out


def _exact_logs(n: int) -> FloatArray:
    """Return c log c for counts c up to n as two parts (2, n + 1), whose sums are exact."""
    from hsiclasso.baselines._binned_loops import additive_logs

    counts = np.maximum(np.arange(n + 1, dtype=np.float64), 1.0)
    # sums are within 2 n log n; of what the first part leaves out, within 2 n log2(n) / 2**bits
    bits = 51 - int(np.ceil(np.log2(2 * n * np.log(n) + 1)))
    more = 51 + bits - int(np.ceil(np.log2(2 * n * np.log2(n) + 1)))
    out = np.empty((2, n + 1))
    additive_logs(np.log(counts), 2.0**bits, 2.0**more, out)
    return out


def _table_states(job: Job, options: MeasureOptions) -> States:
    """Cut the table, block by block."""
    source, d = job.source, job.source.n_features
    states = States(np.empty((d, job.source.n_samples), dtype=np.uint8), np.ones(d, dtype=np.int64))

    def fill(part: slice) -> None:
        block = source.block(part).T
        kinds = [source.uniform_kind or source.kind(j) for j in range(part.start, part.stop)]
        labels = np.isin(kinds, ("category", "text"))
        for which in (labels, ~labels):
            if which.any():
                found = cut_columns(block[which], options, labels=bool(which is labels))
                states.codes[part][which] = found.codes
                states.sizes[part][which] = found.sizes

    step = max(1, _BLOCK // job.source.n_samples)
    for_parts(fill, d, step, job.n_threads, lambda done: job.report("states", done, d))
    unfit = np.flatnonzero(states.sizes == 0)
    if unfit.size:
        raise InvalidInputError(
            f"column {source.name(int(unfit[0]))!r} has more than {MAX_STATES} distinct values "
            f"({unfit.size} columns in all), too many for a state each: cut them with "
            "bins='quantile' or 'peng', or leave out labels that identify samples."
        )
    return states


def _target_states(job: Job, options: MeasureOptions) -> States:
    """Cut the target: one column, or several whose relevance is averaged."""
    data = job.outputs(
        "which cannot be cut into states: take a measure with kernels (measure='hsic', or 'parzen' "
        "for affinities).",
    )
    states = cut_columns(data.values, options, labels=job.by_class)
    if options.bins == "levels" and not states.sizes.all() and not job.by_class:
        # too many values for a state each
        states = cut_columns(data.values, replace(options, bins="peng"))
    if len(states.codes) > 1 and not data.averaged:
        _, joint = np.unique(states.codes, axis=1, return_inverse=True)
        values = np.asarray(joint, dtype=np.float64).reshape(1, -1)
        states = cut_columns(values, options, labels=True)
    if not states.sizes.all():
        raise InvalidInputError(
            f"y has more than {MAX_STATES} classes or states, too many to be counted: merge some, "
            "average over outputs with target=Classes(outputs='average'), or pass target='real'."
        )
    return states
