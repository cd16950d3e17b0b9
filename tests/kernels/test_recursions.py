"""Products and inner products of Laplace Gram matrices against the dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsiclasso.kernels.recursions import (
    laplace_energies,
    laplace_inner,
    laplace_product,
    laplace_self_inner,
)

KINDS = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "tied": lambda rng, n: np.round(rng.standard_normal(n), 1),
    "two-valued": lambda rng, n: rng.integers(0, 2, n).astype(float),
    "constant": lambda rng, n: np.full(n, 3.7),
    "outliers": lambda rng, n: np.where(rng.random(n) < 0.1, 1e6, 1.0) * rng.standard_normal(n),
    "both ends": lambda rng, n: rng.choice([-1e6, 0.0, 1e6], n) + rng.standard_normal(n),
    "wide": lambda rng, n: rng.uniform(-1e6, 1e6, n),
    "beyond underflow": lambda rng, n: np.linspace(0, 2000, n),
    "sorted": lambda rng, n: np.sort(rng.standard_normal(n)),
    "reversed": lambda rng, n: -np.sort(rng.standard_normal(n)),
}
kinds = st.sampled_from(sorted(KINDS))
# around the sizes at which samples are split once more, and the smallest
sizes = st.sampled_from([1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 100, 257])
few = settings(max_examples=25)
seeds = st.integers(0, 10_000)
#: Values close together, tied and far apart, all in one column.
values = st.floats(-4, 4) | st.integers(-2, 2).map(float) | st.sampled_from([-1e6, 0.0, 1e6])


def laplace_gram(z):
    return np.exp(-np.abs(z[:, None] - z[None, :]))


def dense_inner(x, y, weights):
    return weights @ (laplace_gram(x) * laplace_gram(y)) @ weights


def assert_inner(found, x, y, weights):
    """Up to rounding of terms that may cancel."""
    scale = dense_inner(x, y, np.abs(weights))
    assert abs(found - dense_inner(x, y, weights)) <= 1e-12 * scale


def assert_product(found, z, rows):
    K = laplace_gram(z)
    assert found.shape == rows.shape
    # what underflows, exp(-700) and less, has no relative accuracy
    assert np.all(np.abs(found - rows @ K) <= 1e-12 * (np.abs(rows) @ K) + 1e-300)


@few
@given(kinds, sizes, st.integers(1, 9), seeds)
def test_product(kind, n, r, seed):
    rng = np.random.default_rng(seed)
    z, rows = KINDS[kind](rng, n), rng.standard_normal((r, n))
    assert_product(laplace_product(z, rows), z, rows)


@few
@given(st.lists(values, min_size=1, max_size=20))
def test_product_with_the_identity_is_the_gram_matrix(values):
    z = np.array(values)
    found = laplace_product(z, np.eye(z.size))
    np.testing.assert_allclose(found, laplace_gram(z), rtol=1e-12, atol=1e-300)
    assert (np.diag(found) == 1).all()


def test_product_takes_any_layout_and_leaves_it_alone(rng):
    z, rows = rng.standard_normal(50)[::2], rng.standard_normal((25, 6)).T
    kept = z.copy(), rows.copy()
    assert_product(laplace_product(z, rows), z, rows)
    assert_product(laplace_product(z, rows[:0]), z, rows[:0])
    assert (z == kept[0]).all()
    assert (rows == kept[1]).all()


@few
@given(kinds, sizes, st.integers(1, 9), seeds)
def test_energies(kind, n, r, seed):
    rng = np.random.default_rng(seed)
    z, root, rows = KINDS[kind](rng, n), rng.random(n), rng.standard_normal((r, n))
    weighted, K = rows * root, laplace_gram(z)
    expected = np.einsum("ri,ij,rj->r", weighted, K, weighted)
    scale = np.einsum("ri,ij,rj->r", np.abs(weighted), K, np.abs(weighted))
    assert np.all(np.abs(laplace_energies(z, root, rows) - expected) <= 1e-12 * scale)


@few
@given(kinds, kinds, sizes, seeds)
def test_inner(kind_x, kind_y, n, seed):
    rng = np.random.default_rng(seed)
    x, y, weights = KINDS[kind_x](rng, n), KINDS[kind_y](rng, n), rng.standard_normal(n)
    assert_inner(laplace_inner(x, y, weights), x, y, weights)


@few
@given(st.lists(st.tuples(values, values, st.floats(0.1, 10)), min_size=1, max_size=40))
def test_inner_of_drawn_values(samples):
    x, y, weights = np.array(samples).T
    found = laplace_inner(x, y, weights)
    np.testing.assert_allclose(found, dense_inner(x, y, weights), rtol=1e-12)


@few
@given(kinds, kinds, sizes, seeds)
def test_inner_depends_neither_on_order_nor_on_which_column_is_first(kind_x, kind_y, n, seed):
    rng = np.random.default_rng(seed)
    x, y, weights = KINDS[kind_x](rng, n), KINDS[kind_y](rng, n), rng.uniform(0.1, 1, n)
    found, shuffled = laplace_inner(x, y, weights), rng.permutation(n)
    np.testing.assert_allclose(laplace_inner(y, x, weights), found, rtol=1e-12)
    np.testing.assert_allclose(
        laplace_inner(x[shuffled], y[shuffled], weights[shuffled]), found, rtol=1e-12
    )


@few
@given(kinds, sizes, seeds)
def test_self_inner(kind, n, seed):
    rng = np.random.default_rng(seed)
    z, weights = KINDS[kind](rng, n), rng.standard_normal(n)
    assert_inner(laplace_self_inner(z, weights), z, z, weights)


def test_inner_leaves_its_arguments_alone(rng):
    arrays = np.sort(rng.standard_normal((3, 100)))
    kept = arrays.copy()
    laplace_inner(*arrays)
    laplace_self_inner(arrays[0], arrays[2])
    assert (arrays == kept).all()


def test_inner_of_constants_is_the_square_of_the_total():
    weights = np.arange(1.0, 101.0)
    np.testing.assert_allclose(laplace_inner(np.zeros(100), np.ones(100), weights), 5050.0**2)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_three_agree_on_many_samples(kind, rng):
    n = 30_000
    z, weights = KINDS[kind](rng, n), rng.uniform(0.1, 1, n)
    found = laplace_inner(z, z, weights)
    np.testing.assert_allclose(laplace_self_inner(z, weights), found, rtol=1e-12)
    found = laplace_inner(z, np.zeros(n), weights)
    np.testing.assert_allclose(laplace_product(z, weights[None])[0] @ weights, found, rtol=1e-12)
