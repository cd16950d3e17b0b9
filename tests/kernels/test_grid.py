"""Values on a grid: the weights, and the promised errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.kernels import KERNELS, Gaussian
from hsiclasso.kernels.grid import LEBESGUE, cubic_weights, make_grid


def gaussian(distance):
    return np.exp(-0.5 * np.square(distance))


def cauchy(distance):
    return 1 / (1 + np.square(distance))


@pytest.mark.parametrize("degree", range(4))
def test_weights_interpolate_cubics(degree, rng):
    f = rng.random(50)
    nodes = np.arange(-1.0, 3.0)
    np.testing.assert_allclose(cubic_weights(f) @ nodes**degree, f**degree, atol=1e-14)


def test_weights_are_bounded():
    sums = np.abs(cubic_weights(np.linspace(0, 1, 10_001))).sum(axis=1)
    assert sums.max() == pytest.approx(LEBESGUE)


#: Kernels with the norms of the fourth derivatives of their feature maps.
SMOOTH = [(gaussian, np.sqrt(105.0)), (cauchy, np.sqrt(40_320.0))]


@pytest.mark.parametrize(("kernel", "roughness"), SMOOTH)
@pytest.mark.parametrize(("reach", "error"), [(4.5, 1e-5), (7.0, 1e-3), (14.0, 1e-2)])
@given(seed=st.integers(0, 10_000))
def test_the_feature_map_is_as_near_as_promised(kernel, roughness, reach, error, seed):
    """The distance of the feature map from what is interpolated, and what the rows leave out."""
    grid = make_grid(kernel, roughness, reach, error)
    step = grid.step
    nodes = grid.first + step * np.arange(grid.n_nodes)
    z = np.append(np.random.default_rng(seed).uniform(-reach, reach, 20), [-reach, reach])
    place = (z - grid.first) / step
    cell = np.floor(place).astype(int)
    weights = np.zeros((z.size, grid.n_nodes))
    for q in range(4):
        weights[np.arange(z.size), cell + q - 1] = cubic_weights(place - cell)[:, q]
    square = (
        1
        - 2 * np.einsum("im,im->i", weights, kernel(z[:, None] - nodes))
        + np.einsum("im,ml,il->i", weights, kernel(nodes[:, None] - nodes), weights)
    )
    assert np.sqrt(np.maximum(square, 0.0)).max() <= grid.error
    whole = np.einsum("im,ml,il->i", weights, kernel(nodes[:, None] - nodes), weights)
    kept = np.square(weights @ grid.rows.T).sum(axis=1)
    assert (whole - kept).max() <= grid.left_out
    assert (whole - kept).min() >= -1e-12


def test_the_promised_error_is_not_far_off():
    """Half-way between two nodes the error is nearly the bound."""
    grid = make_grid(gaussian, np.sqrt(105.0), 4.5, 1e-4)
    weights, near = cubic_weights(np.array(0.5)), grid.step * np.arange(-1.0, 3.0)
    square = (
        1
        - 2 * weights @ gaussian(0.5 * grid.step - near)
        + weights @ gaussian(near[:, None] - near) @ weights
    )
    assert 0.9e-4 < np.sqrt(square) <= 1e-4


def test_only_smooth_kernels_of_one_known_width_have_a_grid():
    assert Gaussian().grid(4.5, 1e-4) is Gaussian(0.3).grid(
        4.5, 1e-4
    )  # values are in units of the width
    assert all(Gaussian(w).grid(4.5, 1e-4) is None for w in ("median", (0.5, 1.0)))
    assert Gaussian(expansion="cholesky").grid(4.5, 1e-4) is None
    assert {name for name, kernel in KERNELS.items() if kernel().grid(4.5, 1e-4) is not None} == {
        "gaussian"
    }
