r"""Mutual information with Parzen windows.

The densities of section 4.1 of the paper are estimated by a window around every sample and
evaluated at the samples themselves,

.. math:: \widehat{MI}(u, v) = \frac1n \sum_i
          \log \frac{\hat p_{uv}(i)}{\hat p_u(i)\, \hat p_v(i)}, \qquad
          \hat p_{uv}(i) = \frac1n \sum_j K_u(i, j) K_v(i, j), \quad
          \hat p_u(i) = \frac1n \sum_j K_u(i, j),

in nats. The constants that make a window integrate to one cancel. Therefore anything that is not
negative serves as the window of a target: a Gaussian kernel of numbers, equality of labels
(:math:`\hat p_{uv}` is then the estimate within a class), affinities, graph kernels.

Two columns take O(n^2) operations in single precision, a few for each pair of samples; estimates
are off by less than 1e-6. Factors of low rank would not be faster up to about five thousand
samples, because windows are narrow and their matrices have rank 60 or more. Only the mean log
density of each feature is kept.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hsiclasso._types import Columns, FloatArray, IntArray
from hsiclasso.baselines.job import Job
from hsiclasso.baselines.kernel import target_gram
from hsiclasso.baselines.parts import for_parts
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Gaussian
from hsiclasso.kernels.base import ProductKernel
from hsiclasso.kernels.delta import vector_codes
from hsiclasso.targets import Censored, Links, Values
from hsiclasso.targets.matrix import DENSE
from hsiclasso.targets.values import ValueTarget

__all__ = ["ParzenInformation", "silverman_width"]

Singles = npt.NDArray[np.float32]

#: exp(-d^2 / 2) = 2^-(c d)^2.
_PER_WIDTH = math.sqrt(0.5 / math.log(2))
#: Distance between labels at which windows end: see `_parzen_loops`.
_APART = 8.0
#: Numbers in the windows of one sample that are held together: half of a usual cache.
_HELD = 1 << 18
#: Features that share the windows of others.
_STEP = 32
#: Entries of a matrix below this share of the largest are rounding errors.
_ROUNDING = 1e-12
#: Least affinity of a sample with itself, as a share of its largest.
_LEAST_OWN = 1e-9
#: Entries below this share of the largest add nothing to a mass.
_LEAST = 2.0**-60
_NO_MATRICES = np.empty((0, 0, 0), dtype=np.float32)


def silverman_width(n_samples: int) -> float:
    """Return the width of windows in standard deviations: Silverman's rule in two dimensions.

    Examples
    --------
    >>> round(silverman_width(1000), 3)
    0.316
    """
    return float(n_samples ** (-1 / 6))


class ParzenInformation:
    """Mutual information of features with the target, and between features.

    Estimates below 0, which are possible where there is little or no dependence, count as 0. The
    relevance is averaged over the outputs of a target. `kernel` is the window around numbers.
    """

    def __init__(self, job: Job, kernel: Gaussian) -> None:
        d = job.source.n_features
        self.relevance = np.zeros(d)
        self._source = job.source
        self._kernel = kernel
        self._n_threads = job.n_threads
        self._log_n = np.log(job.source.n_samples)
        self._alone = np.empty(d)
        points, matrices = _target_windows(job)
        # with a window that holds all samples, the mass is that of a feature alone
        flat = np.zeros((1, *points.shape[1:]), dtype=np.float32)
        points = np.concatenate([flat, points])
        own = _log_masses(flat[0, :1], points, matrices)[0, 1:]

        def relate(part: slice) -> None:
            found = _log_masses(self._windows(part), points, matrices)
            self._alone[part] = found[:, 0]
            information = found[:, 1:] - found[:, :1] - own + self._log_n
            self.relevance[part] = np.maximum(information.mean(axis=1), 0.0)

        for_parts(relate, d, _STEP, job.n_threads, lambda done: job.report("relevance", done, d))
        self.relevance[~job.varies] = 0.0

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the mutual information of features `rows` with features `cols`."""
        out = np.empty((rows.size, cols.size))
        others = self._windows(cols)[:, None]
        held = max(1, _HELD // others.shape[2])

        def relate(part: slice) -> None:
            some = self._windows(rows[part])
            for start in range(0, cols.size, held):
                beside = slice(start, start + held)
                out[part, beside] = _log_masses(some, others[beside], _NO_MATRICES)

        for_parts(relate, rows.size, _STEP, self._n_threads)
        out -= self._alone[rows][:, None]
        out += self._log_n - self._alone[cols]
        return np.maximum(out, 0.0, out=out)

    def _windows(self, columns: Columns) -> Singles:
        """Return the points (k, n) of columns of the table."""
        source = self._source
        block = source.block(columns).T
        if source.uniform_kind == "number":
            return _points(block, self._kernel)
        which = np.arange(source.n_features)[columns]
        numbers = np.array([source.kind(int(column)) == "number" for column in which], dtype=bool)
        points = _label_points(block)
        points[numbers] = _points(block[numbers], self._kernel)
        return points


def _log_masses(features: Singles, points: Singles, matrices: Singles) -> FloatArray:
    """Return what the compiled `log_masses` finds, (k, m + p)."""
    from hsiclasso.baselines._parzen_loops import log_masses

    out = np.empty((len(features), len(points) + len(matrices)))
    log_masses(features, points, matrices, out)
    return out


def _points(block: FloatArray, kernel: Gaussian, *, joint: bool = False) -> Singles:
    """Points of columns of numbers (k, n), which are overwritten."""
    kernel.scale(block, np.ones((1, block.shape[1])), joint=joint)
    block -= block.mean(axis=1, keepdims=True)  # single precision is most exact around the mean
    return np.asarray(_PER_WIDTH * block, dtype=np.float32)


def _label_points(codes: FloatArray) -> Singles:
    """Points of labels: different labels are out of reach of each other."""
    return np.asarray(_APART * codes, dtype=np.float32)


def _target_windows(job: Job) -> tuple[Singles, Singles]:
    """Points and matrices of the windows that the kernel of a target stands for."""
    data, n = job.target.data, job.source.n_samples
    if isinstance(data, Censored):
        raise InvalidInputError(
            "y holds censored times, around which there are no windows: take a measure with "
            "kernels, such as measure='hsic'."
        )
    if isinstance(data, Values):
        target = job.target.target
        usual = isinstance(target, ValueTarget) and isinstance(target.kernel, str)
        if usual and target.kernel == "auto" and isinstance(data.kernel, Gaussian):
            # the user leaves the kernel open: it gets the width of the columns' windows
            data = replace(data, kernel=Gaussian(silverman_width(n)))
        return _value_windows(data, n)
    given = data.adjacency if isinstance(data, Links) else getattr(data, "values", None)
    if sparse.issparse(given):
        _check_dense(n, "a sparse matrix between samples")
    return _matrix_windows([target_gram(data, n)])


def _value_windows(data: Values, n: int) -> tuple[Singles, Singles]:
    """Windows of outputs, each for itself or all together."""
    kernel = data.kernel
    if isinstance(kernel, ProductKernel):
        raise InvalidInputError(
            f"{kernel!r} is no window: a window is never negative and falls with distance. Take "
            "'gaussian', 'laplace' or 'delta' for the target."
        )
    parts = data.parts()
    if kernel.of_labels:
        codes = np.array([vector_codes(part)[None] for part in parts])
        return _label_points(codes), _NO_MATRICES
    if isinstance(kernel, Gaussian) and len(kernel.widths) == 1:
        return np.array([_points(part, kernel, joint=True) for part in parts]), _NO_MATRICES
    _check_dense(n, f"{kernel!r} as the kernel of the target")
    return _matrix_windows([target_gram(Values(part, kernel), n) for part in parts])


def _check_dense(n: int, what: str) -> None:
    if n > DENSE:
        raise InvalidInputError(
            f"{what} needs all {n} x {n} pairs of samples here: take at most {DENSE} samples, or a "
            "measure with kernels, such as measure='hsic'."
        )


def _matrix_windows(matrices: list[FloatArray]) -> tuple[Singles, Singles]:
    """Windows that are the rows of matrices; raise unless these can be windows."""
    for matrix in matrices:
        if (lowest := float(matrix.min())) < -_ROUNDING * matrix.max():
            raise InvalidInputError(
                f"y has an affinity of {lowest:.6g} between two samples, but a window is never "
                "negative: take a measure with kernels, such as measure='hsic'."
            )
        own, largest = np.diagonal(matrix), matrix.max(axis=1)
        if (weak := own <= _LEAST_OWN * largest).any():
            i = int(np.argmax(weak))
            raise InvalidInputError(
                f"y has an affinity of {own[i]:.6g} between sample {i} and itself, but a window "
                "lies around its own sample: set the diagonal, for example to the largest affinity."
            )
    # rows may have any scale
    scaled = [matrix / matrix.max(axis=1, keepdims=True) for matrix in matrices]
    # very small numbers add nothing, and are slow
    windows = np.array([np.where(rows < _LEAST, 0.0, rows) for rows in scaled], dtype=np.float32)
    return np.empty((0, 1, windows.shape[1]), dtype=np.float32), windows
