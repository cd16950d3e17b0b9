r"""Inner products of the features' matrices for many samples: tables of two columns on a grid.

With both columns on a grid (`hsiclasso.kernels.grid`), all that an inner product needs of the
samples is the table C of the sums of products of their weights, node by node. With the features P
of the nodes,

.. math:: \langle K_k, K_l\rangle
    = \Big\|P_k \Big(C - \tfrac1W C 1 1^\top C\Big) P_l^\top\Big\|_F^2 ,

where W is the total weight and the second term centres. One pass over two columns makes a table,
with 36 additions per sample. No factor of n rows is made or kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.dependence.buffers import thread_buffer
from hsiclasso.dependence.features import Features
from hsiclasso.dependence.products import FactorProducts, ScaledColumns
from hsiclasso.dependence.running import Threads
from hsiclasso.dependence.screening import REACHES
from hsiclasso.kernels import Grid, Kernel, Measure, Samples

__all__ = [
    "TableProducts",
    "can_be_tabulated",
    "joint_sums",
    "node_norm",
    "table_grid",
    "table_product",
]

#: A scaled column (n,) with its grid.
OnGrid = tuple[FloatArray, Grid]

#: Fewest samples: with fewer, factors are cheaper than tables.
_LEAST_SAMPLES = 20_000
#: Error of interpolation, as a share of the error that Gram matrices may have.
_ERROR_SHARE = 0.005
#: Number of nodes between which a value is interpolated.
_POINTS = 6
#: Smallest error of Gram matrices: for a smaller one, tables are too large.
_LEAST_ERROR = 1e-7
#: Rows that are read at once.
_ROWS = 8
#: Largest share of stored entries for which sparse factors are cheaper than tables.
_SPARSE = 0.1


def can_be_tabulated(features: Features, measure: Measure) -> bool:
    """Return whether there are many samples and one smooth kernel, and only means are removed."""
    source = features.source
    is_sparse = source.n_stored <= _SPARSE * source.n_samples * source.n_features
    return (
        features.n_samples >= _LEAST_SAMPLES
        and not (is_sparse and features.samples.plain)
        and features.gram_error >= _LEAST_ERROR
        and len(features.kernels) == 1
        and features.kernels[0].grid(REACHES[0], features.gram_error) is not None
        and features.samples.covariates is None
        and not features.joint
        and not features.least_observed
        and not measure.regularisation
    )


class TableProducts:
    """Inner products of features on many samples.

    Factors serve the features that no grid reaches, and those whose matrix is too small for the
    error of a grid.

    Parameters
    ----------
    columns, measure, n_threads
        As in `FactorProducts`; the measure is not NOCCO, which needs eigenvalues.
    """

    def __init__(self, columns: ScaledColumns, measure: Measure, n_threads: int) -> None:
        self._columns = columns
        self._features = columns.features
        self._normalised = measure.normalised
        self._threads = Threads(n_threads)
        self._factors = FactorProducts(columns, measure, n_threads)
        self._grids: dict[int, Grid] = {}
        self._error = 0.0
        #: Squared norm of the Gram matrix of every feature that was asked for; -1 without a table.
        self._norm2 = np.full(self._features.n_features, np.nan)

    @property
    def error(self) -> float:
        """Largest bound on the relative error of a Gram matrix so far."""
        return max(self._error, self._factors.error)

    def norms2(self, wanted: IntArray) -> FloatArray:
        """Return the squared Frobenius norms of the matrices of some features."""
        has_table = self._has_table(wanted)
        out = np.ones(wanted.size) if self._normalised else self._norm2[wanted]
        if not has_table.all():
            out[~has_table] = self._factors.norms2(wanted[~has_table])
        return out

    def complete(self, rows: IntArray, cols: IntArray, out: FloatArray) -> None:
        """Write inner products of features `rows` and `cols` where `out` is NaN."""
        missing = np.isnan(out)
        above, beside = self._has_table(rows), self._has_table(cols)
        for i, j, value in self._tabulated(rows, cols, missing & above[:, None] & beside):
            out[i, j] = value
        every = np.ones(cols.size, dtype=bool)
        for some, others in ((~above, every), (above, ~beside)):
            if some.any() and others.any():
                part = np.ix_(some, others)
                fresh = out[part]
                self._factors.complete(rows[some], cols[others], fresh)
                out[part] = fresh

    def inner_products(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the inner products of features `rows` and `cols`."""
        out = np.full((rows.size, cols.size), np.nan)
        self.complete(rows, cols, out)
        return out

    def _has_table(self, wanted: IntArray) -> BoolArray:
        """Return which features are served by tables; find the norms that are not known."""
        unknown = wanted[np.isnan(self._norm2[wanted])].tolist()
        for k, (norm2, error) in zip(unknown, self._threads.map(self._own, unknown), strict=True):
            self._norm2[k] = norm2
            self._error = max(self._error, error)
        return self._norm2[wanted] >= 0

    def _own(self, feature: int) -> tuple[float, float]:
        """Return the squared norm of a feature's matrix, -1 without a table, and its error."""
        (one,) = self._columns(np.array([feature]))
        grid = table_grid(one.kernel, one.z[0], self._features.gram_error)
        if not one.varies or grid is None:
            return -1.0, 0.0
        self._grids[feature] = grid
        column = one.z[0], grid
        norm2 = table_product(column, column, self._features.samples)
        off = grid.gram_error * self._features.samples.total
        error = float(off / np.sqrt(norm2)) if norm2 > 0 else np.inf
        return (norm2, error) if error <= self._features.gram_error else (-1.0, 0.0)

    def _tabulated(
        self, rows: IntArray, cols: IntArray, wanted: BoolArray
    ) -> Iterator[tuple[int, int, float]]:
        """Yield places and values of the entries that are wanted."""
        for start in range(0, rows.size, _ROWS):
            some = np.flatnonzero(wanted[start : start + _ROWS].any(axis=1)) + start
            left = dict(zip(some.tolist(), self._on_grids(rows[some]), strict=True))

            def multiply(place: tuple[int, int], left: dict[int, OnGrid] = left) -> float:
                (right,) = self._on_grids(cols[[place[1]]])
                return table_product(left[place[0]], right, self._features.samples)

            # column by column, because a column may have to be read
            places = [(int(some[i]), int(j)) for j, i in np.argwhere(wanted[some].T)]
            for (i, j), value in zip(places, self._threads.map(multiply, places), strict=True):
                norms2 = self._norm2[rows[i]] * self._norm2[cols[j]]
                yield i, j, value / np.sqrt(norms2) if self._normalised else value

    def _on_grids(self, wanted: IntArray) -> list[OnGrid]:
        """Return scaled columns (n,) with their grids."""
        scaled = self._columns(wanted)
        return [(one.z[0], self._grids[k]) for k, one in zip(wanted.tolist(), scaled, strict=True)]


