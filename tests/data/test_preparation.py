"""What tables need before their columns are read: said and estimated, not done."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hsiclasso import InvalidInputError, RechunkWarning
from hsiclasso.data import RowSubset, as_source
from hsiclasso.data.duplicates import RenamedColumns
from hsiclasso.data.preparation import StandIn, time_file, time_parts
from hsiclasso.data.sources import ArraySource
from hsiclasso.data.stored import StoredArray
from hsiclasso.data.subset import ColumnSubset
from tests.data.chunks import assert_cover

N, D, SIZE = 90, 40, 90 * 4 * 3


@pytest.fixture
def folder(temporary_files, monkeypatch):
    """A folder for temporary files; arrays count as large although they are small."""
    monkeypatch.setattr("hsiclasso.data.dask._CHUNK_BYTES", SIZE)
    return temporary_files


@pytest.fixture
def array(rng):
    return rng.random((N, D)).astype(np.float32)


def zarr_array(array, folder, chunks):
    zarr = pytest.importorskip("zarr")
    return as_source(zarr.create_array(folder.parent / "t.zarr", data=array, chunks=chunks))


def dask_array(array, folder, chunks):
    return as_source(pytest.importorskip("dask.array").from_array(array, chunks=chunks))


@pytest.mark.parametrize("make", [zarr_array, dask_array])
def test_chunks_of_rows(folder, array, make, recwarn):
    source = make(array, folder, (10, D))
    needed = source.preparation(SIZE)
    assert "in chunks of 10 samples x 40 features" in needed.sentence
    assert "14.4 kB are read, and as much is written to" in needed.sentence
    assert needed.once.n_bytes == 2 * array.nbytes
    assert needed.each_pass.n_bytes == array.nbytes
    assert needed.once.seconds > 0
    assert needed.each_pass.seconds > 0
    planned = needed.stand_in.chunks(SIZE)
    assert not list(folder.iterdir())  # nothing was done
    assert not recwarn.list
    with pytest.warns(RechunkWarning) as caught:
        parts = [source.load(part) for part in source.chunks(SIZE)]
    assert [part.n_features for part in parts] == [part.stop - part.start for part in planned]
    assert str(caught[0].message) == needed.sentence
    assert source.preparation(SIZE) is None  # it is done


@pytest.mark.parametrize("make", [zarr_array, dask_array])
def test_chunks_of_columns(folder, array, make):
    assert make(array, folder, (N, 3)).preparation(SIZE) is None


def test_few_blocks_are_read(folder, array, monkeypatch):
    read = []

    class Noted:
        shape, dtype, chunks = array.shape, array.dtype, (10, D)

        def __getitem__(self, key):
            read.append(key)
            return array[key]

    monkeypatch.setattr("hsiclasso.data.rechunk.READ_BYTES", 1)
    assert StoredArray(Noted()).preparation(SIZE) is not None
    assert [rows for rows, _ in read] == [slice(0, 10), slice(40, 50)]


def test_a_file_that_cannot_be_read(folder, array):
    class Broken:
        shape, dtype, chunks = array.shape, array.dtype, (10, D)

        def __getitem__(self, key):
            raise OSError("lost")

    with pytest.raises(InvalidInputError, match="lost"):
        StoredArray(Broken()).preparation(SIZE)


def test_wrappers_forward_it(folder, array):
    source = zarr_array(array, folder, (10, D))
    sentence = source.preparation(SIZE).sentence
    rows = RowSubset(source, np.arange(0, N, 2))
    columns = ColumnSubset(rows, np.arange(0, D, 3))
    for table in (rows, columns, RenamedColumns(columns)):
        needed = table.preparation(SIZE)
        assert needed.sentence == sentence
        made = needed.stand_in
        assert (made.n_samples, made.n_features) == (table.n_samples, table.n_features)
        chunks = made.chunks(SIZE)
        assert_cover(chunks, table.n_features)
        loaded = made.load(chunks[1])
        assert loaded.name(0) == table.name(chunks[1].start)
        assert loaded.block(slice(None)).shape[0] == table.n_samples
        assert made.block(np.array([1, 0])).shape == (table.n_samples, 2)
    assert not list(folder.iterdir())
    assert as_source(array).preparation(SIZE) is None
    assert RowSubset(as_source(array), [1, 2, 3]).preparation(SIZE) is None


@pytest.mark.parametrize("r", [1, 7, 30, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_a_stand_in(rng, r, dtype):
    values = rng.permutation(100 * D).reshape(100, D)[:r].astype(dtype)
    dense = StandIn(ArraySource(np.zeros((50, D), dtype)), [slice(0, D)], values)
    thin = StandIn(ArraySource(np.zeros((50, D), dtype)), [slice(0, D)], sparse.csc_array(values))
    made = dense.load(slice(3, 9)).read(slice(None))
    assert (made.shape, made.dtype) == ((50, 6), dtype)
    np.testing.assert_array_equal(made[: min(r, 50)], values[:50, 3:9])
    if r < 50:  # the next samples have the values of the next columns
        np.testing.assert_array_equal(made[r : 2 * r], values[: min(r, 50 - r), 4:10])
    np.testing.assert_array_equal(thin.load(slice(3, 9)).read(slice(None)), made)
    for table in (dense, thin):
        assert table.read(np.array([5, 9])).shape == (50, 2)
        assert table.block(slice(0, 0)).shape == (50, 0)
    assert (dense.levels(slice(0, 1)) is None) == (dtype != np.int8)
    assert dense.stored(slice(0, 0)) is None
    assert thin.stored(slice(0, 2))[0].size == 3


def test_parts_that_are_timed():
    for parts, expected in (([], []), ([1, 2], [1]), ([1, 2, 3, 4], [1, 3])):
        found, seconds = time_parts(lambda part: part, parts)
        assert found == expected
        assert seconds >= 0


@pytest.mark.parametrize("size", [10**4, 2**60])
def test_a_file_is_tried(temporary_files, size):
    """Its time grows with its size; the file that was tried is gone."""
    values = np.arange(10_000.0)
    writing, reading = time_file(values, size)
    assert writing > 0
    assert reading > 0
    assert not list(temporary_files.iterdir())


def test_the_seconds_are_those_of_the_disk(array, folder, monkeypatch):
    tried = []

    def note(values, size):
        tried.append((values.nbytes, size))
        return 1e6, 2e6

    monkeypatch.setattr("hsiclasso.data.rechunk.time_file", note)
    needed = dask_array(array, folder, (10, D)).preparation(SIZE)
    assert [size for _, size in tried] == [array.nbytes]
    assert 1e6 <= needed.once.seconds < 1e6 + 100
    assert needed.each_pass.seconds == 2e6


def test_a_full_disk_takes_no_time(monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert time_file(np.arange(9.0), 100) == (0.0, 0.0)
