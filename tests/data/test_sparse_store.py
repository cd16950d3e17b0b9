"""Sparse tables in files: chunks of compressed columns, and compressed rows turned into columns."""

from __future__ import annotations

import logging
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hsiclasso import HSICLasso, InvalidInputError
from hsiclasso.data import RowSubset, sparse_store
from hsiclasso.data.duplicates import AveragedColumns, RenamedColumns
from hsiclasso.data.sources import ArraySource
from hsiclasso.data.sparse_store import CompressedFile, StoredColumns, StoredRows, sparse_source
from hsiclasso.data.store import Store
from hsiclasso.data.subset import ColumnSubset
from tests.data.chunks import assert_loads

h5py = pytest.importorskip("h5py")

#: Forms in a file and whether the columns may be in memory.
WAYS = {"csc": ("csc", None), "csr in memory": ("csr", None), "csr by ranges": ("csr", 600)}


def write(path, matrix, form, **options):
    made = matrix.asformat(form)
    with h5py.File(path, "w") as file:
        for name in ("data", "indices", "indptr"):
            file.create_dataset(f"X/{name}", data=getattr(made, name), **options)
    return CompressedFile(Store(str(path)), "X", form, made.shape)


def table(rng, shape=(90, 23), dtype="float32", density=0.2):
    made = sparse.random_array(shape, density=density, random_state=rng, format="csr")
    return (made * 100).astype(dtype)


@pytest.fixture(params=sorted(WAYS))
def open_as(request, tmp_path, monkeypatch):
    form, limit = WAYS[request.param]
    monkeypatch.setattr(sparse_store, "_PIECE", 64)

    def make(matrix, **options):
        file = write(tmp_path / "x.h5", matrix, form, **options)
        return sparse_source(file, [f"g{j}" for j in range(matrix.shape[1])], memory_limit=limit)

    return make


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint16", "int64", "bool"])
def test_blocks(open_as, dtype, rng):
    matrix = table(rng, dtype=dtype)
    source, dense = open_as(matrix), matrix.toarray()
    assert (source.n_samples, source.n_features, source.name(3)) == (90, 23, "g3")
    assert source.n_stored == matrix.nnz
    assert source.dtype_name(0) == dtype
    for columns in (slice(0, 23), slice(4, 9), slice(0, 0), np.array([20, 3, 3, 11])):
        for _ in range(2):
            read = source.read(columns)
            assert read.dtype == dtype
            np.testing.assert_array_equal(read, dense[:, columns])
            np.testing.assert_array_equal(source.block(columns), dense[:, columns])
            indptr, rows, values = source.stored(columns)
            shape = (90, indptr.size - 1)
            back = sparse.csc_array((values, rows, indptr), shape=shape)
            np.testing.assert_array_equal(back.toarray(), dense[:, columns])
            assert values.dtype == np.float64


def test_chunks_cover_the_columns(open_as, rng):
    matrix = table(rng)
    source = open_as(matrix)
    for size in (1, 500, 10**9):
        assert_loads(source, size, matrix.toarray(), "g")
        loaded = [source.load(chunk) for chunk in source.chunks(size)]
        assert all(part.stored(slice(0, 0)) is not None for part in loaded)
    covered = np.concatenate([np.arange(run.start, run.stop) for run in source.runs()])
    assert covered.tolist() == list(range(23))


@pytest.mark.parametrize("options", [{}, {"chunks": (30,), "compression": "gzip"}])
def test_selection(open_as, options, rng):
    matrix = table(rng, (200, 40))
    y = matrix[:, [7]].toarray().ravel() + rng.random(200)
    found = HSICLasso(4).fit(open_as(matrix, **options), y)
    in_memory, dense = HSICLasso(4).fit(matrix, y), HSICLasso(4).fit(matrix.toarray(), y)
    assert found.selected_.tolist() == in_memory.selected_.tolist() == dense.selected_.tolist()
    np.testing.assert_allclose(found.coef_, in_memory.coef_, rtol=1e-12)
    np.testing.assert_allclose(found.relevance_, in_memory.relevance_, rtol=1e-12)
    np.testing.assert_allclose(found.coef_, dense.coef_, atol=1e-9)


def test_some_rows(open_as, rng):
    matrix = table(rng)
    rows = np.array([5, 80, 5])
    subset = RowSubset(open_as(matrix), rows)
    np.testing.assert_array_equal(subset.block(slice(3, 8)), matrix.toarray()[rows, 3:8])
    assert subset.n_stored == matrix.tocsr()[rows].nnz


