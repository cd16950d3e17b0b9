"""Chunks as tasks of a Dask cluster: the same result, also when workers are lost."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from scipy import sparse

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
from distributed import Client, LocalCluster  # noqa: E402

from hsiclasso import (  # noqa: E402
    ChunkFailedError,
    ControlledSelection,
    EmbeddingLasso,
    HSICLasso,
    InvalidInputError,
    NOCCOLasso,
    Resources,
    SelectByTest,
    StabilitySelection,
    plan,
)
from hsiclasso.data import as_source  # noqa: E402
from hsiclasso.data.dask import DaskSource, current_client  # noqa: E402
from hsiclasso.data.duplicates import AveragedColumns  # noqa: E402
from hsiclasso.data.sources import ArraySource  # noqa: E402
from hsiclasso.data.stored import StoredArray  # noqa: E402
from hsiclasso.data.subset import ColumnSubset  # noqa: E402
from hsiclasso.dependence import Features, Threads, cluster, pair_scan  # noqa: E402
from hsiclasso.dependence.cluster import Cluster  # noqa: E402
from hsiclasso.dependence.pairs import PairOptions, Pairs, scan_pairs  # noqa: E402
from hsiclasso.kernels import HSIC, Gaussian, Samples  # noqa: E402
from hsiclasso.targets import Auto, Real  # noqa: E402
from tests.dependence.chunks import D, N, assert_same  # noqa: E402

#: Dask closes its connections in ways that Python remarks on.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.usefixtures("small_chunks"),
]


@pytest.fixture(scope="module")
def client():
    """Two worker processes of one thread each."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    # A worker that some test kills may start again slowly: the cluster must not give it up,
    # which by default it does after 15 seconds, whether or not the worker is on its way.
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
    with patient, LocalCluster(**options, silence_logs=50) as made, Client(made) as client:
        yield client


def let_workers_return(client):
    """Wait until a killed worker is back; the tests to come also work without it."""
    for _ in range(300):
        if len(client.nthreads()) == 2:
            break
        time.sleep(0.1)


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


def test_passes_with_residuals_are_run_by_workers(client, data):
    X, y = data
    on_cluster = EmbeddingLasso(5, resources=Resources(client=client)).fit(X, y)
    assert_same(on_cluster, EmbeddingLasso(5).fit(X, y))
    array = da.from_array(X, chunks=(N, 11))
    assert_same(EmbeddingLasso(5, resources=Resources(client=client)).fit(array, y), on_cluster)


def test_files_are_read_by_the_workers(client, data, tmp_path):
    X, y = data
    np.save(tmp_path / "X.npy", X)
    table = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert_same(on(client.scheduler.address).fit(table, y), HSICLasso(5).fit(X, y))


def test_several_chunks_share_a_task(client, data, monkeypatch):
    X, y = data
    monkeypatch.setattr(cluster, "_LEAST_TASKS", 1)
    submitted = []
    submit = type(client).submit

    def note(self, function, *args, **options):
        submitted.append(args[1:2])
        return submit(self, function, *args, **options)

    monkeypatch.setattr(type(client), "submit", note)
    assert_same(on(client).fit(StoredArray(X), y), HSICLasso(5).fit(X, y))
    assert [len(args[0]) for args in submitted if args] == [4, 2, 1, 1, 1]


def test_with_a_checkpoint(client, data, tmp_path):
    resources = Resources(client=client, checkpoint=tmp_path)
    assert_same(HSICLasso(5, resources=resources).fit(*data), HSICLasso(5).fit(*data))
    # what a cluster finished, threads can use
    again = HSICLasso(5, resources=Resources(checkpoint=tmp_path)).fit(*data)
    assert_same(again, HSICLasso(5).fit(*data))


def test_pairs_like_threads(client, data, tmp_path, monkeypatch):
    """Workers make the rows from the table; of a collection of Dask they get the columns."""
    monkeypatch.setattr(pair_scan, "_WIDTH", 5)
    X, y = data
    np.save(tmp_path / "X.npy", X)
    stored = StoredArray(np.load(tmp_path / "X.npy", mmap_mode="r"))
    target = Real().prepare(y, N).data.matrix(HSIC(), Samples(N), error=1e-6, n_features=D)
    tables = [(X, Threads()), (X, Cluster(client)), (stored, Cluster(client)),
              (da.from_array(X, chunks=(N, 11)), Cluster(client))]  # fmt: skip
    chosen = Pairs.of([*range(3, 30), 44], first=[9, 44, 5, 3, 7, 20])
    found = [
        scan_pairs(
            Features(as_source(table), (Gaussian(),), Samples(N), np.arange(D)), target, HSIC(),
            chosen, PairOptions(6, 3), runner=runner,
        )
        for table, runner in tables
    ]  # fmt: skip
    for other in found[1:]:
        assert other.pairs.tolist() == found[0].pairs.tolist()
        np.testing.assert_allclose(other.upper, found[0].upper, rtol=1e-5)


