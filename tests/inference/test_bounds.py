"""Bounds on false selections: published constants, linear programs, and what must hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from hsiclasso.errors import InvalidInputError
from hsiclasso.inference.bounds import (
    check_levels,
    false_selections,
    resolve_levels,
    worst_tail,
)
from tests.oracles import largest_tail, worst_concave

#: What R's stabs 0.6-4 prints for p = 100, B = 50, a threshold of .6 and q = 1, ..., 10.
UNIMODAL = (
    0.02631579, 0.1052632, 0.2368421, 0.4210526, 0.6578947, 0.9473684, 1.289474, 1.684211,
    2.131579, 2.631579,
)  # fmt: skip
CONCAVE = (
    0.006971364, 0.03342845, 0.08691176, 0.1637231, 0.2605329, 0.3820466, 0.5295188, 0.7042719,
    0.9077127, 1.141338,
)  # fmt: skip


@pytest.mark.parametrize("q", range(1, 11))
def test_published_constants(q):
    assert false_selections(q, 100, 0.6, 50, "none") == pytest.approx(q**2 / 100 / 0.2)
    assert false_selections(q, 100, 0.6, 50, "unimodal") == pytest.approx(UNIMODAL[q - 1], 1e-6)
    found = false_selections(q, 100, 0.6, 50, "r-concave")
    # the search of stabs does not try the ends of its intervals: its maxima are a little low
    assert found >= CONCAVE[q - 1] * (1 - 1e-6)
    assert found == pytest.approx(CONCAVE[q - 1], 1e-3 if q > 1 else 4e-3)


@pytest.mark.parametrize(
    ("q", "threshold", "published"),
    [(30, 0.6, 16.24975), (10, 0.5, 2.484542), (10, 0.62, 0.8971682), (10, 0.61, 1.005863)],
)
def test_published_constants_at_other_thresholds(q, threshold, published):
    assert false_selections(q, 100, threshold) == pytest.approx(published, 1e-4)


def test_published_levels():
    """What stabs finds for 200 features and 0.2 false selections."""
    given = {"expected_false": 0.2}
    assert resolve_levels(200, 50, threshold=0.6, **given).n_features == 6
    assert resolve_levels(200, 50, "unimodal", threshold=0.6, **given).n_features == 3
    assert resolve_levels(200, 50, n_features=7, **given).threshold == 0.62
    assert resolve_levels(200, 50, "unimodal", n_features=7, **given).threshold == 0.81


@pytest.mark.parametrize("size", [4, 7, 10])
@pytest.mark.parametrize("share", [0.05, 0.2, 0.4])
def test_bounds_are_the_worst_cases_of_what_they_assume(size, share):
    """The share of pairs that agree has a mean of share**2: linear programs know the worst."""
    tight = []
    for count in range(size + 1, 2 * size + 1):
        least = count - size  # 2 tau - 1, in pairs
        bound = {a: false_selections(share, 1, count / (2 * size), size, a) for a in
                 ("none", "unimodal")}  # fmt: skip
        mean = share**2 * size
        assert bound["none"] == pytest.approx(min(1.0, largest_tail(mean, least, size)))
        worst = max(largest_tail(mean, least, size, mode) for mode in range(size + 1))
        assert bound["unimodal"] >= worst - 1e-9
        tight.append(bound["unimodal"] <= 1.0001 * worst)
    assert sum(tight) >= size // 2


def is_concave(f, r):
    """Whether f^r is convex where f > 0, and this is an interval."""
    support = np.flatnonzero(f > 1e-14)
    if support.size and np.ptp(support) + 1 != support.size:
        return False
    powers = f[support] ** r
    return bool(np.all(np.diff(powers, 2) >= -1e-9 * np.abs(powers[1:-1])))


@pytest.mark.parametrize("r", [-1 / 2, -1 / 4])
@pytest.mark.parametrize(("mean", "size"), [(0.3, 8), (0.05, 10), (1.2, 9)])
def test_a_concave_distribution_has_the_worst_tail(r, mean, size):
    """Of all distributions of this form, on a fine grid between the ends of each segment."""

    def end(k):  # the a at which the formula on {0, ..., k} has the mean
        i = np.arange(k + 1)
        return brentq(lambda t: ((np.exp(t) + i) ** (1 / r)) @ (i - mean), -20, 20, xtol=1e-13)

    scanned = np.zeros(size + 1)
    for k in range(int(np.ceil(2 * mean)) + 1, size):
        for t in np.linspace(end(k + 1) + 1e-10, end(k) - 1e-10, 200):
            f = worst_concave(np.exp(t), k, mean, size, r)
            assert is_concave(f, r)
            assert f.sum() == pytest.approx(1)
            assert f @ np.arange(size + 1) == pytest.approx(mean)
            scanned = np.maximum(scanned, np.cumsum(f[::-1])[::-1])
    first = int(np.ceil(2 * mean)) + 1
    for least in range(first, size + 1):
        found = worst_tail(mean, least, size, r)
        assert found >= scanned[least] * (1 - 1e-9)
        assert found == pytest.approx(scanned[least], rel=1e-5)


@given(
    st.sampled_from([-1 / 2, -1 / 4]),
    st.integers(3, 12),
    st.lists(st.floats(0.01, 5), min_size=2, max_size=6),
    st.data(),
)
def test_no_concave_distribution_has_a_larger_tail(r, size, slopes, data):
    """A maximum of lines is convex: its power 1/r is r-concave."""
    i = np.arange(size + 1)
    lines = [
        data.draw(st.floats(0.1, 3)) + slope * (i - data.draw(st.floats(0, size)))
        for slope in slopes
    ]
    power = np.maximum(np.max(lines, axis=0), 0.1)
    f = power ** (1 / r)
    f /= f.sum()
    mean = float(f @ i)
    for least in range(1, size + 1):
        assert f[least:].sum() <= worst_tail(mean, least, size, r) + 1e-9


@given(st.integers(2, 60), st.integers(30, 400), st.floats(0.52, 1.0))
def test_bounds_grow_with_features_and_fall_with_the_threshold(q, p, threshold):
    q = min(q, p - 1)
    for assumption in ("none", "unimodal", "r-concave"):
        bound = false_selections(q, p, threshold, 20, assumption)
        assert 0 < bound <= p
        assert bound <= false_selections(q + 1, p, threshold, 20, assumption) + 1e-9
        assert bound <= false_selections(q, p, threshold - 0.02, 20, assumption) * (1 + 1e-9)
        assert bound <= false_selections(q, p, threshold, 20, "none") + 1e-12


@pytest.mark.parametrize("assumption", ["none", "unimodal", "r-concave"])
def test_two_levels_give_the_third(assumption):
    by_size = resolve_levels(300, 50, assumption, n_features=12, expected_false=0.5)
    assert by_size.expected_false <= 0.5
    step = 1 / 100
    assert false_selections(12, 300, by_size.threshold - step, 50, assumption) > 0.5
    found = resolve_levels(300, 50, assumption, threshold=0.8, expected_false=0.5)
    assert found.expected_false <= 0.5
    assert false_selections(found.n_features + 1, 300, 0.8, 50, assumption) > 0.5
    both = resolve_levels(300, 50, assumption, threshold=0.8, n_features=12)
    assert both.expected_false == false_selections(12, 300, 0.8, 50, assumption)
    assert resolve_levels(300, 50, assumption, threshold=0.8, n_features=12, expected_false=9)
    assert set(both.to_dict()) >= {"threshold", "n_features", "expected_false"}


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ({"threshold": 0.8}, "give two of them"),
        ({"threshold": 0.6, "n_features": 50, "expected_false": 0.1}, "do not agree: with 100"),
        ({"threshold": 0.6, "expected_false": 1e-9}, "even with one of 100 features"),
        ({"n_features": 90, "expected_false": 0.1}, "even at a threshold of 1"),
        ({"n_features": 101, "threshold": 0.9}, "n_features=101 of each half-sample is greater"),
        ({"threshold": 1.2, "n_features": 5}, "threshold=1.2, but a share"),
        ({"threshold": 0.8, "expected_false": 0}, "expected_false=0, but the expected number"),
    ],
)
def test_levels_that_cannot_be_kept(levels, message):
    with pytest.raises(InvalidInputError, match=message):
        resolve_levels(100, 50, **levels)


def test_an_unknown_bound():
    with pytest.raises(InvalidInputError, match="bound='markov' is unknown"):
        resolve_levels(100, 50, "markov", threshold=0.8, n_features=5)


def test_bootstrap_samples_have_no_bound():
    with pytest.raises(InvalidInputError, match="no bound on the false selections of bootstrap"):
        check_levels(None, None, 1.0, bounded=False)
    check_levels(0.9, 5, None, bounded=False)