def test_a_source_is_pickled_without_its_values(open_as, rng):
    matrix = table(rng)
    source = open_as(matrix)
    source.block(slice(0, 23))
    sent = pickle.dumps(source)
    back = pickle.loads(sent)
    np.testing.assert_array_equal(back.block(slice(0, 23)), matrix.toarray())
    assert back.identity() == source.identity()
    assert len(sent) < 5000


def test_identity_changes_with_the_file(tmp_path, rng):
    first = sparse_source(write(tmp_path / "x.h5", table(rng), "csc")).identity()
    assert sparse_source(write(tmp_path / "x.h5", table(rng), "csc")).identity() != first


def test_identity_of_a_store_without_a_file(rng):
    matrix = table(rng).tocsc()
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(zarr.storage.MemoryStore(), mode="w")
    for name in ("data", "indices", "indptr"):
        group.create_array(name, data=getattr(matrix, name))
    source = StoredColumns(CompressedFile(Store.of(group), "", "csc", matrix.shape), None)
    assert source.name(2) == "x2"
    assert source.identity() == source.identity()
    np.testing.assert_array_equal(source.block(slice(0, 23)), matrix.toarray())


def test_memory_beside_the_columns_is_small(tmp_path, monkeypatch, rng):
    monkeypatch.setattr(sparse_store, "_PIECE", 2000)
    matrix = table(rng, (4000, 200), density=0.25)
    source = StoredRows(write(tmp_path / "x.h5", matrix, "csr"), None, 10**9)
    source.gather(np.arange(2))  # compile first
    tracemalloc.start()
    source.block(slice(0, 1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.3 * source.n_bytes


def test_rows_that_do_not_fit_are_announced(tmp_path, caplog, rng):
    matrix = table(rng)
    source = StoredRows(write(tmp_path / "x.h5", matrix, "csr"), None, 8 * 100)
    with caplog.at_level(logging.WARNING, "hsiclasso"):
        chunks = source.chunks(10**9)
    assert not source.in_memory
    assert len(chunks) > 2
    assert f"all rows are read {len(chunks)} times. Store it as a CSC matrix" in caplog.text


def test_rows_that_do_not_fit_are_not_read_for_a_plan(tmp_path, caplog, monkeypatch, rng):
    monkeypatch.setattr(sparse_store, "_PIECE", 100)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    file = write(tmp_path / "x.h5", table(rng, (200, 50)), "csr")
    source = StoredRows(file, None, file.n_stored * file.entry_bytes // 3)
    needed = source.preparation(1000)
    assert not caplog.text
    assert "_counts" not in source.__dict__  # for which all rows are read
    assert "all rows are read 10 times. Store it as a CSC matrix" in needed.sentence
    assert needed.each_pass.n_bytes == 10 * source.n_bytes
    assert needed.once.n_bytes == 4 * source.n_stored
    assert needed.each_pass.seconds > needed.once.seconds > 0
    assert len(needed.stand_in.chunks(1000)) == 10
    assert needed.stand_in.load(slice(0, 4)).stored(slice(None)) is not None
    assert 9 <= len(source.chunks(1000)) <= 13  # columns differ in their entries
    assert StoredRows(file, None, 10**9).preparation(1000) is None


@given(st.integers(0, 2**31), st.integers(1, 40), st.integers(1, 15), st.floats(0, 1))
def test_any_rows_become_columns(tmp_path_factory, seed, n, d, density):
    rng = np.random.default_rng(seed)
    matrix = table(rng, (n, d), density=density)
    source = StoredRows(write(tmp_path_factory.mktemp("x") / "x.h5", matrix, "csr"), None, 10**6)
    wanted = np.flatnonzero(rng.random(d) < 0.5)
    np.testing.assert_array_equal(source.gather(wanted).toarray(), matrix.toarray()[:, wanted])


def test_entries_that_are_not_in_order_or_occur_twice(tmp_path):
    matrix = sparse.csr_array(
        (np.arange(1.0, 6.0), np.array([2, 0, 0, 1, 1]), np.array([0, 3, 5])), shape=(2, 3)
    )
    for form in ("csr", "csc"):
        file = write(tmp_path / f"{form}.h5", matrix, form)
        np.testing.assert_array_equal(sparse_source(file).block(slice(0, 3)), matrix.toarray())


class TestBroken:
    @pytest.mark.parametrize(
        ("part", "values"),
        [
            ("indptr", [0, 5, 3, 6]),
            ("indptr", [1, 2, 3, 6]),
            ("indptr", [0, 6]),
            ("indices", [0, 1]),
            ("data", [1.0]),
        ],
    )
    def test_parts_that_do_not_fit(self, tmp_path, part, values):
        parts = {"data": np.ones(6), "indices": np.zeros(6, int), "indptr": np.array([0, 2, 4, 6])}
        with h5py.File(tmp_path / "x.h5", "w") as file:
            for name, array in (parts | {part: np.array(values)}).items():
                file[f"X/{name}"] = array
        with pytest.raises(InvalidInputError, match=r"X of .*x\.h5 is no valid CSR matrix"):
            CompressedFile(Store(str(tmp_path / "x.h5")), "X", "csr", (3, 4))

    @pytest.mark.parametrize("form", ["csr", "csc"])
    @pytest.mark.parametrize("index", [-1, 23, 2**31 - 1])
    def test_an_entry_outside(self, tmp_path, rng, form, index):
        matrix = table(rng, (23, 23)).asformat(form)
        matrix.indices[3] = index
        with h5py.File(tmp_path / "x.h5", "w") as file:
            for name in ("data", "indices", "indptr"):
                file[f"X/{name}"] = getattr(matrix, name)
        source = sparse_source(CompressedFile(Store(str(tmp_path / "x.h5")), "X", form, (23, 23)))
        with pytest.raises(InvalidInputError, match=r"has an entry outside its shape \(23, 23\)"):
            source.block(slice(0, 23))

    def test_a_file_that_changes_while_it_is_read(self, tmp_path, rng):
        source = sparse_source(write(tmp_path / "x.h5", table(rng), "csr"))
        assert source._counts.sum()
        source._counts[2] -= 1
        with pytest.raises(InvalidInputError, match="changed while it was read"):
            source.block(slice(0, 23))

    def test_values_that_are_no_numbers(self, tmp_path, rng):
        with pytest.raises(InvalidInputError, match="has dtype complex128, but values must be"):
            write(tmp_path / "x.h5", table(rng, dtype="complex128"), "csr")

    def test_a_group_without_arrays(self, tmp_path):
        with h5py.File(tmp_path / "x.h5", "w") as file:
            file.create_group("X")
        with pytest.raises(InvalidInputError, match=r"x\.h5 \(X\) cannot be read"):
            CompressedFile(Store(str(tmp_path / "x.h5")), "X", "csr", (3, 4))

    def test_chunks_that_cannot_be_decoded(self, tmp_path, rng):
        matrix = table(rng, (300, 300))
        file = write(tmp_path / "x.h5", matrix, "csc", chunks=(300,), compression="gzip")
        with h5py.File(tmp_path / "x.h5") as stored:
            place = stored["X/data"].id.get_chunk_info(3)
        with (tmp_path / "x.h5").open("r+b") as raw:
            raw.seek(place.byte_offset)
            raw.write(b"\xff" * place.size)
        with pytest.raises(InvalidInputError, match=r"x\.h5 \(X\) cannot be read \("):
            StoredColumns(file, None).block(slice(0, 300))


class TestLimit:
    """A limit of memory that is given after a table was opened."""

    @pytest.fixture
    def source(self, tmp_path, rng):
        return StoredRows(write(tmp_path / "x.h5", table(rng), "csr"), None, 10**6)

    def test_a_limit_comes_and_goes(self, source):
        expected = source.block(slice(0, 23))
        assert source.in_memory
        assert source.bytes_to_come == 0
        for limit in (1200, 300):
            source.limit_memory(limit)
            assert not source.in_memory
            assert source.bytes_to_come == limit
            np.testing.assert_array_equal(source.block(slice(0, 23)), expected)
        narrow = len(source.chunks(10**6))
        source.limit_memory(1200)
        assert 1 < len(source.chunks(10**6)) < narrow
        source.limit_memory(None)
        assert source.in_memory
        assert source.block(slice(0, 0)).shape == (90, 0)
        assert source.bytes_to_come == source.n_bytes

    def test_what_was_given_first_remains(self, tmp_path, rng):
        source = StoredRows(write(tmp_path / "x.h5", table(rng), "csr"), None, 600)
        source.limit_memory(10**9)
        assert source.bytes_to_come == 600

    def test_tables_on_top_pass_it_on(self, source):
        below = RowSubset(ColumnSubset(source, np.arange(3, 9)), np.arange(80))
        for top in (below, AveragedColumns(RenamedColumns(source))):
            top.limit_memory(None)
            assert top.in_memory
            assert top.bytes_to_come == source.n_bytes
            top.limit_memory(600)
            assert not top.in_memory
            assert top.bytes_to_come == 600
            assert not top.load(slice(0, 2)).bytes_to_come

    def test_other_tables_have_none(self, rng):
        array = ArraySource(rng.random((5, 2)))
        array.limit_memory(1)
        assert array.in_memory
        assert array.bytes_to_come == 0
