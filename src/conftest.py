"""Fixture of the examples in docstrings."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each example in an empty folder, where it may write files."""
    monkeypatch.chdir(tmp_path)
