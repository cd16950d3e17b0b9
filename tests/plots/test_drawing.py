"""What figures share: names that fit, and axes that show all values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.plots.drawing import figure_height, limits, shorten


@given(st.text(max_size=60), st.integers(3, 40))
def test_short_names_stay_and_long_ones_lose_their_middle(name, most):
    short = shorten(name, most)
    if len(name) <= most:
        assert short == name
        return
    assert len(short) == most
    head = (most - 1) // 2
    assert short == name[:head] + "…" + name[len(name) - (most - 1 - head) :]


@given(st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), max_size=8))
def test_limits_show_zero_and_all_values(values):
    low, high = limits(values)
    assert low <= min([0.0, *values])
    assert high >= max([0.0, *values])
    assert low < high


@pytest.mark.parametrize("values", [[], [0.0, 0.0]])
def test_limits_of_nothing_are_an_axis_all_the_same(values):
    assert limits(values) == (0.0, 1.0)


def test_few_rows_get_the_room_of_eight():
    assert figure_height(0) == figure_height(8) < figure_height(9)
