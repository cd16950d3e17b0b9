"""Threads of BLAS: one while the package's own threads work, and as before afterwards."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from hsiclasso import HSICLasso, _blas
from hsiclasso._blas import single_threaded_blas


def threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_overlapping_limits_are_taken_away_again(monkeypatch):
    """The limit of one thread must not be what another restores."""
    monkeypatch.setattr(_blas, "_controller", None)  # it may not know libraries loaded since
    with threadpool_limits(3, user_api="blas"):
        before, together = threads(), Barrier(2)

        def first():
            with single_threaded_blas():
                together.wait(10)  # both are inside
                together.wait(10)

        def second():
            together.wait(10)
            with single_threaded_blas():
                assert set(threads()) == {1}
                together.wait(10)  # the first leaves before this one

        with ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(second), pool.submit(first)]:
                done.result()
            # the thread that set the limit lives on, and is not the one that takes it away
            assert threads() == before


def test_fits_in_several_threads(rng):
    X = rng.standard_normal((60, 30))
    with threadpool_limits(3, user_api="blas"):
        before = threads()
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda j: HSICLasso(3).fit(X, X[:, j] ** 2).coef_, [1, 2, 3] * 4))
        assert threads() == before
    for j in range(3):
        for again in found[j::3]:
            np.testing.assert_array_equal(again, found[j])
