"""Pivoted Cholesky against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.kernels.cholesky import NotPositiveError, pivoted_cholesky


@st.composite
def matrices(draw):
    """Positive semi-definite matrices of any rank, with eigenvalues that fall."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, rank = draw(st.integers(1, 50)), draw(st.integers(1, 60))
    rows = (
        rng.standard_normal((rank, n))
        * 10.0 ** -np.linspace(0, draw(st.floats(0, 6)), rank)[:, None]
    )
    return rows.T @ rows, rng.uniform(0, 3, n) * (rng.random(n) < 0.9)


@given(matrices(), st.sampled_from([0.0, 1e-8, 1e-3, 0.5]))
def test_what_is_left_is_the_trace(data, share):
    matrix, weights = data
    asked = []

    def row(pivot):
        asked.append(pivot)
        return matrix[pivot]

    whole = weights @ np.diag(matrix)
    allowed = max(share, 1e-13) * whole
    rows, left = pivoted_cholesky(np.diag(matrix), row, allowed, weights)
    assert left <= allowed
    assert len(rows) == len(asked) == len(set(asked)) <= np.linalg.matrix_rank(matrix, tol=1e-14)
    rest = matrix - rows.T @ rows
    assert abs(weights @ np.diag(rest) - left) <= 1e-12 * whole
    # what is left is positive semi-definite, so that the trace bounds every norm
    assert np.linalg.eigvalsh(rest).min() > -1e-11 * np.trace(matrix)
    root = np.sqrt(weights)
    assert np.linalg.norm(root[:, None] * rest * root) <= left + 1e-11 * whole


def test_rank_grows_beyond_the_first_rows():
    rows, left = pivoted_cholesky(np.ones(100), lambda p: np.eye(100)[p], 0.0, np.ones(100))
    assert left == 0
    np.testing.assert_array_equal(rows.T @ rows, np.eye(100))


def test_it_ends_where_nothing_is_left():
    """Also if the trace that may be left is negative, or weights are on nothing."""
    one = np.outer([1.0, 2.0, 0.0], [1.0, 2.0, 0.0])
    rows, left = pivoted_cholesky(np.diag(one), lambda p: one[p], -1.0, np.ones(3))
    assert (len(rows), left) == (1, 0)
    rows, left = pivoted_cholesky(np.diag(one), lambda p: one[p], 0.0, np.array([0.0, 0.0, 1.0]))
    assert (len(rows), left) == (0, 0)


@pytest.mark.parametrize(
    "matrix", [[[1.0, 2.0], [2.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, -1e-3]]]
)
def test_indefinite_matrices_are_noticed(matrix):
    matrix = np.array(matrix)
    with pytest.raises(NotPositiveError):
        pivoted_cholesky(np.diag(matrix), lambda p: matrix[p], 1e-9, np.ones(2))


def test_rounding_is_not_taken_for_indefinite(rng):
    x = rng.standard_normal((50, 4))
    noise = 1e-13 * rng.standard_normal((50, 50))
    gram = x @ x.T + noise + noise.T
    rows, _ = pivoted_cholesky(np.diag(gram), lambda p: gram[p], 1e-9, np.ones(50))
    assert len(rows) == 4
