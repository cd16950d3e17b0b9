"""Values on a grid: the weights, and the promised errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.kernels import KERNELS, Gaussian
from hsiclasso.kernels.grid import LEBESGUE, make_grid, shortened, weights_of_nodes


def gaussian(distance):
    return np.exp(-0.5 * np.square(distance))


def cauchy(distance):
    return 1 / (1 + np.square(distance))


POINTS = [4, 6]


@pytest.mark.parametrize("points", POINTS)
def test_weights_interpolate_polynomials(points, rng):
    f = rng.random(50)
    nodes = np.arange(points) - (points / 2 - 1)
    for degree in range(points):
        found = weights_of_nodes(f, points) @ nodes**degree
        np.testing.assert_allclose(found, f**degree, atol=1e-13)


@pytest.mark.parametrize("points", POINTS)
def test_weights_are_bounded(points):
    sums = np.abs(weights_of_nodes(np.linspace(0, 1, 10_001), points)).sum(axis=1)
    assert sums.max() == pytest.approx(LEBESGUE[points])


#: Kernels with the norms of the fourth and sixth derivatives of their feature maps.
SMOOTH = [
    (gaussian, {4: np.sqrt(105.0), 6: np.sqrt(10_395.0)}),
    (cauchy, {4: np.sqrt(40_320.0), 6: np.sqrt(479_001_600.0)}),
]


@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize(("kernel", "roughness"), SMOOTH)
@pytest.mark.parametrize(("reach", "error"), [(4.5, 1e-5), (7.0, 1e-3), (14.0, 1e-2)])
@given(seed=st.integers(0, 10_000))
def test_the_feature_map_is_as_near_as_promised(kernel, roughness, reach, error, points, seed):
    """The distance of the feature map from what is interpolated, and what the rows leave out."""
    grid = make_grid(kernel, roughness[points], reach, error, points)
    step = grid.step
    nodes = grid.first + step * np.arange(grid.n_nodes)
    z = np.append(np.random.default_rng(seed).uniform(-reach, reach, 20), [-reach, reach])
    place = (z - grid.first) / step
    cell = np.floor(place).astype(int)
    weights = np.zeros((z.size, grid.n_nodes))
    for q in range(points):
        where = cell + q - (points // 2 - 1)
        weights[np.arange(z.size), where] = weights_of_nodes(place - cell, points)[:, q]
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


@pytest.mark.parametrize("points", POINTS)
def test_the_promised_error_is_not_far_off(points):
    """Half-way between two nodes the error is nearly the bound."""
    grid = make_grid(gaussian, SMOOTH[0][1][points], 4.5, 1e-4, points)
    weights = weights_of_nodes(np.array(0.5), points)
    near = grid.step * (np.arange(points) - (points / 2 - 1))
    square = (
        1
        - 2 * weights @ gaussian(0.5 * grid.step - near)
        + weights @ gaussian(near[:, None] - near) @ weights
    )
    assert 0.75e-4 < np.sqrt(square) <= 1e-4


def test_only_smooth_kernels_of_one_known_width_have_a_grid():
    # values are in units of the width
    assert Gaussian().grid(4.5, 1e-4, 6) is Gaussian(0.3).grid(4.5, 1e-4, 6)
    assert Gaussian().grid(4.5, 1e-4, 6).n_nodes < Gaussian().grid(4.5, 1e-4).n_nodes
    assert all(Gaussian(w).grid(4.5, 1e-4) is None for w in ("median", (0.5, 1.0)))
    assert Gaussian(expansion="cholesky").grid(4.5, 1e-4) is None
    assert {name for name, kernel in KERNELS.items() if kernel().grid(4.5, 1e-4) is not None} == {
        "gaussian"
    }


@pytest.mark.parametrize("left_out", [1e-3, 1e-6, 1e-9])
def test_shortened_rows_leave_out_what_is_allowed(left_out):
    grid = Gaussian().grid(4.5, 6e-5)
    short = shortened(grid, left_out)
    rest = 1 - np.square(short.rows).sum(axis=0)
    assert rest.max() <= max(left_out, 1e-8)
    assert len(short.rows) <= len(grid.rows)
    assert short.left_out >= min(left_out, grid.left_out)
    if left_out > 1e-8:  # one row less would leave out more
        assert (1 - np.square(short.rows[:-1]).sum(axis=0)).max() > left_out
