"""A cohort to select from."""

from __future__ import annotations

import pytest

from tests.cli.helpers import cohort, write


@pytest.fixture(scope="session")
def columns():
    return cohort()


@pytest.fixture
def table(tmp_path, columns):
    return write(tmp_path / "cohort.csv", columns)
