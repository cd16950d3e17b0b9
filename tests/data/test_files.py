"""Tables from files: every format, and a message for everything that can be wrong."""

from __future__ import annotations

import datetime
import gzip

import numpy as np
import pytest

from hsiclasso.data.files import Dataset, read_table
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
    assert isinstance(table, Dataset)
    assert names(table) == ["a", "b"]
    assert np.array_equal(values(table), NUMBERS)
    assert table.target == ("kind",)
    assert table.weights is None
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
        (CSV, "Kind", [], r"'Kind', the target, is not a column .*did you mean 'kind'\?"),
        (CSV, "kidn", [], r"did you mean 'kind'"),
        (CSV, "zzz", [], r"'zzz', the target, is not a column of .*t\.csv: give the name"),
        (CSV, "kind", ["idd"], r"drop names 'idd', which is not a column .*did you mean 'id'"),
        (CSV, "kind", ["kind"], "both the target and to be dropped"),
        ("a,a,y\n1,2,3\n", "y", [], r"several columns named 'a'.* rename .*--drop 'a'"),
        (",a,y\n0,1,1\n", "y", [], r"column 1 of .* has no name.*--drop 'unnamed_1'"),
        (CSV.replace("8", "high"), "kind", ["id"], r"'b' holds 'high' in data row 4, but most"),
        (CSV.replace("2.5", '"2,5"'), "kind", ["id"], r"'b' holds '2,5' in data row 1, but most"),
        (CSV.replace("-4", "?"), "kind", ["id"], r"'b' holds '\?' in data row 2.*--category 'b'"),
        (CSV.replace("-4", "1_0"), "kind", ["id"], r"'b' holds '1_0' in data row 2"),
        (CSV.replace("2.5", "NA").replace("8", "x"), "kind", ["id"], r"'b' holds 'x' in .* row 4"),
        (CSV.replace("2.5", "?"), "b", ["id"], r"'b' holds '\?' in data row 1, but most"),
        (CSV, ["kind", "b", "kind"], [], r"'kind' is twice the target: choose one"),
        (CSV.replace("-4", "-4,1"), "kind", ["id"], "5 values in data row 2, but 4 columns"),
        (CSV.replace(",-4", ""), "kind", ["id"], "3 values in data row 2, but 4 columns"),
        ("a,y\nr1,1,2\nr2,3,4\n", "y", [], "2 column names, but 3 values in data row 1"),
        ("a;y\n1\n3;4;5\n5;6\n", "y", [], "single column named 'a;y'"),
        ("a,y\n1,2\n3,4\n", "y", [], r"2 data row\(s\).* 3 samples or more"),
        ("y\n1\n2\n3\n", "y", [], "no column left"),
        ("id,y\n1,2\n2,3\n3,4\n", "y", ["id"], "no column left"),
    ],
)  # fmt: skip
def test_text_that_breaks_a_rule(tmp_path, text, target, drop, message):
    file = write(tmp_path, "t.csv", text)
    with pytest.raises(InvalidInputError, match=message):
        read_table(file, target, drop=drop)


MIXED = """id,sex,smoker,age,batch,w,label
s1,f,True,61.5,1,1,yes
s2,m,FALSE,,2,0.5,no
s3, f ,true,NA,1,2,
s4,,False,44,2,0,yes
s5,m,true,50,,1,no
"""


