"""Each compiled loop of the station against a NumPy twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hsiclasso.dependence._grid_loops import LANES, MAGNITUDE, RUN, column_moments, sum_on_grid
from hsiclasso.dependence._level_loops import (
    sum_calls,
    sum_levels,
    sum_stored_levels,
    sum_three_levels,
    transpose,
)
from hsiclasso.dependence._loops import add_by_class, shrunk_energies
from hsiclasso.dependence._packed_loops import multiply_packed, pack
from hsiclasso.kernels.grid import weights_of_nodes
from tests import oracles


def twin_sums(codes, rows, levels):
    """Sums (k, levels, v) by products with indicators."""
    return np.stack([(codes == level).T.astype(float) @ rows.T for level in levels], axis=1)


def draw(n, k, v, n_levels, seed, cut=False):
    """Codes (n, k), a slice of a wider table if `cut`, and rows (v, n)."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_levels, (n, k + 11), dtype=np.uint8)
    codes = codes[:, 3 : k + 3]
    return codes if cut else codes.copy(), rng.standard_normal((v, n))


def check_three_levels(codes, rows):
    out = np.full((codes.shape[1], 2, len(rows)), np.nan)
    sum_three_levels(codes, rows, out)
    np.testing.assert_allclose(out, twin_sums(codes, rows, [1, 2]), rtol=0, atol=1e-12)


def check_levels(codes, rows, n_levels):
    out = np.full((codes.shape[1], n_levels, len(rows)), np.nan)
    sum_levels(codes, rows, n_levels, out)
    np.testing.assert_allclose(out, twin_sums(codes, rows, range(n_levels)), rtol=0, atol=1e-12)


def check_calls(codes, rows, missing):
    codes = np.where(codes == 3, np.uint8(missing), codes)
    out = np.full((codes.shape[1], 3, len(rows)), np.nan)
    sum_calls(codes, rows, missing, out)
    np.testing.assert_allclose(out, twin_sums(codes, rows, [1, 2, missing]), rtol=0, atol=1e-12)


@given(
    n=st.integers(0, 70), k=st.integers(0, 80), v=st.integers(0, 20), seed=st.integers(0, 1000),
    missing=st.sampled_from([3, 129, 255]), rare=st.sampled_from([0.0, 0.02, 1.0]),
)  # fmt: skip
def test_sums_of_calls(n, k, v, seed, missing, rare):
    codes, rows = draw(n, k, v, 4, seed)
    kept = np.random.default_rng(seed).random(codes.shape) < rare
    check_calls(np.where((codes == 3) & ~kept, np.uint8(0), codes), rows, missing)


@given(n=st.integers(0, 200), k=st.integers(0, 200), seed=st.integers(0, 100))
def test_transpose(n, k, seed):
    codes, _ = draw(k, n, 0, 256, seed)
    out = np.empty((n, k), dtype=np.uint8)
    transpose(codes, out)
    np.testing.assert_array_equal(out, codes.T)


@given(
    n=st.integers(0, 70), k=st.integers(0, 80), v=st.integers(0, 20),
    n_levels=st.integers(1, 64), seed=st.integers(0, 1000), cut=st.booleans(),
)  # fmt: skip
def test_sums_at_levels(n, k, v, n_levels, seed, cut):
    check_levels(*draw(n, k, v, n_levels, seed, cut), n_levels)
    check_three_levels(*draw(n, k, v, min(n_levels, 3), seed, cut))


@pytest.mark.parametrize(("n", "k", "v"), [(59, 513, 33), (59, 2049, 8), (5000, 40, 9)])
def test_sums_of_wide_and_long_blocks(n, k, v):
    """Wide blocks are cut into tiles, long ones into runs: the seams must not show."""
    check_three_levels(*draw(n, k, v, 3, 0))
    check_calls(*draw(n, k, v, 4, 0), 3)
    check_levels(*draw(n, k, v, 8, 0), 8)
    check_levels(*draw(n, min(k, 300), v, 20, 0), 20)


