r"""Mutual information with Parzen windows.

The densities of section 4.1 of the paper are estimated by a window around every sample and
evaluated at the samples themselves,

.. math:: \widehat{MI}(u, v) = \frac1n \sum_i
          \log \frac{\hat p_{uv}(i)}{\hat p_u(i)\, \hat p_v(i)}, \qquad
          \hat p_{uv}(i) = \frac1n \sum_j K_u(i, j) K_v(i, j), \quad
          \hat p_u(i) = \frac1n \sum_j K_u(i, j),

in nats. The constants that make a window integrate to one cancel, so that anything that is not
negative serves as the window of a target: Gaussian windows of numbers, equality of labels
(:math:`\hat p_{uv}` is then the estimate within a class), affinities, graph kernels.

Every pair of samples is looked at, O(n^2) for two columns, at the cost of a few operations in
single precision: estimates are off by less than 1e-6. Factors of low rank would not be faster up
to about five thousand samples, since windows are narrow and their matrices of rank 60 and more.
Only the mean log density of each feature is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hsiclasso._types import BoolArray, Columns, FloatArray, IntArray
from hsiclasso.baselines.base import Job
from hsiclasso.baselines.dependency import MeasureOptions
from hsiclasso.data import Source
from hsiclasso.dependence import Censored, Graph, Pairwise, TargetData, Values
from hsiclasso.dependence.graphs import graph_gram
from hsiclasso.dependence.pairwise import pairwise_gram
from hsiclasso.dependence.target import DENSE
from hsiclasso.dependence.threads import run_threaded
from hsiclasso.embedding import (
    Delta,
    Embedding,
    Gaussian,
    Linear,
    Polynomial,
    Width,
    vector_codes,
    vector_rows,
)
from hsiclasso.embedding.scale import scale_to_width, standardised
from hsiclasso.embedding.vectors import vector_scale
from hsiclasso.errors import InvalidInputError

__all__ = ["FeatureWindows", "ParzenInformation", "Windows", "relate_parzen", "silverman_width"]

Singles = npt.NDArray[np.float32]

#: Kernels of a target that take the default width.
_NAMED = ("auto", "gaussian", "laplace")
#: exp(-d^2 / 2) = 2^-(c d)^2.
_PER_WIDTH = np.sqrt(0.5 * np.log2(np.e))
#: Distance between labels at which windows end: see `_parzen_loops`.
_APART = 8.0
#: Windows of one sample that are held together, in single numbers: half of a usual cache.
_HELD = 1 << 18
#: Features that share the windows of others.
_STEP = 32
#: Entries of a matrix that are this small beside the largest are rounding.
_ROUNDING = 1e-12
#: Least affinity of a sample with itself, as a share of its largest.
_LEAST_OWN = 1e-9
#: What is smaller, beside the largest, adds nothing to a mass.
_LEAST = 2.0**-60
#: Trace that a factor of the target's kernel may leave out, as a share of the samples.
_LEFT_OUT = 1e-13


def silverman_width(n_samples: int) -> float:
    """Width of windows in standard deviations: Silverman's rule in two dimensions.

    Examples
    --------
    >>> round(silverman_width(1000), 3)
    0.316
    """
    return float(n_samples ** (-1 / 6))


def relate_parzen(job: Job, options: MeasureOptions, n_threads: int) -> ParzenInformation:
    """Measure the mutual information of every feature with the target.

    Parameters
    ----------
    job : Job
    options : MeasureOptions
        With the widths of the windows; `silverman_width` by default.
    n_threads : int

    Returns
    -------
    ParzenInformation
    """
    n = job.n_samples
    named = isinstance(options.y_kernel, str) and options.y_kernel in _NAMED
    if options.y_width is None and named:
        options = replace(options, y_width=silverman_width(n))
    prepared = job.target(options.target)
    features = FeatureWindows(job.source, options.width or silverman_width(n))
    return ParzenInformation(
        job, features, _target_windows(prepared.data, n), prepared.task, n_threads
    )


class ParzenInformation:
    """Mutual information of features with the target, and between features.

    Estimates below 0, which are possible where there is little or no dependence, count as 0.

    Parameters
    ----------
    job : Job
    features : FeatureWindows
    target : Windows
        Windows of one or more outputs, over which the relevance is averaged.
    task : str
        Kind of the target.
    n_threads : int
    """

    def __init__(
        self, job: Job, features: FeatureWindows, target: Windows, task: str, n_threads: int
    ) -> None:
        self.task = task
        self.relevance = np.zeros(job.n_features)
        self._features = features
        self._n_threads = n_threads
        self._log_n = np.log(job.n_samples)
        self._alone = np.empty(job.n_features)
        # beside a window that holds everything, the mass is that of a feature alone
        flat = np.zeros((1, *target.points.shape[1:]), dtype=np.float32)
        others = replace(target, points=np.concatenate([flat, target.points]))
        own = others.log_masses(flat[0, :1])[0, 1:]

        def relate(part: slice) -> int:
            found = others.log_masses(features(part))
            self._alone[part] = found[:, 0]
            information = found[:, 1:] - found[:, :1] - own + self._log_n
            self.relevance[part] = np.maximum(information.mean(axis=1), 0.0)
            return len(found)

        def report(done: int) -> None:
            job.report("relevance", done, job.n_features)

        run_threaded(relate, _parts(job.n_features), n_threads, report)
        self.relevance[~job.varies] = 0.0

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the mutual information of features `rows` with features `cols`."""
        out = np.empty((rows.size, cols.size))
        others = self._features(cols)[:, None]
        held = max(1, _HELD // others.shape[2])

        def relate(part: slice) -> int:
            some = self._features(rows[part])
            for start in range(0, cols.size, held):
                beside = slice(start, start + held)
                out[part, beside] = Windows(others[beside]).log_masses(some)
            return len(some)

        run_threaded(relate, _parts(rows.size), self._n_threads)
        out -= self._alone[rows][:, None]
        out += self._log_n - self._alone[cols]
        return np.maximum(out, 0.0, out=out)


@dataclass(frozen=True)
class FeatureWindows:
    """Windows of the columns of a table.

    Attributes
    ----------
    source : Source
    width : float
        Of windows around numbers, in standard deviations.
    """

    source: Source
    width: float

    def __call__(self, columns: Columns) -> Singles:
        """Return points (k, n), as in `Windows`, of one coordinate each."""
        block = self.source.block(columns).T
        numbers = self._numbers(columns)
        if numbers.all():
            return _points(block, self.width)
        points = _label_points(block)
        points[numbers] = _points(block[numbers], self.width)
        return points

    def _numbers(self, columns: Columns) -> BoolArray:
        source = self.source
        which = np.arange(source.n_features)[columns]
        if source.uniform_kind is not None:
            return np.full(which.size, source.uniform_kind == "number")
        return np.array([source.kind(int(column)) == "number" for column in which], dtype=bool)


@dataclass(frozen=True)
class Windows:
    """Windows of columns or outputs around every sample.

    Attributes
    ----------
    points : ndarray of shape (m, q, n)
        For each of m columns, points of q coordinates. Their window falls with the distance d
        as ``2 ** -(d * d)``.
    matrices : ndarray of shape (p, n, n)
        For each of p more, windows in rows.
    """

    points: Singles
    matrices: Singles = field(default_factory=lambda: np.empty((0, 0, 0), dtype=np.float32))

    def log_masses(self, features: Singles) -> FloatArray:
        """Return the mean log mass of the windows of features (k, n) and of these, (k, m + p)."""
        from hsiclasso.baselines._parzen_loops import log_masses

        out = np.empty((len(features), len(self.points) + len(self.matrices)))
        log_masses(features, self.points, self.matrices, out)
        return out


def _parts(size: int) -> list[slice]:
    return [slice(start, min(size, start + _STEP)) for start in range(0, size, _STEP)]


def _points(block: FloatArray, width: Width) -> Singles:
    """Points of columns of numbers (k, n), which are overwritten."""
    varies, middle = standardised(block)
    block += middle[:, None]  # single precision is best spent around the mean
    scale_to_width(block, width, varies)
    return np.asarray(_PER_WIDTH * block, dtype=np.float32)


def _label_points(codes: FloatArray) -> Singles:
    """Points of labels: those of others are out of reach."""
    return np.asarray(_APART * codes, dtype=np.float32)


def _target_windows(data: TargetData, n: int) -> Windows:
    if isinstance(data, Values):
        return _value_windows(data, n)
    if isinstance(data, Censored):
        raise InvalidInputError(
            "y holds censored times, around which there are no windows: take a measure with "
            "kernels, such as measure='hsic'."
        )
    if isinstance(data, Pairwise):
        return _matrix_windows([pairwise_gram(data.items, data.function)])
    matrix = data.adjacency if isinstance(data, Graph) else data.matrix
    if sparse.issparse(matrix):
        _check_dense(n, "a sparse matrix between samples")
        matrix = matrix.toarray()
    return _matrix_windows([graph_gram(matrix, data.kernel) if isinstance(data, Graph) else matrix])


def _value_windows(data: Values, n: int) -> Windows:
    """Windows of outputs, each for itself or all together."""
    values, kernel = data.values, data.kernel
    if isinstance(kernel, Linear | Polynomial):
        raise InvalidInputError(
            f"y_kernel={kernel!r} is no window, which is never negative and falls with distance: "
            "take 'gaussian', 'laplace' or 'delta'."
        )
    outputs = list(values[:, None]) if data.averaged or len(values) == 1 else [values]
    if isinstance(kernel, Delta):
        codes = [vector_codes(output)[None] for output in outputs]
        return Windows(_label_points(np.array(codes)))
    if isinstance(kernel, Gaussian) and len(kernel.widths) == 1:
        return Windows(np.array([_vector_points(output, kernel.widths[0]) for output in outputs]))
    _check_dense(n, f"y_kernel={kernel!r}")
    grams = []
    for output in outputs:
        if len(output) > 1:
            rows, _ = vector_rows(output, kernel, _LEFT_OUT)
        else:
            rows, _ = Embedding(kernel).expand(output[0], _LEFT_OUT)
        grams.append(rows.T @ rows if len(rows) else np.ones((n, n)))
    return _matrix_windows(grams)


def _vector_points(output: FloatArray, width: Width) -> Singles:
    """Points (q, n) of an output of q columns, whose squared distance is a mean over them."""
    if len(output) == 1:
        return _points(output.copy(), width)
    scaled = output.copy()
    _, middle = standardised(scaled)
    scaled = (scaled + middle[:, None]) / np.sqrt(len(scaled))
    return np.asarray(_PER_WIDTH / vector_scale(scaled, width) * scaled, dtype=np.float32)


def _matrix_windows(matrices: list[FloatArray]) -> Windows:
    """Check that the rows of matrices can be windows, and scale them, which changes nothing."""
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
                "lies around its own sample: set the diagonal, to the largest affinity say."
            )
    scaled = [matrix / matrix.max(axis=1, keepdims=True) for matrix in matrices]
    # very small numbers add nothing, and are slow
    windows = np.array([np.where(rows < _LEAST, 0.0, rows) for rows in scaled], dtype=np.float32)
    return Windows(np.empty((0, 1, windows.shape[1]), dtype=np.float32), windows)


def _check_dense(n: int, what: str) -> None:
    if n > DENSE:
        raise InvalidInputError(
            f"{what} needs all {n} x {n} pairs of samples here: take at most {DENSE} samples, or a "
            "measure with kernels, such as measure='hsic'."
        )
