"""Standard input as the table."""

from __future__ import annotations

import gzip
import tempfile

import pytest

pytest.importorskip("click")
from click.testing import CliRunner

from hsiclasso.cli.app import app
from tests.cli.helpers import NO_TERMINAL, drop, fail, succeed

BASIC = ("-t", "risk", *drop("risk"), "-k", "3", "--json")


def piped(content, *options, command="select"):
    return CliRunner(env=NO_TERMINAL).invoke(app, [command, "-", *options], input=content)


@pytest.fixture
def whole(table):
    return succeed("select", table, *BASIC).stdout


@pytest.mark.parametrize("sep", [",", ";", "\t"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_text_is_read_as_from_a_file(table, whole, sep, pack):
    text = table.read_text().replace(",", sep)
    assert piped(pack(text.encode()), *BASIC).stdout == whole


def test_other_formats(table, whole, tmp_path):
    zstandard = pytest.importorskip("zstandard")
    packed = zstandard.ZstdCompressor().compress(table.read_bytes())
    assert piped(packed, *BASIC).stdout == whole
    pytest.importorskip("pyarrow")
    import pandas as pd

    frame = pd.read_csv(table)
    frame["smoker"] = frame["smoker"].astype(bool)
    frame.to_parquet(tmp_path / "t.parquet")
    expected = succeed("select", tmp_path / "t.parquet", *BASIC).stdout
    assert piped((tmp_path / "t.parquet").read_bytes(), *BASIC).stdout == expected


def test_nothing_is_left_behind(table, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert piped(table.read_bytes(), *BASIC).exit_code == 0
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "standard input is empty (0 bytes)"),
        (b"risk,a\n" + 30 * b"1,2\n" + b"2,3,4\n", "standard input has 3 values in data row 31"),
        (b"a,b\n1,2\n2,4\n4,3\n", "'risk'"),
    ],
)
def test_errors_name_standard_input(content, message):
    result = piped(content, "-t", "risk")
    assert result.exit_code == 2
    assert message in result.stderr
    assert "stdin.txt" not in result.stderr


def test_other_commands(table, tmp_path):
    content = table.read_bytes()
    options = ("-t", "risk", *drop("risk"))
    expected = succeed("test", table, *options, "--json").stdout
    assert piped(content, *options, "--json", command="test").stdout == expected
    message = fail("split", "-", tmp_path / "job", "--parts", 2, "-t", "risk")
    assert message == "Error: FILE - is standard input, but every part reads FILE: store it."


def test_a_report_names_it(table, tmp_path):
    report = tmp_path / "page.html"
    assert piped(table.read_bytes(), *BASIC, "--report", str(report)).exit_code == 0
    assert "standard input" in report.read_text(encoding="utf-8")
