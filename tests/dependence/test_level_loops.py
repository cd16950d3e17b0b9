"""Each compiled loop for columns of few levels against a NumPy twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.dependence._level_loops import (
    DELTA,
    GAUSSIAN,
    INDICATOR,
    relate_levels,
    sum_levels,
    sum_three_levels,
)
from tests import oracles

MEASURES = ["hsic", "nhsic", "nocco"]
KERNELS = [GAUSSIAN, DELTA, INDICATOR]
EPSILON = 1e-3


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


@given(
    n=st.integers(0, 70), k=st.integers(0, 80), v=st.integers(0, 20),
    n_levels=st.integers(1, 3), seed=st.integers(0, 1000), cut=st.booleans(),
)  # fmt: skip
def test_sums_at_three_levels(n, k, v, n_levels, seed, cut):
    check_three_levels(*draw(n, k, v, n_levels, seed, cut))


@pytest.mark.parametrize("k", [200, 513, 2049])
@pytest.mark.parametrize("v", [8, 33])
def test_sums_of_wide_blocks(k, v):
    """Wide blocks take more samples to a table, and are cut into tiles."""
    check_three_levels(*draw(59, k, v, 3, 0))
    check_levels(*draw(59, k, v, 8, 0), 8)


def test_sums_of_long_blocks():
    """Runs of samples are summed one after the other: the seams must not show."""
    check_three_levels(*draw(5000, 40, 9, 3, 0))
    check_levels(*draw(5000, 40, 9, 20, 0), 20)


@given(
    n=st.integers(0, 70), k=st.integers(0, 80), v=st.integers(0, 20),
    n_levels=st.integers(1, 64), seed=st.integers(0, 1000), cut=st.booleans(),
)  # fmt: skip
def test_sums_at_levels(n, k, v, n_levels, seed, cut):
    check_levels(*draw(n, k, v, n_levels, seed, cut), n_levels)


def test_sums_at_many_levels_of_long_and_wide_blocks():
    check_levels(*draw(2200, 300, 9, 64, 0), 64)


def test_sums_at_levels_that_are_absent_are_exactly_zero():
    codes, rows = draw(50, 20, 5, 3, 0)
    for n_levels in (8, 30):
        out = np.full((20, n_levels, 5), np.nan)
        sum_levels(codes, rows, n_levels, out)
        assert (out[:, 3:] == 0).all()


@pytest.mark.parametrize("n_levels", [3, 4, 30])
def test_rounding_does_not_grow_with_the_number_of_samples(n_levels):
    codes, rows = draw(300_000, 2, 1, n_levels, 0)
    rows[:] = 0.1
    out = np.empty((2, n_levels, 1))
    sum_levels(codes, rows, n_levels, out)
    np.testing.assert_allclose(out, 0.1 * twin_sums(codes, rows**0, range(n_levels)), rtol=1e-13)


def level_gram(codes, values, weights, kernel, width):
    """Kernel matrix (n, n) of one column."""
    same = codes[:, None] == codes[None, :]
    if kernel == DELTA:
        return same / (same @ weights)
    if kernel == INDICATOR:
        return same.astype(float)
    x = values[codes]
    z = x - np.average(x, weights=weights)
    z /= np.sqrt(np.average(z * z, weights=weights))
    return np.exp(-((z[:, None] - z[None, :]) ** 2) / (2 * width**2))


def projected_matrix(gram, weights, removed, measure):
    """Matrix of the measure on weighted samples, off the removed directions."""
    off = np.eye(len(gram)) - removed.T @ removed
    root = np.sqrt(weights)
    K = off @ (root[:, None] * gram * root) @ off
    if measure == "nocco":
        return oracles.nocco_matrix(K, EPSILON)
    return K / np.linalg.norm(K) if measure == "nhsic" else K


def draw_target(weights, n_target, n_removed, rng):
    """Rows of the target and removed directions, all orthogonal; the latter to each other."""
    others = rng.standard_normal((n_removed - 1, len(weights)))
    removed = np.linalg.qr(np.vstack([np.sqrt(weights), others]).T)[0].T
    rows = rng.standard_normal((n_target, len(weights)))
    return rows - rows @ removed.T @ removed, removed


def relate(codes, values, weights, rows, removed, signs, kernel, width, measure):
    """Relevance of all columns by levels; what is said of absent levels is nonsense."""
    n_levels = values.shape[1]
    every = np.concatenate([rows, removed]) * np.sqrt(weights)
    sums = twin_sums(codes, every, range(n_levels))
    counts = twin_sums(codes, weights[None], range(n_levels))[:, :, 0]
    sums[counts == 0] = np.nan
    relevance, varies = np.full(len(sums), np.nan), np.zeros(len(sums), dtype=bool)
    relate_levels(
        sums, counts, np.where(counts == 0, np.nan, values), signs, kernel, width,
        np.ones(len(sums)), np.full(len(sums), EPSILON * len(codes) if measure == "nocco" else 0.0),
        measure == "nhsic", relevance, varies,
    )  # fmt: skip
    return relevance, varies


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", KERNELS)
@given(
    n=st.integers(12, 60), n_levels=st.integers(2, 64), n_removed=st.integers(1, 3),
    weighted=st.booleans(), width=st.floats(0.3, 3), seed=st.integers(0, 1000),
)  # fmt: skip
def test_relevance_from_levels(measure, kernel, n, n_levels, n_removed, weighted, width, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_levels, (n, 4), dtype=np.uint8)
    codes[:, 1] = rng.choice(rng.integers(0, n_levels, 3), n)  # most levels are absent
    codes[:, 2] = codes[0, 2]  # constant
    values = np.cumsum(rng.integers(1, 4, (4, n_levels)), axis=1).astype(float)
    weights = rng.uniform(0.1, 2, n) if weighted else np.ones(n)
    rows, removed = draw_target(weights, 5, n_removed, rng)
    signs = rng.choice([-1.0, 1.0], 5)
    T = (rows.T * signs) @ rows

    found, varies = relate(codes, values, weights, rows, removed, signs, kernel, width, measure)
    for c in range(4):
        assert varies[c] == (np.unique(codes[:, c]).size > 1)
        if not varies[c]:
            assert found[c] == 0
            continue
        gram = level_gram(codes[:, c], values[c], weights, kernel, width)
        A = projected_matrix(gram, weights, removed, measure)
        scale = np.linalg.norm(A) * np.linalg.norm(T)
        assert abs(found[c] - np.sum(A * T)) <= 1e-10 * scale


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", [GAUSSIAN, DELTA])
def test_genotypes_against_the_papers_formulas(measure, kernel, rng):
    """Sums by the compiled loop, level 0 by subtraction, as a caller would."""
    n, k = 90, 12
    codes, y = rng.integers(0, 3, (n, k), dtype=np.uint8), rng.standard_normal(n)
    T = oracles.measure_matrix(oracles.gaussian_gram(y), measure)
    energies, vectors = np.linalg.eigh(T)
    rows = np.sqrt(np.maximum(energies, 0))[:, None] * vectors.T
    rows -= rows.mean(axis=1, keepdims=True)  # eigenvectors of zero need not be centred
    rows = np.concatenate([rows, np.full((1, n), n**-0.5), np.ones((1, n))])
    sums = np.empty((k, 3, n + 2))
    some = np.empty((k, 2, n + 2))
    sum_three_levels(codes, rows, some)
    sums[:, 1:], sums[:, 0] = some, rows.sum(axis=1) - some.sum(axis=1)

    relevance, varies = np.empty(k), np.empty(k, dtype=bool)
    relate_levels(
        sums[:, :, :-1].copy(), np.round(sums[:, :, -1]), np.tile([0.0, 1.0, 2.0], (k, 1)),
        np.ones(n), kernel, 1.0, np.ones(k), np.full(k, EPSILON * n if measure == "nocco" else 0.0),
        measure == "nhsic", relevance, varies,
    )  # fmt: skip
    gram_of = oracles.gaussian_gram if kernel == GAUSSIAN else oracles.delta_gram
    expected = [oracles.hsic(oracles.measure_matrix(gram_of(x), measure), T) for x in codes.T]
    np.testing.assert_allclose(relevance, expected, rtol=1e-10)
    assert varies.all()


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_weights_may_differ_by_orders_of_magnitude(measure, kernel, rng):
    """A level of little weight is no less of a level to the delta kernels."""
    codes = np.repeat(np.arange(4, dtype=np.uint8), 5)[:, None]
    weights = np.repeat([1e6, 1.0, 1e-4, 1.0], 5)
    rows, removed = draw_target(weights, 3, 2, rng)
    values = np.arange(4.0)[None]
    found, _ = relate(codes, values, weights, rows, removed, np.ones(3), kernel, 1.0, measure)
    gram = level_gram(codes[:, 0], values[0], weights, kernel, 1.0)
    expected = np.sum(projected_matrix(gram, weights, removed, measure) * (rows.T @ rows))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("kernel", KERNELS)
def test_removed_columns_are_irrelevant(kernel, rng):
    """Of a column within the removed directions nothing is left but rounding."""
    codes = rng.integers(0, 2, (40, 1), dtype=np.uint8)
    removed = np.linalg.qr(np.column_stack([np.ones(40), codes[:, 0]]))[0].T
    rows = rng.standard_normal((3, 40))
    rows -= rows @ removed.T @ removed
    for measure in MEASURES:
        found, varies = relate(
            codes, np.array([[0.0, 1.0]]), np.ones(40), rows, removed, np.ones(3), kernel, 1.0,
            measure,
        )  # fmt: skip
        assert varies.all()
        assert abs(found[0]) < 1e-12
