"""Chunks as tasks of a Dask cluster: the same result, also when workers are lost."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")
from distributed import Client, LocalCluster  # noqa: E402

from hsiclasso import (  # noqa: E402
    ChunkFailedError,
    HSICLasso,
    InvalidInputError,
    Resources,
)
from hsiclasso.data.stored import StoredArray  # noqa: E402
from hsiclasso.dependence import cluster  # noqa: E402
from tests.dependence.chunks import assert_same  # noqa: E402

#: Dask closes its connections in ways that Python remarks on.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.xdist_group("cluster"),
    pytest.mark.usefixtures("small_chunks"),
]


@pytest.fixture(scope="module")
def client():
    """Two worker processes of one thread each."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options, silence_logs=50) as made, Client(made) as client:
        yield client


def on(client, **options):
    return HSICLasso(5, resources=Resources(client=client), **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"measure": "nocco"},
        {"n_neighbors": 2},
        {"joint": {"both": ["x3", "x50"]}},
        {"kernel": "laplace", "covariates": ["x7"]},
    ],
    ids=str,
)
def test_workers_like_threads(client, data, options):
    assert_same(on(client, **options).fit(*data), HSICLasso(5, **options).fit(*data))


def test_files_are_read_by_the_workers(client, data, tmp_path):
    X, y = data
    np.save(tmp_path / "X.npy", X)
    table = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert_same(on(client.scheduler.address).fit(table, y), HSICLasso(5).fit(X, y))


def test_with_a_checkpoint(client, data, tmp_path):
    resources = Resources(client=client, checkpoint=tmp_path)
    assert_same(HSICLasso(5, resources=resources).fit(*data), HSICLasso(5).fit(*data))
    # what a cluster finished, threads can use
    again = HSICLasso(5, resources=Resources(checkpoint=tmp_path)).fit(*data)
    assert_same(again, HSICLasso(5).fit(*data))


class KillingArray:
    """An array whose fifth chunk kills the process that reads it, once."""

    def __init__(self, array, mark):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        self.mark, self.here = mark, os.getpid()

    def __getitem__(self, key):
        if os.getpid() != self.here and key[1].start == 28 and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.array[key]


def test_a_lost_worker_changes_nothing(client, data, tmp_path):
    X, y = data
    mark = tmp_path / "killed"
    table = StoredArray(KillingArray(X, mark))
    assert_same(on(client).fit(table, y), HSICLasso(5).fit(X, y))
    assert mark.exists()
    for _ in range(100):  # the nanny starts another worker
        if len(client.nthreads()) == 2:
            break
        time.sleep(0.1)


class FailingArray(KillingArray):
    def __getitem__(self, key):
        if os.getpid() != self.here and key[1].start == 28:
            raise AssertionError("the disk is on fire")
        return self.array[key]


def test_a_chunk_that_fails_names_itself(client, data):
    X, y = data
    with pytest.raises(ChunkFailedError, match=r"'x28' to 'x34' failed 4 times.*disk is on fire"):
        on(client).fit(StoredArray(FailingArray(X, None)), y)


def test_bad_values_are_named_as_in_memory(client, data):
    X, y = data[0].copy(), data[1]
    X[3, 20] = np.nan
    with pytest.raises(InvalidInputError, match="NaN in column 'x20'"):
        on(client).fit(X, y)


def test_other_versions_are_refused(client, data, monkeypatch):
    monkeypatch.setattr(cluster, "__version__", "0.0.1")
    with pytest.raises(InvalidInputError, match=r"has hsiclasso version .*has version 0\.0\.1"):
        on(client).fit(*data)


def test_no_scheduler_and_no_client(data, monkeypatch):
    monkeypatch.setattr(cluster, "_PATIENCE", 0.5)
    with pytest.raises(InvalidInputError, match=r"No scheduler answers at 'tcp://127.0.0.1:9'"):
        on("tcp://127.0.0.1:9").fit(*data)
    with pytest.raises(InvalidInputError, match="client=3 is no"):
        on(3).fit(*data)


def test_no_workers(data, monkeypatch):
    monkeypatch.setattr(cluster, "_PATIENCE", 0.5)
    options = {"n_workers": 0, "dashboard_address": ":0", "processes": False}
    with (
        LocalCluster(**options, silence_logs=50) as empty,
        Client(empty) as client,
        pytest.raises(InvalidInputError, match="no workers"),
    ):
        on(client).fit(*data)


def test_copies_share_the_client(client):
    from sklearn.base import clone

    selector = on(client)
    assert clone(selector).resources.client is client
