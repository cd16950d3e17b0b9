"""Both ways to multiply matrices of features, whatever the number of samples would choose."""

from __future__ import annotations

import pytest

from hsiclasso.dependence import packed


@pytest.fixture(params=["packed", "factors"])
def products(request, monkeypatch):
    """Small samples are packed; or nothing is."""
    if request.param == "factors":
        monkeypatch.setattr(packed, "_MOST_SAMPLES", 0)
    return request.param
