"""Selections that several figures show."""

from __future__ import annotations

import pytest

from hsiclasso import AlphaRatio, Lasso, make_data1
from tests.plots.helpers import choose


@pytest.fixture(scope="session")
def selection():
    X, y, _ = make_data1(100, 20, random_state=0)
    names = [f"feature number {j} with quite a long name {j}" for j in range(20)]
    return choose(X, y, names, n_features_to_select=6)


@pytest.fixture(scope="session")
def nothing():
    """Return a selection at a penalty so high that no feature gets in."""
    X, y, _ = make_data1(60, 8, random_state=0)
    return choose(X, y, alpha=1e9)


@pytest.fixture(scope="session")
def signed():
    """Return a selection with weights of either sign."""
    X, y, _ = make_data1(60, 20, random_state=0)
    result = choose(X, y, penalty=Lasso(positive=False), alpha=AlphaRatio(0.01))
    weights = [feature.weight for feature in result.features]
    assert min(weights) < 0 < max(weights)
    return result
