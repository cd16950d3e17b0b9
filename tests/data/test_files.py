"""Tables from files: every format, and a message for everything that can be wrong."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from hsiclasso.data import Table, read_table
from hsiclasso.errors import InvalidInputError

LABELS = ["x", "y", "x", "y"]
NUMBERS = np.array([[1.0, 2.5], [3.0, -4.0], [5e-1, 6.0], [7.0, 8.0]])
CSV = "id,a,kind,b\ns1,1,x,2.5\ns2,3,y,-4\ns3,5e-1,x,6\ns4,7,y,8\n"


def values(table):
    return table.source.block(slice(0, table.source.n_features))


def names(table):
    return [table.source.name(j) for j in range(table.source.n_features)]


def write(folder, name, text):
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def check_small(table):
    assert isinstance(table, Table)
    assert names(table) == ["a", "b"]
    assert np.array_equal(values(table), NUMBERS)
    assert table.target == "kind"
    assert table.y.tolist() == LABELS


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".CSV"])
def test_text_formats(tmp_path, suffix):
    text = CSV if suffix.lower() == ".csv" else CSV.replace(",", "\t")
    check_small(read_table(write(tmp_path, f"t{suffix}", text), "kind", drop=["id"]))


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_compressed_text(tmp_path, suffix):
    file = tmp_path / f"t{suffix}.gz"
    with gzip.open(file, "wt", encoding="utf-8") as stream:
        stream.write(CSV if suffix == ".csv" else CSV.replace(",", "\t"))
    check_small(read_table(file, "kind", drop=["id"]))


@pytest.mark.parametrize(
    "text",
    [
        CSV.replace("\n", "\r\n"),
        "\ufeff" + CSV,
        "\n" + CSV.replace("s2", "\ns2"),
        CSV.replace("kind", ' "kind"').replace("id,", "id , ").replace("x,", '"x" ,'),
        CSV.replace("s1", '"s, ""1"""').replace(",3,", ',"3",'),
        CSV.rstrip("\n"),
    ],
    ids=["crlf", "bom", "blank lines", "spaces", "quotes", "no last newline"],
)
def test_text_variants(tmp_path, text):
    text = text.replace(' "kind"', "kind")
    check_small(read_table(write(tmp_path, "t.csv", text), "kind", drop=["id"]))


def test_a_quoted_name_may_span_lines(tmp_path):
    file = write(tmp_path, "t.csv", '"a\nb",y\n1,2\n3,5\n5,9\n')
    table = read_table(file, "y")
    assert names(table) == ["a\nb"]
    assert table.y.tolist() == [2.0, 5.0, 9.0]


@pytest.mark.parametrize("target", ["a", "b", "c"])
def test_a_target_anywhere_leaves_the_others(tmp_path, target):
    file = write(tmp_path, "t.csv", "a,b,c\n1,2,3\n4,5,6\n7,8,9\n")
    table = read_table(file, target)
    column = "abc".index(target)
    assert table.y.tolist() == [1.0 + column, 4.0 + column, 7.0 + column]
    assert names(table) == [name for name in "abc" if name != target]
    expected = np.delete(np.arange(1.0, 10).reshape(3, 3), column, axis=1)
    assert np.array_equal(values(table), expected)


def test_columns_are_taken_out_in_place(tmp_path, rng):
    X = rng.integers(0, 100, size=(50, 40))
    header = ",".join(f"c{j}" for j in range(40))
    file = tmp_path / "t.csv"
    np.savetxt(file, X, fmt="%d", delimiter=",", header=header, comments="")
    table = read_table(file, "c7", drop=["c3", "c20", "c39"])
    assert np.array_equal(values(table), np.delete(X, [3, 7, 20, 39], axis=1))


def test_drop_may_be_one_name(tmp_path):
    check_small(read_table(write(tmp_path, "t.csv", CSV), "kind", drop="id"))


def test_repeated_columns_may_be_dropped(tmp_path):
    file = write(tmp_path, "t.csv", "a,s,s,y\n1,p,q,1\n2,p,q,5\n3,p,q,2\n")
    assert names(read_table(file, "y", drop=["s"])) == ["a"]


