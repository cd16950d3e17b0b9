from __future__ import annotations

import datetime
import decimal
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from hsiclasso import InvalidInputError
from hsiclasso.data import RowSubset, as_source, check_finite
from hsiclasso.data.frames import WIDE
from hsiclasso.targets import Real

VALUES = np.arange(24.0).reshape(6, 4) % 5

TABLES = {
    "C order": VALUES,
    "F order": np.asfortranarray(VALUES),
    "strided": np.repeat(VALUES, 2, axis=1)[:, ::2],
    "float32": VALUES.astype(np.float32),
    "int8": VALUES.astype(np.int8),
    "list": VALUES.tolist(),
    "pandas": pd.DataFrame(VALUES, columns=list("abcd")),
    "polars": pl.DataFrame(VALUES, schema=list("abcd")),
    "csr": sparse.csr_matrix(VALUES),
    "csc": sparse.csc_array(VALUES),
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("columns", [slice(1, 3), slice(0, 4), np.array([3, 0]), np.array([2])])
def test_blocks(kind, columns):
    block = as_source(TABLES[kind]).block(columns)
    np.testing.assert_array_equal(block, VALUES[:, columns])
    assert block.dtype == np.float64
    assert block.flags.f_contiguous
    for order in "FC":
        out = np.empty(block.shape, order=order)
        as_source(TABLES[kind]).read_into(columns, out)
        np.testing.assert_array_equal(out, block)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 30), (256, 512), (600, 30), (4100, 30)])
@pytest.mark.parametrize("columns", [slice(0, 30), slice(3, 24), slice(5, 6), slice(4, 4)])
def test_columns_are_copied_by_tiles(dtype, shape, columns, rng):
    table = rng.standard_normal(shape).astype(dtype)
    out = np.empty(table[:, columns].shape, order="F")
    as_source(table).read_into(columns, out)
    np.testing.assert_array_equal(out, table[:, columns])


@pytest.mark.parametrize("kind", TABLES)
def test_blocks_belong_to_the_caller(kind):
    source = as_source(TABLES[kind])
    source.block(slice(0, 4))[:] = -1
    np.testing.assert_array_equal(source.block(slice(0, 4)), VALUES)


@pytest.mark.parametrize("kind", TABLES)
def test_size_and_names(kind):
    source = as_source(TABLES[kind])
    assert (source.n_samples, source.n_features) == (6, 4)
    assert source.name(2) == ("c" if kind in ("pandas", "polars") else "x2")
    assert as_source(source) is source


def test_arrays_are_not_copied():
    assert as_source(VALUES)._array is VALUES


@pytest.mark.parametrize("kind", ["C order", "F order", "strided", "pandas", "polars", "csr"])
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (-np.inf, "infinity")])
def test_check_finite_names_the_column(kind, value, word):
    spoilt = VALUES.copy()
    spoilt[4, 3] = value
    table = {
        "C order": spoilt,
        "F order": np.asfortranarray(spoilt),
        "strided": np.repeat(spoilt, 2, axis=1)[:, ::2],
        "pandas": pd.DataFrame(spoilt, columns=list("abcd")),
        "polars": pl.DataFrame(spoilt, schema=list("abcd")),
        "csr": sparse.csr_matrix(spoilt),
    }[kind]
    name = "d" if kind in ("pandas", "polars") else "x3"
    with pytest.raises(InvalidInputError, match=f"{word} in column '{name}'"):
        check_finite(as_source(table))


def test_check_finite_is_not_fooled_by_overflow():
    check_finite(as_source(np.full((40, 40), 1e307)))


def test_polars_text_and_nulls():
    source = as_source(pl.DataFrame({"a": [1, 2, 3], "b": ["y", "x", "y"]}))
    assert source.block(slice(0, 2)).tolist() == [[1, 1], [2, 0], [3, 1]]
    with pytest.raises(InvalidInputError, match="NaN in column 'a'"):
        check_finite(as_source(pl.DataFrame({"a": [1, None, 3], "b": [1, 2, 3]})))


