"""The figure of a path: lines follow the breakpoints, and their names keep apart."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from hsiclasso import make_data1
from hsiclasso.plots import plot_path
from hsiclasso.plots.drawing import spread_apart
from tests.plots.helpers import choose, texts

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure
from matplotlib.text import Text


def test_lines_end_at_the_weights_of_the_solution(selection):
    ax = plot_path(selection.path)
    ends = sorted(float(line.get_ydata()[-1]) for line in ax.lines)
    weights = selection.path.breakpoints[-1].weights
    assert np.allclose(ends[-weights.size :], np.sort(weights))
    assert ax.get_xscale() == "log"
    assert np.allclose(ax.get_xlim(), (selection.path.alphas[0], selection.path.alpha))


def test_lines_pass_through_the_breakpoints(selection):
    ax = plot_path(selection.path, max_labels=len(selection.features))
    first = selection.features[0].index
    line = ax.lines[0]
    for step, point in enumerate(selection.path.breakpoints[1:], start=1):
        weight = selection.path.coefficients(step)[first]
        (at,) = np.flatnonzero(line.get_xdata() == point.alpha)[:1]
        assert line.get_ydata()[at] == pytest.approx(weight)


def test_the_heaviest_lines_are_labelled(selection):
    names = {feature.index: f"n{feature.index}" for feature in selection.features}
    ax = plot_path(selection.path, names, max_labels=4)
    expected = [f"n{feature.index}" for feature in selection.features[:4]]
    assert texts(ax.texts) == expected
    assert "grey: " in ax.get_xlabel()
    colours = {line.get_color() for line in ax.lines}
    assert len(colours) == 5


def test_names_may_be_a_sequence_or_absent(selection):
    heaviest = selection.features[0].index
    assert texts(plot_path(selection.path).texts)[0] == f"x{heaviest}"
    assert texts(plot_path(selection.path, {heaviest: "top"}).texts) == ["top"]
    assert (
        texts(plot_path(selection.path, list("abcdefghijklmnopqrst")).texts)[0]
        == ("abcdefghijklmnopqrst"[heaviest])
    )
    assert not plot_path(selection.path, max_labels=0).texts


def test_labels_do_not_overlap(selection):
    ax = plot_path(selection.path)
    ax.figure.draw_without_rendering()
    boxes = sorted((Text.get_window_extent(label) for label in ax.texts), key=lambda box: box.y0)
    assert len(boxes) == len(selection.features)
    assert all(lower.y1 <= upper.y0 for lower, upper in pairwise(boxes))


def test_spread_keeps_order_and_room():
    heights = np.array([0.98, 0.99, 0.0, 0.01, 0.5])
    spread = spread_apart(heights, 0.1)
    assert np.array_equal(np.argsort(spread), np.argsort(heights))
    assert np.diff(np.sort(spread)).min() >= 0.1 - 1e-12
    assert spread.min() >= 0
    assert spread.max() <= 1 + 1e-12
    assert spread[4] == 0.5


def test_a_path_down_to_zero_is_drawn():
    X, y, _ = make_data1(40, 5, random_state=0)
    whole = choose(X, y, alpha=0.0)
    assert whole.path.alpha == 0
    left, right = plot_path(whole.path).get_xlim()
    assert left > right > 0


def test_negative_weights_are_in_sight(signed):
    weights = signed.path.breakpoints[-1].weights
    ax = plot_path(signed.path)
    assert ax.get_ylim()[0] < weights.min() < 0
    ends = [float(line.get_ydata()[-1]) for line in ax.lines]
    assert np.allclose(np.sort(ends), np.sort(weights))


def test_given_axes_are_used(selection):
    ax = Figure().add_subplot()
    assert plot_path(selection.path, ax=ax) is ax


def test_nothing_selected_is_said(nothing):
    assert texts(plot_path(nothing.path).texts) == ["no feature selected"]


def test_without_a_penalty_there_is_no_path(rng):
    X = rng.standard_normal((40, 4))
    path = choose(X, X.sum(axis=1), n_features_to_select=4, keep=[0, 1, 2, 3]).path
    (words,) = plot_path(path).texts
    assert "no path" in words.get_text()
