"""Who runs pieces of work."""

from __future__ import annotations

import threading
import time
import weakref

import pytest

from hsiclasso.dependence import running
from hsiclasso.dependence.running import Threads


@pytest.mark.parametrize("n_threads", [1, 3])
def test_results_come_in_the_order_of_the_pieces(n_threads):
    assert list(Threads(n_threads).map(lambda i: i * i, range(20))) == [i * i for i in range(20)]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_results_are_not_kept(n_threads):
    """Memory must not grow with the number of pieces."""

    class Result:
        pass

    seen = []
    for result in Threads(n_threads).map(lambda _: Result(), range(10)):
        seen.append(weakref.ref(result))
        del result
        assert [one() for one in seen[:-1]] == [None] * (len(seen) - 1)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_first_error_surfaces_and_cancels_the_rest(n_threads):
    begun, failed = [], threading.Event()

    def work(piece):
        begun.append(piece)
        if piece == 1:  # fails before piece 0 does, but comes after it
            failed.set()
            raise ValueError(piece)
        if piece == 0:
            assert n_threads == 1 or failed.wait(10)
            raise ValueError(piece)
        time.sleep(0.01)

    with pytest.raises(ValueError, match="0"):
        list(Threads(n_threads).map(work, range(200)))
    assert len(begun) < 200


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_interruption_between_results_surfaces(n_threads):
    begun = []

    def work(piece):
        begun.append(piece)
        time.sleep(0.01)

    results = Threads(n_threads).map(work, range(200))
    next(results)
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt)
    assert len(begun) < 200


class Slow:
    """Work whose pieces take a while to load, and that counts how many are loaded at a time."""

    def __init__(self):
        self.lock, self.now, self.most, self.working, self.most_working = (
            threading.Lock(),
            0,
            0,
            0,
            0,
        )

    def load(self, piece):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.01)
        return piece

    def relate(self, piece, loaded):
        with self.lock:
            self.working += 1
            self.most_working = max(self.most_working, self.working)
        time.sleep(0.01)
        with self.lock:
            self.now -= 1
            self.working -= 1
        return loaded


@pytest.mark.parametrize(("busy", "most"), [(0.0, 2), (10.0, 3)])
def test_pieces_are_loaded_ahead_if_threads_wait(busy, most, monkeypatch):
    monkeypatch.setattr(running, "_BUSY", busy)
    work = Slow()
    assert list(Threads(2).map(work, range(40))) == list(range(40))
    assert work.most == most
    assert work.most_working <= 2