def test_polars_booleans():
    source = as_source(pl.DataFrame({"a": [True, False, True], "b": [1, 2, 3]}))
    assert source.block(slice(0, 2)).tolist() == [[1, 1], [0, 2], [1, 3]]


def test_object_array_of_numbers():
    np.testing.assert_array_equal(as_source(VALUES.astype(object)).block(slice(0, 4)), VALUES)


def same(found, expected):
    """Assert equality of blocks, NaN included, and what every block promises."""
    np.testing.assert_array_equal(found, np.asarray(expected, dtype=float))
    assert found.dtype == np.float64
    assert found.flags.f_contiguous
    assert found.flags.writeable


NAN = np.nan
SIZES = pd.CategoricalDtype(["S", "M", "L"], ordered=True)
ENUM = pl.Enum(["S", "M", "L"])
ARROW = pytest.importorskip("pyarrow")

#: name -> (column, kind, dtype name, block, labels)
PANDAS = {
    **{
        dtype: (pd.Series([1, 0, 1], dtype=dtype), "number", dtype, [1, 0, 1], None)
        for dtype in ["int8", "uint8", "int16", "uint64", "float16", "float32", "float64"]
    },
    "bool": (pd.Series([True, False, True]), "bool", "bool", [1, 0, 1], None),
    "NaN": (pd.Series([1.5, None, 2]), "number", "float64", [1.5, NAN, 2], None),
    "Int8": (pd.Series([1, None, 3], dtype="Int8"), "number", "Int8", [1, NAN, 3], None),
    "UInt32": (pd.Series([1, 2, 3], dtype="UInt32"), "number", "UInt32", [1, 2, 3], None),
    "Float32": (pd.Series([1, None, 3], dtype="Float32"), "number", "Float32", [1, NAN, 3], None),
    "boolean": (
        pd.Series([True, None, False], dtype="boolean"), "bool", "boolean", [1, NAN, 0], None,
    ),
    "Arrow int": (
        pd.Series([1, None, 3], dtype="int16[pyarrow]"),
        "number", "int16[pyarrow]", [1, NAN, 3], None,
    ),
    "Arrow bool": (
        pd.Series([True, None, False], dtype="bool[pyarrow]"),
        "bool", "bool[pyarrow]", [1, NAN, 0], None,
    ),
    "Arrow decimal": (
        pd.Series([decimal.Decimal("1.5"), None, decimal.Decimal(3)],
                  dtype=pd.ArrowDtype(ARROW.decimal128(5, 2))),
        "number", "decimal128(5, 2)[pyarrow]", [1.5, NAN, 3], None,
    ),
    "Sparse": (
        pd.Series([1, 0, 2], dtype=pd.SparseDtype(int)), "number", "Sparse[int64, 0]", [1, 0, 2],
        None,
    ),
    "category": (
        pd.Series(["L", None, "S"], dtype=SIZES), "category", "category", [2, NAN, 0],
        ["S", "M", "L"],
    ),
    "category of numbers": (
        pd.Series(pd.Categorical([7, 3, 7], [7, 3])), "category", "category", [0, 1, 0], [7, 3],
    ),
    "category without any": (
        pd.Series(pd.Categorical([None] * 3)), "category", "category", [NAN] * 3, [],
    ),
    "str": (
        pd.Series(["b", None, "a"], dtype="str"), "text",
        "str" if int(pd.__version__.split(".")[0]) >= 3 else "object", [1, NAN, 0], ["a", "b"],
    ),
    "string": (
        pd.Series(["b", None, "a"], dtype="string"), "text", "string", [1, NAN, 0], ["a", "b"],
    ),
    "string[python]": (
        pd.Series(["b", "c", "a"], dtype="string[python]"), "text", "string", [1, 2, 0],
        ["a", "b", "c"],
    ),
    "Arrow text": (
        pd.Series(["b", None, "a"], dtype=pd.ArrowDtype(ARROW.string())),
        "text", "string[pyarrow]", [1, NAN, 0], ["a", "b"],
    ),
    "text objects": (
        pd.Series(["b", np.str_("B"), "é"], dtype=object), "text", "object", [1, 0, 2],
        ["B", "b", "é"],
    ),
    "number objects": (
        pd.Series([1, np.float32(2.5), True], dtype=object), "number", "object", [1, 2.5, 1], None,
    ),
    "bool objects": (
        pd.Series([True, None, np.False_], dtype=object), "bool", "object", [1, NAN, 0], None,
    ),
    "no objects": (pd.Series([None] * 3, dtype=object), "number", "object", [NAN] * 3, None),
    **{
        f"text with {missing!r}": (
            pd.Series(["b", missing, "a"], dtype=object), "text", "object", [1, NAN, 0], ["a", "b"],
        )
        for missing in (None, NAN, pd.NA)
    },
    **{
        f"numbers with {missing!r}": (
            pd.Series([2, missing, 1.5], dtype=object), "number", "object", [2, NAN, 1.5], None,
        )
        for missing in (None, NAN, pd.NA)
    },
}  # fmt: skip

