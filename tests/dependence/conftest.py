"""A table that is cut into many chunks."""

from __future__ import annotations

import pytest

from hsiclasso import make_data2
from hsiclasso.dependence import budget
from tests.dependence.chunks import D, N


@pytest.fixture(scope="module")
def data():
    X, y, _ = make_data2(N, D, shuffle=True, random_state=0)
    return X, y


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of seven columns."""
    monkeypatch.setattr(budget, "_CHUNK", 7 * 8 * N)
