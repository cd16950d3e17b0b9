r"""Inner products of the features' matrices for few samples, from the matrices themselves.

The centred Gram matrix of n samples is symmetric. It is stored, packed, as n (n + 1) / 2 numbers.
Entries off the diagonal are multiplied by :math:`\sqrt 2`, and therefore the inner product of two
packed matrices is that of the full ones. If n is small, the packed matrix of a Gaussian kernel
takes a few microseconds: less than a factor of low rank, and without its error. The matrices of
candidates are therefore made, multiplied and discarded.
"""

from __future__ import annotations

import numpy as np

from hsiclasso._types import BoolArray, FloatArray, IntArray
from hsiclasso.dependence.features import Features
from hsiclasso.dependence.products import ScaledColumns
from hsiclasso.dependence.running import Threads
from hsiclasso.kernels import Gaussian, Measure

__all__ = ["PackedProducts", "can_be_packed"]

#: Largest number of samples for which packed matrices are faster than factors.
_MOST_SAMPLES = 128
#: Number of features in one piece of work, and fewest features for which threads are started.
_STEP, _MANY = 64, 128


def can_be_packed(features: Features, measure: Measure) -> bool:
    """Return whether all features have a Gaussian kernel on few samples.

    There must be no weights, covariates, joint features or missing values.
    """
    kernel = features.kernels[0]
    return (
        features.n_samples <= _MOST_SAMPLES
        and len(features.kernels) == 1
        and isinstance(kernel, Gaussian)
        and kernel.expansion == "auto"
        and features.samples.plain
        and not features.joint
        and not features.least_observed
        and not measure.regularisation
    )


class PackedProducts:
    """Inner products of features with a Gaussian kernel, on few samples.

    Parameters
    ----------
    columns, measure, n_threads
        As in `FactorProducts`; the measure is not NOCCO, which needs eigenvalues.
    """

    def __init__(self, columns: ScaledColumns, measure: Measure, n_threads: int) -> None:
        features = columns.features
        #: The matrices are exact.
        self.error = 0.0
        self._columns = columns
        self._normalised = measure.normalised
        self._n_threads = n_threads
        size = features.n_samples * (features.n_samples + 1) // 2
        self._kept = np.empty((0, size))
        self._places: dict[int, int] = {}
        self._gram_norm2 = np.full(features.n_features, np.nan)

    def norms2(self, wanted: IntArray) -> FloatArray:
        """Return the squared Frobenius norms of the matrices of some features."""
        unknown = wanted[np.isnan(self._gram_norm2[wanted])]
        self._multiply(unknown, self._kept, unknown[:0], np.empty((unknown.size, 0)))
        norm2 = self._gram_norm2[wanted]
        return (norm2 > 0).astype(np.float64) if self._normalised else norm2

    def complete(self, rows: IntArray, cols: IntArray, out: FloatArray) -> None:
        """Write inner products of features `rows` and `cols` where `out` is NaN."""
        self._keep(cols)
        places = np.array([self._places[k] for k in cols.tolist()], dtype=np.int64)
        missing = np.isnan(out)
        self._multiply(rows, self._kept, places, out)
        if self._normalised:
            self._normalise(rows, cols, out, missing)

    def inner_products(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the inner products of features `rows` and `cols`; keep nothing."""
        out = np.full((rows.size, cols.size), np.nan)
        self._multiply(rows, self._pack(cols), np.arange(cols.size), out)
        if self._normalised:
            self._normalise(rows, cols, out, np.ones(out.shape, dtype=bool))
        return out

    def _normalise(self, rows: IntArray, cols: IntArray, out: FloatArray, where: BoolArray) -> None:
        norms = np.sqrt(np.outer(self._gram_norm2[rows], self._gram_norm2[cols]))
        np.divide(out, norms, out=out, where=where & (norms > 0))

    def _multiply(
        self, rows: IntArray, packed: FloatArray, places: IntArray, out: FloatArray
    ) -> None:
        """Write inner products of `rows` with packed matrices at `places` where `out` is NaN."""
        from hsiclasso.dependence._packed_loops import multiply_packed

        def fill(part: slice) -> None:
            norm2 = self._gram_norm2[rows[part]]
            multiply_packed(*self._values(rows[part]), packed, places, out[part], norm2)
            self._gram_norm2[rows[part]] = norm2

        parts = [slice(start, start + _STEP) for start in range(0, rows.size, _STEP)]
        for _ in Threads(self._n_threads if rows.size >= _MANY else 1).map(fill, parts):
            pass

    def _keep(self, wanted: IntArray) -> None:
        """Make the packed matrices of features and keep them, unless they are already kept."""
        missing = [k for k in dict.fromkeys(wanted.tolist()) if k not in self._places]
        if not missing:
            return
        first, stop = len(self._places), len(self._places) + len(missing)
        if stop > len(self._kept):
            longer = np.empty((max(stop, 2 * len(self._kept)), self._kept.shape[1]))
            longer[:first] = self._kept[:first]
            self._kept = longer
        self._kept[first:stop] = self._pack(np.array(missing))
        self._places |= dict(zip(missing, range(first, stop), strict=True))

    def _pack(self, wanted: IntArray) -> FloatArray:
        """Make the packed matrices of features, (k, p), and store their norms."""
        from hsiclasso.dependence._packed_loops import pack

        out, norm2 = np.empty((wanted.size, self._kept.shape[1])), np.empty(wanted.size)
        pack(*self._values(wanted), out, norm2)
        self._gram_norm2[wanted] = norm2
        return out

    def _values(self, wanted: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return features on the scale of their kernel (k, n), and 1 / widths on it (k, w)."""
        kernel, n = self._columns.features.kernels[0], self._columns.features.n_samples
        assert isinstance(kernel, Gaussian)
        z = np.concatenate([np.zeros((0, n)), *(one.z for one in self._columns(wanted))])
        return z, kernel.inverse_widths(z, self._columns.features.samples.shares)
