"""Messages of the library in the words of the command line."""

from __future__ import annotations

import pytest

pytest.importorskip("click")
from hsiclasso.cli.app import app
from hsiclasso.cli.words import _OPTIONS, in_options

SELECT, TEST = (
    {option for param in app.commands[name].params for option in param.opts}
    for name in ("select", "test")
)


def test_every_option_that_is_named_exists():
    assert set(_OPTIONS.values()) <= SELECT | TEST


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("kernel['a b']='rbf' is unknown: choose 'x', or pass an object such as Gaussian().",
         "--kernel 'a b' rbf is unknown: choose 'x'."),
        ("use target='classes', outputs='joint' has", "use --kind classes, --outputs joint has"),
        ("leave it out with drop=['a'] (--drop 'a' on the command line).",
         "leave it out with --drop 'a'."),
        ("drop such rows, or pass target=Auto(missing='drop').",
         "drop such rows, or say --missing-target drop."),
        ("column 'target=1' and my_target=2 stay", "column 'target=1' and my_target=2 stay"),
    ],
)  # fmt: skip
def test_parameters_become_options(message, expected):
    assert in_options(message, SELECT) == expected


def test_a_command_without_the_option_keeps_the_words():
    message = "impute, or pass missing='ignore' to HSICLasso; solver='cd'"
    assert in_options(message, {"--kind"}) == message
