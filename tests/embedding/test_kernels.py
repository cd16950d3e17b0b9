"""Descriptions of kernels, and what is said of those that are none."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso import InvalidInputError
from hsiclasso.embedding import (
    KERNEL_NAMES,
    Delta,
    Embedding,
    Gaussian,
    Laplace,
    Linear,
    Polynomial,
    as_kernel,
    check_vector_kernel,
)
from tests import oracles


def test_kernels_by_name():
    assert as_kernel("gaussian", width=2.0) == Gaussian(2.0)
    assert as_kernel("laplace", width="median") == Laplace("median")
    assert as_kernel("delta") == Delta()
    assert as_kernel("plain_delta") == Delta(by_count=False)
    assert as_kernel("linear") == Linear()
    assert as_kernel("polynomial") == Polynomial(2, 1.0)
    assert {type(as_kernel(name)) for name in KERNEL_NAMES} == {
        Gaussian, Laplace, Delta, Linear, Polynomial,
    }  # fmt: skip


@pytest.mark.parametrize(
    "kernel", [Gaussian(0.5), Laplace(2.0), Delta(), Linear(), Polynomial(3)], ids=str
)
def test_a_kernel_is_itself(kernel):
    assert as_kernel(kernel, width=7.0) is kernel


def test_widths_of_a_gaussian():
    assert Gaussian().widths == (1.0,)
    assert Gaussian([0.5, "median"]) == Gaussian((0.5, "median"))
    assert hash(Gaussian([0.5, 1.0])) == hash(Gaussian((0.5, 1.0)))
    assert Gaussian(np.float32(2)).widths == (2.0,)


@pytest.mark.parametrize("width", [0, -1.0, np.nan, np.inf, "wide", None, True, 1j, (1.0,)])
@pytest.mark.parametrize("make", [Laplace, lambda width: Gaussian((1.0, width))])
def test_bad_width(make, width):
    with pytest.raises(InvalidInputError, match=r"width=.*positive finite width or 'median'"):
        make(width)


@pytest.mark.parametrize("width", [0, -1.0, np.nan, np.inf, "wide", None, True, (1.0, 0.0)])
def test_bad_width_of_a_gaussian(width):
    with pytest.raises(InvalidInputError, match="width="):
        Gaussian(width)


@pytest.mark.parametrize("width", [(), []])
def test_no_width(width):
    with pytest.raises(InvalidInputError, match="no width"):
        Gaussian(width)


@pytest.mark.parametrize("degree", [0, 11, -1, 2.0, True, "2", None])
def test_bad_degree(degree):
    with pytest.raises(InvalidInputError, match=r"degree=.*whole number between 1 and 10"):
        Polynomial(degree)


@pytest.mark.parametrize("offset", [-1.0, np.nan, np.inf])
def test_bad_offset(offset):
    with pytest.raises(InvalidInputError, match=r"offset=.*finite offset >= 0"):
        Polynomial(2, offset)


def test_degrees_may_be_numpy_integers():
    assert Polynomial(np.int64(3)) == Polynomial(3)


@pytest.mark.parametrize("value", ["cosine", None, 1.0, Gaussian])
def test_unknown_kernel(value):
    with pytest.raises(InvalidInputError, match=r"y_kernel=.* is unknown: choose one of 'gauss"):
        as_kernel(value, what="y_kernel")


def test_vectors_have_no_laplace_kernel():
    with pytest.raises(InvalidInputError, match="feature 'a' has several columns, and the Laplace"):
        check_vector_kernel(Laplace(), "feature 'a'")
    for kernel in (Gaussian("median"), Delta(), Linear(), Polynomial()):
        check_vector_kernel(kernel, "feature 'a'")


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
