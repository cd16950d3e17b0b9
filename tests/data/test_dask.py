"""Dask arrays and frames: computed by chunks of columns, never gathered as a whole."""

from __future__ import annotations

import pickle
import tempfile
import threading

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from hsiclasso import HSICLasso, InvalidInputError, RechunkWarning, Resources, make_data1
from hsiclasso.data import RowSubset, as_source, is_container
from hsiclasso.data.dask import DaskSource
from hsiclasso.data.dask_sparse import SparseDaskSource
from hsiclasso.data.duplicates import AveragedColumns, RenamedColumns
from hsiclasso.data.stored import HeldColumns
from hsiclasso.data.subset import ColumnSubset
from tests.data.chunks import assert_cover

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")


class Counter:
    """Counts how often each block is computed, and the largest one."""

    def __init__(self):
        self.times = {}
        self.largest = 0
        self.lock = threading.Lock()

    def __call__(self, block, block_info=None):
        place = tuple(block_info[0]["chunk-location"])
        with self.lock:
            self.times[place] = self.times.get(place, 0) + 1
            self.largest = max(self.largest, block.nbytes)
        return block


def counted(X, chunks):
    counter = Counter()
    array = da.from_array(X, chunks=chunks).map_blocks(counter, dtype=X.dtype, meta=X[:0, :0])
    return array, counter


CHUNKS = [(100, 16), (100, 5), (30, 16), (25, 7), ((60, 40), (1, 9, 6))]


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "bool"])
def test_blocks(rng, chunks, dtype):
    array = (4 * rng.random((100, 16))).astype(dtype)
    source, expected = as_source(da.from_array(array, chunks=chunks)), as_source(array)
    assert isinstance(source, DaskSource)
    assert not source.in_memory
    assert source.n_bytes == array.nbytes
    assert source.uniform_kind == expected.uniform_kind
    assert source.dtype_name(0) == dtype
    assert source.categories(0) is None
    for columns in (slice(0, 16), slice(4, 9), slice(0, 0), np.array([15, 3, 3, 11])):
        np.testing.assert_array_equal(source.block(columns), expected.block(columns))
        levels = expected.levels(columns)
        found = source.levels(columns)
        assert (levels is None) == (found is None)
        if levels is not None:
            np.testing.assert_array_equal(found, levels)
    for size in (1, 3000, 10**9):
        parts = source.chunks(size)
        assert_cover(parts, 16)
        for part in parts:
            np.testing.assert_array_equal(source.load(part).read(slice(None)), array[:, part])


def test_a_chunk_as_a_task(rng):
    delayed = pytest.importorskip("dask.delayed")
    array = rng.random((100, 16))
    lazy, counter = counted(array, (100, 4))
    task = DaskSource(lazy).delayed(slice(4, 8))
    assert isinstance(task, delayed.Delayed)
    assert not counter.times
    np.testing.assert_array_equal(task.compute(), array[:, 4:8])
    assert counter.times == {(0, 1): 1}  # the graph has no more than it needs


def test_tasks_of_all_chunks_compute_each_block_once(rng, monkeypatch):
    import dask

    monkeypatch.setattr("hsiclasso.data.dask._CHUNK_BYTES", 100 * 8 * 3)
    monkeypatch.setattr("hsiclasso.data.dask._MOST_TIMES", 1)
    array = rng.random((100, 16))
    lazy, counter = counted(array, (30, 16))
    source = DaskSource(lazy)
    parts = source.chunks(100 * 8 * 3)
    assert max(part.stop - part.start for part in parts) <= 3
    found = dask.compute(*(source.delayed(part) for part in parts))
    np.testing.assert_array_equal(np.hstack(found), array)
    assert set(counter.times.values()) == {1}


@pytest.mark.parametrize("chunks", [(200, 8), (50, 8), (60, 11)])
def test_each_block_is_computed_once_by_a_fit(chunks, monkeypatch):
    monkeypatch.setattr("hsiclasso.dependence.budget._CHUNK", 200 * 8 * 8)
    X, y, _ = make_data1(200, 64, random_state=0)
    lazy, counter = counted(X, chunks)
    found, expected = HSICLasso(4).fit(lazy, y), HSICLasso(4).fit(X, y)
    assert set(counter.times.values()) == {1}
    assert counter.largest <= 200 * 8 * 11
    assert found.selected_.tolist() == expected.selected_.tolist()
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12)
    assert found.n_features_in_ == 64


def test_rows_are_computed_once_into_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("hsiclasso.data.dask._CHUNK_BYTES", 200 * 8 * 4)
    X, y, _ = make_data1(200, 64, random_state=0)
    lazy, counter = counted(X, ((30, 100, 70), (40, 24)))
    selector = HSICLasso(4)
    with pytest.warns(RechunkWarning, match=r"X \(a Dask array\) is stored in chunks of 100 sam"):
        selector.fit(lazy, y)
    assert set(counter.times.values()) == {1}
    assert len(counter.times) == 6
    expected = HSICLasso(4).fit(X, y)
    np.testing.assert_allclose(selector.coef_, expected.coef_, rtol=1e-12)
    source = as_source(lazy)
    with pytest.warns(RechunkWarning):
        found = source.read(np.array([63, 2, 2]))
    np.testing.assert_array_equal(found, X[:, [63, 2, 2]])
    np.testing.assert_array_equal(source.read(slice(3, 30)), X[:, 3:30])