POLARS = {
    **{
        str(dtype): (pl.Series([1, None, 3], dtype=dtype), "number", str(dtype), [1, NAN, 3], None)
        for dtype in [pl.Int8, pl.UInt8, pl.Int64, pl.UInt64, pl.Float32, pl.Float64]
    },
    "Decimal": (
        pl.Series(["1.5", None, "3"]).cast(pl.Decimal(5, 1)),
        "number", "Decimal(precision=5, scale=1)", [1.5, NAN, 3], None,
    ),
    "NaN": (pl.Series([1.5, NAN, None]), "number", "Float64", [1.5, NAN, NAN], None),
    "Boolean": (pl.Series([True, None, False]), "bool", "Boolean", [1, NAN, 0], None),
    "Null": (pl.Series([None] * 3), "number", "Null", [NAN] * 3, None),
    "String": (pl.Series(["b", None, "a"]), "text", "String", [1, NAN, 0], ["a", "b"]),
    "String without any": (
        pl.Series([None] * 3, dtype=pl.String), "text", "String", [NAN] * 3, [],
    ),
    "Categorical": (
        pl.Series(["b", None, "a"], dtype=pl.Categorical), "category", "Categorical",
        [1, NAN, 0], ["a", "b"],
    ),
    "Enum": (
        pl.Series(["L", None, "S"], dtype=ENUM), "category", "Enum", [2, NAN, 0], ["S", "M", "L"],
    ),
}  # fmt: skip

COLUMNS = {("pandas", name): case for name, case in PANDAS.items()} | {
    ("polars", name): case for name, case in POLARS.items()
}


def make_frame(library, **columns):
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame}[library](columns)


def equals(left, right):
    """Tell whether two frames hold the same dtypes and values."""
    return list(left.dtypes) == list(right.dtypes) and left.equals(right)


DAYS = pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02", None]))
DATES = (datetime.date(2020, 1, 1),) * 3
REFUSED = {
    "datetime": ("pandas", DAYS, "column 'a' has dtype datetime64.*2020.*days since"),
    "zone": ("pandas", DAYS.dt.tz_localize("UTC"), "column 'a' has dtype datetime64.*UTC"),
    "timedelta": ("pandas", DAYS - DAYS[0], "column 'a' has dtype timedelta64"),
    "period": ("pandas", DAYS.dt.to_period("D"), "column 'a' has dtype period"),
    "interval": ("pandas", pd.interval_range(0, 3), "column 'a' has dtype interval"),
    "complex": ("pandas", [1j, 2, 3], "Complex data not supported: column 'a'.*modulus"),
    "complex objects": (
        "pandas", np.array([1, 2, np.complex64(3j)], dtype=object), "Complex data .* 'a'",
    ),
    "mixed": ("pandas", ["x", 1, 2.5], "'a' has dtype object of float, int, str .*'x'.*drop"),
    "bool and text": ("pandas", ["x", True, None], "'a' has dtype object of bool, str"),
    "bytes": ("pandas", [b"x", b"y", b"z"], "'a' has dtype object of bytes"),
    "date objects": ("pandas", DATES, "'a' has dtype object of date"),
    "lists": ("pandas", [[1], [2], [3]], "'a' has dtype object of list"),
    "Date": ("polars", DATES, r"column 'a' has dtype Date \(first value datetime.date"),
    "Datetime": ("polars", pl.Series(DATES).cast(pl.Datetime), "column 'a' has dtype Datetime"),
    "Duration": ("polars", [datetime.timedelta(1)] * 3, "column 'a' has dtype Duration"),
    "List": ("polars", [[1], [2], [3]], "column 'a' has dtype List"),
    "Binary": ("polars", [b"x", b"y", b"z"], "column 'a' has dtype Binary"),
    "Object": ("polars", pl.Series([1, 2, 3], dtype=pl.Object), "column 'a' has dtype Object"),
}  # fmt: skip


