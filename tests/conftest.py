"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import is_hypothesis_test, settings
from threadpoolctl import threadpool_limits

if "PYTEST_XDIST_WORKER" in os.environ:
    # processes share the cores already: BLAS threads on top of them wait for each other
    threadpool_limits(1, user_api="blas")

#: Parts of names of tests that do once more, on many or large data, what other tests do: a third
#: of their time would be the measuring of coverage. The same holds for examples of properties.
REPEATED = (
    "test_scikit_learn_checks", "tests/test_docs.py", "tests/test_real_data.py",
    "tests/experiments/", "tests/reliability/", "p_values_are_uniform", "as_rare_as_promised",
)  # fmt: skip


def pytest_collection_modifyitems(items):
    """Measure no coverage where it was measured before."""
    for item in items:
        by_example = is_hypothesis_test(getattr(item, "obj", None))
        if by_example or any(part in item.nodeid for part in REPEATED):
            item.add_marker("no_cover")


settings.register_profile("default", deadline=None, max_examples=40, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=600)
settings.load_profile("default")

#: Folder of real data: beside the checkout, or where the environment says.
DATA = Path(
    os.environ.get("HSICLASSO_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def data_folder():
    """The folder of real data, or a skip where it is absent."""
    if not DATA.is_dir():
        pytest.skip("real data is absent: set HSICLASSO_DATA to its folder")
    return DATA


@pytest.fixture(scope="session")
def load_real():
    """Load a real dataset by name, or skip where the data folder is absent."""

    def load(name):
        for folder in (DATA, DATA / "extra"):
            file = folder / f"{name}.npz"
            if file.exists():
                return np.load(file, allow_pickle=False)
        pytest.skip(f"real dataset {name} is absent: set HSICLASSO_DATA to its folder")

    return load


@pytest.fixture
def temporary_files(tmp_path, monkeypatch):
    """A folder of their own for temporary files; no store is too small to be re-chunked."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr("hsiclasso.data.stored._SMALL_BYTES", 0)
    return folder
