r"""Linear dependence: absolute correlations, and the F-test that belongs to them.

Two features are compared by :math:`|r|`, and so are a feature and a real target. A feature and
classes c are compared by the correlation ratio, the multiple correlation with the indicators of
the classes,

.. math:: R^2 = 1 - \frac{\text{SS}_\text{within}}{\text{SS}_\text{total}}
          = \sum_c \frac{n_c}{n}\, \bar z_c^2

where :math:`\bar z_c` is the mean of the standardised feature within a class. Several real
outputs have a multiple correlation too, if they are not averaged.
"""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.baselines.job import Job
from hsiclasso.baselines.parts import for_parts
from hsiclasso.kernels.delta import vector_codes
from hsiclasso.kernels.scale import standardise

__all__ = ["Correlation", "f_statistic"]

#: Share of a variance that counts as a rounding error.
_ROUNDING = 1e-14
#: Largest F statistic of a feature.
_LARGEST = 1e300
#: An output that adds less than this share to the span of the others depends on them.
_DEPENDENT = 1e-10
#: Entries of columns that are multiplied together and should fit in the cache.
_BLOCK = 1 << 17


def f_statistic(relevance: FloatArray, n_samples: int, n_terms: int = 1) -> FloatArray:
    r"""F-test of absolute or multiple correlations R with k terms.

    .. math:: F = \frac{R^2 / k}{(1 - R^2) / (n - k - 1)}

    k is one less than there are classes, and 1 for a real target. F is as large as a double can be
    where R is 1, as in `sklearn.feature_selection.f_regression`, and 0 where no degree of freedom
    is left.

    Examples
    --------
    >>> f_statistic(np.array([0.0, 0.6, 1.0]), 18).tolist()
    [0.0, 9.0, 1.7976931348623157e+308]
    """
    explained = np.square(relevance)
    left = np.where(1 - explained > _ROUNDING, 1 - explained, 0.0)
    freedom = max(0, n_samples - n_terms - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = explained / left * (freedom / n_terms)
    return np.asarray(np.nan_to_num(statistic, nan=0.0))


#: What a target spans: an orthonormal basis (n, m) of functions on the samples, and the number of
#: dimensions beside the constant.
Span = tuple[FloatArray, int]


class Correlation:
    """Absolute correlation of features with the target, and between features.

    The standardised table is kept: 8 n d bytes. The relevance is the correlation with the target,
    or the F-test, averaged over the outputs of the target.
    """

    def __init__(self, job: Job, *, f_test: bool) -> None:
        self._columns = job.standardised().T
        self._target = _spans(job)
        self._n_threads = job.n_threads
        shares = [np.square(self._columns @ basis).sum(axis=1) for basis, _ in self._target]
        self._by_output = np.sqrt(np.minimum(np.array(shares) / job.source.n_samples, 1.0))
        self.relevance: FloatArray = self._by_output.mean(axis=0)
        if f_test:
            # bounded: quotients stay finite where the fit is perfect
            self.relevance = np.minimum(self.f_statistic(), _LARGEST)

    def f_statistic(self) -> FloatArray:
        """F-test of every feature with the target, shape (d,); its mean over several outputs."""
        n = self._columns.shape[1]
        by_output = [
            f_statistic(relevance, n, n_terms) / len(self._target)
            for relevance, (_, n_terms) in zip(self._by_output, self._target, strict=True)
        ]
        return np.asarray(np.sum(by_output, axis=0))

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the absolute correlations of features `rows` with features `cols`."""
        out = np.empty((rows.size, cols.size))
        others = self._columns[cols].T
        n = len(others)

        def multiply(part: slice) -> None:
            np.abs(self._columns[rows[part]] @ others / n, out=out[part])

        for_parts(multiply, rows.size, max(1, _BLOCK // n), self._n_threads)
        return np.minimum(out, 1.0, out=out)


def _spans(job: Job) -> list[Span]:
    """What each output of a target spans, or all of them together."""
    data = job.outputs(
        "with which nothing can be correlated: take a measure with kernels, such as measure='hsic'."
    )
    span = _class_span if job.by_class else _real_span
    if data.averaged:
        return [span(output[None]) for output in data.values]
    return [span(data.values)]


def _class_span(outputs: FloatArray) -> Span:
    """Span the indicators of the classes of outputs (q, n)."""
    codes = vector_codes(outputs)
    counts = np.bincount(codes)
    basis = np.zeros((codes.size, counts.size))
    basis[np.arange(codes.size), codes] = 1 / np.sqrt(counts[codes])
    return basis, max(1, counts.size - 1)


def _real_span(outputs: FloatArray) -> Span:
    """Span the deviations of outputs (q, n) from their means."""
    scaled = outputs.copy()
    standardise(scaled, np.ones_like(scaled), at_mean=True)
    _, sizes, basis = np.linalg.svd(scaled, full_matrices=False)
    kept = sizes > _DEPENDENT * sizes[0]
    return basis[kept].T, max(1, int(np.count_nonzero(kept)))
