"""Stores whose chunks have few samples and many features are copied once, by panels of columns."""

from __future__ import annotations

import gc
import pickle
import re
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

from hsiclasso import HSICLasso, InvalidInputError, RechunkWarning, make_data1
from hsiclasso.data import as_source
from hsiclasso.data import rechunk as module
from hsiclasso.data.rechunk import Panels, panel_edges
from hsiclasso.data.stored import StoredArray
from tests.data.chunks import assert_cover


class Counting:
    """An array in chunks that counts how often each entry is read, and the largest part."""

    def __init__(self, array, chunks):
        self.array, self.chunks = array, chunks
        self.shape, self.dtype = array.shape, array.dtype
        self.times = np.zeros(array.shape, dtype=int)
        self.largest = 0

    def __getitem__(self, key):
        """Read whole chunks, as a store does."""
        rows, columns = (
            slice(start // size * size, min(n, -(-stop // size) * size))
            for part, size, n in zip(key, self.chunks, self.shape, strict=True)
            for start, stop, _ in [part.indices(n)]
        )
        self.times[rows, columns] += 1
        self.largest = max(self.largest, self.times[rows, columns].size * self.dtype.itemsize)
        return self.array[key]


@pytest.fixture
def folder(temporary_files):
    """A folder for temporary files; arrays count as large although they are small."""
    return temporary_files


@pytest.fixture
def array(rng):
    return rng.random((90, 40)).astype(np.float32)


@pytest.mark.parametrize("chunks", [(10, 40), (7, 40), (13, 25), (90, 40)])
@pytest.mark.parametrize("read_bytes", [1, 3000, 1 << 20])
def test_each_chunk_is_read_once(folder, array, chunks, read_bytes, monkeypatch):
    monkeypatch.setattr(module, "READ_BYTES", read_bytes)
    stored = Counting(array, chunks)
    source = StoredArray(stored)
    size = 90 * 4 * 3
    assert source.must_be_rechunked(size)
    with pytest.warns(RechunkWarning, match=rf"chunks of {chunks[0]} samples x {chunks[1]} feat"):
        parts = source.chunks(size)
    assert (stored.times == 1).all()
    assert stored.largest <= max(read_bytes, 4 * chunks[0] * chunks[1])
    assert_cover(parts, 40)
    assert max(part.stop - part.start for part in parts) <= 3
    for part in parts:
        np.testing.assert_array_equal(source.load(part).read(slice(None)), array[:, part])
    for columns in (slice(0, 40), slice(5, 30), slice(4, 4), np.array([39, 0, 17, 17, 3])):
        np.testing.assert_array_equal(source.read(columns), array[:, columns])
    assert (stored.times == 1).all()
    assert not source.must_be_rechunked(size)
    assert source.chunks(size) == parts


def test_the_file_is_deleted_with_the_table(folder, array):
    source = StoredArray(Counting(array, (10, 40)))
    with pytest.warns(RechunkWarning, match="14.4 kB are read"):
        source.chunks(100)
    (file,) = folder.iterdir()
    assert file.stat().st_size == array.nbytes
    del source
    gc.collect()
    assert not list(folder.iterdir())


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("broken")])
def test_the_file_is_deleted_after_an_error(folder, array, error, monkeypatch):
    class Broken(Counting):
        def __getitem__(self, key):
            if key[0].start:
                raise error
            return super().__getitem__(key)

    monkeypatch.setattr(module, "READ_BYTES", 1)
    source = StoredArray(Broken(array, (10, 40)))
    with (
        pytest.warns(RechunkWarning),
        pytest.raises((KeyboardInterrupt, InvalidInputError)),
    ):
        source.chunks(100)
    assert not list(folder.iterdir())


def test_a_full_disk(folder, array, monkeypatch):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(module.shutil, "disk_usage", lambda folder: usage(1000))
    with pytest.raises(InvalidInputError, match=r"needs 14\.4 kB in .* has 1\.0 kB: set T"):
        StoredArray(Counting(array, (10, 40))).chunks(100)
    assert not list(folder.iterdir())


def test_a_disk_that_fills_up(folder, array, monkeypatch):
    class Full:
        name = "here"

        def seek(self, place):
            pass

        def write(self, data):
            raise OSError(28, "No space left on device")

    with pytest.raises(InvalidInputError, match=r"here cannot be written .* No space left"):
        module._write(Full(), array, 0, slice(0, 40), [0, 40], 90)


@pytest.mark.parametrize(
    ("d", "together", "width"), [(40, 40, 3), (40, 7, 3), (5, 9, 1), (6, 2, 9)]
)
def test_panels_lie_within_chunks(d, together, width):
    edges = panel_edges(d, together, width)
    assert (edges[0], edges[-1]) == (0, d)
    assert all(0 < width_ <= width for width_ in np.diff(edges))
    assert set(range(0, d, together)) <= set(edges)


def test_a_small_store_is_not_copied(array):
    stored = Counting(array, (10, 40))
    source = StoredArray(stored)
    assert not source.must_be_rechunked(100)
    assert source.chunks(90 * 4 * 2) == [slice(0, 40)]
    assert not stored.times.any()


def test_tall_arrays_in_row_order_are_copied(folder, tmp_path, rng, monkeypatch):
    file = tmp_path / "tall.npy"
    np.save(file, rng.random((500, 30)))
    assert not StoredArray(np.load(file, mmap_mode="r")).must_be_rechunked(500 * 8)
    monkeypatch.setattr("hsiclasso.data.stored._CACHED_BYTES", 1000)
    assert not StoredArray(np.load(file, mmap_mode="r")).must_be_rechunked(500 * 8 * 30)
    source = StoredArray(np.load(file, mmap_mode="r"))
    with pytest.warns(RechunkWarning, match=re.escape(str(file))):
        parts = source.chunks(500 * 8 * 2)
    np.testing.assert_array_equal(source.load(parts[3]).read(slice(None)), np.load(file)[:, 6:8])
    np.save(file, np.asfortranarray(np.load(file)))
    assert not StoredArray(np.load(file, mmap_mode="r")).must_be_rechunked(500 * 8 * 2)


def test_selection_and_processes(folder, monkeypatch):
    zarr = pytest.importorskip("zarr")
    monkeypatch.setattr("hsiclasso.dependence.budget._CHUNK", 200 * 8 * 3)
    X, y, _ = make_data1(200, 64, random_state=0)
    stored = zarr.create_array(folder / "rows.zarr", data=X, chunks=(10, 64))
    with pytest.warns(RechunkWarning):
        found = HSICLasso(4).fit(stored, y)
    expected = HSICLasso(4).fit(X, y)
    assert found.selected_.tolist() == expected.selected_.tolist()
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12)

    source = as_source(stored)
    with pytest.warns(RechunkWarning):
        source.chunks(200 * 8 * 3)
    copy = pickle.loads(pickle.dumps(source))
    assert isinstance(copy._array, Panels)  # the same machine: the panels are there
    np.testing.assert_array_equal(copy.read(slice(3, 9)), X[:, 3:9])
    assert copy.identity() == source.identity() == as_source(stored).identity()
    state = pickle.dumps(source)
    Path(source._panels.path).unlink()
    other = pickle.loads(state)  # another machine: the store itself is read
    np.testing.assert_array_equal(other.read(slice(3, 9)), X[:, 3:9])