def test_sums_at_levels_that_are_absent_are_exactly_zero():
    codes, rows = draw(50, 20, 5, 3, 0)
    for n_levels in (8, 30):
        out = np.full((20, n_levels, 5), np.nan)
        sum_levels(codes, rows, n_levels, out)
        assert (out[:, 3:] == 0).all()


@pytest.mark.parametrize("n_levels", [3, 30])
def test_rounding_does_not_grow_with_the_number_of_samples(n_levels):
    codes, rows = draw(300_000, 2, 1, n_levels, 0)
    rows[:] = 0.1
    out = np.empty((2, n_levels, 1))
    sum_levels(codes, rows, n_levels, out)
    np.testing.assert_allclose(out, 0.1 * twin_sums(codes, rows**0, range(n_levels)), rtol=1e-13)


@given(
    n=st.integers(3, 60), v=st.integers(1, 9), share=st.sampled_from([0.0, 0.3, 1.0]),
    seed=st.integers(0, 100),
)  # fmt: skip
def test_sum_stored_levels(n, v, share, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 5, (n, 5)) * (rng.random((n, 5)) < share)
    X = X + np.array([0.0, 2.0, -9.0, 0.5, 0.0])  # the fourth has no whole numbers
    X[:2, 4] = [-4.0, 12.0]  # 17 levels
    stored, rows = sparse.csc_array(X), rng.standard_normal((n, v))
    lowest, sums = np.full(5, 99.0), np.zeros((5, 16, v))
    sum_stored_levels(
        stored.indptr.astype(np.int64), stored.indices, stored.data, np.arange(5), rows,
        rows.sum(axis=0), lowest, sums,
    )  # fmt: skip
    assert np.isnan(lowest).tolist() == [False, False, False, True, True]
    for j in range(3):
        assert lowest[j] == min(X[:, j].min(), 0)
        for level in range(16):
            expected = rows[X[:, j] == lowest[j] + level].sum(axis=0)
            np.testing.assert_allclose(sums[j, level], expected, atol=1e-12)


def centred_gram(z, inverse=(1.0,)):
    squares = np.subtract.outer(z, z) ** 2
    return oracles.centre(np.mean([np.exp(-0.5 * one**2 * squares) for one in inverse], axis=0))


def packed_twin(z, inverse=(1.0,)):
    """The lower triangle of the centred Gram matrix, row by row."""
    K = centred_gram(z, inverse)
    scaled = np.where(np.eye(z.size, dtype=bool), K, np.sqrt(2) * K)
    return scaled[np.tril_indices(z.size)]


@given(st.integers(0, 3), st.integers(1, 9), st.integers(0, 5), st.integers(0, 1000))
def test_shrunk_energies(c, size, width, seed):
    rng = np.random.default_rng(seed)
    phi, cross = rng.standard_normal((c, size, 30)), rng.standard_normal((c, size, width))
    gram, ridge = phi @ phi.transpose(0, 2, 1), rng.uniform(0.1, 2, c)
    ridged = gram + ridge[:, None, None] * np.eye(size)
    expected = np.einsum("cnr,cnr->cr", cross, np.linalg.solve(ridged, cross))
    energy = np.full((c, width), np.nan)
    shrunk_energies(gram, cross, ridge, energy)
    np.testing.assert_allclose(energy, expected, rtol=1e-9)


