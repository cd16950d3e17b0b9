"""``hsiclasso compare``, from the file to the terminal and to files."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

pytest.importorskip("click")

import hsiclasso.baselines
from hsiclasso import Auto, Diffusion, Graph, Real, Survival
from hsiclasso.baselines import METHODS, Comparison, compare
from hsiclasso.baselines.comparison import Outcome
from hsiclasso.cli.compare import _METHODS
from hsiclasso.data.files import read_table
from tests.cli.helpers import N, drop, fail, run, succeed, write

QUICK = ("hsic_lasso", "nocco_lasso")
BASIC = ("-t", "risk", *drop("risk", "sex"), "-k", 3, "--methods", ",".join(QUICK))
FOUND = Comparison(
    (
        Outcome("a", "First", ("lab2", "east"), (2, 7), (0.5, 0.1), 0.25, 0.125),
        Outcome("b", "Second", ("lab3", "lab2"), (3, 2), (0.5, 0.1), 1.5),
        Outcome("c", "Third", skipped="y is text: encode it."),
        Outcome("d", "Fourth", skipped="y is text: leave it."),
    ),
    90,
    9,
    2,
)


@pytest.fixture
def calls(monkeypatch):
    """Return the calls of `compare`, which finds the same in any table."""
    made = []

    def find(*data, **options):
        options["report"]("methods", 1, 4)
        options["report"]("First: scores", 0, 0)
        made.append((*data, options))
        return FOUND

    monkeypatch.setattr(hsiclasso.baselines, "compare", find)
    return made


def test_methods_of_the_help_are_those_of_the_registry():
    assert tuple(METHODS) == _METHODS
    words = " ".join(run("compare", "--help-all").stdout.split())
    assert f"{', '.join(METHODS)}. [default: all]" in words


def test_the_command_finds_what_compare_finds(table):
    read = read_table(table, "risk", drop=[*drop("risk", "sex")[1::2]])
    found = compare(read.source, read.y, 3, methods=QUICK, options={"target": Auto()})
    document = json.loads(succeed("compare", table, *BASIC, "--json").stdout)
    assert [o["features"] for o in document["outcomes"]] == [
        list(o.features) for o in found.outcomes
    ]
    assert all(o["skipped"] == "" for o in document["outcomes"])


@pytest.mark.parametrize(
    ("arguments", "target", "shape"),
    [
        (("-t", "risk", "--kind", "real", "--transform", "rank"), Real(transform="rank"), (N,)),
        (("-t", "risk", "-t", "lab0", "--outputs", "average"), Auto(outputs="average"), (N, 2)),
        (("--survival", "months", "died"), Survival(), (N, 2)),
        (("--graph", "A.npy", "--beta", 2), Graph(Diffusion(2.0)), (N, N)),
    ],
)
def test_what_the_methods_get(table, tmp_path, monkeypatch, calls, arguments, target, shape):
    monkeypatch.chdir(tmp_path)
    np.save("A.npy", np.ones((N, N)) - np.eye(N))
    succeed("compare", table, *arguments, *drop("risk", "months", "died"), "--category", "site")
    (source, y, k, options) = calls[0]
    assert y.shape == shape
    assert k == 10
    assert source.kind([source.name(j) for j in range(source.n_features)].index("site")) != "number"
    assert options["options"] == {"target": target}
    assert options["methods"] == list(METHODS)
    assert options["random_state"] == 0  # the same table gives the same answer


class TestPrinting:
    def test_methods_and_votes(self, table, calls):
        result = succeed("compare", table, *BASIC)
        lines = [line.split() for line in result.stdout.splitlines()]
        assert ["a", "First", "0.25", "0.12", "lab2,", "east"] in lines
        assert ["b", "Second", "1.50", "-", "lab3,", "lab2"] in lines
        assert ["lab2", "2", "1.5", "1", "2"] in lines
        assert ["lab3", "1", "1.0", "-", "1"] in lines
        assert "Third, Fourth left out: y is text" in result.stdout
        assert result.stdout.splitlines()[-1].startswith(
            "90 samples x 9 columns. 2 of 4 methods ran, each for 2 features: 3 in all. "
        )
        assert result.stderr == ""
        quiet = succeed("compare", table, *BASIC, "-q").stdout
        assert result.stdout.startswith(quiet)
        assert "methods ran" not in quiet

    def test_lines_fit_the_terminal(self, table, calls, monkeypatch):
        long = tuple(f"a rather long name of [bold]{j}[/bold]" for j in range(20))
        many = Comparison((Outcome("a", "First", long), Outcome("b", "Second")), 90, 30, 20)
        monkeypatch.setattr("hsiclasso.baselines.compare", lambda *_, **__: many)
        for width in (60, 80, 120):
            out = succeed("compare", table, *BASIC, "-q", COLUMNS=str(width)).stdout
            assert max(map(len, out.splitlines())) <= width
            assert " more" in out
        wide = succeed("compare", table, *BASIC, COLUMNS="1000").stdout
        assert ", ".join(long) in wide
        assert "20 in all, of which 15 are shown." in wide

    def test_progress_is_for_terminals_only(self, table, calls):
        shown = succeed("compare", table, *BASIC, FORCE_COLOR="1").stderr
        assert "Methods" in shown
        assert "First: scores" in shown
        for flag in ("--quiet", "--json"):
            assert succeed("compare", table, *BASIC, flag, FORCE_COLOR="1").stderr == ""


class TestFiles:
    def test_text_json_and_figure(self, tmp_path, table, calls):
        pytest.importorskip("matplotlib")
        files = {name: tmp_path / name for name in ("found.csv", "found.json", "ranks.svg")}
        for option, name in zip(("--out", "--out", "--plot"), files, strict=True):
            result = succeed("compare", table, *BASIC, option, files[name])
            assert f"Written: {files[name]}" in result.stdout
        with files["found.csv"].open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        assert rows[0] == {
            "method": "a", "rank": "1", "name": "lab2", "index": "2", "score": "0.5",
        }  # fmt: skip
        assert json.loads(files["found.json"].read_text(encoding="utf-8"))["n_requested"] == 2
        assert "Second" in files["ranks.svg"].read_text(encoding="utf-8")

    def test_are_checked_before_reading(self, table, tmp_path, monkeypatch):
        monkeypatch.setattr("hsiclasso.data.files.read_table", None)
        matrix = tmp_path / "K.csv"
        matrix.write_text("1,0\n0,1\n")
        message = fail("compare", table, "--affinity", matrix, "--out", matrix)
        assert "would overwrite it" in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--methods mrmrr", "'mrmrr' is unknown"),
        ("-k 0", "-k 0 must be a whole number >= 1."),
        ("--survival a b", "--target and --survival both say what to explain"),
        ("--kind counts --transform rank", "--transform has no meaning for --kind counts"),
        ("--target-kernel rbf", "--target-kernel rbf is unknown"),
        ("--missing ignore", "No such option"),
    ],
)
def test_what_breaks_a_rule_is_refused_before_reading(tmp_path, arguments, message):
    # were the file looked at, the error would be that it is not there
    assert message in fail("compare", tmp_path / "no.csv", "-t", "y", *arguments.split())


def test_a_table_that_no_method_can_serve(tmp_path, columns):
    file = write(tmp_path / "gaps.csv", columns, lab1={0: ""})
    message = fail("compare", file, *BASIC)
    assert "none of the 2 methods can run" in message
    assert "column 'lab1'" in message
    assert "--missing ignore" not in message


def test_a_report(tmp_path, table):
    file = tmp_path / "methods.html"
    succeed("compare", table, *BASIC, "--report", file)
    text = file.read_text(encoding="utf-8")
    assert "Methods compared for risk" in text
    assert f"hsiclasso compare {table}" in text
    assert "one of .html, .htm" in fail("compare", table, *BASIC, "--report", tmp_path / "x.txt")
