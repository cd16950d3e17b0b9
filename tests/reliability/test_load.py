"""Many fits at once: a small part of ``python -m reliability.load``."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hsiclasso import HSICLasso, InvalidInputError
from reliability import load


def test_many_fits_in_threads():
    found = load.many(ThreadPoolExecutor, 8, 160, 8)
    assert found["other_answers"] == 0
    assert found["blas_threads_restored"]
    assert found["MB_grown_in_second_half"] < 50


@pytest.mark.slow
@pytest.mark.parametrize("case", ["threads", "processes"])
def test_very_many_fits(case):
    found = load.CASES[case](1000)
    assert found["other_answers"] == 0
    assert found["blas_threads_restored"]
    assert found["MB_grown_in_second_half"] < 20


def test_few_samples_of_many_features():
    X, y = np.random.default_rng(0).standard_normal((3, 20_000)), np.array([0.0, 1.0, 5.0])
    assert len(HSICLasso(2).fit(X, y).selected_) == 2


def test_many_classes():
    X, y = load.classes(np.random.default_rng(0), 900, 300)
    assert len(HSICLasso(2).fit(X, y).selected_) == 2


def test_a_column_of_very_many_labels():
    pytest.importorskip("pandas")
    X, y = load.labels(np.random.default_rng(0), 1000)
    assert HSICLasso(2).fit(X, y).result_.names[0] == "b"
    X, y = load.labels(np.random.default_rng(0), 3000)
    with pytest.raises(InvalidInputError, match=r"'label' has more than 2000 labels.*drop"):
        HSICLasso(2).fit(X, y)
