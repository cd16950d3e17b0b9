"""Tables in terminals of any width, and results in files of any format."""

from __future__ import annotations

import io
import json
import logging
import re

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("click")
from hsiclasso.cli import terminal
from hsiclasso.cli.columns import fitted_table, numbers, words
from hsiclasso.cli.console import make_console, plain
from tests.cli.helpers import drop, fail, select, succeed, write

BASIC = ("-t", "risk", *drop("risk"), "-k", 3)


def printed(table, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    console = make_console()
    with console.capture() as capture:
        console.print(table)
    return capture.get()


@pytest.fixture
def wide():
    return [
        words("feature", [plain("a_rather_long_name_of_a_feature"), plain("b")]),
        numbers("weight", ["0.25", "0.5"]),
        numbers("relevance", ["1.5", "2.5"], 2),
        words("similar features", [plain("c (0.9), d (0.8)"), plain("-")], 3),
    ]


@pytest.mark.parametrize(
    ("width", "hidden"),
    [(100, []), (45, []), (40, ["similar features"]), (24, ["relevance", "similar features"])],
)
def test_the_least_important_columns_go_first(wide, width, hidden, monkeypatch):
    out = printed(fitted_table_of(wide, width, monkeypatch), monkeypatch, width)
    assert max(map(len, out.splitlines())) <= width
    flat = " ".join(out.split())
    assert ("No room for: " + ", ".join(hidden) in flat) == bool(hidden)
    assert all(title in flat for title in ("feature", "weight", "0.25"))
    assert "".join(out.split()).count("0.5") == 1
    letters = "".join(line[:20] for line in out.splitlines()).replace(" ", "")
    assert width < 45 or "a_rather" in letters


def fitted_table_of(columns, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    return fitted_table(columns)


@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize(
    "options",
    [
        (), ("--neighbors", 3), ("--weights", "w", "--keep", "east"), ("--stability", 4),
        ("--fdr", 0.5),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_selected_fits(table, options, width):
    used = ("risk", "w") if "w" in options else ("risk",)
    number = () if "--fdr" in options else ("-k", 3)
    words_ = ("select", table, "-t", "risk", *drop(*used), *number, *options, "-q")
    out = succeed(*words_, COLUMNS=str(width)).stdout
    assert max(map(len, out.splitlines())) <= width
    assert "weight" in out
    assert "lab2" in out


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("command", ["test", "compare"])
def test_other_tables_fit(table, command, width):
    options = ["-t", "risk", *drop("risk"), "--drop", "sex", "--drop", "smoker", "-q"]
    options += ["-k", 3, "--methods", "lasso,mrmr,mi_ranking", "--cv", 2] * (command == "compare")
    out = succeed(command, table, *options, COLUMNS=str(width)).stdout
    assert max(map(len, out.splitlines())) <= width
    assert "lab2" in out


def test_neighbours_are_for_those_who_ask(table):
    assert "similar features" not in succeed("select", table, *BASIC).stdout
    assert all(not one["neighbours"] for one in select(table, *BASIC)["features"])
    out = succeed("select", table, *BASIC, "--neighbors", 2).stdout
    assert "similar features" in out
    assert any("lab2" in line and "lab3 (1.00)" in line for line in out.splitlines())


class TestClasses:
    def test_which_class_a_feature_speaks_for(self, table):
        options = ("-t", "grade", "--kind", "classes", *drop("grade"), "-k", 3)
        found = select(table, *options)
        out = succeed("select", table, *options).stdout
        assert "speaks for" in out
        for one in found["features"]:
            assert list(one["classes"]) == ["0", "1", "2"]
            best = max(one["classes"], key=one["classes"].get)
            share = max(one["classes"].values()) / one["relevance"]
            assert any(
                f" {one['name']} " in line and f" {best} {share:.0%} " in line
                for line in out.splitlines()
            )
        assert "speaks for" not in succeed("select", table, *BASIC).stdout


class TestFolds:
    OPTIONS = ("-t", "risk", *drop("risk"), "--cv", 3)

    def test_the_number_is_that_of_cross_validation(self, table):
        from hsiclasso import HSICLasso, HSICLassoCV
        from hsiclasso.data.files import read_table

        data = read_table(table, "risk", drop=drop("risk")[1::2])
        search = HSICLassoCV(HSICLasso(), cv=3).fit(data)
        document = select(table, *self.OPTIONS)
        assert [one["name"] for one in document["features"]] == list(search.selector_.result_.names)
        assert document["validation"] == json.loads(json.dumps(search.scores_.to_dict()))
        out = succeed("select", table, *self.OPTIONS).stdout
        assert search.scores_.message in " ".join(out.split())

    def test_targets_without_a_usual_model(self, table):
        options = ("--survival", "months", "died", *drop("months", "died"))
        for command in (("select",), ("compare", "--methods", "hsic_lasso", "-k", 3)):
            message = fail(command[0], table, *options, "--cv", 3, *command[1:])
            assert message.endswith("times and events of another form: leave --cv out.")

    def test_rows_without_a_target_are_left_out(self, tmp_path, columns):
        file = write(tmp_path / "gaps.csv", columns, risk={3: "", 40: "NA"})
        document = select(file, *self.OPTIONS, "--missing-target", "drop")
        assert document["data"]["n_dropped"] == 2

    def test_k_is_the_most_that_is_tried(self, table):
        document = select(table, *self.OPTIONS, "-k", 4)
        assert document["validation"]["sizes"] == [1, 2, 3, 4]

    def test_with_stability_weights_and_a_report(self, table, tmp_path):
        page = tmp_path / "page.html"
        document = select(table, *self.OPTIONS, "--stability", 4, "--report", page)
        assert document["features"][0]["frequency"] is not None
        assert "Cross-validation in 3 folds" in page.read_text(encoding="utf-8")
        weighted = ("-t", "risk", *drop("risk", "w"), "--cv", 3, "--weights", "w")
        assert select(table, *weighted)["method"]["weighted"]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--cv", 1), "--cv 1 must be at least 2 folds"),
            (("--cv", 3, "--fdr", 0.1), "--fdr has no meaning with --cv, which finds out how"),
            (("--cv", 3, "--alpha", "bic"), "--alpha has no meaning with --cv"),
            (("--cv", 3, "-k", "auto"), "-k auto has no meaning with --cv"),
            (("--cv", 3, "-k", 99), "-k 99 is greater than n_features=9: ask for fewer."),
        ],
    )
    def test_what_contradicts_it(self, table, options, message):
        assert message in fail("select", table, "-t", "risk", *drop("risk"), *options)


class TestFormats:
    def test_parquet(self, table, tmp_path):
        pytest.importorskip("pyarrow")
        out = tmp_path / "found.parquet"
        succeed("select", table, *BASIC, "--out", out)
        succeed("select", table, *BASIC, "--out", tmp_path / "found.csv")
        expected = pd.read_csv(tmp_path / "found.csv", keep_default_na=False)
        found = pd.read_parquet(out)
        assert list(found.columns) == list(expected.columns)
        assert found["name"].tolist() == expected["name"].tolist()
        np.testing.assert_allclose(found["weight"], expected["weight"])
        document = select(table, *BASIC)
        assert found["relevance"].tolist() == [one["relevance"] for one in document["features"]]

    def test_a_workbook_whose_names_are_no_formulas(self, columns, tmp_path):
        openpyxl = pytest.importorskip("openpyxl")
        odd = '=HYPERLINK("http://x")'
        kept = {name: columns[name] for name in ("lab0", "lab1", "risk")}
        file = write(tmp_path / "t.csv", kept | {odd: columns["lab2"]})
        out = tmp_path / "found.xlsx"
        succeed("select", file, "-t", "risk", "-k", 3, "--out", out)
        header, *rows = openpyxl.load_workbook(out).active.iter_rows()
        place = [cell.value for cell in header].index("name")
        cell = rows[0][place]
        assert (cell.value, cell.data_type) == (odd, "s")
        weight = [cell.value for cell in header].index("weight")
        found = select(file, "-t", "risk", "-k", 3)["features"]
        expected = [one["weight"] for one in found]
        np.testing.assert_allclose([row[weight].value for row in rows], expected, rtol=1e-14)

    def test_a_missing_package_is_named_before_the_work(self, table, tmp_path, monkeypatch):
        import hsiclasso.errors

        def missing(module, extra):
            raise hsiclasso.errors.MissingExtraError(f"{module}: pip install 'hsiclasso[{extra}]'")

        monkeypatch.setattr(hsiclasso.errors, "require", missing)
        monkeypatch.setattr("hsiclasso.cli.select.read", lambda *_: pytest.fail("it was read"))
        message = fail("select", table, *BASIC, "--out", tmp_path / "found.xlsx")
        assert message == "Error: openpyxl: pip install 'hsiclasso[excel]'"

    @pytest.mark.parametrize("suffix", [".parquet", ".xlsx"])
    @pytest.mark.parametrize("command", ["test", "compare"])
    def test_other_commands(self, table, tmp_path, command, suffix):
        pytest.importorskip("pyarrow" if suffix == ".parquet" else "openpyxl")
        out = tmp_path / f"found{suffix}"
        options = ["-t", "risk", *drop("risk"), "--out", out]
        options += ["--methods", "hsic_lasso", "-k", 2] * (command == "compare")
        succeed(command, table, *options)
        read = pd.read_parquet if suffix == ".parquet" else pd.read_excel
        assert "name" in read(out).columns


class TestTerminal:
    def test_lines_break_between_words_in_terminals_only(self, table):
        whole = succeed("select", table, *BASIC, COLUMNS="50").stdout
        assert any(len(line) > 100 for line in whole.splitlines())
        broken = succeed("select", table, *BASIC, COLUMNS="50", FORCE_COLOR="1").stdout
        lines = re.sub(r"\x1b\[[\d;]*m", "", broken).splitlines()
        assert max(map(len, lines)) <= 50
        assert " ".join(whole.split()) == " ".join(" ".join(lines).split())

    def test_compilation_is_a_stage(self, monkeypatch):
        log = logging.getLogger("hsiclasso")
        monkeypatch.setenv("FORCE_COLOR", "1")
        stream = io.StringIO()
        monkeypatch.setattr("sys.stderr", stream)
        with terminal.progress_bar(wanted=True) as report:
            report("read", 1, 1)
            log.warning("Compiling", extra={"stage": "compile"})
            report("relevance", 1, 2)
            log.warning("50% of the store was read twice")
        assert "50% of the store was read twice" in stream.getvalue()
        assert "Compiling, first run only" in stream.getvalue()
        assert log.handlers == []
        with terminal.progress_bar(wanted=False):
            assert log.handlers == []
