"""Errors that programs written for pyHSICLasso catch already.

Each of them is an `InvalidInputError`, hence a `ValueError`, and also what pyHSICLasso raises in
the same place::

    InvalidInputError
      ArgumentCountError   also SyntaxError: `input` with too few or too many arguments
      ArgumentTypeError    also TypeError: `input` with an argument of the wrong type
      CallOrderError       also UnboundLocalError: a method before the one that it needs
      NoSuchFeatureError   also IndexError: a place beyond the selected features
    RuntimeWarning
      BlocksWarning        a block size was given, and the fit is exact
"""

from __future__ import annotations

from hsiclasso.errors import InvalidInputError

__all__ = [
    "ArgumentCountError",
    "ArgumentTypeError",
    "BlocksWarning",
    "CallOrderError",
    "NoSuchFeatureError",
]


class ArgumentCountError(InvalidInputError, SyntaxError):
    """`input` got too few or too many arguments; the message says what it takes."""

    __str__ = ValueError.__str__  # that of a syntax error is about a line of code


class ArgumentTypeError(InvalidInputError, TypeError):
    """`input` got an argument of the wrong type; the message says what to pass instead."""


class CallOrderError(InvalidInputError, UnboundLocalError):
    """A method was called before the one that it needs, which the message names."""


class NoSuchFeatureError(InvalidInputError, IndexError):
    """A place beyond the selected features; the message says how many there are."""


class BlocksWarning(RuntimeWarning):
    """A block size was given, but the fit is exact: pass ``B=0`` to agree to it."""
