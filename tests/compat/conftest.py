"""Tables that several tests use."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.compat import HSICLasso


@pytest.fixture
def table():
    """Correlated features, of which the target depends on a few."""
    rng = np.random.default_rng(3)
    factors = rng.standard_normal((60, 4))
    X = factors @ rng.standard_normal((4, 15)) + 0.5 * rng.standard_normal((60, 15))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(60)


@pytest.fixture
def fitted(table):
    model = HSICLasso()
    model.input(*table, featname=[f"gene{j}" for j in range(15)])
    model.regression(4, B=0, max_neighbors=6)
    return model
