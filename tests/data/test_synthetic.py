from __future__ import annotations

import numpy as np
import pytest

from hsiclasso import InvalidInputError, make_copies, make_data1, make_data2


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


def test_copies_say_nearly_the_same_as_their_origin():
    X, _, origin = make_copies(4000, 60, n_copies=3, spread=0.3, random_state=0)
    assert np.bincount(origin + 1).tolist() == [60 - 16, 4, 4, 4, 4]
    correlation = np.corrcoef(X, rowvar=False)
    for j in range(4):
        same = np.flatnonzero(origin == j)
        among = correlation[np.ix_(same, same)][np.triu_indices(same.size, 1)]
        assert among.min() > 1 / (1 + 0.3**2) - 0.03  # of two copies; more with the origin itself
    assert np.abs(correlation[np.ix_(origin == 0, origin != 0)]).max() < 0.1
    np.testing.assert_allclose(X.std(axis=0), 1.0, atol=0.06)


def test_copies_have_the_target_of_the_additive_design():
    X, y, origin = make_copies(50, 20, n_copies=1, shuffle=False, random_state=3)
    plain, target, causal = make_data1(50, 20, shuffle=False, random_state=3)
    np.testing.assert_array_equal(X[:, :4], plain[:, causal])
    np.testing.assert_array_equal(y, target)
    assert origin[:8].tolist() == [0, 1, 2, 3, 0, 1, 2, 3]


def test_shuffled_copies_keep_their_origins():
    X, y, origin = make_copies(30, 20, n_copies=2, random_state=1)
    again, same, order = make_copies(30, 20, n_copies=2, shuffle=False, random_state=1)
    np.testing.assert_array_equal(y, same)
    where = [int(np.flatnonzero((again[:, [k]] == X).all(axis=0))[0]) for k in range(20)]
    np.testing.assert_array_equal(origin[where], order)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_features": 43}, "n_features=43, but four causal features with 10 copies each take 44"),
        ({"n_copies": -1}, "n_copies=-1"),
        ({"spread": float("nan")}, "spread=nan"),
    ],
)
def test_copies_refuse_what_cannot_be(options, words):
    with pytest.raises(InvalidInputError, match=words):
        make_copies(20, **options)
