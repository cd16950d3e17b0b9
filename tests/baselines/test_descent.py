"""Following a path down to a number of features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.baselines.descent import descend, falling


@dataclass(frozen=True)
class Point:
    alpha: float
    n_active: int


def solver(thresholds, log=None):
    """Features are active below their thresholds."""

    def solve(alpha, start):
        if log is not None:
            log.append((alpha, None if start is None else start.alpha))
        return Point(alpha, int(np.sum(np.array(thresholds) > alpha)))

    return solve


@given(
    st.lists(st.floats(0.01, 1.0), min_size=1, max_size=12, unique_by=lambda t: round(t, 4)),
    st.integers(1, 12),
    st.sampled_from([0.3, 0.7, 0.95]),
)
def test_ends_where_there_are_as_many_as_wanted(thresholds, most, step):
    found = descend(solver(thresholds), falling(max(thresholds), step, 1e-3), most=most)
    alphas = [point.alpha for point in found]
    assert alphas == sorted(alphas, reverse=True)
    assert len(set(alphas)) == len(alphas)
    assert found[-1].n_active == min(most, len(thresholds))
    assert all(point.n_active < most for point in found[:-1])


def test_features_that_join_at_once_are_all_there():
    found = descend(solver([1.0, 0.5, 0.5, 0.5, 0.2]), falling(1.0, 0.8, 0.01), most=2)
    assert [found[-2].n_active, found[-1].n_active] == [1, 4]
    assert found[-1].alpha < 0.5 <= found[-2].alpha
    assert found[-2].alpha == pytest.approx(found[-1].alpha, rel=2e-6)


def test_each_solution_starts_from_one_with_a_larger_penalty():
    log = []
    descend(solver([1.0, 0.5, 0.49, 0.48], log), falling(1.0, 0.5, 0.01), most=2)
    assert log[0] == (1.0, None)
    assert len(log) > 3
    assert all(start > alpha for alpha, start in log[1:])


def test_without_a_number_the_path_goes_to_the_last_penalty():
    found = descend(solver([1.0, 0.5, 0.1]), falling(1.0, 0.5, 0.3))
    assert [(point.alpha, point.n_active) for point in found] == [(1.0, 0), (0.5, 1), (0.3, 2)]


def test_stops_before_what_it_is_told_to_stop_at_but_not_before_the_first():
    alphas = falling(1.0, 0.5, 0.01)
    found = descend(solver([1.0, 0.3, 0.2]), alphas, stop=lambda point: point.n_active > 1)
    assert [point.n_active for point in found] == [0, 1]
    assert len(descend(solver([2.0]), alphas, stop=lambda point: True)) == 1


def test_falling_penalties():
    alphas = falling(2.0, 0.1, 0.002)
    np.testing.assert_allclose(alphas, [2, 0.2, 0.02, 0.002])
    assert falling(1.0, 0.9, 1.0).tolist() == [1.0]
