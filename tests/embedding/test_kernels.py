from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso import InvalidInputError
from hsiclasso.embedding import Delta, Embedding, Gaussian, make_kernel
from hsiclasso.embedding.kernels import median_distance
from tests import oracles


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=40).filter(lambda v: len(set(v)) > 1))
def test_median_distance(values):
    values = np.array(values, dtype=float)
    assert median_distance(values) == pytest.approx(oracles.median_nonzero_distance(values))


def test_kernels_by_name():
    assert make_kernel("gaussian", 2.0) == Gaussian(2.0)
    assert make_kernel("delta") == Delta()


@pytest.mark.parametrize("width", [0, -1.0, np.nan, np.inf, "wide"])
def test_bad_width(width):
    with pytest.raises(InvalidInputError, match="width="):
        Gaussian(width)


def test_unknown_kernel():
    with pytest.raises(InvalidInputError, match="kernel='laplace' is unknown: choose"):
        make_kernel("laplace")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tol": 1.0}, "tol=1.0"),
        ({"tol": 0.0}, "tol=0.0"),
        ({"method": "magic"}, "embedding='magic' is unknown"),
        ({"method": "table", "tol": 1e-10}, "cannot reach tol=1e-10"),
    ],
)
def test_bad_embedding(options, message):
    with pytest.raises(InvalidInputError, match=message):
        Embedding(**options)


def test_paper_centring_formulas_agree(rng):
    K = oracles.gaussian_gram(rng.standard_normal(20))
    np.testing.assert_allclose(oracles.centre(K), oracles.centre_by_means(K), atol=1e-14)
