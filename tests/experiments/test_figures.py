"""Figures from whole, partial and no results."""

from __future__ import annotations

import matplotlib.image
import numpy as np
import pytest

from experiments import figures
from experiments.classification import GAUSSIAN_OUTPUT, at_width
from experiments.contenders import CONTENDERS
from experiments.figure1 import LOOKUP
from experiments.figures import FIGURES, styles, write_figures
from experiments.figures.panels import compose, runs_note, save
from experiments.printed import METHODS, SETS
from experiments.tidy import Task, TidyFile, rows_of


def task_rows(task, values):
    return rows_of(task, task.run, values)


def judged(study, data, method, run, level, metric="accuracy"):
    """A task on a split: the metric is `level` at m = 10 and .1 more at m = 50."""
    values = [(10, metric, level), (50, metric, level + 0.1), (50, "seconds", 1.0)]
    return task_rows(Task(study, data, method, 80, 1000, run), values)


@pytest.fixture
def file(tmp_path):
    return TidyFile(tmp_path / "results.csv.gz")


def panels_of(name, file):
    return FIGURES[name][0](file)


def lines_of(panel):
    return {line.label: line for line in panel.curves}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_without_results_says_so(name, file):
    panels, columns, share = FIGURES[name]
    figure = compose(panels(file), columns, share)
    assert all(not panel.curves for panel in panels(file))
    for ax in figure.axes:
        assert [text.get_text() for text in ax.texts] == ["no results"]


def test_partial_results_are_written_as_png_and_pdf(file, tmp_path, monkeypatch):
    some = {name: FIGURES[name] for name in ("figure1", "figure2")}
    monkeypatch.setattr(figures, "FIGURES", some)
    for run in range(2):
        file.add(judged("tables", "warpAR10P", "HSIC Lasso", run, 0.8))
    file.add(task_rows(Task("figure1", "Data1", "SpAM", 50, 256, 0), [(4, "fraction", 0.5)]))
    written = write_figures(file, tmp_path / "new" / "folder")
    assert {path.name for path in written} == {f"{n}.{s}" for n in some for s in ("png", "pdf")}
    assert all(path.read_bytes()[:4] == b"%PDF" for path in written if path.suffix == ".pdf")
    assert {path.name for path in (tmp_path / "new" / "folder").iterdir()} == {
        path.name for path in written
    }
    picture = matplotlib.image.imread(tmp_path / "new" / "folder" / "figure2.png")
    assert picture.shape[:2] == (int(150 * 7.6), 150 * 12)


def test_equal_figures_are_equal_files(file, tmp_path):
    file.add(judged("tables", "TOX_171", "mRMR", 0, 0.7))
    for folder in ("one", "two"):
        save(compose(panels_of("figure2", file), 3), tmp_path / folder, "figure2")
    for suffix in ("png", "pdf"):
        first, second = ((tmp_path / f / f"figure2.{suffix}").read_bytes() for f in ("one", "two"))
        assert first == second
        assert b"CreationDate" not in first


def test_a_curve_has_the_mean_and_standard_error_of_its_runs(file):
    for run, share in enumerate((0.25, 0.75, 0.5, 0.5)):
        values = [(4, "fraction", share), (4, "seconds", 9.0)]
        file.add(task_rows(Task("figure1", "Data1", "QPFS", 100, 256, run), values))
    panel = panels_of("figure1", file)[0]
    points = lines_of(panel)["QPFS"].points.loc[100]
    assert points["mean"] == pytest.approx(0.5)
    # deviations .25, .25, 0, 0: variance .125 / 3, and four runs
    assert points["se"] == pytest.approx(np.sqrt(0.125 / 3 / 4))
    assert points["runs"] == 4
    figure = compose(panels_of("figure1", file), 2)
    assert figure.axes[0].containers[0].has_yerr


def test_methods_are_drawn_in_their_own_style_and_absent_ones_not_at_all(file):
    for method in ("FHSIC", "NOCCO Lasso", "MI"):
        file.add(judged("tables", "orlraws10P", method, 0, 0.6))
    panels = panels_of("figure2", file)
    assert [line.label for line in panels[3].curves] == ["NOCCO Lasso", "FHSIC"]
    assert panels[3].curves[1].style is styles.METHODS["FHSIC"]
    beyond = panels_of("figure2_beyond", file)
    assert [line.label for line in beyond[3].curves] == ["MI"]


def test_panel_f_shows_the_stand_in_under_its_own_name_only_if_need_be(file):
    assert panels_of("figure2", file)[5].title == "(f) CLL-SUB"
    file.add(judged("tables", "MLL_leukemia", "HSIC Lasso", 0, 0.9))
    panel = panels_of("figure2", file)[5]
    assert panel.title == "(f) MLL leukemia"
    assert lines_of(panel)["HSIC Lasso"].points.loc[10, "mean"] == pytest.approx(0.9)
    file.add(judged("tables", "CLL_SUB_111", "HSIC Lasso", 0, 0.7))
    panel = panels_of("figure2", file)[5]
    assert panel.title == "(f) CLL-SUB"
    assert lines_of(panel)["HSIC Lasso"].points.loc[10, "mean"] == pytest.approx(0.7)


