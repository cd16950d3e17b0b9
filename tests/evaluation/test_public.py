"""What the evaluation shows, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import hsiclasso.evaluation

PUBLIC = {
    "GridScores",
    "KernelLogisticRegression",
    "KernelLogisticRegressionCV",
    "KernelRidgeRegression",
    "KernelRidgeRegressionCV",
    "redundancy_rate",
}


def test_public_names():
    assert set(hsiclasso.evaluation.__all__) == PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_public_names_are_documented(name):
    assert len(getattr(hsiclasso.evaluation, name).__doc__) > 40


def test_import_compiles_nothing():
    code = "import hsiclasso.evaluation, sys; print('numba' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
