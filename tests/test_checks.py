"""Checks of parameters."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso._checks import (
    as_generator,
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_positive,
    check_random_state,
    check_whole,
    is_number,
)
from hsiclasso.errors import InvalidInputError


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, True, None, "1", 1j, [1.0]])
def test_no_positive_numbers(value):
    with pytest.raises(InvalidInputError, match=r"^width=.* must be a finite number > 0"):
        check_positive("width", value)


@pytest.mark.parametrize("value", [1, 0.5, np.float32(2), np.int8(3)])
def test_positive_numbers(value):
    check_positive("width", value)


@pytest.mark.parametrize("value", [0, -1, 1.0, True, None, "1"])
def test_no_whole_numbers(value):
    with pytest.raises(InvalidInputError, match=r"^n=.* must be a whole number >= 1"):
        check_whole("n", value)


def test_counts_may_be_left_out():
    for value in (None, 2, np.int8(5)):
        check_count("n", value, least=2)
    with pytest.raises(InvalidInputError, match=r"^n=1 must be a whole number >= 2"):
        check_count("n", 1, least=2)


def test_flags():
    for value in (True, False, np.bool_(True)):
        check_flag("positive", value)
    for value in (0, "True", None):
        with pytest.raises(InvalidInputError, match=r"^positive=.* must be True or False"):
            check_flag("positive", value)


def test_numbers():
    assert all(is_number(value) for value in (0, -1.5, np.float32(2), np.int8(3)))
    assert not any(
        is_number(value) for value in (True, np.bool_(True), "1", None, 1j, [1.0], np.nan)
    )


@pytest.mark.parametrize("value", ["up", None, ["forward"], np.array(["forward"]), 1])
def test_no_choices(value):
    with pytest.raises(InvalidInputError, match="is unknown: choose 'forward' or 'backward'"):
        check_choice("direction", value, ("forward", "backward"))


@pytest.mark.parametrize("value", [-1, True, 1.5, "seed", [1]])
def test_no_sources_of_randomness(value):
    with pytest.raises(InvalidInputError, match="is no source of randomness"):
        check_random_state(value)


def test_generators():
    for value in (3, np.int64(3), None, np.random.default_rng(3), np.random.RandomState(3)):
        check_random_state(value)
        assert isinstance(as_generator(value), np.random.Generator)
    first, again = (as_generator(3).random() for _ in range(2))
    assert first == again
    state = np.random.RandomState(3)
    assert as_generator(state).random() != as_generator(state).random()


@pytest.mark.parametrize("value", ["none", True, np.nan, np.inf, [1.0], None])
def test_numbers_are_checked(value):
    with pytest.raises(InvalidInputError, match=r"shift=.*must be a number or 'auto'"):
        check_number("shift", value, "'auto'")


def test_numbers_of_any_kind():
    assert check_number("shift", "auto", "'auto'") is None
    for value in (2, 2.0, np.float32(2), np.int64(2)):
        assert check_number("shift", value, "'auto'") == 2.0