class TestMixedText:
    def read(self, tmp_path, text=MIXED, target="label", **options):
        file = write(tmp_path, "t.csv", text)
        return read_table(file, target, **({"drop": "id"} | options))

    def test_kinds_and_labels(self, tmp_path):
        source = self.read(tmp_path).source
        assert [source.kind(j) for j in range(5)] == ["text", "bool", "number", "number", "number"]
        assert source.uniform_kind is None
        assert source.categories(0) == ["f", "m"]
        assert source.categories(1) is source.categories(2) is None
        dtypes = [source.dtype_name(j) for j in range(3)]
        assert dtypes == ["str", "bool", "float64"]

    def test_values_with_missing_ones(self, tmp_path):
        block = values(self.read(tmp_path))
        nan = np.nan
        expected = [[0, 1, 0, nan, 1], [1, 0, 1, 0, 1], [61.5, nan, nan, 44, 50]]
        assert np.array_equal(block[:, :3].T, expected, equal_nan=True)

    def test_a_target_with_missing_values(self, tmp_path):
        assert self.read(tmp_path).y.tolist() == ["yes", "no", None, "yes", "no"]
        ages = self.read(tmp_path, target="age").y
        assert np.array_equal(ages, [61.5, np.nan, np.nan, 44, 50], equal_nan=True)

    def test_truth_values_as_target(self, tmp_path):
        y = self.read(tmp_path, target="smoker").y
        assert y.dtype == bool
        assert y.tolist() == [True, False, True, False, True]
        y = self.read(tmp_path, MIXED.replace("FALSE", "NA"), "smoker").y
        assert np.array_equal(y, [1, np.nan, 1, 0, 1], equal_nan=True)

    def test_several_targets(self, tmp_path):
        table = self.read(tmp_path, target=["age", "smoker"])
        assert table.target == ("age", "smoker")
        assert table.y.dtype == np.float64
        assert table.y[:, 1].tolist() == [1, 0, 1, 0, 1]
        assert names(table) == ["sex", "batch", "w", "label"]
        y = self.read(tmp_path, target=["w", "sex"]).y
        assert y.dtype == object
        assert y.tolist()[:2] == [[1.0, "f"], [0.5, "m"]]
        assert y[3, 1] is None

    def test_no_target(self, tmp_path):
        table = self.read(tmp_path, target=())
        assert table.y is None
        assert table.source.n_features == 6

    def test_weights_are_no_feature(self, tmp_path):
        table = self.read(tmp_path, weights="w")
        assert table.weights.tolist() == [1, 0.5, 2, 0, 1]
        assert names(table) == ["sex", "smoker", "age", "batch"]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"weights": "sex"}, "'sex', which holds values such as 'f', but weights are numbers"),
            ({"weights": "age"}, "'age', which holds nan in data row 2, but a weight"),
            ({"weights": "ww"}, r"weights names 'ww', .*did you mean 'w'"),
            ({"weights": "label"}, "'label' is both the target and the weights"),
            ({"weights": "w", "drop": "w"}, "'w' is both the weights and to be dropped"),
            ({"category": "id"}, "'id' is both a category and to be dropped"),
            ({"category": "bach"}, r"category names 'bach', .*did you mean 'batch'"),
            ({"target": ("label", "w"), "drop": "w"}, "'w' is both the target and to be dropped"),
        ],
    )
    def test_names_that_break_a_rule(self, tmp_path, options, message):
        with pytest.raises(InvalidInputError, match=message):
            self.read(tmp_path, **options)

    def test_negative_weights(self, tmp_path):
        with pytest.raises(InvalidInputError, match=r"'w', which holds -2\.0 in data row 3"):
            self.read(tmp_path, MIXED.replace(",2,\n", ",-2,\n"), weights="w")

    def test_numbers_as_categories(self, tmp_path):
        source = self.read(tmp_path, category=["batch", "sex"]).source
        assert source.kind(0) == source.kind(3) == "category"
        assert source.dtype_name(3) == "category"
        assert source.categories(3) == ["1", "2"]
        codes = source.block(slice(3, 4)).ravel()
        assert np.array_equal(codes, [0, 1, 0, 1, np.nan], equal_nan=True)

    def test_labels_some_of_which_are_numbers(self, tmp_path):
        text = "grade,y\n3,1\n3,5\n3+,7\n4,2\n"
        with pytest.raises(InvalidInputError, match=r"'grade' holds '3\+' in data row 3"):
            self.read(tmp_path, text, "y", drop=())
        source = self.read(tmp_path, text, "y", drop=(), category="grade").source
        assert source.categories(0) == ["3", "3+", "4"]

    def test_a_number_among_words_is_a_word(self, tmp_path):
        text = "code,y\nab,1\n03,5\ncd,7\nab,2\n"
        source = self.read(tmp_path, text, "y", drop=()).source
        assert source.kind(0) == "text"
        assert source.categories(0) == ["03", "ab", "cd"]

    def test_words_that_come_late(self, tmp_path):
        rows = "".join(f"{i},,{i % 3}\n" for i in range(40))
        rows += "".join(f"{'uvw'[i % 3]},{i},{i % 3}\n" for i in range(60))
        source = self.read(tmp_path, "code,x,y\n" + rows, "y", drop=()).source
        assert source.kind(0) == "text"
        assert len(source.categories(0)) == 43
        assert source.kind(1) == "number"
        codes = source.block(slice(0, 1)).ravel().astype(int)
        assert [source.categories(0)[code] for code in codes[-3:]] == ["u", "v", "w"]

    @pytest.mark.parametrize("word", ["", "NA", "n/a", "N/A", "null", "None", "<NA>", " nan "])
    def test_how_missing_is_written(self, tmp_path, word):
        text = f"a,kind,y\n1,p,2\n{word},{word},3\n5,q,4\n"
        table = self.read(tmp_path, text, "y", drop=())
        assert np.isnan(values(table)).tolist() == [[False] * 2, [True] * 2, [False] * 2]

    def test_a_column_without_any_value(self, tmp_path):
        table = self.read(tmp_path, "a,b,y\n1,,2\n2,,3\n3,,4\n", "y", drop=())
        assert np.isnan(values(table)[:, 1]).all()
        assert table.source.kind(1) == "number"

    def test_infinity_is_a_number(self, tmp_path):
        table = self.read(tmp_path, "a,y\n1,2\ninf,3\n,4\n", "y", drop=())
        assert table.source.kind(0) == "number"
        assert np.isinf(values(table)).any()

    def test_only_labels(self, tmp_path):
        source = self.read(tmp_path, "a,b,y\np,q,1\np,r,2\ns,q,3\n", "y", drop=()).source
        assert source.uniform_kind == "text"

    def test_a_line_break_in_a_label(self, tmp_path):
        text = 'a,y\n"p\nq",1\nr,2\n"p\nq",3\n'
        assert self.read(tmp_path, text, "y", drop=()).source.categories(0) == ["p\nq", "r"]