@given(
    st.integers(1, 40), st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 1.0, 30.0, 1e3]),
    st.integers(1, 3),
)  # fmt: skip
def test_pack(n, seed, spread, n_widths):
    inverse = np.array([[1.0, 2.0, 0.3], [1.0, 1.0, 1.0], [4.0, 0.5, 1.0]])[:, :n_widths].copy()
    block = spread * np.random.default_rng(seed).standard_normal((3, n))
    out, norm2 = np.empty((3, n * (n + 1) // 2)), np.empty(3)
    pack(block, inverse, out, norm2)
    for row, one, found, size in zip(block, inverse, out, norm2, strict=True):
        np.testing.assert_allclose(found, packed_twin(row, one), rtol=0, atol=1e-14 * n)
        norm = np.sum(centred_gram(row, one) ** 2)
        np.testing.assert_allclose(size, norm, rtol=1e-9, atol=1e-20)


@given(st.integers(2, 30), st.integers(0, 2**32 - 1))
def test_multiply_packed(n, seed):
    rng = np.random.default_rng(seed)
    block, cols = rng.standard_normal((4, n)), rng.standard_normal((5, n))
    held, norm2 = np.array([packed_twin(z) for z in cols]), np.full(4, np.nan)
    norm2[2] = -1.0
    places = np.array([3, 0, 3])
    out = np.where(rng.random((4, 3)) < 0.3, -1.0, np.nan)
    known = out == -1
    multiply_packed(block, np.ones((4, 1)), held, places, out, norm2)
    expected = [[np.sum(centred_gram(x) * centred_gram(cols[p])) for p in places] for x in block]
    np.testing.assert_allclose(out, np.where(known, -1.0, expected), rtol=1e-9, atol=1e-12)
    norms = [np.sum(centred_gram(x) ** 2) for x in block]
    np.testing.assert_allclose(norm2, np.where(np.arange(4) == 2, -1.0, norms), rtol=1e-9)


@given(n=st.integers(1, 70), k=st.integers(0, 5), seed=st.integers(0, 1000))
def test_moments_of_columns(n, k, seed):
    rng = np.random.default_rng(seed)
    block, weights = 5 + rng.standard_normal((k, n)), rng.uniform(0.1, 2.0, n)
    out = np.full((k, 4), np.nan)
    column_moments(block, weights, out)
    mean = block @ weights / weights.sum()
    variance = np.square(block - mean[:, None]) @ weights / weights.sum()
    expected = np.column_stack([block.min(axis=1), block.max(axis=1), mean, variance])
    np.testing.assert_allclose(out, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n", [1, 7, RUN, 2 * RUN + 5])
@pytest.mark.parametrize("n_chunks", [1, 3])
def test_sums_on_a_grid(n, n_chunks, rng):
    m, columns = 12, np.array([2, 0])
    block = rng.uniform(-1.0, 1.0, (3, n))
    rows = rng.standard_normal((n_chunks, n, LANES)).astype(np.float32)
    first, inverse = np.array([-1.5, -1.25]), np.array([3.0, 4.0])
    sums = np.ones((2, m, n_chunks + 2, LANES), dtype=np.float32)
    sum_on_grid(block, columns, first, inverse, rows, sums, 1)
    expected = np.ones(sums.shape)
    expected[:, :, 1:-1] = 0.0
    for j, column in enumerate(columns):
        place = (block[column] - first[j]) * inverse[j]
        cell = np.floor(place).astype(int)
        for q in range(4):
            weights = weights_of_nodes(place - cell)[:, q]
            for c in range(n_chunks):
                np.add.at(expected[j, :, c + 1], cell + q - 1, weights[:, None] * rows[c])
    np.testing.assert_allclose(sums, expected, rtol=1e-5, atol=1e-5 * np.sqrt(n))


def test_magnitude_of_the_terms_of_weights():
    """Weights are cubic in the distance from the middle of a cell, which is at most 1/2."""
    away = np.array([-0.5, -0.2, 0.2, 0.5])
    coefficients = np.linalg.solve(np.vander(away), weights_of_nodes(away + 0.5))
    terms = np.abs(coefficients) * np.array([0.125, 0.25, 0.5, 1.0])[:, None]
    assert terms.sum() == pytest.approx(MAGNITUDE)


@given(
    c=st.integers(0, 3), size=st.integers(0, 5), n=st.integers(0, 40), n_classes=st.integers(1, 9),
    seed=st.integers(0, 1000),
)  # fmt: skip
def test_sums_by_class(c, size, n, n_classes, seed):
    rng = np.random.default_rng(seed)
    phi, codes = rng.standard_normal((c, size, n)), rng.integers(0, n_classes, n)
    before = rng.standard_normal((c, size, n_classes))
    sums = before.copy()
    add_by_class(phi, codes, sums)
    indicators = np.equal.outer(codes, np.arange(n_classes)).astype(float)
    np.testing.assert_allclose(sums, before + phi @ indicators, rtol=0, atol=1e-12)
