"""Fixtures of the tests of selectors: one table, its target, and covariates."""

from __future__ import annotations

import numpy as np
import pytest

from tests.selectors.tables import N, holes, site_codes


@pytest.fixture(scope="session", name="X")
def make_table():
    """A table that nobody may write to."""
    table = np.random.default_rng(5).standard_normal((N, 7))
    table.flags.writeable = False
    return table


@pytest.fixture(scope="session")
def y(X):
    return X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2


@pytest.fixture(scope="session")
def holed(X):
    """The table with up to a third of a column missing; the last two columns are complete."""
    return holes(X)


@pytest.fixture(scope="session")
def age():
    return np.random.default_rng(9).uniform(20, 80, N)


@pytest.fixture(scope="session")
def site():
    """Codes of three sites."""
    return site_codes()
