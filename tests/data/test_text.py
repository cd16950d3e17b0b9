"""Text files as people have them: separators, decimal marks, encodings, comments, genes in rows."""

from __future__ import annotations

import csv
import gzip
import io
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso import HSICLasso, InvalidInputError, TextFormat, read_table
from hsiclasso.data.compressed import open_text
from hsiclasso.errors import MissingExtraError

ROWS = [["a", "b", "kind", "y"], ["1.5", "2", "u", "0"], ["-2.25", "30", "v", "1"],
        ["1e3", "4", "u", "1"], ["0", "5.125", "w", "0"]]  # fmt: skip


def text_of(rows, sep=",", decimal="."):
    lines = [sep.join(cell.replace(".", decimal) for cell in row) for row in rows]
    return "\n".join(lines) + "\n"


def write(folder, name, text, encoding="utf-8"):
    file = folder / name
    content = text.encode(encoding)
    if name.endswith(".gz"):
        content = gzip.compress(content)
    if name.endswith(".zst"):
        content = pytest.importorskip("zstandard").compress(content)
    file.write_bytes(content)
    return file


def names(table):
    return [table.source.name(j) for j in range(table.source.n_features)]


def values(table):
    return table.source.block(slice(0, table.source.n_features))


def check(table):
    assert names(table) == ["a", "b", "kind"]
    assert table.source.categories(2) == ["u", "v", "w"]
    expected = [[1.5, 2, 0], [-2.25, 30, 1], [1000, 4, 0], [0, 5.125, 2]]
    assert values(table).tolist() == expected
    assert table.y.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("name", "sep", "decimal"),
    [
        ("t.csv", ";", "."),
        ("t.csv", ";", ","),
        ("t.csv", "\t", "."),
        ("t.csv", "|", "."),
        ("t.txt", " ", "."),
        ("t.txt", ",", "."),
        ("t.tsv", ";", ","),
        ("t.csv.gz", ";", ","),
        ("t.csv.zst", ",", "."),
        ("t.tsv.zst", "\t", "."),
    ],
)
def test_separators_and_decimal_marks_are_recognised(tmp_path, name, sep, decimal):
    check(read_table(write(tmp_path, name, text_of(ROWS, sep, decimal)), "y"))


@pytest.mark.parametrize(
    ("name", "sep", "decimal", "text"),
    [
        ("t.csv", "\t", ",", TextFormat(sep="tab", decimal=",")),
        ("t.csv", "\t", ",", TextFormat(sep="\\t", decimal=",")),
        ("t.csv", ":", ".", TextFormat(sep=":")),
        ("t.csv", "   ", ".", TextFormat(sep="whitespace")),
        ("t.tsv", " ", ".", TextFormat(sep="space")),
        ("t.csv", ";", ",", TextFormat(sep="semicolon")),
        ("t.csv", ";", ".", TextFormat(decimal=".")),
    ],
)
def test_separators_and_decimal_marks_can_be_given(tmp_path, name, sep, decimal, text):
    check(read_table(write(tmp_path, name, text_of(ROWS, sep, decimal)), "y", text=text))


@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False),
            st.one_of(st.none(), st.integers(-9999, 9999)),
            st.text("ab,.;\"' \n", max_size=6),
        ),
        min_size=3,
        max_size=6,
    ),
    st.sampled_from([(",", "."), (";", "."), (";", ","), ("\t", ","), ("|", ",")]),
)
def test_what_is_written_is_read(tmp_path_factory, rows, marks):
    """Numbers keep every bit and labels every letter, whatever separates them."""
    sep, decimal = marks
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=sep)
    writer.writerow(["x", "n", "label", "y"])
    for i, (x, n, label) in enumerate(rows):
        cells = (repr(x), "" if n is None else str(n))
        writer.writerow([*(cell.replace(".", decimal) for cell in cells), f"l{label}l", i])
    file = tmp_path_factory.mktemp("text") / "t.csv"
    file.write_text(stream.getvalue(), encoding="utf-8", newline="")
    table = read_table(file, "y", category="label", text=TextFormat(sep=sep, decimal=decimal))
    block = values(table)
    assert block[:, 0].tolist() == [x for x, _, _ in rows]
    expected = [np.nan if n is None else n for _, n, _ in rows]
    np.testing.assert_array_equal(block[:, 1], expected)
    labels = table.source.categories(2)
    assert [labels[int(code)] for code in block[:, 2]] == [f"l{label}l" for _, _, label in rows]