TESTED = {
    "scan": lambda resources: SelectByTest("n_features", 5, resources=resources),
    "controlled": lambda resources: ControlledSelection(
        EmbeddingLasso(resources=resources), 0.3, n_draws=99
    ),
    "auto": lambda resources: HSICLasso("auto", resources=resources),
    "stability": lambda resources: StabilitySelection(
        NOCCOLasso(4), n_pairs=2, resources=resources, random_state=0
    ),
    "all halves at once": lambda resources: StabilitySelection(
        HSICLasso(4), n_pairs=2, resources=resources, random_state=0
    ),
}


@pytest.mark.parametrize("name", list(TESTED))
def test_tests_and_frequencies_like_threads(client, data, name):
    here, there = (TESTED[name](Resources(client=one)).fit(*data) for one in (None, client))
    assert there.selected_.tolist() == here.selected_.tolist()
    assert there.selected_.size
    for field in ("p_value_", "p_values_", "frequencies_"):
        if hasattr(here, field):
            np.testing.assert_allclose(getattr(there, field), getattr(here, field), rtol=1e-9)


def test_pairs_that_fail_name_themselves(client, data, monkeypatch):
    X, y = data
    target = Real().prepare(y, N).data.matrix(HSIC(), Samples(N), error=1e-6, n_features=D)
    table = StoredArray(FailingArray(X, None))
    features = Features(table, (Gaussian(),), Samples(N), np.arange(D))
    with pytest.raises(InvalidInputError, match=r"X\[:, 28:29\] cannot be .*disk is on fire"):
        scan_pairs(
            features, target, HSIC(), Pairs.of([28, 29, 30, 31]), PairOptions(6, 3),
            runner=Cluster(client),
        )  # fmt: skip


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
    let_workers_return(client)


class FailingArray(KillingArray):
    def __getitem__(self, key):
        if os.getpid() != self.here and key[1].start == 28:
            raise AssertionError("the disk is on fire")
        return self.array[key]


def test_a_chunk_that_fails_names_itself(client, data):
    X, y = data
    with pytest.raises(InvalidInputError, match=r"X\[:, 28:35\] cannot be .*disk is on fire"):
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
    with pytest.raises(InvalidInputError, match="No scheduler answers at 'nonsense'"):
        on("nonsense").fit(*data)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # connects, but says nothing
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(InvalidInputError, match=r"answers at .*nothing came within 0\.5 s"):
            on(address).fit(*data)
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


#: Chunks of a Dask array: by columns, by rows, both; the last one without a pattern.
CHUNKS = {"columns": (N, 7), "rows": (60, D), "both": (60, 11), "odd": ((200, 100), (1, 40, 19))}


