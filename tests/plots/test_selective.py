"""Knockoffs against their threshold, and intervals after a selection."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hsiclasso import KnockoffResult, PostSelectionResult
from hsiclasso.inference.post_selection_result import FeatureTest
from hsiclasso.plots import plot_knockoffs, plot_post_selection
from tests.plots.helpers import texts

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure


@pytest.fixture
def knockoffs():
    return KnockoffResult(
        names=("a", "b", "c", "d"), selected=(2, 0), statistics=np.array([[0.5, -0.1, 0.9, 0.2]]),
        thresholds=np.array([0.4]), e_values=np.array([4.0, 0.0, 4.0, 0.0]), e_threshold=4.0,
        similarity=np.full(4, 0.1), q=0.2, draw_level=0.2, method="mvr", n_samples=50,
    )  # fmt: skip


def test_bars_are_statistics_and_the_line_is_the_threshold(knockoffs):
    ax = plot_knockoffs(knockoffs)
    assert texts(ax.get_yticklabels()) == ["c", "a", "d", "b"]
    assert [bar.get_width() for bar in ax.patches] == [0.9, 0.5, 0.2, -0.1]
    assert ax.lines[0].get_xdata()[0] == 0.4
    colours = [bar.get_facecolor() for bar in ax.patches]
    assert colours[0] == colours[1] != colours[2] == colours[3]
    left, right = ax.get_xlim()
    assert left < -0.1
    assert right > 0.9
    assert "2 features found at a false discovery rate of 0.2" in ax.get_title(loc="left")
    assert len(plot_knockoffs(knockoffs, max_features=2).patches) == 2
    assert plot_knockoffs(knockoffs, (own := Figure().add_subplot())) is own


def test_several_draws_have_e_values_and_nothing_found_has_no_line(knockoffs):
    several = replace(
        knockoffs, statistics=np.tile(knockoffs.statistics, (2, 1)), thresholds=np.array([0.4, 0.4])
    )
    ax = plot_knockoffs(several)
    assert [bar.get_width() for bar in ax.patches] == [4, 4, 0, 0]
    assert ax.lines[0].get_xdata()[0] == 4
    nothing = replace(knockoffs, selected=(), thresholds=np.array([np.inf]), e_threshold=np.inf)
    ax = plot_knockoffs(nothing)
    assert len(ax.lines) == 0
    assert ax.get_title(loc="left").startswith("Nothing found")


def test_intervals_points_and_p_values():
    tests = (
        FeatureTest("sure", 3, 0.5, 0.1, 0.001, 0.3, 0.7),
        FeatureTest("open", 1, 0.2, 0.1, 0.04, 0.05, np.inf),
        FeatureTest("unsure", 0, 0.1, 0.1, 0.3, -np.inf, 0.2),
    )
    result = PostSelectionResult(tests, ("x",), "partial", "block", 0.9, 0.1, 50, 50, 5)
    ax = plot_post_selection(result)
    assert texts(ax.get_yticklabels()) == ["sure", "open", "unsure"]
    assert texts(ax.texts) == ["p = 0.001", "p = 0.04", "p = 0.3"]
    weights = [label.get_fontweight() for label in ax.get_yticklabels()]
    assert weights == ["bold", "bold", "normal"]
    points = [line for line in ax.lines if line.get_marker() == "o"]
    assert [line.get_xdata()[0] for line in points] == [0.5, 0.2, 0.1]
    marks = {line.get_marker(): line.get_ydata()[0] for line in ax.lines}
    assert (marks[">"], marks["<"]) == (1, 2)
    left, right = ax.get_xlim()
    assert left < 0 < 0.7 < right
    assert ax.get_title(loc="left") == "90% intervals, given what was selected"
    empty = replace(result, features=())
    assert texts(plot_post_selection(empty).texts) == ["no feature selected"]