def test_a_target_may_be_lazy_too():
    X, y, _ = make_data1(200, 20, random_state=0)
    found = HSICLasso(2).fit(da.from_array(X, chunks=(200, 5)), da.from_array(y, chunks=50))
    assert found.selected_.tolist() == HSICLasso(2).fit(X, y).selected_.tolist()


def test_transform_computes_the_selected_columns():
    X, y, _ = make_data1(200, 20, random_state=0)
    lazy, counter = counted(X, (200, 5))
    selector = HSICLasso(2).fit(X, y)
    np.testing.assert_array_equal(selector.transform(lazy), X[:, np.sort(selector.selected_)])
    assert len(counter.times) < 4


def test_copies_and_identity(rng):
    array = rng.random((50, 6))
    source = as_source(da.from_array(array, chunks=(50, 2)))
    copy = pickle.loads(pickle.dumps(source))
    np.testing.assert_array_equal(copy.block(slice(0, 6)), array)
    assert copy.identity() == source.identity()
    assert as_source(da.from_array(array + 1, chunks=(50, 2))).identity() != source.identity()


def test_containers_are_not_gathered(rng):
    array = da.from_array(rng.random((50, 6)), chunks=(50, 2))
    assert not is_container(array)
    assert not is_container(dd.from_pandas(pd.DataFrame(rng.random((5, 2))), npartitions=1))


def frame(rng):
    gaps = rng.random(90) < 0.2
    return pd.DataFrame(
        {
            "a": rng.random(90),
            "b": rng.integers(0, 5, 90),
            "flag": rng.random(90) < 0.5,
            "maybe": pd.array(rng.random(90) < 0.5, dtype="boolean"),
            "whole": pd.array(np.where(gaps, None, rng.integers(0, 3, 90)), dtype="Int64"),
            "site": pd.Categorical(np.where(gaps, None, rng.choice(["u", "v"], 90))),
        }
    )


def test_frames(rng):
    table = frame(rng)
    source, expected = as_source(dd.from_pandas(table, npartitions=4)), as_source(table)
    assert (source.n_samples, source.n_features) == (90, 6)
    kinds = ["number", "number", "bool", "bool", "number", "category"]
    assert [source.kind(j) for j in range(6)] == kinds
    assert source.uniform_kind is None
    assert source.categories(5) == ["u", "v"]
    assert [source.dtype_name(j) for j in (0, 2, 5)] == ["float64", "bool", "category"]
    np.testing.assert_array_equal(source.block(slice(0, 6)), expected.block(slice(0, 6)))
    loaded = source.load(slice(4, 6))
    assert (loaded.kind(0), loaded.kind(1), loaded.categories(1)) == (
        "number",
        "category",
        ["u", "v"],
    )
    assert loaded.name(1) == "site"


def test_frames_of_one_dtype_keep_it(rng):
    table = pd.DataFrame(rng.random((30, 3)).astype(np.float32), columns=list("abc"))
    source = as_source(dd.from_pandas(table, npartitions=2))
    assert source.read(slice(0, 3)).dtype == np.float32
    np.testing.assert_array_equal(source.read(slice(0, 3)), table)
    flags = as_source(dd.from_pandas(table > 0.5, npartitions=2))
    assert flags.uniform_kind == "bool"


def test_empty_partitions(rng):
    table = pd.DataFrame(rng.random((30, 2)), columns=["a", "b"])
    lazy = dd.from_pandas(table, npartitions=5)
    chosen = lazy[lazy.a > table.a.nlargest(4).iloc[-1] - 1e-9]
    source = as_source(chosen)
    assert source.n_samples == 4
    with pytest.raises(InvalidInputError, match="n_samples=0"):
        as_source(lazy[lazy.a > 2])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: da.ones((4, 3, 2)), r"X has shape \(4, 3, 2\), but a table has two dimensions"),
        (lambda: da.ones(4), r"X has shape \(4,\), but a table has two dimensions"),
        (lambda: da.ones((4, 3), dtype=complex), "X has dtype complex128"),
        (lambda: da.ones((9, 3))[da.arange(9) > 2], r"unknown sizes: call X.compute_chunk_sizes"),
        (
            lambda: dd.from_pandas(pd.DataFrame({"a": [1, 2, 3], "s": list("uvw")}), npartitions=1),
            r"column 's' .*astype\('category'\)\.cat\.as_known",
        ),
        (
            lambda: dd.from_pandas(
                pd.DataFrame({"a": [1, 2, 3], "s": list("uvw")}), npartitions=1
            ).astype({"s": "category"}),
            r"column 's' .*astype\('category'\)\.cat\.as_known",
        ),
    ],
)
def test_what_is_no_table(make, words):
    with pytest.raises(InvalidInputError, match=words):
        as_source(make())


