"""Arrow tables, Parquet and Feather files and polars queries, read by groups of columns."""

from __future__ import annotations

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hsiclasso import HSICLasso, InvalidInputError
from hsiclasso.data import arrow as module
from hsiclasso.data import as_source, is_container
from hsiclasso.data.arrow import ArrowSource, TableColumns
from hsiclasso.data.feather import FeatherFile
from hsiclasso.data.files import read_table
from hsiclasso.data.lazy import LazyFrameSource
from hsiclasso.data.parquet import ParquetFile, ParquetSource
from tests.data.chunks import assert_cover

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")
N = 60


def mixed(rng):
    """Return a table with columns of all kinds, values missing in some."""
    gaps = rng.random(N) < 0.2
    return pa.table(
        {
            "a": rng.random(N),
            "b": pa.array(rng.random(N).astype(np.float32)),
            "c": pa.array(rng.integers(0, 9, N), mask=gaps),
            "smoker": pa.array(rng.random(N) < 0.5, mask=gaps),
            "site": pa.array(rng.choice(["u", "v", "w"], N), mask=gaps),
            "stage": pa.array(rng.choice(["II", "I"], N)).dictionary_encode(),
            "a.b": rng.random(N),
        }
    )


def as_parquet(table, folder):
    pq.write_table(table, folder / "t.parquet", row_group_size=25)
    return ParquetSource(folder / "t.parquet")


def as_feather(table, folder):
    feather.write_feather(table, folder / "t.feather", chunksize=25)
    return ArrowSource(FeatherFile(folder / "t.feather"))


def as_query(table, folder):
    return as_source(pytest.importorskip("polars").from_arrow(table).lazy())


STORES = {
    "table": lambda table, folder: as_source(table),
    "parquet": as_parquet,
    "feather": as_feather,
    "query": as_query,
}


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    return lambda table: STORES[request.param](table, tmp_path)


@pytest.mark.parametrize("entries", [1, 200, 1 << 21])
def test_mixed_columns(store, rng, entries, monkeypatch):
    monkeypatch.setattr(module, "GROUP_ENTRIES", entries)
    table = mixed(rng)
    source = store(table)
    assert not source.in_memory
    expected = as_source(table.to_pandas(strings_to_categorical=False))
    names = table.column_names
    kinds = ["number", "number", "number", "bool", "text", "category", "number"]
    assert [source.name(j) for j in range(7)] == names
    assert [source.kind(j) for j in range(7)] == kinds
    assert source.uniform_kind is None
    assert source.levels(slice(0, 7)) is None
    for columns in (slice(0, 7), slice(2, 5), slice(3, 3), np.array([6, 0, 0, 4])):
        block = source.block(columns)
        assert block.flags.f_contiguous
        assert block.dtype == np.float64
        for k, j in enumerate(np.arange(7)[columns]):
            if names[j] == "stage":
                continue
            np.testing.assert_array_equal(block[:, k], expected.block(slice(j, j + 1))[:, 0])
    for j in (4, 5):
        codes = source.block(slice(j, j + 1)).ravel()
        labels = source.categories(j)
        read = [None if np.isnan(code) else labels[int(code)] for code in codes]
        assert read == table.column(j).to_pylist()
    assert source.categories(0) is None


def test_chunks_and_loaded_tables(store, rng):
    source = store(mixed(rng))
    for size in (1, 1000, 10**9):
        parts = source.chunks(size)
        assert_cover(parts, source.n_features)
        for part in parts:
            loaded = source.load(part)
            assert loaded.in_memory
            np.testing.assert_array_equal(loaded.block(slice(None)), source.block(part))
            for k, j in enumerate(range(part.start, part.stop)):
                assert loaded.name(k) == source.name(j)
                assert loaded.kind(k) == source.kind(j)
                assert loaded.categories(k) == source.categories(j)


def test_a_copy_reads_the_same(store, rng):
    source = store(mixed(rng))
    copy = pickle.loads(pickle.dumps(source))
    np.testing.assert_array_equal(copy.block(slice(0, 7)), source.block(slice(0, 7)))
    assert copy.identity() == source.identity()


def test_identity_changes_with_the_file(tmp_path, rng):
    for make in STORES.values():
        first = make(mixed(rng), tmp_path).identity()
        assert make(mixed(rng), tmp_path).identity() != first


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8", "bool", "int32"])
def test_numbers_of_one_dtype_keep_it(tmp_path, rng, dtype):
    array = (3 * rng.random((N, 5))).astype(dtype)
    table = pa.table({f"g{j}": array[:, j] for j in range(5)})
    for name in ("table", "parquet", "feather"):
        source = STORES[name](table, tmp_path)
        loaded = source.load(slice(1, 4))
        assert loaded.read(slice(None)).dtype == dtype
        assert source.dtype_name(0) == loaded.dtype_name(0) == dtype
        np.testing.assert_array_equal(source.read(np.array([3, 0])), array[:, [3, 0]])
        assert source.n_bytes == array.nbytes
        for each in (source, loaded):
            small = dtype in ("int8", "uint8", "bool")
            assert (each.levels(slice(0, 0)) is not None) == small
            if small:
                width = each.n_features
                levels = each.levels(slice(0, width))
                assert levels.tolist() == array[:, 1:4].tolist() if width == 3 else array.tolist()


