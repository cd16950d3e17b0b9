from __future__ import annotations

import numpy as np
import pytest

from hsiclasso import InvalidInputError, make_data1, make_data2


def test_data1_follows_the_paper():
    X, y, c = make_data1(2000, 10, random_state=0)
    x1, x2, x3, x4 = X[:, c].T
    noise = y - (-2 * np.sin(2 * x1) + x2**2 + x3 + np.exp(-x4))
    assert noise.std() == pytest.approx(1, abs=0.1)
    assert abs(np.corrcoef(noise, x3)[0, 1]) < 0.1


def test_data2_follows_the_paper():
    X, y, c = make_data2(2000, 10, random_state=0)
    x1, x2, x3 = X[:, c].T
    assert (y - (x1 * np.exp(2 * x2) + x3**2)).std() == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("make", [make_data1, make_data2])
def test_seeds_and_positions(make):
    first, again, other = (make(20, 50, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first[0], again[0])
    assert not np.array_equal(first[0], other[0])
    assert make(20, 50, shuffle=False, random_state=0)[2].tolist() == list(range(first[2].size))


@pytest.mark.parametrize("make", [make_data1, make_data2])
def test_too_few_features(make):
    with pytest.raises(InvalidInputError, match="n_features=2, but the design has"):
        make(20, 2)