def test_tables_on_top_have_tasks_too(rng):
    array = rng.random((50, 12))
    below = DaskSource(da.from_array(array, chunks=(20, 5)))
    rows, columns = np.array([7, 3, 3, 40]), np.array([0, 1, 2, 5, 9, 11])
    tops = [RowSubset(below, rows), ColumnSubset(below, columns), RenamedColumns(below)]
    tops += [RowSubset(ColumnSubset(below, columns), rows), HeldColumns(below, {})]
    for top in tops:
        assert top.from_dask
        for part in (slice(0, 3), slice(2, 6)):
            expected = top.load(part).read(slice(None))
            np.testing.assert_array_equal(top.delayed(part).compute(), expected)
    assert ColumnSubset(below, columns).delayed(slice(2, 2)) is None
    averaged = AveragedColumns(DaskSource(below._array, [f"g{j // 2}" for j in range(12)]))
    assert averaged.from_dask
    assert averaged.delayed(slice(0, 2)) is None
    plain = as_source(array)
    assert not plain.from_dask
    assert RowSubset(plain, rows).delayed(slice(0, 2)) is None
    assert ColumnSubset(plain, columns).delayed(slice(0, 2)) is None


# ---------------------------------------------------------------- sparse blocks


def sparse_blocks(X, chunks, form):
    """A Dask array of sparse blocks, which counts how often each is computed."""
    counter, empty = Counter(), form((0, 0))

    def make(block, block_info=None):
        counter(block, block_info)
        return form(block)

    return da.from_array(X, chunks=chunks).map_blocks(make, dtype=X.dtype, meta=empty), counter


def few_entries(rng, n=100, d=16, dtype="float32"):
    X = np.where(rng.random((n, d)) < 0.3, rng.integers(1, 9, (n, d)), 0).astype(dtype)
    return X, X[:, 3] + (X[:, 11] > 0) + 0.1 * rng.standard_normal(n)


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_blocks(chunks, form, rng):
    X, y = few_entries(rng)
    array, _ = sparse_blocks(X, chunks, form)
    source, expected = as_source(array), as_source(sparse.csc_array(X))
    by_columns = array.numblocks[1] > 1
    assert isinstance(source, SparseDaskSource)
    assert source.in_memory is not by_columns
    for columns in (slice(0, 16), slice(4, 9), slice(0, 0), np.array([15, 3, 3, 11])):
        np.testing.assert_array_equal(source.block(columns), expected.block(columns))
        np.testing.assert_array_equal(source.read(columns), expected.read(columns))
        for found, part in zip(source.stored(columns), expected.stored(columns), strict=True):
            np.testing.assert_array_equal(found, part)
    for size in (1, 3000, 10**9):
        parts = source.chunks(size)
        assert_cover(parts, 16)
        for part in parts:
            np.testing.assert_array_equal(source.load(part).read(slice(None)), X[:, part])
    fresh, counter = sparse_blocks(X, chunks, form)
    found, usual = (HSICLasso(3).fit(table, y) for table in (fresh, sparse.csc_array(X)))
    assert found.selected_.tolist() == usual.selected_.tolist()
    np.testing.assert_allclose(found.coef_, usual.coef_, rtol=1e-9)
    # the first one also tells how many entries there are
    times = sorted(counter.times.values())
    assert times[:-1] == [1] * (array.npartitions - 1)
    assert times[-1] == 2


@pytest.mark.parametrize("chunks", [(30, 16), (30, 5)])
def test_copies_of_sparse_blocks(chunks, rng):
    X, _ = few_entries(rng)
    source = as_source(da.from_array(X, chunks=chunks).map_blocks(sparse.csr_matrix))
    again = pickle.loads(pickle.dumps(source))
    np.testing.assert_array_equal(again.read(slice(2, 9)), X[:, 2:9])
    assert again.identity() == source.identity()


def test_sparse_blocks_that_do_not_fit(rng):
    X, y = few_entries(rng, n=600, d=3000)
    array, counter = sparse_blocks(X, (60, 3000), sparse.csr_matrix)
    few = HSICLasso(3, resources=Resources("1MB"))
    with pytest.raises(InvalidInputError, match=r"sparse blocks with all 3,000 columns.*CSC"):
        few.fit(array, y)
    assert counter.times == {(0, 0): 1}  # before long work
    # there are more entries than the first block made expect
    X[:60] = 0
    array, _ = sparse_blocks(X, (60, 3000), sparse.csr_matrix)
    source = SparseDaskSource(array, budget=10**5)
    with pytest.raises(InvalidInputError, match=r"more than 100\.0 kB of memory"):
        source.block(slice(0, 1))


def test_sparse_blocks_of_complex_numbers():
    array = da.zeros((9, 4), chunks=3, dtype=complex).map_blocks(sparse.csr_matrix)
    with pytest.raises(InvalidInputError, match="complex128"):
        as_source(array)
