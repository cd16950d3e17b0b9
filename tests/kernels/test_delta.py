"""The delta kernel; what it shares with others is in `test_base`."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Delta
from hsiclasso.kernels.delta import vector_codes


@pytest.mark.parametrize("value", [None, 1, "yes"])
def test_by_count_is_a_flag(value):
    with pytest.raises(InvalidInputError, match=r"by_count=.* must be True or False"):
        Delta(by_count=value).check()


def test_a_value_without_weight_has_no_row():
    codes, weights = np.array([[0.0, 0.0, 1.0, 7.0]]), np.array([1.0, 3.0, 2.0, 0.0])
    rows, left = Delta().expand_joint(codes, 0.0, weights)
    assert left == 0
    np.testing.assert_allclose(rows, [[0.5, 0.5, 0, 0], [0, 0, 0.5**0.5, 0]])


def test_codes_number_distinct_vectors(rng):
    vectors = rng.integers(0, 3, (2, 40)).astype(float)
    for some in (vectors, vectors[:1]):
        codes = vector_codes(some)
        same = np.all(some[:, :, None] == some[:, None], axis=0)
        np.testing.assert_array_equal(codes[:, None] == codes, same)


def test_labels_keep_their_values():
    """Codes are not scaled: they have neither order nor distance."""
    block = np.array([[3.0, 3.0, 8.0]])
    scaling = Delta().scale(block, np.ones((1, 3)))
    assert block.tolist() == [[3, 3, 8]]
    np.testing.assert_array_equal(scaling.apply(block), block)
    assert Delta().observed_scale(0.25) == 0.25
    assert Delta(by_count=False).observed_scale(0.25) == 1