@pytest.mark.parametrize("dtype", ["int8", "int64", "bool"])
def test_one_missing_value_makes_all_of_them_floats(tmp_path, rng, dtype):
    """How a column is treated must not depend on the chunk in which it is read."""
    array = (3 * rng.random((N, 5))).astype(dtype)
    gap = pa.array(array[:, 4], mask=np.arange(N) == 7)
    table = pa.table({**{f"g{j}": array[:, j] for j in range(4)}, "g4": gap})
    for name in ("table", "parquet", "feather"):
        source = STORES[name](table, tmp_path)
        assert source.levels(slice(0, 0)) is None
        assert source.load(slice(0, 2)).read(slice(None)).dtype == np.float64
        assert np.isnan(source.block(slice(4, 5))).sum() == 1


def test_a_dataset_of_files(tmp_path, rng):
    dataset = pytest.importorskip("pyarrow.dataset")
    array = rng.integers(0, 3, (N, 3)).astype(np.int8)
    for k, rows in enumerate((slice(0, 20), slice(20, N))):
        table = pa.table({f"g{j}": array[rows, j] for j in range(3)})
        pq.write_table(table, tmp_path / f"part{k}.parquet")
    source = as_source(dataset.dataset([tmp_path / f"part{k}.parquet" for k in (0, 1)]))
    assert (source.n_samples, source.n_features) == (N, 3)
    np.testing.assert_array_equal(source.block(slice(0, 3)), array)
    assert isinstance(source.identity(), str)


def test_containers_are_not_gathered(rng):
    pl = pytest.importorskip("polars")
    assert not is_container(mixed(rng))
    assert not is_container(pl.LazyFrame({"a": [1, 2, 3]}))
    assert is_container(pl.DataFrame({"a": [1, 2, 3]}))


def test_large_files_are_streamed(tmp_path, rng, monkeypatch):
    X = rng.standard_normal((200, 30))
    table = pa.table(
        {**{f"g{j}": X[:, j] for j in range(30)}, "y": X[:, 3] ** 2, "w": np.ones(200)}
    )
    pq.write_table(table, tmp_path / "t.parquet")
    small = read_table(tmp_path / "t.parquet", "y", weights="w", drop="g0")
    monkeypatch.setattr(module, "_SMALL_BYTES", 1000)
    large = read_table(tmp_path / "t.parquet", "y", weights="w", drop="g0")
    assert small.source.in_memory
    assert not large.source.in_memory
    fitted = [HSICLasso(3).fit(data.source, data.y, sample_weight=data.weights)
              for data in (small, large)]  # fmt: skip
    assert fitted[0].result_.names == fitted[1].result_.names
    np.testing.assert_allclose(fitted[0].coef_, fitted[1].coef_, rtol=1e-12)
    found = fitted[1].transform(tmp_path / "t.parquet")
    names = [name for name in table.column_names if name in fitted[1].result_.names]
    np.testing.assert_array_equal(found, table.select(names).to_pandas())


def test_the_footer_is_parsed_once_per_thread(tmp_path, rng, monkeypatch):
    source = as_parquet(mixed(rng), tmp_path)
    opened = []
    real = pq.ParquetFile
    monkeypatch.setattr(pq, "ParquetFile", lambda *a, **k: opened.append(k) or real(*a, **k))
    for _ in range(3):
        source.block(np.array([0, 2]))
    assert not opened
    barrier = threading.Barrier(2)

    def read(_):
        barrier.wait()
        return source.block(slice(0, 7))

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(read, range(2))
    np.testing.assert_array_equal(first, second)
    assert len(opened) == 2
    assert all(options["metadata"] is not None for options in opened)


def test_groups_bound_what_is_fetched(tmp_path, rng, monkeypatch):
    monkeypatch.setattr(module, "GROUP_ENTRIES", 3 * N)
    table = pa.table({f"g{j}": rng.random(N) for j in range(20)})
    widths = []
    real = TableColumns.fetch
    monkeypatch.setattr(
        TableColumns, "fetch", lambda self, names: widths.append(len(names)) or real(self, names)
    )
    as_source(table).load(slice(0, 20))
    assert sum(widths) == 20
    assert max(widths) == 3


def test_a_query_is_never_collected_whole(rng):
    pl = pytest.importorskip("polars")
    X = rng.standard_normal((100, 16))
    widths = []

    def count(frame):
        widths.append(frame.width)
        return frame

    query = pl.DataFrame(X, [f"g{j}" for j in range(16)]).lazy()
    counted = query.map_batches(count, projection_pushdown=True)
    found = HSICLasso(2).fit(counted, X[:, 3] ** 2)
    assert found.result_.names[0] == "g3"
    assert max(widths) <= 2