class TestFrames:
    @pytest.mark.parametrize("case", COLUMNS, ids=" ".join)
    def test_one_column(self, case):
        column, kind, dtype, expected, labels = COLUMNS[case]
        frame = make_frame(case[0], a=column)
        before = frame.clone() if case[0] == "polars" else frame.copy(deep=True)
        source = as_source(frame)
        assert source.kind(0) == source.uniform_kind == kind
        assert source.dtype_name(0) == dtype
        for columns in (slice(0, 1), np.array([0])):
            same(source.block(columns), np.array(expected)[:, None])
        assert source.categories(0) == labels
        source.block(slice(0, 1))[:] = -7
        same(source.block(slice(0, 1)), np.array(expected)[:, None])
        assert equals(frame, before)

    @pytest.mark.parametrize("case", COLUMNS, ids=" ".join)
    def test_one_column_beside_others(self, case):
        column, kind, _, expected, labels = COLUMNS[case]
        frame = make_frame(case[0], x=[0.5, 1, 2], a=column, t=["q", "p", "q"], i=[3, 4, 5])
        whole = np.array([[0.5, 1, 2], expected, [1, 0, 1], [3, 4, 5]]).T
        source = as_source(frame)
        assert source.uniform_kind is None
        assert [source.kind(j) for j in range(4)] == ["number", kind, "text", "number"]
        for columns in (
            slice(0, 4), slice(None), slice(1, 3), slice(0, 1), slice(3, 0, -1), slice(2, 2),
            np.array([3, 1]), np.array([2, 0, 1, 3]), np.array([2]), np.array([0, 3]),
        ):  # fmt: skip
            same(source.block(columns), whole[:, columns])
        assert source.categories(1) == labels

    @pytest.mark.parametrize("case", COLUMNS, ids=" ".join)
    def test_missing_values(self, case):
        column, _, _, expected, _ = COLUMNS[case]
        source = as_source(make_frame(case[0], x=[0.5, 1, 2], a=column))
        check_finite(source, ignore=True)
        if np.isnan(expected).any():
            remedy = "drop the rows or columns concerned, or pass missing='ignore' to HSICLasso.$"
            with pytest.raises(InvalidInputError, match=f"NaN in column 'a'.*{remedy}"):
                check_finite(source)
        else:
            check_finite(source)

    def test_labels_belong_to_the_caller(self):
        source = as_source(pd.DataFrame({"a": ["x", "y", "x"]}))
        source.categories(0).clear()
        assert source.categories(0) == ["x", "y"]

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    @pytest.mark.parametrize("size", [127, 128, 129, 40_000])
    def test_many_labels(self, library, size):
        labels = [f"{j:05d}" for j in range(size)]
        source = as_source(make_frame(library, a=[*labels[::-1], None]))
        same(source.block(slice(0, 1)), np.r_[np.arange(size)[::-1], np.nan][:, None])
        assert source.categories(0) == labels
        codes = source._codes[0][0]
        assert codes.dtype == (np.int8 if size <= 128 else np.int16 if size <= 32768 else np.int32)
        assert codes[-1] == -1

    def test_codes_are_made_once(self, monkeypatch):
        calls = []
        factorize = pd.Series.factorize
        monkeypatch.setattr(
            pd.Series, "factorize", lambda self, **k: calls.append(1) or factorize(self, **k)
        )
        source = as_source(pd.DataFrame({"a": ["x", "y", "x"], "b": [1, 2, 3]}))
        assert not calls
        for _ in range(3):
            source.block(slice(0, 2))
            source.categories(0)
        assert len(calls) == 1

    def test_threads(self):
        frame = pd.DataFrame({f"c{j}": list("badc") * 5 for j in range(40)})
        source, expected = as_source(frame), as_source(frame).block(slice(0, 40))
        with ThreadPoolExecutor(4) as pool:
            for block in pool.map(source.block, [slice(0, 40)] * 8):
                same(block, expected)

    def test_polars_categories_are_those_of_the_column(self):
        """The codes that polars keeps are shared by all columns of the process."""
        pl.Series(["other", "words", "first"], dtype=pl.Categorical)
        frame = pl.DataFrame({"a": ["z", "y", "z"]}, schema={"a": pl.Categorical})
        same(as_source(frame).block(slice(0, 1)), [[1], [0], [1]])

    def test_unused_categories_keep_their_codes(self):
        frame = pd.DataFrame({"a": pd.Series(["L", "L", "M"], dtype=SIZES)})
        same(as_source(frame).block(slice(0, 1)), [[2], [2], [1]])

    def test_infinity_in_an_object_column(self):
        source = as_source(pd.DataFrame({"a": pd.Series([1, None, np.inf], dtype=object)}))
        with pytest.raises(InvalidInputError, match="infinity in column 'a'"):
            check_finite(source, ignore=True)

    def test_frames_have_neither_levels_nor_stored_entries(self):
        source = as_source(pd.DataFrame(VALUES.astype(np.int8)))
        assert source.levels(slice(0, 2)) is None
        assert source.stored(slice(0, 2)) is None
        assert source.n_stored == 24

    def test_numeric_frames_are_converted_at_once(self, monkeypatch):
        source = as_source(pd.DataFrame(VALUES))
        monkeypatch.setattr(source, "_floats", None)
        same(source.block(slice(0, 4)), VALUES)

    @pytest.mark.parametrize("case", REFUSED)
    def test_refused(self, case):
        library, column, message = REFUSED[case]
        with pytest.raises(InvalidInputError, match=message):
            as_source(make_frame(library, x=[1.0, 2.0, 3.0], a=column))

    def test_no_rows(self):
        for frame in (
            pd.DataFrame({"a": []}),
            pd.DataFrame({"a": []}, dtype="category"),
            pl.DataFrame({"a": []}, schema={"a": pl.String}),
        ):
            with pytest.raises(InvalidInputError, match="n_samples=0"):
                as_source(frame)
        with pytest.raises(InvalidInputError, match=r"dtype datetime64.*first value None"):
            as_source(pd.DataFrame({"a": DAYS[:0]}))


