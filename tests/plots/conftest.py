"""Selections that several figures show."""

from __future__ import annotations

import pytest

from hsiclasso import HSICLasso, make_data1
from tests.plots.helpers import choose


@pytest.fixture(scope="session")
def selection():
    X, y, _ = make_data1(100, 20, random_state=0)
    names = [f"feature number {j} with quite a long name {j}" for j in range(20)]
    return choose(X, y, names, n_features=6)


@pytest.fixture(scope="session")
def nothing():
    """Return a selection at a penalty so high that no feature gets in."""
    X, y, _ = make_data1(60, 8, random_state=0)
    return choose(X, y, alpha=1e9)


@pytest.fixture(scope="session")
def signed():
    """Return a selector with weights of either sign."""
    X, y, _ = make_data1(60, 20, random_state=0)
    selector = HSICLasso(positive=False, alpha_ratio=0.01).fit(X, y)
    assert selector.coef_.min() < 0 < selector.coef_.max()
    return selector