def test_panels_have_the_titles_of_the_paper(file):
    for name in ("figure2", "figure3", "figure4"):
        titles = [panel.title for panel in panels_of(name, file)]
        assert titles == [f"({a}) {t}" for a, t in zip("abcdef", SETS.values(), strict=True)]
    assert [panel.title for panel in panels_of("figure5", file)] == [
        "(a) MSE",
        "(b) MSE (HSIC Lasso)",
        "(c) MSE (NOCCO Lasso)",
        "(d) Mean correlation coefficient",
        "(e) Mean correlation coefficient (HSIC Lasso)",
        "(f) Mean correlation coefficient (NOCCO Lasso)",
    ]


def test_widths_are_compared_on_the_runs_that_all_have(file):
    for run, level in enumerate((0.5, 0.7, 0.1)):
        file.add(judged("tables", "TOX_171", "HSIC Lasso", run, level))
    for run in (0, 1):
        for width in (0.25, 4.0):
            file.add(judged("figure3", "TOX_171", at_width(width), run, 0.4))
    lines = lines_of(panels_of("figure3", file)[4])
    assert list(lines) == ["width 0.25", "width 1", "width 4"]
    assert lines["width 1"].points.loc[10, "mean"] == pytest.approx(0.6)
    assert {line.points.loc[10, "runs"] for line in lines.values()} == {2}


def test_both_output_kernels_are_drawn(file):
    file.add(judged("tables", "TOX_171", "HSIC Lasso", 0, 0.6))
    file.add(judged("figure4", "TOX_171", GAUSSIAN_OUTPUT, 0, 0.4))
    lines = lines_of(panels_of("figure4", file)[4])
    assert lines["delta kernel"].points.loc[10, "mean"] == pytest.approx(0.6)
    assert lines["Gaussian kernel"].points.loc[10, "mean"] == pytest.approx(0.4)


def test_figure_5_shows_methods_widths_and_the_paper_s_set_first(file):
    for data, level in (("rat_eye_trim32", 0.02), ("rat_eye_full", 0.01)):
        file.add(judged("figure5", data, "Lasso", 0, level, "mse"))
        file.add(judged("figure5", data, "NOCCO Lasso", 0, level, "mse"))
        method = at_width(2.0, "NOCCO Lasso")
        file.add(judged("figure5 widths", data, method, 0, level + 0.5, "mse"))
    panels = panels_of("figure5", file)
    assert lines_of(panels[0])["Lasso"].points.loc[10, "mean"] == pytest.approx(0.01)
    assert list(lines_of(panels[2])) == ["width 1", "width 2"]
    assert lines_of(panels[2])["width 2"].points.loc[10, "mean"] == pytest.approx(0.51)
    assert not panels[1].curves
    assert panels[0].x.endswith("(of 1,000)")


def test_times_are_drawn_on_a_logarithmic_axis(file):
    for method in ("HSIC Lasso", LOOKUP):
        for n in (100, 200, 500):
            file.add(task_rows(Task("figure1d", "Data2", method, n, 1000, 0), [(3, "seconds", n)]))
    panel = panels_of("figure1", file)[3]
    assert list(lines_of(panel)) == ["HSIC Lasso", LOOKUP]
    figure = compose(panels_of("figure1", file), 2)
    assert figure.axes[3].get_yscale() == "log"
    assert [ax.get_ylabel() for ax in figure.axes[2:]] == ["seconds", ""]
    assert [text.get_text() for text in figure.axes[3].get_xticklabels()] == ["100", "200", "500"]


def test_the_note_names_those_with_other_numbers_of_runs(file):
    for run in range(3):
        for method in METHODS[:3]:
            file.add(judged("tables", "TOX_171", method, run, 0.5))
        if run < 2:
            file.add(judged("tables", "TOX_171", "cKTA", run, 0.5))
    file.add(judged("tables", "warpAR10P", "SpAM", 0, 0.5))
    note = runs_note(panels_of("figure2", file))
    assert note == "means over 3 runs; SpAM: 1 to 3; cKTA: 2"


def test_no_two_methods_look_alike():
    assert set(CONTENDERS) <= set(styles.METHODS)
    looks = [
        (style["color"], style["marker"], style.get("ls"), style.get("mfc"))
        for style in styles.METHODS.values()
    ]
    assert len(set(looks)) == len(looks)
    plain = [style["color"] for style in styles.METHODS.values() if "ls" not in style]
    assert len(set(plain)) == len(plain)
    widths = {style["color"] for style in styles.WIDTHS.values()}
    assert len(widths) == len(styles.WIDTHS)
    assert not widths & set(plain)
