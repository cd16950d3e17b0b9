"""Figures: what they show, and that files are whole or absent."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from hsiclasso import HSICLasso, InvalidInputError, make_data1
from hsiclasso.data.atomic import write_atomically
from hsiclasso.data.sources import ArraySource
from hsiclasso.plots import _spread, plot_path, plot_selection, save_figure
from hsiclasso.selectors import Settings, StopOptions, select

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure
from matplotlib.text import Text


def settings(**changes) -> Settings:
    return replace(HSICLasso()._settings(), **changes)


@pytest.fixture(scope="module")
def selection():
    X, y, _ = make_data1(100, 20, random_state=0)
    names = [f"feature number {j} with quite a long name {j}" for j in range(20)]
    return select(ArraySource(X, names), y, settings(stop=StopOptions(6)))


@pytest.fixture(scope="module")
def nothing():
    """Return a selection at a penalty so high that no feature gets in."""
    X, y, _ = make_data1(60, 8, random_state=0)
    return select(ArraySource(X), y, settings(stop=StopOptions(alpha=1e9)))


def texts(labels):
    return [label.get_text() for label in labels]


def test_bars_are_the_weights_heaviest_on_top(selection):
    ax = plot_selection(selection.result)
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == [feature.weight for feature in selection.result.features]
    bottom, top = ax.get_ylim()
    assert bottom > top
    assert ax.get_xlim()[0] == 0


def test_dots_are_the_relevances_on_a_scale_of_their_own(selection):
    ax = plot_selection(selection.result)
    top = next(other for other in ax.figure.axes if other is not ax)
    (dots,) = top.lines
    assert list(dots.get_xdata()) == [feature.relevance for feature in selection.result.features]
    assert list(dots.get_ydata()) == list(range(6))
    assert top.get_xlim()[1] >= max(dots.get_xdata())


def test_long_names_lose_their_middle(selection):
    labels = texts(plot_selection(selection.result).get_yticklabels())
    for label, name in zip(labels, selection.result.names, strict=True):
        assert len(label) <= 28
        head, tail = label.split("…")
        assert name.startswith(head)
        assert name.endswith(tail)


def test_given_axes_are_used(selection):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert plot_selection(selection.result, left) is left
    assert plot_path(selection.path, ax=right) is right


def test_lines_end_at_the_weights_of_the_solution(selection):
    ax = plot_path(selection.path)
    ends = sorted(float(line.get_ydata()[-1]) for line in ax.lines)
    weights = selection.path.breakpoints[-1].weights
    assert np.allclose(ends[-weights.size :], np.sort(weights))
    assert ax.get_xscale() == "log"
    assert np.allclose(ax.get_xlim(), (selection.path.alphas[0], selection.path.alpha))


def test_lines_pass_through_the_breakpoints(selection):
    ax = plot_path(selection.path, max_labels=len(selection.result.features))
    first = selection.result.features[0].index
    line = ax.lines[0]
    for step, point in enumerate(selection.path.breakpoints[1:], start=1):
        weight = selection.path.coefficients(step)[first]
        (at,) = np.flatnonzero(line.get_xdata() == point.alpha)[:1]
        assert line.get_ydata()[at] == pytest.approx(weight)


def test_the_heaviest_lines_are_labelled(selection):
    names = {feature.index: f"n{feature.index}" for feature in selection.result.features}
    ax = plot_path(selection.path, names, max_labels=4)
    expected = [f"n{feature.index}" for feature in selection.result.features[:4]]
    assert texts(ax.texts) == expected
    assert "grey: " in ax.get_xlabel()
    colours = {line.get_color() for line in ax.lines}
    assert len(colours) == 5


def test_names_may_be_a_sequence_or_absent(selection):
    heaviest = selection.result.features[0].index
    assert texts(plot_path(selection.path).texts)[0] == f"x{heaviest}"
    assert texts(plot_path(selection.path, {}).texts)[0] == f"x{heaviest}"
    assert (
        texts(plot_path(selection.path, list("abcdefghijklmnopqrst")).texts)[0]
        == ("abcdefghijklmnopqrst"[heaviest])
    )
    assert not plot_path(selection.path, max_labels=0).texts


def test_labels_do_not_overlap(selection):
    ax = plot_path(selection.path)
    ax.figure.draw_without_rendering()
    boxes = sorted((Text.get_window_extent(label) for label in ax.texts), key=lambda box: box.y0)
    assert len(boxes) == len(selection.result.features)
    assert all(lower.y1 <= upper.y0 for lower, upper in pairwise(boxes))


def test_spread_keeps_order_and_room():
    heights = np.array([0.98, 0.99, 0.0, 0.01, 0.5])
    spread = _spread(heights, 0.1)
    assert np.array_equal(np.argsort(spread), np.argsort(heights))
    assert np.diff(np.sort(spread)).min() >= 0.1 - 1e-12
    assert spread.min() >= 0
    assert spread.max() <= 1 + 1e-12
    assert spread[4] == 0.5


def test_a_path_down_to_zero_is_drawn():
    X, y, _ = make_data1(40, 5, random_state=0)
    whole = select(ArraySource(X), y, settings(stop=StopOptions(alpha=0.0)))
    assert whole.path.alpha == 0
    left, right = plot_path(whole.path).get_xlim()
    assert left > right > 0


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".PNG"])
def test_files_of_every_format(tmp_path, selection, suffix):
    file = tmp_path / f"figure{suffix}"
    save_figure(selection.result, selection.path, file)
    start = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix.lower()]
    assert file.read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_both_panels_are_in_the_file(tmp_path, selection):
    file = tmp_path / "figure.svg"
    save_figure(selection.result, selection.path, str(file))
    text = file.read_text(encoding="utf-8")
    for words in ("relevance (dots)", "penalty, decreasing", "6 of 20 features"):
        assert words in text


def test_nothing_selected_is_said(tmp_path, nothing):
    assert texts(plot_selection(nothing.result).texts) == ["no feature selected"]
    assert texts(plot_path(nothing.path).texts) == ["no feature selected"]
    save_figure(nothing.result, nothing.path, tmp_path / "figure.png")


def test_many_features_and_odd_names(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 120))
    names = [f"${j}^ [a] _{j}$" for j in range(120)]
    y = X[:, :40] @ rng.uniform(0.3, 1, 40)
    chosen = select(ArraySource(X, names), y, settings(stop=StopOptions(30)))
    save_figure(chosen.result, chosen.path, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_an_unknown_suffix_writes_nothing(tmp_path, selection):
    with pytest.raises(InvalidInputError, match=r"suffix '\.gif'.* \.png, \.svg, \.pdf"):
        save_figure(selection.result, selection.path, tmp_path / "figure.gif")
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "figure.png"
    file.write_bytes(b"old")

    def fail(self, target):
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(file, b"new")
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_pyplot_is_never_loaded(tmp_path):
    code = (
        "import sys; from hsiclasso import HSICLasso, make_data1\n"
        "from hsiclasso.plots import save_figure\n"
        "assert 'matplotlib' not in sys.modules\n"
        "X, y, _ = make_data1(40, 6, random_state=0); s = HSICLasso(2).fit(X, y)\n"
        f"save_figure(s.result_, s.path_, {str(tmp_path / 'figure.svg')!r})\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