def test_identity_of_a_query_changes_with_its_file(tmp_path, rng):
    pl = pytest.importorskip(
        "polars", "1.39", reason="older ones never serialise a query twice alike"
    )
    file = tmp_path / "t.parquet"
    found = []
    for _ in range(2):
        pq.write_table(pa.table({"a": rng.random(N), "b": rng.random(N)}), file)
        found += [as_source(pl.scan_parquet(file).select("a")).identity() for _ in range(2)]
    assert found[0] == found[1] != found[2] == found[3]


def test_category_of_numbers_and_truth_values(tmp_path, rng):
    table = pa.table(
        {"code": [3, 1, None, 3], "flag": [True, False, True, None], "y": [1, 2, 3, 4]}
    )
    pq.write_table(table, tmp_path / "t.parquet")
    source = read_table(tmp_path / "t.parquet", "y", category=["code", "flag"]).source
    assert [source.categories(j) for j in range(2)] == [["1", "3"], ["0", "1"]]


class TestBadInput:
    @pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrow"])
    @pytest.mark.parametrize("share", [0.02, 0.5, 0.99])
    def test_truncated(self, tmp_path, rng, name, share):
        file = tmp_path / name
        save = pq.write_table if name == "t.parquet" else feather.write_feather
        save(mixed(rng), file)
        file.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
        with pytest.raises(InvalidInputError, match=rf"{name} cannot be read as (Parquet|Feather)"):
            read_table(file, "a")

    def test_pages_that_are_damaged(self, tmp_path, rng):
        """The footer is whole: the damage shows when the columns are read."""
        file = tmp_path / "t.parquet"
        pq.write_table(pa.table({f"g{j}": rng.random(500) for j in range(8)}), file)
        data = bytearray(file.read_bytes())
        data[4:20000] = bytes(19996)
        file.write_bytes(bytes(data))
        with pytest.raises(InvalidInputError, match=r"t\.parquet cannot be read as Parquet"):
            read_table(file, "g0")
        with pytest.raises(InvalidInputError, match=r"t\.parquet cannot be read as Parquet"):
            ParquetSource(file).load(slice(0, 3))

    def test_names_that_repeat(self):
        table = pa.table([[1, 2, 3], [4, 5, 6]], names=["a", "a"])
        with pytest.raises(InvalidInputError, match="several columns named 'a'"):
            as_source(table)

    def test_a_query_that_fails(self, tmp_path):
        pl = pytest.importorskip("polars")
        with pytest.raises(InvalidInputError, match=r"LazyFrame\) cannot be read as a query"):
            as_source(pl.scan_parquet(tmp_path / "none.parquet"))
        with pytest.raises(InvalidInputError, match="dtype Date"):
            as_source(pl.LazyFrame({"a": [1, 2, 3]}).select(pl.col("a").cast(pl.Date)))

    def test_fewer_rows_than_announced(self, rng):
        class Short(TableColumns):
            def fetch(self, names):
                return self._table.select(names).slice(0, 10).to_batches()

        with pytest.raises(InvalidInputError, match="10 rows found where 60 are announced"):
            ArrowSource(Short(mixed(rng))).load(slice(0, 2))

    def test_statistics_may_be_absent(self, tmp_path, rng):
        table = pa.table({"a": pa.array([1, 2, 3], pa.int8())})
        pq.write_table(table, tmp_path / "t.parquet", write_statistics=False)
        assert ParquetFile(tmp_path / "t.parquet").has_nulls(["a"])


def test_no_columns_of_a_query():
    pl = pytest.importorskip("polars")
    source = LazyFrameSource(pl.LazyFrame({"a": [1, 2, 3]}))
    assert source.block(slice(0, 0)).shape == (3, 0)
    assert source.dtype_name(0) == "Int64"


def test_offsets_that_lead_out_of_a_damaged_feather_file_are_refused(tmp_path):
    """Arrow trusts what it maps into memory: it would read elsewhere, and end the interpreter."""
    file, n = tmp_path / "t.feather", 50
    table = {
        "y": np.arange(n) * 1.0,
        "a": np.arange(n) ** 2.0,
        "s": [f"name{i % 7}" for i in range(n)],
    }
    feather.write_feather(pa.table(table), file, compression="uncompressed")
    offsets = (5 * np.arange(n + 1)).astype("<i4")
    damaged = offsets.copy()
    damaged[20] = 2**30
    content = file.read_bytes()
    assert offsets.tobytes() in content
    file.write_bytes(content.replace(offsets.tobytes(), damaged.tobytes()))
    with pytest.raises(InvalidInputError, match=r"cannot be read as Feather .*[Oo]ffset"):
        HSICLasso(1).fit(read_table(file, ["y"]).source, np.arange(n))