def table_grid(kernel: Kernel, z: FloatArray, gram_error: float) -> Grid | None:
    """Return a grid that reaches all values of a scaled column (n,), if there is one."""
    place = int(np.searchsorted(REACHES, np.abs(z).max()))
    if place == len(REACHES):
        return None
    return kernel.grid(REACHES[place], _ERROR_SHARE * gram_error, _POINTS)


def table_product(left: OnGrid, right: OnGrid, samples: Samples) -> float:
    """Return the inner product of the centred Gram matrices of two scaled columns."""
    (x, above), (y, beside) = left, right
    table = joint_sums(
        (x, above.first, above.step, above.n_nodes), (y, beside.first, beside.step, beside.n_nodes),
        samples,
    )  # fmt: skip
    product = above.rows @ table
    means = np.outer(product.sum(axis=1), beside.rows @ table.sum(axis=0))
    return float(np.square(product @ beside.rows.T - means / samples.total).sum())


def node_norm(grid: Grid, counts: FloatArray, total: float) -> float:
    """Return the norm of a centred Gram matrix from the weights (m,) of its nodes, roughly."""
    mean = grid.rows @ counts
    gram = (grid.rows * counts) @ grid.rows.T - np.outer(mean, mean) / total
    return float(np.linalg.norm(gram))


def joint_sums(
    left: tuple[FloatArray, float, float, int], right: tuple[FloatArray, float, float, int],
    samples: Samples,
) -> FloatArray:  # fmt: skip
    """Return the sums of products of the samples' weights at the nodes of two columns.

    A column is given by its values (n,), the first node, the distance of the nodes and their
    number. The table is valid until the thread makes the next one.
    """
    from hsiclasso.dependence._grid_loops import joint_table

    (x, *above), (y, *beside) = left, right
    table = thread_buffer("table", (int(above[2]), int(beside[2])))
    table[:] = 0.0
    shares = np.empty(0) if samples.weights is None else samples.weights
    firsts, steps = np.array([[above[0], beside[0]], [above[1], beside[1]]])
    joint_table(x, y, shares, firsts, steps, table)
    return table