def test_an_unnamed_column_may_be_dropped(tmp_path):
    file = write(tmp_path, "t.csv", ",a,y\n0,1,1\n1,2,5\n2,3,2\n")
    assert names(read_table(file, "y", drop=["unnamed_1"])) == ["a"]


@pytest.mark.parametrize(
    ("text", "target", "drop", "message"),
    [
        ("", "y", [], r"is empty \(0 bytes\)"),
        ("\n\n", "y", [], "only blank lines"),
        ("a,y\n", "y", [], "2 column names and no rows"),
        ("1,2\n3,4\n5,6\n7,8\n", "y", [], r"starts with numbers \('1', '2'\).* add a header"),
        (CSV, "Kind", [], r"target='Kind' is not a column .*did you mean 'kind'\?"),
        (CSV, "kidn", [], r"did you mean 'kind'"),
        (CSV, "zzz", [], r"target='zzz' is not a column of .*t\.csv: give the name"),
        (CSV, "kind", ["idd"], r"drop names 'idd', which is not a column .*did you mean 'id'"),
        (CSV, "kind", ["kind"], "both the target and to be dropped"),
        ("a,a,y\n1,2,3\n", "y", [], r"several columns named 'a'.* rename .*--drop 'a'"),
        (",a,y\n0,1,1\n", "y", [], r"column 1 of .* has no name.*--drop 'unnamed_1'"),
        (CSV, "kind", [], r"column 'id' holds 's1' in data row 1.*--drop 'id'"),
        (CSV.replace("8", "high"), "kind", ["id"], r"'b' holds 'high' in data row 4"),
        (CSV.replace("-4", ""), "kind", ["id"], r"'b' has a missing value \(''\) in data row 2"),
        (CSV.replace("-4", "NA"), "kind", ["id"], r"missing value \('NA'\) in data row 2"),
        (CSV.replace("-4", "nan"), "kind", ["id"], r"'b' has .* \(NaN\) in data row 2"),
        (CSV.replace("y,8", ",8"), "kind", ["id"], r"'kind' has a missing value .* data row 4"),
        (CSV.replace("y,8", "NA,8"), "kind", ["id"], r"target .* \('NA'\) in data row 4"),
        (CSV.replace("-4", "-4,1"), "kind", ["id"], "5 values in data row 2, but 4 columns"),
        (CSV.replace(",-4", ""), "kind", ["id"], "3 values in data row 2, but 4 columns"),
        ("a,y\nr1,1,2\nr2,3,4\n", "y", [], "2 column names, but 3 values in data row 1"),
        ("a;y\n1;2\n3;4\n5;6\n", "y", [], "single column named 'a;y'"),
        ("a,y\n1,2\n3,4\n", "y", [], r"2 data row\(s\).* 3 samples or more"),
        ("y\n1\n2\n3\n", "y", [], "no column left"),
        ("id,y\n1,2\n2,3\n3,4\n", "y", ["id"], "no column left"),
    ],
)  # fmt: skip
def test_text_that_breaks_a_rule(tmp_path, text, target, drop, message):
    file = write(tmp_path, "t.csv", text)
    with pytest.raises(InvalidInputError, match=message):
        read_table(file, target, drop=drop)


def test_text_in_another_encoding(tmp_path):
    file = tmp_path / "t.csv"
    for content in (b"\xe4,y\n1,2\n", b"a,y\n" + 20_000 * b"1,2\n" + b"1,\xe4\n"):
        file.write_bytes(content)
        with pytest.raises(InvalidInputError, match=r"not UTF-8 text.* save it as UTF-8"):
            read_table(file, "y")


def test_a_huge_field_is_no_name(tmp_path):
    file = write(tmp_path, "t.csv", "\t".join(f"g{j}" for j in range(40_000)) + "\n1\n")
    with pytest.raises(InvalidInputError, match="cannot be read as comma-separated text"):
        read_table(file, "y")


