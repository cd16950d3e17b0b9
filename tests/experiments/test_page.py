"""The page: means worked out by hand, and nothing touched but what is between the marks."""

from __future__ import annotations

import math

import pytest

from experiments.classification import GAUSSIAN_OUTPUT, at_epsilon, at_width
from experiments.markdown import fill, marks, number, seconds, table
from experiments.page import BLOCKS, write_page
from experiments.redundancy import ACROSS
from experiments.tidy import Task, TidyFile, rows_of


@pytest.fixture
def file(tmp_path):
    return TidyFile(tmp_path / "paper.csv.gz")


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "README.md"
    parts = "".join("text before {}\n\n{}\n{}\n\n".format(n, *marks(n)) for n in BLOCKS)
    path.write_text(f"# Title\n\n{parts}the end — ü\n", encoding="utf-8")
    return path


def add(file, study, data, method, values, run=0, n=80, d=1000):
    file.add(rows_of(Task(study, data, method, n, d, run), run, values))


def judged(file, study, data, method, runs):
    """Runs as (accuracy at m = 50, redundancy rate); accuracy at m = 10 is half as large."""
    for run, (accuracy, red) in enumerate(runs):
        values = [(10, "accuracy", accuracy / 2), (50, "accuracy", accuracy), (10, "red", 0.9),
                  (50, "red", red), (50, "seconds", 2.5), (50, "selected", 50)]  # fmt: skip
        add(file, study, data, method, values, run)


