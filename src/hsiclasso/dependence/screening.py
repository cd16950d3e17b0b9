r"""A cheap pass that bounds the relevance of every feature from above.

Most features are far from being selected. The path needs only an upper bound on their relevance.
This pass puts the values of a column on a grid (`hsiclasso.kernels.grid`) and sums the rows of a
short form of the target in single precision. Let :math:`\phi` be the feature map of the kernel,
W the total weight of the samples, and t the rows of the short target :math:`T_1`. Then

.. math:: b = \langle K, T\rangle
    \le \Big(\sqrt{\tilde b + \rho V} + \eta\sqrt V\Big)^2
    + \|T - T_1\|_F \operatorname{tr} \bar K , \qquad V = W \operatorname{tr} T_1 ,

where :math:`\tilde b = \sum_t \|\sum_i t_i \tilde\phi(z_i)\|^2` is the computed value, :math:`\rho`
is the squared norm that the features of the nodes leave out, and :math:`\eta` bounds the errors of
interpolation and rounding: by the Cauchy-Schwarz inequality
:math:`\sum_t\|\sum_i t_i (\phi - \tilde\phi)(z_i)\|^2 \le \eta^2 W \operatorname{tr} T_1`.
The rows of the target are centred. Therefore the columns need not be centred.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.dependence.buffers import thread_buffer
from hsiclasso.dependence.features import Features
from hsiclasso.dependence.relevance import PassResult, RelevancePass
from hsiclasso.kernels import Factor, Grid, Kernel, Measure, Samples
from hsiclasso.kernels.grid import shortened
from hsiclasso.targets.class_rows import ClassRows
from hsiclasso.targets.matrix import FactoredTarget, TargetMatrix
from hsiclasso.targets.split import SplitRows, dense_rows, split_rows

__all__ = ["REACHES", "Screened", "ScreeningPass", "can_be_screened"]

#: Share of the relevance of an unrelated feature that a short target may lose.
_TARGET_SHARE = 0.05
#: Largest magnitudes of scaled values on the grids; columns with larger ones are related exactly.
REACHES = (4.5, 7.0, 10.0, 14.0)
#: Largest distance between the feature map of a value and its interpolation, and the squared norm
#: that nodes may leave out, with 1000 samples. They raise the bound of an unrelated feature by some
#: hundredths. With more samples they must be smaller to raise it by no more.
_GRID_ERROR, _LEFT_OUT = 3e-4, 1e-5
#: A finer grid takes longer than the relevances that it saves.
_LEAST_GRID_ERROR = 6e-5
#: Default relative error of Gram matrices.
_USUAL_ERROR = 1e-6
#: If half the range of a column exceeds this many deviations, its variance is not accurate.
_INACCURATE_RANGE = 1e4
#: With fewer samples, screening is not faster than relating columns exactly.
_LEAST_SAMPLES = 256
#: Largest relative rounding error of one operation in single precision.
_UNIT = 2.0**-24


@dataclass(frozen=True)
class Screened:
    """Results of screening for some features."""

    #: Estimates of the relevance; the relevance itself where `exact` is True.
    result: PassResult
    #: Upper bounds on the relevance, shape (k,).
    upper: FloatArray
    #: Whether a feature was related exactly, shape (k,).
    exact: BoolArray

    @classmethod
    def of(cls, found: PassResult | Screened) -> Screened:
        """Return results; those of a `RelevancePass` are exact."""
        if isinstance(found, Screened):
            return found
        relevance = found.relevance[:, 0].copy()
        return cls(found, relevance, np.ones(relevance.size, dtype=bool))

    @classmethod
    def together(cls, parts: list[Screened]) -> Screened:
        """Concatenate the results of blocks."""
        return cls(
            PassResult.together([part.result for part in parts]),
            np.concatenate([part.upper for part in parts]),
            np.concatenate([part.exact for part in parts]),
        )

    def take(self, which: IntArray) -> Screened:
        """Return the results of some of the features."""
        return Screened(self.result.take(which), self.upper[which], self.exact[which])


def can_be_screened(features: Features, target: TargetMatrix, measure: Measure) -> bool:
    """Return whether all columns are dense numbers with one smooth kernel, and the measure is HSIC.

    An error below the default is a request for exact relevances: then nothing is screened.
    """
    return (
        features.n_samples >= _LEAST_SAMPLES
        and features.gram_error >= _USUAL_ERROR
        and len(features.kernels) == 1
        and screening_grid(features, 0) is not None
        and not features.joint
        and not features.least_observed
        and not measure.needs_gram
        and isinstance(target, FactoredTarget)
        and len(target.starts) == 1
        and bool((target.signs > 0).all())
        and not isinstance(target.rows, ClassRows)  # sums by class are as fast, and exact
        and features.source.levels(slice(0, 0)) is None
        and features.source.stored(slice(0, 0)) is None
    )


@cache
def _screening_grid(kernel: Kernel, n: int, number: int) -> Grid | None:
    """Return a grid for values up to one of the reaches, coarse enough for a bound."""
    thousands = n / 1000
    error = max(_LEAST_GRID_ERROR, _GRID_ERROR / max(1.0, np.sqrt(thousands)))
    grid = kernel.grid(REACHES[number], error)
    return None if grid is None else shortened(grid, _LEFT_OUT / max(1.0, thousands))


def screening_grid(features: Features, number: int) -> Grid | None:
    """Return the grid of features for values up to one of the reaches."""
    return _screening_grid(features.kernels[0], features.n_samples, number)


class ScreeningPass:
    """Bounds the relevance of blocks of features; an instance can be called from any thread.

    Parameters
    ----------
    exact : RelevancePass
        Relates the columns whose values no grid reaches.
    """

    def __init__(self, exact: RelevancePass) -> None:
        assert isinstance(exact.target, FactoredTarget)
        self.features = exact.features
        self.exact = exact
        self.kernel = exact.features.kernels[0]
        samples = exact.samples
        rows, self.dropped = _short_rows(exact.target, samples)
        self.trace = rows.trace()
        # terms need a square root of the weights too; the constant is the last row
        dense = np.concatenate([rows.dense, samples.root[None] / np.sqrt(samples.total)])
        self.n_dense = len(rows.dense)
        self.dense = _in_lanes(dense * samples.root)
        self.split = rows
        self.tail = _in_lanes(rows.sparse)
        self._grids: dict[int, Grid | None] = {}

    def on(self, features: Features) -> ScreeningPass:
        """Return the same pass for other features on the same samples."""
        made = copy(self)
        made.features, made.exact = features, self.exact.on(features)
        return made

    def blocks(self) -> list[slice]:
        """Cut the features into blocks; each block is read at once."""
        return self.exact.blocks()

    def __call__(self, part: slice) -> Screened:
        """Screen a block of features."""
        from hsiclasso.dependence._grid_loops import LANES, column_moments, sum_on_grid

        numbers = np.arange(part.start, part.stop)
        values = self.features.block(numbers, buffer="values")
        moments = np.empty((len(values), 4))
        column_moments(values, self.features.samples.shares[0], moments)
        low, high, _, variance = moments.T
        varies, width = low < high, float(self.kernel.widths[0])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            deviation = np.sqrt(variance)
            size = 0.5 * high / deviation - 0.5 * low / deviation
        # columns whose variance overflows, is 0 or is mostly rounding error are related exactly
        known = varies & np.isfinite(deviation) & (size < _INACCURATE_RANGE)
        tier = np.where(known, np.searchsorted(REACHES, size / width), len(REACHES))
        scale = deviation * width
        result = PassResult.empty(numbers.size, 1, self.features.n_samples)
        result.varies[:] = varies
        upper = np.zeros(numbers.size)
        tails = thread_buffer("tails", (len(values), self.split.tail.size))
        np.take(values, self.split.tail, axis=1, out=tails, mode="clip")
        for number in np.unique(tier[varies]).tolist():
            some = np.flatnonzero(varies & (tier == number))
            if number == len(REACHES):
                self.exact.relate_values(self.kernel, values[some], some, result)
                upper[some] = result.relevance[some, 0]
                continue
            grid = self._grid(number)
            inverse = 1 / (scale[some] * grid.step)
            first = 0.5 * low[some] + 0.5 * high[some] + grid.first * scale[some]
            n_dense, n_chunks = len(self.dense), len(self.dense) + len(self.tail)
            sums = thread_buffer("sums", (some.size, grid.n_nodes, n_chunks, LANES), np.float32)
            sum_on_grid(values, some, first, inverse, self.dense, sums, 0)
            sum_on_grid(tails, some, first, inverse, self.tail, sums, n_dense)
            cross = grid.single_rows @ sums.reshape(some.size, grid.n_nodes, -1)
            result.relevance[some, 0], upper[some] = self._bound(grid, cross)
        return Screened(result, upper, ~varies | (tier == len(REACHES)))

    def _grid(self, number: int) -> Grid:
        """Return the grid for values up to one of the reaches; asking for it takes a while."""
        if number not in self._grids:
            self._grids[number] = screening_grid(self.features, number)
        grid = self._grids[number]
        assert grid is not None
        return grid

    def _bound(
        self, grid: Grid, products: npt.NDArray[np.float32]
    ) -> tuple[FloatArray, FloatArray]:
        """Return an estimate (k,) of the relevance and an upper bound (k,) on it.

        `products` (k, r, lanes) are those of the grid's features with the dense rows of the target,
        and with its split rows on the tail.
        """
        from hsiclasso.dependence._grid_loops import LANES, MAGNITUDE

        cross = products.reshape(-1, products.shape[2]).astype(np.float64)
        constant = cross[:, self.n_dense].copy()
        cross[:, self.n_dense] = 0.0  # it is no row of the target
        # rows are split only if there are no weights: the constant row is then 1 / sqrt(n)
        ones = np.sqrt(self.features.n_samples) * constant
        for lane, offset in enumerate(self.split.offset, start=len(self.dense) * LANES):
            cross[:, lane] += offset * ones
        cross, constant = cross.reshape(len(products), -1), constant.reshape(len(products), -1)
        estimate = np.einsum("ka,ka->k", cross, cross)
        total = self.features.samples.total
        largest = total * self.trace  # V
        eta = grid.error + MAGNITUDE * _rounding(self.features.n_samples, grid.n_nodes)
        mean = np.sqrt(np.einsum("kr,kr->k", constant, constant))
        centred_trace = total - np.square(np.maximum(mean - eta * np.sqrt(total), 0.0))
        root = np.sqrt(estimate + grid.left_out * largest) + eta * np.sqrt(largest)
        return estimate, np.square(root) + self.dropped * centred_trace


def _rounding(n: int, n_nodes: int) -> float:
    """Bound the relative rounding error of sums over samples and nodes in single precision."""
    from hsiclasso.dependence._grid_loops import RUN

    # additions within a run, of the cells around a node in all runs, and over nodes, and a few
    # operations for each weight
    return float((min(n, RUN) + 4 * (n / RUN + 1) + n_nodes + 8) * _UNIT)


def _short_rows(target: FactoredTarget, samples: Samples) -> tuple[SplitRows, float]:
    r"""Return rows of a short target, and a bound on the norm of the part of T they leave out.

    The relevance of a feature that is unrelated to the target is about
    :math:`\operatorname{tr}\bar K \operatorname{tr} T / n`. The bound is well below that.
    """
    from hsiclasso.dependence._grid_loops import LANES

    eigenvalues, vectors = np.linalg.eigh(target.rows.gram())
    eigenvalues, vectors = np.maximum(eigenvalues[::-1], 0.0), vectors[:, ::-1]
    allowed = _TARGET_SHARE * float(eigenvalues.sum()) / samples.total
    tails = np.sqrt(np.append(np.cumsum(np.square(eigenvalues[::-1]))[::-1], 0.0))
    rank = max(1, int(np.argmax(tails <= allowed)))
    main = target.rows.combined(vectors[:, :rank].T)
    if not samples.plain:
        return dense_rows(main), float(tails[rank])
    factor = Factor(main, eigenvalues[:rank], 0.0)
    return split_rows(factor, allowed / factor.norm, LANES), float(tails[rank]) + allowed


def _in_lanes(rows: FloatArray) -> npt.NDArray[np.float32]:
    """Store rows (r, s) as chunks of `LANES` rows, sample by sample: (c, s, LANES)."""
    from hsiclasso.dependence._grid_loops import LANES

    n_chunks = -(-len(rows) // LANES)
    padded = np.zeros((n_chunks * LANES, rows.shape[1]), dtype=np.float32)
    padded[: len(rows)] = rows
    return np.ascontiguousarray(padded.reshape(n_chunks, LANES, rows.shape[1]).transpose(0, 2, 1))