def test_labels_keep_their_commas_where_commas_are_decimal_marks(tmp_path):
    text = "x;kind;y\n1,5;3,4-D.x;0\n2,5;b, c;1\n0,5;3,4-D.x;1\n"
    table = read_table(write(tmp_path, "t.csv", text), "y")
    assert table.source.categories(1) == ["3,4-D.x", "b, c"]
    assert values(table)[:, 0].tolist() == [1.5, 2.5, 0.5]


def test_the_line_by_which_excel_tells_the_separator(tmp_path):
    check(read_table(write(tmp_path, "t.csv", "sep=;\r\n" + text_of(ROWS, ";", ",")), "y"))


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("t.csv", 'a,y\n"1,234.5",0\n"2,000.5",1\n3,1\n', {},
         r"column 'a' holds '1,234\.5' in data row 1.* remove separators of thousands, or, if"),
        ("t.csv", 'a,y\n"1,234",0\n"2,000",1\n3,1\n', {},
         r"'1,234' .* separators of thousands, or say .*--decimal ','"),
        ("t.tsv", "a\ty\n1,5\t0\n2,5\t1\n3\t1\n", {}, r"'1,5' in data row 1.*--decimal ','"),
        ("t.csv", "a;y\n1.234,5;0\n2,5;1\n3;1\n", {}, r"'1\.234,5' .* remove separators"),
        ("t.csv", "a;b;y\n1,5;2.5;0\n2,5;2;1\n3;1;1\n", {}, r"'a' holds '1,5'.*--decimal ','"),
        ("t.csv", "a;y\n1.5;0\n2,5;1\n3;1\n", {"decimal": ","}, r"'1\.5' .*--decimal '\.'"),
        ("t.tsv", "a\ty\n1 234\t0\n2 500\t1\n3\t1\n", {}, "'1 234' .* remove separators"),
        ("t.csv", "a,b;y\n1,5;0\n2,5;1\n3,1;1\n", {}, None),
        ("t.csv", "a,b;c;y\n1,5;0;1\n2,5;1;1\n3,1;1;0\n", {},
         r"whether ',' or ';' separates them.*--sep ';'"),
        ("t.csv", "a,y\n1,5\n2,5\n3,1\n", {"decimal": ","}, "also what separates the columns"),
        ("t.csv", "a,y\n1,5\n", {"decimal": ",", "sep": "comma"}, "cannot both be"),
        ("t.csv", "a,y\n1,5\n", {"sep": "ab"}, r"sep='ab' separates no columns.*whitespace"),
        ("t.csv", "a,y\n1,5\n", {"sep": "."}, r"sep='\.' separates no columns"),
        ("t.csv", "a,y\n1,5\n", {"decimal": ";"}, "no decimal mark"),
        ("t.csv", "a,y\n1,5\n", {"comment": " "}, "comment=' ' is blank"),
        ("t.csv", "a,y\n1,5\n", {"encoding": "utf-99"}, "encoding='utf-99' is unknown"),
        ("t.csv", "a,y\n1,5\n", {"transpose": 1}, "transpose=1 must be True or False"),
        ("t.csv", "# a,b\nu,v,w\nu,v\nu,v,z\n", {}, r"no header follows.*--comment '#'"),
        ("t.csv", "#FID IID y\n1 2 3\n4 5 6\n7 8 9\n", {}, "no header follows"),
        ("t.tsv", "!a\nx,y\n1,2\n3,4\n", {}, r"begin with '!'.*--comment '!'"),
        ("t.csv", "# a,b,y\nu,v,w\nu,v,w\nu,v,z\n", {}, r"may be comments or a header"),
        ("t.tsv", "!a\t1\n!b\t1\t2\nx\ty\n1\t2\n", {}, r"begin with '!'.*--comment '!'"),
        ("t.csv", "a,y\n1\0,5\n", {}, r"holds NUL bytes.*--encoding 'utf-16'"),
        ("t.csv", "a,y\n" + "p,1\n" * 30 + "p\0,1\n", {}, "column 'a' of .* holds NUL bytes"),
        ("t.csv", "#a,b\n", {}, "2 column names and no rows"),
        ("t.csv", "a,b,y\n1,2\n", {}, "3 column names, but 2 values"),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path, name, text, options, message):
    file = write(tmp_path, name, text)
    if message is None:
        read_table(file, "b;y")
        return
    with pytest.raises(InvalidInputError, match=message):
        read_table(file, "y", text=TextFormat(**options))


