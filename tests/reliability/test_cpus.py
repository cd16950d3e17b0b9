"""The same features whatever the CPU: a small part of ``python -m reliability.cpus``."""

from __future__ import annotations

import pytest

from reliability import cpus

CORES = cpus.available()


@pytest.fixture(scope="module")
def expected():
    return cpus.answers({"RELIABILITY_JOBS": "1"}, few=True)


@pytest.mark.skipif(not CORES, reason="this machine does not tell its instructions")
def test_the_plainest_linear_algebra_and_more_threads(expected):
    variables = {
        "OPENBLAS_CORETYPE": CORES[0], "OPENBLAS_NUM_THREADS": "2", "RELIABILITY_JOBS": "2"
    }  # fmt: skip
    found = cpus.answers(variables, few=True)
    if found["cores"] == expected["cores"]:
        pytest.skip("this BLAS cannot stand for another CPU")
    gaps = cpus.differences(found["answers"], expected["answers"])
    assert {name: gap for name, gap in gaps.items() if gap > cpus.TOLERANCE} == {}


def test_differences_are_seen():
    one = {"a": {"selected": [1, 2], "numbers": [1.0, 0.5]}}
    assert cpus.differences(one, one) == {"a": 0}
    near = {"a": {"selected": [1, 2], "numbers": [1.0, 0.5 + 1e-8]}}
    assert cpus.differences(near, one)["a"] == pytest.approx(1e-8)
    other = {"a": {"selected": [2, 1], "numbers": [1.0, 0.5]}}
    assert cpus.differences(other, one)["a"] == float("inf")