def test_an_interruption_is_passed_on(tmp_path, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("hsiclasso.data.files._zero", interrupt)
    with pytest.raises(KeyboardInterrupt):
        read_table(write(tmp_path, "t.csv", CSV), "kind", drop=["id"])


def test_a_parser_message_of_another_kind_is_passed_on(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise ValueError("something new")

    monkeypatch.setattr(np, "loadtxt", fail)
    with pytest.raises(InvalidInputError, match=r"t\.csv cannot be read \(something new\)"):
        read_table(write(tmp_path, "t.csv", CSV), "kind", drop=["id"])


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(InvalidInputError, match=r"no\.csv does not exist: check the spelling"):
        read_table(tmp_path / "no.csv", "y")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidInputError, match="is a folder, not a file"):
        read_table(tmp_path / "folder.csv", "y")


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.gz", "t.npz.gz"])
def test_unknown_suffix(tmp_path, name):
    with pytest.raises(InvalidInputError, match=r"has the suffix .* use one of \.csv, \.tsv"):
        read_table(write(tmp_path, name, CSV), "kind")


@pytest.mark.parametrize("name", ["t.csv.gz", "t.npz", "t.parquet"])
def test_files_that_are_not_what_they_say(tmp_path, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    with pytest.raises(InvalidInputError, match=r"cannot be read as .* in the format"):
        read_table(write(tmp_path, name, "no such format"), "y")


def test_a_cut_archive(tmp_path):
    file = tmp_path / "t.csv.gz"
    file.write_bytes(gzip.compress(CSV.encode() * 50)[:60])
    with pytest.raises(InvalidInputError, match="check that it is complete"):
        read_table(file, "kind", drop=["id"])


class TestNPZ:
    def test_names_and_target(self, tmp_path):
        file = tmp_path / "t.npz"
        np.savez(file, X=NUMBERS, kind=np.array(LABELS), feature_names=np.array(["a", "b"]))
        check_small(read_table(file, "kind"))

    def test_without_names(self, tmp_path):
        file = tmp_path / "t.npz"
        np.savez(file, X=NUMBERS.astype(np.float32), y=np.arange(4).reshape(-1, 1))
        table = read_table(file, "y", drop=["x0"])
        assert names(table) == ["x1"]
        assert table.y.tolist() == [0, 1, 2, 3]
        assert np.array_equal(values(table), NUMBERS[:, 1:])

    def test_a_column_as_target(self, tmp_path):
        file = tmp_path / "t.npz"
        X = np.arange(12.0).reshape(4, 3)
        np.savez(file, X=np.asfortranarray(X), y=np.arange(4), feature_names=["a", "b", "c"])
        table = read_table(file, "b")
        assert names(table) == ["a", "c"]
        assert table.y.tolist() == X[:, 1].tolist()
        assert np.array_equal(values(table), X[:, [0, 2]])

    @pytest.mark.parametrize(
        ("arrays", "target", "message"),
        [
            ({"A": NUMBERS, "y": np.ones(4)}, "y", "no array named 'X', only 'A', 'y'"),
            ({"X": np.ones(4), "y": np.ones(4)}, "y", r"X in .* has shape \(4,\)"),
            ({"X": NUMBERS.astype(str), "y": np.ones(4)}, "y", "2-D array of real numbers"),
            ({"X": NUMBERS, "y": np.ones(5)}, "y", r"y in .* has shape \(5,\), but X has 4 rows"),
            ({"X": NUMBERS, "y": np.ones((4, 2))}, "y", r"shape \(4, 2\), but X has 4 rows"),
            (
                {"X": NUMBERS, "y": np.ones(4), "feature_names": np.array(["a"])},
                "y",
                r"feature_names in .* has shape \(1,\), but X has 2 columns",
            ),
            (
                {"X": NUMBERS, "y": np.ones(4)},
                "Y",
                r"'Y' is neither an array of .* \(it has 'y'\) nor",
            ),
            ({"X": NUMBERS}, "X", "target='X' is neither an array"),
            (
                {"X": np.where(NUMBERS == 6, np.nan, NUMBERS), "y": np.ones(4)},
                "y",
                r"column 'x1' has a missing value \(NaN\) in data row 3",
            ),
            (
                {"X": NUMBERS, "y": np.array([1, 2, np.nan, 4])},
                "y",
                "target 'y' has a missing value .* in data row 3",
            ),
            ({"X": np.array(NUMBERS, dtype=object), "y": np.ones(4)}, "y", "allow_pickle"),
            ({"X": NUMBERS[:2], "y": np.ones(2)}, "y", "3 samples or more"),
        ],
    )
    def test_archives_that_break_a_rule(self, tmp_path, arrays, target, message):
        file = tmp_path / "t.npz"
        np.savez(file, **arrays)
        with pytest.raises(InvalidInputError, match=message):
            read_table(file, target)

    def test_infinite_values_are_left_to_the_selection(self, tmp_path):
        file = tmp_path / "t.npz"
        np.savez(file, X=np.where(NUMBERS == 6, np.inf, NUMBERS), y=np.ones(4))
        assert np.isinf(values(read_table(file, "y"))).any()


class TestParquet:
    @pytest.fixture
    def save(self, tmp_path):
        pa = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")

        def save(columns, **options):
            file = tmp_path / "t.parquet"
            parquet.write_table(pa.table(columns), file, **options)
            return file

        return save

    def test_names_and_target(self, save):
        columns = {"id": ["s1", "s2", "s3", "s4"], "a": NUMBERS[:, 0], "kind": LABELS}
        file = save(columns | {"b": NUMBERS[:, 1]}, row_group_size=3)
        check_small(read_table(file, "kind", drop=["id"]))

    def test_numbers_of_all_kinds(self, save):
        import pyarrow as pa

        decimals = pa.array([1, 2, 3], pa.decimal128(5, 2))
        flags = [True, False, True]
        file = save({"f": flags, "a.b": [1, 2, 3], "d": decimals, "a": [0.5, 1.5, 2.5], "y": flags})
        table = read_table(file, "y")
        assert names(table) == ["f", "a.b", "d", "a"]
        assert values(table)[0].tolist() == [1.0, 1.0, 1.0, 0.5]
        assert table.y.dtype == bool

    def test_categories_as_target(self, save):
        import pyarrow as pa

        file = save({"a": [1, 2, 3], "y": pa.array(["p", "q", "p"]).dictionary_encode()})
        assert read_table(file, "y").y.tolist() == ["p", "q", "p"]

    def test_the_index_of_a_pandas_frame_is_left_out(self, tmp_path):
        pytest.importorskip("pyarrow")
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"a": [1, 2, 3], "y": [1.0, 2.0, 4.0]}, index=[5, 7, 9])
        file = tmp_path / "t.parquet"
        frame.to_parquet(file)
        assert names(read_table(file, "y")) == ["a"]
        frame.rename_axis("sample").to_parquet(file)
        assert names(read_table(file, "y")) == ["a"]

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"a": ["u", "v", "w"]}, r"column 'a' holds 'u' \(of type .*string\) in data row 1"),
            ({"a": [1.0, None, 3.0]}, r"column 'a' has a missing value \(null\) in data row 2"),
            ({"a": [1.0, float("nan"), 3.0]}, r"column 'a' .* \(NaN\) in data row 2"),
            ({"a": [None, None, None]}, r"column 'a' has a missing value \(null\)"),
            ({"b": [1, 2, 3], "y": ["p", None, "q"]}, "target 'y' has a missing value"),
        ],
    )
    def test_files_that_break_a_rule(self, save, columns, message):
        file = save({"y": [1, 2, 3]} | columns)
        with pytest.raises(InvalidInputError, match=message):
            read_table(file, "y")

    def test_no_rows(self, save):
        import pyarrow as pa

        file = save({"a": pa.array([], pa.float64()), "y": pa.array([], pa.float64())})
        with pytest.raises(InvalidInputError, match="has no rows"):
            read_table(file, "y")