def test_numbers_that_may_be_labels(tmp_path):
    """What looks like a number with separators may be a label, if the user says so."""
    file = write(tmp_path, "t.tsv", "a\ty\n1,2\t0\n1,3\t1\n1,2\t1\n")
    assert read_table(file, "y", category="a").source.categories(0) == ["1,2", "1,3"]


@pytest.mark.parametrize(
    "above",
    [
        "# made by hand, on a Monday\n",
        "##fileformat=x\n##another=y,z\n#\n",
        "#\n\n# blank lines, too\n\n",
    ],
)
def test_comments_above_the_header(tmp_path, above):
    text = text_of(ROWS)
    check(read_table(write(tmp_path, "t.csv", above + text), "y"))
    check(read_table(write(tmp_path, "t.csv", above + text), "y", text=TextFormat(comment="#")))
    with_mark = above + "#" + text
    check(read_table(write(tmp_path, "t.csv", with_mark), "y"))
    check(read_table(write(tmp_path, "t.csv", with_mark), "y", text=TextFormat(comment="#")))
    if above.startswith("##"):
        above = above.removesuffix("#\n")
        with_mark = write(tmp_path, "t.csv", f"{above}#{text}")
        check(read_table(with_mark, "y", text=TextFormat(comment="##")))


def test_comments_anywhere(tmp_path):
    """GEO's series matrices have lines that begin with an exclamation mark, also at the end."""
    text = text_of(ROWS, "\t").replace("-2.25", "!note\n-2.25")
    text = '!Series\t"x"\n!Sample\ta\tb\tc\td\n!begin\n' + text + "!end\n"
    check(read_table(write(tmp_path, "t.txt", text), "y", text=TextFormat(comment="!")))


def test_a_header_of_words_only(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "#a,y\nu,p\nv,q\nu,q\n"), "y")
    assert names(table) == ["a"]
    table = read_table(write(tmp_path, "t.csv", "#,y\n1,p\n2,q\n3,q\n"), "y")
    assert names(table) == ["#"]
    file = write(tmp_path, "t.csv", '"#a",y\n1,p\n2,q\n3,q\n')
    assert names(read_table(file, "y")) == ["a"]


@pytest.mark.parametrize("na", [("?", "-99"), ["?", "-99", "- "]])
def test_missing_marks(tmp_path, na):
    text = "a,b,kind,y\n1,-99,?,0\n-99,2,p,1\n3,?,q,1\n-99.0,5,-99,1\n"
    table = read_table(write(tmp_path, "t.csv", text), "y", text=TextFormat(na=na))
    missing = np.isnan(values(table))
    assert missing.tolist() == [[False, True, True], [True, False, False],
                                [False, True, False], [True, False, True]]  # fmt: skip
    assert table.source.categories(2) == ["p", "q"]


def test_one_missing_mark_as_a_string(tmp_path):
    file = write(tmp_path, "t.csv", "a,y\n1,0\n-1,1\n2,1\n")
    assert np.isnan(values(read_table(file, "y", text=TextFormat(na="-1")))).sum() == 1
    assert np.isnan(values(read_table(file, "y"))).sum() == 0


