"""Checks of parameters; every error gives name, value and rule."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

import numpy as np

from hsiclasso.errors import InvalidInputError

__all__ = [
    "as_generator",
    "check_choice",
    "check_count",
    "check_flag",
    "check_jobs",
    "check_number",
    "check_positive",
    "check_random_state",
    "check_whole",
    "did_you_mean",
    "is_number",
    "is_positive",
    "one_of",
]


def is_number(value: Any) -> bool:
    """Whether a value is a finite real number."""
    number = isinstance(value, int | float | np.integer | np.floating)
    return bool(number and not isinstance(value, bool) and np.isfinite(value))


def is_positive(value: Any) -> bool:
    """Whether a value is a finite real number above 0."""
    return is_number(value) and bool(value > 0)


def check_positive(name: str, value: Any) -> None:
    """Raise unless a value is a finite number above 0."""
    if not is_positive(value):
        raise InvalidInputError(f"{name}={value!r} must be a finite number > 0.")


def check_count(name: str, value: Any, least: int) -> None:
    """Raise unless a value is None or a whole number that is large enough."""
    if value is None:
        return
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise InvalidInputError(f"{name}={value!r} must be a whole number >= {least}.")
    if value < least:
        raise InvalidInputError(f"{name}={value} must be a whole number >= {least}.")


def check_whole(name: str, value: Any, least: int = 1) -> None:
    """Raise unless a value is a whole number that is large enough."""
    if value is None:
        raise InvalidInputError(f"{name}=None must be a whole number >= {least}.")
    check_count(name, value, least=least)


def check_flag(name: str, value: Any) -> None:
    """Raise unless a value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInputError(f"{name}={value!r} must be True or False.")


def check_jobs(n_jobs: Any) -> None:
    """Raise unless a value is a number of threads, or None."""
    if n_jobs is None:
        return
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise InvalidInputError(
            f"n_jobs={n_jobs!r} must be a whole number of threads other than 0: -1 takes all cores."
        )


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Raise unless a value is one of the choices.

    Examples
    --------
    >>> check_choice("direction", "up", ("forward", "backward"))
    Traceback (most recent call last):
        ...
    hsiclasso.errors.InvalidInputError: direction='up' is unknown: choose 'forward' or 'backward'.
    """
    if not isinstance(value, str | None) or value not in choices:
        raise InvalidInputError(f"{name}={value!r} is unknown: choose {one_of(choices)}.")


def one_of(choices: Iterable[Any]) -> str:
    """List choices in words.

    Examples
    --------
    >>> one_of(["hsic", "nhsic", "nocco"])
    "'hsic', 'nhsic' or 'nocco'"
    """
    words = [repr(choice) for choice in choices]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def did_you_mean(name: Any, names: Iterable[Any], most: int = 3) -> str:
    """Suggest names that are spelt alike, in brackets; return "" if there are none.

    Examples
    --------
    >>> did_you_mean("hsci", ["hsic", "nhsic"])
    " (did you mean 'hsic' or 'nhsic'?)"
    """
    known = list(dict.fromkeys(map(str, names)))
    same = [other for other in known if other.lower() == str(name).lower()]
    close = (same or difflib.get_close_matches(str(name), known))[:most]
    return f" (did you mean {one_of(close)}?)" if close else ""


def check_number(name: str, value: Any, word: str) -> float | None:
    """Return a finite number, or None for a word such as ``'auto'``; raise if it is neither."""
    if isinstance(value, str) and repr(value) == word:
        return None
    if not is_number(value):
        raise InvalidInputError(f"{name}={value!r}, but it must be a number or {word}.")
    return float(value)


def check_random_state(random_state: Any) -> None:
    """Raise unless a value is a source of randomness."""
    sources = int | np.integer | np.random.Generator | np.random.RandomState | None
    known = isinstance(random_state, sources) and not isinstance(random_state, bool)
    if not known or (isinstance(random_state, int | np.integer) and random_state < 0):
        raise InvalidInputError(
            f"random_state={random_state!r} is no source of randomness: pass a whole number >= 0, "
            "a Generator or None."
        )


def as_generator(random_state: Any) -> np.random.Generator:
    """Return the generator that a source of randomness stands for."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    return np.random.default_rng(random_state)