class TestArrays:
    @pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "float32", "float64", ">f8"])
    def test_kind_and_dtype(self, dtype):
        source = as_source(VALUES.astype(dtype))
        assert source.kind(1) == source.uniform_kind == "number"
        assert source.dtype_name(1) == ("float64" if dtype == ">f8" else dtype)
        assert source.categories(1) is None
        assert source.stored(slice(0, 2)) is None
        assert source.n_stored == 24
        assert (source.levels(slice(0, 2)) is None) == (dtype not in ("int8", "uint8"))

    def test_booleans(self):
        source = as_source(VALUES > 2)
        assert source.kind(0) == source.uniform_kind == "bool"
        assert source.dtype_name(0) == "bool"
        same(source.block(slice(0, 4)), VALUES > 2)
        check_finite(source)

    @pytest.mark.parametrize("dtype", ["int8", "uint8", "bool"])
    @pytest.mark.parametrize("table", ["C order", "F order", "strided"])
    @pytest.mark.parametrize("columns", [slice(1, 3), slice(None), np.array([3, 0])])
    def test_levels(self, dtype, table, columns):
        array = TABLES[table].astype(dtype, order="K")
        levels = as_source(array).levels(columns)
        np.testing.assert_array_equal(levels, VALUES.astype(dtype)[:, columns])
        assert levels.dtype == (np.int8 if dtype == "int8" else np.uint8)
        assert np.shares_memory(levels, array) == isinstance(columns, slice)

    def test_text_is_refused_with_a_remedy(self):
        with pytest.raises(InvalidInputError, match=r"not numbers.*pandas or polars frame"):
            as_source(np.array([["a", "b"]] * 3))


