"""What a selection will cost: the numbers, and the bound on memory that is kept."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from hsiclasso import HSICLasso, InvalidInputError, RechunkWarning, Resources, make_data1, plan
from hsiclasso._memory import as_bytes, free_bytes, in_words, resident_bytes, swap_bytes
from hsiclasso.data import as_source
from hsiclasso.data.sparse_store import CompressedFile, StoredRows, sparse_source
from hsiclasso.data.store import Store
from hsiclasso.dependence.budget import Budget
from hsiclasso.selectors.prepare import prepare


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    X, _, _ = make_data1(200, 500, random_state=0)
    path = tmp_path_factory.mktemp("plan") / "X.npy"
    np.save(path, X.astype(np.float32))
    return path


def test_numbers_of_a_plan(file):
    X = np.load(file, mmap_mode="r")
    y = np.asarray(X[:, 3]) ** 2
    made = plan(HSICLasso(20), X, y)
    assert (made.n_samples, made.n_features, made.n_passes) == (200, 500, 1)
    assert made.bytes_read == 200 * 500 * 4
    assert made.seconds > 0
    assert 0 <= made.reading_share <= 1
    assert made.memory_bound > resident_bytes()
    assert json.loads(json.dumps(made.to_dict()))["n_threads"] == made.n_threads
    assert "200 samples x 500 features" in str(made)
    near = plan(HSICLasso(20, n_neighbors=2, exclude=["x1"]), X, y)
    assert near.n_passes == 3  # neighbours of 16 features at a time
    assert near.bytes_read == 3 * made.bytes_read
    assert any("n_neighbors=0" in line for line in near.advice)


def test_a_plan_checks_what_a_fit_checks(file):
    X = np.load(file, mmap_mode="r")
    with pytest.raises(InvalidInputError, match=r"memory_limit=1\.0 MB is too little"):
        plan(HSICLasso(5, resources=Resources("1MB")), X, np.arange(200))
    with pytest.raises(InvalidInputError, match="n_features_to_select"):
        plan(HSICLasso(-1), X, np.arange(200))


def test_long_work_gets_advice(file, monkeypatch):
    monkeypatch.setattr("hsiclasso.selectors.plan._LONG", 0.0)
    made = plan(HSICLasso(5), np.load(file, mmap_mode="r"), np.arange(200.0))
    assert any("checkpoint" in line for line in made.advice)
    assert any("cluster" in line for line in made.advice)


@pytest.fixture
def small_chunks(temporary_files, monkeypatch):
    """Chunks of few bytes, so that small tables count as large; a folder for temporary files."""
    monkeypatch.setattr("hsiclasso.dependence.budget._CHUNK", 200 * 4 * 10)
    return temporary_files


def stored(file, folder, chunks):
    zarr = pytest.importorskip("zarr")
    return zarr.create_array(folder.parent / "X.zarr", data=np.load(file), chunks=chunks)


def test_a_plan_re_chunks_nothing(file, small_chunks, recwarn):
    X = stored(file, small_chunks, (20, 500))
    y = np.asarray(X[:, 3]) ** 2
    weights = np.arange(200) > 0  # a sample is left out
    size = 200 * 500 * 4
    for selector in (HSICLasso(5), HSICLasso(5, joint={"both": ["x1", "x9"]}, exclude=["x7"])):
        made = plan(selector, X, y, sample_weight=weights)
        assert made.bytes_read == 3 * size  # read, written, and read again
        assert made.n_samples == 199
        assert made.seconds > 0
        assert 0 < made.reading_share < 1
        (advice,) = [line for line in made.advice if "re-chunked" in line]
        assert "400.0 kB are read, and as much is written to" in advice
        assert "With this, reading takes about" in advice
        assert advice in str(made)
        assert json.loads(json.dumps(made.to_dict()))["advice"][0] == advice
    assert not list(small_chunks.iterdir())
    assert not recwarn.list
    assert plan(HSICLasso(5, n_neighbors=2), X, y).bytes_read == 4 * size  # one pass more


def test_the_chunks_of_a_plan_are_those_of_a_fit(file, small_chunks):
    X = stored(file, small_chunks, (20, 500))
    source, y = as_source(X), np.arange(200.0)
    made = plan(HSICLasso(5), source, y)
    with pytest.warns(RechunkWarning):
        assert len(source.chunks(200 * 4 * 10)) == made.n_chunks
    assert not any("re-chunked" in line for line in plan(HSICLasso(5), source, y).advice)


def test_columns_need_no_preparation(file, small_chunks):
    X = stored(file, small_chunks, (200, 10))
    made = plan(HSICLasso(5), X, np.asarray(X[:, 3]) ** 2)
    assert made.bytes_read == 200 * 500 * 4
    assert not any("re-chunked" in line for line in made.advice)


def test_a_full_disk_is_found_by_a_plan(file, small_chunks, monkeypatch):
    X = stored(file, small_chunks, (20, 500))
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=10))
    with pytest.raises(InvalidInputError, match="must be re-chunked"):
        plan(HSICLasso(5), X, np.arange(200.0))


def test_rows_that_are_read_several_times(tmp_path, monkeypatch, rng):
    h5py = pytest.importorskip("h5py")
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    X = sparse.random_array((300, 40), density=0.3, format="csr", random_state=rng)
    with h5py.File(tmp_path / "X.h5", "w") as group:
        for name in ("data", "indices", "indptr"):
            group[name] = getattr(X, name)
    matrix = CompressedFile(Store(str(tmp_path / "X.h5")), "", "csr", X.shape)
    # a range for the one thread, and one that is read ahead
    limit = 2 * matrix.n_stored * matrix.entry_bytes // 5 + 40
    source = sparse_source(matrix, memory_limit=limit)
    y = X[:, [3]].toarray().ravel()
    made = plan(HSICLasso(3), source, y)
    assert made.n_chunks == 5
    assert made.bytes_read == 5 * source.n_bytes + 4 * matrix.n_stored
    assert "all rows are read 5 times" in made.advice[0]
    monkeypatch.setattr("hsiclasso.selectors.plan._MOST_TIMES", 0)  # one column of each chunk
    assert plan(HSICLasso(3), source, y).seconds > 0


@pytest.mark.parametrize(
    ("text", "size"), [("2GB", 2 * 10**9), ("1.5 MiB", 3 * 2**19), (1000, 1000), ("7", 7)]
)
def test_sizes(text, size):
    assert as_bytes("memory_limit", text) == size


@pytest.mark.parametrize("text", ["", "GB", "two GB", "1.2.3GB", True, None, "-1GB"])
def test_what_is_no_size(text):
    with pytest.raises(InvalidInputError, match="is no size"):
        as_bytes("memory_limit", text)


def test_memory_of_the_machine():
    assert 0 < free_bytes() < 2**50
    assert in_words(12) == "12 bytes"


@pytest.mark.parametrize("n_threads", [1, 2, 64])
@pytest.mark.parametrize("limit", [400e6, 1e9, 4e9, 1e12])
def test_a_budget_stays_within_its_limit(limit, n_threads):
    for n, d in ((100, 10**5), (1000, 10**6), (100_000, 1000)):
        budget = Budget.within(int(limit), n, d, n_threads)
        assert budget.bound(n, d) <= limit
        assert 1 <= budget.n_threads <= n_threads
        # a pass that is continued elsewhere has the same chunks
        assert budget.chunk == Budget.within(int(limit), n, d, 1).chunk


def test_little_free_memory_is_no_error(monkeypatch, file):
    """Without a limit there is none to keep: a selection that fits is not refused."""
    monkeypatch.setattr("hsiclasso.dependence.budget.free_bytes", lambda: 2**20)
    X = np.load(file)
    assert HSICLasso(1).fit(X, X[:, 5] ** 2).selected_.tolist() == [5]
    assert plan(HSICLasso(1), X, X[:, 5]).n_threads == 1


def test_far_too_little_memory_is_an_error(monkeypatch):
    """What would certainly end without memory is refused, unless a limit is given."""
    monkeypatch.setattr("hsiclasso.dependence.budget.free_bytes", lambda: 3 * 10**9)
    monkeypatch.setattr("hsiclasso.dependence.budget.swap_bytes", lambda: 10**9)
    Budget.within(None, 100, 5 * 10**7, 2)
    with pytest.raises(InvalidInputError, match=r"4\.0 GB of memory are free.*needs 6\.4 GB"):
        Budget.within(None, 100, 10**8, 2)
    with pytest.raises(InvalidInputError, match=r"needs 5\.0 GB or more"):
        Budget.within(None, 1000, 1000, 2, table=5 * 10**9)
    Budget.within(8 * 10**9, 100, 10**8, 2)


def test_files_in_the_cache_of_a_container_are_free(monkeypatch, tmp_path):
    monkeypatch.setattr("hsiclasso._memory._GROUP", tmp_path)
    monkeypatch.setattr("hsiclasso._memory._MEMORY", tmp_path / "absent")
    assert swap_bytes() == 0
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("900000\n")
    assert free_bytes() == 100_000
    (tmp_path / "memory.stat").write_text("anon 300000\nfile 600000\ninactive_file 500000\n")
    assert free_bytes() == 600_000
    (tmp_path / "memory.max").write_text("max\n")
    assert free_bytes() > 10**6


def test_a_small_table_needs_little():
    """The bound is not that of a large table."""
    assert Budget(n_threads=2).bound(500, 1000) < 400e6 < Budget(n_threads=2).bound(5000, 10**6)


@pytest.mark.parametrize("kind", ["npy", "zarr"])
@pytest.mark.skipif(not resident_bytes(), reason="the system does not tell the memory of a process")
def test_the_bound_is_kept(tmp_path, kind):
    """Peak memory of a fit in a process of its own, on a table larger than the limit."""
    code = """
        import resource, sys
        import numpy as np
        from hsiclasso import HSICLasso, Resources, make_data2, plan
        folder, kind = sys.argv[1:]
        rng = np.random.default_rng(0)
        n, d = 1000, 90_000
        if kind == "npy":
            X = np.lib.format.open_memmap(folder + "/X.npy", "w+", np.float32, (n, d), True)
        else:
            import zarr
            X = zarr.create_array(folder + "/X.zarr", shape=(n, d), dtype="f4", chunks=(n, 2500))
        for start in range(0, d, 2500):
            X[:, start : start + 2500] = rng.standard_normal((n, 2500), dtype=np.float32)
        y = np.asarray(X[:, 7]) + np.asarray(X[:, d - 1]) ** 2
        if kind == "npy":
            X.flush()
            X._mmap.close()  # pages that were written would count
            X = np.load(folder + "/X.npy", mmap_mode="r")
        selector = HSICLasso(10, resources=Resources(memory_limit="320MB"))
        HSICLasso(2).fit(np.asarray(X[:, :300]), y)  # compile first
        bound = plan(selector, X, y).memory_bound
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        selector.fit(X, y)
        status = open("/proc/self/status").read()
        peak = int(status.split("VmHWM:")[1].split()[0]) * 1024
        mapped = 0
        if kind == "npy":  # pages of the file are the system's, which takes them back
            smaps = open("/proc/self/smaps").read()
            mapped = int(smaps.split("X.npy")[1].split("Rss:")[1].split()[0]) * 1024
        print(bound, peak, mapped, selector.selected_[:2].tolist())
    """
    if kind == "zarr":
        pytest.importorskip("zarr")
    made = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path), kind],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    bound, peak, mapped, *selected = made.stdout.split(maxsplit=3)
    assert int(peak) - int(mapped) <= int(bound)
    assert selected[0].strip() in ("[7, 89999]", "[89999, 7]")


@pytest.fixture
def rows_file(tmp_path):
    """A CSR matrix of 8 MB in a file, whose columns must be turned into memory."""
    h5py = pytest.importorskip("h5py")
    rng = np.random.default_rng(0)
    matrix = sparse.random_array((500, 4000), density=0.5, random_state=rng, format="csr")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        for name in ("data", "indices", "indptr"):
            file.create_dataset(f"X/{name}", data=getattr(matrix, name))
    return matrix, CompressedFile(Store(str(tmp_path / "x.h5")), "X", "csr", matrix.shape)


def test_a_limit_reaches_a_table_that_loads_itself(rows_file, monkeypatch, caplog):
    matrix, file = rows_file
    y = np.random.default_rng(1).random(500) + 5 * matrix[:, [7]].toarray().ravel()
    expected = HSICLasso(5).fit(matrix, y)
    monkeypatch.setattr("hsiclasso.dependence.budget._SMALL", 2**20)
    monkeypatch.setattr("hsiclasso.dependence.budget._THREAD_BYTES", 2**20)
    scans = []
    gather = StoredRows.gather
    monkeypatch.setattr(
        StoredRows, "gather", lambda self, columns: scans.append(1) or gather(self, columns)
    )
    for limit, in_memory in (("20MB", False), ("100MB", True), (None, True)):
        source = sparse_source(file)
        scans.clear()
        resources = Resources(memory_limit=limit)
        found = HSICLasso(5, covariates=["x3"], resources=resources).fit(source, y)
        assert found.n_features_in_ == 4000
        assert source.in_memory == in_memory
        assert (len(scans) == 1) == in_memory
        found = HSICLasso(5, resources=resources).fit(source, y)
        assert found.selected_.tolist() == expected.selected_.tolist()
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12)
    assert "is stored by rows" in caplog.text


def test_what_a_table_takes_comes_out_of_the_limit(rows_file):
    _, file = rows_file
    y = np.arange(500.0)
    for limit in (400 * 10**6, 10**9):
        selector = HSICLasso(5, n_jobs=1, resources=Resources(memory_limit=limit))
        source = sparse_source(file)
        inputs = prepare(selector, source, y)
        assert source.bytes_to_come == source.n_bytes
        assert inputs.budget.bound(source.n_samples, 4000) + source.n_bytes <= limit
    with pytest.raises(InvalidInputError, match=r"10\.0 MB is too little.*allow (.*) MB or more"):
        prepare(HSICLasso(5, resources=Resources("10MB")), sparse_source(file), y)


@pytest.mark.parametrize("limit", [None, 5 * 10**6])
def test_a_plan_counts_a_table_that_will_be_loaded(rows_file, monkeypatch, limit):
    _, file = rows_file
    monkeypatch.setattr("hsiclasso.selectors.plan.resident_bytes", lambda: 0)
    monkeypatch.setattr("hsiclasso.dependence.budget.free_bytes", lambda: 10**9)
    # as if no chunk were tried: the table is then not loaded yet
    monkeypatch.setattr("hsiclasso.selectors.plan._try_chunks", lambda *_: (1.0, 1.0))
    source = sparse_source(file, memory_limit=limit)
    selector, y = HSICLasso(5), np.arange(500.0)
    bound = prepare(selector, source, y).budget.bound(source.n_samples, 4000)
    assert plan(selector, source, y).memory_bound == bound + (limit or source.n_bytes)


@pytest.mark.parametrize("table", [0, 10**8, 5 * 10**8])
def test_the_limit_that_is_advised_is_enough(table):
    with pytest.raises(InvalidInputError, match="allow") as caught:
        Budget.within(100 + table, 10**4, 10**5, 4, table)
    advised = as_bytes("limit", re.search(r"allow (.*) or more", str(caught.value))[1])
    limit = int(1.01 * advised)
    Budget.within(limit, 10**4, 10**5, 4, min(table, limit // 2))
