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
from hsiclasso.plots import _spread, plot_comparison, plot_path, plot_selection, save_figure
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


@pytest.fixture(scope="module")
def signed():
    """Return a selection with weights of either sign."""
    X, y, _ = make_data1(60, 20, random_state=0)
    selector = HSICLasso(positive=False, alpha_ratio=0.01).fit(X, y)
    assert selector.coef_.min() < 0 < selector.coef_.max()
    return selector


def test_negative_weights_are_in_sight(signed):
    weights = [feature.weight for feature in signed.result_.features]
    ax = plot_selection(signed.result_)
    left, right = ax.get_xlim()
    assert left < min(weights)
    top = next(other for other in ax.figure.axes if other is not ax)
    assert np.isclose(top.get_xlim()[0] / top.get_xlim()[1], left / right)
    ax = plot_path(signed.path_)
    assert ax.get_ylim()[0] < min(weights)
    ends = [float(line.get_ydata()[-1]) for line in ax.lines]
    assert np.allclose(np.sort(ends), np.sort(signed.path_.breakpoints[-1].weights))


@pytest.fixture(scope="module")
def pair(selection):
    """Return two selections of which the second has features of its own."""
    X, y, _ = make_data1(100, 20, random_state=0)
    other = select(
        ArraySource(X, [f"g{j}" for j in range(20)]), y, settings(stop=StopOptions(3))
    ).result
    batch = np.random.default_rng(0).standard_normal((100, 1))
    names = [f"g{j}" for j in range(20)]
    less = select(ArraySource(X, names), y, settings(stop=StopOptions(5)), covariates=batch).result
    assert set(less.names) - set(other.names)
    return {"plain": other, "with a covariate": less}


def bars(container):
    return {round(bar.get_y() + bar.get_height() / 2): bar.get_width() for bar in container}


def test_comparison_has_one_row_per_feature_of_any_selection(pair):
    ax = plot_comparison(pair)
    labels = texts(ax.get_yticklabels())
    first, second = pair.values()
    assert labels[: len(first.names)] == list(first.names)
    assert sorted(labels) == sorted({*first.names, *second.names})
    assert labels[len(first.names) :] == [n for n in second.names if n not in first.names]
    for container, result in zip(ax.containers, pair.values(), strict=True):
        drawn = {labels[row]: width for row, width in bars(container).items()}
        assert drawn == {feature.name: feature.weight for feature in result.features}
    bottom, top = ax.get_ylim()
    assert bottom > top
    assert texts(ax.get_legend().get_texts()) == list(pair)


def test_comparison_bars_do_not_overlap(pair):
    for results in (pair, {**pair, "again": pair["plain"]}):
        ax = plot_comparison(results)
        spans = sorted((bar.get_y(), bar.get_y() + bar.get_height()) for bar in ax.patches)
        assert all(lower[1] <= upper[0] + 1e-9 for lower, upper in pairwise(spans))
        colours = {container[0].get_facecolor() for container in ax.containers}
        assert len(colours) == len(results)


def test_marked_features_have_a_band_and_a_bold_name(pair):
    wanted = pair["with a covariate"].names[-1]
    ax = plot_comparison(pair, [wanted, "in no selection"], marked_label="shifted")
    weight = {label.get_text(): label.get_fontweight() for label in ax.get_yticklabels()}
    assert [name for name, w in weight.items() if w == "bold"] == [wanted]
    row = list(weight).index(wanted)
    inside = [bar for container in ax.containers for bar in container]
    (band,) = (patch for patch in ax.patches if patch not in inside)
    assert (band.get_y(), band.get_y() + band.get_height()) == (row - 0.5, row + 0.5)
    assert texts(ax.get_legend().get_texts()) == [*pair, "shifted"]
    assert "shifted" not in texts(plot_comparison(pair, ["nowhere"]).get_legend().get_texts())


def test_comparison_shows_negative_weights(signed, pair):
    ax = plot_comparison({"signed": signed.result_, "plain": pair["plain"]})
    assert ax.get_xlim()[0] < signed.coef_.min()


def test_comparison_uses_given_axes_and_long_or_odd_names(selection, pair):
    ax = Figure().add_subplot()
    long = {"a name so long that the legend would take all the room": selection.result}
    assert plot_comparison(long | {"$x_1$ [b]": pair["plain"]}, ax=ax) is ax
    ax.figure.draw_without_rendering()
    assert all(len(label) <= 28 for label in texts(ax.get_yticklabels()))


def test_comparison_of_nothing_is_said(nothing, pair):
    empty = plot_comparison({"one": nothing.result, "other": nothing.result})
    assert texts(empty.texts) == ["no feature selected"]
    half = plot_comparison({"one": nothing.result, "other": pair["plain"]})
    assert texts(half.get_yticklabels()) == list(pair["plain"].names)
    with pytest.raises(InvalidInputError, match="results is empty"):
        plot_comparison({})
    with pytest.raises(InvalidInputError, match="marked='g1' is one text"):
        plot_comparison(pair, "g1")


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