def untidy(dtype=float):
    """Return compressed columns with entries unsorted, twice, and stored zeros; and the table."""
    data = np.array([5, 1, 2, 3, 0, 4, -4], dtype=dtype)
    rows = np.array([4, 0, 4, 1, 2, 3, 3])
    indptr = np.array([0, 3, 5, 5, 7])
    dense = np.zeros((6, 4))
    np.add.at(dense, (rows, np.repeat(np.arange(4), np.diff(indptr))), data)
    return sparse.csc_array((data, rows, indptr), shape=(6, 4)), dense


class TestSparse:
    @pytest.mark.parametrize("make", [sparse.csc_array, sparse.csc_matrix])
    def test_untidy_columns(self, make):
        given, dense = untidy()
        matrix = make((given.data, given.indices, given.indptr), shape=given.shape)
        before = [part.copy() for part in (matrix.data, matrix.indices, matrix.indptr)]
        source = as_source(matrix)
        indptr, indices, data = source.stored(slice(0, 4))
        assert indptr.tolist() == [0, 2, 4, 4, 5]
        assert indices.tolist() == [0, 4, 1, 2, 3]
        assert data.tolist() == [1, 7, 3, 0, 0]
        assert source.n_stored == 5
        same(source.block(slice(0, 4)), dense)
        data[:] = -1
        indptr[:] = -1
        same(source.block(slice(0, 4)), dense)
        for part, old in zip((matrix.data, matrix.indices, matrix.indptr), before, strict=True):
            np.testing.assert_array_equal(part, old)

    @pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
    @pytest.mark.parametrize("columns", [slice(0, 4), slice(1, 3), slice(2, 2), np.array([3, 0])])
    def test_stored(self, form, columns):
        source = as_source(sparse.csr_array(VALUES).asformat(form))
        indptr, indices, data = source.stored(columns)
        assert (indptr.dtype, data.dtype) == (np.int64, np.float64)
        assert indices.dtype in (np.int32, np.int64)
        expected = VALUES[:, columns]
        assert indptr.size == expected.shape[1] + 1
        for j, (start, stop) in enumerate(pairwise(indptr)):
            column = np.zeros(6)
            column[indices[start:stop]] = data[start:stop]
            np.testing.assert_array_equal(column, expected[:, j])
            assert (np.diff(indices[start:stop]) > 0).all()

    def test_duplicates_of_compressed_rows(self):
        given, dense = untidy()
        matrix = sparse.csr_array((given.data, given.indices, given.indptr), shape=(4, 6))
        source = as_source(matrix)
        same(source.block(slice(0, 6)), dense.T)
        assert source.n_stored == 5
        assert matrix.nnz == 7

    def test_data_is_a_copy_of_a_tidy_matrix(self):
        matrix = sparse.csc_array(VALUES)
        as_source(matrix).stored(slice(None))[2][:] = -1
        np.testing.assert_array_equal(matrix.toarray(), VALUES)

    @pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "bool"])
    def test_kind_and_dtype(self, dtype):
        source = as_source(sparse.csr_array(VALUES.astype(dtype)))
        kind = "bool" if dtype == "bool" else "number"
        assert source.kind(0) == source.uniform_kind == kind
        assert source.dtype_name(0) == dtype
        assert source.n_stored == np.count_nonzero(VALUES)
        assert source.stored(slice(0, 4))[2].dtype == np.float64
        assert source.levels(slice(0, 4)) is None
        assert source.categories(0) is None
        check_finite(source)

    def test_booleans_stored_twice(self):
        matrix, dense = untidy(bool)
        same(as_source(matrix).block(slice(0, 4)), dense != 0)

    def test_missing_values(self):
        spoilt = VALUES.copy()
        spoilt[2, 1] = np.nan
        source = as_source(sparse.csr_array(spoilt))
        check_finite(source, ignore=True)
        with pytest.raises(InvalidInputError, match="NaN in column 'x1'"):
            check_finite(source)


