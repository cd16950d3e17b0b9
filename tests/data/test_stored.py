"""Arrays outside memory: memory-mapped, HDF5 and Zarr."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest

from hsiclasso import HSICLasso, InvalidInputError, make_data1
from hsiclasso.data import RowSubset, as_source
from hsiclasso.data.stored import HeldColumns, StoredArray
from tests.data.chunks import assert_loads


def memmap(array, folder, order):
    path = folder / "table.npy"
    np.save(path, np.asarray(array, order=order))
    return np.load(path, mmap_mode="r")


def hdf5(array, folder, **options):
    h5py = pytest.importorskip("h5py")
    return h5py.File(folder / "table.h5", "w").create_dataset("X", data=array, **options)


def zarr(array, folder, chunks):
    zarr = pytest.importorskip("zarr")
    made = zarr.create_array(
        folder / "table.zarr", shape=array.shape, dtype=array.dtype, chunks=chunks
    )
    made[:] = array
    return made


STORES = {
    "rows of a file": lambda array, folder: memmap(array, folder, "C"),
    "columns of a file": lambda array, folder: memmap(array, folder, "F"),
    "HDF5": hdf5,
    "HDF5, chunks": lambda array, folder: hdf5(array, folder, chunks=(50, 8), compression="gzip"),
    "Zarr, columns": lambda array, folder: zarr(array, folder, (len(array), 8)),
    "Zarr, both": lambda array, folder: zarr(array, folder, (64, 5)),
}


@pytest.fixture(params=sorted(STORES))
def store(request, tmp_path):
    def make(array):
        return STORES[request.param](array, tmp_path)

    return make


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint8", "bool"])
def test_blocks(store, dtype, rng):
    array = (4 * rng.random((90, 23))).astype(dtype)
    source, expected = as_source(store(array)), as_source(array)
    assert isinstance(source, StoredArray)
    assert (source.n_samples, source.n_features, source.name(3)) == (90, 23, "x3")
    assert source.kind(0) == expected.kind(0)
    assert source.dtype_name(0) == dtype
    for columns in (slice(0, 23), slice(4, 9), slice(0, 0), np.array([20, 3, 3, 11])):
        block = source.block(columns)
        assert block.flags.f_contiguous
        np.testing.assert_array_equal(block, expected.block(columns))
        levels = expected.levels(columns)
        if levels is None:
            assert source.levels(columns) is None
        else:
            np.testing.assert_array_equal(source.levels(columns), levels)
            assert source.levels(columns).dtype == levels.dtype


def test_chunks_cover_the_columns(store, rng):
    array = rng.random((90, 23))
    source = as_source(store(array))
    for size in (1, 90 * 8 * 3, 10**9):
        assert_loads(source, size, array)


def test_selection(store):
    X, y, _ = make_data1(200, 64, random_state=0)
    found, expected = HSICLasso(4).fit(store(X), y), HSICLasso(4).fit(X, y)
    assert found.selected_.tolist() == expected.selected_.tolist()
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12)
    assert found.n_features_in_ == 64


def test_transform_reads_the_selected_columns_only(store):
    X, y, _ = make_data1(200, 64, random_state=0)
    made = store(X.astype(np.float32))
    selector = HSICLasso(4).fit(made, y)
    found, expected = selector.transform(made), X[:, np.sort(selector.selected_)]
    np.testing.assert_array_equal(found, expected.astype(np.float32))
    assert found.dtype == np.float32
    with pytest.raises(ValueError, match="X has 63 features, but HSICLasso is expecting 64"):
        selector.transform(X[:, :63])


def test_some_rows_of_a_stored_table(store, rng):
    array = rng.random((90, 23))
    source, rows = as_source(store(array)), np.array([5, 80, 5])
    subset = RowSubset(source, rows)
    assert subset.chunks(10**6) == source.chunks(10**6)
    np.testing.assert_array_equal(subset.load(slice(3, 8)).block(slice(0, 5)), array[rows, 3:8])


def test_held_columns(rng):
    array = rng.random((10, 6))
    source = HeldColumns(as_source(array), {2: np.arange(10.0), 4: np.zeros(10)})
    expected = array.copy()
    expected[:, 2], expected[:, 4] = np.arange(10.0), 0.0
    for columns in (slice(0, 6), slice(0, 2), np.array([4, 2]), np.array([5, 2, 0])):
        np.testing.assert_array_equal(source.block(columns), expected[:, columns])


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros((3, 4, 2)), "X has shape (3, 4, 2), but a table has two dimensions"),
        (np.zeros((5, 4), dtype=complex), "X has dtype complex128, but values must be real"),
        (np.zeros((2, 4)), "n_samples=2 (X has shape (2, 4)), but dependence can only"),
    ],
)
def test_what_is_no_table(array, words, tmp_path):
    with pytest.raises(InvalidInputError, match=re.escape(words)):
        as_source(memmap(array, tmp_path, "C"))


def test_another_process_opens_the_file_again(store, rng):
    array = rng.random((90, 23))
    source = as_source(store(array))
    if hasattr(source._opened, "file"):
        source._opened.file.flush()
    text = pickle.dumps(source)
    assert len(text) < 2000  # the path, not the values
    copy = pickle.loads(text)
    np.testing.assert_array_equal(copy.block(np.array([2, 20])), array[:, [2, 20]])
    np.testing.assert_array_equal(copy.load(slice(3, 9)).block(slice(None)), array[:, 3:9])
    assert copy.identity() == source.identity()


def test_parts_of_a_file(tmp_path, rng):
    """A part of a memory-mapped array begins elsewhere and has gaps."""
    for order in "CF":
        whole = memmap(rng.random((30, 12)), tmp_path, order)
        for part in (whole[3:, 2:9], whole[::2, ::-1], whole.T):
            copy = pickle.loads(pickle.dumps(as_source(part)))
            np.testing.assert_array_equal(copy.read(slice(None)), part)


def test_without_a_file(rng):
    zarr = pytest.importorskip("zarr")
    array = rng.random((20, 6))
    source = as_source(zarr.create_array(zarr.storage.MemoryStore(), data=array))
    same = as_source(zarr.create_array(zarr.storage.MemoryStore(), data=array))
    assert source.identity() == same.identity()
    np.testing.assert_array_equal(source.read(slice(0, 6)), array)


def test_private_changes_are_kept(tmp_path, rng):
    """A copy-on-write map differs from its file."""
    memmap(rng.random((30, 12)), tmp_path, "C")
    array = np.load(tmp_path / "table.npy", mmap_mode="c")
    array[:] = 7
    source = as_source(array)
    source.load(slice(0, 12))
    assert (source.read(slice(0, 12)) == 7).all()
    assert (pickle.loads(pickle.dumps(source)).read(slice(0, 12)) == 7).all()


def test_a_file_that_vanished(store, tmp_path, rng):
    source = as_source(store(rng.random((90, 8))))
    if isinstance(source._opened, np.memmap):
        text = pickle.dumps(source)
        (tmp_path / "table.npy").unlink()
        with pytest.raises(InvalidInputError, match=r"table\.npy cannot be read as an array"):
            pickle.loads(text).read(slice(0, 2))
