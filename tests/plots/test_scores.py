"""Scores by the number of features, and by method."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso import InvalidInputError
from hsiclasso.plots import plot_methods, plot_sizes
from tests.plots.helpers import texts

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure

from hsiclasso.baselines.comparison import Comparison, Outcome
from hsiclasso.selectors.summaries import SizeScores


@pytest.fixture
def scores():
    return SizeScores((1, 3, 8), np.array([[0.2, 0.4], [0.6, 0.8], [0.7, 0.5]]), 3)


def test_sizes_and_the_one_that_was_chosen(scores):
    ax = plot_sizes(scores)
    curve, mark = ax.lines[0], ax.lines[-1]
    np.testing.assert_allclose(curve.get_ydata(), scores.mean)
    assert texts(ax.get_xticklabels()) == ["1", "3", "8"]
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (1, scores.mean[1])
    bars = ax.collections[0].get_segments()
    np.testing.assert_allclose([np.ptp(bar[:, 1]) / 2 for bar in bars], scores.standard_error)
    assert ax.get_title(loc="left") == "3 features predict best in 2 folds"
    assert plot_sizes(scores, (own := Figure().add_subplot())) is own


def outcome(name, score, error):
    return Outcome(name, name, ("a",), (0,), (1.0,), 1.5, 0.25, "", score, error, 0.5)


def test_methods_best_on_top():
    outcomes = (outcome("low", 0.3, 0.01), outcome("high", 0.9, 0.02),
                Outcome("none", "none", skipped="no"))  # fmt: skip
    ax = plot_methods(Comparison(outcomes, 50, 9, 1))
    assert texts(ax.get_yticklabels()) == ["high", "low"]
    (dots,) = [line for line in ax.lines if line.get_marker() == "o"]
    assert dots.get_xdata().tolist() == [0.9, 0.3]
    bottom, top = ax.get_ylim()
    assert bottom > top
    words = texts(ax.texts)
    assert words == ["seconds", "1.5", "1.5", "stability", "0.50", "0.50", "redundancy", "0.25",
                     "0.25"]  # fmt: skip


def test_comparisons_without_folds():
    plain = Outcome("a", "a", ("x",), (0,), (1.0,))
    with pytest.raises(InvalidInputError, match="has no scores: make it with cv"):
        plot_methods(Comparison((plain,), 50, 9, 1))