class TestCheckFinite:
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_ignore_lets_only_nan_pass(self, order):
        spoilt = np.array(VALUES, order=order)
        spoilt[0, 1] = np.nan
        check_finite(as_source(spoilt), ignore=True)
        with pytest.raises(InvalidInputError, match="NaN in column 'x1'"):
            check_finite(as_source(spoilt))
        spoilt[5, 3] = -np.inf
        with pytest.raises(InvalidInputError, match=r"infinity in column 'x3'.*not infinite"):
            check_finite(as_source(spoilt), ignore=True)

    def test_ignoring_is_no_remedy_for_infinity(self):
        with pytest.raises(InvalidInputError, match=r"rows or columns concerned\.$"):
            check_finite(as_source(np.where(VALUES == 2, np.inf, VALUES)))


ROWS = {
    "some": [1, 2, 5],
    "all": list(range(6)),
    "shuffled": [5, 0, 3],
    "repeated": [2, 2, 0, 5, 2],
    "one": [4],
    "none": [],
    "mask": np.array([True, False, False, True, True, False]),
    "unsigned": np.array([0, 3], dtype=np.uint8),
}
MIXED = {
    "mixed pandas": pd.DataFrame(
        {"a": [1.5, NAN, 2, 3, 4, 5], "b": list("xyzxyz"), "c": pd.Categorical(list("qpqpqp")),
         "d": pd.array([True, None, False] * 2, dtype="boolean")}
    ),
    "mixed polars": pl.DataFrame(
        {"a": [1.5, None, 2, 3, 4, 5], "b": list("xyzxyz"), "c": list("pqpqpq"),
         "d": [True, None, False] * 2}, schema_overrides={"c": pl.Categorical},
    ),
    "bool": VALUES > 2,
    "untidy": untidy()[0],
}  # fmt: skip


