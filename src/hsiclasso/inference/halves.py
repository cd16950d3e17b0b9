"""Samples of the samples: pairs of halves that share nothing, or bootstrap samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from hsiclasso._types import IntArray
from hsiclasso.errors import InvalidInputError

__all__ = ["Sampling", "check_classes", "draw_bootstrap", "draw_halves", "draw_rows"]

Sampling = Literal["complementary_pairs", "bootstrap"]

#: Fewest samples of a half, and of a class in a half.
_LEAST_HALF, _LEAST_OF_CLASS = 4, 1


def draw_rows(
    sampling: Sampling,
    rows: IntArray,
    classes: IntArray | None,
    n_pairs: int,
    generator: np.random.Generator,
) -> list[IntArray]:
    """Draw ``2 * n_pairs`` samples of some rows, each sorted.

    Parameters
    ----------
    sampling : {"complementary_pairs", "bootstrap"}
    rows : ndarray of shape (n,)
        Rows of the table that are used.
    classes : ndarray of shape (n,) or None
        Number of the class of each of these rows: every sample has the same share of each class.
    n_pairs : int
    generator : Generator

    Returns
    -------
    list of ndarray
        Of complementary pairs, the two halves of each follow each other.
    """
    n = rows.size
    if n < 2 * _LEAST_HALF:
        raise InvalidInputError(
            f"n_samples={n} is too few for half-samples: give {2 * _LEAST_HALF} samples or more."
        )
    strata = [np.arange(n)] if classes is None else _strata(classes)
    if sampling == "bootstrap":
        drawn: Iterator[IntArray] = (draw_bootstrap(strata, generator) for _ in range(2 * n_pairs))
    else:
        drawn = (half for _ in range(n_pairs) for half in draw_halves(strata, generator))
    return [np.sort(rows[part]) for part in drawn]


def check_classes(classes: IntArray) -> None:
    """Raise if a class has too few samples for two halves."""
    least = int(np.bincount(classes).min())
    if least < 2 * _LEAST_OF_CLASS:
        raise InvalidInputError(
            f"y has a class with {least} sample{'s' if least != 1 else ''}, but each half-sample "
            "needs one of every class: leave out classes with fewer than 2 samples, or join them."
        )


def _strata(classes: IntArray) -> list[IntArray]:
    """Return the places of each class; those with one sample are one stratum."""
    labels, counts = np.unique(classes, return_counts=True)
    common = labels[counts > 1]
    strata = [np.flatnonzero(classes == label) for label in common]
    rare = np.flatnonzero(~np.isin(classes, common))
    return [*strata, rare] if rare.size else strata


def draw_halves(
    strata: list[IntArray], generator: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Draw two halves without common samples, both of n // 2 samples.

    Of a class with an odd number of samples one is left; of all that are left, half go to each.

    Examples
    --------
    >>> first, second = draw_halves([np.arange(5), np.arange(5, 8)], np.random.default_rng(0))
    >>> first.size, second.size, np.intersect1d(first, second).size
    (4, 4, 0)
    """
    first, second, left = [], [], []
    for stratum in strata:
        mixed = generator.permutation(stratum)
        half = mixed.size // 2
        first.append(mixed[:half])
        second.append(mixed[half : 2 * half])
        left.append(mixed[2 * half :])
    rest = generator.permutation(np.concatenate(left))
    half = rest.size // 2
    return (
        np.concatenate([*first, rest[:half]]),
        np.concatenate([*second, rest[half : 2 * half]]),
    )


def draw_bootstrap(strata: list[IntArray], generator: np.random.Generator) -> IntArray:
    """Draw as many samples as there are, with replacement, from each stratum."""
    return np.concatenate([generator.choice(stratum, stratum.size) for stratum in strata])
