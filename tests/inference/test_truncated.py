"""Normal variables that are known to lie in a union of intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, truncnorm

from hsiclasso.inference.truncated import confidence_interval, survival

cuts = st.lists(st.floats(-4, 4), min_size=2, max_size=6, unique=True).filter(
    lambda x: len(x) % 2 == 0 and np.diff(np.sort(x)).min() > 1e-3
)


@given(cuts=cuts, mean=st.floats(-3, 3), share=st.floats(0.01, 0.99))
def test_survival_is_a_ratio_of_probabilities(cuts, mean, share):
    intervals = np.sort(cuts).reshape(-1, 2)
    t = intervals[0, 0] + share * (intervals[0, 1] - intervals[0, 0])
    masses = norm.cdf(intervals[:, 1] - mean) - norm.cdf(intervals[:, 0] - mean)
    above = norm.cdf(intervals[0, 1] - mean) - norm.cdf(t - mean) + masses[1:].sum()
    assert survival(t, mean, 1.0, intervals) == pytest.approx(above / masses.sum(), rel=1e-6)


@pytest.mark.parametrize("mean", [-60.0, -30.0, 0.0, 30.0, 60.0])
def test_survival_far_from_the_mean(mean):
    """There, probabilities are too small for doubles, but their ratios are not."""
    interval = np.array([[1.0, 1.5]])
    expected = truncnorm.sf(1.02, 1.0 - mean, 1.5 - mean, loc=mean)
    assert survival(1.02, mean, 1.0, interval) == pytest.approx(expected, rel=1e-6)
    assert survival(1.6, mean, 1.0, interval) == 0.0
    assert survival(0.5, mean, 1.0, interval) == 1.0


@given(cuts=cuts, share=st.floats(0.05, 0.95), sd=st.floats(0.3, 3))
def test_ends_of_the_interval_have_the_tail_probabilities(cuts, share, sd):
    intervals = np.sort(cuts).reshape(-1, 2)
    t = intervals[0, 0] + share * (intervals[0, 1] - intervals[0, 0])
    low, high = confidence_interval(t, sd, intervals, 0.8)
    assert low <= high
    if np.isfinite(low):
        assert survival(t, low, sd, intervals) == pytest.approx(0.1, abs=1e-6)
    if np.isfinite(high):
        assert survival(t, high, sd, intervals) == pytest.approx(0.9, abs=1e-6)


def test_without_truncation_the_interval_is_the_usual_one():
    everything = np.array([[-np.inf, np.inf]])
    low, high = confidence_interval(5.0, 2.0, everything, 0.9)
    assert (low, high) == pytest.approx(tuple(norm.interval(0.9, 5.0, 2.0)))


def test_an_end_may_be_infinite():
    """At the edge of the union the mean may be anywhere below."""
    low, high = confidence_interval(1.0, 1.0, np.array([[1.0, np.inf]]), 0.9)
    assert (low, high) == (-np.inf, -np.inf)
    low, high = confidence_interval(1.0 + 1e-9, 1.0, np.array([[1.0, np.inf]]), 0.9)
    assert low == -np.inf
    low, high = confidence_interval(1.0, 1.0, np.array([[-np.inf, 1.0]]), 0.9)
    assert (low, high) == (np.inf, np.inf)
