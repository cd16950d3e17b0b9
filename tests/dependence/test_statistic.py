"""Statistics and their bounds from moments, against the matrices that the moments are of."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.dependence.statistic import Moments, relevance_and_error
from hsiclasso.kernels import HSIC, NHSIC, NOCCO

N = 30


@pytest.mark.parametrize(
    ("measure", "with_gram"),
    [(HSIC(), False), (HSIC(), True), (NHSIC(), True), (NOCCO(0.01), True)],
)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_part_left_out_is_bounded_at_every_scale(measure, with_gram, scale, rng):
    rows = np.sqrt(scale) * rng.standard_normal((4, N))
    rest = 1e-3 * np.sqrt(scale) * rng.standard_normal((3, N))
    target = rng.standard_normal((2, N))
    moments = Moments(
        cross=(rows @ target.T)[None], gram=(rows @ rows.T)[None] if with_gram else None,
        removed_trace=np.zeros(1), left_out=np.array([np.sum(rest**2)]),
        bulk_trace=np.array([np.sum(rows**2)]), bulk_rank=np.array([4]),
    )  # fmt: skip
    found, bound = relevance_and_error(moments, measure, np.array([N]), np.ones(2), (0,))

    def matrix(*parts):
        values, vectors = np.linalg.eigh(sum(part.T @ part for part in parts))
        made = vectors @ (measure.shrink(np.maximum(values, 0.0), N)[:, None] * vectors.T)
        return made / np.linalg.norm(made) if measure.normalised else made

    known, exact = matrix(rows), matrix(rows, rest)
    assert found[0, 0] == pytest.approx(np.sum(known * (target.T @ target)))
    error = np.linalg.norm(exact - known) / np.linalg.norm(exact)
    assert error <= 2 * bound[0] < np.inf
    assert bound[0] < 1e4 * error