def test_a_missing_mark_with_a_decimal_comma(tmp_path):
    file = write(tmp_path, "t.csv", "a;y\n1,5;0\n-99,9;1\nx,y;1\n")
    table = read_table(file, "y", text=TextFormat(decimal=",", na=["-99,9", "x,y"]))
    assert np.isnan(values(table)).ravel().tolist() == [False, True, True]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-8-sig"])
def test_encodings(tmp_path, encoding):
    text = text_of(ROWS).replace("kind", "Größe").replace("u,", "ü,")
    file = write(tmp_path, "t.csv", text, encoding)
    table = read_table(file, "y", text=TextFormat(encoding=encoding))
    assert names(table) == ["a", "b", "Größe"]
    assert table.source.categories(2) == ["v", "w", "ü"]
    if encoding in ("utf-16", "utf-8-sig"):
        assert names(read_table(file, "y")) == ["a", "b", "Größe"]
        other = TextFormat(encoding={"utf-16": "UTF16", "utf-8-sig": "UTF8"}[encoding])
        assert names(read_table(file, "y", text=other)) == names(table)
    else:
        with pytest.raises(InvalidInputError):
            read_table(file, "y")


def test_a_wrong_encoding_names_the_option(tmp_path):
    file = write(tmp_path, "t.csv", "Größe,y\n1,0\n2,1\n3,0\n", "latin-1")
    with pytest.raises(InvalidInputError, match=r"t\.csv is not UTF-8 text.*--encoding 'latin-1'"):
        read_table(file, "y")
    with pytest.raises(InvalidInputError, match=r"is not ascii text.*--encoding 'utf-8'"):
        read_table(file, "y", text=TextFormat(encoding="ascii"))
    odd = write(tmp_path, "o.csv", "a,y\n1,0\n")
    with pytest.raises(InvalidInputError, match=r"o\.csv is not utf-16 text"):
        read_table(odd, "y", text=TextFormat(encoding="utf-16"))


