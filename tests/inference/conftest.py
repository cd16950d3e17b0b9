"""Shared by the tests of inference."""

from __future__ import annotations

import pytest

from hsiclasso._blas import single_threaded_blas


@pytest.fixture(autouse=True)
def _one_thread_of_blas():
    """Many small products: threads of BLAS would only wait for each other."""
    with single_threaded_blas():
        yield
