"""Tables shared by the tests of the kernel models."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluation import oracle_evaluation as oracle


def make_classes(n_classes=3, n=60, d=3, seed=0):
    """Classes that overlap, of different sizes, in features of different scales."""
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.integers(n_classes + 1, size=n), n_classes - 1)
    codes[:n_classes] = np.arange(n_classes)
    centres = rng.standard_normal((n_classes, d))
    X = centres[codes] + rng.standard_normal((n, d))
    return X * np.logspace(-1, 2, d) + 5, codes


def make_real(n=50, seed=0):
    """A real target that depends smoothly on two of three features of different scales."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) * [1, 30, 0.2] + [0, 1, 2]
    y = 10 + np.sin(X[:, 0]) + (X[:, 1] / 30) ** 2 + 0.1 * rng.standard_normal(n)
    return X, y


def gram_of(X, other, width):
    """Kernel between other samples and those of X, standardised as X is."""
    A, B = oracle.standardised(X, other)
    return oracle.gaussian(B, A, width)


@pytest.fixture(scope="session")
def classes():
    return make_classes()


@pytest.fixture(scope="session")
def real():
    return make_real()