class Noted:
    """Appends a line to a file for every block that is computed: its place and the process."""

    def __init__(self, file, mark=None):
        self.file, self.mark, self.here = str(file), mark, os.getpid()

    def __call__(self, block, block_info=None):
        place = block_info[0]["chunk-location"]
        kills = self.mark and os.getpid() != self.here and place[0] + place[1] > 0
        if kills and not os.path.exists(self.mark):
            open(self.mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        with open(self.file, "a") as lines:
            lines.write(f"{place} in {os.getpid()}\n")
        return block

    def lines(self):
        with open(self.file) as lines:
            return [line.strip().split(" in ") for line in lines]


def lazy(X, chunks, noted):
    made = da.from_array(X, chunks=chunks)
    return made.map_blocks(noted, dtype=X.dtype, meta=X[:0, :0])


def assert_once_on_workers(noted, array):
    places, processes = zip(*noted.lines(), strict=True)
    assert len(places) == len(set(places)) == array.npartitions
    assert str(os.getpid()) not in processes


@pytest.fixture
def narrow(monkeypatch):
    """As if blocks of rows were so wide that they must be cut into several chunks of columns."""
    monkeypatch.setattr("hsiclasso.data.dask._CHUNK_BYTES", 7 * 8 * N)
    monkeypatch.setattr("hsiclasso.data.dask._MOST_TIMES", 1)


@pytest.fixture
def largest(monkeypatch):
    """Numbers of entries that reached this process at once."""
    sizes = [0]
    result, compute = cluster._NamedFuture.result, DaskSource.read

    def received(future):
        found = result(future)
        sizes.append(max(array.size for array in found.to_arrays().values()))
        return found

    def read(source, columns):
        values = compute(source, columns)
        sizes.append(values.size)
        return values

    monkeypatch.setattr(cluster._NamedFuture, "result", received)
    monkeypatch.setattr(DaskSource, "read", read)
    return sizes


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(
    ("chunks", "dtype"),
    [*((name, "float64") for name in CHUNKS), ("both", "float32"), ("rows", "int8")],
)
def test_dask_arrays_are_computed_once_by_the_workers(client, data, tmp_path, chunks, dtype):
    X, y = (4 * data[0]).astype(dtype), data[1]
    noted = Noted(tmp_path / "blocks")
    array = lazy(X, CHUNKS[chunks], noted)
    assert_same(on(client).fit(array, y), HSICLasso(5).fit(X, y))
    assert_once_on_workers(noted, array)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
def test_dask_arrays_are_not_gathered(client, data, chunks, monkeypatch, tmp_path, largest):
    # as if the table were much larger: chunks return few columns
    monkeypatch.setattr(cluster, "_LEAST_EACH", 2)
    monkeypatch.setattr(cluster, "_TIMES_SHARE", 0)
    X, y = data
    array = lazy(X, chunks, Noted(tmp_path / "blocks"))
    for options in ({}, {"covariates": ["x3"]}):
        assert_same(on(client, **options).fit(array, y), HSICLasso(5, **options).fit(X, y))
    assert max(largest) < X.size
    assert min(size for size in largest if size) <= 2 * N


@pytest.mark.parametrize("options", [{}, {"n_neighbors": 2}, {"covariates": ["x7"]}], ids=str)
def test_the_current_client_is_used(client, data, tmp_path, options):
    X, y = data
    noted = Noted(tmp_path / "blocks")
    array = lazy(X, (60, 11), noted)
    assert_same(HSICLasso(5, **options).fit(array, y), HSICLasso(5, **options).fit(X, y))
    assert str(os.getpid()) not in dict(noted.lines()).values()
    assert plan(HSICLasso(5), array, y).n_threads == 2


@pytest.mark.parametrize("options", [{}, {"covariates": ["x7"]}], ids=str)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_a_client_that_is_not_the_default_computes_all(client, data, tmp_path, options, form):
    """Single columns too: covariates, and columns that were not held."""
    X, y = np.where(data[0] > 0.5, data[0], 0.0), data[1]
    noted = Noted(tmp_path / "blocks")
    array = lazy(X, (60, 11), noted).map_blocks(form)
    expected = HSICLasso(5, **options).fit(form(X), y)
    # other computations are those of this process now
    with dask.config.set(scheduler="synchronous"):
        assert_same(on(client.scheduler.address, **options).fit(array, y), expected)
    here = [place for place, process in noted.lines() if process == str(os.getpid())]
    # the first sparse block tells how many entries there are when the table is opened
    assert here == ([] if form is np.asarray else ["(0, 0)"])


def test_one_client_for_an_address(client):
    address = client.scheduler.address
    made = cluster.connect(address)
    assert made is cluster.connect(address)
    assert made is not client
    made.close()
    assert cluster.connect(address) is not made


def test_without_a_client_dask_is_local(data, tmp_path):
    X, y = data
    code = f"""
        import sys
        import dask.array as da, numpy as np
        from hsiclasso import HSICLasso
        from hsiclasso.data.dask import current_client
        X, y = np.load({str(tmp_path / "X.npy")!r}), np.load({str(tmp_path / "y.npy")!r})
        assert current_client() is None
        assert "distributed" not in sys.modules
        selector = HSICLasso(5).fit(da.from_array(X, chunks=(60, 11)), y)
        import distributed
        assert current_client() is None
        print(selector.selected_.tolist())
    """
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    command = [sys.executable, "-c", textwrap.dedent(code)]
    made = subprocess.run(command, check=True, capture_output=True, text=True)
    assert made.stdout.strip() == str(HSICLasso(5).fit(X, y).selected_.tolist())


def test_a_task_of_a_worker_uses_no_client(client):
    assert current_client() is client
    assert client.submit(_has_no_client, pure=False).result()


def _has_no_client():
    distributed.get_client()
    return current_client() is None


@pytest.mark.parametrize("chunks", [(N, 7), (60, D), (60, 11)], ids=str)
def test_sparse_blocks_on_a_cluster(client, data, chunks):
    X = np.where(data[0] > 0.5, data[0], 0.0)
    array = da.from_array(X, chunks=chunks).map_blocks(sparse.csr_matrix)
    expected = HSICLasso(5).fit(sparse.csc_array(X), data[1])
    # the client is current, and then named
    for selector in (HSICLasso(5), on(client)):
        assert_same(selector.fit(array, data[1]), expected)


@pytest.mark.usefixtures("narrow")
def test_dask_frames_on_a_cluster(client, data, largest):
    pandas, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    table = pandas.DataFrame(data[0], columns=[f"gene{j}" for j in range(D)])
    table["site"] = pandas.Categorical(np.where(data[0][:, 3] > 0.5, "u", "v"))
    frame = dd.from_pandas(table, npartitions=4)
    found, expected = (HSICLasso(5).fit(each, data[1]) for each in (frame, table))
    assert_same(found, expected)
    assert max(largest) < data[0].size


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
def test_rows_and_columns_of_a_dask_array(client, data, tmp_path, chunks):
    X, y = data[0], data[1].copy()
    y[[3, 77, 200]] = np.nan
    noted = Noted(tmp_path / "blocks")
    array = lazy(X, chunks, noted)
    target = Auto(missing="drop")
    assert_same(on(client, target=target).fit(array, y), HSICLasso(5, target=target).fit(X, y))
    assert_once_on_workers(noted, array)
    columns = np.setdiff1d(np.arange(D), [0, 5, 6, 30, D - 1])
    found, expected = (
        on(client, target=target, covariates=["x7"]).fit(ColumnSubset(as_source(table), columns), y)
        for table in (array, X)
    )
    assert_same(found, expected)


@pytest.mark.parametrize(
    "options", [{"joint": {"both": ["x3", "x50"]}}, {"kernel": "laplace", "covariates": ["x7"]}]
)
def test_other_options_with_a_dask_array(client, data, options):
    array = da.from_array(data[0], chunks=(60, 11))
    assert_same(on(client, **options).fit(array, data[1]), HSICLasso(5, **options).fit(*data))


def test_a_dask_table_without_tasks_is_loaded_here(client, data, monkeypatch):
    names = [f"g{j // 2}" for j in range(D)]
    lazily = AveragedColumns(DaskSource(da.from_array(data[0], chunks=(N, 10)), names))
    monkeypatch.setattr(DaskSource, "__getstate__", None)  # it is not sent
    expected = HSICLasso(5).fit(AveragedColumns(ArraySource(data[0], names)), data[1])
    assert_same(on(client).fit(lazily, data[1]), expected)


def test_a_checkpoint_of_a_dask_array(client, data, tmp_path):
    array = da.from_array(data[0], chunks=(60, 11))
    resources = Resources(client=client, checkpoint=tmp_path)
    for _ in range(2):
        assert_same(HSICLasso(5, resources=resources).fit(array, data[1]), HSICLasso(5).fit(*data))


def test_a_worker_that_is_lost_with_its_blocks_changes_nothing(client, data, tmp_path):
    mark = str(tmp_path / "killed")
    array = lazy(data[0], (60, D), Noted(tmp_path / "blocks", mark))
    assert_same(on(client).fit(array, data[1]), HSICLasso(5).fit(*data))
    assert os.path.exists(mark)
    let_workers_return(client)


def _burn(block, block_info=None):
    if block_info[0]["chunk-location"] == (0, 4):
        raise AssertionError("the disk is on fire")
    if block_info[0]["chunk-location"][1] > 5:
        time.sleep(0.5)
    return block


def test_a_dask_chunk_that_fails_names_itself(client, data):
    array = lazy(data[0], (N, 7), _burn)
    with pytest.raises(ChunkFailedError, match=r"'x28' to 'x34' failed 4 times.*disk is on fire"):
        on(client).fit(array, data[1])

    def left():
        return [name for held in client.has_what().values() for name in held if "_relate" in name]

    for _ in range(100):  # the others are given up, and what they left is forgotten
        if not any(client.processing().values()) and not left():
            break
        time.sleep(0.1)
    assert not left()