class TestCompressed:
    @pytest.fixture
    def content(self):
        zstandard = pytest.importorskip("zstandard")
        text = text_of([ROWS[0], *ROWS[1:] * 400]).encode()
        return zstandard.compress(text)

    def test_frames_follow_each_other(self, tmp_path):
        zstandard = pytest.importorskip("zstandard")
        file = tmp_path / "t.csv.zst"
        text = text_of(ROWS).encode()
        file.write_bytes(zstandard.compress(text[:20]) + zstandard.compress(text[20:]))
        check(read_table(file, "y"))
        with open_text(file) as stream:
            assert stream.read() == text.decode()

    @pytest.mark.parametrize("suffix", [".gz", ".zst"])
    def test_a_file_cut_anywhere(self, tmp_path, content, suffix):
        if suffix == ".gz":
            content = gzip.compress(text_of([ROWS[0], *ROWS[1:] * 400]).encode())
        file = tmp_path / f"t.csv{suffix}"
        for size in (3, 10, len(content) // 2, len(content) - 1):
            file.write_bytes(content[:size])
            with pytest.raises(InvalidInputError, match=r"t\.csv\.\w+ .*check that it is complete"):
                read_table(file, "y")

    def test_a_damaged_file(self, tmp_path, content):
        file = tmp_path / "t.csv.zst"
        file.write_bytes(b"no frame" + content)
        with pytest.raises(InvalidInputError, match=r"t\.csv\.zst cannot be read"):
            read_table(file, "y")

    def test_the_extra_is_named(self, tmp_path, content, monkeypatch):
        file = tmp_path / "t.csv.zst"
        file.write_bytes(content)
        monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
        with pytest.raises(MissingExtraError, match=r"hsiclasso\[zstd\]"):
            read_table(file, "y")


def test_options_of_text_have_no_meaning_elsewhere(tmp_path):
    file = tmp_path / "t.npz"
    np.savez(file, X=np.eye(4), y=np.arange(4))
    for text in (TextFormat(na="?"), TextFormat(transpose=True)):
        with pytest.raises(InvalidInputError, match=r"t\.npz is an NPZ archive, and options of"):
            read_table(file, "y", text=text)


class TestTransposed:
    TEXT = "gene\ts1\ts2\ts3\ts4\nTP53\t1\t2\t3.5\t4\nEGFR\t5\t6\t7\t8\nage\t30\t40\t50\t20\n"
    TURN = TextFormat(transpose=True)

    @pytest.fixture(params=["numbers", "words", "gap"])
    def file(self, request, tmp_path):
        """The same table, alone or with a row of words or a missing value beside it."""
        more = {"numbers": "more\t1\t1\t1\t1\n", "words": "more\tx\ty\tx\tx\n",
                "gap": "more\t1\tNA\t1\t\n"}  # fmt: skip
        return write(tmp_path, "t.tsv", self.TEXT + more[request.param])

    def test_rows_are_features(self, file):
        table = read_table(file, "age", text=self.TURN, drop="more")
        assert names(table) == ["TP53", "EGFR"]
        assert values(table).T.tolist() == [[1, 2, 3.5, 4], [5, 6, 7, 8]]
        assert table.y.tolist() == [30, 40, 50, 20]
        assert table.source.ids == ["s1", "s2", "s3", "s4"]

    def test_columns_may_be_dropped(self, file):
        table = read_table(file, (), text=self.TURN, drop=["more", "s2"])
        assert table.source.ids == ["s1", "s3", "s4"]
        assert values(table).T.tolist()[0] == [1, 3.5, 4]

    @pytest.mark.parametrize("more", ["", "more\tm\tx\ty\tx\n"])
    def test_the_first_column_that_is_left_has_the_names(self, tmp_path, more):
        file = write(tmp_path, "t.tsv", self.TEXT + more)
        table = read_table(file, (), text=self.TURN, drop="gene", category="5")
        assert names(table)[:3] == ["1", "5", "30"]
        assert table.source.categories(1) == ["6", "7", "8"]

    def test_words_and_gaps(self, tmp_path):
        text = self.TEXT + "state\tx\ty\tx\tx\nw\t1\tNA\t\t2\n"
        file = write(tmp_path, "t.tsv", text)
        table = read_table(file, "state", text=self.TURN)
        assert table.y.tolist() == ["x", "y", "x", "x"]
        assert np.isnan(values(table)[:, 3]).tolist() == [False, True, True, False]

    def test_decimal_commas_and_missing_marks(self, tmp_path):
        text = self.TEXT.replace("3.5", "3,5").replace("20", "-9").replace("\t", ";")
        for more in ("", "b;u;v;u;u\n"):
            file = write(tmp_path, "t.csv", text + more)
            table = read_table(file, (), text=TextFormat(transpose=True, na="-9", decimal=","))
            assert values(table)[2, 0] == 3.5
            assert np.isnan(values(table)[3, 2])

    def test_a_header_without_the_first_name(self, tmp_path):
        file = write(tmp_path, "t.tsv", self.TEXT.replace("gene\t", "", 1))
        table = read_table(file, "age", text=self.TURN)
        assert table.source.ids == ["s1", "s2", "s3", "s4"]

    def test_the_same_selection_as_the_table_itself(self, tmp_path, rng):
        X = rng.standard_normal((40, 30)).round(3)
        y = X[:, 3] + X[:, 8] ** 2
        table = np.column_stack([X, y]).astype(str)
        header = [f"g{j}" for j in range(30)] + ["y"]
        plain = write(tmp_path, "p.csv", text_of([header, *table.tolist()]))
        rows = [[name, *column] for name, column in zip(header, table.T.tolist(), strict=True)]
        turned = write(tmp_path, "t.csv", text_of([["gene", *(f"s{i}" for i in range(40))], *rows]))
        one = HSICLasso(3).fit(plain, "y")
        two = HSICLasso(3).fit(read_table(turned, "y", text=self.TURN))
        assert one.result_.names == two.result_.names
        np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-12)

    @pytest.mark.parametrize(
        ("more", "options", "message"),
        [
            ("bad\t1\t2\tx\t4\n", {}, r"'bad' holds 'x' in sample 's3', but most"),
            ("bad\t1_0\t2\t3\t4\n", {}, r"'bad' holds '1_0' in sample 's1'"),
            ("bad\t1\t2\t3\n", {}, "4 values in data row 4, but 5 columns"),
            ("bad\tx\ty\tz\n", {}, "4 values in data row 4, but 5 columns"),
            ("w\tx\ty\tz\tu\nbad\tx\n", {}, "2 values in data row 5, but 5 columns"),
            ("TP53\t1\t2\t3\t4\n", {}, r"several columns named 'TP53'.*--duplicates mean"),
            ("\t1\t2\t3\t4\n", {}, "has no name"),
            ("", {"target": "agee"}, "did you mean 'age'"),
            ("", {"id": "gene"}, "id names 'gene', but where rows are features"),
            ("", {"drop": ["s1", "s2", "s3", "s4"]}, "no column left for samples"),
            ("", {"drop": ["s9"]}, "drop names 's9'"),
        ],
    )
    def test_what_is_refused(self, tmp_path, more, options, message):
        file = write(tmp_path, "t.tsv", self.TEXT + more)
        with pytest.raises(InvalidInputError, match=message):
            read_table(file, **({"target": "age"} | options), text=self.TURN)

    def test_a_hint_at_rows_that_are_features(self, tmp_path):
        file = write(tmp_path, "t.tsv", self.TEXT)
        with pytest.raises(InvalidInputError, match=r"'age' is a row of .*--transpose"):
            read_table(file, "age")
        with pytest.raises(InvalidInputError, match=r"'height', the target, is not a column of"):
            read_table(file, "height")
        tall = self.TEXT + "".join(f"g{i}\t1\t2\t3\t4\n" for i in range(40))
        file = write(tmp_path, "t.tsv", tall)
        with pytest.raises(InvalidInputError, match=r"41 more look like features.*--transpose"):
            read_table(file, "height")
        file = write(tmp_path, "t.txt", tall.replace("\t", "  "))
        with pytest.raises(InvalidInputError, match=r"look like features.*--transpose"):
            read_table(file, "height")