class TestIdentifiers:
    def rows(self, n, make):
        return "id,name,x,y\n" + "".join(f"s{i},{make(i)},{i % 7},{i}\n" for i in range(n))

    def test_a_warning_names_the_column_and_the_remedy(self, tmp_path):
        file = write(tmp_path, "t.csv", self.rows(20, lambda i: "ab"[i % 2]))
        message = (
            r"^column 'id' has a different value in almost every row.* leave it out.*--drop 'id'"
        )
        with pytest.warns(UserWarning, match=message):
            read_table(file, "y")

    def test_several_and_nearly_every_row(self, tmp_path):
        file = write(tmp_path, "t.csv", self.rows(20, lambda i: f"n{max(i, 1)}"))
        with pytest.warns(UserWarning, match=r"^columns 'id', 'name' have a .* leave them"):
            read_table(file, "y")

    def test_what_is_no_identifier(self, tmp_path):
        file = write(tmp_path, "t.csv", self.rows(20, lambda i: f"n{i // 2}"))
        read_table(file, "y", drop="id")
        read_table(file, "id", drop="name")
        read_table(file, "y", category="id")

    def test_missing_cells_do_not_hide_it(self, tmp_path):
        file = write(tmp_path, "t.csv", self.rows(20, lambda i: f"n{i}" if i % 3 else ""))
        with pytest.warns(UserWarning, match="column 'name' has"):
            read_table(file, "y", drop="id")

    def test_in_a_long_table_it_is_refused(self, tmp_path):
        file = write(tmp_path, "t.csv", self.rows(2500, lambda i: "ab"[i % 2]))
        with pytest.raises(
            InvalidInputError, match=r"'id' has 2,500 different values .*--drop 'id'"
        ):
            read_table(file, "y")


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

    monkeypatch.setattr("hsiclasso.data.text._zero", interrupt)
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

    def test_text(self, tmp_path):
        file = tmp_path / "t.npz"
        X = np.array([["1", "p", ""], ["2.5", "q", "3"], ["4", "p", "NA"], ["0", "q", "5"]])
        for array in (X, X.astype(bytes)):
            np.savez(file, X=array, y=np.arange(4))
            source = read_table(file, "y").source
            assert [source.kind(j) for j in range(3)] == ["number", "text", "number"]
            assert source.categories(1) == ["p", "q"]
            block = source.block(slice(0, 3))
            assert block[:, 0].tolist() == [1, 2.5, 4, 0]
            assert np.isnan(block[:, 2]).tolist() == [True, False, True, False]

    def test_truth_values_and_small_integers_stay_what_they_are(self, tmp_path):
        file = tmp_path / "t.npz"
        np.savez(file, X=NUMBERS > 2, y=np.arange(4))
        assert read_table(file, "y").source.uniform_kind == "bool"
        np.savez(file, X=NUMBERS.astype(np.int8), y=np.arange(4))
        assert read_table(file, "y").source.levels(slice(0, 2)).dtype == np.int8

    def test_missing_values(self, tmp_path):
        file = tmp_path / "t.npz"
        np.savez(file, X=np.where(NUMBERS == 6, np.nan, NUMBERS), y=np.array([1, 2, np.nan, 4]))
        table = read_table(file, "y")
        assert np.isnan(values(table)).sum() == 1
        assert np.isnan(table.y).tolist() == [False, False, True, False]

    def test_several_outputs_in_one_array(self, tmp_path):
        file = tmp_path / "t.npz"
        np.savez(file, X=NUMBERS, y=np.ones((4, 2)), z=np.array(LABELS))
        assert read_table(file, "y").y.shape == (4, 2)
        both = read_table(file, ["z", "x0"])
        assert both.y[0].tolist() == ["x", 1.0]
        assert names(both) == ["x1"]

    def test_weights_and_categories(self, tmp_path):
        file = tmp_path / "t.npz"
        X = np.array([[1, 7], [2, 7], [1, 8], [2, 9]], dtype=np.int8)
        np.savez(file, X=X, y=np.arange(4), w=np.array([1, 0, 2, 1]))
        table = read_table(file, "y", weights="w", category="x1")
        assert table.weights.tolist() == [1, 0, 2, 1]
        assert table.source.kind(1) == "category"
        assert table.source.categories(1) == ["7", "8", "9"]
        assert read_table(file, "y", weights="x0").weights.tolist() == [1, 2, 1, 2]

    @pytest.mark.parametrize(
        ("arrays", "target", "message"),
        [
            ({"A": NUMBERS, "y": np.ones(4)}, "y", "no array named 'X', only 'A', 'y'"),
            ({"X": np.ones(4), "y": np.ones(4)}, "y", r"X in .* has shape \(4,\)"),
            ({"X": NUMBERS.astype(complex), "y": np.ones(4)}, "y", "2-D array of real numbers"),
            ({"X": NUMBERS, "y": np.ones(5)}, "y", r"y in .* has shape \(5,\), but X has 4 rows"),
            ({"X": NUMBERS, "y": np.ones((4, 2, 1))}, "y", r"\(4, 2, 1\), but X has 4 rows"),
            ({"X": NUMBERS, "y": np.float64(1)}, "y", r"shape \(\), but X has 4 rows"),
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
            ({"X": NUMBERS}, "X", "'X' is neither an array"),
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

    @pytest.mark.parametrize("entries", [1, 20, 1 << 21])
    @pytest.mark.parametrize("row_group_size", [3, 100])
    def test_columns_are_read_in_groups(self, save, entries, row_group_size, monkeypatch):
        """Names need not be in alphabetical order, and columns of several kinds may alternate."""
        monkeypatch.setattr("hsiclasso.data.arrow.GROUP_ENTRIES", entries)
        rng = np.random.default_rng(0)
        numbers = {f"g{j}": rng.standard_normal(8) for j in (3, 1, 2, 0)}
        columns = {"y": rng.standard_normal(8)}
        for name, column in numbers.items():
            columns |= {name: column, f"text{name}": rng.choice(["u", "v"], 8).tolist()}
        table = read_table(save(columns, row_group_size=row_group_size), "y")
        assert names(table) == list(columns)[1:]
        for name, column in numbers.items():
            assert values(table)[:, names(table).index(name)].tolist() == column.tolist()

    def test_the_index_of_a_pandas_frame_is_left_out(self, tmp_path):
        pytest.importorskip("pyarrow")
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"a": [1, 2, 3], "y": [1.0, 2.0, 4.0]}, index=[5, 7, 9])
        file = tmp_path / "t.parquet"
        frame.to_parquet(file)
        assert names(read_table(file, "y")) == ["a"]
        frame.rename_axis("sample").to_parquet(file)
        assert names(read_table(file, "y")) == ["a"]

    def test_mixed_columns_with_nulls(self, save):
        import pyarrow as pa

        columns = {
            "sex": ["f", None, "m", "f"],
            "smoker": [True, None, False, True],
            "age": [61.5, None, float("nan"), 40.0],
            "n": pa.array([1, None, 3, 4], pa.int16()),
            "site": pa.array(["b", "a", None, "b"]).dictionary_encode(),
            "none": pa.nulls(4),
            "half": pa.array(np.ones(4, dtype=np.float16)),
        }
        source = read_table(save(columns | {"y": [1, 2, 3, 4]}, row_group_size=2), "y").source
        kinds = [source.kind(j) for j in range(7)]
        assert kinds == ["text", "bool", "number", "number", "category", "number", "number"]
        missing = np.isnan(source.block(slice(0, 7)))
        assert missing.sum(axis=0).tolist() == [1, 1, 2, 1, 1, 4, 0]
        for j, labels in ((0, ["f", None, "m", "f"]), (4, ["b", "a", None, "b"])):
            codes = source.block(slice(j, j + 1)).ravel()
            read = [None if np.isnan(c) else source.categories(j)[int(c)] for c in codes]
            assert read == labels

    def test_targets_and_weights(self, save):
        columns = {"a": [1, 2, 3, 4], "t": ["p", None, "q", "p"], "w": [1, 2, 0, 1]}
        table = read_table(save(columns | {"u": [0.5, 1, 2, 3]}), ["t", "u"], weights="w")
        assert table.y.tolist()[:2] == [["p", 0.5], [None, 1.0]]
        assert table.weights.tolist() == [1, 2, 0, 1]
        assert names(table) == ["a"]

    def test_numbers_as_categories(self, save):
        file = save({"batch": [3, 1, None, 3], "y": [1, 2, 3, 4]})
        source = read_table(file, "y", category="batch").source
        assert source.kind(0) == "category"
        assert source.categories(0) == ["1", "3"]

    def test_an_ordered_category_as_target(self, tmp_path):
        pytest.importorskip("pyarrow")
        pd = pytest.importorskip("pandas")
        stage = pd.Categorical(["II", "I", None, "III"], ["I", "II", "III"], ordered=True)
        file = tmp_path / "t.parquet"
        pd.DataFrame({"a": [1, 2, 3, 4], "stage": stage}).to_parquet(file)
        table = read_table(file, "stage")
        assert table.y.dtype.ordered
        assert table.y.codes.tolist() == [1, 0, -1, 2]
        assert len(table.y) == 4
        assert read_table(file, "a").y.tolist() == [1, 2, 3, 4]

    def test_an_array_of_numbers_as_labels(self, tmp_path, rng):
        X = rng.standard_normal((4, 2))
        for name, y in {"y": [3.0, np.nan, 1.0, 3.0], "z": np.eye(4)}.items():
            np.savez(tmp_path / f"{name}.npz", X=X, **{name: y})
        assert read_table(tmp_path / "y.npz", "y", category="y").y.tolist() == ["3", None, "1", "3"]
        assert read_table(tmp_path / "z.npz", "z", category="z").y.shape == (4, 4)

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"a": [datetime.date(2024, 1, day) for day in (1, 2, 3)]}, r"'a' is of type date32"),
            ({"a": [[1], [2], [3]]}, r"'a' is of type list.*--drop 'a'"),
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
