"""Kernels by name."""

from __future__ import annotations

import pytest

from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import KERNELS, Delta, Gaussian, as_kernel


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_by_name(name):
    kernel = as_kernel(name)
    assert kernel == KERNELS[name]()
    assert kernel.name in name
    assert as_kernel(kernel) is kernel


def test_names_with_parameters():
    assert as_kernel("plain_delta") == Delta(by_count=False)


@pytest.mark.parametrize("value", ["cosine", None, 1.0, Gaussian])
def test_unknown_kernels(value):
    message = (
        r"y_kernel=.* is unknown: choose 'gaussian', .* or pass an object such as Gaussian\(\)"
    )
    with pytest.raises(InvalidInputError, match=message) as caught:
        as_kernel(value, "y_kernel")
    assert all(repr(name) in str(caught.value) for name in KERNELS)


def test_close_names_are_guessed():
    with pytest.raises(InvalidInputError, match=r"did you mean 'gaussian'\?"):
        as_kernel("Gausian")


def test_objects_are_checked():
    with pytest.raises(InvalidInputError, match=r"width=-1\.0"):
        as_kernel(Gaussian(-1.0))