PIECES = [*',;\t"\n\r#!', "\0", "NA", "1,5", "1.5", "1e999", "-9", "_", "sep=;\n", "\ufeff", "ä"]


@given(st.lists(st.tuples(st.integers(0, 60), st.sampled_from(PIECES)), max_size=4), st.data())
def test_damaged_text_is_read_or_refused_in_our_words(tmp_path_factory, pieces, data):
    """No error of another library comes through, and every error names the file."""
    text = data.draw(st.sampled_from([text_of(ROWS), text_of(ROWS, ";", ","), text_of(ROWS, "\t")]))
    for place, piece in pieces:
        text = text[:place] + piece + text[place:]
    options = data.draw(
        st.builds(
            TextFormat,
            comment=st.sampled_from([None, "#"]),
            na=st.sampled_from([(), "-9"]),
            encoding=st.sampled_from([None, "latin-1", "utf-16"]),
            transpose=st.booleans(),
        )
    )
    file = write(tmp_path_factory.mktemp("text"), "t.csv", text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            table, message = read_table(file, (), text=options), str(file)
        except InvalidInputError as error:
            table, message = None, str(error)
    assert str(file) in message
    assert table is None or values(table).shape[0] == table.source.n_samples


def test_names_too_long_for_one_cell(tmp_path):
    """Many columns, with a comma in the first name, though tabs separate them."""
    names_ = [f"g{j}," if j == 0 else f"g{j}" for j in range(30_000)]
    rows = [names_, *(["1"] * 30_000 for _ in range(3))]
    table = read_table(write(tmp_path, "t.csv", text_of(rows, "\t")), "g7")
    assert table.source.n_features == 29_999