def rows(file, block):
    """Cells of the tables of a block."""
    lines = [line for line in BLOCKS[block](file) if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def text(file, block):
    return "\n".join(BLOCKS[block](file))


def test_numbers_have_no_leading_zero():
    values = [0.9456, 1.0, 0.0, -0.25, 0.9996, -0.0001, math.nan, 10.5]
    assert [number(v) for v in values] == [
        ".946", "1.000", ".000", "-.250", "1.000", ".000", "---", "10.500",
    ]  # fmt: skip
    assert number(0.01234, 4) == ".0123"


def test_seconds_have_two_figures():
    assert [seconds(v) for v in (0.0123, 1.25, 9.87, 123.4, math.nan)] == [
        "0.012", "1.2", "9.9", "123", "---",
    ]  # fmt: skip


def test_a_table_has_as_many_columns_in_its_rule():
    assert table(["a", "b"], [[1, 2]]) == ["| a | b |", "|---|:-:|", "| 1 | 2 |", ""]


def test_table_3_has_ours_beside_the_printed_numbers_and_a_verdict(file):
    judged(file, "tables", "warpAR10P", "HSIC Lasso", [(0.9, 0.2), (1.0, 0.3)])
    judged(file, "tables", "warpAR10P", "SpAM", [(0.8, 0.2), (0.8, 0.3), (0.5, 0.3)])
    judged(file, "tables", "warpPIE10P", "HSIC Lasso", [(0.6, 0.2), (0.7, 0.3)])
    # others of the paper's protocol, which the table does not show, and whose runs do not count
    for data in ("warpAR10P", "warpPIE10P", "TOX_171"):
        judged(file, "tables", data, "MI", [(0.5, 0.2)] * 4)
    found = rows(file, "table3")
    # mean .95, sd .0707; (.95 - .848) / .111 = .92 and (.7 - .551) / .109 = 1.37
    assert found[2][:5] == ["AR10P", "ours", ".950 (.071)", "---", ".700 (.173; 3)"]
    assert found[3][:5] == ["", "printed", ".848 (.111)", ".846 (.111)", ".551 (.109)"]
    assert found[4][:5] == ["", "verdict", "within (+0.9)", "---", "**above by 1.4**"]
    # (.65 - .971) / .032 = -10.03
    assert found[7][2] == "**below by 10.0**"
    words = text(file, "table3")
    assert "number of runs where it is not 2" in words
    assert (
        "- HSIC Lasso: 1 of 2 sets within one printed standard deviation; PIE10P below by 10.0."
    ) in words
    assert "- SpAM: 0 of 1 sets within one printed standard deviation; AR10P above by 1.4." in words
    assert "- QPFS: no set with both numbers." in words


def test_a_stand_in_has_its_own_row_and_no_verdict(file):
    judged(file, "tables", "MLL_leukemia", "HSIC Lasso", [(0.77, 0.34), (0.77, 0.34)])
    found = rows(file, "table3")
    cll = next(place for place, row in enumerate(found) if row[0] == "CLL-SUB")
    assert found[cll][2:] == ["---"] * 8
    assert found[cll + 1][2] == ".768 (.087)"
    assert found[cll + 3][:3] == ["MLL leukemia (not in the paper)", "ours", ".770 (.000)"]
    assert len(found) == cll + 4
    assert "- HSIC Lasso: no set with both numbers." in text(file, "table3")


def test_those_who_select_fewer_features_are_named(file):
    judged(file, "tables", "TOX_171", "SpAM", [(0.9, 0.2)])
    assert "Fewer than 50" not in text(file, "table3")
    for run, count in enumerate((40, 45)):
        values = [(50, "accuracy", 0.5), (50, "selected", count)]
        add(file, "tables", "TOX_171", "cKTA", values, run)
    assert "Fewer than 50 features selected: cKTA on TOX (42.5 on average)." in text(file, "table3")


def test_table_4_is_about_50_features(file):
    judged(file, "tables", "TOX_171", "cKTA", [(0.9, 0.36), (1.0, 0.37)])
    tox = next(row for row in rows(file, "table4") if row[0] == "TOX")
    assert tox[8] == ".365 (.007)"


def test_readings_are_measured_against_table_4(file):
    # printed .196 (.028), .135 (.014) and .391 (.028)
    for data, method, red, samples in (
        ("warpAR10P", "HSIC Lasso", 0.206, 0.392),
        ("warpPIE10P", "HSIC Lasso", 0.166, 0.272),
        ("TOX_171", "SpAM", 0.391, 0.792),
    ):
        values = [(50, "red", red), (50, "red: samples, test", samples), (50, "accuracy", 0.5),
                  (10, "red: samples, test", 9.0), (50, f"red: {ACROSS}", 0.9),
                  (10, f"red: {ACROSS}", 7.0)]  # fmt: skip
        add(file, "tables", data, method, values)
        # a run for which the other readings were not taken
        add(file, "tables", data, method, [(50, "red", 0.9), (50, "accuracy", 0.5)], run=7)
    table4 = [row for row in rows(file, "readings") if len(row) == 10]
    found = {tuple(row[:3]): row[3:] for row in rows(file, "readings") if len(row) == 11}
    assert found["reading", "m", "times"] == [
        "AR10P", "PIE10P", "TOX", "all cells", "correlation", "within one sd",
        "HSIC Lasso within", "NOCCO Lasso within",
    ]  # fmt: skip
    # a method without other readings keeps all its runs
    add(file, "tables", "pixraw10P", "SpAM", [(50, "red", 0.388), (50, "accuracy", 0.5)], run=9)
    also = {tuple(row[:3]): row[3:] for row in rows(file, "readings") if len(row) == 12}
    assert also["features, train", "50", "1"][2] == ".000"
    # differences .010, .031, .000: mean .0137; the first and the last are within one deviation
    assert found["features, train", "50", "1"][:4] == [".010", ".031", ".000", ".014"]
    assert found["features, train", "50", "1"][5:] == ["2 of 3", "1 of 2", "0 of 0"]
    # halves .103, .083, .1955
    assert found["features, train", "50", "1/2"][:3] == [".093", ".052", ".196"]
    # halves .196, .136, .396, the nearest
    assert found["**samples, test**", "**50**", "**1/2**"] == [
        "**.000**", "**.001**", "**.005**", "**.002**", "**1.00**", "**3 of 3**",
        "**2 of 2**", "**0 of 0**",
    ]  # fmt: skip
    # with m = 10 and 50 together: (9 + .392) / 2 / 2 = 2.348, printed .196
    assert found["samples, test", "10 to 50, together", "1/2"][0] == "2.152"
    assert len(found) == 2 + 12
    # the table below them, half of what 50 features have: printed .196 (.028)
    assert table4[2][:3] == ["AR10P", "ours", ".450 (---)"]
    assert table4[4][2] == "**above by 9.1**"
    # and half of what 10 and 50 have together
    head = [row[0] for row in table4].index("set", 1)
    assert table4[head + 2][:3] == ["AR10P", "ours", "1.975 (2.157)"]
    words = text(file, "readings")
    assert "- HSIC Lasso: 0 of 2 sets within one printed standard deviation; AR10P above" in words


def test_table_3_at_50_features_and_at_all_numbers_together(file):
    # printed .848 (.111) and .551 (.109); at m = 10 the accuracies are half as large
    judged(file, "tables", "warpAR10P", "HSIC Lasso", [(0.9, 0.2), (1.0, 0.3)])
    judged(file, "tables", "warpAR10P", "SpAM", [(0.6, 0.2), (0.6, 0.3)])
    found = rows(file, "pooled")
    # means .950 and .600, deviations .0707 and 0
    assert found[2] == ["m = 50", ".102", ".040", ".076", ".075", "2 of 2"]
    # means .7125 and .450, deviations .2780 and .1732
    assert found[3] == ["m = 10 to 50, together", ".136", ".167", ".118", ".116", "1 of 2"]
    assert found[6][:3] == ["AR10P", "ours", ".713 (.278)"]
    words = text(file, "pooled")
    assert "- SpAM: 1 of 1 sets within one printed standard deviation." in words
    assert "AR10P below by 1.2" in words


def test_figure_1_has_fractions_by_method_and_n(file):
    for run, share in enumerate((0.5, 0.75)):
        values = [(4, "fraction", share), (4, "lowest", share - 0.25), (4, "highest", share)]
        add(file, "figure1", "Data1", "NOCCO Lasso", values, run, n=50, d=256)
    add(file, "figure1", "Data1", "MI", [(4, "fraction", 1.0)], n=100, d=256)
    values = [(4, "fraction", 0.5), (4, "lowest", 0.5), (4, "highest", 0.75)]
    add(file, "figure1", "Data1", "NOCCO Lasso, ranks", values, n=50, d=256)
    found = rows(file, "figure1")
    assert found[0] == ["Data1, n =", "50", "100", "runs"]
    assert found[2] == ["NOCCO Lasso", ".62", "---", "2"]
    assert found[4] == ["MI", "---", "1.00", "1"]
    assert "at most .25 below these tables" in text(file, "figure1")
    assert "at most .25 above" in text(file, "figure1")
    assert "No results yet." in text(file, "figure1")  # Data2


def test_times_by_d_and_by_n(file):
    for run, spent in enumerate((1.0, 2.0)):
        add(file, "figure1c", "Data2", "SpAM", [(3, "seconds", spent)], run, n=100, d=200)
    add(file, "figure1d", "Data2", "HSIC Lasso", [(3, "seconds", 12.3)], n=5000)
    found = rows(file, "times")
    assert found[0] == ["d =", "200", "runs"]
    assert found[2] == ["SpAM", "1.5", "2"]
    assert found[3] == ["n =", "5000", "runs"]
    assert found[5] == ["HSIC Lasso", "12", "1"]


def test_figure_5_set_by_set_with_the_redundancy_of_the_caption(file):
    for data, mse in (("rat_eye_trim32", 0.01), ("rat_eye_full", 0.02)):
        for run, correlation in enumerate((0.5, 0.7)):
            values = [(10, "mse", mse), (50, "mse", mse / 2), (10, "correlation", correlation),
                      (50, "correlation", correlation), (50, "red", 0.42)]  # fmt: skip
            add(file, "figure5", data, "Lasso", values, run, d=31098 if mse > 0.01 else 18975)
    words = text(file, "figure5")
    assert "rat eye, 18,975 features, mean squared error:" in words
    assert "rat eye, all probes, 31,098 features, mean squared error:" in words
    found = rows(file, "figure5")
    assert ["Lasso", ".0100", ".0050", "2"] in found
    assert ["Lasso", ".0200", ".0100", "2"] in found
    assert ["Lasso", ".600", ".600", "2"] in found
    assert ["printed", "", "", ".44", ".45", ".42", ".43", ""] in found
    best = ["features, train", "50", "1", "---", "---", "---", ".420", ".010"]
    assert [f"**{cell}**" for cell in best] in found
    assert ["features, train", "50", "1/2", "---", "---", "---", ".210", ".220"] in found


def test_all_methods_are_side_by_side(file):
    judged(file, "tables", "TOX_171", "HSIC Lasso", [(0.8, 0.25), (0.6, 0.35)])
    judged(file, "tables", "TOX_171", "ipss", [(0.9, 0.5)])
    judged(file, "tables", "warpAR10P", "ipss", [(0.5, 0.5), (0.5, 0.5)])
    found = rows(file, "beyond")
    assert found[0] == ["method", "AR10P", "TOX", "runs"]
    assert found[2] == ["HSIC Lasso", "---", ".350 / .700", "2"]
    assert found[3] == ["ipss", ".250 / .500", ".450 / .900", "1 to 2"]
    assert found[6] == ["HSIC Lasso", "---", ".300 / 2.5", "2"]
    # a run that had to compile does not count
    values = [(50, "accuracy", 0.7), (50, "red", 0.3), (50, "seconds", 40.0)]
    add(file, "tables", "TOX_171", "HSIC Lasso", values, run=2)
    assert rows(file, "beyond")[6] == ["HSIC Lasso", "---", ".300 / 2.5", "3"]


def test_widths_kernels_and_epsilons_on_the_same_splits(file):
    judged(file, "tables", "TOX_171", "HSIC Lasso", [(0.8, 0.2), (0.6, 0.2), (0.1, 0.2)])
    judged(file, "figure3", "TOX_171", at_width(0.5), [(0.9, 0.2), (0.7, 0.2)])
    judged(file, "figure4", "TOX_171", GAUSSIAN_OUTPUT, [(0.4, 0.2)])
    found = rows(file, "widths")
    assert found[2] == ["TOX", "---", ".400 / .800", ".350 / .700", "---", "---", "2"]
    assert rows(file, "output-kernel")[2] == ["TOX", ".400 / .800", ".200 / .400", "1"]
    judged(file, "tables", "TOX_171", "NOCCO Lasso", [(0.8, 0.401), (0.6, 0.401)])
    judged(file, "epsilon", "TOX_171", at_epsilon(0.1), [(0.9, 0.391)])
    found = rows(file, "epsilon")
    assert found[2] == ["TOX", ".800 / .401", "---", ".900 / .391", "1", ".788 / .381"]
    best = ["features, train", "50", "1", ".020 / 1 of 1", "--- / 0 of 0", ".010 / 1 of 1"]
    assert [f"**{cell}**" for cell in best] in found


def test_widths_on_the_rat_eyes(file):
    values = [(50, "mse", 0.0123), (50, "correlation", 0.5), (10, "mse", 1.0)]
    add(file, "figure5", "rat_eye_trim32", "NOCCO Lasso", values)
    add(file, "figure5 widths", "rat_eye_trim32", at_width(4.0, "NOCCO Lasso"), values)
    found = rows(file, "widths")
    assert found[-1] == [
        "NOCCO Lasso, rat eye", "---", "---", ".0123 / .500", "---", ".0123 / .500", "1",
    ]  # fmt: skip


def test_the_runs_tell_seeds_and_the_command(file):
    judged(file, "tables", "TOX_171", "HSIC Lasso", [(0.8, 0.2), (0.6, 0.2), (0.1, 0.2)])
    add(file, "tables", "TOX_171", "SpAM", [(50, "accuracy", 0.5), (50, "task_seconds", 300.0)])
    add(file, "epsilon", "TOX_171", "NOCCO Lasso, epsilon 0.1", [(50, "task_seconds", 180.0)])
    assert rows(file, "runs")[3] == ["tables", "1", "2", "1 to 3", "0 to 2", "5 min"]
    assert rows(file, "runs")[4] == ["in all", "", "", "", "", "8 min"]
    assert "`python -m experiments all`" in text(file, "runs")
    assert "`paper.csv.gz`" in text(file, "runs")


def test_only_what_is_between_the_marks_changes(file, page):
    before = page.read_text(encoding="utf-8")
    judged(file, "tables", "TOX_171", "HSIC Lasso", [(0.8, 0.2), (0.6, 0.3)])
    write_page(file, page)
    after = page.read_text(encoding="utf-8")
    for name in BLOCKS:
        begin, end = marks(name)
        block = after[after.index(begin) + len(begin) : after.index(end)]
        assert len(block.strip()) > 10
        after = after.replace(begin + block, begin + "\n")
    assert after == before
    written = page.read_text(encoding="utf-8")
    write_page(file, page)
    assert page.read_text(encoding="utf-8") == written
    assert [path.name for path in page.parent.iterdir()] == [page.name]


@pytest.mark.parametrize("change", ["missing", "twice", "reversed"])
def test_wrong_marks_are_an_error_and_leave_the_page_alone(page, change):
    begin, end = marks("table4")
    old = page.read_text(encoding="utf-8")
    new = {
        "missing": old.replace(end, ""),
        "twice": old.replace(begin, begin + begin),
        "reversed": old.replace(f"{begin}\n{end}", f"{end}\n{begin}"),
    }[change]
    page.write_text(new, encoding="utf-8")
    with pytest.raises(ValueError, match=r"README.md must have the lines <!-- table4: begin -->"):
        fill(page, {"table3": "words", "table4": "words"})
    assert page.read_text(encoding="utf-8") == new


def test_a_page_of_no_results_says_so(file, page):
    write_page(file, page)
    words = page.read_text(encoding="utf-8")
    assert words.count("No results yet.") >= 8
    assert "CLL-SUB" in words