class TestRowSubset:
    @pytest.mark.parametrize("table", TABLES | MIXED)
    @pytest.mark.parametrize("rows", ROWS)
    def test_any_table(self, table, rows):
        whole = as_source((TABLES | MIXED)[table])
        rows = ROWS[rows]
        chosen = np.arange(6)[np.asarray(rows, dtype=None if len(rows) else int)]
        subset = RowSubset(whole, rows)
        assert as_source(subset) is subset
        assert (subset.n_samples, subset.n_features) == (chosen.size, 4)
        assert subset.uniform_kind == whole.uniform_kind
        for columns in (slice(1, 3), slice(0, 4), np.array([3, 0]), slice(1, 1)):
            same(subset.block(columns), whole.block(columns)[chosen])
            self.check_levels(subset, whole, columns, chosen)
            self.check_stored(subset, columns)
        for j in range(4):
            for ask in ("name", "kind", "dtype_name", "categories"):
                assert getattr(subset, ask)(j) == getattr(whole, ask)(j)
        check_finite(subset, ignore=True)

    def check_levels(self, subset, whole, columns, chosen):
        levels = whole.levels(columns)
        if levels is None:
            assert subset.levels(columns) is None
        else:
            found = subset.levels(columns)
            np.testing.assert_array_equal(found, levels[chosen])
            assert found.dtype == levels.dtype

    def check_stored(self, subset, columns):
        if subset._source.stored(columns) is None:
            assert subset.stored(columns) is None
            assert subset.n_stored == subset.n_samples * 4
            return
        indptr, indices, data = subset.stored(columns)
        assert (indptr.dtype, data.dtype) == (np.int64, np.float64)
        expected = subset.block(columns)
        made = sparse.csc_array((data, indices, indptr), shape=expected.shape)
        assert made.has_canonical_format
        np.testing.assert_array_equal(made.toarray(), expected)
        assert subset.n_stored == subset.stored(slice(0, 4))[0][-1]

    def test_stored_zeros_stay(self):
        subset = RowSubset(as_source(untidy()[0]), [4, 2, 3, 2])
        indptr, indices, data = subset.stored(slice(None))
        assert indptr.tolist() == [0, 1, 3, 3, 4]
        assert indices.tolist() == [0, 1, 3, 2]
        assert data.tolist() == [7, 0, 0, 0]
        assert subset.n_stored == 4

    def test_rows_of_rows(self):
        source = as_source(VALUES)
        nested = RowSubset(RowSubset(source, [5, 3, 1, 0]), [2, 0])
        assert nested._source is source
        same(nested.block(slice(0, 4)), VALUES[[1, 5]])

    def test_codes_are_those_of_the_whole_table(self):
        subset = RowSubset(as_source(pd.DataFrame({"a": ["x", "y", "z"]})), [2, 1])
        same(subset.block(slice(0, 1)), [[2], [1]])
        assert subset.categories(0) == ["x", "y", "z"]

    @pytest.mark.parametrize("make", [np.array, pd.DataFrame, pl.DataFrame, sparse.csr_array])
    @pytest.mark.parametrize("entries", [1, 13, 1 << 21])
    def test_check_finite_sees_the_rows_only(self, make, entries, monkeypatch):
        monkeypatch.setattr("hsiclasso.data.base._RUN_ENTRIES", entries)
        spoilt = VALUES.copy()
        spoilt[2, 1], spoilt[4, 2] = np.nan, np.inf
        source = as_source(make(spoilt))
        check_finite(RowSubset(source, [0, 1, 3, 5]))
        check_finite(RowSubset(source, [0, 2, 3, 5]), ignore=True)
        with pytest.raises(InvalidInputError, match=f"NaN in column {source.name(1)!r}"):
            check_finite(RowSubset(source, [5, 2]))
        for ignore in (False, True):
            with pytest.raises(InvalidInputError, match=f"infinity in column {source.name(2)!r}"):
                check_finite(RowSubset(source, [5, 4, 1]), ignore=ignore)

    @pytest.mark.parametrize("table", TABLES)
    def test_the_table_stays_as_it_is(self, table):
        subset = RowSubset(as_source(TABLES[table]), np.arange(6))
        subset.block(slice(0, 4))[:] = -1
        levels, stored = subset.levels(slice(0, 4)), subset.stored(slice(0, 4))
        for array in () if levels is None else (levels,):
            array[:] = -1
        for array in stored or ():
            array[:] = -1
        same(as_source(TABLES[table]).block(slice(0, 4)), VALUES)

    def test_the_rows_stay_as_they_were_given(self):
        rows = np.array([3, 1])
        subset = RowSubset(as_source(VALUES), rows)
        rows[:] = 0
        same(subset.block(slice(0, 4)), VALUES[[3, 1]])

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            ([0, 6], "rows reaches from 0 to 6, but the table has 6 rows: give indices"),
            ([-1, 2], "rows reaches from -1 to 2"),
            (np.ones(5, dtype=bool), r"mask of shape \(5,\).* 6 rows: give one boolean per row"),
            ([0.0, 1.0], "rows has shape .* dtype float64: give a list of row indices"),
            ([[0, 1]], r"rows has shape \(1, 2\)"),
            (2, r"rows has shape \(\)"),
        ],
    )
    def test_bad_rows(self, rows, message):
        with pytest.raises(InvalidInputError, match=message):
            RowSubset(as_source(VALUES), rows)


@pytest.mark.parametrize("name", WIDE)
def test_integers_that_numpy_does_not_have(name):
    dtype = getattr(pl, name, None)
    if dtype is None:
        pytest.skip(f"this version of polars has no {name}")
    frame = pl.DataFrame({"a": [1, None, 3], "b": [0.5, 1.5, 2.5]}).cast({"a": dtype})
    for table in (frame, frame.lazy()):
        block = as_source(table).block(slice(0, 2))
        np.testing.assert_array_equal(block, [[1, 0.5], [np.nan, 1.5], [3, 2.5]])
    y = pl.Series(range(20)).cast(dtype)
    for target in (y, y.to_frame()):
        assert Real().prepare(target, 20).data.raw.tolist() == [list(range(20))]
