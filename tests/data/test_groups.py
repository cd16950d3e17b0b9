"""Files that say which group each feature belongs to."""

from __future__ import annotations

import pytest

from hsiclasso import InvalidInputError
from hsiclasso.data.groups import read_groups

EXPECTED = {"TP53": "apoptosis", "EGFR": "growth", "MYC": "growth"}
ROWS = [("gene", "pathway"), *EXPECTED.items()]


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file and returns its path."""

    def write(name, content, encoding="utf-8"):
        file = tmp_path / name
        file.write_text(content, encoding=encoding, newline="")
        return file

    return write


def lines(rows, delimiter=",", end="\n"):
    return "".join(delimiter.join(row) + end for row in rows)


@pytest.mark.parametrize(
    ("name", "delimiter"), [("g.csv", ","), ("g.tsv", "\t"), ("g.txt", "\t"), ("G.CSV", ",")]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["unix", "windows"])
def test_formats(write, name, delimiter, end):
    file = write(name, lines(ROWS, delimiter, end))
    assert read_groups(file) == read_groups(str(file)) == EXPECTED
    assert list(read_groups(file)) == list(EXPECTED)


def test_a_byte_order_mark(write):
    assert read_groups(write("g.csv", lines(ROWS), encoding="utf-8-sig")) == EXPECTED


def test_blank_lines_and_blanks_around_cells(write):
    text = "\ngene,pathway\n\n TP53 , apoptosis\n\n\nEGFR,growth\nMYC,growth \n\n"
    assert read_groups(write("g.csv", text.lstrip())) == EXPECTED


def test_no_newline_at_the_end(write):
    assert read_groups(write("g.csv", lines(ROWS).rstrip())) == EXPECTED


def test_further_columns_are_not_looked_at(write):
    rows = [(*row, "chr17", "") for row in ROWS]
    assert read_groups(write("g.csv", lines(rows))) == EXPECTED


def test_quoted_cells(write):
    text = 'gene,pathway\n"a,b","growth, fast"\n"say ""hi""",other\n'
    groups = read_groups(write("g.csv", text))
    assert groups == {"a,b": "growth, fast", 'say "hi"': "other"}


def test_names_in_any_script(write):
    assert read_groups(write("g.tsv", "gene\tgroup\nβ-катенин\tсигнал\n")) == {
        "β-катенин": "сигнал"
    }


def test_a_feature_may_be_repeated_in_its_group(write):
    rows = [*ROWS, ("MYC", "growth")]
    assert read_groups(write("g.csv", lines(rows))) == EXPECTED


BAD = {
    "suffix": (
        "g.xlsx",
        lines(ROWS),
        r"has the suffix '\.xlsx', and .* one of \.csv, \.tsv, \.txt",
    ),
    "no suffix": ("groups", lines(ROWS), "has the suffix ''"),
    "empty": ("g.csv", "", "names no feature: write a line of column names"),
    "names of columns alone": ("g.csv", "gene,pathway\n", "names no feature"),
    "blank lines alone": ("g.csv", "gene,pathway\n\n\n", "names no feature"),
    "two groups": (
        "g.csv",
        lines([*ROWS, ("MYC", "repair")]),
        "line 5: 'MYC' is in 'growth' and in 'repair', but a feature belongs to one group",
    ),
    "no group": ("g.csv", lines([*ROWS, ("KRAS", "")]), "line 5: .* has no feature or no group"),
    "no feature": ("g.csv", lines([*ROWS, (" ", "growth")]), "line 5: .* has no feature or no"),
    "one cell": ("g.csv", "gene,pathway\nTP53\n", r"line 2: \['TP53'\] has no feature or no group"),
    "blanks alone": (
        "g.csv",
        "gene,pathway\nTP53,a\n  \n",
        "line 3: .* has no feature or no group",
    ),
    "wrong delimiter": ("g.tsv", lines(ROWS), "line 2: .* has no feature or no group"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_files(kind, write):
    name, content, message = BAD[kind]
    file = write(name, content)
    with pytest.raises(InvalidInputError, match=message) as error:
        read_groups(file)
    assert str(file) in str(error.value)


def test_a_file_that_does_not_exist(tmp_path):
    with pytest.raises(InvalidInputError, match=r"g\.csv does not exist: check the spelling"):
        read_groups(tmp_path / "g.csv")


def test_a_folder(tmp_path):
    (tmp_path / "g.csv").mkdir()
    with pytest.raises(InvalidInputError, match="is a folder, not a file"):
        read_groups(tmp_path / "g.csv")


def test_bytes_that_are_no_text(tmp_path):
    file = tmp_path / "g.csv"
    file.write_bytes(b"gene,pathway\n\xff\xfe\x00,a\n")
    with pytest.raises(InvalidInputError, match="cannot be read as UTF-8 text"):
        read_groups(file)


def test_a_field_without_end(write):
    text = 'gene,pathway\n"' + "x" * 200_000 + '",a\n'
    with pytest.raises(InvalidInputError, match=r"cannot be read as UTF-8 text .*field larger"):
        read_groups(write("g.csv", text))
